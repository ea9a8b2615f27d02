//! Memory that kernels may touch: blocks of the process's own memory, at their own addresses.
//!
//! A block is an allocation of the driver's, a variable of a module, host memory that the program registered, or a range
//! that something else lent (a tensor that a Python library keeps on the CPU). Each has a name and exact bounds, so that a
//! kernel's access outside all of them is found, and said in words.

use crate::account::Account;
use crate::call::refuse;
use crate::handles::{Handle, fresh};
use crate::status::{Result, Status};
use ptxsim::exec::foreign::Foreign;
use ptxsim::exec::global::Region;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `cuMemAlloc` and its relatives
    Device,
    /// `cuMemAllocManaged`
    Managed,
    /// `cuMemAllocHost`, `cuMemHostAlloc`
    Host,
    /// `cuMemHostRegister`
    Registered,
    /// a variable of a module
    Variable,
    /// a variable of a module that the host uses, too
    ManagedVariable,
    /// memory of another library that stands for device memory
    Lent,
}

/// A stretch of memory.
#[derive(Debug)]
pub struct Block {
    /// first address
    pub base: u64,
    /// bytes
    pub len: u64,
    /// what it is
    pub kind: Kind,
    /// the context that it belongs to
    pub context: Handle,
    /// a number that no other block has
    pub id: u64,
    /// kernels may not write it
    pub read_only: bool,
    name: String,
    own: Option<Layout>,
    /// where it is counted
    account: Option<Arc<Account>>,
}

/// Bytes behind an allocation that belong to nobody, so that a small overrun hits no other block.
const GUARD: usize = 256;
/// Alignment of allocations, as hardware's.
const ALIGN: usize = 512;

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(account) = &self.account {
            account.give_back(self.len);
        }
        if let Some(layout) = self.own {
            // SAFETY: `Block::allocate` got it with this layout, and nobody else frees it.
            unsafe {
                dealloc(
                    std::ptr::with_exposed_provenance_mut(self.base as usize),
                    layout,
                )
            };
        }
    }
}

impl Block {
    /// A block of new zeroed memory, without a name.
    fn own(bytes: u64, align: usize, kind: Kind, context: Handle) -> Result<Block> {
        let size = usize::try_from(bytes)
            .ok()
            .and_then(|b| b.checked_add(GUARD));
        let layout = size.and_then(|s| Layout::from_size_align(s, align.max(1)).ok());
        let layout = layout.ok_or(Status::OUT_OF_MEMORY)?;
        // SAFETY: the size is not 0.
        let pointer = unsafe { alloc_zeroed(layout) };
        if pointer.is_null() {
            return Err(Status::OUT_OF_MEMORY);
        }
        Ok(Block {
            base: pointer.expose_provenance() as u64,
            len: bytes,
            kind,
            context,
            id: fresh(),
            read_only: false,
            name: String::new(),
            own: Some(layout),
            account: None,
        })
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One past the last address.
    pub fn end(&self) -> u64 {
        self.base.saturating_add(self.len)
    }
}

/// The blocks at one moment, as a launch wants them. They live as long as this does.
pub struct Snapshot {
    /// the regions by address
    pub regions: Arc<[Region]>,
    _blocks: Vec<Arc<Block>>,
}

struct Memory {
    blocks: BTreeMap<u64, Arc<Block>>,
    snapshot: Option<Arc<Snapshot>>,
    count: u64,
    bytes: u64,
}

static MEMORY: Mutex<Memory> = Mutex::new(Memory {
    blocks: BTreeMap::new(),
    snapshot: None,
    count: 0,
    bytes: 0,
});

fn lock() -> MutexGuard<'static, Memory> {
    MEMORY.lock().unwrap_or_else(|p| p.into_inner())
}

impl Memory {
    /// The last block that starts at or before an address.
    fn before(&self, address: u64) -> Option<&Arc<Block>> {
        self.blocks.range(..=address).next_back().map(|b| b.1)
    }

    fn overlaps(&self, base: u64, len: u64) -> Vec<u64> {
        let end = base.saturating_add(len);
        let below = self.before(base).filter(|b| b.end() > base).map(|b| b.base);
        let inside = self.blocks.range(base..end).map(|b| *b.0);
        below
            .into_iter()
            .filter(|b| *b != base)
            .chain(inside)
            .collect()
    }

    fn insert(&mut self, mut block: Block) -> Arc<Block> {
        self.count += 1;
        if block.name.is_empty() {
            let what = match block.kind {
                Kind::Device => "device memory",
                Kind::Managed => "managed memory",
                Kind::Host => "host memory",
                Kind::Registered => "registered host memory",
                Kind::Variable | Kind::ManagedVariable => "variable",
                Kind::Lent => "lent memory",
            };
            block.name = format!("{what} {}", self.count);
        }
        self.snapshot = None;
        self.bytes += block.len;
        let block = Arc::new(block);
        self.blocks.insert(block.base, Arc::clone(&block));
        block
    }

    fn take(&mut self, base: u64) -> Option<Arc<Block>> {
        let block = self.blocks.remove(&base)?;
        self.snapshot = None;
        self.bytes -= block.len;
        Some(block)
    }
}

/// New zeroed memory.
pub fn allocate(bytes: u64, kind: Kind, context: Handle) -> Result<Arc<Block>> {
    if bytes == 0 {
        return Err(Status::INVALID_VALUE);
    }
    named(bytes, ALIGN, kind, context, "", false)
}

/// New zeroed memory with a name and an alignment.
pub fn named(
    bytes: u64,
    align: usize,
    kind: Kind,
    context: Handle,
    name: &str,
    read_only: bool,
) -> Result<Arc<Block>> {
    let mut block = Block::own(bytes, align, kind, context)?;
    block.read_only = read_only;
    block.name = name.to_owned();
    Ok(lock().insert(block))
}

/// New zeroed memory of a pool.
pub fn pooled(bytes: u64, context: Handle, account: &Arc<Account>) -> Result<Arc<Block>> {
    if bytes == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let mut block = Block::own(bytes, ALIGN, Kind::Device, context)?;
    account.take(bytes);
    block.account = Some(Arc::clone(account));
    Ok(lock().insert(block))
}

/// Makes a range of the process's memory accessible to kernels. What overlaps it and is of the same kind is gone before,
/// if `replace` says so; other overlaps are an error.
///
/// # Safety
/// The range can be read and written until it is given back.
pub unsafe fn borrow(
    base: u64,
    len: u64,
    kind: Kind,
    context: Handle,
    name: &str,
    replace: bool,
) -> Result {
    let mut memory = lock();
    for other in memory.overlaps(base, len) {
        let same = memory.blocks.get(&other).is_some_and(|b| b.kind == kind);
        if !(same && replace) {
            return Err(Status::HOST_MEMORY_ALREADY_REGISTERED);
        }
        memory.take(other);
    }
    memory.insert(Block {
        base,
        len,
        kind,
        context,
        id: fresh(),
        read_only: false,
        name: name.to_owned(),
        own: None,
        account: None,
    });
    Ok(())
}

/// Gives a block of one of these kinds back.
pub fn release(base: u64, kinds: &[Kind], missing: Status) -> Result {
    let mut memory = lock();
    if memory
        .blocks
        .get(&base)
        .is_none_or(|b| !kinds.contains(&b.kind))
    {
        return Err(missing);
    }
    // Dropped when the last launch that uses it is over.
    let block = memory.take(base);
    drop(memory);
    drop(block);
    Ok(())
}

/// The block around an address.
pub fn find(address: u64) -> Option<Arc<Block>> {
    let memory = lock();
    let block = memory.before(address)?;
    let inside = address - block.base < block.len;
    inside.then(|| Arc::clone(block))
}

/// Bytes in all blocks.
pub fn used() -> u64 {
    lock().bytes
}

/// All blocks, for a launch.
pub fn snapshot() -> Arc<Snapshot> {
    let mut memory = lock();
    if let Some(snapshot) = &memory.snapshot {
        return Arc::clone(snapshot);
    }
    let blocks: Vec<Arc<Block>> = memory.blocks.values().cloned().collect();
    let regions = blocks.iter().map(|block| {
        // SAFETY: the snapshot keeps the block, and so its memory; of borrowed memory the lender has promised it. No Rust
        // reference to it exists.
        let bytes = unsafe { Foreign::new(block.base, block.len) };
        Region::foreign(&block.name, block.base, bytes, block.read_only)
    });
    let snapshot = Arc::new(Snapshot {
        regions: regions.collect(),
        _blocks: blocks,
    });
    memory.snapshot = Some(Arc::clone(&snapshot));
    snapshot
}

/// Checks that a function's device pointer has `bytes` bytes.
pub fn check(function: &str, what: &str, address: u64, bytes: u64) -> Result {
    if bytes == 0 {
        return Ok(());
    }
    match find(address) {
        Some(block) if bytes <= block.end() - address => Ok(()),
        Some(block) => refuse(
            Status::INVALID_VALUE,
            format_args!(
                "{function}: {what} of {bytes} bytes at {address:#x} runs over the end of `{}` ({} bytes at {:#x})",
                block.name, block.len, block.base
            ),
        ),
        None => refuse(
            Status::INVALID_VALUE,
            format_args!(
                "{function}: {what} of {bytes} bytes at {address:#x} is no memory of the device"
            ),
        ),
    }
}

/// Copies bytes; the ranges may overlap.
///
/// # Safety
/// The ranges exist.
pub unsafe fn copy(to: u64, from: u64, bytes: u64) {
    let (to, from) = (to as usize, from as usize);
    // SAFETY: the caller's promise.
    unsafe {
        std::ptr::copy(
            std::ptr::with_exposed_provenance::<u8>(from),
            std::ptr::with_exposed_provenance_mut::<u8>(to),
            bytes as usize,
        );
    }
}

/// Fills `count` elements of 1, 2 or 4 bytes.
///
/// # Safety
/// The range exists, and is aligned to the elements.
pub unsafe fn fill(to: u64, value: u32, size: u32, count: u64) {
    let (to, count) = (to as usize, count as usize);
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => std::ptr::with_exposed_provenance_mut::<u8>(to).write_bytes(value as u8, count),
            2 => {
                let to = std::ptr::with_exposed_provenance_mut::<u16>(to);
                (0..count).for_each(|i| to.add(i).write(value as u16));
            }
            _ => {
                let to = std::ptr::with_exposed_provenance_mut::<u32>(to);
                (0..count).for_each(|i| to.add(i).write(value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_by_any_address_inside() {
        let block = allocate(100, Kind::Device, 0).unwrap();
        assert_eq!(block.base % ALIGN as u64, 0);
        assert_eq!(find(block.base + 99).map(|b| b.id), Some(block.id));
        assert!(find(block.base + 100).is_none());
        assert!(check("test", "a copy", block.base + 50, 50).is_ok());
        assert_eq!(
            check("test", "a copy", block.base + 50, 51),
            Err(Status::INVALID_VALUE)
        );
        let held = snapshot();
        let wrong = Status::INVALID_VALUE;
        assert_eq!(release(block.base, &[Kind::Host], wrong), Err(wrong));
        release(block.base, &[Kind::Device], wrong).unwrap();
        assert!(find(block.base).is_none());
        assert!(held.regions.iter().any(|r| r.base == block.base));
    }

    #[test]
    fn a_new_loan_replaces_those_that_it_overlaps() {
        let memory = vec![0u64; 64];
        let at = memory.as_ptr().expose_provenance() as u64;
        // SAFETY: the vector lives to the end.
        let lend = |offset, bytes, replace| unsafe {
            borrow(at + offset, bytes, Kind::Lent, 0, "tensor", replace)
        };
        lend(0, 128, true).unwrap();
        lend(128, 64, true).unwrap();
        assert_eq!(
            lend(64, 100, false),
            Err(Status::HOST_MEMORY_ALREADY_REGISTERED)
        );
        lend(64, 100, true).unwrap();
        assert!(find(at).is_none() && find(at + 170).is_none());
        assert_eq!(find(at + 70).map(|b| b.len), Some(100));
        release(at + 64, &[Kind::Lent], Status::INVALID_VALUE).unwrap();
    }
}
