//! How many blocks of a kernel that multiplies should share a multiprocessor, where its hints do not say.
//!
//! Warps that copy and multiply wait for each other at a barrier in each iteration, and while they compute between matmuls
//! (a softmax) the matrix unit rests. A second block has work then. It pays where both have registers for their tiles
//! and room for two stages of what they load: one ring of four stages is worth less.

use super::buffers::RESERVE;
use super::limits::{REGISTERS_BESIDE_LOADS, REGISTERS_BESIDE_TILES};
use super::pressure;
use crate::ir::{BlockId, Module, OpId};
use crate::lower::hints::Hints;
use crate::lower::tileas::look::{elements, is_chained, together};
use crate::target::{Feature, Target};

/// Blocks that share a multiprocessor where nothing asks for more.
const BLOCKS: u64 = 2;
/// Registers of a thread beside its tiles where nobody has asked for the limit that a second block brings: addresses,
/// masks, what is computed between matmuls. With fewer, ptxas spills in causal attention.
pub(super) const REGISTERS_BESIDES: u64 = 72;

/// The blocks that share a multiprocessor, as far as they are known before shared memory is planned.
#[derive(Clone, Copy, Debug)]
pub struct Neighbours {
    pub blocks: u64,
    /// Whether the kernel's hints ask for them.
    pub asked: bool,
}

impl Neighbours {
    /// Those that the hints of `func` ask for; else as many as registers admit of blocks of `warps`: all of them, and
    /// those that hold tiles. Where tiles come through registers, the plan of that says how many.
    pub fn of(m: &Module, func: OpId, target: &Target, warps: [u64; 2]) -> Self {
        let asked = Self::asked(m, func, target);
        if asked.asked || !target.has(Feature::CpAsync) {
            return asked;
        }
        let fit = by_registers(m, func, target, warps, REGISTERS_BESIDES).unwrap_or(1);
        Self {
            blocks: fit.clamp(1, BLOCKS),
            asked: false,
        }
    }

    /// A block with the multiprocessor to itself, but for what hints say.
    pub fn asked(m: &Module, func: OpId, target: &Target) -> Self {
        let asked = Hints::of(m, func, target).occupancy;
        Self {
            blocks: asked.and_then(|o| u64::try_from(o).ok()).unwrap_or(1),
            asked: asked.is_some(),
        }
    }

    /// Blocks of `warps` that multiply as a warpgroup which should share a multiprocessor, as far as shared memory has room.
    /// Where a matmul reads what is computed of another's result, one block multiplies while the other computes, even if each
    /// has a single stage of every ring, and a producer warpgroup leaves each of them registers for the tiles of a block with
    /// the multiprocessor to itself.
    pub fn in_turns(self, m: &Module, body: BlockId, warps: u64) -> u64 {
        let wanted = !self.asked || self.blocks == BLOCKS;
        if warps == 4 && wanted && is_chained(m, body) {
            BLOCKS
        } else {
            1
        }
    }

    /// Bytes of shared memory that rings may take, wanted first: a block's share; else all that a block can have.
    pub fn rooms(self, target: &Target) -> [u64; 2] {
        [target.shared_of_each(self.blocks), target.shared_of_each(1)]
    }

    /// The blocks to limit the registers of `func` for, where rings take so many `bytes` of shared memory: those that hints
    /// ask for, as far as registers admit them, or those that have room; `None`: nothing asks for more than one.
    pub fn wanted(
        self,
        m: &Module,
        func: OpId,
        target: &Target,
        warps: [u64; 2],
        bytes: u64,
    ) -> Option<i64> {
        let blocks = match self.asked {
            true => {
                let fit = by_registers(m, func, target, warps, REGISTERS_BESIDE_LOADS)?;
                self.blocks.min(fit).max(1)
            }
            false => {
                let fits = bytes + RESERVE <= target.shared_of_each(self.blocks);
                Some(self.blocks).filter(|&b| b > 1 && fits)?
            }
        };
        i64::try_from(blocks).ok()
    }
}

/// Blocks of `warps` (all of them, and those that hold tiles) that have registers for the tiles that live side by side and
/// `besides`.
fn by_registers(
    m: &Module,
    func: OpId,
    target: &Target,
    warps: [u64; 2],
    besides: u64,
) -> Option<u64> {
    let [all, tile_warps] = warps;
    let body: BlockId = m.body_of(func, 0)?;
    let ops = m.ops_under(body);
    let carried = together(m, &ops, &|v| elements(m, v)) / (32 * tile_warps.max(1));
    let needed =
        (carried + REGISTERS_BESIDE_TILES).max(pressure::registers(m, body, tile_warps) + besides);
    Some(target.blocks_by_registers(all, needed))
}
