//! `setmaxnreg`: registers that warpgroups hand to each other (PTX ISA 9.7.19.5).

use super::block::PendingRegisters;
use super::env::Env;
use super::fault::Trap;
use super::flow::Flow;
use super::warp::{Wait, Warp};

/// Registers of a multiprocessor, which a block of the largest size divides among its threads.
const FILE: u32 = 65536;

/// Registers per thread with which a block starts: `.maxnreg`, or what `.minnctapersm` blocks leave each other, in
/// eights. Without either the compiler cannot know, and ptxas ignores `setmaxnreg`.
fn initial(env: &Env<'_>) -> Option<u32> {
    let attributes = &env.shared.program.attributes;
    let threads = (env.shared.warps_per_block() * 32).max(1);
    let fair = |blocks: u32| (FILE / (threads * blocks.max(1)) / 8 * 8).min(256);
    attributes
        .maxnreg
        .map(|n| n.min(fair(1)))
        .or(attributes.minnctapersm.map(fair))
}

/// Executes `setmaxnreg` for a whole warp. The registers change hands when the first warp of an increase, or the last of
/// a decrease, gets here.
pub fn execute(
    env: &mut Env<'_>,
    warp: &Warp,
    count: u32,
    increase: bool,
    line: u32,
) -> Result<Flow, Trap> {
    let Some(start) = initial(env) else {
        return Ok(Flow::Next);
    };
    let (index, bit) = (warp.id / 4, 1 << (warp.id % 4));
    let cta = &mut env.ctas[warp.cta];
    let Some(group) = cta.warpgroups.get(index as usize).copied() else {
        return Err(Trap::new("setmaxnreg needs whole warpgroups"));
    };
    let held = group.registers.unwrap_or(start);
    let fresh = PendingRegisters {
        count,
        increase,
        line,
        arrived: 0,
    };
    let mut pending = group.pending.unwrap_or(fresh);
    let same = (pending.count, pending.increase) == (count, increase);
    // Nothing changes hands when a warp repeats a count, as Triton's warps do at the head of a loop (`.dec` to what the
    // `.inc` before has given).
    let again = pending.count == count && pending.arrived & bit != 0;
    if group.pending.is_none() && count == held || again {
        return Ok(Flow::Next);
    }
    if !same {
        return Err(Trap::new(format!(
            "setmaxnreg to {count} while others of the warpgroup have yet to execute the one to {} at line {}: all four \
             warps must execute the same one, and synchronise before the next",
            pending.count, pending.line
        )));
    }
    if pending.arrived == 0 {
        check(count, increase, held)?;
    }
    cta.warpgroups[index as usize].registers = Some(held);
    if increase && pending.arrived == 0 {
        if !cta.registers_granted(index, count) {
            return Ok(Flow::Wait(Wait::Registers {
                warpgroup: index,
                count,
            }));
        }
        cta.spare_registers -= i64::from(count - held);
        cta.warpgroups[index as usize].registers = Some(count);
    }
    pending.arrived |= bit;
    let all = pending.arrived == 0xf;
    if all && !increase {
        cta.spare_registers += i64::from(held - count);
        cta.warpgroups[index as usize].registers = Some(count);
    }
    cta.warpgroups[index as usize].pending = (!all).then_some(pending);
    Ok(Flow::Next)
}

fn check(count: u32, increase: bool, held: u32) -> Result<(), Trap> {
    if increase && count < held {
        return Err(Trap::new(format!(
            "setmaxnreg.inc to {count}, but the warpgroup has {held} registers per thread already; use .dec to give some \
             away"
        )));
    }
    if !increase && count > held {
        return Err(Trap::new(format!(
            "setmaxnreg.dec to {count}, but the warpgroup has only {held} registers per thread; use .inc to get more"
        )));
    }
    Ok(())
}
