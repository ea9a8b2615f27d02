//! Modules and functions.

use crate::call::{list, put, put_if, refuse, text};
use crate::context::live;
use crate::image::measure;
use crate::module::{self, KERNELS, MODULES, Module};
use crate::status::{Result, Status};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// Loads an image of unknown length.
///
/// # Safety
/// As [`measure`].
pub(super) unsafe fn load(image: *const c_void) -> Result<Arc<Module>> {
    if image.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let context = live()?;
    // SAFETY: the caller's promise.
    match unsafe { measure(image.cast()) } {
        Some(bytes) => module::load(bytes, context.handle),
        None => refuse(
            Status::INVALID_IMAGE,
            "the image's own sizes contradict each other",
        ),
    }
}

/// Loads an image from a file.
pub(super) fn load_file(path: &str) -> Result<Arc<Module>> {
    let context = live()?;
    let mut bytes = std::fs::read(path).or_else(|e| {
        refuse(
            Status::FILE_NOT_FOUND,
            format_args!("cannot read '{path}': {e}"),
        )
    })?;
    while bytes.last() == Some(&0) && bytes.starts_with(b".") {
        bytes.pop();
    }
    module::load(&bytes, context.handle)
}

pub(super) fn param(kernel: u64, index: u64) -> Result<(u64, u64)> {
    let kernel = KERNELS.get(kernel)?;
    let program = kernel.program()?;
    let own = kernel.own_params(&program);
    let found = program.params.iter().take(own).nth(index as usize);
    let found = found.ok_or(Status::INVALID_VALUE)?;
    Ok((found.offset.into(), found.size.into()))
}

export! {
    cuModuleLoad(to: *mut u64, path: *const c_char) {
        put(to, load_file(&text(path)?)?.handle)
    }

    cuModuleLoadData(to: *mut u64, image: *const c_void) {
        put(to, load(image)?.handle)
    }

    cuModuleLoadDataEx(to: *mut u64, image: *const c_void, _count: u32, _options: u64, _values: u64) {
        put(to, load(image)?.handle)
    }

    cuModuleLoadFatBinary(to: *mut u64, image: *const c_void) {
        put(to, load(image)?.handle)
    }

    cuModuleUnload(handle: u64) {
        module::unload(handle)
    }

    cuModuleGetLoadingMode(to: *mut i32) {
        put(to, 2)
    }

    cuModuleGetFunction(to: *mut u64, handle: u64, name: *const c_char) {
        let module = MODULES.get(handle)?;
        let kernel = module.kernel(&text(name)?)?;
        kernel.program()?;
        put(to, kernel.handle)
    }

    cuModuleGetFunctionCount(to: *mut u32, handle: u64) {
        put(to, MODULES.get(handle)?.kernels.len() as u32)
    }

    cuModuleEnumerateFunctions(to: *mut u64, room: u32, handle: u64) {
        let module = MODULES.get(handle)?;
        for (i, kernel) in module.kernels.iter().take(room as usize).enumerate() {
            put(to.add(i), kernel.handle)?;
        }
        Ok(())
    }

    cuModuleGetGlobal_v2(to: *mut u64, bytes: *mut u64, handle: u64, name: *const c_char) {
        let (address, size) = MODULES.get(handle)?.variable(&text(name)?)?;
        put_if(to, address);
        put_if(bytes, size);
        Ok(())
    }

    cuFuncGetAttribute(to: *mut i32, number: i32, function: u64) {
        put(to, KERNELS.get(function)?.attribute(number)?)
    }

    cuFuncSetAttribute(function: u64, number: i32, value: i32) {
        KERNELS.get(function)?.set_attribute(number, value)
    }

    cuFuncSetCacheConfig(function: u64, _config: i32) {
        KERNELS.get(function).map(drop)
    }

    cuFuncSetSharedMemConfig(function: u64, _config: i32) {
        KERNELS.get(function).map(drop)
    }

    cuFuncGetModule(to: *mut u64, function: u64) {
        let module = KERNELS.get(function)?.module.upgrade();
        put(to, module.ok_or(Status::INVALID_HANDLE)?.handle)
    }

    cuFuncGetName(to: *mut *const c_char, function: u64) {
        put(to, KERNELS.get(function)?.name.as_ptr())
    }

    cuFuncGetParamInfo(function: u64, index: u64, offset: *mut u64, size: *mut u64) {
        let (at, bytes) = param(function, index)?;
        put_if(offset, at);
        put_if(size, bytes);
        Ok(())
    }

    cuFuncIsLoaded(to: *mut i32, function: u64) {
        KERNELS.get(function)?;
        put(to, 1)
    }

    cuFuncLoad(function: u64) {
        KERNELS.get(function)?.program().map(drop)
    }
}

/// A list of handles; null means none where it says so.
pub(super) unsafe fn handles(from: *const u64, count: u64) -> Result<Vec<u64>> {
    // SAFETY: the caller's promise.
    unsafe { list(from, count as usize) }
}
