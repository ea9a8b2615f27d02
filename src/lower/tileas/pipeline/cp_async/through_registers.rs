//! Whether the next tiles of a loop can wait in registers while its matmuls run, and how many stages they go to.
//!
//! What waits there takes registers from the matmuls, and stages take shared memory from other blocks. Where a thread has
//! not that many registers the assembler spills, and where fewer blocks share a multiprocessor less is hidden: either costs
//! more than loads that are waited for. A loop is left alone unless all that lives at once is known to fit.

use super::super::{Prefetch, prefetch};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::view;
use crate::facts::matmul::Matmul;
use crate::facts::{FactMap, iterations};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::layout::mma::MmaSync;
use crate::lower::hints::Hints;
use crate::lower::tileas::buffers::{RESERVE, stage_bytes, tile_bytes};
use crate::lower::tileas::expected::Expected;
use crate::lower::tileas::fragments::mma_of;
use crate::lower::tileas::limits::{
    MAX_STAGES_THROUGH_REGISTERS, REGISTERS_BESIDE_LOADS, REGISTERS_BESIDE_TILES,
};
use crate::lower::tileas::look::{elements, is_matmul, is_view, reach_arranged, shows};
use crate::lower::tileas::pressure;
use crate::target::Target;

/// A kernel whose loops are looked at.
pub(super) struct Kernel<'m> {
    pub m: &'m Module,
    pub func: OpId,
    /// Its body.
    pub top: BlockId,
    pub target: &'m Target,
    /// Warps that hold tiles.
    pub warps: u64,
    /// How these will lie in registers.
    pub expected: &'m Expected,
}

/// What a loop gets.
pub(super) struct Fit {
    pub stages: u64,
    /// Blocks that share a multiprocessor then, by which registers can be limited.
    pub blocks: u64,
}

/// Registers of a thread for the operands of a matmul.
#[derive(Clone, Copy, Default)]
struct Fragments {
    /// All of them.
    whole: u64,
    /// Those of two steps along K.
    steps: u64,
    /// All of operands that the loop does not load: they are there before the matmul.
    others: u64,
}

impl Fragments {
    fn max(self, other: Self) -> Self {
        Fragments {
            whole: self.whole.max(other.whole),
            steps: self.steps.max(other.steps),
            others: self.others.max(other.others),
        }
    }
}

impl Kernel<'_> {
    /// What a loop's tiles get where `rings` loops share the memory, or why its loads are waited for.
    pub fn fit(&self, facts: &FactMap, stream: &Prefetch, rings: u64) -> Result<Fit, String> {
        if iterations(self.m, facts, stream.for_op).is_some_and(|n| *n.end() <= 1) {
            return Err(
                "the loop has one iteration, so that there is no next tile to load ahead"
                    .to_owned(),
            );
        }
        let fragments = self.fragments(stream)?;
        let held = pressure::registers(self.m, self.top, self.warps);
        let needed = self.registers(stream, held, fragments.steps)?;
        let fit = self.shared(stream, rings, needed)?;
        // Without stages, matmuls read whole operands in registers.
        let before = self.blocks(held + fragments.whole + REGISTERS_BESIDE_LOADS);
        if 4 * fit.blocks < 3 * before {
            return Err(format!(
                "with its stages, {} blocks would share a multiprocessor, and without them {before} do: smaller tiles would need less shared memory",
                fit.blocks
            ));
        }
        let surely = self.blocks(needed + fragments.others);
        Ok(Fit {
            blocks: fit.blocks.min(before).min(surely),
            ..fit
        })
    }

    /// The operands of the loop's largest matmul, if all of its matmuls are done by instructions on tiles as they are loaded.
    fn fragments(&self, stream: &Prefetch) -> Result<Fragments, String> {
        let m = self.m;
        let under = m.ops_under(stream.body);
        let mut most = Fragments::default();
        for &dot in under.iter().filter(|&&o| is_matmul(m, o)) {
            let Some(matmul) = Matmul::of(m.op(dot)) else {
                continue;
            };
            most = most.max(self.fragments_of(stream, dot, matmul)?);
            for &load in &stream.loads {
                let reached = reach_arranged(m, &under, m.result(load));
                let computed = |v: ValueId| reached.contains(&v) && !shows(m, v, |o| o == load);
                if matmul.sources().any(computed) {
                    return Err("a tile is computed on between its load and its matmul".to_owned());
                }
            }
        }
        Ok(most)
    }

    fn fragments_of(
        &self,
        stream: &Prefetch,
        dot: OpId,
        matmul: Matmul,
    ) -> Result<Fragments, String> {
        let m = self.m;
        let holds = |mma: &MmaSync| mma.tile.holds_rows(mma.instruction);
        let Some(mma) = mma_of(m, dot, self.warps).filter(holds) else {
            let why = "no matrix instruction of the target takes these operands as they are loaded: they are converted, or multiplied and added one by one";
            return Err(why.to_owned());
        };
        let rank = m.types.as_tile(m.ty(matmul.lhs)).map(|t| t.1.len());
        if rank != Some(2) {
            return Err("its matmul has a batch dimension".to_owned());
        }
        let mut found = Fragments::default();
        for (operand, layout) in [(matmul.lhs, mma.a()), (matmul.rhs, mma.b())] {
            let bits = layout.map_or(0, |l| l.registers()) * u64::from(mma.element_bits);
            let registers = bits.div_ceil(32);
            found.whole += registers;
            if !shows(m, operand, |o| stream.loads.contains(&o)) {
                found.others += registers;
            }
        }
        let steps = mma.tile.k / mma.instruction.k;
        found.steps = (2 * found.whole).div_ceil(steps.max(2));
        Ok(found)
    }

    /// Registers that a thread needs for a loop, with the tiles that are `held`, if it has them.
    fn registers(&self, stream: &Prefetch, held: u64, operands: u64) -> Result<u64, String> {
        let (m, warps) = (self.m, self.warps);
        let of_thread = |&l: &OpId| tile_bytes(m, m.result(l)).div_ceil(4 * 32 * warps);
        let ahead: u64 = stream.loads.iter().map(of_thread).sum();
        // Two for the address of each access of 16 bytes.
        let needed = held + ahead + ahead / 2 + operands + REGISTERS_BESIDE_TILES;
        let blocks = self.asked(held + REGISTERS_BESIDE_LOADS);
        let available = self.target.registers_per_thread(warps * blocks);
        if needed > available {
            return Err(format!(
                "a thread has {available} registers and would need {needed}: {held} for tiles, {ahead} for the next ones, {operands} for operands, others for addresses; smaller tiles or more warps need fewer"
            ));
        }
        Ok(needed)
    }

    /// Blocks of a multiprocessor that the kernel asks for, as far as so many registers of a thread admit; else one.
    fn asked(&self, registers: u64) -> u64 {
        let asked = Hints::of(self.m, self.func, self.target).occupancy;
        let asked = asked.and_then(|o| u64::try_from(o).ok()).unwrap_or(1);
        let fit = self.target.blocks_by_registers(self.warps, registers);
        asked.min(fit).max(1)
    }

    /// Blocks that share a multiprocessor where a thread has so many registers.
    fn blocks(&self, registers: u64) -> u64 {
        let by_threads = u64::from(self.target.threads_per_sm()) / (32 * self.warps).max(1);
        let by_registers = self.target.blocks_by_registers(self.warps, registers);
        by_registers.min(by_threads).max(1)
    }

    /// Stages for which shared memory has room. Other blocks hide more than a second stage does: that is taken where as
    /// many blocks as so many `registers` of a thread admit have room for it.
    fn shared(&self, stream: &Prefetch, rings: u64, registers: u64) -> Result<Fit, String> {
        let (m, target) = (self.m, self.target);
        let bytes = stage_bytes(m, &stream.loads) * rings.max(1);
        let stages = |blocks: u64, scratch: u64| {
            let room = target.shared_of_each(blocks).saturating_sub(scratch);
            (room / bytes.max(1)).min(MAX_STAGES_THROUGH_REGISTERS)
        };
        let scratch = self.scratch(stream);
        let reserve = if self.is_plain(stream) { 0 } else { RESERVE };
        let most = stages(1, scratch.clamp(reserve, 2 * RESERVE));
        if most == 0 {
            let room = target.shared_of_each(1);
            return Err(format!(
                "a stage of {bytes} bytes and scratch do not fit in {room} bytes of shared memory: smaller tiles would"
            ));
        }
        let fit = |blocks: u64| Fit {
            stages: stages(blocks, scratch).min(most),
            blocks,
        };
        let fits = (1..=self.blocks(registers)).rev().map(fit);
        let found = fits.into_iter().find(|f| f.stages > 0);
        Ok(found.unwrap_or(Fit {
            stages: most,
            blocks: 1,
        }))
    }

    /// Bytes of scratch that are in use beside the ring, as far as they are known: what is stored in a loop around this
    /// one, or in a branch, is converted while the ring is not free.
    fn scratch(&self, stream: &Prefetch) -> u64 {
        let m = self.m;
        let known = prefetch::scratch(m, self.top, stream, self.expected);
        if m.op(stream.for_op).block == self.top {
            return known;
        }
        let ops = m.ops_under(self.top);
        let stores = ops.iter().filter_map(|&o| view::Store::of(m.op(o)));
        let bytes = stores.map(|s| tile_bytes(m, s.value()));
        bytes.max().unwrap_or(0).max(known)
    }

    /// Whether nothing but matmuls of what the ring brings works on tiles before the ring is drained for good: nothing
    /// else needs shared memory until then.
    fn is_plain(&self, stream: &Prefetch) -> bool {
        let m = self.m;
        let all = m.ops_under(self.top);
        let loops = |o: &&OpId| matches!(C::of(m.op(**o).kind), Some(C::For | C::Loop));
        if m.op(stream.for_op).block != self.top || all.iter().filter(loops).count() > 1 {
            return false;
        }
        let ops = m.block(self.top).ops.iter().copied();
        let before = ops.take_while(|&o| o != stream.for_op);
        let mut earlier = before.chain(m.ops_under(stream.body));
        earlier.all(|o| {
            let data = m.op(o);
            let mut values = data.operands.iter().chain(&data.results);
            let numbers = data.regions.is_empty() && values.all(|&v| elements(m, v) == 1);
            let kind = C::of(data.kind);
            let moves = matches!(kind, Some(C::Constant | C::Continue)) || is_view(m, o);
            numbers || moves || is_matmul(m, o) || stream.loads.contains(&o)
        })
    }
}
