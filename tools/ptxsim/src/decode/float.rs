//! Floating-point arithmetic (PTX ISA 9.7.3-9.7.5).
//!
//! Approximate functions are computed in double and rounded once, which is within every documented error bound.

use super::checked::{lanes, require_ty, same_srcs};
use super::finish::finish_bits32;
use super::lanes::{LaneBits, binary, f32_of, ternary, unary};
use super::mods::Mods;
use super::names::Function;
use super::{Result, extremum};
use crate::decode::finish::{Finish, finish16, finish32, flush, widen16};
use crate::num::format::{F32, Round};
use crate::num::op;
use crate::parse::ast::Instruction;
use crate::program::inst::{LaneFn, Op, Src};
use crate::program::types::Ty;

/// Operations that round once.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Exact {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Rcp,
    Sqrt,
}

/// In double, rounded to odd.
fn odd(which: Exact, a: f64, b: f64, c: f64) -> f64 {
    match which {
        Exact::Add => op::add_odd(a, b),
        Exact::Sub => op::add_odd(a, -b),
        Exact::Mul => a * b,
        Exact::Fma => op::fma_odd(a, b, c),
        Exact::Div => op::div_odd(a, b),
        Exact::Rcp => op::div_odd(1.0, a),
        Exact::Sqrt => op::sqrt_odd(a),
    }
}

fn host32(which: Exact, a: f32, b: f32, c: f32) -> f32 {
    match which {
        Exact::Add => a + b,
        Exact::Sub => a - b,
        Exact::Mul => a * b,
        Exact::Fma => fma32(a, b, c),
        Exact::Div => a / b,
        Exact::Rcp => 1.0 / a,
        Exact::Sqrt => a.sqrt(),
    }
}

/// Fused multiply-add without a library call: exact product in double, sum rounded to odd, then to single.
#[inline]
fn fma32(a: f32, b: f32, c: f32) -> f32 {
    op::fma_odd(f64::from(a), f64::from(b), f64::from(c)) as f32
}

fn double(which: Exact, a: f64, b: f64, c: f64, round: Round) -> f64 {
    match which {
        Exact::Add => op::add_f64(a, b, round),
        Exact::Sub => op::add_f64(a, -b, round),
        Exact::Mul => op::mul_f64(a, b, round),
        Exact::Fma => op::fma_f64(a, b, c, round),
        Exact::Div => op::div_f64(a, b, round),
        Exact::Rcp => op::div_f64(1.0, a, round),
        Exact::Sqrt => op::sqrt_f64(a, round),
    }
}

fn exact32(which: Exact, how: Finish) -> LaneFn {
    if how.round == Round::Nearest {
        if !how.ftz && !how.sat {
            // The canonical NaN aside, this is the host's arithmetic; keep the commonest loops tight.
            let canonical = |x: f32| if x.is_nan() { F32.nan } else { x.lane() };
            return match which {
                Exact::Add => binary(move |a, b| canonical(f32_of(a) + f32_of(b))),
                Exact::Sub => binary(move |a, b| canonical(f32_of(a) - f32_of(b))),
                Exact::Mul => binary(move |a, b| canonical(f32_of(a) * f32_of(b))),
                Exact::Fma => {
                    ternary(move |a, b, c| canonical(fma32(f32_of(a), f32_of(b), f32_of(c))))
                }
                _ => binary(move |a, b| canonical(host32(which, f32_of(a), f32_of(b), 0.0))),
            };
        }
        let read = move |x: u64| if how.ftz { flush(f32_of(x)) } else { f32_of(x) };
        return ternary(move |a, b, c| {
            finish_bits32(host32(which, read(a), read(b), read(c)), how)
        });
    }
    let read = move |x: u64| f64::from(if how.ftz { flush(f32_of(x)) } else { f32_of(x) });
    ternary(move |a, b, c| {
        let (a, b, c) = (read(a), read(b), read(c));
        finish32(
            signed_zero(odd(which, a, b, c), which, a, b, c, how.round),
            how,
        )
    })
}

/// An exact zero sum of nonzero terms is -0 when rounding down (IEEE 754 6.3).
fn signed_zero(x: f64, which: Exact, a: f64, b: f64, c: f64, round: Round) -> f64 {
    if x != 0.0 || round != Round::Down {
        return x;
    }
    let (left, right) = match which {
        Exact::Add => (a, b),
        Exact::Sub => (a, -b),
        Exact::Fma => (a * b, c),
        _ => return x,
    };
    if left.is_sign_negative() != right.is_sign_negative() {
        -0.0
    } else {
        x
    }
}

fn exact(which: Exact, ty: Ty, how: Finish) -> Option<LaneFn> {
    Some(match ty {
        Ty::F32 => exact32(which, how),
        Ty::F64 => ternary(move |a, b, c| {
            let read = f64::from_bits;
            double(which, read(a), read(b), read(c), how.round).lane()
        }),
        Ty::F16 | Ty::BF16 => ternary(move |a, b, c| exact16(which, ty, how, a, b, c)),
        Ty::F16x2 | Ty::BF16x2 => {
            let element = ty.pair_element()?;
            ternary(move |a, b, c| {
                let low = exact16(which, element, how, a & 0xffff, b & 0xffff, c & 0xffff);
                low | exact16(which, element, how, a >> 16, b >> 16, c >> 16) << 16
            })
        }
        Ty::F32x2 => {
            let f = exact32(which, how);
            Box::new(move |a, b, c, e, d| {
                let (mut low, mut high) = ([0; 32], [0; 32]);
                let lower = |r: &crate::program::Row| r.map(|x| x & 0xffff_ffff);
                let upper = |r: &crate::program::Row| r.map(|x| x >> 32);
                f(&lower(a), &lower(b), &lower(c), e, &mut low);
                f(&upper(a), &upper(b), &upper(c), e, &mut high);
                for ((d, l), h) in d.iter_mut().zip(low).zip(high) {
                    *d = l | h << 32;
                }
            })
        }
        _ => return None,
    })
}

fn exact16(which: Exact, ty: Ty, how: Finish, a: u64, b: u64, c: u64) -> u64 {
    let read = |x: u64| f64::from(widen16(ty, x as u16, how.ftz));
    finish16(ty, odd(which, read(a), read(b), read(c)), how)
}

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let name = inst.opcode[0];
    let approximate = mods.flag("approx") || mods.flag("full");
    let round = mods.round();
    let how = Finish {
        round: round.unwrap_or(Round::Nearest),
        ftz: mods.flag("ftz"),
        sat: mods.flag("sat"),
        relu: mods.flag("relu"),
    };
    if name == "testp" {
        return testp(cx, inst, mods);
    }
    if matches!(name, "min" | "max") {
        return extremum::decode(cx, inst, mods, how);
    }
    let ty = require_ty(cx, inst, mods)?;
    let srcs = same_srcs(cx, inst, ty)?;
    let f = match name {
        "abs" | "neg" => sign_op(name == "abs", ty, how.ftz),
        "copysign" => Some(copysign(ty)),
        "add" => mixed(cx, inst, mods, Exact::Add, ty, how, &srcs)?,
        "sub" => mixed(cx, inst, mods, Exact::Sub, ty, how, &srcs)?,
        "mul" => exact(Exact::Mul, ty, how),
        "fma" | "mad" => mixed(cx, inst, mods, Exact::Fma, ty, how, &srcs)?,
        "div" if !approximate => exact(Exact::Div, ty, how),
        "rcp" if !approximate => exact(Exact::Rcp, ty, how),
        "sqrt" if !approximate => exact(Exact::Sqrt, ty, how),
        _ => approximation(name, ty, how),
    };
    match f {
        Some(f) => lanes(cx, inst, ty, f, &srcs),
        None => cx.unsupported(inst),
    }
}

/// `add`, `sub` and `fma`, all of whose sources but the last may be narrower: `fma.f32.bf16` (PTX ISA 9.7.5).
fn mixed(
    cx: &Function<'_, '_>,
    inst: &Instruction<'_>,
    mods: &mut Mods<'_>,
    which: Exact,
    ty: Ty,
    how: Finish,
    srcs: &[Src],
) -> Result<Option<LaneFn>> {
    let Some(narrow) = mods.ty() else {
        return Ok(exact(which, ty, how));
    };
    if ty != Ty::F32 || !matches!(narrow, Ty::F16 | Ty::BF16) {
        return cx.unsupported(inst);
    }
    let narrow = move |x: u64| f64::from(widen16(narrow, x as u16, false));
    let wide = |x: u64| f64::from(f32_of(x));
    let finish = move |a, b, c| {
        let exact = odd(which, a, b, c);
        finish32(signed_zero(exact, which, a, b, c, how.round), how)
    };
    match (which, srcs.len()) {
        (Exact::Fma, 3) => Ok(Some(ternary(move |a, b, c| {
            finish(narrow(a), narrow(b), wide(c))
        }))),
        (Exact::Add | Exact::Sub, 2) => {
            Ok(Some(binary(move |a, b| finish(narrow(a), wide(b), 0.0))))
        }
        _ => cx.unsupported(inst),
    }
}

fn sign_op(abs: bool, ty: Ty, ftz: bool) -> Option<LaneFn> {
    let sign: u64 = match ty {
        Ty::F16 | Ty::BF16 => 0x8000,
        Ty::F16x2 | Ty::BF16x2 => 0x8000_8000,
        Ty::F32 => 0x8000_0000,
        Ty::F64 => 1 << 63,
        _ => return None,
    };
    let apply = move |x: u64| if abs { x & !sign } else { x ^ sign };
    if ftz && ty == Ty::F32 {
        return Some(unary(move |a| apply(flush(f32_of(a)).lane())));
    }
    Some(unary(apply))
}

fn copysign(ty: Ty) -> LaneFn {
    let sign = 1u64 << (ty.bits() - 1);
    binary(move |a, b| a & sign | b & !sign)
}

fn approximation(name: &str, ty: Ty, how: Finish) -> Option<LaneFn> {
    let f: fn(f64) -> f64 = match name {
        "rcp" => |x| 1.0 / x,
        "rsqrt" => |x| 1.0 / x.sqrt(),
        "sqrt" => f64::sqrt,
        "sin" => |x| if x == 0.0 { x } else { x.sin() },
        "cos" => f64::cos,
        "lg2" => f64::log2,
        "ex2" => f64::exp2,
        "tanh" => f64::tanh,
        "div" => return approximate_division(ty, how),
        _ => return None,
    };
    Some(match ty {
        Ty::F32 => unary(move |a| {
            let a = if how.ftz { flush(f32_of(a)) } else { f32_of(a) };
            finish32(f(f64::from(a)), how)
        }),
        Ty::F16 | Ty::BF16 => {
            unary(move |a| finish16(ty, f(f64::from(widen16(ty, a as u16, how.ftz))), how))
        }
        Ty::F16x2 | Ty::BF16x2 => {
            let element = ty.pair_element()?;
            let one = move |a: u64| {
                finish16(
                    element,
                    f(f64::from(widen16(element, a as u16, how.ftz))),
                    how,
                )
            };
            unary(move |a| one(a & 0xffff) | one(a >> 16) << 16)
        }
        // The .ftz forms work on the upper 32 bits and return zero below (PTX ISA 9.7.3.14, 9.7.3.17).
        Ty::F64 if how.ftz => {
            unary(move |a| f(f64::from_bits(a & !0xffff_ffff)).to_bits() & !0xffff_ffff)
        }
        Ty::F64 => unary(move |a| f(f64::from_bits(a)).to_bits()),
        _ => return None,
    })
}

/// `div.approx` and `div.full` (PTX ISA 9.7.3.8).
fn approximate_division(ty: Ty, how: Finish) -> Option<LaneFn> {
    if ty != Ty::F32 {
        return None;
    }
    Some(binary(move |a, b| {
        let read = |x: u64| if how.ftz { flush(f32_of(x)) } else { f32_of(x) };
        finish32(f64::from(read(a)) / f64::from(read(b)), how)
    }))
}

fn testp<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let test: Option<fn(f64, bool) -> bool> = mods.one_of(&[
        (
            "finite",
            (|x: f64, _| x.is_finite()) as fn(f64, bool) -> bool,
        ),
        ("infinite", |x, _| x.is_infinite()),
        ("number", |x, _| !x.is_nan()),
        ("notanumber", |x, _| x.is_nan()),
        ("normal", |x, subnormal| {
            x.is_finite() && x != 0.0 && !subnormal
        }),
        ("subnormal", |_, subnormal| subnormal),
    ]);
    let Some(test) = test else {
        return cx.unsupported(inst);
    };
    let ty = require_ty(cx, inst, mods)?;
    let src = cx.src_at(inst, 1, ty)?;
    let f = match ty {
        Ty::F32 => unary(move |a| test(f32_of(a).into(), f32_of(a).is_subnormal()).lane()),
        _ => unary(move |a| test(f64::from_bits(a), f64::from_bits(a).is_subnormal()).lane()),
    };
    let p = cx.pred_dst(cx.operand(inst, 0)?)?;
    let zero = Src::Const(0);
    Ok(Op::Compare {
        f,
        srcs: [src, zero, zero, zero],
        count: 1,
        combine: None,
        p,
        q: None,
    })
}
