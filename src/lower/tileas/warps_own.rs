//! Operands of warps' matmuls that each warp loads for itself.
//!
//! A left operand's rows belong to one warp each. Where that warp also loads them, in runs as wide as memory has them, the
//! tile becomes fragments by a trip that no other warp takes part in: nothing waits for all warps, once for each part
//! that scratch memory has room for, and what a part frees is free at once.

use super::fragments::mma_of;
use super::look::is_view;
use super::relation::{Relation, canonical};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::matmul::Matmul;
use crate::ir::{Module, OpId, ValueId};
use crate::layout::Layout;

/// Fewest lanes that load what is contiguous in memory: 64 bytes, two sectors, in runs of 16.
const LANES: u64 = 4;

/// The layout of a tile that is loaded for a matmul alone: its fragments with as long runs as in the `usual` layout, by
/// `order` of its dimensions. None where warps share what they multiply, or where the runs would be further apart.
pub fn layout(
    m: &Module,
    tile: ValueId,
    order: &[usize],
    usual: &Layout,
    warps: u64,
) -> Option<Layout> {
    let (dot, views) = only_matmul(m, tile)?;
    let matmul = Matmul::of(m.op(dot))?;
    let shown = views.last().map_or(tile, |&v| m.result(v));
    let mma = mma_of(m, dot, warps)?;
    let fragments = match [matmul.lhs == shown, matmul.rhs == shown] {
        [true, false] => mma.a(),
        [false, true] => mma.b(),
        _ => return None,
    };
    let mut fragments = canonical(&fragments.ok()?);
    for &view in views.iter().rev() {
        let source = m.source(view);
        fragments = Relation::of(m, view)?
            .source_of(m, source, &fragments)
            .ok()??;
    }
    let run = usual.contiguous_per_thread(order).ok()?;
    let own = fragments.with_runs(order, run)?;
    let beside = own.neighbours(order, run).ok()?;
    (own.registers() <= usual.registers() && beside >= LANES).then_some(own)
}

/// The matmul that alone uses a tile, and the changes of shape in between.
fn only_matmul(m: &Module, mut tile: ValueId) -> Option<(OpId, Vec<OpId>)> {
    let mut views = Vec::new();
    loop {
        let &[user] = m.users(tile).as_slice() else {
            return None;
        };
        if S::of(m.op(user).kind) == Some(S::Dot) {
            return Some((user, views));
        }
        if !is_view(m, user) {
            return None;
        }
        views.push(user);
        tile = m.result(user);
    }
}
