//! Loops with several matmuls whose iterations overlap: a modulo schedule of two stages.
//!
//! Where a matmul's result goes through arithmetic into another matmul, as attention's scores do, the tensor cores have
//! nothing to do under the arithmetic. Here the loop is cut in two: the *first* stage of an iteration runs beside the
//! second, *late* one of the iteration before, each ordered so that matmuls are issued early and waited for late.
//!
//! ```text
//! if lower < upper {
//!   first(lower)
//!   for i in lower + step .. upper { first(i) and late(i - step), merged }
//!   late of the last iteration
//! }
//! ```
//! [`body`] is the dependence graph, [`stages`] the cuts that it admits, [`order`] the order of the merged operations
//! and the cycles that an iteration takes, by the rates in [`clock`]; [`rewrite`] carries the best one out.

mod body;
mod clock;
mod order;
mod producer;
mod rewrite;
mod stages;

use super::buffers::allocated;
use super::decided::Kernel;
use super::limits::REGISTERS_BESIDE_LOADS;
use super::missed::Log;
use super::pressure::Weights;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access;
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use body::Body;
use order::{Instance, Node, Sharing, Times};
use rustc_hash::FxHashMap;
use stages::Stages;

/// What this is called in messages.
const WHAT: &str = "overlap of iterations";

/// Most matmuls of a loop whose cuts are all looked at.
const MOST_DOTS: usize = 6;

/// An iteration must take so many percent less for two stages to pay: the loop's ends run alone, and the code is
/// longer.
const GAIN: u64 = 5;

/// Why a loop stays as it is.
#[derive(Debug)]
struct Refused {
    op: OpId,
    why: String,
}

impl Refused {
    fn new(op: OpId, why: &str) -> Refused {
        Refused {
            op,
            why: why.to_owned(),
        }
    }
}

/// How a loop's iterations overlap.
#[derive(Debug)]
struct Schedule {
    stages: Stages,
    order: Vec<Node>,
}

/// What limits a schedule.
struct Room<'k> {
    kernel: &'k Kernel<'k>,
    /// Registers of a thread.
    registers: u64,
    /// Blocks for whose buffers shared memory has room.
    by_shared: u64,
}

impl Room<'_> {
    /// Blocks that registers and shared memory admit on a multiprocessor.
    fn blocks_by(&self, registers: u64) -> u64 {
        let Kernel { target, plan, .. } = self.kernel;
        match &plan.roles {
            Some(roles) if roles.redistributes() => 1,
            _ => {
                let warps = plan.all_warps();
                let by_registers = target.blocks_by_registers(warps, registers);
                by_registers.min(self.by_shared)
            }
        }
    }
}

/// Overlaps the iterations of a kernel's loops where that pays.
pub fn schedule(m: &mut Module, kernel: &Kernel<'_>, log: &mut Log) {
    let body = kernel.body;
    let ops = m.ops_under(body);
    let loops: Vec<OpId> = ops
        .iter()
        .copied()
        .filter(|&o| C::of(m.op(o).kind) == Some(C::For) && feeds_another(m, o))
        .collect();
    if loops.is_empty() {
        return;
    }
    let filled: FxHashMap<ValueId, ValueId> = ops
        .iter()
        .filter_map(|&o| access::destination(m.op(o)).zip(access::pipeline(m.op(o))))
        .collect();
    let room = Room {
        kernel,
        registers: kernel.registers(),
        by_shared: u64::from(kernel.target.shared_per_block())
            / allocated(m, &m.block(body).ops).max(1),
    };
    let producers = producer::counterparts(m, &ops, &loops);
    for (op, producer) in loops.into_iter().zip(producers) {
        let found = Body::of(m, op, &filled).and_then(|b| {
            let schedule = choose(m, body, &b, &room)?;
            Ok((b, schedule))
        });
        match found {
            Ok((b, schedule)) => {
                let how =
                    "matmuls of the next iteration are issued before the arithmetic of this one";
                log.changed(m.op(op).loc, WHAT, how);
                if let Some(producer) = producer {
                    producer::follow(m, producer, &b, &schedule.stages);
                }
                rewrite::apply(m, &b, &schedule);
            }
            Err(refused) => log.note(m, refused.op, WHAT, refused.why),
        }
    }
}

/// Whether a loop has asynchronous matmuls of its own of which one reads what comes of another.
fn feeds_another(m: &Module, for_op: OpId) -> bool {
    let Some(block) = m.body_of(for_op, 0) else {
        return false;
    };
    let mut from: Vec<ValueId> = Vec::new();
    for &op in &m.block(block).ops {
        let data = m.op(op);
        let inner = m.ops_inside(op).into_iter().chain([op]);
        let reads = inner.flat_map(|o| m.op(o).operands.to_vec());
        let reached = reads.into_iter().any(|v| from.contains(&v));
        let dot = S::of(data.kind) == Some(S::AsyncDot);
        let adds = |v: &ValueId| {
            m.def_op(*v)
                .is_some_and(|d| S::of(m.op(d).kind) == Some(S::AsyncDot))
        };
        if dot && reached && !Matmul::of(data).is_some_and(|p| adds(&p.acc)) {
            return true;
        }
        if dot || reached {
            from.extend(&data.results);
        }
    }
    false
}

/// The best schedule of a loop, or why it is better as it is.
fn choose(m: &Module, func: BlockId, body: &Body, room: &Room<'_>) -> Result<Schedule, Refused> {
    if body.dots.len() > MOST_DOTS {
        let why = format!("the loop has {} matmuls", body.dots.len());
        return Err(Refused {
            op: body.for_op,
            why,
        });
    }
    let times = Times::of(m, body, room.kernel.warps().div_ceil(4));
    let mut cuts: Vec<Stages> = Vec::new();
    for chosen in 1..1usize << body.dots.len() {
        let late = |i: &usize| chosen >> i & 1 == 1;
        let late: Vec<usize> = (0..body.dots.len())
            .filter(late)
            .map(|i| body.dots[i].at)
            .collect();
        let cut = Stages::of(m, body, &late);
        cuts.extend(cut.filter(|c| !cuts.contains(c)));
    }
    let in_order: Vec<Node> = (0..body.ops.len())
        .map(|op| Node { op, late: false })
        .collect();
    let weights = Weights::of(m, func, room.kernel.warps());
    let period = |stages: &Stages, order: &[Node]| {
        let copied = order::copied(m, body, stages, order).into_iter();
        let sharing = Sharing {
            blocks: room.kernel.blocks(),
            copies: copied.map(|v| weights.weight(weights.root(v))).sum(),
        };
        order::period(body, order, &times, sharing)
    };
    let now = period(&Stages::default(), &in_order);
    let before = registers(m, body, &Stages::default(), &in_order, &weights);
    let shared = room.blocks_by(before);
    let mut best: Option<((u64, u64), Schedule)> = None;
    let mut refused = None;
    for stages in cuts {
        if let Err(why) = stages_fit(m, body, &stages) {
            refused = Some(why);
            continue;
        }
        let order = order::order(body, &stages, &times);
        let period = period(&stages, &order);
        if period * 100 > now * (100 - GAIN) {
            let why = format!(
                "an iteration would take about {period} cycles instead of {now}, and {GAIN} % less would pay"
            );
            refused.get_or_insert(Refused {
                op: body.for_op,
                why,
            });
            continue;
        }
        let registers = registers(m, body, &stages, &order, &weights);
        if registers > room.registers {
            let why = format!(
                "a thread would need {registers} registers, and has {}",
                room.registers
            );
            refused = Some(Refused {
                op: body.for_op,
                why,
            });
            continue;
        }
        let left = room.blocks_by(registers);
        if left < shared {
            let why = format!(
                "with {registers} registers a thread, {left} blocks would share a multiprocessor instead of {shared}"
            );
            refused = Some(Refused {
                op: body.for_op,
                why,
            });
            continue;
        }
        let key = (period, registers);
        if best.as_ref().is_none_or(|b| key < b.0) {
            best = Some((key, Schedule { stages, order }));
        }
    }
    let none = || Refused::new(body.for_op, "each matmul of the loop depends on all others");
    match best {
        Some((_, schedule)) => Ok(schedule),
        None => Err(refused.unwrap_or_else(none)),
    }
}

/// Registers of a thread that a loop in this order takes.
fn registers(
    m: &Module,
    body: &Body,
    stages: &Stages,
    order: &[Node],
    weights: &Weights<'_>,
) -> u64 {
    let stands = |op: usize| Weights::stands(m, body.ops[op]);
    let count = |live: &[Instance]| {
        let mut roots: Vec<Instance> = live
            .iter()
            .map(|&(v, before)| (weights.root(v), before))
            .collect();
        roots.sort_unstable();
        roots.dedup();
        roots.iter().map(|r| weights.weight(r.0)).sum()
    };
    order::live(body, stages, order, &stands, &count) + REGISTERS_BESIDE_LOADS
}

/// Whether rings hold what stays in use while the next iteration has begun.
fn stages_fit(m: &Module, body: &Body, stages: &Stages) -> Result<(), Refused> {
    for (i, &op) in body.ops.iter().enumerate() {
        if S::of(m.op(op).kind) != Some(S::ConsumerRelease) || !stages.late[i] {
            continue;
        }
        let pipeline = access::pipeline(m.op(op));
        let waits = |k: &usize| {
            S::of(m.op(body.ops[*k]).kind) == Some(S::ConsumerWait)
                && access::pipeline(m.op(body.ops[*k])) == pipeline
                && !stages.late[*k]
        };
        let held = pipeline.map(|p| m.types.get(m.ty(p)));
        let one = matches!(held, Some(Type::Pipeline { stages }) if *stages < 2);
        if one && body.before[i].iter().any(waits) {
            let why = "a pipeline has one stage, and two iterations would use it at once";
            return Err(Refused::new(op, why));
        }
    }
    Ok(())
}
