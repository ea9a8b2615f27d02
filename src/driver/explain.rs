//! `tilec explain`: what the compiler decided about each kernel, and by which rules.

mod gather;
mod text;

use std::path::PathBuf;

use serde::Serialize;

use super::{Outcome, compile, input, output};
use crate::compile::{Options, Stage, lower_to, selected};
use crate::ir::{Diagnostic, Diagnostics, Module};
use crate::launch::Entry;

#[derive(clap::Args)]
pub struct Args {
    /// Bytecode or text file, `-` for standard input.
    input: PathBuf,
    /// Where the explanation goes, `-` for standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// Architecture to compile for.
    #[arg(long, default_value = "sm_90a")]
    gpu_name: String,
    /// Explain the compilation without tensor maps.
    #[arg(long)]
    no_tma: bool,
    /// Write JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Directory that replaces the compiled-in rules.
    #[arg(long)]
    rules_dir: Option<PathBuf>,
    /// Directory that replaces the compiled-in `isel/`.
    #[arg(long)]
    isel_dir: Option<PathBuf>,
}

/// Everything that was decided about a module.
#[derive(Serialize)]
struct Explanation {
    target: String,
    kernels: Vec<Kernel>,
    /// Name and matrix of each layout.
    layouts: Vec<(String, String)>,
    launches: Vec<Entry>,
    rules: Vec<Rules>,
}

/// The schedule of a kernel, as the nv_tileas stage has it.
#[derive(Serialize)]
struct Kernel {
    name: String,
    warps: i64,
    decisions: Vec<Decision>,
    missed: Vec<Missed>,
}

/// Something that the target has and an operation did not get; `at` is where in the source, if known.
#[derive(Serialize)]
struct Missed {
    what: &'static str,
    why: String,
    at: String,
}

/// One decision; `at` is where in the source, if known.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Decision {
    SharedBuffer {
        ty: String,
    },
    Pipeline {
        stages: i64,
        bytes: i64,
    },
    WarpRoles {
        consumer_warps: i64,
        consumer_registers: i64,
        producer_registers: i64,
    },
    Conversion {
        from: String,
        to: String,
        at: String,
    },
}

/// What the rules of one group did to one kernel.
#[derive(Serialize)]
struct Rules {
    group: String,
    kernel: String,
    iterations: u32,
    nodes: usize,
    classes: usize,
    fired: Vec<Fired>,
    choices: Vec<crate::egraph::ChoiceReport>,
}

/// A rule that made something new.
#[derive(Serialize)]
struct Fired {
    rule: String,
    file: String,
    line: u32,
    times: u32,
    chosen: u32,
    at: Vec<String>,
}

pub fn run(args: &Args) -> Outcome {
    let options = Options {
        tma: !args.no_tma,
        explain: true,
        rules_dir: args.rules_dir.clone(),
        isel_dir: args.isel_dir.clone(),
        ..Options::new(compile::target(&args.gpu_name)?)
    };
    let data = input::bytes(&args.input)?;
    let told = explanation(|| input::verified_from(&args.input, &data), &options)?;
    let text = if args.json { told.json } else { told.text };
    output::write(&args.output, text.as_bytes())
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

fn explain(first: Module, second: Module, options: &Options) -> Result<Explanation, Diagnostics> {
    let scheduled = lower_to(first, options, Stage::NvTileas)?;
    let (kernels, layouts) = gather::schedule(&scheduled);
    let lowered = selected(second, options)?;
    Ok(Explanation {
        target: options.target.to_string(),
        kernels,
        layouts,
        rules: gather::rules(&lowered),
        launches: lowered.entries,
    })
}
