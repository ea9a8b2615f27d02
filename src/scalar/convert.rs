//! Conversions between formats and between floats and integers.

use super::format::{FloatFormat, Overflow, Rounding, Unpacked};
use super::int::{self, Signedness};
use super::{Exact, FloatMode};

/// Float to float.
pub fn float_to_float(
    from: FloatFormat,
    to: FloatFormat,
    rounding: Rounding,
    overflow: Overflow,
    a: u64,
) -> u64 {
    to.pack_any(from.unpack(a), rounding, overflow)
}

/// Integer to float.
pub fn int_to_float(
    width: u32,
    signedness: Signedness,
    to: FloatFormat,
    rounding: Rounding,
    a: u64,
) -> u64 {
    let value = int::value(width, signedness, a);
    match Exact::from_int(value < 0, value.unsigned_abs() as u64) {
        Some(value) => to.pack(value, rounding, Overflow::Ieee),
        None => to.zero(false),
    }
}

/// Float to integer in the given direction. Values outside the integer's range take its nearest
/// end and NaN becomes 0, which is what the saturating form defines and what the other leaves open.
/// One bit says whether the number is not zero; NaN is not.
pub fn float_to_int(
    from: FloatFormat,
    rounding: Rounding,
    width: u32,
    signedness: Signedness,
    a: u64,
) -> u64 {
    if width == 1 {
        return u64::from(!matches!(from.unpack(a), Unpacked::Zero { .. }));
    }
    let (low, high) = match signedness {
        Signedness::Unsigned => (0, i128::from(int::mask(width))),
        Signedness::Signed => (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1),
    };
    let value = match from.unpack(a) {
        Unpacked::Nan | Unpacked::Zero { .. } => 0,
        Unpacked::Infinity { negative } => {
            if negative {
                low
            } else {
                high
            }
        }
        Unpacked::Finite(v) => truncated(v, rounding).clamp(low, high),
    };
    value as u64 & int::mask(width)
}

/// The integer next to a value in the given direction; beyond 65 bits only its sign and that it is
/// large are kept.
fn truncated(v: Exact, rounding: Rounding) -> i128 {
    const HUGE: i128 = 1 << 66;
    let bits = 128 - v.mantissa.leading_zeros() as i32 + v.exponent;
    let magnitude = if bits > 66 {
        HUGE
    } else {
        let (kept, half) = v.split_at(0);
        let up = half.is_some_and(|h| rounding.moves_up(h, kept & 1 == 1, v.negative));
        kept as i128 + i128::from(up)
    };
    if v.negative { -magnitude } else { magnitude }
}

/// A pattern of `from` raised to an integer power, for `fpowi`.
pub fn power(format: FloatFormat, mode: FloatMode, base: u64, exponent: i64) -> u64 {
    let result = super::math::powi(format.decode(base), exponent);
    if result.is_nan() {
        return format.nan();
    }
    format.encode(result, mode.rounding, Overflow::Ieee)
}
