//! Matmuls whose operands shared memory cannot hold add parts of K in a loop.
//!
//! ```text
//! acc' = acc + a · b      →      acc' = for part in 0..16 iter(acc) { acc + a[:, part] · b[part, :] }
//! ```
//! Operands that are loaded for the matmul alone go into the loop, which is then one like that of any matmul: its loads run
//! ahead, and its matmuls are asynchronous. An operand that stays the same in a loop around it is loaded again in each
//! iteration of that, from the second-level cache as a rule: left whole, it would be in registers if it has no room beside two
//! stages of the other operand. Warps' matmuls take parts of what is computed, too, such as attention's weights.

use super::along_k::Source;
use super::buffers::{RESERVE, tile_bytes};
use super::limits::{ENOUGH_STAGES, FEWEST_STAGES, MOST_IN_BLOCK};
use super::missed::Log;
use super::operands::is_stationary;
use super::pipeline::slice::{Map, copy};
use super::strips::dims::is_splat;
use crate::dialect::cuda_tile::Op as C;
use crate::facts::matmul::{Matmul, Side};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::build::constant;
use crate::lower::tileas::look::{elements, loop_around, place, together};
use crate::target::{Feature, Target};

/// Most bytes of a row of a part along K: those of the widest swizzle of shared memory.
const WIDEST: u64 = 128;
/// Fewest elements of a part along K: of the deepest instruction of a warp.
const LEAST: u64 = 32;

/// What is done, in messages.
const WHAT: &str = "matmul by parts of K";

/// Puts every such matmul under `body` in a loop.
pub fn cut(m: &mut Module, body: BlockId, target: &Target, log: &mut Log) {
    let ops = m.ops_under(body);
    // Work in strips makes the operand that stays smaller.
    let strips = together(m, &ops, &|v| elements(m, v)) > MOST_IN_BLOCK;
    for op in ops {
        let Some(depth) = Depth::of(m, op, target) else {
            continue;
        };
        let room = u64::from(target.shared_per_block());
        if depth.held(m, body, op) <= room && !depth.waits(m, body, op, target)
            || strips && depth.stays(m, body, op)
        {
            continue;
        }
        match depth.part(room) {
            _ if !depth.is_brought(m) => log.note(
                m,
                op,
                WHAT,
                "an operand is not loaded, or something else uses what is loaded",
            ),
            Some(part) => {
                let how = format!(
                    "a loop adds up products of {part} of {} elements of K, for shared memory holds no more",
                    depth.k
                );
                log.changed(m.op(op).loc, WHAT, how);
                depth.apply(m, body, op, part);
            }
            None => log.note(m, op, WHAT, "shared memory has no room for even a short part of K: fewer rows or columns would fit"),
        }
    }
}

/// A matmul of two dimensions, and how large its operands are.
struct Depth {
    /// left and right
    operands: [ValueId; 2],
    sources: [Source; 2],
    acc: ValueId,
    /// elements of a row
    k: u64,
    /// bits of all rows and columns that are loaded for each element of K
    slice: u64,
    /// bits of the wider element
    widest: u64,
    /// Whether warps multiply, which take parts of computed operands.
    by_warps: bool,
}

impl Depth {
    fn of(m: &Module, op: OpId, target: &Target) -> Option<Depth> {
        let matmul = Matmul::of(m.op(op)).filter(|v| v.scales.is_none())?;
        let (left, &[rows, k]) = m.types.as_tile(m.ty(matmul.lhs))? else {
            return None;
        };
        let (right, &[_, columns]) = m.types.as_tile(m.ty(matmul.rhs))? else {
            return None;
        };
        let bits = |ty| m.types.bits(ty).map(u64::from);
        let (left, right) = (bits(left)?, bits(right)?);
        let operands = [matmul.lhs, matmul.rhs];
        let sources = operands.map(|v| Source::of(m, op, v));
        let loaded = |side: usize, bits: u64| sources[side].load().map_or(0, |_| bits);
        Some(Depth {
            operands,
            sources,
            acc: matmul.acc,
            k,
            slice: loaded(0, rows * left) + loaded(1, columns * right),
            widest: left.max(right),
            by_warps: !target.has(Feature::Wgmma) && !target.has(Feature::Tcgen05),
        })
    }

    /// Whether parts of both operands can be had: of different loads, or, where warps multiply, of a tile that is computed
    /// and takes little scratch memory beside the other one.
    fn is_brought(&self, m: &Module) -> bool {
        let bytes = self.operands.map(|v| tile_bytes(m, v));
        let small = |computed: usize, other: usize| {
            self.by_warps && bytes[computed] <= (RESERVE / 2).min(bytes[other] / 4)
        };
        match self.sources.map(Source::load) {
            [Some(left), Some(right)] => left != right,
            [None, Some(_)] => small(0, 1),
            [Some(_), None] => small(1, 0),
            [None, None] => false,
        }
    }

    /// Whether warps multiply, and the larger operand, in another shape than it is loaded, stays the same in the loop around.
    fn stays(&self, m: &Module, body: BlockId, op: OpId) -> bool {
        let bytes = self.operands.map(|v| tile_bytes(m, v));
        let stays = |side: usize| {
            matches!(
                self.sources[side],
                Source::Loaded {
                    shaped: Some(_),
                    ..
                }
            ) && bytes[side] >= bytes[1 - side]
                && is_stationary(m, body, self.operands[side], op)
        };
        self.by_warps && (stays(0) || stays(1))
    }

    /// Whether a loop would wait for what it loads for the matmul, which is no sum that goes on: all warps copy, and there is
    /// no room for two stages of it.
    fn waits(&self, m: &Module, body: BlockId, op: OpId, target: &Target) -> bool {
        let all_copy = target.has(Feature::CpAsync) && !target.has(Feature::Tma);
        let sources = self.sources.map(Source::load);
        let begins = m.def_op(self.acc).is_some_and(|o| is_splat(m, o));
        if !all_copy
            || !(begins || sources.contains(&None))
            || loop_around(m, body, m.op(op).block).is_none()
        {
            return false;
        }
        let bytes = self.operands.iter().zip(sources).map(|(&v, load)| {
            let stages = match load {
                Some(_) if !is_stationary(m, body, v, op) => FEWEST_STAGES,
                _ => 1,
            };
            stages * tile_bytes(m, v)
        });
        bytes.sum::<u64>() > u64::from(target.shared_per_block())
    }

    /// Bytes of both operands; where the larger one stays the same in the loop around the matmul, of two stages of the
    /// other.
    fn held(&self, m: &Module, body: BlockId, op: OpId) -> u64 {
        let bytes = self.operands.map(|v| tile_bytes(m, v));
        let staying = self.operands.map(|v| is_stationary(m, body, v, op));
        let streamed = match staying {
            [true, false] if bytes[0] >= bytes[1] => bytes[1],
            [false, true] if bytes[1] >= bytes[0] => bytes[0],
            _ => 0,
        };
        bytes.iter().sum::<u64>() + streamed
    }

    /// The elements of K in a part: such that enough stages fit, or few.
    fn part(&self, room: u64) -> Option<u64> {
        let longest = (8 * WIDEST / self.widest.max(1)).min(self.k / 2);
        let fitting = |stages: u64| {
            let mut part = longest;
            while stages * part * self.slice / 8 > room {
                part /= 2;
            }
            (part >= LEAST && self.k.is_multiple_of(part)).then_some(part)
        };
        let computed = self.sources.iter().any(|s| s.load().is_none());
        let few = || fitting(FEWEST_STAGES).filter(|_| computed);
        fitting(ENOUGH_STAGES).or_else(few)
    }

    fn apply(&self, m: &mut Module, body: BlockId, op: OpId, part: u64) {
        let (block, at) = place(m, op);
        let (acc_ty, loc) = (m.ty(self.acc), m.op(op).loc);
        let i32_ty = m.types.int(32);
        let number = m.types.tile(i32_ty, &[]);
        let mut b = m.at(block, at);
        let bounds = [0, (self.k / part) as i64, 1].map(|n| constant(&mut b, n, number));
        let region = m.new_region();
        let inside = m.new_block(region, &[number, acc_ty]);
        let &[counter, acc] = m.block(inside).args.as_slice() else {
            return;
        };
        let parts = [(0, 1), (1, 0)].map(|(side, dim)| {
            let tile = self.operands[side];
            self.sources[side].part(m, inside, tile, (dim, part), counter)
        });
        let sum = copy(m, op, inside, &mut Map::default());
        // One tile may be several of its operands.
        m.set_operand(sum, Side::Left.name(), parts[0]);
        m.set_operand(sum, Side::Right.name(), parts[1]);
        m.set_operand(sum, "acc", acc);
        let sum = m.result(sum);
        m.at_end(inside).op(C::Continue, &[&[sum]], [], &[], &[]);
        let [from, to, step] = bounds;
        let groups: [&[ValueId]; 4] = [&[from], &[to], &[step], &[self.acc]];
        let mut b = m.at(block, at + bounds.len());
        b.loc = loc;
        let whole = b.op(C::For, &groups, [None], &[acc_ty], &[region]);
        let (old, new) = (m.result(op), m.result(whole));
        m.replace_all_uses(old, new);
        m.erase(op);
        for source in self.sources {
            source.erase(m, body);
        }
    }
}
