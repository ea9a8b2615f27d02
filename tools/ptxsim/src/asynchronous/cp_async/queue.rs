//! Copies that have not happened.

use crate::check::Agent;
use crate::program::{LANES, Row};

/// Copies of a warp that have not happened yet, oldest first.
#[derive(Debug, Default)]
pub struct Queue {
    pub(super) batches: Vec<Batch>,
    /// groups that each lane has committed
    pub(super) committed: [u32; LANES],
}

/// Not in a group yet.
pub(super) const OPEN: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Batch {
    /// lanes whose part has not happened
    pub(super) mask: u32,
    /// lanes that have not waited for it
    pub(super) unwaited: u32,
    /// group of each lane
    pub(super) groups: [u32; LANES],
    pub(super) due: u64,
    pub(super) line: u32,
    pub(super) work: Work,
    pub(super) agent: Agent,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // copies are the rule, arrivals the exception
pub(super) enum Work {
    Copy {
        cta: usize,
        dst: Row,
        src: Row,
        bytes: u32,
        valid: Row,
    },
    Arrive {
        barriers: [(usize, u64); LANES],
        /// Copies that were under way when it was issued: it comes after them, whoever waits for them meanwhile.
        copies: Vec<Agent>,
    },
}

impl Queue {
    /// The operations of some lanes that nobody has waited for.
    pub(super) fn before(&self, lanes: u32) -> Vec<Agent> {
        let unwaited = self.batches.iter().filter(|b| b.unwaited & lanes != 0);
        unwaited.map(|b| b.agent).collect()
    }

    /// True if nothing is left to happen.
    pub fn is_empty(&self) -> bool {
        self.batches.iter().all(|b| b.mask == 0)
    }
}
