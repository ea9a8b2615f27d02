//! Loops that run once or never, branches whose condition is known and those that [select](selections) numbers become
//! straight code.
//!
//! A loop over the blocks of a row that fits into one block, or a branch on a constant of the program, costs more than
//! its counter: pipelines, layouts and the order of accesses are decided around it, and ptxas keeps it where a barrier
//! stands in it. So does a `loop` that breaks in its first iteration, which cuTile makes of a function that is called.
//! The innermost `for` around a matmul stays, for what matmuls read is brought to them by the pipelines of loops.

use super::invariant::move_in_front;
use super::tileas::look::{is_matmul, loop_around};
use super::{carried, selections};
use crate::dialect::cuda_tile::{Op as C, view};
use crate::facts::access::constant;
use crate::facts::{self, FactMap, iterations};
use crate::ir::{BlockId, Module, OpId, ValueId};

/// Rewrites every function.
pub fn run(m: &mut Module) {
    for func in m.block(m.body).ops.clone() {
        let Some(body) = m.body_of(func, 0) else {
            continue;
        };
        let flow = |&op: &OpId| matches!(C::of(m.op(op).kind), Some(C::For | C::Loop | C::If));
        let found: Vec<OpId> = m.ops_under(body).into_iter().filter(flow).collect();
        if found.is_empty() {
            continue;
        }
        let facts = facts::of(m, func);
        // Those inside first: what stands around them may go with all that it holds.
        for op in found.into_iter().rev() {
            if let Some(path) = Path::of(m, &facts, op) {
                path.put_in_place_of(m, op);
            } else if let Some(ways) = selections::few(m, &facts, op) {
                selections::select(m, op, ways);
            }
        }
    }
}

/// What is executed of a loop or a branch.
enum Path {
    /// A block, once; and what its arguments are.
    Block(BlockId, Vec<ValueId>),
    /// Nothing; and what the results are.
    Nothing(Vec<ValueId>),
}

impl Path {
    fn of(m: &Module, facts: &FactMap, op: OpId) -> Option<Path> {
        match C::of(m.op(op).kind)? {
            C::For => Path::of_for(m, facts, op),
            C::Loop => Path::of_loop(m, op),
            C::If => Path::of_branch(m, facts, op),
            _ => None,
        }
    }

    fn of_for(m: &Module, facts: &FactMap, op: OpId) -> Option<Path> {
        let v = view::For::of(m.op(op))?;
        let inits = v.initValues();
        let often = iterations(m, facts, op)?;
        if *often.end() == 0 {
            return Some(Path::Nothing(inits.to_vec()));
        }
        if often != (1..=1) {
            return None;
        }
        let body = m.body_of(op, 0)?;
        // An iteration that ends in a branch, too, would have to go on behind the loop.
        carried::only_end(m, body)?;
        let feeds = |&o: &OpId| is_matmul(m, o) && loop_around(m, body, m.op(o).block).is_none();
        if m.ops_under(body).iter().any(feeds) {
            return None;
        }
        let args = std::iter::once(v.lowerBound()).chain(inits.iter().copied());
        Some(Path::Block(body, args.collect()))
    }

    fn of_loop(m: &Module, op: OpId) -> Option<Path> {
        let inits = view::Loop::of(m.op(op))?.initValues();
        let body = m.body_of(op, 0)?;
        let end = carried::only_end(m, body)?;
        let breaks = C::of(m.op(end).kind) == Some(C::Break);
        breaks.then(|| Path::Block(body, inits.to_vec()))
    }

    fn of_branch(m: &Module, facts: &FactMap, op: OpId) -> Option<Path> {
        let v = view::If::of(m.op(op))?;
        let taken = constant(facts, v.condition())? != 0;
        match m.body_of(op, usize::from(!taken)) {
            // Without an `else` there are no results.
            None => Some(Path::Nothing(Vec::new())),
            Some(body) => {
                // A branch that leaves the function or a loop would leave dead code behind it.
                let end = m.terminator(body)?;
                let goes_on = C::of(m.op(end).kind) == Some(C::Yield);
                goes_on.then(|| Path::Block(body, Vec::new()))
            }
        }
    }

    fn put_in_place_of(self, m: &mut Module, op: OpId) {
        let results = match self {
            Path::Nothing(results) => results,
            Path::Block(body, values) => {
                for (arg, value) in m.block(body).args.clone().into_iter().zip(values) {
                    m.replace_all_uses(arg, value);
                }
                move_in_front(m, body, op)
            }
        };
        for (from, to) in m.op(op).results.clone().into_iter().zip(results) {
            m.replace_all_uses(from, to);
        }
        m.erase(op);
    }
}
