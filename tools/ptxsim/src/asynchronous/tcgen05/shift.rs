//! `tcgen05.shift` (PTX ISA 9.7.16.9.3): each of 32 lanes takes the 32 bytes of the lane after it; the last keeps its own.

use super::moved::Shift;
use super::work::Work;
use super::{blocks, check_group, queue, tensor_place};
use crate::check::{TensorAccess, TensorUse};
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::warp::Warp;
use crate::program::tensor::TensorAddress;

impl Shift {
    /// Moves the words.
    pub fn perform(&self, env: &mut Env<'_>) {
        for &cta in &self.blocks {
            let memory = &mut env.ctas[cta].tensor;
            for lane in self.place.lane..self.place.lane + 31 {
                for column in self.columns() {
                    let value = memory.get(lane + 1, column);
                    memory.set(lane, column, value);
                }
            }
        }
    }
}

/// Issues it.
pub fn issue(
    env: &mut Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    line: u32,
    pair: bool,
    address: TensorAddress,
) -> Result<(), Trap> {
    check_group(env, pair)?;
    let place = tensor_place(env, warp, frame, address, 1 << lane)?;
    if place.lane % 32 != 0 {
        return Err(Trap::new(format!(
            "tcgen05.shift at lane {}, which is no multiple of 32",
            place.lane
        )));
    }
    let shift = Shift {
        blocks: blocks(env, warp, pair)?,
        place,
    };
    let agent = env.tensor_issue(warp, line, "tcgen05.shift");
    for &cta in &shift.blocks {
        env.ctas[cta]
            .tensor
            .check(&shift.columns(), "tcgen05.shift")?;
        env.tensor_access(TensorAccess {
            warp: env.serial(warp),
            cta,
            groups: 3 << (place.lane / 16),
            columns: shift.columns(),
            how: TensorUse::Shift,
            number: agent.number(),
            line,
        })?;
    }
    queue::push(env, warp, line, Work::Shift(shift));
    Ok(())
}
