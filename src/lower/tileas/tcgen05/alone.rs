//! Loops that do nothing with shared memory but multiply what rings bring: their matmuls are waited for behind them,
//! and each hands the stages that it has read back by itself.

use super::Placed;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access;
use crate::ir::{Attr, BlockId, Module, OpId, ValueId};
use crate::lower::tileas::look::place;
use rustc_hash::{FxHashMap, FxHashSet};

/// Moves the waits of such loops behind them; the loops.
pub fn hoist(m: &mut Module, body: BlockId, placed: &[Placed]) -> Vec<OpId> {
    let loops = find(m, body, placed);
    let mut rings: Vec<ValueId> = Vec::new();
    for (around, matmuls) in &loops {
        let Some(block) = m.body_of(*around, 0) else {
            continue;
        };
        let releases = ring_releases(m, block, matmuls);
        for &release in &releases {
            *m.attr_mut(release, "matmuls") = Some(Attr::Unit);
            rings.extend(access::pipeline(m.op(release)));
        }
        for (i, matmul) in matmuls.iter().enumerate() {
            let steps = [matmul.acquire].into_iter().chain(matmul.after);
            if i > 0 {
                steps.for_each(|s| m.erase(s));
                continue;
            }
            for (step, behind) in steps.zip([false, true, true, true]) {
                let from = m.op(step).block;
                m.block_mut(from).ops.retain(|&o| o != step);
                let (home, at) = place(m, *around);
                // Behind the loop: in front of what was put there to read the accumulator.
                let at = if behind {
                    at + 1 + place_of(m, matmul, step)
                } else {
                    at
                };
                m.place(step, home, at);
            }
        }
    }
    // One arrival empties their stages.
    for create in rings
        .into_iter()
        .filter_map(|r| m.def_op(r))
        .collect::<Vec<_>>()
    {
        m.set_i32(create, "consumers", 1);
    }
    loops.into_iter().map(|l| l.0).collect()
}

/// How many steps of `matmul` stand behind the loop before `step`.
fn place_of(_: &Module, matmul: &Placed, step: OpId) -> usize {
    matmul.after.iter().position(|&s| s == step).unwrap_or(0)
}

/// The loops, with their matmuls.
fn find<'p>(m: &Module, body: BlockId, placed: &'p [Placed]) -> Vec<(OpId, Vec<&'p Placed>)> {
    let mut loops: Vec<(OpId, Vec<&Placed>)> = Vec::new();
    for p in placed.iter().filter(|p| p.untouched) {
        let Some(around) = m.parent_op(p.dot) else {
            continue;
        };
        match loops.iter_mut().find(|l| l.0 == around) {
            Some(found) => found.1.push(p),
            None => loops.push((around, vec![p])),
        }
    }
    loops.retain(|(around, matmuls)| only_multiplies(m, *around, matmuls));
    // A ring's stages are handed back in one way everywhere.
    loop {
        let inside: FxHashSet<OpId> = loops
            .iter()
            .filter_map(|l| m.body_of(l.0, 0))
            .flat_map(|b| m.ops_under(b))
            .collect();
        let mut elsewhere: FxHashMap<ValueId, bool> = FxHashMap::default();
        for op in m.ops_under(body) {
            if S::of(m.op(op).kind) == Some(S::ConsumerRelease)
                && let Some(ring) = access::pipeline(m.op(op))
            {
                *elsewhere.entry(ring).or_default() |= !inside.contains(&op);
            }
        }
        let before = loops.len();
        loops.retain(|(around, matmuls)| {
            let Some(block) = m.body_of(*around, 0) else {
                return false;
            };
            let releases = ring_releases(m, block, matmuls).into_iter();
            let mut rings = releases.filter_map(|r| access::pipeline(m.op(r)));
            rings.all(|ring| elsewhere.get(&ring) == Some(&false))
        });
        if loops.len() == before {
            return loops;
        }
    }
}

/// The releases under `block` that are not the matmuls' own.
fn ring_releases(m: &Module, block: BlockId, matmuls: &[&Placed]) -> Vec<OpId> {
    let own: FxHashSet<OpId> = matmuls.iter().flat_map(|p| p.after).collect();
    let ops = m.ops_under(block).into_iter();
    ops.filter(|o| S::of(m.op(*o).kind) == Some(S::ConsumerRelease) && !own.contains(o))
        .collect()
}

/// Whether a loop touches shared and tensor memory with `matmuls` only, whose operands a producer brings.
fn only_multiplies(m: &Module, around: OpId, matmuls: &[&Placed]) -> bool {
    let Some(block) = m.body_of(around, 0) else {
        return false;
    };
    let own = |op: OpId| {
        matmuls
            .iter()
            .any(|p| p.dot == op || p.acquire == op || p.after.contains(&op))
    };
    let brings = |op: OpId| {
        let pipeline = access::pipeline(m.op(op)).and_then(|p| m.def_op(p));
        pipeline.is_some_and(|p| {
            view::PipelineCreate::of(m.op(p)).is_some_and(|v| v.kind() == PipelineKind::Tma)
        })
    };
    m.ops_under(block)
        .into_iter()
        .all(|op| match S::of(m.op(op).kind) {
            _ if own(op) => true,
            Some(S::ConsumerWait | S::ConsumerRelease) => m.op(op).block == block && brings(op),
            Some(
                S::LocalLoad
                | S::LocalStore
                | S::TensorLoad
                | S::TensorStore
                | S::TensorDot
                | S::TiledCopy
                | S::ProducerAcquire
                | S::ProducerCommit
                | S::Drain
                | S::ProxyFence
                | S::TmaStore
                | S::StoreWait
                | S::Return,
            ) => false,
            _ => true,
        })
}
