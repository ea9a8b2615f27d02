//! The solver: [Z3](https://github.com/Z3Prover/z3) as a process that reads SMT-LIB. Found, never linked.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What a query was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// No values satisfy it.
    Unsatisfiable,
    /// These values of the inputs do.
    Values(Vec<u64>),
    /// The solver gave up within its steps.
    Unknown,
}

/// A running solver.
pub struct Solver {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Steps that a query may take, in the solver's own deterministic unit.
    limit: u64,
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
        Ok(Solver {
            child,
            input,
            output: BufReader::new(output),
            limit,
        })
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
        let failed = |e: std::io::Error| format!("the solver ended: {e}");
        let limit = self.limit.saturating_mul(times);
        write!(
            self.input,
            "(reset)\n(set-option :rlimit {limit})\n{query}(check-sat)\n"
        )
        .and_then(|()| self.input.flush())
        .map_err(failed)?;
        match self.line()?.as_str() {
            "unsat" => return Ok(Answer::Unsatisfiable),
            "sat" => {}
            "unknown" | "timeout" => return Ok(Answer::Unknown),
            other => return Err(format!("the solver says {other}")),
        }
        let mut values = Vec::new();
        for unknown in unknowns {
            writeln!(self.input, "(eval {unknown} :completion true)")
                .and_then(|()| self.input.flush())
                .map_err(failed)?;
            values.push(number(&self.line()?)?);
        }
        Ok(Answer::Values(values))
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

impl Drop for Solver {
    fn drop(&mut self) {
        // It may be in the middle of a query.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
