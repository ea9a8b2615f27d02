//! `st.async` and `red.async`.

use super::issue::{lane_shared, lane_value, start_load};
use super::{Source, Target};
use crate::exec::cluster::Env;
use crate::exec::fault::Trap;
use crate::exec::memory::lanes;
use crate::exec::warp::{Frame, Warp};
use crate::program::inst::{Address, AtomOp, Src};
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
