//! Memory: allocated, registered, set.

use crate::call::{put, put_if, refuse};
use crate::context::live;
use crate::device;
use crate::memory::{self, Kind, check};
use crate::status::{Result, Status};
use crate::stream;
use crate::work::{Pitched, Rows, Work};

const FREED: &[Kind] = &[Kind::Device, Kind::Managed];

fn allocate(bytes: u64, kind: Kind) -> Result<u64> {
    Ok(memory::allocate(bytes, kind, live()?.handle)?.base)
}

fn free(address: u64) -> Result {
    if address == 0 {
        return Ok(());
    }
    // A kernel that is under way keeps the memory; work that waits in a stream does not know about it yet.
    live().and_then(|c| stream::synchronise_all(&c))?;
    memory::release(address, FREED, Status::INVALID_VALUE)
}

fn free_host(address: u64) -> Result {
    memory::release(address, &[Kind::Host], Status::INVALID_VALUE)
}

/// Rows of elements to be filled, checked.
fn fill(
    function: &str,
    to: u64,
    pitch: u64,
    value: u32,
    size: u32,
    width: u64,
    height: u64,
) -> Result<Work> {
    let bytes = width.checked_mul(size.into());
    let rows = Rows {
        width: bytes.ok_or(Status::INVALID_VALUE)?,
        height,
        depth: 1,
    };
    let to = Pitched {
        base: to,
        pitch,
        slice: 0,
    };
    if !to.base.is_multiple_of(size.into()) || (height > 1 && !pitch.is_multiple_of(size.into())) {
        return refuse(
            Status::INVALID_VALUE,
            format_args!(
                "{function}: {:#x} with pitch {pitch} is not aligned to elements of {size} bytes",
                to.base
            ),
        );
    }
    check(function, "a fill", to.base, to.extent(rows))?;
    Ok(Work::Fill(to, value, size, rows))
}

fn fill_now(
    function: &str,
    to: u64,
    pitch: u64,
    value: u32,
    size: u32,
    width: u64,
    height: u64,
) -> Result {
    let work = fill(function, to, pitch, value, size, width, height)?;
    stream::get(0)?.submit(work)
}

fn fill_in(
    function: &str,
    to: u64,
    pitch: u64,
    value: u32,
    size: u32,
    width: u64,
    height: u64,
    stream: u64,
) -> Result {
    let work = fill(function, to, pitch, value, size, width, height)?;
    stream::get(stream)?.submit(work)
}

export! {
    cuMemAlloc_v2(to: *mut u64, bytes: u64) {
        put(to, allocate(bytes, Kind::Device)?)
    }

    cuMemAllocPitch_v2(to: *mut u64, pitch: *mut u64, width: u64, height: u64, _element: u32) {
        let row = width.checked_next_multiple_of(512).ok_or(Status::OUT_OF_MEMORY)?;
        let bytes = row.checked_mul(height).ok_or(Status::OUT_OF_MEMORY)?;
        put(to, allocate(bytes, Kind::Device)?)?;
        put(pitch, row)
    }

    cuMemFree_v2(address: u64) {
        free(address)
    }

    cuMemAllocManaged(to: *mut u64, bytes: u64, _flags: u32) {
        put(to, allocate(bytes, Kind::Managed)?)
    }

    cuMemAllocHost_v2(to: *mut u64, bytes: u64) {
        put(to, allocate(bytes, Kind::Host)?)
    }

    cuMemHostAlloc(to: *mut u64, bytes: u64, _flags: u32) {
        put(to, allocate(bytes, Kind::Host)?)
    }

    cuMemFreeHost(address: u64) {
        free_host(address)
    }

    cuMemHostRegister_v2(address: u64, bytes: u64, _flags: u32) {
        if address == 0 || bytes == 0 {
            return Err(Status::INVALID_VALUE);
        }
        memory::borrow(address, bytes, Kind::Registered, live()?.handle, "", false)
    }

    cuMemHostUnregister(address: u64) {
        memory::release(address, &[Kind::Registered], Status::HOST_MEMORY_NOT_REGISTERED)
    }

    cuMemHostGetDevicePointer_v2(to: *mut u64, address: u64, _flags: u32) {
        memory::find(address).ok_or(Status::INVALID_VALUE)?;
        put(to, address)
    }

    cuMemHostGetFlags(to: *mut u32, address: u64) {
        memory::find(address).ok_or(Status::INVALID_VALUE)?;
        put(to, 2)
    }

    cuMemGetAddressRange_v2(base: *mut u64, bytes: *mut u64, address: u64) {
        let block = memory::find(address).ok_or(Status::NOT_FOUND)?;
        put_if(base, block.base);
        put_if(bytes, block.len);
        Ok(())
    }

    cuMemGetInfo_v2(free: *mut u64, total: *mut u64) {
        live()?;
        put_if(free, device::MEMORY.saturating_sub(memory::used()));
        put_if(total, device::MEMORY);
        Ok(())
    }

    cuMemAdvise(_address: u64, _bytes: u64, _advice: i32, _device: i32) {
        live().map(drop)
    }

    cuMemAdvise_v2(_address: u64, _bytes: u64, _advice: i32, _location: u64) {
        live().map(drop)
    }

    cuMemPrefetchAsync(_address: u64, _bytes: u64, _device: i32, _stream: u64) {
        live().map(drop)
    }

    cuMemPrefetchAsync_v2(_address: u64, _bytes: u64, _location: u64, _flags: u32, _stream: u64) {
        live().map(drop)
    }

    cuMemsetD8_v2(to: u64, value: u8, count: u64) {
        fill_now("cuMemsetD8", to, 0, value.into(), 1, count, 1)
    }

    cuMemsetD16_v2(to: u64, value: u16, count: u64) {
        fill_now("cuMemsetD16", to, 0, value.into(), 2, count, 1)
    }

    cuMemsetD32_v2(to: u64, value: u32, count: u64) {
        fill_now("cuMemsetD32", to, 0, value, 4, count, 1)
    }

    cuMemsetD2D8_v2(to: u64, pitch: u64, value: u8, width: u64, height: u64) {
        fill_now("cuMemsetD2D8", to, pitch, value.into(), 1, width, height)
    }

    cuMemsetD2D16_v2(to: u64, pitch: u64, value: u16, width: u64, height: u64) {
        fill_now("cuMemsetD2D16", to, pitch, value.into(), 2, width, height)
    }

    cuMemsetD2D32_v2(to: u64, pitch: u64, value: u32, width: u64, height: u64) {
        fill_now("cuMemsetD2D32", to, pitch, value, 4, width, height)
    }

    cuMemsetD8Async(to: u64, value: u8, count: u64, stream: u64) {
        fill_in("cuMemsetD8Async", to, 0, value.into(), 1, count, 1, stream)
    }

    cuMemsetD16Async(to: u64, value: u16, count: u64, stream: u64) {
        fill_in("cuMemsetD16Async", to, 0, value.into(), 2, count, 1, stream)
    }

    cuMemsetD32Async(to: u64, value: u32, count: u64, stream: u64) {
        fill_in("cuMemsetD32Async", to, 0, value, 4, count, 1, stream)
    }

    cuMemsetD2D8Async(to: u64, pitch: u64, value: u8, width: u64, height: u64, stream: u64) {
        fill_in("cuMemsetD2D8Async", to, pitch, value.into(), 1, width, height, stream)
    }

    cuMemsetD2D16Async(to: u64, pitch: u64, value: u16, width: u64, height: u64, stream: u64) {
        fill_in("cuMemsetD2D16Async", to, pitch, value.into(), 2, width, height, stream)
    }

    cuMemsetD2D32Async(to: u64, pitch: u64, value: u32, width: u64, height: u64, stream: u64) {
        fill_in("cuMemsetD2D32Async", to, pitch, value, 4, width, height, stream)
    }
}

/// The work of a node that fills.
pub(super) fn fill_node(node: &crate::abi::FillNode) -> Result<Work> {
    if !matches!(node.size, 1 | 2 | 4) {
        return Err(Status::INVALID_VALUE);
    }
    let (to, value) = (node.to, node.value);
    fill(
        "a memset node",
        to,
        node.pitch,
        value,
        node.size,
        node.width,
        node.height,
    )
}
