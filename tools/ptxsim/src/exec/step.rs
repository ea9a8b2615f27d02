//! One instruction of one fragment.

use super::cluster::Env;
use super::collective::Gathered;
use super::fault::Trap;
use super::memory::{lanes, place};
use super::warp::{Frame, Wait, Warp};
use super::{alu, atomic, call, collective, memory, registers};
use crate::asynchronous::{bulk, cp_async, mbarrier, tensormap, wgmma};
use crate::matrix::{mma, moves, wmma};
use crate::program::inst::{Inst, Op, Order, Reg, Space, Src};
use crate::program::{LANES, window};

/// Where the fragment goes next.
#[derive(Debug, Clone, Copy)]
pub enum Flow {
    /// to the next instruction
    Next,
    /// to the next instruction, and another warp may run first
    Yield,
    /// all lanes elsewhere
    Jump(u32),
    /// some lanes elsewhere
    Diverge {
        /// where
        target: u32,
        /// who
        lanes: u32,
    },
    /// the same instruction again once the reason is gone
    Wait(Wait),
    /// these lanes are done
    Exit(u32),
}

/// Executes `inst` for the active lanes of a fragment.
pub fn step(
    env: &mut Env<'_>,
    warp: &mut Warp,
    fragment: usize,
    inst: &Inst,
) -> Result<Flow, Trap> {
    let mask = warp.fragments[fragment].mask;
    let frame = warp.fragments[fragment].frame();
    let active = match inst.guard.pred {
        None => mask,
        Some(_) => mask & warp.pred(env, frame, inst.guard, mask)?,
    };
    if active == 0 {
        return Ok(Flow::Next);
    }
    env.executed[warp.fragments[fragment].pc as usize] += u64::from(active.count_ones());
    match &inst.op {
        Op::Lanes {
            f,
            dst,
            srcs,
            count,
        } => alu::lanes(env, warp, frame, active, f, *dst, srcs, *count)?,
        Op::Move { dst, src } => move_register(env, warp, frame, active, *dst, *src)?,
        Op::Compare {
            f,
            srcs,
            count,
            combine,
            p,
            q,
        } => {
            alu::compare(env, warp, frame, active, f, srcs, *count, *combine, *p, *q)?;
        }
        Op::Select { dst, a, b, pred } => {
            let holds = warp.pred(env, frame, *pred, active)?;
            let (a, b) = (
                warp.source(env, frame, *a, active & holds)?,
                warp.source(env, frame, *b, active & !holds)?,
            );
            let row = std::array::from_fn(|l| if holds >> l & 1 == 1 { a[l] } else { b[l] });
            warp.set(frame, *dst, active, &row);
        }
        Op::PredLogic { op, dst, a, b } => {
            let value = alu::bool_op(
                *op,
                warp.pred(env, frame, *a, active)?,
                warp.pred(env, frame, *b, active)?,
            );
            warp.set_pred(frame, *dst, active, value);
        }
        Op::PredMove { dst, src } => {
            let value = warp.pred(env, frame, *src, active)?;
            warp.set_pred(frame, *dst, active, value);
        }
        Op::Special { dst, special } => {
            let row = alu::special(env, warp, frame, *special);
            warp.set(frame, *dst, active, &row);
        }
        Op::Unpack { dsts, src, bits } => alu::unpack(env, warp, frame, active, dsts, *src, *bits)?,
        Op::Pack { dst, srcs, bits } => alu::pack(env, warp, frame, active, *dst, srcs, *bits)?,
        Op::Carry {
            f,
            dst,
            srcs,
            reads,
            writes,
            carry,
            ..
        } => {
            let flag = crate::program::inst::PredSrc {
                pred: Some(*carry),
                negated: false,
            };
            let carry_in = if *reads {
                Some(warp.pred(env, frame, flag, active)?)
            } else {
                None
            };
            alu::carry(
                env,
                warp,
                frame,
                active,
                *f,
                *dst,
                srcs,
                carry_in,
                writes.then_some(*carry),
            )?;
        }
        Op::Load {
            dsts,
            address,
            ty,
            extend_to,
            order,
        } => {
            env.begin_access(*order, inst.line);
            memory::load(env, warp, frame, active, dsts, address, *ty, *extend_to)?;
        }
        Op::Store {
            srcs,
            address,
            ty,
            order,
        } => {
            env.begin_access(*order, inst.line);
            memory::store(env, warp, frame, active, srcs, address, *ty)?;
        }
        Op::Atom {
            op,
            ty,
            dsts,
            address,
            srcs,
            compare,
            order,
            ..
        } => {
            env.begin_access(*order, inst.line);
            env.strong = true;
            atomic::execute(
                env, warp, frame, active, *op, *ty, dsts, address, srcs, *compare,
            )?;
        }
        Op::Branch { target, .. } => {
            return Ok(if active == mask {
                Flow::Jump(*target)
            } else {
                Flow::Diverge {
                    target: *target,
                    lanes: active,
                }
            });
        }
        Op::Call {
            callee,
            args,
            returns,
        } => return call::call(env, warp, fragment, active, *callee, args, returns),
        Op::Return => return call::ret(env, warp, fragment, active),
        Op::Exit => return Ok(Flow::Exit(active)),
        Op::Nop | Op::Breakpoint | Op::GridDependency => {}
        Op::Nanosleep => return Ok(Flow::Yield),
        Op::Trap => {
            return Err(Trap::lane(
                active.trailing_zeros() as usize,
                "executes trap",
            ));
        }
        _ => return rare(env, warp, fragment, active, inst),
    }
    Ok(Flow::Next)
}

/// Instructions outside the hot loop.
fn rare(
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
            return Ok(if same == mask {
                Flow::Jump(target)
            } else {
                Flow::Diverge {
                    target,
                    lanes: same,
                }
            });
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
        Op::WarpSync { mask: members } => {
            if let Gathered::Wait(flow) =
                collective::gather(env, warp, frame, mask, active, *members)?
            {
                return Ok(flow);
            }
        }
        Op::Shfl {
            mode,
            dst,
            pred,
            src,
            lane,
            clamp,
            mask: members,
        } => {
            let groups = match collective::gather(env, warp, frame, mask, active, *members)? {
                Gathered::Wait(flow) => return Ok(flow),
                Gathered::Ready(groups) => groups,
            };
            for group in groups {
                collective::shfl(
                    env, warp, frame, group, *mode, *dst, *pred, *src, *lane, *clamp,
                )?;
            }
        }
        Op::Vote {
            mode,
            dst,
            dst_pred,
            src,
            mask: members,
        } => {
            let groups = match collective::gather(env, warp, frame, mask, active, *members)? {
                Gathered::Wait(flow) => return Ok(flow),
                Gathered::Ready(groups) => groups,
            };
            for group in groups {
                collective::vote(env, warp, frame, group, *mode, *dst, *dst_pred, *src)?;
            }
        }
        Op::Match {
            all,
            dst,
            pred,
            src,
            mask: members,
        } => {
            let groups = match collective::gather(env, warp, frame, mask, active, *members)? {
                Gathered::Wait(flow) => return Ok(flow),
                Gathered::Ready(groups) => groups,
            };
            for group in groups {
                collective::matching(env, warp, frame, group, *all, *dst, *pred, *src)?;
            }
        }
        Op::Redux {
            op,
            ty,
            abs,
            nan,
            dst,
            src,
            mask: members,
        } => {
            let groups = match collective::gather(env, warp, frame, mask, active, *members)? {
                Gathered::Wait(flow) => return Ok(flow),
                Gathered::Ready(groups) => groups,
            };
            for group in groups {
                collective::redux(env, warp, frame, group, *op, *ty, *abs, *nan, *dst, *src)?;
            }
        }
        Op::Elect {
            dst,
            pred,
            mask: members,
        } => {
            let groups = match collective::gather(env, warp, frame, mask, active, *members)? {
                Gathered::Wait(flow) => return Ok(flow),
                Gathered::Ready(groups) => groups,
            };
            // Which lane is elected is unspecified; hardware takes the lowest.
            for group in groups {
                let leader = group.trailing_zeros();
                warp.set_pred(frame, *pred, group, 1 << leader);
                if let Some(dst) = dst {
                    warp.set(frame, *dst, group, &[leader.into(); LANES]);
                }
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
        Op::IsSpace { dst, src, space } => {
            let row = warp.source(env, frame, *src, active)?;
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
            warp.set_pred(frame, *dst, active, holds);
        }
        Op::Prefetch { .. } => {}
        Op::ZeroShared { address, size } => {
            memory::zero_shared(env, warp, frame, active, address, *size)?;
        }
        Op::Mapa {
            dst,
            address,
            offset,
            rank,
            generic,
        } => {
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
        }
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
        _ => return asynchronous(env, warp, fragment, active, inst),
    }
    Ok(Flow::Next)
}

/// Copies, mbarriers and matrix instructions.
fn asynchronous(
    env: &mut Env<'_>,
    warp: &mut Warp,
    fragment: usize,
    active: u32,
    inst: &Inst,
) -> Result<Flow, Trap> {
    let (frame, line) = (warp.fragments[fragment].frame(), inst.line);
    env.begin_access(Order::Weak, line);
    match &inst.op {
        Op::CpAsync {
            dst,
            src,
            bytes,
            src_size,
            ignore,
        } => {
            cp_async::copy(
                env, warp, frame, active, line, dst, src, *bytes, *src_size, *ignore,
            )?;
        }
        Op::CpAsyncCommit => cp_async::commit(warp, active),
        Op::CpAsyncWait { pending } => cp_async::wait(env, warp, active, *pending)?,
        Op::CpAsyncArrive {
            barrier,
            no_increment,
        } => {
            cp_async::arrive(env, warp, frame, active, line, barrier, *no_increment)?;
        }
        Op::Mbarrier { op, address } => {
            return mbarrier::execute(env, warp, frame, active, op, address);
        }
        Op::BulkCopy(copy) => bulk::copy(env, warp, frame, active, line, copy)?,
        Op::TensorCopy(copy) => bulk::tensor(env, warp, frame, active, line, copy)?,
        Op::BulkCommit => bulk::commit(warp, active),
        Op::BulkWait { pending, read_only } => bulk::wait(env, warp, active, *pending, *read_only)?,
        Op::StAsync {
            address,
            barrier,
            srcs,
            ty,
            reduce,
        } => {
            bulk::message(
                env, warp, frame, active, line, address, barrier, srcs, *ty, *reduce,
            )?;
        }
        Op::TensormapReplace {
            address,
            field,
            index,
            value,
        } => {
            tensormap::replace(env, warp, frame, active, address, *field, *index, *value)?;
        }
        Op::TensormapCopy { dst, src } => tensormap::copy(env, warp, frame, active, dst, src)?,
        _ => return whole_warp(env, warp, fragment, active, inst),
    }
    Ok(Flow::Next)
}

/// Instructions that are always `.aligned`: the whole warp executes them.
fn whole_warp(
    env: &mut Env<'_>,
    warp: &mut Warp,
    fragment: usize,
    active: u32,
    inst: &Inst,
) -> Result<Flow, Trap> {
    let mask = warp.fragments[fragment].mask;
    let (frame, pc) = (
        warp.fragments[fragment].frame(),
        warp.fragments[fragment].pc,
    );
    if let Some(flow) = collective::aligned(warp, mask, active)? {
        return Ok(flow);
    }
    if let Op::SetMaxNreg { count, increase } = inst.op {
        return registers::execute(env, warp, count, increase, inst.line);
    }
    if active != u32::MAX {
        return Err(Trap::new(
            "a matrix instruction needs all 32 threads of its warp",
        ));
    }
    match &inst.op {
        Op::Mma(mma) => mma::execute(env, warp, frame, mma)?,
        Op::Wmma(product) => wmma::execute(env, warp, frame, product)?,
        Op::WmmaMove(mv) => wmma::execute_move(env, warp, frame, mv)?,
        Op::MatrixMove(mv) => moves::execute(env, warp, frame, mv)?,
        Op::MoveMatrix { dst, src } => moves::transpose(env, warp, frame, *dst, *src)?,
        Op::WgmmaFence => wgmma::fence(warp),
        Op::WgmmaCommit => wgmma::commit(warp),
        Op::WgmmaWait { pending } => wgmma::wait(env, warp, *pending)?,
        Op::Wgmma(wgmma) => wgmma::issue(env, warp, frame, pc, inst.line, wgmma)?,
        _ => return Err(Trap::new("this instruction is decoded but not executed")),
    }
    Ok(Flow::Next)
}

/// `mov`: definedness and the time of writing travel along, as a renaming compiler would have it.
fn move_register(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    dst: Reg,
    src: Src,
) -> Result<(), Trap> {
    let Src::Reg(row) = src else {
        let row = warp.source(env, frame, src, active)?;
        warp.set(frame, dst, active, &row);
        return Ok(());
    };
    let (from, to) = ((frame.rows + row) as usize, (frame.rows + dst.0) as usize);
    let in_flight = warp.in_flight[from] & wgmma::ACCUMULATOR | warp.in_flight[to];
    if warp.any_in_flight && in_flight != 0 {
        wgmma::settle(env, warp)?;
    }
    let (value, defined, written_at) = (warp.regs[from], warp.defined[from], warp.written_at[from]);
    let flight = std::mem::replace(&mut warp.any_in_flight, false);
    warp.set(frame, dst, active, &value);
    warp.any_in_flight = flight;
    warp.defined[to] = warp.defined[to] & !active | defined & active;
    warp.written_at[to] = written_at;
    Ok(())
}
