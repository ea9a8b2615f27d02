//! What the driver has beyond `cuda.h`: memory of other libraries as device memory.

use crate::call::text;
use crate::context;
use crate::memory::{self, Kind};
use crate::status::Status;
use std::ffi::c_char;

export! {
    /// Makes `bytes` bytes at `address`, memory of the process, device memory of device 0 until they are returned. What
    /// was lent before and overlaps them is returned.
    tilecEmulateLend(address: u64, bytes: u64, name: *const c_char) {
        let name = match name.is_null() {
            true => String::new(),
            false => text(name)?,
        };
        if bytes == 0 {
            return Ok(());
        }
        context::initialise();
        memory::borrow(address, bytes, Kind::Lent, context::primary(0)?.handle, &name, true)
    }

    /// Returns what was lent at `address`.
    tilecEmulateReturn(address: u64) {
        memory::release(address, &[Kind::Lent], Status::INVALID_VALUE)
    }
}
