//! What a pointer points to.

use crate::call::{list, put};
use crate::context;
use crate::memory::{self, Kind};
use crate::status::{Result, Status};
use std::ffi::c_void;

const HOST: u32 = 1;
const DEVICE: u32 = 2;

/// Stores the value of one `CUpointer_attribute`.
unsafe fn attribute(number: i32, to: *mut c_void, address: u64) -> Result {
    let block = memory::find(address).ok_or(Status::INVALID_VALUE)?;
    let is_host = matches!(block.kind, Kind::Host | Kind::Registered);
    // SAFETY: `to` has room for what this attribute is, which `cuda.h` says.
    unsafe {
        match number {
            1 => put(to.cast::<u64>(), block.context),
            2 => put(to.cast::<u32>(), if is_host { HOST } else { DEVICE }),
            3 => put(to.cast::<u64>(), address),
            // The host can use the address of any block.
            4 => put(to.cast::<u64>(), address),
            6 => put(to.cast::<u32>(), 1),
            7 => put(to.cast::<u64>(), block.id),
            8 => {
                let managed = matches!(block.kind, Kind::Managed | Kind::ManagedVariable);
                put(to.cast::<u32>(), managed.into())
            }
            9 => {
                let device = context::get(block.context).map_or(0, |c| c.device);
                put(to.cast::<i32>(), device)
            }
            10 => put(to.cast::<u32>(), (block.kind == Kind::Device).into()),
            11 | 19 => put(to.cast::<u64>(), block.base),
            12 | 18 => put(to.cast::<u64>(), block.len),
            13 => put(to.cast::<u32>(), 1),
            14 | 17 => put(to.cast::<u64>(), 0),
            15 => put(to.cast::<u32>(), 0),
            16 => put(to.cast::<u32>(), 3),
            20 => put(to.cast::<u64>(), block.id),
            21 => put(to.cast::<u32>(), 0),
            _ => Err(Status::INVALID_VALUE),
        }
    }
}

export! {
    cuPointerGetAttribute(to: *mut c_void, number: i32, address: u64) {
        attribute(number, to, address)
    }

    cuPointerGetAttributes(count: u32, numbers: *const i32, to: *const *mut c_void, address: u64) {
        let numbers = list(numbers, count as usize)?;
        let places = list(to, count as usize)?;
        for (number, to) in numbers.into_iter().zip(places) {
            // What is unknown of a pointer is 0, and no error.
            if attribute(number, to, address).is_err() && !to.is_null() {
                let wide = matches!(number, 1 | 3 | 4 | 7 | 11 | 12 | 14 | 17..=20);
                to.cast::<u8>().write_bytes(0, if wide { 8 } else { 4 });
            }
        }
        Ok(())
    }

    cuPointerSetAttribute(_value: *const c_void, _number: i32, address: u64) {
        memory::find(address).map(drop).ok_or(Status::INVALID_VALUE)
    }
}
