//! Tiles of bytes that are read from one shared buffer and stored to another in which the other dimension is contiguous.
//!
//! `ldmatrix` reads neighbours of the one dimension, `stmatrix` stores neighbours of the other, where a thread holds
//! what `wgmma` would read of the tile with paired rows: four bytes along the second dimension, of two neighbours each.

use super::operands::inner_dimension;
use crate::dialect::nv_tileas::view;
use crate::ir::{Module, OpId, Type, ValueId};
use crate::layout::mma::{MatmulShape, Wgmma};
use crate::layout::{In, Layout, LayoutError};

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
