//! Traversals.

use super::{BlockId, Module, OpId};

impl Module {
    /// Every operation under `block`, parents before children, in order.
    pub fn walk(&self, block: BlockId, visit: &mut impl FnMut(OpId)) {
        for &op in &self.block(block).ops {
            visit(op);
            for &region in &self.op(op).regions {
                for &inner in &self.region(region).blocks {
                    self.walk(inner, visit);
                }
            }
        }
    }

    /// The operations of [`Module::walk`] as a list.
    pub fn ops_under(&self, block: BlockId) -> Vec<OpId> {
        let mut ops = Vec::with_capacity(self.block(block).ops.len());
        self.walk(block, &mut |op| ops.push(op));
        ops
    }
}
