//! Copies, mbarriers and matrix instructions: what finishes later, and what needs a whole warp.

use super::env::Env;
use super::fault::Trap;
use super::flow::Flow;
use super::warp::Warp;
use super::{collective, registers};
use crate::asynchronous::{bulk, cp_async, launch_control, mbarrier, tcgen05, tensormap, wgmma};
use crate::matrix::{mma, moves, wmma};
use crate::program::inst::{Inst, Op, Order};

/// Copies, mbarriers and matrix instructions.
pub fn step(
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
        Op::Tensor(tensor) => {
            return tcgen05::execute(env, warp, fragment, active, line, tensor);
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
        Op::TryCancel {
            address,
            barrier,
            multicast,
        } => {
            launch_control::try_cancel(
                env, warp, frame, active, line, address, barrier, *multicast,
            )?;
        }
        Op::QueryCancel { response, what } => {
            launch_control::query(env, warp, frame, active, *response, what)?;
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
    env.warp_sync(warp);
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
