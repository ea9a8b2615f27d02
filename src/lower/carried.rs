//! What a counted loop carries, and loops that carry one value more, such as the number of their iteration, or less.

use crate::dialect::cuda_tile::{Op as C, view};
use crate::ir::{BlockId, Module, Op, OpId, ValueId};

/// The counted loops under `body`, those around others first.
pub fn counted_loops(m: &Module, body: BlockId) -> Vec<OpId> {
    let mut loops = m.ops_under(body);
    loops.retain(|&o| C::of(m.op(o).kind) == Some(C::For));
    loops
}

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
pub fn ends(m: &Module, body: BlockId) -> Vec<OpId> {
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
    m.op_mut(op).push_operand(value);
}

/// Makes a loop carry a value more, in place: it starts as `first`, and the `end` of an iteration hands `next` on. What it is in
/// the loop, and behind it.
pub fn hand_on_too(
    m: &mut Module,
    for_op: OpId,
    (first, next): (ValueId, ValueId),
    end: OpId,
) -> (ValueId, ValueId) {
    let ty = m.ty(first);
    let body = m.op(end).block;
    yield_too(m, end, next);
    m.op_mut(for_op).push_operand(first);
    (m.add_arg(body, ty), m.add_result(for_op, ty))
}

/// Takes away what a loop carries at `place`. Nothing may use the loop's result for it any more, nor what it is in the loop.
pub fn drop_carried(m: &mut Module, around: OpId, place: usize) {
    if let Some(body) = m.body_of(around, 0) {
        if let Some(end) = m.terminator(body) {
            m.op_mut(end).remove_operand(place);
        }
        m.drop_arg(body, place + 1);
    }
    let first = m.op(around).operands.len() - inits(m.op(around)).len();
    m.op_mut(around).remove_operand(first + place);
    m.drop_result(around, place);
}
