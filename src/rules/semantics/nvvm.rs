//! `nvvm`: what PTX defines.

use super::{Attrs, Element, Outcome, Scalar, pair};
use crate::dialect::{OpKind, nvvm::Op};
use crate::egraph::facts::Leaf;
use crate::scalar::int::{self, IntRounding};
use crate::scalar::{
    FloatBinary, FloatFormat, FloatMode, FloatUnary, IntBinary, IntUnary, MathUnary, Overflow,
    Rounding, Signedness, convert, float, math,
};

use Signedness::{Signed, Unsigned};

pub fn eval(kind: OpKind, attrs: Attrs, args: &[Element], result: Scalar) -> Outcome {
    let Some(op) = Op::of(kind) else {
        return Outcome::Unknown;
    };
    integer(op, attrs, args)
        .or_else(|| floating(op, attrs, args).map(Outcome::Value))
        .or_else(|| conversion(op, attrs, args, result).map(Outcome::Value))
        .unwrap_or(Outcome::Unknown)
}

fn integer(op: Op, attrs: Attrs, args: &[Element]) -> Option<Outcome> {
    let value = match (op, args) {
        (Op::Abs, [(a, s)]) => int::unary(IntUnary::Abs, s.int()?, *a),
        (Op::Popc, [(a, s)]) => u64::from((a & int::mask(s.int()?)).count_ones()),
        (Op::Clz, [(a, s)]) => {
            let width = s.int()?;
            u64::from((a & int::mask(width)).leading_zeros() + width - 64)
        }
        (Op::Not, [(a, s)]) => !a & int::mask(s.int()?),
        (Op::Splat, [(a, _)]) => *a,
        (Op::Select, [(c, Scalar::Int(1)), (a, s), (b, t)]) if s == t => {
            if c & 1 == 1 {
                *a
            } else {
                *b
            }
        }
        (Op::PtrAdd, [(p, Scalar::Ptr(_)), (n, Scalar::Int(64))]) => p.wrapping_add(*n),
        (Op::PtrAdd, [(p, Scalar::Shared), (n, Scalar::Int(32))]) => {
            u64::from((*p as u32).wrapping_add(*n as u32))
        }
        (Op::ICmp, _) => {
            let (a, b, s) = pair(args)?;
            attrs
                .predicate(0)?
                .holds(int::compare(s.int()?, attrs.sign(1)?, a, b))
                .into()
        }
        _ => return fused(op, attrs, args).or_else(|| binary(op, args)),
    };
    Some(Outcome::Value(value))
}

/// The forms that instruction selection introduces.
fn fused(op: Op, attrs: Attrs, args: &[Element]) -> Option<Outcome> {
    let &[(a, s), (b, t), (c, u)] = args else {
        return wide_product(op, args).map(Outcome::Value);
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
            let holds = attrs
                .predicate(0)?
                .holds(int::compare(s.int()?, attrs.sign(1)?, a, b));
            match op {
                Op::ICmpAnd => u64::from(holds) & c,
                _ => u64::from(holds) | c,
            }
        }
        _ => return None,
    };
    Some(Outcome::Value(value))
}

/// A product of twice the operands' width.
fn wide_product(op: Op, args: &[Element]) -> Option<u64> {
    let (a, b, s) = pair(args)?;
    let width = s.int().filter(|&w| w <= 32)?;
    let product = match op {
        Op::MulWideU => a.wrapping_mul(b),
        Op::MulWideS => {
            let signed = |v: u64| crate::egraph::facts::sign_extend(v, width);
            signed(a).wrapping_mul(signed(b)) as u64
        }
        _ => return None,
    };
    Some(product & int::mask(2 * width))
}

fn binary(op: Op, args: &[Element]) -> Option<Outcome> {
    let binary = match op {
        Op::Add => IntBinary::Add,
        Op::Sub => IntBinary::Sub,
        Op::Mul => IntBinary::Mul,
        Op::MulHi => IntBinary::MulHi(Unsigned),
        Op::MulHiS => IntBinary::MulHi(Signed),
        Op::DivS => IntBinary::Div(Signed, IntRounding::Zero),
        Op::DivU => IntBinary::Div(Unsigned, IntRounding::Zero),
        Op::RemS => IntBinary::Rem(Signed),
        Op::RemU => IntBinary::Rem(Unsigned),
        Op::MinS => IntBinary::Min(Signed),
        Op::MinU => IntBinary::Min(Unsigned),
        Op::MaxS => IntBinary::Max(Signed),
        Op::MaxU => IntBinary::Max(Unsigned),
        Op::And => IntBinary::And,
        Op::Or => IntBinary::Or,
        Op::Xor => IntBinary::Xor,
        Op::Shl => IntBinary::Shl,
        Op::ShrS => IntBinary::Shr(Signed),
        Op::ShrU => IntBinary::Shr(Unsigned),
        _ => return None,
    };
    let (a, b, s) = pair(args)?;
    // PTX leaves quotients by zero open.
    if b == 0 && matches!(binary, IntBinary::Div(..) | IntBinary::Rem(_)) {
        return Some(Outcome::Undefined);
    }
    Some(Outcome::Value(int::binary(binary, s.int()?, a, b)))
}

fn floating(op: Op, attrs: Attrs, args: &[Element]) -> Option<u64> {
    let plain = FloatMode::default();
    Some(match op {
        Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FMin | Op::FMax => {
            let (a, b, s) = pair(args)?;
            let nan = attrs.unit(0);
            let (binary, mode) = match op {
                Op::FAdd => (FloatBinary::Add, attrs.mode(0)?),
                Op::FSub => (FloatBinary::Sub, attrs.mode(0)?),
                Op::FMul => (FloatBinary::Mul, attrs.mode(0)?),
                Op::FDiv => (FloatBinary::Div, attrs.mode(0)?),
                _ => {
                    let flush = attrs.unit(1);
                    let op = if op == Op::FMin {
                        FloatBinary::Min { nan }
                    } else {
                        FloatBinary::Max { nan }
                    };
                    (op, FloatMode { flush, ..plain })
                }
            };
            float::binary(binary, s.float()?, mode, a, b)
        }
        Op::FCmp => {
            let (a, b, s) = pair(args)?;
            float::compare(s.float()?, attrs.predicate(0)?, attrs.ordering(1)?, a, b).into()
        }
        Op::Fma => match *args {
            [(a, s), (b, t), (c, u)] if s == t && t == u => {
                float::fma(s.float()?, attrs.mode(0)?, a, b, c)
            }
            _ => return None,
        },
        _ => return unary(op, attrs, args),
    })
}

fn unary(op: Op, attrs: Attrs, args: &[Element]) -> Option<u64> {
    let [(a, s)] = *args else { return None };
    let format = s.float()?;
    let function = match op {
        Op::FNeg => {
            return Some(float::unary(
                FloatUnary::Neg,
                format,
                FloatMode::default(),
                a,
            ));
        }
        Op::FAbs => {
            return Some(float::unary(
                FloatUnary::Abs,
                format,
                FloatMode::default(),
                a,
            ));
        }
        Op::Sqrt => return Some(float::unary(FloatUnary::Sqrt, format, attrs.mode(0)?, a)),
        Op::Rcp => {
            return Some(float::binary(
                FloatBinary::Div,
                format,
                attrs.mode(0)?,
                format.one(),
                a,
            ));
        }
        Op::FRound => {
            let value = format.decode(flushed(format, attrs.unit(1), a));
            let value = match attrs.rounding(0)? {
                Rounding::Zero => value.trunc(),
                Rounding::NegativeInf => value.floor(),
                Rounding::PositiveInf => value.ceil(),
                _ => value.round_ties_even(),
            };
            return Some(format.encode(value, Rounding::NearestEven, Overflow::Ieee));
        }
        Op::Rsqrt => MathUnary::Rsqrt,
        Op::Ex2 => MathUnary::Exp2,
        Op::Lg2 => MathUnary::Log2,
        Op::Sin => MathUnary::Sin,
        Op::Cos => MathUnary::Cos,
        Op::Tanh => MathUnary::Tanh,
        _ => return None,
    };
    let flush = op != Op::Tanh && attrs.unit(0);
    Some(math::unary(function, format, flush, a))
}

/// A subnormal operand is a zero of its sign where `ftz` says so.
fn flushed(format: FloatFormat, ftz: bool, a: u64) -> u64 {
    match ftz && format.is_subnormal(a) {
        true => a & format.sign_bit(),
        false => a,
    }
}

fn conversion(op: Op, attrs: Attrs, args: &[Element], result: Scalar) -> Option<u64> {
    let [(a, from)] = *args else { return None };
    let widths = || Some((from.int()?, result.int()?));
    Some(match op {
        Op::Trunc => {
            let (from, to) = widths()?;
            (from > to).then_some(a & int::mask(to))?
        }
        Op::ZExt | Op::SExt => {
            let (from, to) = widths()?;
            let sign = if op == Op::SExt { Signed } else { Unsigned };
            (from < to).then(|| int::extend(from, to, sign, a))?
        }
        Op::SIToF | Op::UIToF => {
            let sign = if op == Op::SIToF { Signed } else { Unsigned };
            convert::int_to_float(from.int()?, sign, result.float()?, attrs.rounding(0)?, a)
        }
        Op::FToSI | Op::FToUI => {
            let sign = if op == Op::FToSI { Signed } else { Unsigned };
            let (format, width) = (from.float()?, result.int()?);
            if format.is_nan(a) && (width == 64 || from.bits() == 64) {
                // PTX ISA, cvt: NaN becomes the top bit where 64 bits are involved, else 0.
                return Some(1 << (width - 1));
            }
            let a = flushed(format, attrs.unit(1), a);
            convert::float_to_int(format, attrs.rounding(0)?, width, sign, a)
        }
        Op::FToF => {
            let overflow = if attrs.unit(2) {
                Overflow::Saturate
            } else {
                Overflow::Ieee
            };
            convert::float_to_float(
                from.float()?,
                result.float()?,
                attrs.rounding(0)?,
                overflow,
                a,
            )
        }
        Op::Bitcast => (from.bits() == result.bits()).then_some(a)?,
        _ => return None,
    })
}
