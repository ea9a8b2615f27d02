//! `clusterlaunchcontrol`: a running cluster takes over the work of one that has not started (PTX ISA 9.7.14.17).
//!
//! The 16 bytes of a response are opaque; these are the simulator's own. A request may fail although clusters are left,
//! as when something more urgent needs the machine: then they start by themselves.

use super::bulk;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::warp::Warp;
use crate::program::inst::{Address, Query, Src};
use crate::program::{LANES, lanes};

const CANCELLED: u32 = 0xc1c0_0001;
const FAILED: u32 = 0xc1c0_0000;

/// The first block of a cancelled cluster, or that there was none, as two words.
fn encode(block: Option<[u32; 3]>) -> [u8; 16] {
    let ([x, y, z], word) = match block {
        Some(block) => (block, CANCELLED),
        None => ([0; 3], FAILED),
    };
    let mut bytes = [0; 16];
    for (to, from) in bytes.chunks_exact_mut(4).zip([x, y, z, word]) {
        to.copy_from_slice(&from.to_le_bytes());
    }
    bytes
}

fn decode(low: u64, high: u64) -> Result<Option<[u32; 3]>, Trap> {
    let block = [low as u32, (low >> 32) as u32, high as u32];
    match (high >> 32) as u32 {
        CANCELLED => Ok(Some(block)),
        FAILED => Ok(None),
        _ => Err(Trap::new(
            "these 16 bytes are no response of clusterlaunchcontrol.try_cancel; wait for its mbarrier phase first",
        )),
    }
}

/// `clusterlaunchcontrol.try_cancel`
#[allow(clippy::too_many_arguments)]
pub fn try_cancel(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    line: u32,
    address: &Address,
    barrier: &Address,
    multicast: bool,
) -> Result<(), Trap> {
    for lane in lanes(active) {
        if env.cancellation_failed {
            return Err(Trap::lane(
                lane,
                "requests another cancellation although this cluster has seen one fail, which is undefined; stop at the \
                 first failure",
            ));
        }
        let unlucky = env.rng.below(8) == 0;
        let serial = if unlucky {
            None
        } else {
            env.shared.starts.cancel()
        };
        let response = encode(serial.map(|s| env.shared.first_block(s)));
        bulk::respond(
            env, warp, frame, lane, line, address, barrier, multicast, response,
        )
        .map_err(|t| t.at(lane))?;
    }
    Ok(())
}

/// `clusterlaunchcontrol.query_cancel`
pub fn query(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    response: [Src; 2],
    what: &Query,
) -> Result<(), Trap> {
    let low = warp.source(env, frame, response[0], active)?;
    let high = warp.source(env, frame, response[1], active)?;
    let (mut holds, mut rows) = (0, [[0; LANES]; 3]);
    for lane in lanes(active) {
        let block = decode(low[lane], high[lane]).map_err(|t| t.at(lane))?;
        match (block, what) {
            (Some(block), _) => {
                holds |= 1 << lane;
                (0..3).for_each(|i| rows[i][lane] = block[i].into());
            }
            (None, Query::IsCanceled(_)) => env.cancellation_failed = true,
            (None, Query::FirstBlock(_)) => {
                return Err(Trap::lane(
                    lane,
                    "asks a failed request for its block, which is undefined; ask is_canceled first",
                ));
            }
        }
    }
    match what {
        Query::IsCanceled(pred) => warp.set_pred(frame, *pred, active, holds),
        Query::FirstBlock(dsts) => {
            for (dst, row) in dsts.iter().zip(&rows) {
                if let Some(dst) = dst {
                    warp.set(frame, *dst, active, row);
                }
            }
        }
    }
    Ok(())
}
