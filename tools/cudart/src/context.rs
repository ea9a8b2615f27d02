//! Which device and context a thread works with. The runtime has no contexts of its own: it uses the one that is
//! current, and makes the primary context of the thread's device current where there is none.

use crate::call::{Error, Result};
use crate::driver::{self, VERSION};
use std::cell::Cell;
use std::sync::{Mutex, OnceLock};

thread_local! {
    static DEVICE: Cell<i32> = const { Cell::new(0) };
}

/// The primary contexts that are held, by device.
static HELD: Mutex<Vec<(i32, u64)>> = Mutex::new(Vec::new());

/// Starts the driver, once.
pub fn initialise() -> Result {
    static STARTED: OnceLock<Result> = OnceLock::new();
    *STARTED.get_or_init(|| {
        let mut version = 0;
        // SAFETY: a place to write to.
        unsafe {
            driver::cuDriverGetVersion(&mut version)?;
            if version < VERSION {
                return Err(Error::INSUFFICIENT_DRIVER);
            }
            driver::cuInit(0)
        }
    })
}

/// The context that is current, or 0.
pub fn current() -> Result<u64> {
    let mut context = 0;
    // SAFETY: a place to write to.
    unsafe { driver::cuCtxGetCurrent(&mut context)? };
    Ok(context)
}

/// Makes sure that a context is current.
pub fn enter() -> Result {
    initialise()?;
    match current()? {
        0 => activate(DEVICE.get()),
        _ => Ok(()),
    }
}

/// The primary context of a device, held until the process ends.
pub fn primary(device: i32) -> Result<u64> {
    initialise()?;
    let mut held = HELD.lock().unwrap_or_else(|p| p.into_inner());
    if let Some((_, context)) = held.iter().find(|h| h.0 == device) {
        return Ok(*context);
    }
    let mut context = 0;
    // SAFETY: a place to write to.
    unsafe { driver::cuDevicePrimaryCtxRetain(&mut context, device)? };
    held.push((device, context));
    Ok(context)
}

/// Makes the primary context of a device current.
pub fn activate(device: i32) -> Result {
    let context = primary(device)?;
    // SAFETY: a context of the driver's.
    unsafe { driver::cuCtxSetCurrent(context)? };
    DEVICE.set(device);
    Ok(())
}

/// The device that the thread works with.
pub fn device() -> Result<i32> {
    initialise()?;
    let mut device = DEVICE.get();
    if current()? != 0 {
        // SAFETY: a place to write to; 0 is the current context.
        unsafe { driver::cuCtxGetDevice(&mut device, 0)? };
    }
    Ok(device)
}

/// Forgets all of a device's primary context.
pub fn reset() -> Result {
    let device = device()?;
    // SAFETY: a device's number.
    unsafe { driver::cuDevicePrimaryCtxReset(device) }
}
