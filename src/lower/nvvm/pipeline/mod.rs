//! Pipelines as instructions: a ring of stages, whatever fills it.
//!
//! What the operations of the protocol mean depends on the mechanism: counted groups of `cp.async` ([`cp_async`]),
//! transactions of tensor copies ([`tma`]), matmuls into tensor memory ([`mma`]), or stores of what was loaded
//! ([`registers`]). A further one is a file of its own, a case of `enums::PIPELINE_KIND` and an arm in
//! [`Lower::pipeline_create`].

mod cp_async;
mod made_map;
mod mma;
mod own;
mod registers;
mod ring;
mod tensor_map;
mod tma;

pub use made_map::MadeMaps;

use std::rc::Rc;

use ring::Ring;

use super::Lower;
use crate::dialect::enums::{FenceKind, PipelineKind};
use crate::dialect::nv_tileas::{Op as S, view};
use crate::dialect::nvvm::Op as N;
use crate::ir::{BlockId, Diagnostic, Op, OpId, Type, ValueId};
use crate::lower::unsupported;

/// A pipeline of the kernel.
pub type Pipeline = Rc<dyn Mechanism>;

/// What the steps of the protocol are where one mechanism fills the stages. `nv_tileas` says what each must ensure.
pub trait Mechanism {
    fn stages(&self) -> u64;
    /// `async.pipeline.producer_acquire`.
    fn acquire(&self, l: &mut Lower, at: Iteration) -> Result<(), Diagnostic>;
    /// `async.pipeline.producer_commit`.
    fn commit(&self, l: &mut Lower, at: Iteration) -> Result<(), Diagnostic>;
    /// `async.pipeline.consumer_wait`.
    fn wait(&self, l: &mut Lower, at: Iteration) -> Result<(), Diagnostic>;
    /// `async.pipeline.consumer_release`.
    fn release(&self, l: &mut Lower, at: Iteration, how: Release) -> Result<(), Diagnostic>;
    /// `async.pipeline.drain`, as far as it is not the same for all.
    fn drain(&self, l: &mut Lower);
    /// Whether a stage is one of two blocks together.
    fn of_pair(&self) -> bool {
        false
    }
    /// The mbarrier that a copy into the stage at hand completes on, where copies do.
    fn completes_on(&self, _: &mut Lower, _: Stage) -> Option<ValueId> {
        None
    }
}

/// The iteration that a step of the protocol is for.
#[derive(Clone, Copy)]
pub struct Iteration {
    /// Who asks, for messages.
    pub op: OpId,
    /// Its number, lowered (i32).
    pub number: ValueId,
}

/// How a consumer hands a stage back.
#[derive(Clone, Copy)]
pub struct Release {
    /// A truth value, lowered: nothing happens where it is false.
    pub enable: Option<ValueId>,
    /// Only when the matmuls issued so far are done.
    pub matmuls: bool,
}

/// Where an iteration is in a ring: its stage and the parity of its phase, both i32.
#[derive(Clone, Copy)]
pub struct Stage {
    pub index: ValueId,
    parity: ValueId,
}

impl Lower<'_> {
    /// Sets shared memory aside for the mbarriers under `body` that other blocks of the cluster arrive at.
    pub(super) fn keep_for_others(&mut self, body: BlockId) {
        let bytes = |op: OpId| {
            let ring = view::PipelineCreate::of(self.m.op(op))?;
            let shared = ring.blocks().is_some_and(|b| b > 1) && !ring.pair();
            shared.then(|| Ring::bytes_for_others(ring.stages() as u64))
        };
        let all: u64 = self.m.ops_under(body).into_iter().filter_map(bytes).sum();
        if all > 0 {
            self.memory.keep_for_others(all);
        }
    }

    fn pipeline(&self, op: OpId, value: ValueId) -> Result<Pipeline, Diagnostic> {
        let found = self.asynchronous.pipelines.get(&value).cloned();
        found.ok_or_else(|| unsupported(self.m, op, "the operand is not a pipeline of this kernel"))
    }

    fn iteration(&self, op: OpId, number: ValueId) -> Result<Iteration, Diagnostic> {
        let number = self.get(op, number)?;
        Ok(Iteration { op, number })
    }

    /// The place of an iteration in a ring of `stages`.
    fn stage(&mut self, at: Iteration, stages: u64) -> Stage {
        let mut e = self.emit();
        let (index, phase) = if stages.is_power_of_two() {
            (
                e.with(N::And, at.number, stages as i64 - 1),
                e.with(N::ShrU, at.number, i64::from(stages.trailing_zeros())),
            )
        } else {
            (
                e.with(N::RemU, at.number, stages as i64),
                e.with(N::DivU, at.number, stages as i64),
            )
        };
        let parity = e.with(N::And, phase, 1);
        Stage { index, parity }
    }

    /// The stage of an iteration operand in a ring of `stages`.
    pub(super) fn stage_of(
        &mut self,
        op: OpId,
        iteration: ValueId,
        stages: u64,
    ) -> Result<ValueId, Diagnostic> {
        let at = self.iteration(op, iteration)?;
        Ok(self.stage(at, stages).index)
    }

    /// The warps that copy by themselves into stages of some pipeline of the kernel, as a producer.
    pub(super) fn copiers(&self) -> Option<u64> {
        let ops = self.all_ops();
        let mut copiers = ops
            .iter()
            .filter_map(|&o| view::PipelineCreate::of(self.m.op(o))?.copiers());
        copiers.next().map(|warps| warps as u64)
    }

    // ---- the protocol ----------------------------------------------------------------------

    pub(super) fn pipeline_create(
        &mut self,
        v: &view::PipelineCreate<Op>,
    ) -> Result<(), Diagnostic> {
        let pipeline: Pipeline = match v.kind() {
            PipelineKind::CpAsync => Rc::new(cp_async::Groups::new(v)),
            PipelineKind::Tma => Rc::new(tma::Copies::new(self, v)?),
            PipelineKind::Mma => Rc::new(mma::Matmuls::new(self, v)?),
            PipelineKind::Registers => Rc::new(registers::Stores::new(v)),
        };
        self.asynchronous.pipelines.insert(v.result(), pipeline);
        Ok(())
    }

    pub(super) fn producer_acquire(
        &mut self,
        op: OpId,
        v: &view::ProducerAcquire<Op>,
    ) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, v.pipeline())?;
        let at = self.iteration(op, v.iteration())?;
        p.acquire(self, at)?;
        if v.behind_writes() {
            self.fence(FenceKind::ProxyAsyncGlobal);
        }
        Ok(())
    }

    pub(super) fn producer_commit(
        &mut self,
        op: OpId,
        v: &view::ProducerCommit<Op>,
    ) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, v.pipeline())?;
        let at = self.iteration(op, v.iteration())?;
        p.commit(self, at)
    }

    pub(super) fn consumer_wait(
        &mut self,
        op: OpId,
        v: &view::ConsumerWait<Op>,
    ) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, v.pipeline())?;
        let at = self.iteration(op, v.iteration())?;
        p.wait(self, at)
    }

    pub(super) fn consumer_release(
        &mut self,
        op: OpId,
        v: &view::ConsumerRelease<Op>,
    ) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, v.pipeline())?;
        let at = self.iteration(op, v.iteration())?;
        let how = Release {
            enable: v.enable().map(|e| self.get(op, e)).transpose()?,
            matmuls: v.matmuls(),
        };
        p.release(self, at, how)
    }

    /// Nothing in flight, and every warp done reading: another loop may fill the stages. Where nothing uses a buffer
    /// any more, their memory becomes scratch.
    pub(super) fn drain(&mut self, op: OpId, v: &view::Drain<Op>) -> Result<(), Diagnostic> {
        self.pipeline(op, v.pipeline())?.drain(self);
        if self.buffers_used_after(op) {
            self.barrier();
            // Inside of a region, the way around it has no such barrier.
            if self.m.parent_op(op) == Some(self.kernel.func) {
                self.memory.met();
            }
        } else {
            self.memory.release();
        }
        Ok(())
    }

    /// Whether some shared buffer is used behind `op`, or `op` may run again.
    fn buffers_used_after(&self, op: OpId) -> bool {
        let m = &self.m;
        if m.parent_op(op) != Some(self.kernel.func) {
            return true;
        }
        let ops = &m.block(m.op(op).block).ops;
        let behind = ops.iter().skip_while(|&&o| o != op).skip(1);
        // Those that are drained at the same place have no readers either.
        let behind = behind.skip_while(|&&o| S::of(m.op(o).kind) == Some(S::Drain));
        let mut inside = behind.flat_map(|&o| {
            let regions = 0..m.op(o).regions.len();
            let bodies = regions.filter_map(move |i| m.body_of(o, i));
            let under = bodies.flat_map(|b| m.ops_under(b));
            std::iter::once(o).chain(under)
        });
        let shared = |v: &ValueId| {
            matches!(
                m.types.get(m.ty(*v)),
                Type::SharedTile { .. } | Type::Pipeline { .. }
            )
        };
        inside.any(|o| m.op(o).operands.iter().any(shared))
    }

    /// The operations of the kernel.
    fn all_ops(&self) -> Vec<OpId> {
        let body = self.m.body_of(self.kernel.func, 0);
        body.map(|b| self.m.ops_under(b)).unwrap_or_default()
    }
}
