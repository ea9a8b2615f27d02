//! `tilec dis`: bytecode to text.

use std::path::PathBuf;

use super::{Outcome, input, output};
use crate::asm;

#[derive(clap::Args)]
pub struct Args {
    /// Bytecode or text file, `-` for standard input.
    input: PathBuf,
    /// Where the text goes, `-` for standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// Print MLIR's generic form.
    #[arg(long)]
    generic: bool,
}

pub fn run(args: &Args) -> Outcome {
    let module = input::module(&args.input)?;
    let text = match args.generic {
        true => asm::print_generic(&module),
        false => asm::print_pretty(&module),
    };
    output::write(&args.output, text.as_bytes())
}
