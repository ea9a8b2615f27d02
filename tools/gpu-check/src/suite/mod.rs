//! All cases of a suite, each on the GPU and in the simulator.

mod process;
mod table;
pub mod worker;

use crate::driver::DriverError;
use crate::{Error, Options};
use process::Worker;
use ptxsim::suite::{self, Case};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How a case went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// every bit
    Same,
    /// right, and other bits than the simulator's where these instructions allow it
    Legal(Vec<String>),
    /// wrong, or other bits where PTX promises them
    Different(String),
    /// no result
    Failed(String),
    /// not for this GPU
    Skipped(String),
}

impl Verdict {
    /// True where something must be looked into.
    pub fn is_bad(&self) -> bool {
        matches!(self, Verdict::Different(_) | Verdict::Failed(_))
    }
}

/// A line of the table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// case and label
    #[serde(default)]
    pub name: String,
    /// how it went
    pub verdict: Verdict,
    /// from launch to end on the GPU
    pub gpu_ms: f64,
    /// the same in the simulator, without checks
    pub simulator_ms: f64,
}

impl Default for Row {
    fn default() -> Row {
        Row {
            name: String::new(),
            verdict: Verdict::Same,
            gpu_ms: 0.0,
            simulator_ms: 0.0,
        }
    }
}

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
pub enum Message {
    /// it has this GPU
    Hello(String),
    /// there is no driver
    NoDriver(String),
    /// the driver does not start
    Broken(String),
    /// a case is done
    Done(Row),
}

fn title(case: &Case) -> String {
    format!("{} {}", case.name, case.label).trim().to_owned()
}

/// Runs the suite and prints the table; true if nothing must be looked into.
pub fn run(options: &Options, folder: &Path) -> Result<bool, Error> {
    let cases = suite::load(folder)?;
    let chosen: Vec<usize> = (0..cases.len())
        .filter(|&i| title(&cases[i]).contains(&options.filter))
        .collect();
    if chosen.is_empty() {
        return Err(format!("no case's name has `{}`", options.filter).into());
    }
    let start = Instant::now();
    let first = Worker::start(options, folder)?;
    println!("{} cases on {}", chosen.len(), first.device);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = options.jobs.unwrap_or((cores / 2).clamp(1, 8)).max(1);
    let queue = Queue {
        options,
        folder,
        cases: &cases,
        chosen: &chosen,
        next: Mutex::new(0),
        rows: Mutex::new(vec![None; chosen.len()]),
        end: start + Duration::from_secs(options.budget),
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.min(chosen.len()) {
            scope.spawn(|| queue.work(None));
        }
        queue.work(Some(first));
    });
    let rows = queue.rows.into_inner().unwrap_or_else(|p| p.into_inner());
    let done: Vec<Row> = rows.into_iter().flatten().collect();
    table::print(&done, chosen.len(), start.elapsed());
    if let Some(path) = &options.report {
        let json = serde_json::to_string_pretty(&done)?;
        std::fs::write(path, json).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(done.len() == chosen.len() && !done.iter().any(|r| r.verdict.is_bad()))
}

/// Cases that are still to be run, and those that have been.
struct Queue<'a> {
    options: &'a Options,
    folder: &'a Path,
    cases: &'a [Case],
    chosen: &'a [usize],
    next: Mutex<usize>,
    rows: Mutex<Vec<Option<Row>>>,
    end: Instant,
}

impl Queue<'_> {
    /// Takes cases until none are left or time is up; a worker that is lost is replaced.
    fn work(&self, mut worker: Option<Worker>) {
        while let Some((place, index)) = self.take() {
            let case = &self.cases[index];
            let mut row = Row {
                name: title(case),
                ..Row::default()
            };
            let ready = worker
                .take()
                .map_or_else(|| Worker::start(self.options, self.folder), Ok);
            match ready {
                Ok(mut ready) => {
                    let timeout = Duration::from_secs(self.options.timeout);
                    match ready.run(index, case, timeout) {
                        Ok((result, alive)) => {
                            row = Row {
                                name: row.name,
                                ..result
                            };
                            worker = alive.then_some(ready);
                        }
                        Err(why) => row.verdict = Verdict::Failed(why),
                    }
                }
                Err(error) => row.verdict = Verdict::Failed(error.to_string()),
            }
            let mut rows = self.rows.lock().unwrap_or_else(|p| p.into_inner());
            table::progress(&row);
            rows[place] = Some(row);
        }
    }

    fn take(&self) -> Option<(usize, usize)> {
        let mut next = self.next.lock().unwrap_or_else(|p| p.into_inner());
        let index = *self
            .chosen
            .get(*next)
            .filter(|_| Instant::now() < self.end)?;
        *next += 1;
        Some((*next - 1, index))
    }
}

impl From<Message> for Error {
    fn from(message: Message) -> Error {
        match message {
            Message::NoDriver(why) => DriverError::Missing(why).into(),
            Message::Broken(why) => why.into(),
            other => format!("a worker said {other:?} out of turn").into(),
        }
    }
}
