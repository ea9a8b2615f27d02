//! The border to C: results, and the last error of a thread.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// A `cudaError_t` that is not `cudaSuccess`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error(pub i32);

/// What a function of the runtime does, or why not.
pub type Result<T = ()> = std::result::Result<T, Error>;

impl Error {
    /// `cudaErrorInvalidValue`
    pub const INVALID_VALUE: Error = Error(1);
    /// `cudaErrorInvalidConfiguration`
    pub const INVALID_CONFIGURATION: Error = Error(9);
    /// `cudaErrorInvalidSymbol`
    pub const INVALID_SYMBOL: Error = Error(13);
    /// `cudaErrorInvalidMemcpyDirection`
    pub const INVALID_DIRECTION: Error = Error(21);
    /// `cudaErrorInsufficientDriver`
    pub const INSUFFICIENT_DRIVER: Error = Error(35);
    /// `cudaErrorMissingConfiguration`
    pub const MISSING_CONFIGURATION: Error = Error(52);
    /// `cudaErrorInvalidDeviceFunction`
    pub const INVALID_FUNCTION: Error = Error(98);
    /// `cudaErrorInvalidDevice`
    pub const INVALID_DEVICE: Error = Error(101);
    /// `cudaErrorSymbolNotFound`
    pub const SYMBOL_NOT_FOUND: Error = Error(500);
    /// `cudaErrorNotSupported`
    pub const NOT_SUPPORTED: Error = Error(801);
    /// `cudaErrorUnknown`
    pub const UNKNOWN: Error = Error(999);
}

thread_local! {
    static LAST: Cell<i32> = const { Cell::new(0) };
}

/// The thread's last error; `clear` forgets it.
pub fn last(clear: bool) -> i32 {
    match clear {
        true => LAST.replace(0),
        false => LAST.get(),
    }
}

/// Runs a function's work, remembers its error, and keeps panics (which are bugs here) from crossing into C.
pub fn answer(work: impl FnOnce() -> Result) -> i32 {
    match catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Error::UNKNOWN)) {
        Ok(()) => 0,
        Err(Error(number)) => {
            LAST.set(number);
            number
        }
    }
}

/// The driver's result: its numbers mean the same here.
pub fn check(status: i32) -> Result {
    match status {
        0 => Ok(()),
        number => Err(Error(number)),
    }
}

/// What a function that is not there does: it names itself, once, and says that it is not supported.
pub fn unsupported(name: &'static str) -> i32 {
    static SAID: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(|p| p.into_inner());
    if said.insert(name) {
        eprintln!("tilec emulate: {name} is not there: cudaErrorNotSupported");
    }
    answer(|| Err(Error::NOT_SUPPORTED))
}

/// Stores a result where the caller wants it.
///
/// # Safety
/// `to` is null or can be written.
pub unsafe fn put<T>(to: *mut T, value: T) -> Result {
    if to.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// Reads what an argument points to.
///
/// # Safety
/// `from` is null or points to a `T`.
pub unsafe fn get<T: Copy>(from: *const T) -> Result<T> {
    if from.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { from.read_unaligned() })
}

/// A name.
///
/// # Safety
/// `from` is null or a NUL-terminated string.
pub unsafe fn text(from: *const c_char) -> Result<&'static CStr> {
    if from.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { CStr::from_ptr(from) })
}

/// Exports functions: the bodies are `Result`s, and run inside [`answer`].
macro_rules! export {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            // Some bodies touch no pointer.
            #[allow(unused_unsafe, missing_docs, clippy::missing_safety_doc, clippy::too_many_arguments)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $ty),*) -> i32 {
                // SAFETY: the body relies on what the documentation asks of the caller, and on nothing else.
                crate::call::answer(|| unsafe { $body })
            }
        )*
    };
}
