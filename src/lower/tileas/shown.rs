//! Stores of tiles whose dimensions were permuted.
//!
//! ```text
//! x = tiled_load : 16x8x64
//! y = permute x [1, 0, 2] : 8x16x64
//! tiled_store y
//! ```
//! Where the innermost dimension keeps its place, the load's layout, permuted, is as good for the store as the store's own
//! would be: as wide in each thread, and as many neighbours in a warp. Then nothing has to go through shared memory.

use super::look::is_view;
use super::relation::{Relation, canonical, is_distributed};
use super::variables::{Assign, Priority};
use crate::dialect::Traits;
use crate::ir::{Module, OpId, ValueId};
use crate::layout::Layout;
use crate::layout::blocked::Blocked;

/// Bytes that a warp's access has side by side, beyond which more of them gain less than a trip through shared memory takes:
/// two sectors of the cache, which goes to memory with as much at once.
const SECTORS: u64 = 64;

/// The layout in which `tile` comes from where something else has proposed one, if a store that would have it in `usual`
/// accesses as well in it.
pub fn layout(
    a: &mut Assign<'_>,
    tile: ValueId,
    store: &Blocked,
    usual: &Layout,
) -> Option<Layout> {
    if a.proposed(tile).is_some() {
        return None;
    }
    let (source, way) = origin(a, tile)?;
    let mut layout = a.known(source)?;
    for &op in way.iter().rev() {
        let result = a.m.result(op);
        layout = Relation::of(a.m, op)?
            .result_of(a.m, result, &layout)
            .ok()?;
    }
    let (own, best) = (reach(&layout, store)?, reach(usual, store)?);
    let as_good = own.0 >= best.0 && own.1 >= best.1;
    (as_good && layout.registers() <= canonical(usual).registers()).then_some(layout)
}

/// The tile with a layout proposed by a load that `tile` is computed of, and the changes of shape on the way, the last one
/// first.
fn origin(a: &mut Assign<'_>, tile: ValueId) -> Option<(ValueId, Vec<OpId>)> {
    let (mut tile, mut way) = (tile, Vec::new());
    loop {
        if let Some((priority, _)) = a.proposed(tile) {
            return (priority <= Priority::Agreed).then_some((tile, way));
        }
        let op = a.m.def_op(tile)?;
        tile = if is_view(a.m, op) {
            way.push(op);
            a.m.source(op)
        } else {
            computed_of(a.m, op)?
        };
    }
}

/// An operand that lies as the result of an operation on elements does.
fn computed_of(m: &Module, op: OpId) -> Option<ValueId> {
    let data = m.op(op);
    let elementwise = data.def().traits.has(Traits::ELEMENTWISE);
    let mut tiles = data.operands.iter().copied();
    elementwise.then(|| tiles.find(|&v| is_distributed(m, v)))?
}

/// How wide a thread's access is, and how many bytes a warp has side by side, as far as that counts.
fn reach(layout: &Layout, store: &Blocked) -> Option<(u64, u64)> {
    let run = layout.contiguous_per_thread(&store.order).ok()?;
    let vector = run.min(store.max_vector);
    let beside = layout.neighbours(&store.order, vector).ok()?;
    let bytes = vector * beside * u64::from(store.element_bits / 8);
    Some((vector, bytes.min(SECTORS)))
}
