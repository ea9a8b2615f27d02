//! Bulk operations that have not finished.

use crate::asynchronous::tile::Tile;
use crate::check::Agent;
use crate::program::inst::AtomOp;
use crate::program::types::Ty;
use crate::record::Track;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Bulk groups of a warp's lanes, by operation number.
#[derive(Debug, Default)]
pub struct Groups {
    pub(super) lanes: FxHashMap<usize, LaneGroups>,
}

#[derive(Debug, Default)]
pub(super) struct LaneGroups {
    pub(super) open: Vec<Member>,
    pub(super) closed: VecDeque<Vec<Member>>,
    /// leading closed groups whose reading has been waited for
    pub(super) read: usize,
}

/// A store of a group: its two halves are waited for separately.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) id: u64,
    pub(super) reads: Agent,
    pub(super) writes: Agent,
}

/// A bulk operation that has not finished.
#[derive(Debug)]
pub struct Operation {
    pub(super) id: u64,
    pub(super) due: u64,
    pub(super) agent: Agent,
    /// who issued it, for messages
    pub origin: Origin,
    pub(super) work: Work,
}

/// Who issued an operation.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    /// block within the cluster
    pub cta: usize,
    /// warp within the block
    pub warp: u32,
    /// PTX line
    pub line: u32,
}

impl Origin {
    /// Its rows in the record.
    pub fn track(&self) -> Track {
        Track {
            block: self.cta as u32,
            warp: self.warp,
        }
    }
}

#[derive(Debug)]
pub(super) enum Work {
    /// into shared memory, completing on an mbarrier of each target
    Load {
        source: Source,
        targets: Vec<Target>,
        bytes: u64,
        reduce: Option<(AtomOp, Ty)>,
    },
    /// out of shared memory, in two steps: read, then write
    Store {
        cta: usize,
        offset: u64,
        bytes: u64,
        to: Destination,
        staged: Option<Vec<u8>>,
    },
}

#[derive(Debug)]
pub(super) enum Source {
    Global(u64),
    Shared { cta: usize, offset: u64 },
    Tile(Box<Tile>),
    Immediate(Vec<u8>),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) cta: usize,
    pub(super) offset: u64,
    pub(super) barrier: (usize, u64),
}

#[derive(Debug)]
pub(super) enum Destination {
    Global {
        address: u64,
        reduce: Option<(AtomOp, Ty)>,
        byte_mask: Option<u16>,
    },
    Tile {
        tile: Box<Tile>,
        reduce: Option<AtomOp>,
    },
}

/// Unfinished bulk operations of a cluster.
#[derive(Debug, Default)]
pub struct Engine {
    pub(super) pending: Vec<Operation>,
    pub(super) next: u64,
}

impl Engine {
    /// Operations that have not finished.
    pub fn pending(&self) -> &[Operation] {
        &self.pending
    }
}
