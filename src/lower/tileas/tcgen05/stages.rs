//! Stages of rings that nothing but matmuls reads: the thread that issues these waits for a stage, and they hand it back.
//!
//! ```text
//! consumer_wait ring                     consumer_wait ring             by the thread that issues
//! async.tensor_dot                       async.tensor_dot
//! producer_commit; consumer_wait    →    consumer_release ring, matmuls
//! …                                      producer_commit; consumer_wait
//! consumer_release ring                  …
//! ```
//! The other warps need not know when a tile is there, and the stage is empty as soon as the matmuls are done. These are
//! waited for behind that, before the block can end: the arrival of a commit that nobody waits for could come after that.
//! Where they stand in a loop that the stage is held for, they have been waited for in it, and the warps hand the stage
//! back behind the loop.

use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access;
use crate::ir::{Attr, BlockId, Module, OpId, ValueId};
use crate::lower::tileas::look::{ancestor_in, place};
use rustc_hash::FxHashSet;

/// Lets the matmuls under `body` hand back the stages of every ring that they alone read.
pub fn hand_back(m: &mut Module, body: BlockId) {
    let ops = m.ops_under(body);
    let creates = ops.iter().filter_map(|&o| {
        let v = view::PipelineCreate::of(m.op(o))?;
        (v.kind() == PipelineKind::Tma && !v.pair()).then_some((o, v.result()))
    });
    for (create, pipeline) in creates.collect::<Vec<_>>() {
        if let Some(ring) = Ring::of(m, body, &ops, pipeline) {
            m.set_i32(create, "consumers", 1);
            ring.apply(m);
        }
    }
}

/// A ring whose stages matmuls read.
struct Ring {
    readers: Vec<OpId>,
    releases: Vec<OpId>,
}

impl Ring {
    /// The ring of `pipeline`, if it is read by matmuls, by nothing else, and they do not hand it back yet.
    fn of(m: &Module, body: BlockId, ops: &[OpId], pipeline: ValueId) -> Option<Ring> {
        let own = |&op: &OpId| access::pipeline(m.op(op)) == Some(pipeline);
        let mut ring = Ring {
            readers: Vec::new(),
            releases: Vec::new(),
        };
        let mut buffers: FxHashSet<ValueId> = FxHashSet::default();
        for &op in ops.iter().filter(|o| own(o)) {
            buffers.extend(access::destination(m.op(op)));
            match view::View::of(m.op(op)) {
                Some(view::View::ConsumerRelease(v)) if v.enable().is_none() && !v.matmuls() => {
                    ring.releases.push(op);
                }
                Some(view::View::ConsumerRelease(_)) => return None,
                _ => {}
            }
        }
        for &op in ops.iter().filter(|o| !own(o)) {
            let data = m.op(op);
            if !data.operands.iter().any(|v| buffers.contains(v)) {
                continue;
            }
            match S::of(data.kind) {
                Some(S::SharedView) => buffers.extend(&data.results),
                Some(S::TensorDot) => ring.readers.push(op),
                _ => return None,
            }
        }
        let waited = ring
            .releases
            .iter()
            .all(|&r| ring.is_last_beside(m, body, r));
        (!ring.releases.is_empty() && waited).then_some(ring)
    }

    /// Whether the last of the stage's readers before `release` stands in its block, so that a wait for it follows.
    fn is_last_beside(&self, m: &Module, body: BlockId, release: OpId) -> bool {
        let (block, at) = place(m, release);
        let ops = m.block(block).ops.iter().take(at);
        let holders = self.readers.iter();
        let holders: Vec<OpId> = holders
            .filter_map(|&o| ancestor_in(m, body, block, o))
            .collect();
        let last = ops.rev().find(|o| holders.contains(o));
        last.is_some_and(|o| self.readers.contains(o))
    }

    /// Each release comes up to the last matmul that reads the stage.
    fn apply(&self, m: &mut Module) {
        for &release in &self.releases {
            *m.attr_mut(release, "matmuls") = Some(Attr::Unit);
            let (block, at) = place(m, release);
            let mut before = m.block(block).ops.iter().take(at);
            if let Some(last) = before.rposition(|o| self.readers.contains(o)) {
                m.block_mut(block).ops[last + 1..=at].rotate_right(1);
            }
        }
    }
}
