//! What a counted loop carries, and loops that carry one value more, such as the number of their iteration, or less.

use super::invariant::position;
use crate::dialect::cuda_tile::{Op as C, view};
use crate::ir::{Attr, BlockId, Module, Op, OpId, ValueId};

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

/// The last operation of the loop's body, if every iteration ends there: none does so early, in a branch.
pub fn only_end(m: &Module, body: BlockId) -> Option<OpId> {
    m.terminator(body).filter(|&end| ends(m, body) == [end])
}

/// The operations that end an iteration of the loop with this body.
fn ends(m: &Module, body: BlockId) -> Vec<OpId> {
    let own = |&op: &OpId| {
        let mut block = m.op(op).block;
        while block != body {
            match m.parent_of_block(block) {
                Some(op) if !matches!(C::of(m.op(op).kind), Some(C::For | C::Loop)) => {
                    block = m.op(op).block;
                }
                _ => return false,
            }
        }
        true
    };
    let jumps = |&op: &OpId| matches!(C::of(m.op(op).kind), Some(C::Continue | C::Break));
    m.ops_under(body)
        .into_iter()
        .filter(jumps)
        .filter(own)
        .collect()
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

/// The loop without what it carries at `place`, in front of the old one, which keeps its result alone; and that result.
pub fn without(m: &mut Module, around: OpId, carried: usize) -> (OpId, ValueId) {
    let old = m.op(around).clone();
    let result = old.results[carried];
    let Some(body) = m.body_of(around, 0) else {
        return (around, result);
    };
    let mut args = m.block(body).args.to_vec();
    args.remove(carried + 1);
    let types: Vec<_> = args.iter().map(|&a| m.ty(a)).collect();
    let region = m.new_region();
    let block = m.new_block(region, &types);
    for (i, op) in std::mem::take(&mut m.block_mut(body).ops)
        .into_iter()
        .enumerate()
    {
        m.place(op, block, i);
    }
    for (from, to) in args.into_iter().zip(m.block(block).args.clone()) {
        m.replace_all_uses(from, to);
    }
    if let Some(end) = m.terminator(block) {
        let mut data = m.op_mut(end);
        data.operands.remove(carried);
        data.groups = [data.operands.len() as u32].into_iter().collect();
    }
    let mut inits = inits(&old).to_vec();
    inits.remove(carried);
    let mut results = old.results.to_vec();
    results.remove(carried);
    let types: Vec<_> = results.iter().map(|&r| m.ty(r)).collect();
    let bounds = bounds(&old);
    let groups = [&bounds[..1], &bounds[1..2], &bounds[2..], &inits];
    let at = position(m, around);
    let mut b = m.at(old.block, at);
    b.loc = old.loc;
    let attrs: Vec<Option<Attr>> = old.attrs.to_vec();
    let new = b.op(old.kind, &groups, attrs, &types, &[region]);
    for (from, to) in results.into_iter().zip(m.op(new).results.clone()) {
        m.replace_all_uses(from, to);
    }
    (new, result)
}
