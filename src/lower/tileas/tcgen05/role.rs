//! A warp of its own for matmuls, where tiles follow one another.
//!
//! The loops of a persistent kernel that only multiply ([`super::alone`]) become the program of one thread more:
//!
//! ```text
//! producer: tensor copies          fills the rings
//! matmuls: waits for the rings, multiplies, empties them; commits accumulators
//! consumer: waits for an accumulator, loads it, hands it back; the rest
//! ```
//! With two stages of accumulators a tile's matmuls run while the one before is converted and stored.

use super::apart::{Matmuls, rings};
use super::columns::{self, Held};
use super::{Parts, Placed};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access;
use crate::facts::matmul::Matmul;
use crate::facts::tensor::tensor_matrix;
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use crate::layout::tensor::COLUMNS;
use crate::lower::tileas::look;
use crate::lower::tileas::operands::allocation;
use rustc_hash::FxHashSet;

/// Gives the matmuls of a kernel's loops to a warp of their own if they are all that the kernel has, and one of them
/// stands in another loop or they are a pair's. `pipeline`: theirs.
pub fn split(
    m: &mut Module,
    func: OpId,
    body: BlockId,
    pipeline: ValueId,
    parts: &Parts<'_>,
) -> bool {
    let Parts {
        placed,
        held,
        loops,
        pair,
    } = *parts;
    let Some(split) = look::roles(m, body) else {
        return false;
    };
    let Some(consumer) = m.body_of(split, 1) else {
        return false;
    };
    let covered = |p: &Placed| m.parent_op(p.dot).is_some_and(|l| loops.contains(&l));
    let in_loop =
        |l: &OpId| m.op(*l).block != consumer && m.parent_op(*l).is_some_and(|p| is_loop(m, p));
    let again = loops.iter().any(in_loop);
    if !placed.iter().all(covered) || !(pair || again) {
        return false;
    }
    let rings = rings(m, consumer);
    if !placed.iter().all(|p| reads_rings(m, body, p.dot, &rings)) || stores(m, consumer, pipeline)
    {
        return false;
    }
    let matmuls = Matmuls::of(m, consumer, pipeline);
    let Ok(slice) = matmuls.slice(m, body, consumer, &[]) else {
        return false;
    };
    matmuls.give(m, func, split, &slice);
    Matmuls::erase(m, [&matmuls].into_iter());
    release_behind_loads(m, consumer, pipeline);
    let twice = loops.len() == 1 && again;
    set_stages(m, split, pipeline, held, twice);
    true
}

fn is_loop(m: &Module, op: OpId) -> bool {
    matches!(C::of(m.op(op).kind), Some(C::For | C::Loop))
}

/// Whether a matmul reads nothing but what comes through `rings`.
fn reads_rings(m: &Module, body: BlockId, dot: OpId, rings: &FxHashSet<ValueId>) -> bool {
    let shared = |v: &&ValueId| matches!(m.types.get(m.ty(**v)), Type::SharedTile { .. });
    let lhs = Matmul::known(m.op(dot)).lhs;
    let in_tensor = tensor_matrix(m, lhs).is_some();
    !in_tensor
        && m.op(dot).operands.iter().filter(shared).all(|&v| {
            let buffer = allocation(m, v);
            m.ops_under(body).into_iter().any(|o| {
                view::TmaLoad::of(m.op(o))
                    .is_some_and(|c| c.destination() == buffer && rings.contains(&c.pipeline()))
            })
        })
}

/// Whether warps store to tensor memory what matmuls read. What they store in place of matmuls that did not run
/// stands behind the wait for these.
fn stores(m: &Module, consumer: BlockId, pipeline: ValueId) -> bool {
    let instead = |store: OpId| {
        let Some(choice) = m.parent_op(store) else {
            return false;
        };
        let ops = m.block(m.op(choice).block).ops.iter();
        let mut before = ops.take_while(|&&o| o != choice);
        let waits = |&o: &OpId| {
            let data = m.op(o);
            S::of(data.kind) == Some(S::ConsumerWait) && access::pipeline(data) == Some(pipeline)
        };
        C::of(m.op(choice).kind) == Some(C::If) && before.any(waits)
    };
    let mut ops = m.ops_under(consumer).into_iter();
    ops.any(|o| S::of(m.op(o).kind) == Some(S::TensorStore) && !instead(o))
}

/// Accumulators are handed back when all that is computed from them has been: they are loaded in parts.
fn release_behind_loads(m: &mut Module, consumer: BlockId, pipeline: ValueId) {
    for release in m.ops_under(consumer) {
        let data = m.op(release);
        let own = access::pipeline(data) == Some(pipeline);
        if S::of(data.kind) != Some(S::ConsumerRelease) || !own {
            continue;
        }
        let block = data.block;
        let ops = m.block(block).ops.clone();
        let at = ops.iter().position(|&o| o == release).unwrap_or(0);
        if let Some(last) = last_use(m, ops.get(at + 1..).unwrap_or(&[])) {
            m.block_mut(block).ops.retain(|&o| o != release);
            // One in front of it has gone.
            m.place(release, block, at + 1 + last);
        }
    }
}

/// Which of `ops`, up to the next accumulator or the block's end, is the last that touches tensor memory or what is
/// computed from it. What the block passes on is computed by then.
fn last_use(m: &Module, ops: &[OpId]) -> Option<usize> {
    let mut computed: FxHashSet<ValueId> = FxHashSet::default();
    let mut last = None;
    let ends = |op: &OpId| {
        let data = m.op(*op);
        data.def().traits.has(Traits::TERMINATOR) || S::of(data.kind) == Some(S::ConsumerWait)
    };
    for (i, &op) in ops.iter().enumerate().take_while(|(_, o)| !ends(o)) {
        for inner in m.ops_inside(op).into_iter().chain([op]) {
            let data = m.op(inner);
            let moves = matches!(S::of(data.kind), Some(S::TensorLoad | S::TensorStore));
            if moves || data.operands.iter().any(|v| computed.contains(v)) {
                last = Some(i);
                if moves || data.def().traits.has(Traits::PURE) {
                    computed.extend(&data.results);
                }
            }
        }
    }
    last
}

/// The pipeline's consumers are the other warps; with `twice` and room for it, accumulators have two stages.
fn set_stages(m: &mut Module, split: OpId, pipeline: ValueId, held: &[Held], twice: bool) {
    let split_view = view::WarpSpecialize::of(m.op(split));
    let warps = split_view.map_or(0, |v| v.consumer_warps());
    let held = columns::buffers(held);
    let doubled = |h: &Held| h.columns * if h.once { 1 } else { 2 };
    let all: u64 = held.iter().map(doubled).sum();
    let stages = if twice && all <= COLUMNS { 2 } else { 1 };
    if let Some(create) = m.def_op(pipeline) {
        m.set_i32(create, "stages", i64::from(stages));
        m.set_i32(create, "consumers", warps);
    }
    let ty = m.types.intern(Type::Pipeline { stages });
    m.value_mut(pipeline).ty = ty;
    if stages == 1 {
        return;
    }
    let mut first = 0;
    for held in held {
        let Some(buffer) = held.buffer else { continue };
        let own = if held.once { 1 } else { stages };
        let columns = tensor_matrix(m, buffer).map_or(0, |t| t.all_columns());
        let mut ty = m.types.get(m.ty(buffer)).clone();
        if let Type::TensorTile { stages: all, .. } = &mut ty {
            *all = own;
        }
        let ty = m.types.intern(ty);
        m.value_mut(buffer).ty = ty;
        if let Some(alloc) = m.def_op(buffer) {
            m.set_i32(alloc, "column", first as i64);
        }
        first += columns * u64::from(own);
    }
}
