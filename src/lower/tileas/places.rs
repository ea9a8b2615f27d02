//! Where the elements of a tile lie in its tensor: their numbers along a dimension, and which of them are inside.

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::{Overflow, Predicate};
use crate::facts::access::Access;
use crate::ir::{OpBuilder, ValueId};
use crate::lower::build::{cased, splat, times};
use crate::scalar::Signedness;

/// The numbers of the tensor's elements along dimension `dim` of a tile of `shape`, a tile of that one.
pub fn numbers(b: &mut OpBuilder<'_>, access: &Access, shape: &[u64], dim: usize) -> ValueId {
    let index = access.index[dim];
    if access.sparse == Some(dim) {
        return index;
    }
    let number = b.module.types.elem(b.module.ty(index));
    let line = b.module.types.tile(number, &shape[dim..=dim]);
    let step = access.traversal.get(dim).copied().unwrap_or(1);
    let origin = times(b, index, step);
    let origin = splat(b, origin, line);
    let place = b.value(C::Iota, &[], [], line);
    b.value(C::AddI, &[place, origin], [cased(Overflow::None)], line)
}

/// Which elements of a tile of `shape` with these `numbers` along `dim` are inside of the tensor: negative numbers are none.
/// `None` where all are known to be.
pub fn inside(
    b: &mut OpBuilder<'_>,
    access: &Access,
    shape: &[u64],
    dim: usize,
    numbers: ValueId,
) -> Option<ValueId> {
    let extent = access.extent(dim).filter(|_| !access.inbounds[dim])?;
    let line = b.module.ty(numbers);
    let extent = splat(b, extent, line);
    let i1 = b.module.types.int(1);
    let flags = b.module.types.tile(i1, &shape[dim..=dim]);
    let less = [cased(Predicate::LessThan), cased(Signedness::Unsigned)];
    let inside = b.value(C::CmpI, &[numbers, extent], less, flags);
    Some(along(b, shape, dim, inside))
}

/// A tile of one dimension as dimension `dim` of a tile of `shape`, repeated along the others.
pub fn along(b: &mut OpBuilder<'_>, shape: &[u64], dim: usize, line: ValueId) -> ValueId {
    let elem = b.module.types.elem(b.module.ty(line));
    let mut alone = vec![1; shape.len()];
    alone[dim] = shape[dim];
    let alone = b.module.types.tile(elem, &alone);
    let whole = b.module.types.tile(elem, shape);
    let line = b.value(C::Reshape, &[line], [], alone);
    b.value(C::Broadcast, &[line], [], whole)
}

/// `first`, if there is one, and `second`, combined by `kind`.
pub fn and(b: &mut OpBuilder<'_>, first: Option<ValueId>, second: ValueId) -> ValueId {
    let ty = b.module.ty(second);
    first.map_or(second, |first| b.value(C::AndI, &[first, second], [], ty))
}
