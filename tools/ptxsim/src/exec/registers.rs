//! `setmaxnreg`: registers that warpgroups hand to each other (PTX ISA 9.7.19.5).

use super::cluster::Env;
use super::fault::Trap;
use super::step::Flow;
use super::warp::{Wait, Warp};

/// Registers of a multiprocessor, which a block of the largest size divides among its threads.
const FILE: u32 = 65536;

/// Registers per thread with which a block starts: `.maxnreg`, or what `.minnctapersm` blocks leave each other, in
/// eights. Without either the compiler cannot know, and ptxas ignores `setmaxnreg`.
fn initial(env: &Env<'_>) -> Option<u32> {
    let attributes = &env.shared.program.attributes;
    let threads = (env.shared.warps_per_block() * 32).max(1);
    let fair = |blocks: u32| (FILE / (threads * blocks.max(1)) / 8 * 8).min(248);
    attributes
        .maxnreg
        .map(|n| n.min(fair(1)))
        .or(attributes.minnctapersm.map(fair))
}

/// Executes `setmaxnreg` for a whole warp.
pub fn execute(env: &mut Env<'_>, warp: &Warp, count: u32, increase: bool) -> Result<Flow, Trap> {
    let Some(start) = initial(env) else {
        return Ok(Flow::Next);
    };
    let group = warp.id / 4;
    let cta = &mut env.ctas[warp.cta];
    let Some(held) = cta
        .warpgroup_registers
        .get(group as usize)
        .map(|h| h.unwrap_or(start))
    else {
        return Err(Trap::new("setmaxnreg needs whole warpgroups"));
    };
    cta.warpgroup_registers[group as usize] = Some(held);
    if !increase {
        if count > held {
            return Err(Trap::new(format!(
                "setmaxnreg.dec to {count}, but the warpgroup has only {held} registers per thread"
            )));
        }
        // The last of the four warps lets go.
        cta.warpgroup_arrivals[group as usize] += 1;
        if cta.warpgroup_arrivals[group as usize].is_multiple_of(4) {
            cta.spare_registers += i64::from(held - count);
            cta.warpgroup_registers[group as usize] = Some(count);
        }
        return Ok(Flow::Next);
    }
    if count < held {
        return Err(Trap::new(format!(
            "setmaxnreg.inc to {count}, but the warpgroup has {held} registers per thread already"
        )));
    }
    if !cta.registers_granted(group, count) {
        return Ok(Flow::Wait(Wait::Registers {
            warpgroup: group,
            count,
        }));
    }
    cta.spare_registers -= i64::from(count - held);
    cta.warpgroup_registers[group as usize] = Some(count);
    Ok(Flow::Next)
}
