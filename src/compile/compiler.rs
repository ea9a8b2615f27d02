//! A compiler that is made once and compiles many modules.

use std::sync::OnceLock;

use super::stage;
use super::{
    Compilation, GroupReport, Kernel, NvvmIr, OptLevel, Options, Stage, has_manifest,
    manifest_constant,
};
use crate::dialect::Dialect;
use crate::ir::{Diagnostic, Diagnostics, Module, OpId};
use crate::isel;
use crate::launch::Manifest;
use crate::llvm;
use crate::lower;
use crate::ptx;
use crate::rules::files::{self, Group};
use crate::rules::{Examples, RuleSet};
use crate::verify;

/// Compiles modules with one set of options.
///
/// Rules and tables are read once, and what is wrong in a directory that replaces them is found then. A
/// compiler can be shared by threads.
///
/// ```
/// # fn main() -> Result<(), tilec::ir::Diagnostics> {
/// use tilec::compile::{Compiler, Options};
///
/// let compiler = Compiler::new(Options::new("sm_90a".parse().expect("a known target")))?;
/// let files: [&[u8]; 2] = [
///     include_bytes!("../../tests/corpus/bytecode/vadd/f32.tilebc"),
///     include_bytes!("../../tests/corpus/bytecode/matmul/f16_128x128x64.tilebc"),
/// ];
/// for bytes in files {
///     let kernel = compiler.compile(tilec::input::bytecode(bytes)?)?;
///     assert!(kernel.ptx.contains(".target sm_90a"));
/// }
/// # Ok(())
/// # }
/// ```
pub struct Compiler {
    options: Options,
    /// By group.
    rules: [OnceLock<RuleSet>; Group::ALL.len()],
    tables: OnceLock<isel::Tables>,
}

impl Compiler {
    /// Reads all rules and tables.
    ///
    /// # Errors
    /// What is wrong in the directories of [`Options`] that replace them.
    pub fn new(options: Options) -> Result<Self, Diagnostics> {
        let compiler = Compiler::for_one_module(options);
        for group in Group::ALL {
            compiler.rules(group)?;
        }
        compiler.tables()?;
        Ok(compiler)
    }

    /// A compiler that reads what its only module needs, when it needs it.
    pub(crate) fn for_one_module(options: Options) -> Self {
        Compiler {
            options,
            rules: Default::default(),
            tables: OnceLock::new(),
        }
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Compiles a module to PTX and its launch manifest.
    ///
    /// # Errors
    /// What the target or tilec cannot do, at the operation that asks for it.
    pub fn compile(&self, module: Module) -> Result<Kernel, Diagnostics> {
        if self.options.embed_manifest {
            has_manifest(&module)?;
        }
        let mut c = self.selected(module)?;
        let (text, _) = self.written(&c)?;
        for (entry, bytes) in c.entries.iter_mut().zip(&text.dynamic_shared) {
            entry.shared_bytes = *bytes;
        }
        let manifest = Manifest { entries: c.entries };
        let mut ptx = text.text;
        if self.options.embed_manifest {
            ptx.push_str(&manifest_constant(&manifest)?);
        }
        Ok(Kernel { ptx, manifest })
    }

    /// Compiles a module, which may be at any stage, down to `stage`, at most to nvvm.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn lower_to(&self, module: Module, stage: Stage) -> Result<Compilation, Diagnostics> {
        self.lower_with(module, stage, true)
    }

    /// `clusters`: whether what is written of it can say that grids are counted in clusters.
    fn lower_with(
        &self,
        module: Module,
        stage: Stage,
        clusters: bool,
    ) -> Result<Compilation, Diagnostics> {
        let begins = Stage::of(&module)?;
        if begins > stage {
            return Err(Diagnostic::error("the module is at a later stage already").into());
        }
        let mut c = Compilation {
            module,
            stage: begins,
            entries: Vec::new(),
            reports: Vec::new(),
            notes: lower::tileas::Notes::default(),
        };
        while c.stage < stage.min(Stage::Nvvm) {
            self.step(&mut c, clusters)?;
        }
        Ok(c)
    }

    /// The forms that instruction selection would choose, still in nvvm.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn selected(&self, module: Module) -> Result<Compilation, Diagnostics> {
        let mut c = self.lower_to(module, Stage::Nvvm)?;
        self.rewrite(&mut c, Group::Isel)?;
        Ok(c)
    }

    /// The PTX of selected forms, and what the passes over their instructions did, kernel by kernel.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub(crate) fn written(
        &self,
        c: &Compilation,
    ) -> Result<(ptx::Text, isel::Passed), Diagnostics> {
        let Options {
            target,
            debug,
            without,
            ..
        } = &self.options;
        isel::compile(&c.module, target, self.tables()?, *debug, without)
    }

    /// The selected machine instructions as text, before copies are coalesced.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn machine(&self, module: Module) -> Result<String, Diagnostics> {
        let c = self.selected(module)?;
        isel::machine(&c.module, &self.options.target, self.tables()?)
    }

    /// The nvvm stage in LLVM's language, for libNVVM. Of the rules of `isel/` only those apply that express
    /// what no target has: choosing cheaper forms is the other selector's work. Blocks make no clusters: LLVM's
    /// language has no word for grids that are counted in them.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn nvvm_ir(&self, module: Module) -> Result<NvvmIr, Diagnostics> {
        let mut c = self.lower_with(module, Stage::Nvvm, false)?;
        let (dir, target) = (self.options.isel_dir.as_deref(), self.options.target);
        let rules = files::expansions(dir)?;
        let run = stage::Options {
            tables: Some(self.tables()?),
            ..stage::Options::new(target)
        };
        stage::run(&mut c.module, Group::Isel, &rules, &run)?;
        let rows = llvm::Rows::load(dir)?;
        let written = llvm::write(&c.module, target, self.tables()?, &rows, self.options.debug)?;
        for (entry, bytes) in c.entries.iter_mut().zip(&written.dynamic_shared) {
            entry.shared_bytes = *bytes;
        }
        Ok(NvvmIr {
            text: written.text,
            manifest: Manifest { entries: c.entries },
        })
    }

    /// One stage further.
    fn step(&self, c: &mut Compilation, clusters: bool) -> Result<(), Diagnostics> {
        let options = &self.options;
        match c.stage {
            Stage::CudaTile => {
                if options.opt_level > OptLevel::Plain {
                    lower::counted::run(&mut c.module);
                    lower::counting::run(&mut c.module);
                    lower::unrolled::run(&mut c.module);
                    lower::advance::run(&mut c.module);
                    self.rewrite(c, Group::Tile)?;
                    lower::padded::run(&mut c.module);
                    lower::masked::run(&mut c.module);
                }
                lower::tileaa::run(&mut c.module)?;
                if options.opt_level > OptLevel::Plain {
                    lower::straighten::run(&mut c.module);
                }
                c.stage = Stage::NvTileaa;
            }
            Stage::NvTileaa => {
                self.rewrite(c, Group::TileAaToTileAs)?;
                let planning = lower::tileas::Options {
                    tma: options.tma,
                    pipelines: options.opt_level >= OptLevel::Pipelined,
                    roles: options.opt_level >= OptLevel::Full,
                    warps: None,
                    clusters,
                };
                let notes = lower::tileas::run(&mut c.module, &options.target, &planning)?;
                c.notes.extend(notes);
                c.stage = Stage::NvTileas;
            }
            _ => {
                c.entries = lower::nvvm::run(&mut c.module, &options.target)?;
                self.rewrite(c, Group::TileAsToNvvm)?;
                lower::nvvm::rarely::run(&mut c.module);
                only_nvvm(&c.module)?;
                c.stage = Stage::Nvvm;
            }
        }
        match options.verify {
            true => verify::verify(&c.module),
            false => Ok(()),
        }
    }

    /// Runs the rules of a group; those of `isel/` with the costs of the instructions that its tables choose.
    fn rewrite(&self, c: &mut Compilation, group: Group) -> Result<(), Diagnostics> {
        let rules = self.rules(group)?;
        let run = stage::Options {
            tables: match group {
                Group::Isel => Some(self.tables()?),
                _ => None,
            },
            explain: self.options.explain,
            ..stage::Options::new(self.options.target)
        };
        let report = stage::run(&mut c.module, group, rules, &run)?;
        c.reports.push(GroupReport {
            group,
            functions: report,
        });
        Ok(())
    }

    /// The rules of a group, without those that are switched off.
    fn rules(&self, group: Group) -> Result<&RuleSet, Diagnostic> {
        let Options { without, .. } = &self.options;
        let read = || {
            let dir = self.options.rules_of(group);
            let rules = files::load(group, dir, Examples::Dropped)?;
            Ok(match without.is_empty() {
                true => rules,
                false => rules.filtered(|rule| !without.iter().any(|name| *name == rule.name)),
            })
        };
        once(&self.rules[group as usize], read)
    }

    fn tables(&self) -> Result<&isel::Tables, Diagnostic> {
        let read = || isel::Tables::load(self.options.isel_dir.as_deref());
        once(&self.tables, read)
    }
}

/// What is in `cell`, read where there is nothing yet.
fn once<T>(
    cell: &OnceLock<T>,
    read: impl FnOnce() -> Result<T, Diagnostic>,
) -> Result<&T, Diagnostic> {
    if let Some(known) = cell.get() {
        return Ok(known);
    }
    let new = read()?;
    Ok(cell.get_or_init(|| new))
}

/// No operation of an earlier stage survives: one that did would be a bug of ours, and is reported here
/// rather than as bad PTX.
fn only_nvvm(m: &Module) -> Result<(), Diagnostics> {
    let early = |op: &OpId| m.op(*op).kind.dialect != Dialect::Nvvm;
    match m.ops_under(m.body).into_iter().find(early) {
        Some(op) => {
            Err(lower::unsupported(m, op, "no rule or lowering turns this into nvvm").into())
        }
        None => Ok(()),
    }
}
