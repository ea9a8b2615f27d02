//! Branches between a loop's body and its loads: a persistent loop works on a row only where there is one left.

use crate::dialect::cuda_tile::view as tile;
use crate::ir::{BlockId, Module, OpId, ValueId};

/// A block that runs, in an iteration, where a condition holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    pub block: BlockId,
    /// The block that the branch stands in.
    pub around: BlockId,
    pub condition: ValueId,
}

/// The branches from `body` to `block`, the outermost first: none for the body itself. `None` where another operation
/// stands between them, or a branch takes its other side.
pub fn guards(m: &Module, body: BlockId, mut block: BlockId) -> Option<Vec<Guard>> {
    let mut found = Vec::new();
    while block != body {
        let branch = m.parent_of_block(block)?;
        let condition = tile::If::of(m.op(branch))?.condition();
        if m.body_of(branch, 0) != Some(block) {
            return None;
        }
        let around = m.op(branch).block;
        found.push(Guard {
            block,
            around,
            condition,
        });
        block = around;
    }
    found.reverse();
    Some(found)
}

/// The guards of `loads`, each once, none before one around it.
pub fn of_loads(m: &Module, body: BlockId, loads: &[OpId]) -> Vec<Guard> {
    let mut found: Vec<Guard> = Vec::new();
    for &load in loads {
        for guard in guards(m, body, m.op(load).block).unwrap_or_default() {
            if !found.contains(&guard) {
                found.push(guard);
            }
        }
    }
    found
}
