//! `cp.async.bulk.tensor` and its relatives.

use super::issue::{lane_address, lane_shared, lane_value, start_load, start_store, targets};
use super::operation::{Destination, Source, Target};
use crate::asynchronous::tile::{Shape, Tile};
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::memory::{place, read};
use crate::exec::warp::Warp;
use crate::program::inst::{BulkDirection, Space, Src, TensorCopy, TensorMode};
use crate::program::lanes;
use crate::tensormap::{MAX_RANK, TensorMap};

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

/// The blocks whose mbarriers the targets of a copy signal: their own, or with `.cta_group::2` those of their pairs that
/// are even or odd as `block` is, where the named mbarrier lies (PTX ISA, "cp.async.bulk.tensor").
fn signal(targets: &mut [Target], block: usize, pair: bool, multicast: bool) -> Result<(), Trap> {
    for target in targets {
        if pair && (multicast || target.cta >> 1 == block >> 1) {
            target.barrier.0 = target.cta & !1 | block & 1;
        } else if target.barrier.0 != target.cta {
            let where_it_may = match pair {
                true => "of the pair of the block that the tensor copy writes to",
                false => {
                    "of the block that the tensor copy writes to; .cta_group::2 admits that of its pair, too"
                }
            };
            return Err(Trap::new(format!(
                "the mbarrier is in block {} of the cluster, the destination in block {}: it must be in shared memory \
                 {where_it_may}",
                target.barrier.0, target.cta
            )));
        }
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
    let pattern = tile.map.pattern();
    if offset % 128 != 0 {
        return Err(Trap::new(format!(
            "shared address {offset:#x} of a tensor copy is no multiple of 128"
        )));
    }
    let bytes = tile.bytes();
    if c.direction == BulkDirection::Store {
        let to = Destination::Tile {
            tile: Box::new(tile.of_whole_granules()),
            reduce: c.reduce,
        };
        return start_store(env, warp, lane, line, cta, offset, bytes, pattern, to);
    }
    let Some(barrier) = &c.barrier else {
        return Ok(());
    };
    let barrier = lane_shared(env, warp, frame, lane, barrier)?;
    let multicast = c
        .multicast
        .map(|m| lane_value(env, warp, frame, lane, m))
        .transpose()?;
    let mut targets = targets(env, (cta, offset), barrier, multicast)?;
    signal(&mut targets, barrier.0, c.pair, multicast.is_some())?;
    start_load(
        env,
        warp,
        line,
        Source::Tile(Box::new(tile)),
        targets,
        bytes,
        pattern,
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
    let (mut coords, mut rank) = (values, c.coords.len());
    let value = |src: Src| lane_value(env, warp, frame, lane, src).map(|v| v as u16);
    let shape = match &c.mode {
        TensorMode::Tile => Shape::Box,
        TensorMode::Gather4 | TensorMode::Scatter4 => {
            let [x, first, second, third, fourth] = values;
            (coords, rank) = ([x, 0, 0, 0, 0], 2);
            Shape::Rows([first, second, third, fourth])
        }
        TensorMode::Im2col { offsets } => {
            let mut added = [0; 3];
            for (slot, &src) in added.iter_mut().zip(offsets) {
                *slot = value(src)?;
            }
            Shape::Pixels(added)
        }
        &TensorMode::Im2colWide {
            all_128,
            halo,
            offset,
        } => Shape::Wide {
            all_128,
            halo: value(halo)?,
            offset: value(offset)?,
        },
    };
    if map.rank != rank {
        return Err(Trap::new(format!(
            "a copy of {rank} dimensions with a tensor map of {}",
            map.rank
        )));
    }
    let tile = Tile { map, coords, shape };
    tile.check(c.direction == BulkDirection::Store)?;
    Ok(tile)
}
