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
        let mut ops = Vec::new();
        self.list(block, &mut ops);
        ops
    }

    fn list(&self, block: BlockId, ops: &mut Vec<OpId>) {
        let own = &self.block(block).ops;
        ops.reserve(own.len());
        for &op in own {
            ops.push(op);
            for &region in &self.op(op).regions {
                for &inner in &self.region(region).blocks {
                    self.list(inner, ops);
                }
            }
        }
    }
}
