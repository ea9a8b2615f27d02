//! The driver itself: initialisation, version, errors, functions by name.

use crate::abi::Uuid;
use crate::call::{get, put, put_if, refuse, text};
use crate::settings::settings;
use crate::status::Status;
use crate::table::{self, Found};
use crate::{context, device};
use std::ffi::{c_char, c_void};

/// `CU_GET_PROC_ADDRESS_SUCCESS`, `…_SYMBOL_NOT_FOUND`, `…_VERSION_NOT_SUFFICIENT`
const FOUND: i32 = 0;
const NOT_FOUND: i32 = 1;
const TOO_OLD: i32 = 2;

/// The table that NVIDIA's runtime library asks for first.
const RUNTIME: [u8; 16] = *b"\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9";
const STATIC_RUNTIME: &str = "the program has NVIDIA's CUDA runtime in it, which works with no driver but NVIDIA's. \
     Under `tilec emulate` tilec's takes its place in x86-64 programs of CUDA 13 that are not stripped, and in cuda-python, if \
     libtilec_cudart.so and libtilec_preload.so (cargo build -p tilec-cudart -p tilec-preload) are beside libtilec_cuda.so; \
     link others with the shared runtime (nvcc --cudart shared)";

unsafe fn lookup(
    name: *const c_char,
    to: *mut *const c_void,
    version: i32,
    status: *mut i32,
) -> crate::status::Result {
    // SAFETY: the caller's promises.
    unsafe {
        let name = text(name)?;
        let (address, how) = match table::find(&name, version) {
            Found::Row(row) => {
                settings().log(format_args!(
                    "cuGetProcAddress {name} {version}: {}",
                    row.symbol
                ));
                (row.address.0.cast(), FOUND)
            }
            Found::Later => (std::ptr::null(), TOO_OLD),
            Found::Nothing => {
                settings().log(format_args!("cuGetProcAddress {name} {version}: unknown"));
                (std::ptr::null(), NOT_FOUND)
            }
        };
        put(to, address)?;
        put_if(status, how);
        // A caller that cannot be told why gets an error.
        match how == FOUND || !status.is_null() {
            true => Ok(()),
            false => Err(Status::NOT_FOUND),
        }
    }
}

export! {
    cuInit(flags: u32) {
        match flags {
            0 => {
                context::initialise();
                Ok(())
            }
            _ => Err(Status::INVALID_VALUE),
        }
    }

    cuDriverGetVersion(version: *mut i32) {
        put(version, device::DRIVER_VERSION)
    }

    cuGetErrorName(error: i32, name: *mut *const c_char) {
        let found = Status(error).name();
        put(name, found.map_or(std::ptr::null(), |n| n.as_ptr()))?;
        found.map(drop).ok_or(Status::INVALID_VALUE)
    }

    cuGetErrorString(error: i32, words: *mut *const c_char) {
        let found = Status(error).text();
        put(words, found.map_or(std::ptr::null(), |n| n.as_ptr()))?;
        found.map(drop).ok_or(Status::INVALID_VALUE)
    }

    cuGetProcAddress(name: *const c_char, to: *mut *const c_void, version: i32, _flags: u64) {
        lookup(name, to, version, std::ptr::null_mut())
    }

    cuGetProcAddress_v2(name: *const c_char, to: *mut *const c_void, version: i32, _flags: u64, status: *mut i32) {
        lookup(name, to, version, status)
    }

    /// Private tables between NVIDIA's libraries. There are none here.
    cuGetExportTable(_to: *mut *const c_void, id: *const Uuid) {
        if get(id)?.bytes == RUNTIME {
            return refuse(Status::NOT_SUPPORTED, STATIC_RUNTIME);
        }
        // Those that ask for others do without.
        Err(Status::NOT_SUPPORTED)
    }

    cuProfilerStart() {
        context::initialised()
    }

    cuProfilerStop() {
        context::initialised()
    }
}
