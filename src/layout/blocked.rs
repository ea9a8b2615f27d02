//! Coalesced layouts for loads, stores and elementwise work.

use super::shape::log2;
use super::{In, Layout, LayoutError, Shape};

/// What a coalesced layout is chosen from; see [`Blocked::layout`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Blocked {
    /// The tile.
    pub shape: Shape,
    /// Dimensions by contiguity in memory, most contiguous first.
    pub order: Vec<usize>,
    /// Most elements, a power of two, that one thread may hold next to each other along
    /// `order[0]`: what facts about alignment and contiguity allow for a vector access.
    pub max_vector: u64,
    /// Bits of an element.
    pub element_bits: u32,
    /// Warps in the block, a power of two.
    pub warps: u64,
}

/// Widest access of one thread, in bits (`ld.v4.b32` and kin).
const MAX_ACCESS_BITS: u64 = 128;

impl Blocked {
    /// A layout in which the threads walk the tile in `order`: first a vector of at most
    /// 16 bytes per thread, then the lanes, then the warps, then repeated registers.
    /// A small tile is first spread over all threads (vectors get shorter), and what is
    /// left of lanes and warps repeats elements.
    ///
    /// ```
    /// use tilec::layout::{Shape, blocked::Blocked};
    /// let shape = Shape::new(&[64, 64]).unwrap();
    /// let b = Blocked { shape, order: vec![1, 0], max_vector: 16, element_bits: 16, warps: 4 };
    /// assert_eq!(
    ///     b.layout().unwrap().to_string(),
    ///     "64x64: reg [(0,1),(0,2),(0,4),(16,0),(32,0)] \
    ///      lane [(0,8),(0,16),(0,32),(1,0),(2,0)] warp [(4,0),(8,0)]"
    /// );
    /// ```
    pub fn layout(&self) -> Result<Layout, LayoutError> {
        self.layout_of_at_least(1)
    }

    /// The same, but what the lanes leave of a row is in registers, and each warp has rows of its own.
    ///
    /// ```
    /// use tilec::layout::{Shape, blocked::Blocked};
    /// let shape = Shape::new(&[64, 64]).unwrap();
    /// let b = Blocked { shape, order: vec![1, 0], max_vector: 1, element_bits: 16, warps: 4 };
    /// assert_eq!(
    ///     b.layout_of_own_rows().unwrap().to_string(),
    ///     "64x64: reg [(0,32),(1,0),(2,0),(4,0),(8,0)] \
    ///      lane [(0,1),(0,2),(0,4),(0,8),(0,16)] warp [(16,0),(32,0)]"
    /// );
    /// ```
    pub fn layout_of_own_rows(&self) -> Result<Layout, LayoutError> {
        self.spread(1, |rest, warp_bits| {
            rest.len().saturating_sub(warp_bits as usize)
        })
    }

    /// A layout for elements that are read one by one where they lie in `order`, and stored where the other of the two
    /// dimensions is contiguous: a thread has a vector along that one, the lanes walk along the first dimension of `order`,
    /// and the warps share out the other one, so that a thread works out where few rows and few columns begin.
    ///
    /// ```
    /// use tilec::layout::{Shape, blocked::Blocked};
    /// let shape = Shape::new(&[64, 128]).unwrap();
    /// let b = Blocked { shape, order: vec![1, 0], max_vector: 8, element_bits: 16, warps: 4 };
    /// assert_eq!(
    ///     b.layout_of_turned().unwrap().to_string(),
    ///     "64x128: reg [(1,0),(2,0),(4,0),(32,0),(0,32),(0,64)] \
    ///      lane [(0,1),(0,2),(0,4),(0,8),(0,16)] warp [(8,0),(16,0)]"
    /// );
    /// ```
    pub fn layout_of_turned(&self) -> Result<Layout, LayoutError> {
        let &[first, other] = &self.order[..] else {
            return Err(LayoutError::Unsupported(
                "a turned tile of other than two dimensions".to_owned(),
            ));
        };
        let warp_bits = log2("number of warps", self.warps)?;
        let turned = Blocked {
            order: vec![other, first],
            ..self.clone()
        };
        let vector = turned.vector_bits(warp_bits, 1)? as usize;
        let along =
            |d: usize| (0..self.shape.dim_bits(d)).map(move |i| self.shape.along(d, 1 << i));
        let mut registers: Vec<u64> = along(other).take(vector).collect();
        let lanes = In::LANE_BITS as usize;
        let mut walk = along(first)
            .take(lanes)
            .chain(along(other).skip(vector))
            .chain(along(first).skip(lanes));
        let lanes = take_or_repeat(&mut walk, In::LANE_BITS);
        let warps = take_or_repeat(&mut walk, warp_bits);
        registers.extend(walk);
        Layout::distributed(self.shape.clone(), registers, lanes, warps)
    }

    /// [`Blocked::layout`] with at least `least` elements (a power of two) in a vector, as far as `max_vector` and the tile
    /// allow: threads repeat elements rather than hold fewer.
    pub fn layout_of_at_least(&self, least: u64) -> Result<Layout, LayoutError> {
        self.spread(least, |_, _| 0)
    }

    /// The tile over registers, lanes and warps. `first`: of what vectors and lanes leave, the place from which on the warps
    /// take theirs; the registers have the rest.
    fn spread(
        &self,
        least: u64,
        first: impl Fn(&[u64], u32) -> usize,
    ) -> Result<Layout, LayoutError> {
        let warp_bits = log2("number of warps", self.warps)?;
        let units = self.shape.units(&self.order)?;
        let mut walk = units.into_iter();
        let vector = self.vector_bits(warp_bits, least)?;
        let mut registers: Vec<u64> = walk.by_ref().take(vector as usize).collect();
        let lanes = take_or_repeat(&mut walk, In::LANE_BITS);
        let mut rest: Vec<u64> = walk.collect();
        let mut walk = rest.split_off(first(&rest, warp_bits)).into_iter();
        let warps = take_or_repeat(&mut walk, warp_bits);
        registers.extend(rest.into_iter().chain(walk));
        Layout::distributed(self.shape.clone(), registers, lanes, warps)
    }

    /// Base-2 logarithm of the elements each thread holds next to each other.
    fn vector_bits(&self, warp_bits: u32, least: u64) -> Result<u32, LayoutError> {
        let allowed = log2("vector length", self.max_vector)?;
        let per_access = MAX_ACCESS_BITS / u64::from(self.element_bits.max(1));
        let fits = per_access.max(1).ilog2();
        let row = self.order.first().map_or(0, |&d| self.shape.dim_bits(d));
        let per_thread = self
            .shape
            .total_bits()
            .saturating_sub(In::LANE_BITS + warp_bits)
            .max(log2("vector length", least)?);
        Ok(allowed.min(fits).min(row).min(per_thread))
    }
}

/// How the threads of `warps` warps share out a product of matrices so that each reads few rows and columns for what it
/// multiplies: as nearly squares as can be of elements next to each other, and of those squares where a thread has several,
/// which are apart. Other dimensions than the last two are batches.
///
/// ```
/// use tilec::layout::{Shape, blocked::squares};
/// let shape = Shape::new(&[64, 128]).unwrap();
/// assert_eq!(
///     squares(&shape, 4).unwrap().to_string(),
///     "64x128: reg [(0,1),(0,2),(1,0),(2,0),(0,64),(32,0)] \
///      lane [(0,4),(0,8),(0,16),(4,0),(8,0)] warp [(0,32),(16,0)]"
/// );
/// ```
pub fn squares(shape: &Shape, warps: u64) -> Result<Layout, LayoutError> {
    /// Bits of the side of a square, and of the lanes along rows and columns.
    const SIDE: u32 = 2;
    const LANES: [u32; 2] = [2, 3];
    let warp_bits = log2("number of warps", warps)?;
    let Some(rows) = shape.rank().checked_sub(2) else {
        return Err(LayoutError::Unsupported("a product of vectors".to_owned()));
    };
    let dims = [rows, rows + 1];
    let threads = In::LANE_BITS + warp_bits;
    let mut registers = shape.total_bits().saturating_sub(threads);
    // The next bit of each dimension from below, and how many are left.
    let mut next = [0, 0];
    let mut left = dims.map(|d| shape.dim_bits(d));
    let mut take = |side: usize, left: &mut [u32; 2]| {
        left[side] -= 1;
        next[side] += 1;
        shape.along(dims[side], 1 << (next[side] - 1))
    };
    let mut square = [Vec::new(), Vec::new()];
    for _ in 0..SIDE {
        for side in [1, 0] {
            if registers > 0 && left[side] > 0 {
                square[side].push(take(side, &mut left));
                registers -= 1;
            }
        }
    }
    let mut lanes = Vec::new();
    for side in [1, 0] {
        for _ in 0..LANES[side].min(left[side]) {
            lanes.push(take(side, &mut left));
        }
    }
    // What the squares leave of the registers: columns and rows in turn, those furthest apart.
    let mut apart = [0, 0];
    while registers > 0 && apart != left {
        let side = usize::from(apart[1] <= apart[0] && apart[1] < left[1] || apart[0] == left[0]);
        apart[side] += 1;
        registers -= 1;
    }
    let mut spread = Vec::new();
    for side in [1, 0] {
        for _ in apart[side]..left[side] {
            spread.push(take(side, &mut left));
        }
    }
    let mut held: Vec<u64> = [1, 0].into_iter().flat_map(|s| square[s].clone()).collect();
    for side in [1, 0] {
        for _ in 0..apart[side] {
            held.push(take(side, &mut left));
        }
    }
    for batch in (0..rows).rev() {
        spread.extend((0..shape.dim_bits(batch)).map(|bit| shape.along(batch, 1 << bit)));
    }
    // Lanes first, then warps; what they have no place for is in registers, and where there is too little, they repeat it.
    let mut spread = spread.into_iter();
    while lanes.len() < In::LANE_BITS as usize {
        lanes.push(spread.next().unwrap_or(0));
    }
    let warps = take_or_repeat(&mut spread, warp_bits);
    held.extend(spread);
    Layout::distributed(shape.clone(), held, lanes, warps)
}

/// A layout given by how much of the tile each level covers, dimension by dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Levels {
    /// Elements of each dimension held by a thread next to each other.
    pub per_thread: Vec<u64>,
    /// Threads of a warp along each dimension; the product is 32.
    pub lanes: Vec<u64>,
    /// Warps along each dimension.
    pub warps: Vec<u64>,
    /// Dimensions, fastest first, within each level.
    pub order: Vec<usize>,
}

impl Levels {
    /// The layout of `shape`: the pattern is repeated in further registers where the tile
    /// is larger than it; where the tile is smaller, lanes and warps repeat elements.
    pub fn layout(&self, shape: &Shape) -> Result<Layout, LayoutError> {
        shape.check_order(&self.order)?;
        let mut next: Vec<u32> = vec![0; shape.rank()];
        let mut level = |extents: Option<&[u64]>, repeat: bool| -> Result<Vec<u64>, LayoutError> {
            let mut bases = Vec::new();
            for &d in &self.order {
                let left = shape.dim_bits(d) - next[d];
                let want = match extents {
                    Some(e) => log2("blocked layout extent", e.get(d).copied().unwrap_or(1))?,
                    None => left,
                };
                for i in 0..want {
                    if i < left {
                        bases.push(shape.along(d, 1 << (next[d] + i)));
                    } else if repeat {
                        bases.push(0);
                    }
                }
                next[d] += want.min(left);
            }
            Ok(bases)
        };
        let mut registers = level(Some(&self.per_thread), false)?;
        let lanes = level(Some(&self.lanes), true)?;
        let warps = level(Some(&self.warps), true)?;
        registers.extend(level(None, false)?);
        if lanes.len() as u32 != In::LANE_BITS {
            return Err(LayoutError::Unsupported(format!(
                "{:?} lanes do not make a warp",
                self.lanes
            )));
        }
        Layout::distributed(shape.clone(), registers, lanes, warps)
    }
}

/// The next `bits` vectors of `walk`, and zeros once it ends.
fn take_or_repeat(walk: &mut impl Iterator<Item = u64>, bits: u32) -> Vec<u64> {
    (0..bits).map(|_| walk.next().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(
        extents: &[u64],
        order: &[usize],
        max_vector: u64,
        element_bits: u32,
        warps: u64,
    ) -> Layout {
        let shape = Shape::new(extents).unwrap();
        Blocked {
            shape,
            order: order.to_vec(),
            max_vector,
            element_bits,
            warps,
        }
        .layout()
        .unwrap()
    }

    /// Consecutive threads of one access touch consecutive vectors, every element once.
    #[test]
    fn walks_memory_in_thread_order() {
        for (extents, order) in [
            (&[64u64, 128][..], &[1usize, 0][..]),
            (&[64, 128], &[0, 1]),
            (&[4096], &[0]),
        ] {
            let l = layout(extents, order, 8, 16, 4);
            let strides = order.iter().scan(1, |s, &d| {
                let mine = *s;
                *s *= extents[d];
                Some((d, mine))
            });
            let strides: std::collections::BTreeMap<usize, u64> = strides.collect();
            let address = |r, t: u64| -> u64 {
                l.coords(r, t % 32, t / 32)
                    .iter()
                    .enumerate()
                    .map(|(d, c)| c * strides[&d])
                    .sum()
            };
            for r in 0..8 {
                for t in 0..128 {
                    assert_eq!(address(r, t), t * 8 + r);
                }
            }
            assert!(l.is_surjective() && l.is_injective());
        }
    }

    #[test]
    fn small_tiles_are_spread_before_they_are_vectorised() {
        let l = layout(&[256], &[0], 8, 16, 4);
        assert_eq!(l.registers(), 2);
        let l = layout(&[16], &[0], 8, 16, 4);
        assert_eq!(l.registers(), 1);
        assert_eq!(l.free_variable_masks(), [0, 0b10000, 0b11, 0, 0]);
        assert!(l.is_surjective());
    }

    #[test]
    fn levels_cover_and_repeat() {
        let levels = Levels {
            per_thread: vec![1, 4],
            lanes: vec![4, 8],
            warps: vec![2, 1],
            order: vec![1, 0],
        };
        let l = levels.layout(&Shape::new(&[16, 64]).unwrap()).unwrap();
        assert_eq!(
            l.to_string(),
            "16x64: reg [(0,1),(0,2),(0,32),(8,0)] lane [(0,4),(0,8),(0,16),(1,0),(2,0)] warp [(4,0)]"
        );
        let l = levels.layout(&Shape::new(&[4, 16]).unwrap()).unwrap();
        assert_eq!(
            l.to_string(),
            "4x16: reg [(0,1),(0,2)] lane [(0,4),(0,8),(0,0),(1,0),(2,0)] warp [(0,0)]"
        );
    }
}
