//! Devices.

use crate::call::{Error, Result, put, text};
use crate::context;
use crate::driver::{self, VERSION};
use std::ffi::{c_char, c_void};

/// `cudaDeviceProp`
#[repr(C)]
#[derive(Clone, Copy)]
struct Properties {
    name: [c_char; 256],
    uuid: [u8; 16],
    luid: [u8; 8],
    luid_mask: u32,
    memory: u64,
    shared_per_block: u64,
    registers_per_block: i32,
    warp: i32,
    pitch: u64,
    threads: [i32; 7],
    constant: u64,
    capability: [i32; 2],
    texture_alignment: [u64; 2],
    texture: [i32; 42],
    surface_alignment: u64,
    first: [i32; 15],
    shared_per_multiprocessor: u64,
    second: [i32; 10],
    shared_by_choice: u64,
    third: [i32; 4],
    reserved_shared: u64,
    fourth: [i32; 20],
    reserved: [i32; 56],
}

// The `CUdevice_attribute`s in the order of the properties.
const THREADS: [i32; 7] = [1, 2, 3, 4, 5, 6, 7];
const CAPABILITY: [i32; 2] = [75, 76];
#[rustfmt::skip]
const TEXTURE: [i32; 42] = [
    16, 18, 19, 21, 77, 22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54, 55,
    56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68,
];
const FIRST: [i32; 15] = [31, 32, 33, 34, 50, 35, 40, 41, 37, 38, 108, 39, 78, 79, 80];
const SECOND: [i32; 10] = [82, 83, 84, 85, 86, 88, 89, 90, 91, 95];
const THIRD: [i32; 4] = [100, 101, 106, 109];
#[rustfmt::skip]
const FOURTH: [i32; 20] = [
    99, 112, 113, 114, 115, 116, 117, 118, 119, 121, 125, 120, 129, 130, 131, 133, 134, 139, 140, 143,
];

fn attribute(number: i32, device: i32) -> Result<i32> {
    let mut value = 0;
    // SAFETY: a place to write to.
    unsafe { driver::cuDeviceGetAttribute(&mut value, number, device)? };
    Ok(value)
}

fn all<const N: usize>(numbers: [i32; N], device: i32) -> Result<[i32; N]> {
    let mut values = [0; N];
    for (value, number) in values.iter_mut().zip(numbers) {
        *value = attribute(number, device)?;
    }
    Ok(values)
}

fn properties(device: i32) -> Result<Properties> {
    context::initialise()?;
    let size = |number| attribute(number, device).map(|v| v as u64);
    let (mut name, mut uuid, mut memory) = ([0; 256], [0u8; 16], 0);
    // SAFETY: places to write to, of the sizes that are asked for.
    unsafe {
        driver::cuDeviceGetName(name.as_mut_ptr(), 256, device)?;
        driver::cuDeviceGetUuid(uuid.as_mut_ptr().cast::<c_void>(), device)?;
        driver::cuDeviceTotalMem(&mut memory, device)?;
    }
    Ok(Properties {
        name,
        uuid,
        luid: [0; 8],
        luid_mask: 0,
        memory,
        shared_per_block: size(8)?,
        registers_per_block: attribute(12, device)?,
        warp: attribute(10, device)?,
        pitch: size(11)?,
        threads: all(THREADS, device)?,
        constant: size(9)?,
        capability: all(CAPABILITY, device)?,
        texture_alignment: [size(14)?, size(51)?],
        texture: all(TEXTURE, device)?,
        surface_alignment: size(30)?,
        first: all(FIRST, device)?,
        shared_per_multiprocessor: size(81)?,
        second: all(SECOND, device)?,
        shared_by_choice: size(97)?,
        third: all(THIRD, device)?,
        reserved_shared: size(111)?,
        fourth: all(FOURTH, device)?,
        reserved: [0; 56],
    })
}

fn count() -> Result<i32> {
    context::initialise()?;
    let mut count = 0;
    // SAFETY: a place to write to.
    unsafe { driver::cuDeviceGetCount(&mut count)? };
    Ok(count)
}

fn check(device: i32) -> Result {
    match (0..count()?).contains(&device) {
        true => Ok(()),
        false => Err(Error::INVALID_DEVICE),
    }
}

/// # Safety
/// As `cudaGetDriverEntryPointByVersion`.
unsafe fn entry(
    name: *const c_char,
    to: *mut *const c_void,
    version: i32,
    flags: u64,
    status: *mut i32,
) -> Result {
    const FOUND: i32 = 0;
    const NOT_FOUND: i32 = 1;
    context::initialise()?;
    // SAFETY: the caller's promises.
    unsafe {
        let found = driver::find(text(name)?, version, flags);
        put(to, found.map_or(std::ptr::null(), |f| f.0))?;
        if status.is_null() {
            return found.map(drop);
        }
        put(status, if found.is_ok() { FOUND } else { NOT_FOUND })
    }
}

export! {
    /// No driver is version 0, and no error.
    cudaDriverGetVersion(to: *mut i32) {
        match driver::cuDriverGetVersion(to) {
            Err(Error::INSUFFICIENT_DRIVER) => put(to, 0),
            result => result,
        }
    }

    cudaRuntimeGetVersion(to: *mut i32) {
        put(to, VERSION)
    }

    cudaGetDeviceCount(to: *mut i32) {
        put(to, count()?)
    }

    cudaGetDevice(to: *mut i32) {
        put(to, context::device()?)
    }

    cudaSetDevice(device: i32) {
        check(device)?;
        context::activate(device)
    }

    cudaInitDevice(device: i32, _device_flags: u32, _flags: u32) {
        check(device)?;
        context::primary(device).map(drop)
    }

    cudaSetValidDevices(_devices: *const i32, _count: i32) {
        context::initialise()
    }

    cudaChooseDevice(to: *mut i32, _wanted: *const c_void) {
        check(0)?;
        put(to, 0)
    }

    cudaGetDeviceProperties(to: *mut c_void, device: i32) {
        check(device)?;
        put(to.cast(), properties(device)?)
    }

    cudaSetDeviceFlags(flags: u32) {
        driver::cuDevicePrimaryCtxSetFlags(context::device()?, flags)
    }

    cudaGetDeviceFlags(to: *mut u32) {
        let mut active = 0;
        driver::cuDevicePrimaryCtxGetState(context::device()?, to, &mut active)
    }

    cudaDeviceSynchronize() {
        context::enter()?;
        driver::cuCtxSynchronize(0)
    }

    cudaDeviceReset() {
        context::reset()
    }

    /// Banks of four bytes, since sm_75.
    cudaDeviceGetSharedMemConfig(to: *mut i32) {
        context::enter()?;
        put(to, 1)
    }

    cudaDeviceSetSharedMemConfig(_config: i32) {
        context::enter()
    }

    cudaDeviceEnablePeerAccess(device: i32, flags: u32) {
        context::enter()?;
        check(device)?;
        driver::cuCtxEnablePeerAccess(context::primary(device)?, flags)
    }

    cudaDeviceDisablePeerAccess(device: i32) {
        context::enter()?;
        check(device)?;
        driver::cuCtxDisablePeerAccess(context::primary(device)?)
    }

    cudaGetDriverEntryPoint(name: *const c_char, to: *mut *const c_void, flags: u64, status: *mut i32) {
        entry(name, to, VERSION, flags, status)
    }

    cudaGetDriverEntryPointByVersion(name: *const c_char, to: *mut *const c_void, version: u32, flags: u64,
        status: *mut i32) {
        entry(name, to, version as i32, flags, status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    /// As a C compiler lays out the structure of `driver_types.h` 13.5.
    #[test]
    fn properties_lie_as_in_c() {
        assert_eq!(offset_of!(Properties, memory), 288);
        assert_eq!(offset_of!(Properties, texture), 384);
        assert_eq!(offset_of!(Properties, surface_alignment), 552);
        assert_eq!(offset_of!(Properties, shared_per_multiprocessor), 624);
        assert_eq!(offset_of!(Properties, shared_by_choice), 672);
        assert_eq!(offset_of!(Properties, reserved_shared), 696);
        assert_eq!(offset_of!(Properties, fourth), 704);
        assert_eq!(offset_of!(Properties, reserved), 784);
        assert_eq!(size_of::<Properties>(), 1008);
    }
}
