//! What a loop does not change.

use crate::dialect::cuda_tile::Op as C;
use crate::ir::{BlockId, Def, Module, OpId, ValueId};

/// Whether a number is the same in every iteration of the loop with this body, and can be computed in front of it.
pub fn stands(m: &Module, body: BlockId, value: ValueId) -> bool {
    if !is_inside(m, body, value) {
        return true;
    }
    m.def_op(value).is_some_and(|op| {
        let data = m.op(op);
        let plain = matches!(
            C::of(data.kind),
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
        );
        plain && data.operands.iter().all(|&v| stands(m, body, v))
    })
}

/// Whether a value is made in the loop with this body.
fn is_inside(m: &Module, body: BlockId, value: ValueId) -> bool {
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
    let Some(op) = m.def_op(value).filter(|_| is_inside(m, body, value)) else {
        return value;
    };
    let data = m.op(op).clone();
    let operands: Vec<ValueId> = (data.operands.iter())
        .map(|&v| outside(m, around, body, v))
        .collect();
    let ty = m.ty(value);
    let (home, at) = (m.op(around).block, position(m, around));
    let mut b = m.at(home, at);
    b.loc = data.loc;
    b.value(data.kind, &operands, data.attrs.iter().cloned(), ty)
}

/// Where an operation stands in its block.
pub fn position(m: &Module, op: OpId) -> usize {
    let ops = &m.block(m.op(op).block).ops;
    ops.iter().position(|&o| o == op).unwrap_or(ops.len())
}
