//! Tiles that all registers of a block cannot hold together are worked on in strips.
//!
//! ```text
//! acc = 0 : 256x256             for strip in 0..2 {
//! for k { acc += a · b }           acc = 0 : 128x256
//! store acc                 →      for k { acc += a · b }       a : its 128 rows of the strip
//!                                  store acc
//!                               }
//! ```
//! A dimension that nothing needs whole ([`dims`]) is cut everywhere it occurs, and what works on it is put in a
//! loop over its parts ([`cut`]). What does not depend on the part is done again in each. Rows of a matmul,
//! and of attention with its softmax, are such dimensions; so are columns of a matmul, and rows that are normalised.

pub mod apart;
pub mod cut;
pub mod dims;
pub mod parts;
pub mod sums;

use super::limits::{MAX_WARPS, MOST_IN_BLOCK, REGISTERS_BESIDE_LOADS};
use super::missed::{Log, Refusal};
use super::{matmul, pressure, repeated};
use crate::dialect::cuda_tile::{Op as C, view};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::layout::mma::Wgmma;
use crate::layout::tensor::LANES;
use crate::lower::tileas::look::{elements, is_matmul, together};
use crate::lower::tileas::tcgen05::fits::parts_beside_scales;
use crate::target::{Feature, Target};
use apart::Apart;
use cut::{Cut, is_weak_load};
use dims::{Dim, Dims, extents};
use parts::Parts;

/// What is done, in messages.
const WHAT: &str = "work in strips";
/// Why, where tiles are too large.
const REGISTERS: &str = "registers hold no more";
/// Why, where a batch is multiplied.
const MATRICES: &str = "warpgroups, or a thread for them, multiply one matrix at a time";
/// Why, where a scaled matmul is large.
const SCALES: &str = "tensor memory has no place for its scales beside more";
/// Elements of a part of what is only reduced: 16 in each thread of the most warps.
const PART: u64 = 16 * 32 * MAX_WARPS;
/// Fewest rows or columns of a strip: two warpgroups multiply 64 rows each.
const SHORTEST: u64 = 128;
/// Fewest rows of a strip where nothing else is left and each of two warpgroups multiplies as many columns as one
/// instruction can: it reads the right operand once more for each strip.
const FEWEST_ROWS: u64 = 64;

/// Cuts the tiles of the function with this `body` as far as its registers ask for it. Whether anything changed.
pub fn apply(m: &mut Module, func: OpId, body: BlockId, target: &Target, log: &mut Log) -> bool {
    let multiplies = m.ops_under(body).iter().any(|&o| is_matmul(m, o));
    let mut changed = false;
    // Without matmuls, tiles that have nothing to do with each other are cut one after the other.
    while cut_one(m, func, body, target, log) {
        changed = true;
        if multiplies {
            break;
        }
    }
    changed
}

/// Cuts the tiles that one dimension concerns. Whether anything changed.
fn cut_one(m: &mut Module, func: OpId, body: BlockId, target: &Target, log: &mut Log) -> bool {
    let ops = m.ops_under(body);
    let whole = |v: ValueId| elements(m, v);
    let together = together(m, &ops, &whole);
    let most = most(m, body, &ops, target, together);
    let crowded = match together > most {
        true => None,
        false => crowded_rows(m, body, &ops, target),
    };
    if together <= most && crowded.is_none() {
        return false;
    }
    let mut refused = None;
    for more in [false, true] {
        let copies = match more {
            true => apart::take_more(m, body),
            false => apart::take(m, body),
        };
        let ops = m.ops_under(body);
        let (mut dims, candidates) = match crowded {
            Some((tile, parts)) => any_rows(m, &ops, tile, parts),
            None => {
                let mut dims = Dims::of(m, &ops);
                let candidates = candidates(m, &ops, &mut dims, most, target);
                (dims, candidates)
            }
        };
        let found = cut_first(m, func, body, &mut dims, (candidates, REGISTERS), log);
        let Err(why) = found else {
            if more {
                apart::tidy(m, body);
                repeated::absorb(m, body, log);
            }
            return true;
        };
        copies.undo(m);
        refused = refused.or(why);
    }
    match largest(m, func, body, log) {
        Ok(()) => return true,
        Err(why) => refused = refused.or(why),
    }
    let (op, why) = refused.unwrap_or((
        func,
        "operations need each dimension of its tiles as a whole".into(),
    ));
    log.note(m, op, WHAT, why);
    false
}

/// Cuts the largest tile where nothing is multiplied.
fn largest(
    m: &mut Module,
    func: OpId,
    body: BlockId,
    log: &mut Log,
) -> Result<(), Option<Refusal>> {
    let tile = largest_alone(m, &m.ops_under(body)).ok_or(None)?;
    let copies = apart::take(m, body);
    let parts = (elements(m, tile) / PART).max(1);
    let (mut dims, candidates) = any_rows(m, &m.ops_under(body), tile, parts);
    let found = cut_first(m, func, body, &mut dims, (candidates, REGISTERS), log);
    match &found {
        Ok(()) => apart::tidy(m, body),
        Err(_) => copies.undo(m),
    }
    found
}

/// Cuts the first of these dimensions that can be. The error is why the last of them cannot, if there is one.
fn cut_first(
    m: &mut Module,
    func: OpId,
    body: BlockId,
    dims: &mut Dims,
    (candidates, reason): (Vec<(Dim, u64)>, &str),
    log: &mut Log,
) -> Result<(), Option<Refusal>> {
    let mut refused = None;
    for (set, parts) in candidates {
        match Cut::plan(m, body, dims, set, parts) {
            Ok(cut) => {
                let how = format!(
                    "a loop works on one of {parts} parts of the tiles at a time, for {reason}"
                );
                log.changed(m.op(func).loc, WHAT, how);
                cut.apply(m, body);
                return Ok(());
            }
            Err(why) => refused = Some(why),
        }
    }
    Err(refused)
}

/// Cuts batches whose matrices warpgroups multiply, or a thread for them: a loop over the matrices loads the next ones while
/// it multiplies, and these are read where they were brought, which a matrix of a larger tile is not.
pub fn batches(m: &mut Module, func: OpId, body: BlockId, target: &Target, log: &mut Log) {
    for op in m.ops_under(body) {
        if !matmul::is_batch_for_groups(m, op, target) {
            continue;
        }
        let copies = apart::take(m, body);
        let mut dims = Dims::with_batches(m, &m.ops_under(body));
        let acc = m.result(op);
        let matrices = extents(m, acc).first().copied().unwrap_or(1);
        let all = dims.free(acc, 0).map(|set| (set, matrices));
        let candidates = (all.into_iter().collect(), MATRICES);
        if let Err(refused) = cut_first(m, func, body, &mut dims, candidates, log) {
            let whole = (op, "operations need the batch as a whole".into());
            leave(m, copies, refused.or(Some(whole)), log);
        }
    }
}

/// Cuts the rows, or the columns, of matmuls in tensor memory that their scales have no place beside.
pub fn scaled(m: &mut Module, func: OpId, body: BlockId, target: &Target, log: &mut Log) {
    for op in m.ops_under(body) {
        let Some(parts) = parts_beside_scales(m, op, target).filter(|&parts| parts > 1) else {
            continue;
        };
        let copies = apart::take(m, body);
        let mut dims = Dims::with_reshapes(m, &m.ops_under(body));
        let acc = m.result(op);
        let candidates = rows(m, &mut dims, acc, parts * LANES);
        let candidates = candidates
            .into_iter()
            .map(|(set, _)| (set, parts))
            .collect();
        if let Err(refused) = cut_first(m, func, body, &mut dims, (candidates, SCALES), log) {
            let whole = (op, "operations need its dimensions as a whole".into());
            leave(m, copies, refused.or(Some(whole)), log);
        }
    }
}

/// Leaves what cannot be cut as it was, and notes why, where that is known.
fn leave(m: &mut Module, copies: Apart, refused: Option<Refusal>, log: &mut Log) {
    copies.undo(m);
    if let Some((op, why)) = refused {
        log.note(m, op, WHAT, why);
    }
}

/// Cuts what loops under `body` carry that multiply nothing, beside matmuls whose sums registers do not hold.
pub fn beside(m: &mut Module, func: OpId, body: BlockId, log: &mut Log) {
    let adds = |&op: &OpId| {
        let mut inside = m.ops_inside(op).into_iter();
        C::of(m.op(op).kind) == Some(C::For) && !inside.any(|o| is_matmul(m, o))
    };
    let loops: Vec<OpId> = m.ops_under(body).into_iter().filter(adds).collect();
    for op in loops {
        let carried = values(m, &[op]);
        let largest = carried.iter().max_by_key(|&&v| elements(m, v));
        let Some(&tile) = largest.filter(|&&v| elements(m, v) > MOST_IN_BLOCK) else {
            continue;
        };
        let loads = m.ops_inside(op).into_iter().filter(|&o| is_weak_load(m, o));
        let beside = values(m, &loads.collect::<Vec<_>>());
        let all = carried.iter().chain(&beside).map(|&v| elements(m, v));
        let parts = all.sum::<u64>().div_ceil(MOST_IN_BLOCK);
        cut_carried(m, func, body, tile, parts.next_power_of_two(), log);
    }
}

/// Cuts a tile that a loop carries, along a dimension that no matmul has.
fn cut_carried(
    m: &mut Module,
    func: OpId,
    body: BlockId,
    tile: ValueId,
    parts: u64,
    log: &mut Log,
) {
    let copies = apart::take(m, body);
    let ops = m.ops_under(body);
    let mut dims = Dims::of(m, &ops);
    let mut candidates = rows(m, &mut dims, tile, parts);
    candidates.retain(|&(set, parts)| {
        let concerned = Parts::of(m, &ops, &mut dims, set, parts);
        !concerned.is_ok_and(|(_, ops)| ops.into_iter().any(|o| is_matmul(m, o)))
    });
    let Err(refused) = cut_first(m, func, body, &mut dims, (candidates, REGISTERS), log) else {
        return;
    };
    leave(m, copies, refused, log);
}

/// Most elements that may live `together`: what a block can hold; where nothing is multiplied, so much less as what is
/// loaded beside them takes of a thread's registers.
fn most(m: &Module, body: BlockId, ops: &[OpId], target: &Target, together: u64) -> u64 {
    if ops.iter().any(|&o| is_matmul(m, o)) || together <= SHORTEST {
        return MOST_IN_BLOCK;
    }
    let needed = pressure::registers(m, body, MAX_WARPS) + REGISTERS_BESIDE_LOADS;
    let room = target.registers_per_thread(MAX_WARPS);
    match needed > room {
        true => MOST_IN_BLOCK.min(together * room / needed),
        false => MOST_IN_BLOCK,
    }
}

/// The largest tile where nothing is multiplied.
fn largest_alone(m: &Module, ops: &[OpId]) -> Option<ValueId> {
    if ops.iter().any(|&o| is_matmul(m, o)) {
        return None;
    }
    values(m, ops).into_iter().max_by_key(|&v| elements(m, v))
}

/// The largest tile where nothing is multiplied and what is loaded and reduced does not fit in the registers of the most
/// warps, and how many parts of it would.
fn crowded_rows(
    m: &Module,
    body: BlockId,
    ops: &[OpId],
    target: &Target,
) -> Option<(ValueId, u64)> {
    let largest = largest_alone(m, ops).filter(|&v| elements(m, v) > MOST_IN_BLOCK / 2)?;
    let room = target.registers_per_thread(MAX_WARPS);
    let needed = pressure::registers(m, body, MAX_WARPS) + REGISTERS_BESIDE_LOADS;
    let parts = needed.div_ceil(room).next_power_of_two();
    (parts > 1).then_some((largest, parts))
}

/// The dimensions of `tile` that can be cut where reductions may take parts ([`sums`]), each to be cut in so many parts at
/// least; in smaller ones, whose loads run ahead, where no row has to be there as a whole.
fn any_rows(m: &Module, ops: &[OpId], tile: ValueId, parts: u64) -> (Dims, Vec<(Dim, u64)>) {
    let mut dims = Dims::with_reductions(m, ops);
    let small = (elements(m, tile) / PART).max(parts);
    let shape = extents(m, tile);
    let mut found = rows(m, &mut dims, tile, parts);
    for (set, parts) in &mut found {
        // Whether a reduction of what is cut is over another dimension.
        let across = |&op: &OpId| {
            let v = view::Reduce::of(m.op(op))?;
            let (&source, dim) = (v.operands().first()?, usize::try_from(v.dim()).ok()?);
            let cut = dims.find(m, source, *set)?;
            (extents(m, source).get(dim) != Some(&1)).then_some(dim != cut)
        };
        let across: Vec<bool> = ops.iter().filter_map(across).collect();
        let needs_rows = across.contains(&true) && !across.contains(&false);
        if !needs_rows && let Some(dim) = dims.find(m, tile, *set) {
            *parts = small.min(shape[dim]);
        }
    }
    found.retain(|f| f.1 > 1);
    (dims, found)
}

/// The dimensions of `tile` that nothing needs whole, each to be cut in so many parts.
fn rows(m: &Module, dims: &mut Dims, tile: ValueId, parts: u64) -> Vec<(Dim, u64)> {
    let shape = extents(m, tile);
    let long = (0..shape.len()).filter(|&dim| shape[dim] >= parts);
    let free = long.filter_map(|dim| dims.free(tile, dim));
    free.map(|set| (set, parts)).collect()
}

/// Dimensions of matmuls and of what loops carry, and into how many parts each is to be cut so that what is left fits: those that leave
/// least first; rows before columns, unless few are left.
fn candidates(
    m: &Module,
    ops: &[OpId],
    dims: &mut Dims,
    most: u64,
    target: &Target,
) -> Vec<(Dim, u64)> {
    let mut found: Vec<(u64, bool, Dim, u64)> = Vec::new();
    let large = |o: OpId| is_matmul(m, o) || C::of(m.op(o).kind) == Some(C::For);
    let made = ops.iter().filter(|&&o| large(o));
    for acc in made.flat_map(|&o| m.op(o).results.to_vec()) {
        let shape = extents(m, acc);
        for (i, &extent) in shape.iter().enumerate().rev().take(2).rev() {
            let Some(set) = dims.free(acc, i) else {
                continue;
            };
            if found.iter().any(|f| f.2 == set) {
                continue;
            }
            let columns = shape.get(i + 1).copied().unwrap_or(0);
            let few = columns >= 2 * Wgmma::MAX_N && !target.has(Feature::Tcgen05);
            let least = if few { FEWEST_ROWS } else { SHORTEST };
            let mut parts = 2;
            while extent / parts >= least {
                let inside: Vec<ValueId> = values(m, ops)
                    .into_iter()
                    .filter(|&v| dims.find(m, v, set).is_some())
                    .collect();
                let left = |v: ValueId| {
                    let all = elements(m, v);
                    if inside.contains(&v) {
                        all / parts
                    } else {
                        all
                    }
                };
                let left = together(m, ops, &left);
                if left <= most {
                    found.push((left, extent / parts < SHORTEST, set, parts));
                    break;
                }
                parts *= 2;
            }
        }
    }
    found.sort_by_key(|f| (f.0, f.1));
    let parts = found.into_iter().map(|(_, _, set, parts)| (set, parts));
    parts.collect()
}

/// The results of operations that hold tiles.
fn values(m: &Module, ops: &[OpId]) -> Vec<ValueId> {
    let results = ops.iter().flat_map(|&o| m.op(o).results.to_vec());
    results.filter(|&v| !extents(m, v).is_empty()).collect()
}
