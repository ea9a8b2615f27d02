//! `tilec convert`: another version or container.

use std::path::PathBuf;

use super::{Outcome, input, output};
use crate::bytecode::{self, Format, Tables, notes};
use crate::dialect::Version;
use crate::ir::Diagnostic;

#[derive(clap::Args)]
pub struct Args {
    /// Bytecode file, `-` for standard input. Text goes through `tilec as`.
    input: PathBuf,
    /// Where the bytecode goes, `-` for standard output.
    #[arg(short, long)]
    output: PathBuf,
    /// Bytecode version to write; that of the input unless given.
    #[arg(long)]
    bytecode_version: Option<Version>,
    /// Container to write; that of the input unless given. The notes' holds version 13.1 only.
    #[arg(long, value_enum)]
    container: Option<Format>,
}

pub fn run(args: &Args) -> Outcome {
    let contents = bytecode::read_full(&input::bytes(&args.input)?)?;
    let version = args.bytecode_version.unwrap_or(contents.version);
    // Tables keep their order only where they mean the same.
    let tables = match version == contents.version {
        true => contents.tables,
        false => Tables::default(),
    };
    let data = match args.container.unwrap_or(contents.format) {
        Format::Public => bytecode::write_with(&contents.module, version, &tables)?,
        Format::Notes if args.bytecode_version.is_some_and(|v| v != notes::VERSION) => {
            return Err(Diagnostic::error(format!(
                "the notes' container holds version {}, not {version}",
                notes::VERSION
            ))
            .into());
        }
        Format::Notes => bytecode::write_notes(&contents.module, &tables)?,
    };
    output::write(&args.output, &data)
}
