//! Loads that are issued when what they load is used, where registers are short.
//!
//! Programs load what an iteration works on at its beginning. That starts the loads early, but each tile takes its
//! registers until it is used, which may be behind several matmuls. Where a thread has not that many registers, a load
//! is moved to the first operation that is not computed element by element: what waits for memory longer is still
//! faster than what is written there and read back. What a ring has brought is read where it is used, as long as its stage
//! is not given back. A tile that is used again much later is loaded again ([`super::reload`]).

use super::decided::Kernel;
use super::fragments::by_threads;
use super::limits::{REGISTERS_BESIDE_LOADS, REGISTERS_BESIDE_TILES};
use super::look::{blocks_of, is_matmul, loads_weakly, place};
use super::pressure;
use super::reload;
use crate::dialect::nv_tileas::view;
use crate::ir::{BlockId, Module, OpId, ValueId};
use rustc_hash::FxHashMap;

/// Moves the loads of a kernel down to their first use if not all tiles fit in the registers of a thread.
pub fn loads(m: &mut Module, kernel: &Kernel<'_>) {
    let (body, warps) = (kernel.body, kernel.warps());
    let ops = m.ops_under(body);
    let loads = ops.iter().copied();
    let blocks = blocks_of(m, loads.filter(|&o| is_load(m, o) || reads_ring(m, o)));
    if blocks.is_empty() {
        return;
    }
    let available = kernel.registers();
    // Fragments and conversions, and the squares of elements that multiply-adds work on, may take as much again.
    let issued = pressure::registers_issued(m, body, warps);
    if issued + 2 * REGISTERS_BESIDE_TILES <= available {
        return;
    }
    let tiles = pressure::registers_without(m, body, warps, &[]);
    let by_squares = ops.iter().any(|&o| by_threads(m, o));
    let short = tiles + REGISTERS_BESIDE_LOADS > available || by_squares;
    // What is in shared memory already costs little to wait for.
    let roles = kernel.plan.roles.is_some();
    for &block in &blocks {
        delay(m, block, &|m, o| {
            roles && reads_ring(m, o) || short && is_load(m, o)
        });
    }
    if tiles + REGISTERS_BESIDE_LOADS > available {
        reload::again(m, body, &blocks, warps);
    }
}

/// Whether an operation reads a stage of a ring that the block gives back behind it.
fn reads_ring(m: &Module, op: OpId) -> bool {
    let Some(iteration) = view::LocalLoad::of(m.op(op)).and_then(|v| v.iteration()) else {
        return false;
    };
    let (block, at) = place(m, op);
    let behind = m.block(block).ops.iter().skip(at);
    behind
        .into_iter()
        .any(|&o| gives_back(m, o) == Some(iteration))
}

/// The iteration whose stage an operation gives back.
fn gives_back(m: &Module, op: OpId) -> Option<ValueId> {
    view::ConsumerRelease::of(m.op(op)).map(|v| v.iteration())
}

/// A load that nothing but its tokens orders, and that is not ahead of its use on purpose.
fn is_load(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    loads_weakly(data) && !fills_stage(m, op)
}

/// Whether a load brings a later iteration's tile to a stage of a pipeline.
fn fills_stage(m: &Module, load: OpId) -> bool {
    let fills =
        |&user: &OpId| view::LocalStore::of(m.op(user)).is_some_and(|s| s.pipeline().is_some());
    m.users(m.result(load)).iter().any(fills)
}

/// Moves the loads of a block that `moves`, with what is computed from them alone, in front of their first users that stand.
fn delay(m: &mut Module, block: BlockId, moves: &dyn Fn(&Module, OpId) -> bool) {
    let ops = m.block(block).ops.clone();
    // Where each value is first used by an operation that stands, or by the block's end.
    let mut first: FxHashMap<ValueId, usize> = FxHashMap::default();
    // Where the stage of each iteration is given back.
    let mut given_back: FxHashMap<ValueId, usize> = FxHashMap::default();
    let mut placed: Vec<Vec<OpId>> = vec![Vec::new(); ops.len()];
    for (i, &op) in ops.iter().enumerate().rev() {
        let used = m
            .op(op)
            .results
            .iter()
            .filter_map(|r| first.get(r).copied());
        let at = match used.min() {
            Some(at) if m.op(op).only_computes() && !is_matmul(m, op) => at,
            Some(at) if moves(m, op) => {
                let iteration = view::LocalLoad::of(m.op(op)).and_then(|v| v.iteration());
                let stage = iteration.and_then(|i| given_back.get(&i).copied());
                stage.map_or(at, |stage| at.min(stage))
            }
            _ => i,
        };
        if let Some(iteration) = gives_back(m, op) {
            given_back.insert(iteration, i);
        }
        placed[at].push(op);
        let inside = m.ops_inside(op).into_iter();
        let operands = inside.chain([op]).flat_map(|o| m.op(o).operands.to_vec());
        for value in operands.collect::<Vec<_>>() {
            let slot = first.entry(value).or_insert(at);
            *slot = at.min(*slot);
        }
    }
    // Each list is from the last to the first, the operation that stands first of all.
    let order = placed.into_iter().flat_map(|list| {
        let (stands, moved) = list
            .split_first()
            .map_or((None, &[][..]), |(s, m)| (Some(*s), m));
        moved
            .iter()
            .rev()
            .copied()
            .chain(stands)
            .collect::<Vec<_>>()
    });
    m.block_mut(block).ops = order.collect();
}
