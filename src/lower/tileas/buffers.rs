//! Tiles in shared memory: how many bytes they take, of what type a buffer of them is, how they lie in it.

use smallvec::SmallVec;

use crate::dialect::nv_tileas::view::AllocTensor;
use crate::facts::FactMap;
use crate::facts::access::{self, Access};
use crate::ir::{Module, OpId, Type, TypeId, ValueId};
use crate::layout::shared::{SharedLayout, Swizzle};
use crate::layout::{LayoutError, Shape};
use crate::lower::run::Run;

/// An order of the dimensions of a tile in memory, fastest first.
pub type Order = &'static [usize];
/// Rows of memory are rows of the tile.
pub const ROWS: Order = &[1, 0];
/// Rows of memory are columns of the tile.
pub const COLUMNS: Order = &[0, 1];
/// [`ROWS`] of one matrix after the other.
pub const BATCHED_ROWS: Order = &[2, 1, 0];
/// [`COLUMNS`] of one matrix after the other.
pub const BATCHED_COLUMNS: Order = &[1, 2, 0];

/// Bytes of shared memory that are left for scratch at least.
pub const RESERVE: u64 = 16 * 1024;

/// Bytes of what these loads load.
pub fn stage_bytes(m: &Module, loads: &[OpId]) -> u64 {
    let bytes = |&load: &OpId| tile_bytes(m, m.result(load));
    loads.iter().map(bytes).sum()
}

/// Bytes of a tile.
pub fn tile_bytes(m: &Module, tile: ValueId) -> u64 {
    let Some((elem, shape)) = m.types.as_tile(m.ty(tile)) else {
        return 0;
    };
    shape.iter().product::<u64>() * u64::from(m.types.width(elem)) / 8
}

/// Bytes of all stages of a buffer of shared memory; `None` of what is none.
pub fn buffer_bytes(m: &Module, buffer: ValueId) -> Option<u64> {
    let Type::SharedTile { stages, .. } = *m.types.get(m.ty(buffer)) else {
        return None;
    };
    Some(tile_bytes(m, buffer) * u64::from(stages))
}

/// Bytes of shared memory of the buffers that `ops` allocate.
pub fn allocated(m: &Module, ops: &[OpId]) -> u64 {
    let allocs = ops.iter().filter_map(|&o| AllocTensor::of(m.op(o)));
    allocs.filter_map(|v| buffer_bytes(m, v.result())).sum()
}

/// The widest swizzled layout of a tile whose dimensions lie in memory in `order`.
pub fn swizzled(
    m: &Module,
    tile: ValueId,
    order: &[usize],
) -> Result<(SharedLayout, Swizzle), LayoutError> {
    let (elem, extents) = m.types.as_tile(m.ty(tile)).unwrap_or((m.ty(tile), &[]));
    let shape = Shape::new(extents)?;
    let bits = m.types.width(elem);
    let inner = order
        .first()
        .and_then(|&d| extents.get(d))
        .copied()
        .unwrap_or(1);
    let swizzle = Swizzle::widest(inner * u64::from(bits) / 8);
    Ok((SharedLayout::strips(&shape, order, bits, swizzle)?, swizzle))
}

/// The type of a shared buffer of `stages` tiles.
pub fn shared_type(m: &mut Module, tile: ValueId, layout: &SharedLayout, stages: u32) -> TypeId {
    let (elem, shape) = match m.types.as_tile(m.ty(tile)) {
        Some((elem, shape)) => (elem, SmallVec::from_slice(shape)),
        None => (m.ty(tile), SmallVec::new()),
    };
    let layout = m.layouts.intern(layout.layout().clone());
    m.types.intern(Type::SharedTile {
        elem,
        shape,
        layout,
        stages,
    })
}

/// How the tile in `buffer` lies there.
pub fn layout_in(m: &Module, buffer: ValueId) -> Option<SharedLayout> {
    let Type::SharedTile { elem, layout, .. } = *m.types.get(m.ty(buffer)) else {
        return None;
    };
    SharedLayout::new(m.layouts.get(layout).clone(), m.types.bits(elem)?).ok()
}

/// How one of `parts` of a dimension of the tile in `buffer` lies, if they lie one behind the other in its only stage.
pub fn part_of(m: &Module, buffer: ValueId, dim: usize, parts: u64) -> Option<SharedLayout> {
    let Type::SharedTile { stages: 1, .. } = *m.types.get(m.ty(buffer)) else {
        return None;
    };
    layout_in(m, buffer)?.part(dim, parts)
}

/// The order of a load's tile dimensions in memory.
pub fn memory_order(m: &Module, facts: &FactMap, op: OpId) -> Vec<usize> {
    let data = m.op(op);
    match (Access::of(data), access::pointers(data)) {
        (Some(access), _) => access.order(facts),
        (None, Some(pointers)) => {
            let rank = m.types.as_tile(m.ty(pointers)).map_or(0, |t| t.1.len());
            let run = Run::of(m, facts, pointers);
            run.map_or_else(|| (0..rank).rev().collect(), |r| r.order(rank))
        }
        (None, None) => Vec::new(),
    }
}
