//! `tcgen05.mma`, `.cp`, `.shift` and `.commit` in flight: they happen late, in the order of their issue.
//!
//! The tensor cores of a pair of blocks are one pipeline. The ISA promises less order than this; what relies on more
//! than it promises is found by [`crate::check`], whatever the order here.

use super::work::{Operation, Work};
use crate::asynchronous::bulk::Origin;
use crate::asynchronous::due;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::warp::Warp;
use crate::record::Kind;
use std::ops::Range;

/// Puts an operation into the queue.
pub fn push(env: &mut Env<'_>, warp: &Warp, line: u32, work: Work) {
    let due = due(&mut env.rng, env.clock);
    let id = env.tensor.next;
    env.tensor.next += 1;
    let origin = Origin {
        cta: warp.cta,
        warp: warp.id,
        line,
    };
    let amount = match &work {
        Work::Product(p) => p.multiply_adds(),
        _ => 0,
    };
    env.begin_on(origin.track(), Kind::Tcgen05, id, line, amount as u64);
    env.tensor.pending.push_back(Operation {
        id,
        due,
        origin,
        work,
    });
}

/// Lets operations that are due happen; if `force`, at least the oldest.
pub fn tick(env: &mut Env<'_>, force: bool) -> Result<bool, (Origin, Trap)> {
    let mut any = false;
    while let Some(oldest) = env.tensor.pending.front() {
        if oldest.due > env.clock && (any || !force) {
            break;
        }
        let Some(operation) = env.tensor.pending.pop_front() else {
            break;
        };
        env.end_on(operation.origin.track(), Kind::Tcgen05, operation.id);
        env.failed_polls = 0;
        let origin = operation.origin;
        perform(env, operation.work).map_err(|trap| (origin, trap))?;
        any = true;
    }
    Ok(any)
}

fn perform(env: &mut Env<'_>, work: Work) -> Result<(), Trap> {
    match work {
        Work::Product(product) => {
            alive(env, &product.blocks, "tcgen05.mma")?;
            if env.skips_products() {
                return Ok(());
            }
            product.perform(env)
        }
        Work::Fill(fill) => {
            alive(env, &fill.blocks, "tcgen05.cp")?;
            fill.perform(env)
        }
        Work::Shift(shift) => {
            alive(env, &shift.blocks, "tcgen05.shift")?;
            shift.perform(env);
            Ok(())
        }
        Work::Commit { targets, view } => {
            for (rank, offset) in targets {
                if env.ctas[rank].live_threads == 0 {
                    return Err(Trap::new(format!(
                        "tcgen05.commit arrives at an mbarrier of block {rank} of the cluster, which has exited; have a \
                         thread there wait for it before it exits"
                    )));
                }
                env.async_arrive(rank, offset)?;
                if let Some(view) = &view {
                    env.tensor_committed(view, rank, offset);
                }
            }
            Ok(())
        }
    }
}

/// Refuses to go on when the threads of a block have all exited.
fn alive(env: &Env<'_>, blocks: &[usize], what: &str) -> Result<(), Trap> {
    match blocks.iter().find(|&&cta| env.ctas[cta].live_threads == 0) {
        None => Ok(()),
        Some(cta) => Err(Trap::new(format!(
            "{what} still uses memory of block {cta} of the cluster after all threads there have exited; tcgen05.commit it \
             and have a thread there wait for the mbarrier before it exits"
        ))),
    }
}

/// Refuses if an operation in flight touches columns of tensor memory.
pub fn idle(env: &Env<'_>, blocks: &[usize], columns: &Range<usize>) -> Result<(), Trap> {
    let busy = env
        .tensor
        .pending
        .iter()
        .find(|o| blocks.iter().any(|&cta| o.work.touches(cta, columns)));
    match busy {
        None => Ok(()),
        Some(operation) => Err(Trap::new(format!(
            "frees tensor memory columns {} to {}, which the operation of line {} in flight still uses; tcgen05.commit it to \
             an mbarrier and wait for its phase first",
            columns.start,
            columns.end - 1,
            operation.origin.line
        ))),
    }
}
