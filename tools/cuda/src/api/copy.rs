//! Copies.

use crate::abi::{Copy2, Copy3, Side2, Side3};
use crate::call::{get, refuse};
use crate::memory::check;
use crate::status::{Result, Status};
use crate::stream;
use crate::work::{Pitched, Rows, Work};

/// A side of a copy: memory of the host, which the program promises, or of the device, which is checked.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Host,
    Device,
}
use Side::{Device, Host};

fn work(function: &str, to: (Side, u64), from: (Side, u64), bytes: u64) -> Result<Work> {
    for ((side, address), what) in [(to, "a copy to"), (from, "a copy from")] {
        match side {
            Device => check(function, what, address, bytes)?,
            Host if address == 0 && bytes > 0 => return Err(Status::INVALID_VALUE),
            Host => {}
        }
    }
    Ok(Work::Copy(to.1, from.1, bytes))
}

fn submit(function: &str, to: (Side, u64), from: (Side, u64), bytes: u64, stream: u64) -> Result {
    let work = work(function, to, from, bytes)?;
    stream::get(stream)?.submit(work)
}

/// The same, and waits for it.
fn now(function: &str, to: (Side, u64), from: (Side, u64), bytes: u64) -> Result {
    let stream = stream::get(0)?;
    stream.submit(work(function, to, from, bytes)?)?;
    match stream.capture() {
        Some(_) => Ok(()),
        None => stream.synchronise(),
    }
}

const HOST: i32 = 1;
const DEVICE: i32 = 2;
const UNIFIED: i32 = 4;

fn place(function: &str, kind: i32, host: u64, device: u64) -> Result<(Side, u64)> {
    match kind {
        HOST => Ok((Host, host)),
        DEVICE => Ok((Device, device)),
        // The host's memory may be meant, too.
        UNIFIED => Ok((Host, device)),
        _ => refuse(
            Status::NOT_SUPPORTED,
            format_args!("{function}: CUDA arrays are not emulated"),
        ),
    }
}

fn side2(function: &str, side: &Side2) -> Result<(Side, Pitched)> {
    let (kind, base) = place(function, side.kind, side.host, side.device)?;
    let at = Pitched {
        base: base
            .wrapping_add(side.y.wrapping_mul(side.pitch))
            .wrapping_add(side.x),
        pitch: side.pitch,
        slice: 0,
    };
    Ok((kind, at))
}

fn side3(function: &str, side: &Side3) -> Result<(Side, Pitched)> {
    let (kind, base) = place(function, side.kind, side.host, side.device)?;
    let slice = side.pitch.wrapping_mul(side.height);
    let at = Pitched {
        base: base
            .wrapping_add(side.z.wrapping_mul(slice))
            .wrapping_add(side.y.wrapping_mul(side.pitch))
            .wrapping_add(side.x),
        pitch: side.pitch,
        slice,
    };
    Ok((kind, at))
}

fn rows(function: &str, to: (Side, Pitched), from: (Side, Pitched), rows: Rows) -> Result<Work> {
    for ((side, at), what) in [(to, "a copy to"), (from, "a copy from")] {
        if side == Device {
            check(function, what, at.base, at.extent(rows))?;
        }
    }
    Ok(Work::CopyRows(to.1, from.1, rows))
}

unsafe fn copy2(function: &str, copy: *const Copy2, stream: u64, wait: bool) -> Result {
    // SAFETY: the caller's promise.
    let copy = unsafe { get(copy)? };
    let (to, from) = (side2(function, &copy.to)?, side2(function, &copy.from)?);
    let (width, height) = (copy.width, copy.height);
    let extent = Rows {
        width,
        height,
        depth: 1,
    };
    let stream = stream::get(stream)?;
    stream.submit(rows(function, to, from, extent)?)?;
    match wait {
        true => stream.synchronise(),
        false => Ok(()),
    }
}

/// The work of a three-dimensional copy.
pub(super) fn work3(function: &str, copy: &Copy3) -> Result<Work> {
    let (to, from) = (side3(function, &copy.to)?, side3(function, &copy.from)?);
    let (width, height, depth) = (copy.width, copy.height, copy.depth);
    rows(
        function,
        to,
        from,
        Rows {
            width,
            height,
            depth,
        },
    )
}

export! {
    cuMemcpy(to: u64, from: u64, bytes: u64) {
        now("cuMemcpy", (Host, to), (Host, from), bytes)
    }

    cuMemcpyAsync(to: u64, from: u64, bytes: u64, stream: u64) {
        submit("cuMemcpyAsync", (Host, to), (Host, from), bytes, stream)
    }

    cuMemcpyHtoD_v2(to: u64, from: u64, bytes: u64) {
        now("cuMemcpyHtoD", (Device, to), (Host, from), bytes)
    }

    cuMemcpyDtoH_v2(to: u64, from: u64, bytes: u64) {
        now("cuMemcpyDtoH", (Host, to), (Device, from), bytes)
    }

    cuMemcpyDtoD_v2(to: u64, from: u64, bytes: u64) {
        now("cuMemcpyDtoD", (Device, to), (Device, from), bytes)
    }

    cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: u64, stream: u64) {
        submit("cuMemcpyHtoDAsync", (Device, to), (Host, from), bytes, stream)
    }

    cuMemcpyDtoHAsync_v2(to: u64, from: u64, bytes: u64, stream: u64) {
        submit("cuMemcpyDtoHAsync", (Host, to), (Device, from), bytes, stream)
    }

    cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: u64, stream: u64) {
        submit("cuMemcpyDtoDAsync", (Device, to), (Device, from), bytes, stream)
    }

    cuMemcpyPeer(to: u64, _to_context: u64, from: u64, _from_context: u64, bytes: u64) {
        now("cuMemcpyPeer", (Device, to), (Device, from), bytes)
    }

    cuMemcpyPeerAsync(to: u64, _to_context: u64, from: u64, _from_context: u64, bytes: u64, stream: u64) {
        submit("cuMemcpyPeerAsync", (Device, to), (Device, from), bytes, stream)
    }

    cuMemcpy2D_v2(copy: *const Copy2) {
        copy2("cuMemcpy2D", copy, 0, true)
    }

    cuMemcpy2DUnaligned_v2(copy: *const Copy2) {
        copy2("cuMemcpy2DUnaligned", copy, 0, true)
    }

    cuMemcpy2DAsync_v2(copy: *const Copy2, stream: u64) {
        copy2("cuMemcpy2DAsync", copy, stream, false)
    }

    cuMemcpy3D_v2(copy: *const Copy3) {
        let stream = stream::get(0)?;
        stream.submit(work3("cuMemcpy3D", &get(copy)?)?)?;
        stream.synchronise()
    }

    cuMemcpy3DAsync_v2(copy: *const Copy3, stream: u64) {
        stream::get(stream)?.submit(work3("cuMemcpy3DAsync", &get(copy)?)?)
    }
}
