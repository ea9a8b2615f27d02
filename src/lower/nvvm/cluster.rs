//! The blocks of a cluster that execute a tile block together: what they know of each other.

use super::Lower;
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::Attr;

impl Lower<'_> {
    /// Whether blocks of the cluster fill each other's stages and arrive at each other's mbarriers.
    fn shares_stages(&self) -> bool {
        self.kernel.blocks > 1
            && self.m.body_of(self.kernel.func, 0).is_some_and(|body| {
                let ops = &self.m.block(body).ops;
                ops.iter().any(|&o| {
                    view::PipelineCreate::of(self.m.op(o)).is_some_and(|p| p.blocks().is_some())
                })
            })
    }

    /// Where the warps of a block part: the mbarriers of all blocks are there.
    pub(super) fn enter_cluster(&mut self) {
        if self.shares_stages() {
            self.cluster_barrier();
        }
    }

    /// At the end of a block: no other block writes to its shared memory or arrives at its mbarriers any more.
    pub(super) fn leave_cluster(&mut self) {
        if self.shares_stages() {
            // Threads of a warp may have had other things to do.
            self.emit().effect(N::BarWarp, &[], []);
            self.cluster_barrier();
        }
    }

    fn cluster_barrier(&mut self) {
        // Mbarriers have a fence of their own (PTX ISA, "fence.mbarrier_init"), and nothing else is told.
        self.emit()
            .effect(N::ClusterArrive, &[], [Some(Attr::Unit)]);
        self.emit().effect(N::ClusterWait, &[], []);
    }

    /// All blocks of the cluster, as the instructions' masks have them.
    pub(super) fn cluster_mask(&self) -> i64 {
        (1 << self.kernel.blocks) - 1
    }
}
