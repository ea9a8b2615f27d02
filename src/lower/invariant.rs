//! What a loop does not change.

use super::tileas::look::place;
use super::tileas::pipeline::slice::{Map, backward, copy_in_front};
use crate::dialect::cuda_tile::Op as C;
use crate::ir::{BlockId, Def, Module, OpId, ValueId};
use rustc_hash::FxHashSet;

/// Whether a number is the same in every iteration of the loop with this body, and can be computed in front of it.
pub fn stands(m: &Module, body: BlockId, value: ValueId) -> bool {
    let mut seen = FxHashSet::default();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if !is_inside(m, body, value) || !seen.insert(value) {
            continue;
        }
        let Some(op) = m.def_op(value).filter(|&op| is_plain(m, op)) else {
            return false;
        };
        open.extend(&m.op(op).operands);
    }
    true
}

/// Whether an operation computes a number from numbers.
fn is_plain(m: &Module, op: OpId) -> bool {
    matches!(
        C::of(m.op(op).kind),
        Some(
            C::Constant
                | C::AddI
                | C::SubI
                | C::MulI
                | C::ShLI
                | C::NegI
                | C::ExtI
                | C::TruncI
                | C::MaxI
                | C::MinI
                | C::Reshape
                | C::Broadcast
        )
    )
}

/// Whether a value is made in the loop with this body.
pub fn is_inside(m: &Module, body: BlockId, value: ValueId) -> bool {
    let mut block = match m.value(value).def {
        Def::Result { op, .. } => m.op(op).block,
        Def::Argument { block, .. } => block,
    };
    while block != body {
        match m.parent_of_block(block) {
            Some(op) => block = m.op(op).block,
            None => return false,
        }
    }
    true
}

/// A number that stands still, in front of the loop.
pub fn outside(m: &mut Module, around: OpId, body: BlockId, value: ValueId) -> ValueId {
    let mut copies = Map::default();
    for op in backward(m, body, [value]) {
        copy_in_front(m, op, around, &mut copies);
    }
    copies.get(&value).copied().unwrap_or(value)
}

/// Moves all operations of `body` but the last in front of `op`. Returns what the last one hands on.
pub fn move_in_front(m: &mut Module, body: BlockId, op: OpId) -> Vec<ValueId> {
    let (home, at) = place(m, op);
    let mut ops = std::mem::take(&mut m.block_mut(body).ops);
    let end = ops.pop();
    for (i, inner) in ops.into_iter().enumerate() {
        m.place(inner, home, at + i);
    }
    let handed_on = end.map(|end| m.op(end).operands.to_vec());
    m.block_mut(body).ops.extend(end);
    handed_on.unwrap_or_default()
}
