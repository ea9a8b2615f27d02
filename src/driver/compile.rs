//! `tilec compile`: bytecode or text to any stage down to PTX.

use std::path::PathBuf;

use super::options::CompileArgs;
use super::{Outcome, input, output};
use crate::compile::{Options, Stage, has_manifest, lower_to, machine, nvvm_ir, to_ptx};
use crate::ir::{Diagnostic, Diagnostics};
use crate::ptx::Debug;
use crate::ptxas;

/// What `--emit` can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
enum Emit {
    CudaTile,
    #[value(alias = "tileaa")]
    NvTileaa,
    #[value(alias = "tileas")]
    NvTileas,
    Nvvm,
    /// The nvvm stage in LLVM's language, for libNVVM.
    #[value(name = "nvvm-ir")]
    NvvmIr,
    /// The selected instructions over virtual registers, before copies are coalesced.
    Machine,
    Ptx,
    /// The launch manifest, JSON.
    Manifest,
    /// Machine code, by NVIDIA's `ptxas`.
    Cubin,
}

#[derive(clap::Args)]
pub struct Args {
    /// Bytecode or text file, `-` for standard input.
    input: PathBuf,
    /// Where the result goes, `-` for standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    compile: CompileArgs,
    /// What to write.
    #[arg(long, value_enum, default_value_t = Emit::Ptx)]
    emit: Emit,
    /// Put the launch manifest into the PTX and so into the cubin, as the constant `__tilec_manifest`.
    #[arg(long)]
    embed_manifest: bool,
    /// Line information in the PTX, from the module's debug information.
    #[arg(long)]
    lineinfo: bool,
    /// Run the verifier after every stage.
    #[arg(long)]
    verify: bool,
    /// The `ptxas` to use for `--emit cubin`; found in PATH, CUDA_HOME or target/ when not given.
    #[arg(long)]
    ptxas: Option<PathBuf>,
}

impl Args {
    fn options(&self) -> Result<Options, Diagnostics> {
        Ok(Options {
            verify: self.verify,
            embed_manifest: self.embed_manifest,
            debug: match self.lineinfo {
                true => Debug::Lines,
                false => Debug::None,
            },
            ..self.compile.options()?
        })
    }
}

pub fn run(args: &Args) -> Outcome {
    let module = input::verified(&args.input)?;
    let options = args.options()?;
    let stage = match args.emit {
        Emit::CudaTile => Stage::CudaTile,
        Emit::NvTileaa => Stage::NvTileaa,
        Emit::NvTileas => Stage::NvTileas,
        Emit::Nvvm | Emit::NvvmIr | Emit::Machine => Stage::Nvvm,
        Emit::Ptx | Emit::Manifest | Emit::Cubin => Stage::Ptx,
    };
    if args.emit == Emit::Cubin {
        let assembler = ptxas::find(args.ptxas.as_deref())?;
        let ptx = to_ptx(module, &options)?.ptx;
        let cubin = ptxas::assemble(&assembler, &ptx, options.target, &[])?;
        return output::write(&args.output, &cubin);
    }
    let text = match args.emit {
        Emit::Ptx => to_ptx(module, &options)?.ptx,
        Emit::Manifest => {
            has_manifest(&module)?;
            let json = to_ptx(module, &options)?.manifest.to_json();
            json.map_err(|e| Diagnostic::error(format!("the manifest cannot be written: {e}")))?
        }
        Emit::Machine => machine(module, &options)?,
        Emit::NvvmIr => nvvm_ir(module, &options)?.text,
        _ => lower_to(module, &options, stage)?.text(),
    };
    output::write(&args.output, text.as_bytes())
}
