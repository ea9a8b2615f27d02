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
    /// Print locations and debug info.
    #[arg(short = 'g', long = "print-debug-info")]
    debug_info: bool,
}

pub fn run(args: &Args) -> Outcome {
    let module = input::module(&args.input)?;
    let text = match (args.generic, args.debug_info) {
        (true, false) => asm::print_generic(&module),
        (false, false) => asm::print_pretty(&module),
        (true, true) => asm::print_with_debug_info(&module, asm::Form::Generic),
        (false, true) => asm::print_with_debug_info(&module, asm::Form::Pretty),
    };
    output::write(&args.output, text.as_bytes())
}
