//! Carried counters as what they are: first value + iteration × step.
//!
//! `for i { … x …; continue x + step }` uses `x`, a number that the loop carries, where loads say
//! what they load. Written from the loop's own counter, a load can be started iterations ahead.

use crate::dialect::cuda_tile::{Op as C, view};
use crate::dialect::enums::{Overflow, Rounding};
use crate::facts::FactMap;
use crate::facts::access::constant;
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use crate::lower::build::{self, cased};
use crate::lower::carried;
use crate::scalar::Signedness;

/// Rewrites the uses of carried counters in every loop under `body` that counts by a known step. Returns
/// whether there were any.
pub fn rewrite(m: &mut Module, body: BlockId, facts: &FactMap) -> bool {
    let mut any = false;
    for op in m.ops_under(body) {
        let data = m.op(op);
        let stride = view::For::of(data).and_then(|v| constant(facts, v.step()));
        if let Some(stride) = stride.filter(|&s| s > 0)
            && let Some(inner) = m.body_of(op, 0)
        {
            for carried in 0..carried::inits(data).len() {
                if let Some(counter) = Counter::find(m, op, inner, carried, facts) {
                    counter.replace(m, op, inner, stride);
                    any = true;
                }
            }
        }
    }
    any
}

/// A carried scalar to which every iteration adds the same, or takes it away.
struct Counter {
    value: ValueId,
    first: ValueId,
    /// `addi` or `subi`.
    advance: C,
    step: Step,
}

enum Step {
    Constant(i64),
    /// Computed before the loop.
    Value(ValueId),
}

impl Counter {
    /// The counter that a carried value is, of the loop's own type.
    fn find(
        m: &Module,
        for_op: OpId,
        body: BlockId,
        carried: usize,
        facts: &FactMap,
    ) -> Option<Counter> {
        let args = &m.block(body).args;
        let (counter, value) = (*args.first()?, *args.get(carried + 1)?);
        let scalar =
            matches!(m.types.get(m.ty(value)), Type::Tile { shape, .. } if shape.is_empty());
        if !scalar || m.ty(counter) != m.ty(value) {
            return None;
        }
        let under = m.ops_under(body);
        let end = m.terminator(body)?;
        // An early `continue` would yield something else.
        let only_end = |&o: &OpId| o == end || C::of(m.op(o).kind) != Some(C::Continue);
        let next = m.op(m.def_op(*m.op(end).operands.get(carried)?)?);
        if !under.iter().all(only_end) {
            return None;
        }
        let (advance, step) = match (C::of(next.kind)?, &next.operands[..]) {
            (kind @ (C::AddI | C::SubI), &[a, b]) if a == value => (kind, b),
            (kind @ C::AddI, &[a, b]) if b == value => (kind, a),
            _ => return None,
        };
        let before = m.def_op(step).is_some_and(|op| !under.contains(&op));
        let step = match constant(facts, step) {
            Some(step) => Step::Constant(step),
            None if before => Step::Value(step),
            None => return None,
        };
        let first = *carried::inits(m.op(for_op)).get(carried)?;
        Some(Counter {
            value,
            first,
            advance,
            step,
        })
    }

    /// Replaces its uses in the body of the loop, which counts by `stride`.
    fn replace(&self, m: &mut Module, for_op: OpId, body: BlockId, stride: i64) {
        let counter = m.block(body).args[0];
        let Some(&lower) = carried::bounds(m.op(for_op)).first() else {
            return;
        };
        let ty = m.ty(counter);
        let uses = m.ops_under(body);
        let overflow = || [cased(Overflow::None)];
        let mut b = m.at(body, 0);
        let step = match self.step {
            Step::Constant(step) => build::constant(&mut b, step, ty),
            Step::Value(step) => step,
        };
        let mut iterations = build::difference(&mut b, counter, lower);
        if stride > 1 {
            let stride = build::constant(&mut b, stride, ty);
            let attrs = [cased(Signedness::Unsigned), cased(Rounding::Zero)];
            iterations = b.value(C::DivI, &[iterations, stride], attrs, ty);
        }
        let advance = b.value(C::MulI, &[iterations, step], overflow(), ty);
        let now = b.value(self.advance, &[self.first, advance], overflow(), ty);
        let replaced = [(self.value, now)].into_iter().collect();
        for op in uses {
            m.replace_operands(op, &replaced);
        }
    }
}
