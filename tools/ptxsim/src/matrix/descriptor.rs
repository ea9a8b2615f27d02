//! Shared-memory matrix descriptors of `wgmma` (PTX ISA 9.7.15.5.1 "Shared Memory Matrix Layout").
//!
//! The canonical layouts, with LBO and SBO the leading and stride byte offsets and S the swizzle's span in bytes:
//! - K-major: rows of S bytes (16 without swizzle) along k, 8 rows one after the other, further rows SBO apart; without
//!   swizzle the next 16 bytes of k are LBO away.
//! - MN-major (16-bit elements): rows of S bytes along m or n, 8 of them along k; the next 8 of k are SBO away and the
//!   next S bytes along m or n LBO (without swizzle the two offsets change places).
//!
//! A swizzle then XORs address bits 4-6 with bits 7-9, as tensor copies do.

use crate::exec::fault::Trap;
use crate::tensormap::Swizzle;

/// A decoded descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    /// shared address of the first element
    pub start: u64,
    /// leading dimension byte offset
    pub leading: u64,
    /// stride dimension byte offset
    pub stride: u64,
    /// matrix base offset, in units of 128 bytes
    pub base_offset: u64,
    /// swizzle mode
    pub swizzle: Swizzle,
}

impl Descriptor {
    /// Decodes the 64 bits.
    pub fn decode(bits: u64) -> Descriptor {
        let field = |shift: u32| (bits >> shift & 0x3fff) << 4;
        Descriptor {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base_offset: bits >> 49 & 7,
            swizzle: match bits >> 62 {
                0 => Swizzle::None,
                1 => Swizzle::B128,
                2 => Swizzle::B64,
                _ => Swizzle::B32,
            },
        }
    }

    /// Shared address of the 16 bytes that hold row `mn` and bytes 16·`chunk`.. of k.
    pub fn k_major_chunk(&self, mn: usize, chunk: usize) -> u64 {
        let (block, row, chunk) = ((mn / 8) as u64, (mn % 8) as u64, chunk as u64);
        let linear = match self.swizzle.span() {
            None => self.start + block * self.stride + row * 16 + chunk * self.leading,
            // Only a sparse product's B is longer along k than the narrowest swizzle.
            Some(span) => {
                let per_row = u64::from(span) / 16;
                self.start
                    + block * self.stride
                    + row * u64::from(span)
                    + chunk % per_row * 16
                    + chunk / per_row * self.leading
            }
        };
        self.swizzled(linear)
    }

    /// Shared address of the 16 bytes that hold elements 8·`chunk`.. of m or n at `k`, 16-bit elements.
    pub fn mn_major_chunk(&self, chunk: usize, k: usize) -> u64 {
        let (chunk, block, row) = (chunk as u64, (k / 8) as u64, (k % 8) as u64);
        let linear = match self.swizzle.span() {
            None => self.start + chunk * self.stride + block * self.leading + row * 16,
            Some(span) => {
                let span = u64::from(span);
                let per_row = span / 16;
                self.start
                    + chunk / per_row * self.leading
                    + chunk % per_row * 16
                    + block * self.stride
                    + row * span
            }
        };
        self.swizzled(linear)
    }

    fn swizzled(&self, linear: u64) -> u64 {
        let shift = self.base_offset << 7;
        (self
            .swizzle
            .apply(linear.wrapping_sub(shift))
            .wrapping_add(shift))
            & 0x3_ffff
    }

    /// Refuses descriptors whose fields hardware does not take.
    pub fn check(&self) -> Result<(), Trap> {
        if self.start < crate::program::window::SHARED_BASE {
            return Err(Trap::new(format!(
                "matrix descriptor starts at {:#x}, outside shared memory",
                self.start
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_isa_has_them() {
        let bits = 0x2000 >> 4 | (0x100 >> 4) << 16 | (0x400 >> 4) << 32 | 1 << 62;
        let d = Descriptor::decode(bits);
        assert_eq!(
            (d.start, d.leading, d.stride, d.swizzle),
            (0x2000, 0x100, 0x400, Swizzle::B128)
        );
    }

    #[test]
    fn a_128_byte_swizzle_permutes_chunks_by_row() {
        let d = Descriptor {
            start: 0x2000,
            leading: 16,
            stride: 1024,
            base_offset: 0,
            swizzle: Swizzle::B128,
        };
        // Row r of the first 8 holds chunk c at position c ^ r.
        for row in 0..8 {
            for chunk in 0..8 {
                assert_eq!(
                    d.k_major_chunk(row, chunk),
                    0x2000 + row as u64 * 128 + ((chunk ^ row) as u64) * 16
                );
            }
        }
        assert_eq!(d.k_major_chunk(8, 0), 0x2000 + 1024);
    }
}
