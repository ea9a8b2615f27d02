//! Device memory: buffers at tagged virtual addresses, safe to share between blocks.
//!
//! Bits 63…40 of an address say which buffer; the rest is the offset plus a bias, so that an
//! address a little before a buffer is recognised as such. Buffers are arrays of atomic 64-bit
//! words: blocks run in parallel, and a race in a kernel must not become one in the interpreter.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use ptxsim::exec::global::{GlobalMemory, Region};

use crate::scalar::lanes::Word;

const REGION_BITS: u32 = 40;
/// Where in its region a buffer starts.
const BIAS: u64 = 1 << 38;
/// The largest buffer.
const MAX_BYTES: usize = 1 << 36;
/// What running blocks may hold allocated at one time.
const DYNAMIC_BYTES: u64 = 1 << 32;
const MAX_BUFFERS: usize = (1 << 24) - 2;

#[derive(Debug)]
struct Buffer {
    /// For messages: "argument 2", "global `weights`".
    name: String,
    words: Box<[AtomicU64]>,
    bytes: usize,
    writable: bool,
}

impl Buffer {
    fn zeros(name: String, bytes: usize) -> Self {
        let words = (0..bytes.div_ceil(8)).map(|_| AtomicU64::new(0));
        Self {
            name,
            words: words.collect(),
            bytes,
            writable: true,
        }
    }

    fn new(name: String, data: &[u8], writable: bool) -> Self {
        let words = data
            .chunks(8)
            .map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                AtomicU64::new(u64::from_le_bytes(word))
            })
            .collect();
        Self {
            name,
            words,
            bytes: data.len(),
            writable,
        }
    }
}

/// Why an access failed, without who made it.
pub type Access<T> = Result<T, String>;

/// All memory of a launch.
#[derive(Debug)]
pub struct Memory {
    buffers: Vec<Buffer>,
    /// Allocations made while running; `None` once freed.
    dynamic: RwLock<Vec<Option<Arc<Buffer>>>>,
    /// Bytes that running blocks may still allocate.
    room: AtomicU64,
    /// Memory of the process that a driver lends, at its own addresses.
    lent: Option<GlobalMemory>,
}

impl Default for Memory {
    fn default() -> Self {
        Self::with_room(DYNAMIC_BYTES)
    }
}

/// A located access: a word index and a shift within one buffer.
struct Place<'a> {
    words: &'a [AtomicU64],
    byte: usize,
}

fn address_of(index: usize) -> u64 {
    ((index as u64 + 1) << REGION_BITS) + BIAS
}

fn mask(bytes: usize) -> u64 {
    u64::MAX >> (64 - 8 * bytes.clamp(1, 8))
}

impl Memory {
    /// Empty memory, in which running blocks may hold `bytes` bytes allocated at one time.
    pub fn with_room(bytes: u64) -> Self {
        Self {
            buffers: Vec::new(),
            dynamic: RwLock::default(),
            room: AtomicU64::new(bytes),
            lent: None,
        }
    }

    /// Memory that kernels may use at its own addresses, in the order of these.
    pub fn lend(&mut self, regions: Arc<[Region]>) {
        self.lent = Some(GlobalMemory::new(Vec::new(), regions));
    }

    /// The lent region around `bytes` bytes at `address`, and their offset there.
    fn lent(&self, address: u64, bytes: usize) -> Option<(&Region, u64)> {
        let found = self.lent.as_ref()?.locate(address, bytes as u64, &mut 0);
        found.ok().filter(|_| bytes > 0)
    }

    /// A buffer holding `data`; its address.
    pub fn add(&mut self, name: impl Into<String>, data: &[u8]) -> Access<u64> {
        self.insert(name.into(), data, true)
    }

    /// A buffer that kernels may only read.
    pub fn add_constant(&mut self, name: impl Into<String>, data: &[u8]) -> Access<u64> {
        self.insert(name.into(), data, false)
    }

    fn insert(&mut self, name: String, data: &[u8], writable: bool) -> Access<u64> {
        if data.len() > MAX_BYTES || self.buffers.len() >= MAX_BUFFERS / 2 {
            return Err(format!("no room for {name}: {} bytes", data.len()));
        }
        self.buffers.push(Buffer::new(name, data, writable));
        Ok(address_of(self.buffers.len() - 1))
    }

    /// The bytes of the buffer at `address`.
    pub fn bytes(&self, address: u64) -> Option<Vec<u8>> {
        let index = (address >> REGION_BITS).checked_sub(1)? as usize;
        let buffer = self.buffers.get(index)?;
        let mut bytes: Vec<u8> = buffer
            .words
            .iter()
            .flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes())
            .collect();
        bytes.truncate(buffer.bytes);
        Some(bytes)
    }

    /// Memory of `bytes` zero bytes for a running block.
    pub fn allocate(&self, bytes: usize) -> Access<u64> {
        let refused = || format!("cannot allocate {bytes} bytes");
        self.room
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| {
                room.checked_sub(bytes as u64)
            })
            .map_err(|_| refused())?;
        let buffer = Buffer::zeros("an alloca".into(), bytes);
        let mut dynamic = self.dynamic.write().map_err(|_| refused())?;
        if self.buffers.len() + dynamic.len() >= MAX_BUFFERS {
            return Err(refused());
        }
        dynamic.push(Some(Arc::new(buffer)));
        Ok(address_of(self.buffers.len() + dynamic.len() - 1))
    }

    /// Ends the life of what [`Memory::allocate`] returned.
    pub fn release(&self, address: u64) {
        let index = ((address >> REGION_BITS) as usize).wrapping_sub(1 + self.buffers.len());
        if let Ok(mut dynamic) = self.dynamic.write()
            && let Some(buffer) = dynamic.get_mut(index).and_then(Option::take)
        {
            self.room.fetch_add(buffer.bytes as u64, Ordering::Relaxed);
        }
    }

    /// Runs `f` on the `bytes` bytes at `address`, which `verb` names.
    fn with<T>(
        &self,
        address: u64,
        bytes: usize,
        verb: &str,
        f: impl FnOnce(Place) -> T,
    ) -> Access<T> {
        let index = ((address >> REGION_BITS) as usize).wrapping_sub(1);
        if let Some(buffer) = self.buffers.get(index) {
            return Ok(f(locate(buffer, address, bytes, verb)?));
        }
        let buffer = self
            .dynamic
            .read()
            .ok()
            .and_then(|dynamic| dynamic.get(index.wrapping_sub(self.buffers.len()))?.clone());
        match buffer {
            Some(buffer) => Ok(f(locate(&buffer, address, bytes, verb)?)),
            None => Err(
                match self
                    .lent
                    .as_ref()
                    .map(|l| l.locate(address, bytes as u64, &mut 0))
                {
                    Some(Err(near)) => near.message,
                    _ => format!("{verb} {bytes} bytes at {address:#x}, which is in no buffer"),
                },
            ),
        }
    }

    /// The `bytes` (1, 2, 4, 8) bytes at an address that they divide.
    pub fn read(&self, address: u64, bytes: usize) -> Access<u64> {
        aligned(address, bytes, "reads")?;
        if let Some((region, offset)) = self.lent(address, bytes) {
            return Ok(region.load(offset, bytes as u32));
        }
        self.with(address, bytes, "reads", |place| {
            let word = place.words[place.byte / 8].load(Ordering::Relaxed);
            (word >> (8 * (place.byte % 8))) & mask(bytes)
        })
    }

    pub fn write(&self, address: u64, bytes: usize, value: u64) -> Access<()> {
        self.update(address, bytes, |_| value).map(drop)
    }

    /// Replaces a value by a function of it in one atomic step; what was there.
    pub fn update(&self, address: u64, bytes: usize, f: impl Fn(u64) -> u64) -> Access<u64> {
        aligned(address, bytes, "writes")?;
        if let Some((region, offset)) = self.lent(address, bytes) {
            return Ok(region.update(offset, bytes as u32, f));
        }
        self.with(address, bytes, "writes", |place| {
            let (word, shift) = (&place.words[place.byte / 8], 8 * (place.byte % 8));
            let mask = mask(bytes);
            let replace = |old: u64| {
                let new = f((old >> shift) & mask) & mask;
                Some((old & !(mask << shift)) | (new << shift))
            };
            let old = word
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, replace)
                .unwrap_or_else(|old| old);
            (old >> shift) & mask
        })
    }

    /// Appends `count` consecutive elements to `out`.
    pub fn read_row<W: Word>(&self, address: u64, count: usize, out: &mut Vec<W>) -> Access<()> {
        let bytes = W::BITS as usize / 8;
        aligned(address, bytes, "reads")?;
        if let Some((region, offset)) = self.lent(address, count * bytes) {
            let offsets = (0..count).map(|i| offset + (i * bytes) as u64);
            out.extend(offsets.map(|at| W::of(region.load(at, bytes as u32))));
            return Ok(());
        }
        self.with(address, count * bytes, "reads", |place| {
            let mut byte = place.byte;
            let end = byte + count * bytes;
            while byte < end {
                let word = place.words[byte / 8].load(Ordering::Relaxed);
                let stop = end.min((byte / 8 + 1) * 8);
                while byte < stop {
                    out.push(W::of(word >> (8 * (byte % 8))));
                    byte += bytes;
                }
            }
        })
    }

    /// Writes consecutive elements.
    pub fn write_row<W: Word>(&self, address: u64, values: &[W]) -> Access<()> {
        let bytes = W::BITS as usize / 8;
        aligned(address, bytes, "writes")?;
        if let Some((region, mut offset)) = self.lent(address, values.len() * bytes) {
            for value in values {
                region.store(offset, bytes as u32, value.bits());
                offset += bytes as u64;
            }
            return Ok(());
        }
        self.with(address, values.len() * bytes, "writes", |place| {
            let (start, end) = (place.byte, place.byte + values.len() * bytes);
            let mut rest = values;
            let mut byte = start;
            while byte < end {
                let stop = end.min((byte / 8 + 1) * 8);
                let (now, later) = rest.split_at((stop - byte) / bytes);
                rest = later;
                store_part(&place.words[byte / 8], byte % 8, now);
                byte = stop;
            }
        })
    }
}

/// Stores elements into one word, from a byte on.
fn store_part<W: Word>(word: &AtomicU64, byte: usize, values: &[W]) {
    let bytes = W::BITS as usize / 8;
    let mut part = 0;
    for (i, value) in values.iter().enumerate() {
        part |= value.bits() << (8 * (byte + i * bytes));
    }
    let covered = values.len() * bytes;
    if covered == 8 {
        return word.store(part, Ordering::Relaxed);
    }
    let mask = mask(covered) << (8 * byte);
    // Neighbours may be written by other blocks at the same time.
    let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| {
        Some((old & !mask) | part)
    });
}

fn aligned(address: u64, bytes: usize, verb: &str) -> Access<()> {
    if address.is_multiple_of(bytes as u64) {
        Ok(())
    } else {
        Err(format!(
            "{verb} {bytes} bytes at {address:#x}, which is not a multiple of {bytes}"
        ))
    }
}

fn locate<'a>(buffer: &'a Buffer, address: u64, bytes: usize, verb: &str) -> Access<Place<'a>> {
    let offset = (address & ((1 << REGION_BITS) - 1)) as i64 - BIAS as i64;
    let inside = usize::try_from(offset).ok().filter(|start| {
        start
            .checked_add(bytes)
            .is_some_and(|end| end <= buffer.bytes)
    });
    let Some(byte) = inside else {
        return Err(format!(
            "{verb} {bytes} bytes at {address:#x}, outside {}: byte {offset} of {}",
            buffer.name, buffer.bytes
        ));
    };
    if verb == "writes" && !buffer.writable {
        return Err(format!(
            "{verb} {bytes} bytes at {address:#x}, which is constant: {}",
            buffer.name
        ));
    }
    Ok(Place {
        words: &buffer.words,
        byte,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_elements_agree_at_every_offset() {
        let mut memory = Memory::default();
        let data: Vec<u8> = (0..67).collect();
        let base = memory.add("argument 0", &data).expect("room");
        for start in 0..20 {
            for count in 0..15 {
                let mut row: Vec<u16> = Vec::new();
                let address = base + 2 * start;
                memory.read_row(address, count, &mut row).expect("inside");
                for (i, &value) in row.iter().enumerate() {
                    let one = memory.read(address + 2 * i as u64, 2).expect("inside");
                    assert_eq!(one, u64::from(value));
                }
                let doubled: Vec<u16> = row.iter().map(|v| v ^ 0xffff).collect();
                memory.write_row(address, &doubled).expect("inside");
                memory.write_row(address, &row).expect("inside");
            }
        }
        assert_eq!(memory.bytes(base), Some(data));
    }

    #[test]
    fn accesses_outside_are_named() {
        let mut memory = Memory::default();
        let base = memory.add("argument 0", &[1; 16]).expect("room");
        let constant = memory.add_constant("global `c`", &[1; 16]).expect("room");
        assert_eq!(memory.read(base + 8, 8), Ok(0x0101_0101_0101_0101));
        let message = memory.read(base + 16, 4).expect_err("outside");
        assert!(
            message.contains("outside argument 0: byte 16 of 16"),
            "{message}"
        );
        let message = memory.read(base - 4, 4).expect_err("before");
        assert!(message.contains("byte -4 of 16"), "{message}");
        assert!(
            memory
                .read(base + 1, 4)
                .expect_err("odd")
                .contains("multiple of 4")
        );
        assert!(
            memory
                .write(constant, 4, 0)
                .expect_err("const")
                .contains("constant")
        );
        assert!(memory.read(0, 1).expect_err("null").contains("no buffer"));
        let fresh = memory.allocate(8).expect("room");
        memory.write(fresh, 8, 7).expect("writable");
        memory.release(fresh);
        assert!(memory.read(fresh, 8).is_err());
    }

    #[test]
    fn updates_are_atomic() {
        let mut memory = Memory::default();
        let base = memory.add("argument 0", &[0; 8]).expect("room");
        std::thread::scope(|scope| {
            for half in 0..2 {
                let memory = &memory;
                scope.spawn(move || {
                    for _ in 0..10_000 {
                        memory
                            .update(base + 4 * half, 4, |v| v + 1)
                            .expect("inside");
                    }
                });
            }
        });
        assert_eq!(memory.read(base, 8), Ok(10_000 << 32 | 10_000));
    }
}
