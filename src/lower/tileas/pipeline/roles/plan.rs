//! What is decided about the roles of a kernel.

use rustc_hash::FxHashSet;

use super::sites::{Ring, Site};
use crate::ir::OpId;

/// The decisions for one kernel.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) sites: Vec<Site>,
    pub(super) rings: Vec<Ring>,
    pub(super) shared: FxHashSet<OpId>,
    pub(super) consumer_warps: u64,
    pub(super) redistributes: bool,
    /// Whether warpgroups multiply.
    pub(super) by_groups: bool,
    /// Stores by tensor copies: those inside of loops and branches, and those at the end.
    pub(super) nested_stores: Vec<OpId>,
    pub(super) last_stores: Vec<OpId>,
    /// Those of them that accesses of other kinds wait for.
    pub(super) awaited: FxHashSet<OpId>,
    /// Bytes of shared memory left for operands that no ring brings.
    pub staging: u64,
    /// Blocks of the cluster, and the loads of which each of them brings a part for all.
    pub(super) blocks: u64,
    pub(super) multicast: FxHashSet<OpId>,
}
