//! What is known of floats after an operation.

use crate::types::{Elem, Float};

/// Products of bounds, where infinity times nothing is nothing.
pub(super) fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

impl Float {
    /// After one rounding to `elem`.
    pub(super) fn rounded(self, elem: Elem) -> Self {
        let (largest, least) = elem.extent();
        let out = |x: f64| {
            let x = x + x.signum() * (x.abs() * elem.epsilon() + 2f64.powi(least));
            if x.abs() > largest {
                x.signum() * f64::INFINITY
            } else {
                x
            }
        };
        let error = if self.error > 0.0 {
            self.error + elem.epsilon() * self.max()
        } else {
            0.0
        };
        Self {
            // An exact zero stays one.
            lo: if self.lo == 0.0 { 0.0 } else { out(self.lo) },
            hi: if self.hi == 0.0 { 0.0 } else { out(self.hi) },
            quantum: self.quantum.filter(|&q| q >= least),
            error,
            ..self
        }
    }

    pub(super) fn sum(self, b: Self) -> Self {
        Self {
            lo: self.lo + b.lo,
            hi: self.hi + b.hi,
            nan: self.nan || b.nan || (!self.is_finite() && !b.is_finite()),
            ..self.join(b)
        }
        .with_error(self.error + b.error)
    }

    pub(super) fn negated(self) -> Self {
        Self {
            lo: -self.hi,
            hi: -self.lo,
            ..self
        }
    }

    pub(super) fn product(self, b: Self) -> Self {
        let ends = [
            times(self.lo, b.lo),
            times(self.lo, b.hi),
            times(self.hi, b.lo),
            times(self.hi, b.hi),
        ];
        let error = times(self.max(), b.error) + times(b.max(), self.error) + self.error * b.error;
        Self {
            lo: ends.iter().copied().fold(f64::INFINITY, f64::min),
            hi: ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            nan: !self.is_finite() || !b.is_finite(),
            quantum: self.quantum.zip(b.quantum).map(|(a, b)| a + b),
            error: 0.0,
        }
        .with_error(error)
    }

    pub(super) fn with_error(mut self, error: f64) -> Self {
        self.error = error;
        self
    }

    /// Whether a value with a bound is one that a bound says something of.
    pub(super) fn is_useful(self, elem: Elem) -> bool {
        self.is_exact() || (self.is_finite() && self.max() < elem.extent().0 / 4.0)
    }
}
