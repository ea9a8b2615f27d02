//! `malloc` and `free` of device code, which every driver provides (CUDA C++ Programming Guide, "Dynamic Global Memory
//! Allocation and Operations").
//!
//! Addresses are not used twice while there are others, so that a use after `free` does not hit another object. What
//! lies between objects is not told apart from them.

use super::env::Env;
use super::fault::Trap;
use super::flow::Flow;
use super::printf::{argument, give_back};
use super::warp::Warp;
use crate::exec::frame::Frame;
use crate::program::inst::CallValue;
use crate::program::{LANES, lanes};

/// `malloc(bytes)`
pub fn malloc(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    args: &[CallValue],
    returns: &[CallValue],
) -> Result<Flow, Trap> {
    let mut row = [0; LANES];
    for lane in lanes(active) {
        let bytes = argument(warp, frame, lane, args, 0);
        let Some((address, used)) = env.shared.heap.allocate(bytes) else {
            continue;
        };
        if let (true, Some(races)) = (used, env.shared.races) {
            races.forget(address, bytes);
        }
        row[lane] = address;
    }
    give_back(warp, frame, active, returns, &row);
    Ok(Flow::Next)
}

/// `free(address)`
pub fn free(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    args: &[CallValue],
) -> Result<Flow, Trap> {
    for lane in lanes(active) {
        let address = argument(warp, frame, lane, args, 0);
        if address != 0 {
            let freed = env.shared.heap.free(address);
            freed.map_err(|m| Trap::lane(lane, m))?;
        }
    }
    Ok(Flow::Next)
}
