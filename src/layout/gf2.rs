//! Matrices and subspaces over GF(2).
//!
//! A vector is a `u64`, bit `i` its component `i`; addition is xor. A [`Matrix`]
//! is stored by columns: column `i` is the image of input bit `i`. A [`Subspace`]
//! is kept in reduced echelon form, so equal subspaces compare equal.

use smallvec::SmallVec;

/// As many vectors as bases of tiles have: they need no memory of their own.
type Few<T> = SmallVec<[T; 16]>;

/// The bits set in `x`, lowest first.
pub fn ones(mut x: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (x != 0).then(|| {
            let bit = x.trailing_zeros();
            x &= x - 1;
            bit
        })
    })
}

/// A linear map from `cols()` input bits to `rows()` output bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Matrix {
    rows: u32,
    cols: Vec<u64>,
}

impl Matrix {
    /// The map that sends input bit `i` to `cols[i]`.
    ///
    /// # Panics
    /// If there are more than 64 rows or columns, or a column has bits beyond `rows`.
    pub fn new(rows: u32, cols: Vec<u64>) -> Matrix {
        assert!(
            rows <= 64 && cols.len() <= 64,
            "{rows}x{} matrix is too large",
            cols.len()
        );
        let mask = low_mask(rows);
        assert!(
            cols.iter().all(|c| c & !mask == 0),
            "column outside {rows} rows"
        );
        Matrix { rows, cols }
    }

    /// The identity on `n` bits.
    pub fn identity(n: u32) -> Matrix {
        Matrix::new(n, (0..n).map(|i| 1 << i).collect())
    }

    /// The zero map from `cols` bits to `rows` bits.
    pub fn zero(rows: u32, cols: u32) -> Matrix {
        Matrix::new(rows, vec![0; cols as usize])
    }

    /// Number of output bits.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Number of input bits.
    pub fn cols(&self) -> u32 {
        self.cols.len() as u32
    }

    /// Images of the input bits.
    pub fn columns(&self) -> &[u64] {
        &self.cols
    }

    /// The image of `x`. Bits of `x` beyond the inputs are an error of the caller.
    ///
    /// ```
    /// use tilec::layout::gf2::Matrix;
    /// assert_eq!(Matrix::new(2, vec![1, 3]).apply(0b11), 0b10);
    /// ```
    pub fn apply(&self, x: u64) -> u64 {
        debug_assert!(x & !low_mask(self.cols()) == 0, "input outside the matrix");
        ones(x).fold(0, |y, i| y ^ self.cols[i as usize])
    }

    /// The map `x ↦ self(inner(x))`.
    pub fn compose(&self, inner: &Matrix) -> Matrix {
        assert_eq!(
            self.cols(),
            inner.rows,
            "composition of maps that do not meet"
        );
        Matrix::new(
            self.rows,
            inner.cols.iter().map(|&c| self.apply(c)).collect(),
        )
    }

    /// Rows as columns.
    pub fn transpose(&self) -> Matrix {
        let column = |r: u32| {
            self.cols
                .iter()
                .enumerate()
                .fold(0, |acc, (i, c)| acc | (c >> r & 1) << i)
        };
        Matrix::new(self.cols(), (0..self.rows).map(column).collect())
    }

    /// `self` beside `right`: inputs of both, `self`'s first.
    pub fn beside(&self, right: &Matrix) -> Matrix {
        assert_eq!(
            self.rows, right.rows,
            "matrices beside each other need equal rows"
        );
        Matrix::new(
            self.rows,
            self.cols.iter().chain(&right.cols).copied().collect(),
        )
    }

    /// The block-diagonal sum: inputs and outputs of both, `self`'s in the low bits.
    ///
    /// ```
    /// use tilec::layout::gf2::Matrix;
    /// let sum = Matrix::identity(1).direct_sum(&Matrix::zero(1, 1));
    /// assert_eq!(sum, Matrix::new(2, vec![1, 0]));
    /// ```
    pub fn direct_sum(&self, high: &Matrix) -> Matrix {
        let shifted = high.cols.iter().map(|c| c << self.rows);
        Matrix::new(
            self.rows + high.rows,
            self.cols.iter().copied().chain(shifted).collect(),
        )
    }

    /// The columns `from..to` as a map of their own.
    pub fn columns_range(&self, from: u32, to: u32) -> Matrix {
        Matrix::new(self.rows, self.cols[from as usize..to as usize].to_vec())
    }

    /// The rows `from..to` as a map of their own.
    pub fn rows_range(&self, from: u32, to: u32) -> Matrix {
        let mask = low_mask(to - from);
        Matrix::new(
            to - from,
            self.cols
                .iter()
                .map(|c| c.checked_shr(from).unwrap_or(0) & mask)
                .collect(),
        )
    }

    /// Dimension of the image.
    pub fn rank(&self) -> u32 {
        self.image().dim()
    }

    /// The image, a subspace of the outputs.
    pub fn image(&self) -> Subspace {
        Subspace::span(self.rows, &self.cols)
    }

    /// The inputs that map to zero.
    ///
    /// ```
    /// use tilec::layout::gf2::Matrix;
    /// assert_eq!(Matrix::new(1, vec![1, 1]).kernel().basis(), &[0b11]);
    /// ```
    pub fn kernel(&self) -> Subspace {
        Subspace::span(self.cols(), &Elimination::new(&self.cols).relations)
    }

    /// One `x` with `self(x) = y`, if there is any. Input bits whose column depends
    /// on the columns before it are 0 in the answer: low inputs are preferred.
    pub fn solve(&self, y: u64) -> Option<u64> {
        Elimination::new(&self.cols).solve(y)
    }

    /// Input bits whose columns depend on the columns before them.
    ///
    /// ```
    /// use tilec::layout::gf2::Matrix;
    /// assert_eq!(Matrix::new(2, vec![1, 0, 1, 2]).free_columns(), 0b0110);
    /// ```
    pub fn free_columns(&self) -> u64 {
        let relations = Elimination::new(&self.cols).relations;
        relations
            .iter()
            .fold(0, |mask, r| mask | 1 << (63 - r.leading_zeros()))
    }

    /// A map `R` with `self ∘ R = identity`, if the image is everything. Free input
    /// bits (see [`Matrix::free_columns`]) are 0 in its image.
    pub fn right_inverse(&self) -> Option<Matrix> {
        self.preimage_of(&Matrix::identity(self.rows))
    }

    /// A map `X` with `self ∘ X = target`, if the image of `self` contains that of `target`.
    pub fn preimage_of(&self, target: &Matrix) -> Option<Matrix> {
        let elimination = Elimination::new(&self.cols);
        let cols: Option<Vec<u64>> = target.cols.iter().map(|&y| elimination.solve(y)).collect();
        Some(Matrix::new(self.cols(), cols?))
    }

    /// The inverse, if the map is a bijection.
    ///
    /// ```
    /// use tilec::layout::gf2::Matrix;
    /// let m = Matrix::new(2, vec![0b11, 0b10]);
    /// assert_eq!(m.compose(&m.inverse().unwrap()), Matrix::identity(2));
    /// assert_eq!(Matrix::new(2, vec![1, 1]).inverse(), None);
    /// ```
    pub fn inverse(&self) -> Option<Matrix> {
        (self.rows == self.cols())
            .then(|| self.right_inverse())
            .flatten()
    }
}

/// A subspace of GF(2)^`width`, by its reduced echelon basis (ascending leading bits).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subspace {
    width: u32,
    basis: Few<u64>,
}

impl Subspace {
    /// The subspace that holds only zero.
    pub fn empty(width: u32) -> Subspace {
        Subspace {
            width,
            basis: Few::new(),
        }
    }

    /// Everything reachable by xor of `vectors`.
    pub fn span(width: u32, vectors: &[u64]) -> Subspace {
        let mut s = Subspace::empty(width);
        for &v in vectors {
            s.insert(v);
        }
        s
    }

    /// Dimension.
    pub fn dim(&self) -> u32 {
        self.basis.len() as u32
    }

    /// The reduced echelon basis, by ascending leading bit.
    pub fn basis(&self) -> &[u64] {
        &self.basis
    }

    /// The representative of `v` modulo this subspace (zero if `v` is in it).
    pub fn reduce(&self, v: u64) -> u64 {
        self.basis
            .iter()
            .rev()
            .fold(v, |v, &b| if v >> leading(b) & 1 == 1 { v ^ b } else { v })
    }

    /// Whether `v` is in the subspace.
    pub fn contains(&self, v: u64) -> bool {
        self.reduce(v) == 0
    }

    /// Adds `v`; true if that made the subspace larger.
    pub fn insert(&mut self, v: u64) -> bool {
        debug_assert!(v & !low_mask(self.width) == 0);
        let v = self.reduce(v);
        if v == 0 {
            return false;
        }
        for b in &mut self.basis {
            if *b >> leading(v) & 1 == 1 {
                *b ^= v;
            }
        }
        let at = self.basis.partition_point(|&b| b < v);
        self.basis.insert(at, v);
        true
    }

    /// The smallest subspace holding both.
    pub fn sum(&self, other: &Subspace) -> Subspace {
        let mut s = self.clone();
        for &v in &other.basis {
            s.insert(v);
        }
        s
    }

    /// The vectors in both.
    ///
    /// ```
    /// use tilec::layout::gf2::Subspace;
    /// let a = Subspace::span(3, &[1, 2]);
    /// let b = Subspace::span(3, &[3, 4]);
    /// assert_eq!(a.intersection(&b).basis(), &[3]);
    /// ```
    pub fn intersection(&self, other: &Subspace) -> Subspace {
        let both: Few<u64> = self.basis.iter().chain(&other.basis).copied().collect();
        // A relation between the two bases is a vector written in each of them.
        let mine = low_mask(self.dim());
        let common: Few<u64> = Elimination::new(&both)
            .relations
            .iter()
            .map(|r| ones(r & mine).fold(0, |v, i| v ^ self.basis[i as usize]))
            .collect();
        Subspace::span(self.width, &common)
    }

    /// Vectors from `candidates`, in order, that extend this subspace to its sum
    /// with all of them: a basis of a complement.
    pub fn extend_from(&self, candidates: &[u64]) -> Vec<u64> {
        let mut s = self.clone();
        candidates
            .iter()
            .copied()
            .filter(|&v| s.insert(v))
            .collect()
    }

    /// Unit vectors that together with this subspace span everything: the lowest that do. A unit is made of lower ones
    /// and a vector of the subspace exactly if it is the leading bit of one.
    pub fn complement_units(&self) -> Vec<u64> {
        let leading = self.basis.iter().fold(0, |all, &b| all | 1 << leading(b));
        ones(low_mask(self.width) & !leading)
            .map(|i| 1 << i)
            .collect()
    }
}

/// A mask of the low `n` bits.
pub fn low_mask(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

fn leading(v: u64) -> u32 {
    63 - v.leading_zeros()
}

/// Gaussian elimination that remembers how each pivot is made of the columns.
struct Elimination {
    /// (reduced vector, which columns xor to it), one per leading bit.
    pivots: Few<(u64, u64)>,
    /// Sets of columns that xor to zero; the highest column of each is a free one.
    relations: Few<u64>,
}

impl Elimination {
    fn new(cols: &[u64]) -> Elimination {
        let mut e = Elimination {
            pivots: Few::new(),
            relations: Few::new(),
        };
        for (i, &c) in cols.iter().enumerate() {
            let (rest, made_of) = e.reduce(c);
            let made_of = made_of | 1 << i;
            if rest == 0 {
                e.relations.push(made_of);
            } else {
                let at = e.pivots.partition_point(|p| p.0 > rest);
                e.pivots.insert(at, (rest, made_of));
            }
        }
        e
    }

    /// What is left of `v` after taking out pivots, and the columns taken out.
    fn reduce(&self, v: u64) -> (u64, u64) {
        self.pivots.iter().fold((v, 0), |(v, made_of), &(p, cols)| {
            if v >> leading(p) & 1 == 1 {
                (v ^ p, made_of ^ cols)
            } else {
                (v, made_of)
            }
        })
    }

    fn solve(&self, y: u64) -> Option<u64> {
        let (rest, x) = self.reduce(y);
        (rest == 0).then_some(x)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matrix() -> impl Strategy<Value = Matrix> {
        (0u32..8, 0usize..8).prop_flat_map(|(rows, cols)| {
            proptest::collection::vec(0..1u64 << rows, cols).prop_map(move |c| Matrix::new(rows, c))
        })
    }

    /// Every vector in the span of `vectors`, by enumeration.
    fn all_of(vectors: &[u64]) -> std::collections::BTreeSet<u64> {
        (0..1u64 << vectors.len())
            .map(|x| ones(x).fold(0, |v, i| v ^ vectors[i as usize]))
            .collect()
    }

    proptest! {
        #[test]
        fn rank_and_kernel_count_images_and_zeros(m in matrix()) {
            let n = 1u64 << m.cols();
            let images: std::collections::BTreeSet<u64> = (0..n).map(|x| m.apply(x)).collect();
            prop_assert_eq!(images.len(), 1 << m.rank());
            let zeros: std::collections::BTreeSet<u64> = (0..n).filter(|&x| m.apply(x) == 0).collect();
            prop_assert_eq!(all_of(m.kernel().basis()), zeros);
            prop_assert_eq!(m.free_columns().count_ones(), m.kernel().dim());
        }

        #[test]
        fn solve_finds_exactly_what_enumeration_finds(m in matrix(), y in 0u64..128) {
            let y = y & low_mask(m.rows());
            let any = (0..1u64 << m.cols()).any(|x| m.apply(x) == y);
            let found = m.solve(y);
            prop_assert_eq!(found.is_some(), any);
            if let Some(x) = found {
                prop_assert_eq!(m.apply(x), y);
                prop_assert_eq!(x & m.free_columns(), 0);
            }
        }

        #[test]
        fn right_inverse_inverts(m in matrix()) {
            match m.right_inverse() {
                Some(r) => prop_assert_eq!(m.compose(&r), Matrix::identity(m.rows())),
                None => prop_assert!(m.rank() < m.rows()),
            }
        }

        #[test]
        fn composition_is_associative_and_transposes_backwards(a in matrix(), b in matrix(), c in matrix()) {
            // Fit the shapes by cutting b and c down to what meets.
            let b = Matrix::new(a.cols(), b.columns().iter().map(|v| v & low_mask(a.cols())).collect());
            let c = Matrix::new(b.cols(), c.columns().iter().map(|v| v & low_mask(b.cols())).collect());
            prop_assert_eq!(a.compose(&b).compose(&c), a.compose(&b.compose(&c)));
            prop_assert_eq!(a.compose(&b).transpose(), b.transpose().compose(&a.transpose()));
            prop_assert_eq!(a.transpose().transpose(), a.clone());
        }

        #[test]
        fn intersection_and_sum_are_those_of_the_sets(a in proptest::collection::vec(0u64..64, 0..5), b in proptest::collection::vec(0u64..64, 0..5)) {
            let (sa, sb) = (Subspace::span(6, &a), Subspace::span(6, &b));
            let common: std::collections::BTreeSet<u64> = all_of(&a).intersection(&all_of(&b)).copied().collect();
            prop_assert_eq!(all_of(sa.intersection(&sb).basis()), common);
            let union: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(sa.sum(&sb), Subspace::span(6, &union));
            let units: Vec<u64> = (0..6).map(|i| 1 << i).collect();
            prop_assert_eq!(sa.complement_units(), sa.extend_from(&units));
            prop_assert_eq!(sa.dim() as usize + sa.complement_units().len(), 6);
        }

        #[test]
        fn direct_sum_acts_on_each_half(a in matrix(), b in matrix(), x in 0u64..1 << 16) {
            let s = a.direct_sum(&b);
            let x = x & low_mask(s.cols());
            let (lo, hi) = (x & low_mask(a.cols()), x >> a.cols());
            prop_assert_eq!(s.apply(x), a.apply(lo) | b.apply(hi) << a.rows());
        }
    }
}
