//! Elementary functions.
//!
//! Each is evaluated in `f64` by the `libm` crate (errors below 1 ulp of f64 for most, at most
//! 2.5 for the hyperbolic ones) and rounded once to the format. For f32 and narrower formats the
//! result is therefore within 0.51 ulp of the true value; f64 has libm's own accuracy. `libm` is
//! plain Rust, so results do not depend on the machine. The `approx` and `full` forms of Tile IR
//! promise less than that and are evaluated the same way. `tests/interpreter/elementary.rs` measures all of it.

use super::format::{FloatFormat, Overflow, Rounding};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MathUnary {
    Exp,
    Exp2,
    Log,
    Log2,
    Sin,
    Cos,
    Tan,
    Sinh,
    Cosh,
    Tanh,
    Rsqrt,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MathBinary {
    Pow,
    /// Arc tangent of the first operand over the second, in the quadrant of their signs.
    Atan2,
}

impl MathUnary {
    /// The function on `f64`.
    pub fn function(self) -> fn(f64) -> f64 {
        match self {
            MathUnary::Exp => libm::exp,
            MathUnary::Exp2 => libm::exp2,
            MathUnary::Log => libm::log,
            MathUnary::Log2 => libm::log2,
            MathUnary::Sin => libm::sin,
            MathUnary::Cos => libm::cos,
            MathUnary::Tan => libm::tan,
            MathUnary::Sinh => libm::sinh,
            MathUnary::Cosh => libm::cosh,
            MathUnary::Tanh => libm::tanh,
            MathUnary::Rsqrt => |x| 1.0 / x.sqrt(),
        }
    }
}

impl MathBinary {
    /// The function on `f64`.
    pub fn function(self) -> fn(f64, f64) -> f64 {
        match self {
            MathBinary::Pow => libm::pow,
            MathBinary::Atan2 => libm::atan2,
        }
    }
}

/// An `f64` result as a pattern, subnormals flushed when asked.
pub fn finish(format: FloatFormat, flush: bool, value: f64) -> u64 {
    let bits = format.encode(value, Rounding::NearestEven, Overflow::Ieee);
    if flush && format.is_subnormal(bits) {
        bits & format.sign_bit()
    } else {
        bits
    }
}

/// An operand as `f64`, subnormals flushed when asked.
pub fn operand(format: FloatFormat, flush: bool, bits: u64) -> f64 {
    if flush && format.is_subnormal(bits) {
        format.decode(bits & format.sign_bit())
    } else {
        format.decode(bits)
    }
}

pub fn unary(op: MathUnary, format: FloatFormat, flush: bool, a: u64) -> u64 {
    finish(format, flush, op.function()(operand(format, flush, a)))
}

pub fn binary(op: MathBinary, format: FloatFormat, a: u64, b: u64) -> u64 {
    let value = op.function()(format.decode(a), format.decode(b));
    finish(format, false, value)
}

/// `base` to an integer power; an odd power keeps the sign even where the integer is not an `f64`.
pub fn powi(base: f64, exponent: i64) -> f64 {
    let magnitude = libm::pow(base.abs(), exponent as f64);
    if base.is_sign_negative() && exponent % 2 != 0 && !magnitude.is_nan() {
        -magnitude
    } else {
        magnitude
    }
}
