//! Saying what went wrong and where: faults, deadlocks, and the steps that a trace shows.

use super::env::Env;
use super::fault::{Fault, Trap};
use super::warp::{Fragment, Wait, Warp};
use crate::asynchronous::bulk;
use crate::program::inst::Inst;
use crate::record::{Observer, Step};

/// Tells an observer of an instruction that has just been executed.
pub fn trace(observer: &dyn Observer, env: &Env<'_>, warp: &Warp, at: usize, inst: &Inst) {
    let fragment = &warp.fragments[at];
    let lane = fragment.mask.trailing_zeros() as usize;
    let row = inst
        .result()
        .map(|r| (fragment.frame().rows + r.0) as usize);
    let defined = row.filter(|&r| warp.defined[r] >> lane & 1 == 1);
    observer.step(&Step {
        block: env.ctas[warp.cta].index,
        warp: warp.id,
        lanes: fragment.mask,
        line: inst.line,
        result: defined.map(|r| warp.regs[r][lane]),
    });
}

pub(super) fn describe(env: &Env<'_>, warp: &Warp, fragment: &Fragment) -> String {
    match fragment.wait {
        Wait::Ready => "is ready".into(),
        Wait::Converge { lanes } => {
            let missing = lanes & !fragment.mask;
            format!(
                "waits at a warp-synchronous or .aligned instruction for lanes {missing:#010x}, which wait elsewhere: \
                 it is executed divergently"
            )
        }
        Wait::Barrier { id, .. } => {
            let barrier = &env.ctas[warp.cta].barriers[id as usize];
            let expected = barrier.count.unwrap_or(env.ctas[warp.cta].live_warps * 32);
            format!(
                "waits at barrier {id}: {} of {expected} threads have arrived",
                barrier.arrived
            )
        }
        Wait::ClusterBarrier { .. } => {
            let live: u32 = env.ctas.iter().map(|c| c.live_threads).sum();
            format!(
                "waits at the cluster barrier: {} of {live} threads have arrived",
                env.cluster_arrived
            )
        }
        Wait::Mbarrier {
            rank,
            offset,
            parity,
        } => {
            let missing = env
                .mbarrier(rank as usize, offset.into())
                .map_or(String::new(), |b| {
                    format!(
                        ": {} of {} arrivals and {} bytes are missing",
                        b.pending, b.expected, b.tx
                    )
                });
            format!(
                "waits for phase parity {} of mbarrier {offset:#x} in block {rank} of the cluster{missing}",
                u8::from(parity)
            )
        }
        Wait::TensorMemory { columns } => {
            let pair = env.ctas[warp.cta].tensor.request.is_some();
            let other = if pair {
                " with a warp of the other block of the pair, which does not execute it"
            } else {
                ", which nobody gives back"
            };
            match columns {
                0 => format!("waits in tcgen05.dealloc{other}"),
                n => format!("waits in tcgen05.alloc for {n} columns of tensor memory{other}"),
            }
        }
        Wait::Registers { count, .. } => {
            format!(
                "waits in setmaxnreg.inc for {count} registers per thread that no warpgroup releases"
            )
        }
    }
}

/// A trap with its place.
pub fn fault(env: &Env<'_>, warp: &Warp, line: u32, trap: Trap) -> Fault {
    Fault {
        kernel: env.shared.program.entry.clone(),
        block: env.ctas[warp.cta].index,
        warp: warp.id,
        lane: trap.lane,
        line,
        message: trap.message,
    }
}

/// A trap of a copy, blamed on who issued it.
pub fn bulk_fault(env: &Env<'_>, origin: bulk::Origin, trap: Trap) -> Fault {
    Fault {
        kernel: env.shared.program.entry.clone(),
        block: env.ctas[origin.cta].index,
        warp: origin.warp,
        lane: trap.lane,
        line: origin.line,
        message: trap.message,
    }
}
