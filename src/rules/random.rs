//! Random numbers that are the same on every machine.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::facts::semantics::Scalar;
use crate::facts::{int_range, truncate};
use crate::scalar::FloatFormat;

/// A small deterministic generator (splitmix64).
pub struct Random(u64);

impl Random {
    /// Seeded by a name.
    pub fn named(name: &str) -> Random {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Random(hasher.finish())
    }

    /// Seeded by a number.
    pub fn seeded(seed: u64) -> Random {
        Random(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Bits of a type: special values as often as random ones.
    pub fn value(&mut self, scalar: Scalar) -> u64 {
        let bits = scalar.bits();
        match scalar {
            Scalar::Float(float) => self.float(float, bits),
            _ => self.int(bits),
        }
    }

    fn int(&mut self, bits: u32) -> u64 {
        let (min, max) = int_range(bits);
        let value = match self.below(8) {
            0 => self.pick(&[0, 1, -1, 2, -2, 3, 7, -7]),
            1 => self.pick(&[min, max, min + 1, max - 1, min / 2, max / 2]),
            2 => 1i64 << self.below(bits as usize),
            3 => (1i64 << self.below(bits as usize)).wrapping_sub(1),
            4 => (self.bits() % 100) as i64 - 50,
            5 => (self.bits() >> self.below(64)) as i64,
            _ => self.bits() as i64,
        };
        truncate(value as u64, bits)
    }

    fn float(&mut self, format: FloatFormat, bits: u32) -> u64 {
        let encode = |v: f64| {
            format.encode(
                v,
                crate::scalar::Rounding::NearestEven,
                crate::scalar::Overflow::Ieee,
            )
        };
        match self.below(8) {
            0 => {
                let v = self.pick(&[
                    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 10.0, 0.1, 1.5, 2.5, -3.5,
                ]);
                encode(v)
            }
            1 => {
                let specials = [
                    format.infinity(false, crate::scalar::Overflow::Ieee),
                    format.infinity(true, crate::scalar::Overflow::Ieee),
                    format.nan(),
                    format.max_finite(false),
                    format.max_finite(true),
                    1,
                    1 | format.sign_bit(),
                    format.one() + 1,
                    format.one() - 1,
                ];
                truncate(self.pick(&specials), bits)
            }
            // The smallest numbers of the format.
            2 => truncate(
                self.bits() >> (64 - bits.min(64)).max(1) >> self.below(bits as usize),
                bits,
            ),
            3 | 4 => {
                let magnitude = (self.bits() as f64 / u64::MAX as f64 - 0.5) * 2.0;
                let scale = self.pick(&[1.0, 4.0, 20.0, 100.0, 1e4]);
                encode(magnitude * scale)
            }
            _ => truncate(self.bits(), bits),
        }
    }
}
