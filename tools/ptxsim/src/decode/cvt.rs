//! Conversions (PTX ISA 9.7.9.22-23).

use super::Result;
use super::checked::{lanes, require_ty};
use super::lanes::{binary, f32_of, ternary, unary};
use super::mods::Mods;
use super::names::Function;
use crate::decode::formats::{format_of, packing};
use crate::num::format::{self, BF16, F32, Format, Overflow, Round};
use crate::num::int::{mask, sign_extend};
use crate::parse::ast::Instruction;
use crate::program::inst::{LaneFn, Op};
use crate::program::types::{Class, Ty};

#[derive(Debug, Clone, Copy)]
struct Mode {
    round: Option<Round>,
    to_integer: bool,
    ftz: bool,
    sat: bool,
    relu: bool,
    overflow: Overflow,
}

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    if mods.flag("pack") {
        return pack(cx, inst, mods);
    }
    if inst.opcode.contains(&"rs") {
        return super::stochastic::decode(cx, inst, mods);
    }
    let integer = mods.one_of(&[
        ("rni", Round::Nearest),
        ("rzi", Round::Zero),
        ("rmi", Round::Down),
        ("rpi", Round::Up),
    ]);
    let mode = Mode {
        round: integer.or_else(|| mods.round()),
        to_integer: integer.is_some(),
        ftz: mods.flag("ftz"),
        sat: mods.flag("sat"),
        relu: mods.flag("relu"),
        overflow: if mods.flag("satfinite") {
            Overflow::Finite
        } else {
            Overflow::Ieee
        },
    };
    let (to, from) = (require_ty(cx, inst, mods)?, require_ty(cx, inst, mods)?);
    match (packing(to), packing(from)) {
        (Some(_), _) => to_packed(cx, inst, to, from, mode),
        (None, Some(_)) => cx.unsupported(inst),
        (None, None) => scalar(cx, inst, to, from, mode),
    }
}

fn scalar<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    to: Ty,
    from: Ty,
    mode: Mode,
) -> Result<Op> {
    let f: Option<LaneFn> = match (to.is_float(), from.is_float()) {
        (false, false) => Some(int_to_int(to, from, mode.sat)),
        (true, false) => int_to_float(to, from, mode),
        (false, true) => float_to_int(to, from, mode),
        (true, true) => float_to_float(to, from, mode),
    };
    let Some(f) = f else {
        return cx.unsupported(inst);
    };
    let src = cx.src_at(inst, 1, from)?;
    // Results narrower than the register are extended by the type's sign.
    let to_class = to.class();
    let dst_bits = match cx.operand(inst, 0)? {
        crate::parse::ast::Operand::Name(name, _) => match cx.lookup(name) {
            Some(super::binding::Binding::Register { ty, .. }) => ty.bits(),
            _ => to.bits(),
        },
        _ => to.bits(),
    };
    let f: LaneFn = if to_class == Class::Signed && dst_bits > to.bits() {
        Box::new(move |a, b, c, e, d| {
            f(a, b, c, e, d);
            d.iter_mut()
                .for_each(|x| *x = sign_extend(*x, to.bits()) as u64 & mask(dst_bits));
        })
    } else {
        f
    };
    lanes(cx, inst, Ty::B8, f, &[src])
}

/// The integer value of a lane.
fn int_value(bits: u64, ty: Ty) -> i128 {
    if ty.is_signed() {
        sign_extend(bits, ty.bits()).into()
    } else {
        (bits & mask(ty.bits())).into()
    }
}

fn bounds(ty: Ty) -> (i128, i128) {
    if ty.is_signed() {
        let half = 1i128 << (ty.bits() - 1);
        (-half, half - 1)
    } else {
        (0, mask(ty.bits()).into())
    }
}

fn int_to_int(to: Ty, from: Ty, sat: bool) -> LaneFn {
    let (low, high) = bounds(to);
    let all = mask(to.bits());
    if sat {
        return unary(move |a| int_value(a, from).clamp(low, high) as u64 & all);
    }
    if from.is_signed() {
        let bits = from.bits();
        return unary(move |a| sign_extend(a, bits) as u64 & all);
    }
    let keep = all & mask(from.bits());
    unary(move |a| a & keep)
}

fn int_to_float(to: Ty, from: Ty, mode: Mode) -> Option<LaneFn> {
    let (format, round) = (format_of(to)?, mode.round?);
    Some(unary(move |a| {
        let value = int_value(a, from);
        if mode.sat {
            return format.encode((value as f64).clamp(0.0, 1.0), round, Overflow::Ieee);
        }
        format::from_int(format, value < 0, value.unsigned_abs() as u64, round)
    }))
}

fn read(format: Format, bits: u64, ftz: bool, is_f32: bool) -> f64 {
    let value = format.decode(bits);
    if ftz && is_f32 && value.abs() < f64::from(f32::MIN_POSITIVE) {
        0f64.copysign(value)
    } else {
        value
    }
}

/// Rounded to an integer in the given direction.
fn to_integral(x: f64, round: Round) -> f64 {
    match round {
        Round::Nearest => x.round_ties_even(),
        Round::NearestAway => x.round(),
        Round::Zero => x.trunc(),
        Round::Down => x.floor(),
        Round::Up => x.ceil(),
    }
}

fn float_to_int(to: Ty, from: Ty, mode: Mode) -> Option<LaneFn> {
    let (format, round) = (format_of(from)?, mode.round?);
    let (low, high) = bounds(to);
    let all = mask(to.bits());
    // Out of range clamps. NaN is 0, unless either side has 64 bits: then it is the sign bit alone.
    let nan = if to.bits() == 64 || from == Ty::F64 {
        1u64 << (to.bits() - 1)
    } else {
        0
    };
    Some(unary(move |a| {
        let x = read(format, a, mode.ftz, from == Ty::F32);
        if x.is_nan() {
            return nan;
        }
        (to_integral(x, round) as i128).clamp(low, high) as u64 & all
    }))
}

fn float_to_float(to: Ty, from: Ty, mode: Mode) -> Option<LaneFn> {
    let (source, target) = (format_of(from)?, format_of(to)?);
    let narrow_in_container = to == Ty::TF32;
    let round = mode.round.unwrap_or(Round::Nearest);
    Some(unary(move |a| {
        let x = read(source, a, mode.ftz, from == Ty::F32);
        let x = if mode.to_integer {
            to_integral(x, round).copysign(x)
        } else {
            x
        };
        let x = finish(x, mode);
        let bits = encode(target, x, round, mode);
        let bits = if mode.ftz && to == Ty::F32 && bits & 0x7f80_0000 == 0 {
            bits & 0x8000_0000
        } else {
            bits
        };
        if narrow_in_container {
            if x.is_nan() { 0x7fff_ffff } else { bits << 13 }
        } else {
            bits
        }
    }))
}

fn finish(x: f64, mode: Mode) -> f64 {
    if mode.sat {
        return if x.is_nan() || x <= 0.0 {
            0.0
        } else {
            x.min(1.0)
        };
    }
    if mode.relu && x <= 0.0 { 0.0 } else { x }
}

fn encode(target: Format, x: f64, round: Round, mode: Mode) -> u64 {
    target.encode(x, round, mode.overflow)
}

/// Conversions whose result holds several elements: from one or two singles, from four with a vector operand, or from
/// another packed type.
fn to_packed<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    to: Ty,
    from: Ty,
    mode: Mode,
) -> Result<Op> {
    let Some((count, width)) = packing(to) else {
        return cx.unsupported(inst);
    };
    if to == Ty::UE8M0x2 || from == Ty::UE8M0x2 {
        return scale_conversion(cx, inst, to, from, mode);
    }
    let Some(target) = format_of(to) else {
        return cx.unsupported(inst);
    };
    let round = mode.round.unwrap_or(Round::Nearest);
    let one = move |x: f64| encode(target, finish(x, mode), round, mode);
    if from == Ty::F32 {
        if count == 4 {
            return cx.unsupported(inst);
        }
        // cvt.x2.f32 d, a, b: a is the upper half (PTX ISA 9.7.9.22).
        let srcs = [cx.src_at(inst, 1, from)?, cx.src_at(inst, 2, from)?];
        let f = binary(move |a, b| {
            let value = |x| read(F32, x, mode.ftz, true);
            one(value(a)) << width | one(value(b))
        });
        return lanes(cx, inst, Ty::B8, f, &srcs);
    }
    let (Some(source), Some((2, source_width))) = (format_of(from), packing(from)) else {
        return cx.unsupported(inst);
    };
    let src = cx.src_at(inst, 1, from)?;
    let f = unary(move |a| {
        let value = |i: u32| source.decode(a >> (i * source_width) & mask(source_width));
        one(value(1)) << width | one(value(0))
    });
    lanes(cx, inst, Ty::B8, f, &[src])
}

/// `ue8m0`: a power of two, 2^(bits - 127); 255 is NaN (OCP MX v1.0, 5.4.1).
fn scale_conversion<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    to: Ty,
    from: Ty,
    mode: Mode,
) -> Result<Op> {
    if to == Ty::BF16x2 {
        let src = cx.src_at(inst, 1, Ty::B16)?;
        let f = unary(|a| {
            let one = |e: u64| {
                BF16.encode(
                    if e == 255 {
                        f64::NAN
                    } else {
                        format::scale(1.0, e as i32 - 127)
                    },
                    Round::Nearest,
                    Overflow::Ieee,
                )
            };
            one(a & 255) | one(a >> 8 & 255) << 16
        });
        return lanes(cx, inst, Ty::B32, f, &[src]);
    }
    let up = mode.round == Some(Round::Up);
    let encode = move |x: f64| -> u64 {
        if x.is_nan() {
            return 255;
        }
        let x = x.abs();
        if x == 0.0 {
            return 0;
        }
        let exponent = if x.is_infinite() {
            128
        } else {
            (x.to_bits() >> 52) as i32 - 1023
        };
        let fraction = x.to_bits() & mask(52) != 0;
        let e = exponent + i32::from(up && fraction && x.is_finite());
        if e > 127 {
            return if mode.overflow == Overflow::Finite {
                254
            } else {
                255
            };
        }
        (e + 127).clamp(0, 254) as u64
    };
    match from {
        Ty::F32 => {
            let srcs = [cx.src_at(inst, 1, from)?, cx.src_at(inst, 2, from)?];
            let f = binary(move |a, b| encode(f32_of(a).into()) << 8 | encode(f32_of(b).into()));
            lanes(cx, inst, Ty::B16, f, &srcs)
        }
        Ty::BF16x2 => {
            let src = cx.src_at(inst, 1, from)?;
            let f =
                unary(move |a| encode(BF16.decode(a >> 16)) << 8 | encode(BF16.decode(a & 0xffff)));
            lanes(cx, inst, Ty::B16, f, &[src])
        }
        _ => cx.unsupported(inst),
    }
}

/// `cvt.pack.sat.to.s32{.b32} d, a, b{, c}` (PTX ISA 9.7.9.23).
fn pack<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    if !mods.flag("sat") {
        return cx.unsupported(inst);
    }
    let to = require_ty(cx, inst, mods)?;
    let from = require_ty(cx, inst, mods)?;
    let with_c = mods.ty().is_some();
    if from != Ty::S32 || !matches!(to.bits(), 2 | 4 | 8 | 16) {
        return cx.unsupported(inst);
    }
    let (low, high) = bounds(to);
    let width = to.bits();
    let clamp = move |x: u64| int_value(x, Ty::S32).clamp(low, high) as u64 & mask(width);
    let f = ternary(move |a, b, c| {
        let pair = clamp(a) << width | clamp(b);
        if with_c {
            (c << (2 * width) | pair) & mask(32)
        } else {
            pair
        }
    });
    let mut srcs = vec![cx.src_at(inst, 1, from)?, cx.src_at(inst, 2, from)?];
    if with_c {
        srcs.push(cx.src_at(inst, 3, Ty::B32)?);
    }
    lanes(cx, inst, Ty::B32, f, &srcs)
}
