//! An accumulator that is stored twice is loaded from tensor memory twice, where the second store waits for the first.
//!
//! ```text
//! t = tensor_load acc                 t = tensor_load acc
//! local_store (f16 t), s              local_store (f16 t), s
//! copy s; wait                   →    copy s; wait
//! local_store (i8 t), s               t' = tensor_load acc
//! copy s; wait                        local_store (i8 t'), s
//!                                     copy s; wait
//! ```
//! Shared memory has room for one of the tiles at a time, and registers may have none for what both are computed from.
//! What is computed is computed for each, and loads that wait for nothing are done for each; then either is an
//! epilogue of its own, which can be worked on in parts.

use crate::dialect::nv_tileas::Op as S;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::tileas::look::{is_matmul, place, reach};
use crate::lower::tileas::pipeline::slice::{Map, copy_in_front};
use crate::lower::tileas::pipeline::tokens::loads_freely;
use crate::lower::tileas::reload::{load_again, may_load_again, token_of};
use rustc_hash::FxHashSet;

/// Gives each store under `body` that waits for another one what it stores of the accumulator that `load` loads.
pub fn loads(m: &mut Module, body: BlockId, load: OpId) {
    let (block, at) = place(m, load);
    let ops = m.block(block).ops.clone();
    let of_it = reach(m, &ops, m.result(load));
    let behind = ops.iter().skip(at + 1).copied();
    let behind: Vec<OpId> = behind.take_while(|&o| keeps_buffer(m, o)).collect();
    let mut earlier: FxHashSet<OpId> = ops.iter().take(at + 1).copied().collect();
    let mut stored = false;
    let waits = |&o: &OpId| S::of(m.op(o).kind) == Some(S::StoreWait);
    let between: Vec<&[OpId]> = behind.split_inclusive(waits).collect();
    for near in between {
        if stored {
            let again = Again {
                body,
                load,
                of_it: &of_it,
                earlier: &earlier,
            };
            again.loads(m, near);
        }
        let stores = |&o: &OpId| {
            S::of(m.op(o).kind) == Some(S::LocalStore)
                && m.op(o).operands.iter().any(|v| of_it.contains(v))
        };
        stored |= near.iter().any(stores);
        earlier.extend(near);
    }
    for op in behind.into_iter().rev() {
        let unused = m.op(op).only_computes() && !m.op(op).results.iter().any(|&r| m.is_used(r));
        if unused {
            m.erase(op);
        }
    }
}

/// Whether what is in tensor memory is there behind an operation as it was in front of it.
fn keeps_buffer(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    let elsewhere = matches!(
        S::of(data.kind),
        Some(
            S::TiledLoad
                | S::Load
                | S::TiledStore
                | S::Store
                | S::AllocTensor
                | S::LocalStore
                | S::ProxyFence
                | S::TmaStore
                | S::StoreWait
        )
    );
    elsewhere || data.only_computes() && !is_matmul(m, op)
}

/// What is made again.
struct Again<'a> {
    body: BlockId,
    load: OpId,
    /// What is computed from the accumulator.
    of_it: &'a FxHashSet<ValueId>,
    /// What stands in front of where it is made again.
    earlier: &'a FxHashSet<OpId>,
}

impl Again<'_> {
    /// Makes what `near` use of the accumulator in front of them.
    fn loads(&self, m: &mut Module, near: &[OpId]) {
        let uses = |op: OpId| {
            let operands = m.op(op).operands.iter();
            let known = operands.filter(|v| self.of_it.contains(v) && self.is_earlier(m, **v));
            known.copied().collect::<Vec<_>>()
        };
        let wanted: Vec<ValueId> = near.iter().flat_map(|&o| uses(o)).collect();
        let Some(&first) = near.iter().find(|&&o| !uses(o).is_empty()) else {
            return;
        };
        let mut map = Map::default();
        wanted
            .into_iter()
            .for_each(|v| self.make(m, v, first, &mut map));
        near.iter().for_each(|&op| m.replace_operands(op, &map));
    }

    fn is_earlier(&self, m: &Module, value: ValueId) -> bool {
        m.def_op(value).is_some_and(|op| self.earlier.contains(&op))
    }

    /// Makes a value in front of `user`, unless it takes something that is done once.
    fn make(&self, m: &mut Module, value: ValueId, user: OpId, map: &mut Map) {
        let Some(op) = m.def_op(value).filter(|o| self.earlier.contains(o)) else {
            return;
        };
        if map.contains_key(&value) {
            return;
        }
        if op == self.load {
            copy_in_front(m, op, user, map);
        } else if loads_freely(m, op) {
            if may_load_again(m, self.body, op, user) {
                load_again(m, op, token_of(m, op), user, map);
            }
        } else if m.op(op).only_computes() && !is_matmul(m, op) {
            let operands = m.op(op).operands.clone();
            for &operand in &operands {
                self.make(m, operand, user, map);
            }
            if operands.iter().any(|v| map.contains_key(v)) {
                copy_in_front(m, op, user, map);
            }
        }
    }
}
