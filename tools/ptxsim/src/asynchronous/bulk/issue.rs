//! Starting bulk copies: places checked, order recorded.

use super::operation::{Destination, Member, Operation, Origin, Source, Target, Work};
use crate::asynchronous::due;
use crate::asynchronous::mbarrier::shared_at;
use crate::asynchronous::tile::Tile;
use crate::check::Agent;
use crate::exec::access::GlobalUse;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::memory::addresses;
use crate::exec::warp::Warp;
use crate::program::inst::{Address, AtomOp, Src};
use crate::program::types::Ty;
use crate::record::Kind;
use crate::tensormap::Pattern;

pub(super) fn lane_value(
    env: &Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    src: Src,
) -> Result<u64, Trap> {
    warp.source(env, frame, src, 1 << lane).map(|row| row[lane])
}

pub(super) fn lane_address(
    env: &Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    address: &Address,
) -> Result<u64, Trap> {
    addresses(env, warp, frame, address, 1 << lane).map(|row| row[lane])
}

pub(super) fn lane_shared(
    env: &Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    address: &Address,
) -> Result<(usize, u64), Trap> {
    let value = lane_address(env, warp, frame, lane, address)?;
    shared_at(env, warp, address, value)
}

/// Targets of a load: one block, or each block of the multicast mask at the same offsets.
pub(super) fn targets(
    env: &Env<'_>,
    dst: (usize, u64),
    barrier: (usize, u64),
    multicast: Option<u64>,
) -> Result<Vec<Target>, Trap> {
    let Some(mask) = multicast else {
        return Ok(vec![Target {
            cta: dst.0,
            offset: dst.1,
            barrier,
        }]);
    };
    let blocks = env.ctas.len();
    if mask & 0xffff == 0 || mask & 0xffff >= 1 << blocks {
        return Err(Trap::new(format!(
            "multicast mask {mask:#x} names blocks outside the cluster of {blocks}"
        )));
    }
    let members = (0..blocks).filter(|c| mask >> c & 1 == 1);
    Ok(members
        .map(|cta| Target {
            cta,
            offset: dst.1,
            barrier: (cta, barrier.1),
        })
        .collect())
}

#[allow(clippy::too_many_arguments)]
pub(super) fn start_load(
    env: &mut Env<'_>,
    warp: &mut Warp,
    line: u32,
    source: Source,
    targets: Vec<Target>,
    bytes: u64,
    pattern: Pattern,
    reduce: Option<(AtomOp, Ty)>,
) -> Result<(), Trap> {
    let agent = env.issue(warp, line, "bulk copy");
    env.stats.async_bytes += bytes * targets.len() as u64;
    let read = GlobalUse {
        agent: Some(agent),
        ..GlobalUse::default()
    };
    match &source {
        Source::Shared { cta, offset } => env.async_read(agent, warp, *cta, *offset, bytes)?,
        Source::Global(address) => env.check_global_bytes(warp, *address, bytes, read)?,
        Source::Tile(tile) => check_tile(env, warp, tile, read)?,
        Source::Immediate(_) => {}
    }
    // A swizzle permutes bytes within its repeat of up to 1024 bytes; the copy owns whole 16-byte chunks.
    for target in &targets {
        env.mbarrier(target.barrier.0, target.barrier.1)?;
        env.use_mbarrier(warp, target.barrier.0, target.barrier.1)?;
        if !env.ctas[target.cta].holds(target.offset, pattern.extent(bytes)) {
            return Err(crate::exec::memory::shared_outside(
                env,
                target.offset,
                bytes,
                env.ctas[target.cta].shared.len(),
            ));
        }
        if reduce.is_none() {
            for chunk in (0..bytes).step_by(16) {
                let at = pattern.chunk(target.offset + chunk);
                env.async_proxy_write(agent, warp, target.cta, at, 16.min(bytes - chunk))?;
            }
        }
    }
    let barriers: Vec<_> = targets.iter().map(|t| t.barrier).collect();
    match &source {
        Source::Tile(tile) => env.note_bulk(warp, tile.global_ranges(), &barriers, false),
        Source::Global(at) => env.note_bulk(warp, [(*at, bytes)].into_iter(), &barriers, false),
        _ => env.note_bulk(warp, std::iter::empty(), &barriers, false),
    }
    push(
        env,
        warp,
        line,
        agent,
        Work::Load {
            source,
            targets,
            bytes,
            reduce,
        },
    );
    Ok(())
}

/// Refuses a store of bytes that nothing has written; those outside the tensor are never read.
fn check_written(env: &Env<'_>, tile: &Tile, cta: usize, offset: u64) -> Result<(), Trap> {
    if !env.shared.checks.uninitialised {
        return Ok(());
    }
    let pattern = tile.map.pattern();
    for (from, to) in tile.box_ranges() {
        let mut at = offset + from;
        while at < offset + to {
            let next = (at + 1).next_multiple_of(16).min(offset + to);
            env.initialised(cta, pattern.apply(at), next - at)?;
            at = next;
        }
    }
    Ok(())
}

/// Races of a tile's bytes in global memory.
fn check_tile(env: &mut Env<'_>, warp: &Warp, tile: &Tile, how: GlobalUse) -> Result<(), Trap> {
    if env.shared.races.is_none() {
        return Ok(());
    }
    for (address, bytes) in tile.global_ranges() {
        env.check_global_bytes(warp, address, bytes, how)?;
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
pub(super) fn start_store(
    env: &mut Env<'_>,
    warp: &mut Warp,
    lane: usize,
    line: u32,
    cta: usize,
    offset: u64,
    bytes: u64,
    pattern: Pattern,
    to: Destination,
) -> Result<(), Trap> {
    if cta != warp.cta {
        return Err(Trap::new(
            "a bulk store reads the shared memory of its own block only",
        ));
    }
    if !env.ctas[cta].holds(offset, pattern.extent(bytes)) {
        return Err(crate::exec::memory::shared_outside(
            env,
            offset,
            bytes,
            env.ctas[cta].shared.len(),
        ));
    }
    // Whoever waits for the reading only knows nothing of what was written.
    let reads = env.issue(warp, line, "bulk store");
    let writes = env.issue(warp, line, "bulk store");
    env.stats.async_bytes += bytes;
    for chunk in (0..bytes).step_by(16) {
        env.async_read(
            reads,
            warp,
            cta,
            pattern.chunk(offset + chunk),
            16.min(bytes - chunk),
        )?;
    }
    let write = GlobalUse {
        store: true,
        agent: Some(writes),
        ..GlobalUse::default()
    };
    match &to {
        Destination::Global {
            address, reduce, ..
        } => {
            env.initialised(cta, offset, bytes)?;
            env.strong = reduce.is_some();
            env.check_global_bytes(warp, *address, bytes, write)?;
        }
        Destination::Tile { tile, reduce } => {
            check_written(env, tile, cta, offset)?;
            env.strong = reduce.is_some();
            check_tile(env, warp, tile, write)?;
        }
    }
    env.strong = false;
    match &to {
        Destination::Tile { tile, .. } => env.note_bulk(warp, tile.global_ranges(), &[], true),
        Destination::Global { address, .. } => {
            env.note_bulk(warp, [(*address, bytes)].into_iter(), &[], true);
        }
    }
    let id = push(
        env,
        warp,
        line,
        writes,
        Work::Store {
            cta,
            offset,
            bytes,
            to,
            staged: None,
        },
    );
    warp.pending
        .bulk
        .lanes
        .entry(lane)
        .or_default()
        .open
        .push(Member { id, reads, writes });
    Ok(())
}

fn push(env: &mut Env<'_>, warp: &Warp, line: u32, agent: Agent, work: Work) -> u64 {
    let due = due(&mut env.rng, env.clock);
    let id = env.engine.next;
    env.engine.next += 1;
    let origin = Origin {
        cta: warp.cta,
        warp: warp.id,
        line,
    };
    let bytes = match &work {
        Work::Load { bytes, .. } | Work::Store { bytes, .. } => *bytes,
    };
    env.begin_on(origin.track(), Kind::Bulk, id, line, bytes);
    env.copies_in_flight += 1;
    env.engine.pending.push(Operation {
        id,
        due,
        agent,
        origin,
        work,
    });
    id
}
