//! What a cluster owes when its last thread has exited.

use super::cluster::Cluster;
use super::fault::{Fault, Trap};
use super::report::fault;

impl Cluster<'_> {
    /// All threads have exited: what is still in flight happens, and what may not be is an error.
    pub(super) fn drain(&mut self) -> Result<(), Fault> {
        while self.complete(true)? {}
        self.check_products()?;
        self.check_tensor_memory()?;
        for (rank, cta) in self.env.ctas.iter().enumerate() {
            let mut groups = cta.warpgroups.iter().enumerate();
            if let Some((group, pending)) = groups.find_map(|(g, w)| w.pending.map(|p| (g, p))) {
                let index = rank * self.env.shared.warps_per_block() as usize + 4 * group;
                return Err(fault(
                    &self.env,
                    &self.warps[index],
                    pending.line,
                    Trap::new(
                        "setmaxnreg was not executed by all four warps of the warpgroup before they exited; execute it \
                         in all of them",
                    ),
                ));
            }
        }
        Ok(())
    }

    /// What has been allocated must have been given back (PTX ISA 9.7.16.1.2).
    fn check_tensor_memory(&self) -> Result<(), Fault> {
        let per_block = self.env.shared.warps_per_block() as usize;
        for (rank, cta) in self.env.ctas.iter().enumerate() {
            if let Some(held) = cta.tensor.held.first() {
                let warp = &self.warps[rank * per_block + held.warp as usize];
                let message = format!(
                    "exits without a tcgen05.dealloc of the {} columns of tensor memory that it has allocated; other blocks \
                     wait for them for ever",
                    held.columns.len()
                );
                return Err(fault(&self.env, warp, held.line, Trap::new(message)));
            }
        }
        Ok(())
    }

    /// The four warps of a warpgroup have to issue the same matrix products.
    fn check_products(&self) -> Result<(), Fault> {
        let per_block = self.env.shared.warps_per_block() as usize;
        for block in self.warps.chunks(per_block.max(1)) {
            for group in block.chunks(4) {
                let most = group.iter().max_by_key(|w| w.products.0);
                let Some(most) = most else { continue };
                let Some(less) = group.iter().find(|w| w.products.0 != most.products.0) else {
                    continue;
                };
                let message = format!(
                    "has issued {} wgmma.mma_async, but warp {} of its warpgroup {}; all four warps must execute each",
                    most.products.0, less.id, less.products.0
                );
                return Err(fault(&self.env, most, most.products.1, Trap::new(message)));
            }
        }
        Ok(())
    }
}
