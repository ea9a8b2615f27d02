//! What pure operations compute, element by element, by the interpreter's own arithmetic.
//!
//! Constant folding and the soundness check of rules use these. Elements are bits in the low end of
//! a `u64`, of a [`Scalar`] type.

mod nvvm;
mod tile;

use smallvec::SmallVec;

use super::ast::float_format;
use crate::dialect::{Dialect, OpKind, Traits, enums::rounding};
use crate::egraph::facts::{Facts, Leaf};
use crate::ir::{Float, Type, TypeId, Types};
use crate::scalar::{Compare, FloatFormat, FloatMode, Ordering, Rounding, Signedness};

/// An element type as far as arithmetic goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scalar {
    Int(u32),
    Float(Float),
    /// A 64-bit address of pointees of so many bytes.
    Ptr(u32),
    /// A 32-bit address.
    Shared,
}

impl Scalar {
    /// The element type of `ty`.
    pub fn of(types: &Types, ty: TypeId) -> Option<Scalar> {
        Some(match types.get(types.elem(ty)) {
            Type::Int(bits) => Scalar::Int(*bits),
            Type::Float(float) => Scalar::Float(*float),
            Type::Ptr { pointee, .. } => Scalar::Ptr(types.bits(*pointee)?.div_ceil(8)),
            Type::SharedPtr => Scalar::Shared,
            _ => return None,
        })
    }

    pub fn bits(self) -> u32 {
        match self {
            Scalar::Int(bits) => bits,
            Scalar::Float(float) => float.bits(),
            Scalar::Ptr(_) => 64,
            Scalar::Shared => 32,
        }
    }

    fn int(self) -> Option<u32> {
        match self {
            Scalar::Int(bits) => Some(bits),
            _ => None,
        }
    }

    fn float(self) -> Option<FloatFormat> {
        match self {
            Scalar::Float(float) => Some(float_format(float)),
            _ => None,
        }
    }
}

/// A typed element.
pub type Element = (u64, Scalar);

/// What an operation makes of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Value(u64),
    /// The dialect leaves the result open.
    Undefined,
    /// There is no semantics here for the operation on these types.
    Unknown,
}

impl From<Option<u64>> for Outcome {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Outcome::Unknown, Outcome::Value)
    }
}

/// Attributes of an operation by position.
#[derive(Clone, Copy)]
pub struct Attrs<'a>(pub &'a dyn Fn(usize) -> Leaf);

impl Attrs<'_> {
    fn case(&self, i: usize) -> Option<u8> {
        match (self.0)(i) {
            Leaf::Enum(case) => Some(case),
            _ => None,
        }
    }

    fn unit(&self, i: usize) -> bool {
        (self.0)(i) == Leaf::Unit
    }

    fn sign(&self, i: usize) -> Option<Signedness> {
        Some(match self.case(i)? {
            0 => Signedness::Unsigned,
            _ => Signedness::Signed,
        })
    }

    fn rounding(&self, i: usize) -> Option<Rounding> {
        Some(match self.case(i)? {
            rounding::ZERO | rounding::NEAREST_INT_TO_ZERO => Rounding::Zero,
            rounding::NEGATIVE_INF => Rounding::NegativeInf,
            rounding::POSITIVE_INF => Rounding::PositiveInf,
            rounding::NEAREST_AWAY => Rounding::NearestAway,
            _ => Rounding::NearestEven,
        })
    }

    /// Rounding at `i`, flushing at `i + 1`.
    fn mode(&self, i: usize) -> Option<FloatMode> {
        Some(FloatMode {
            rounding: self.rounding(i)?,
            flush: self.unit(i + 1),
        })
    }

    fn predicate(&self, i: usize) -> Option<Compare> {
        Some(match self.case(i)? {
            0 => Compare::Equal,
            1 => Compare::NotEqual,
            2 => Compare::Less,
            3 => Compare::LessEqual,
            4 => Compare::Greater,
            5 => Compare::GreaterEqual,
            _ => return None,
        })
    }

    fn ordering(&self, i: usize) -> Option<Ordering> {
        Some(match self.case(i)? {
            0 => Ordering::Unordered,
            _ => Ordering::Ordered,
        })
    }
}

/// One element of the result of `kind`.
pub fn eval(kind: OpKind, attrs: Attrs, args: &[Element], result: Scalar) -> Outcome {
    match kind.dialect {
        Dialect::CudaTile => tile::eval(kind, attrs, args, result),
        Dialect::Nvvm => nvvm::eval(kind, attrs, args, result),
        _ => Outcome::Unknown,
    }
}

/// Two operands of one type.
fn pair(args: &[Element]) -> Option<(u64, u64, Scalar)> {
    match *args {
        [(a, s), (b, t)] if s == t => Some((a, b, s)),
        _ => None,
    }
}

/// The constant that an elementwise operation of constants is.
pub fn fold(
    types: &Types,
    kind: OpKind,
    leaf: &dyn Fn(usize) -> Leaf,
    operands: &[(&Facts, TypeId)],
    result: TypeId,
) -> Option<u64> {
    if !kind.def().traits.has(Traits::ELEMENTWISE) || operands.is_empty() {
        return None;
    }
    let result = Scalar::of(types, result)?;
    let args: Option<SmallVec<[Element; 3]>> = operands
        .iter()
        .map(|(facts, ty)| Some((facts.constant?, Scalar::of(types, *ty)?)))
        .collect();
    match eval(kind, Attrs(leaf), &args?, result) {
        Outcome::Value(bits) => Some(bits),
        _ => None,
    }
}
