//! Pipelines of `cp.async`: groups that each thread counts, and a barrier that joins the threads.

use super::{Iteration, Lower, Mechanism, Release};
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Diagnostic, Op, OpId};

/// A ring of `stages`, one group of copies in flight for each but the one that is read.
pub(super) struct Groups {
    stages: u64,
}

impl Groups {
    pub(super) fn new(v: &view::PipelineCreate<Op>) -> Self {
        Self {
            stages: v.stages() as u64,
        }
    }

    fn wait_for_all_but(l: &mut Lower, pending: i64) {
        let pending = l.emit().i32_attr(pending);
        l.emit().op(N::CpAsyncWait, &[], [pending], &[]);
    }
}

impl Mechanism for Groups {
    fn stages(&self) -> u64 {
        self.stages
    }

    /// The barrier of the last wait freed the stage.
    fn acquire(&self, _: &mut Lower, _: Iteration) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn commit(&self, l: &mut Lower, _: Iteration) -> Result<(), Diagnostic> {
        l.emit().op(N::CpAsyncCommit, &[], [], &[]);
        Ok(())
    }

    fn wait(&self, l: &mut Lower, _: Iteration) -> Result<(), Diagnostic> {
        Self::wait_for_all_but(l, self.stages as i64 - 2);
        l.barrier();
        Ok(())
    }

    /// The barrier of the next wait says so.
    fn release(&self, _: &mut Lower, _: Iteration, _: Release) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn drain(&self, l: &mut Lower) {
        Self::wait_for_all_but(l, 0);
    }
}

impl Lower<'_> {
    pub(in crate::lower::nvvm) fn tiled_copy(
        &mut self,
        op: OpId,
        v: &view::TiledCopy<Op>,
    ) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, v.pipeline())?;
        let buffer = self.buffer(op, v.destination())?;
        let stage = self.stage_of(op, v.iteration(), p.stages())?;
        let base = self.stage_address(&buffer, Some(stage));
        self.enabled(op, v.enable(), |l| l.copy_tile(op, v.op(), &buffer, base))
    }

    pub(in crate::lower::nvvm) fn pointer_copy(
        &mut self,
        op: OpId,
        v: &view::PointerCopy<Op>,
    ) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, v.pipeline())?;
        let buffer = self.buffer(op, v.destination())?;
        let stage = self.stage_of(op, v.iteration(), p.stages())?;
        let base = self.stage_address(&buffer, Some(stage));
        self.enabled(op, v.enable(), |l| l.copy_pointed(op, v, &buffer, base))
    }

    /// What `copy` emits, under a condition if there is one.
    fn enabled(
        &mut self,
        op: OpId,
        enable: Option<crate::ir::ValueId>,
        copy: impl FnOnce(&mut Self) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        match enable {
            Some(enable) => {
                let enable = self.get(op, enable)?;
                self.when(enable, true, copy)
            }
            None => copy(self),
        }
    }
}
