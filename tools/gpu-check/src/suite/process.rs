//! A worker as its parent sees it.

use super::worker::MARK;
use super::{Message, Row, Verdict};
use crate::{Error, Options};
use ptxsim::suite::Case;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Starting the driver and reading the suite take seconds; longer means that something hangs.
const START: Duration = Duration::from_secs(120);

/// A message and what was printed before it.
type Said = (String, Message);

/// A process that runs cases; killed when dropped.
pub struct Worker {
    child: Child,
    stdin: ChildStdin,
    said: Receiver<Said>,
    /// the GPU, in the driver's words
    pub device: String,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Reads the next message; `None` at the end or if it is none.
fn hear(from: &mut impl BufRead) -> Option<Said> {
    let (mut printed, mut json) = (Vec::new(), Vec::new());
    from.read_until(MARK, &mut printed).ok()?;
    printed.pop().filter(|&last| last == MARK)?;
    from.read_until(b'\n', &mut json).ok()?;
    let printed = String::from_utf8_lossy(&printed).into_owned();
    Some((printed, serde_json::from_slice(&json).ok()?))
}

impl Worker {
    /// Starts a worker and waits until it has the GPU.
    pub fn start(options: &Options, folder: &Path) -> Result<Worker, Error> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--worker").arg(folder);
        if let Some(driver) = &options.driver {
            command.arg("--driver").arg(driver);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take().ok_or("no pipe to the worker")?;
        let stdout = child.stdout.take().ok_or("no pipe from the worker")?;
        let (sender, said) = channel();
        std::thread::spawn(move || {
            let mut from = BufReader::new(stdout);
            while let Some(next) = hear(&mut from) {
                if sender.send(next).is_err() {
                    break;
                }
            }
        });
        let mut worker = Worker {
            child,
            stdin,
            said,
            device: String::new(),
        };
        match worker.said.recv_timeout(START) {
            Ok((_, Message::Hello(device))) => worker.device = device,
            Ok((_, other)) => return Err(other.into()),
            Err(_) => return Err("a worker ended before it had the GPU".into()),
        }
        Ok(worker)
    }

    /// Runs a case; false with the row if the worker must not be used again.
    pub fn run(
        &mut self,
        index: usize,
        case: &Case,
        timeout: Duration,
    ) -> Result<(Row, bool), String> {
        writeln!(self.stdin, "{index}").map_err(|e| format!("the worker is gone: {e}"))?;
        match self.said.recv_timeout(timeout) {
            Ok((printed, Message::Done(mut row))) => {
                let alive = !matches!(row.verdict, Verdict::Failed(_));
                let ran = matches!(row.verdict, Verdict::Same | Verdict::Legal(_));
                if let (true, Err(wrong)) = (ran, case.check_output(&printed)) {
                    row.verdict = Verdict::Different(format!("the GPU {wrong}"));
                }
                Ok((row, alive))
            }
            Ok((_, other)) => Err(format!("the worker said {other:?} out of turn")),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("no result after {} s: hung", timeout.as_secs()))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self
                    .child
                    .wait()
                    .map_or("unknown".into(), |s| s.to_string());
                Err(format!("the worker died ({status})"))
            }
        }
    }
}
