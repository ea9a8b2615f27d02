//! Pools of memory: what is counted and set by pool. The memory itself comes from the process, and goes back to it.

use crate::account::Account;
use crate::context::live;
use crate::device;
use crate::handles::{Handle, Handles, fresh};
use crate::memory::{self, Block};
use crate::status::{Result, Status};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A pool, of a device.
pub struct Pool {
    /// the device
    pub device: i32,
    /// its handle
    pub handle: Handle,
    account: Arc<Account>,
    /// `REUSE_…`, attributes 1 to 3
    reuse: [AtomicI32; 3],
    /// bytes to keep when they are free; nothing is kept here, and the program may ask for what it set
    threshold: AtomicU64,
}

/// An attribute's value.
#[derive(Debug, PartialEq, Eq)]
pub enum Value {
    /// `int` and enumerations
    Int(i32),
    /// `cuuint64_t`
    Long(u64),
}

static POOLS: Handles<Pool> = Handles::new();
/// The pools that `cuMemAllocAsync` takes from, by device, where the program has chosen one.
static CURRENT: Mutex<BTreeMap<i32, Handle>> = Mutex::new(BTreeMap::new());

/// A new pool of a device.
pub fn create(device: i32) -> Result<Arc<Pool>> {
    // The first is the device's own.
    default(device)?;
    Ok(add(device))
}

fn add(device: i32) -> Arc<Pool> {
    let pool = Arc::new(Pool {
        device,
        handle: fresh(),
        account: Arc::default(),
        reuse: [1, 1, 1].map(AtomicI32::new),
        threshold: AtomicU64::new(0),
    });
    POOLS.add(pool.handle, Arc::clone(&pool));
    pool
}

/// The pool that a device has from the start: its first.
pub fn default(device: i32) -> Result<Arc<Pool>> {
    device::check(device)?;
    let found = POOLS.all().into_iter().find(|p| p.device == device);
    Ok(found.unwrap_or_else(|| add(device)))
}

/// The pool of a handle.
pub fn get(handle: Handle) -> Result<Arc<Pool>> {
    POOLS.get(handle)
}

/// The pool that a device's allocations come from.
pub fn current(device: i32) -> Result<Arc<Pool>> {
    let chosen = CURRENT.lock().unwrap_or_else(|p| p.into_inner());
    match chosen.get(&device).map(|&handle| get(handle)) {
        Some(Ok(pool)) => Ok(pool),
        _ => default(device),
    }
}

/// Has a device's allocations come from a pool.
pub fn choose(device: i32, handle: Handle) -> Result {
    device::check(device)?;
    if get(handle)?.device != device {
        return Err(Status::INVALID_VALUE);
    }
    let mut chosen = CURRENT.lock().unwrap_or_else(|p| p.into_inner());
    chosen.insert(device, handle);
    Ok(())
}

/// Ends a pool. A device whose allocations came from it takes its own again; its own cannot be ended.
pub fn destroy(handle: Handle) -> Result {
    let pool = get(handle)?;
    if default(pool.device)?.handle == handle {
        return Err(Status::INVALID_VALUE);
    }
    POOLS.remove(handle).map(drop)
}

impl Pool {
    /// New zeroed memory.
    pub fn allocate(&self, bytes: u64, context: Handle) -> Result<Arc<Block>> {
        memory::pooled(bytes, context, &self.account)
    }

    /// An attribute, by its number in `CUmemPool_attribute`.
    pub fn attribute(&self, number: i32) -> Result<Value> {
        const PINNED: i32 = 1;
        const ON_DEVICE: i32 = 1;
        Ok(match number {
            1..=3 => Value::Int(self.reuse[number as usize - 1].load(Relaxed)),
            4 => Value::Long(self.threshold.load(Relaxed)),
            // What is reserved is what is used.
            5 | 7 => Value::Long(self.account.used.load(Relaxed)),
            6 | 8 => Value::Long(self.account.high.load(Relaxed)),
            9 => Value::Int(PINNED),
            11 => Value::Int(self.device),
            12 => Value::Int(ON_DEVICE),
            // Kinds of handles to export, and decompression in hardware: none. Size: no limit.
            10 | 14 => Value::Int(0),
            13 => Value::Long(0),
            // In no locality domain.
            15 => Value::Int(-1),
            _ => return Err(Status::INVALID_VALUE),
        })
    }

    /// Sets an attribute. A high-water mark can be set to 0 alone: to what is in use.
    pub fn set(&self, number: i32, value: Value) -> Result {
        match (number, value) {
            (1..=3, Value::Int(value)) => self.reuse[number as usize - 1].store(value, Relaxed),
            (4, Value::Long(bytes)) => self.threshold.store(bytes, Relaxed),
            (6 | 8, Value::Long(0)) => {
                let used = self.account.used.load(Relaxed);
                self.account.high.store(used, Relaxed);
            }
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }
}

/// The device that a new pool's location means: its number where it is one, the current context's for the host.
pub fn place(kind: i32, number: i32) -> Result<i32> {
    const DEVICE: i32 = 1;
    match kind {
        DEVICE => device::check(number).map(|()| number),
        _ => Ok(live()?.device),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pool_counts_its_own() {
        let (one, other) = (create(0).unwrap(), create(0).unwrap());
        let used = |pool: &Pool| (pool.attribute(7).unwrap(), pool.attribute(8).unwrap());
        let block = one.allocate(1000, 0).unwrap();
        assert_eq!(used(&one), (Value::Long(1000), Value::Long(1000)));
        assert_eq!(used(&other), (Value::Long(0), Value::Long(0)));
        let base = block.base;
        drop(block);
        memory::release(base, &[memory::Kind::Device], Status::INVALID_VALUE).unwrap();
        assert_eq!(used(&one), (Value::Long(0), Value::Long(1000)));
        assert_eq!(one.set(8, Value::Long(1)), Err(Status::INVALID_VALUE));
        one.set(8, Value::Long(0)).unwrap();
        assert_eq!(used(&one), (Value::Long(0), Value::Long(0)));
    }

    #[test]
    fn a_device_goes_back_to_its_own_pool() {
        let own = default(0).unwrap().handle;
        let pool = create(0).unwrap().handle;
        choose(0, pool).unwrap();
        assert_eq!(current(0).unwrap().handle, pool);
        destroy(pool).unwrap();
        assert_eq!(current(0).unwrap().handle, own);
        assert_eq!(destroy(own), Err(Status::INVALID_VALUE));
    }
}
