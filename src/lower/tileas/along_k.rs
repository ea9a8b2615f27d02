//! Operands of which [`super::deep`] takes a part along K.

use super::pipeline::ahead::forget_token;
use super::pipeline::slice::{Map, copy};
use super::pipeline::tokens::loads_freely;
use super::strips::cut::is_weak_load;
use super::strips::parts::begin_at_part;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access::Access;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::build::constant;

/// Where a matmul's operand comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A load, perhaps of a tile with more dimensions of one element, that nothing else uses.
    Loaded { load: OpId, shaped: Option<OpId> },
    /// Something else.
    Computed,
}

impl Source {
    /// That of the operand `tile` of `user`.
    pub fn of(m: &Module, user: OpId, tile: ValueId) -> Source {
        let loaded =
            |user, tile, shaped| loaded(m, user, tile).map(|load| Source::Loaded { load, shaped });
        let through = || {
            let op = m.def_op(tile).filter(|_| m.is_used_once(tile, user))?;
            drops_ones(m, op).then(|| loaded(op, m.source(op), Some(op)))?
        };
        let source = loaded(user, tile, None).or_else(through);
        source.unwrap_or(Source::Computed)
    }

    /// The load that brings it.
    pub fn load(self) -> Option<OpId> {
        match self {
            Source::Loaded { load, .. } => Some(load),
            Source::Computed => None,
        }
    }

    /// Appends to `block` what makes part number `part` (i32) of the operand `tile`, of `length` elements of dimension `dim`.
    pub fn part(
        self,
        m: &mut Module,
        block: BlockId,
        tile: ValueId,
        (dim, length): (usize, u64),
        part: ValueId,
    ) -> ValueId {
        let Source::Loaded { load, shaped } = self else {
            return extract(m, block, tile, (dim, length), part);
        };
        let mut map = Map::default();
        let at = match shaped {
            Some(_) => dimension(m, tile, dim, m.result(load)),
            None => dim,
        };
        let new = copy(m, load, block, &mut map);
        set_length(m, new, at, length);
        begin_at_part(m, new, at, length as i64, part);
        let Some(shaped) = shaped else {
            return m.result(new);
        };
        let shaped = copy(m, shaped, block, &mut map);
        set_length(m, shaped, dim, length);
        m.result(shaped)
    }

    /// Takes away what brought the whole operand, which nothing under `body` uses any more.
    pub fn erase(self, m: &mut Module, body: BlockId) {
        if let Source::Loaded { load, shaped } = self {
            if let Some(shaped) = shaped {
                m.erase(shaped);
            }
            forget_token(m, body, load);
            m.erase(load);
        }
    }
}

/// Part number `part` of a tile that is there as a whole.
fn extract(
    m: &mut Module,
    block: BlockId,
    tile: ValueId,
    (dim, length): (usize, u64),
    part: ValueId,
) -> ValueId {
    let Some((elem, shape)) = m.types.as_tile(m.ty(tile)) else {
        return tile;
    };
    let mut shape = shape.to_vec();
    if let Some(extent) = shape.get_mut(dim) {
        *extent = length;
    }
    let (ty, number) = (m.types.tile(elem, &shape), m.ty(part));
    let mut b = m.at_end(block);
    let zero = constant(&mut b, 0, number);
    let index: Vec<ValueId> = (0..shape.len())
        .map(|i| if i == dim { part } else { zero })
        .collect();
    let taken = b.op(C::Extract, &[&[tile], &index], [], &[ty], &[]);
    m.result(taken)
}

/// Whether an operation changes a tile's shape by dimensions of one element alone.
fn drops_ones(m: &Module, op: OpId) -> bool {
    let long = |v| {
        let shape = m.types.as_tile(m.ty(v)).map_or(&[][..], |t| t.1);
        shape.iter().copied().filter(|&e| e > 1).collect::<Vec<_>>()
    };
    C::of(m.op(op).kind) == Some(C::Reshape) && long(m.source(op)) == long(m.result(op))
}

/// The dimension of `wide` that is dimension `dim`, of more than one element, of `tile`, which lacks or has other dimensions
/// of one element.
fn dimension(m: &Module, tile: ValueId, dim: usize, wide: ValueId) -> usize {
    let shape = |v| m.types.as_tile(m.ty(v)).map_or(&[][..], |t| t.1);
    let before = shape(tile).iter().take(dim).filter(|&&e| e > 1).count();
    let long = shape(wide).iter().enumerate().filter(|(_, e)| **e > 1);
    long.map(|(i, _)| i).nth(before).unwrap_or(dim)
}

/// The load of a tile that only `user` uses, if the loaded place can be moved along each dimension.
fn loaded(m: &Module, user: OpId, tile: ValueId) -> Option<OpId> {
    let load = m.def_op(tile)?;
    let access = Access::of(m.op(load))?;
    let [_, token] = m.op(load).results.as_slice() else {
        return None;
    };
    let plain = S::of(m.op(load).kind) == Some(S::TiledLoad)
        && is_weak_load(m, load)
        && access.sparse.is_none()
        && m.is_used_once(tile, user)
        && (m.users(*token).is_empty() || loads_freely(m, load));
    plain.then_some(load)
}

/// Makes the tile that `op` makes `length` elements long in dimension `dim`.
fn set_length(m: &mut Module, op: OpId, dim: usize, length: u64) {
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
