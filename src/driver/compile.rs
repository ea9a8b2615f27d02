//! `tilec compile`: bytecode to any stage down to PTX.

use std::path::PathBuf;

use super::{Outcome, input, output};
use crate::bytecode;
use crate::compile::{Options, Stage, compile};
use crate::ir::{Diagnostic, Diagnostics};
use crate::target::Target;

#[derive(clap::Args)]
pub struct Args {
    /// Bytecode file, `-` for standard input.
    input: PathBuf,
    /// Where the result goes, `-` for standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// Architecture to compile for.
    #[arg(long, default_value = "sm_90a")]
    gpu_name: String,
    /// What to write.
    #[arg(long, value_enum, default_value_t = Stage::Ptx)]
    emit: Stage,
    /// Use no tensor maps: the kernel's parameters are the entry's own.
    #[arg(long)]
    no_tma: bool,
    /// 0: no rewriting beyond what lowering needs; 3: everything.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=3))]
    opt_level: u8,
    /// Verify after each stage.
    #[arg(long)]
    verify: bool,
}

impl Args {
    fn options(&self) -> Result<Options, Diagnostics> {
        let target = self.gpu_name.parse::<Target>();
        let target = target.map_err(|_| {
            Diagnostic::error(format!("unknown target `{}`", self.gpu_name))
                .note("targets are named like sm_80, sm_90a, sm_120a")
        })?;
        Ok(Options {
            target,
            tma: !self.no_tma,
            opt_level: self.opt_level,
            verify: self.verify,
        })
    }
}

pub fn run(args: &Args) -> Outcome {
    let module = bytecode::read(&input::bytes(&args.input)?)?;
    let result = compile(module, &args.options()?, args.emit)?;
    output::write(&args.output, result.as_bytes())
}
