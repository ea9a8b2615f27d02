//! Memory in the order of streams. A pool is a name here: memory comes from the process, and goes back to it.

use crate::call::{put, put_if};
use crate::context::{self, live};
use crate::device;
use crate::handles::{Handles, fresh};
use crate::memory::{self, Kind};
use crate::status::{Result, Status};
use crate::stream;
use std::ffi::c_void;
use std::sync::Arc;

/// A pool, of a device.
struct Pool {
    device: i32,
    handle: u64,
}

static POOLS: Handles<Pool> = Handles::new();

fn create(device: i32) -> Arc<Pool> {
    let pool = Arc::new(Pool {
        device,
        handle: fresh(),
    });
    POOLS.add(pool.handle, Arc::clone(&pool));
    pool
}

/// The pool that a device has from the start: its first.
fn default(device: i32) -> Result<u64> {
    device::check(device)?;
    let found = POOLS.all().into_iter().find(|p| p.device == device);
    Ok(found.unwrap_or_else(|| create(device)).handle)
}

fn allocate(bytes: u64, stream: u64) -> Result<u64> {
    let context = &stream::get(stream)?.context;
    context.healthy()?;
    Ok(memory::allocate(bytes, Kind::Device, context.handle)?.base)
}

export! {
    cuMemAllocAsync(to: *mut u64, bytes: u64, stream: u64) {
        put(to, allocate(bytes, stream)?)
    }

    cuMemAllocFromPoolAsync(to: *mut u64, bytes: u64, pool: u64, stream: u64) {
        POOLS.get(pool)?;
        put(to, allocate(bytes, stream)?)
    }

    cuMemFreeAsync(address: u64, stream: u64) {
        if address == 0 {
            return Ok(());
        }
        let stream = stream::get(stream)?;
        if stream.capture().is_none() {
            stream.synchronise()?;
        }
        memory::release(address, &[Kind::Device], Status::INVALID_VALUE)
    }

    cuMemPoolCreate(to: *mut u64, _properties: *const c_void) {
        let device = live()?.device;
        default(device)?;
        put(to, create(device).handle)
    }

    cuMemPoolDestroy(handle: u64) {
        POOLS.remove(handle).map(drop)
    }

    cuMemPoolTrimTo(handle: u64, _bytes: u64) {
        POOLS.get(handle).map(drop)
    }

    cuMemPoolSetAttribute(handle: u64, _number: i32, _value: *const c_void) {
        POOLS.get(handle).map(drop)
    }

    cuMemPoolGetAttribute(handle: u64, number: i32, to: *mut c_void) {
        POOLS.get(handle)?;
        match number {
            // Permissions for reuse.
            1..=3 => put(to.cast::<i32>(), 1),
            5..=8 => put(to.cast::<u64>(), memory::used()),
            _ => put(to.cast::<u64>(), 0),
        }
    }

    cuMemPoolSetAccess(handle: u64, _descriptions: *const c_void, _count: u64) {
        POOLS.get(handle).map(drop)
    }

    cuMemPoolGetAccess(flags: *mut i32, handle: u64, _location: *const c_void) {
        POOLS.get(handle)?;
        put_if(flags, 3);
        Ok(())
    }

    cuDeviceGetDefaultMemPool(to: *mut u64, device: i32) {
        context::initialised()?;
        put(to, default(device)?)
    }

    cuDeviceGetMemPool(to: *mut u64, device: i32) {
        context::initialised()?;
        put(to, default(device)?)
    }

    cuDeviceSetMemPool(device: i32, pool: u64) {
        device::check(device)?;
        POOLS.get(pool).map(drop)
    }
}
