//! [`Layout`]: a linear map from a place in the machine to a coordinate of a tile.

use super::gf2::{Matrix, Subspace, low_mask};
use super::shape::{Coords, log2};
use super::{LayoutError, Shape};

/// What the input bits of a layout index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum In {
    /// An element of a thread's register array.
    Register,
    /// A thread of its warp.
    Lane,
    /// A warp of its block.
    Warp,
    /// A block of its cluster.
    Block,
    /// An element of a stretch of memory.
    Offset,
}

impl In {
    /// All input dimensions, in the order in which their bits lie in an input vector
    /// (`Register` lowest).
    pub const ALL: [In; 5] = [In::Register, In::Lane, In::Warp, In::Block, In::Offset];

    /// Bits of a lane number.
    pub const LANE_BITS: u32 = 5;

    /// What stands in front of the dimension's basis vectors in the text of a layout.
    pub fn name(self) -> &'static str {
        match self {
            In::Register => "reg",
            In::Lane => "lane",
            In::Warp => "warp",
            In::Block => "block",
            In::Offset => "offset",
        }
    }
}

/// Where a distributed tile element lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Place {
    /// Index in the thread's register array.
    pub register: u64,
    /// Thread in the warp.
    pub lane: u64,
    /// Warp in the block.
    pub warp: u64,
    /// Block in the cluster.
    pub block: u64,
}

/// A linear map over GF(2) from input bits (see [`In`]) to the elements of a tile.
///
/// The image of each input bit, its *basis vector*, is the flat index (see [`Shape`])
/// of an element; the element at a place is the xor of the basis vectors of the
/// place's bits. A zero basis vector means that the bit makes no difference: the
/// element is held more than once (a broadcast).
///
/// A *distributed* layout has registers, lanes and warps (and maybe blocks) as its
/// inputs; a *memory* layout has [`In::Offset`], counted in elements.
///
/// ```
/// use tilec::layout::{In, Layout, Shape};
/// // 64 elements: 2 neighbours per thread, 32 lanes.
/// let l = Layout::distributed(Shape::new(&[64]).unwrap(), vec![1], vec![2, 4, 8, 16, 32], vec![]).unwrap();
/// assert_eq!(l.coords(1, 3, 0).as_slice(), &[7]);
/// assert_eq!(l.to_string(), "64: reg [(1)] lane [(2),(4),(8),(16),(32)] warp []");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Layout {
    shape: Shape,
    bases: [Vec<u64>; 5],
}

impl Layout {
    /// A layout from the basis vectors (flat indices) of each input dimension, in the
    /// order of [`In::ALL`].
    pub fn new(shape: Shape, bases: [Vec<u64>; 5]) -> Result<Layout, LayoutError> {
        let bits: usize = bases.iter().map(Vec::len).sum();
        if bits > 64 {
            return Err(LayoutError::TooManyBits {
                what: "layout input",
                bits: bits as u32,
                max: 64,
            });
        }
        let mask = low_mask(shape.total_bits());
        if bases.iter().flatten().any(|b| b & !mask != 0) {
            return Err(LayoutError::Unsupported(format!(
                "a basis vector lies outside the {shape} tile"
            )));
        }
        Ok(Layout { shape, bases })
    }

    /// A distributed layout in one block.
    pub fn distributed(
        shape: Shape,
        register: Vec<u64>,
        lane: Vec<u64>,
        warp: Vec<u64>,
    ) -> Result<Layout, LayoutError> {
        Layout::new(shape, [register, lane, warp, vec![], vec![]])
    }

    /// A memory layout: basis vector `i` is the element whose offset is `1 << i`.
    pub fn memory(shape: Shape, offset: Vec<u64>) -> Result<Layout, LayoutError> {
        Layout::new(shape, [vec![], vec![], vec![], vec![], offset])
    }

    /// A layout with no inputs of a tile with one element.
    pub fn unit(rank: usize) -> Layout {
        Layout {
            shape: Shape::ones(rank),
            bases: Default::default(),
        }
    }

    /// `extent` places of `input` hold successive elements along `dim` of a tile of
    /// the given rank, whose other extents are 1.
    pub fn identity_1d(
        input: In,
        extent: u64,
        dim: usize,
        rank: usize,
    ) -> Result<Layout, LayoutError> {
        let bits = log2("layout extent", extent)?;
        let mut shape = vec![0; rank];
        *shape
            .get_mut(dim)
            .ok_or(LayoutError::NoSuchDim { dim, rank })? = bits as u8;
        let mut l = Layout {
            shape: Shape::from_bits(&shape)?,
            bases: Default::default(),
        };
        l.bases[input as usize] = (0..bits).map(|b| 1 << b).collect();
        Ok(l)
    }

    /// `extent` places of `input` all hold the one element of a tile of the given rank.
    pub fn zeros(input: In, extent: u64, rank: usize) -> Result<Layout, LayoutError> {
        let bits = log2("layout extent", extent)?;
        let mut l = Layout::unit(rank);
        l.bases[input as usize] = vec![0; bits as usize];
        Ok(l)
    }

    /// The product: each element of `outer` is a whole copy of `self`. Input bits and
    /// coordinate bits of `outer` come above those of `self`.
    ///
    /// ```
    /// use tilec::layout::{In, Layout};
    /// let lanes = Layout::identity_1d(In::Lane, 32, 0, 1).unwrap();
    /// let regs = Layout::identity_1d(In::Register, 4, 0, 1).unwrap();
    /// assert_eq!(regs.product(&lanes).unwrap().coords(3, 2, 0).as_slice(), &[11]);
    /// ```
    pub fn product(&self, outer: &Layout) -> Result<Layout, LayoutError> {
        if self.rank() != outer.rank() {
            return Err(self.mismatch(outer));
        }
        let both: Vec<u8> = self
            .shape
            .bits()
            .iter()
            .zip(outer.shape.bits())
            .map(|(a, b)| a + b)
            .collect();
        let shape = Shape::from_bits(&both)?;
        let mut bases = self.bases.clone();
        for (mine, outer_bases) in bases.iter_mut().zip(&outer.bases) {
            for v in mine.iter_mut() {
                *v = shape.flatten(&self.shape.unflatten(*v));
            }
            mine.extend(outer_bases.iter().map(|&v| {
                let mut c = outer.shape.unflatten(v);
                c.iter_mut()
                    .enumerate()
                    .for_each(|(d, x)| *x <<= self.shape.dim_bits(d));
                shape.flatten(&c)
            }));
        }
        Layout::new(shape, bases)
    }

    /// The tile's shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The tile's rank.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// Basis vectors of `input`, as flat indices.
    pub fn bases(&self, input: In) -> &[u64] {
        &self.bases[input as usize]
    }

    pub(super) fn all_bases(&self) -> &[Vec<u64>; 5] {
        &self.bases
    }

    /// Number of bits of `input`.
    pub fn in_bits(&self, input: In) -> u32 {
        self.bases(input).len() as u32
    }

    /// Number of places along `input`.
    pub fn in_size(&self, input: In) -> u64 {
        1 << self.in_bits(input)
    }

    /// Elements in a thread's register array.
    pub fn registers(&self) -> u64 {
        self.in_size(In::Register)
    }

    /// Number of warps.
    pub fn warps(&self) -> u64 {
        self.in_size(In::Warp)
    }

    /// The map from the bits of `inputs` (in the given order, first lowest) to flat indices.
    pub fn matrix(&self, inputs: &[In]) -> Matrix {
        let cols = inputs
            .iter()
            .flat_map(|&i| self.bases(i))
            .copied()
            .collect();
        Matrix::new(self.shape.total_bits(), cols)
    }

    /// The map from all input bits, in the order of [`In::ALL`].
    pub fn full_matrix(&self) -> Matrix {
        self.matrix(&In::ALL)
    }

    /// The elements that `inputs` alone reach, as a subspace of flat indices.
    pub fn image(&self, inputs: &[In]) -> Subspace {
        self.matrix(inputs).image()
    }

    /// Flat index of the element at `place` (of a distributed layout).
    pub fn flat_at(&self, place: Place) -> u64 {
        [place.register, place.lane, place.warp, place.block]
            .iter()
            .zip(&self.bases)
            .fold(0, |acc, (&x, bases)| acc ^ combine(bases, x))
    }

    /// Flat index of the element in register `register` of lane `lane` of warp `warp`.
    pub fn flat(&self, register: u64, lane: u64, warp: u64) -> u64 {
        self.flat_at(Place {
            register,
            lane,
            warp,
            block: 0,
        })
    }

    /// Coordinates of the element in register `register` of lane `lane` of warp `warp`.
    pub fn coords(&self, register: u64, lane: u64, warp: u64) -> Coords {
        self.shape.unflatten(self.flat(register, lane, warp))
    }

    /// Flat index of the element at `offset` of a memory layout.
    pub fn flat_at_offset(&self, offset: u64) -> u64 {
        combine(self.bases(In::Offset), offset)
    }

    /// Whether every element is somewhere.
    pub fn is_surjective(&self) -> bool {
        self.full_matrix().rank() == self.shape.total_bits()
    }

    /// Whether no element is in two places.
    pub fn is_injective(&self) -> bool {
        let m = self.full_matrix();
        m.rank() == m.cols()
    }

    /// For each input dimension, in the order of [`In::ALL`], a mask of the bits that
    /// are redundant: with those bits set to zero every element is still reached, and
    /// once only. (Lower bits, and registers before lanes before warps, are kept.)
    ///
    /// ```
    /// use tilec::layout::{In, Layout, Shape};
    /// let l = Layout::distributed(Shape::new(&[4]).unwrap(), vec![1], vec![0, 2, 0, 0, 0], vec![]).unwrap();
    /// assert_eq!(l.free_variable_masks()[In::Lane as usize], 0b11101);
    /// ```
    pub fn free_variable_masks(&self) -> [u64; 5] {
        let mut free = self.full_matrix().free_columns();
        In::ALL.map(|i| {
            let bits = self.in_bits(i);
            let mask = free & low_mask(bits);
            free = free.checked_shr(bits).unwrap_or(0);
            mask
        })
    }

    /// How many elements, a power of two, each thread holds next to each other:
    /// register `r ^ i` holds the element `i` places further in a walk of the tile in
    /// `order` (fastest dimension first), for `i` below the answer, and all such runs
    /// are aligned to their length.
    pub fn contiguous_per_thread(&self, order: &[usize]) -> Result<u64, LayoutError> {
        let units = self.shape.units(order)?;
        let regs = self.bases(In::Register);
        let run = units.iter().zip(regs).take_while(|(u, r)| u == r).count();
        Ok(self.alone(&units, run))
    }

    /// The same, whichever of a thread's registers holds which element of a run.
    pub fn contiguous_in_thread(&self, order: &[usize]) -> Result<u64, LayoutError> {
        let units = self.shape.units(order)?;
        let regs = self.bases(In::Register);
        let run = units.iter().take_while(|u| regs.contains(u)).count();
        Ok(self.alone(&units, run))
    }

    /// Elements of the longest run, of the first `run` units of a walk or fewer, inside of which nothing else moves: registers
    /// step along each of these units.
    fn alone(&self, units: &[u64], run: usize) -> u64 {
        let moves = |low: u64| self.bases.iter().flatten().filter(move |&v| v & low != 0);
        let alone = |&n: &usize| moves(units[..n].iter().sum()).count() == n;
        1 << (0..=run).rev().find(alone).unwrap_or(0)
    }

    /// The order of dimensions (fastest first) in which this memory layout has the elements one after the other, in
    /// strips perhaps; swizzled, in which it has those of a chunk, then the chunks.
    pub fn row_order(&self) -> Vec<usize> {
        let rank = self.shape.rank();
        let mut order: Vec<usize> = Vec::new();
        for basis in self.bases(In::Offset) {
            let along = (0..rank).filter(|&d| basis & self.shape.dim_mask(d) != 0);
            let new: Vec<usize> = along.filter(|d| !order.contains(d)).collect();
            order.extend(new);
        }
        let alone = (0..rank).rev().filter(|d| !order.contains(d));
        order.iter().copied().chain(alone).collect()
    }

    /// Whether offsets of this memory layout are exclusive ors of what several dimensions contribute.
    pub fn is_swizzled(&self) -> bool {
        let bases = self.bases(In::Offset);
        bases.iter().any(|basis| basis.count_ones() > 1)
    }

    /// The map `G` from this layout's input bits to `other`'s with `other ∘ G = self`:
    /// where, in `other`, to find what each place of `self` holds. Of several such
    /// places the one with the lowest registers, lanes and warps is taken.
    ///
    /// Errors if the shapes differ or `other` lacks elements that `self` holds.
    pub fn invert_and_compose(&self, other: &Layout) -> Result<Matrix, LayoutError> {
        if self.shape != other.shape {
            return Err(self.mismatch(other));
        }
        other
            .full_matrix()
            .preimage_of(&self.full_matrix())
            .ok_or_else(|| LayoutError::NotSurjective(other.to_string()))
    }

    /// For a memory layout: the map from flat index to offset.
    pub fn offset_of(&self) -> Result<Matrix, LayoutError> {
        self.matrix(&[In::Offset])
            .right_inverse()
            .ok_or_else(|| LayoutError::NotSurjective(self.to_string()))
    }

    /// This layout with only the named inputs.
    pub fn sublayout(&self, inputs: &[In]) -> Layout {
        let mut l = self.clone();
        for i in In::ALL {
            if !inputs.contains(&i) {
                l.bases[i as usize].clear();
            }
        }
        l
    }

    pub(super) fn mismatch(&self, other: &Layout) -> LayoutError {
        LayoutError::ShapeMismatch {
            left: self.shape.to_string(),
            right: other.shape.to_string(),
        }
    }
}

/// Xor of the basis vectors of the bits set in `x`.
pub(super) fn combine(bases: &[u64], x: u64) -> u64 {
    debug_assert!(
        x & !low_mask(bases.len() as u32) == 0,
        "place outside the layout"
    );
    super::gf2::ones(x).fold(0, |acc, i| acc ^ bases[i as usize])
}

#[cfg(test)]
#[path = "linear_tests.rs"]
pub(super) mod tests;
