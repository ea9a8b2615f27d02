//! How the pointers of a tile lie next to each other, as far as facts prove it, and how masks cut such runs.

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view;
use crate::dialect::enums::Predicate;
use crate::facts::{self, FactMap};
use crate::ir::{Module, Type, ValueId};
use crate::scalar::Signedness;

/// Widest access of one thread, in bytes.
pub const MAX_ACCESS: u64 = 16;

/// Runs of pointers to neighbouring elements along one dimension of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    pub dim: usize,
    /// Elements of a run, a power of two; runs start at multiples of it.
    pub length: u64,
    /// Elements, a power of two, that one access may move: every run of so many is aligned to its size.
    pub width: u64,
    /// Bytes of an element.
    pub bytes: u64,
}

impl Run {
    /// The runs of `pointers`, along the dimension of the widest accesses; `None` where no two
    /// neighbours are known to be next to each other in memory.
    pub fn of(m: &Module, facts: &FactMap, pointers: ValueId) -> Option<Run> {
        let Type::Ptr { pointee, .. } = m.types.get(m.types.elem(m.ty(pointers))) else {
            return None;
        };
        // An i1 is a byte in memory; smaller numbers share theirs.
        let bytes = match m.types.bits(*pointee)? {
            1 => 1,
            bits if bits % 8 == 0 => u64::from(bits / 8),
            _ => return None,
        };
        let axes = &facts.get(pointers)?.axes;
        let runs = axes.iter().enumerate().map(|(dim, axis)| {
            let aligned = (axis.divisibility / bytes).clamp(1, MAX_ACCESS / bytes.min(MAX_ACCESS));
            Run {
                dim,
                length: axis.contiguity,
                width: axis.contiguity.min(1 << aligned.ilog2()),
                bytes,
            }
        });
        // Of dimensions alike the last, which is contiguous as a rule.
        runs.filter(|r| r.length > 1)
            .max_by_key(|r| (r.width, r.length, r.dim))
    }

    /// The dimensions of a tile of `rank`, those along which accesses are widest first.
    pub fn order(&self, rank: usize) -> Vec<usize> {
        let others = (0..rank).rev().filter(|&d| d != self.dim);
        std::iter::once(self.dim).chain(others).collect()
    }
}

/// A mask that is true, in each aligned group of elements along a dimension, for the first few of them and false for the
/// others: all and none are such, too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    pub mask: ValueId,
    pub how: How,
}

/// Why a mask is such a [`Cut`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum How {
    /// The elements of a group are alike.
    Alike,
    /// It is the conjunction of two.
    Both(Box<[Cut; 2]>),
    /// It is another one, broadcast or reshaped.
    Renamed(Box<Cut>),
    /// It is a comparison with a limit.
    Below(Below),
}

/// Numbers of which each is one more than the last are below a limit, or equal to it if that is `included`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Below {
    pub numbers: ValueId,
    pub limit: ValueId,
    pub included: bool,
    pub signedness: Signedness,
}

impl Cut {
    /// How `mask` cuts the groups of `length` elements along dimension `dim`, if it is known to.
    pub fn of(m: &Module, facts: &FactMap, mask: ValueId, dim: usize, length: u64) -> Option<Cut> {
        let how = how(m, facts, mask, dim, length)?;
        Some(Cut { mask, how })
    }
}

fn how(m: &Module, facts: &FactMap, mask: ValueId, dim: usize, length: u64) -> Option<How> {
    let axis = |v: ValueId| facts.get(v).and_then(|f| f.axes.get(dim));
    let many = |n: u64| n > 0 && n.is_multiple_of(length);
    let still = |v: ValueId| axis(v).is_some_and(|a| many(a.constancy));
    if still(mask) {
        return Some(How::Alike);
    }
    let data = m.op(m.def_op(mask)?);
    let extents = |v: ValueId| m.types.as_tile(m.ty(v)).map_or(&[][..], |t| t.1);
    let of = |source, dim| Cut::of(m, facts, source, dim, length);
    match (C::of(data.kind)?, &data.operands[..]) {
        (C::AndI, &[a, b]) => Some(How::Both(Box::new([of(a, dim)?, of(b, dim)?]))),
        (C::Broadcast, &[source]) if extents(source).get(dim) == extents(mask).get(dim) => {
            Some(How::Renamed(Box::new(of(source, dim)?)))
        }
        (C::Reshape, &[source]) => {
            let long = |e: &[u64]| (0..e.len()).filter(|&i| e[i] > 1).collect::<Vec<_>>();
            let (from, to) = (extents(source), extents(mask));
            let (a, b) = (long(from), long(to));
            let same = a.len() == b.len() && a.iter().zip(&b).all(|(&i, &j)| from[i] == to[j]);
            let &place = b.iter().position(|&d| d == dim).and_then(|i| a.get(i))?;
            same.then_some(())?;
            Some(How::Renamed(Box::new(of(source, place)?)))
        }
        (C::CmpI, &[x, y]) => {
            let v = view::CmpI::of(data)?;
            let predicate = v.comparison_predicate();
            let (numbers, limit) = match predicate {
                Predicate::LessThan | Predicate::LessThanOrEqual => (x, y),
                Predicate::GreaterThan | Predicate::GreaterThanOrEqual => (y, x),
                Predicate::Equal | Predicate::NotEqual => return None,
            };
            let signedness = v.signedness();
            let range = facts::range(&m.types, m.ty(x));
            let signed = signedness == Signedness::Signed;
            let rises = facts::monotone(facts.get(numbers)?, axis(numbers)?, signed, range);
            let below = Below {
                numbers,
                limit,
                included: matches!(
                    predicate,
                    Predicate::LessThanOrEqual | Predicate::GreaterThanOrEqual
                ),
                signedness,
            };
            (many(rises) && still(limit)).then_some(How::Below(below))
        }
        _ => None,
    }
}
