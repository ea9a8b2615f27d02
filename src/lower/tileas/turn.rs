//! Tiles of bytes that are read from one shared buffer and stored to another in which the other dimension is contiguous.
//!
//! `ldmatrix` reads neighbours of the one dimension, `stmatrix` stores neighbours of the other, where a thread holds
//! what `wgmma` would read of the tile with paired rows: four bytes along the second dimension, of two neighbours each.
//!
//! Tiles of other elements, and what is computed of them on the way, lie in registers as accesses to both buffers want.

use super::buffers::layout_in;
use super::look::is_view;
use super::made;
use super::operands::inner_dimension;
use super::relation::Relation;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::ir::{Module, OpId, Type, ValueId};
use crate::layout::mma::{MatmulShape, Wgmma};
use crate::layout::shared::SharedLayout;
use crate::layout::{In, Layout, LayoutError, between};

/// The tile that such a store stores, and its layout.
pub fn layout(m: &Module, op: OpId, warps: u64) -> Option<(ValueId, Result<Layout, LayoutError>)> {
    let store = view::LocalStore::of(m.op(op))?;
    let tile = store.tile();
    let (elem, &[rows, columns]) = m.types.as_tile(m.ty(tile))? else {
        return None;
    };
    let Type::SharedTile { layout, .. } = *m.types.get(m.ty(store.destination())) else {
        return None;
    };
    let from = inner_dimension(m, tile)?;
    let kept = m.layouts.get(layout);
    let turned = kept.bases(In::Offset).first() == Some(&kept.shape().along(1 - from, 1));
    let [across, along] = if from == 0 {
        [rows, columns]
    } else {
        [columns, rows]
    };
    let groups = warps / 4;
    // Where rows are few, several warpgroups move the same ones.
    let over_rows = groups.min(across / Wgmma::M);
    if m.types.bits(elem) != Some(8) || !turned || along < 32 || over_rows == 0 {
        return None;
    }
    let fragment = Wgmma {
        tile: MatmulShape {
            m: across,
            n: 8,
            k: along,
        },
        element_bits: 8,
        warpgroups_m: over_rows,
        warpgroups_n: groups / over_rows,
        paired: true,
    };
    let layout = fragment.a_in_registers();
    Some((
        tile,
        match from {
            0 => layout,
            _ => layout.and_then(|l| l.permute(&[1, 0])),
        },
    ))
}

/// The tile that a store writes, and the layout in which it is best on its way from the buffer that it is read from;
/// `usual`: how the load at its beginning would leave it. None where that is as good.
pub fn between(
    m: &Module,
    op: OpId,
    warps: u64,
    usual: &dyn Fn(OpId) -> Option<Layout>,
) -> Option<(ValueId, Layout)> {
    let store = view::LocalStore::of(m.op(op))?;
    let tile = store.tile();
    let mut way = Vec::new();
    let mut at = tile;
    let load = loop {
        let def = m.def_op(at)?;
        if S::of(m.op(def).kind) == Some(S::LocalLoad) {
            break def;
        }
        let known = |v: ValueId| {
            m.def_op(v)
                .is_some_and(|by| C::of(m.op(by).kind) == Some(C::Constant))
        };
        let mut sources = m.op(def).operands.iter().filter(|&&v| !known(v));
        let (Some(&source), None) = (sources.next(), sources.next()) else {
            return None;
        };
        if is_view(m, def) {
            way.push(def);
        } else if !made::computes(m, def) {
            return None;
        }
        at = source;
    };
    let to = layout_in(m, store.destination())?;
    let from = layout_in(m, m.source(load))?;
    let mut from_layout = from.layout().clone();
    let mut usual = usual(load)?;
    for &def in way.iter().rev() {
        let relation = Relation::of(m, def)?;
        let result = m.result(def);
        from_layout = relation.result_of(m, result, &from_layout).ok()?;
        usual = relation.result_of(m, result, &usual).ok()?;
    }
    let from = SharedLayout::new(from_layout, from.element_bits()).ok()?;
    let layout = between::choose(&from, &to, &usual, warps).ok()??;
    Some((tile, layout))
}
