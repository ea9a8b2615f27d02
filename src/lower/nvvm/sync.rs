//! Dependent grids, fences, assertions.

use super::Lower;
use crate::dialect::enums;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Diagnostic, Op, OpId};
use crate::lower::build::case;
use crate::lower::unsupported;
use crate::target::Feature;

impl Lower<'_> {
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
        let fence = [case(&enums::FENCE, "cta")];
        self.emit().effect(N::Fence, &[], fence);
        if self.target.has(Feature::Tma) {
            let proxy = [case(&enums::FENCE, "proxy_async_shared")];
            self.emit().effect(N::Fence, &[], proxy);
        }
        self.barrier();
        Ok(())
    }

    /// Every thread whose elements do not all hold says so and stops the grid.
    pub(super) fn assert(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let condition = self.get(op, data.operands[0])?;
        let message = match data.attr_named("message") {
            Some(Attr::Str(name)) => self.m.str(*name).to_owned(),
            _ => return Err(unsupported(self.m, op, "an assertion without a message")),
        };
        let mut e = self.emit();
        let n = e.count(condition);
        let mut all = e.take(condition, &[0]);
        for i in 1..n {
            let next = e.take(condition, &[i]);
            all = e.and(all, next);
        }
        let i1 = e.int(1);
        let yes = e.constant(1, i1);
        let failed = e.xor(all, yes);
        let text = format!("assertion failed: {}\n", message.replace('%', "%%"));
        self.when(failed, false, |l| {
            let name = l.m.intern(&text);
            let mut e = l.emit();
            e.op(N::Print, &[&[]], [Some(Attr::Str(name))], &[]);
            e.effect(N::Trap, &[], []);
            Ok(())
        })
    }
}
