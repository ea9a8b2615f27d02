//! Memory in the order of streams, and the pools that it comes from.

use crate::call::{get, put, put_if};
use crate::context;
use crate::memory::{self, Kind};
use crate::pool::{self, Value};
use crate::status::{Result, Status};
use crate::stream;
use std::ffi::c_void;

/// The first fields of `CUmemPoolProps`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Properties {
    _allocation: i32,
    _handles: i32,
    location: i32,
    number: i32,
}

/// Memory of a pool, or of the pool that the stream's device takes from.
fn allocate(bytes: u64, pool: Option<u64>, stream: u64) -> Result<u64> {
    let context = &stream::get(stream)?.context;
    context.healthy()?;
    let pool = match pool {
        Some(handle) => pool::get(handle)?,
        None => pool::current(context.device)?,
    };
    Ok(pool.allocate(bytes, context.handle)?.base)
}

export! {
    cuMemAllocAsync(to: *mut u64, bytes: u64, stream: u64) {
        put(to, allocate(bytes, None, stream)?)
    }

    cuMemAllocFromPoolAsync(to: *mut u64, bytes: u64, pool: u64, stream: u64) {
        put(to, allocate(bytes, Some(pool), stream)?)
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

    cuMemPoolCreate(to: *mut u64, properties: *const c_void) {
        let properties = get(properties.cast::<Properties>())?;
        let device = pool::place(properties.location, properties.number)?;
        put(to, pool::create(device)?.handle)
    }

    cuMemPoolDestroy(handle: u64) {
        pool::destroy(handle)
    }

    cuMemPoolTrimTo(handle: u64, _bytes: u64) {
        pool::get(handle).map(drop)
    }

    cuMemPoolSetAttribute(handle: u64, number: i32, value: *const c_void) {
        let value = match number {
            1..=3 => Value::Int(get(value.cast())?),
            _ => Value::Long(get(value.cast())?),
        };
        pool::get(handle)?.set(number, value)
    }

    cuMemPoolGetAttribute(handle: u64, number: i32, to: *mut c_void) {
        match pool::get(handle)?.attribute(number)? {
            Value::Int(value) => put(to.cast(), value),
            Value::Long(value) => put(to.cast(), value),
        }
    }

    cuMemPoolSetAccess(handle: u64, _descriptions: *const c_void, _count: u64) {
        pool::get(handle).map(drop)
    }

    cuMemPoolGetAccess(flags: *mut i32, handle: u64, _location: *const c_void) {
        pool::get(handle)?;
        put_if(flags, 3);
        Ok(())
    }

    cuDeviceGetDefaultMemPool(to: *mut u64, device: i32) {
        context::initialised()?;
        put(to, pool::default(device)?.handle)
    }

    cuDeviceGetMemPool(to: *mut u64, device: i32) {
        context::initialised()?;
        put(to, pool::current(device)?.handle)
    }

    cuDeviceSetMemPool(device: i32, pool: u64) {
        pool::choose(device, pool)
    }
}
