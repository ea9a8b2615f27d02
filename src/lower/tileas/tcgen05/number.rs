//! The iterations of the pipeline that products of a role step in turn.

use rustc_hash::FxHashSet;

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access::operand;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::build::{self, case};
use crate::lower::tileas::pipeline::roles::thread::{Steps, thread};

/// Gives every step of `pipeline` under `body` its iteration.
pub fn run(m: &mut Module, body: BlockId, pipeline: ValueId) {
    let parts = |o: &OpId| S::of(m.op(*o).kind) == Some(S::WarpSpecialize);
    let split = m.block(body).ops.iter().copied().find(parts);
    let block = split.and_then(|op| m.body_of(op, 1)).unwrap_or(body);
    let zero = super::number_at(m, body);
    let ops = m.ops_under(block).into_iter();
    let steps = ops.filter(|&o| {
        let data = m.op(o);
        let step = data.def().name.starts_with("async.pipeline.");
        step && operand(data, "pipeline") == Some(pipeline)
    });
    let steps = steps.collect();
    thread(m, block, &mut [zero], &mut Number { steps });
}

struct Number {
    steps: FxHashSet<OpId>,
}

impl Steps for Number {
    fn rings_at(&self, op: OpId) -> Vec<usize> {
        self.steps.contains(&op).then_some(0).into_iter().collect()
    }

    fn before(&mut self, m: &mut Module, op: OpId, _: BlockId, counters: &mut [ValueId]) {
        if self.steps.contains(&op)
            && let Some(slot) = m.op_mut(op).operands.get_mut(1)
        {
            *slot = counters[0];
        }
    }

    fn after(&mut self, m: &mut Module, op: OpId, block: BlockId, counters: &mut [ValueId]) {
        if self.steps.contains(&op) && S::of(m.op(op).kind) == Some(S::ConsumerRelease) {
            let ty = m.ty(counters[0]);
            let mut b = m.at_end(block);
            let one = build::constant(&mut b, 1, ty);
            let overflow = case(&enums::OVERFLOW, "none");
            counters[0] = b.value(C::AddI, &[counters[0], one], [overflow], ty);
        }
    }

    fn drops(&self, _: OpId) -> bool {
        false
    }
}
