//! Integer arithmetic (PTX ISA 9.7.1, 9.7.2).

use super::Result;
use super::checked::{lanes, require_ty, same_srcs};
use super::lanes::{LaneBits, binary, ternary, unary};
use super::mods::Mods;
use super::names::Function;
use crate::num::int::{mask, sign_extend};
use crate::parse::ast::Instruction;
use crate::program::inst::{CarryFn, LaneFn, Op, Src};
use crate::program::types::Ty;

/// True if the opcode's types are integers.
pub fn is_integer(inst: &Instruction<'_>) -> bool {
    let mut types = inst.opcode.iter().filter_map(|w| Ty::parse(w));
    types.next().is_some_and(|ty| !ty.is_float())
}

/// Expands `$make` once per integer type with `$T` naming it.
macro_rules! per_type {
    ($ty:expr, $T:ident, $make:expr) => {
        match $ty {
            Ty::U16 | Ty::B16 => {
                type $T = u16;
                Some($make)
            }
            Ty::S16 => {
                type $T = i16;
                Some($make)
            }
            Ty::U32 | Ty::B32 => {
                type $T = u32;
                Some($make)
            }
            Ty::S32 => {
                type $T = i32;
                Some($make)
            }
            Ty::U64 | Ty::B64 => {
                type $T = u64;
                Some($make)
            }
            Ty::S64 => {
                type $T = i64;
                Some($make)
            }
            _ => None,
        }
    };
}

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let name = inst.opcode[0];
    if matches!(name, "dp4a" | "dp2a") {
        return dot_product(cx, inst, mods);
    }
    if name == "mul24" || name == "mad24" {
        return mul24(cx, inst, mods);
    }
    let half = mods.one_of(&[("lo", Half::Lo), ("hi", Half::Hi), ("wide", Half::Wide)]);
    let (sat, carry_out, relu) = (mods.flag("sat"), mods.flag("cc"), mods.flag("relu"));
    let ty = require_ty(cx, inst, mods)?;
    if carry_out || matches!(name, "addc" | "subc" | "madc") {
        return carry(cx, inst, ty, half, carry_out);
    }
    if matches!(name, "mul" | "mad") {
        return multiply(cx, inst, ty, half.unwrap_or(Half::Lo), sat);
    }
    let srcs = same_srcs(cx, inst, ty)?;
    let f = match ty.pair_element() {
        Some(element) => packed(simple(name, element, sat, relu)),
        None => simple(name, ty, sat, relu),
    };
    match f {
        Some(f) => lanes(cx, inst, ty, f, &srcs),
        None => cx.unsupported(inst),
    }
}

/// A two-source function applied to both halves of 32 bits.
fn packed(f: Option<LaneFn>) -> Option<LaneFn> {
    let f = f?;
    Some(Box::new(move |a, b, c, e, d| {
        let (mut low, mut high) = ([0; 32], [0; 32]);
        f(
            &a.map(|x| x & 0xffff),
            &b.map(|x| x & 0xffff),
            c,
            e,
            &mut low,
        );
        f(&a.map(|x| x >> 16), &b.map(|x| x >> 16), c, e, &mut high);
        for ((d, l), h) in d.iter_mut().zip(low).zip(high) {
            *d = l | h << 16;
        }
    }))
}

fn simple(name: &str, ty: Ty, sat: bool, relu: bool) -> Option<LaneFn> {
    let all = mask(ty.bits());
    match name {
        "add" if sat => Some(binary(|a, b| (a as i32).saturating_add(b as i32).lane())),
        "sub" if sat => Some(binary(|a, b| (a as i32).saturating_sub(b as i32).lane())),
        "add" => Some(binary(move |a, b| a.wrapping_add(b) & all)),
        "sub" => Some(binary(move |a, b| a.wrapping_sub(b) & all)),
        "neg" => Some(unary(move |a| a.wrapping_neg() & all)),
        "abs" => per_type!(
            ty,
            T,
            unary(|a| absolute(sign_extend(a, T::BITS)) & mask(T::BITS))
        ),
        "min" => per_type!(
            ty,
            T,
            binary(move |a, b| clip((a as T).min(b as T).lane(), T::BITS, relu))
        ),
        "max" => per_type!(
            ty,
            T,
            binary(move |a, b| clip((a as T).max(b as T).lane(), T::BITS, relu))
        ),
        // Division by zero gives an unspecified value (PTX ISA 9.7.1.8): all ones, as hardware does.
        "div" => per_type!(
            ty,
            T,
            binary(|a, b| match b as T {
                0 => mask(T::BITS),
                d => (a as T).wrapping_div(d).lane(),
            })
        ),
        "rem" => per_type!(
            ty,
            T,
            binary(|a, b| match b as T {
                0 => a,
                d => (a as T).wrapping_rem(d).lane(),
            })
        ),
        "sad" => per_type!(
            ty,
            T,
            ternary(|a, b, c| (a as T).abs_diff(b as T).lane().wrapping_add(c) & mask(T::BITS))
        ),
        _ => None,
    }
}

fn absolute(x: i64) -> u64 {
    x.unsigned_abs()
}

/// `.relu`: negative results become zero.
fn clip(x: u64, bits: u32, relu: bool) -> u64 {
    if relu && sign_extend(x, bits) < 0 {
        0
    } else {
        x
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Half {
    Lo,
    Hi,
    Wide,
}

fn product(a: u64, b: u64, bits: u32, signed: bool) -> u128 {
    if signed {
        (i128::from(sign_extend(a, bits)) * i128::from(sign_extend(b, bits))) as u128
    } else {
        u128::from(a & mask(bits)) * u128::from(b & mask(bits))
    }
}

fn multiply<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    ty: Ty,
    half: Half,
    sat: bool,
) -> Result<Op> {
    let (bits, signed, all) = (ty.bits(), ty.is_signed(), mask(ty.bits()));
    let wide = match (half, ty) {
        (Half::Wide, Ty::U16 | Ty::S16) => Ty::B32,
        (Half::Wide, Ty::U32 | Ty::S32) => Ty::B64,
        (Half::Wide, Ty::U64 | Ty::S64) => Ty::B128,
        _ => ty,
    };
    if wide == Ty::B128 {
        return cx.unsupported(inst);
    }
    let (a, b) = (cx.src_at(inst, 1, ty)?, cx.src_at(inst, 2, ty)?);
    let wide_all = mask(wide.bits());
    if inst.opcode[0] == "mul" {
        let f = match half {
            Half::Lo => binary(move |a, b| a.wrapping_mul(b) & all),
            Half::Hi => binary(move |a, b| (product(a, b, bits, signed) >> bits) as u64 & all),
            Half::Wide if signed => {
                binary(move |a, b| (sign_extend(a, bits) * sign_extend(b, bits)) as u64 & wide_all)
            }
            Half::Wide => binary(move |a, b| a * b),
        };
        return lanes(cx, inst, wide, f, &[a, b]);
    }
    let c = cx.src_at(inst, 3, wide)?;
    let f = match half {
        Half::Lo => ternary(move |a, b, c| a.wrapping_mul(b).wrapping_add(c) & all),
        // mad.hi.sat.s32 clamps the sum.
        Half::Hi if sat => ternary(move |a, b, c| {
            ((product(a, b, 32, true) >> 32) as i32)
                .saturating_add(c as i32)
                .lane()
        }),
        Half::Hi => ternary(move |a, b, c| {
            ((product(a, b, bits, signed) >> bits) as u64).wrapping_add(c) & all
        }),
        Half::Wide if signed => ternary(move |a, b, c| {
            ((sign_extend(a, bits) * sign_extend(b, bits)) as u64).wrapping_add(c) & wide_all
        }),
        Half::Wide => ternary(move |a, b, c| (a * b).wrapping_add(c) & wide_all),
    };
    lanes(cx, inst, wide, f, &[a, b, c])
}

fn mul24<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let shift = match mods.one_of(&[("lo", 0), ("hi", 16)]) {
        Some(shift) => shift,
        None => return cx.unsupported(inst),
    };
    let sat = mods.flag("sat");
    let signed = require_ty(cx, inst, mods)?.is_signed();
    let srcs = same_srcs(cx, inst, Ty::U32)?;
    let multiply = move |a, b| (product(a, b, 24, signed) >> shift) as u32;
    let f = if inst.opcode[0] == "mul24" {
        binary(move |a, b| multiply(a, b).into())
    } else if sat {
        ternary(move |a, b, c| (multiply(a, b) as i32).saturating_add(c as i32).lane())
    } else {
        ternary(move |a, b, c| multiply(a, b).wrapping_add(c as u32).into())
    };
    lanes(cx, inst, Ty::U32, f, &srcs)
}

fn carry<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    ty: Ty,
    half: Option<Half>,
    writes: bool,
) -> Result<Op> {
    let reads = matches!(inst.opcode[0], "addc" | "subc" | "madc");
    let srcs: Vec<Src> = same_srcs(cx, inst, ty)?;
    let f: CarryFn = match (inst.opcode[0], ty.bits(), half) {
        ("add" | "addc", 32, _) => |a, b, _, carry| add_carry(a, b, carry, 32),
        ("add" | "addc", 64, _) => |a, b, _, carry| add_carry(a, b, carry, 64),
        ("sub" | "subc", 32, _) => |a, b, _, borrow| sub_borrow(a, b, borrow, 32),
        ("sub" | "subc", 64, _) => |a, b, _, borrow| sub_borrow(a, b, borrow, 64),
        ("mad" | "madc", 32, Some(Half::Lo)) => {
            |a, b, c, carry| add_carry(product(a, b, 32, false) as u32 as u64, c, carry, 32)
        }
        ("mad" | "madc", 64, Some(Half::Lo)) => {
            |a, b, c, carry| add_carry(product(a, b, 64, false) as u64, c, carry, 64)
        }
        ("mad" | "madc", 32, Some(Half::Hi)) if ty.is_signed() => {
            |a, b, c, carry| add_carry((product(a, b, 32, true) >> 32) as u32 as u64, c, carry, 32)
        }
        ("mad" | "madc", 32, Some(Half::Hi)) => {
            |a, b, c, carry| add_carry((product(a, b, 32, false) >> 32) as u64, c, carry, 32)
        }
        ("mad" | "madc", 64, Some(Half::Hi)) if ty.is_signed() => {
            |a, b, c, carry| add_carry((product(a, b, 64, true) >> 64) as u64, c, carry, 64)
        }
        ("mad" | "madc", 64, Some(Half::Hi)) => {
            |a, b, c, carry| add_carry((product(a, b, 64, false) >> 64) as u64, c, carry, 64)
        }
        _ => return cx.unsupported(inst),
    };
    let dst = cx.dst_at(inst, 0, ty)?;
    let count = srcs.len().min(3);
    let mut three = [Src::Const(0); 3];
    three[..count].copy_from_slice(&srcs[..count]);
    let carry = cx.carry();
    Ok(Op::Carry {
        f,
        dst,
        srcs: three,
        count: count as u8,
        reads,
        writes,
        carry,
    })
}

fn add_carry(a: u64, b: u64, carry: bool, bits: u32) -> (u64, bool) {
    let sum = u128::from(a) + u128::from(b) + u128::from(carry);
    (sum as u64 & mask(bits), sum >> bits != 0)
}

fn sub_borrow(a: u64, b: u64, borrow: bool, bits: u32) -> (u64, bool) {
    let subtrahend = u128::from(b) + u128::from(borrow);
    (
        (u128::from(a).wrapping_sub(subtrahend)) as u64 & mask(bits),
        u128::from(a) < subtrahend,
    )
}

/// `dp4a`, `dp2a` (PTX ISA 9.7.1.23-24).
fn dot_product<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let two = inst.opcode[0] == "dp2a";
    let high = two && mods.flag("hi");
    if two && !high && !mods.flag("lo") {
        return cx.unsupported(inst);
    }
    let (a_signed, b_signed) = (
        require_ty(cx, inst, mods)?.is_signed(),
        require_ty(cx, inst, mods)?.is_signed(),
    );
    let srcs = same_srcs(cx, inst, Ty::B32)?;
    let extend = |x: u64, bits, signed| {
        if signed {
            sign_extend(x, bits)
        } else {
            (x & mask(bits)) as i64
        }
    };
    let f = ternary(move |a, b, c| {
        let mut sum = c as u32 as i64;
        for i in 0..(if two { 2 } else { 4 }) {
            let x = if two {
                extend(a >> (16 * i), 16, a_signed)
            } else {
                extend(a >> (8 * i), 8, a_signed)
            };
            let byte = if high { i + 2 } else { i };
            sum = sum.wrapping_add(x.wrapping_mul(extend(b >> (8 * byte), 8, b_signed)));
        }
        u64::from(sum as u32)
    });
    lanes(cx, inst, Ty::B32, f, &srcs)
}
