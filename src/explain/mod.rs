//! What the compiler decides about a module, and why: schedules, what was considered and not done, layouts,
//! the rules that fired.

mod decision;
mod gather;
mod text;

pub(crate) use decision::Decision;

use serde::Serialize;

use crate::compile::{Compiler, Options, Stage, lower_to};
use crate::ir::{Diagnostic, Diagnostics, Module};
use crate::launch::Entry;

/// Everything that was decided about a module.
#[derive(Serialize)]
pub(crate) struct Explanation {
    pub target: String,
    pub kernels: Vec<Kernel>,
    /// Name and matrix of each layout.
    pub layouts: Vec<(String, String)>,
    pub launches: Vec<Entry>,
    pub rules: Vec<Rules>,
    pub passes: Vec<Passes>,
}

/// The schedule of a kernel, as the nv_tileas stage has it.
#[derive(Serialize)]
pub(crate) struct Kernel {
    pub name: String,
    pub warps: i64,
    pub decisions: Vec<Decision>,
    pub missed: Vec<Missed>,
}

/// Something that the target has and an operation did not get; `at` is where in the source, if known.
#[derive(Serialize)]
pub(crate) struct Missed {
    pub what: &'static str,
    pub why: String,
    pub at: String,
}

/// What the rules of one group did to one kernel.
#[derive(Serialize)]
pub(crate) struct Rules {
    pub group: String,
    pub kernel: String,
    pub iterations: u32,
    pub nodes: usize,
    pub classes: usize,
    pub fired: Vec<Fired>,
    pub choices: Vec<crate::egraph::ChoiceReport>,
}

/// What the passes over selected instructions did to one kernel.
#[derive(Serialize)]
pub(crate) struct Passes {
    pub kernel: String,
    pub done: Vec<Passed>,
}

/// What one of them did: `times` of what it `counts`.
#[derive(Serialize)]
pub(crate) struct Passed {
    pub pass: &'static str,
    pub counts: &'static str,
    pub times: usize,
}

/// A rule that made something new.
#[derive(Serialize)]
pub(crate) struct Fired {
    pub rule: String,
    pub file: String,
    pub line: u32,
    pub times: u32,
    pub chosen: u32,
    pub at: Vec<String>,
}

/// An explanation, written.
pub struct Told {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: String,
}

/// What the compiler decides about the module that `read` reads.
///
/// # Errors
/// Those of reading and compiling.
pub fn explanation(
    read: impl Fn() -> Result<Module, Diagnostics>,
    options: &Options,
) -> Result<Told, Diagnostics> {
    let options = Options {
        explain: true,
        ..options.clone()
    };
    // Lowering consumes a module, and two stages are explained.
    let explanation = explain(read()?, read()?, &options)?;
    let json = serde_json::to_string_pretty(&explanation)
        .map_err(|e| Diagnostic::error(format!("the explanation cannot be written: {e}")))?;
    Ok(Told {
        text: text::write(&explanation),
        json: json + "\n",
    })
}

/// Compiles both, which are the same module, and gathers.
pub(crate) fn explain(
    first: Module,
    second: Module,
    options: &Options,
) -> Result<Explanation, Diagnostics> {
    let scheduled = lower_to(first, options, Stage::NvTileas)?;
    let (kernels, layouts) = gather::schedule(&scheduled);
    let compiler = Compiler::for_one_module(options.clone());
    let lowered = compiler.selected(second)?;
    let (_, passed) = compiler.written(&lowered)?;
    Ok(Explanation {
        passes: gather::passes(passed),
        target: options.target.to_string(),
        kernels,
        layouts,
        rules: gather::rules(&lowered),
        launches: lowered.entries,
    })
}
