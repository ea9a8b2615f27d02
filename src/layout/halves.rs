//! A tile cut in two by one bit of its elements' numbers, as its layout has them.

use super::shape::Coords;
use super::{In, Layout, Shape};

/// A tile of which every thread holds as much of one half as of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halves {
    /// The layout of either half, half as long in one dimension.
    pub part: Layout,
    /// The registers of each half, in the order of `part`'s.
    pub registers: [Vec<u32>; 2],
}

/// A tile of which every thread holds elements of one half only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// The layout of either half: the threads of the other one repeat it.
    pub part: Layout,
    /// The bit of the thread's number that says which half it holds.
    pub thread_bit: u32,
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
    /// assert_eq!(halves.part.to_string(), "2x2: reg [(0,1)] lane [(1,0)] warp []");
    /// assert!(l.halves(1).is_none());
    /// ```
    pub fn halves(&self, bit: u32) -> Option<Halves> {
        let (In::Register, at) = self.sole_input(bit)? else {
            return None;
        };
        let part = self.half(bit, |i, n| (i, n) != (In::Register, at))?;
        let registers = [0, 1].map(|side| {
            (0..self.registers() as u32)
                .filter(|r| r >> at & 1 == side)
                .collect()
        });
        Some(Halves { part, registers })
    }

    /// The same if one bit of the thread's number says it and nothing else does.
    ///
    /// ```
    /// use tilec::layout::{Layout, Shape};
    /// let shape = Shape::new(&[4, 2]).unwrap();
    /// let l = Layout::distributed(shape, vec![1, 4], vec![2], vec![]).unwrap();
    /// let sides = l.sides(1).unwrap();
    /// assert_eq!(sides.thread_bit, 0);
    /// assert_eq!(sides.part.to_string(), "2x2: reg [(0,1),(1,0)] lane [(0,0)] warp []");
    /// assert!(l.sides(2).is_none());
    /// ```
    pub fn sides(&self, bit: u32) -> Option<Sides> {
        let thread_bit = match self.sole_input(bit)? {
            (In::Lane, at) => at as u32,
            (In::Warp, at) => In::LANE_BITS + at as u32,
            _ => return None,
        };
        let part = self.half(bit, |_, _| true)?;
        Some(Sides { part, thread_bit })
    }

    /// The one input bit that moves an element by bit `bit` of the flat index, and by nothing else.
    fn sole_input(&self, bit: u32) -> Option<(In, usize)> {
        let unit = 1u64.checked_shl(bit)?;
        let mut moving = In::ALL.into_iter().flat_map(|i| {
            let bases = self.bases(i).iter().enumerate();
            let moving = bases.filter(move |&(_, b)| b & unit != 0);
            moving.map(move |(at, &b)| (i, at, b))
        });
        let (input, at, basis) = moving.next()?;
        (basis == unit && moving.next().is_none()).then_some((input, at))
    }

    /// The layout of the elements in which bit `bit` of the flat index is 0, with the inputs to keep.
    fn half(&self, bit: u32, keep: impl Fn(In, usize) -> bool) -> Option<Layout> {
        let shape = self.shape();
        let dim = (0..shape.rank()).find(|&d| shape.dim_mask(d) >> bit & 1 != 0)?;
        let place = bit - shape.dim_shift(dim);
        let mut bits = shape.bits().to_vec();
        *bits.get_mut(dim)? -= 1;
        let half = Shape::from_bits(&bits).ok()?;
        let moved = In::ALL.map(|i| {
            let bases = self.bases(i).iter().enumerate();
            let kept = bases.filter(|&(at, _)| keep(i, at));
            kept.map(|(_, &b)| half.flatten(&without_bit(shape.unflatten(b), dim, place)))
                .collect()
        });
        Layout::new(half, moved).ok()
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
