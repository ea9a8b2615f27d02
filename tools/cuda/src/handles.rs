//! Handles: numbers that stand for objects towards C. None is used twice, so that a handle whose object is gone is found
//! out.

use crate::status::{Result, Status};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// An opaque pointer of `cuda.h`, as a number.
pub type Handle = u64;

static NEXT: AtomicU64 = AtomicU64::new(0x10_0000);

/// A number that nothing had before. It looks like an aligned pointer, and like none of the special handles of `cuda.h`.
pub fn fresh() -> Handle {
    NEXT.fetch_add(16, Ordering::Relaxed)
}

/// The live objects of one kind.
pub struct Handles<T>(Mutex<BTreeMap<Handle, Arc<T>>>);

impl<T> Handles<T> {
    /// None yet.
    pub const fn new() -> Handles<T> {
        Handles(Mutex::new(BTreeMap::new()))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Handle, Arc<T>>> {
        self.0.lock().unwrap_or_else(|p| p.into_inner())
    }

    /// Adds an object under a number from [`fresh`].
    pub fn add(&self, handle: Handle, object: Arc<T>) {
        self.lock().insert(handle, object);
    }

    /// The object of a handle.
    pub fn get(&self, handle: Handle) -> Result<Arc<T>> {
        self.lock()
            .get(&handle)
            .cloned()
            .ok_or(Status::INVALID_HANDLE)
    }

    /// Takes an object out; who uses it still has it.
    pub fn remove(&self, handle: Handle) -> Result<Arc<T>> {
        self.lock().remove(&handle).ok_or(Status::INVALID_HANDLE)
    }

    /// All objects.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.lock().values().cloned().collect()
    }
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self::new()
    }
}
