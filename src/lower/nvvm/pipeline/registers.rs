//! Pipelines through registers: each thread loads a part of the next tiles and stores it to a stage; barriers join them.

use super::{Iteration, Lower, Mechanism, Release};
use crate::dialect::nv_tileas::view;
use crate::ir::{Diagnostic, Op};

/// A ring of `stages` that all warps fill and read.
pub(super) struct Stores {
    stages: u64,
}

impl Stores {
    pub(super) fn new(v: &view::PipelineCreate<Op>) -> Self {
        Self {
            stages: v.stages() as u64,
        }
    }
}

impl Mechanism for Stores {
    fn stages(&self) -> u64 {
        self.stages
    }

    /// With two stages, the barrier of the last wait freed this one; a single one is free when all have read it.
    fn acquire(&self, l: &mut Lower, _: Iteration) -> Result<(), Diagnostic> {
        if self.stages == 1 {
            l.barrier();
        }
        Ok(())
    }

    /// The barrier of the wait says so.
    fn commit(&self, _: &mut Lower, _: Iteration) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn wait(&self, l: &mut Lower, _: Iteration) -> Result<(), Diagnostic> {
        l.barrier();
        Ok(())
    }

    /// The barrier of the next wait says so, or that of the next acquire.
    fn release(&self, _: &mut Lower, _: Iteration, _: Release) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// Nothing is in flight: stores are done when their thread goes on.
    fn drain(&self, _: &mut Lower) {}
}
