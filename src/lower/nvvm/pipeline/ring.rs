//! The mbarriers of a ring.
//!
//! A ring of S stages has S *full* and S *empty* mbarriers. Iteration i uses stage `i % S`; its full barrier completes
//! phase `i / S`, so the consumer waits for parity `(i / S) & 1`, and the producer, which needs the phase before on the
//! empty barrier, for the opposite parity: on a fresh barrier that wait passes at once.

use super::{Lower, Stage};
use crate::dialect::enums::{FenceKind, Predicate, SpecialRegister};
use crate::dialect::nvvm::Op as N;
use crate::ir::{Diagnostic, ValueId};
use crate::scalar::Signedness;

/// Bytes of an mbarrier.
const MBARRIER: u64 = 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    pub(super) stages: u64,
    /// Offsets of the first barriers.
    full: u64,
    empty: u64,
    /// Blocks of a cluster that fill each other's stages: a stage is empty when it is in all of them.
    blocks: u64,
    /// Whether a stage is one of two blocks together, about which the first's matmuls know.
    pub(super) pair: bool,
}

impl Ring {
    /// Bytes of barriers of so many stages that several blocks of a cluster arrive at.
    pub fn bytes_for_others(stages: u64) -> u64 {
        2 * stages * MBARRIER
    }

    /// Barriers of which one arrival makes a stage full and `consumers` arrivals of each of `blocks` blocks make it
    /// empty; with none, nobody waits for a stage to become empty.
    pub(super) fn new(
        l: &mut Lower,
        stages: u64,
        consumers: i64,
        blocks: u64,
    ) -> Result<Self, Diagnostic> {
        Self::with_arrivals(l, stages, [1, consumers * blocks as i64], blocks)
    }

    /// Barriers of which `producers` arrivals make a stage full and `consumers` arrivals make it empty.
    pub(super) fn of_threads(
        l: &mut Lower,
        stages: u64,
        producers: i64,
        consumers: i64,
    ) -> Result<Self, Diagnostic> {
        Self::with_arrivals(l, stages, [producers, consumers], 1)
    }

    /// Barriers of stages that two blocks have together. `arrivals` of matmuls, or of the consumers of each block, make
    /// one empty.
    pub(super) fn of_pair(l: &mut Lower, stages: u64, arrivals: i64) -> Result<Self, Diagnostic> {
        let ring = Self::with_arrivals(l, stages, [1, arrivals], 1)?;
        Ok(Self { pair: true, ..ring })
    }

    fn with_arrivals(
        l: &mut Lower,
        stages: u64,
        [fills, empties]: [i64; 2],
        blocks: u64,
    ) -> Result<Self, Diagnostic> {
        let barriers = stages * MBARRIER;
        let mut reserve = |bytes: u64, what: &str| match blocks {
            1 => l.memory.reserve(bytes, MBARRIER, what),
            _ => l.memory.reserve_for_others(bytes, what),
        };
        let full = reserve(barriers, "mbarriers: stage is full");
        let bytes = if empties == 0 { 0 } else { barriers };
        let empty = reserve(bytes, "mbarriers: stage is empty");
        let first = l.thread_is(0);
        l.when(first, false, |l| {
            for stage in 0..stages {
                for (base, count) in [(full, fills), (empty, empties)] {
                    if count == 0 {
                        continue;
                    }
                    let mut e = l.emit();
                    let at = e.smem(base + stage * MBARRIER);
                    let count = e.i32_attr(count);
                    e.effect(N::MbarInit, &[at], [count]);
                }
            }
            l.fence(FenceKind::MbarrierInit);
            Ok(())
        })?;
        l.barrier();
        Ok(Self {
            stages,
            full,
            empty,
            blocks,
            pair: false,
        })
    }

    /// Address of the barrier of a stage, in the array at `base`.
    fn barrier(l: &mut Lower, base: u64, stage: Stage) -> ValueId {
        let mut e = l.emit();
        let base = e.smem(base);
        let offset = e.with(N::Mul, stage.index, MBARRIER as i64);
        e.ptr_add(base, offset)
    }

    pub(super) fn full(&self, l: &mut Lower, stage: Stage) -> ValueId {
        Self::barrier(l, self.full, stage)
    }

    pub(super) fn empty(&self, l: &mut Lower, stage: Stage) -> ValueId {
        Self::barrier(l, self.empty, stage)
    }

    pub(super) fn wait_full(&self, l: &mut Lower, stage: Stage) {
        let full = self.full(l, stage);
        l.emit().effect(N::MbarWait, &[full, stage.parity], []);
    }

    pub(super) fn wait_empty(&self, l: &mut Lower, stage: Stage) {
        let empty = self.empty(l, stage);
        let parity = l.emit().with(N::Xor, stage.parity, 1);
        l.emit().effect(N::MbarWait, &[empty, parity], []);
    }

    /// Waits until the consumers have released the iteration itself, not the one before it.
    pub(super) fn wait_released(&self, l: &mut Lower, stage: Stage) {
        let empty = self.empty(l, stage);
        l.emit().effect(N::MbarWait, &[empty, stage.parity], []);
    }

    /// One arrival of the warp at the empty barrier, in each block that fills the stage. Nothing happens where `enable`
    /// is false; without it, where the iteration is below 0. `converge`: the lanes that arrive do so for what the
    /// others read.
    pub(super) fn arrive_empty(
        &self,
        l: &mut Lower,
        empty: ValueId,
        number: ValueId,
        enable: Option<ValueId>,
        converge: bool,
    ) -> Result<(), Diagnostic> {
        if converge {
            l.warp_barrier();
        }
        let (blocks, pair) = (self.blocks, self.pair);
        // A lane for each block; of a pair the first alone is told.
        let lane = (blocks > 1).then(|| l.emit().sreg(SpecialRegister::Laneid));
        let chosen = match lane {
            Some(lane) => {
                let mut e = l.emit();
                let blocks = e.i32(blocks as i64);
                Some(e.icmp(Predicate::LessThan, Signedness::Unsigned, lane, blocks))
            }
            None => l.emit().threads_without(31),
        };
        let mut e = l.emit();
        let zero = e.i32(0);
        let real = match enable {
            Some(enable) => enable,
            None => e.icmp(
                Predicate::GreaterThanOrEqual,
                Signedness::Signed,
                number,
                zero,
            ),
        };
        let condition = match chosen {
            Some(first) => e.and(first, real),
            None => real,
        };
        l.when(condition, false, |l| {
            let first = pair.then(|| l.emit().i32(0));
            match lane.or(first) {
                Some(block) => l.emit().effect(N::MbarArriveAt, &[empty, block], []),
                None => l.emit().effect(N::MbarArrive, &[empty], []),
            };
            Ok(())
        })
    }

    /// An arrival when the matmuls issued so far are done.
    pub(super) fn commit_empty(&self, l: &mut Lower, empty: ValueId) -> Result<(), Diagnostic> {
        let blocks = match self.blocks {
            1 if !self.pair => 0,
            _ => l.cluster_mask(),
        };
        l.tensor_commit(empty, blocks)
    }

    /// The accumulators of a stage are full when the matmuls issued so far are done.
    pub(super) fn commit_full(&self, l: &mut Lower, full: ValueId) -> Result<(), Diagnostic> {
        let blocks = if self.pair { l.cluster_mask() } else { 0 };
        l.tensor_commit(full, blocks)
    }
}
