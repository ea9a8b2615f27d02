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
    let data = input::bytes(&args.input)?;
    let module = input::verified_from(&args.input, &data)?;
    if !verify::warnings(&module).is_empty() {
        report::print(&input::warnings(&args.input, &data)?, format);
    }
    Ok(())
}
