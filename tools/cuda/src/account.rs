//! How much of a pool is in use.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How much of a pool is in use.
#[derive(Debug, Default)]
pub struct Account {
    /// bytes now
    pub used: AtomicU64,
    /// most bytes so far
    pub high: AtomicU64,
}

impl Account {
    /// A block was allocated.
    pub fn take(&self, bytes: u64) {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        self.high.fetch_max(used, Relaxed);
    }

    /// A block was freed.
    pub fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
    }
}
