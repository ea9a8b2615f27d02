//! Issuing bulk copies and waiting for them: addresses and sizes checked, order recorded.

use super::{Destination, Operation, Origin, Source, Target, Work, finish, stage};
use crate::asynchronous::due;
use crate::asynchronous::mbarrier::shared_at;
use crate::asynchronous::tile::Tile;
use crate::check::Agent;
use crate::exec::cluster::Env;
use crate::exec::fault::Trap;
use crate::exec::hooks::GlobalUse;
use crate::exec::memory::{addresses, lanes, place, read};
use crate::exec::warp::{Frame, Warp};
use crate::program::LANES;
use crate::program::inst::{
    Address, AtomOp, BulkCopy, BulkDirection, Space, Src, TensorCopy, TensorMode,
};
use crate::program::types::Ty;
use crate::record::Kind;
use crate::tensormap::{MAX_RANK, Swizzle, TensorMap};

fn lane_value(
    env: &Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    src: Src,
) -> Result<u64, Trap> {
    warp.source(env, frame, src, 1 << lane).map(|row| row[lane])
}

fn lane_address(
    env: &Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    address: &Address,
) -> Result<u64, Trap> {
    addresses(env, warp, frame, address, 1 << lane).map(|row| row[lane])
}

fn lane_shared(
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
fn targets(
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

/// `cp.async.bulk` and `cp.reduce.async.bulk`
pub fn copy(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    line: u32,
    c: &BulkCopy,
) -> Result<(), Trap> {
    for lane in lanes(active) {
        copy_lane(env, warp, frame, lane, line, c).map_err(|t| t.at(lane))?;
    }
    Ok(())
}

fn copy_lane(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    lane: usize,
    line: u32,
    c: &BulkCopy,
) -> Result<(), Trap> {
    let size = lane_value(env, warp, frame, lane, c.size)? & 0xffff_ffff;
    let src = lane_address(env, warp, frame, lane, &c.src)?;
    if c.direction == BulkDirection::Prefetch {
        return Ok(());
    }
    let Some(dst_address) = &c.dst else {
        return Ok(());
    };
    let dst = lane_address(env, warp, frame, lane, dst_address)?;
    if size % 16 != 0 || src % 16 != 0 || dst % 16 != 0 {
        return Err(Trap::new(format!(
            "bulk copy of {size} bytes from {src:#x} to {dst:#x}: all must be multiples of 16"
        )));
    }
    if size == 0 {
        return Ok(());
    }
    let reduce = c.reduce.map(|r| (r.op, r.ty));
    if c.direction == BulkDirection::Store {
        let (cta, offset) = shared_at(env, warp, &c.src, src)?;
        env.shared.global.locate(dst, size, &mut warp.hint)?;
        let byte_mask = c
            .byte_mask
            .map(|m| lane_value(env, warp, frame, lane, m))
            .transpose()?
            .map(|m| m as u16);
        let to = Destination::Global {
            address: dst,
            reduce,
            byte_mask,
        };
        return start_store(env, warp, lane, line, cta, offset, size, Swizzle::None, to);
    }
    let Some(barrier) = &c.barrier else {
        return Ok(());
    };
    let barrier = lane_shared(env, warp, frame, lane, barrier)?;
    let to = shared_at(env, warp, dst_address, dst)?;
    let multicast = c
        .multicast
        .map(|m| lane_value(env, warp, frame, lane, m))
        .transpose()?;
    let source = if c.direction == BulkDirection::Cluster {
        let (cta, offset) = shared_at(env, warp, &c.src, src)?;
        Source::Shared { cta, offset }
    } else {
        env.shared.global.locate(src, size, &mut warp.hint)?;
        Source::Global(src)
    };
    let targets = targets(env, to, barrier, multicast)?;
    start_load(
        env,
        warp,
        line,
        source,
        targets,
        size,
        Swizzle::None,
        reduce,
    )
}

#[allow(clippy::too_many_arguments)]
fn start_load(
    env: &mut Env<'_>,
    warp: &mut Warp,
    line: u32,
    source: Source,
    targets: Vec<Target>,
    bytes: u64,
    swizzle: Swizzle,
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
        if !env.ctas[target.cta].holds(target.offset, bytes) {
            return Err(crate::exec::memory::shared_outside(
                env,
                target.offset,
                bytes,
                env.ctas[target.cta].shared.len(),
            ));
        }
        if reduce.is_none() {
            for chunk in (0..bytes).step_by(16) {
                let at = swizzle.apply(target.offset + chunk);
                env.async_proxy_write(agent, warp, target.cta, at, 16.min(bytes - chunk))?;
            }
        }
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
fn start_store(
    env: &mut Env<'_>,
    warp: &mut Warp,
    lane: usize,
    line: u32,
    cta: usize,
    offset: u64,
    bytes: u64,
    swizzle: Swizzle,
    to: Destination,
) -> Result<(), Trap> {
    if cta != warp.cta {
        return Err(Trap::new(
            "a bulk store reads the shared memory of its own block only",
        ));
    }
    if !env.ctas[cta].holds(offset, bytes) {
        return Err(crate::exec::memory::shared_outside(
            env,
            offset,
            bytes,
            env.ctas[cta].shared.len(),
        ));
    }
    let agent = env.issue(warp, line, "bulk store");
    env.stats.async_bytes += bytes;
    for chunk in (0..bytes).step_by(16) {
        env.async_read(
            agent,
            warp,
            cta,
            swizzle.apply(offset + chunk),
            16.min(bytes - chunk),
        )?;
    }
    let write = GlobalUse {
        store: true,
        agent: Some(agent),
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
            env.strong = reduce.is_some();
            check_tile(env, warp, tile, write)?;
        }
    }
    env.strong = false;
    let id = push(
        env,
        warp,
        line,
        agent,
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
        .push((id, agent));
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

/// The tensor map at an address.
fn read_map(
    env: &mut Env<'_>,
    warp: &mut Warp,
    lane: usize,
    address: u64,
) -> Result<TensorMap, Trap> {
    if !address.is_multiple_of(64) {
        return Err(Trap::new(format!(
            "tensor map address {address:#x} is no multiple of 64"
        )));
    }
    let mut bytes = [0; 128];
    for (i, word) in bytes.chunks_exact_mut(8).enumerate() {
        let at = place(env, warp, Space::Generic, address + 8 * i as u64)?;
        word.copy_from_slice(&read(env, warp, lane, at, 8)?.to_le_bytes());
    }
    TensorMap::from_bytes(&bytes).map_err(|e| Trap::new(e.to_string()))
}

/// `cp.async.bulk.tensor` and its relatives.
pub fn tensor(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    line: u32,
    c: &TensorCopy,
) -> Result<(), Trap> {
    for lane in lanes(active) {
        tensor_lane(env, warp, frame, lane, line, c).map_err(|t| t.at(lane))?;
    }
    Ok(())
}

fn tensor_lane(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    lane: usize,
    line: u32,
    c: &TensorCopy,
) -> Result<(), Trap> {
    let map_address = lane_address(env, warp, frame, lane, &c.map)?;
    let map = read_map(env, warp, lane, map_address)?;
    let tile = make_tile(env, warp, frame, lane, c, map)?;
    if c.direction == BulkDirection::Prefetch {
        return Ok(());
    }
    let Some(shared) = &c.shared else {
        return Ok(());
    };
    let (cta, offset) = lane_shared(env, warp, frame, lane, shared)?;
    let swizzle = tile.map.swizzle;
    if offset % 128 != 0 {
        return Err(Trap::new(format!(
            "shared address {offset:#x} of a tensor copy is no multiple of 128"
        )));
    }
    let bytes = tile.bytes();
    if c.direction == BulkDirection::Store {
        let to = Destination::Tile {
            tile: Box::new(tile),
            reduce: c.reduce,
        };
        return start_store(env, warp, lane, line, cta, offset, bytes, swizzle, to);
    }
    let Some(barrier) = &c.barrier else {
        return Ok(());
    };
    let barrier = lane_shared(env, warp, frame, lane, barrier)?;
    let multicast = c
        .multicast
        .map(|m| lane_value(env, warp, frame, lane, m))
        .transpose()?;
    let targets = targets(env, (cta, offset), barrier, multicast)?;
    start_load(
        env,
        warp,
        line,
        Source::Tile(Box::new(tile)),
        targets,
        bytes,
        swizzle,
        None,
    )
}

fn make_tile(
    env: &Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    c: &TensorCopy,
    map: TensorMap,
) -> Result<Tile, Trap> {
    let mut values = [0i64; MAX_RANK];
    for (value, &src) in values.iter_mut().zip(&c.coords) {
        *value = i64::from(lane_value(env, warp, frame, lane, src)? as u32 as i32);
    }
    let (mut rows, mut pixels, mut coords, mut rank) = (None, None, values, c.coords.len());
    match &c.mode {
        TensorMode::Tile => {}
        TensorMode::Gather4 | TensorMode::Scatter4 => {
            let [x, first, second, third, fourth] = values;
            (coords, rows, rank) = ([x, 0, 0, 0, 0], Some([first, second, third, fourth]), 2);
        }
        TensorMode::Im2col { offsets } => {
            let mut added = [0; 3];
            for (slot, &src) in added.iter_mut().zip(offsets) {
                *slot = lane_value(env, warp, frame, lane, src)? as u16;
            }
            pixels = Some(added);
        }
    }
    if map.rank != rank {
        return Err(Trap::new(format!(
            "a copy of {rank} dimensions with a tensor map of {}",
            map.rank
        )));
    }
    let tile = Tile {
        map,
        coords,
        rows,
        pixels,
    };
    tile.check()?;
    Ok(tile)
}

/// `st.async`, `red.async`
#[allow(clippy::too_many_arguments)]
pub fn message(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    line: u32,
    address: &Address,
    barrier: &Address,
    srcs: &[Src],
    ty: Ty,
    reduce: Option<AtomOp>,
) -> Result<(), Trap> {
    for lane in lanes(active) {
        let (cta, offset) = lane_shared(env, warp, frame, lane, address).map_err(|t| t.at(lane))?;
        let barrier = lane_shared(env, warp, frame, lane, barrier).map_err(|t| t.at(lane))?;
        let mut data = Vec::new();
        for &src in srcs {
            let value = lane_value(env, warp, frame, lane, src).map_err(|t| t.at(lane))?;
            data.extend_from_slice(&value.to_le_bytes()[..ty.bytes() as usize]);
        }
        let bytes = data.len() as u64;
        if offset % bytes != 0 {
            return Err(Trap::lane(
                lane,
                format!("st.async address {offset:#x} is no multiple of {bytes}"),
            ));
        }
        let targets = vec![Target {
            cta,
            offset,
            barrier,
        }];
        let reduce = reduce.map(|op| (op, ty));
        start_load(
            env,
            warp,
            line,
            Source::Immediate(data),
            targets,
            bytes,
            Swizzle::None,
            reduce,
        )
        .map_err(|t| t.at(lane))?;
    }
    Ok(())
}

/// `cp.async.bulk.commit_group`
pub fn commit(warp: &mut Warp, active: u32) {
    for lane in lanes(active) {
        let groups = warp.pending.bulk.lanes.entry(lane).or_default();
        let open = std::mem::take(&mut groups.open);
        groups.closed.push_back(open);
    }
}

/// `cp.async.bulk.wait_group{.read}`
pub fn wait(
    env: &mut Env<'_>,
    warp: &mut Warp,
    active: u32,
    pending: u32,
    read_only: bool,
) -> Result<(), Trap> {
    for lane in 0..LANES {
        if active >> lane & 1 == 0 {
            continue;
        }
        let Some(groups) = warp.pending.bulk.lanes.get_mut(&lane) else {
            continue;
        };
        let finished = groups.closed.len().saturating_sub(pending as usize);
        let ids: Vec<(u64, Agent)> = groups
            .closed
            .iter()
            .take(finished)
            .flatten()
            .copied()
            .collect();
        if !read_only {
            groups.closed.drain(..finished);
        }
        for (id, agent) in ids {
            env.acquire(warp, agent);
            let Some(index) = env.engine.pending.iter().position(|o| o.id == id) else {
                continue;
            };
            stage(env, index);
            if !read_only {
                finish(env, index).map_err(|t| t.at(lane))?;
            }
        }
    }
    Ok(())
}
