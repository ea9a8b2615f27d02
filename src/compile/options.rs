//! What a compilation is asked for.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use crate::dialect::Dialect;
use crate::ir::{Diagnostic, Module};
use crate::isel::passes;
use crate::ptx;
use crate::rules::Examples;
use crate::rules::files::{self, Group};
use crate::target::Target;

/// The stages, from what was written to what is emitted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    CudaTile,
    NvTileaa,
    NvTileas,
    Nvvm,
    Ptx,
}

impl Stage {
    /// The stage that a module is at: that of its functions.
    ///
    /// # Errors
    /// Functions of two stages in one module.
    pub fn of(module: &Module) -> Result<Stage, Diagnostic> {
        let ops = module.block(module.body).ops.iter();
        // Globals stay what they are until nvvm.
        let functions = ops
            .map(|&op| module.op(op))
            .filter(|op| !op.regions.is_empty());
        let mut stages = functions.map(|op| match op.kind.dialect {
            Dialect::CudaTile => Stage::CudaTile,
            Dialect::TileAa => Stage::NvTileaa,
            Dialect::TileAs => Stage::NvTileas,
            Dialect::Nvvm => Stage::Nvvm,
        });
        let first = stages.next().unwrap_or(Stage::CudaTile);
        match stages.all(|other| other == first) {
            true => Ok(first),
            false => Err(Diagnostic::error(
                "the module has functions of several stages",
            )),
        }
    }
}

/// How much a compilation does. All levels compute the same results.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum OptLevel {
    /// Each operation as it was written: no simplification, no pipelines. What lowering and instruction
    /// selection themselves choose is chosen as ever.
    Plain,
    /// Also the rules of `rules/tile`.
    Simplified,
    /// Also loops whose loads run ahead of their use, by `cp.async`.
    Pipelined,
    /// Also warps with roles of their own: producers, which bring tiles by TMA, and consumers.
    #[default]
    Full,
}

impl OptLevel {
    /// The level that command lines call by this number; `None` above 3.
    pub fn from_number(number: u8) -> Option<OptLevel> {
        match number {
            0 => Some(OptLevel::Plain),
            1 => Some(OptLevel::Simplified),
            2 => Some(OptLevel::Pipelined),
            3 => Some(OptLevel::Full),
            _ => None,
        }
    }
}

/// What a compilation is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    pub target: Target,
    /// Use tensor maps where the target has them.
    pub tma: bool,
    /// How much is done, 0 to 3: see [`OptLevel`].
    pub opt_level: OptLevel,
    /// Directory that replaces the compiled-in `rules/`.
    pub rules_dir: Option<PathBuf>,
    /// Directory that replaces the compiled-in `isel/`.
    pub isel_dir: Option<PathBuf>,
    /// Rules, and passes over selected instructions, that are left out, by name.
    pub without: Vec<String>,
    /// Record what the rules did and what each choice cost.
    pub explain: bool,
    /// Run the verifier after each stage.
    pub verify: bool,
    /// Put the launch manifest into the PTX, as the constant [`crate::launch::MANIFEST_SYMBOL`].
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
            opt_level: OptLevel::default(),
            rules_dir: None,
            isel_dir: None,
            without: Vec::new(),
            explain: false,
            verify: cfg!(debug_assertions),
            embed_manifest: false,
            debug: ptx::Debug::None,
        }
    }

    /// That each name of [`Options::without`] is one of a rule or of a pass.
    ///
    /// # Errors
    /// A name that is none; what is wrong in the directories that replace the rules.
    pub fn check_names(&self) -> Result<(), Diagnostic> {
        if self.without.is_empty() {
            return Ok(());
        }
        let mut known: FxHashSet<String> = passes::all().map(|p| p.name.to_owned()).collect();
        for group in Group::ALL {
            let set = files::load(group, self.rules_of(group), Examples::Dropped)?;
            known.extend(set.rules.iter().map(|rule| rule.name.clone().into_owned()));
        }
        match self.without.iter().find(|name| !known.contains(*name)) {
            Some(name) => Err(Diagnostic::error(format!(
                "no rule and no pass is called '{name}'"
            ))),
            None => Ok(()),
        }
    }

    /// The directory that replaces the compiled-in rules of a group, if one does.
    pub(super) fn rules_of(&self, group: Group) -> Option<&Path> {
        match group {
            Group::Isel => self.isel_dir.as_deref(),
            _ => self.rules_dir.as_deref(),
        }
    }
}

/// The target called `name`.
///
/// # Errors
/// There is none of that name.
pub fn target(name: &str) -> Result<Target, Diagnostic> {
    name.parse::<Target>().map_err(|_| {
        Diagnostic::error(format!("unknown target `{name}`"))
            .note("targets are named like sm_80, sm_90a, sm_120a")
    })
}
