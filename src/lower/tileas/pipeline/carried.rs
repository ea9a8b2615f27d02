//! A loop that carries one more value: the number of its turn.

use crate::dialect::cuda_tile::Op as C;
use crate::ir::{BlockId, Module, OpId, ValueId};

/// Appends to `block` the loop `for_op`, its body with it, that also carries a value which starts as
/// `first`. The old loop is left empty, for its uses to be replaced. The body must have the
/// argument and yield the value: [`yield_too`].
pub fn with_one_more(m: &mut Module, block: BlockId, for_op: OpId, first: ValueId) -> OpId {
    let old = m.op(for_op).clone();
    let mut inits = old.group(3).to_vec();
    inits.push(first);
    let mut types: Vec<_> = old.results.iter().map(|&r| m.ty(r)).collect();
    types.push(m.ty(first));
    m.op_mut(for_op).regions.clear();
    let groups: [&[ValueId]; 4] = [old.group(0), old.group(1), old.group(2), &inits];
    let mut b = m.at_end(block);
    b.loc = old.loc;
    b.op(
        C::For,
        &groups,
        old.attrs.iter().cloned(),
        &types,
        &old.regions,
    )
}

/// The end `op` of a turn yields one value more.
pub fn yield_too(m: &mut Module, op: OpId, value: ValueId) {
    let data = m.op_mut(op);
    data.operands.push(value);
    data.groups = [data.operands.len() as u32].into_iter().collect();
}
