//! A warp of its own for matmuls between which the other warps compute.
//!
//! ```text
//! consumer                          matmuls                        consumer
//!   producer_acquire                  for …                          consumer_release
//!   for …                               producer_acquire             for …
//!     tensor_dot q, k, s                tensor_dot q, k, s             consumer_wait
//!     commit; wait; release     →       commit                         … of s, to p
//!     … of s, to p                      producer_acquire               consumer_release
//!     producer_acquire                  tensor_dot p, v, o           consumer_wait
//!     tensor_dot p, v, o              commit
//!   commit; wait; release
//! ```
//! Where the warps let matmuls in by a barrier, they say that they are there and go on; the warp of matmuls waits for all of
//! them, and issues while they compute. Nothing happens in another order than before: the pipeline has one stage, and its
//! iterations are `handed_over`.

mod ahead;
mod parted;
mod rounds;
mod waits;

pub use ahead::reserve;

use super::columns::Held;
use super::emit::before;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access;
use crate::ir::{Attr, BlockId, Module, OpId, ValueId};
use crate::lower::tileas::look::{self, loop_around};
use crate::lower::tileas::missed::Log;
use crate::lower::tileas::pipeline::roles::slice::{Blocked, Copier, Slice};
use crate::target::Target;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is done, in messages.
const WHAT: &str = "warp of matmuls";
/// Matmuls of a loop that a thread can issue with a producer's registers: ptxas keeps their descriptors in registers.
const FEW: usize = 4;
/// Registers of a thread that issues more. Five matmuls of 64x64 by 64 spill with 56.
const MANY_REGISTERS: i64 = 72;

/// Gives the matmuls of a kernel whose warps compute between them to a warp of their own, if the kernel has roles.
pub fn split(m: &mut Module, func: OpId, body: BlockId, target: &Target, log: &mut Log) {
    let Some(kernel) = Kernel::find(m, body) else {
        return;
    };
    let matmuls = Matmuls::of(m, kernel.consumer, kernel.pipeline);
    let endless = |&o: &OpId| {
        let around = loop_around(m, kernel.consumer, m.op(o).block);
        around.is_some_and(|l| C::of(m.op(l).kind) == Some(C::Loop))
    };
    if let Some(dot) = matmuls.dots(m).find(endless) {
        let why = "it stands in a loop that ends by a condition";
        log.note(m, dot, WHAT, why.to_owned());
        return;
    }
    let slice = match waits::of(m, body, &matmuls, kernel.pipeline) {
        Ok(waits) => matmuls.slice(m, body, kernel.consumer, &waits),
        Err(blocked) => Err(blocked),
    };
    if let Err(blocked) = slice {
        log.note(m, blocked.op, WHAT, blocked.why);
        return;
    }
    let how = "the other warps go on while it issues them";
    log.changed(m.op(kernel.split).loc, WHAT, how);
    let groups = match ahead::part(m, body, &kernel, target, log) {
        Some(groups) => Vec::from(groups),
        None => vec![(kernel.pipeline, matmuls)],
    };
    if let Err(blocked) = kernel.give(m, func, body, &groups) {
        log.note(m, blocked.op, WHAT, blocked.why);
    }
}

/// A kernel with roles whose consumers wait for matmuls in a loop.
struct Kernel {
    split: OpId,
    consumer: BlockId,
    pipeline: ValueId,
}

impl Kernel {
    fn find(m: &Module, body: BlockId) -> Option<Kernel> {
        let split = look::roles(m, body)?;
        let creates = m
            .block(body)
            .ops
            .iter()
            .filter_map(|&o| view::PipelineCreate::of(m.op(o)));
        let mut creates: Vec<_> = creates.collect();
        // Warps that copy by themselves have none beside them.
        if m.op(split).regions.len() != 2 || creates.iter().any(|c| c.copiers().is_some()) {
            return None;
        }
        let alone = |c: &view::PipelineCreate<'_, _>| c.consumers() == 0 && c.stages() == 1;
        creates.retain(|c| c.kind() == PipelineKind::Mma && alone(c));
        let found = Kernel {
            split,
            consumer: m.body_of(split, 1)?,
            pipeline: creates.first()?.result(),
        };
        found.waits_in_loop(m).then_some(found)
    }

    /// Gives the matmuls of each pipeline, to which the warps hand their iterations over, a warp of their own.
    fn give(
        &self,
        m: &mut Module,
        func: OpId,
        body: BlockId,
        groups: &[(ValueId, Matmuls)],
    ) -> Result<(), Blocked> {
        for &(pipeline, _) in groups {
            self.hand_over(m, pipeline);
        }
        let mut slices = Vec::new();
        for (pipeline, matmuls) in groups {
            let waits = waits::of(m, body, matmuls, *pipeline)?;
            slices.push(matmuls.slice(m, body, self.consumer, &waits)?);
        }
        for ((_, matmuls), slice) in groups.iter().zip(&slices) {
            matmuls.give(m, func, self.split, slice);
        }
        Matmuls::erase(m, groups.iter().map(|g| &g.1));
        Ok(())
    }

    /// The steps of a pipeline.
    fn steps(&self, m: &Module, pipeline: ValueId, kind: S) -> Vec<OpId> {
        let ops = m.ops_under(self.consumer).into_iter();
        let own = |&o: &OpId| is_step(m, o, kind, pipeline);
        ops.filter(own).collect()
    }

    fn waits_in_loop(&self, m: &Module) -> bool {
        let in_loop = |op: &OpId| loop_around(m, self.consumer, m.op(*op).block).is_some();
        let waits = self.steps(m, self.pipeline, S::ConsumerWait);
        waits.iter().any(in_loop)
    }

    /// Warps release an iteration of `pipeline` where they let its matmuls in, instead of behind the wait for the one before.
    fn hand_over(&self, m: &mut Module, pipeline: ValueId) {
        for release in self.steps(m, pipeline, S::ConsumerRelease) {
            m.erase(release);
        }
        for acquire in self.steps(m, pipeline, S::ProducerAcquire) {
            let iteration = m.op(acquire).operands[1];
            let groups: [&[ValueId]; 3] = [&[pipeline], &[iteration], &[]];
            before(m, acquire, S::ConsumerRelease, &groups);
        }
        let warps = view::WarpSpecialize::of(m.op(self.split)).map(|v| v.consumer_warps());
        if let Some((create, warps)) = m.def_op(pipeline).zip(warps) {
            m.set_i32(create, "consumers", warps);
            *m.attr_mut(create, "handed_over") = Some(Attr::Unit);
        }
    }
}

/// What of the consumers' program a warp that issues their matmuls does: these, and the steps that only it knows of.
pub struct Matmuls {
    ops: Vec<OpId>,
    /// The rings whose stages they hand back.
    rings: FxHashSet<ValueId>,
}

impl Matmuls {
    /// Those that step `pipeline`.
    pub fn of(m: &Module, consumer: BlockId, pipeline: ValueId) -> Matmuls {
        let rings = rings(m, consumer);
        let all = m.ops_under(consumer).into_iter();
        let dots = |o: OpId| S::of(m.op(o).kind) == Some(S::TensorDot);
        let ops = all
            .filter(|&o| dots(o) || knows(m, o, pipeline, &rings))
            .collect();
        Matmuls { ops, rings }
    }

    /// The part of them that `dots` are, which step `pipeline` and read what comes by `rings`. Stages of those that are `lent`
    /// others hand back.
    fn part(
        m: &Module,
        consumer: BlockId,
        pipeline: ValueId,
        dots: &[OpId],
        [rings, lent]: [&FxHashSet<ValueId>; 2],
    ) -> Matmuls {
        let releases = |o: OpId| S::of(m.op(o).kind) == Some(S::ConsumerRelease);
        let borrowed = |o: OpId| access::pipeline(m.op(o)).is_some_and(|p| lent.contains(&p));
        let own = |&o: &OpId| {
            dots.contains(&o) || knows(m, o, pipeline, rings) && !(releases(o) && borrowed(o))
        };
        Matmuls {
            ops: m.ops_under(consumer).into_iter().filter(own).collect(),
            rings: rings.clone(),
        }
    }

    /// The matmuls themselves.
    fn dots(&self, m: &Module) -> impl Iterator<Item = OpId> {
        let dot = |o: &OpId| S::of(m.op(*o).kind) == Some(S::TensorDot);
        self.ops.iter().copied().filter(dot)
    }

    /// The program of that warp, with the consumers' `waits` that it does, too; or what it cannot do of it.
    pub fn slice(
        &self,
        m: &mut Module,
        body: BlockId,
        consumer: BlockId,
        waits: &[OpId],
    ) -> Result<Slice, Blocked> {
        let shared: FxHashSet<OpId> = m.block(body).ops.iter().copied().collect();
        let kept: Vec<OpId> = self.ops.iter().chain(waits).copied().collect();
        Slice::agreed(m, consumer, &kept, &shared, false)
    }

    /// Makes `slice` a further role of `split`, which still does what that role does.
    pub fn give(&self, m: &mut Module, func: OpId, split: OpId, slice: &Slice) {
        let Some(consumer) = m.body_of(split, 1) else {
            return;
        };
        self.keep_registers(m, func, split);
        let region = m.new_region();
        let block = m.new_block(region, &[]);
        Copier::new(slice).block(m, consumer, block);
        m.at_end(block).op(S::RoleEnd, &[], [], &[], &[]);
        m.region_mut(region).parent = split;
        m.op_mut(split).regions.push(region);
        let [consumers, others] = warps(m, func, split);
        // All roles but the consumers' have a warp.
        let roles = m.op(split).regions.len() as i64 - 1;
        m.set_i32(func, "num_warps", consumers + others.max(roles));
    }

    /// Erases what roles of their own do.
    pub fn erase<'p>(m: &mut Module, all: impl Iterator<Item = &'p Matmuls>) {
        let ops: FxHashSet<OpId> = all
            .flat_map(|matmuls| matmuls.ops.iter().copied())
            .collect();
        let mut ops: Vec<OpId> = ops.into_iter().collect();
        ops.sort_unstable();
        ops.into_iter().for_each(|op| m.erase(op));
    }

    /// Where registers are redistributed, many matmuls have more of them than a producer.
    fn keep_registers(&self, m: &mut Module, func: OpId, split: OpId) {
        let Some(parts) = view::WarpSpecialize::of(m.op(split)) else {
            return;
        };
        let (fewer, more) = (parts.producer_registers(), parts.consumer_registers());
        let [consumers, others] = warps(m, func, split);
        if fewer == 0 || fewer >= MANY_REGISTERS || self.most_of_a_block(m) <= FEW {
            return;
        }
        let left = consumers * more - others * (MANY_REGISTERS - fewer);
        m.set_i32(split, "producer_registers", MANY_REGISTERS);
        m.set_i32(split, "consumer_registers", left / consumers / 8 * 8);
    }

    /// How many matmuls stand in one block.
    fn most_of_a_block(&self, m: &Module) -> usize {
        let mut counts: FxHashMap<BlockId, usize> = FxHashMap::default();
        for dot in self.dots(m) {
            *counts.entry(m.op(dot).block).or_default() += 1;
        }
        counts.into_values().max().unwrap_or(0)
    }
}

/// The consumers' warps, and the other ones.
fn warps(m: &Module, func: OpId, split: OpId) -> [i64; 2] {
    let consumers = view::WarpSpecialize::of(m.op(split)).map_or(0, |v| v.consumer_warps());
    let all = view::Func::of(m.op(func)).map_or(0, |v| v.num_warps());
    [consumers, all - consumers]
}

/// The rings whose stages matmuls hand back.
pub fn rings(m: &Module, consumer: BlockId) -> FxHashSet<ValueId> {
    let ops = m.ops_under(consumer).into_iter();
    let releases = ops.filter_map(|o| view::ConsumerRelease::of(m.op(o)));
    let theirs = releases.filter(|r| r.matmuls());
    theirs.map(|r| r.pipeline()).collect()
}

/// Whether an operation is this step of a pipeline.
fn is_step(m: &Module, op: OpId, kind: S, pipeline: ValueId) -> bool {
    let data = m.op(op);
    S::of(data.kind) == Some(kind) && access::pipeline(data) == Some(pipeline)
}

/// Whether an operation is a step of what only matmuls know of.
fn knows(m: &Module, op: OpId, pipeline: ValueId, rings: &FxHashSet<ValueId>) -> bool {
    let data = m.op(op);
    let of = access::pipeline(data);
    match S::of(data.kind) {
        Some(S::ProducerAcquire | S::ProducerCommit) => of == Some(pipeline),
        Some(S::ConsumerWait | S::ConsumerRelease) => of.is_some_and(|p| rings.contains(&p)),
        _ => false,
    }
}
