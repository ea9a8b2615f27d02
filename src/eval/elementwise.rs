//! Operations that work element by element, and constants.

use smallvec::smallvec;

use super::operation::{Action, Decoded, Operation, pure1, pure2, pure3, same};
use super::types::{Elem, TileType};
use super::value::{Value, Values};
use crate::dialect::cuda_tile::Op as Name;
use crate::ir::{Attr, Dense};
use crate::scalar::{
    FloatBinary, FloatUnary, IntBinary, IntUnary, Lanes, MathBinary, MathUnary, Ordering, Overflow,
    Signedness, vector,
};

pub fn decode(o: &Operation) -> Decoded {
    let action = match o.name {
        Name::Constant => constant(o)?,
        Name::Iota => iota(&o.result(0)?)?,
        Name::Select => pure3(vector::select),
        _ => {
            return Ok(match integer(o)? {
                Some(action) => Some(action),
                None => match float(o)? {
                    Some(action) => Some(action),
                    None => conversion(o)?,
                },
            });
        }
    };
    Ok(Some(action))
}

fn integer(o: &Operation) -> Decoded {
    let sign = || o.signedness("signedness");
    let op = match o.name {
        Name::AddI => IntBinary::Add,
        Name::SubI => IntBinary::Sub,
        Name::MulI => IntBinary::Mul,
        Name::MulhiI => IntBinary::MulHi(Signedness::Unsigned),
        Name::DivI => o.division()?,
        Name::RemI => IntBinary::Rem(sign()?),
        Name::MinI => IntBinary::Min(sign()?),
        Name::MaxI => IntBinary::Max(sign()?),
        Name::AndI => IntBinary::And,
        Name::OrI => IntBinary::Or,
        Name::XOrI => IntBinary::Xor,
        Name::ShLI => IntBinary::Shl,
        Name::ShRI => IntBinary::Shr(sign()?),
        Name::AbsI => return integer_unary(o, IntUnary::Abs),
        Name::NegI => return integer_unary(o, IntUnary::Neg),
        Name::CmpI => {
            let (predicate, sign, width) = (o.predicate()?, sign()?, o.operand(0)?.int_width()?);
            return Ok(Some(pure2(move |a, b| {
                vector::int_compare(predicate, sign, width, a, b)
            })));
        }
        _ => return Ok(None),
    };
    let width = o.operand(0)?.int_width()?;
    Ok(Some(pure2(move |a, b| vector::int_binary(op, width, a, b))))
}

fn integer_unary(o: &Operation, op: IntUnary) -> Decoded {
    let width = o.operand(0)?.int_width()?;
    Ok(Some(pure1(move |a| vector::int_unary(op, width, a))))
}

fn float(o: &Operation) -> Decoded {
    let nan = o.op.has_unit("propagate_nan");
    let op = match o.name {
        Name::AddF => FloatBinary::Add,
        Name::SubF => FloatBinary::Sub,
        Name::MulF => FloatBinary::Mul,
        Name::DivF => FloatBinary::Div,
        Name::RemF => FloatBinary::Rem,
        Name::MinF => FloatBinary::Min { nan },
        Name::MaxF => FloatBinary::Max { nan },
        Name::AbsF => return float_unary(o, FloatUnary::Abs),
        Name::NegF => return float_unary(o, FloatUnary::Neg),
        Name::Sqrt => return float_unary(o, FloatUnary::Sqrt),
        Name::Floor => return float_unary(o, FloatUnary::Floor),
        Name::Ceil => return float_unary(o, FloatUnary::Ceil),
        Name::Fma => {
            let (format, mode) = (o.operand(0)?.float()?, o.float_mode()?);
            return Ok(Some(pure3(move |a, b, c| {
                vector::fma(format, mode, a, b, c)
            })));
        }
        Name::CmpF => return float_compare(o),
        _ => return math(o),
    };
    let (format, mode) = (o.operand(0)?.float()?, o.float_mode()?);
    Ok(Some(pure2(move |a, b| {
        vector::float_binary(op, format, mode, a, b)
    })))
}

fn float_unary(o: &Operation, op: FloatUnary) -> Decoded {
    let (format, mode) = (o.operand(0)?.float()?, o.float_mode()?);
    Ok(Some(pure1(move |a| {
        vector::float_unary(op, format, mode, a)
    })))
}

fn float_compare(o: &Operation) -> Decoded {
    let (predicate, format) = (o.predicate()?, o.operand(0)?.float()?);
    let ordering = match o.case("comparison_ordering")? {
        0 => Ordering::Unordered,
        _ => Ordering::Ordered,
    };
    Ok(Some(pure2(move |a, b| {
        vector::float_compare(predicate, ordering, format, a, b)
    })))
}

fn math(o: &Operation) -> Decoded {
    let op = match o.name {
        Name::Exp => MathUnary::Exp,
        Name::Exp2 => MathUnary::Exp2,
        Name::Log => MathUnary::Log,
        Name::Log2 => MathUnary::Log2,
        Name::Sin => MathUnary::Sin,
        Name::Cos => MathUnary::Cos,
        Name::Tan => MathUnary::Tan,
        Name::SinH => MathUnary::Sinh,
        Name::CosH => MathUnary::Cosh,
        Name::TanH => MathUnary::Tanh,
        Name::Rsqrt => MathUnary::Rsqrt,
        Name::FPowF => return math_binary(o, MathBinary::Pow),
        Name::Atan2 => return math_binary(o, MathBinary::Atan2),
        Name::FPowI => {
            let (format, width) = (o.operand(0)?.float()?, o.operand(1)?.int_width()?);
            return Ok(Some(pure2(move |a, n| vector::powi(format, width, a, n))));
        }
        _ => return Ok(None),
    };
    let (format, flush) = (o.operand(0)?.float()?, o.op.has_unit("flush_to_zero"));
    Ok(Some(pure1(move |a| {
        vector::math_unary(op, format, flush, a)
    })))
}

fn math_binary(o: &Operation, op: MathBinary) -> Decoded {
    let format = o.operand(0)?.float()?;
    Ok(Some(pure2(move |a, b| {
        vector::math_binary(op, format, a, b)
    })))
}

fn conversion(o: &Operation) -> Decoded {
    if !matches!(
        o.name,
        Name::ExtI
            | Name::TruncI
            | Name::IToF
            | Name::FToI
            | Name::FToF
            | Name::Bitcast
            | Name::IntToPtr
            | Name::PtrToInt
            | Name::PtrToPtr
            | Name::Offset
    ) {
        return Ok(None);
    }
    let (from, to) = (o.operand(0)?, o.result(0)?);
    Ok(Some(match o.name {
        Name::ExtI => resize(&from, &to, o.signedness("signedness")?)?,
        Name::TruncI => resize(&from, &to, Signedness::Unsigned)?,
        Name::IToF => {
            let (sign, rounding) = (o.signedness("signedness")?, o.rounding()?);
            let (width, to) = (from.int_width()?, to.float()?);
            pure1(move |a| vector::int_to_float(width, sign, to, rounding, a))
        }
        Name::FToI => {
            let (sign, rounding) = (o.signedness("signedness")?, o.rounding()?);
            let (from, width) = (from.float()?, to.int_width()?);
            pure1(move |a| vector::float_to_int(from, rounding, width, sign, a))
        }
        Name::FToF => float_to_float(o, &from, &to)?,
        Name::Offset => offset(&from, &o.operand(1)?)?,
        _ if from.elem.bits() == to.elem.bits() => same(),
        _ => return Err(format!("{} is not as wide as {}", from.elem, to.elem)),
    }))
}

fn resize(from: &TileType, to: &TileType, sign: Signedness) -> Result<Action, String> {
    let (from, to) = (from.int_width()?, to.int_width()?);
    Ok(pure1(move |a| vector::int_to_int(from, to, sign, a)))
}

/// Conversions to 8 and 4 bits saturate, as the only forms of these conversions in hardware do.
fn float_to_float(o: &Operation, from: &TileType, to: &TileType) -> Result<Action, String> {
    let (from, to, rounding) = (from.float()?, to.float()?, o.rounding()?);
    let overflow = if to.bits() <= 8 {
        Overflow::Saturate
    } else {
        Overflow::Ieee
    };
    Ok(pure1(move |a| {
        vector::float_to_float(from, to, rounding, overflow, a)
    }))
}

fn offset(pointer: &TileType, by: &TileType) -> Result<Action, String> {
    let Elem::Ptr { pointee } = pointer.elem else {
        return Err("offset of what is not a pointer".into());
    };
    let width = by.int_width()?;
    let bytes = u64::from(pointee).div_ceil(8);
    if pointee < 8 {
        return Err("pointers to elements of less than a byte cannot be advanced".into());
    }
    Ok(pure2(move |pointer, by| {
        let by = vector::int_to_int(width, 64, Signedness::Signed, by);
        let by = vector::int_binary(IntBinary::Mul, 64, &by, &Lanes::splat(64, bytes));
        vector::int_binary(IntBinary::Add, 64, pointer, &by)
    }))
}

fn constant(o: &Operation) -> Result<Action, String> {
    let ty = o.result(0)?;
    let Attr::Dense {
        data: Dense::Bytes(bytes),
        ..
    } = o.attr("value")?
    else {
        return Err("a constant without data".into());
    };
    let lanes = from_bytes(&ty, bytes)?;
    let result: Values = smallvec![Value::tile(lanes)];
    Ok(Box::new(move |_, _| Ok(result.clone())))
}

/// Elements from constant data: one of them, or all.
pub fn from_bytes(ty: &TileType, bytes: &[u8]) -> Result<Lanes, String> {
    let size = ty.elem.bits().div_ceil(8) as usize;
    let count = bytes.len() / size;
    if !bytes.len().is_multiple_of(size) || (count != 1 && count != ty.count()) {
        return Err(format!(
            "{} bytes of data for {} elements of {size} bytes",
            bytes.len(),
            ty.count()
        ));
    }
    let value = |chunk: &[u8]| {
        chunk
            .iter()
            .rev()
            .fold(0_u64, |value, &byte| value << 8 | u64::from(byte))
    };
    Ok(Lanes::collect(
        ty.elem.bits(),
        bytes.chunks_exact(size).map(value),
    ))
}

fn iota(ty: &TileType) -> Result<Action, String> {
    let bits = ty.int_width()?;
    let result: Values = smallvec![Value::tile(Lanes::collect(
        bits,
        (0..ty.count() as u64).map(|i| i & crate::scalar::int::mask(bits))
    ))];
    Ok(Box::new(move |_, _| Ok(result.clone())))
}
