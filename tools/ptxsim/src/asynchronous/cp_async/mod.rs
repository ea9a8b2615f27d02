//! `cp.async`: 4, 8 or 16 bytes per lane from global to shared memory, with groups per thread (PTX ISA 9.7.9.25.3).

use crate::exec::access::GlobalUse;
use crate::exec::frame::Frame;
use crate::program::lanes;

mod queue;

use super::due;
use super::mbarrier::shared_at;
use crate::clock::trace::Effect;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::memory::addresses;
use crate::exec::warp::Warp;
use crate::program::LANES;
use crate::program::inst::{Address, PredSrc, Src};
use crate::record::Kind;
use queue::{Batch, OPEN, Work};

pub use queue::Queue;

/// `cp.async.ca/cg.shared.global`
#[allow(clippy::too_many_arguments)]
pub fn copy(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    line: u32,
    dst: &Address,
    src: &Address,
    bytes: u32,
    src_size: Option<Src>,
    ignore: Option<PredSrc>,
) -> Result<(), Trap> {
    let to = addresses(env, warp, frame, dst, active)?;
    let from = addresses(env, warp, frame, src, active)?;
    let sizes = src_size
        .map(|s| warp.source(env, frame, s, active))
        .transpose()?;
    let ignored = ignore
        .map(|p| warp.pred(env, frame, p, active))
        .transpose()?
        .unwrap_or(0);
    let mut offsets = [0; LANES];
    let mut valid = [0; LANES];
    for lane in lanes(active) {
        let (cta, offset) = shared_at(env, warp, dst, to[lane]).map_err(|t| t.at(lane))?;
        let size = sizes.map_or(u64::from(bytes), |s| s[lane] & 0xffff_ffff);
        valid[lane] = if ignored >> lane & 1 == 1 { 0 } else { size };
        if cta != warp.cta || size > bytes.into() {
            return Err(Trap::lane(
                lane,
                format!("cp.async of {size} of {bytes} bytes into block {cta} of the cluster"),
            ));
        }
        if offset % u64::from(bytes) != 0 || from[lane] % u64::from(bytes) != 0 && valid[lane] > 0 {
            return Err(Trap::lane(
                lane,
                format!(
                    "cp.async of {bytes} bytes from {:#x} to {offset:#x} is misaligned",
                    from[lane]
                ),
            ));
        }
        if !env.ctas[cta].holds(offset, bytes.into()) {
            return Err(crate::exec::memory::shared_outside(
                env,
                offset,
                bytes.into(),
                env.ctas[cta].shared.len(),
            )
            .at(lane));
        }
        if valid[lane] > 0 {
            env.shared
                .global
                .locate(from[lane], valid[lane], &mut warp.hint)
                .map_err(|t| t.at(lane))?;
        }
        offsets[lane] = offset;
    }
    env.note_cp_async(warp, &from, &valid, active, bytes);
    let agent = env.issue(warp, line, "cp.async");
    env.stats.async_bytes += u64::from(bytes) * u64::from(active.count_ones());
    let sourced = lanes(active)
        .filter(|&l| valid[l] == u64::from(bytes))
        .fold(0, |m, l| m | 1 << l);
    let read = GlobalUse {
        agent: Some(agent),
        ..GlobalUse::default()
    };
    env.check_global(warp, &from, sourced, bytes.into(), read)?;
    for lane in lanes(active) {
        env.async_write(agent, warp, warp.cta, offsets[lane], bytes.into())
            .map_err(|t| t.at(lane))?;
    }
    let work = Work::Copy {
        cta: warp.cta,
        dst: offsets,
        src: from,
        bytes,
        valid,
    };
    let total = u64::from(bytes) * u64::from(active.count_ones());
    env.begin(warp, Kind::CpAsync, 0, line, total);
    env.copies_in_flight += 1;
    push(env, warp, active, line, work, agent);
    Ok(())
}

fn push(
    env: &mut Env<'_>,
    warp: &mut Warp,
    active: u32,
    line: u32,
    work: Work,
    agent: crate::check::Agent,
) {
    let due = due(&mut env.rng, env.clock);
    warp.pending.copies.batches.push(Batch {
        mask: active,
        unwaited: active,
        groups: [OPEN; LANES],
        due,
        line,
        work,
        agent,
    });
}

/// `cp.async.commit_group`
pub fn commit(warp: &mut Warp, active: u32) {
    let queue = &mut warp.pending.copies;
    for batch in &mut queue.batches {
        for lane in lanes(active & batch.unwaited) {
            if batch.groups[lane] == OPEN {
                batch.groups[lane] = queue.committed[lane];
            }
        }
    }
    for lane in lanes(active) {
        queue.committed[lane] += 1;
    }
}

/// `cp.async.wait_group` and `cp.async.wait_all` (`pending` = `None`).
pub fn wait(
    env: &mut Env<'_>,
    warp: &mut Warp,
    active: u32,
    pending: Option<u32>,
) -> Result<(), Trap> {
    let limit: [u32; LANES] = std::array::from_fn(|l| match pending {
        None => OPEN,
        Some(n) => warp.pending.copies.committed[l].saturating_sub(n),
    });
    for i in 0..warp.pending.copies.batches.len() {
        let batch = &warp.pending.copies.batches[i];
        let waited = lanes(active & batch.unwaited)
            .filter(|&l| pending.is_none() || batch.groups[l] < limit[l])
            .fold(0, |m, l| m | 1 << l);
        if waited != 0 {
            let agent = batch.agent;
            perform(env, warp, i, waited)?;
            warp.pending.copies.batches[i].unwaited &= !waited;
            env.acquire(warp, agent);
        }
    }
    warp.pending.copies.batches.retain(|b| b.unwaited != 0);
    Ok(())
}

/// `cp.async.mbarrier.arrive{.noinc}`
pub fn arrive(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    line: u32,
    address: &Address,
    no_increment: bool,
) -> Result<(), Trap> {
    let base = addresses(env, warp, frame, address, active)?;
    let mut barriers = [(0, 0); LANES];
    for lane in lanes(active) {
        let (rank, offset) = shared_at(env, warp, address, base[lane]).map_err(|t| t.at(lane))?;
        env.mbarrier(rank, offset).map_err(|t| t.at(lane))?;
        env.use_mbarrier(warp, rank, offset)
            .map_err(|t| t.at(lane))?;
        if !no_increment {
            env.add_pending(rank, offset).map_err(|t| t.at(lane))?;
        }
        barriers[lane] = (rank, offset);
        env.note(warp, |tape| {
            Some(Effect::CopiesArrive(tape.mbarrier_arrival(rank, offset)))
        });
    }
    let agent = env.issue(warp, line, "cp.async.mbarrier.arrive");
    let copies = warp.pending.copies.before(active);
    let work = Work::Arrive { barriers, copies };
    push(env, warp, active, line, work, agent);
    Ok(())
}

/// Lets the lanes' part of a batch happen.
fn perform(env: &mut Env<'_>, warp: &mut Warp, index: usize, mask: u32) -> Result<(), Trap> {
    if let Work::Arrive { .. } = warp.pending.copies.batches[index].work {
        // It happens after the copies that came before it.
        for earlier in 0..index {
            let before = warp.pending.copies.batches[earlier].mask & mask;
            if before != 0 {
                perform(env, warp, earlier, before)?;
            }
        }
        for earlier in &mut warp.pending.copies.batches[..index] {
            earlier.unwaited &= !mask;
        }
    }
    let track = warp.track();
    let batch = &mut warp.pending.copies.batches[index];
    let mask = batch.mask & mask;
    batch.mask &= !mask;
    match &batch.work {
        Work::Copy {
            cta,
            dst,
            src,
            bytes,
            valid,
        } => {
            if mask != 0 && batch.mask == 0 {
                env.copies_in_flight -= 1;
                env.end_on(track, Kind::CpAsync, 0);
            }
            let mut hint = 0;
            for lane in lanes(mask) {
                let mut data = [0u8; 16];
                let n = valid[lane] as usize;
                env.shared
                    .global
                    .read_bytes(src[lane], &mut data[..n], &mut hint)
                    .map_err(|t| t.at(lane))?;
                env.ctas[*cta].put(dst[lane] as usize, &data[..*bytes as usize]);
            }
        }
        Work::Arrive { barriers, copies } => {
            let barriers = *barriers;
            let mut completed = copies.clone();
            completed.push(batch.agent);
            batch.unwaited &= !mask;
            for lane in lanes(mask) {
                let (rank, offset) = barriers[lane];
                env.async_arrive(rank, offset).map_err(|t| t.at(lane))?;
                env.agents_release(&completed, rank, offset);
            }
        }
    }
    Ok(())
}

/// Lets everything that is due happen, or, if `force`, the oldest batch. True if something happened.
pub fn tick(env: &mut Env<'_>, warp: &mut Warp, force: bool) -> Result<bool, (u32, Trap)> {
    let mut any = false;
    for i in 0..warp.pending.copies.batches.len() {
        let batch = &warp.pending.copies.batches[i];
        if batch.mask != 0 && (batch.due <= env.clock || force && !any) {
            let (line, mask) = (batch.line, batch.mask);
            perform(env, warp, i, mask).map_err(|trap| (line, trap))?;
            any = true;
        }
    }
    if any {
        warp.pending.copies.batches.retain(|b| b.unwaited != 0);
    }
    Ok(any)
}
