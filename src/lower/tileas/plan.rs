//! What is decided about a kernel before it is rewritten: warps, atoms, pipelines.

use super::atoms::Extents;
use super::cluster::Split;
use super::decided::Plan;
use super::expected::Expected;
use super::fragments;
use super::limits::{BUSY_WARPS, MAX_WARPS, MOST_IN_BLOCK, REGISTERS_BESIDE_TILES};
use super::missed::{ASYNCHRONOUS_COPIES, Log, THROUGH_REGISTERS};
use super::neighbours::Neighbours;
use super::options::Options;
use super::pipeline::purpose::Purpose;
use super::pipeline::{self, Prefetch};
use super::{few_warps, hold, pressure, swap, tcgen05};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::ir::{BlockId, Diagnostic, Module, OpId, TypeId};
use crate::lower::hints::Hints;
use crate::lower::tileas::buffers::{RESERVE, tile_bytes};
use crate::lower::tileas::look::{
    elements, has_alloca, is_chained, is_matmul, is_number, lacks_instruction, loop_around,
    together,
};
use crate::target::{Feature, Target};
use rustc_hash::{FxHashMap, FxHashSet};

/// Most elements of one tile that a warp should hold in registers.
const ELEMENTS_PER_WARP: u64 = 2048;
/// Most warps that share a tile where threads multiply: with eight, threads have all registers that there are. Each of more
/// has addresses of its own, and reads as much for fewer products.
const MOST_FOR_PRODUCTS: u64 = 8;
/// Most registers of a thread for tiles that live at once.
const MOST_FOR_TILES: u32 = 231;
/// The same of a thread of one warpgroup, beside its descriptors, and accumulators that are in flight.
const MOST_FOR_GROUP: u64 = 200;
/// The same where there are only sums of matmuls, beside fragments of their operands.
const MOST_FOR_SUMS: u64 = 144;
/// The same where a warp has rows of chained matmuls to itself: as much again goes to fragments of operands, masks, and what is
/// computed between matmuls.
const MOST_FOR_ROWS: u64 = 112;

/// Decides for `func`.
pub fn of(
    m: &mut Module,
    func: OpId,
    target: &Target,
    options: &Options,
    facts: &FactMap,
    split: Option<&Split>,
    log: &mut Log,
) -> Result<Plan, Diagnostic> {
    // Asynchronous copies take global addresses, not generic ones.
    let has_alloca = m.body_of(func, 0).is_some_and(|body| has_alloca(m, body));
    let hints = Hints::of(m, func, target);
    let asked = hints.occupancy;
    let hinted = hints
        .warps
        .and_then(|w| u64::try_from(w).ok())
        .filter(|w| MAX_WARPS >= *w && w.is_power_of_two());
    let wanted = options.warps.or_else(|| {
        hinted.map(|w| more_warps(m, func, target, w, target.max_registers_per_thread()))
    });
    let tile_warps = wanted.unwrap_or_else(|| default_warps(m, func, target, facts));
    let roles = options.tma && options.roles && target.has(Feature::Tma);
    let roles = match roles && !has_alloca && tile_warps.is_multiple_of(4) {
        true => pipeline::roles::Plan::of(m, func, target, facts, tile_warps, split, log),
        false => None,
    };
    let held = options.pipelines
        && roles.is_none()
        && m.body_of(func, 0)
            .is_some_and(|body| hold::apply(m, func, body, target, facts, tile_warps, log));
    let alone = roles
        .as_ref()
        .map_or(0, |r| operands_alone(m, func, &r.loads()));
    let warps = [tile_warps, tile_warps];
    let mut neighbours = Neighbours::asked(m, func, target);
    let cp_async = if has_alloca || held || !options.pipelines || roles.is_some() && alone == 0 {
        Vec::new()
    } else {
        let with_matmuls = Neighbours::of(m, func, target, warps);
        let plans = streams(m, func, target, facts, (tile_warps, with_matmuls), log);
        let multiplies = |p: &pipeline::cp_async::Plan| p.stream.purpose == Purpose::Operands;
        let mut rings = plans.iter().filter(|p| multiplies(p));
        // Addresses of what a loop writes take registers that a second block would.
        if rings.clone().next().is_some() && !rings.any(|p| p.stream.writes(m)) {
            neighbours = with_matmuls;
        }
        plans
    };
    // Tensor copies cost threads nothing, but what they cannot bring would be waited for in each iteration.
    let copied: Vec<OpId> = cp_async
        .iter()
        .flat_map(|p| p.stream.loads.clone())
        .collect();
    let roles = roles.filter(|_| alone == 0 || operands_alone(m, func, &copied) >= alone);
    if let Some(roles) = roles {
        return Ok(Plan {
            tile_warps,
            staging: roles.staging,
            occupancy: match roles.together() {
                1 if roles.redistributes() => asked.map(|_| 1),
                1 => {
                    let warps = [roles.all_warps(), tile_warps];
                    let bytes = roles.bytes();
                    roles.neighbours.wanted(m, func, target, warps, bytes)
                }
                blocks => i64::try_from(blocks).ok(),
            },
            roles: Some(roles),
            cp_async: Vec::new(),
            once: Vec::new(),
        });
    }
    let rings: u64 = cp_async.iter().map(|p| p.bytes).sum();
    let stored = stored_operands(m, func, target, &copied);
    let occupancy = neighbours
        .wanted(m, func, target, warps, rings + stored)
        .or_else(|| of_loops(&cp_async, tile_warps));
    let once = if has_alloca || held || !options.pipelines || !target.has(Feature::CpAsync) {
        Vec::new()
    } else {
        let blocks = match occupancy {
            Some(blocks) => u64::try_from(blocks).unwrap_or(1),
            None => beside(m, func, target, tile_warps),
        };
        let room = target
            .shared_of_each(blocks)
            .saturating_sub(rings + RESERVE);
        once(m, func, facts, &copied, (tile_warps, room))
    };
    let brought: u64 = once.iter().map(|s| s.bytes(m)).sum();
    let staging = u64::from(target.shared_per_block()).saturating_sub(rings + brought + RESERVE);
    Ok(Plan {
        tile_warps,
        roles: None,
        staging,
        occupancy,
        cp_async,
        once,
    })
}

/// What threads copy once, beside what is `copied` in loops, for a block of so many warps and with so many bytes of shared
/// memory for it.
fn once(
    m: &Module,
    func: OpId,
    facts: &FactMap,
    copied: &[OpId],
    warps_and_room: (u64, u64),
) -> Vec<pipeline::once::Site> {
    let body = m.body_of(func, 0);
    body.map_or(Vec::new(), |body| {
        pipeline::once::find(m, body, facts, copied, warps_and_room)
    })
}

/// The blocks of `warps` that keep a multiprocessor busy, as far as their threads have registers.
fn beside(m: &Module, func: OpId, target: &Target, warps: u64) -> u64 {
    let body = m.body_of(func, 0);
    let needed = body.map_or(0, |b| pressure::registers(m, b, warps)) + REGISTERS_BESIDE_TILES;
    let fit = target.blocks_by_registers(warps, needed);
    fit.clamp(1, BUSY_WARPS.div_ceil(warps.max(1)))
}

/// Bytes of shared memory for what matmuls in tensor memory read that none of `copied` brings.
fn stored_operands(m: &Module, func: OpId, target: &Target, copied: &[OpId]) -> u64 {
    let brought: FxHashSet<OpId> = copied.iter().copied().collect();
    let body = m.body_of(func, 0);
    body.map_or(0, |body| {
        tcgen05::staging(m, body, target, &brought).bytes()
    })
}

/// Bytes that matmuls in loops read of tiles that loops load, other than by these loads.
fn operands_alone(m: &Module, func: OpId, brought: &[OpId]) -> u64 {
    let alone = operands(m, func).into_iter();
    let alone = alone.filter(|(_, load)| !brought.contains(load));
    alone.map(|(_, load)| tile_bytes(m, m.result(load))).sum()
}

/// Most bytes that matmuls read of what one loop loads.
fn operands_of_a_loop(m: &Module, func: OpId) -> u64 {
    let mut bytes: FxHashMap<OpId, u64> = FxHashMap::default();
    for (around, load) in operands(m, func) {
        *bytes.entry(around).or_default() += tile_bytes(m, m.result(load));
    }
    bytes.into_values().max().unwrap_or(0)
}

/// Loads in loops that feed matmuls, with their loops.
fn operands(m: &Module, func: OpId) -> Vec<(OpId, OpId)> {
    let Some(body) = m.body_of(func, 0) else {
        return Vec::new();
    };
    let ops = m.ops_under(body);
    // What a load reaches is asked for each: not where no matmul is to be found.
    if !ops.iter().any(|&o| is_matmul(m, o)) {
        return Vec::new();
    }
    let load_in_loop = |&load: &OpId| {
        let around = loop_around(m, body, m.op(load).block)?;
        let feeds = pipeline::prefetch::loads_tile(m, load)
            && pipeline::prefetch::feeds_matmul(m, &ops, load);
        feeds.then_some((around, load))
    };
    ops.iter().filter_map(load_in_loop).collect()
}

/// Four warps; eight where the largest tile, or what a loop carries, or the results of matmuls beside each
/// other, would fill four warps' registers, unless some of eight would repeat what others multiply; as many as
/// there can be where even eight would not hold these. One where its threads hold an element of each tile: others would
/// repeat them, and wait for each other; fewer than four for small tiles, too ([`few_warps`]).
fn default_warps(m: &Module, func: OpId, target: &Target, facts: &FactMap) -> u64 {
    let Some(body) = m.body_of(func, 0) else {
        return 4;
    };
    let ops = m.ops_under(body);
    let tiles = ops.iter().flat_map(|&op| &m.op(op).results);
    let largest = tiles.map(|&v| elements(m, v)).max().unwrap_or(1);
    let together = together(m, &ops, &|v| elements(m, v));
    if target.has(Feature::Wgmma)
        && let Some(groups) = warpgroups(m, &ops, facts)
    {
        return 4 * enough(m, body, groups);
    }
    let accumulators = ops
        .iter()
        .filter_map(|&o| tcgen05::fits::takes(m, o, target));
    if let Some(groups) = accumulators.map(tcgen05::fits::Extents::warpgroups).max() {
        let alone = tcgen05::turns::blocks(m, body, target, 4 * groups) == 1;
        return 4 * if alone {
            enough(m, body, groups)
        } else {
            groups
        };
    }
    let warps = if largest <= 32 {
        1
    } else if together > MOST_IN_BLOCK {
        MAX_WARPS
    } else if largest.max(together) > 4 * ELEMENTS_PER_WARP
        && products(m, &ops) >= 8
        && !is_for_four(m, body, target)
        && !has_rows_for_four(m, body, &ops, target)
    {
        8
    } else {
        few_warps::of(m, body, &ops, facts, largest)
    };
    let warps = more_warps(m, func, target, warps, MOST_FOR_TILES);
    match multiplies_by_threads(m, &ops) {
        true => warps.min(MOST_FOR_PRODUCTS),
        false => warps,
    }
}

/// Whether a kernel has matmuls, all of which are multiply-adds of threads.
fn multiplies_by_threads(m: &Module, ops: &[OpId]) -> bool {
    let mut matmuls = ops.iter().filter(|&&o| is_matmul(m, o)).peekable();
    matmuls.peek().is_some() && matmuls.all(|&o| lacks_instruction(m, o))
}

/// Whether four warps hold the sums of a kernel that does nothing else with tiles in registers, and copy what they multiply
/// from views: each then reads less of the operands from shared memory than one of eight would, and two blocks share a
/// multiprocessor without a limit of their registers. Pointers of gathers would take these.
fn is_for_four(m: &Module, body: BlockId, target: &Target) -> bool {
    let copies = target.has(Feature::CpAsync) && !target.has(Feature::Tma);
    let ops = m.ops_under(body);
    let gathers = |&o: &OpId| S::of(m.op(o).kind) == Some(S::Load) && !is_number(m, o);
    copies
        && ops.iter().any(|&o| is_matmul(m, o))
        && !ops.iter().any(gathers)
        && !is_chained(m, body)
        && pressure::registers(m, body, 4) <= MOST_FOR_SUMS
}

/// Whether four warps share out the rows of chained matmuls, one instruction's each, and have registers for them. Of eight, two
/// would share each row, reduce it through shared memory, and hand each other what they multiply next.
fn has_rows_for_four(m: &Module, body: BlockId, ops: &[OpId], target: &Target) -> bool {
    let rows = |&o: &OpId| -> Option<u64> {
        let instruction = fragments::atom_shape(m, o)?;
        let (_, &[rows, _]) = m.types.as_tile(m.ty(m.result(o)))? else {
            return None;
        };
        Some(rows.div_ceil(instruction.m))
    };
    let mut matmuls = ops.iter().filter(|&&o| is_matmul(m, o));
    // Elsewhere the next tiles wait in registers.
    target.has(Feature::CpAsync)
        && is_chained(m, body)
        && matmuls.all(|o| rows(o) == Some(4))
        && pressure::registers(m, body, 4) <= MOST_FOR_ROWS
}

/// `groups` of four warps, or two where one would not hold what lives at once.
fn enough(m: &Module, body: BlockId, groups: u64) -> u64 {
    let crowded = pressure::registers(m, body, 4 * groups) > MOST_FOR_GROUP;
    if crowded { groups.max(2) } else { groups }
}

/// The instructions that make up the result of the smallest matmul: more warps than these do the same work.
fn products(m: &Module, ops: &[OpId]) -> u64 {
    let of = |&op: &OpId| {
        let instruction = fragments::atom_shape(m, op)?;
        let (_, shape) = m.types.as_tile(m.ty(m.result(op)))?;
        let (matrices, &[rows, columns]) = shape.split_last_chunk()?;
        let one = rows.div_ceil(instruction.m) * columns.div_ceil(instruction.n);
        Some(matrices.iter().product::<u64>() * one)
    };
    ops.iter().filter_map(of).min().unwrap_or(u64::MAX)
}

/// `warps`, or more where what lives at once would take more than `most` registers of a thread.
fn more_warps(m: &Module, func: OpId, target: &Target, mut warps: u64, most: u32) -> u64 {
    let Some(body) = m.body_of(func, 0) else {
        return warps;
    };
    // A producer brings what others read while they go on; all warps copy the next stage beside this one.
    let stages = if target.has(Feature::Tma) { 1 } else { 2 };
    let crowded = stages * operands_of_a_loop(m, func) > u64::from(target.shared_per_block());
    let registers = |warps: u64| match crowded {
        true => pressure::registers_without(m, body, warps, &[]),
        false => pressure::registers(m, body, warps),
    };
    while warps < MAX_WARPS && registers(warps) > u64::from(most) {
        warps *= 2;
    }
    warps
}

/// The blocks of `warps` that should share a multiprocessor for what loops hold in registers; `None`: as many as happen
/// to fit. Left alone, ptxas takes registers for loads and operands that cost one of them.
fn of_loops(plans: &[pipeline::cp_async::Plan], warps: u64) -> Option<i64> {
    let blocks = plans.iter().filter_map(|p| p.blocks).min()?;
    let blocks = blocks.min(BUSY_WARPS.div_ceil(warps.max(1)));
    i64::try_from(blocks).ok().filter(|&b| b > 1)
}

/// Warpgroups for the matmuls that `wgmma` can do, if there are any: one for each 64 rows up to two, unless two cannot share
/// out one of these matmuls.
fn warpgroups(m: &Module, ops: &[OpId], facts: &FactMap) -> Option<u64> {
    let dots = ops.iter().filter(|&&o| S::of(m.op(o).kind) == Some(S::Dot));
    let rows = |&o: &OpId| swap::rows(m, ops, facts, o);
    let rows = dots.clone().filter_map(rows).max()?;
    let for_one = |e: Extents| e.spread(1).is_some() && e.spread(2).is_none();
    let mut all = dots.filter_map(|&o| Extents::of(m, o).ok());
    Some(if rows > 64 && !all.any(for_one) { 2 } else { 1 })
}

/// The `cp.async` plans of every loop of the function that has loads to start ahead, which share its memory, for blocks of
/// so many `warps` with such `neighbours`.
fn streams(
    m: &mut Module,
    func: OpId,
    target: &Target,
    facts: &FactMap,
    (warps, neighbours): (u64, Neighbours),
    log: &mut Log,
) -> Vec<pipeline::cp_async::Plan> {
    /// A loop, and what of it is started ahead.
    type Loop = (OpId, Prefetch);
    let Some(body) = m.body_of(func, 0) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (op, purpose) in candidates(m, body) {
        match find(m, op, facts, body, purpose) {
            Ok(stream) => found.push((op, stream)),
            Err((at, why)) => log.note(m, at, means(target, purpose), why),
        }
    }
    // None of them holds another: those with the same tiles use one ring after each other.
    let mut rings: Vec<(Vec<TypeId>, Vec<Loop>)> = Vec::new();
    for (op, stream) in found {
        let signature = pipeline::cp_async::signature(m, &stream, facts);
        match rings.iter_mut().find(|r| r.0 == signature) {
            Some(ring) => ring.1.push((op, stream)),
            None => rings.push((signature, vec![(op, stream)])),
        }
    }
    let copied = rings
        .iter()
        .flat_map(|(_, loops)| loops)
        .flat_map(|(_, s)| s.loads.clone());
    let copied: Vec<OpId> = copied.collect();
    let expected = Expected::of(m, body, warps, target);
    let sharing = pipeline::cp_async::Sharing {
        stored: stored_operands(m, func, target, &copied),
        rings: rings.len() as u64,
        warps,
        neighbours,
        expected: &expected,
    };
    let mut plans = Vec::new();
    for (_, loops) in rings {
        let mut alike = Vec::new();
        for (op, stream) in loops {
            let means = means(target, stream.purpose);
            match pipeline::cp_async::Plan::of(m, func, stream, target, facts, sharing) {
                Ok(plan) => alike.push(plan),
                Err(why) => log.note(m, op, means, why),
            }
        }
        let stages = alike.iter().map(|p| p.stages).min().unwrap_or(0);
        for (i, plan) in alike.iter_mut().enumerate() {
            let bytes = plan.bytes / plan.stages.max(1) * stages;
            plan.stages = stages;
            // The others use the first one's.
            plan.bytes = if i == 0 { bytes } else { 0 };
        }
        plans.extend(alike);
    }
    plans
}

/// What brings the tiles of a loop ahead, in messages.
pub fn means(target: &Target, purpose: Purpose) -> &'static str {
    match pipeline::cp_async::Plan::kind(target, purpose) {
        Some(PipelineKind::Registers) => THROUGH_REGISTERS,
        _ => ASYNCHRONOUS_COPIES,
    }
}

/// The loops whose loads are considered: the innermost ones around matmuls; where no loop has any, those with loads of
/// tiles.
fn candidates(m: &Module, body: BlockId) -> Vec<(OpId, Purpose)> {
    let streams = !pipeline::stream::is_for_matmuls(m, body);
    let wanted = |op: OpId| {
        let looping = matches!(C::of(m.op(op).kind), Some(C::For | C::Loop));
        let inner = m.body_of(op, 0).filter(|_| looping)?;
        let ops = m.ops_under(inner);
        let multiplies =
            |&o: &OpId| is_matmul(m, o) && loop_around(m, body, m.op(o).block) == Some(op);
        if ops.iter().any(multiplies) {
            return Some((op, Purpose::Operands));
        }
        let tile = |&o: &OpId| {
            pipeline::prefetch::loads_tile(m, o) && pipeline::ahead::reached(m, inner, o)
        };
        let loads = streams && ops.iter().any(tile);
        loads.then_some((op, Purpose::Stream))
    };
    m.ops_under(body).into_iter().filter_map(wanted).collect()
}

/// The loads of a loop that are started ahead.
fn find(
    m: &Module,
    op: OpId,
    facts: &FactMap,
    body: BlockId,
    purpose: Purpose,
) -> Result<Prefetch, (OpId, String)> {
    let mut stream = Prefetch::find(m, op, facts, purpose)?;
    if purpose == Purpose::Stream {
        let worth = |l: OpId| pipeline::stream::worth(m, facts, body, l).map_err(|why| (l, why));
        let refused = stream.loads.iter().find_map(|&l| worth(l).err());
        stream.loads.retain(|&l| worth(l).is_ok());
        if let Some(refused) = refused.filter(|_| stream.loads.is_empty()) {
            return Err(refused);
        }
    }
    Ok(stream)
}
