//! Scalar functions lifted over the 32 lanes of a row.

use crate::program::inst::LaneFn;

/// One source.
pub fn unary(f: impl Fn(u64) -> u64 + Send + Sync + 'static) -> LaneFn {
    Box::new(move |a, _, _, _, d| {
        for (d, &a) in d.iter_mut().zip(a) {
            *d = f(a);
        }
    })
}

/// Two sources.
pub fn binary(f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> LaneFn {
    Box::new(move |a, b, _, _, d| {
        for ((d, &a), &b) in d.iter_mut().zip(a).zip(b) {
            *d = f(a, b);
        }
    })
}

/// Three sources.
pub fn ternary(f: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static) -> LaneFn {
    Box::new(move |a, b, c, _, d| {
        for (((d, &a), &b), &c) in d.iter_mut().zip(a).zip(b).zip(c) {
            *d = f(a, b, c);
        }
    })
}

/// Four sources.
pub fn quaternary(f: impl Fn(u64, u64, u64, u64) -> u64 + Send + Sync + 'static) -> LaneFn {
    Box::new(move |a, b, c, e, d| {
        for ((((d, &a), &b), &c), &e) in d.iter_mut().zip(a).zip(b).zip(c).zip(e) {
            *d = f(a, b, c, e);
        }
    })
}

/// Bits of a value as the low bits of a lane.
pub trait LaneBits {
    /// zero-extended bits
    fn lane(self) -> u64;
}

macro_rules! lane_bits {
    ($($t:ty as $u:ty),*) => { $(impl LaneBits for $t { #[inline] fn lane(self) -> u64 { u64::from(self as $u) } })* };
}
lane_bits!(
    u8 as u8, i8 as u8, u16 as u16, i16 as u16, u32 as u32, i32 as u32, u64 as u64, i64 as u64
);

impl LaneBits for f32 {
    #[inline]
    fn lane(self) -> u64 {
        u64::from(self.to_bits())
    }
}
impl LaneBits for f64 {
    #[inline]
    fn lane(self) -> u64 {
        self.to_bits()
    }
}
impl LaneBits for bool {
    #[inline]
    fn lane(self) -> u64 {
        u64::from(self)
    }
}

/// A lane as a single.
#[inline]
pub fn f32_of(x: u64) -> f32 {
    f32::from_bits(x as u32)
}
