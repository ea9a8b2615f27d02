//! Integers as sums of other integers times constants, as addresses of slices are computed.

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Case;
use crate::facts::FactMap;
use crate::facts::access::constant;
use crate::ir::{Module, Op, ValueId};
use crate::scalar::Signedness;

/// Most operations behind each other that are looked through.
const DEEPEST: u32 = 12;

/// `plus` and every term's value times its factor, modulo 2^64. Values of 32 bits are signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub terms: Vec<(ValueId, i64)>,
    pub plus: i64,
}

impl Sum {
    /// What an integer of 32 or 64 bits is the sum of. Products of 32 bits do not overflow, for these are numbers of
    /// elements of one tensor.
    pub fn of(m: &Module, facts: &FactMap, value: ValueId) -> Sum {
        sum(m, facts, value, DEEPEST).unwrap_or_else(|| Sum::one(value))
    }

    fn one(value: ValueId) -> Sum {
        Sum {
            terms: vec![(value, 1)],
            plus: 0,
        }
    }

    /// A number alone.
    pub fn number(plus: i64) -> Sum {
        Sum {
            terms: Vec::new(),
            plus,
        }
    }

    pub fn is_zero(&self) -> bool {
        self.terms.is_empty() && self.plus == 0
    }

    pub fn plus(mut self, other: &Sum) -> Sum {
        self.plus = self.plus.wrapping_add(other.plus);
        for &(value, times) in &other.terms {
            self.add(value, times);
        }
        self
    }

    fn add(&mut self, value: ValueId, times: i64) {
        match self.terms.iter_mut().find(|t| t.0 == value) {
            Some(term) => term.1 = term.1.wrapping_add(times),
            None => self.terms.push((value, times)),
        }
        self.terms.retain(|t| t.1 != 0);
    }

    pub fn times(self, by: i64) -> Sum {
        let terms = self.terms.into_iter();
        let mut product = Sum::number(self.plus.wrapping_mul(by));
        terms.for_each(|(value, times)| product.add(value, times.wrapping_mul(by)));
        product
    }

    /// Two sums, of which the first times `by` and the second make up this one: what is left of each factor is less than `by`,
    /// which is positive.
    pub fn divided(&self, by: i64) -> (Sum, Sum) {
        let (mut whole, mut rest) = (Sum::default(), Sum::default());
        for &(value, times) in &self.terms {
            whole.add(value, times.div_euclid(by));
            rest.add(value, times.rem_euclid(by));
        }
        whole.plus = self.plus.div_euclid(by);
        rest.plus = self.plus.rem_euclid(by);
        (whole, rest)
    }

    /// The least and the greatest that the sum can be; `None` where that does not fit in 64 bits.
    pub fn range(&self, facts: &FactMap) -> Option<(i64, i64)> {
        let start = (self.plus, self.plus);
        self.terms
            .iter()
            .try_fold(start, |(lo, hi), &(value, times)| {
                let known = facts.get(value)?;
                let ends = [known.lo.checked_mul(times)?, known.hi.checked_mul(times)?];
                let [a, b] = ends;
                Some((lo.checked_add(a.min(b))?, hi.checked_add(a.max(b))?))
            })
    }

    /// Whether the sum is a multiple of `n`.
    pub fn divides(&self, facts: &FactMap, n: u64) -> bool {
        let term = |&(value, times): &(ValueId, i64)| {
            let divisor = facts.get(value).map_or(1, |f| f.divisor);
            times.unsigned_abs().wrapping_mul(divisor).is_multiple_of(n)
        };
        self.plus.unsigned_abs().is_multiple_of(n) && self.terms.iter().all(term)
    }
}

/// `None`: the value is no sum or product with a constant.
fn sum(m: &Module, facts: &FactMap, value: ValueId, depth: u32) -> Option<Sum> {
    if let Some(known) = constant(facts, value) {
        return Some(Sum::number(known));
    }
    let depth = depth.checked_sub(1)?;
    let op = m.op(m.def_op(value)?);
    let operand = |i: usize| op.operands.get(i).copied();
    let of = |v: ValueId| sum(m, facts, v, depth).unwrap_or_else(|| Sum::one(v));
    match C::of(op.kind)? {
        C::Assume => Some(of(operand(0)?)),
        // What is no sum stays as wide as it is.
        C::ExtI => {
            let source = operand(0)?;
            let signed = op.enum_named("signedness") == Some(Signedness::Signed.code());
            let same = signed || facts.get(source).is_some_and(|f| f.nonneg());
            sum(m, facts, source, depth).filter(|_| same)
        }
        C::AddI if stays_inside(m, facts, op) => Some(of(operand(0)?).plus(&of(operand(1)?))),
        C::SubI if stays_inside(m, facts, op) => {
            Some(of(operand(0)?).plus(&of(operand(1)?).times(-1)))
        }
        C::MulI => {
            let [a, b] = [operand(0)?, operand(1)?];
            match (constant(facts, a), constant(facts, b)) {
                (_, Some(by)) => Some(of(a).times(by)),
                (Some(by), _) => Some(of(b).times(by)),
                _ => None,
            }
        }
        C::ShLI => {
            let by = constant(facts, operand(1)?).filter(|by| (0..63).contains(by))?;
            Some(of(operand(0)?).times(1 << by))
        }
        _ => None,
    }
}

/// Whether the sum or difference of two integers is what it would be of any width, modulo 2^64.
fn stays_inside(m: &Module, facts: &FactMap, op: &Op) -> bool {
    let Some(&result) = op.results.first() else {
        return false;
    };
    let width = m.types.width(m.types.elem(m.ty(result)));
    let ranges = op
        .operands
        .iter()
        .map(|&v| facts.get(v).map(|f| (f.lo, f.hi)));
    let ranges: Option<Vec<(i64, i64)>> = ranges.collect();
    let inside = |(lo, hi): (i64, i64)| i32::try_from(lo).is_ok() && i32::try_from(hi).is_ok();
    match ranges.as_deref() {
        _ if width == 64 => true,
        Some(&[a, b]) if width == 32 => inside(match C::of(op.kind) {
            Some(C::SubI) => (a.0 - b.1, a.1 - b.0),
            _ => (a.0 + b.0, a.1 + b.1),
        }),
        _ => false,
    }
}
