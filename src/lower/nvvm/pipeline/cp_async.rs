//! Pipelines of `cp.async`: groups that each thread counts, and a barrier that joins the threads, unless each reads what it
//! has copied itself ([`super::own`]).

use super::{Iteration, Lower, Mechanism, Release};
use crate::dialect::enums::PipelineKind;
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

    /// The barrier of the last wait freed the stage; where there is none, its only readers are the threads that fill it.
    fn acquire(&self, _: &mut Lower, _: Iteration) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn commit(&self, l: &mut Lower, _: Iteration) -> Result<(), Diagnostic> {
        l.emit().op(N::CpAsyncCommit, &[], [], &[]);
        Ok(())
    }

    fn wait(&self, l: &mut Lower, at: Iteration) -> Result<(), Diagnostic> {
        let pending = match self.stages {
            1 => l.groups_behind(at.op),
            stages => stages as i64 - 2,
        };
        Self::wait_for_all_but(l, pending);
        if !l.reads_own_copies(at.op)? {
            l.barrier();
        }
        Ok(())
    }

    /// The barrier of the next wait says so.
    fn release(&self, _: &mut Lower, _: Iteration, _: Release) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// A single stage is only filled once it was waited for.
    fn drain(&self, l: &mut Lower) {
        if self.stages > 1 {
            Self::wait_for_all_but(l, 0);
        }
    }
}

impl Lower<'_> {
    /// How many groups are committed between the one that `wait` waits for and it, as far as that is known.
    fn groups_behind(&self, wait: OpId) -> i64 {
        let m = &self.m;
        let commit = |op: OpId| {
            let pipeline = view::ProducerCommit::of(m.op(op))?.pipeline();
            let create = view::PipelineCreate::of(m.op(m.def_op(pipeline)?))?;
            (create.kind() == PipelineKind::CpAsync).then_some(pipeline)
        };
        let own = view::ConsumerWait::of(m.op(wait)).map(|w| w.pipeline());
        let ops = &m.block(m.op(wait).block).ops;
        let before = ops.iter().rev().skip_while(|&&o| o != wait).skip(1);
        let mut pending = 0;
        for &op in before {
            match commit(op) {
                found if found.is_some() && found == own => return pending,
                Some(_) => pending += 1,
                None if m.ops_inside(op).into_iter().any(|o| commit(o).is_some()) => return 0,
                None => {}
            }
        }
        0
    }

    pub(in crate::lower::nvvm) fn tiled_copy(
        &mut self,
        op: OpId,
        v: &view::TiledCopy<Op>,
    ) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, v.pipeline())?;
        let buffer = self.buffer(op, v.destination())?;
        let stage = self.stage_of(op, v.iteration(), p.stages())?;
        let base = self.stage_address(&buffer, Some(stage));
        let once = p.stages() == 1 && v.enable().is_none();
        self.enabled(op, v.enable(), |l| {
            l.copy_tile(op, v.op(), &buffer, base, once)
        })
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
