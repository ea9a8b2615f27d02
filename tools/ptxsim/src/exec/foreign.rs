//! Memory of the process at its own addresses, which a driver lends to launches.
//!
//! This is the only module of the simulator with `unsafe`: a launch elsewhere owns its memory. What makes it sound is
//! one promise, that of [`Foreign::new`]. Accesses are atomic and of the size that the kernel asked for, so that blocks
//! on several threads do not race as far as Rust is concerned, and no byte outside the range is touched.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// A range of the process's memory.
#[derive(Debug)]
pub struct Foreign {
    address: u64,
    len: u64,
}

/// An integer in memory that several threads may touch.
trait Cell: Sized {
    fn get(&self) -> u64;
    fn set(&self, value: u64);
    /// Replaces `old` by `new`; otherwise the value that is there.
    fn replace(&self, old: u64, new: u64) -> Result<(), u64>;
}

impl Cell for AtomicU8 {
    fn get(&self) -> u64 {
        self.load(Relaxed).into()
    }
    fn set(&self, value: u64) {
        self.store(value as u8, Relaxed);
    }
    fn replace(&self, old: u64, new: u64) -> Result<(), u64> {
        let done = self.compare_exchange_weak(old as u8, new as u8, Relaxed, Relaxed);
        done.map(drop).map_err(u64::from)
    }
}

impl Cell for AtomicU16 {
    fn get(&self) -> u64 {
        self.load(Relaxed).into()
    }
    fn set(&self, value: u64) {
        self.store(value as u16, Relaxed);
    }
    fn replace(&self, old: u64, new: u64) -> Result<(), u64> {
        let done = self.compare_exchange_weak(old as u16, new as u16, Relaxed, Relaxed);
        done.map(drop).map_err(u64::from)
    }
}

impl Cell for AtomicU32 {
    fn get(&self) -> u64 {
        self.load(Relaxed).into()
    }
    fn set(&self, value: u64) {
        self.store(value as u32, Relaxed);
    }
    fn replace(&self, old: u64, new: u64) -> Result<(), u64> {
        let done = self.compare_exchange_weak(old as u32, new as u32, Relaxed, Relaxed);
        done.map(drop).map_err(u64::from)
    }
}

impl Cell for AtomicU64 {
    fn get(&self) -> u64 {
        self.load(Relaxed)
    }
    fn set(&self, value: u64) {
        self.store(value, Relaxed);
    }
    fn replace(&self, old: u64, new: u64) -> Result<(), u64> {
        self.compare_exchange_weak(old, new, Relaxed, Relaxed)
            .map(drop)
    }
}

impl Foreign {
    /// The `len` bytes at `address`.
    ///
    /// # Safety
    /// They can be read and written for as long as this value lives, and whoever else touches them meanwhile does so as
    /// another thread of a C program would: at its own risk, but through no Rust reference.
    pub unsafe fn new(address: u64, len: u64) -> Foreign {
        Foreign { address, len }
    }

    /// Bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The integer at `offset`, which is aligned and inside.
    fn cell<T: Cell>(&self, offset: u64) -> &T {
        let (size, at) = (size_of::<T>() as u64, self.address.wrapping_add(offset));
        assert!(offset < self.len && size <= self.len - offset && at.is_multiple_of(size));
        // SAFETY: inside the range, which can be read and written (the promise of `new`), and aligned; the integer is
        // atomic, so that other threads may do the same.
        unsafe { &*std::ptr::with_exposed_provenance::<T>(at as usize) }
    }

    fn aligned(&self, offset: u64, size: u32) -> bool {
        self.address
            .wrapping_add(offset)
            .is_multiple_of(u64::from(size))
    }

    /// Reads 1, 2, 4 or 8 bytes inside the range.
    #[inline]
    pub fn load(&self, offset: u64, size: u32) -> u64 {
        match size {
            1 => self.cell::<AtomicU8>(offset).get(),
            _ if !self.aligned(offset, size) => (0..size).rev().fold(0, |word, i| {
                word << 8 | self.cell::<AtomicU8>(offset + u64::from(i)).get()
            }),
            2 => self.cell::<AtomicU16>(offset).get(),
            4 => self.cell::<AtomicU32>(offset).get(),
            _ => self.cell::<AtomicU64>(offset).get(),
        }
    }

    /// Writes 1, 2, 4 or 8 bytes inside the range.
    #[inline]
    pub fn store(&self, offset: u64, size: u32, value: u64) {
        match size {
            1 => self.cell::<AtomicU8>(offset).set(value),
            _ if !self.aligned(offset, size) => (0..size).for_each(|i| {
                self.cell::<AtomicU8>(offset + u64::from(i))
                    .set(value >> (8 * i));
            }),
            2 => self.cell::<AtomicU16>(offset).set(value),
            4 => self.cell::<AtomicU32>(offset).set(value),
            _ => self.cell::<AtomicU64>(offset).set(value),
        }
    }

    /// Applies `f` atomically to an aligned field of 1, 2, 4 or 8 bytes inside the range; returns the old value.
    pub fn update(&self, offset: u64, size: u32, f: impl Fn(u64) -> u64) -> u64 {
        match size {
            1 => replace::<AtomicU8>(self.cell(offset), f),
            2 => replace::<AtomicU16>(self.cell(offset), f),
            4 => replace::<AtomicU32>(self.cell(offset), f),
            _ => replace::<AtomicU64>(self.cell(offset), f),
        }
    }
}

fn replace<T: Cell>(cell: &T, f: impl Fn(u64) -> u64) -> u64 {
    let mut old = cell.get();
    while let Err(now) = cell.replace(old, f(old)) {
        old = now;
    }
    old
}

#[cfg(test)]
mod tests {
    use super::Foreign;

    #[test]
    fn fields_of_every_size_and_alignment() {
        let mut words = [0u64; 4];
        let address = words.as_mut_ptr().expose_provenance() as u64;
        // SAFETY: the array lives, and nothing else touches it meanwhile.
        let memory = unsafe { Foreign::new(address + 1, 30) };
        memory.store(1, 2, 0xabcd);
        memory.store(4, 4, 0x1234_5678);
        memory.store(15, 8, 7);
        assert_eq!(memory.load(1, 2), 0xabcd);
        assert_eq!(memory.load(4, 4), 0x1234_5678);
        assert_eq!(memory.update(15, 8, |x| x + 1), 7);
        assert_eq!(memory.load(15, 8), 8);
        assert_eq!(memory.update(3, 4, |_| u64::MAX), 0x3456_7800);
        assert_eq!(words[2], 8);
    }

    #[test]
    #[should_panic(expected = "offset < self.len")]
    fn nothing_outside_is_touched() {
        let mut words = [0u64; 2];
        let address = words.as_mut_ptr().expose_provenance() as u64;
        // SAFETY: as above.
        unsafe { Foreign::new(address, 12) }.load(8, 8);
    }
}
