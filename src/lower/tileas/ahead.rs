//! What an epilogue loads is under way while the matmuls run.
//!
//! ```text
//! wait for the matmuls              x = load
//! acc = tensor_load                 wait for the matmuls
//! x = load                   →      acc = tensor_load
//! store acc + x                     store acc + x
//! ```
//! Behind the matmuls, memory's latency would come on top of them. Where these are `wgmma`, the loop that issues them is what
//! the loads stand in front of; where one thread issues them to tensor memory, the wait for them. A load there that may leave
//! its tensor is also a branch, over which the selector takes no instruction: all of an accumulator would be in registers while
//! it is loaded, instead of a few columns.
//!
//! In front of loops whose warps multiply, and of matmuls that follow from one another, which are short of registers, only what
//! takes few starts: a vector of biases, say.

use super::decided::Kernel;
use super::early::movable;
use super::limits::REGISTERS_BESIDE_TILES;
use super::look::{blocks_of, is_chained};
use super::order::Moves;
use super::pipeline::tokens::loads_freely;
use super::pressure::{self, Around, Weights};
use super::tcgen05::epilogue;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::ir::{BlockId, Module, OpId};
use rustc_hash::FxHashMap;

/// Registers of a thread that count as few.
const FEW: u64 = 8;

/// Starts the loads of a kernel's epilogues in front of its matmuls, as far as registers admit.
pub fn start(m: &mut Module, kernel: &Kernel<'_>) {
    let body = kernel.body;
    for block in blocks_of(m, epilogue::whole_loads(m, body)) {
        let room = epilogue::room(kernel);
        start_in(m, kernel, block, waits_for_matmuls, (room, room));
    }
    let free = kernel.plan.roles.is_some() && !is_chained(m, body);
    let room = kernel.registers().saturating_sub(REGISTERS_BESIDE_TILES);
    let by_warpgroups = if free { room } else { FEW };
    for (kind, most) in [(S::AsyncDot, by_warpgroups), (S::Dot, FEW)] {
        let multiplies = |m: &Module, op: OpId| repeats(m, op, kind);
        let mut loops = m.ops_under(body);
        loops.retain(|&o| multiplies(m, o));
        for block in blocks_of(m, loops) {
            start_in(m, kernel, block, multiplies, (room, most));
        }
    }
}

/// Starts the loads of a block in front of the only operation that `is_slow`, each of which takes `most` registers, as far as
/// what lives there has so much `room`.
fn start_in(
    m: &mut Module,
    kernel: &Kernel<'_>,
    block: BlockId,
    is_slow: impl Fn(&Module, OpId) -> bool,
    (room, most): (u64, u64),
) {
    let ops = m.block(block).ops.clone();
    let mut slow = (0..ops.len()).filter(|&i| is_slow(m, ops[i]));
    let (Some(front), None) = (slow.next(), slow.next()) else {
        return;
    };
    let at: FxHashMap<OpId, usize> = ops.iter().copied().zip(0..).collect();
    let behind = |op: OpId| at.get(&op).copied().filter(|&p| p >= front);
    let loads = ops[front..].iter().filter(|&&o| loads_freely(m, o));
    let slices = loads.filter_map(|&load| Some((load, movable(m, load, &behind)?)));
    let slices: Vec<(OpId, Vec<OpId>)> = slices.collect();
    if slices.is_empty() {
        return;
    }
    let weights = Weights::of(m, kernel.body, kernel.warps());
    let mut taken = living(m, kernel, ops[front]);
    let fits = |&(load, _): &(OpId, Vec<OpId>)| {
        let own = weights.weight(m.result(load));
        let with = taken + own;
        let fits = own <= most && with <= room;
        taken = if fits { with } else { taken };
        fits
    };
    let slices: Vec<_> = slices.into_iter().filter(fits).collect();
    if slices.is_empty() {
        return;
    }
    let mut moves = Moves::default();
    for (load, slice) in slices {
        moves.add(ops[front], slice.into_iter().chain([load]));
    }
    // One thread may have issued matmuls or copies: loads of a warp whose threads are known to go on together are shorter.
    let loc = m.op(ops[front]).loc;
    let mut b = m.at(block, front);
    b.loc = loc;
    b.op(S::WarpSync, &[], [], &[], &[]);
    moves.apply(m, block);
}

/// Most registers of a thread for what lives at an operation or inside of it.
fn living(m: &Module, kernel: &Kernel<'_>, op: OpId) -> u64 {
    let around = pressure::around(m, kernel.body, kernel.warps());
    let most = |a: &Around| a.before.max(a.behind);
    let inside = m.ops_inside(op).into_iter().chain([op]);
    let all = inside.filter_map(|o| around.get(&o).map(most));
    all.max().unwrap_or(0)
}

/// Whether an operation is a counted loop over an operation of that kind.
fn repeats(m: &Module, op: OpId, kind: S) -> bool {
    let has = |body: BlockId| {
        let mut ops = m.block(body).ops.iter();
        ops.any(|&o| S::of(m.op(o).kind) == Some(kind))
    };
    C::of(m.op(op).kind) == Some(C::For) && m.body_of(op, 0).is_some_and(has)
}

/// Whether an operation waits until matmuls to tensor memory are complete.
fn waits_for_matmuls(m: &Module, op: OpId) -> bool {
    let pipeline = view::ConsumerWait::of(m.op(op)).map(|v| v.pipeline());
    let create = pipeline.and_then(|p| view::PipelineCreate::of(m.op(m.def_op(p)?)));
    create.is_some_and(|c| c.kind() == PipelineKind::Mma)
}
