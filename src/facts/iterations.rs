//! How often a loop runs.

use super::FactMap;
use super::access::constant;
use crate::dialect::cuda_tile::view;
use crate::ir::{Module, OpId};
use std::ops::RangeInclusive;

/// The fewest and the most iterations of a `for`, where its bounds and its step say.
pub fn iterations(m: &Module, facts: &FactMap, op: OpId) -> Option<RangeInclusive<i64>> {
    let v = view::For::of(m.op(op))?;
    let step = constant(facts, v.step()).filter(|&s| s > 0)?;
    let lower = facts.get(v.lowerBound())?;
    let upper = facts.get(v.upperBound())?;
    // Facts are of signed numbers: those that are not negative are the same ones without a sign.
    if v.unsignedCmp() && (lower.lo < 0 || upper.lo < 0) {
        return None;
    }
    let over = |from: i64, to: i64| {
        let span = to.checked_sub(from)?.max(0);
        Some(span / step + i64::from(span % step > 0))
    };
    Some(over(lower.hi, upper.lo)?..=over(lower.lo, upper.hi)?)
}
