//! The border to C: what every exported function does besides its work.

use crate::settings::{say, settings};
use crate::status::{Result, Status};
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Runs a function's work, logs it, and keeps panics (which are bugs here) from crossing into C.
pub fn answer(name: &'static str, work: impl FnOnce() -> Result) -> Status {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let status = match outcome {
        Ok(Ok(())) => Status::SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => {
            say(format_args!(
                "{name}: internal error: the emulation panicked"
            ));
            Status::UNKNOWN
        }
    };
    if settings().logs() {
        settings().log(format_args!("{name} -> {}", status.0));
    }
    status
}

/// What a function that is not emulated does: it names itself, once, and says that it is not supported.
pub fn unsupported(name: &'static str) -> Status {
    static SAID: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(|p| p.into_inner());
    if said.insert(name) {
        say(format_args!(
            "{name} is not emulated: CUDA_ERROR_NOT_SUPPORTED"
        ));
    }
    Status::NOT_SUPPORTED
}

/// Refuses an argument, and says why.
pub fn refuse<T>(status: Status, why: impl std::fmt::Display) -> Result<T> {
    say(format_args!("{why}"));
    Err(status)
}

/// Stores a result where the caller wants it.
///
/// # Safety
/// `to` is null or can be written.
pub unsafe fn put<T>(to: *mut T, value: T) -> Result {
    if to.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the caller's promise; C's pointers need not be aligned for us.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// Stores a result if the caller wants it.
///
/// # Safety
/// As [`put`].
pub unsafe fn put_if<T>(to: *mut T, value: T) {
    // SAFETY: the caller's promise.
    let _ = unsafe { put(to, value) };
}

/// Reads what an argument points to.
///
/// # Safety
/// `from` is null or points to a `T`.
pub unsafe fn get<T: Copy>(from: *const T) -> Result<T> {
    if from.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { from.read_unaligned() })
}

/// A list that an argument points to.
///
/// # Safety
/// `from` points to `count` elements, or `count` is 0.
pub unsafe fn list<T: Copy>(from: *const T, count: usize) -> Result<Vec<T>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if from.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    Ok((0..count)
        .map(|i| unsafe { from.add(i).read_unaligned() })
        .collect())
}

/// A name.
///
/// # Safety
/// `from` is null or a NUL-terminated string.
pub unsafe fn text(from: *const c_char) -> Result<String> {
    if from.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(from) };
    Ok(text.to_string_lossy().into_owned())
}
