//! `tilec as`: text to bytecode.

use std::path::PathBuf;

use super::{Outcome, input, output};
use crate::bytecode;
use crate::dialect::Version;

#[derive(clap::Args)]
pub struct Args {
    /// Text file, `-` for standard input.
    input: PathBuf,
    /// Where the bytecode goes, `-` for standard output.
    #[arg(short, long)]
    output: PathBuf,
    /// Bytecode version to write.
    #[arg(long, default_value = "13.5")]
    bytecode_version: Version,
    /// Write a module even if it breaks a rule.
    #[arg(long)]
    no_verify: bool,
}

pub fn run(args: &Args) -> Outcome {
    let module = match args.no_verify {
        true => input::module(&args.input)?,
        false => input::verified(&args.input)?,
    };
    let data = bytecode::write(&module, args.bytecode_version)?;
    output::write(&args.output, &data)
}
