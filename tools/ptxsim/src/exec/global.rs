//! Global memory: named regions that all blocks share.
//!
//! Regions hold 64-bit atomic words, so that blocks on different threads may touch them at once without undefined
//! behaviour and device atomics are host atomics. Narrow stores merge into their word. Regions of a driver are memory of
//! the process itself ([`Foreign`]).

use super::fault::Trap;
use super::foreign::Foreign;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A stretch of device memory.
#[derive(Debug)]
pub struct Region {
    /// buffer or variable name
    pub name: String,
    /// first address; a multiple of 16, unless the memory is foreign
    pub base: u64,
    /// bytes
    pub len: u64,
    /// `.const`
    pub read_only: bool,
    memory: Memory,
}

/// Where the bytes of a region are.
#[derive(Debug)]
enum Memory {
    Own(Box<[AtomicU64]>),
    Foreign(Foreign),
}

impl Region {
    /// A region with initial contents.
    pub fn new(name: &str, base: u64, bytes: &[u8], read_only: bool) -> Region {
        let words = bytes
            .chunks(8)
            .map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                AtomicU64::new(u64::from_le_bytes(word))
            })
            .collect();
        Region {
            name: name.to_owned(),
            base,
            len: bytes.len() as u64,
            read_only,
            memory: Memory::Own(words),
        }
    }

    /// A region of the process's own memory, at its own address.
    pub fn foreign(name: &str, base: u64, memory: Foreign, read_only: bool) -> Region {
        Region {
            name: name.to_owned(),
            base,
            len: memory.len(),
            read_only,
            memory: Memory::Foreign(memory),
        }
    }

    /// The contents.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len as usize];
        self.read(0, &mut bytes);
        bytes
    }

    /// Copies bytes out, at any alignment.
    fn read(&self, offset: u64, out: &mut [u8]) {
        let mut i = 0;
        while i < out.len() {
            let at = offset + i as u64;
            let whole = (self.base + at).is_multiple_of(8) && out.len() - i >= 8;
            let n = if whole { 8 } else { 1 };
            let word = self.load(at, n as u32).to_le_bytes();
            out[i..i + n].copy_from_slice(&word[..n]);
            i += n;
        }
    }

    /// Copies bytes in, at any alignment.
    fn write(&self, offset: u64, bytes: &[u8]) {
        let mut i = 0;
        while i < bytes.len() {
            let at = offset + i as u64;
            let whole = (self.base + at).is_multiple_of(8) && bytes.len() - i >= 8;
            let n = if whole { 8 } else { 1 };
            let mut word = [0; 8];
            word[..n].copy_from_slice(&bytes[i..i + n]);
            self.store(at, n as u32, u64::from_le_bytes(word));
            i += n;
        }
    }

    /// Reads 1, 2, 4 or 8 bytes that do not straddle a word.
    #[inline]
    pub fn load(&self, offset: u64, size: u32) -> u64 {
        let words = match &self.memory {
            Memory::Own(words) => words,
            Memory::Foreign(memory) => return memory.load(offset, size),
        };
        let word = words[(offset / 8) as usize].load(Relaxed) >> (8 * (offset % 8));
        if size == 8 {
            word
        } else {
            word & ((1 << (8 * size)) - 1)
        }
    }

    /// Writes 1, 2, 4 or 8 bytes that do not straddle a word.
    #[inline]
    pub fn store(&self, offset: u64, size: u32, value: u64) {
        let words = match &self.memory {
            Memory::Own(words) => words,
            Memory::Foreign(memory) => return memory.store(offset, size, value),
        };
        let word = &words[(offset / 8) as usize];
        if size == 8 {
            word.store(value, Relaxed);
            return;
        }
        let shift = 8 * (offset % 8);
        let field = ((1u64 << (8 * size)) - 1) << shift;
        let insert = value << shift & field;
        let mut old = word.load(Relaxed);
        while let Err(now) =
            word.compare_exchange_weak(old, old & !field | insert, Relaxed, Relaxed)
        {
            old = now;
        }
    }

    /// Applies `f` atomically to an aligned field of 1, 2, 4 or 8 bytes; returns the old value.
    pub fn update(&self, offset: u64, size: u32, f: impl Fn(u64) -> u64) -> u64 {
        let words = match &self.memory {
            Memory::Own(words) => words,
            Memory::Foreign(memory) => return memory.update(offset, size, f),
        };
        let shift = 8 * (offset % 8);
        let all = if size == 8 {
            u64::MAX
        } else {
            (1u64 << (8 * size)) - 1
        };
        let word = &words[(offset / 8) as usize];
        let mut old = word.load(Relaxed);
        loop {
            let field = old >> shift & all;
            let new = old & !(all << shift) | (f(field) & all) << shift;
            match word.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                Ok(_) => return field,
                Err(now) => old = now,
            }
        }
    }
}

/// All of global memory.
#[derive(Debug, Default)]
pub struct GlobalMemory {
    regions: Vec<Region>,
    /// what a driver lends, by address
    lent: Arc<[Region]>,
}

impl GlobalMemory {
    /// Memory of these regions, which do not overlap; those that are lent are in the order of their addresses.
    pub fn new(mut regions: Vec<Region>, lent: Arc<[Region]>) -> GlobalMemory {
        regions.sort_by_key(|r| r.base);
        GlobalMemory { regions, lent }
    }

    /// The launch's own regions, by address.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// A region by number: the launch's own, then those that are lent.
    fn region(&self, index: usize) -> Option<&Region> {
        let own = self.regions.len();
        if index < own {
            self.regions.get(index)
        } else {
            self.lent.get(index - own)
        }
    }

    /// The number of the last region that starts at or before an address.
    fn candidate(&self, address: u64) -> Option<usize> {
        let before = |regions: &[Region]| {
            regions
                .partition_point(|r| r.base <= address)
                .checked_sub(1)
        };
        let own = before(&self.regions);
        let lent = before(&self.lent).map(|i| i + self.regions.len());
        let base = |i: &usize| self.region(*i).map_or(0, |r| r.base);
        own.into_iter().chain(lent).max_by_key(base)
    }

    /// The first region that starts behind an address.
    fn above(&self, address: u64) -> Option<&Region> {
        let after = |regions: &'_ [Region]| regions.partition_point(|r| r.base <= address);
        let own = self.regions.get(after(&self.regions));
        let lent = self.lent.get(after(&self.lent));
        own.into_iter().chain(lent).min_by_key(|r| r.base)
    }

    /// The region that holds all of `size` bytes at `address`, and the offset there; `hint` remembers the last one.
    #[inline]
    pub fn locate(
        &self,
        address: u64,
        size: u64,
        hint: &mut usize,
    ) -> Result<(&Region, u64), Trap> {
        if let Some(region) = self.region(*hint) {
            let offset = address.wrapping_sub(region.base);
            if offset < region.len && size <= region.len - offset {
                return Ok((region, offset));
            }
        }
        let found = self.candidate(address);
        let Some((index, region)) = found.and_then(|i| Some((i, self.region(i)?))) else {
            return Err(self.outside(address, size));
        };
        let offset = address - region.base;
        if offset >= region.len || size > region.len - offset {
            return Err(self.outside(address, size));
        }
        *hint = index;
        Ok((region, offset))
    }

    /// The name of the region around an address.
    pub fn name_at(&self, address: u64) -> &str {
        self.candidate(address)
            .and_then(|i| self.region(i))
            .map_or("", |r| r.name.as_str())
    }

    fn outside(&self, address: u64, size: u64) -> Trap {
        let below = self.candidate(address).and_then(|i| self.region(i));
        let above = self.above(address);
        let near = |r: &Region| format!("`{}` ({} bytes at {:#x})", r.name, r.len, r.base);
        let place = match (below, above) {
            (Some(r), _) if address - r.base < r.len => {
                format!("it runs over the end of {}", near(r))
            }
            (Some(r), None) => format!(
                "it lies {} bytes past the end of {}",
                address - r.base - r.len,
                near(r)
            ),
            (Some(r), Some(a)) => {
                let (past, before) = (address - r.base - r.len, a.base - address);
                if past <= before {
                    format!("it lies {past} bytes past the end of {}", near(r))
                } else {
                    format!("it lies {before} bytes before {}", near(a))
                }
            }
            (None, Some(a)) => format!("it lies {} bytes before {}", a.base - address, near(a)),
            (None, None) => "there is no global memory".into(),
        };
        Trap::new(format!(
            "global access of {size} bytes at {address:#x} is out of bounds: {place}"
        ))
    }

    /// Copies bytes out; the range may have any alignment.
    pub fn read_bytes(&self, address: u64, out: &mut [u8], hint: &mut usize) -> Result<(), Trap> {
        if out.is_empty() {
            return Ok(());
        }
        let (region, offset) = self.locate(address, out.len() as u64, hint)?;
        region.read(offset, out);
        Ok(())
    }

    /// Copies bytes in; the range may have any alignment.
    pub fn write_bytes(&self, address: u64, bytes: &[u8], hint: &mut usize) -> Result<(), Trap> {
        let (region, offset) = self.locate(address, bytes.len() as u64, hint)?;
        if region.read_only {
            return Err(Trap::new(format!(
                "write to constant variable `{}`",
                region.name
            )));
        }
        region.write(offset, bytes);
        Ok(())
    }
}
