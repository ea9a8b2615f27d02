//! How a layout follows its tile through operations that only rename elements, and
//! division of a layout by a tile.

use super::gf2::low_mask;
use super::shape::log2;
use super::{In, Layout, LayoutError, Shape};

impl Layout {
    /// The layout of the tile with the same elements, row-major, under another shape.
    pub fn reshape(&self, shape: &Shape) -> Result<Layout, LayoutError> {
        if shape.total_bits() != self.shape().total_bits() {
            return Err(LayoutError::ShapeMismatch {
                left: self.shape().to_string(),
                right: shape.to_string(),
            });
        }
        Layout::new(shape.clone(), self.all_bases().clone())
    }

    /// The layout of the tile whose dimension `i` is this tile's dimension `perm[i]`.
    ///
    /// ```
    /// use tilec::layout::{In, Layout};
    /// let l = Layout::identity_1d(In::Lane, 32, 0, 2).unwrap();
    /// assert_eq!(l.permute(&[1, 0]).unwrap(), Layout::identity_1d(In::Lane, 32, 1, 2).unwrap());
    /// ```
    pub fn permute(&self, perm: &[usize]) -> Result<Layout, LayoutError> {
        self.shape().check_order(perm)?;
        let bits: Vec<u8> = perm.iter().map(|&d| self.shape().bits()[d]).collect();
        self.map_coords(Shape::from_bits(&bits)?, |c| {
            perm.iter().map(|&d| c[d]).collect()
        })
    }

    /// The layout of the tile without dimension `dim`: the element at a place is the one
    /// that the place held, less its coordinate along `dim`. This is the layout of the
    /// result of a reduction along `dim` (with registers that only differ along `dim`
    /// now holding the same; see [`Layout::without_redundant_registers`]).
    pub fn slice(&self, dim: usize) -> Result<Layout, LayoutError> {
        self.shape().check_dim(dim)?;
        let mut bits = self.shape().bits().to_vec();
        bits.remove(dim);
        self.map_coords(Shape::from_bits(&bits)?, |mut c| {
            c.remove(dim);
            c
        })
    }

    /// The layout of the tile with a new dimension of extent 1 at position `dim`.
    pub fn expand_dims(&self, dim: usize) -> Result<Layout, LayoutError> {
        if dim > self.rank() {
            return Err(LayoutError::NoSuchDim {
                dim,
                rank: self.rank() + 1,
            });
        }
        let mut bits = self.shape().bits().to_vec();
        bits.insert(dim, 0);
        self.reshape(&Shape::from_bits(&bits)?)
    }

    /// The layout of the tile broadcast to `shape`, in which some dimensions of extent 1
    /// have become larger: every thread repeats its elements in new, high register bits.
    /// (To broadcast *into* a given layout `l` without moving data, the operand should
    /// have the layout `l.broadcast_source(..)`.)
    pub fn broadcast(&self, shape: &Shape) -> Result<Layout, LayoutError> {
        self.check_broadcast(shape)?;
        let mut out = self.map_coords(shape.clone(), |c| c)?;
        let grown = |&d: &usize| self.shape().dim_bits(d) < shape.dim_bits(d);
        let order = shape.row_major_order();
        let units: Vec<u64> = order
            .iter()
            .copied()
            .filter(grown)
            .flat_map(|d| unit_vectors(shape, d))
            .collect();
        out = out.with_bases(In::Register, |r| r.extend(units))?;
        Ok(out)
    }

    /// The layout that a tile of shape `source` must have so that broadcasting it to
    /// this layout's tile moves nothing: the coordinates along broadcast dimensions
    /// are dropped.
    pub fn broadcast_source(&self, source: &Shape) -> Result<Layout, LayoutError> {
        Layout::new(source.clone(), Default::default())?.check_broadcast(self.shape())?;
        self.map_coords(source.clone(), |mut c| {
            for (d, x) in c.iter_mut().enumerate() {
                *x &= source.extent(d) - 1;
            }
            c
        })
    }

    fn check_broadcast(&self, shape: &Shape) -> Result<(), LayoutError> {
        let fits = self.rank() == shape.rank()
            && self
                .shape()
                .bits()
                .iter()
                .zip(shape.bits())
                .all(|(a, b)| a == b || *a == 0);
        if fits {
            return Ok(());
        }
        Err(LayoutError::ShapeMismatch {
            left: self.shape().to_string(),
            right: shape.to_string(),
        })
    }

    /// The layout of `copies` tiles of this layout joined along `dim`: one copy after
    /// the other in each thread's registers.
    pub fn concat(&self, dim: usize, copies: u64) -> Result<Layout, LayoutError> {
        log2("number of tiles joined", copies)?;
        self.product(&Layout::identity_1d(
            In::Register,
            copies,
            dim,
            self.rank(),
        )?)
    }

    /// The layout of a tile of the shape `whole`, each of whose parts lies like this one: registers step between them.
    pub fn repeated(&self, whole: &Shape) -> Result<Layout, LayoutError> {
        (0..whole.rank()).try_fold(self.clone(), |layout, dim| {
            layout.concat(dim, whole.extent(dim) / self.shape().extent(dim))
        })
    }

    /// This layout with register bits dropped that make no difference or repeat other
    /// bits: each thread holds each of its elements once. Also the mask of the register
    /// bits dropped (in this layout's numbering).
    pub fn without_redundant_registers(&self) -> (Layout, u64) {
        let free = self.matrix(&[In::Register]).free_columns();
        let mut bases = self.all_bases().clone();
        let mut at = 0;
        bases[In::Register as usize].retain(|_| {
            at += 1;
            free >> (at - 1) & 1 == 0
        });
        (
            Layout::new(self.shape().clone(), bases).expect("fewer bases than before"),
            free,
        )
    }

    /// The quotient `Q` with `self = tile.product(Q)`, if there is one: `self`'s low
    /// input bits are those of `tile`, and nothing else moves inside the tile.
    ///
    /// ```
    /// use tilec::layout::{In, Layout};
    /// let regs = Layout::identity_1d(In::Register, 4, 0, 1).unwrap();
    /// let lanes = Layout::identity_1d(In::Lane, 32, 0, 1).unwrap();
    /// let both = regs.product(&lanes).unwrap();
    /// assert_eq!(both.divide(&regs), Some(lanes));
    /// assert_eq!(both.divide(&Layout::identity_1d(In::Lane, 2, 0, 1).unwrap()), None);
    /// ```
    pub fn divide(&self, tile: &Layout) -> Option<Layout> {
        let (whole, part) = (self.shape(), tile.shape());
        if whole.rank() != part.rank() || whole.bits().iter().zip(part.bits()).any(|(w, p)| w < p) {
            return None;
        }
        let bits: Vec<u8> = whole
            .bits()
            .iter()
            .zip(part.bits())
            .map(|(w, p)| w - p)
            .collect();
        let rest = Shape::from_bits(&bits).ok()?;
        let mut quotient: [Vec<u64>; 5] = Default::default();
        for i in In::ALL {
            let (mine, theirs) = (self.bases(i), tile.bases(i));
            let (low, high) = mine.split_at_checked(theirs.len())?;
            let same = |(a, b): (&u64, &u64)| whole.unflatten(*a) == part.unflatten(*b);
            if !low.iter().zip(theirs).all(same) {
                return None;
            }
            for &v in high {
                let mut c = whole.unflatten(v);
                for (d, x) in c.iter_mut().enumerate() {
                    if *x & low_mask(part.dim_bits(d)) != 0 {
                        return None;
                    }
                    *x >>= part.dim_bits(d);
                }
                quotient[i as usize].push(rest.flatten(&c));
            }
        }
        Layout::new(rest, quotient).ok()
    }

    /// Applies `f` to the coordinates of every basis vector; the results are
    /// coordinates in `shape`.
    fn map_coords(
        &self,
        shape: Shape,
        f: impl Fn(super::shape::Coords) -> super::shape::Coords,
    ) -> Result<Layout, LayoutError> {
        let bases = self.all_bases().clone().map(|dim| {
            dim.into_iter()
                .map(|v| shape.flatten(&f(self.shape().unflatten(v))))
                .collect()
        });
        Layout::new(shape, bases)
    }

    /// This layout with `change` made to the basis vectors of `input`.
    pub(super) fn with_bases(
        &self,
        input: In,
        change: impl FnOnce(&mut Vec<u64>),
    ) -> Result<Layout, LayoutError> {
        let mut bases = self.all_bases().clone();
        change(&mut bases[input as usize]);
        Layout::new(self.shape().clone(), bases)
    }
}

fn unit_vectors(shape: &Shape, dim: usize) -> impl Iterator<Item = u64> {
    let shift = shape.dim_shift(dim);
    (0..shape.dim_bits(dim)).map(move |b| 1 << (shift + b))
}
