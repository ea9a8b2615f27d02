//! Binary floating-point formats up to 64 bits: decode to `f64`, encode with any rounding.

/// Rounding direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// `.rn`: nearest, ties to even
    Nearest,
    /// `.rna`: nearest, ties away from zero
    NearestAway,
    /// `.rz`
    Zero,
    /// `.rm`
    Down,
    /// `.rp`
    Up,
}

/// What becomes of a finite value too large for the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// As IEEE 754 says: infinity or the largest finite value, by direction; NaN where a format has no infinity.
    Ieee,
    /// `.satfinite`: the largest finite value, for infinities too.
    Finite,
}

/// Which bit patterns are infinite or not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Specials {
    /// IEEE 754: the largest exponent holds infinity and NaN.
    Ieee,
    /// Only the all-ones magnitude is NaN; no infinity (`e4m3`).
    NanOnly,
    /// Every pattern is a number (`e2m3`, `e3m2`, `e2m1`).
    None,
}

/// A sign-magnitude binary floating-point format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// width of the exponent field
    pub exponent_bits: u32,
    /// width of the fraction field
    pub fraction_bits: u32,
    /// exponent bias
    pub bias: i32,
    /// infinities and NaNs
    pub specials: Specials,
    /// the NaN that operations produce
    pub nan: u64,
}

const fn ieee(exponent_bits: u32, fraction_bits: u32, nan: u64) -> Format {
    Format {
        exponent_bits,
        fraction_bits,
        bias: (1 << (exponent_bits - 1)) - 1,
        specials: Specials::Ieee,
        nan,
    }
}

const fn small(exponent_bits: u32, fraction_bits: u32, bias: i32, specials: Specials) -> Format {
    Format {
        exponent_bits,
        fraction_bits,
        bias,
        specials,
        nan: (1 << (exponent_bits + fraction_bits)) - 1,
    }
}

/// binary64
pub const F64: Format = ieee(11, 52, 0x7ff8_0000_0000_0000);
/// binary32; NaN is canonical, PTX ISA 9.7.3
pub const F32: Format = ieee(8, 23, 0x7fff_ffff);
/// binary16; canonical NaN, PTX ISA 9.7.4
pub const F16: Format = ieee(5, 10, 0x7fff);
/// bfloat16; canonical NaN, PTX ISA 9.7.4
pub const BF16: Format = ieee(8, 7, 0x7fff);
/// tf32 as 19 significant bits; it sits in the upper bits of a 32-bit container
pub const TF32: Format = ieee(8, 10, 0x3ffff);
/// fp8 e5m2
pub const E5M2: Format = ieee(5, 2, 0x7f);
/// fp8 e4m3 ("fn": no infinity)
pub const E4M3: Format = small(4, 3, 7, Specials::NanOnly);
/// fp6 e2m3
pub const E2M3: Format = small(2, 3, 1, Specials::None);
/// fp6 e3m2
pub const E3M2: Format = small(3, 2, 3, Specials::None);
/// fp4 e2m1
pub const E2M1: Format = small(2, 1, 1, Specials::None);

impl Format {
    /// Bits in all.
    pub const fn bits(self) -> u32 {
        1 + self.exponent_bits + self.fraction_bits
    }

    const fn sign_shift(self) -> u32 {
        self.exponent_bits + self.fraction_bits
    }

    const fn exponent_mask(self) -> u64 {
        (1 << self.exponent_bits) - 1
    }

    /// The largest finite magnitude's bits.
    pub const fn max_finite(self) -> u64 {
        let all = (1u64 << self.sign_shift()) - 1;
        match self.specials {
            Specials::Ieee => (self.exponent_mask() << self.fraction_bits) - 1,
            Specials::NanOnly => all - 1,
            Specials::None => all,
        }
    }

    /// Infinity's bits where there is one.
    pub const fn infinity(self) -> Option<u64> {
        match self.specials {
            Specials::Ieee => Some(self.exponent_mask() << self.fraction_bits),
            _ => None,
        }
    }

    /// The value of the low bits of `bits`; exact.
    pub fn decode(self, bits: u64) -> f64 {
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        let exponent = (bits >> self.fraction_bits) & self.exponent_mask();
        let negative = bits >> self.sign_shift() & 1 != 0;
        let all_ones = bits & ((1 << self.sign_shift()) - 1) == (1 << self.sign_shift()) - 1;
        let magnitude = match self.specials {
            Specials::Ieee if exponent == self.exponent_mask() => {
                if fraction == 0 {
                    f64::INFINITY
                } else {
                    f64::NAN
                }
            }
            Specials::NanOnly if all_ones => f64::NAN,
            _ => {
                let (significand, exponent) = if exponent == 0 {
                    (fraction, 1)
                } else {
                    (fraction | 1 << self.fraction_bits, exponent as i32)
                };
                scale(
                    significand as f64,
                    exponent - self.bias - self.fraction_bits as i32,
                )
            }
        };
        if negative { -magnitude } else { magnitude }
    }

    /// `value` rounded once into this format.
    pub fn encode(self, value: f64, round: Round, overflow: Overflow) -> u64 {
        let bits = value.to_bits();
        let negative = value.is_sign_negative();
        if let Some(usual) = self.encode_usual(bits, round) {
            return usual;
        }
        if value.is_nan() {
            return match self.specials {
                // A format without NaN: PTX turns NaN into the largest positive value (cvt, .satfinite).
                Specials::None => self.max_finite(),
                _ => self.nan,
            };
        }
        if value.is_infinite() {
            return self.overflowed(negative, overflow, None);
        }
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let (significand, exponent) = if exponent == 0 {
            (fraction, -1074)
        } else {
            (fraction | 1 << 52, exponent - 1075)
        };
        self.round_pack(
            negative,
            u128::from(significand),
            exponent,
            false,
            round,
            overflow,
        )
    }

    /// Nearest normal numbers, well below the largest: what most results are, without wide integers.
    #[inline]
    fn encode_usual(self, bits: u64, round: Round) -> Option<u64> {
        let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
        if round != Round::Nearest
            || self.fraction_bits >= 52
            || !(1 - self.bias..self.bias).contains(&exponent)
        {
            return None;
        }
        let shift = 52 - self.fraction_bits;
        let magnitude = bits & !(1 << 63);
        let tie = magnitude >> shift & 1;
        // A carry out of the fraction moves into the exponent.
        let rounded = (magnitude + (1 << (shift - 1)) - 1 + tie) >> shift;
        let rebias = ((1023 - self.bias) as u64) << self.fraction_bits;
        Some((rounded - rebias) | (bits >> 63) << self.sign_shift())
    }

    /// The number ±`significand` × 2^`exponent`, plus a little more in magnitude if `sticky`, rounded.
    pub fn round_pack(
        self,
        negative: bool,
        significand: u128,
        exponent: i32,
        sticky: bool,
        round: Round,
        overflow: Overflow,
    ) -> u64 {
        let sign = u64::from(negative) << self.sign_shift();
        if significand == 0 && !sticky {
            return sign;
        }
        let width = 128 - significand.leading_zeros() as i32;
        // The exponent that the result's last place has, no lower than that of subnormals.
        let lowest = 1 - self.bias - self.fraction_bits as i32;
        let place = (exponent + width - 1 - self.fraction_bits as i32).max(lowest);
        let shift = place - exponent;
        let (kept, half, rest) = split(significand, shift);
        let inexact_below = rest || sticky;
        let up = match round {
            Round::Nearest => half && (inexact_below || kept & 1 == 1),
            Round::NearestAway => half,
            Round::Zero => false,
            Round::Down => negative && (half || inexact_below),
            Round::Up => !negative && (half || inexact_below),
        };
        let kept = kept as u64 + u64::from(up);
        // Adding the exponent to the significand with its hidden bit lets a carry move to the next exponent.
        let biased = (place - lowest) as u64;
        if biased > self.exponent_mask() + 1 {
            return self.overflowed(negative, overflow, Some(round));
        }
        let hidden = 1u64 << self.fraction_bits;
        let magnitude = if kept >= hidden {
            kept + (biased << self.fraction_bits)
        } else {
            kept
        };
        if magnitude > self.max_finite() {
            return self.overflowed(negative, overflow, Some(round));
        }
        sign | magnitude
    }

    /// The result for a value beyond the largest; `round` is `None` for an infinite input.
    fn overflowed(self, negative: bool, overflow: Overflow, round: Option<Round>) -> u64 {
        let sign = u64::from(negative) << self.sign_shift();
        let toward_zero = match round {
            Some(Round::Zero) => true,
            Some(Round::Down) => !negative,
            Some(Round::Up) => negative,
            _ => false,
        };
        if overflow == Overflow::Finite || toward_zero {
            return sign | self.max_finite();
        }
        match (self.infinity(), self.specials) {
            (Some(infinity), _) => sign | infinity,
            (None, Specials::NanOnly) => sign | self.nan,
            (None, _) => sign | self.max_finite(),
        }
    }
}

/// `significand` >> `shift` with the bit below and whether anything lies below that; a negative shift is exact.
fn split(significand: u128, shift: i32) -> (u128, bool, bool) {
    match shift {
        s if s <= 0 => (significand << (-s).min(127), false, false),
        s if s > 128 => (0, false, significand != 0),
        128 => (0, significand >> 127 == 1, significand << 1 != 0),
        s => {
            let half = significand >> (s - 1) & 1 == 1;
            let rest = significand & ((1u128 << (s - 1)) - 1) != 0;
            (significand >> s, half, rest)
        }
    }
}

/// `x` × 2^`n`, exact when the result is a normal or subnormal double that can hold it.
pub fn scale(x: f64, n: i32) -> f64 {
    let power = |n: i32| f64::from_bits(((n + 1023) as u64) << 52);
    match n {
        -1022..=1023 => x * power(n),
        i32::MIN..-1022 => x * power(-1022) * power((n + 1022).max(-1022)),
        _ => x * power(1023) * power((n - 1023).min(1023)),
    }
}

/// An integer rounded into `format`.
pub fn from_int(format: Format, negative: bool, magnitude: u64, round: Round) -> u64 {
    format.round_pack(
        negative,
        u128::from(magnitude),
        0,
        false,
        round,
        Overflow::Ieee,
    )
}

/// A half to single, fast.
pub fn f16_to_f32(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7fff);
    let sign = u32::from(bits & 0x8000) << 16;
    if magnitude >= 0x7c00 {
        return f32::from_bits(sign | 0x7f80_0000 | (magnitude & 0x3ff) << 13);
    }
    // Shifted into place the exponent is 112 too small; one exact multiplication repairs normals and subnormals.
    let scaled = f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000);
    f32::from_bits(scaled.to_bits() | sign)
}

/// A bfloat16 to single.
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// A single to half, nearest even.
pub fn f32_to_f16(value: f32) -> u16 {
    F16.encode(f64::from(value), Round::Nearest, Overflow::Ieee) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_agrees_with_the_half_crate_everywhere() {
        for bits in 0..=u16::MAX {
            let theirs = half::f16::from_bits(bits).to_f64();
            let ours = F16.decode(bits.into());
            assert!(
                ours == theirs || ours.is_nan() && theirs.is_nan(),
                "{bits:#x}"
            );
            let fast = f64::from(f16_to_f32(bits));
            assert!(
                fast == theirs || fast.is_nan() && theirs.is_nan(),
                "{bits:#x}"
            );
            if !ours.is_nan() {
                assert_eq!(
                    F16.encode(ours, Round::Nearest, Overflow::Ieee),
                    u64::from(bits)
                );
            }
            let b = half::bf16::from_bits(bits).to_f64();
            let ours = BF16.decode(bits.into());
            assert!(ours == b || ours.is_nan() && b.is_nan());
        }
    }

    #[test]
    fn usual_results_are_what_the_general_way_gives() {
        let mut state = 5u64;
        for format in [F32, TF32, F16, BF16, E5M2, E4M3, E2M3, E3M2, E2M1] {
            for i in 0..50_000 {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                // Exponents around the format's, and many ties.
                let exponent =
                    1023 + (state >> 52) % (2 * format.bias as u64 + 8) - format.bias as u64 - 4;
                let fraction = if i % 2 == 0 {
                    state
                } else {
                    state & 0xffff << 36
                };
                let bits = (state >> 8) << 63 | exponent << 52 | fraction & ((1 << 52) - 1);
                let value = f64::from_bits(bits);
                let significand = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
                let general = format.round_pack(
                    bits >> 63 != 0,
                    significand,
                    exponent as i32 - 1075,
                    false,
                    Round::Nearest,
                    Overflow::Ieee,
                );
                let usual = format.encode(value, Round::Nearest, Overflow::Ieee);
                assert_eq!(usual, general, "{value:e} in {format:?}");
            }
        }
    }

    #[test]
    fn rounding_to_half_agrees_with_the_half_crate() {
        let mut state = 1u64;
        for _ in 0..200_000 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let value = f32::from_bits((state >> 32) as u32);
            if value.is_nan() {
                continue;
            }
            let wide = f64::from(value);
            assert_eq!(
                F16.encode(wide, Round::Nearest, Overflow::Ieee),
                u64::from(half::f16::from_f32(value).to_bits())
            );
            assert_eq!(
                BF16.encode(wide, Round::Nearest, Overflow::Ieee),
                u64::from(half::bf16::from_f32(value).to_bits())
            );
            assert_eq!(
                F32.encode(wide, Round::Up, Overflow::Ieee) as u32,
                value.to_bits()
            );
            let double = f64::from_bits(state);
            if !double.is_nan() {
                assert_eq!(
                    F32.encode(double, Round::Nearest, Overflow::Ieee) as u32,
                    (double as f32).to_bits(),
                    "{double:e}"
                );
                assert_eq!(
                    F64.encode(double, Round::Nearest, Overflow::Ieee),
                    double.to_bits()
                );
            }
        }
    }

    #[test]
    fn small_formats_have_the_published_extremes() {
        // OCP 8-bit Floating Point (OFP8) rev 1.0, table 1; OCP Microscaling (MX) v1.0, tables 3-5.
        for (format, max, min_subnormal) in [
            (E4M3, 448.0, 2f64.powi(-9)),
            (E5M2, 57344.0, 2f64.powi(-16)),
            (E2M3, 7.5, 0.125),
            (E3M2, 28.0, 0.0625),
            (E2M1, 6.0, 0.5),
        ] {
            assert_eq!(format.decode(format.max_finite()), max);
            assert_eq!(format.decode(1), min_subnormal);
            assert_eq!(
                format.encode(1e9, Round::Nearest, Overflow::Finite),
                format.max_finite()
            );
            for bits in 0..1u64 << format.bits() {
                let value = format.decode(bits);
                if value.is_finite() {
                    assert_eq!(format.encode(value, Round::Nearest, Overflow::Finite), bits);
                }
            }
        }
        assert!(E4M3.decode(0x7f).is_nan());
    }

    #[test]
    fn directions_bracket_the_value() {
        for value in [1.0 + 1e-9, -1.0 - 1e-9, 3e-41, -3e-41, 1e39] {
            let down = F32.decode(F32.encode(value, Round::Down, Overflow::Ieee));
            let up = F32.decode(F32.encode(value, Round::Up, Overflow::Ieee));
            assert!(down < value && value < up, "{value} {down} {up}");
        }
        assert_eq!(F32.encode(1e39, Round::Zero, Overflow::Ieee), 0x7f7f_ffff);
    }
}
