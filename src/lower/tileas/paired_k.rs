//! Matmuls of 32-bit elements by warpgroups whose left operand lies in registers as 16-bit elements or results do.
//!
//! A fragment of 32-bit elements has columns t and t + 4 of each eight in a thread; fragments of 16-bit elements, what
//! `ldmatrix` reads of them, and accumulators have columns 2t and 2t + 1. Sums over K may be taken in any order: with
//! the columns of the left operand and the rows of the right one, which is stored to a buffer anyway, renumbered alike,
//! the one is the other, and nothing moves between threads.

use super::look::{behind, place};
use super::made::Made;
use super::operands::Source;
use crate::dialect::cuda_tile::Op as C;
use crate::facts::matmul::{Matmul, Side};
use crate::ir::{Attr, BlockId, Module, OpBuilder, OpId, ValueId};
use rustc_hash::FxHashMap;

/// Operands that are renumbered already, for matmuls that share them.
#[derive(Default)]
pub struct Renumbered {
    /// Of left operands the columns, in a block: matmuls are met in the order in which they stand there.
    left: FxHashMap<(BlockId, ValueId), ValueId>,
    /// Of right operands the rows.
    right: FxHashMap<ValueId, ValueId>,
}

/// Whether the operands of a matmul that reads them from `lhs` and `rhs` should be renumbered.
pub fn is_wanted(m: &Module, dot: OpId, lhs: &Source, rhs: &Source) -> bool {
    let Matmul { lhs: left, .. } = Matmul::known(m.op(dot));
    let places = matches!((lhs, rhs), (Source::Registers, Source::Stored(_)));
    let two = m.types.as_tile(m.ty(left)).is_some_and(|t| t.1.len() == 2);
    let wide = |made: Made| !made.reads(m, 16);
    places && two && m.types.bits(m.ty(left)) == Some(32) && !Made::of(m, left).is_some_and(wide)
}

/// Renumbers K of the operands of `dot`.
pub fn renumber(m: &mut Module, dot: OpId, done: &mut Renumbered) {
    let Matmul { lhs, rhs, .. } = Matmul::known(m.op(dot));
    let (block, at) = place(m, dot);
    let left = done.left.entry((block, lhs));
    let left = *left.or_insert_with(|| split(&mut m.at(block, at), lhs, 1));
    let right = *done.right.entry(rhs).or_insert_with(|| {
        // Where the tile is known, so that it is stored there.
        let (block, at) = behind(m, rhs);
        split(&mut m.at(block, at), rhs, 0)
    });
    // By their sides: both may be the same tile, and so may the tile that is added to.
    m.set_operand(dot, Side::Left.name(), left);
    m.set_operand(dot, Side::Right.name(), right);
}

/// `tile` with each eight elements along `dim` in the order 0, 2, 4, 6, 1, 3, 5, 7.
fn split(b: &mut OpBuilder<'_>, tile: ValueId, dim: usize) -> ValueId {
    let ty = b.module.ty(tile);
    let elem = b.module.types.elem(ty);
    let mut shape = b
        .module
        .types
        .as_tile(ty)
        .map_or(Vec::new(), |t| t.1.to_vec());
    let eights = shape.get(dim).map_or(1, |n| n / 8);
    shape.splice(dim..=dim, [eights, 4, 2]);
    let apart = b.module.types.tile(elem, &shape);
    let apart = b.value(C::Reshape, &[tile], [], apart);
    shape.swap(dim + 1, dim + 2);
    let mut order: Vec<i32> = (0..shape.len() as i32).collect();
    order.swap(dim + 1, dim + 2);
    let turned = b.module.types.tile(elem, &shape);
    let turned = b.value(C::Permute, &[apart], [Some(Attr::I32s(order))], turned);
    b.value(C::Reshape, &[turned], [], ty)
}
