//! Operations whose meaning is not a row of [`crate::scalar`]: assumptions, splats and the fused forms
//! that instruction selection introduces.

use super::{Attrs, Element, Scalar};
use crate::dialect::meaning::Meaning;
use crate::dialect::resolve::{Attributes, Given};
use crate::dialect::{OpKind, cuda_tile, nvvm::Op};
use crate::facts::Leaf;
use crate::scalar::int;

/// Of operations on whole arrays, what they make of one element.
pub fn eval(kind: OpKind, attrs: Attrs, args: &[Element]) -> Option<u64> {
    if cuda_tile::Op::of(kind) == Some(cuda_tile::Op::Assume) {
        return args.first().map(|a| a.0);
    }
    match (Op::of(kind)?, args) {
        (Op::Splat | Op::Take | Op::WarpUniform, [(a, _)]) => Some(*a),
        (Op::SpreadByte, [(byte, Scalar::Int(8))]) => Some((byte & 0x80) << 8 | (byte & 0x7f) << 7),
        (Op::ShlBy | Op::ShrBy, [(source, Scalar::Int(width))]) => {
            let Leaf::Int(by) = (attrs.0)(0) else {
                return None;
            };
            let by = u32::try_from(by).ok()?;
            let shifted = match Op::of(kind)? {
                Op::ShlBy => source.checked_shl(by),
                _ => source.checked_shr(by),
            };
            Some(shifted.unwrap_or(0) & int::mask(*width))
        }
        (Op::SpreadNibble, [(nibble, Scalar::Int(4))]) => {
            let Leaf::Int(by) = (attrs.0)(0) else {
                return None;
            };
            let magnitude = (nibble & 7).checked_shl(u32::try_from(by).ok()?)?;
            Some((nibble & 8) << 12 | magnitude & 0xffff)
        }
        (Op::TestClear, [(source, Scalar::Int(_)), (mask, _)]) => {
            Some(u64::from(source & mask == 0))
        }
        (Op::JoinBytes, [(low, Scalar::Int(8)), (high, Scalar::Int(8))]) => Some(high << 8 | low),
        (op, _) => fused(op, attrs, args),
    }
}

/// The forms that instruction selection introduces.
fn fused(op: Op, attrs: Attrs, args: &[Element]) -> Option<u64> {
    let &[(a, s), (b, t), (c, u)] = args else {
        return wide_product(op, args);
    };
    let value = match (op, u) {
        (Op::Mad, Scalar::Int(width)) if s == t && t == u => {
            a.wrapping_mul(b).wrapping_add(c) & int::mask(width)
        }
        (Op::MadWideS, _) => {
            wide_product(Op::MulWideS, &args[..2])?.wrapping_add(c) & int::mask(u.bits())
        }
        (Op::MadWideU, _) => {
            wide_product(Op::MulWideU, &args[..2])?.wrapping_add(c) & int::mask(u.bits())
        }
        (Op::Lop3, Scalar::Int(width)) => {
            let Leaf::Int(table) = (attrs.0)(0) else {
                return None;
            };
            let bit = |i: u32| {
                let row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
                (table as u64 >> row & 1) << i
            };
            (0..width).map(bit).sum()
        }
        (Op::ShfL, Scalar::Int(32)) => ((b << 32 | a) << (c & 31)) >> 32,
        (Op::ShfR, Scalar::Int(32)) => (b << 32 | a) >> (c & 31) & int::mask(32),
        (Op::ICmpAnd | Op::ICmpOr, Scalar::Int(1)) => {
            let value = |i| Given::from((attrs.0)(i));
            let row = OpKind::from(op).def();
            let attributes = Attributes { row, value: &value };
            let compare = Meaning::IntCompare.function(attributes, &[s, t], u).ok()?;
            let holds = compare.element(&[a, b])?;
            match op {
                Op::ICmpAnd => holds & c,
                _ => holds | c,
            }
        }
        _ => return None,
    };
    Some(value)
}

/// A product of twice the operands' width.
fn wide_product(op: Op, args: &[Element]) -> Option<u64> {
    let &[(a, s), (b, t)] = args else {
        return None;
    };
    if s != t {
        return None;
    }
    let width = s.int().filter(|&w| w <= 32)?;
    let product = match op {
        Op::MulWideU => a.wrapping_mul(b),
        Op::MulWideS => {
            let signed = |v: u64| int::sign_extend(width, v);
            signed(a).wrapping_mul(signed(b)) as u64
        }
        _ => return None,
    };
    Some(product & int::mask(2 * width))
}
