//! Matmuls that are done with their operands swapped, as Cᵀ = Bᵀ · Aᵀ.
//!
//! Those of few rows: a matrix instruction has 16 rows or more, but eight columns, and fewer are repeated
//! ([`crate::layout::mma::MmaSync`]).
//!
//! Those of bytes whose right operand has its columns contiguous in memory, by warpgroups: `wgmma` reads bytes from
//! shared memory only where K is contiguous. The left operand may come from registers instead, in any order, so that Bᵀ is
//! read through registers and Aᵀ in place. Else B would be transposed through registers and stored to shared memory again.

use super::atoms::Extents;
use super::carried_sum::multiply_changed;
use super::fragments::atom_shape;
use super::matmul;
use super::operands::{in_place, read_where_brought, source};
use crate::dialect::cuda_tile::{Op as C, view};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::matmul::Matmul;
use crate::ir::{Attr, BlockId, Module, OpBuilder, OpId, TypeId, ValueId};
use crate::layout::mma::{MmaSync, Wgmma};
use crate::target::{Feature, Target};
use rustc_hash::FxHashSet;

/// Swaps the operands of every matmul under `body` that has fewer rows than its instruction, which has as many as the
/// matmul has columns. 8-bit floats are f16 where the target multiplies these alone.
pub fn few_rows(m: &mut Module, body: BlockId, target: &Target) {
    for dot in m.ops_under(body) {
        let float = C::of(m.op(dot).kind) == Some(C::MmaF);
        let [rows, _] = rows_and_columns(m, dot).unwrap_or_default();
        if float && rows < MmaSync::M {
            matmul::widen(m, dot, target);
        }
        if S::of(m.op(dot).kind) == Some(S::Dot) && has_few_rows(m, dot) == Some(true) {
            swap(m, dot);
        }
    }
}

fn rows_and_columns(m: &Module, dot: OpId) -> Option<[u64; 2]> {
    let acc = Matmul::of(m.op(dot))?.acc;
    m.types.as_tile(m.ty(acc))?.1.last_chunk().copied()
}

fn has_few_rows(m: &Module, dot: OpId) -> Option<bool> {
    let (atom, matmul) = (atom_shape(m, dot)?, Matmul::of(m.op(dot))?);
    let [rows, columns] = rows_and_columns(m, dot)?;
    let k = *m.types.as_tile(m.ty(matmul.lhs))?.1.last()?;
    Some(rows < atom.m && columns >= atom.m && k >= atom.k)
}

/// Swaps the operands of every such matmul of bytes under `body` that `groups` warpgroups do.
pub fn apply(m: &mut Module, body: BlockId, target: &Target, groups: u64) {
    if !target.has(Feature::Wgmma) {
        return;
    }
    for dot in m.ops_under(body) {
        if S::of(m.op(dot).kind) == Some(S::Dot) && is_wanted(m, dot, groups) {
            swap(m, dot);
        }
    }
}

/// Whether the swapped matmul's operands can be read where they are, and the matmul's own cannot.
fn is_wanted(m: &Module, dot: OpId, groups: u64) -> bool {
    let Some(Matmul { lhs, rhs, .. }) = Matmul::of(m.op(dot)) else {
        return false;
    };
    let Some(swapped) = swapped_extents(m, dot).filter(|e| e.spread(groups).is_some()) else {
        return false;
    };
    let local = |o: OpId| S::of(m.op(o).kind) == Some(S::LocalLoad);
    let columns = swapped.columns.min(Wgmma::MAX_N);
    source(m, rhs, &local).is_some()
        && in_place(m, rhs, 1, 8).is_none()
        && in_place(m, lhs, 0, columns).is_some()
}

/// The extents of Cᵀ of a matmul of bytes, if warpgroups can do it.
fn swapped_extents(m: &Module, dot: OpId) -> Option<Extents> {
    let Extents { rows, columns } = Extents::of(m, dot).ok()?;
    let bytes = m.types.bits(m.ty(Matmul::of(m.op(dot))?.lhs)) == Some(8);
    (bytes && columns >= Wgmma::M).then_some(Extents {
        rows: columns,
        columns: rows,
    })
}

/// Whether a matmul will be swapped where the loads in `brought` bring its operands.
pub fn is_expected(m: &Module, facts: &FactMap, dot: OpId, brought: &FxHashSet<OpId>) -> bool {
    let Some(Matmul { lhs, rhs, .. }) = Matmul::of(m.op(dot)) else {
        return false;
    };
    let comes = |v| source(m, v, &|o| brought.contains(&o)).is_some();
    swapped_extents(m, dot).is_some()
        && comes(rhs)
        && !read_where_brought(m, facts, rhs, 0, brought)
        && read_where_brought(m, facts, lhs, 1, brought)
}

/// Rows that warpgroups share out of a matmul of `ops`: columns where it will be swapped.
pub fn rows(m: &Module, ops: &[OpId], facts: &FactMap, dot: OpId) -> Option<u64> {
    let own = Extents::of(m, dot).ok()?.rows;
    let Some(swapped) = swapped_extents(m, dot) else {
        return Some(own);
    };
    let loads = |o: &OpId| S::of(m.op(*o).kind) == Some(S::TiledLoad);
    let loads = ops.iter().copied().filter(loads).collect();
    match is_expected(m, facts, dot, &loads) {
        true => Some(swapped.rows),
        false => Some(own),
    }
}

/// Writes C = (Bᵀ · Aᵀ)ᵀ. A loop that carries the accumulator for the matmul alone carries Cᵀ.
fn swap(m: &mut Module, dot: OpId) {
    let Matmul { lhs, rhs, .. } = Matmul::known(m.op(dot));
    let operands = [rhs, lhs].map(|v| (v, transposed_type(m, v)));
    let sum = transposed_type(m, m.result(dot));
    let mut attrs = m.op(dot).attrs.clone();
    // The signs of the operands.
    attrs.swap(1, 2);
    multiply_changed(m, dot, operands, attrs, sum, transpose);
}

/// Each matrix of `tile` transposed, which makes it a `ty`.
fn transpose(b: &mut OpBuilder<'_>, tile: ValueId, ty: TypeId) -> ValueId {
    let rank = b.module.types.as_tile(ty).map_or(0, |t| t.1.len()) as i32;
    let mut order: Vec<i32> = (0..rank).collect();
    if let [.., row, column] = &mut order[..] {
        std::mem::swap(row, column);
    }
    // What is transposed already is as it was.
    let def = b.module.def_op(tile).map(|o| b.module.op(o));
    if let Some(permute) = def
        .and_then(view::Permute::of)
        .filter(|v| v.permutation() == order)
    {
        return permute.source();
    }
    b.value(C::Permute, &[tile], [Some(Attr::I32s(order))], ty)
}

fn transposed_type(m: &mut Module, tile: ValueId) -> TypeId {
    let elem = m.types.elem(m.ty(tile));
    let mut shape = m.types.as_tile(m.ty(tile)).map_or(vec![], |t| t.1.to_vec());
    if let [.., rows, columns] = &mut shape[..] {
        std::mem::swap(rows, columns);
    }
    m.types.tile(elem, &shape)
}
