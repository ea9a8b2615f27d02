//! The objects of `malloc`.

use crate::program::window;
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
    pub(super) fn allocate(&self, bytes: u64) -> Option<(u64, bool)> {
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

    pub(super) fn free(&self, address: u64) -> Result<(), String> {
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
