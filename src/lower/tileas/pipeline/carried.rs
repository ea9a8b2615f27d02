//! A loop that carries one more value: the number of its iteration.

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view;
use crate::ir::{BlockId, Module, Op, OpId, ValueId};

/// What a counted loop carries into its first iteration; nothing for other operations.
pub fn inits(op: &Op) -> &[ValueId] {
    view::For::of(op).map_or(&[], |v| v.initValues())
}

/// First and last counter (exclusive), and the step, of a counted loop; nothing for other operations.
pub fn bounds(op: &Op) -> Vec<ValueId> {
    view::For::of(op).map_or(Vec::new(), |v| {
        vec![v.lowerBound(), v.upperBound(), v.step()]
    })
}

/// Appends to `block` the loop `for_op`, its body with it, that also carries a value which starts as
/// `first`. The old loop is left empty, for its uses to be replaced. The body must have the
/// argument and yield the value: [`yield_too`].
pub fn with_one_more(m: &mut Module, block: BlockId, for_op: OpId, first: ValueId) -> OpId {
    let old = m.op(for_op).clone();
    let (bounds, mut inits) = (bounds(&old), inits(&old).to_vec());
    inits.push(first);
    let mut types: Vec<_> = old.results.iter().map(|&r| m.ty(r)).collect();
    types.push(m.ty(first));
    m.op_mut(for_op).regions.clear();
    let groups = [&bounds[..1], &bounds[1..2], &bounds[2..], &inits];
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

/// The end `op` of an iteration yields one value more.
pub fn yield_too(m: &mut Module, op: OpId, value: ValueId) {
    let mut data = m.op_mut(op);
    data.operands.push(value);
    data.groups = [data.operands.len() as u32].into_iter().collect();
}
