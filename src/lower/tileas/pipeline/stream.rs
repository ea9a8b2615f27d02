//! Tiles that loops load for something else than matmuls: rows that are normalised, parts that are summed.
//!
//! Without a ring, a block waits for the loads of each iteration before it works on them. Loads that run ahead stay in
//! flight under the work. That takes shared memory, of which the blocks of a multiprocessor have one supply: stages are
//! as many as keep memory busy, and no more than leave the blocks their places.

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::{FactMap, iterations};
use crate::ir::{BlockId, Module, OpId};
use crate::lower::hints::Hints;
use crate::lower::tileas::buffers::{RESERVE, tile_bytes};
use crate::lower::tileas::look::{is_matmul, loop_around};
use crate::lower::tileas::pressure;
use crate::target::Target;

/// Smallest tile that a ring pays for, in bytes: a sector of the cache.
const SMALLEST: u64 = 32;

/// Registers of a thread besides its tiles.
const OTHER_REGISTERS: u64 = 32;

/// Bytes of shared memory for barriers and alignment where nothing else is in it.
const LITTLE: u64 = 2048;

/// Whether matmuls in loops under `body` want the shared memory that rings of streams would take.
pub fn is_for_matmuls(m: &Module, body: BlockId) -> bool {
    let in_loop = |o: OpId| loop_around(m, body, m.op(o).block).is_some();
    m.ops_under(body)
        .iter()
        .any(|&o| is_matmul(m, o) && in_loop(o))
}

/// Whether a ring may pay for a load in a loop under `body`, or why not.
pub fn worth(m: &Module, facts: &FactMap, body: BlockId, load: OpId) -> Result<(), String> {
    if runs_once(m, facts, body, m.op(load).block) {
        return Err(
            "its loop has one iteration, so that there is no next tile to load ahead".to_owned(),
        );
    }
    let bytes = tile_bytes(m, m.result(load));
    if bytes < SMALLEST {
        return Err(format!(
            "its tile has {bytes} bytes, and a pipeline pays from {SMALLEST} on"
        ));
    }
    Ok(())
}

/// Whether each thread of `warps` has words to copy of what a load loads, or why not: less would be copied element by
/// element, by loads that are waited for.
pub fn copies_of_words(m: &Module, load: OpId, warps: u64) -> Result<(), String> {
    let through_pointers = S::of(m.op(load).kind) == Some(S::Load);
    match through_pointers && tile_bytes(m, m.result(load)) < 4 * 32 * warps {
        true => Err(format!(
            "its tile has less than four bytes for each thread of {warps} warps: a larger tile or fewer warps (`num_worker_warps_per_cta`) would have"
        )),
        false => Ok(()),
    }
}

/// Whether no loop around `block` runs more than one iteration.
fn runs_once(m: &Module, facts: &FactMap, body: BlockId, mut block: BlockId) -> bool {
    while let Some(around) = loop_around(m, body, block) {
        if iterations(m, facts, around).is_none_or(|n| *n.end() > 1) {
            return false;
        }
        block = m.op(around).block;
    }
    true
}

/// A block's share of its multiprocessor.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Blocks that share the multiprocessor, as far as threads and registers say and the kernel asks.
    pub blocks: u64,
    /// Whether registers do for even one block.
    pub fits: bool,
    /// Bytes that should be under way.
    pub busy: u64,
    /// Blocks that the kernel asks for.
    asked: Option<u64>,
    target: Target,
    /// Bytes of shared memory that are needed beside rings.
    scratch: u64,
}

impl Share {
    /// The share of a block of `warps`: all of them, and those that hold tiles.
    pub fn of(m: &Module, func: OpId, body: BlockId, target: &Target, warps: [u64; 2]) -> Share {
        let threads = 32 * warps[0];
        let registers = pressure::registers(m, body, warps[1]) + OTHER_REGISTERS;
        let by_registers = target.blocks_by_registers(warps[0], registers);
        let by_threads = u64::from(target.threads_per_sm()) / threads.max(1);
        let hints = Hints::of(m, func, target);
        let asked = hints.occupancy.and_then(|o| u64::try_from(o).ok());
        let blocks = by_registers
            .min(by_threads)
            .min(asked.unwrap_or(u64::MAX))
            .max(1);
        let moves = [C::Reduce, C::Scan, C::Permute, C::Reshape, C::Cat];
        let has_scratch = |&o: &OpId| C::of(m.op(o).kind).is_some_and(|k| moves.contains(&k));
        Share {
            blocks,
            fits: by_registers > 0,
            busy: target.bytes_in_flight(),
            asked,
            target: *target,
            scratch: match m.ops_under(body).iter().any(has_scratch) {
                true => RESERVE,
                false => LITTLE,
            },
        }
    }

    /// Whether blocks should keep `bytes` each that they would load again, or why not: where the cache does not, and as
    /// many blocks have room for theirs as keep memory busy while others work.
    pub fn holds(&self, bytes: u64) -> Result<(), String> {
        let cache = self.target.cache_per_sm();
        let live = self.blocks * bytes;
        if live <= cache {
            return Err(format!(
                "the second-level cache keeps them: {live} bytes for the blocks of a multiprocessor, whose share of it is {cache}"
            ));
        }
        let fit = (1..=self.blocks)
            .rev()
            .find(|&n| self.room(n) >= bytes)
            .unwrap_or(0);
        // Half of the blocks load while the others work.
        if fit < 2 || fit * bytes < 2 * self.busy || self.asked.is_some_and(|a| fit < a) {
            return Err(format!(
                "they take {bytes} bytes of shared memory, which has room for those of {fit} of the {} blocks on a multiprocessor",
                self.blocks
            ));
        }
        Ok(())
    }

    /// Bytes for the rings of a block that shares its multiprocessor with `sharing - 1` others.
    fn room(&self, sharing: u64) -> u64 {
        let own = self.target.shared_of_each(sharing);
        own.saturating_sub(self.scratch)
    }

    /// Stages, from `least` to `most`, of rings that take `stage` bytes for each, or why there are none.
    pub fn stages(&self, stage: u64, [least, most]: [u64; 2]) -> Result<u64, String> {
        let mut sharing = self.blocks;
        while sharing > 0 {
            let fit = (self.room(sharing) / stage.max(1)).min(most);
            // Two stages of half the blocks are as much in flight as one tile of each of them.
            let as_busy = 2 * sharing >= self.blocks || 2 * stage * sharing >= self.busy;
            if fit >= 2 && as_busy {
                let wanted = self.busy.div_ceil(stage * sharing).next_power_of_two();
                return Ok(wanted.clamp(2, 1 << fit.ilog2()));
            }
            sharing /= 2;
        }
        let blocks = self.blocks;
        // What is worked on is in registers: the next tile has the stage.
        if least == 1 && self.room(blocks) >= stage {
            return Ok(1);
        }
        Err(format!(
            "{} of {stage} bytes do not fit in the shared memory of a block, or leave too few of the {blocks} blocks that share a multiprocessor: smaller tiles would fit",
            if least == 1 { "stages" } else { "two stages" },
        ))
    }
}
