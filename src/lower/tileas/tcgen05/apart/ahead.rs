//! Matmuls that need nothing of what the warps compute have a warp of their own, beside that of the ones which do: they
//! multiply for the next iteration while the warps compute with what they made in this one.
//!
//! ```text
//! acquire                           acquire; acquire'
//! for …                             for …
//!   tensor_dot q, k, s                tensor_dot q, k, s
//!   commit; wait; release             commit'; wait'; release'
//!   x = tensor_load s                 x = tensor_load s
//!   … of x, to y               →      acquire'
//!   tensor_store y, p                 … of x, to y
//!   acquire                           commit; wait; release
//!   tensor_dot p, v, o                tensor_store y, p
//! commit; wait; release               acquire
//!                                     tensor_dot p, v, o
//!                                   commit'; wait'; release'
//!                                   commit; wait; release
//! ```
//! The steps with a stroke are those of a second pipeline. Both are handed over: the warps let the next scores in when they
//! have loaded these, and the output when they have stored what it is made of. That takes columns of tensor memory: what is
//! computed of the scores cannot lie where the next ones go ([`reserve`]). Loops that run once have no next iteration.

use super::parted::{Parted, stores_to};
use super::rounds::Round;
use super::{Held, Kernel, Matmuls};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::matmul::Matmul;
use crate::facts::{self, iterations};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::layout::tensor::COLUMNS;
use crate::lower::tileas::look;
use crate::lower::tileas::missed::Log;
use crate::lower::tileas::tcgen05::{columns, emit, number, together};
use crate::target::Target;
use rustc_hash::FxHashSet;

/// What is done, in messages.
const WHAT: &str = "warp of the next iteration's matmuls";

/// Gives the first matmuls of loops a pipeline of their own. Both, with their matmuls.
pub fn part(
    m: &mut Module,
    body: BlockId,
    kernel: &Kernel,
    target: &Target,
    log: &mut Log,
) -> Option<[(ValueId, Matmuls); 2]> {
    let (consumer, pipeline) = (kernel.consumer, kernel.pipeline);
    let blocks = together::blocks(m, consumer, pipeline).into_iter();
    let rounds: Vec<Round> = blocks.filter_map(|b| Round::of(m, b, pipeline)).collect();
    let first: Vec<OpId> = rounds.iter().flat_map(|r| r.dots.clone()).collect();
    let &at = first.first()?;
    if !repeat(m, body, rounds.iter().map(Round::around)) {
        log.note(m, at, WHAT, "its loop runs once".to_owned());
        return None;
    }
    let dots = m.ops_under(consumer).into_iter();
    let dots = dots.filter(|o| S::of(m.op(*o).kind) == Some(S::TensorDot));
    let rest: Vec<OpId> = dots.filter(|o| !first.contains(o)).collect();
    let func = m.region(m.block(body).region).parent;
    let blocks = view::Func::of(m.op(func)).and_then(|v| v.occupancy());
    let blocks = blocks.unwrap_or(1).unsigned_abs();
    let parted = match has_warp(m, body, target, blocks) {
        true => Parted::of(m, body, &rounds, [first, rest]),
        false => Err((
            at,
            "threads have no registers for a further warp".to_owned(),
        )),
    };
    let parted = match parted {
        Ok(parted) => parted,
        Err((op, why)) => {
            log.note(m, op, WHAT, why);
            return None;
        }
    };
    let own = emit::pipeline(m, body);
    let mut around = FxHashSet::default();
    for round in &rounds {
        // Loops that follow one another are let in and waited for together.
        let outermost = around.insert(round.acquire);
        round.apply(m, &parted.scores, own, outermost);
    }
    number::run(m, body, own);
    log.changed(
        m.op(at).loc,
        WHAT,
        "they are issued while the other warps compute",
    );
    let [ahead, behind] = &parted.rings;
    let none = FxHashSet::default();
    let lent = ahead.intersection(behind).copied().collect();
    let part = |of, dots: &[OpId], rings| Matmuls::part(m, consumer, of, dots, rings);
    Some([
        (own, part(own, &parted.first, [ahead, &lent])),
        (pipeline, part(pipeline, &parted.rest, [behind, &none])),
    ])
}

/// Whether there is a further warp: one of the producer's warpgroup, or one more beside a lone producer, where threads then have
/// as many registers as without it. So many `blocks` share a multiprocessor.
fn has_warp(m: &Module, body: BlockId, target: &Target, blocks: u64) -> bool {
    let func = m.region(m.block(body).region).parent;
    let creates = m.block(body).ops.iter();
    let mut creates = creates.filter_map(|&o| view::PipelineCreate::of(m.op(o)));
    let Some(split) = look::roles(m, body) else {
        return false;
    };
    let [consumers, others] = super::warps(m, func, split).map(i64::unsigned_abs);
    let registers = |others| target.registers_per_thread(blocks * (consumers + others));
    let room = others == 4 || others == 1 && registers(3) == registers(2);
    room && !creates.any(|c| c.copiers().is_some())
}

/// Whether one of some loops may run more than once.
fn repeat(m: &Module, body: BlockId, mut loops: impl Iterator<Item = OpId>) -> bool {
    let facts = facts::of(m, m.region(m.block(body).region).parent);
    loops.any(|around| iterations(m, &facts, around).is_none_or(|n| *n.end() > 1))
}

/// Gives the accumulators of matmuls in loops of `pipeline` that read nothing which the warps compute columns of their own, if
/// a block has so many when `blocks` share tensor memory.
pub fn reserve(
    m: &Module,
    body: BlockId,
    pipeline: ValueId,
    held: &mut Vec<Held>,
    (target, blocks): (&Target, u64),
) {
    if !has_warp(m, body, target, blocks) {
        return;
    }
    let mut first: FxHashSet<OpId> = FxHashSet::default();
    let mut loops = Vec::new();
    for block in together::blocks(m, body, pipeline) {
        let around = m.region(m.block(block).region).parent;
        let dots = m.block(block).ops.iter().copied();
        let dots = dots.filter(|&o| S::of(m.op(o).kind) == Some(S::TensorDot));
        let computed = |&dot: &OpId| stores_to(m, body, block, Matmul::known(m.op(dot))).is_some();
        let free = dots.take_while(|dot| !computed(dot));
        if C::of(m.op(around).kind) == Some(C::For) {
            first.extend(free);
            loops.push(around);
        }
    }
    if !repeat(m, body, loops.into_iter()) {
        return;
    }
    let ahead = |h: &Held| Held {
        ahead: Some(first.contains(&h.dot)),
        ..*h
    };
    let all: Vec<Held> = held.iter().map(ahead).collect();
    if !first.is_empty() && columns::needed(m, &all) <= COLUMNS / blocks {
        *held = all;
    }
}
