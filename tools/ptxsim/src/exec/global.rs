//! Global memory: named regions that all blocks share.
//!
//! Regions hold 64-bit atomic words, so that blocks on different threads may touch them at once without undefined
//! behaviour and device atomics are host atomics. Narrow stores merge into their word.

use super::fault::Trap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A stretch of device memory.
#[derive(Debug)]
pub struct Region {
    /// buffer or variable name
    pub name: String,
    /// first address, a multiple of 16
    pub base: u64,
    /// bytes
    pub len: u64,
    /// `.const`
    pub read_only: bool,
    words: Box<[AtomicU64]>,
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
            words,
        }
    }

    /// The contents.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self
            .words
            .iter()
            .flat_map(|w| w.load(Relaxed).to_le_bytes())
            .collect();
        bytes.truncate(self.len as usize);
        bytes
    }

    /// The word that holds byte `offset`.
    pub fn word(&self, offset: u64) -> &AtomicU64 {
        &self.words[(offset / 8) as usize]
    }

    /// Reads 1, 2, 4 or 8 bytes that do not straddle a word.
    #[inline]
    pub fn load(&self, offset: u64, size: u32) -> u64 {
        let word = self.word(offset).load(Relaxed) >> (8 * (offset % 8));
        if size == 8 {
            word
        } else {
            word & ((1 << (8 * size)) - 1)
        }
    }

    /// Writes 1, 2, 4 or 8 bytes that do not straddle a word.
    #[inline]
    pub fn store(&self, offset: u64, size: u32, value: u64) {
        let word = self.word(offset);
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
        let shift = 8 * (offset % 8);
        let all = if size == 8 {
            u64::MAX
        } else {
            (1u64 << (8 * size)) - 1
        };
        let word = self.word(offset);
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
}

impl GlobalMemory {
    /// Memory of these regions, which do not overlap.
    pub fn new(mut regions: Vec<Region>) -> GlobalMemory {
        regions.sort_by_key(|r| r.base);
        GlobalMemory { regions }
    }

    /// The regions, by address.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    fn candidate(&self, address: u64) -> Option<usize> {
        self.regions
            .partition_point(|r| r.base <= address)
            .checked_sub(1)
    }

    /// The region that holds all of `size` bytes at `address`, and the offset there; `hint` remembers the last one.
    #[inline]
    pub fn locate(
        &self,
        address: u64,
        size: u64,
        hint: &mut usize,
    ) -> Result<(&Region, u64), Trap> {
        if let Some(region) = self.regions.get(*hint) {
            let offset = address.wrapping_sub(region.base);
            if offset < region.len && size <= region.len - offset {
                return Ok((region, offset));
            }
        }
        let Some(index) = self.candidate(address) else {
            return Err(self.outside(address, size));
        };
        let region = &self.regions[index];
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
            .map_or("", |i| self.regions[i].name.as_str())
    }

    fn outside(&self, address: u64, size: u64) -> Trap {
        let below = self.candidate(address).map(|i| &self.regions[i]);
        let above = self
            .regions
            .get(self.candidate(address).map_or(0, |i| i + 1));
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
        let mut i = 0;
        while i < out.len() {
            let at = offset + i as u64;
            let word = region.word(at).load(Relaxed).to_le_bytes();
            let start = (at % 8) as usize;
            let n = (8 - start).min(out.len() - i);
            out[i..i + n].copy_from_slice(&word[start..start + n]);
            i += n;
        }
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
        let mut i = 0;
        while i < bytes.len() {
            let at = offset + i as u64;
            if at.is_multiple_of(8) && bytes.len() - i >= 8 {
                let mut word = [0; 8];
                word.copy_from_slice(&bytes[i..i + 8]);
                region.word(at).store(u64::from_le_bytes(word), Relaxed);
                i += 8;
            } else {
                region.store(at, 1, bytes[i].into());
                i += 1;
            }
        }
        Ok(())
    }
}
