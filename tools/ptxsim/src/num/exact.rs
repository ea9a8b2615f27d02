//! Double-precision operations in integers, rounded once in any direction, subnormals and overflow included.
//! Arguments are finite; where noted they are not zero.

use super::format::{F64, Overflow, Round};

/// Sign, a significand with its top bit at position 52 (0 for zero), and the exponent of its last place.
fn unpack(x: f64) -> (bool, u64, i32) {
    let bits = x.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let (significand, exponent) = if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, exponent - 1075)
    };
    let shift = if significand == 0 {
        0
    } else {
        significand.leading_zeros() as i32 - 11
    };
    (x.is_sign_negative(), significand << shift, exponent - shift)
}

fn pack(negative: bool, significand: u128, exponent: i32, sticky: bool, round: Round) -> f64 {
    f64::from_bits(F64.round_pack(
        negative,
        significand,
        exponent,
        sticky,
        round,
        Overflow::Ieee,
    ))
}

/// a × b
pub fn mul(a: f64, b: f64, round: Round) -> f64 {
    let ((na, sa, ea), (nb, sb, eb)) = (unpack(a), unpack(b));
    pack(
        na != nb,
        u128::from(sa) * u128::from(sb),
        ea + eb,
        false,
        round,
    )
}

/// a ÷ b, neither zero
pub fn div(a: f64, b: f64, round: Round) -> f64 {
    let ((na, sa, ea), (nb, sb, eb)) = (unpack(a), unpack(b));
    let (dividend, divisor) = (u128::from(sa) << 66, u128::from(sb));
    pack(
        na != nb,
        dividend / divisor,
        ea - eb - 66,
        dividend % divisor != 0,
        round,
    )
}

/// √a of a positive a
pub fn sqrt(a: f64, round: Round) -> f64 {
    let (_, significand, exponent) = unpack(a);
    // An even exponent, and 58 or more bits of root.
    let shift = if (exponent - 64) % 2 == 0 { 64 } else { 65 };
    let radicand = u128::from(significand) << shift;
    let root = radicand.isqrt();
    pack(
        false,
        root,
        (exponent - shift) / 2,
        root * root != radicand,
        round,
    )
}

/// a × b + c
pub fn fma(a: f64, b: f64, c: f64, round: Round) -> f64 {
    let ((na, sa, ea), (nb, sb, eb), (nc, sc, ec)) = (unpack(a), unpack(b), unpack(c));
    let (np, sp, ep) = (na != nb, u128::from(sa) * u128::from(sb), ea + eb);
    let sc = u128::from(sc);
    if sp == 0 || sc == 0 {
        return one_term((np, sp, ep), (nc, sc, ec), round);
    }
    let gap = ep - ec;
    if gap > 140 {
        return with_trace((np, sp, ep), nc, round);
    }
    if gap < -190 {
        return with_trace((nc, sc, ec), np, round);
    }
    let base = ep.min(ec);
    let (p, c) = (
        Wide::shifted(sp, (ep - base) as u32),
        Wide::shifted(sc, (ec - base) as u32),
    );
    let (negative, sum) = match (np == nc, p >= c) {
        (true, _) => (np, p.add(c)),
        (false, true) => (np, p.sub(c)),
        (false, false) => (nc, c.sub(p)),
    };
    if sum == Wide::default() {
        // An exact zero is -0 only when rounding down.
        return if round == Round::Down { -0.0 } else { 0.0 };
    }
    let (top, exponent, sticky) = sum.narrow();
    pack(negative, top, base + exponent, sticky, round)
}

type Term = (bool, u128, i32);

fn one_term(p: Term, c: Term, round: Round) -> f64 {
    match (p.1, c.1) {
        (0, 0) if p.0 == c.0 => {
            if p.0 {
                -0.0
            } else {
                0.0
            }
        }
        (0, 0) => {
            if round == Round::Down {
                -0.0
            } else {
                0.0
            }
        }
        (0, _) => pack(c.0, c.1, c.2, false, round),
        _ => pack(p.0, p.1, p.2, false, round),
    }
}

/// A term plus something of the given sign that is far too small to touch its bits.
fn with_trace((negative, significand, exponent): Term, trace_negative: bool, round: Round) -> f64 {
    let wide = significand << 2;
    let kept = if negative == trace_negative {
        wide
    } else {
        wide - 1
    };
    pack(negative, kept, exponent - 2, true, round)
}

/// 256 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Wide {
    high: u128,
    low: u128,
}

impl Wide {
    fn shifted(x: u128, by: u32) -> Wide {
        match by {
            0 => Wide { high: 0, low: x },
            1..128 => Wide {
                high: x >> (128 - by),
                low: x << by,
            },
            _ => Wide {
                high: x << (by - 128).min(127),
                low: 0,
            },
        }
    }

    fn add(self, other: Wide) -> Wide {
        let (low, carry) = self.low.overflowing_add(other.low);
        Wide {
            high: self
                .high
                .wrapping_add(other.high)
                .wrapping_add(u128::from(carry)),
            low,
        }
    }

    fn sub(self, other: Wide) -> Wide {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Wide {
            high: self
                .high
                .wrapping_sub(other.high)
                .wrapping_sub(u128::from(borrow)),
            low,
        }
    }

    /// The top 128 bits that matter, how far they were shifted, and whether anything was lost.
    fn narrow(self) -> (u128, i32, bool) {
        if self.high == 0 {
            return (self.low, 0, false);
        }
        let shift = 128 - self.high.leading_zeros();
        if shift == 128 {
            return (self.high, 128, self.low != 0);
        }
        (
            self.high << (128 - shift) | self.low >> shift,
            shift as i32,
            self.low << (128 - shift) != 0,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_is_what_the_host_computes() {
        let mut state = 5u64;
        let mut next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            f64::from_bits(state ^ state >> 31)
        };
        for _ in 0..200_000 {
            let (a, b, c) = (next(), next(), next());
            if !(a.is_finite() && b.is_finite() && c.is_finite()) || a == 0.0 || b == 0.0 {
                continue;
            }
            // Exponents near each other make cancellation likely.
            let near =
                f64::from_bits((a * b).to_bits() & !0xf_ffff_ffff | c.to_bits() & 0xf_ffff_ffff);
            let near = if near.is_finite() { -near } else { c };
            assert_eq!(mul(a, b, Round::Nearest).to_bits(), (a * b).to_bits());
            assert_eq!(div(a, b, Round::Nearest).to_bits(), (a / b).to_bits());
            assert_eq!(
                sqrt(a.abs(), Round::Nearest).to_bits(),
                a.abs().sqrt().to_bits()
            );
            assert_eq!(
                fma(a, b, c, Round::Nearest).to_bits(),
                a.mul_add(b, c).to_bits()
            );
            assert_eq!(
                fma(a, b, near, Round::Nearest).to_bits(),
                a.mul_add(b, near).to_bits()
            );
            assert_eq!(fma(a, 1.0, c, Round::Nearest).to_bits(), (a + c).to_bits());
        }
    }
}
