//! Instruction selection: nvvm to machine PTX.
//!
//! ```text
//! nvvm.func ─ select ─► machine instructions ─ drop dead ─ coalesce copies ─ tidy jumps ─► ptx
//! ```
//! What instructions exist is in `isel/ptx.insn` ([`table`]); how values live in registers in
//! [`values`]; one file each for what is selected: control flow, integers, floats, conversions,
//! memory, synchronisation, matrix units.

mod build;
mod coalesce;
mod control;
mod convert;
mod float;
mod live;
mod matrix;
mod memory;
pub mod mir;
mod pure;
mod select;
mod sync;
pub mod table;
mod tidy;
mod uses;
mod values;

use crate::dialect::nvvm;
use crate::ir::{Attr, Dense, Diagnostic, Diagnostics, Module};
use crate::ptx;
use crate::target::Target;
use table::Table;

/// Compiles every kernel of a module of the nvvm stage.
pub fn compile(module: &Module, target: &Target) -> Result<ptx::Text, Diagnostics> {
    compile_with(module, target, table::BUILTIN)
}

/// The same, with an instruction table of one's own.
pub fn compile_with(
    module: &Module,
    target: &Target,
    table: &str,
) -> Result<ptx::Text, Diagnostics> {
    let table = Table::parse(table)?;
    let (globals, funcs) = select_module(module, target, &table)?;
    ptx::write(&globals, &funcs, *target, &table).map_err(Diagnostics::from)
}

/// Machine instructions of every kernel.
fn select_module(
    module: &Module,
    target: &Target,
    table: &Table,
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
        match select_func(module, op, target, table) {
            Ok(func) => funcs.push(func),
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
    let op = module.op(op);
    let (
        Attr::Str(name),
        Attr::Dense {
            data: Dense::Bytes(bytes),
            ..
        },
        Attr::Int { value, .. },
    ) = (
        op.attr_named("sym_name")?,
        op.attr_named("value")?,
        op.attr_named("alignment")?,
    )
    else {
        return None;
    };
    Some(mir::Global {
        name: module.str(*name).to_owned(),
        align: (*value as u64).next_power_of_two(),
        bytes: bytes.clone(),
    })
}

fn select_func(
    module: &Module,
    op: crate::ir::OpId,
    target: &Target,
    table: &Table,
) -> Result<mir::Func, Diagnostic> {
    let mut func = select::Selector::new(module, table, *target).func(op)?;
    tidy::tidy(&mut func, table);
    uses::drop_dead(&mut func, table);
    coalesce::coalesce(&mut func, table).map_err(|error| *error)?;
    tidy::tidy(&mut func, table);
    Ok(func)
}
