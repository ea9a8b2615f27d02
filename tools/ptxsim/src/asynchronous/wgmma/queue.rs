//! Products that have not been waited for.

use crate::check::Agent;
use crate::exec::frame::Frame;
use crate::matrix::descriptor::Descriptor;
use crate::program::Row;

/// Operations of a warp that have not been waited for, oldest first.
#[derive(Debug, Default)]
pub struct Queue {
    pub(super) operations: Vec<Operation>,
    pub(super) groups: u64,
    /// instruction count of the last `wgmma.fence`
    pub(super) fenced_at: u64,
}

#[derive(Debug)]
pub(super) struct Operation {
    pub(super) pc: u32,
    pub(super) frame: Frame,
    pub(super) a: Option<Descriptor>,
    pub(super) b: Descriptor,
    pub(super) accumulate: bool,
    pub(super) group: Option<u64>,
    /// metadata of a sparse A
    pub(super) metadata: Option<Row>,
    pub(super) due: u64,
    pub(super) done: bool,
    /// the group that was open when it was issued, for the record
    pub(super) started: u64,
    pub(super) agent: Agent,
}

impl Queue {
    /// True if nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}
