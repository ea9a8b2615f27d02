//! `tilec explain`: what the compiler decided about each kernel, and by which rules.

use std::path::PathBuf;

use super::options::CompileArgs;
use super::{Outcome, input, output};
use crate::compile::Options;
use crate::explain::explanation;

#[derive(clap::Args)]
pub struct Args {
    /// Bytecode or text file, `-` for standard input.
    input: PathBuf,
    /// Where the explanation goes, `-` for standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    compile: CompileArgs,
    /// Write JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Outcome {
    let options = Options {
        explain: true,
        ..args.compile.options()?
    };
    let data = input::bytes(&args.input)?;
    let told = explanation(|| input::verified_from(&args.input, &data), &options)?;
    let text = if args.json { told.json } else { told.text };
    output::write(&args.output, text.as_bytes())
}
