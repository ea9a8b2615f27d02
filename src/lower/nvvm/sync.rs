//! Barriers, dependent grids, fences.

use super::Lower;
use crate::dialect::enums::{FenceKind, Ordering, Scope, Space};
use crate::dialect::nvvm::{Op as N, view};
use crate::facts::access::{self, operand};
use crate::ir::{Diagnostic, Op, OpId, ValueId};
use crate::lower::tokens;
use crate::target::Feature;
use rustc_hash::FxHashSet;

/// The orderings of an access that others wait for.
const RELEASES: [Ordering; 2] = [Ordering::Release, Ordering::AcqRel];
/// The orderings of an access that waits for others.
const ACQUIRES: [Ordering; 2] = [Ordering::Acquire, Ordering::AcqRel];

impl Lower<'_> {
    /// A barrier of the warps of this role.
    pub fn barrier(&mut self) {
        let role = self.role;
        let threads = if role.partial {
            role.warps as i64 * 32
        } else {
            0
        };
        let mut e = self.emit();
        let attrs = [e.i32_attr(i64::from(role.barrier)), e.i32_attr(threads)];
        e.op(N::Bar, &[], attrs, &[]);
    }

    /// A barrier of the threads of each warp.
    pub(super) fn warp_barrier(&mut self) {
        self.emit().effect(N::BarWarp, &[], []);
    }

    /// Drops a barrier of this role that was emitted last: another one follows, with nothing between them that threads
    /// would have to wait for.
    pub(super) fn drop_barrier(&mut self) {
        let last = self.m.block(self.block_at_hand()).ops.last().copied();
        let own = i64::from(self.role.barrier);
        let is_own = |&op: &OpId| view::Bar::of(self.m.op(op)).is_some_and(|b| b.id() == own);
        if let Some(barrier) = last.filter(is_own) {
            self.m.erase(barrier);
        }
    }

    /// Takes out what was emitted last and can be done later as well: computations and loads from global memory, but for what
    /// `value` is computed of, in order. A barrier before which only such operations stand goes in front of them: it is one
    /// that guards scratch, and who needs one between these loads and what follows asks for it.
    pub(super) fn take_out(&mut self, value: ValueId) -> Vec<OpId> {
        let block = self.block_at_hand();
        let mut ops = std::mem::take(&mut self.m.block_mut(block).ops);
        let m = &*self.m;
        let barrier = ops.pop_if(|op| view::Bar::of(m.op(*op)).is_some());
        let global =
            |l: view::Ld<'_, Op>| l.order() == Ordering::Weak && l.space() == Space::Global;
        let can_wait = |&&op: &&OpId| {
            let data = m.op(op);
            data.only_computes() || view::Ld::of(data).is_some_and(global)
        };
        let waiting = ops.iter().rev().take_while(can_wait).count();
        let last = ops.split_off(ops.len() - waiting);
        ops.extend(barrier);
        let mut needed: FxHashSet<ValueId> = [value].into_iter().collect();
        let (mut now, mut later) = (Vec::new(), Vec::new());
        for op in last.into_iter().rev() {
            let data = m.op(op);
            if data.results.iter().any(|r| needed.contains(r)) {
                needed.extend(&data.operands);
                now.push(op);
            } else {
                later.push(op);
            }
        }
        ops.extend(now.into_iter().rev());
        later.reverse();
        self.m.block_mut(block).ops = ops;
        later
    }

    /// Emits what was taken out.
    pub(super) fn put_back(&mut self, ops: Vec<OpId>) {
        let block = self.block_at_hand();
        self.m.block_mut(block).ops.extend(ops);
    }

    /// Whether an access is ordered with those of other blocks.
    pub(super) fn is_strong(&self, data: &Op) -> bool {
        access::ordering(data) != Ordering::Weak
    }

    /// A barrier where other threads' earlier accesses must be done: where the token says so, and
    /// where this access releases what the whole block has written.
    pub(super) fn before_access(&mut self, op: OpId, data: &Op) {
        let writes = data.results.len() == 1;
        let token = operand(data, "token");
        let conflicts = token.is_some_and(|t| tokens::conflicts(self.m, op, t, writes));
        let releases = RELEASES.contains(&access::ordering(data));
        if conflicts || releases {
            self.barrier();
        }
    }

    /// A barrier where what this access has acquired is for the whole block.
    pub(super) fn after_access(&mut self, data: &Op) {
        if ACQUIRES.contains(&access::ordering(data)) {
            self.barrier();
        }
    }

    /// What `access` emits for the atomic operation `data` on `count` elements of each thread, given their ordering. Where
    /// several are ordered with other accesses, fences order all of them, which are relaxed then: ordered one by one, each
    /// would wait for all that the thread has written.
    pub(super) fn ordered<T>(
        &mut self,
        data: &Op,
        count: usize,
        access: impl FnOnce(&mut Self, Ordering) -> T,
    ) -> T {
        let order = access::ordering(data);
        let [releases, acquires] = [RELEASES, ACQUIRES].map(|o| o.contains(&order));
        if count < 2 || !releases && !acquires {
            return access(self, order);
        }
        let fence = match access::scope(data).unwrap_or(Scope::Device) {
            Scope::Block => FenceKind::Block,
            Scope::Device => FenceKind::Gpu,
            Scope::Sys => FenceKind::Sys,
        };
        if releases {
            self.fence(fence);
        }
        let made = access(self, Ordering::Relaxed);
        if acquires {
            self.fence(fence);
        }
        made
    }

    /// `griddepcontrol`; targets without it start no grid early, so there is nothing to wait for.
    pub(super) fn grid_dependency(&mut self, kind: N) -> Result<(), Diagnostic> {
        if self.target.sm >= 90 {
            if kind == N::GridDepLaunch {
                // What the block has written until now must be there for the others.
                self.barrier();
            }
            self.emit().effect(kind, &[], []);
        }
        Ok(())
    }

    /// Accesses before it are seen by accesses after it, of all threads, by whatever path.
    pub(super) fn alias_fence(&mut self) -> Result<(), Diagnostic> {
        self.fence(FenceKind::Block);
        if self.target.has(Feature::Tma) {
            self.fence(FenceKind::ProxyAsyncShared);
        }
        self.barrier();
        Ok(())
    }
}
