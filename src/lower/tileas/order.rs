//! The order of a block's operations.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{BlockId, Module, OpId};

/// Puts the operations `moved` of `block` in front of those under which they stand in `before`, from which they are taken.
pub fn move_before(
    m: &mut Module,
    block: BlockId,
    moved: &FxHashSet<OpId>,
    before: &mut FxHashMap<OpId, Vec<OpId>>,
) {
    let ops = std::mem::take(&mut m.block_mut(block).ops);
    let mut placed = Vec::with_capacity(ops.len());
    for op in ops.into_iter().filter(|o| !moved.contains(o)) {
        placed.extend(before.remove(&op).unwrap_or_default());
        placed.push(op);
    }
    m.block_mut(block).ops = placed;
}
