//! Types and bits that the words of a rule stand for.

use super::rule::{ElemTest, Literal};
use crate::ir::{Type, TypeId, Types};
use crate::scalar::{Overflow, Rounding};

impl ElemTest {
    /// The scalar type it names, if it names one.
    pub fn scalar(self, types: &mut Types) -> Option<TypeId> {
        Some(match self {
            ElemTest::IntOf(bits) => types.int(bits),
            ElemTest::FloatOf(float) => types.float(float),
            ElemTest::SharedPtr => types.intern(Type::SharedPtr),
            _ => return None,
        })
    }
}

/// The bits of a literal in the element type of `ty`; `None` where it does not exist there.
pub fn literal_bits(types: &Types, literal: &Literal, ty: TypeId) -> Option<u64> {
    let elem = types.get(types.elem(ty));
    match (literal, elem) {
        (Literal::Bits(bits), _) => {
            (crate::facts::truncate(*bits, types.bits(ty)?) == *bits).then_some(*bits)
        }
        (Literal::Bool(b), Type::Int(1)) => Some(*b as u64),
        (Literal::Int(value), Type::Int(bits)) => int_bits(*value, *bits),
        (Literal::Float(value), Type::Float(float)) => {
            let format = *float;
            let bits = format.encode(*value, Rounding::NearestEven, Overflow::Ieee);
            (format.decode(bits).to_bits() == value.to_bits()).then_some(bits)
        }
        (Literal::Nan, Type::Float(float)) => Some(float.nan()),
        _ => None,
    }
}

/// A number that fits `bits` bits, signed or unsigned.
pub fn int_bits(value: i128, bits: u32) -> Option<u64> {
    let (min, max) = (-(1i128 << (bits - 1)), (1i128 << bits) - 1);
    (min..=max)
        .contains(&value)
        .then(|| crate::facts::truncate(value as u64, bits))
}

/// Whether bits of the float type `ty` are a NaN.
pub fn is_nan(types: &Types, ty: TypeId, bits: u64) -> bool {
    match types.get(types.elem(ty)) {
        Type::Float(float) => float.is_nan(bits),
        _ => false,
    }
}
