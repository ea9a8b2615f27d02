//! Matmuls that are waited for later than they must be issued.
//!
//! [`super::wgmma`] waits for each matmul at once. Two waits can go or come later:
//!
//! * A matmul that only adds to what the next one computes is waited for with that one ([`chain_all`]).
//! * A loop's only matmul, which only adds to what the loop carries, stays in flight while the next iteration's is
//!   issued ([`Carried`]): each iteration waits for the matmul before, and what that has read is released then.
//!
//! [`super::protocol`] checks what comes of it.

use super::fragments;
use super::pipeline::roles::{number, step};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::{Overflow, Predicate};
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view::{AsyncDot, ConsumerRelease};
use crate::facts::access::{self};
use crate::facts::matmul::Matmul;
use crate::ir::{Attr, BlockId, Def, Module, OpId, Type, ValueId};
use crate::lower::build::cased;
use crate::lower::carried;
use crate::scalar::Signedness;

/// Takes the waits between matmuls away that add to one accumulator.
pub fn chain_all(m: &mut Module, body: BlockId) {
    for op in m.ops_under(body) {
        if S::of(m.op(op).kind) == Some(S::AsyncDotWait) {
            chain(m, op);
        }
    }
}

/// Lets a loop's matmul stay in flight while the next iteration's is issued, under `body`.
pub fn relax(m: &mut Module, body: BlockId) {
    for op in carried::counted_loops(m, body) {
        if let Some(found) = Carried::find(m, op) {
            found.apply(m);
        }
    }
}

/// Takes the wait away whose result only the next matmul of the block adds to. What is released between them
/// is released after the next wait, and drained there.
fn chain(m: &mut Module, wait: OpId) {
    let data = m.op(wait).clone();
    let result = m.result(wait);
    let &[next] = m.users(result).as_slice() else {
        return;
    };
    let adds = S::of(m.op(next).kind) == Some(S::AsyncDot)
        && m.op(next).block == data.block
        && Matmul::of(m.op(next)).is_some_and(|p| p.acc == result)
        && lie_alike(m, m.source(wait), next)
        && m.is_used_once(result, next);
    if !adds {
        return;
    }
    let Some(&[last]) = m.op(next).results.first().map(|&r| m.users(r)).as_deref() else {
        return;
    };
    let ops = m.block(data.block).ops.clone();
    let at = |op: OpId| ops.iter().position(|&o| o == op);
    let (Some(first), Some(last_at)) = (at(wait), at(last)) else {
        return;
    };
    let between = ops.get(first..last_at).unwrap_or(&[]);
    if S::of(m.op(last).kind) != Some(S::AsyncDotWait) || between.iter().any(|&o| writes(m, o)) {
        return;
    }
    let releases = between.iter().copied();
    let releases: Vec<OpId> = releases.filter(|&o| is(m, o, S::ConsumerRelease)).collect();
    // The next load of the same ring waits for its turn.
    let awaited = |r: &OpId| waits_for(m, &ops, access::pipeline(m.op(*r))) > 1;
    if releases.iter().any(awaited) {
        return;
    }
    let pipeline = |o: OpId| access::pipeline(m.op(o));
    let drains = |o: OpId, r: &OpId| is(m, o, S::Drain) && pipeline(o) == pipeline(*r);
    let moves = |o: &OpId| releases.iter().any(|r| r == o || drains(*o, r));
    let moved: Vec<OpId> = between.iter().copied().filter(moves).collect();
    let block = m.block_mut(data.block);
    block.ops.retain(|o| !moved.contains(o));
    let after = block
        .ops
        .iter()
        .position(|&o| o == last)
        .map_or(block.ops.len(), |i| i + 1);
    block.ops.splice(after..after, moved);
    let issued = m.source(wait);
    m.replace_all_uses(result, issued);
    m.erase(wait);
}

/// Whether the sum `issued` lies in registers as that of the matmul `next` does.
fn lie_alike(m: &Module, issued: ValueId, next: OpId) -> bool {
    let first = m.def_op(issued).and_then(|o| fragments::wgmma_of(m, o));
    let second = fragments::wgmma_of(m, next);
    let layouts = [first, second].map(|w| w.and_then(|w| w.accumulator().ok()));
    matches!(&layouts, [Some(first), Some(second)] if first == second)
}

/// How often these operations wait for a stage of `pipeline` to be full.
pub(super) fn waits_for(m: &Module, ops: &[OpId], pipeline: Option<ValueId>) -> usize {
    let waits = ops.iter().filter(|&&o| is(m, o, S::ConsumerWait));
    waits
        .filter(|&&o| access::pipeline(m.op(o)) == pipeline)
        .count()
}

/// Stages of the pipeline that `op` steps.
fn stages(m: &Module, op: OpId) -> u32 {
    let pipeline = access::pipeline(m.op(op));
    match pipeline.map(|p| m.types.get(m.ty(p))) {
        Some(Type::Pipeline { stages }) => *stages,
        _ => 0,
    }
}

fn is(m: &Module, op: OpId, kind: S) -> bool {
    S::of(m.op(op).kind) == Some(kind)
}

/// Whether an operation, or one in it, writes shared memory that matmuls may read.
fn writes(m: &Module, op: OpId) -> bool {
    let here = is(m, op, S::LocalStore) || is(m, op, S::ProducerAcquire);
    here || (0..m.op(op).regions.len()).any(|i| {
        m.body_of(op, i)
            .is_some_and(|b| m.ops_under(b).into_iter().any(|o| writes(m, o)))
    })
}

/// A loop whose only matmul adds to a carried tile that nothing else in the loop uses.
struct Carried {
    for_op: OpId,
    block: BlockId,
    wait: OpId,
    /// Which carried value the accumulator is.
    place: usize,
    /// The releases of what the matmul reads, and which carried value the iteration of each is.
    releases: Vec<(OpId, usize)>,
}

impl Carried {
    fn find(m: &Module, for_op: OpId) -> Option<Carried> {
        let block = m.body_of(for_op, 0)?;
        let under = m.ops_under(block);
        let mut dots = under.iter().copied().filter(|&o| is(m, o, S::AsyncDot));
        let (dot, None) = (dots.next()?, dots.next()) else {
            return None;
        };
        // One whose product is added part by part is waited for already.
        if AsyncDot::of(m.op(dot))?.part().is_some() {
            return None;
        }
        // A fragment in registers is made anew in each iteration, while the matmul before would still read it.
        let Matmul { lhs, acc, .. } = Matmul::of(m.op(dot))?;
        let in_memory = matches!(m.types.get(m.ty(lhs)), Type::SharedTile { .. });
        if !in_memory || m.op(dot).block != block || under.iter().any(|&o| writes(m, o)) {
            return None;
        }
        let args = &m.block(block).args;
        let place = args.iter().skip(1).position(|&a| a == acc)?;
        let &[wait] = m.users(m.result(dot)).as_slice() else {
            return None;
        };
        let end = m.terminator(block)?;
        let done = *m.op(wait).results.first()?;
        let only_carried = m.users(acc) == [dot]
            && m.is_used_once(done, end)
            && m.op(end).operands.iter().position(|&v| v == done) == Some(place);
        if !only_carried || !is(m, wait, S::AsyncDotWait) {
            return None;
        }
        // What else the loop brings must not be let go before it was read: only this matmul reads.
        let others = under
            .iter()
            .any(|&o| is(m, o, S::LocalLoad) || is(m, o, S::TiledCopy) || is(m, o, S::PointerCopy));
        let mut releases = Vec::new();
        let found = under
            .iter()
            .filter_map(|&o| Some((o, ConsumerRelease::of(m.op(o))?)));
        for (op, release) in found {
            let iteration = release.iteration();
            let place = args.iter().skip(1).position(|&a| a == iteration)?;
            // With a single stage, the next matmul's operands come only after the release.
            if m.op(op).block != block || stages(m, op) < 2 {
                return None;
            }
            releases.push((op, place));
        }
        (!others && !releases.is_empty()).then_some(Carried {
            for_op,
            block,
            wait,
            place,
            releases,
        })
    }

    fn apply(self, m: &mut Module) {
        let i32_ty = m.types.int(32);
        m.set_i32(self.wait, "pending", 1);
        // In the loop: the iteration before is released, where there was one.
        let args = m.block(self.block).args.to_vec();
        let inits = carried::inits(m.op(self.for_op)).to_vec();
        let tail = m.block(self.block).ops.len() - 1;
        let end = m.block_mut(self.block).ops.remove(tail);
        for &(release, place) in &self.releases {
            let (now, first) = (args[place + 1], inits[place]);
            release_before(m, self.block, release, now, first);
        }
        m.block_mut(self.block).ops.push(end);
        // Behind it: the last matmul is done, and what it read is released.
        let home = m.op(self.for_op).block;
        let ops = std::mem::take(&mut m.block_mut(home).ops);
        let at = ops
            .iter()
            .position(|&o| o == self.for_op)
            .map_or(ops.len(), |i| i + 1);
        m.block_mut(home).ops = ops[..at].to_vec();
        let results = m.op(self.for_op).results.to_vec();
        let acc = results[self.place];
        let (ty, loc) = (m.ty(acc), m.op(self.wait).loc);
        let none = Attr::Int {
            value: 0,
            ty: i32_ty,
        };
        let mut b = m.at_end(home);
        b.loc = loc;
        let wait = b.op(S::AsyncDotWait, &[&[acc]], [Some(none)], &[ty], &[]);
        let done = m.result(wait);
        m.replace_all_uses(acc, done);
        m.set_operand(wait, "acc", acc);
        for (release, place) in self.releases {
            release_before(m, home, release, results[place], inits[place]);
            m.erase(release);
        }
        m.block_mut(home).ops.extend(&ops[at..]);
    }
}

/// At the end of `block`: the iteration before `now` of the pipeline that `release` releases is released, unless the
/// loop has had none since `first`.
fn release_before(m: &mut Module, block: BlockId, release: OpId, now: ValueId, first: ValueId) {
    let Some(pipeline) = ConsumerRelease::of(m.op(release)).map(|v| v.pipeline()) else {
        return;
    };
    let ty = m.ty(now);
    let minus_one = number(m, block, -1);
    let mut b = m.at_end(block);
    let overflow = cased(Overflow::None);
    let before = b.value(C::AddI, &[now, minus_one], [overflow], ty);
    if is_zero(m, first) {
        // An iteration below zero has nothing to release.
        step(m, block, S::ConsumerRelease, pipeline, before);
        return;
    }
    let i1 = m.types.int(1);
    let i1 = m.types.tile(i1, &[]);
    let attrs = [cased(Predicate::NotEqual), cased(Signedness::Signed)];
    let mut b = m.at_end(block);
    let enable = b.value(C::CmpI, &[now, first], attrs, i1);
    let groups: [&[ValueId]; 3] = [&[pipeline], &[before], &[enable]];
    b.op(S::ConsumerRelease, &groups, [], &[], &[]);
}

/// Whether a value is the constant zero.
fn is_zero(m: &Module, value: ValueId) -> bool {
    let Def::Result { op, .. } = m.value(value).def else {
        return false;
    };
    super::protocol::number(m.op(op)) == Some(0)
}
