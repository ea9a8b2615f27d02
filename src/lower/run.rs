//! How the pointers of a tile lie next to each other, as far as facts prove it.

use crate::facts::FactMap;
use crate::ir::{Module, Type, ValueId};

/// Widest access of one thread, in bytes.
const MAX_ACCESS: u64 = 16;

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
