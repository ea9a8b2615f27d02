//! Launches by the reference interpreter and the PTX simulator.

use ptxsim::manifest::Manifest;
use ptxsim::{Arg, Launch, LaunchError, Module as Ptx};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tilec::eval::{self, Argument, Elem, Hooks, Memory, Program};
use tilec::ir::{Diagnostic, Diagnostics, Place};

use super::{module, raise};

/// Device memory: what messages call it, and its contents.
type Buffer = (String, Vec<u8>);

/// An argument: `("pointer", buffer, offset)` or `("scalar", bytes, bits)`.
type Argument3 = (String, u64, u64);

/// The contents of the buffers afterwards, what was printed, and the counters as JSON.
type Outcome<'py> = (Vec<Bound<'py, PyBytes>>, String, String);

fn error(message: impl std::fmt::Display) -> Diagnostics {
    Diagnostic::error(message.to_string()).into()
}

/// The types of an entry's parameters: `ptr`, `i32`, `f32`, …
#[pyfunction]
pub fn parameters(data: Vec<u8>, name: &str, entry: Option<&str>) -> PyResult<Vec<String>> {
    let types = || {
        let module = module(&data, name)?;
        let mut memory = Memory::default();
        let program = Program::new(&module, entry, &mut memory)?;
        let text = |elem: &Elem| match elem {
            Elem::Int(width) => format!("i{width}"),
            Elem::Float(format) => format!("{format:?}").to_lowercase(),
            Elem::Ptr { .. } => "ptr".to_owned(),
        };
        Ok::<_, Diagnostics>(program.parameters().iter().map(text).collect())
    };
    types().map_err(raise)
}

/// Runs the reference interpreter.
#[pyfunction]
pub fn evaluate<'py>(
    py: Python<'py>,
    data: Vec<u8>,
    name: String,
    entry: Option<String>,
    grid: [u32; 3],
    buffers: Vec<Buffer>,
    arguments: Vec<Argument3>,
) -> PyResult<Outcome<'py>> {
    let run = move || {
        let module = module(&data, &name)?;
        let mut memory = Memory::default();
        let mut addresses = Vec::new();
        for (name, bytes) in &buffers {
            addresses.push(memory.add(name.clone(), bytes).map_err(error)?);
        }
        let program = Program::new(&module, entry.as_deref(), &mut memory)?;
        let elems = program.parameters().to_vec();
        if elems.len() != arguments.len() {
            return Err(error(format!(
                "{} arguments for {} parameters",
                arguments.len(),
                elems.len()
            )));
        }
        let value = |((kind, a, b), elem): (&Argument3, &Elem)| match kind.as_str() {
            "pointer" => {
                let base = addresses
                    .get(*a as usize)
                    .ok_or_else(|| error("no such buffer"))?;
                Ok(Argument::Pointer(base + b))
            }
            _ => Ok::<_, Diagnostics>(Argument::Scalar {
                elem: *elem,
                bits: *b,
            }),
        };
        let values: Result<Vec<_>, _> = arguments.iter().zip(&elems).map(value).collect();
        let launch = eval::Launch {
            grid,
            arguments: values?,
        };
        let mut printed = Vec::new();
        let hooks = Hooks {
            output: &mut printed,
            progress: &|_| {},
            steps: u64::MAX,
        };
        if let Some(assertion) = program.run(&launch, &memory, hooks)? {
            return Err(assertion.into());
        }
        let after = addresses
            .iter()
            .map(|&a| memory.bytes(a).unwrap_or_default())
            .collect();
        Ok((
            after,
            String::from_utf8_lossy(&printed).into_owned(),
            "{}".to_owned(),
        ))
    };
    outcome(py, py.detach(run))
}

/// Runs the simulator on compiled PTX.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub fn simulate<'py>(
    py: Python<'py>,
    ptx: String,
    manifest: String,
    entry: Option<String>,
    grid: [u32; 3],
    buffers: Vec<Buffer>,
    arguments: Vec<Argument3>,
    checks: bool,
    seed: u64,
) -> PyResult<Outcome<'py>> {
    let run = move || {
        let manifest = Manifest::parse(&manifest).map_err(error)?;
        let entry = manifest.entry(entry.as_deref()).map_err(error)?;
        let module = Ptx::new(ptx.clone()).map_err(error)?;
        let program = module.entry(Some(&entry.name)).map_err(error)?;
        let own = arguments.iter().map(argument).collect();
        let mut launch = Launch::of_entry(&program, entry, own).map_err(error)?;
        launch.grid = grid;
        launch.seed = seed;
        launch.count = true;
        if !checks {
            launch.checks = ptxsim::exec::env::Checks::NONE;
        }
        for (name, bytes) in buffers {
            launch.add_buffer(&name, bytes);
        }
        let report = launch.run().map_err(|e| fault(&e, &ptx))?;
        let after = launch.buffers.into_iter().map(|b| b.bytes).collect();
        let stats = serde_json::to_string(&report.stats).map_err(error)?;
        Ok((after, report.output, stats))
    };
    outcome(py, py.detach(run))
}

type Raw = (Vec<Vec<u8>>, String, String);

fn outcome<'py>(py: Python<'py>, done: Result<Raw, Diagnostics>) -> PyResult<Outcome<'py>> {
    let (buffers, output, stats) = done.map_err(raise)?;
    let buffers = buffers.iter().map(|bytes| PyBytes::new(py, bytes));
    Ok((buffers.collect(), output, stats))
}

fn argument((kind, a, b): &Argument3) -> Arg {
    match kind.as_str() {
        "pointer" => Arg::Buffer {
            index: *a as usize,
            offset: *b,
        },
        _ => Arg::Scalar(b.to_le_bytes().into_iter().take(*a as usize).collect()),
    }
}

/// A fault with the line of the source that its instruction comes from.
fn fault(error: &LaunchError, ptx: &str) -> Diagnostics {
    let mut diagnostic = Diagnostic::error(error.to_string());
    if let LaunchError::Fault(fault) = error {
        diagnostic.place = source(ptx, fault.line as usize).unwrap_or(Place::Nowhere);
    }
    diagnostic.into()
}

/// What the last `.loc` at or before a line of PTX says.
fn source(ptx: &str, line: usize) -> Option<Place> {
    let before: Vec<&str> = ptx.lines().take(line).collect();
    let place = before
        .iter()
        .rev()
        .find_map(|l| l.trim_start().strip_prefix(".loc "))?;
    let mut numbers = place.split([' ', ',']).map_while(|n| n.parse::<u32>().ok());
    let (number, line, column) = (numbers.next()?, numbers.next()?, numbers.next()?);
    let head = format!(".file {number} \"");
    let file = ptx.lines().find_map(|l| l.strip_prefix(head.as_str()))?;
    Some(Place::Line {
        file: file.trim_end_matches('"').to_owned(),
        line,
        column,
    })
}
