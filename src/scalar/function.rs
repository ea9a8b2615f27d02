//! A function of typed elements, ready to be computed on one element or on arrays.

use super::float::{self, Compare, FloatBinary, FloatMode, FloatUnary, Ordering};
use super::format::{FloatFormat, Overflow, Rounding};
use super::int::{self, IntBinary, IntUnary, Signedness};
use super::math::{self, MathBinary, MathUnary};
use super::{Lanes, convert, vector};

/// What an elementwise operation computes on each element: the operation, its types and its modes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Function {
    /// The operand's bits.
    Copy,
    Int1(IntUnary, u32),
    Int2(IntBinary, u32),
    IntCompare(Compare, Signedness, u32),
    Float1(FloatUnary, FloatFormat, FloatMode),
    Float2(FloatBinary, FloatFormat, FloatMode),
    /// `1 / a`.
    Reciprocal(FloatFormat, FloatMode),
    /// An integral value of the same format.
    Integral(FloatFormat, FloatMode),
    Fma(FloatFormat, FloatMode),
    FloatCompare(Compare, Ordering, FloatFormat),
    Math1 {
        op: MathUnary,
        format: FloatFormat,
        flush: bool,
    },
    Math2(MathBinary, FloatFormat),
    /// A float to the power of a signed integer of the given width.
    Power(FloatFormat, u32),
    /// The second operand where the first is true, else the third.
    Select,
    /// Sign or zero extension, or truncation.
    Resize {
        from: u32,
        to: u32,
        sign: Signedness,
    },
    IntToFloat {
        width: u32,
        sign: Signedness,
        to: FloatFormat,
        rounding: Rounding,
    },
    FloatToInt {
        from: FloatFormat,
        mode: FloatMode,
        width: u32,
        sign: Signedness,
        /// NaN becomes the top bit, not 0.
        nan_is_top: bool,
    },
    FloatToFloat {
        from: FloatFormat,
        to: FloatFormat,
        rounding: Rounding,
        overflow: Overflow,
    },
    /// An address plus `scale` bytes times a signed integer of `width` bits.
    Advance {
        address: u32,
        width: u32,
        scale: u32,
    },
}

impl Function {
    /// How many operands it takes.
    pub fn arity(self) -> usize {
        use Function as F;
        match self {
            F::Copy
            | F::Int1(..)
            | F::Float1(..)
            | F::Reciprocal(..)
            | F::Integral(..)
            | F::Math1 { .. }
            | F::Resize { .. }
            | F::IntToFloat { .. }
            | F::FloatToInt { .. }
            | F::FloatToFloat { .. } => 1,
            F::Int2(..)
            | F::IntCompare(..)
            | F::Float2(..)
            | F::FloatCompare(..)
            | F::Math2(..)
            | F::Power(..)
            | F::Advance { .. } => 2,
            F::Fma(..) | F::Select => 3,
        }
    }

    /// The result's bits for one element of each operand; `None` when their number is wrong.
    pub fn element(self, operands: &[u64]) -> Option<u64> {
        match *operands {
            [a] => self.of_one(a),
            [a, b] => self.of_two(a, b),
            [a, b, c] => match self {
                Function::Select => Some(if a & 1 == 1 { b } else { c }),
                Function::Fma(format, mode) => Some(float::fma(format, mode, a, b, c)),
                _ => None,
            },
            _ => None,
        }
    }

    fn of_one(self, a: u64) -> Option<u64> {
        use Function as F;
        Some(match self {
            F::Copy => a,
            F::Int1(op, width) => int::unary(op, width, a),
            F::Float1(op, format, mode) => float::unary(op, format, mode, a),
            F::Reciprocal(format, mode) => {
                float::binary(FloatBinary::Div, format, mode, format.one(), a)
            }
            F::Integral(format, mode) => integral(format, mode, a),
            F::Math1 { op, format, flush } => math::unary(op, format, flush, a),
            F::Resize { from, to, sign } => int::extend(from, to, sign, a),
            F::IntToFloat {
                width,
                sign,
                to,
                rounding,
            } => convert::int_to_float(width, sign, to, rounding, a),
            F::FloatToInt {
                from,
                mode,
                width,
                sign,
                nan_is_top,
            } => {
                if nan_is_top && from.is_nan(a) {
                    return Some(1 << (width.max(1) - 1));
                }
                let a = float::flush(from, mode, a);
                convert::float_to_int(from, mode.rounding, width, sign, a)
            }
            F::FloatToFloat {
                from,
                to,
                rounding,
                overflow,
            } => convert::float_to_float(from, to, rounding, overflow, a),
            _ => return None,
        })
    }

    fn of_two(self, a: u64, b: u64) -> Option<u64> {
        use Function as F;
        Some(match self {
            F::Int2(op, width) => int::binary(op, width, a, b),
            F::IntCompare(predicate, sign, width) => {
                predicate.holds(int::compare(width, sign, a, b)).into()
            }
            F::Float2(op, format, mode) => float::binary(op, format, mode, a, b),
            F::FloatCompare(predicate, ordering, format) => {
                float::compare(format, predicate, ordering, a, b).into()
            }
            F::Math2(op, format) => math::binary(op, format, a, b),
            F::Power(format, width) => {
                let exponent = int::sign_extend(width, b);
                convert::power(format, FloatMode::default(), a, exponent)
            }
            F::Advance {
                address,
                width,
                scale,
            } => {
                let by = (int::sign_extend(width, b) as u64).wrapping_mul(u64::from(scale));
                a.wrapping_add(by) & int::mask(address)
            }
            _ => return None,
        })
    }

    /// The results for arrays of elements; `None` when the number of operands is wrong.
    pub fn lanes(self, operands: &[&Lanes]) -> Option<Lanes> {
        use Function as F;
        Some(match (self, operands) {
            (F::Copy, [a]) => (*a).clone(),
            (F::Int1(op, width), [a]) => vector::int_unary(op, width, a),
            (F::Float1(op, format, mode), [a]) => vector::float_unary(op, format, mode, a),
            (F::Math1 { op, format, flush }, [a]) => vector::math_unary(op, format, flush, a),
            (F::Resize { from, to, sign }, [a]) => vector::int_to_int(from, to, sign, a),
            (
                F::IntToFloat {
                    width,
                    sign,
                    to,
                    rounding,
                },
                [a],
            ) => vector::int_to_float(width, sign, to, rounding, a),
            (
                F::FloatToFloat {
                    from,
                    to,
                    rounding,
                    overflow,
                },
                [a],
            ) => vector::float_to_float(from, to, rounding, overflow, a),
            (F::Int2(op, width), [a, b]) => vector::int_binary(op, width, a, b),
            (F::IntCompare(predicate, sign, width), [a, b]) => {
                vector::int_compare(predicate, sign, width, a, b)
            }
            (F::Float2(op, format, mode), [a, b]) => vector::float_binary(op, format, mode, a, b),
            (F::FloatCompare(predicate, ordering, format), [a, b]) => {
                vector::float_compare(predicate, ordering, format, a, b)
            }
            (F::Math2(op, format), [a, b]) => vector::math_binary(op, format, a, b),
            (F::Power(format, width), [a, b]) => vector::powi(format, width, a, b),
            (F::Select, [condition, a, b]) => vector::select(condition, a, b),
            (F::Fma(format, mode), [a, b, c]) => vector::fma(format, mode, a, b, c),
            (F::FloatToInt { width, .. }, [a]) => {
                vector::each1(width, a, |a| self.of_one(a).unwrap_or(0))
            }
            (F::Reciprocal(format, _) | F::Integral(format, _), [a]) => {
                vector::each1(format.bits(), a, |a| self.of_one(a).unwrap_or(0))
            }
            (F::Advance { address, .. }, [a, b]) => {
                vector::each2(address, a, b, |a, b| self.of_two(a, b).unwrap_or(0))
            }
            _ => return None,
        })
    }
}

/// The integral value next to `a` in the mode's direction, in the same format.
fn integral(format: FloatFormat, mode: FloatMode, a: u64) -> u64 {
    let value = format.decode(float::flush(format, mode, a));
    let value = match mode.rounding {
        Rounding::Zero => value.trunc(),
        Rounding::NegativeInf => value.floor(),
        Rounding::PositiveInf => value.ceil(),
        _ => value.round_ties_even(),
    };
    format.encode(value, Rounding::NearestEven, Overflow::Ieee)
}
