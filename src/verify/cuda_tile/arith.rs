//! Rounding modes, flush-to-zero, conversions.

use super::Ctx;
use crate::dialect::enums::rounding as r;
use crate::dialect::modes;
use crate::ir::{Float, Type};
use crate::verify::{Check, ensure, fail};

fn one_of(c: &Ctx, attr: &str, modes: &[u8]) -> Check {
    let mode = c.case(attr);
    ensure(mode.is_some_and(|m| modes.contains(&m)), || {
        let names: Vec<_> = modes.iter().map(|&m| modes::name(m)).collect();
        format!(
            "invalid rounding mode specified, expect one of [{}]",
            names.join(", ")
        )
    })
}

/// A modifier that exists for f32 alone.
fn f32_only(c: &Ctx, modifier: &str, present: bool) -> Check {
    let is_f32 = matches!(c.get(c.result(0).0), Type::Float(Float::F32));
    ensure(!present || is_f32, || {
        let elem = c.text(c.result(0).0);
        format!("{modifier} modifier only supported for f32 data type, but got: {elem}")
    })
}

/// Rounding, by the modes in the operation's row, and flushing of subnormal numbers.
pub fn float(c: &Ctx) -> Check {
    let modes = c.op.def().rounding;
    if let Some(modes) = modes {
        one_of(c, "rounding_mode", &modes.all())?;
    }
    f32_only(c, "flush_to_zero", c.op.has_unit("flush_to_zero"))?;
    for &mode in modes.map_or(&[][..], |m| m.f32) {
        let present = c.case("rounding_mode") == Some(mode);
        f32_only(c, modes::name(mode), present)?;
    }
    Ok(())
}

pub fn divi(c: &Ctx) -> Check {
    one_of(c, "rounding", &[r::ZERO, r::NEGATIVE_INF, r::POSITIVE_INF])?;
    let unsigned = c.case("signedness") == Some(0);
    ensure(
        !(unsigned && c.case("rounding") == Some(r::NEGATIVE_INF)),
        || "rounding mode 'negative_inf' is not allowed with 'unsigned' flag".into(),
    )
}

pub fn negi(c: &Ctx) -> Check {
    ensure(c.case("overflow") != Some(2), || {
        "'no_unsigned_wrap' overflow flag is not supported".into()
    })
}

fn int_widths(c: &Ctx) -> (u32, u32) {
    let width = |ty| c.module.types.bits(ty).unwrap_or(0);
    (width(c.operand(0).0), width(c.result(0).0))
}

pub fn exti(c: &Ctx) -> Check {
    let (from, to) = int_widths(c);
    ensure(to > from, || {
        "extending to smaller or identical integer".into()
    })
}

pub fn trunci(c: &Ctx) -> Check {
    let (from, to) = int_widths(c);
    ensure(to < from, || {
        "truncating to larger or identical integer".into()
    })
}

pub fn itof(c: &Ctx) -> Check {
    ensure(
        !matches!(c.get(c.result(0).0), Type::Float(Float::F8E8M0FNU)),
        || {
            "integer to f8E8M0FNU conversion is not supported, please first convert to another float type".into()
        },
    )?;
    ensure(c.case("rounding_mode") == Some(r::NEAREST_EVEN), || {
        "invalid rounding mode specified. Only 'nearest_even' is supported".into()
    })
}

pub fn ftoi(c: &Ctx) -> Check {
    ensure(
        c.case("rounding_mode") == Some(r::NEAREST_INT_TO_ZERO),
        || "invalid rounding mode specified. Only 'nearest_int_to_zero' is supported".into(),
    )
}

/// What `ftof` may round to; from 13.5 on more than nearest-even, by formats.
pub fn ftof(c: &Ctx) -> Check {
    let (Type::Float(from), Type::Float(to)) = (c.get(c.operand(0).0), c.get(c.result(0).0)) else {
        return Ok(());
    };
    ensure(from != to, || "converting tiles must not be a no-op".into())?;
    let mode = c.case("rounding_mode").unwrap_or(r::NEAREST_EVEN);
    let (allowed, message): (&[u8], &str) = match (from, to) {
        (_, Float::F8E8M0FNU) => (
            &[r::ZERO, r::POSITIVE_INF],
            "invalid rounding mode specified for conversion to f8E8M0FNU. Only 'zero' and 'positive_inf' are supported",
        ),
        (_, to) if to.bits() <= 8 => (
            &[r::NEAREST_EVEN],
            "invalid rounding mode specified for conversion to low-precision type. Only 'nearest_even' is supported",
        ),
        (Float::F64, Float::F32) => (
            modes::IEEE.any,
            "invalid rounding mode specified for conversion from f64 to f32. Only 'nearest_even', 'zero', 'negative_inf', and 'positive_inf' are supported",
        ),
        (Float::F32, Float::TF32) => (
            &[r::NEAREST_EVEN, r::ZERO, r::NEAREST_AWAY],
            "invalid rounding mode specified for conversion from f32 to tf32. Only 'nearest_even', 'zero', and 'nearest_away' are supported",
        ),
        (from, to) if to.bits() > from.bits() || (*from, *to) == (Float::TF32, Float::F32) => (
            &[
                r::NEAREST_EVEN,
                r::ZERO,
                r::NEGATIVE_INF,
                r::POSITIVE_INF,
                r::NEAREST_AWAY,
            ],
            "invalid rounding mode specified for widening conversion. Only IEEE float rounding modes are supported: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', 'nearest_away'",
        ),
        _ => (
            &[r::NEAREST_EVEN, r::ZERO],
            "invalid rounding mode specified. Only 'nearest_even' and 'zero' are supported for narrowing conversions to standard types",
        ),
    };
    if allowed.contains(&mode) {
        Ok(())
    } else {
        fail(message)
    }
}

pub fn bitcast(c: &Ctx) -> Check {
    // tf32 has 19 bits here, as in MLIR; the lower stages see its register.
    let register = matches!(c.type_of(c.op.operands[0]), Type::Distributed { .. });
    let width = |ty| match c.get(ty) {
        Type::Float(Float::TF32) if !register => 19,
        _ => c.module.types.bits(ty).unwrap_or(0),
    };
    let (from, to) = (c.operand(0).0, c.result(0).0);
    ensure(width(from) == width(to), || {
        let text = |v| c.text(c.module.ty(v));
        format!(
            "types must be equal width, cannot convert {} of width {} to type {} of width {}",
            text(c.op.operands[0]),
            width(from),
            text(c.op.results[0]),
            width(to)
        )
    })
}
