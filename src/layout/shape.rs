//! The extent of a tile: one power of two per dimension.

use std::fmt;

use smallvec::SmallVec;

use super::LayoutError;

/// Coordinates of one tile element, one per dimension.
pub type Coords = SmallVec<[u64; 4]>;

/// Extents of a tile, all powers of two, kept as their base-2 logarithms.
///
/// Elements are numbered row-major: the last dimension varies fastest. The
/// *flat index* of an element is that number; a layout's basis vectors are flat
/// indices, so a coordinate of one dimension is a contiguous field of bits in them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Shape {
    bits: SmallVec<[u8; 4]>,
}

impl Shape {
    /// Most bits of flat index that a shape may have.
    pub const MAX_BITS: u32 = 40;

    /// A shape from extents, which must be powers of two.
    ///
    /// ```
    /// use tilec::layout::Shape;
    /// assert_eq!(Shape::new(&[16, 8]).unwrap().bits(), &[4, 3]);
    /// assert!(Shape::new(&[3]).is_err());
    /// ```
    pub fn new(extents: &[u64]) -> Result<Shape, LayoutError> {
        let bits: SmallVec<[u8; 4]> = extents
            .iter()
            .map(|&e| log2("tile extent", e).map(|b| b as u8))
            .collect::<Result<_, _>>()?;
        Shape::from_bits(&bits)
    }

    /// A shape from the base-2 logarithms of its extents.
    pub fn from_bits(bits: &[u8]) -> Result<Shape, LayoutError> {
        let total: u32 = bits.iter().map(|&b| u32::from(b)).sum();
        if total > Shape::MAX_BITS {
            return Err(LayoutError::TooManyBits {
                what: "tile index",
                bits: total,
                max: Shape::MAX_BITS,
            });
        }
        Ok(Shape { bits: bits.into() })
    }

    /// A shape of `rank` dimensions of extent 1.
    pub fn ones(rank: usize) -> Shape {
        Shape {
            bits: SmallVec::from_elem(0, rank),
        }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.bits.len()
    }

    /// Base-2 logarithm of each extent.
    pub fn bits(&self) -> &[u8] {
        &self.bits
    }

    /// Base-2 logarithm of the extent of dimension `dim`.
    pub fn dim_bits(&self, dim: usize) -> u32 {
        u32::from(self.bits[dim])
    }

    /// Extent of dimension `dim`.
    pub fn extent(&self, dim: usize) -> u64 {
        1 << self.bits[dim]
    }

    /// All extents.
    pub fn extents(&self) -> Coords {
        self.bits.iter().map(|&b| 1 << b).collect()
    }

    /// Bits of a flat index.
    pub fn total_bits(&self) -> u32 {
        self.bits.iter().map(|&b| u32::from(b)).sum()
    }

    /// Number of elements.
    pub fn elements(&self) -> u64 {
        1 << self.total_bits()
    }

    /// Position of dimension `dim`'s lowest bit in a flat index.
    pub fn dim_shift(&self, dim: usize) -> u32 {
        self.bits[dim + 1..].iter().map(|&b| u32::from(b)).sum()
    }

    /// The bits of a flat index that hold dimension `dim`'s coordinate.
    pub fn dim_mask(&self, dim: usize) -> u64 {
        (self.extent(dim) - 1) << self.dim_shift(dim)
    }

    /// The coordinate along `dim` of the element with flat index `flat`.
    pub fn coord(&self, flat: u64, dim: usize) -> u64 {
        (flat >> self.dim_shift(dim)) & (self.extent(dim) - 1)
    }

    /// Coordinates of the element with flat index `flat`.
    pub fn unflatten(&self, flat: u64) -> Coords {
        (0..self.rank()).map(|d| self.coord(flat, d)).collect()
    }

    /// Flat index of the element at `coords` (one per dimension, each within its extent).
    pub fn flatten(&self, coords: &[u64]) -> u64 {
        coords.iter().enumerate().fold(0, |flat, (d, &c)| {
            debug_assert!(
                c < self.extent(d),
                "coordinate {c} outside extent {}",
                self.extent(d)
            );
            flat | (c << self.dim_shift(d))
        })
    }

    /// Flat index of the coordinate vector that is `coord` along `dim` and 0 elsewhere.
    pub fn along(&self, dim: usize, coord: u64) -> u64 {
        debug_assert!(coord < self.extent(dim).max(1));
        coord << self.dim_shift(dim)
    }

    /// Fails unless `dim` is a dimension of this shape.
    pub fn check_dim(&self, dim: usize) -> Result<(), LayoutError> {
        if dim < self.rank() {
            Ok(())
        } else {
            Err(LayoutError::NoSuchDim {
                dim,
                rank: self.rank(),
            })
        }
    }

    /// Fails unless `order` names every dimension once.
    pub fn check_order(&self, order: &[usize]) -> Result<(), LayoutError> {
        let mut seen = vec![false; self.rank()];
        let fresh = |&d: &usize| d < seen.len() && !std::mem::replace(&mut seen[d], true);
        if order.len() == self.rank() && order.iter().all(fresh) {
            Ok(())
        } else {
            Err(LayoutError::NotAPermutation(order.to_vec()))
        }
    }

    /// Flat-index unit vectors in the order in which a row-major walk with the
    /// given dimension order (fastest first) meets them.
    ///
    /// ```
    /// use tilec::layout::Shape;
    /// let s = Shape::new(&[4, 2]).unwrap();
    /// assert_eq!(s.units(&[1, 0]).unwrap(), vec![1, 2, 4]);
    /// assert_eq!(s.units(&[0, 1]).unwrap(), vec![2, 4, 1]);
    /// ```
    pub fn units(&self, order: &[usize]) -> Result<Vec<u64>, LayoutError> {
        self.check_order(order)?;
        Ok(order
            .iter()
            .flat_map(|&d| (0..self.dim_bits(d)).map(move |b| (d, b)))
            .map(|(d, b)| self.along(d, 1 << b))
            .collect())
    }

    /// The order in which the last dimension is fastest.
    pub fn row_major_order(&self) -> SmallVec<[usize; 4]> {
        (0..self.rank()).rev().collect()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bits.is_empty() {
            return f.write_str("scalar");
        }
        for (i, e) in self.extents().iter().enumerate() {
            if i > 0 {
                f.write_str("x")?;
            }
            write!(f, "{e}")?;
        }
        Ok(())
    }
}

/// Base-2 logarithm of `value`, which must be a power of two; `what` names it in the error.
pub fn log2(what: &'static str, value: u64) -> Result<u32, LayoutError> {
    if value.is_power_of_two() {
        Ok(value.trailing_zeros())
    } else {
        Err(LayoutError::NotPowerOfTwo { what, value })
    }
}
