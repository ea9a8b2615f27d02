//! Tiles that wait in shared memory for their use behind matmuls of threads, where registers are short.
//!
//! ```text
//! i = dot q, s                      i = dot q, s;  local_store i, t
//! p = dot k, s               →      p = dot k, s
//! n = load v - p                    n = load v - p
//! o = i + dot m, n                  o = local_load t + dot m, n
//! ```
//! Matmuls by multiply-adds take their operands through shared memory, which has room beside them for a tile that is not
//! used for a while. Left in registers, it would take those of what is loaded and multiplied in between.

use super::buffers::{ROWS, shared_type, swizzled, tile_bytes};
use super::decided::{Plan, sharing};
use super::fragments::is_fma;
use super::limits::REGISTERS_BESIDE_TILES;
use super::look::{ancestor_in, place};
use super::missed::Log;
use super::pressure::{self, Weights};
use super::staging::store_at;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Diagnostic, Module, OpId, ValueId};
use crate::lower::unsupported;
use crate::target::Target;

/// What is done, in messages.
const WHAT: &str = "tile waits in shared memory";
/// Fewest registers of a thread that are worth it.
const WORTH: u64 = 8;

/// Parks tiles of the blocks under `body` that multiply by multiply-adds, as long as a thread has too few registers where
/// `occupancy` blocks share a multiprocessor and shared memory has room.
pub fn tiles(
    m: &mut Module,
    body: BlockId,
    target: &Target,
    plan: &Plan,
    occupancy: Option<i64>,
    log: &mut Log,
) -> Result<(), Diagnostic> {
    let ops = m.ops_under(body);
    let by_threads = |&&o: &&OpId| S::of(m.op(o).kind) == Some(S::Dot) && is_fma(m, o);
    let dots: Vec<OpId> = ops.iter().filter(by_threads).copied().collect();
    let mut blocks: Vec<BlockId> = dots.iter().map(|&o| m.op(o).block).collect();
    blocks.dedup();
    let blocks_together = sharing(occupancy);
    let has = plan.registers(target, blocks_together);
    let has = has.saturating_sub(REGISTERS_BESIDE_TILES);
    let operands = dots.iter().filter_map(|&o| Matmul::of(m.op(o)));
    let scratch = operands.map(|d| tile_bytes(m, d.lhs) + tile_bytes(m, d.rhs));
    let taken = scratch.max().unwrap_or(0) + buffers(m, &ops);
    let mut room = target.shared_of_each(blocks_together).saturating_sub(taken);
    for block in blocks {
        while let Some(parked) = Parked::find(m, body, block, plan.tile_warps, has, room) {
            room -= tile_bytes(m, parked.tile);
            let how = format!(
                "while {} registers live, and a thread has {has} for tiles",
                parked.living
            );
            log.changed(m.op(parked.made).loc, WHAT, how);
            parked.apply(m, body)?;
        }
    }
    Ok(())
}

/// Bytes of the buffers among `ops`.
fn buffers(m: &Module, ops: &[OpId]) -> u64 {
    let allocs = ops.iter().filter_map(|&o| view::AllocTensor::of(m.op(o)));
    allocs.map(|v| tile_bytes(m, v.result())).sum()
}

/// A tile that lives across the operation of a block at which most registers live.
struct Parked {
    tile: ValueId,
    made: OpId,
    /// The first operation of the block that uses it.
    used: OpId,
    /// Registers that live there.
    living: u64,
}

impl Parked {
    /// Where too many live, the most first: the smallest tile that leaves no more than `has` registers there, or the largest,
    /// if it has a place in `room` bytes.
    fn find(
        m: &Module,
        body: BlockId,
        block: BlockId,
        warps: u64,
        has: u64,
        room: u64,
    ) -> Option<Parked> {
        let weights = Weights::of(m, body, warps);
        let ops = &m.block(block).ops;
        let living = |&op: &OpId| {
            let around = pressure::around(m, body, warps, op);
            let results = m.op(op).results.iter().filter(|&&r| weights.root(r) == r);
            let made: u64 = results.map(|&r| weights.weight(r)).sum();
            let parts = view::Dot::of(m.op(op)).and_then(|v| v.parts()).unwrap_or(1);
            let made = made / u64::try_from(parts).unwrap_or(1).max(1);
            around.before.max(around.behind + made)
        };
        let stands = |&(_, op): &(usize, &OpId)| Weights::stands(m, *op);
        let standing = ops.iter().enumerate().filter(stands);
        let mut crowded: Vec<(usize, u64)> = standing.map(|(i, op)| (i, living(op))).collect();
        crowded.retain(|&(_, living)| living > has);
        crowded.sort_by_key(|&(i, living)| (std::cmp::Reverse(living), i));
        let across = |(at, living)| Self::across(m, body, block, (at, living), has, room, &weights);
        crowded.into_iter().find_map(across)
    }

    /// The tile to park where so many registers live at the operation at a place of the block.
    fn across(
        m: &Module,
        body: BlockId,
        block: BlockId,
        (at, living): (usize, u64),
        has: u64,
        room: u64,
        weights: &Weights<'_>,
    ) -> Option<Parked> {
        let ops = &m.block(block).ops;
        let mut found: Option<(u64, Parked)> = None;
        for &made in ops.iter().take(at) {
            let Some(&tile) = m.op(made).results.first() else {
                continue;
            };
            let weight = weights.weight(tile);
            let two = m.types.as_tile(m.ty(tile)).is_some_and(|t| t.1.len() == 2);
            if weight < WORTH || weights.root(tile) != tile || !two || tile_bytes(m, tile) > room {
                continue;
            }
            let users = m.users(tile).into_iter();
            let place_of = |u: OpId| Some(place(m, ancestor_in(m, body, block, u)?).1);
            let places: Option<Vec<usize>> = users.map(place_of).collect();
            let first = places.and_then(|p| p.into_iter().min());
            // What a block's end hands on would be read for nothing.
            let Some(first) = first.filter(|&first| first > at && first + 1 < ops.len()) else {
                continue;
            };
            let parked = Parked {
                tile,
                made,
                used: ops[first],
                living,
            };
            let enough = |weight: u64| living - weight <= has;
            let better = found.as_ref().is_none_or(|(best, _)| {
                if enough(weight) {
                    !enough(*best) || weight < *best
                } else {
                    weight > *best
                }
            });
            if better {
                found = Some((weight, parked));
            }
        }
        found.map(|(_, parked)| parked)
    }

    /// Stores it where it is made and loads it where it is used.
    fn apply(self, m: &mut Module, body: BlockId) -> Result<(), Diagnostic> {
        let Parked {
            tile, made, used, ..
        } = self;
        let (layout, _) =
            swizzled(m, tile, ROWS).map_err(|e| unsupported(m, made, format!("no layout: {e}")))?;
        let ty = shared_type(m, tile, &layout, 1);
        let buffer = m.at(body, 0).value(S::AllocTensor, &[], [None], ty);
        let (block, at) = place(m, used);
        let (elements, loc) = (m.ty(tile), m.op(used).loc);
        let mut b = m.at(block, at);
        b.loc = loc;
        let load = b.op(S::LocalLoad, &[&[buffer], &[]], [], &[elements], &[]);
        let loaded = m.result(load);
        m.replace_all_uses(tile, loaded);
        let (block, at) = place(m, made);
        store_at(m, (block, at + 1), [tile, buffer], made, true);
        Ok(())
    }
}
