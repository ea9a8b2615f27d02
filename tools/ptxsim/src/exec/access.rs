//! What is said of an access to global memory.

use crate::check::Agent;

/// How an access uses global memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct GlobalUse {
    /// it writes
    pub store: bool,
    /// lanes whose store leaves memory as it is
    pub same: u32,
    /// the asynchronous operation that does it
    pub agent: Option<Agent>,
}
