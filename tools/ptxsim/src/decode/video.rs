//! Video instructions (PTX ISA 9.7.18): parts of words taken apart, worked on, clamped, and combined with a third word.
//!
//! Intermediate results are exact here; the ISA gives them 34 bits, which only a `vshl` with `.sat` could tell apart.

use super::Result;
use super::checked::{ZERO, require_ty};
use super::lanes::ternary;
use super::mods::Mods;
use super::names::Function;
use crate::num::int::sign_extend;
use crate::parse::ast::{Instruction, Operand};
use crate::program::inst::{LaneFn, Op};
use crate::program::types::Ty;

/// What is done to two parts.
#[derive(Clone, Copy)]
enum Primary {
    Add,
    Subtract,
    Average,
    Difference,
    Minimum,
    Maximum,
    Left { wrap: bool },
    Right { wrap: bool },
    Compare(fn(&i128, &i128) -> bool),
}

/// What is done with the result and the third operand.
#[derive(Clone, Copy, PartialEq)]
enum Secondary {
    None,
    Add,
    Minimum,
    Maximum,
}

/// A part of a word: `.b0` to `.b3`, `.h0`, `.h1`, or all of it.
#[derive(Clone, Copy)]
struct Part {
    shift: u32,
    bits: u32,
}

const WORD: Part = Part { shift: 0, bits: 32 };

const COMPARISONS: &[(&str, Primary)] = &[
    ("eq", Primary::Compare(PartialEq::eq)),
    ("ne", Primary::Compare(PartialEq::ne)),
    ("lt", Primary::Compare(PartialOrd::lt)),
    ("le", Primary::Compare(PartialOrd::le)),
    ("gt", Primary::Compare(PartialOrd::gt)),
    ("ge", Primary::Compare(PartialOrd::ge)),
];

/// True for the mnemonics of this file.
pub fn is_video(name: &str) -> bool {
    let stem = name.trim_end_matches(['2', '4']);
    matches!(
        stem,
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vavrg" | "vset"
    ) || matches!(name, "vshl" | "vshr" | "vmad")
}

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let name = inst.opcode[0];
    if name == "vmad" {
        return multiply_add(cx, inst, mods);
    }
    let ways = match name.as_bytes().last() {
        Some(b'2') => 2,
        Some(b'4') => 4,
        _ => 1,
    };
    let Some(primary) = primary(name, ways, mods) else {
        return cx.unsupported(inst);
    };
    // A comparison's result is unsigned and has no type of its own.
    let compares = matches!(primary, Primary::Compare(_));
    let signed = !compares && word(cx, inst, mods)?;
    let from = [word(cx, inst, mods)?, word(cx, inst, mods)?];
    let saturate = !compares && mods.flag("sat");
    let secondary = mods
        .one_of(&[
            ("add", Secondary::Add),
            ("min", Secondary::Minimum),
            ("max", Secondary::Maximum),
        ])
        .unwrap_or(Secondary::None);
    if ways == 1 {
        let operation = Scalar {
            primary,
            secondary,
            signed,
            from,
            saturate,
        };
        return scalar(cx, inst, operation);
    }
    if !matches!(secondary, Secondary::None | Secondary::Add) {
        return cx.unsupported(inst);
    }
    let operation = Simd {
        primary,
        accumulate: secondary == Secondary::Add,
        signed,
        from,
        saturate,
        ways,
    };
    simd(cx, inst, operation)
}

fn primary(name: &str, ways: u32, mods: &mut Mods<'_>) -> Option<Primary> {
    let stem = name.trim_end_matches(['2', '4']);
    let mut wrap = || mods.one_of(&[("clamp", false), ("wrap", true)]);
    Some(match stem {
        "vadd" => Primary::Add,
        "vsub" => Primary::Subtract,
        "vabsdiff" => Primary::Difference,
        "vmin" => Primary::Minimum,
        "vmax" => Primary::Maximum,
        "vavrg" if ways > 1 => Primary::Average,
        "vshl" if ways == 1 => Primary::Left { wrap: wrap()? },
        "vshr" if ways == 1 => Primary::Right { wrap: wrap()? },
        "vset" => mods.one_of(COMPARISONS)?,
        _ => return None,
    })
}

/// `.s32` or `.u32`: true if signed.
fn word<'a>(cx: &Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<bool> {
    match require_ty(cx, inst, mods)? {
        Ty::S32 => Ok(true),
        Ty::U32 => Ok(false),
        _ => cx.unsupported(inst),
    }
}

impl Primary {
    fn apply(self, a: i128, b: i128) -> i128 {
        let amount = |wrap: bool| if wrap { b & 31 } else { b.min(32) };
        match self {
            Primary::Add => a + b,
            Primary::Subtract => a - b,
            // Halves go away from zero.
            Primary::Average => (a + b + i128::from(a + b >= 0)) >> 1,
            Primary::Difference => (a - b).abs(),
            Primary::Minimum => a.min(b),
            Primary::Maximum => a.max(b),
            Primary::Left { wrap } => a << amount(wrap),
            Primary::Right { wrap } => a >> amount(wrap),
            Primary::Compare(holds) => i128::from(holds(&a, &b)),
        }
    }
}

impl Part {
    /// By its word; halves have width 16 and bytes 8.
    fn parse(word: &str) -> Option<Part> {
        let part = |shift, bits| Some(Part { shift, bits });
        match word {
            "b0" => part(0, 8),
            "b1" => part(8, 8),
            "b2" => part(16, 8),
            "b3" => part(24, 8),
            "h0" => part(0, 16),
            "h1" => part(16, 16),
            _ => None,
        }
    }

    fn of(self, word: u64, signed: bool) -> i128 {
        extend(word >> self.shift, self.bits, signed)
    }

    fn mask(self) -> u64 {
        crate::num::int::mask(self.bits) << self.shift
    }
}

/// The low bits of a word as a number.
fn extend(word: u64, bits: u32, signed: bool) -> i128 {
    let low = word & crate::num::int::mask(bits);
    if signed {
        sign_extend(low, bits).into()
    } else {
        low.into()
    }
}

fn clamp(value: i128, bits: u32, signed: bool) -> i128 {
    if signed {
        value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        value.clamp(0, (1 << bits) - 1)
    }
}

/// An operand without its selector, and the selector.
fn selected<'a>(operand: &Operand<'a>) -> (Operand<'a>, Option<&'a str>) {
    match operand {
        Operand::Name(name, selector) => (Operand::Name(name, None), *selector),
        other => (other.clone(), None),
    }
}

fn part<'a>(cx: &Function<'_, 'a>, selector: Option<&str>) -> Result<Part> {
    match selector.map(Part::parse) {
        None => Ok(WORD),
        Some(Some(part)) => Ok(part),
        Some(None) => cx.error("a part of a word is .b0 to .b3, .h0 or .h1"),
    }
}

/// Destination, two or three sources and a function of them.
fn three<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    operands: &[Operand<'a>],
    f: LaneFn,
) -> Result<Op> {
    let Some((dst, sources)) = operands.split_first() else {
        return cx.unsupported(inst);
    };
    let dst = cx.dst(dst, Ty::B32)?;
    let mut srcs = [ZERO; 4];
    for (slot, operand) in srcs.iter_mut().zip(sources) {
        *slot = cx.src(operand, Ty::B32)?;
    }
    let count = sources.len() as u8;
    Ok(Op::Lanes {
        f,
        dst,
        srcs,
        count,
    })
}

#[derive(Clone, Copy)]
struct Scalar {
    primary: Primary,
    secondary: Secondary,
    signed: bool,
    from: [bool; 2],
    saturate: bool,
}

fn scalar<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, op: Scalar) -> Result<Op> {
    let (operands, selectors): (Vec<_>, Vec<_>) = inst.operands.iter().map(selected).unzip();
    let merges = selectors.first().copied().flatten().is_some();
    let needed = 3 + usize::from(merges || op.secondary != Secondary::None);
    if operands.len() != needed || merges && op.secondary != Secondary::None {
        return cx.error(format!(
            "`{}` with these operands is no form",
            inst.mnemonic()
        ));
    }
    let (to, a, b) = (
        part(cx, selectors[0])?,
        part(cx, selectors[1])?,
        part(cx, selectors[2])?,
    );
    let f = ternary(move |x, y, c| {
        let mut t = op.primary.apply(a.of(x, op.from[0]), b.of(y, op.from[1]));
        if op.saturate {
            t = clamp(t, to.bits, op.signed);
        }
        let third = WORD.of(c, op.signed);
        let result = match op.secondary {
            Secondary::None => t,
            Secondary::Add => t + third,
            Secondary::Minimum => t.min(third),
            Secondary::Maximum => t.max(third),
        } as u64;
        (result << to.shift & to.mask() | c & !to.mask()) & 0xffff_ffff
    });
    three(cx, inst, &operands, f)
}

#[derive(Clone, Copy)]
struct Simd {
    primary: Primary,
    accumulate: bool,
    signed: bool,
    from: [bool; 2],
    saturate: bool,
    ways: u32,
}

/// The digits after `.h` or `.b`, the last one first, padded with what stands there by default.
fn digits<'a>(
    cx: &Function<'_, 'a>,
    selector: Option<&str>,
    ways: u32,
    exact: bool,
    default: &str,
) -> Result<Vec<u32>> {
    let letter = if ways == 2 { 'h' } else { 'b' };
    let text = match selector {
        None => default,
        Some(word) => match word.strip_prefix(letter) {
            Some(rest) => rest,
            None => return cx.error(format!("`.{word}` selects no parts here")),
        },
    };
    let limit = if exact { 2 * ways } else { ways };
    let found: Option<Vec<u32>> = text
        .chars()
        .rev()
        .map(|c| c.to_digit(10).filter(|&d| d < limit))
        .collect();
    match found {
        Some(list) if !list.is_empty() && (!exact || list.len() == ways as usize) => Ok(list),
        _ => cx.error(format!("`.{letter}{text}` selects no parts here")),
    }
}

fn simd<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, op: Simd) -> Result<Op> {
    if inst.operands.len() != 4 {
        return cx.error(format!("`{}` takes 4 operands", inst.mnemonic()));
    }
    let (operands, selectors): (Vec<_>, Vec<_>) = inst.operands.iter().map(selected).unzip();
    let (all, second) = if op.ways == 2 {
        ("10", "32")
    } else {
        ("3210", "7654")
    };
    let written = digits(cx, selectors[0], op.ways, false, all)?;
    let a = digits(cx, selectors[1], op.ways, true, all)?;
    let b = digits(cx, selectors[2], op.ways, true, second)?;
    let bits = 32 / op.ways;
    let f = ternary(move |x, y, c| {
        let both = x & 0xffff_ffff | y << 32;
        let mut result = c;
        for i in 0..op.ways {
            if !written.contains(&i) {
                continue;
            }
            let pick =
                |which: &[u32], signed| extend(both >> (which[i as usize] * bits), bits, signed);
            let mut t = op.primary.apply(pick(&a, op.from[0]), pick(&b, op.from[1]));
            if op.saturate {
                t = clamp(t, bits, op.signed);
            }
            let place = Part {
                shift: i * bits,
                bits,
            };
            result = if op.accumulate {
                result.wrapping_add(t as u64)
            } else {
                (t as u64) << place.shift & place.mask() | result & !place.mask()
            };
        }
        result & 0xffff_ffff
    });
    three(cx, inst, &operands, f)
}

/// `vmad`
fn multiply_add<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    word(cx, inst, mods)?;
    let from = [word(cx, inst, mods)?, word(cx, inst, mods)?];
    let (plus_one, saturate) = (mods.flag("po"), mods.flag("sat"));
    let scale = mods.one_of(&[("shr7", 7), ("shr15", 15)]).unwrap_or(0);
    let mut negative = [false; 4];
    let mut operands = Vec::new();
    for (i, operand) in inst.operands.iter().enumerate() {
        let (minus, inner) = match operand {
            Operand::Minus(inner) => (true, inner.as_ref()),
            other => (false, other),
        };
        if let Some(slot) = negative.get_mut(i) {
            *slot = minus;
        }
        operands.push(selected(inner));
    }
    let (operands, selectors): (Vec<_>, Vec<_>) = operands.into_iter().unzip();
    if operands.len() != 4 || selectors[0].is_some() || selectors[3].is_some() || negative[0] {
        return cx.error("`vmad` takes a destination and three sources");
    }
    let (a, b) = (part(cx, selectors[1])?, part(cx, selectors[2])?);
    let (product, third) = (negative[1] != negative[2], negative[3]);
    if product && third || plus_one && (product || third) {
        return cx.error("`vmad` negates the product or the third operand, and neither with .po");
    }
    let signed = from[0] || from[1] || product || third;
    let f = ternary(move |x, y, z| {
        let mut t = a.of(x, from[0]) * b.of(y, from[1]);
        if product {
            t = !t;
        }
        let c = extend(if third { !z } else { z }, 32, signed);
        t += c + i128::from(plus_one || product || third);
        t >>= scale;
        if saturate {
            t = clamp(t, 32, signed);
        }
        t as u64 & 0xffff_ffff
    });
    three(cx, inst, &operands, f)
}
