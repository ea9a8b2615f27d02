//! Which values' facts an e-graph asks for: it finds those of pure operations by itself.

use rustc_hash::FxHashSet;

use crate::dialect::Traits;
use crate::ir::{BlockId, Module, Op, OpId, ValueId};

/// The values that facts of what loops and branches carry may depend on.
pub(super) struct Asked(FxHashSet<ValueId>);

impl Asked {
    /// Those inside `func`.
    pub(super) fn inside(module: &Module, func: OpId) -> Asked {
        let mut asked = Asked(FxHashSet::default());
        asked.regions(module, module.op(func));
        asked
    }

    /// Whether facts of an operation's results are asked for: by what depends on them, or by the e-graph, to which
    /// results of effects, and of operations of several results, are nothing that it could compute.
    pub(super) fn has(&self, op: &Op) -> bool {
        let def = op.def();
        !(def.is_pure() && def.has_one_result()) || op.results.iter().any(|v| self.0.contains(v))
    }

    fn regions(&mut self, module: &Module, op: &Op) {
        for &region in &op.regions {
            for &block in module.region(region).blocks.iter().rev() {
                self.block(module, block);
            }
        }
    }

    /// Operations stand behind those that they read, so that one walk from the end is enough.
    fn block(&mut self, module: &Module, block: BlockId) {
        for &id in module.block(block).ops.iter().rev() {
            let op = module.op(id);
            let def = op.def();
            self.regions(module, op);
            let carries = !op.regions.is_empty() || def.traits.has(Traits::TERMINATOR);
            // What an effect results in does not depend on what it reads.
            if carries || def.is_pure() && self.has(op) {
                self.0.extend(&op.operands);
            }
        }
    }
}
