//! Chains of matmuls, each of which adds to what the one before it has summed up.
//!
//! ```text
//! for … acc {
//!   x = dot a, b, acc
//!   y = dot c, d, x
//!   continue y
//! }
//! ```
//! A sum of products of parts is one, three of tf32 for one of f32, say. Such matmuls have one accumulator: it goes to its
//! buffer in front of the first and is read behind the last. Left operands that are computed go to tensor memory in front of
//! the first one, too, where there are columns for all of them: the matmuls follow one another, and are waited for once.

use super::columns::Held;
use super::fits::Extents;
use super::{Convert, holds_matmul, is_issued};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::matmul::Matmul;
use crate::ir::{Module, OpId, ValueId};
use crate::lower::tileas::look::{is_matmul, place};
use crate::target::Target;

/// A matmul of these extents and those that add to its result, which nothing else uses.
pub fn chain(m: &Module, (dot, extents): (OpId, Extents), target: &Target) -> Vec<(OpId, Extents)> {
    let mut chain = vec![(dot, extents)];
    let mut next = added_to(m, dot);
    while let Some(dot) = next
        && let Ok(more) = Extents::of(m, dot, target)
        && more.shares_accumulator(extents)
    {
        chain.push((dot, more));
        next = added_to(m, dot);
    }
    chain
}

/// The matmul of the same block that alone adds to the result of `dot`.
fn added_to(m: &Module, dot: OpId) -> Option<OpId> {
    let result = *m.op(dot).results.first()?;
    let &[user] = m.users(result).as_slice() else {
        return None;
    };
    let data = m.op(user);
    let uses = data.operands.iter().filter(|&&v| v == result).count();
    let adds = S::of(data.kind) == Some(S::Dot) && Matmul::known(data).acc == result;
    (adds && uses == 1 && data.block == m.op(dot).block).then_some(user)
}

impl Convert {
    /// The operation in front of the chain of `dot` before which its left operand can be stored, with what computes it moved
    /// there; `stored` is its buffer, which is in use from there on.
    pub(super) fn ahead(
        &mut self,
        m: &mut Module,
        dot: OpId,
        (tile, stored): (ValueId, Held),
        earlier: usize,
    ) -> Option<OpId> {
        let chain = self.placed.get(earlier..)?;
        let start = chain.first()?.acquire;
        let own: Vec<OpId> = chain.iter().map(|p| p.dot).collect();
        let ((block, from), (_, to)) = (place(m, start), place(m, dot));
        let multiplies = |&o: &OpId| {
            let others = is_issued(m, o) && !own.contains(&o);
            others || is_matmul(m, o) || holds_matmul(m, o)
        };
        if m.block(block).ops.get(from..to)?.iter().any(multiplies) {
            return None;
        }
        let computed = computed_behind(m, tile, start)?;
        let more = own.into_iter().map(|dot| Held { dot, ..stored });
        let more: Vec<Held> = more.collect();
        if !self.fits(m, &more) {
            return None;
        }
        self.held.extend(more);
        for op in computed {
            m.block_mut(block).ops.retain(|&o| o != op);
            let (_, at) = place(m, start);
            m.place(op, block, at);
        }
        Some(start)
    }
}

/// What computes `tile` behind `start` in its block, in order; nothing where that is not all that it does.
fn computed_behind(m: &Module, tile: ValueId, start: OpId) -> Option<Vec<OpId>> {
    let (block, from) = place(m, start);
    let mut found: Vec<(usize, OpId)> = Vec::new();
    let mut open = vec![tile];
    while let Some(value) = open.pop() {
        let Some(op) = m.def_op(value).filter(|&o| m.op(o).block == block) else {
            continue;
        };
        let (_, at) = place(m, op);
        if at < from || found.contains(&(at, op)) {
            continue;
        }
        if !m.op(op).only_computes() {
            return None;
        }
        found.push((at, op));
        open.extend(&m.op(op).operands);
    }
    found.sort_unstable();
    Some(found.into_iter().map(|(_, op)| op).collect())
}
