//! Instructions outside the hot loop.

use super::collective::{self, Gathered};
use super::env::Env;
use super::fault::Trap;
use super::flow::Flow;
use super::memory::{self, place};
use super::stack;
use super::store;
use super::warp::{Wait, Warp};
use crate::exec::frame::Frame;
use crate::program::inst::{Inst, Op, Pred, Space, Src};
use crate::program::{LANES, Row, lanes, window};

/// Instructions outside the hot loop.
pub fn step(
    env: &mut Env<'_>,
    warp: &mut Warp,
    fragment: usize,
    active: u32,
    inst: &Inst,
) -> Result<Flow, Trap> {
    let mask = warp.fragments[fragment].mask;
    let frame = warp.fragments[fragment].frame();
    match &inst.op {
        Op::BranchIndirect { index, targets } => {
            let row = warp.source(env, frame, *index, active)?;
            return branch_indirect(mask, active, &row, targets);
        }
        Op::Bar {
            kind,
            id,
            count,
            aligned,
            dst_reg,
            dst_pred,
        } => {
            return collective::barrier(
                env, warp, frame, fragment, active, *kind, *id, *count, *aligned, *dst_reg,
                *dst_pred,
            );
        }
        Op::WarpSync { mask: members }
        | Op::Shfl { mask: members, .. }
        | Op::Vote { mask: members, .. }
        | Op::Match { mask: members, .. }
        | Op::Redux { mask: members, .. }
        | Op::Elect { mask: members, .. } => {
            let groups = match collective::gather(env, warp, frame, mask, active, *members)? {
                Gathered::Wait(flow) => return Ok(flow),
                Gathered::Ready(groups) => groups,
            };
            env.warp_sync(warp);
            for group in groups {
                collect(env, warp, frame, group, &inst.op)?;
            }
        }
        Op::ActiveMask { dst } => warp.set(frame, *dst, active, &[active.into(); LANES]),
        Op::CvtaTo {
            dst,
            src,
            space,
            to_generic,
        } => {
            let base = match space {
                Space::Shared | Space::SharedCluster => window::SHARED,
                Space::Local => window::LOCAL,
                Space::Param | Space::CallParam => window::PARAM_GENERIC,
                _ => 0,
            };
            let row = warp.source(env, frame, *src, active)?;
            // A null pointer stays what it is nowhere in the ISA; windows are added and taken away blindly.
            let row = row.map(|a| {
                if *to_generic {
                    a.wrapping_add(base)
                } else {
                    a.wrapping_sub(base)
                }
            });
            warp.set(frame, *dst, active, &row);
        }
        Op::IsSpace { dst, src, space } => is_space(env, warp, frame, active, *dst, *src, *space)?,
        Op::Prefetch { .. } => {}
        Op::Alloca { dst, size, align } => {
            stack::allocate(env, warp, frame, active, *dst, *size, *align)?;
        }
        Op::StackSave { dst } => stack::save(env, warp, frame, active, *dst),
        Op::StackRestore { src } => stack::restore(env, warp, frame, active, *src)?,
        Op::ZeroShared { address, size } => {
            store::zero_shared(env, warp, frame, active, address, *size)?;
        }
        Op::Mapa { .. } => map_address(env, warp, frame, active, &inst.op)?,
        Op::GetCtaRank { dst, address, .. } => {
            let row = warp.source(env, frame, *address, active)?;
            let row = row.map(|a| match (a & 0xffff_ffff) >> window::RANK_SHIFT {
                0 => warp.cta as u64,
                rank => rank - 1,
            });
            warp.set(frame, *dst, active, &row);
        }
        Op::ClusterArrive { relaxed } => {
            if warp.cluster_ticket.is_some() {
                return Err(Trap::new(
                    "arrives at the cluster barrier twice without waiting in between",
                ));
            }
            if let Some(flow) = collective::aligned(warp, mask, active)? {
                return Ok(flow);
            }
            warp.cluster_ticket = Some(env.cluster_arrive(warp, *relaxed));
        }
        Op::ClusterWait => {
            if let Some(flow) = collective::aligned(warp, mask, active)? {
                return Ok(flow);
            }
            let Some(generation) = warp.cluster_ticket else {
                return Err(Trap::new(
                    "waits at the cluster barrier without having arrived",
                ));
            };
            if env.cluster_generation == generation {
                return Ok(Flow::Wait(Wait::ClusterBarrier { generation }));
            }
            warp.cluster_ticket = None;
            env.cluster_leave(warp, generation);
        }
        Op::Fence { kind } => env.fence(warp, *kind),
        _ => return super::late::step(env, warp, fragment, active, inst),
    }
    Ok(Flow::Next)
}

/// One group of lanes that a `.sync` instruction has brought together.
fn collect(env: &Env<'_>, warp: &mut Warp, frame: Frame, group: u32, op: &Op) -> Result<(), Trap> {
    match op {
        Op::Shfl {
            mode,
            dst,
            pred,
            src,
            lane,
            clamp,
            ..
        } => collective::shfl(
            env, warp, frame, group, *mode, *dst, *pred, *src, *lane, *clamp,
        ),
        Op::Vote {
            mode,
            dst,
            dst_pred,
            src,
            ..
        } => collective::vote(env, warp, frame, group, *mode, *dst, *dst_pred, *src),
        Op::Match {
            all,
            dst,
            pred,
            src,
            ..
        } => collective::matching(env, warp, frame, group, *all, *dst, *pred, *src),
        Op::Redux {
            op,
            ty,
            abs,
            nan,
            dst,
            src,
            ..
        } => collective::redux(env, warp, frame, group, *op, *ty, *abs, *nan, *dst, *src),
        Op::Elect { dst, pred, .. } => {
            // Which lane is elected is unspecified; hardware takes the lowest.
            let leader = group.trailing_zeros();
            warp.set_pred(frame, *pred, group, 1 << leader);
            if let Some(dst) = dst {
                warp.set(frame, *dst, group, &[leader.into(); LANES]);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// `brx.idx`
fn branch_indirect(mask: u32, active: u32, row: &Row, targets: &[u32]) -> Result<Flow, Trap> {
    let first = active.trailing_zeros() as usize;
    let same = lanes(active)
        .filter(|&l| row[l] == row[first])
        .fold(0, |m, l| m | 1 << l);
    let Some(&target) = targets.get(row[first] as usize) else {
        return Err(Trap::lane(
            first,
            format!(
                "brx.idx index {} exceeds its {} targets",
                row[first],
                targets.len()
            ),
        ));
    };
    Ok(if same == mask {
        Flow::Jump(target)
    } else {
        Flow::Peel {
            target,
            lanes: same,
        }
    })
}

/// `isspacep`
fn is_space(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    dst: Pred,
    src: Src,
    space: Space,
) -> Result<(), Trap> {
    let row = warp.source(env, frame, src, active)?;
    let mut holds = 0;
    for lane in lanes(active) {
        let found = place(env, warp, Space::Generic, row[lane]).map_err(|t| t.at(lane))?;
        let same = match (found, space) {
            (memory::Place::Global(_), Space::Global) => true,
            (memory::Place::Shared { cta, .. }, Space::Shared) => cta == warp.cta,
            (memory::Place::Shared { .. }, Space::SharedCluster) => true,
            (memory::Place::Local(_), Space::Local) => true,
            (memory::Place::Param(_), Space::Param | Space::CallParam) => true,
            _ => false,
        };
        holds |= u32::from(same) << lane;
    }
    warp.set_pred(frame, dst, active, holds);
    Ok(())
}

/// `mapa`
fn map_address(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    op: &Op,
) -> Result<(), Trap> {
    let Op::Mapa {
        dst,
        address,
        offset,
        rank,
        generic,
    } = op
    else {
        return Ok(());
    };
    let (a, r) = (
        warp.source(env, frame, *address, active)?,
        warp.source(env, frame, *rank, active)?,
    );
    let mut row = [0; LANES];
    for lane in lanes(active) {
        if r[lane] >= env.ctas.len() as u64 {
            return Err(Trap::lane(
                lane,
                format!(
                    "mapa to block {} of a cluster of {}",
                    r[lane],
                    env.ctas.len()
                ),
            ));
        }
        let inner = a[lane].wrapping_add(*offset as u64) & ((1 << window::RANK_SHIFT) - 1);
        let mapped = (r[lane] + 1) << window::RANK_SHIFT | inner;
        row[lane] = if *generic {
            window::SHARED + mapped
        } else {
            mapped
        };
    }
    warp.set(frame, *dst, active, &row);
    Ok(())
}
