//! `cp.async.bulk` and `cp.reduce.async.bulk`.

use super::issue::{lane_address, lane_shared, lane_value, start_load, start_store, targets};
use super::operation::{Destination, Source};
use crate::asynchronous::mbarrier::shared_at;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::warp::Warp;
use crate::program::inst::{BulkCopy, BulkDirection};
use crate::program::lanes;
use crate::tensormap::Pattern;

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
        return start_store(env, warp, lane, line, cta, offset, size, Pattern::NONE, to);
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
        Pattern::NONE,
        reduce,
    )
}
