//! What the decoding of matrix instructions shares.

use super::Result;
use crate::decode::Function;
use crate::parse::ast::Instruction;
use crate::program::matrix::{AccTy, MatTy};
use crate::program::operand::{Reg, Src};
use crate::program::types::Ty;

pub(super) const ELEMENTS: &[(&str, MatTy)] = &[
    ("f16", MatTy::F16),
    ("bf16", MatTy::BF16),
    ("tf32", MatTy::TF32),
    ("f64", MatTy::F64),
    ("e4m3", MatTy::E4M3),
    ("e5m2", MatTy::E5M2),
    ("e2m3", MatTy::E2M3),
    ("e3m2", MatTy::E3M2),
    ("e2m1", MatTy::E2M1),
    ("s8", MatTy::S8),
    ("u8", MatTy::U8),
    ("s4", MatTy::S4),
    ("u4", MatTy::U4),
    ("b1", MatTy::B1),
];

pub(super) const ACCUMULATORS: &[(&str, AccTy)] = &[
    ("f16", AccTy::F16),
    ("f32", AccTy::F32),
    ("f64", AccTy::F64),
    ("s32", AccTy::S32),
];

/// `m16n8k16`
pub(super) fn shape(word: &str) -> Option<(usize, usize, usize)> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
}

pub(super) fn required<T>(
    cx: &Function<'_, '_>,
    inst: &Instruction<'_>,
    value: Option<T>,
) -> Result<T> {
    match value {
        Some(value) => Ok(value),
        None => cx.unsupported(inst),
    }
}

pub(super) fn register_list<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    index: usize,
    ty: Ty,
) -> Result<Vec<Reg>> {
    let operand = cx.operand(inst, index)?;
    let regs = cx.dsts(operand, ty)?;
    regs.into_iter()
        .map(|r| Ok(r.unwrap_or_else(|| cx.temporary())))
        .collect()
}

pub(super) fn source_list<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    index: usize,
    ty: Ty,
) -> Result<Vec<Src>> {
    let operand = cx.operand(inst, index)?;
    cx.srcs(operand, ty)
}

pub(super) fn accumulator_type(ty: AccTy) -> Ty {
    match ty {
        AccTy::F32 => Ty::F32,
        AccTy::F64 => Ty::F64,
        _ => Ty::B32,
    }
}
