//! `cuda_tile`: the dialect of the public bytecode, versions 13.1 … 13.5.

use super::ResultType::Operand;
use super::{AttrKind, Traits, attr, def::dialect_table, enums, one, op, result};

const ELEMENTWISE: Traits = Traits::PURE.or(Traits::ELEMENTWISE).or(Traits::SAME_TYPE);

dialect_table! { CudaTile {
    AbsF = op("absf").code(0x00).operands(&[one("source")]).results(&[result("result", Operand(0))])
        .traits(ELEMENTWISE).doc("Absolute value of a float.");
    AddI = op("addi").code(0x03).operands(&[one("lhs"), one("rhs")])
        .attrs(&[attr("overflow", AttrKind::Enum(&enums::OVERFLOW))])
        .results(&[result("result", Operand(0))])
        .traits(ELEMENTWISE.or(Traits::COMMUTATIVE)).doc("Integer sum, modulo 2^n.");
}}
