//! Devices.

use crate::abi::Uuid;
use crate::call::{put, put_if, text};
use crate::context::initialised;
use crate::device::{self, attribute, check};
use crate::settings::settings;
use crate::status::{Result, Status};
use std::ffi::c_char;

/// Writes a name of at most `room` bytes, its NUL included.
unsafe fn name(to: *mut c_char, room: i32, name: &str) -> Result {
    let room = usize::try_from(room).map_err(|_| Status::INVALID_VALUE)?;
    if to.is_null() || room == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let bytes = name.as_bytes();
    let bytes = bytes.get(..room - 1).unwrap_or(bytes);
    // SAFETY: the caller has room for so many.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len());
        to.add(bytes.len()).write(0);
    }
    Ok(())
}

fn uuid(device: i32) -> Uuid {
    let mut bytes = *b"tilec emulation\0";
    bytes[15] = device as u8;
    Uuid { bytes }
}

export! {
    cuDeviceGet(to: *mut i32, ordinal: i32) {
        initialised()?;
        check(ordinal)?;
        put(to, ordinal)
    }

    cuDeviceGetCount(to: *mut i32) {
        initialised()?;
        put(to, settings().devices)
    }

    cuDeviceGetName(to: *mut c_char, room: i32, device: i32) {
        check(device)?;
        name(to, room, &device::name(settings().target))
    }

    cuDeviceGetUuid(to: *mut Uuid, device: i32) {
        check(device)?;
        put(to, uuid(device))
    }

    cuDeviceGetUuid_v2(to: *mut Uuid, device: i32) {
        check(device)?;
        put(to, uuid(device))
    }

    cuDeviceTotalMem(to: *mut u32, device: i32) {
        check(device)?;
        put(to, u32::MAX)
    }

    cuDeviceTotalMem_v2(to: *mut u64, device: i32) {
        check(device)?;
        put(to, device::MEMORY)
    }

    cuDeviceGetAttribute(to: *mut i32, number: i32, device: i32) {
        check(device)?;
        put(to, attribute(number)?)
    }

    cuDeviceComputeCapability(major: *mut i32, minor: *mut i32, device: i32) {
        check(device)?;
        put(major, attribute(75)?)?;
        put(minor, attribute(76)?)
    }

    cuDeviceGetPCIBusId(to: *mut c_char, room: i32, device: i32) {
        check(device)?;
        name(to, room, &format!("0000:{:02x}:00.0", device + 1))
    }

    cuDeviceGetByPCIBusId(to: *mut i32, bus: *const c_char) {
        let bus = text(bus)?;
        let found = (0..settings().devices).find(|d| bus.contains(&format!("{:02x}:00.0", d + 1)));
        put(to, found.ok_or(Status::INVALID_DEVICE)?)
    }

    cuDeviceCanAccessPeer(to: *mut i32, device: i32, peer: i32) {
        check(device)?;
        check(peer)?;
        // All memory is the process's own.
        put(to, i32::from(device != peer))
    }

    cuDeviceGetP2PAttribute(to: *mut i32, _number: i32, device: i32, peer: i32) {
        check(device)?;
        check(peer)?;
        put(to, 1)
    }

    cuDeviceGetTexture1DLinearMaxWidth(to: *mut u64, _format: i32, _channels: u32, device: i32) {
        check(device)?;
        put(to, 1 << 27)
    }

    cuDeviceGetExecAffinitySupport(to: *mut i32, _kind: i32, device: i32) {
        check(device)?;
        put_if(to, 0);
        Ok(())
    }
}
