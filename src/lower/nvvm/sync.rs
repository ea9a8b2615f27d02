//! Barriers, dependent grids, fences.

use super::Lower;
use crate::dialect::enums::{FenceKind, Ordering, Scope};
use crate::dialect::nvvm::{Op as N, view};
use crate::facts::access::{self, operand};
use crate::ir::{Diagnostic, Op, OpId};
use crate::lower::tokens;
use crate::target::Feature;

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
