//! What is known about every element of a value: bounds, divisibility, constancy, uniformity, and
//! how elements run along each dimension.
//!
//! The same lattice serves two users: [`of`] computes the facts of every value of a function by one
//! forward walk (the query of the structural passes), and the e-graph keeps them per class.
//!
//! All statements hold for every execution in which the function's assumptions hold. Integers are
//! read as *signed* numbers of their width: a true i1 is -1. For pointers, bounds say nothing
//! and the divisor is the alignment of the address in bytes.

pub mod access;
mod arith;
mod asked;
mod attr;
mod axes;
mod axis;
mod flow;
mod iterations;
mod leaf;
mod map;
pub mod matmul;
mod regroup;
pub mod semantics;
pub mod tensor;
mod transfer;

pub use arith::{Arith, Division, arith_of};
pub use axis::{Axis, monotone};
pub use flow::{for_egraph, of};
pub use iterations::iterations;
pub use leaf::Leaf;
pub use map::FactMap;
pub use transfer::{
    assume, block_size, constant, elements, grid_bounds, splat, transfer, within_block,
};

use crate::ir::{Type, TypeId, Types};
use smallvec::SmallVec;

/// Over which threads a value is the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Uniformity {
    /// All threads of the block hold the same value.
    Block,
    /// All threads of a warp do.
    Warp,
    /// Nothing is known.
    Thread,
}

/// What is known about each element of a value.
#[derive(PartialEq, Eq, Debug)]
pub struct Facts {
    /// The value of every element, as the low bits of its type, when all are the same known number.
    pub constant: Option<u64>,
    /// Every element is a multiple of this number; 0 when every element is 0. Never less than 1 otherwise.
    pub divisor: u64,
    /// Least value an element can have.
    pub lo: i64,
    /// Greatest value an element can have.
    pub hi: i64,
    pub uniform: Uniformity,
    /// One entry per tile dimension; empty when nothing is known or for scalars.
    pub axes: SmallVec<[Axis; 2]>,
}

/// As derived, but axes are copied as a block: `SmallVec` clones them one by one.
impl Clone for Facts {
    fn clone(&self) -> Facts {
        Facts {
            axes: SmallVec::from_slice(&self.axes),
            ..*self
        }
    }
}

impl Facts {
    /// Nothing known, but the range of the type.
    pub fn top(types: &Types, ty: TypeId) -> Facts {
        let (lo, hi) = range(types, ty);
        Facts {
            constant: None,
            divisor: 1,
            lo,
            hi,
            uniform: Uniformity::Block,
            axes: SmallVec::new(),
        }
    }

    /// The same integer in every element.
    pub fn int(value: i64, bits: u32) -> Facts {
        Facts {
            constant: Some(truncate(value as u64, bits)),
            divisor: value.unsigned_abs(),
            lo: value,
            hi: value,
            uniform: Uniformity::Block,
            axes: SmallVec::new(),
        }
    }

    /// The constant as a signed integer of the given width.
    pub fn int_constant(&self, bits: u32) -> Option<i64> {
        self.constant.map(|c| sign_extend(c, bits))
    }

    /// Whether no element is negative.
    pub fn nonneg(&self) -> bool {
        self.lo >= 0
    }

    /// Whether every element is a multiple of `n`.
    pub fn divisible_by(&self, n: u64) -> bool {
        n != 0 && self.divisor.is_multiple_of(n)
    }

    /// The greatest power of two that divides every element (2^63 for zero).
    pub fn alignment(&self) -> u64 {
        pow2_part(self.divisor)
    }

    /// Both sets of statements hold. Contradictions (unreachable code) keep the first's bounds. What is
    /// one known number is divisible by that number's divisors only, whatever else was promised: clients
    /// promise `div_by` of constant strides that are not (cuTile Python, on dimensions of extent 1).
    /// Returns whether `self` gained anything.
    pub fn meet(&mut self, other: &Facts) -> bool {
        let before = (self.constant, self.divisor, self.lo, self.hi, self.uniform);
        match (self.is_number(), other.is_number()) {
            (true, _) => (),
            (false, true) => (self.divisor, self.lo, self.hi) = (other.divisor, other.lo, other.hi),
            (false, false) => {
                self.divisor = lcm(self.divisor, other.divisor);
                let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
                if lo <= hi {
                    (self.lo, self.hi) = (lo, hi);
                }
            }
        }
        self.constant = self.constant.or(other.constant);
        self.uniform = self.uniform.min(other.uniform);
        let axes = axis::meet(&mut self.axes, &other.axes);
        axes || before != (self.constant, self.divisor, self.lo, self.hi, self.uniform)
    }

    /// Whether every element is the same known integer.
    pub(crate) fn is_number(&self) -> bool {
        self.constant.is_some() && self.lo == self.hi
    }

    /// What holds whichever of the two values it is.
    pub fn join(&self, other: &Facts) -> Facts {
        Facts {
            constant: self.constant.filter(|_| self.constant == other.constant),
            divisor: gcd(self.divisor, other.divisor),
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            uniform: self.uniform.max(other.uniform),
            axes: axis::join(&self.axes, &other.axes),
        }
    }

    /// Derives what one statement says about the others (a single possible value is a constant).
    pub fn normalise(&mut self, bits: u32) {
        if self.divisor > 1 && self.divisor <= i64::MAX as u64 && self.lo <= self.hi {
            let d = self.divisor as i64;
            let lo = ceil_to(self.lo, d);
            let hi = floor_to(self.hi, d);
            if let (Some(lo), Some(hi)) = (lo, hi)
                && lo <= hi
            {
                (self.lo, self.hi) = (lo, hi);
            }
        }
        if self.lo == self.hi && self.constant.is_none() {
            self.constant = Some(truncate(self.lo as u64, bits));
            self.divisor = self.lo.unsigned_abs();
        }
    }
}

fn ceil_to(x: i64, d: i64) -> Option<i64> {
    x.checked_add(d - 1).map(|y| y.div_euclid(d) * d)
}

fn floor_to(x: i64, d: i64) -> Option<i64> {
    x.div_euclid(d).checked_mul(d)
}

/// Signed range of an integer type's elements; everything for other types.
pub fn range(types: &Types, ty: TypeId) -> (i64, i64) {
    match types.get(types.elem(ty)) {
        Type::Int(bits) => int_range(*bits),
        _ => (i64::MIN, i64::MAX),
    }
}

/// Signed range of an integer of `bits` bits.
pub fn int_range(bits: u32) -> (i64, i64) {
    match bits {
        64.. => (i64::MIN, i64::MAX),
        0 => (0, 0),
        n => (-(1 << (n - 1)), (1 << (n - 1)) - 1),
    }
}

/// The low `bits` bits.
pub fn truncate(value: u64, bits: u32) -> u64 {
    if bits >= 64 {
        value
    } else {
        value & ((1 << bits) - 1)
    }
}

/// The signed number of the low `bits` bits.
pub fn sign_extend(value: u64, bits: u32) -> i64 {
    match bits {
        0 => 0,
        64.. => value as i64,
        n => ((value << (64 - n)) as i64) >> (64 - n),
    }
}

/// Greatest common divisor, where 0 is a multiple of everything.
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Least common multiple; the larger of the two when it does not fit.
fn lcm(a: u64, b: u64) -> u64 {
    if a == 0 || b == 0 {
        return 0;
    }
    (a / gcd(a, b)).checked_mul(b).unwrap_or(a.max(b))
}

/// The greatest power of two that divides `n`; 2^63 for 0.
pub fn pow2_part(n: u64) -> u64 {
    if n == 0 {
        1 << 63
    } else {
        n & n.wrapping_neg()
    }
}
