//! The blocks of a cluster that execute a tile block together: what they know of each other.

use super::Lower;
use crate::dialect::enums::{Predicate, SpecialRegister};
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Diagnostic, ValueId};
use crate::scalar::Signedness;

impl Lower<'_> {
    /// Whether blocks of the cluster fill each other's stages and arrive at each other's mbarriers.
    fn shares_stages(&self) -> bool {
        self.kernel.blocks > 1
            && self.m.body_of(self.kernel.func, 0).is_some_and(|body| {
                let ops = &self.m.block(body).ops;
                ops.iter().any(|&o| {
                    view::PipelineCreate::of(self.m.op(o))
                        .is_some_and(|p| p.blocks().is_some() || p.pair())
                })
            })
    }

    /// Where the warps of a block part: the mbarriers of all blocks are there.
    pub(super) fn enter_cluster(&mut self) {
        if self.shares_stages() {
            // Mbarriers have a fence of their own (PTX ISA, "fence.mbarrier_init").
            self.cluster_barrier(true);
        }
    }

    /// At the end of a block: no other block writes to its shared memory or arrives at its mbarriers any more.
    pub(super) fn leave_cluster(&mut self) -> Result<(), Diagnostic> {
        if self.kernel.pair {
            return self.free_pair();
        }
        if self.shares_stages() {
            // Threads of a warp may have had other things to do.
            self.warp_barrier();
            self.cluster_barrier(true);
        }
        Ok(())
    }

    /// `relaxed`: what threads have done before is told by other means, if at all.
    pub(super) fn cluster_barrier(&mut self, relaxed: bool) {
        self.emit()
            .effect(N::ClusterArrive, &[], [relaxed.then_some(Attr::Unit)]);
        self.emit().effect(N::ClusterWait, &[], []);
    }

    /// True in the first block of the cluster.
    pub(super) fn is_first_block(&mut self) -> ValueId {
        let mut e = self.emit();
        let (rank, zero) = (e.sreg(SpecialRegister::ClusterCtarank), e.i32(0));
        e.icmp(Predicate::Equal, Signedness::Unsigned, rank, zero)
    }

    /// All blocks of the cluster, as the instructions' masks have them.
    pub(super) fn cluster_mask(&self) -> i64 {
        (1 << self.kernel.blocks) - 1
    }
}
