//! Pipelines that matmuls fill: their stages are accumulators in tensor memory.

use super::ring::Ring;
use super::{Iteration, Lower, Mechanism, Release};
use crate::dialect::nv_tileas::view;
use crate::ir::{Diagnostic, Op};

pub(super) struct Matmuls {
    ring: Ring,
    /// Whether who reads a stage is another role than who fills it: it arrives when it has read.
    consumed: bool,
    /// Whether it arrives before the stage is acquired, to hand it over.
    handed_over: bool,
}

impl Matmuls {
    pub(super) fn new(l: &mut Lower, v: &view::PipelineCreate<Op>) -> Result<Self, Diagnostic> {
        let (stages, consumers) = (v.stages() as u64, v.consumers());
        let ring = match v.pair() {
            true => {
                let ring = Ring::of_pair(l, stages, 2 * consumers)?;
                // The other block may still arrive at these mbarriers.
                l.memory.keep();
                ring
            }
            false => Ring::new(l, stages, consumers, 1)?,
        };
        Ok(Self {
            ring,
            consumed: v.consumers() > 0,
            handed_over: v.handed_over(),
        })
    }
}

impl Mechanism for Matmuls {
    fn stages(&self) -> u64 {
        self.ring.stages
    }

    fn acquire(&self, l: &mut Lower, at: Iteration) -> Result<(), Diagnostic> {
        if !self.consumed {
            l.tensor_barrier();
            return Ok(());
        }
        // The other threads of its warp may be a phase behind.
        l.by_first_thread(|l| {
            let stage = l.stage(at, self.ring.stages);
            match self.handed_over {
                true => self.ring.wait_released(l, stage),
                false => self.ring.wait_empty(l, stage),
            }
            l.tensor_after();
            Ok(())
        })
    }

    fn commit(&self, l: &mut Lower, at: Iteration) -> Result<(), Diagnostic> {
        let stage = l.stage(at, self.ring.stages);
        let full = self.ring.full(l, stage);
        self.ring.commit_full(l, full)
    }

    fn wait(&self, l: &mut Lower, at: Iteration) -> Result<(), Diagnostic> {
        let stage = l.stage(at, self.ring.stages);
        self.ring.wait_full(l, stage);
        l.tensor_after();
        Ok(())
    }

    fn release(&self, l: &mut Lower, at: Iteration, how: Release) -> Result<(), Diagnostic> {
        if !self.consumed {
            return Ok(());
        }
        let stage = l.stage(at, self.ring.stages);
        let empty = self.ring.empty(l, stage);
        if how.matmuls {
            return self.ring.commit_empty(l, empty);
        }
        l.tensor_before();
        let ring = self.ring;
        ring.arrive_empty(l, empty, at.number, how.enable, true)
    }

    /// Who waits for the last stage has waited for all.
    fn drain(&self, _: &mut Lower) {}
}
