//! What is decided about the roles of a kernel.

use super::sites::{Ring, Site};
use crate::ir::OpId;
use crate::lower::tileas::neighbours::Neighbours;
use crate::target::Target;
use rustc_hash::FxHashSet;

/// Warps of the producer: one, or a warpgroup where registers are redistributed, which goes by warpgroups.
pub(super) const PRODUCER_WARPS: [u64; 2] = [1, 4];
/// Registers of a producer thread once they have been redistributed.
pub(super) const PRODUCER_REGISTERS: u64 = 24;
/// Pages of a tile whose numbers such a thread has registers for. Of more it holds those of two iterations.
pub(super) const FEW_PAGES: u64 = 4;
/// Registers of a producer's thread that makes tensor maps.
pub(super) const MAKER_REGISTERS: u64 = 56;

/// The decisions for one kernel.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) sites: Vec<Site>,
    pub(super) rings: Vec<Ring>,
    pub(super) shared: FxHashSet<OpId>,
    pub(super) consumer_warps: u64,
    pub(super) redistributes: bool,
    /// Whether the producer's threads copy by themselves: as many as the consumers are, so that a layout spreads a tile
    /// over either.
    pub(super) copies: bool,
    /// Registers of a producer's thread where they are redistributed.
    pub(super) producer_registers: u64,
    /// Blocks that share a multiprocessor, and so its registers.
    pub(super) together: u64,
    /// Whether warpgroups multiply.
    pub(super) by_groups: bool,
    /// Stores by tensor copies: those inside of loops and branches, and those at the end.
    pub(super) nested_stores: Vec<OpId>,
    pub(super) last_stores: Vec<OpId>,
    /// Those of them that accesses of other kinds wait for.
    pub(super) awaited: FxHashSet<OpId>,
    /// Bytes of shared memory left for operands that no ring brings.
    pub staging: u64,
    /// Bytes of shared memory that rings leave for operands at least.
    pub(super) kept: u64,
    /// Blocks that should share a multiprocessor.
    pub neighbours: Neighbours,
    /// Blocks of the cluster, and the loads of which each of them brings a part for all.
    pub(super) blocks: u64,
    pub(super) multicast: FxHashSet<OpId>,
}

impl Plan {
    /// Warps of the block.
    pub fn all_warps(&self) -> u64 {
        self.consumer_warps + self.producer_warps()
    }

    fn producer_warps(&self) -> u64 {
        match self.copies {
            true => self.consumer_warps,
            false => PRODUCER_WARPS[usize::from(self.redistributes)],
        }
    }

    /// The loads that a producer brings.
    pub fn loads(&self) -> Vec<OpId> {
        self.sites.iter().flat_map(|s| s.loads.clone()).collect()
    }

    /// Those of them that come by tensor copies.
    pub fn by_tensor(&self) -> impl Iterator<Item = OpId> {
        self.sites.iter().flat_map(Site::by_tensor)
    }

    /// Whether the producer gives registers to the consumers.
    pub fn redistributes(&self) -> bool {
        self.redistributes
    }

    /// Blocks that the roles are made for to share a multiprocessor.
    pub fn together(&self) -> u64 {
        self.together
    }

    /// Registers of a producer's and of a consumer's thread once they have been redistributed: the block has those
    /// that all its warps start with. Two consumer warpgroups: 2·128·240 + 128·24 = 384·168. One in each of two blocks:
    /// 128·232 + 128·24 = 256·128.
    pub fn registers(&self, target: &Target) -> [u64; 2] {
        let warps = self.all_warps();
        let all = target.registers_per_thread(warps * self.together) * warps;
        let left = all.saturating_sub(self.producer_warps() * self.producer_registers);
        [
            self.producer_registers,
            left / self.consumer_warps.max(1) / 8 * 8,
        ]
    }
}
