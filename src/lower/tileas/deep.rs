//! Matmuls whose operands shared memory cannot hold add parts of K in a loop.
//!
//! ```text
//! acc' = acc + a · b      →      acc' = for part in 0..16 iter(acc) { acc + a[:, part] · b[part, :] }
//! ```
//! The operands have to come from loads that nothing else uses; those go into the loop, which is then one like that of
//! any matmul: its loads run ahead, and its matmuls are asynchronous. An operand that stays the same in a loop around
//! it is loaded again in each iteration of that, from the second-level cache as a rule: left whole, it would be in
//! registers if it has no room beside two stages of the other operand.

use super::along_k::{loaded, set_length};
use super::buffers::tile_bytes;
use super::limits::ENOUGH_STAGES;
use super::missed::Log;
use super::operands::is_stationary;
use super::pipeline::slice::{Map, copy};
use super::strips::parts::begin_at_part;
use crate::dialect::cuda_tile::Op as C;
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::build::constant;
use crate::lower::tileas::look::place;
use crate::target::Target;

/// Most bytes of a row of a part along K: those of the widest swizzle of shared memory.
const WIDEST: u64 = 128;
/// Fewest elements of a part along K: of the deepest instruction of a warp.
const LEAST: u64 = 32;

/// What is done, in messages.
const WHAT: &str = "matmul by parts of K";

/// Puts every such matmul under `body` in a loop.
pub fn cut(m: &mut Module, body: BlockId, target: &Target, log: &mut Log) {
    for op in m.ops_under(body) {
        let Some(depth) = Depth::of(m, op) else {
            continue;
        };
        let room = u64::from(target.shared_per_block());
        if depth.held(m, body, op) <= room {
            continue;
        }
        let loads = (loaded(m, op, depth.lhs), loaded(m, op, depth.rhs));
        match (loads, depth.part(room)) {
            ((Some(lhs), Some(rhs)), Some(part)) if lhs != rhs => {
                let how = format!(
                    "a loop adds up products of {part} of {} elements of K, for shared memory holds no more",
                    depth.k
                );
                log.changed(m.op(op).loc, WHAT, how);
                depth.apply(m, op, [(lhs, 1), (rhs, 0)], part)
            }
            ((Some(lhs), Some(rhs)), None) if lhs != rhs => {
                log.note(m, op, WHAT, "shared memory has no room for even a short part of K: fewer rows or columns would fit");
            }
            _ => log.note(
                m,
                op,
                WHAT,
                "an operand is not loaded, or something else uses what is loaded",
            ),
        }
    }
}

/// A matmul of two dimensions, and how large its operands are.
struct Depth {
    lhs: ValueId,
    rhs: ValueId,
    acc: ValueId,
    /// elements of a row
    k: u64,
    /// bits of all rows and columns for each element of K
    slice: u64,
    /// bits of the wider element
    widest: u64,
}

impl Depth {
    fn of(m: &Module, op: OpId) -> Option<Depth> {
        let matmul = Matmul::of(m.op(op)).filter(|v| v.scales.is_none())?;
        let (left, &[rows, k]) = m.types.as_tile(m.ty(matmul.lhs))? else {
            return None;
        };
        let (right, &[_, columns]) = m.types.as_tile(m.ty(matmul.rhs))? else {
            return None;
        };
        let bits = |ty| m.types.bits(ty).map(u64::from);
        let (left, right) = (bits(left)?, bits(right)?);
        Some(Depth {
            lhs: matmul.lhs,
            rhs: matmul.rhs,
            acc: matmul.acc,
            k,
            slice: rows * left + columns * right,
            widest: left.max(right),
        })
    }

    /// Bytes of both operands; where the larger one stays the same in the loop around the matmul, of two stages of the
    /// other.
    fn held(&self, m: &Module, body: BlockId, op: OpId) -> u64 {
        let bytes = [self.lhs, self.rhs].map(|v| tile_bytes(m, v));
        let staying = [self.lhs, self.rhs].map(|v| is_stationary(m, body, v, op));
        let streamed = match staying {
            [true, false] if bytes[0] >= bytes[1] => bytes[1],
            [false, true] if bytes[1] >= bytes[0] => bytes[0],
            _ => 0,
        };
        bytes.iter().sum::<u64>() + streamed
    }

    /// The elements of K in a part.
    fn part(&self, room: u64) -> Option<u64> {
        let mut part = (8 * WIDEST / self.widest.max(1)).min(self.k / 2);
        while ENOUGH_STAGES * part * self.slice / 8 > room {
            part /= 2;
        }
        (part >= LEAST && self.k.is_multiple_of(part)).then_some(part)
    }

    /// `loads`: of each operand, and which of its dimensions is K.
    fn apply(&self, m: &mut Module, op: OpId, loads: [(OpId, usize); 2], part: u64) {
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
        let mut map: Map = [(self.acc, acc)].into_iter().collect();
        for (load, dim) in loads {
            let new = copy(m, load, inside, &mut map);
            set_length(m, new, dim, part);
            begin_at_part(m, new, dim, part as i64, counter);
        }
        let sum = copy(m, op, inside, &mut map);
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
        for (load, _) in loads {
            m.erase(load);
        }
    }
}
