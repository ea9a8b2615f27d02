//! Shared-memory matrix descriptors of sm_100 (PTX ISA 9.7.16.3-4), of `tcgen05.mma` and `.cp`.
//!
//! The canonical layouts, with LBO and SBO the leading and stride byte offsets and S the swizzle's span in bytes:
//! - K-major: rows of S bytes (16 without swizzle) along k, 8 rows one after the other, further rows SBO apart; without
//!   swizzle the next 16 bytes of k are LBO away. Swizzled, LBO counts only where k is longer than S.
//! - MN-major: rows of S bytes along m or n, 8 of them along k (4 where 32 bytes are the atom); the next 8 of k are SBO
//!   away and the next S bytes along m or n LBO. Without swizzle the two offsets change places.

use crate::tensormap::{Atomicity, Pattern, Swizzle};

/// A decoded descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    start: u64,
    leading: u64,
    stride: u64,
    base_offset: u64,
    /// the leading offset is the address of what lies beyond the 128 bytes of a row
    absolute: bool,
    pattern: Pattern,
}

impl Descriptor {
    /// Decodes the 64 bits.
    pub fn decode(bits: u64) -> Result<Descriptor, String> {
        let field = |shift: u32| (bits >> shift & 0x3fff) << 4;
        let fixed = bits >> 46 & 7;
        if fixed != 1 {
            return Err(format!(
                "matrix descriptor {bits:#018x} has {fixed:#05b} in bits 46-48, which must be 0b001 (it looks like one of \
                 wgmma)"
            ));
        }
        let reserved = bits >> 53 & 0xff | bits >> 14 & 3 | bits >> 30 & 3;
        if reserved != 0 {
            return Err(format!(
                "matrix descriptor {bits:#018x} has reserved bits set (14-15, 30-31 or 53-60)"
            ));
        }
        let (mode, atomicity) = match bits >> 61 {
            0 => (Swizzle::None, Atomicity::B16),
            1 => (Swizzle::B128, Atomicity::B32),
            2 => (Swizzle::B128, Atomicity::B16),
            4 => (Swizzle::B64, Atomicity::B16),
            6 => (Swizzle::B32, Atomicity::B16),
            other => {
                return Err(format!(
                    "matrix descriptor {bits:#018x} has swizzle mode {other}; there are 0, 1, 2, 4 and 6"
                ));
            }
        };
        let descriptor = Descriptor {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base_offset: bits >> 49 & 7,
            absolute: bits >> 52 & 1 == 1,
            pattern: Pattern { mode, atomicity },
        };
        let plain = (mode, atomicity) == (Swizzle::B128, Atomicity::B16);
        if descriptor.absolute && (!plain || descriptor.base_offset != 0) {
            return Err(
                "an absolute leading address (bit 52) needs the 128-byte swizzle with atoms of 16 bytes and base offset 0"
                    .into(),
            );
        }
        Ok(descriptor)
    }

    /// True if atoms have 32 bytes.
    pub fn wide_atoms(&self) -> bool {
        self.pattern.atomicity == Atomicity::B32
    }

    /// True if the leading offset is an address.
    pub fn is_absolute(&self) -> bool {
        self.absolute
    }

    /// Shared address of the 16 bytes that hold row `mn` and bytes 16·`chunk`.. of k.
    pub fn k_major_chunk(&self, mn: usize, chunk: usize) -> u64 {
        let (block, row, chunk) = ((mn / 8) as u64, (mn % 8) as u64, chunk as u64);
        let Some(span) = self.pattern.mode.span() else {
            return self.place(block * self.stride + row * 16 + chunk * self.leading + self.start);
        };
        let (span, rows) = (u64::from(span), block * self.stride);
        let along = (self.start & 127) + 16 * chunk;
        if self.absolute && along >= 128 {
            return self.place(self.leading + along - 128 + rows + row * span);
        }
        let per_row = span / 16;
        let chunk = chunk % per_row * 16 + chunk / per_row * self.leading;
        self.place(self.start + rows + row * span + chunk)
    }

    /// Shared address of the 16 bytes along m or n with number `chunk`, at `k`.
    pub fn mn_major_chunk(&self, chunk: usize, k: usize) -> u64 {
        let (chunk, k) = (chunk as u64, k as u64);
        let Some(span) = self.pattern.mode.span() else {
            return self
                .place(self.start + chunk * self.stride + k / 8 * self.leading + k % 8 * 16);
        };
        let rows = if self.wide_atoms() { 4 } else { 8 };
        let (span, per_row) = (u64::from(span), u64::from(span) / 16);
        self.place(
            self.start
                + chunk / per_row * self.leading
                + chunk % per_row * 16
                + k / rows * self.stride
                + k % rows * span,
        )
    }

    fn place(&self, linear: u64) -> u64 {
        let shift = self.base_offset << 7;
        (self
            .pattern
            .apply(linear.wrapping_sub(shift))
            .wrapping_add(shift))
            & 0x3_ffff
    }
}

#[cfg(test)]
mod tests {
    use super::Descriptor;

    const FIXED: u64 = 1 << 46;

    #[test]
    fn fields_are_where_the_isa_has_them() {
        let bits = 0x2000 >> 4 | (0x100 >> 4) << 16 | (0x400 >> 4) << 32 | FIXED | 2 << 61;
        let d = Descriptor::decode(bits).unwrap();
        assert_eq!((d.start, d.leading, d.stride), (0x2000, 0x100, 0x400));
        assert!(!d.absolute && !d.wide_atoms());
        for wrong in [
            bits & !FIXED,
            bits | 1 << 53,
            bits | 1 << 61,
            bits | 1 << 14,
        ] {
            assert!(Descriptor::decode(wrong).is_err(), "{wrong:#x}");
        }
    }

    /// The exact layouts of the ISA's examples (9.7.16.3.3), as CuTe writes them.
    #[test]
    fn layouts_are_those_of_the_examples() {
        // K-major, no swizzle, tf32: ((8,2),(4,4)):((4,32),(1,64))
        let d = Descriptor::decode(16 << 16 | 8 << 32 | FIXED).unwrap();
        for mn in 0..16 {
            for chunk in 0..4 {
                let element = mn % 8 * 4 + mn / 8 * 32 + chunk * 64;
                assert_eq!(d.k_major_chunk(mn, chunk), 4 * element as u64);
            }
        }
        // MN-major, no swizzle, bf16: ((8,1,2),(8,2)):((1,8,64),(8,128))
        let d = Descriptor::decode(16 << 16 | 8 << 32 | FIXED).unwrap();
        for chunk in 0..2 {
            for k in 0..16 {
                let element = chunk * 64 + k % 8 * 8 + k / 8 * 128;
                assert_eq!(d.mn_major_chunk(chunk, k), 2 * element as u64);
            }
        }
        // MN-major, 64-byte swizzle, bf16: Swizzle<2,4,3> over ((8,4,2),(8,2)):((1,8,256),(32,512))
        let d = Descriptor::decode(32 << 16 | 64 << 32 | FIXED | 4 << 61).unwrap();
        for chunk in 0..8 {
            for k in 0..16 {
                let byte = 2 * (chunk % 4 * 8 + chunk / 4 * 256 + k % 8 * 32 + k / 8 * 512) as u64;
                assert_eq!(d.mn_major_chunk(chunk, k), byte ^ (byte >> 3 & 0x30));
            }
        }
    }
}
