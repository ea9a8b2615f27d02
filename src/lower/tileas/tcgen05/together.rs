//! Matmuls that follow one another with nothing of the warps' between them are waited for together, also from one iteration
//! of a loop to the next:
//!
//! ```text
//! for …                             acquire
//!   acquire                         for …
//!   tensor_dot q, k, s                tensor_dot q, k, s
//!   commit; wait; release             commit; wait; release
//!   … of s, to p                      … of s, to p
//!   acquire                      →    acquire
//!   tensor_dot p, v, o                tensor_dot p, v, o
//!   commit; wait; release           commit; wait; release
//! ```
//! The next iteration's scores are multiplied right behind this one's output: the warps wait once, without a barrier in
//! between. What a matmul overwrites while an earlier one may still read it, the scores where the probabilities lie, is safe:
//! a tensor core does one thread's matmuls in the order in which they were issued. Where such a loop follows another, they need
//! not be waited for in between either.

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::tileas::look::{blocks_of, pipeline_kind, place};
use crate::lower::tileas::missed::Log;
use crate::lower::tileas::pipeline::tokens::jumps;

/// What is done, in messages.
const WHAT: &str = "matmuls waited for together";

/// The steps of `pipeline` around matmuls of one block: they are let in, and waited for.
pub struct Step {
    pub acquire: OpId,
    /// The commit, the wait and the release.
    pub after: [OpId; 3],
}

/// Joins the waits for the matmuls of `pipeline` under `body`.
pub fn wait(m: &mut Module, body: BlockId, pipeline: ValueId, log: &mut Log) {
    for block in blocks(m, body, pipeline) {
        let mut joined: Option<Step> = None;
        for step in steps(m, block, pipeline) {
            joined = Some(match joined {
                Some(before) if before.is_next_to(m, &step) => {
                    before.after.into_iter().for_each(|o| m.erase(o));
                    m.erase(step.acquire);
                    Step {
                        acquire: before.acquire,
                        after: step.after,
                    }
                }
                _ => step,
            });
        }
        across(m, block, pipeline, log);
    }
    for block in blocks(m, body, pipeline) {
        consecutive(m, block, pipeline);
    }
}

/// Joins the last matmul of a loop and the first one of the next, where both are joined across iterations, as those of causal
/// attention are: one without a mask and one with it.
fn consecutive(m: &mut Module, block: BlockId, pipeline: ValueId) {
    let ops = m.block(block).ops.clone();
    let own = |m: &Module, o: OpId| access::pipeline(m.op(o)) == Some(pipeline);
    let steps_in = |m: &Module, o: OpId| -> Option<Vec<OpId>> {
        let loops = C::of(m.op(o).kind) == Some(C::For);
        let inner = m.body_of(o, 0).filter(|_| loops)?;
        let steps = m.block(inner).ops.iter().copied();
        Some(steps.filter(|&o| own(m, o)).collect())
    };
    let is = |m: &Module, o: Option<&OpId>, kind: S| {
        o.is_some_and(|&o| S::of(m.op(o).kind) == Some(kind))
    };
    let mut before: Option<usize> = None;
    for (at, &op) in ops.iter().enumerate() {
        let Some(steps) = steps_in(m, op).filter(|s| !s.is_empty()) else {
            continue;
        };
        let starts = is(m, steps.first(), S::ProducerCommit);
        let ends = is(m, steps.last(), S::ProducerAcquire);
        if let Some(from) = before.filter(|_| starts) {
            let between = &ops[from + 1..at];
            let (joints, others): (Vec<OpId>, Vec<OpId>) =
                between.iter().partition(|&&o| own(m, o));
            let waits = |&&o: &&OpId| S::of(m.op(o).kind) == Some(S::ConsumerWait);
            let quiet = others.iter().all(|&o| is_quiet(m, o)) && !others.iter().any(|o| waits(&o));
            if quiet && joints.len() == 4 {
                joints.into_iter().for_each(|o| m.erase(o));
            }
        }
        before = Some(at).filter(|_| ends);
    }
}

/// Joins the last matmul of an iteration and the first one of the next.
fn across(m: &mut Module, block: BlockId, pipeline: ValueId, log: &mut Log) {
    let around = m.region(m.block(block).region).parent;
    let Some(end) = m.terminator(block) else {
        return;
    };
    if C::of(m.op(around).kind) != Some(C::For) || jumps(m, around) != [end] {
        return;
    }
    let steps = steps(m, block, pipeline);
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return;
    };
    let ops = &m.block(block).ops;
    let (_, from) = place(m, last.after[2]);
    let (_, to) = place(m, first.acquire);
    let mut between = ops.iter().skip(from + 1).chain(ops.iter().take(to));
    if !between.all(|&o| o == end || is_quiet(m, o)) {
        return;
    }
    let how =
        "an iteration's first matmul is issued right behind the last one of the iteration before";
    log.changed(m.op(around).loc, WHAT, how);
    let (acquire, after) = (first.acquire, last.after);
    let taken = |o: &OpId| *o == acquire || after.contains(o);
    m.block_mut(block).ops.retain(|o| !taken(o));
    let (home, at) = place(m, around);
    m.place(acquire, home, at);
    for (i, op) in after.into_iter().enumerate() {
        m.place(op, home, at + 2 + i);
    }
}

/// The blocks under `body` that step `pipeline`.
pub fn blocks(m: &Module, body: BlockId, pipeline: ValueId) -> Vec<BlockId> {
    let steps = |&o: &OpId| access::pipeline(m.op(o)) == Some(pipeline);
    blocks_of(m, m.ops_under(body).into_iter().filter(steps))
}

/// The steps of a block that have their matmul in it, in order.
pub fn steps(m: &Module, block: BlockId, pipeline: ValueId) -> Vec<Step> {
    let mut found = Vec::new();
    let mut open: Option<(OpId, bool, Vec<OpId>)> = None;
    for &op in &m.block(block).ops {
        let data = m.op(op);
        let own = access::pipeline(data) == Some(pipeline);
        match (S::of(data.kind), &mut open) {
            (Some(S::ProducerAcquire), _) if own => open = Some((op, false, Vec::new())),
            (Some(S::TensorDot), Some((_, multiplies, _))) => *multiplies = true,
            (Some(S::ProducerCommit | S::ConsumerWait), Some((_, _, after))) if own => {
                after.push(op);
            }
            (Some(S::ConsumerRelease), _) if own => {
                if let Some((acquire, true, after)) = open.take()
                    && let [commit, wait] = after[..]
                {
                    let after = [commit, wait, op];
                    found.push(Step { acquire, after });
                }
            }
            _ => {}
        }
    }
    found
}

impl Step {
    /// Whether nothing between this one's matmuls and those of `next`, in the same block, needs a wait or a barrier.
    pub fn is_next_to(&self, m: &Module, next: &Step) -> bool {
        let (block, from) = place(m, self.after[2]);
        let (_, to) = place(m, next.acquire);
        let ops = m.block(block).ops.get(from + 1..to).unwrap_or(&[]);
        ops.iter().all(|&o| is_quiet(m, o))
    }
}

/// Whether an operation, with what is in it, leaves alone what matmuls in flight read and write.
fn is_quiet(m: &Module, op: OpId) -> bool {
    let mut inner = m.ops_inside(op).into_iter().chain([op]);
    inner.all(|op| leaves_alone(m, op))
}

/// Whether an operation itself leaves alone what matmuls in flight read and write.
pub fn leaves_alone(m: &Module, op: OpId) -> bool {
    match view::View::of(m.op(op)) {
        Some(view::View::ConsumerWait(v)) => {
            pipeline_kind(m, v.pipeline()) == Some(PipelineKind::Tma)
        }
        Some(view::View::ConsumerRelease(v)) => v.matmuls(),
        _ => matches!(
            S::of(m.op(op).kind),
            None | Some(S::TiledLoad | S::Load | S::LocalLoad | S::SharedView)
        ),
    }
}
