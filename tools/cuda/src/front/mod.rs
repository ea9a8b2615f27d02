//! The library in front of a real driver: `tilec launch`.
//!
//! Every function is the real driver's, found by the name of its symbol, but for those in [`hooks`]: they see images
//! being loaded, so that Tile IR is compiled for the GPU, and kernels of tilec being launched, so that block size, shared
//! memory and hidden tensor maps are what their manifest says.

mod hooks;
mod images;
mod kernels;
mod launch;
mod real;

use crate::status::Status;
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

/// The real driver's file; without it, the driver is emulated.
pub const DRIVER: &str = "TILEC_LAUNCH_DRIVER";
/// The target to compile Tile IR for, where it is not the newest that the GPU runs.
pub const GPU: &str = "TILEC_LAUNCH_GPU";
/// Tile kernels in fatbins are tilec's even where the driver could compile them.
pub const ALWAYS: &str = "TILEC_LAUNCH_ALWAYS";

unsafe extern "C" {
    fn dlopen(path: *const std::ffi::c_char, flags: i32) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const std::ffi::c_char) -> *mut c_void;
    fn dlerror() -> *const std::ffi::c_char;
    fn dladdr(address: *const c_void, info: *mut Info) -> i32;
}

/// `Dl_info`
#[repr(C)]
struct Info {
    path: *const std::ffi::c_char,
    base: *mut c_void,
    symbol: *const std::ffi::c_char,
    address: *mut c_void,
}

/// The real driver.
struct Real(*mut c_void);

// SAFETY: a handle of the loader, which any thread may use.
unsafe impl Send for Real {}
// SAFETY: as above.
unsafe impl Sync for Real {}

/// The file that this library is.
fn own_path() -> Option<std::path::PathBuf> {
    let mut info = Info {
        path: std::ptr::null(),
        base: std::ptr::null_mut(),
        symbol: std::ptr::null(),
        address: std::ptr::null_mut(),
    };
    // SAFETY: an address of this library, and a place to write to; the path is a string of the loader's.
    unsafe {
        if dladdr(own_path as *const c_void, &mut info) == 0 || info.path.is_null() {
            return None;
        }
        let path = CStr::from_ptr(info.path).to_string_lossy().into_owned();
        std::fs::canonicalize(path).ok()
    }
}

/// The real driver, if there is one behind this library. Behind itself there is none: then it is the real one.
fn real() -> Option<&'static Real> {
    static REAL: OnceLock<Option<Real>> = OnceLock::new();
    REAL.get_or_init(|| {
        let path = std::env::var_os(DRIVER).filter(|v| !v.is_empty())?;
        let path = std::fs::canonicalize(&path).unwrap_or_else(|_| path.into());
        if own_path().is_some_and(|own| own == path) {
            return None;
        }
        let name = std::ffi::CString::new(path.into_os_string().into_encoded_bytes()).ok()?;
        const NOW: i32 = 2;
        // SAFETY: strings.
        let library = unsafe { dlopen(name.as_ptr(), NOW) };
        if library.is_null() {
            // SAFETY: after a failure it is a string.
            let why = unsafe { CStr::from_ptr(dlerror()) };
            eprintln!(
                "tilec launch: the driver cannot be loaded: {}",
                why.to_string_lossy()
            );
        }
        crate::settings::stands_in_front();
        let real = Real(library);
        for stub in crate::table::STUBS {
            let found = hooks::find(stub.name).or_else(|| real.symbol(stub.name));
            if let Some(found) = found {
                stub.slot.store(found.cast_mut(), Relaxed);
            }
        }
        Some(real)
    })
    .as_ref()
}

impl Real {
    fn symbol(&self, name: &CStr) -> Option<*const c_void> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: a library, and a string.
        let found = unsafe { dlsym(self.0, name.as_ptr()) };
        (!found.is_null()).then_some(found.cast_const())
    }
}

/// What a function does that the real driver does not have.
extern "C" fn missing() -> Status {
    Status::NOT_FOUND
}

/// A function of the real driver's, or what is called in its place.
pub struct Slot {
    name: &'static str,
    found: OnceLock<Option<usize>>,
}

impl Slot {
    /// The function with this name, which ends with NUL.
    pub const fn new(name: &'static str) -> Slot {
        Slot {
            name,
            found: OnceLock::new(),
        }
    }

    /// Its address in front of a real driver; `None` where the driver is emulated.
    pub fn get(&self) -> Option<*const c_void> {
        let found = self.found.get_or_init(|| {
            let real = real()?;
            let name = CStr::from_bytes_with_nul(self.name.as_bytes()).ok()?;
            let hook = hooks::find(name);
            let found = hook.or_else(|| real.symbol(name));
            let missing = missing as extern "C" fn() -> Status as *const c_void;
            Some(found.unwrap_or(missing).expose_provenance())
        });
        found.map(std::ptr::with_exposed_provenance)
    }
}
