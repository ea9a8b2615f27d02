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

/// Operations of a block, each to be put in front of another one.
#[derive(Default)]
pub struct Moves {
    moved: FxHashSet<OpId>,
    before: FxHashMap<OpId, Vec<OpId>>,
}

impl Moves {
    /// Notes that `ops`, as far as they have not been noted before, go in front of `front`, in this order.
    pub fn add(&mut self, front: OpId, ops: impl IntoIterator<Item = OpId>) {
        let place = self.before.entry(front).or_default();
        place.extend(ops.into_iter().filter(|&o| self.moved.insert(o)));
    }

    /// Moves them.
    pub fn apply(mut self, m: &mut Module, block: BlockId) {
        move_before(m, block, &self.moved, &mut self.before);
    }
}
