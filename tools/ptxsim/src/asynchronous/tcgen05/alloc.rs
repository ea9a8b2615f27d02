//! `tcgen05.alloc`, `.dealloc`, `.relinquish_alloc_permit` (PTX ISA 9.7.16.7).

use super::memory::{COLUMNS, Held, Neighbour, Place, Request};
use super::{check_group, peer, uniform};
use crate::asynchronous::mbarrier::shared_at;
use crate::check::{TensorAccess, TensorUse};
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::flow::Flow;
use crate::exec::frame::Frame;
use crate::exec::memory::{addresses, write};
use crate::exec::warp::{Wait, Warp};
use crate::program::inst::{Address, Src};
use crate::program::tensor::{Allocation, AllocationKind};
use std::ops::Range;

/// Executes one of them for a whole warp.
pub fn execute(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    line: u32,
    allocation: &Allocation,
) -> Result<Flow, Trap> {
    check_group(env, allocation.pair)?;
    match &allocation.what {
        AllocationKind::Alloc { to, columns } => {
            let count = columns_of(env, warp, frame, *columns)?;
            let asked = Asked {
                pair: allocation.pair,
                count,
                line,
            };
            match allocate(env, warp, &asked)? {
                Some(first) => {
                    publish(env, warp, frame, to, first)?;
                    Ok(Flow::Next)
                }
                None => Ok(Flow::Wait(Wait::TensorMemory {
                    columns: count as u32,
                })),
            }
        }
        AllocationKind::Dealloc { address, columns } => {
            let count = columns_of(env, warp, frame, *columns)?;
            let place = Place::of(uniform(env, warp, frame, *address, "address")?);
            let asked = Asked {
                pair: allocation.pair,
                count,
                line,
            };
            release(env, warp, &asked, place)
        }
        AllocationKind::Relinquish => {
            env.ctas[warp.cta].tensor.relinquished = true;
            Ok(Flow::Next)
        }
    }
}

struct Asked {
    pair: bool,
    count: usize,
    line: u32,
}

fn columns_of(env: &Env<'_>, warp: &Warp, frame: Frame, src: Src) -> Result<usize, Trap> {
    let count = uniform(env, warp, frame, src, "number of columns")? as u32 as usize;
    if !count.is_power_of_two() || !(32..=COLUMNS).contains(&count) {
        return Err(Trap::new(format!(
            "{count} columns of tensor memory: it must be a power of two from 32 to {COLUMNS}"
        )));
    }
    Ok(count)
}

/// Writes the address into shared memory.
fn publish(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    to: &Address,
    first: usize,
) -> Result<(), Trap> {
    let target = addresses(env, warp, frame, to, 1)?[0];
    let (cta, offset) = shared_at(env, warp, to, target)?;
    if cta != warp.cta {
        return Err(Trap::new(
            "tcgen05.alloc writes the address into shared memory of its own block only",
        ));
    }
    let place = crate::exec::memory::Place::Shared { cta, offset };
    write(env, warp, 0, place, 4, first as u64)?;
    // Later accesses of the warp's lanes to this address come after it (9.7.16.6.1).
    env.warp_sync(warp);
    Ok(())
}

/// True if the warp's wait for `columns` columns (none: for its peer to give them back) may be over.
pub fn ready(env: &Env<'_>, cta: usize, columns: usize) -> bool {
    let Some(request) = &env.ctas[cta].tensor.request else {
        return stretch(env, &[cta], columns).is_some();
    };
    if request.granted.is_some() {
        return true;
    }
    let other = cta ^ 1;
    let Some(block) = env.ctas.get(other) else {
        return true;
    };
    let met = request.freed.is_none() && block.tensor.request.is_some();
    block.live_threads == 0 || met && stretch(env, &[cta, other], columns).is_some()
}

/// First column of a stretch that is free in all of `blocks`, aligned to its size as a buddy allocator has it.
fn stretch(env: &Env<'_>, blocks: &[usize], count: usize) -> Option<usize> {
    let free = |first: usize, cta: usize| {
        let tensor = &env.ctas[cta].tensor;
        let clash = |r: &Range<usize>| r.start < first + count && first < r.end;
        !tensor.held.iter().any(|h| clash(&h.columns))
            && !matches!(&tensor.neighbour, Neighbour::Holds(r) if clash(r))
    };
    (0..COLUMNS)
        .step_by(count.max(1))
        .find(|&first| blocks.iter().all(|&cta| free(first, cta)))
}

fn allocate(env: &mut Env<'_>, warp: &Warp, asked: &Asked) -> Result<Option<usize>, Trap> {
    let tensor = &mut env.ctas[warp.cta].tensor;
    if let Some(first) = tensor.request.as_ref().and_then(|r| r.granted) {
        tensor.request = None;
        return Ok(Some(first));
    }
    if tensor.relinquished {
        return Err(Trap::new(
            "tcgen05.alloc after the block has given up its permit with tcgen05.relinquish_alloc_permit",
        ));
    }
    if tensor.last.is_some_and(|last| asked.count > last) {
        return Err(Trap::new(format!(
            "tcgen05.alloc of {} columns after one of {}: allocations of a block may not grow",
            asked.count,
            tensor.last.unwrap_or(0)
        )));
    }
    let blocks = if asked.pair {
        let other = peer(env, warp.cta)?;
        if !meet(env, warp, other, asked, None)? {
            return Ok(None);
        }
        vec![warp.cta, other]
    } else {
        vec![warp.cta]
    };
    let Some(first) = room(env, &blocks, asked.count) else {
        never(env, warp.cta, asked.count)?;
        return Ok(None);
    };
    for &cta in &blocks {
        let own = cta == warp.cta;
        let tensor = &mut env.ctas[cta].tensor;
        let holder = match &mut tensor.request {
            Some(request) if !own => {
                request.granted = Some(first);
                request.warp
            }
            _ => warp.id,
        };
        tensor.take(Held {
            columns: first..first + asked.count,
            warp: holder,
            line: asked.line,
            pair: asked.pair,
        });
        env.tensor_forget(cta, first..first + asked.count);
    }
    env.ctas[warp.cta].tensor.request = None;
    env.failed_polls = 0;
    Ok(Some(first))
}

/// First column of a stretch that is free in all of `blocks`. Now and then a block of another launch holds columns when
/// the first allocation comes; it goes when the room is needed.
fn room(env: &mut Env<'_>, blocks: &[usize], count: usize) -> Option<usize> {
    for &cta in blocks {
        if env.ctas[cta].tensor.neighbour == Neighbour::Unknown {
            // The blocks of a pair have neighbours of one size, so that both get the same columns.
            let size = [0, 0, 32, 128][env.rng.below(4)];
            for &cta in blocks {
                env.ctas[cta].tensor.neighbour = match size {
                    0 => Neighbour::Absent,
                    _ => Neighbour::Holds(0..size),
                };
            }
        }
    }
    if let Some(first) = stretch(env, blocks, count) {
        return Some(first);
    }
    for &cta in blocks {
        env.ctas[cta].tensor.neighbour = Neighbour::Absent;
    }
    stretch(env, blocks, count)
}

/// Refuses an allocation that what the block itself holds makes impossible for ever: nobody else is there to give back
/// columns, and it is the only warp that runs.
fn never(env: &Env<'_>, cta: usize, count: usize) -> Result<(), Trap> {
    let block = &env.ctas[cta];
    if block.live_warps > 1 {
        return Ok(());
    }
    let held: usize = block.tensor.held.iter().map(|h| h.columns.len()).sum();
    Err(Trap::new(format!(
        "tcgen05.alloc of {count} columns can never succeed: the block itself holds {held} of {COLUMNS}, and no other warp \
         is left to give them back"
    )))
}

/// Brings the warps of a pair together; false if the other has yet to come.
fn meet(
    env: &mut Env<'_>,
    warp: &Warp,
    other: usize,
    asked: &Asked,
    freed: Option<usize>,
) -> Result<bool, Trap> {
    let request = Request {
        count: asked.count,
        freed,
        warp: warp.id,
        line: asked.line,
        granted: None,
    };
    let gone = env.ctas[other].live_threads == 0;
    let Some(theirs) = env.ctas[other].tensor.request else {
        if gone {
            return Err(Trap::new(format!(
                "a collective tcgen05 operation of a pair, but all threads of block {other} of the cluster have exited"
            )));
        }
        env.ctas[warp.cta].tensor.request = Some(request);
        return Ok(false);
    };
    let same = (theirs.count, theirs.freed) == (request.count, request.freed);
    if !same {
        let name = |r: &Request| match r.freed {
            None => format!("tcgen05.alloc of {} columns", r.count),
            Some(first) => format!("tcgen05.dealloc of {} columns at {first}", r.count),
        };
        return Err(Trap::new(format!(
            "the blocks of the pair are out of step: {} here, {} at line {} in block {other}; both must execute the same",
            name(&request),
            name(&theirs),
            theirs.line
        )));
    }
    env.ctas[warp.cta].tensor.request = Some(request);
    Ok(true)
}

fn release(env: &mut Env<'_>, warp: &Warp, asked: &Asked, place: Place) -> Result<Flow, Trap> {
    let tensor = &mut env.ctas[warp.cta].tensor;
    if tensor.request.as_ref().is_some_and(|r| r.granted.is_some()) {
        tensor.request = None;
        return Ok(Flow::Next);
    }
    let columns = place.column..place.column + asked.count;
    let Some(index) = tensor
        .held
        .iter()
        .position(|h| h.columns == columns && place.lane == 0)
    else {
        return Err(Trap::new(format!(
            "tcgen05.dealloc of {} columns at column {}: there is no such allocation (of this size, at this address)",
            asked.count, place.column
        )));
    };
    if tensor.held[index].pair != asked.pair {
        return Err(Trap::new(
            "tcgen05.dealloc has another .cta_group than the tcgen05.alloc of these columns",
        ));
    }
    let mut blocks = vec![warp.cta];
    if asked.pair {
        let other = peer(env, warp.cta)?;
        if !meet(env, warp, other, asked, Some(place.column))? {
            return Ok(Flow::Wait(Wait::TensorMemory { columns: 0 }));
        }
        blocks.push(other);
    }
    super::queue::idle(env, &blocks, &columns)?;
    for &cta in &blocks {
        env.tensor_access(TensorAccess {
            warp: env.serial(warp),
            cta,
            groups: u8::MAX,
            columns: columns.clone(),
            how: TensorUse::Free,
            number: 0,
            line: asked.line,
        })?;
        env.tensor_forget(cta, columns.clone());
        let tensor = &mut env.ctas[cta].tensor;
        tensor.held.retain(|h| h.columns != columns);
        if cta != warp.cta
            && let Some(request) = &mut tensor.request
        {
            request.granted = Some(place.column);
        }
    }
    env.ctas[warp.cta].tensor.request = None;
    env.failed_polls = 0;
    Ok(Flow::Next)
}
