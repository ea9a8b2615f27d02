//! Where two blocks should share a multiprocessor so that one multiplies while the other computes.
//!
//! In a loop whose matmul reads what is computed from another's result, attention's for one, each waits for the other:
//! the tensor cores rest while the warps compute, and the warps while they multiply. Of two such blocks each does the
//! one while the other does the other. They share the columns of tensor memory, too.

use super::fits::takes;
use crate::ir::{BlockId, Module};
use crate::layout::tensor::{COLUMNS, LANES};
use crate::lower::tileas::look::{is_chained, is_matmul, loop_around};
use crate::target::Target;
use rustc_hash::FxHashMap;

/// Columns of scores from which on computing takes as long as multiplying: with fewer, memory decides, and one block
/// has more copies on their way than two.
const LEAST_SCORES: u64 = 64;

/// Blocks that should share a multiprocessor.
pub fn blocks(m: &Module, body: BlockId, target: &Target, warps: u64) -> u64 {
    let mut columns: FxHashMap<BlockId, u64> = FxHashMap::default();
    let mut wide = true;
    for op in m.ops_under(body).into_iter().filter(|&o| is_matmul(m, o)) {
        let block = m.op(op).block;
        let Some(extents) = takes(m, op, target).filter(|e| e.rows <= LANES) else {
            return 1;
        };
        if loop_around(m, body, block).is_some() {
            *columns.entry(block).or_default() += extents.columns;
            wide &= extents.columns >= LEAST_SCORES;
        }
    }
    let most = columns.values().copied().max().unwrap_or(0);
    let shares = warps == 4 && wide && (1..=COLUMNS / 2).contains(&most);
    if shares && is_chained(m, body) { 2 } else { 1 }
}
