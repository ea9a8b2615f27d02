//! Variables of the device, by those of the host that stand for them.

use crate::call::{Error, Result, put};
use crate::context::enter;
use crate::copy::copy;
use crate::launch::per_thread;
use crate::registry::variable;

/// The address of `bytes` bytes of a variable from `offset` on.
pub fn part(symbol: u64, bytes: u64, offset: u64) -> Result<u64> {
    enter()?;
    let (address, size) = variable(symbol)?;
    match offset.checked_add(bytes) {
        Some(end) if end <= size => Ok(address + offset),
        _ => Err(Error::INVALID_VALUE),
    }
}

export! {
    cudaGetSymbolAddress(to: *mut u64, symbol: u64) {
        enter()?;
        put(to, variable(symbol)?.0)
    }

    cudaGetSymbolSize(to: *mut u64, symbol: u64) {
        enter()?;
        put(to, variable(symbol)?.1)
    }

    cudaMemcpyToSymbol(symbol: u64, from: u64, bytes: u64, offset: u64, kind: i32) {
        copy(part(symbol, bytes, offset)?, from, bytes, kind, None)
    }

    cudaMemcpyFromSymbol(to: u64, symbol: u64, bytes: u64, offset: u64, kind: i32) {
        copy(to, part(symbol, bytes, offset)?, bytes, kind, None)
    }

    cudaMemcpyToSymbolAsync(symbol: u64, from: u64, bytes: u64, offset: u64, kind: i32, stream: u64) {
        copy(part(symbol, bytes, offset)?, from, bytes, kind, Some(stream))
    }

    cudaMemcpyFromSymbolAsync(to: u64, symbol: u64, bytes: u64, offset: u64, kind: i32, stream: u64) {
        copy(to, part(symbol, bytes, offset)?, bytes, kind, Some(stream))
    }

    cudaMemcpyToSymbolAsync_ptsz(symbol: u64, from: u64, bytes: u64, offset: u64, kind: i32, stream: u64) {
        copy(part(symbol, bytes, offset)?, from, bytes, kind, Some(per_thread(stream)))
    }

    cudaMemcpyFromSymbolAsync_ptsz(to: u64, symbol: u64, bytes: u64, offset: u64, kind: i32, stream: u64) {
        copy(to, part(symbol, bytes, offset)?, bytes, kind, Some(per_thread(stream)))
    }
}
