//! Libraries and kernels: modules and functions that are not bound to a context.

use super::module::{load_file, param};
use crate::call::{put, put_if, refuse, text};
use crate::image::measure;
use crate::module::{self, KERNELS, MODULES};
use crate::status::{Result, Status};
use std::ffi::{c_char, c_void};

/// Loads an image without a current context: that of device 0 stands for all.
unsafe fn load(image: *const c_void) -> Result<u64> {
    if image.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    crate::context::initialised()?;
    let context = crate::context::primary(0)?;
    // SAFETY: the caller's promise.
    match unsafe { measure(image.cast()) } {
        Some(bytes) => Ok(module::load(bytes, context.handle)?.handle),
        None => refuse(
            Status::INVALID_IMAGE,
            "the image's own sizes contradict each other",
        ),
    }
}

export! {
    cuLibraryLoadData(to: *mut u64, image: *const c_void, _options: u64, _values: u64, _count: u32,
        _library_options: u64, _library_values: u64, _library_count: u32) {
        put(to, load(image)?)
    }

    cuLibraryLoadFromFile(to: *mut u64, path: *const c_char, _options: u64, _values: u64, _count: u32,
        _library_options: u64, _library_values: u64, _library_count: u32) {
        put(to, load_file(&text(path)?)?.handle)
    }

    cuLibraryUnload(handle: u64) {
        module::unload(handle)
    }

    cuLibraryGetKernel(to: *mut u64, handle: u64, name: *const c_char) {
        let module = MODULES.get(handle)?;
        let kernel = module.kernel(&text(name)?)?;
        kernel.program()?;
        put(to, kernel.handle)
    }

    cuLibraryGetKernelCount(to: *mut u32, handle: u64) {
        put(to, MODULES.get(handle)?.kernels.len() as u32)
    }

    cuLibraryEnumerateKernels(to: *mut u64, room: u32, handle: u64) {
        let module = MODULES.get(handle)?;
        for (i, kernel) in module.kernels.iter().take(room as usize).enumerate() {
            put(to.add(i), kernel.handle)?;
        }
        Ok(())
    }

    cuLibraryGetModule(to: *mut u64, handle: u64) {
        put(to, MODULES.get(handle)?.handle)
    }

    cuLibraryGetGlobal(to: *mut u64, bytes: *mut u64, handle: u64, name: *const c_char) {
        let (address, size) = MODULES.get(handle)?.variable(&text(name)?)?;
        put_if(to, address);
        put_if(bytes, size);
        Ok(())
    }

    cuLibraryGetManaged(to: *mut u64, bytes: *mut u64, handle: u64, name: *const c_char) {
        let (address, size) = MODULES.get(handle)?.variable(&text(name)?)?;
        put_if(to, address);
        put_if(bytes, size);
        Ok(())
    }

    cuKernelGetFunction(to: *mut u64, kernel: u64) {
        put(to, KERNELS.get(kernel)?.handle)
    }

    cuKernelGetLibrary(to: *mut u64, kernel: u64) {
        let module = KERNELS.get(kernel)?.module.upgrade();
        put(to, module.ok_or(Status::INVALID_HANDLE)?.handle)
    }

    cuKernelGetAttribute(to: *mut i32, number: i32, kernel: u64, _device: i32) {
        put(to, KERNELS.get(kernel)?.attribute(number)?)
    }

    cuKernelSetAttribute(number: i32, value: i32, kernel: u64, _device: i32) {
        KERNELS.get(kernel)?.set_attribute(number, value)
    }

    cuKernelSetCacheConfig(kernel: u64, _config: i32, _device: i32) {
        KERNELS.get(kernel).map(drop)
    }

    cuKernelGetName(to: *mut *const c_char, kernel: u64) {
        put(to, KERNELS.get(kernel)?.name.as_ptr())
    }

    cuKernelGetParamInfo(kernel: u64, index: u64, offset: *mut u64, size: *mut u64) {
        let (at, bytes) = param(kernel, index)?;
        put_if(offset, at);
        put_if(size, bytes);
        Ok(())
    }
}
