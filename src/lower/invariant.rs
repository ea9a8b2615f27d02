//! What a loop does not change.

use super::tileas::pipeline::slice::backward;
use crate::dialect::cuda_tile::Op as C;
use crate::ir::{BlockId, Def, Module, OpId, TypeId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

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
    let mut copies: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    for op in backward(m, body, [value]) {
        let data = m.op(op).clone();
        let copied = |v: &ValueId| copies.get(v).copied().unwrap_or(*v);
        let operands: Vec<ValueId> = data.operands.iter().map(copied).collect();
        let groups = data.grouped(&operands);
        let types: Vec<TypeId> = data.results.iter().map(|&r| m.ty(r)).collect();
        let (home, at) = (m.op(around).block, position(m, around));
        let mut b = m.at(home, at);
        b.loc = data.loc;
        let new = b.op(data.kind, &groups, data.attrs.iter().cloned(), &types, &[]);
        copies.extend(data.results.iter().copied().zip(m.op(new).results.clone()));
    }
    copies.get(&value).copied().unwrap_or(value)
}

/// Where an operation stands in its block.
pub fn position(m: &Module, op: OpId) -> usize {
    let ops = &m.block(m.op(op).block).ops;
    ops.iter().position(|&o| o == op).unwrap_or(ops.len())
}

/// Moves all operations of `body` but the last in front of `op`. Returns what the last one hands on.
pub fn move_in_front(m: &mut Module, body: BlockId, op: OpId) -> Vec<ValueId> {
    let (home, at) = (m.op(op).block, position(m, op));
    let mut ops = std::mem::take(&mut m.block_mut(body).ops);
    let end = ops.pop();
    for (i, inner) in ops.into_iter().enumerate() {
        m.place(inner, home, at + i);
    }
    let handed_on = end.map(|end| m.op(end).operands.to_vec());
    m.block_mut(body).ops.extend(end);
    handed_on.unwrap_or_default()
}
