//! Contexts: primary ones, made ones, the current one.

use crate::call::{put, put_if};
use crate::context::{self, current, live, or_current};
use crate::status::Status;
use crate::stream;
use std::sync::atomic::Ordering::Relaxed;

/// `CUlimit` values that there are, with what a driver has at first.
const LIMITS: &[(i32, u64)] = &[
    (0, 1024),
    (1, 1 << 20),
    (2, 8 << 20),
    (3, 2),
    (4, 2048),
    (5, 64),
    (6, 0),
];

export! {
    cuDevicePrimaryCtxRetain(to: *mut u64, device: i32) {
        context::initialised()?;
        put(to, context::retain(device)?.handle)
    }

    cuDevicePrimaryCtxRelease(device: i32) {
        context::give_up(device, false)
    }

    cuDevicePrimaryCtxRelease_v2(device: i32) {
        context::give_up(device, false)
    }

    cuDevicePrimaryCtxReset(device: i32) {
        context::give_up(device, true)
    }

    cuDevicePrimaryCtxReset_v2(device: i32) {
        context::give_up(device, true)
    }

    cuDevicePrimaryCtxSetFlags(device: i32, flags: u32) {
        context::primary(device)?.flags.store(flags, Relaxed);
        Ok(())
    }

    cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) {
        context::primary(device)?.flags.store(flags, Relaxed);
        Ok(())
    }

    cuDevicePrimaryCtxGetState(device: i32, flags: *mut u32, active: *mut i32) {
        let (is_active, value) = context::state(device)?;
        put_if(flags, value);
        put(active, i32::from(is_active))
    }

    cuCtxCreate(to: *mut u64, flags: u32, device: i32) {
        context::initialised()?;
        let made = context::create(device, flags)?;
        context::push(made.handle)?;
        put(to, made.handle)
    }

    cuCtxCreate_v2(to: *mut u64, flags: u32, device: i32) {
        context::initialised()?;
        let made = context::create(device, flags)?;
        context::push(made.handle)?;
        put(to, made.handle)
    }

    cuCtxCreate_v3(to: *mut u64, _affinity: u64, _count: i32, flags: u32, device: i32) {
        context::initialised()?;
        let made = context::create(device, flags)?;
        context::push(made.handle)?;
        put(to, made.handle)
    }

    cuCtxCreate_v4(to: *mut u64, _params: u64, flags: u32, device: i32) {
        context::initialised()?;
        let made = context::create(device, flags)?;
        context::push(made.handle)?;
        put(to, made.handle)
    }

    cuCtxDestroy(handle: u64) {
        context::destroy(handle)
    }

    cuCtxDestroy_v2(handle: u64) {
        context::destroy(handle)
    }

    cuCtxGetCurrent(to: *mut u64) {
        context::initialised()?;
        put(to, context::current_handle().unwrap_or(0))
    }

    cuCtxSetCurrent(handle: u64) {
        context::initialised()?;
        context::set(handle)
    }

    cuCtxPushCurrent(handle: u64) {
        context::push(handle)
    }

    cuCtxPushCurrent_v2(handle: u64) {
        context::push(handle)
    }

    cuCtxPopCurrent(to: *mut u64) {
        let popped = context::pop()?;
        put_if(to, popped);
        Ok(())
    }

    cuCtxPopCurrent_v2(to: *mut u64) {
        let popped = context::pop()?;
        put_if(to, popped);
        Ok(())
    }

    cuCtxGetDevice(to: *mut i32) {
        put(to, current()?.device)
    }

    cuCtxGetDevice_v2(to: *mut i32, handle: u64) {
        put(to, or_current(handle)?.device)
    }

    cuCtxGetFlags(to: *mut u32) {
        put(to, current()?.flags.load(Relaxed))
    }

    cuCtxSetFlags(flags: u32) {
        current()?.flags.store(flags, Relaxed);
        Ok(())
    }

    cuCtxGetId(handle: u64, to: *mut u64) {
        put(to, or_current(handle)?.handle)
    }

    cuCtxGetApiVersion(handle: u64, to: *mut u32) {
        or_current(handle)?;
        put(to, 3020)
    }

    cuCtxSynchronize() {
        stream::synchronise_all(&current()?)
    }

    cuCtxSynchronize_v2(handle: u64) {
        stream::synchronise_all(&or_current(handle)?)
    }

    cuCtxGetLimit(to: *mut u64, limit: i32) {
        let context = current()?;
        let set = context.limits.lock().unwrap_or_else(|p| p.into_inner());
        let found = set.iter().chain(LIMITS).find(|l| l.0 == limit);
        put(to, found.ok_or(Status::UNSUPPORTED_LIMIT)?.1)
    }

    cuCtxSetLimit(limit: i32, value: u64) {
        if !LIMITS.iter().any(|l| l.0 == limit) {
            return Err(Status::UNSUPPORTED_LIMIT);
        }
        let context = current()?;
        let mut set = context.limits.lock().unwrap_or_else(|p| p.into_inner());
        set.retain(|l| l.0 != limit);
        set.push((limit, value));
        Ok(())
    }

    cuCtxGetCacheConfig(to: *mut i32) {
        current()?;
        put(to, 0)
    }

    cuCtxSetCacheConfig(_config: i32) {
        current().map(drop)
    }

    cuCtxGetSharedMemConfig(to: *mut i32) {
        current()?;
        put(to, 1)
    }

    cuCtxSetSharedMemConfig(_config: i32) {
        current().map(drop)
    }

    cuCtxGetStreamPriorityRange(least: *mut i32, greatest: *mut i32) {
        current()?;
        put_if(least, 0);
        put_if(greatest, -5);
        Ok(())
    }

    cuCtxResetPersistingL2Cache() {
        current().map(drop)
    }

    cuCtxEnablePeerAccess(peer: u64, _flags: u32) {
        live()?;
        context::get(peer).map(drop)
    }

    cuCtxDisablePeerAccess(peer: u64) {
        live()?;
        context::get(peer).map(drop)
    }
}
