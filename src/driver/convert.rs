//! `tilec convert`: another version.

use std::path::PathBuf;

use super::{Outcome, input, output};
use crate::bytecode;
use crate::dialect::Version;

#[derive(clap::Args)]
pub struct Args {
    /// Bytecode file, `-` for standard input.
    input: PathBuf,
    /// Where the bytecode goes, `-` for standard output.
    #[arg(short, long)]
    output: PathBuf,
    /// Bytecode version to write; that of the input unless given.
    #[arg(long)]
    bytecode_version: Option<Version>,
}

pub fn run(args: &Args) -> Outcome {
    let contents = bytecode::read_full(&input::bytes(&args.input)?)?;
    let version = args.bytecode_version.unwrap_or(contents.version);
    // Tables keep their order only where they mean the same.
    let data = match version == contents.version {
        true => bytecode::write_with(&contents.module, version, &contents.tables)?,
        false => bytecode::write(&contents.module, version)?,
    };
    output::write(&args.output, &data)
}
