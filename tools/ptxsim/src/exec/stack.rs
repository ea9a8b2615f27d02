//! The part of a thread's stack that grows while it runs: `alloca`, `stacksave`, `stackrestore` (PTX ISA 9.7.17).
//!
//! A stack pointer is an offset in the thread's local memory. That of a frame which has not allocated anything is the
//! end of its declared variables.

use super::env::Env;
use super::fault::Trap;
use super::warp::Warp;
use crate::exec::frame::Frame;
use crate::program::inst::{Reg, Src};
use crate::program::{LANES, lanes};

/// Local memory of a thread at most, in bytes, as on hardware.
const MAX_LOCAL: u64 = 512 << 10;

/// Where the next allocation of a lane may start.
pub fn pointer(env: &Env<'_>, warp: &Warp, frame: Frame, lane: usize) -> u32 {
    let declared = env.shared.program.functions[frame.function as usize].local_bytes;
    warp.stack[lane].max(frame.local + declared)
}

/// `alloca`
pub fn allocate(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    dst: Reg,
    size: Src,
    align: u32,
) -> Result<(), Trap> {
    let sizes = warp.source(env, frame, size, active)?;
    let mut row = [0; LANES];
    for lane in lanes(active) {
        let start = u64::from(pointer(env, warp, frame, lane)).next_multiple_of(align.into());
        match start.checked_add(sizes[lane]).filter(|&e| e <= MAX_LOCAL) {
            Some(end) => warp.grow_local(lane, end as u32),
            None => {
                return Err(Trap::lane(
                    lane,
                    format!(
                        "alloca of {} bytes exceeds the {MAX_LOCAL} bytes of local memory that a thread may have",
                        sizes[lane]
                    ),
                ));
            }
        }
        row[lane] = start;
    }
    warp.set(frame, dst, active, &row);
    Ok(())
}

/// `stacksave`
pub fn save(env: &Env<'_>, warp: &mut Warp, frame: Frame, active: u32, dst: Reg) {
    let row = std::array::from_fn(|lane| pointer(env, warp, frame, lane).into());
    warp.set(frame, dst, active, &row);
}

/// `stackrestore`
pub fn restore(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    src: Src,
) -> Result<(), Trap> {
    let row = warp.source(env, frame, src, active)?;
    for lane in lanes(active) {
        let now = pointer(env, warp, frame, lane);
        if row[lane] < u64::from(frame.local) || row[lane] > now.into() {
            return Err(Trap::lane(
                lane,
                format!(
                    "stackrestore of {:#x}, which stacksave has not given in this function",
                    row[lane]
                ),
            ));
        }
        warp.stack[lane] = row[lane] as u32;
    }
    Ok(())
}
