//! Bits of literals.

use crate::num::format::{BF16, F16, F32};
use crate::num::{Overflow, Round};
use crate::parse::number::Literal;
use crate::program::types::Ty;

/// The bits of a literal as a constant of type `ty` (PTX ISA 4.5).
pub fn literal_bits(literal: Literal, ty: Ty) -> u64 {
    match (ty, literal) {
        (Ty::F64, _) => literal.as_f64().to_bits(),
        (Ty::F32 | Ty::TF32, Literal::Int(v)) => {
            F32.encode(v as i64 as f64, Round::Nearest, Overflow::Ieee)
        }
        (Ty::F32 | Ty::TF32, Literal::Double(v)) => F32.encode(v, Round::Nearest, Overflow::Ieee),
        (Ty::F16, Literal::Double(v)) => F16.encode(v, Round::Nearest, Overflow::Ieee),
        (Ty::BF16, Literal::Double(v)) => BF16.encode(v, Round::Nearest, Overflow::Ieee),
        _ => literal.as_int() & crate::num::int::mask(ty.bits()),
    }
}
