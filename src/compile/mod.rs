//! The whole compilation, stage by stage.
//!
//! ```
//! # fn main() -> Result<(), tilec::ir::Diagnostics> {
//! let bytes = include_bytes!("../tests/corpus/bytecode/vadd/f32.tilebc");
//! let module = tilec::bytecode::read(bytes)?;
//! let options = tilec::compile::Options::new("sm_80".parse().expect("a known target"));
//! let kernel = tilec::compile::to_ptx(module, &options)?;
//! assert!(kernel.ptx.contains(".visible .entry vadd"));
//! # Ok(())
//! # }
//! ```

pub mod stage;

use std::path::PathBuf;

use crate::asm;
use crate::dialect::Dialect;
use crate::egraph::Report;
use crate::ir::{Diagnostic, Diagnostics, Module, OpId};
use crate::isel;
use crate::launch::{Entry, MANIFEST_SYMBOL, Manifest};
use crate::lower;
use crate::ptx;
use crate::rules::files::Group;
use crate::target::Target;
use crate::verify;

/// The stages, from what was written to what is emitted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    CudaTile,
    NvTileaa,
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
    /// 0: lower only; above: simplify first.
    pub opt_level: u8,
    /// Directory that replaces the compiled-in `rules/`.
    pub rules_dir: Option<PathBuf>,
    /// Directory that replaces the compiled-in `isel/`.
    pub isel_dir: Option<PathBuf>,
    /// Record what the rules did and what each choice cost.
    pub explain: bool,
    /// Run the verifier after each stage.
    pub verify: bool,
    /// Put the launch manifest into the PTX, as the constant [`MANIFEST_SYMBOL`].
    pub embed_manifest: bool,
    /// Line information in the PTX, where the module has it.
    pub debug: ptx::Debug,
}

impl Options {
    /// Everything on, for `target`.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            tma: true,
            opt_level: 3,
            rules_dir: None,
            isel_dir: None,
            explain: false,
            verify: cfg!(debug_assertions),
            embed_manifest: false,
            debug: ptx::Debug::None,
        }
    }
}

/// What the rules of one group did to each function.
pub type GroupReport = (Group, Vec<(String, Report)>);

/// A module somewhere on its way, with what was learnt so far.
pub struct Compilation {
    pub module: Module,
    pub stage: Stage,
    pub entries: Vec<Entry>,
    pub reports: Vec<GroupReport>,
    /// What schedules and instructions were considered and not used.
    pub missed: Vec<lower::tileas::Missed>,
}

/// A compiled module.
pub struct Kernel {
    pub ptx: String,
    pub manifest: Manifest,
}

/// Compiles `module` down to `stage`, at most to nvvm.
pub fn lower_to(
    module: Module,
    options: &Options,
    stage: Stage,
) -> Result<Compilation, Diagnostics> {
    let mut c = Compilation {
        module,
        stage: Stage::CudaTile,
        entries: Vec::new(),
        reports: Vec::new(),
        missed: Vec::new(),
    };
    while c.stage < stage.min(Stage::Nvvm) {
        c.step(options)?;
    }
    Ok(c)
}

/// Compiles `module` to PTX and its launch manifest.
pub fn to_ptx(module: Module, options: &Options) -> Result<Kernel, Diagnostics> {
    lower_to(module, options, Stage::Nvvm)?.to_ptx(options)
}

impl Compilation {
    /// One stage further.
    fn step(&mut self, options: &Options) -> Result<(), Diagnostics> {
        match self.stage {
            Stage::CudaTile => {
                if options.opt_level > 0 {
                    self.rules(Group::Tile, options)?;
                }
                lower::tileaa::run(&mut self.module)?;
                self.stage = Stage::NvTileaa;
            }
            Stage::NvTileaa => {
                self.rules(Group::TileAaToTileAs, options)?;
                let planning = lower::tileas::Options {
                    tma: options.tma,
                    warps: None,
                };
                let missed = lower::tileas::run(&mut self.module, &options.target, &planning)?;
                self.missed.extend(missed);
                self.stage = Stage::NvTileas;
            }
            _ => {
                self.entries = lower::nvvm::run(&mut self.module, &options.target)?;
                self.rules(Group::TileAsToNvvm, options)?;
                self.only_nvvm()?;
                self.stage = Stage::Nvvm;
            }
        }
        match options.verify {
            true => verify::verify(&self.module),
            false => Ok(()),
        }
    }

    /// No operation of an earlier stage survives: one that did would be a bug of ours, and is reported
    /// here rather than as bad PTX.
    fn only_nvvm(&self) -> Result<(), Diagnostics> {
        let m = &self.module;
        let early = |op: &OpId| m.op(*op).kind.dialect != Dialect::Nvvm;
        match m.ops_under(m.body).into_iter().find(early) {
            Some(op) => {
                Err(lower::unsupported(m, op, "no rule or lowering turns this into nvvm").into())
            }
            None => Ok(()),
        }
    }

    fn rules(&mut self, group: Group, options: &Options) -> Result<(), Diagnostics> {
        let run = stage::Options {
            rules_dir: options.rules_dir.as_deref(),
            explain: options.explain,
            ..stage::Options::new(options.target)
        };
        self.run_group(group, &run)
    }

    fn run_group(&mut self, group: Group, run: &stage::Options) -> Result<(), Diagnostics> {
        let report = stage::run(&mut self.module, group, run)?;
        self.reports.push((group, report));
        Ok(())
    }

    /// The rules of `isel/`, whose costs are those of the instructions that its tables choose.
    fn isel_rules(&mut self, options: &Options, tables: &isel::Tables) -> Result<(), Diagnostics> {
        let run = stage::Options {
            rules_dir: options.isel_dir.as_deref(),
            tables: Some(tables),
            explain: options.explain,
            ..stage::Options::new(options.target)
        };
        self.run_group(Group::Isel, &run)
    }

    /// The text of the stage at hand.
    pub fn text(&self) -> String {
        asm::print_generic(&self.module)
    }

    /// The forms that instruction selection would choose, still in nvvm.
    pub fn selected(mut self, options: &Options) -> Result<Self, Diagnostics> {
        let tables = isel::Tables::load(options.isel_dir.as_deref())?;
        self.isel_rules(options, &tables)?;
        Ok(self)
    }

    /// The selected machine instructions as text, before copies are coalesced.
    pub fn machine(mut self, options: &Options) -> Result<String, Diagnostics> {
        let tables = isel::Tables::load(options.isel_dir.as_deref())?;
        self.isel_rules(options, &tables)?;
        isel::machine(&self.module, &options.target, &tables)
    }

    /// Instruction selection.
    pub fn to_ptx(mut self, options: &Options) -> Result<Kernel, Diagnostics> {
        let tables = isel::Tables::load(options.isel_dir.as_deref())?;
        self.isel_rules(options, &tables)?;
        let text = isel::compile_with(&self.module, &options.target, &tables, options.debug)?;
        for (entry, bytes) in self.entries.iter_mut().zip(&text.dynamic_shared) {
            entry.shared_bytes = *bytes;
        }
        let manifest = Manifest {
            entries: self.entries,
        };
        let mut ptx = text.text;
        if options.embed_manifest {
            ptx.push_str(&manifest_constant(&manifest)?);
        }
        Ok(Kernel { ptx, manifest })
    }
}

/// The manifest's JSON, without spaces, as a constant of a PTX module.
fn manifest_constant(manifest: &Manifest) -> Result<String, Diagnostics> {
    let json = serde_json::to_vec(manifest)
        .map_err(|e| Diagnostic::error(format!("the manifest cannot be written: {e}")))?;
    Ok(ptx::constant(MANIFEST_SYMBOL, &json))
}
