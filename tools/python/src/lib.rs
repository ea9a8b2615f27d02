//! The native part of the Python package `tilec`: bytes, texts and numbers in and out. Arrays, kernels and results
//! are Python's (`tools/python/tilec`).

mod launch;

use std::path::Path;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tilec::compile::{self, OptLevel, Options, Stage};
use tilec::dialect::Version;
use tilec::ir::{Diagnostic, Diagnostics, Module, Place};
use tilec::ptx::Debug;
use tilec::{asm, bytecode};
use tilec::{input, ptxas};

create_exception!(
    _tilec,
    NativeError,
    PyException,
    "Message, notes, file, line and column (0: not known) of what went wrong."
);

/// The first diagnostic becomes the exception, the others are notes.
fn raise(diagnostics: Diagnostics) -> PyErr {
    let mut list = diagnostics.0.into_iter();
    let first = list.next().unwrap_or_else(|| Diagnostic::error("failed"));
    let (file, line, column) = match &first.place {
        Place::Line { file, line, column } => (file.clone(), *line, *column),
        _ => (String::new(), 0, 0),
    };
    let message = match (&first.place, &first.operation) {
        (Place::Offset(at), _) => format!("at offset {at}: {}", first.message),
        (_, Some(op)) => format!("'{op}' op {}", first.message),
        _ => first.message.clone(),
    };
    let mut notes = first.notes;
    notes.extend(list.map(|d| d.to_string()));
    NativeError::new_err((message, notes, file, line, column))
}

fn module(data: &[u8], name: &str) -> Result<Module, Diagnostics> {
    input::any(data, name)
}

fn options(gpu: &str, tma: bool, opt_level: u8) -> Result<Options, Diagnostics> {
    let level = OptLevel::from_number(opt_level);
    Ok(Options {
        tma,
        opt_level: level.ok_or_else(|| {
            Diagnostic::error(format!("optimisation level {opt_level}: there are 0 to 3"))
        })?,
        debug: Debug::Lines,
        ..Options::new(compile::target(gpu)?)
    })
}

/// PTX with line information, and the launch manifest's JSON, of a module in bytecode or text.
#[pyfunction]
fn compile_module(
    py: Python<'_>,
    data: Vec<u8>,
    name: String,
    gpu: String,
    tma: bool,
    opt_level: u8,
) -> PyResult<(String, String)> {
    py.detach(move || {
        let kernel = compile::to_ptx(module(&data, &name)?, &options(&gpu, tma, opt_level)?)?;
        let manifest = kernel.manifest.to_json();
        let manifest = manifest.map_err(|e| Diagnostic::error(e.to_string()))?;
        Ok((kernel.ptx, manifest))
    })
    .map_err(raise)
}

/// The text of a stage: `cuda_tile`, `nv_tileaa`, `nv_tileas` or `nvvm`.
#[pyfunction]
fn stage(
    py: Python<'_>,
    data: Vec<u8>,
    name: String,
    gpu: String,
    tma: bool,
    opt_level: u8,
    stage: String,
) -> PyResult<String> {
    py.detach(move || {
        let stage = match stage.as_str() {
            "cuda_tile" => return Ok(asm::print_pretty(&module(&data, &name)?)),
            "nv_tileaa" => Stage::NvTileaa,
            "nv_tileas" => Stage::NvTileas,
            "nvvm" => Stage::Nvvm,
            _ => {
                let error = Diagnostic::error(format!("there is no stage `{stage}`"));
                let stages = "cuda_tile, nv_tileaa, nv_tileas, nvvm";
                return Err(error.note(format!("stages are {stages}")).into());
            }
        };
        let options = options(&gpu, tma, opt_level)?;
        Ok(compile::lower_to(module(&data, &name)?, &options, stage)?.text())
    })
    .map_err(raise)
}

/// What the compiler decided: for people, and as JSON.
#[pyfunction]
fn explain(
    py: Python<'_>,
    data: Vec<u8>,
    name: String,
    gpu: String,
    tma: bool,
    opt_level: u8,
) -> PyResult<(String, String)> {
    py.detach(move || {
        let options = options(&gpu, tma, opt_level)?;
        let told = tilec::explain::explanation(|| module(&data, &name), &options)?;
        Ok((told.text, told.json))
    })
    .map_err(raise)
}

/// Bytecode of a module in text.
#[pyfunction]
fn assemble<'py>(py: Python<'py>, text: &str, version: &str) -> PyResult<Bound<'py, PyBytes>> {
    let version: Version = version
        .parse()
        .map_err(|_| raise(Diagnostic::error(format!("there is no version `{version}`")).into()))?;
    let module = module(text.as_bytes(), "<text>").map_err(raise)?;
    let data = bytecode::write(&module, version).map_err(|e| raise(e.into()))?;
    Ok(PyBytes::new(py, &data))
}

/// A cubin of PTX, by `ptxas`.
#[pyfunction]
fn cubin<'py>(
    py: Python<'py>,
    ptx: String,
    gpu: String,
    assembler: Option<String>,
) -> PyResult<Bound<'py, PyBytes>> {
    let data = py.detach(move || {
        let program = ptxas::find(assembler.as_deref().map(Path::new))?;
        ptxas::assemble(&program, &ptx, compile::target(&gpu)?, &["-lineinfo"])
    });
    Ok(PyBytes::new(py, &data.map_err(raise)?))
}

/// What Python imports.
#[pymodule]
fn _tilec(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("NativeError", m.py().get_type::<NativeError>())?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_function(wrap_pyfunction!(compile_module, m)?)?;
    m.add_function(wrap_pyfunction!(stage, m)?)?;
    m.add_function(wrap_pyfunction!(explain, m)?)?;
    m.add_function(wrap_pyfunction!(assemble, m)?)?;
    m.add_function(wrap_pyfunction!(cubin, m)?)?;
    m.add_function(wrap_pyfunction!(launch::parameters, m)?)?;
    m.add_function(wrap_pyfunction!(launch::evaluate, m)?)?;
    m.add_function(wrap_pyfunction!(launch::simulate, m)?)
}
