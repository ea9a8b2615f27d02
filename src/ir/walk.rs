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

    /// The operations in the regions of `op`, parents before children, in order.
    pub fn ops_inside(&self, op: OpId) -> Vec<OpId> {
        let regions = self.op(op).regions.iter();
        let blocks = regions.flat_map(|&region| &self.region(region).blocks);
        blocks.flat_map(|&block| self.ops_under(block)).collect()
    }

    /// How many values are defined under `op`.
    pub fn values_under(&self, op: OpId) -> usize {
        let regions = self.op(op).regions.iter();
        let blocks = regions.flat_map(|&region| &self.region(region).blocks);
        let defined = blocks.map(|&block| {
            let block = self.block(block);
            let ops = block.ops.iter();
            let inside = ops.map(|&op| self.op(op).results.len() + self.values_under(op));
            block.args.len() + inside.sum::<usize>()
        });
        defined.sum()
    }
}
