//! `st.async`, `red.async`, and the response of `clusterlaunchcontrol.try_cancel`.

use super::issue::{lane_shared, lane_value, start_load, targets};
use super::operation::{Source, Target};
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::warp::Warp;
use crate::program::inst::{Address, AtomOp, Src};
use crate::program::lanes;
use crate::program::types::Ty;
use crate::tensormap::Pattern;

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
            Pattern::NONE,
            reduce,
        )
        .map_err(|t| t.at(lane))?;
    }
    Ok(())
}

/// 16 bytes into one's own shared memory, or that of every block of the cluster at the same place.
#[allow(clippy::too_many_arguments)]
pub fn respond(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    lane: usize,
    line: u32,
    address: &Address,
    barrier: &Address,
    multicast: bool,
    response: [u8; 16],
) -> Result<(), Trap> {
    let (cta, offset) = lane_shared(env, warp, frame, lane, address)?;
    let barrier = lane_shared(env, warp, frame, lane, barrier)?;
    if offset % 16 != 0 {
        return Err(Trap::new(format!(
            "address {offset:#x} of a response is no multiple of 16"
        )));
    }
    let everyone = multicast.then_some((1 << env.ctas.len()) - 1);
    let targets = targets(env, (cta, offset), barrier, everyone)?;
    start_load(
        env,
        warp,
        line,
        Source::Immediate(response.to_vec()),
        targets,
        16,
        Pattern::NONE,
        None,
    )
}
