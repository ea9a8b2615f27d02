//! `cvt.rs`: stochastic rounding by bits that an operand gives (PTX ISA 9.7.9.22).
//!
//! The random bits are added to the uppermost bits that rounding drops; a carry out of them rounds away from zero.

use super::Result;
use super::checked::{ZERO, lanes, require_ty};
use super::formats::{format_of, packing};
use super::lanes::{f32_of, ternary};
use super::mods::Mods;
use super::names::Function;
use super::operand::ALWAYS;
use crate::num::format::{Format, Overflow, Round};
use crate::parse::ast::Instruction;
use crate::program::inst::{Op, Src};
use crate::program::types::Ty;

#[derive(Debug, Clone, Copy)]
struct Mode {
    relu: bool,
    overflow: Overflow,
}

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    mods.flag("rs");
    let mode = Mode {
        relu: mods.flag("relu"),
        overflow: if mods.flag("satfinite") {
            Overflow::Finite
        } else {
            Overflow::Ieee
        },
    };
    let (to, from) = (require_ty(cx, inst, mods)?, require_ty(cx, inst, mods)?);
    let (Some(format), Some((count, width)), Ty::F32) = (format_of(to), packing(to), from) else {
        return cx.unsupported(inst);
    };
    if count == 4 {
        return four(cx, inst, format, width, mode);
    }
    if width != 16 {
        return cx.unsupported(inst);
    }
    let srcs = [
        cx.src_at(inst, 1, from)?,
        cx.src_at(inst, 2, from)?,
        cx.src_at(inst, 3, Ty::B32)?,
    ];
    // As many random bits as the fraction loses.
    let bits = 23 - format.fraction_bits;
    let f = ternary(move |a, b, random| {
        let one = |x, random| round(format, f32_of(x).into(), random, bits, mode);
        one(a, random >> 16) << 16 | one(b, random & 0xffff)
    });
    lanes(cx, inst, Ty::B32, f, &srcs)
}

/// `d, {a, b, e, f}, rbits`: a is uppermost, and has its random bits in common with b.
fn four<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    format: Format,
    width: u32,
    mode: Mode,
) -> Result<Op> {
    let values = cx.srcs(cx.operand(inst, 1)?, Ty::F32)?;
    let &[a, b, e, f] = values.as_slice() else {
        return cx.error(format!("`{}` needs four values", inst.mnemonic()));
    };
    let guard = match inst.guard {
        Some((name, negated)) => {
            let mut guard = cx.pred_named(name)?;
            guard.negated = negated;
            guard
        }
        None => ALWAYS,
    };
    let mut pair = |upper: Src, lower: Src| {
        let dst = cx.temporary();
        let srcs = vec![lower, upper];
        cx.push(
            guard,
            Op::Pack {
                dst,
                srcs,
                bits: 32,
            },
        );
        Src::Reg(dst.0)
    };
    let (ab, ef) = (pair(a, b), pair(e, f));
    let random = cx.src_at(inst, 2, Ty::B32)?;
    let narrow = width == 4;
    let f = ternary(move |ab, ef, random| {
        let (high, low) = (random >> 16 & 0xffff, random & 0xffff);
        // Four bits take theirs from both halves.
        let (first, second) = if narrow {
            (high & 0xff00 | low >> 8, (high & 0xff) << 8 | low & 0xff)
        } else {
            (high, low)
        };
        let one = |x: u64, random| round(format, f32_of(x & 0xffff_ffff).into(), random, 16, mode);
        [
            (ab >> 32, first),
            (ab, first),
            (ef >> 32, second),
            (ef, second),
        ]
        .into_iter()
        .fold(0, |word, (x, random)| word << width | one(x, random))
    });
    Ok(Op::Lanes {
        f,
        dst: cx.dst_at(inst, 0, if narrow { Ty::B16 } else { Ty::B32 })?,
        srcs: [ab, ef, random, ZERO],
        count: 3,
    })
}

/// `x` towards zero, or away if `random` and what is dropped, as fractions of 2^`bits`, reach one.
fn round(format: Format, x: f64, random: u64, bits: u32, mode: Mode) -> u64 {
    let x = if mode.relu && x <= 0.0 { 0.0 } else { x };
    let below = format.encode(x, Round::Zero, mode.overflow);
    if !x.is_finite() {
        return below;
    }
    let above = format.encode(
        x,
        if x < 0.0 { Round::Down } else { Round::Up },
        mode.overflow,
    );
    if below == above {
        return below;
    }
    // The next number's distance is that of a number without end: infinity lies one step beyond the largest.
    let (low, high) = (format.decode(below).abs(), format.decode(above).abs());
    let step = if high.is_finite() {
        high - low
    } else {
        low - format.decode(below - 1).abs()
    };
    let dropped = (x.abs() - low) / step * f64::from(1u32 << bits);
    let random = random & ((1 << bits) - 1);
    if dropped.floor() + random as f64 >= f64::from(1u32 << bits) {
        above
    } else {
        below
    }
}
