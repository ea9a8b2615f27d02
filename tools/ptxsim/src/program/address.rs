//! Where an access goes and what it is ordered with.

use super::operand::Src;

/// State space of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// decided by the address
    Generic,
    /// `.global`
    Global,
    /// `.shared`, `.shared::cta`
    Shared,
    /// `.shared::cluster`
    SharedCluster,
    /// `.local`
    Local,
    /// `.const`
    Const,
    /// entry parameters
    Param,
    /// parameters of calls, in the current frame
    CallParam,
}

impl Space {
    /// False if an access in this space cannot touch global memory.
    pub fn may_be_global(self) -> bool {
        matches!(self, Space::Generic | Space::Global)
    }
}

/// Memory order of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// no qualifier
    Weak,
    /// `.volatile`, `.relaxed`, `.mmio`
    Relaxed,
    /// `.acquire` or `.release` or both
    Strong,
}

/// `[base + offset]`
#[derive(Debug, Clone, Copy)]
pub struct Address {
    /// its space
    pub space: Space,
    /// row with the base
    pub base: Src,
    /// bytes added
    pub offset: i64,
    /// the base is relative to the frame's local or parameter area
    pub in_frame: bool,
}

/// Whom a fence or an access is ordered for, from near to far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// `.cta`
    Block,
    /// `.cluster`
    Cluster,
    /// `.gpu`, `.sys`, `membar.gl`
    Device,
}
