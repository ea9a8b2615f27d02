//! A function of typed elements, ready to be computed on one element or on arrays.
//!
//! A new one takes a variant, what it computes of elements ([`Function::element`]) and the width of that; where it is
//! computed faster for arrays, a case of [`Function::at_once`].

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
    /// The result's bits for one element of each operand; `None` when their number is wrong.
    pub fn element(self, operands: &[u64]) -> Option<u64> {
        use Function as F;
        Some(match self {
            F::Copy => only(operands)?,
            F::Int1(op, width) => int::unary(op, width, only(operands)?),
            F::Int2(op, width) => {
                let [a, b] = exactly(operands)?;
                int::binary(op, width, a, b)
            }
            F::IntCompare(predicate, sign, width) => {
                let [a, b] = exactly(operands)?;
                predicate.holds(int::compare(width, sign, a, b)).into()
            }
            F::Float1(op, format, mode) => float::unary(op, format, mode, only(operands)?),
            F::Float2(op, format, mode) => {
                let [a, b] = exactly(operands)?;
                float::binary(op, format, mode, a, b)
            }
            F::Reciprocal(format, mode) => {
                let a = only(operands)?;
                float::binary(FloatBinary::Div, format, mode, format.one(), a)
            }
            F::Integral(format, mode) => integral(format, mode, only(operands)?),
            F::Fma(format, mode) => {
                let [a, b, c] = exactly(operands)?;
                float::fma(format, mode, a, b, c)
            }
            F::FloatCompare(predicate, ordering, format) => {
                let [a, b] = exactly(operands)?;
                float::compare(format, predicate, ordering, a, b).into()
            }
            F::Math1 { op, format, flush } => math::unary(op, format, flush, only(operands)?),
            F::Math2(op, format) => {
                let [a, b] = exactly(operands)?;
                math::binary(op, format, a, b)
            }
            F::Power(format, width) => {
                let [a, b] = exactly(operands)?;
                let exponent = int::sign_extend(width, b);
                convert::power(format, FloatMode::default(), a, exponent)
            }
            F::Select => {
                let [condition, a, b] = exactly(operands)?;
                if condition & 1 == 1 { a } else { b }
            }
            F::Resize { from, to, sign } => int::extend(from, to, sign, only(operands)?),
            F::IntToFloat {
                width,
                sign,
                to,
                rounding,
            } => convert::int_to_float(width, sign, to, rounding, only(operands)?),
            F::FloatToInt {
                from,
                mode,
                width,
                sign,
                nan_is_top,
            } => match only(operands)? {
                nan if nan_is_top && from.is_nan(nan) => 1 << (width.max(1) - 1),
                a => {
                    let a = float::flush(from, mode, a);
                    convert::float_to_int(from, mode.rounding, width, sign, a)
                }
            },
            F::FloatToFloat {
                from,
                to,
                rounding,
                overflow,
            } => convert::float_to_float(from, to, rounding, overflow, only(operands)?),
            F::Advance {
                address,
                width,
                scale,
            } => {
                let [a, b] = exactly(operands)?;
                let by = (int::sign_extend(width, b) as u64).wrapping_mul(u64::from(scale));
                a.wrapping_add(by) & int::mask(address)
            }
        })
    }

    /// Bits of a result, where operands have the widths that the function is of.
    fn result_bits(self) -> Option<u32> {
        use Function as F;
        Some(match self {
            // As many as the operand, or the second one, has.
            F::Copy | F::Select => return None,
            F::IntCompare(..) | F::FloatCompare(..) => 1,
            F::Int1(_, width) | F::Int2(_, width) | F::FloatToInt { width, .. } => width,
            F::Float1(_, format, _)
            | F::Float2(_, format, _)
            | F::Reciprocal(format, _)
            | F::Integral(format, _)
            | F::Fma(format, _)
            | F::Math1 { format, .. }
            | F::Math2(_, format)
            | F::Power(format, _) => format.bits(),
            F::Resize { to, .. } => to,
            F::IntToFloat { to, .. } | F::FloatToFloat { to, .. } => to.bits(),
            F::Advance { address, .. } => address,
        })
    }

    /// The results for arrays of elements; `None` when the number of operands is wrong.
    pub fn lanes(self, operands: &[&Lanes]) -> Option<Lanes> {
        self.at_once(operands).or_else(|| self.one_by_one(operands))
    }

    /// The same by [`Function::element`], for functions that [`Function::at_once`] does not have.
    fn one_by_one(self, operands: &[&Lanes]) -> Option<Lanes> {
        vector::each(self.result_bits()?, operands, |values| self.element(values))
    }

    /// The results of functions that are computed faster for whole arrays.
    fn at_once(self, operands: &[&Lanes]) -> Option<Lanes> {
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
            _ => return None,
        })
    }
}

/// The operands, where there are `N`.
fn exactly<const N: usize>(operands: &[u64]) -> Option<[u64; N]> {
    operands.try_into().ok()
}

/// The operand, where there is one.
fn only(operands: &[u64]) -> Option<u64> {
    exactly(operands).map(|[a]| a)
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
