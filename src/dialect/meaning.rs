//! What an elementwise operation computes, as part of its row.
//!
//! A [`Meaning`] names an operation of [`crate::scalar`] and says which attributes complete it;
//! [`super::resolve`] makes a function of it.

use crate::scalar::{
    FloatBinary, FloatUnary, IntBinary, IntUnary, MathBinary, MathUnary, Signedness,
};

/// What an elementwise operation computes on each element. "By sign" means: as the attribute of kind
/// [`super::enums::SIGNEDNESS`] says; rounding and flushing come from the row's attributes, too.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// The same bits as another type of the same width.
    Copy,
    Int1(IntUnary),
    Int2(IntBinary),
    /// By sign.
    Int2BySign(fn(Signedness) -> IntBinary),
    /// By sign, rounded as the attribute says, towards zero without one.
    Divide,
    /// By predicate and sign.
    IntCompare,
    Float1(FloatUnary),
    Float2(FloatBinary),
    /// By the unit attribute that lets NaN win.
    Float2ByNan(fn(bool) -> FloatBinary),
    Reciprocal,
    /// Rounded to an integral value.
    Integral,
    Fma,
    /// By predicate and ordering.
    FloatCompare,
    Math1(MathUnary),
    Math2(MathBinary),
    /// Float to the power of an integer.
    Power,
    Select,
    /// To a wider integer.
    Widen(Sign),
    /// To a narrower integer.
    Narrow,
    IntToFloat(Sign),
    FloatToInt(Sign, Nan),
    FloatToFloat(Saturate),
    /// An address plus whole pointees, or plus bytes.
    Advance(Unit),
}

/// Where the sign comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    Attribute,
    Always(Signedness),
}

/// What NaN becomes as an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nan {
    Zero,
    /// PTX ISA, cvt: the top bit where 64 bits are involved, else 0.
    TopOfLong,
}

/// When a float beyond the format's range becomes its largest value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Saturate {
    /// To formats of 8 bits and fewer, as the only forms of these conversions in hardware do.
    Narrow,
    /// Where the unit attribute `satfinite` is.
    Attribute,
}

/// What an integer is counted in that an address is advanced by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    Pointee,
    /// The integer is as wide as the address.
    Byte,
}
