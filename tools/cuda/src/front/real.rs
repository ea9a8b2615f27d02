//! Functions of the real driver's that the hooks call.

use super::real;
use crate::status::{Result, Status};
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

/// A symbol of the real driver's, looked up once.
pub struct Symbol {
    name: &'static CStr,
    found: OnceLock<Option<usize>>,
}

impl Symbol {
    /// The symbol with this name.
    pub const fn new(name: &'static CStr) -> Symbol {
        Symbol {
            name,
            found: OnceLock::new(),
        }
    }

    /// Its address.
    pub fn get(&self) -> Option<*const c_void> {
        let look = || real()?.symbol(self.name).map(|p| p.expose_provenance());
        let found = self.found.get_or_init(look);
        found.map(std::ptr::with_exposed_provenance)
    }
}

/// The driver's result as a `Result`.
pub fn check(status: Status) -> Result {
    match status {
        Status::SUCCESS => Ok(()),
        status => Err(status),
    }
}

/// Declares symbols of the driver's as functions that return the error if there is one.
macro_rules! driver {
    ($($symbol:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        $(
            /// The driver's function.
            ///
            /// # Safety
            /// As `cuda.h` has it.
            #[allow(non_snake_case, clippy::too_many_arguments)]
            pub unsafe fn $symbol($($arg: $ty),*) -> Result {
                static SYMBOL: Symbol = Symbol::new(
                    // SAFETY: there is one NUL, at the end.
                    unsafe { CStr::from_bytes_with_nul_unchecked(concat!(stringify!($symbol), "\0").as_bytes()) },
                );
                let found = SYMBOL.get().ok_or(Status::NOT_FOUND)?;
                // SAFETY: the caller's promises; the types are those of `cuda.h`.
                check(unsafe {
                    std::mem::transmute::<*const c_void, unsafe extern "C" fn($($ty),*) -> Status>(found)($($arg),*)
                })
            }
        )*
    };
}

driver! {
    cuDriverGetVersion(to: *mut i32);
    cuDeviceGetAttribute(to: *mut i32, attribute: i32, device: i32);
    cuCtxGetDevice(to: *mut i32);
    cuGetProcAddress_v2(name: *const c_char, to: *mut *const c_void, version: i32, flags: u64, status: *mut i32);
    cuGetProcAddress(name: *const c_char, to: *mut *const c_void, version: i32, flags: u64);
    cuModuleLoadData(to: *mut u64, image: *const c_void);
    cuModuleLoadDataEx(to: *mut u64, image: *const c_void, count: u32, options: u64, values: u64);
    cuModuleLoadFatBinary(to: *mut u64, image: *const c_void);
    cuLibraryLoadData(to: *mut u64, image: *const c_void, options: u64, values: u64, count: u32,
        library_options: u64, library_values: u64, library_count: u32);
    cuModuleUnload(module: u64);
    cuLibraryUnload(library: u64);
    cuModuleGetFunction(to: *mut u64, module: u64, name: *const c_char);
    cuModuleEnumerateFunctions(to: *mut u64, room: u32, module: u64);
    cuLibraryGetKernel(to: *mut u64, library: u64, name: *const c_char);
    cuLibraryEnumerateKernels(to: *mut u64, room: u32, library: u64);
    cuLibraryGetModule(to: *mut u64, library: u64);
    cuKernelGetFunction(to: *mut u64, kernel: u64);
    cuKernelGetName(to: *mut *const c_char, kernel: u64);
    cuKernelSetAttribute(attribute: i32, value: i32, kernel: u64, device: i32);
    cuFuncGetName(to: *mut *const c_char, function: u64);
    cuFuncSetAttribute(function: u64, attribute: i32, value: i32);
    cuTensorMapEncodeTiled(to: *mut Map, element: u32, rank: u32, address: u64, dims: *const u64,
        strides: *const u64, boxes: *const u32, steps: *const u32, interleave: u32, swizzle: u32, promotion: u32,
        fill: u32);
}

/// `CUtensorMap`
#[repr(C, align(64))]
pub struct Map(pub [u8; 128]);
