//! Loops that count unsigned numbers count signed ones where that is the same.
//!
//! C++ counts tiles by `std::size_t`. What schedules know of a loop they know of signed counters.

use super::carried::counted_loops;
use crate::dialect::cuda_tile::view;
use crate::facts::{self, FactMap, Facts};
use crate::ir::{Module, OpId};

/// The largest step of a loop whose last counter is not known: so many iterations as it takes from there to a number
/// that is negative when signed, 2⁴³, end in no lifetime.
const STEP: i64 = 1 << 20;

/// Rewrites the loops of every entry.
pub fn run(m: &mut Module) {
    for entry in m.block(m.body).ops.clone() {
        let Some(body) = m.body_of(entry, 0) else {
            continue;
        };
        let mut loops = counted_loops(m, body);
        loops.retain(|&o| view::For::of(m.op(o)).is_some_and(|v| v.unsignedCmp()));
        if loops.is_empty() {
            continue;
        }
        let facts = facts::of(m, entry);
        for op in loops {
            if is_same(m, &facts, op) {
                *m.attr_mut(op, "unsignedCmp") = None;
            }
        }
    }
}

/// Whether a loop with an unsigned counter goes through the same numbers with a signed one.
fn is_same(m: &Module, facts: &FactMap, op: OpId) -> bool {
    let Some(v) = view::For::of(m.op(op)) else {
        return false;
    };
    let known = |value| facts.get(value).filter(|f: &&Facts| f.lo >= 0);
    let (Some(lower), Some(step)) = (known(v.lowerBound()), known(v.step())) else {
        return false;
    };
    let (_, most) = facts::range(&m.types, m.ty(v.lowerBound()));
    // The last sum must not wrap.
    let ends = known(v.upperBound()).is_some_and(|upper| upper.hi <= most.saturating_sub(step.hi));
    let never = most == i64::MAX && lower.hi <= i64::MAX / 2 && step.hi <= STEP;
    step.lo > 0 && (ends || never)
}
