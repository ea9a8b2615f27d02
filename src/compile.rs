//! The whole compilation, stage by stage.

use crate::asm;
use crate::ir::{Diagnostics, Module};
use crate::isel;
use crate::lower;
use crate::target::Target;

/// What to stop at, or what to write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Stage {
    CudaTile,
    #[value(alias = "tileaa")]
    NvTileaa,
    #[value(alias = "tileas")]
    NvTileas,
    Nvvm,
    Ptx,
}

/// What a compilation is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    pub target: Target,
    /// Use tensor maps where the target has them.
    pub tma: bool,
    /// 0 … 3.
    pub opt_level: u8,
    /// Verify after each stage.
    pub verify: bool,
}

/// Compiles `module` and returns the text of `stage`.
pub fn compile(mut module: Module, options: &Options, stage: Stage) -> Result<String, Diagnostics> {
    if stage == Stage::CudaTile {
        return Ok(asm::print_generic(&module));
    }
    lower::tileaa::run(&mut module)?;
    if stage == Stage::NvTileaa {
        return Ok(asm::print_generic(&module));
    }
    let planning = lower::tileas::Options {
        tma: options.tma,
        warps: None,
    };
    lower::tileas::run(&mut module, &options.target, &planning)?;
    if stage == Stage::NvTileas {
        return Ok(asm::print_generic(&module));
    }
    let _launches = lower::nvvm::run(&mut module, &options.target)?;
    if stage == Stage::Nvvm {
        return Ok(asm::print_generic(&module));
    }
    Ok(isel::compile(&module, &options.target)?.text)
}
