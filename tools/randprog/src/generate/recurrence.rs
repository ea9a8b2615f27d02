//! Loops whose matmul multiplies what it adds to: powers of a matrix, states that are multiplied and added to.

use super::Gen;
use super::product::product_fact;
use crate::program::Fill;
use crate::types::{Elem, Fact, Tile};

/// Element types of operands and sums. Where they differ, the sum is rounded before it is multiplied.
const KINDS: &[((Elem, Elem), usize)] = &[
    ((Elem::F16, Elem::F16), 5),
    ((Elem::F16, Elem::F32), 5),
    ((Elem::BF16, Elem::F32), 3),
    ((Elem::F32, Elem::F32), 2),
    ((Elem::F64, Elem::F64), 2),
];

/// How a sum becomes the next one: multiplied by a square operand.
struct Step {
    other: Tile,
    /// Whether the sum is the left operand.
    left: bool,
    /// Whether the square operand is transposed in the loop.
    turned: bool,
}

impl Gen {
    /// `x = x · y + x`, or `y · x + x`, a few times.
    pub(super) fn recurrence(&mut self) {
        let (input, output) = self.c.weighted(KINDS);
        let extents = [(16, 8), (32, 4), (8, 3), (4, 3), (1, 2), (2, 2), (64, 2)];
        let (across, side) = (self.c.weighted(&extents), self.c.weighted(&extents));
        let left = self.c.chance(50);
        let shape = if left { [across, side] } else { [side, across] };
        let start = self.load_filled(output, &shape, Fill::Whole(-1, 1));
        let step = Step {
            other: self.load_filled(input, &[side; 2], Fill::Whole(-1, 1)),
            left,
            turned: self.c.chance(30),
        };
        let wanted = 1 + self.c.below(3) as u64;
        match growth(&start, &step.other, wanted) {
            (0, _) => self.product(),
            (trips, total) => self.steps(&start, &step, trips, total),
        }
    }

    fn steps(&mut self, start: &Tile, step: &Step, trips: u64, total: Fact) {
        let starts = std::slice::from_ref(start);
        let sums = self.begin_sums(starts, trips);
        let inner = &sums.inner[0];
        // The sum is an operand exactly.
        let known = Tile {
            fact: total,
            ..inner.clone()
        };
        let y = match step.turned {
            true => self.permute(&step.other, &[1, 0]),
            false => step.other.clone(),
        };
        let x = self.convert_to(&known, y.elem).unwrap_or(known);
        let next = match step.left {
            true => self.multiply(&x, &y, inner, Some(total)),
            false => self.multiply(&y, &x, inner, Some(total)),
        };
        let known = self.end_sums(sums, &[next], &[Some(total)]);
        self.env.extend(known);
    }
}

/// How often, `wanted` at most, `start` may be multiplied and added to so that all sums are exact, also as operands; and
/// what holds of all of them.
fn growth(start: &Tile, other: &Tile, wanted: u64) -> (u64, Fact) {
    let (mut sum, mut trips) = (start.clone(), 0);
    let side = other.shape.first().copied().unwrap_or(1);
    let most = 2f64.powi(other.elem.precision().min(11));
    while trips < wanted && other.is_exact() && sum.float().max() <= most {
        let operand = Tile {
            elem: other.elem,
            ..sum.clone()
        };
        match product_fact(&operand, other, &sum, side) {
            Some(fact @ Fact::Float(float)) if float.is_exact() => sum.fact = fact,
            _ => break,
        }
        trips += 1;
    }
    (trips, sum.fact)
}
