//! Writes the assigned layouts into the types and inserts `convert_layout` where they disagree.

use super::anchors::{self, Needs};
use super::assign::{Layouts, Relation, at};
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{Diagnostic, Module, OpId, Type, TypeId, ValueId};

/// `tile` distributed by a layout.
pub fn distributed(m: &mut Module, tile: TypeId, layout: u32) -> TypeId {
    match m.types.get(tile).clone() {
        Type::Tile { elem, shape } | Type::Distributed { elem, shape, .. } => {
            m.types.intern(Type::Distributed { elem, shape, layout })
        }
        _ => tile,
    }
}

/// Gives every value its type, then every operation the operands it needs.
pub fn insert(m: &mut Module, ops: &[OpId], layouts: &Layouts) -> Result<(), Diagnostic> {
    for (&value, &layout) in layouts {
        let ty = distributed(m, m.ty(value), layout);
        m.value_mut(value).ty = ty;
    }
    for &op in ops {
        let needs = operand_needs(m, op)?;
        for (index, layout) in needs {
            let value = m.op(op).operands[index];
            if layout_of(m, value) != Some(layout) {
                let converted = convert(m, op, value, layout);
                m.op_mut(op).operands[index] = converted;
            }
        }
    }
    Ok(())
}

/// The layout number of a distributed value.
pub fn layout_of(m: &Module, value: ValueId) -> Option<u32> {
    match m.types.get(m.ty(value)) {
        Type::Distributed { layout, .. } => Some(*layout),
        _ => None,
    }
}

/// (operand, layout it must have) of an operation.
fn operand_needs(m: &mut Module, op: OpId) -> Result<Needs, Diagnostic> {
    let data = m.op(op).clone();
    if let Some(relation) = Relation::of(m, op) {
        let mut needs = Needs::new();
        for (index, (&source, &result)) in data.operands.iter().zip(&data.results).enumerate() {
            let Some(result) = layout_of(m, result) else { continue };
            let result = m.layouts.get(result).clone();
            if let Some(layout) = at(m, op, relation.source_of(m, source, &result))? {
                needs.push((index, m.layouts.intern(layout)));
            }
        }
        return Ok(needs);
    }
    anchors::needs(m, op)
}

/// A conversion of `value` placed before `op`.
fn convert(m: &mut Module, op: OpId, value: ValueId, layout: u32) -> ValueId {
    let ty = distributed(m, m.ty(value), layout);
    let (block, loc) = (m.op(op).block, m.op(op).loc);
    let position = m.block(block).ops.iter().position(|&o| o == op).unwrap_or(0);
    let mut b = m.at(block, position);
    b.loc = loc;
    b.value(S::ConvertLayout, &[value], [], ty)
}
