//! What one matmul has added up and another one adds to stays in one buffer.
//!
//! ```text
//! async.tensor_dot a, b, x               async.tensor_dot a, b, x
//! t = tensor_load x              →
//! tensor_store t, y
//! async.tensor_dot c, d, y               async.tensor_dot c, d, x
//! ```
//! Latent attention's scores are such a sum, and so is an accumulator of two loops, one behind the other. What the second
//! buffer held before is not needed while the first one is in use, for all of it is written then.

use super::columns::{self, Held};
use crate::dialect::nv_tileas::{Op as S, view};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::layout::tensor::COLUMNS;
use crate::lower::tileas::look::ancestor_in;

/// A tile's way from one buffer to another.
struct Handed {
    load: OpId,
    store: OpId,
    from: ValueId,
    to: ValueId,
}

/// Makes the buffers under `body` one that are handed on, as far as nothing else needs their columns.
pub fn join(m: &mut Module, body: BlockId, held: &mut [Held]) {
    for store in m.ops_under(body) {
        let Some(handed) = Handed::of(m, store) else {
            continue;
        };
        let joined = handed.joined(held);
        let free = handed.is_apart(m, body) && handed.is_undisturbed(m, &joined);
        if free && columns::needed(m, &joined) <= COLUMNS {
            held.copy_from_slice(&joined);
            handed.apply(m);
        }
    }
}

impl Handed {
    fn of(m: &Module, store: OpId) -> Option<Handed> {
        let stored = view::TensorStore::of(m.op(store))?;
        let (tile, to) = (stored.tile(), stored.destination());
        let load = m.def_op(tile)?;
        let from = view::TensorLoad::of(m.op(load))?.source();
        let alone = m.users(tile) == [store] && m.op(load).block == m.op(store).block;
        (alone && from != to && m.ty(from) == m.ty(to)).then_some(Handed {
            load,
            store,
            from,
            to,
        })
    }

    /// The buffers if these two are one.
    fn joined(&self, held: &[Held]) -> Vec<Held> {
        let mut joined = held.to_vec();
        let second = joined.iter_mut().filter(|h| h.buffer == Some(self.to));
        second.for_each(|h| h.buffer = Some(self.from));
        joined
    }

    /// Whether the first buffer is used in the block alone, up to the load, and the second one not from there to the store.
    fn is_apart(&self, m: &Module, body: BlockId) -> bool {
        let block = m.op(self.store).block;
        let at = |op: OpId| {
            let op = ancestor_in(m, body, block, op)?;
            m.block(block).ops.iter().position(|&o| o == op)
        };
        let (Some(load), Some(store)) = (at(self.load), at(self.store)) else {
            return false;
        };
        let first: Option<Vec<usize>> = m.users(self.from).into_iter().map(at).collect();
        let Some(first) = first.filter(|uses| uses.iter().all(|&p| p <= load)) else {
            return false;
        };
        let start = first.into_iter().min().unwrap_or(load);
        let second = m.users(self.to).into_iter().filter(|&o| o != self.store);
        let mut second = second.filter_map(at);
        second.all(|p| p < start || p > store)
    }

    /// Whether nothing between the two may write to columns that are free there.
    fn is_undisturbed(&self, m: &Module, joined: &[Held]) -> bool {
        let ops = m.block(m.op(self.store).block).ops.iter();
        let between = ops.skip_while(|&&o| o != self.load).skip(1);
        let mut between = between.take_while(|&&o| o != self.store);
        between.all(|&op| match view::View::of(m.op(op)) {
            Some(view::View::TensorStore(v)) => {
                columns::meet(m, joined, self.from, v.destination())
            }
            Some(view::View::TensorDot(_)) => false,
            _ => m.op(op).regions.is_empty() || m.op(op).def().is_pure(),
        })
    }

    fn apply(self, m: &mut Module) {
        m.erase(self.store);
        m.erase(self.load);
        let alloc = m.def_op(self.to);
        m.replace_all_uses(self.to, self.from);
        if let Some(alloc) = alloc.filter(|&a| S::of(m.op(a).kind) == Some(S::AllocTensorMemory)) {
            m.erase(alloc);
        }
    }
}
