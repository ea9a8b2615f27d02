//! Tiles of numbers are made anew where they are wanted in another layout.
//!
//! A mask compares the numbers of rows with those of columns, and one `iota` is often both: a conversion would take it
//! through shared memory, and what comes from there is in registers from then on, where numbers of elements are a
//! thread's number and constants.

use super::relation::distributed;
use super::relation::{Relation, layout_of};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{BlockId, Module, OpId, Type, ValueId};

/// Most operations that are made again.
const MOST: usize = 8;

/// The operations that make `value` in `layout`, operands first, each with the layout of its result; none if it is not
/// made of numbers of elements, constants and scalars alone, or by too many operations.
pub fn plan(m: &mut Module, value: ValueId, layout: u32) -> Option<Vec<(OpId, u32)>> {
    let mut steps = Vec::new();
    collect(m, value, layout, &mut steps).then_some(steps)
}

fn collect(m: &mut Module, value: ValueId, layout: u32, steps: &mut Vec<(OpId, u32)>) -> bool {
    if layout_of(m, value).is_none_or(|have| have == layout) {
        // A scalar is in every thread.
        return true;
    }
    let Some(op) = m.def_op(value) else {
        return false;
    };
    if steps.contains(&(op, layout)) {
        return true;
    }
    let data = m.op(op);
    let whole = match m.types.get(m.types.elem(m.ty(value))) {
        Type::Int(_) => true,
        _ => C::of(data.kind) == Some(C::Constant),
    };
    if !whole || steps.len() >= MOST {
        return false;
    }
    let operands = data.operands.clone();
    let made = match Relation::of(m, op) {
        _ if S::of(m.op(op).kind) == Some(S::ConvertLayout) => {
            // What it converts is made in this layout instead.
            return collect(m, m.source(op), layout, steps);
        }
        Some(Relation::Reduce(_) | Relation::Unpack(_)) => false,
        Some(relation) => {
            let result = m.layouts.get(layout).clone();
            let operand = m.source(op);
            match relation.source_of(m, operand, &result) {
                _ if layout_of(m, operand).is_none() => true,
                Ok(Some(source)) => {
                    let source = m.layouts.intern(source);
                    collect(m, operand, source, steps)
                }
                _ => false,
            }
        }
        None if matches!(C::of(m.op(op).kind), Some(C::Constant | C::Iota)) => true,
        None if m.op(op).def().traits.has(Traits::ELEMENTWISE) => {
            operands.iter().all(|&o| collect(m, o, layout, steps))
        }
        None => false,
    };
    if made {
        steps.push((op, layout));
    }
    made && steps.len() <= MOST
}

/// Makes `value` in `layout` by the `steps` of its [`plan`], in front of the operation at `place`.
pub fn make(
    m: &mut Module,
    value: ValueId,
    layout: u32,
    steps: &[(OpId, u32)],
    (block, mut position): (BlockId, usize),
) -> ValueId {
    let mut made: Vec<(ValueId, u32, ValueId)> = Vec::new();
    for &(op, wanted) in steps {
        let data = m.op(op).clone();
        let relation = Relation::of(m, op);
        let mut operands = Vec::new();
        for &operand in &data.operands {
            let result = m.layouts.get(wanted).clone();
            let of = relation.as_ref().map(|r| r.source_of(m, operand, &result));
            let layout = match of {
                Some(Ok(Some(source))) => m.layouts.intern(source),
                _ => wanted,
            };
            operands.push(find(m, &made, operand, layout));
        }
        let groups = data.grouped(&operands);
        let result = m.result(op);
        let ty = distributed(m, m.ty(result), wanted);
        let mut b = m.at(block, position);
        b.loc = data.loc;
        let new = b.op(data.kind, &groups, data.attrs.iter().cloned(), &[ty], &[]);
        position += 1;
        made.push((result, wanted, m.result(new)));
    }
    find(m, &made, value, layout)
}

/// A value in a layout: as made, or as it is.
fn find(m: &Module, made: &[(ValueId, u32, ValueId)], mut value: ValueId, layout: u32) -> ValueId {
    loop {
        if let Some(known) = made.iter().find(|k| k.0 == value && k.1 == layout) {
            return known.2;
        }
        if layout_of(m, value).is_none_or(|have| have == layout) {
            return value;
        }
        match m.def_op(value) {
            Some(op) if S::of(m.op(op).kind) == Some(S::ConvertLayout) => value = m.source(op),
            _ => return value,
        }
    }
}
