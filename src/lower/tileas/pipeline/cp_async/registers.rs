//! The form of a loop where copies to shared memory are not asynchronous: the next tiles wait in registers.
//!
//! ```text
//! x = if lower < upper      { load a, b, … of the first } else { 0 }
//! producer_acquire 0; local_store x; producer_commit 0
//! for i                     { consumer_wait; x = load a, b, … of iteration i+1
//!                             local_load a, b, … where they were loaded; consumer_release
//!                             producer_acquire i+1; local_store x; producer_commit i+1 }
//! drain
//! ```
//! All warps load and all multiply ([`Next`]). Nothing waits for the loads before the stores behind the matmuls.

use super::{Build, number};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::ir::{BlockId, Module, ValueId};
use crate::lower::tileas::pipeline::next::Next;

impl Build<'_> {
    /// Brings the first iteration's tiles.
    pub(super) fn first_tiles(&self, m: &mut Module, facts: &FactMap, block: BlockId) {
        let tiles = self.next().first(m, facts, block);
        let first = number(&mut m.at_end(block), 0);
        self.store(m, block, first, &tiles);
    }

    /// The loads of another iteration.
    pub(super) fn next(&self) -> Next<'_> {
        Next {
            stream: &self.plan.stream,
            bounds: self.bounds,
            top: self.top,
        }
    }

    /// Appends the stores of `tiles` to the stage of `iteration`.
    pub(super) fn store(
        &self,
        m: &mut Module,
        block: BlockId,
        iteration: ValueId,
        tiles: &[ValueId],
    ) {
        let stage = [[self.pipeline], [iteration]];
        let groups = [&stage[0][..], &stage[1][..]];
        let mut b = m.at_end(block);
        b.op(S::ProducerAcquire, &groups, [], &[], &[]);
        for (&tile, &buffer) in tiles.iter().zip(&self.buffers) {
            let groups: [&[ValueId]; 4] = [&[tile], &[buffer], &[iteration], &[self.pipeline]];
            if let Some(loaded) = b.module.def_op(tile) {
                b.loc = b.module.op(loaded).loc;
            }
            b.op(S::LocalStore, &groups, [], &[], &[]);
        }
        m.at_end(block).op(S::ProducerCommit, &groups, [], &[], &[]);
    }
}
