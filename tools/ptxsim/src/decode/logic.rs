//! Moves, comparisons, selection, and bit manipulation (PTX ISA 9.7.1.15-22, 9.7.6, 9.7.8, 9.7.9.1-7).

use super::checked::lanes;
use super::compare::{set, setp};
use super::lanes::{LaneBits, binary, f32_of, quaternary, ternary, unary};
use super::mods::Mods;
use super::names::Function;
use super::operand::ALWAYS;
use super::{Result, finish};
use crate::decode::checked::{BOOLS, ZERO, require_ty, same_srcs};
use crate::num::int::{self, Prmt, mask, sign_extend};
use crate::parse::ast::{Instruction, Operand};
use crate::program::inst::{BoolOp, Op, Special, Src};
use crate::program::types::{Class, Ty};

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    match inst.opcode[0] {
        "mov" => mov(cx, inst, mods),
        "setp" => setp(cx, inst, mods),
        "set" => set(cx, inst, mods),
        "selp" => selp(cx, inst, mods),
        "slct" => slct(cx, inst, mods),
        "and" | "or" | "xor" => bitwise(cx, inst, mods),
        "not" | "cnot" | "brev" | "popc" | "clz" => one_source(cx, inst, mods),
        "bfind" => bfind(cx, inst, mods),
        "lop3" => lop3(cx, inst, mods),
        "shl" | "shr" => shift(cx, inst, mods),
        "shf" => funnel_shift(cx, inst, mods),
        "prmt" => prmt(cx, inst, mods),
        "bfe" | "bfi" => bit_field(cx, inst, mods),
        "fns" => {
            require_ty(cx, inst, mods)?;
            let srcs = same_srcs(cx, inst, Ty::B32)?;
            lanes(
                cx,
                inst,
                Ty::B32,
                ternary(|a, b, c| int::fns(a as u32, b as u32, c as i32).into()),
                &srcs,
            )
        }
        "bmsk" => {
            let wrap = mods.flag("wrap");
            mods.flag("clamp");
            require_ty(cx, inst, mods)?;
            let srcs = same_srcs(cx, inst, Ty::B32)?;
            lanes(
                cx,
                inst,
                Ty::B32,
                binary(move |a, b| bit_mask(a as u32, b as u32, wrap)),
                &srcs,
            )
        }
        "szext" => {
            let wrap = mods.flag("wrap");
            mods.flag("clamp");
            let signed = require_ty(cx, inst, mods)?.is_signed();
            let srcs = same_srcs(cx, inst, Ty::B32)?;
            lanes(
                cx,
                inst,
                Ty::B32,
                binary(move |a, n| size_extend(a as u32, n as u32, signed, wrap)),
                &srcs,
            )
        }
        _ => cx.unsupported(inst),
    }
}

fn bit_mask(start: u32, count: u32, wrap: bool) -> u64 {
    let (start, count) = if wrap {
        (start & 31, count & 31)
    } else {
        (start.min(32), count.min(32))
    };
    ((mask(count) << start) as u32).into()
}

fn size_extend(a: u32, n: u32, signed: bool, wrap: bool) -> u64 {
    let n = if wrap { n & 31 } else { n.min(32) };
    let low = u64::from(a) & mask(n);
    if signed && n > 0 {
        sign_extend(low, n) as u32 as u64
    } else {
        low
    }
}

fn mov<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let ty = require_ty(cx, inst, mods)?;
    let (to, from) = (cx.operand(inst, 0)?, cx.operand(inst, 1)?);
    if let (Ty::Pred, Operand::Name("%is_explicit_cluster", None)) = (ty, from) {
        let row = cx.special(Special::IsExplicitCluster);
        return Ok(Op::Compare {
            f: unary(|x| x),
            srcs: [Src::Reg(row.0), ZERO, ZERO, ZERO],
            count: 1,
            combine: None,
            p: cx.pred_dst(to)?,
            q: None,
        });
    }
    if ty == Ty::Pred {
        let src = cx.pred_src(from)?;
        return match cx.pred_dst(to)? {
            Some(dst) => Ok(Op::PredMove { dst, src }),
            None => cx.error("a predicate move needs a destination"),
        };
    }
    match (to, from) {
        (Operand::Vector(items), _) if items.len() > 1 => {
            let bits = ty.bits() / items.len() as u32;
            let src = cx.src(from, ty)?;
            let dsts = items
                .iter()
                .map(|item| cx.dst_or_sink(item, Ty::B8))
                .collect::<Result<_>>()?;
            Ok(Op::Unpack { dsts, src, bits })
        }
        (_, Operand::Vector(items)) if items.len() > 1 => {
            let bits = ty.bits() / items.len() as u32;
            let dst = cx.dst(to, ty)?;
            let piece = match bits {
                8 => Ty::B8,
                16 => Ty::B16,
                32 => Ty::B32,
                _ => Ty::B64,
            };
            let srcs = items
                .iter()
                .map(|item| cx.src(item, piece))
                .collect::<Result<_>>()?;
            Ok(Op::Pack { dst, srcs, bits })
        }
        _ if ty == Ty::B128 => {
            let (dst, src) = (cx.dst(to, ty)?, cx.src(from, ty)?);
            Ok(Op::Pack {
                dst,
                srcs: vec![src, second_row(src)],
                bits: 64,
            })
        }
        _ => {
            let src = cx.src(from, ty)?;
            let dst = cx.dst(to, ty)?;
            Ok(Op::Move { dst, src })
        }
    }
}

/// The upper half of a 128-bit register.
pub fn second_row(src: Src) -> Src {
    match src {
        Src::Reg(row) => Src::Reg(row + 1),
        constant => constant,
    }
}

fn selp<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let ty = require_ty(cx, inst, mods)?;
    let (a, b) = (cx.src_at(inst, 1, ty)?, cx.src_at(inst, 2, ty)?);
    let pred = cx.pred_src(cx.operand(inst, 3)?)?;
    let dst = cx.dst_at(inst, 0, ty)?;
    Ok(Op::Select { dst, a, b, pred })
}

fn slct<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let ftz = mods.flag("ftz");
    let (ty, by) = (require_ty(cx, inst, mods)?, require_ty(cx, inst, mods)?);
    let srcs = [
        cx.src_at(inst, 1, ty)?,
        cx.src_at(inst, 2, ty)?,
        cx.src_at(inst, 3, by)?,
    ];
    let f = match by {
        Ty::S32 => ternary(|a, b, c| if c as i32 >= 0 { a } else { b }),
        Ty::F32 => ternary(move |a, b, c| {
            let c = if ftz {
                finish::flush(f32_of(c))
            } else {
                f32_of(c)
            };
            if c >= 0.0 { a } else { b }
        }),
        _ => return cx.unsupported(inst),
    };
    lanes(cx, inst, ty, f, &srcs)
}

fn bitwise<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let ty = require_ty(cx, inst, mods)?;
    let op = mods_bool(inst.opcode[0]);
    if ty == Ty::Pred {
        let (a, b) = (
            cx.pred_src(cx.operand(inst, 1)?)?,
            cx.pred_src(cx.operand(inst, 2)?)?,
        );
        return match cx.pred_dst(cx.operand(inst, 0)?)? {
            Some(dst) => Ok(Op::PredLogic { op, dst, a, b }),
            None => Ok(Op::Nop),
        };
    }
    cx.check_class(ty, &[Class::Bits])?;
    let srcs = same_srcs(cx, inst, ty)?;
    let f = match op {
        BoolOp::And => binary(|a, b| a & b),
        BoolOp::Or => binary(|a, b| a | b),
        BoolOp::Xor => binary(|a, b| a ^ b),
    };
    lanes(cx, inst, ty, f, &srcs)
}

fn mods_bool(name: &str) -> BoolOp {
    match name {
        "and" => BoolOp::And,
        "or" => BoolOp::Or,
        _ => BoolOp::Xor,
    }
}

fn one_source<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let ty = require_ty(cx, inst, mods)?;
    let all = mask(ty.bits());
    if ty == Ty::Pred {
        let mut src = cx.pred_src(cx.operand(inst, 1)?)?;
        src.negated = !src.negated;
        return match cx.pred_dst(cx.operand(inst, 0)?)? {
            Some(dst) => Ok(Op::PredMove { dst, src }),
            None => Ok(Op::Nop),
        };
    }
    let bits = ty.bits();
    let srcs = same_srcs(cx, inst, ty)?;
    let (f, dst_ty) = match inst.opcode[0] {
        "not" => (unary(move |a| !a & all), ty),
        "cnot" => (unary(move |a| (a & all == 0).lane()), ty),
        "brev" => (unary(move |a| a.reverse_bits() >> (64 - bits)), ty),
        "popc" => (unary(move |a| u64::from((a & all).count_ones())), Ty::U32),
        _ => (
            unary(move |a| u64::from((a & all).leading_zeros() - (64 - bits))),
            Ty::U32,
        ),
    };
    lanes(cx, inst, dst_ty, f, &srcs)
}

fn bfind<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let shift_amount = mods.flag("shiftamt");
    let ty = require_ty(cx, inst, mods)?;
    let srcs = same_srcs(cx, inst, ty)?;
    let f = unary(move |a| int::bfind(a, ty.bits(), ty.is_signed(), shift_amount).into());
    lanes(cx, inst, Ty::U32, f, &srcs)
}

fn lop3<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let bool_op = mods.one_of(BOOLS);
    require_ty(cx, inst, mods)?;
    let table = immediate(cx, inst, 4)? as u8;
    let srcs = [
        cx.src_at(inst, 1, Ty::B32)?,
        cx.src_at(inst, 2, Ty::B32)?,
        cx.src_at(inst, 3, Ty::B32)?,
        ZERO,
    ];
    let f = ternary(move |a, b, c| int::lop3(a as u32, b as u32, c as u32, table).into());
    let Some(op) = bool_op else {
        let dst = cx.dst_at(inst, 0, Ty::B32)?;
        return Ok(Op::Lanes {
            f,
            dst,
            srcs,
            count: 3,
        });
    };
    // lop3.BoolOp d|p, a, b, c, table, q: p = (d != 0) BoolOp q
    let Operand::Pair(d, p) = cx.operand(inst, 0)? else {
        return cx.error("lop3 with a boolean operation needs `d|p`");
    };
    let (dst, p) = (cx.dst(d, Ty::B32)?, cx.pred_dst(p)?);
    let q = cx.pred_src(cx.operand(inst, 5)?)?;
    cx.push(
        ALWAYS,
        Op::Lanes {
            f,
            dst,
            srcs,
            count: 3,
        },
    );
    let test = unary(|d| (d as u32 != 0).lane());
    Ok(Op::Compare {
        f: test,
        srcs: [Src::Reg(dst.0), ZERO, ZERO, ZERO],
        count: 1,
        combine: Some((op, q)),
        p,
        q: None,
    })
}

/// Operand `index` as a literal.
pub fn immediate<'a>(cx: &Function<'_, 'a>, inst: &Instruction<'a>, index: usize) -> Result<u64> {
    use crate::parse::number::Literal;
    match cx.operand(inst, index)? {
        Operand::Number { text, negative } => match Literal::parse(text, *negative) {
            Some(literal) => Ok(literal.as_int()),
            None => cx.error(format!("`{text}` is no number")),
        },
        _ => cx.error(format!(
            "operand {} of `{}` must be a constant",
            index + 1,
            inst.mnemonic()
        )),
    }
}

fn shift<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let ty = require_ty(cx, inst, mods)?;
    let (bits, all) = (ty.bits(), mask(ty.bits()));
    let srcs = [cx.src_at(inst, 1, ty)?, cx.src_at(inst, 2, Ty::U32)?];
    // Amounts beyond the width are clamped (PTX ISA 9.7.8.7-8).
    let f = match (inst.opcode[0], ty.is_signed()) {
        ("shl", _) => binary(move |a, n| {
            if n as u32 >= bits {
                0
            } else {
                a << n as u32 & all
            }
        }),
        (_, false) => binary(move |a, n| {
            if n as u32 >= bits {
                0
            } else {
                (a & all) >> n as u32
            }
        }),
        (_, true) => binary(move |a, n| (sign_extend(a, bits) >> (n as u32).min(63)) as u64 & all),
    };
    lanes(cx, inst, ty, f, &srcs)
}

fn funnel_shift<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let left = mods.flag("l");
    let right = !left && mods.flag("r");
    let wrap = mods.flag("wrap");
    if !(left || right) || !(wrap || mods.flag("clamp")) {
        return cx.unsupported(inst);
    }
    require_ty(cx, inst, mods)?;
    let srcs = same_srcs(cx, inst, Ty::B32)?;
    lanes(
        cx,
        inst,
        Ty::B32,
        ternary(move |a, b, c| int::shf(a as u32, b as u32, c as u32, left, wrap).into()),
        &srcs,
    )
}

fn prmt<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    require_ty(cx, inst, mods)?;
    let mode = mods
        .one_of(&[
            ("f4e", Prmt::F4e),
            ("b4e", Prmt::B4e),
            ("rc8", Prmt::Rc8),
            ("ecl", Prmt::Ecl),
            ("ecr", Prmt::Ecr),
            ("rc16", Prmt::Rc16),
        ])
        .unwrap_or(Prmt::Index);
    let srcs = same_srcs(cx, inst, Ty::B32)?;
    lanes(
        cx,
        inst,
        Ty::B32,
        ternary(move |a, b, c| int::prmt(a as u32, b as u32, c as u32, mode).into()),
        &srcs,
    )
}

fn bit_field<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let ty = require_ty(cx, inst, mods)?;
    let (bits, signed) = (ty.bits(), ty.is_signed());
    if inst.opcode[0] == "bfe" {
        let srcs = [
            cx.src_at(inst, 1, ty)?,
            cx.src_at(inst, 2, Ty::U32)?,
            cx.src_at(inst, 3, Ty::U32)?,
        ];
        return lanes(
            cx,
            inst,
            ty,
            ternary(move |a, b, c| int::bfe(a, b as u32, c as u32, bits, signed)),
            &srcs,
        );
    }
    let srcs = [
        cx.src_at(inst, 1, ty)?,
        cx.src_at(inst, 2, ty)?,
        cx.src_at(inst, 3, Ty::U32)?,
        cx.src_at(inst, 4, Ty::U32)?,
    ];
    lanes(
        cx,
        inst,
        ty,
        quaternary(move |a, b, c, d| int::bfi(a, b, c as u32, d as u32, bits)),
        &srcs,
    )
}
