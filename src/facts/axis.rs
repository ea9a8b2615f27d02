//! How elements run along a dimension of a tile.

use super::{Facts, gcd};
use smallvec::SmallVec;

/// One dimension. Groups are aligned: a group of `n` starts at a multiple of `n` along the dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axis {
    /// Elements come in groups of this many, each one (integers) or one pointee (pointers) more than the last.
    pub contiguity: u64,
    /// The first element of each such group is a multiple of this power of two (bytes for pointers).
    pub divisibility: u64,
    /// Elements come in groups of this many equal ones.
    pub constancy: u64,
}

impl Axis {
    pub(super) const NOTHING: Axis = Axis {
        contiguity: 1,
        divisibility: 1,
        constancy: 1,
    };
}

pub(super) type Axes = SmallVec<[Axis; 2]>;

/// What both of two rows say of a tile goes into the first; whether that changed it.
pub(super) fn meet(to: &mut Axes, from: &Axes) -> bool {
    if to.is_empty() {
        to.clone_from(from);
        return !to.is_empty();
    }
    let mut changed = false;
    for (a, b) in to.iter_mut().zip(from) {
        // Contiguity and divisibility belong together: take the pair with the longer run.
        let better = if (b.contiguity, b.divisibility) > (a.contiguity, a.divisibility) {
            *b
        } else {
            *a
        };
        let new = Axis {
            contiguity: better.contiguity,
            divisibility: better.divisibility,
            constancy: a.constancy.max(b.constancy),
        };
        changed |= new != *a;
        *a = new;
    }
    changed
}

/// What holds of either of two tiles.
pub(super) fn join(a: &Axes, b: &Axes) -> Axes {
    let both = |(a, b): (&Axis, &Axis)| {
        let run = gcd(a.contiguity, b.contiguity);
        Axis {
            contiguity: run,
            divisibility: gcd(at(a, run, 1), at(b, run, 1)),
            constancy: gcd(a.constancy, b.constancy),
        }
    };
    a.iter().zip(b).map(both).collect()
}

/// Elements, a power of two, in whose aligned groups a value only grows: runs that do not wrap.
pub fn monotone(facts: &Facts, axis: &Axis, signed: bool, range: (i64, i64)) -> u64 {
    let never_wraps = match signed {
        true => (facts.lo, facts.hi) != range,
        false => facts.nonneg(),
    };
    match never_wraps {
        true => axis.contiguity,
        // What starts at a multiple of its length does not wrap either.
        false => gcd(axis.contiguity, axis.divisibility),
    }
}

/// Divisibility of the elements at multiples of `run`; elements of a run are `unit` apart.
pub(super) fn at(axis: &Axis, run: u64, unit: u64) -> u64 {
    if run >= axis.contiguity {
        axis.divisibility
    } else {
        gcd(axis.divisibility, scaled(run, unit))
    }
}

/// A power of two times another; what has no place in 64 bits is as good as the greatest that has.
pub(super) fn scaled(divisibility: u64, unit: u64) -> u64 {
    divisibility.checked_mul(unit).unwrap_or(1 << 63)
}
