//! `tileiras` and `tileirdisasm`: tilec under the names that CUDA's tools have, with their options,
//! exit codes and form of diagnostics, so that nvcc, cuTile Python and others run it in their place.

mod container;
mod help;
mod options;
mod remarks;
mod tables;
mod tileiras;
mod tileirdisasm;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use crate::ir::{Diagnostic, Place};
use help::About;
use options::{Action, Line, Opt};

/// The release of CUDA whose tools these stand in for.
const RELEASE: &str = "13.5";
const RELEASE_VERSION: &str = "V13.5.37";

/// Set to 1: what is written is an image of PTX, with the manifest inside, for a driver that is emulated.
const EMULATE: &str = "TILEC_EMULATE";

/// A tool that tilec stands in for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    Tileiras,
    Tileirdisasm,
}

impl Tool {
    pub const ALL: [Tool; 2] = [Tool::Tileiras, Tool::Tileirdisasm];

    pub fn name(self) -> &'static str {
        match self {
            Tool::Tileiras => "tileiras",
            Tool::Tileirdisasm => "tileirdisasm",
        }
    }

    /// The tool that a program's path names.
    pub fn of(program: &OsStr) -> Option<Tool> {
        let stem = Path::new(program).file_stem()?;
        Tool::ALL.into_iter().find(|tool| stem == tool.name())
    }

    /// Runs it: `program` is what it was called as.
    pub fn run(self, program: &str, args: &[String]) -> ExitCode {
        let (about, table) = match self {
            Tool::Tileiras => (&tables::TILEIRAS, tables::ASSEMBLER),
            Tool::Tileirdisasm => (&tables::TILEIRDISASM, tables::DISASSEMBLER),
        };
        let line = options::parse(table, program, args);
        for error in &line.errors {
            eprintln!("{}: {error}", self.name());
        }
        if let Some(action) = line.action {
            print(&act(about, table, action));
            return ExitCode::SUCCESS;
        }
        if !line.errors.is_empty() {
            return ExitCode::from(1);
        }
        let input = line.positional.first().map(String::as_str).unwrap_or("");
        if input.is_empty() {
            print(&help::text(about, table, false, false));
            eprintln!("error: no input file provided\n");
            return ExitCode::from(self.unreadable());
        }
        let done = match self {
            Tool::Tileiras => tileiras::run(program, input, &line),
            Tool::Tileirdisasm => tileirdisasm::run(input, &line),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                failure.lines.iter().for_each(|line| eprintln!("{line}"));
                ExitCode::from(failure.code)
            }
        }
    }

    /// Exit code where there is no input.
    fn unreadable(self) -> u8 {
        match self {
            Tool::Tileiras => 1,
            Tool::Tileirdisasm => 2,
        }
    }
}

/// What an option that ends the run prints.
fn act(about: &About, table: &[Opt], action: Action) -> String {
    match action {
        Action::Help { hidden, grouped } => help::text(about, table, hidden, grouped),
        Action::ListVersions => (1..=5).map(|minor| format!("13.{minor}\n")).collect(),
        Action::Version => version(about),
    }
}

/// Clients look for the release; caches take all of it as the key of what was compiled.
fn version(about: &About) -> String {
    let output = match emulates() {
        true => "Output is for an emulated driver\n",
        false => "",
    };
    format!(
        "{}: {}\nCuda compilation tools, release {RELEASE}, {RELEASE_VERSION}\nBuild tilec-{}\n{output}",
        about.name,
        about.overview,
        env!("CARGO_PKG_VERSION")
    )
}

fn emulates() -> bool {
    std::env::var_os(EMULATE).is_some_and(|value| value == "1")
}

/// Whether the emulated driver needs the bytecode and nothing else: it interprets Tile IR, or keeps it.
fn passes_bytecode() -> bool {
    let engine = std::env::var_os("TILEC_EMULATE_ENGINE");
    let evaluates = engine.is_some_and(|engine| engine == "eval");
    emulates() && (evaluates || std::env::var_os("TILEC_EMULATE_KEEP").is_some())
}

fn print(text: &str) {
    use std::io::Write as _;
    // The reader may have gone away.
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Why a tool ends with something else than 0, and what it says of it.
pub struct Failure {
    code: u8,
    lines: Vec<String>,
}

impl Failure {
    fn new(code: u8, message: impl std::fmt::Display) -> Self {
        Failure {
            code,
            lines: vec![format!("error: {message}")],
        }
    }

    fn and(mut self, message: impl std::fmt::Display) -> Self {
        self.lines.push(format!("error: {message}"));
        self
    }

    /// Diagnostics in the form that the tools have: `loc("FILE":LINE:COLUMN): error: …`, or `error: error
    /// at offset …`, once more for each step that failed because of it.
    fn of(code: u8, diagnostics: &[Diagnostic]) -> Self {
        let mut lines = Vec::new();
        for d in diagnostics {
            let place = match &d.place {
                Place::Line { file, line, column } => format!("loc(\"{file}\":{line}:{column}): "),
                _ => String::new(),
            };
            let offset = match &d.place {
                Place::Offset(at) => format!("error at offset {at}: "),
                _ => String::new(),
            };
            let op = d.operation.as_ref().map(|op| format!("'{op}' op "));
            let op = op.unwrap_or_default();
            lines.push(format!("{place}error: {offset}{op}{}", d.message));
            lines.extend(d.notes.iter().map(|note| match offset.is_empty() {
                true => format!("{place}note: {note}"),
                false => format!("error: {offset}{note}"),
            }));
        }
        Failure { code, lines }
    }
}

/// The bytes of an input file, which a dash is the name of, too.
fn read(path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| {
        let text = e.to_string();
        let reason = text.split(" (os error").next().unwrap_or_default();
        format!("unable to read input file '{path}': {reason}")
    })
}

/// A module from bytecode.
///
/// # Errors
/// What is wrong with the file, with exit code 3.
fn module(data: &[u8], line: &Line) -> Result<crate::ir::Module, Failure> {
    let previews = !line.all("preview").is_empty();
    let module = crate::bytecode::read(data).map_err(|error| {
        let failure = Failure::of(3, &[error]);
        match previews {
            true => failure.and("preview features are not supported by tilec"),
            false => failure,
        }
    })?;
    match crate::verify::verify(&module) {
        Ok(()) => Ok(module),
        Err(errors) => {
            let failure = Failure::of(3, &errors.0);
            Err(failure.and("verification failed for deserialized cuda_tile::ModuleOp"))
        }
    }
}

/// Whether the data begins as a file of the public container does.
fn is_bytecode(data: &[u8]) -> bool {
    data.starts_with(crate::bytecode::MAGIC.as_slice())
}
