//! A tile cut in two where every thread holds as much of one half as of the other.

use super::shape::Coords;
use super::{In, Layout, Shape};

/// The halves of a tile by one bit of its elements' numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halves {
    /// The layout of either half, half as long in one dimension.
    pub part: Layout,
    /// The registers of each half, in the order of `part`'s.
    pub registers: [Vec<u32>; 2],
}

impl Layout {
    /// The halves by bit `bit` of the flat index, if one bit of the register's number says it and
    /// nothing else does.
    ///
    /// ```
    /// use tilec::layout::{Layout, Shape};
    /// let shape = Shape::new(&[4, 2]).unwrap();
    /// let l = Layout::distributed(shape, vec![1, 4], vec![2], vec![]).unwrap();
    /// let halves = l.halves(2).unwrap();
    /// assert_eq!(halves.registers, [[0, 1], [2, 3]]);
    /// assert_eq!(halves.part.to_string(), "2x2: reg [(0,1)] lane [(1,0)]");
    /// assert!(l.halves(1).is_none());
    /// ```
    pub fn halves(&self, bit: u32) -> Option<Halves> {
        let unit = 1u64.checked_shl(bit)?;
        let mut says = In::ALL.into_iter().flat_map(|i| {
            let bases = self.bases(i).iter().enumerate();
            bases.filter(|(_, b)| *b & unit != 0).map(move |b| (i, b))
        });
        let (In::Register, (at, &basis)) = says.next()? else {
            return None;
        };
        if basis != unit || says.next().is_some() {
            return None;
        }
        let shape = self.shape();
        let dim = (0..shape.rank()).find(|&d| shape.dim_mask(d) & unit != 0)?;
        let place = bit - shape.dim_shift(dim);
        let mut bits = shape.bits().to_vec();
        *bits.get_mut(dim)? -= 1;
        let half = Shape::from_bits(&bits).ok()?;
        let moved = In::ALL.map(|i| {
            let bases = self.bases(i).iter().enumerate();
            bases
                .filter(|&(n, _)| (i, n) != (In::Register, at))
                .map(|(_, &b)| half.flatten(&without_bit(shape.unflatten(b), dim, place)))
                .collect()
        });
        let registers = [0, 1].map(|side| {
            (0..self.registers() as u32)
                .filter(|r| r >> at & 1 == side)
                .collect()
        });
        Some(Halves {
            part: Layout::new(half, moved).ok()?,
            registers,
        })
    }
}

/// Coordinates with one bit of one of them taken out.
fn without_bit(mut at: Coords, dim: usize, bit: u32) -> Coords {
    if let Some(x) = at.get_mut(dim) {
        let low = *x & ((1 << bit) - 1);
        *x = *x >> (bit + 1) << bit | low;
    }
    at
}
