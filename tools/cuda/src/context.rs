//! Contexts: one primary context per device, and those that programs make; which one is current in a thread; and the
//! error that a kernel has left in one, which every later call returns.

use crate::device;
use crate::handles::{Handle, Handles, fresh};
use crate::status::{Result, Status};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A context.
pub struct Context {
    /// its handle
    pub handle: Handle,
    /// the device that it is of
    pub device: i32,
    /// flags it was made with
    pub flags: AtomicU32,
    /// limits that were set, by number
    pub limits: Mutex<Vec<(i32, u64)>>,
    error: AtomicI32,
    destroyed: AtomicBool,
}

static CONTEXTS: Handles<Context> = Handles::new();
static PRIMARY: Mutex<Vec<(Arc<Context>, u32)>> = Mutex::new(Vec::new());
static INITIALISED: AtomicBool = AtomicBool::new(false);

// The stack of a thread's contexts, its top apart: programs call the driver from the destructors of their own
// thread-local values, when values that need one themselves (`BELOW`) are gone, and a `Cell` of a number is not.
thread_local! {
    static CURRENT: Cell<Handle> = const { Cell::new(0) };
    static BELOW: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

impl Context {
    /// The error that a kernel has left.
    pub fn healthy(&self) -> Result {
        if self.destroyed.load(Relaxed) {
            return Err(Status(709));
        }
        match self.error.load(Relaxed) {
            0 => Ok(()),
            error => Err(Status(error)),
        }
    }

    /// Remembers an error for all later calls.
    pub fn fail(&self, status: Status) {
        let _ = self.error.compare_exchange(0, status.0, Relaxed, Relaxed);
    }
}

/// `cuInit`
pub fn initialise() {
    INITIALISED.store(true, Relaxed);
}

/// Whether `cuInit` was called.
pub fn initialised() -> Result {
    match INITIALISED.load(Relaxed) {
        true => Ok(()),
        false => Err(Status::NOT_INITIALIZED),
    }
}

/// Makes a context of a device.
pub fn create(device: i32, flags: u32) -> Result<Arc<Context>> {
    device::check(device)?;
    let context = Arc::new(Context {
        handle: fresh(),
        device,
        flags: AtomicU32::new(flags),
        limits: Mutex::default(),
        error: AtomicI32::new(0),
        destroyed: AtomicBool::new(false),
    });
    CONTEXTS.add(context.handle, Arc::clone(&context));
    Ok(context)
}

/// Ends a context.
pub fn destroy(handle: Handle) -> Result {
    let context = CONTEXTS
        .remove(handle)
        .map_err(|_| Status::INVALID_CONTEXT)?;
    context.destroyed.store(true, Relaxed);
    if CURRENT.get() == handle {
        uncover();
    }
    Ok(())
}

/// Takes the current context off: the one below it becomes current.
fn uncover() -> Handle {
    let below = BELOW.try_with(|below| below.borrow_mut().pop());
    CURRENT.replace(below.ok().flatten().unwrap_or(0))
}

/// The primary context of a device, with one more user.
pub fn retain(device: i32) -> Result<Arc<Context>> {
    let primary = primary(device)?;
    let mut all = PRIMARY.lock().unwrap_or_else(|p| p.into_inner());
    for (context, users) in all.iter_mut() {
        *users += u32::from(context.handle == primary.handle);
    }
    Ok(primary)
}

/// The primary context of a device.
pub fn primary(device: i32) -> Result<Arc<Context>> {
    device::check(device)?;
    let mut all = PRIMARY.lock().unwrap_or_else(|p| p.into_inner());
    if let Some((context, _)) = all.iter().find(|(c, _)| c.device == device) {
        return Ok(Arc::clone(context));
    }
    let context = create(device, 0)?;
    all.push((Arc::clone(&context), 0));
    Ok(context)
}

/// One user of a device's primary context less; without users, or when it is `reset`, its error is forgotten.
pub fn give_up(device: i32, reset: bool) -> Result {
    device::check(device)?;
    let mut all = PRIMARY.lock().unwrap_or_else(|p| p.into_inner());
    let found = all.iter_mut().find(|(c, _)| c.device == device);
    let Some((context, users)) = found else {
        return Err(Status::INVALID_CONTEXT);
    };
    *users = users.saturating_sub(u32::from(!reset));
    if reset || *users == 0 {
        context.error.store(0, Relaxed);
    }
    Ok(())
}

/// Whether a device's primary context has users, and its flags.
pub fn state(device: i32) -> Result<(bool, u32)> {
    device::check(device)?;
    let all = PRIMARY.lock().unwrap_or_else(|p| p.into_inner());
    let found = all.iter().find(|(c, _)| c.device == device);
    Ok(found.map_or((false, 0), |(c, users)| (*users > 0, c.flags.load(Relaxed))))
}

/// The context of a handle.
pub fn get(handle: Handle) -> Result<Arc<Context>> {
    CONTEXTS.get(handle).map_err(|_| Status::INVALID_CONTEXT)
}

/// The thread's current context, if it has one.
pub fn current_handle() -> Option<Handle> {
    Some(CURRENT.get()).filter(|&handle| handle != 0)
}

/// The thread's current context, whatever has happened in it.
pub fn current() -> Result<Arc<Context>> {
    initialised()?;
    get(current_handle().ok_or(Status::INVALID_CONTEXT)?)
}

/// The thread's current context, in which nothing has failed.
pub fn live() -> Result<Arc<Context>> {
    let context = current()?;
    context.healthy()?;
    Ok(context)
}

/// The context given, or the current one where none is.
pub fn or_current(handle: Handle) -> Result<Arc<Context>> {
    match handle {
        0 => current(),
        handle => get(handle),
    }
}

/// Makes a context current, on top of those before.
pub fn push(handle: Handle) -> Result {
    get(handle)?;
    let covered = CURRENT.replace(handle);
    if covered != 0 {
        // Where it is gone, the thread ends: nothing will ask for what is below.
        let _ = BELOW.try_with(|below| below.borrow_mut().push(covered));
    }
    Ok(())
}

/// Takes the current context off.
pub fn pop() -> Result<Handle> {
    match uncover() {
        0 => Err(Status::INVALID_CONTEXT),
        handle => Ok(handle),
    }
}

/// Replaces the current context; 0 takes it off.
pub fn set(handle: Handle) -> Result {
    if handle != 0 {
        get(handle)?;
    }
    match handle {
        0 => drop(uncover()),
        handle => CURRENT.set(handle),
    }
    Ok(())
}
