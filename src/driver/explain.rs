//! `tilec explain`: what the compiler decided about each kernel, and by which rules.

use std::path::PathBuf;

use super::{Outcome, input, output};
use crate::compile::{Options, target};
use crate::explain::explanation;

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

pub fn run(args: &Args) -> Outcome {
    let options = Options {
        tma: !args.no_tma,
        explain: true,
        rules_dir: args.rules_dir.clone(),
        isel_dir: args.isel_dir.clone(),
        ..Options::new(target(&args.gpu_name)?)
    };
    let data = input::bytes(&args.input)?;
    let told = explanation(|| input::verified_from(&args.input, &data), &options)?;
    let text = if args.json { told.json } else { told.text };
    output::write(&args.output, text.as_bytes())
}
