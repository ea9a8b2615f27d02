//! Small constructors shared by the lowerings.

use crate::dialect::cuda_tile;
use crate::dialect::enums::{Case, Overflow, Padding, Rounding};
use crate::ir::{Attr, Dense, EnumAttr, Float, OpBuilder, Type, TypeId, ValueId};
use crate::scalar::Signedness;

/// An enumeration attribute.
pub fn cased(case: impl Case) -> Option<Attr> {
    Some(Attr::Enum(EnumAttr(case.code())))
}

/// An enumeration attribute by its case's name.
pub fn case(def: &'static crate::dialect::EnumDef, name: &str) -> Option<Attr> {
    let index = def.cases.iter().position(|c| *c == name);
    debug_assert!(index.is_some(), "{} has no case {name}", def.name);
    index.map(|i| Attr::Enum(EnumAttr(i as u8)))
}

/// A splat constant of integer type (tile or scalar), as `cuda_tile.constant`.
pub fn constant(b: &mut OpBuilder<'_>, value: i64, ty: TypeId) -> ValueId {
    let bits = b.module.types.width(ty);
    let bytes = value.to_le_bytes()[..bits.div_ceil(8).min(8) as usize].to_vec();
    let attr = Attr::Dense {
        data: Dense::Bytes(bytes),
        ty,
    };
    b.value(cuda_tile::Op::Constant, &[], [Some(attr)], ty)
}

/// `value` times `n`.
pub fn times(b: &mut OpBuilder<'_>, value: ValueId, n: i64) -> ValueId {
    let ty = b.module.ty(value);
    let n = constant(b, n, ty);
    let attrs = [cased(Overflow::None)];
    b.value(cuda_tile::Op::MulI, &[value, n], attrs, ty)
}

/// `lhs` less `rhs`, of integers of one type, modulo its size.
pub fn difference(b: &mut OpBuilder<'_>, lhs: ValueId, rhs: ValueId) -> ValueId {
    let ty = b.module.ty(lhs);
    b.value(
        cuda_tile::Op::SubI,
        &[lhs, rhs],
        [cased(Overflow::None)],
        ty,
    )
}

/// `ceil(a / b)` of non-negative integers of one type.
pub fn ceil_div(b: &mut OpBuilder<'_>, lhs: ValueId, rhs: ValueId) -> ValueId {
    let ty = b.module.ty(lhs);
    let attrs = [cased(Signedness::Signed), cased(Rounding::PositiveInf)];
    b.value(cuda_tile::Op::DivI, &[lhs, rhs], attrs, ty)
}

/// `value` as the integer type `to` (a tile or scalar of the same shape), sign-extended.
pub fn int_cast(b: &mut OpBuilder<'_>, value: ValueId, to: TypeId) -> ValueId {
    let from = b.module.ty(value);
    let (have, want) = (b.module.types.bits(from), b.module.types.bits(to));
    match have.cmp(&want) {
        std::cmp::Ordering::Equal => value,
        std::cmp::Ordering::Less => b.value(
            cuda_tile::Op::ExtI,
            &[value],
            [cased(Signedness::Signed)],
            to,
        ),
        std::cmp::Ordering::Greater => {
            b.value(cuda_tile::Op::TruncI, &[value], [cased(Overflow::None)], to)
        }
    }
}

/// A number, or a pointer, for every element of a tile.
pub fn splat(b: &mut OpBuilder<'_>, value: ValueId, ty: TypeId) -> ValueId {
    let Some((elem, shape)) = b.module.types.as_tile(ty) else {
        return value;
    };
    let shape = shape.to_vec();
    if shape.is_empty() {
        return value;
    }
    let ones = b.module.types.tile(elem, &vec![1; shape.len()]);
    let value = b.value(cuda_tile::Op::Reshape, &[value], [], ones);
    b.value(cuda_tile::Op::Broadcast, &[value], [], ty)
}

/// Bits of a padding value of a float format.
pub fn padding(f: Float, padding: Padding) -> u64 {
    let sign = 1u64 << (f.bits() - 1);
    let (infinity, nan) = match f {
        Float::F16 => (0x7c00, 0x7e00),
        Float::BF16 => (0x7f80, 0x7fc0),
        Float::F32 | Float::TF32 => (0x7f80_0000, 0x7fc0_0000),
        Float::F64 => (0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000),
        Float::F8E5M2 => (0x7c, 0x7f),
        _ => (0x7f, 0x7f),
    };
    match padding {
        Padding::Zero => 0,
        Padding::NegZero => sign,
        Padding::Nan => nan,
        Padding::PosInf => infinity,
        Padding::NegInf => infinity | sign,
    }
}

/// A tile of type `ty` all of whose elements are what lies outside of a tensor with that padding.
pub fn outside(b: &mut OpBuilder<'_>, outside: Padding, ty: TypeId) -> ValueId {
    let elem = b.module.types.elem(ty);
    let bits = match b.module.types.get(elem) {
        Type::Float(f) => padding(*f, outside),
        _ => 0,
    };
    constant(b, bits as i64, ty)
}
