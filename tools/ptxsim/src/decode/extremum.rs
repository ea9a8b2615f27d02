//! `min` and `max` of floating-point numbers (PTX ISA 9.7.3.11-12, 9.7.4.8-9).

use super::Result;
use super::checked::{lanes, require_ty, same_srcs};
use super::finish::{Finish, finish16, finish32, flush, widen16};
use super::lanes::{LaneBits, f32_of, ternary};
use super::mods::Mods;
use super::names::Function;
use crate::parse::ast::Instruction;
use crate::program::inst::{LaneFn, Op};
use crate::program::types::Ty;

#[derive(Debug, Clone, Copy)]
struct MinMax {
    max: bool,
    propagate_nan: bool,
    xorsign_abs: bool,
}

fn pick(a: f64, b: f64, how: MinMax) -> f64 {
    let (x, y) = if how.xorsign_abs {
        (a.abs(), b.abs())
    } else {
        (a, b)
    };
    let picked = match (x.is_nan(), y.is_nan()) {
        (true, true) => f64::NAN,
        (true, false) if !how.propagate_nan => y,
        (false, true) if !how.propagate_nan => x,
        (false, false) => {
            // -0 is less than +0 here (PTX ISA 9.7.3.10-11).
            let less = x < y || x == y && x.is_sign_negative();
            if less != how.max { x } else { y }
        }
        _ => f64::NAN,
    };
    if how.xorsign_abs && !picked.is_nan() {
        let negative = a.is_sign_negative() != b.is_sign_negative();
        return if negative {
            -picked.abs()
        } else {
            picked.abs()
        };
    }
    picked
}

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
    finish: Finish,
) -> Result<Op> {
    let xorsign_abs = mods.flag("xorsign");
    if xorsign_abs && !mods.flag("abs") {
        return cx.unsupported(inst);
    }
    let how = MinMax {
        max: inst.opcode[0] == "max",
        propagate_nan: mods.flag("NaN"),
        xorsign_abs,
    };
    let absolute = !xorsign_abs && mods.flag("abs");
    let ty = require_ty(cx, inst, mods)?;
    let srcs = same_srcs(cx, inst, ty)?;
    let three = srcs.len() == 3;
    let combine = move |a: f64, b: f64, c: f64| {
        let (a, b, c) = if absolute {
            (a.abs(), b.abs(), c.abs())
        } else {
            (a, b, c)
        };
        let two = pick(a, b, how);
        if three { pick(two, c, how) } else { two }
    };
    let f: LaneFn = match ty {
        Ty::F32 => ternary(move |a, b, c| {
            let read = |x: u64| {
                f64::from(if finish.ftz {
                    flush(f32_of(x))
                } else {
                    f32_of(x)
                })
            };
            finish32(combine(read(a), read(b), read(c)), finish)
        }),
        Ty::F64 => ternary(move |a, b, c| {
            combine(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)).lane()
        }),
        Ty::F16 | Ty::BF16 => ternary(move |a, b, c| {
            let read = |x: u64| f64::from(widen16(ty, x as u16, finish.ftz));
            finish16(ty, combine(read(a), read(b), read(c)), finish)
        }),
        Ty::F16x2 | Ty::BF16x2 => {
            let element = ty.pair_element().unwrap_or(Ty::F16);
            ternary(move |a, b, c| {
                let half = |shift: u32| {
                    let read =
                        |x: u64| f64::from(widen16(element, (x >> shift) as u16, finish.ftz));
                    finish16(element, combine(read(a), read(b), read(c)), finish) << shift
                };
                half(0) | half(16)
            })
        }
        _ => return cx.unsupported(inst),
    };
    lanes(cx, inst, ty, f, &srcs)
}
