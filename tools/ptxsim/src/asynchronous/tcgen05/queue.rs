//! `tcgen05.mma`, `.cp`, `.shift` and `.commit` in flight: they happen late, in the order of their issue.
//!
//! The tensor cores of a pair of blocks are one pipeline. The ISA promises less order than this; what relies on more
//! than it promises is found by [`crate::check`], whatever the order here.

use super::copy::Fill;
use super::product::Product;
use super::shift::Shift;
use crate::asynchronous::bulk::Origin;
use crate::asynchronous::due;
use crate::check::Committed;
use crate::exec::cluster::Env;
use crate::exec::fault::Trap;
use crate::exec::warp::Warp;
use crate::record::Kind;
use std::collections::VecDeque;
use std::ops::Range;

/// Operations of a cluster in flight, oldest first.
#[derive(Debug, Default)]
pub struct Queue {
    pending: VecDeque<Operation>,
    next: u64,
    /// the `.cta_group` that the kernel uses: true for 2
    pub pair: Option<bool>,
}

#[derive(Debug)]
struct Operation {
    id: u64,
    due: u64,
    origin: Origin,
    work: Work,
}

/// What an operation does when it happens.
#[derive(Debug)]
pub enum Work {
    /// `tcgen05.mma`
    Product(Box<Product>),
    /// `tcgen05.cp`
    Fill(Box<Fill>),
    /// `tcgen05.shift`
    Shift(Shift),
    /// `tcgen05.commit`: an arrival at each mbarrier
    Commit {
        /// block and offset
        targets: Vec<(usize, u64)>,
        /// what the issuer hands on
        view: Option<Committed>,
    },
}

impl Work {
    /// Blocks and columns of tensor memory that it touches.
    fn touches(&self, cta: usize, columns: &Range<usize>) -> bool {
        let overlap = |r: &Range<usize>| r.start < columns.end && columns.start < r.end;
        match self {
            Work::Product(p) => p.blocks.contains(&cta) && p.columns().iter().any(overlap),
            Work::Fill(f) => f.blocks.contains(&cta) && overlap(&f.columns()),
            Work::Shift(s) => s.blocks.contains(&cta) && overlap(&s.columns()),
            Work::Commit { .. } => false,
        }
    }
}

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
