//! What the schedule computes in front of something slow is not left for behind it.
//!
//! Rules put what is pure where it is first used. Where `nv_tileas` has a sum in front of a reduction, a loop or a branch,
//! and its first use behind, its operands would take their registers all that time; the schedule has seen to it that the
//! sum takes fewer.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Lower;
use crate::dialect::nvvm::Op as N;
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Diagnostic, Module, OpId, Type, ValueId};
use crate::lower::tileas::look::{ancestor_in, blocks_of, is_view};

/// The operations under `body` that compute tiles whose first use stands behind something slow. None beside matmuls: their
/// schedules say themselves what is computed when.
pub fn early(m: &Module, body: BlockId) -> FxHashSet<OpId> {
    let ops = m.ops_under(body);
    let mut found = FxHashSet::default();
    if ops.iter().any(|&o| Matmul::of(m.op(o)).is_some()) {
        return found;
    }
    let known = known(m, &ops);
    for block in blocks_of(m, ops) {
        let ops = &m.block(block).ops;
        // How many slow operations stand in front of each.
        let mut slow = 0;
        let mut before = FxHashMap::default();
        for &op in ops {
            before.insert(op, slow);
            slow += usize::from(!m.op(op).regions.is_empty());
        }
        for &op in ops {
            let Some(&in_front) = before.get(&op).filter(|&&n| n < slow) else {
                break;
            };
            let tiles = || m.op(op).results.iter().copied();
            let kept = |v: ValueId| matches!(m.types.get(m.ty(v)), Type::Distributed { .. });
            let computes = m.op(op).only_computes() && !is_view(m, op);
            if !computes || !tiles().all(|v| kept(v) && !known.contains(&v)) {
                continue;
            }
            let users = tiles().flat_map(|v| users(m, v));
            let users = users.filter_map(|user| before.get(&ancestor_in(m, body, block, user)?));
            if users.min().is_some_and(|&n| n > in_front) {
                found.insert(op);
            }
        }
    }
    found
}

/// What uses a value, changes of shape apart.
fn users(m: &Module, value: ValueId) -> Vec<OpId> {
    let mut work = vec![value];
    let mut found = Vec::new();
    while let Some(value) = work.pop() {
        for user in m.users(value) {
            match is_view(m, user) {
                true => work.extend(&m.op(user).results),
                false => found.push(user),
            }
        }
    }
    found
}

/// The tiles that are computed of constants, numbers of elements and scalars: they are made where they are used.
fn known(m: &Module, ops: &[OpId]) -> FxHashSet<ValueId> {
    let mut known = FxHashSet::default();
    for &op in ops {
        let scalar = |v: &ValueId| matches!(m.types.get(m.ty(*v)), Type::Tile { .. });
        let operands = &m.op(op).operands;
        if m.op(op).only_computes() && operands.iter().all(|v| scalar(v) || known.contains(v)) {
            known.extend(&m.op(op).results);
        }
    }
    known
}

impl Lower<'_> {
    /// Has what `op` made computed here.
    pub(super) fn settle(&mut self, op: OpId) -> Result<(), Diagnostic> {
        for result in self.m.op(op).results.clone() {
            let value = self.get(op, result)?;
            self.emit().op(N::Settle, &[&[value]], [], &[]);
        }
        Ok(())
    }
}
