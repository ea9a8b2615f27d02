//! The iterations of the pipeline that matmuls of a role step in turn.

use crate::dialect::Traits;
use crate::dialect::enums::Overflow;
use crate::dialect::nv_tileas::view::View;
use crate::lower::build::{self, cased};
use rustc_hash::FxHashSet;

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access::{self};
use crate::facts::tensor::stages;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::tileas::look;
use crate::lower::tileas::pipeline::roles::thread::{Steps, thread};

/// Gives every step of `pipeline` under `body` its iteration, and what uses a stage of an accumulator.
pub fn run(m: &mut Module, body: BlockId, pipeline: ValueId) {
    let split = look::roles(m, body);
    let roles = split.map_or(0, |op| m.op(op).regions.len());
    let role = |m: &Module, i: usize| split.and_then(|op| m.body_of(op, i));
    let blocks: Vec<BlockId> = (1..roles).filter_map(|i| role(m, i)).collect();
    let blocks = if blocks.is_empty() {
        vec![body]
    } else {
        blocks
    };
    let zero = super::emit::number_at(m, body);
    for block in blocks {
        let ops = m.ops_under(block);
        let kind = |o: OpId| S::of(m.op(o).kind);
        let is_step = |o: &OpId| {
            let data = m.op(*o);
            let step = data.def().traits.has(Traits::STEP);
            step && access::pipeline(data) == Some(pipeline)
        };
        let steps: FxHashSet<OpId> = ops.iter().copied().filter(is_step).collect();
        // Who only produces is done with an iteration when it has committed it.
        let consumes = steps.iter().any(|&o| kind(o) == Some(S::ConsumerRelease));
        let last = if consumes {
            S::ConsumerRelease
        } else {
            S::ProducerCommit
        };
        thread(m, block, &mut [zero], &mut Number { steps, last });
    }
}

struct Number {
    steps: FxHashSet<OpId>,
    /// The step that ends an iteration.
    last: S,
}

impl Number {
    /// What uses a stage of an accumulator in `op`, if all of it is one iteration.
    fn uses(&self, m: &Module, op: OpId) -> Vec<OpId> {
        let mut inside = vec![op];
        for i in 0..m.op(op).regions.len() {
            inside.extend(m.body_of(op, i).map(|b| m.ops_under(b)).unwrap_or_default());
        }
        if inside.iter().any(|o| self.steps.contains(o)) {
            return Vec::new();
        }
        let staged = |o: &OpId| {
            let data = m.op(*o);
            let buffer = match View::of(data) {
                Some(View::TensorDot(v)) => Some(v.acc()),
                Some(View::TensorLoad(v)) => Some(v.source()),
                Some(View::TensorStore(v)) => Some(v.destination()),
                _ => None,
            };
            buffer.is_some_and(|b| stages(m, b) > 1)
        };
        inside.retain(staged);
        inside
    }
}

impl Steps for Number {
    fn rings_at(&self, op: OpId) -> Vec<usize> {
        self.steps.contains(&op).then_some(0).into_iter().collect()
    }

    fn before(&mut self, m: &mut Module, op: OpId, _: BlockId, counters: &mut [ValueId]) {
        if self.steps.contains(&op) {
            m.set_operand(op, "iteration", counters[0]);
        }
        for user in self.uses(m, op) {
            let dot = S::of(m.op(user).kind) == Some(S::TensorDot);
            let name = if dot { "acc_iteration" } else { "iteration" };
            m.set_operand(user, name, counters[0]);
        }
    }

    fn after(&mut self, m: &mut Module, op: OpId, block: BlockId, counters: &mut [ValueId]) {
        if self.steps.contains(&op) && S::of(m.op(op).kind) == Some(self.last) {
            let ty = m.ty(counters[0]);
            let mut b = m.at_end(block);
            let one = build::constant(&mut b, 1, ty);
            let overflow = cased(Overflow::None);
            counters[0] = b.value(C::AddI, &[counters[0], one], [overflow], ty);
        }
    }

    fn drops(&self, _: OpId) -> bool {
        false
    }
}
