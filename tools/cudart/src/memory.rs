//! Memory: allocated, given back, asked about.

use crate::call::{Error, put};
use crate::context::enter;
use crate::driver::{self, IpcHandle};
use std::ffi::c_void;

/// `cudaPitchedPtr`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Pitched {
    pub address: u64,
    pub pitch: u64,
    pub width: u64,
    pub height: u64,
}

/// `cudaExtent`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Extent {
    pub width: u64,
    pub height: u64,
    pub depth: u64,
}

/// `cudaPointerAttributes`
#[repr(C)]
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct PointerAttributes {
    pub kind: i32,
    pub device: i32,
    pub device_address: u64,
    pub host_address: u64,
    pub rest: [u64; 8],
}

/// `CUpointer_attribute`s
const MEMORY_TYPE: i32 = 2;
const DEVICE_POINTER: i32 = 3;
const HOST_POINTER: i32 = 4;
const IS_MANAGED: i32 = 8;
const DEVICE_ORDINAL: i32 = 9;

/// `cudaMemoryTypeManaged`; the types before it have the driver's numbers.
const MANAGED: i32 = 3;

fn attributes(address: u64) -> PointerAttributes {
    fn ask<T: Default>(attribute: i32, address: u64) -> Option<T> {
        let mut value = T::default();
        let to = std::ptr::from_mut(&mut value).cast::<c_void>();
        // SAFETY: each attribute is asked for with the type that it has.
        unsafe { driver::cuPointerGetAttribute(to, attribute, address) }.ok()?;
        Some(value)
    }
    let Some(kind) = ask::<u32>(MEMORY_TYPE, address) else {
        // Memory that the driver does not know is the host's, and no error.
        return PointerAttributes {
            device: -2,
            host_address: address,
            ..PointerAttributes::default()
        };
    };
    let managed = ask::<u32>(IS_MANAGED, address).unwrap_or(0) != 0;
    PointerAttributes {
        kind: if managed { MANAGED } else { kind as i32 },
        device: ask(DEVICE_ORDINAL, address).unwrap_or(0),
        device_address: ask(DEVICE_POINTER, address).unwrap_or(0),
        host_address: ask(HOST_POINTER, address).unwrap_or(0),
        rest: [0; 8],
    }
}

export! {
    cudaMalloc(to: *mut u64, bytes: u64) {
        enter()?;
        match bytes {
            // An allocation of nothing succeeds here, and not in the driver.
            0 => put(to, 0),
            _ => driver::cuMemAlloc(to, bytes),
        }
    }

    cudaMallocPitch(to: *mut u64, pitch: *mut u64, width: u64, height: u64) {
        enter()?;
        match width.checked_mul(height) {
            Some(0) => {
                put(pitch, 0)?;
                put(to, 0)
            }
            _ => driver::cuMemAllocPitch(to, pitch, width, height, 4),
        }
    }

    cudaMalloc3D(to: *mut Pitched, extent: Extent) {
        enter()?;
        let rows = extent.height.checked_mul(extent.depth).ok_or(Error::INVALID_VALUE)?;
        let (mut address, mut pitch) = (0, 0);
        driver::cuMemAllocPitch(&mut address, &mut pitch, extent.width, rows, 4)?;
        put(to, Pitched { address, pitch, width: extent.width, height: extent.height })
    }

    cudaFree(address: u64) {
        enter()?;
        match address {
            0 => Ok(()),
            _ => driver::cuMemFree(address),
        }
    }

    cudaFreeHost(address: u64) {
        enter()?;
        match address {
            0 => Ok(()),
            _ => driver::cuMemFreeHost(address),
        }
    }

    cudaPointerGetAttributes(to: *mut PointerAttributes, address: u64) {
        enter()?;
        put(to, attributes(address))
    }

    cudaIpcOpenMemHandle(to: *mut u64, handle: IpcHandle, flags: u32) {
        enter()?;
        driver::cuIpcOpenMemHandle(to, handle, flags)
    }

    cudaIpcOpenEventHandle(to: *mut u64, handle: IpcHandle) {
        enter()?;
        driver::cuIpcOpenEventHandle(to, handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a C compiler lays out the structures of `driver_types.h` 13.5.
    #[test]
    fn sizes() {
        assert_eq!(size_of::<PointerAttributes>(), 88);
        assert_eq!(size_of::<Pitched>(), 32);
    }
}
