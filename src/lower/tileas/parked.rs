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

use super::buffers::{RESERVE, ROWS, allocated, shared_type, swizzled, tile_bytes};
use super::decided::Kernel;
use super::fragments::by_threads;
use super::limits::REGISTERS_BESIDE_TILES;
use super::look::{ancestor_in, blocks_of, place};
use super::missed::Log;
use super::pressure::{self, Weights};
use super::staging::store_at;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Diagnostic, Module, OpId, ValueId};
use crate::lower::unsupported;
use rustc_hash::FxHashMap;

/// What is done, in messages.
const WHAT: &str = "tile waits in shared memory";
/// Fewest registers of a thread that are worth it.
const WORTH: u64 = 8;

/// Parks tiles of the blocks of a kernel that multiply by multiply-adds, as long as a thread has too few registers and shared
/// memory has room.
pub fn tiles(m: &mut Module, kernel: &Kernel<'_>, log: &mut Log) -> Result<(), Diagnostic> {
    let body = kernel.body;
    let ops = m.ops_under(body);
    let dots: Vec<OpId> = ops.iter().copied().filter(|&o| by_threads(m, o)).collect();
    let blocks = blocks_of(m, dots.iter().copied());
    let has = kernel.registers().saturating_sub(REGISTERS_BESIDE_TILES);
    let operands = dots.iter().filter_map(|&o| Matmul::of(m.op(o)));
    let scratch = operands.map(|d| tile_bytes(m, d.lhs) + tile_bytes(m, d.rhs));
    let taken = scratch.max().unwrap_or(0).max(RESERVE) + allocated(m, &ops);
    let shared = kernel.target.shared_of_each(kernel.blocks());
    let mut room = shared.saturating_sub(taken);
    for block in blocks {
        while let Some(parked) = Tiles::of(m, kernel, block).to_park(has, room) {
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

/// A tile that lives across the operation of a block at which most registers live.
struct Parked {
    tile: ValueId,
    made: OpId,
    /// The first operation of the block that uses it.
    used: OpId,
    /// Registers that live there.
    living: u64,
}

/// The tiles of a block that can be parked, and how many registers live there.
struct Tiles<'m> {
    ops: &'m [OpId],
    /// Registers that live at the operations that stand, by their places, the most first.
    living: Vec<(usize, u64)>,
    tiles: Vec<Tile>,
}

/// A tile that a block makes and uses.
struct Tile {
    value: ValueId,
    registers: u64,
    bytes: u64,
    /// The places in the block where it is made, and first used.
    made: usize,
    used: usize,
}

impl<'m> Tiles<'m> {
    fn of(m: &'m Module, kernel: &Kernel<'_>, block: BlockId) -> Self {
        let (body, warps) = (kernel.body, kernel.warps());
        let weights = Weights::of(m, body, warps);
        let ops = m.block(block).ops.as_slice();
        let around = pressure::around(m, body, warps);
        let living = |op: OpId| {
            let around = around.get(&op).copied().unwrap_or_default();
            let results = m.op(op).results.iter().filter(|&&r| weights.root(r) == r);
            let made: u64 = results.map(|&r| weights.weight(r)).sum();
            let parts = view::Dot::of(m.op(op)).and_then(|v| v.parts()).unwrap_or(1);
            let made = made / u64::try_from(parts).unwrap_or(1).max(1);
            around.before.max(around.behind + made)
        };
        let standing = ops.iter().enumerate();
        let standing = standing.filter(|&(_, &op)| Weights::stands(m, op));
        let mut living: Vec<(usize, u64)> = standing.map(|(i, &op)| (i, living(op))).collect();
        living.sort_by_key(|&(i, living)| (std::cmp::Reverse(living), i));
        let places = ops.iter().enumerate().map(|(i, &op)| (op, i));
        let places: FxHashMap<OpId, usize> = places.collect();
        let tile = |(made, &op): (usize, &OpId)| {
            let &value = m.op(op).results.first()?;
            let registers = weights.weight(value);
            let two = m.types.as_tile(m.ty(value))?.1.len() == 2;
            if registers < WORTH || weights.root(value) != value || !two {
                return None;
            }
            let users = m.users(value).into_iter();
            let place = |u: OpId| places.get(&ancestor_in(m, body, block, u)?).copied();
            let used: Option<Vec<usize>> = users.map(place).collect();
            Some(Tile {
                value,
                registers,
                bytes: tile_bytes(m, value),
                made,
                used: used?.into_iter().min()?,
            })
        };
        Tiles {
            ops,
            living,
            tiles: ops.iter().enumerate().filter_map(tile).collect(),
        }
    }

    /// Where more than `has` live, the most first: the smallest tile that leaves no more there, or the largest, if it has a
    /// place in `room` bytes.
    fn to_park(&self, has: u64, room: u64) -> Option<Parked> {
        let crowded = self.living.iter().take_while(|&&(_, living)| living > has);
        let mut parked = crowded.filter_map(|&(at, living)| {
            let enough = |t: &Tile| living.saturating_sub(t.registers) <= has;
            // What a block's end hands on would be read for nothing.
            let across = |t: &&Tile| t.made < at && t.used > at && t.used + 1 < self.ops.len();
            let fits = self.tiles.iter().filter(|t| t.bytes <= room).filter(across);
            let best = fits.min_by_key(|t| match enough(t) {
                true => (false, t.registers),
                false => (true, u64::MAX - t.registers),
            })?;
            Some(Parked {
                tile: best.value,
                made: self.ops[best.made],
                used: self.ops[best.used],
                living,
            })
        });
        parked.next()
    }
}

impl Parked {
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
