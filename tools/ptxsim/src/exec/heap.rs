//! `malloc` and `free` of device code, which every driver provides (CUDA C++ Programming Guide, "Dynamic Global Memory
//! Allocation and Operations").
//!
//! Addresses are not used twice while there are others, so that a use after `free` does not hit another object. What
//! lies between objects is not told apart from them.

use super::cluster::Env;
use super::fault::Trap;
use super::memory::lanes;
use super::printf::{argument, give_back};
use super::step::Flow;
use super::warp::{Frame, Warp};
use crate::program::inst::CallValue;
use crate::program::{LANES, window};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The driver's default.
pub const BYTES: u64 = 8 << 20;
const ALIGN: u64 = 16;

/// The objects of a launch.
#[derive(Debug)]
pub struct Heap(Mutex<Objects>);

#[derive(Debug)]
struct Objects {
    next: u64,
    /// bytes by address
    live: BTreeMap<u64, u64>,
    freed: Vec<(u64, u64)>,
}

impl Default for Heap {
    fn default() -> Self {
        Heap(Mutex::new(Objects {
            next: window::HEAP,
            live: BTreeMap::new(),
            freed: Vec::new(),
        }))
    }
}

impl Heap {
    /// An address of `bytes` bytes and whether it was used before, or `None` if there is no room.
    fn allocate(&self, bytes: u64) -> Option<(u64, bool)> {
        let mut objects = self.0.lock().unwrap_or_else(|p| p.into_inner());
        let bytes = bytes.checked_next_multiple_of(ALIGN)?.max(ALIGN);
        let end = objects.next.checked_add(bytes)?;
        let (address, bytes, used) = if end <= window::HEAP + BYTES {
            (std::mem::replace(&mut objects.next, end), bytes, false)
        } else {
            let fits = objects.freed.iter().position(|&(_, size)| size >= bytes)?;
            let (address, size) = objects.freed.swap_remove(fits);
            (address, size, true)
        };
        objects.live.insert(address, bytes);
        Some((address, used))
    }

    fn free(&self, address: u64) -> Result<(), String> {
        let mut objects = self.0.lock().unwrap_or_else(|p| p.into_inner());
        match objects.live.remove(&address) {
            Some(bytes) => {
                objects.freed.push((address, bytes));
                Ok(())
            }
            None if objects.freed.iter().any(|&(a, _)| a == address) => {
                Err(format!("frees {address:#x} twice"))
            }
            None => Err(format!("frees {address:#x}, which malloc has not given")),
        }
    }
}

/// `malloc(bytes)`
pub fn malloc(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    args: &[CallValue],
    returns: &[CallValue],
) -> Result<Flow, Trap> {
    let mut row = [0; LANES];
    for lane in lanes(active) {
        let bytes = argument(warp, frame, lane, args, 0);
        let Some((address, used)) = env.shared.heap.allocate(bytes) else {
            continue;
        };
        if let (true, Some(races)) = (used, env.shared.races) {
            races.forget(address, bytes);
        }
        row[lane] = address;
    }
    give_back(warp, frame, active, returns, &row);
    Ok(Flow::Next)
}

/// `free(address)`
pub fn free(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    args: &[CallValue],
) -> Result<Flow, Trap> {
    for lane in lanes(active) {
        let address = argument(warp, frame, lane, args, 0);
        if address != 0 {
            let freed = env.shared.heap.free(address);
            freed.map_err(|m| Trap::lane(lane, m))?;
        }
    }
    Ok(Flow::Next)
}
