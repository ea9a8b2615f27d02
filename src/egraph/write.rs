//! A schedule back into the module.

use smallvec::SmallVec;

use super::node::{Head, Leaf};
use super::schedule::{Inst, Schedule, Step};
use crate::dialect::OpKind;
use crate::ir::{Attr, BlockId, Diagnostic, Module, Op, OpId, TypeId, ValueId};

/// Replaces the contents of the scheduled function. The module must hold the types again.
pub fn write(module: &mut Module, schedule: &Schedule) -> Result<(), Diagnostic> {
    let mut old = Vec::new();
    for block in schedule.blocks.iter().filter(|b| !b.dead) {
        old.append(&mut module.block_mut(block.id).ops);
    }
    let mut values: Vec<Option<ValueId>> = schedule.values.iter().map(|v| v.source).collect();
    fill(module, schedule, 0, &mut values)?;
    for op in old {
        let kept = module.op(op).regions.iter().any(|&r| {
            let blocks = &module.region(r).blocks;
            schedule
                .blocks
                .iter()
                .any(|b| !b.dead && blocks.contains(&b.id))
        });
        let terminator = module
            .op(op)
            .def()
            .traits
            .has(crate::dialect::Traits::TERMINATOR);
        if !kept && !terminator {
            module.op_mut(op).block = BlockId::default();
            module.erase(op);
        }
    }
    Ok(())
}

type Values = Vec<Option<ValueId>>;

fn mapped(values: &Values, list: &[u32]) -> Result<SmallVec<[ValueId; 4]>, Diagnostic> {
    let mut all = SmallVec::with_capacity(list.len());
    for &v in list {
        let value = values.get(v as usize).copied().flatten();
        all.push(
            value.ok_or_else(|| {
                Diagnostic::error("internal: a value is used before it is placed")
            })?,
        );
    }
    Ok(all)
}

fn fill(
    module: &mut Module,
    schedule: &Schedule,
    block: usize,
    values: &mut Values,
) -> Result<(), Diagnostic> {
    let Some(scheduled) = schedule.blocks.get(block) else {
        return Ok(());
    };
    for step in &scheduled.steps {
        match step {
            Step::Inst(inst) => instruction(module, schedule, scheduled.id, inst, values)?,
            Step::Region {
                op,
                operands,
                blocks,
                ..
            } => {
                keep(module, *op, scheduled.id, mapped(values, operands)?);
                for &inner in blocks {
                    fill(module, schedule, inner, values)?;
                }
            }
            Step::Terminator { op, operands } => {
                keep(module, *op, scheduled.id, mapped(values, operands)?)
            }
        }
    }
    Ok(())
}

/// Puts an operation of the old function at the end of a block, with new operands.
fn keep(module: &mut Module, op: OpId, block: BlockId, operands: SmallVec<[ValueId; 4]>) {
    module.op_mut(op).operands = operands;
    let at = module.block(block).ops.len();
    module.place(op, block, at);
}

fn instruction(
    module: &mut Module,
    schedule: &Schedule,
    block: BlockId,
    inst: &Inst,
    values: &mut Values,
) -> Result<(), Diagnostic> {
    let Head::Op(kind) = inst.head else {
        return Err(Diagnostic::error(
            "internal: a value or list is scheduled as if it were an operation",
        ));
    };
    let mut types: SmallVec<[TypeId; 4]> = SmallVec::with_capacity(inst.results.len());
    for &result in &inst.results {
        types.push(schedule.values[result as usize].ty);
    }
    let attrs = attributes(module, schedule, kind, inst, types.first().copied());
    let op = Op {
        operands: mapped(values, &inst.operands)?,
        groups: SmallVec::from_slice(&inst.groups),
        attrs,
        loc: inst.loc,
        ..Op::bare(kind)
    };
    let op = module.push_op(block, op, &types);
    for (&val, &value) in inst.results.iter().zip(&module.op(op).results) {
        values[val as usize] = Some(value);
    }
    Ok(())
}

fn attributes(
    module: &mut Module,
    schedule: &Schedule,
    kind: OpKind,
    inst: &Inst,
    ty: Option<TypeId>,
) -> SmallVec<[Option<Attr>; 4]> {
    let rows = kind.def().attrs;
    let ty = ty.unwrap_or_else(|| module.types.int(64));
    let mut attrs = SmallVec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        let leaf = inst.attrs.get(i).copied().unwrap_or(Leaf::Absent);
        let types = &mut module.types;
        attrs.push(schedule.attrs.attr_of(types, leaf, row.kind, ty));
    }
    attrs
}
