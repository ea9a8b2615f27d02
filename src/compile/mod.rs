//! The whole compilation, stage by stage.
//!
//! [`to_ptx`] compiles one module. A [`Compiler`] keeps the rules and tables that it has read, and compiles
//! many, from many threads.
//!
//! ```
//! # fn main() -> Result<(), tilec::ir::Diagnostics> {
//! let bytes = include_bytes!("../../tests/corpus/bytecode/vadd/f32.tilebc");
//! let module = tilec::bytecode::read(bytes)?;
//! let options = tilec::compile::Options::new("sm_80".parse().expect("a known target"));
//! let kernel = tilec::compile::to_ptx(module, &options)?;
//! assert!(kernel.ptx.contains(".visible .entry vadd"));
//! # Ok(())
//! # }
//! ```

mod compiler;
mod options;
pub mod stage;

pub use compiler::Compiler;
pub use options::{OptLevel, Options, Stage, target};

use crate::asm;
use crate::egraph::Report;
use crate::ir::{Diagnostic, Diagnostics, Module};
use crate::launch::{Entry, MANIFEST_SYMBOL, Manifest};
use crate::lower;
use crate::ptx;
use crate::rules::files::Group;

/// What the rules of one group did to each function.
pub struct GroupReport {
    pub group: Group,
    /// Function names and what was done to them.
    pub functions: Vec<(String, Report)>,
}

/// A module somewhere on its way, with what was learnt so far.
pub struct Compilation {
    pub module: Module,
    pub stage: Stage,
    pub entries: Vec<Entry>,
    pub reports: Vec<GroupReport>,
    /// What `nv_tileas` does not show of how it was made, and what was considered and not used.
    pub notes: lower::tileas::Notes,
}

/// A compiled module.
pub struct Kernel {
    pub ptx: String,
    pub manifest: Manifest,
}

/// A module in LLVM's language.
pub struct NvvmIr {
    pub text: String,
    pub manifest: Manifest,
}

/// Compiles `module` down to `stage`, at most to nvvm.
///
/// # Errors
/// What the target or tilec cannot do, at the operation that asks for it.
pub fn lower_to(
    module: Module,
    options: &Options,
    stage: Stage,
) -> Result<Compilation, Diagnostics> {
    Compiler::for_one_module(options.clone()).lower_to(module, stage)
}

/// The selected machine instructions as text, before copies are coalesced.
///
/// # Errors
/// As [`lower_to`].
pub fn machine(module: Module, options: &Options) -> Result<String, Diagnostics> {
    Compiler::for_one_module(options.clone()).machine(module)
}

/// The nvvm stage in LLVM's language, for libNVVM.
///
/// # Errors
/// As [`lower_to`].
pub fn nvvm_ir(module: Module, options: &Options) -> Result<NvvmIr, Diagnostics> {
    Compiler::for_one_module(options.clone()).nvvm_ir(module)
}

/// The forms that instruction selection would choose, still in nvvm.
///
/// # Errors
/// As [`lower_to`].
pub fn selected(module: Module, options: &Options) -> Result<Compilation, Diagnostics> {
    Compiler::for_one_module(options.clone()).selected(module)
}

/// Compiles `module` to PTX and its launch manifest. For many modules, a [`Compiler`] is faster.
///
/// # Errors
/// As [`lower_to`].
pub fn to_ptx(module: Module, options: &Options) -> Result<Kernel, Diagnostics> {
    Compiler::for_one_module(options.clone()).compile(module)
}

/// That the compilation of a module can say how its kernels are launched.
///
/// # Errors
/// The module is nvvm, which no longer has what is said of launches.
pub fn has_manifest(module: &Module) -> Result<(), Diagnostic> {
    match Stage::of(module)? {
        Stage::Nvvm => Err(Diagnostic::error(
            "how kernels are launched is known when they become nvvm, which this module is already",
        )),
        _ => Ok(()),
    }
}

/// The manifest's JSON, without spaces, as a constant of a PTX module.
fn manifest_constant(manifest: &Manifest) -> Result<String, Diagnostics> {
    let json = serde_json::to_vec(manifest)
        .map_err(|e| Diagnostic::error(format!("the manifest cannot be written: {e}")))?;
    Ok(ptx::constant(MANIFEST_SYMBOL, &json))
}

impl Compilation {
    /// The text of the stage at hand.
    pub fn text(&self) -> String {
        asm::print_generic(&self.module)
    }
}
