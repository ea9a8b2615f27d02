//! Branches that only compute a few numbers become selections.
//!
//! Both ways are computed and the results are selected, which takes fewer instructions than two jumps and a copy of each result
//! on either way, and rules and facts see through it. Nothing here faults or waits: no way is run for what it does.
//! [`super::straighten`] goes through the branches.
//!
//! ```text
//! r = if c { yield 0 }                b = x >> 4
//!     else { b = x >> 4; yield b }  → r = select c, 0, b
//! ```

use super::build;
use super::invariant::move_in_front;
use super::tileas::look::place;
use crate::dialect::cuda_tile::{Op as C, view};
use crate::facts::FactMap;
use crate::facts::access::constant;
use crate::ir::{BlockId, Module, OpId, Type, ValueId};

/// Most operations on both ways together, but for constants.
const MOST: usize = 6;

/// The two ways of a branch that only computes a few numbers.
pub fn few(m: &Module, facts: &FactMap, op: OpId) -> Option<[BlockId; 2]> {
    let ways = [m.body_of(op, 0)?, m.body_of(op, 1)?];
    let results = &m.op(op).results;
    if results.is_empty() || !results.iter().all(|&r| is_number(m, r)) {
        return None;
    }
    let mut computed = 0;
    let mut yields = Vec::new();
    for way in ways {
        let (&end, ops) = m.block(way).ops.split_last()?;
        if C::of(m.op(end).kind) != Some(C::Yield) {
            return None;
        }
        yields.push(m.op(end).operands.as_slice());
        for &op in ops {
            computed += cost(m, facts, op)?;
        }
    }
    // Between two conditions a selection is four operations, and a jump on the result is one on each way without it. The
    // branch's own condition is known on either way.
    let condition = view::If::of(m.op(op))?.condition();
    let known = |&v: &ValueId| v == condition || constant(facts, v).is_some();
    let mut rows = results.iter().enumerate();
    let few = rows.all(|(i, &r)| {
        m.types.width(m.ty(r)) > 1 || yields.iter().any(|row| row.get(i).is_some_and(known))
    });
    (computed <= MOST && few).then_some(ways)
}

/// Whether a value is one number.
fn is_number(m: &Module, value: ValueId) -> bool {
    let types = &m.types;
    types.as_tile(m.ty(value)).is_some_and(|(elem, shape)| {
        shape.is_empty() && matches!(types.get(elem), Type::Int(_) | Type::Float(_))
    })
}

/// What an operation counts, if it may be done where it was not asked for and takes an instruction or two. An assumption holds
/// only on its way.
fn cost(m: &Module, facts: &FactMap, op: OpId) -> Option<usize> {
    let data = m.op(op);
    if !data.results.iter().all(|&r| is_number(m, r)) {
        return None;
    }
    match C::of(data.kind)? {
        C::Constant => Some(0),
        C::AddI | C::SubI | C::MulI | C::NegI | C::AbsI | C::MinI | C::MaxI => Some(1),
        C::AndI | C::OrI | C::XOrI | C::ShLI | C::ShRI | C::CmpI | C::CmpF | C::Select => Some(1),
        C::AddF | C::SubF | C::MulF | C::NegF | C::AbsF | C::MinF | C::MaxF | C::Fma => Some(1),
        C::ExtI | C::TruncI | C::Bitcast => Some(1),
        C::GetTileBlockId | C::GetNumTileBlocks => Some(1),
        C::DivI | C::RemI => {
            let by = constant(facts, *data.operands.get(1)?)?;
            (by > 0 && by.count_ones() == 1).then_some(2)
        }
        _ => None,
    }
}

/// Computes both ways in front of a branch, and selects in its place.
pub fn select(m: &mut Module, op: OpId, ways: [BlockId; 2]) {
    let Some(condition) = view::If::of(m.op(op)).map(|v| v.condition()) else {
        return;
    };
    let [yes, no] = ways.map(|way| move_in_front(m, way, op));
    let (results, loc) = (m.op(op).results.clone(), m.op(op).loc);
    let (block, at) = place(m, op);
    let mut b = m.at(block, at);
    b.loc = loc;
    for (result, (yes, no)) in results.into_iter().zip(yes.into_iter().zip(no)) {
        let ty = b.module.ty(result);
        let [yes, no] = [(yes, 1), (no, 0)].map(|(way, known)| match way == condition {
            true => build::constant(&mut b, known, ty),
            false => way,
        });
        let selected = b.value(C::Select, &[condition, yes, no], [], ty);
        b.module.replace_all_uses(result, selected);
    }
    m.erase(op);
}
