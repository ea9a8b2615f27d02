//! Instruction selection: nvvm to machine PTX.
//!
//! ```text
//! nvvm.func ─ rules ─► cheapest equal forms ─ select ─► machine instructions ─ drop dead ─
//!             fragments to their matmuls ─ coalesce copies ─ tidy jumps ─► ptx
//! ```
//! What instructions exist is in `isel/ptx.insn` ([`crate::machine::table`]); which of them compute an operation
//! in `isel/select/*.sel` ([`table`], [`pattern`], [`choose`], [`apply`]); the rules of `isel/peephole` and
//! `isel/expand` run before, with the costs of those instructions ([`cost`]). How values live in
//! registers is in [`values`]. What is no computation has a file per subject: control flow,
//! memory, synchronisation, matrix units.

mod alone;
mod apply;
mod barriers;
mod bases;
mod block_scale;
mod bounds;
mod build;
mod builtin;
mod calls;
mod check;
mod choose;
mod coalesce;
mod control;
mod cost;
mod crowded;
mod demand;
mod effects;
mod equal;
mod fold;
mod interleave;
mod live;
mod matrix;
mod memory;
mod multimem;
mod pair;
mod part;
pub mod passes;
pub mod pattern;
pub mod proof;
mod recompute;
mod remainder;
mod roles;
mod select;
mod sync;
mod table;
mod tcgen05;
mod tidy;
mod unread;
mod uses;
mod values;

pub use alone::{Alone, Selected};
pub use build::{Fail, about, fail as failure};
pub use choose::{Choice, Chooser, Tables, cases};
pub use cost::SelectionCost;
pub use table::Patterns;
pub use table::row::{Expr, Shape};
pub use values::{Elem, Form};

use crate::dialect::nvvm;
use crate::dialect::nvvm::view;
use crate::ir::{Diagnostic, Diagnostics, Module};
use crate::machine::mir;
use crate::machine::table::Table;
use crate::ptx;
use crate::target::Target;

/// What the passes did to the kernels of a module, by name.
pub type Passed = Vec<(String, Vec<passes::Done>)>;

/// Compiles every kernel of a module of the nvvm stage, after the rules of `isel/`, with line information as `debug`
/// says. Passes named in `without` are left out.
pub fn compile(
    module: &Module,
    target: &Target,
    tables: &Tables,
    debug: ptx::Debug,
    without: &[String],
) -> Result<(ptx::Text, Passed), Diagnostics> {
    let mut passed = Vec::new();
    let (globals, funcs) = select_module(module, target, tables, |func, table| {
        let done = passes::finish(func, table, *target, without)?;
        passed.push((func.name.clone(), done));
        Ok(())
    })?;
    let lines = ptx::Lines::new(module, debug);
    let text = ptx::write(&globals, &funcs, *target, &tables.insns, lines)?;
    Ok((text, passed))
}

/// The machine functions as text: what was selected, before copies are coalesced.
pub fn machine(module: &Module, target: &Target, tables: &Tables) -> Result<String, Diagnostics> {
    let (_, funcs) = select_module(module, target, tables, |_, _| Ok(()))?;
    let texts: Vec<String> = funcs
        .iter()
        .map(|f| crate::machine::dump::write(f, &tables.insns))
        .collect();
    Ok(texts.join("\n"))
}

/// Machine instructions of every kernel, each after `finish`.
fn select_module(
    module: &Module,
    target: &Target,
    tables: &Tables,
    mut finish: impl FnMut(&mut mir::Func, &Table) -> Result<(), Diagnostic>,
) -> Result<(Vec<mir::Global>, Vec<mir::Func>), Diagnostics> {
    let mut globals = Vec::new();
    let mut funcs = Vec::new();
    let mut errors = Vec::new();
    for &op in &module.block(module.body).ops {
        if nvvm::Op::of(module.op(op).kind) == Some(nvvm::Op::Global) {
            globals.extend(global(module, op));
            continue;
        }
        if nvvm::Op::of(module.op(op).kind) != Some(nvvm::Op::Func) {
            let error = Diagnostic::error("only kernels and globals may stand at module level");
            errors.push(error.on(module.op(op).kind.to_string()));
            continue;
        }
        let selected = select::Selector::new(module, tables, *target).func(op);
        let finished = selected.and_then(|mut func| {
            finish(&mut func, &tables.insns)?;
            check::check(&func, &tables.insns)?;
            Ok(func)
        });
        match finished {
            Ok(func) => {
                globals.extend(texts(&func));
                funcs.push(func);
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        Ok((globals, funcs))
    } else {
        Err(Diagnostics(errors))
    }
}

/// A global's bytes; none for an operation without them, which the verifier refuses.
fn global(module: &Module, op: crate::ir::OpId) -> Option<mir::Global> {
    let v = view::Global::of(module.op(op))?;
    Some(mir::Global {
        name: module.str(v.sym_name()).to_owned(),
        align: (v.alignment() as u64).next_power_of_two(),
        bytes: module.bytes(op)?.into_owned(),
    })
}

/// The texts of a kernel, each ended by a zero.
fn texts(func: &mir::Func) -> impl Iterator<Item = mir::Global> + '_ {
    func.texts.iter().enumerate().map(|(i, text)| mir::Global {
        name: func.text_name(i),
        align: 1,
        bytes: text.bytes().chain([0]).collect(),
    })
}
