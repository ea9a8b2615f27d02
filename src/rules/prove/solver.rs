//! The solver: [Z3](https://github.com/Z3Prover/z3) as a process that reads SMT-LIB. Found, never linked.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub use super::answer::Answer;
use super::record::Record;

/// A solver that runs, or what one answered before.
pub struct Solver {
    source: Source,
    version: String,
    /// Steps that a query may take, in the solver's own deterministic unit.
    limit: u64,
    /// What it was asked, as far as that can be kept.
    record: Option<Record>,
}

enum Source {
    Process(Process),
    Recorded(Box<dyn Iterator<Item = Answer> + Send>),
}

/// A running solver.
struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// The solver to use: `given`, else `z3` in `PATH` or in a `target/toolkit` above the working directory or this
/// program.
pub fn find(given: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(path) = given {
        return Ok(path.to_owned());
    }
    let in_path = std::env::var_os("PATH")
        .map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>())
        .unwrap_or_default();
    let starts = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    let above = starts
        .iter()
        .flatten()
        .flat_map(|start| start.ancestors())
        .map(|folder| folder.join("target/toolkit/bin"));
    let mut places = above.chain(in_path).map(|folder| folder.join("z3"));
    places.find(|path| path.is_file()).ok_or_else(|| {
        "cannot find 'z3': `tools/toolkit z3` installs it, `pip install z3-solver` has it".into()
    })
}

impl Solver {
    /// Starts the program at `path`.
    pub fn start(path: &Path, limit: u64) -> Result<Solver, String> {
        let mut process = Process::start(path)?;
        let version = process.version()?;
        Ok(Solver::of(Source::Process(process), version, limit))
    }

    /// One that was asked nothing yet.
    fn of(source: Source, version: String, limit: u64) -> Solver {
        Solver {
            source,
            version,
            limit,
            record: Some(Record::default()),
        }
    }

    /// What `prove` finds with the answers of `record`; nothing where it asks `version` of the solver anything else than what
    /// was recorded.
    pub fn replay<T>(
        record: &Record,
        version: &str,
        steps: u64,
        prove: impl FnOnce(&mut Solver) -> T,
    ) -> Option<T> {
        // It fails where it is asked more often.
        let answers = Source::Recorded(Box::new(record.answers()));
        let mut solver = Solver::of(answers, version.to_owned(), steps);
        let found = prove(&mut solver);
        (solver.record() == Some(record)).then_some(found)
    }

    /// What it says of its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What it was asked; nothing where that cannot be kept.
    pub fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    /// Whether the assertions of `query` can hold, and for which values of `unknowns`.
    pub fn ask(&mut self, query: &str, unknowns: &[String]) -> Result<Answer, String> {
        self.ask_longer(query, unknowns, 1)
    }

    /// The same with so many times as many steps.
    pub fn ask_longer(
        &mut self,
        query: &str,
        unknowns: &[String],
        times: u64,
    ) -> Result<Answer, String> {
        let sent = Self::sent(query, self.limit.saturating_mul(times));
        let answer = match &mut self.source {
            Source::Process(process) => process.ask(&sent, unknowns),
            Source::Recorded(answers) => answers
                .next()
                .ok_or_else(|| "the recorded proof asked less".to_owned()),
        };
        // Only what was answered is kept.
        let answer = answer.inspect_err(|_| self.record = None)?;
        let record = self.record.take();
        self.record = record.and_then(|record| record.with(&self.version, &sent, &answer));
        Ok(answer)
    }

    /// All that decides how a query is answered, as it is sent.
    fn sent(query: &str, limit: u64) -> String {
        format!("(reset)\n(set-option :rlimit {limit})\n{query}(check-sat)\n")
    }
}

impl Process {
    fn start(path: &Path) -> Result<Process, String> {
        let failed = |e: std::io::Error| format!("cannot run '{}': {e}", path.display());
        let mut child = Command::new(path)
            .args(["-in", "-smt2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the solver has no input or output".into());
        };
        Ok(Process {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// `(:version "…")`, as SMT-LIB has it.
    fn version(&mut self) -> Result<String, String> {
        self.send("(get-info :version)\n")?;
        self.line()
    }

    fn ask(&mut self, sent: &str, unknowns: &[String]) -> Result<Answer, String> {
        self.send(sent)?;
        match self.line()?.as_str() {
            "unsat" => return Ok(Answer::Unsatisfiable),
            "sat" => {}
            "unknown" | "timeout" => return Ok(Answer::Unknown),
            other => return Err(format!("the solver says {other}")),
        }
        let mut values = Vec::new();
        for unknown in unknowns {
            self.send(&format!("(eval {unknown} :completion true)\n"))?;
            values.push(number(&self.line()?)?);
        }
        Ok(Answer::Values(values))
    }

    fn send(&mut self, text: &str) -> Result<(), String> {
        self.input
            .write_all(text.as_bytes())
            .and_then(|()| self.input.flush())
            .map_err(|e| format!("the solver ended: {e}"))
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err("the solver ended".into()),
            Ok(_) => Ok(line.trim().to_owned()),
            Err(e) => Err(format!("the solver ended: {e}")),
        }
    }
}

/// `#x…` or `#b…`.
fn number(text: &str) -> Result<u64, String> {
    let parsed = match text.split_at_checked(2) {
        Some(("#x", digits)) => u64::from_str_radix(digits, 16).ok(),
        Some(("#b", digits)) => u64::from_str_radix(digits, 2).ok(),
        _ => None,
    };
    parsed.ok_or_else(|| format!("the solver says {text} for a value"))
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be in the middle of a query.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another query, one too many, one too few: none is what was recorded.
    #[test]
    fn only_the_same_queries_are_replayed() {
        const STEPS: u64 = 7;
        let ask = |queries: &'static [&'static str]| {
            move |solver: &mut Solver| {
                let ask = |query: &&str| solver.ask(query, &[]);
                queries.iter().map(ask).collect::<Result<Vec<_>, _>>()
            }
        };
        let yes = Answer::Unsatisfiable;
        let record = ["a", "b"].iter().try_fold(Record::default(), |r, query| {
            r.with("1", &Solver::sent(query, STEPS), &yes)
        });
        let record = record.expect("no values");
        let replay =
            |version, steps, queries| Solver::replay(&record, version, steps, ask(queries));
        let answers = Ok(vec![yes.clone(); 2]);
        assert_eq!(replay("1", STEPS, &["a", "b"]), Some(answers));
        assert_eq!(replay("2", STEPS, &["a", "b"]), None);
        assert_eq!(replay("1", STEPS + 1, &["a", "b"]), None);
        assert_eq!(replay("1", STEPS, &["a"]), None);
        assert_eq!(replay("1", STEPS, &["b", "a"]), None);
        assert_eq!(replay("1", STEPS, &["a", "b", "c"]), None);
    }
}
