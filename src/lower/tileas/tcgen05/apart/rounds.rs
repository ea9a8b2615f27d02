//! Loops whose first matmuls are waited for together with the last ones of the iteration before, and their steps when the first
//! ones have a pipeline of their own ([`super::ahead`]).

use super::is_step;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::tileas::look::place;
use crate::lower::tileas::tcgen05::emit;
use crate::lower::tileas::tcgen05::together::leaves_alone;
use rustc_hash::FxHashSet;

/// A loop whose first matmuls are waited for with the last ones of the iteration before.
pub struct Round {
    around: OpId,
    pub block: BlockId,
    /// Those first matmuls.
    pub dots: Vec<OpId>,
    /// The wait for them, and the release.
    pub wait: [OpId; 2],
    /// The steps around the loop, or around several that follow one another.
    pub acquire: OpId,
    commit: OpId,
}

impl Round {
    pub fn of(m: &Module, block: BlockId, pipeline: ValueId) -> Option<Round> {
        let around = m.region(m.block(block).region).parent;
        let ops = &m.block(block).ops;
        let own = |o: &&OpId| access::pipeline(m.op(**o)) == Some(pipeline);
        let steps: Vec<OpId> = ops.iter().filter(own).copied().collect();
        let &[commit, wait, release, .., last] = &steps[..] else {
            return None;
        };
        let is = |op: OpId, kind: S| is_step(m, op, kind, pipeline);
        let joined = is(commit, S::ProducerCommit) && is(last, S::ProducerAcquire);
        if C::of(m.op(around).kind) != Some(C::For) || !joined {
            return None;
        }
        let before = ops.iter().take_while(|&&o| o != commit);
        let dots = before.filter(|&&o| S::of(m.op(o).kind) == Some(S::TensorDot));
        let (home, at) = place(m, around);
        let outside = &m.block(home).ops;
        let acquire = outside[..at].iter().rev().find(own);
        let behind = outside[at + 1..].iter().find(own);
        Some(Round {
            around,
            block,
            dots: Some(dots.copied().collect()).filter(|d: &Vec<OpId>| !d.is_empty())?,
            wait: [wait, release],
            acquire: *acquire.filter(|&&o| is(o, S::ProducerAcquire))?,
            commit: *behind.filter(|&&o| is(o, S::ProducerCommit))?,
        })
    }
}

impl Round {
    /// The loop.
    pub fn around(&self) -> OpId {
        self.around
    }

    /// Gives the first matmuls the steps of `own`, those around the loop only if it is the `outermost`, and lets the others be
    /// waited for later.
    pub fn apply(
        &self,
        m: &mut Module,
        scores: &FxHashSet<ValueId>,
        own: ValueId,
        outermost: bool,
    ) {
        let zero = emit::number_at(m, self.function(m));
        let step = |m: &mut Module, at: OpId, kind: S| {
            let groups: [&[ValueId]; 3] = [&[own], &[zero], &[]];
            let many = if kind == S::ConsumerRelease { 3 } else { 2 };
            emit::before(m, at, kind, &groups[..many]);
        };
        let waited = [S::ProducerCommit, S::ConsumerWait, S::ConsumerRelease];
        let [wait, release] = self.wait;
        if outermost {
            step(m, self.acquire, S::ProducerAcquire);
            for kind in waited {
                step(m, self.commit, kind);
            }
        }
        for kind in waited {
            step(m, wait, kind);
        }
        let (_, from) = place(m, release);
        let ops = m.block(self.block).ops.clone();
        let uses = |&o: &OpId| {
            let inside = m.ops_inside(o).into_iter().chain([o]);
            let mut values = inside.flat_map(|o| m.op(o).operands.to_vec());
            values.any(|v| scores.contains(&v))
        };
        let last = ops.iter().rposition(uses).unwrap_or(from).max(from);
        let last = reduced(m, scores, &ops, last, own).unwrap_or(last);
        if let Some(&next) = ops.get(last + 1) {
            step(m, next, S::ProducerAcquire);
        }
        self.wait_later(m, scores, own);
    }

    fn function(&self, m: &Module) -> BlockId {
        let mut at = self.around;
        while let Some(parent) = m.parent_op(at)
            && S::of(m.op(parent).kind) != Some(S::Func)
        {
            at = parent;
        }
        m.op(at).block
    }

    /// Moves the wait for the other matmuls down to what needs them to be done.
    fn wait_later(&self, m: &mut Module, scores: &FxHashSet<ValueId>, own: ValueId) {
        let (_, from) = place(m, self.wait[1]);
        let ops = m.block(self.block).ops.clone();
        let mut behind = ops.iter().skip(from + 1).copied();
        let Some(to) = behind.find(|&o| !lets_pass(m, o, scores, own)) else {
            return;
        };
        let block = self.block;
        let taken = self.wait;
        m.block_mut(block).ops.retain(|o| !taken.contains(o));
        for op in taken {
            let (_, at) = place(m, to);
            m.place(op, block, at);
        }
    }
}

/// Where what was loaded by `ops` up to number `last` is first reduced, if nothing needs the other matmuls before: what is
/// computed while tiles are loaded part by part stands in front of a step then.
fn reduced(
    m: &Module,
    scores: &FxHashSet<ValueId>,
    ops: &[OpId],
    last: usize,
    own: ValueId,
) -> Option<usize> {
    let loaded = |o: &OpId| view::TensorLoad::of(m.op(*o)).map(|v| v.result());
    let mut made: FxHashSet<ValueId> = ops[..=last].iter().filter_map(loaded).collect();
    for (i, &op) in ops.iter().enumerate().skip(last + 1) {
        let data = m.op(op);
        if !lets_pass(m, op, scores, own) {
            return None;
        }
        if data.operands.iter().any(|v| made.contains(v)) {
            if C::of(data.kind) == Some(C::Reduce) {
                return Some(i);
            }
            made.extend(&data.results);
        }
    }
    None
}

/// Whether an operation, with what is in it, can be done while matmuls of the later part are in flight: a step of the other
/// part's pipeline, a load of its results, or what leaves all of them alone.
fn lets_pass(m: &Module, op: OpId, scores: &FxHashSet<ValueId>, own: ValueId) -> bool {
    let mut inner = m.ops_inside(op).into_iter().chain([op]);
    inner.all(|op| {
        let data = m.op(op);
        let load = view::TensorLoad::of(data);
        access::pipeline(data) == Some(own)
            || load.is_some_and(|v| scores.contains(&v.source()))
            || leaves_alone(m, op)
    })
}
