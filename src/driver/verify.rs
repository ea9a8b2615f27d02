//! `tilec verify`: whether a module obeys every rule.

use std::path::PathBuf;

use super::{Outcome, input, report};
use crate::{bytecode, verify};

#[derive(clap::Args)]
pub struct Args {
    /// Bytecode file, `-` for standard input.
    input: PathBuf,
}

pub fn run(args: &Args, format: report::Format) -> Outcome {
    let module = bytecode::read(&input::bytes(&args.input)?)?;
    verify::verify(&module)?;
    report::print(&crate::ir::Diagnostics(verify::warnings(&module)), format);
    Ok(())
}
