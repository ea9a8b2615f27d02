//! Which clusters of a grid have started.

use std::sync::atomic::{AtomicU64, Ordering};

/// Which clusters of a grid have not started. The order is part of the seed.
#[derive(Debug)]
pub struct Starts {
    total: u64,
    rotation: u64,
    next: AtomicU64,
    cancelled: AtomicU64,
    /// these alone start
    only: Option<Vec<u64>>,
}

impl Starts {
    /// All of `total`, cluster `rotation` first.
    pub fn new(total: u64, rotation: u64) -> Starts {
        Starts {
            total,
            rotation,
            next: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            only: None,
        }
    }

    /// Some alone. The others do not exist, but for the kernel's own numbers.
    pub fn only(clusters: Vec<u64>) -> Starts {
        Starts {
            total: clusters.len() as u64,
            only: Some(clusters),
            ..Starts::new(0, 0)
        }
    }

    /// The next cluster: it counts as started.
    pub fn take(&self) -> Option<u64> {
        let step = |n: u64| (n < self.total).then_some(n + 1);
        let n = self
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, step)
            .ok()?;
        match &self.only {
            Some(clusters) => clusters.get(n as usize).copied(),
            None => Some((n + self.rotation) % self.total),
        }
    }

    /// True while some are left.
    pub fn any(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.total
    }

    /// Clusters that will never start.
    pub fn cancelled(&self) -> u64 {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The next cluster, which will not start.
    pub(super) fn cancel(&self) -> Option<u64> {
        if self.only.is_some() {
            return None;
        }
        let serial = self.take()?;
        self.cancelled.fetch_add(1, Ordering::Relaxed);
        Some(serial)
    }
}
