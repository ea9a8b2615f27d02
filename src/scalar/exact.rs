//! Arithmetic on exact values with a sticky bit.

use std::cmp::Ordering;

/// The nonzero number ±`mantissa`·2^`exponent`.
///
/// Quotients, square roots and sums of values far apart are not exact: they
/// keep at least 62 bits and set the last one when anything below was discarded ("jamming"), which
/// rounds like the exact value to any format of at most 60 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exact {
    pub negative: bool,
    pub mantissa: u128,
    pub exponent: i32,
}

/// Shifts right, setting the last bit when a set bit is lost.
fn shift_right_jam(m: u128, by: u32) -> u128 {
    match by {
        0 => m,
        1..=127 => m >> by | u128::from(m << (128 - by) != 0),
        _ => u128::from(m != 0),
    }
}

impl Exact {
    /// An integer; `None` for zero.
    pub fn from_int(negative: bool, magnitude: u64) -> Option<Self> {
        (magnitude != 0).then_some(Self {
            negative,
            mantissa: u128::from(magnitude),
            exponent: 0,
        })
    }

    /// The same value with the mantissa's highest set bit at bit `top`. Bits are lost only from
    /// mantissas longer than that, with jamming.
    fn normalized(self, top: u32) -> Self {
        let at = 127 - self.mantissa.leading_zeros();
        let mantissa = if at <= top {
            self.mantissa << (top - at)
        } else {
            shift_right_jam(self.mantissa, at - top)
        };
        Self {
            mantissa,
            exponent: self.exponent + at as i32 - top as i32,
            ..self
        }
    }

    /// The multiple of 2^`quantum` at or below the magnitude, as its factor, and how the rest
    /// compares with half of 2^`quantum`; `None` when there is no rest.
    pub fn split_at(self, quantum: i32) -> (u128, Option<Ordering>) {
        let shift = i64::from(quantum) - i64::from(self.exponent);
        if shift <= 0 {
            return (self.mantissa << (-shift) as u32, None);
        }
        let shift = shift as u32;
        let (mantissa, shift) = if shift > 126 {
            (shift_right_jam(self.mantissa, shift - 126), 126)
        } else {
            (self.mantissa, shift)
        };
        let rest = mantissa & ((1 << shift) - 1);
        let half = (rest != 0).then(|| rest.cmp(&(1 << (shift - 1))));
        (mantissa >> shift, half)
    }

    /// The value with a mantissa of at most 64 bits.
    fn narrow(self) -> Self {
        if self.mantissa >> 64 == 0 {
            self
        } else {
            self.normalized(63)
        }
    }

    /// The sum; `None` when it is exactly zero.
    pub fn plus(self, other: Self) -> Option<Self> {
        // Bit 125 leaves room for a carry, and for products (106 bits) at least 19 zero bits below,
        // so that cancellation of more than one bit only happens where nothing was shifted out.
        let (a, b) = (self.normalized(125), other.normalized(125));
        let (high, low) = if (a.exponent, a.mantissa) >= (b.exponent, b.mantissa) {
            (a, b)
        } else {
            (b, a)
        };
        let shifted = shift_right_jam(low.mantissa, high.exponent.abs_diff(low.exponent));
        let mantissa = if high.negative == low.negative {
            high.mantissa + shifted
        } else {
            high.mantissa - shifted
        };
        (mantissa != 0).then_some(Self { mantissa, ..high })
    }

    /// The square root of the magnitude.
    pub fn sqrt(self) -> Self {
        let mut a = self.normalized(125);
        if a.exponent % 2 != 0 {
            a.mantissa <<= 1;
            a.exponent -= 1;
        }
        let root = a.mantissa.isqrt();
        Self {
            negative: false,
            mantissa: root | u128::from(root * root != a.mantissa),
            exponent: a.exponent / 2,
        }
    }

    /// Numerical comparison.
    pub fn compare(self, other: Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (negative, _) => {
                let (a, b) = (self.normalized(125), other.normalized(125));
                let by_magnitude = (a.exponent, a.mantissa).cmp(&(b.exponent, b.mantissa));
                if negative {
                    by_magnitude.reverse()
                } else {
                    by_magnitude
                }
            }
        }
    }
}

impl std::ops::Neg for Exact {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            negative: !self.negative,
            ..self
        }
    }
}

impl std::ops::Mul for Exact {
    type Output = Self;

    /// The product, exact for mantissas of at most 64 bits.
    fn mul(self, other: Self) -> Self {
        let (a, b) = (self.narrow(), other.narrow());
        Self {
            negative: a.negative != b.negative,
            mantissa: a.mantissa * b.mantissa,
            exponent: a.exponent + b.exponent,
        }
    }
}

impl std::ops::Div for Exact {
    type Output = Self;

    /// The quotient.
    fn div(self, other: Self) -> Self {
        let (a, b) = (self.normalized(63), other.normalized(63));
        let dividend = a.mantissa << 63;
        let quotient = dividend / b.mantissa;
        let rest = u128::from(!dividend.is_multiple_of(b.mantissa));
        Self {
            negative: a.negative != b.negative,
            mantissa: quotient | rest,
            exponent: a.exponent - b.exponent - 63,
        }
    }
}
