//! Memory shared between processes, as far as both are this one.

use crate::abi::IpcHandle;
use crate::call::{put, refuse};
use crate::memory;
use crate::status::{Result, Status};

/// What our handles begin with.
const MAGIC: u64 = u64::from_le_bytes(*b"tilecIPC");

fn open(handle: &IpcHandle) -> Result<u64> {
    let [magic, process, base, id, ..] = handle.words;
    if magic != MAGIC {
        return Err(Status::INVALID_VALUE);
    }
    if process != u64::from(std::process::id()) {
        return refuse(
            Status::NOT_SUPPORTED,
            format_args!(
                "the memory is process {process}'s; memory of other processes is not emulated"
            ),
        );
    }
    let block = memory::find(base).filter(|b| b.id == id);
    Ok(block.ok_or(Status::INVALID_VALUE)?.base)
}

export! {
    cuIpcGetMemHandle(to: *mut IpcHandle, address: u64) {
        let block = memory::find(address).ok_or(Status::INVALID_VALUE)?;
        let mut words = [0; 8];
        words[..4].copy_from_slice(&[MAGIC, u64::from(std::process::id()), block.base, block.id]);
        put(to, IpcHandle { words })
    }

    cuIpcOpenMemHandle_v2(to: *mut u64, handle: IpcHandle, _flags: u32) {
        put(to, open(&handle)?)
    }

    cuIpcCloseMemHandle(address: u64) {
        memory::find(address).map(drop).ok_or(Status::INVALID_VALUE)
    }
}
