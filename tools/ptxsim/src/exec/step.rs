//! One instruction of one fragment.

use super::env::Env;
use super::fault::Trap;
use super::warp::{ACCUMULATOR, Warp};
use super::{alu, atomic, call, memory, rare, store};
use crate::asynchronous::wgmma;
use crate::exec::flow::Flow;
use crate::exec::frame::Frame;
use crate::program::inst::{Inst, Op, Order, Reg, Src};

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
            env.polls += u64::from(*order != Order::Weak && address.space.may_be_global());
            memory::load(env, warp, frame, active, dsts, address, *ty, *extend_to)?;
        }
        Op::Store {
            srcs,
            address,
            ty,
            order,
        } => {
            env.begin_access(*order, inst.line);
            store::store(env, warp, frame, active, srcs, address, *ty)?;
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
            env.polls += u64::from(compare.is_some() && address.space.may_be_global());
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
        _ => return rare::step(env, warp, fragment, active, inst),
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
    let in_flight = warp.in_flight[from] & ACCUMULATOR | warp.in_flight[to];
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
