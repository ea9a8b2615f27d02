//! What the loader is asked for, and tells.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

unsafe extern "C" {
    fn dladdr(address: *const c_void, to: *mut c_void) -> c_int;
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    pub(crate) fn mprotect(at: *mut c_void, size: usize, protection: c_int) -> c_int;
}

/// `RTLD_NOW`
const NOW: c_int = 2;
/// `PROT_READ | PROT_WRITE`
pub(crate) const WRITE: c_int = 3;
/// Bytes whose protection is changed together.
pub(crate) const PAGE: usize = 4096;

/// The runtime's file, which lies beside this library's. Its name would not do: PyTorch brings NVIDIA's library of that name.
pub(crate) const RUNTIME: &str = "libtilec_cudart.so";

/// What the loader knows of a library, as far as it is needed: `struct link_map`.
#[repr(C)]
pub(crate) struct LinkMap {
    /// The distance from the file's addresses to the memory's.
    pub shift: u64,
    name: *const c_char,
    /// The library's own table for the loader: pairs, the last of which begins with 0.
    pub dynamic: *const [u64; 2],
}

/// tilec's runtime, open.
pub(crate) fn shared_runtime() -> Option<*mut c_void> {
    let mut info = [core::ptr::null::<c_char>(); 4];
    let here: fn() -> Option<*mut c_void> = shared_runtime;
    // SAFETY: an address, and room for `Dl_info`, whose first field is the path of the file with that address.
    let path = unsafe {
        let found = dladdr(here as *const c_void, info.as_mut_ptr().cast()) != 0;
        (found && !info[0].is_null()).then(|| CStr::from_ptr(info[0]))
    };
    let path = Path::new(OsStr::from_bytes(path?.to_bytes())).with_file_name(RUNTIME);
    let path = CString::new(path.into_os_string().into_vec()).ok()?;
    // SAFETY: a string.
    let library = unsafe { dlopen(path.as_ptr(), NOW) };
    (!library.is_null()).then_some(library)
}
