//! `tilec verify`: whether a module obeys every rule.

use std::path::PathBuf;

use super::{Outcome, input, report};
use crate::verify;

#[derive(clap::Args)]
pub struct Args {
    /// Bytecode or text file, `-` for standard input.
    input: PathBuf,
}

pub fn run(args: &Args, format: report::Format) -> Outcome {
    let module = input::verified(&args.input)?;
    report::print(&crate::ir::Diagnostics(verify::warnings(&module)), format);
    Ok(())
}
