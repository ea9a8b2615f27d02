//! How many blocks of a kernel that only streams tiles should share a multiprocessor, where it does not say.
//!
//! A block loads, computes and stores: while one computes, others must have their loads under way, or memory rests. Left
//! alone, ptxas takes as many registers as let it start every load and write out all arithmetic side by side, and
//! of a kernel with 64 elements in a thread one block of eight warps is left on a multiprocessor. What must live at once
//! is less; asked for room for more blocks, ptxas computes a part after the other.

use super::decided::Plan;
use super::limits::{BUSY_WARPS, REGISTERS_BESIDE_LOADS};
use super::pressure;
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpId};
use crate::target::Target;

/// With fewer registers of a thread for tiles, so many warps find room without a limit.
const FEW: u64 = 32;

/// The blocks of the function with this `body` that should share a multiprocessor; `None`: one, or as many as happen to fit.
pub fn blocks(m: &Module, body: BlockId, target: &Target, plan: &Plan) -> Option<i64> {
    let multiplies = |&o: &OpId| Matmul::of(m.op(o)).is_some();
    if plan.roles.is_some() || m.ops_under(body).iter().any(multiplies) {
        return None;
    }
    let tiles = pressure::registers(m, body, plan.tile_warps);
    if tiles < FEW {
        return None;
    }
    // What is computed of a part of them lives beside them: half as much again, or ptxas spills. It also computes what is
    // stored behind a store: all that is made of lives across that.
    let across = pressure::registers_across(m, body, plan.tile_warps);
    let needed = across.max(tiles + tiles / 2) + REGISTERS_BESIDE_LOADS;
    let fit = target.blocks_by_registers(plan.tile_warps, needed);
    let blocks = fit.min(BUSY_WARPS.div_ceil(plan.tile_warps.max(1)));
    i64::try_from(blocks).ok().filter(|&b| b > 1)
}
