//! Loads of which [`super::deep`] takes a part along K.

use super::strips::cut::is_weak_load;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access::Access;
use crate::ir::{Module, OpId, ValueId};

/// The load of a tile that only `user` uses, if the loaded place can be moved along each dimension.
pub fn loaded(m: &Module, user: OpId, tile: ValueId) -> Option<OpId> {
    let load = m.def_op(tile)?;
    let access = Access::of(m.op(load))?;
    let [_, token] = m.op(load).results.as_slice() else {
        return None;
    };
    let plain = S::of(m.op(load).kind) == Some(S::TiledLoad)
        && is_weak_load(m, load)
        && access.sparse.is_none()
        && m.users(tile) == [user]
        && m.users(*token).is_empty();
    plain.then_some(load)
}

/// Makes the tile that `op` makes `length` elements long in dimension `dim`.
pub fn set_length(m: &mut Module, op: OpId, dim: usize, length: u64) {
    let tile = m.result(op);
    let Some((elem, shape)) = m.types.as_tile(m.ty(tile)) else {
        return;
    };
    let mut shape = shape.to_vec();
    if let Some(extent) = shape.get_mut(dim) {
        *extent = length;
    }
    let ty = m.types.tile(elem, &shape);
    m.value_mut(tile).ty = ty;
}
