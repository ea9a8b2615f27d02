//! What was considered for a kernel: what it got that its operations do not show, and what it did not get, and why.

use crate::ir::{LocId, Module, OpId};
use rustc_hash::FxHashSet;

/// Copies by TMA, in messages.
pub const TENSOR_COPIES: &str = "tensor copies";
/// Copies by `cp.async`.
pub const ASYNCHRONOUS_COPIES: &str = "asynchronous copies";
/// Loads and stores that run an iteration ahead.
pub const THROUGH_REGISTERS: &str = "pipeline through registers";
/// What loads can be started ahead by.
pub const COPIES: [&str; 3] = [TENSOR_COPIES, ASYNCHRONOUS_COPIES, THROUGH_REGISTERS];

/// Something that the target has and an operation did not get.
#[derive(Clone, Debug)]
pub struct Missed {
    /// Name of the kernel.
    pub kernel: String,
    /// What was considered: one of [`COPIES`], "wgmma", "clusters".
    pub what: &'static str,
    pub why: String,
    /// The operation that stood against it.
    pub loc: LocId,
}

/// A change of what was written, which the operations that came of it do not name.
#[derive(Clone, Debug)]
pub struct Changed {
    /// Name of the kernel.
    pub kernel: String,
    /// What was done: "work in strips", "shorter steps along K".
    pub what: &'static str,
    pub how: String,
    /// The operation that was changed.
    pub loc: LocId,
}

/// The operation that stands against something, and why.
pub type Refusal = (OpId, String);

/// All that was noted.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    pub missed: Vec<Missed>,
    pub changed: Vec<Changed>,
}

impl Notes {
    /// Adds those of another kernel.
    pub fn extend(&mut self, other: Notes) {
        self.missed.extend(other.missed);
        self.changed.extend(other.changed);
    }
}

/// Collects for one kernel.
#[derive(Clone, Debug, Default)]
pub struct Log {
    kernel: String,
    notes: Notes,
    /// The operations that stood against one of [`COPIES`].
    waited: FxHashSet<OpId>,
}

impl Log {
    pub fn new(kernel: String) -> Self {
        Self {
            kernel,
            ..Self::default()
        }
    }

    /// `what` was not done because of `op`.
    pub fn note(&mut self, m: &Module, op: OpId, what: &'static str, why: impl Into<String>) {
        if COPIES.contains(&what) {
            self.waited.insert(op);
        }
        self.notes.missed.push(Missed {
            kernel: self.kernel.clone(),
            what,
            why: why.into(),
            loc: m.op(op).loc,
        });
    }

    /// Whether a load or a loop is known not to be started ahead by one of [`COPIES`], at least.
    pub fn is_waited_for(&self, op: OpId) -> bool {
        self.waited.contains(&op)
    }

    /// `what` was done to an operation at `loc`.
    pub fn changed(&mut self, loc: LocId, what: &'static str, how: impl Into<String>) {
        self.notes.changed.push(Changed {
            kernel: self.kernel.clone(),
            what,
            how: how.into(),
            loc,
        });
    }

    pub fn into_notes(self) -> Notes {
        self.notes
    }
}
