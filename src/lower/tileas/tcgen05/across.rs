//! Operands of tf32 that matmuls in tensor memory read across the rows in which they lie in memory.
//!
//! Elements of 32 bits have M or N contiguous in one form only: rows of 128 bytes whose swizzle keeps 32 bytes together
//! ([`Swizzle::B128Atom32`](crate::layout::shared::Swizzle)). A tensor copy brings them so; which loads it is for must be known
//! where their buffers are made.

use super::fits::takes;
use crate::dialect::nv_tileas::view::TiledLoad;
use crate::facts::FactMap;
use crate::facts::matmul::{Matmul, Side};
use crate::ir::{Attr, BlockId, Float, Module, OpId, Type};
use crate::layout::shared::Swizzle;
use crate::lower::tileas::buffers::memory_order;
use crate::lower::tileas::operands::reads_in_place;
use crate::target::{Feature, Target};
use rustc_hash::FxHashSet;

/// Marks the loads under `body` all of whose matmuls read them so.
pub fn mark(m: &mut Module, body: BlockId, target: &Target, facts: &FactMap) {
    if !target.has(Feature::Tcgen05) {
        return;
    }
    for load in m.ops_under(body) {
        if is_read_across(m, body, target, facts, load) {
            *m.attr_mut(load, "wide_atoms") = Some(Attr::Unit);
        }
    }
}

/// Whether all matmuls under `body` that read what `load` loads can read it across its rows, and one does.
pub fn is_read_across(
    m: &Module,
    body: BlockId,
    target: &Target,
    facts: &FactMap,
    load: OpId,
) -> bool {
    let Some(tile) = TiledLoad::of(m.op(load)).map(|v| v.tile()) else {
        return false;
    };
    let Some((elem, extents)) = m.types.as_tile(m.ty(tile)) else {
        return false;
    };
    if *m.types.get(elem) != Type::Float(Float::TF32) {
        return false;
    }
    let order = memory_order(m, facts, load);
    let row = order.first().and_then(|&d| extents.get(d));
    if row.map_or(0, |n| 4 * n) < Swizzle::B128Atom32.span_bytes() {
        return false;
    }
    let load: FxHashSet<OpId> = [load].into_iter().collect();
    let across = |dot: OpId| {
        let of = Matmul::of(m.op(dot))?;
        let sides = Side::BOTH.into_iter();
        let mut in_place = sides
            .filter_map(|side| reads_in_place(m, facts, of, side, &load))
            .peekable();
        in_place.peek()?;
        Some(takes(m, dot, target).is_some() && in_place.all(|along| !along))
    };
    let mut found = m.ops_under(body).into_iter().filter_map(across).peekable();
    found.peek().is_some() && found.all(|across| across)
}
