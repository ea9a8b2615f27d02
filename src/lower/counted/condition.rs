//! What a loop's condition says of its counter, and which counters satisfy it.

use super::step::{Step, promises};
use crate::dialect::cuda_tile::{Op as C, view};
use crate::dialect::enums::{Overflow, Predicate, Rounding};
use crate::facts::access::constant;
use crate::facts::{self, FactMap};
use crate::ir::{Module, OpBuilder, OpId, ValueId};
use crate::lower::build;
use crate::scalar::Signedness;

/// A condition under which a loop goes on: its counter, changed by the operations `around` it, in a relation to a bound.
#[derive(Clone)]
pub struct Condition {
    pub counter: ValueId,
    pub bound: ValueId,
    relation: Predicate,
    pub unsigned: bool,
    /// What is done to the counter before it is compared, the last operation first.
    around: Vec<Around>,
    /// The signed range of the bound that the counter alone has.
    range: (i64, i64),
    /// Whether a multiplication may wrap, unless the counter goes by one from zero.
    wraps: bool,
}

/// An operation on the counter.
#[derive(Clone, Copy)]
enum Around {
    /// A multiplication by a positive number.
    Times(i64),
    Plus(i64),
}

/// How a counter gets from its first number to its bound.
#[derive(Clone, Copy)]
pub struct Way {
    /// Less by one each time, not more by the step.
    pub down: bool,
    /// Whether the loop that counts compares unsigned numbers.
    pub unsigned: bool,
    /// Whether it goes by one.
    pub one: bool,
}

impl Condition {
    /// What it says of each side of the comparison `op` that its result is `truth`.
    pub fn sides(m: &Module, facts: &FactMap, op: OpId, truth: bool) -> Vec<Condition> {
        let Some(v) = view::CmpI::of(m.op(op)) else {
            return Vec::new();
        };
        let asked = v.comparison_predicate();
        let holds = if truth { asked } else { opposite(asked) };
        let side = |counter, bound, relation| {
            let known = facts.get(bound)?;
            Some(Condition {
                counter,
                bound,
                relation,
                unsigned: v.signedness() == Signedness::Unsigned,
                around: Vec::new(),
                range: (known.lo, known.hi),
                wraps: false,
            })
        };
        let left = side(v.lhs(), v.rhs(), holds);
        let right = side(v.rhs(), v.lhs(), swapped(holds));
        left.into_iter().chain(right).collect()
    }

    /// What it says of the number of which the counter is computed by a constant.
    pub fn within(&self, m: &Module, facts: &FactMap) -> Option<Condition> {
        let op = m.op(m.def_op(self.counter)?);
        let &[value, by] = &op.operands[..] else {
            return None;
        };
        let by = constant(facts, by)?;
        let wraps = !promises(op, self.unsigned);
        let around = match C::of(op.kind)? {
            C::MulI if by > 0 => Around::Times(by),
            C::ShLI if (0..31).contains(&by) => Around::Times(1 << by),
            C::AddI if !wraps && !self.wraps => Around::Plus(by),
            C::SubI if !wraps && !self.wraps => Around::Plus(by.checked_neg()?),
            _ => return None,
        };
        let (least, most) = facts::range(&m.types, m.ty(self.bound));
        let inclusive = match self.relation {
            Predicate::LessThan => false,
            Predicate::LessThanOrEqual => true,
            _ => return None,
        };
        let (lo, hi) = self.range;
        let range = match around {
            Around::Times(by) => {
                // The first product that is not below the bound must not wrap. Where it would, all multiples of a power of
                // two are below: such a loop does not end.
                let behind = hi.checked_add(by - i64::from(!inclusive))?;
                let is_power = by.count_ones() == 1;
                let reaches = is_power || !self.wraps && (!wraps || behind <= most);
                (reaches && by <= most).then_some(())?;
                match inclusive {
                    true => (lo.div_euclid(by), hi.div_euclid(by)),
                    false => (divided_up(lo, by), divided_up(hi, by)),
                }
            }
            Around::Plus(by) => (lo.checked_sub(by)?, hi.checked_sub(by)?),
        };
        let fits = least <= range.0 && range.1 <= most;
        // The ranges are signed ones.
        let alike = !self.unsigned || lo >= 0 && range.0 >= 0;
        (fits && alike).then(|| Condition {
            counter: value,
            around: [&self.around[..], &[around]].concat(),
            range,
            wraps: self.wraps || wraps,
            ..self.clone()
        })
    }

    /// How a counter that begins at `first` and goes by `step` gets to the bound, if it is known to, and to satisfy the
    /// condition until then.
    pub fn way(&self, m: &Module, facts: &FactMap, first: ValueId, step: &Step) -> Option<Way> {
        let (begins, one) = (facts.get(first)?, step.is_one(facts));
        let (least, most) = facts::range(&m.types, m.ty(self.bound));
        let ((lo, hi), unsigned) = (self.range, self.unsigned);
        let is_zero = |range| range == (0, 0);
        let from_zero = one && is_zero((begins.lo, begins.hi));
        let promised = step.kept && !unsigned;
        let behind = i64::from(self.relation == Predicate::GreaterThanOrEqual);
        let distance = || {
            let most_far = begins.hi.checked_sub(lo)?.checked_add(behind)?;
            Some(most_far <= most && begins.lo.checked_sub(hi)? >= least)
        };
        let signed = |holds: bool| holds.then_some(false);
        let unsigned = match (self.relation, step.down) {
            _ if self.wraps && !from_zero => None,
            (Predicate::LessThan, false) => Some(unsigned),
            // The number behind the bound is one, too.
            (Predicate::LessThanOrEqual, false) => {
                (hi < most && (!unsigned || lo >= 0)).then_some(unsigned)
            }
            // From a number that is not greater, or one that would have to wrap around to get there.
            (Predicate::NotEqual, false) if one && (promised || begins.hi <= lo) => Some(false),
            (Predicate::NotEqual, false) => from_zero.then_some(true),
            (Predicate::GreaterThan, true) if !unsigned => signed(distance()?),
            (Predicate::GreaterThanOrEqual, true) if !unsigned => signed(lo > least && distance()?),
            (Predicate::NotEqual, true) if promised && distance()? => Some(false),
            (Predicate::NotEqual | Predicate::GreaterThan, true) => {
                is_zero((lo, hi)).then_some(true)
            }
            _ => None,
        };
        unsigned.map(|unsigned| Way {
            down: step.down,
            unsigned,
            one,
        })
    }

    /// The first number that a loop which counts from `first` upwards does not reach, for the same `bound` where the loop stands.
    pub fn end(&self, b: &mut OpBuilder<'_>, bound: ValueId) -> ValueId {
        let inclusive = self.relation == Predicate::LessThanOrEqual;
        let mut bound = bound;
        for around in &self.around {
            bound = around.undone(b, bound, inclusive, self.unsigned);
        }
        if inclusive { plus_one(b, bound) } else { bound }
    }

    /// How many numbers there are from `first` down to `bound`.
    pub fn distance(&self, b: &mut OpBuilder<'_>, first: ValueId, bound: ValueId) -> ValueId {
        let distance = build::difference(b, first, bound);
        match self.relation {
            Predicate::GreaterThanOrEqual => plus_one(b, distance),
            _ => distance,
        }
    }
}

impl Around {
    /// The bound of what this is done to, for that of what results, which may be reached where it is `inclusive`.
    fn undone(
        self,
        b: &mut OpBuilder<'_>,
        bound: ValueId,
        inclusive: bool,
        unsigned: bool,
    ) -> ValueId {
        let ty = b.module.ty(bound);
        match self {
            Around::Plus(by) => {
                let by = build::constant(b, by, ty);
                build::difference(b, bound, by)
            }
            Around::Times(by) => {
                let by = build::constant(b, by, ty);
                let (signs, to) = match (unsigned, inclusive) {
                    (false, false) => (Signedness::Signed, Rounding::PositiveInf),
                    (false, true) => (Signedness::Signed, Rounding::NegativeInf),
                    (true, false) => (Signedness::Unsigned, Rounding::PositiveInf),
                    (true, true) => (Signedness::Unsigned, Rounding::Zero),
                };
                let attrs = [build::cased(signs), build::cased(to)];
                b.value(C::DivI, &[bound, by], attrs, ty)
            }
        }
    }
}

fn plus_one(b: &mut OpBuilder<'_>, value: ValueId) -> ValueId {
    let ty = b.module.ty(value);
    let one = build::constant(b, 1, ty);
    b.value(C::AddI, &[value, one], [build::cased(Overflow::None)], ty)
}

fn divided_up(value: i64, by: i64) -> i64 {
    value.div_euclid(by) + i64::from(value.rem_euclid(by) != 0)
}

/// What holds where this does not.
fn opposite(asked: Predicate) -> Predicate {
    match asked {
        Predicate::Equal => Predicate::NotEqual,
        Predicate::NotEqual => Predicate::Equal,
        Predicate::LessThan => Predicate::GreaterThanOrEqual,
        Predicate::LessThanOrEqual => Predicate::GreaterThan,
        Predicate::GreaterThan => Predicate::LessThanOrEqual,
        Predicate::GreaterThanOrEqual => Predicate::LessThan,
    }
}

/// What the right side is to the left one, where the left one is this to the right one.
fn swapped(asked: Predicate) -> Predicate {
    match asked {
        Predicate::Equal | Predicate::NotEqual => asked,
        Predicate::LessThan => Predicate::GreaterThan,
        Predicate::LessThanOrEqual => Predicate::GreaterThanOrEqual,
        Predicate::GreaterThan => Predicate::LessThan,
        Predicate::GreaterThanOrEqual => Predicate::LessThanOrEqual,
    }
}
