//! Whether the loads of a loop are started ahead, and how far.

use super::super::purpose::Purpose;
use super::super::stream::{Share, copies_of_words};
use super::super::{Prefetch, prefetch};
use super::through_registers::Kernel;
use crate::dialect::enums::PipelineKind;
use crate::facts::matmul::Matmul;
use crate::facts::{FactMap, iterations};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::tileas::buffers::{RESERVE, memory_order, stage_bytes, tile_bytes};
use crate::lower::tileas::expected::Expected;
use crate::lower::tileas::limits::{FEWEST_STAGES, MAX_STAGES_OF_THREADS, REGISTERS_BESIDE_LOADS};
use crate::lower::tileas::look::is_chained;
use crate::lower::tileas::neighbours::{Neighbours, REGISTERS_BESIDES};
use crate::lower::tileas::operands::is_stationary;
use crate::lower::tileas::pressure;
use crate::target::{Feature, Target};

/// The decisions about one loop.
#[derive(Clone, Debug)]
pub struct Plan {
    pub stream: Prefetch,
    /// What fills the stages.
    pub kind: PipelineKind,
    pub stages: u64,
    /// Bytes of all stages.
    pub bytes: u64,
    /// Blocks that should share a multiprocessor, where it matters.
    pub blocks: Option<u64>,
}

/// What a ring has to go by.
#[derive(Clone, Copy, Debug)]
pub struct Sharing<'e> {
    /// Bytes of shared memory for operands that matmuls read there and that no ring brings.
    pub stored: u64,
    /// Rings of the kernel.
    pub rings: u64,
    /// Warps of the block.
    pub warps: u64,
    pub neighbours: Neighbours,
    /// How tiles will lie in registers.
    pub expected: &'e Expected,
}

impl Plan {
    /// What fills the stages of a loop's tiles, if anything can: loads and stores where only they can, and for matmuls.
    pub fn kind(target: &Target, purpose: Purpose) -> Option<PipelineKind> {
        match purpose {
            _ if target.has(Feature::CpAsync) => Some(PipelineKind::CpAsync),
            Purpose::Operands => Some(PipelineKind::Registers),
            Purpose::Stream => None,
        }
    }

    /// A plan for a loop's `stream`, or why there is none: nothing can fill the stages, or they do not fit.
    pub fn of(
        m: &Module,
        func: OpId,
        mut stream: Prefetch,
        target: &Target,
        facts: &FactMap,
        Sharing {
            stored,
            rings,
            warps,
            neighbours,
            expected,
        }: Sharing<'_>,
    ) -> Result<Plan, String> {
        let Some(kind) = Plan::kind(target, stream.purpose) else {
            return Err(format!("{target} has no cp.async"));
        };
        let purpose = stream.purpose;
        let has_layout = |&l: &OpId| {
            let order = memory_order(m, facts, l);
            purpose.layout(m, m.result(l), &order).is_ok()
        };
        stream.loads.retain(has_layout);
        if stream.loads.is_empty() {
            return Err("no tile of the loop has a layout in shared memory".to_owned());
        }
        if kind == PipelineKind::Registers {
            stream.loads.retain(|&l| m.op(l).block == stream.body);
            if stream.loads.is_empty() {
                return Err(
                    "its loads are in branches of the loop, where no registers wait for them"
                        .to_owned(),
                );
            }
        }
        if purpose == Purpose::Stream {
            let words = |l: OpId| copies_of_words(m, l, warps);
            let refused = stream.loads.iter().find_map(|&l| words(l).err());
            stream.loads.retain(|&l| words(l).is_ok());
            if let Some(why) = refused.filter(|_| stream.loads.is_empty()) {
                return Err(why);
            }
        }
        let top = m.body_of(func, 0).ok_or("the function has no body")?;
        if kind == PipelineKind::Registers {
            let kernel = Kernel {
                m,
                func,
                top,
                target,
                warps,
                expected,
            };
            let fit = kernel.fit(facts, &stream, rings)?;
            return Ok(Plan {
                kind,
                stages: fit.stages,
                bytes: fit.stages * stage_bytes(m, &stream.loads),
                blocks: Some(fit.blocks),
                stream,
            });
        }
        if purpose == Purpose::Operands && stream.writes(m) {
            if !is_chained(m, stream.body) {
                return Err("the loop writes memory, and no matmul of it waits for another: it streams, and other blocks do while this one waits".to_owned());
            }
            let needed = pressure::registers(m, top, warps) + REGISTERS_BESIDES;
            let available = target.registers_per_thread(warps);
            // Tiles take whole powers of two, and one register less than such a number is there.
            if needed > available.next_multiple_of(2) {
                return Err(format!(
                    "the loop writes memory, and a thread has {available} registers where tiles, addresses of copies and of what is written would take {needed}: smaller tiles need fewer"
                ));
            }
        }
        if purpose == Purpose::Stream {
            let share = Share::of(m, func, top, target, [warps, warps]);
            return Self::streaming(m, stream, rings, share);
        }
        // What needs more works in parts.
        let scratch = prefetch::scratch(m, top, &stream, expected).clamp(RESERVE, 2 * RESERVE);
        let whole = target.shared_of_each(1);
        let most = whole.saturating_sub(scratch) / rings.max(1);
        keep_what_fits(m, &mut stream.loads, most / FEWEST_STAGES);
        let bytes = stage_bytes(m, &stream.loads);
        let stages = |(room, stored): (u64, u64)| {
            let room = room.checked_sub(scratch + stored)? / rings.max(1);
            Some((room.checked_div(bytes)?).min(MAX_STAGES_OF_THREADS))
                .filter(|&n| n >= FEWEST_STAGES)
        };
        // Of two iterations, one can run ahead of the other: operands that both read are worth more.
        if iterations(m, facts, stream.for_op).is_some_and(|n| *n.end() == 2) {
            let kept = kept(m, top, &stream);
            if stages((whole, kept)).is_none() {
                return Err(format!(
                    "its two iterations read {kept} bytes of operands that stay the same: shared memory is kept for these"
                ));
            }
        }
        // A unit that reads its operands there is worth more than stages, and those more than it.
        let shares = (2..=neighbours.blocks).rev().filter_map(|blocks| {
            let kept = kept_for(m, top, &stream, target, [warps, warps * blocks])?;
            Some((target.shared_of_each(blocks), kept))
        });
        let rooms: Vec<(u64, u64)> = shares.chain([(whole, 0)]).collect();
        let rooms_of = |stored| rooms.iter().map(move |&(room, kept)| (room, stored + kept));
        let mut all = rooms_of(stored).chain(rooms_of(0));
        let stages = all.find_map(stages).ok_or_else(|| {
            format!("{FEWEST_STAGES} stages of {bytes} bytes for each pipeline ({rings}), and {scratch} bytes of scratch, do not fit in {whole} bytes of shared memory: smaller tiles would")
        })?;
        let bytes = stages * bytes;
        Ok(Plan {
            stream,
            kind,
            stages,
            bytes,
            blocks: None,
        })
    }
}

/// Bytes of what the loop's matmuls read that is there before the loop.
fn kept(m: &Module, top: BlockId, stream: &Prefetch) -> u64 {
    let tiles = stationary(m, top, stream).into_iter();
    tiles.map(|v| tile_bytes(m, v)).sum()
}

/// What the loop's matmuls read that is there before the loop.
fn stationary(m: &Module, top: BlockId, stream: &Prefetch) -> Vec<ValueId> {
    let mut tiles: Vec<ValueId> = Vec::new();
    for dot in m.ops_under(stream.body) {
        let operands = Matmul::of(m.op(dot)).into_iter().flat_map(Matmul::sources);
        tiles.extend(operands.filter(|&v| is_stationary(m, top, v, dot)));
    }
    tiles.sort_unstable();
    tiles.dedup();
    tiles
}

/// Bytes of shared memory for those operands where so many warps share a multiprocessor: none if threads have registers for
/// them beside all other tiles. `None`: not even for the others.
fn kept_for(
    m: &Module,
    top: BlockId,
    stream: &Prefetch,
    target: &Target,
    [warps, all_warps]: [u64; 2],
) -> Option<u64> {
    let available = target.registers_per_thread(all_warps);
    let has_room_without = |tiles: &[ValueId]| {
        pressure::registers_without(m, top, warps, tiles) + REGISTERS_BESIDE_LOADS <= available
    };
    let mut elsewhere: Vec<ValueId> = stream.loads.iter().map(|&l| m.result(l)).collect();
    if has_room_without(&elsewhere) {
        return Some(0);
    }
    elsewhere.extend(stationary(m, top, stream));
    has_room_without(&elsewhere).then(|| kept(m, top, stream))
}

/// Leaves loads out, as few bytes as will do, until the others have `room` for a stage; the last one stays.
fn keep_what_fits(m: &Module, loads: &mut Vec<OpId>, room: u64) {
    while loads.len() > 1 && stage_bytes(m, loads) > room {
        let over = stage_bytes(m, loads) - room;
        let bytes = |&l: &OpId| stage_bytes(m, &[l]);
        let enough = loads
            .iter()
            .filter(|l| bytes(l) >= over)
            .min_by_key(|l| bytes(l));
        let Some(&out) = enough.or_else(|| loads.iter().max_by_key(|l| bytes(l))) else {
            return;
        };
        loads.retain(|&l| l != out);
    }
}

impl Plan {
    /// A plan for a loop that feeds no matmul, if its copies bring more than they cost every thread.
    fn streaming(m: &Module, stream: Prefetch, rings: u64, share: Share) -> Result<Plan, String> {
        let bytes = stage_bytes(m, &stream.loads);
        let others = share.blocks - 1;
        // A block without a ring waits for a tile, then works on it: as a rule, half of the others are waiting.
        let under_way = others * bytes / 2;
        if under_way >= share.busy {
            return Err(format!(
                "{others} other blocks share the multiprocessor, and loads of half of them, {under_way} bytes, keep memory busy while this one computes: {} bytes suffice",
                share.busy
            ));
        }
        let stages = share.stages(bytes * rings.max(1), [FEWEST_STAGES, MAX_STAGES_OF_THREADS])?;
        Ok(Plan {
            stream,
            kind: PipelineKind::CpAsync,
            stages,
            bytes: stages * bytes,
            blocks: None,
        })
    }
}
