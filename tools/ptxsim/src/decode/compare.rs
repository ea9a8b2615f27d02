//! Comparisons (PTX ISA 9.7.6).

use super::checked::{BOOLS, ZERO, lanes, require_ty};
use super::lanes::{LaneBits, binary, f32_of};
use super::mods::Mods;
use super::names::Function;
use super::operand::ALWAYS;
use super::{Result, finish};
use crate::num::int::mask;
use crate::parse::ast::{Instruction, Operand};
use crate::program::inst::{BoolOp, LaneFn, Op, PredSrc, Src};
use crate::program::types::Ty;

/// Integer comparison operators.
#[derive(Clone, Copy, PartialEq)]
enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Num,
    Nan,
}

/// Operators: name, relation, true for the unordered floating-point forms, true for the unsigned integer aliases.
const COMPARISONS: &[(&str, (Cmp, bool, bool))] = &[
    ("eq", (Cmp::Eq, false, false)),
    ("ne", (Cmp::Ne, false, false)),
    ("lt", (Cmp::Lt, false, false)),
    ("le", (Cmp::Le, false, false)),
    ("gt", (Cmp::Gt, false, false)),
    ("ge", (Cmp::Ge, false, false)),
    ("lo", (Cmp::Lt, false, true)),
    ("ls", (Cmp::Le, false, true)),
    ("hi", (Cmp::Gt, false, true)),
    ("hs", (Cmp::Ge, false, true)),
    ("equ", (Cmp::Eq, true, false)),
    ("neu", (Cmp::Ne, true, false)),
    ("ltu", (Cmp::Lt, true, false)),
    ("leu", (Cmp::Le, true, false)),
    ("gtu", (Cmp::Gt, true, false)),
    ("geu", (Cmp::Ge, true, false)),
    ("num", (Cmp::Num, false, false)),
    ("nan", (Cmp::Nan, false, false)),
];

fn relation<T: PartialOrd>(cmp: Cmp, unordered: bool, a: T, b: T) -> bool {
    match (a.partial_cmp(&b), cmp) {
        (None, Cmp::Num) => false,
        (None, Cmp::Nan) => true,
        (None, _) => unordered,
        (Some(_), Cmp::Num) => true,
        (Some(_), Cmp::Nan) => false,
        (Some(order), Cmp::Eq) => order.is_eq(),
        (Some(order), Cmp::Ne) => order.is_ne(),
        (Some(order), Cmp::Lt) => order.is_lt(),
        (Some(order), Cmp::Le) => order.is_le(),
        (Some(order), Cmp::Gt) => order.is_gt(),
        (Some(order), Cmp::Ge) => order.is_ge(),
    }
}

fn compare_fn(cmp: Cmp, unordered: bool, ty: Ty, ftz: bool) -> Option<LaneFn> {
    macro_rules! ints {
        ($T:ty) => {
            match cmp {
                Cmp::Eq => binary(|a, b| (a as $T == b as $T).lane()),
                Cmp::Ne => binary(|a, b| (a as $T != b as $T).lane()),
                Cmp::Lt => binary(|a, b| ((a as $T) < b as $T).lane()),
                Cmp::Le => binary(|a, b| (a as $T <= b as $T).lane()),
                Cmp::Gt => binary(|a, b| (a as $T > b as $T).lane()),
                Cmp::Ge => binary(|a, b| (a as $T >= b as $T).lane()),
                Cmp::Num | Cmp::Nan => return None,
            }
        };
    }
    Some(match ty {
        Ty::B16 | Ty::U16 => ints!(u16),
        Ty::S16 => ints!(i16),
        Ty::B32 | Ty::U32 => ints!(u32),
        Ty::S32 => ints!(i32),
        Ty::B64 | Ty::U64 => ints!(u64),
        Ty::S64 => ints!(i64),
        Ty::F32 if ftz => binary(move |a, b| {
            relation(
                cmp,
                unordered,
                finish::flush(f32_of(a)),
                finish::flush(f32_of(b)),
            )
            .lane()
        }),
        Ty::F32 => binary(move |a, b| relation(cmp, unordered, f32_of(a), f32_of(b)).lane()),
        Ty::F64 => binary(move |a, b| {
            relation(cmp, unordered, f64::from_bits(a), f64::from_bits(b)).lane()
        }),
        Ty::F16 | Ty::BF16 => binary(move |a, b| {
            let widen = |x| finish::widen16(ty, x as u16, ftz);
            relation(cmp, unordered, widen(a), widen(b)).lane()
        }),
        _ => return None,
    })
}

fn comparison<'a>(
    cx: &Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
    ty: Ty,
    ftz: bool,
) -> Result<LaneFn> {
    let Some((cmp, unordered, unsigned)) = mods.one_of(COMPARISONS) else {
        return cx.error(format!("`{}` lacks a comparison", inst.mnemonic()));
    };
    let ty = match (unsigned, ty.bits()) {
        (true, 16) => Ty::U16,
        (true, 32) => Ty::U32,
        (true, 64) => Ty::U64,
        _ => ty,
    };
    match compare_fn(cmp, unordered, ty, ftz) {
        Some(f) => Ok(f),
        None => cx.unsupported(inst),
    }
}

pub fn setp<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let ty = require_ty(cx, inst, mods)?;
    let ftz = mods.flag("ftz");
    let (p, q) = match cx.operand(inst, 0)? {
        Operand::Pair(p, q) => (cx.pred_dst(p)?, cx.pred_dst(q)?),
        p => (cx.pred_dst(p)?, None),
    };
    let element = ty.pair_element().filter(|_| ty.is_float());
    let srcs = [cx.src_at(inst, 1, ty)?, cx.src_at(inst, 2, ty)?, ZERO, ZERO];
    let f = comparison(cx, inst, mods, element.unwrap_or(ty), ftz)?;
    let bool_op = mods.one_of(BOOLS);
    let combine = match (bool_op, inst.operands.get(3)) {
        (Some(op), Some(operand)) => Some((op, cx.pred_src(operand)?)),
        (None, None) => None,
        _ => return cx.error("a boolean operation and a predicate operand go together"),
    };
    if element.is_some() {
        return packed_setp(cx, f, srcs, combine, p, q);
    }
    Ok(Op::Compare {
        f,
        srcs,
        count: 2,
        combine,
        p,
        q,
    })
}

/// `setp.f16x2 p|q`: p compares the low halves, q the high ones.
fn packed_setp(
    cx: &mut Function<'_, '_>,
    f: LaneFn,
    srcs: [Src; 4],
    combine: Option<(BoolOp, PredSrc)>,
    p: Option<crate::program::inst::Pred>,
    q: Option<crate::program::inst::Pred>,
) -> Result<Op> {
    let f = std::sync::Arc::new(f);
    let half = |shift: u32| -> LaneFn {
        let f = f.clone();
        Box::new(move |a, b, c, e, d| {
            let pick = |r: &crate::program::Row| r.map(|x| x >> shift & 0xffff);
            f(&pick(a), &pick(b), c, e, d);
        })
    };
    // The low comparison may overwrite what the high one combines with: keep it first in a temporary.
    let low = cx.temporary_pred();
    cx.push(
        ALWAYS,
        Op::Compare {
            f: half(0),
            srcs,
            count: 2,
            combine,
            p: Some(low),
            q: None,
        },
    );
    cx.push(
        ALWAYS,
        Op::Compare {
            f: half(16),
            srcs,
            count: 2,
            combine,
            p: q,
            q: None,
        },
    );
    match p {
        Some(dst) => Ok(Op::PredMove {
            dst,
            src: PredSrc {
                pred: Some(low),
                negated: false,
            },
        }),
        None => Ok(Op::Nop),
    }
}

pub fn set<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let (dst_ty, ty) = (require_ty(cx, inst, mods)?, require_ty(cx, inst, mods)?);
    let ftz = mods.flag("ftz");
    let element = ty.pair_element().filter(|_| ty.is_float()).unwrap_or(ty);
    let f = comparison(cx, inst, mods, element, ftz)?;
    let bool_op = mods.one_of(BOOLS);
    let srcs = [cx.src_at(inst, 1, ty)?, cx.src_at(inst, 2, ty)?, ZERO, ZERO];
    if element != ty {
        let (one, packed_int) = (
            finish::one(dst_ty.pair_element().unwrap_or(Ty::F16)),
            !dst_ty.is_float(),
        );
        let g: LaneFn = Box::new(move |a, b, c, e, d| {
            let (mut low, mut high) = ([0; 32], [0; 32]);
            f(
                &a.map(|x| x & 0xffff),
                &b.map(|x| x & 0xffff),
                c,
                e,
                &mut low,
            );
            f(&a.map(|x| x >> 16), &b.map(|x| x >> 16), c, e, &mut high);
            let value = if packed_int { 0xffff } else { one };
            for ((d, l), h) in d.iter_mut().zip(low).zip(high) {
                *d = (l * value) | ((h * value) << 16);
            }
        });
        return lanes(cx, inst, dst_ty, g, &srcs[..2]);
    }
    let combine = match (bool_op, inst.operands.get(3)) {
        (Some(op), Some(operand)) => Some((op, cx.pred_src(operand)?)),
        _ => None,
    };
    let pred = cx.temporary_pred();
    cx.push(
        ALWAYS,
        Op::Compare {
            f,
            srcs,
            count: 2,
            combine,
            p: Some(pred),
            q: None,
        },
    );
    let truth = if dst_ty.is_float() {
        finish::one(dst_ty)
    } else {
        mask(dst_ty.bits())
    };
    let (a, b) = (cx.constant(truth), cx.constant(0));
    let dst = cx.dst_at(inst, 0, dst_ty)?;
    Ok(Op::Select {
        dst,
        a,
        b,
        pred: PredSrc {
            pred: Some(pred),
            negated: false,
        },
    })
}
