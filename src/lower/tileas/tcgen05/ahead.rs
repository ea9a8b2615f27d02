//! What an epilogue loads is under way while the matmuls run.
//!
//! ```text
//! wait for the matmuls              x = load
//! acc = tensor_load                 wait for the matmuls
//! x = load                   →      acc = tensor_load
//! store acc + x                     store acc + x
//! ```
//! Behind the wait, memory's latency would come on top of the matmuls. A load that may leave its tile also is a branch,
//! over which the selector takes no instruction: all of an accumulator would be in registers while it is loaded, instead of a
//! few columns.

use super::epilogue::{room, whole_loads};
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::ir::{BlockId, Module, OpId};
use crate::lower::tileas::decided::Kernel;
use crate::lower::tileas::early::movable;
use crate::lower::tileas::look::blocks_of;
use crate::lower::tileas::order::move_before;
use crate::lower::tileas::pipeline::tokens::loads_freely;
use crate::lower::tileas::pressure::{self, Weights};
use rustc_hash::{FxHashMap, FxHashSet};

/// Starts the loads of the epilogues of a kernel in front of the waits for their accumulators, as far as registers admit.
pub fn start(m: &mut Module, kernel: &Kernel<'_>) {
    let body = kernel.body;
    for block in blocks_of(m, whole_loads(m, body).into_iter()) {
        start_in(m, kernel, block);
    }
}

fn start_in(m: &mut Module, kernel: &Kernel<'_>, block: BlockId) {
    let (body, warps) = (kernel.body, kernel.warps());
    let ops = m.block(block).ops.clone();
    let mut waits = (0..ops.len()).filter(|&i| waits_for_matmuls(m, ops[i]));
    let (Some(front), None) = (waits.next(), waits.next()) else {
        return;
    };
    let at: FxHashMap<OpId, usize> = ops.iter().copied().zip(0..).collect();
    let behind = |op: OpId| at.get(&op).copied().filter(|&p| p > front);
    let weights = Weights::of(m, body, warps);
    let living = pressure::around(m, body, warps);
    let mut taken = living.get(&ops[front]).map_or(0, |l| l.before);
    let mut moved: FxHashSet<OpId> = FxHashSet::default();
    let mut order = Vec::new();
    for &load in ops[front..].iter().filter(|&&o| loads_freely(m, o)) {
        let Some(slice) = movable(m, load, &behind) else {
            continue;
        };
        let weight = weights.weight(m.result(load));
        if taken + weight <= room(kernel) {
            taken += weight;
            order.extend(slice.into_iter().chain([load]).filter(|&o| moved.insert(o)));
        }
    }
    if order.is_empty() {
        return;
    }
    // One thread may have issued the matmuls: loads of a warp whose threads are known to go on together are shorter.
    let loc = m.op(ops[front]).loc;
    let mut b = m.at(block, front);
    b.loc = loc;
    b.op(S::WarpSync, &[], [], &[], &[]);
    let mut before = [(ops[front], order)].into_iter().collect();
    move_before(m, block, &moved, &mut before);
}

/// Whether an operation waits until matmuls to tensor memory are complete.
fn waits_for_matmuls(m: &Module, op: OpId) -> bool {
    let pipeline = match S::of(m.op(op).kind) {
        Some(S::ConsumerWait) => view::ConsumerWait::of(m.op(op)).map(|v| v.pipeline()),
        _ => None,
    };
    let create = pipeline.and_then(|p| view::PipelineCreate::of(m.op(m.def_op(p)?)));
    create.is_some_and(|c| c.kind() == PipelineKind::Mma)
}
