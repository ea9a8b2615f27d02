//! What was considered for a kernel and not done, and why.

use crate::ir::{LocId, Module, OpId};

/// Something that the target has and an operation did not get.
#[derive(Clone, Debug)]
pub struct Missed {
    /// Name of the kernel.
    pub kernel: String,
    /// What was considered: "tensor copies", "asynchronous copies", "pipeline through registers", "wgmma".
    pub what: &'static str,
    pub why: String,
    /// The operation that stood against it.
    pub loc: LocId,
}

/// The operation that stands against something, and why.
pub type Refusal = (OpId, String);

/// Collects for one kernel.
#[derive(Debug, Default)]
pub struct Log {
    kernel: String,
    missed: Vec<Missed>,
}

impl Log {
    pub fn new(kernel: String) -> Self {
        Self {
            kernel,
            missed: Vec::new(),
        }
    }

    /// `what` was not done because of `op`.
    pub fn note(&mut self, m: &Module, op: OpId, what: &'static str, why: impl Into<String>) {
        self.missed.push(Missed {
            kernel: self.kernel.clone(),
            what,
            why: why.into(),
            loc: m.op(op).loc,
        });
    }

    pub fn into_missed(self) -> Vec<Missed> {
        self.missed
    }
}
