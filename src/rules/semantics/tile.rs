//! `cuda_tile`. Where the dialect says the result is undefined, so do we: a rule may then do anything.

use super::{Attrs, Element, Outcome, Scalar, pair};
use crate::dialect::{OpKind, cuda_tile::Op, enums::rounding};
use crate::scalar::int::{self, IntRounding};
use crate::scalar::{
    Compare, FloatBinary, FloatMode, FloatUnary, IntBinary, IntUnary, MathBinary, MathUnary,
    Overflow, Signedness, convert, float, math,
};

pub fn eval(kind: OpKind, attrs: Attrs, args: &[Element], result: Scalar) -> Outcome {
    let Some(op) = Op::of(kind) else {
        return Outcome::Unknown;
    };
    integer(op, attrs, args)
        .or_else(|| floating(op, attrs, args))
        .or_else(|| function(op, attrs, args))
        .or_else(|| conversion(op, attrs, args, result))
        .unwrap_or(Outcome::Unknown)
}

fn integer(op: Op, attrs: Attrs, args: &[Element]) -> Option<Outcome> {
    if let (Op::NegI | Op::AbsI, [(a, s)]) = (op, args) {
        let op = if op == Op::NegI {
            IntUnary::Neg
        } else {
            IntUnary::Abs
        };
        return Some(Outcome::Value(int::unary(op, s.int()?, *a)));
    }
    if let (Op::Select, [(c, Scalar::Int(1)), (a, s), (b, t)]) = (op, args) {
        return (s == t).then_some(Outcome::Value(if c & 1 == 1 { *a } else { *b }));
    }
    let binary = match op {
        Op::AddI => IntBinary::Add,
        Op::SubI => IntBinary::Sub,
        Op::MulI => IntBinary::Mul,
        Op::MulhiI => IntBinary::MulHi(Signedness::Unsigned),
        Op::DivI => IntBinary::Div(
            attrs.sign(0)?,
            match attrs.case(1)? {
                rounding::NEGATIVE_INF => IntRounding::NegativeInf,
                rounding::POSITIVE_INF => IntRounding::PositiveInf,
                _ => IntRounding::Zero,
            },
        ),
        Op::RemI => IntBinary::Rem(attrs.sign(0)?),
        Op::MinI => IntBinary::Min(attrs.sign(0)?),
        Op::MaxI => IntBinary::Max(attrs.sign(0)?),
        Op::AndI => IntBinary::And,
        Op::OrI => IntBinary::Or,
        Op::XOrI => IntBinary::Xor,
        Op::ShLI => IntBinary::Shl,
        Op::ShRI => IntBinary::Shr(attrs.sign(0)?),
        Op::CmpI => {
            let (a, b, s) = pair(args)?;
            let holds = attrs
                .predicate(0)?
                .holds(int::compare(s.int()?, attrs.sign(1)?, a, b));
            return Some(Outcome::Value(holds.into()));
        }
        _ => return None,
    };
    let (a, b, s) = pair(args)?;
    let width = s.int()?;
    if undefined(op, attrs, width, a, b) {
        return Some(Outcome::Undefined);
    }
    Some(Outcome::Value(int::binary(binary, width, a, b)))
}

/// Division by zero, the quotient that does not fit, and sums that wrap although they may not.
fn undefined(op: Op, attrs: Attrs, width: u32, a: u64, b: u64) -> bool {
    let signed = |x| int::value(width, Signedness::Signed, x);
    let unsigned = |x| int::value(width, Signedness::Unsigned, x);
    let least = -(1i128 << (width - 1));
    let exact = |f: fn(i128, i128) -> i128| {
        let case = attrs.case(0).unwrap_or(0);
        let outside_signed = !(least..-least).contains(&f(signed(a), signed(b)));
        let outside_unsigned = !(0..1i128 << width).contains(&f(unsigned(a), unsigned(b)));
        case & 1 != 0 && outside_signed || case & 2 != 0 && outside_unsigned
    };
    match op {
        Op::DivI | Op::RemI => {
            let overflow =
                attrs.sign(0) == Some(Signedness::Signed) && signed(a) == least && signed(b) == -1;
            b == 0 || overflow && width > 1
        }
        Op::AddI => exact(|x, y| x + y),
        Op::SubI => exact(|x, y| x - y),
        Op::MulI => exact(i128::saturating_mul),
        Op::ShLI => unsigned(b) < i128::from(width) && exact_shift(attrs, width, a, b),
        _ => false,
    }
}

/// Whether a left shift loses bits it may not lose.
fn exact_shift(attrs: Attrs, width: u32, a: u64, b: u64) -> bool {
    let case = attrs.case(0).unwrap_or(0);
    let shifted = int::binary(IntBinary::Shl, width, a, b);
    let back = |s| int::binary(IntBinary::Shr(s), width, shifted, b) != a;
    case & 1 != 0 && back(Signedness::Signed) || case & 2 != 0 && back(Signedness::Unsigned)
}

fn floating(op: Op, attrs: Attrs, args: &[Element]) -> Option<Outcome> {
    let plain = FloatMode::default();
    let value = match op {
        Op::NegF | Op::AbsF | Op::Floor | Op::Ceil | Op::Sqrt => {
            let [(a, s)] = *args else { return None };
            let (unary, mode) = match op {
                Op::NegF => (FloatUnary::Neg, plain),
                Op::AbsF => (FloatUnary::Abs, plain),
                Op::Floor => (FloatUnary::Floor, plain),
                Op::Ceil => (FloatUnary::Ceil, plain),
                _ => (FloatUnary::Sqrt, attrs.mode(0)?),
            };
            float::unary(unary, s.float()?, mode, a)
        }
        Op::AddF | Op::SubF | Op::MulF | Op::DivF | Op::RemF | Op::MinF | Op::MaxF => {
            let (a, b, s) = pair(args)?;
            let nan = attrs.unit(0);
            let flushed = FloatMode {
                flush: attrs.unit(1),
                ..plain
            };
            let (binary, mode) = match op {
                Op::AddF => (FloatBinary::Add, attrs.mode(0)?),
                Op::SubF => (FloatBinary::Sub, attrs.mode(0)?),
                Op::MulF => (FloatBinary::Mul, attrs.mode(0)?),
                Op::DivF => (FloatBinary::Div, attrs.mode(0)?),
                Op::RemF => (FloatBinary::Rem, plain),
                Op::MinF => (FloatBinary::Min { nan }, flushed),
                _ => (FloatBinary::Max { nan }, flushed),
            };
            float::binary(binary, s.float()?, mode, a, b)
        }
        Op::Fma => match *args {
            [(a, s), (b, t), (c, u)] if s == t && t == u => {
                float::fma(s.float()?, attrs.mode(0)?, a, b, c)
            }
            _ => return None,
        },
        Op::CmpF => {
            let (a, b, s) = pair(args)?;
            float::compare(s.float()?, attrs.predicate(0)?, attrs.ordering(1)?, a, b).into()
        }
        _ => return None,
    };
    Some(Outcome::Value(value))
}

fn function(op: Op, attrs: Attrs, args: &[Element]) -> Option<Outcome> {
    let unary = match op {
        Op::Exp => MathUnary::Exp,
        Op::Exp2 => MathUnary::Exp2,
        Op::Log => MathUnary::Log,
        Op::Log2 => MathUnary::Log2,
        Op::Sin => MathUnary::Sin,
        Op::Cos => MathUnary::Cos,
        Op::Tan => MathUnary::Tan,
        Op::SinH => MathUnary::Sinh,
        Op::CosH => MathUnary::Cosh,
        Op::TanH => MathUnary::Tanh,
        Op::Rsqrt => MathUnary::Rsqrt,
        Op::FPowF | Op::Atan2 => {
            let (a, b, s) = pair(args)?;
            let op = if op == Op::Atan2 {
                MathBinary::Atan2
            } else {
                MathBinary::Pow
            };
            return Some(Outcome::Value(math::binary(op, s.float()?, a, b)));
        }
        Op::FPowI => {
            let [(a, s), (n, t)] = *args else { return None };
            let exponent = int::sign_extend(t.int()?, n);
            return Some(Outcome::Value(convert::power(
                s.float()?,
                FloatMode::default(),
                a,
                exponent,
            )));
        }
        _ => return None,
    };
    let [(a, s)] = *args else { return None };
    let flush = matches!(op, Op::Exp2 | Op::Rsqrt) && attrs.unit(0);
    Some(Outcome::Value(math::unary(unary, s.float()?, flush, a)))
}

fn conversion(op: Op, attrs: Attrs, args: &[Element], result: Scalar) -> Option<Outcome> {
    if let (Op::Offset, [(p, Scalar::Ptr(bytes)), (n, by)]) = (op, args) {
        let by = int::sign_extend(by.int()?, *n) as u64;
        return Some(Outcome::Value(
            p.wrapping_add(by.wrapping_mul(u64::from(*bytes))),
        ));
    }
    let [(a, from)] = *args else { return None };
    let value = match op {
        Op::ExtI => {
            let (from, to) = (from.int()?, result.int()?);
            (from < to).then(|| Some(int::extend(from, to, attrs.sign(0)?, a)))??
        }
        Op::TruncI => {
            let (from, to) = (from.int()?, result.int()?);
            let small = a & int::mask(to);
            let back = |s| int::extend(to, from, s, small) != a;
            let case = attrs.case(0)?;
            if from <= to {
                return None;
            }
            if case & 1 != 0 && back(Signedness::Signed)
                || case & 2 != 0 && back(Signedness::Unsigned)
            {
                return Some(Outcome::Undefined);
            }
            small
        }
        Op::IToF => convert::int_to_float(
            from.int()?,
            attrs.sign(0)?,
            result.float()?,
            attrs.rounding(1)?,
            a,
        ),
        Op::FToI => return to_integer(attrs, a, from, result),
        Op::FToF => {
            let overflow = if result.bits() <= 8 {
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
        Op::Bitcast | Op::PtrToInt | Op::IntToPtr | Op::PtrToPtr => {
            (from.bits() == result.bits()).then_some(a)?
        }
        Op::Assume => a,
        _ => return None,
    };
    Some(Outcome::Value(value))
}

/// Undefined outside of the integer's range unless it saturates.
fn to_integer(attrs: Attrs, a: u64, from: Scalar, result: Scalar) -> Option<Outcome> {
    let (format, width, sign) = (from.float()?, result.int()?, attrs.sign(0)?);
    let rounding = attrs.rounding(1)?;
    let bits = convert::float_to_int(format, rounding, width, sign, a);
    if !attrs.unit(2) && width > 1 {
        // In range exactly when the wide result is the same number.
        let wide = convert::float_to_int(format, rounding, 64, Signedness::Signed, a);
        let huge = !Compare::Less.holds(
            format
                .decode(a)
                .abs()
                .partial_cmp(&9.0e18)
                .unwrap_or(std::cmp::Ordering::Greater),
        );
        let same = i128::from(wide as i64) == int::value(width, sign, bits);
        if format.is_nan(a)
            || (huge && (width < 64 || sign == Signedness::Signed))
            || (!huge && !same)
        {
            return Some(Outcome::Undefined);
        }
    }
    Some(Outcome::Value(bits))
}
