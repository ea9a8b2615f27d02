//! Tiles that are reduced to one number are reduced at once.
//!
//! ```text
//! r = reduce max t, dim 1 : 256x128 → 256          f = reshape t : 256x128 → 32768
//! m = reduce max r, dim 0 : 256 → 1         →      m = reduce max f, dim 0 : 32768 → 1
//! ```
//! A thread combines all of its elements first, so that lanes and warps exchange one number each instead of one for each
//! row that they share. The layout says which elements a thread has: the reshape moves nothing.

use super::relation::{at, distributed, layout_of};
use super::rows_first;
use crate::dialect::cuda_tile::Op as C;
use crate::ir::{Attr, BlockId, Diagnostic, Module, OpId};
use crate::layout::Shape;
use crate::lower::tileas::look::place;
use rustc_hash::FxHashSet;

/// Joins every such chain of reductions under `body`, whose layouts are assigned.
pub fn reduce(m: &mut Module, body: BlockId) -> Result<(), Diagnostic> {
    let mut taken = FxHashSet::default();
    let mut chains = Vec::new();
    for op in m.ops_under(body) {
        let here = |o: &OpId| m.op(*o).block == m.op(op).block;
        if !taken.contains(&op)
            && let Some(chain) = rows_first::chain(m, op, |_| true).filter(|c| c.iter().all(here))
        {
            taken.extend(chain.iter().copied());
            chains.push(chain);
        }
    }
    chains.iter().try_for_each(|chain| join(m, chain))
}

/// Makes one reduction of a chain's first one.
fn join(m: &mut Module, chain: &[OpId]) -> Result<(), Diagnostic> {
    let &[first, .., last] = chain else {
        return Ok(());
    };
    let tile = m.source(first);
    let (Some(layout), Some((_, extents))) = (layout_of(m, tile), m.types.as_tile(m.ty(tile)))
    else {
        return Ok(());
    };
    let elements = extents.iter().product();
    let flat = Shape::new(&[elements]).and_then(|shape| m.layouts.get(layout).reshape(&shape));
    let flat = at(m, first, flat)?;
    let layout = m.layouts.intern(flat);
    let elem = m.types.elem(m.ty(tile));
    let ty = m.types.tile(elem, &[elements]);
    let ty = distributed(m, ty, layout);
    let (block, position) = place(m, first);
    let mut b = m.at(block, position);
    b.loc = b.module.op(first).loc;
    let flat = b.value(C::Reshape, &[tile], [], ty);
    let number = m.ty(m.result(last));
    let dim = Attr::Int {
        value: 0,
        ty: m.types.int(32),
    };
    *m.attr_mut(first, "dim") = Some(dim);
    if let Some(slot) = m.op_mut(first).operands.first_mut() {
        *slot = flat;
    }
    let (result, old) = (m.result(first), m.result(last));
    m.value_mut(result).ty = number;
    m.replace_all_uses(old, result);
    for &op in chain.iter().skip(1).rev() {
        m.erase(op);
    }
    Ok(())
}
