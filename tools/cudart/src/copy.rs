//! Copies and fills.

use crate::call::{Error, Result, get};
use crate::context::enter;
use crate::driver;
use crate::launch::{PER_THREAD, per_thread};
use crate::memory::{Extent, Pitched};
use std::ffi::c_void;

/// `cudaMemcpyKind`
const HOST_TO_HOST: i32 = 0;
const HOST_TO_DEVICE: i32 = 1;
const DEVICE_TO_HOST: i32 = 2;
const DEVICE_TO_DEVICE: i32 = 3;
const DEFAULT: i32 = 4;

/// `CUmemorytype`
const HOST: i32 = 1;
const DEVICE: i32 = 2;
const UNIFIED: i32 = 4;

/// Copies, and returns when it is done.
fn now(to: u64, from: u64, bytes: u64, kind: i32) -> Result {
    enter()?;
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller of the exported function promises that the ranges exist.
    unsafe {
        match kind {
            HOST_TO_DEVICE => driver::cuMemcpyHtoD(to, from, bytes),
            DEVICE_TO_HOST => driver::cuMemcpyDtoH(to, from, bytes),
            DEVICE_TO_DEVICE => driver::cuMemcpyDtoD(to, from, bytes),
            DEFAULT | HOST_TO_HOST => driver::cuMemcpy(to, from, bytes),
            _ => Err(Error::INVALID_DIRECTION),
        }
    }
}

/// Copies in a stream.
fn later(to: u64, from: u64, bytes: u64, kind: i32, stream: u64) -> Result {
    enter()?;
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: as above.
    unsafe {
        match kind {
            HOST_TO_DEVICE => driver::cuMemcpyHtoDAsync(to, from, bytes, stream),
            DEVICE_TO_HOST => driver::cuMemcpyDtoHAsync(to, from, bytes, stream),
            DEVICE_TO_DEVICE => driver::cuMemcpyDtoDAsync(to, from, bytes, stream),
            DEFAULT | HOST_TO_HOST => driver::cuMemcpyAsync(to, from, bytes, stream),
            _ => Err(Error::INVALID_DIRECTION),
        }
    }
}

/// Copies for another file of the runtime.
pub fn copy(to: u64, from: u64, bytes: u64, kind: i32, stream: Option<u64>) -> Result {
    match stream {
        Some(stream) => later(to, from, bytes, kind, stream),
        None => now(to, from, bytes, kind),
    }
}

/// One side of `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Default)]
struct Side {
    x: u64,
    y: u64,
    z: u64,
    level: u64,
    kind: i32,
    host: u64,
    device: u64,
    array: u64,
    reserved: u64,
    pitch: u64,
    height: u64,
}

/// `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Default)]
pub struct Copy3 {
    from: Side,
    to: Side,
    width: u64,
    height: u64,
    depth: u64,
}

fn side(kind: i32, address: u64, pitch: u64, height: u64, at: [u64; 3]) -> Side {
    Side {
        x: at[0],
        y: at[1],
        z: at[2],
        kind,
        host: if kind == HOST { address } else { 0 },
        device: if kind == HOST { 0 } else { address },
        pitch,
        height,
        ..Side::default()
    }
}

/// The driver's memory types of a copy: to, from.
fn kinds(kind: i32) -> Result<(i32, i32)> {
    match kind {
        HOST_TO_HOST => Ok((HOST, HOST)),
        HOST_TO_DEVICE => Ok((DEVICE, HOST)),
        DEVICE_TO_HOST => Ok((HOST, DEVICE)),
        DEVICE_TO_DEVICE => Ok((DEVICE, DEVICE)),
        DEFAULT => Ok((UNIFIED, UNIFIED)),
        _ => Err(Error::INVALID_DIRECTION),
    }
}

/// Address and pitch.
type Rows = (u64, u64);

fn rows(to: Rows, from: Rows, width: u64, height: u64, kind: i32) -> Result<Copy3> {
    let (to_kind, from_kind) = kinds(kind)?;
    if to.1 < width || from.1 < width {
        const INVALID_PITCH: Error = Error(12);
        return Err(INVALID_PITCH);
    }
    Ok(Copy3 {
        to: side(to_kind, to.0, to.1, height, [0; 3]),
        from: side(from_kind, from.0, from.1, height, [0; 3]),
        width,
        height,
        depth: 1,
    })
}

fn submit(copy: &Copy3, stream: Option<u64>) -> Result {
    enter()?;
    let copy = std::ptr::from_ref(copy).cast::<c_void>();
    // SAFETY: the structure is `cuda.h`'s; the caller of the exported function promises that the rows exist.
    unsafe {
        match stream {
            Some(stream) => driver::cuMemcpy3DAsync(copy, stream),
            None => driver::cuMemcpy3D(copy),
        }
    }
}

/// `cudaMemcpy3DParms`
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Params3 {
    pub from_array: u64,
    pub from_at: [u64; 3],
    pub from: Pitched,
    pub to_array: u64,
    pub to_at: [u64; 3],
    pub to: Pitched,
    pub extent: Extent,
    pub kind: i32,
}

impl Params3 {
    /// The driver's form.
    pub fn driver(&self) -> Result<Copy3> {
        if self.from_array != 0 || self.to_array != 0 {
            return Err(Error::NOT_SUPPORTED);
        }
        let (to_kind, from_kind) = kinds(self.kind)?;
        Ok(Copy3 {
            to: side(
                to_kind,
                self.to.address,
                self.to.pitch,
                self.to.height,
                self.to_at,
            ),
            from: side(
                from_kind,
                self.from.address,
                self.from.pitch,
                self.from.height,
                self.from_at,
            ),
            width: self.extent.width,
            height: self.extent.height,
            depth: self.extent.depth,
        })
    }
}

/// The driver's form of a copy of bytes.
pub fn line(to: u64, from: u64, bytes: u64, kind: i32) -> Result<Copy3> {
    rows((to, bytes), (from, bytes), bytes, 1, kind)
}

fn fill(to: u64, value: i32, bytes: u64, stream: Option<u64>) -> Result {
    enter()?;
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller of the exported function promises that the range exists.
    unsafe {
        match stream {
            Some(stream) => driver::cuMemsetD8Async(to, value as u8, bytes, stream),
            None => driver::cuMemsetD8(to, value as u8, bytes),
        }
    }
}

fn fill2(to: Rows, value: i32, width: u64, height: u64, stream: Option<u64>) -> Result {
    enter()?;
    let value = value as u8;
    // SAFETY: as above.
    unsafe {
        match stream {
            Some(stream) => driver::cuMemsetD2D8Async(to.0, to.1, value, width, height, stream),
            None => driver::cuMemsetD2D8(to.0, to.1, value, width, height),
        }
    }
}

fn fill3(to: &Pitched, value: i32, extent: &Extent, stream: Option<u64>) -> Result {
    for z in 0..extent.depth {
        let slice = z
            .checked_mul(to.pitch)
            .and_then(|s| s.checked_mul(to.height));
        let at = slice.and_then(|s| to.address.checked_add(s));
        let at = at.ok_or(Error::INVALID_VALUE)?;
        fill2((at, to.pitch), value, extent.width, extent.height, stream)?;
    }
    Ok(())
}

export! {
    cudaMemcpy(to: u64, from: u64, bytes: u64, kind: i32) {
        now(to, from, bytes, kind)
    }

    cudaMemcpy_ptds(to: u64, from: u64, bytes: u64, kind: i32) {
        later(to, from, bytes, kind, PER_THREAD)?;
        driver::cuStreamSynchronize(PER_THREAD)
    }

    cudaMemcpyAsync(to: u64, from: u64, bytes: u64, kind: i32, stream: u64) {
        later(to, from, bytes, kind, stream)
    }

    cudaMemcpyAsync_ptsz(to: u64, from: u64, bytes: u64, kind: i32, stream: u64) {
        later(to, from, bytes, kind, per_thread(stream))
    }

    cudaMemcpyPeer(to: u64, _to_device: i32, from: u64, _from_device: i32, bytes: u64) {
        now(to, from, bytes, DEVICE_TO_DEVICE)
    }

    cudaMemcpyPeerAsync(to: u64, _to_device: i32, from: u64, _from_device: i32, bytes: u64, stream: u64) {
        later(to, from, bytes, DEVICE_TO_DEVICE, stream)
    }

    cudaMemcpy2D(to: u64, to_pitch: u64, from: u64, from_pitch: u64, width: u64, height: u64, kind: i32) {
        submit(&rows((to, to_pitch), (from, from_pitch), width, height, kind)?, None)
    }

    cudaMemcpy2DAsync(to: u64, to_pitch: u64, from: u64, from_pitch: u64, width: u64, height: u64, kind: i32,
        stream: u64) {
        submit(&rows((to, to_pitch), (from, from_pitch), width, height, kind)?, Some(stream))
    }

    cudaMemcpy3D(params: *const Params3) {
        submit(&get(params)?.driver()?, None)
    }

    cudaMemcpy3DAsync(params: *const Params3, stream: u64) {
        submit(&get(params)?.driver()?, Some(stream))
    }

    cudaMemset(to: u64, value: i32, bytes: u64) {
        fill(to, value, bytes, None)
    }

    cudaMemset_ptds(to: u64, value: i32, bytes: u64) {
        fill(to, value, bytes, Some(PER_THREAD))
    }

    cudaMemsetAsync(to: u64, value: i32, bytes: u64, stream: u64) {
        fill(to, value, bytes, Some(stream))
    }

    cudaMemsetAsync_ptsz(to: u64, value: i32, bytes: u64, stream: u64) {
        fill(to, value, bytes, Some(per_thread(stream)))
    }

    cudaMemset2D(to: u64, pitch: u64, value: i32, width: u64, height: u64) {
        fill2((to, pitch), value, width, height, None)
    }

    cudaMemset2DAsync(to: u64, pitch: u64, value: i32, width: u64, height: u64, stream: u64) {
        fill2((to, pitch), value, width, height, Some(stream))
    }

    cudaMemset3D(to: Pitched, value: i32, extent: Extent) {
        fill3(&to, value, &extent, None)
    }

    cudaMemset3DAsync(to: Pitched, value: i32, extent: Extent, stream: u64) {
        fill3(&to, value, &extent, Some(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a C compiler lays out the structures of `driver_types.h` and `cuda.h` 13.5.
    #[test]
    fn sizes() {
        assert_eq!(size_of::<Copy3>(), 200);
        assert_eq!(size_of::<Params3>(), 160);
    }
}
