//! Shared-memory layouts: row-major, and with the bytes of a row permuted (swizzled)
//! so that threads which work together hit different banks.

use super::gf2::{Matrix, low_mask};
use super::shape::log2;
use super::{In, Layout, LayoutError, Shape};

/// Base-2 logarithm of the bytes of a shared-memory bank.
pub const BANK_WORD_LOG2: u32 = 2;
/// Base-2 logarithm of the bytes that all banks serve at once.
pub const WAVEFRONT_LOG2: u32 = 7;
/// Alignment of buffers in bytes: every swizzle, which goes by the bits of addresses, repeats after as many.
pub const BUFFER_ALIGN: u64 = 1024;

/// A shared-memory layout: which tile element lies at each offset, and how wide the
/// elements are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharedLayout {
    layout: Layout,
    /// From flat index to offset.
    offset_of: Matrix,
    element_bits: u32,
}

/// The swizzles of TMA and wgmma: within each span, 16-byte chunks are permuted by
/// xor of their number with row bits, all taken from the byte address.
///
/// Source: PTX ISA, "Tensor Swizzling Modes"; CuTe's `Swizzle<B, 4, 3>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Swizzle {
    /// No permutation.
    None,
    /// Address bit 4 ^= bit 7; rows of 32 bytes, repeats after 256.
    B32,
    /// Address bits 4-5 ^= bits 7-8; rows of 64 bytes, repeats after 512.
    B64,
    /// Address bits 4-6 ^= bits 7-9; rows of 128 bytes, repeats after 1024.
    B128,
    /// Address bits 5-6 ^= bits 7-8, which keeps 32 bytes together; rows of 128 bytes, repeats after 512. Of sm_100 and later,
    /// where `tcgen05` reads `tf32` along M or N by it.
    B128Atom32,
}

impl Swizzle {
    /// Those that keep 16 bytes together, widest first, then the other one.
    pub const ALL: [Swizzle; 5] = [
        Swizzle::B128,
        Swizzle::B64,
        Swizzle::B32,
        Swizzle::None,
        Swizzle::B128Atom32,
    ];

    /// The swizzles that permute and keep 16 bytes together, widest first.
    pub const SWIZZLED: [Swizzle; 3] = [Swizzle::B128, Swizzle::B64, Swizzle::B32];

    /// Number of address bits that are permuted.
    pub fn xor_bits(self) -> u32 {
        match self {
            Swizzle::None => 0,
            Swizzle::B32 => 1,
            Swizzle::B64 | Swizzle::B128Atom32 => 2,
            Swizzle::B128 => 3,
        }
    }

    /// The lowest address bit that is permuted: what is below stays together.
    pub fn atom_bits(self) -> u32 {
        match self {
            Swizzle::B128Atom32 => 5,
            _ => 4,
        }
    }

    /// Bytes of a row: the inner extent of a TMA box. Without a swizzle, the 16 bytes of
    /// a row of wgmma's core matrix.
    pub fn span_bytes(self) -> u64 {
        1 << (self.atom_bits() + self.xor_bits())
    }

    /// The widest swizzle whose span is no wider than rows of `bytes` bytes.
    pub fn widest(bytes: u64) -> Swizzle {
        Swizzle::SWIZZLED
            .into_iter()
            .find(|s| s.span_bytes() <= bytes)
            .unwrap_or(Swizzle::None)
    }

    /// Alignment in bytes that a buffer needs for the pattern to start at its row 0.
    pub fn alignment(self) -> u64 {
        128 << self.xor_bits()
    }

    /// What the hardware does to a byte address. It is its own inverse.
    ///
    /// ```
    /// use tilec::layout::shared::Swizzle;
    /// assert_eq!(Swizzle::B128.apply(3 * 128), 3 * 128 + 3 * 16);
    /// ```
    pub fn apply(self, address: u64) -> u64 {
        let atom = self.atom_bits();
        address ^ ((address >> (7 - atom)) & (low_mask(self.xor_bits()) << atom))
    }
}

impl SharedLayout {
    /// A shared layout from a memory layout that reaches every element.
    pub fn new(layout: Layout, element_bits: u32) -> Result<SharedLayout, LayoutError> {
        log2("element bits", u64::from(element_bits))?;
        match layout.matrix(&[In::Offset]).inverse() {
            Some(offset_of) => Ok(SharedLayout {
                layout,
                offset_of,
                element_bits,
            }),
            None => Err(LayoutError::NotSurjective(layout.to_string())),
        }
    }

    /// Elements one after the other in `order` (fastest dimension first).
    pub fn row_major(
        shape: &Shape,
        order: &[usize],
        element_bits: u32,
    ) -> Result<SharedLayout, LayoutError> {
        SharedLayout::new(
            Layout::memory(shape.clone(), shape.units(order)?)?,
            element_bits,
        )
    }

    /// What TMA boxes with this swizzle leave in memory, and wgmma reads: the tile is cut
    /// along `order[0]` into strips as wide as the swizzle's span; in a strip, rows follow
    /// each other in `order`; strips follow each other. Fails if the tile is narrower than
    /// the span; see [`Swizzle::widest`].
    ///
    /// ```
    /// use tilec::layout::{Shape, shared::{SharedLayout, Swizzle}};
    /// let s = SharedLayout::strips(&Shape::new(&[8, 128]).unwrap(), &[1, 0], 16, Swizzle::B128).unwrap();
    /// // Row 1 of the second strip of 64 columns, its chunks of 8 swapped in pairs.
    /// assert_eq!(s.byte_offset(&[1, 64]), 8 * 128 + 128 + 16);
    /// ```
    pub fn strips(
        shape: &Shape,
        order: &[usize],
        element_bits: u32,
        swizzle: Swizzle,
    ) -> Result<SharedLayout, LayoutError> {
        let span = log2(
            "element bits",
            swizzle.span_bytes() * 8 / u64::from(element_bits.max(1)),
        )?;
        let inner = order.first().map_or(0, |&d| shape.dim_bits(d));
        if inner < span {
            return Err(LayoutError::Unsupported(format!(
                "a {shape} tile of {element_bits}-bit elements is narrower than the {} bytes of {swizzle:?}",
                swizzle.span_bytes()
            )));
        }
        let s = SharedLayout::plain_strips(shape, order, element_bits, span)?;
        s.with_address_swizzle(swizzle)
    }

    /// The tile cut along `order[0]` into strips of `2^span` elements, or in one where it is narrower: in a strip, rows
    /// follow each other in `order`; strips follow each other.
    pub fn plain_strips(
        shape: &Shape,
        order: &[usize],
        element_bits: u32,
        span: u32,
    ) -> Result<SharedLayout, LayoutError> {
        let mut units = shape.units(order)?;
        let inner = order.first().map_or(0, |&d| shape.dim_bits(d));
        if inner > span {
            let outer: Vec<u64> = units.drain(span as usize..inner as usize).collect();
            units.extend(outer);
        }
        SharedLayout::new(Layout::memory(shape.clone(), units)?, element_bits)
    }

    /// This layout with the hardware's swizzle applied to its byte offsets.
    pub fn with_address_swizzle(&self, swizzle: Swizzle) -> Result<SharedLayout, LayoutError> {
        let byte_bit = |bit: u32| (bit + 3).checked_sub(self.element_bits.ilog2());
        let layout = self.layout.with_bases(In::Offset, |bases| {
            for i in 0..swizzle.xor_bits() {
                if let (Some(chunk), Some(row)) =
                    (byte_bit(swizzle.atom_bits() + i), byte_bit(7 + i))
                    && (row as usize) < bases.len()
                {
                    bases[row as usize] ^= bases[chunk as usize];
                }
            }
        })?;
        SharedLayout::new(layout, self.element_bits)
    }

    /// Row-major in `order`, with the vectors of `vector` elements of each row permuted
    /// by xor with `(row / per_phase) % max_phase`. All three are powers of two.
    pub fn swizzled(
        shape: &Shape,
        order: &[usize],
        element_bits: u32,
        vector: u64,
        per_phase: u64,
        max_phase: u64,
    ) -> Result<SharedLayout, LayoutError> {
        let vector = log2("swizzle vector", vector)?;
        let per_phase = log2("rows per swizzle phase", per_phase)?;
        let phases = log2("swizzle phases", max_phase)?;
        let mut bases = shape.units(order)?;
        let row = order.first().map_or(0, |&d| shape.dim_bits(d));
        if vector + phases > row {
            return Err(LayoutError::Unsupported(format!(
                "{max_phase} swizzle phases of {} elements in a row of {}",
                1u64 << vector,
                1u64 << row
            )));
        }
        for i in 0..phases {
            let at = (row + per_phase + i) as usize;
            if at < bases.len() {
                bases[at] ^= bases[(vector + i) as usize];
            }
        }
        SharedLayout::new(Layout::memory(shape.clone(), bases)?, element_bits)
    }

    /// The map from element offsets to tile elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The same buffer without the dimensions that have one element.
    pub fn squeezed(&self) -> Result<SharedLayout, LayoutError> {
        let extents: Vec<u64> = self
            .layout
            .shape()
            .extents()
            .into_iter()
            .filter(|&n| n > 1)
            .collect();
        self.reshaped(&extents)
    }

    /// The same buffer as a tile of other extents, with the same elements row by row.
    pub fn reshaped(&self, extents: &[u64]) -> Result<SharedLayout, LayoutError> {
        SharedLayout::new(
            self.layout.reshape(&Shape::new(extents)?)?,
            self.element_bits,
        )
    }

    /// Bits of an element.
    pub fn element_bits(&self) -> u32 {
        self.element_bits
    }

    /// The tile's shape.
    pub fn shape(&self) -> &Shape {
        self.layout.shape()
    }

    /// Bytes of the whole tile.
    pub fn bytes(&self) -> u64 {
        (self.shape().elements() * u64::from(self.element_bits)).div_ceil(8)
    }

    /// The map from flat index to element offset.
    pub fn offset_of(&self) -> &Matrix {
        &self.offset_of
    }

    /// Byte offset of the element at `coords` (rounded down for elements under a byte).
    pub fn byte_offset(&self, coords: &[u64]) -> u64 {
        self.offset_of.apply(self.shape().flatten(coords)) * u64::from(self.element_bits) / 8
    }

    /// The layout of one of so many `parts` of a dimension, if the parts lie one behind the other, each aligned as a buffer
    /// is.
    pub fn part(&self, dim: usize, parts: u64) -> Option<SharedLayout> {
        let whole = self.shape();
        let cut = log2("parts", parts).ok()?;
        let bits = whole.dim_bits(dim).checked_sub(cut)?;
        let offsets = self.layout.bases(In::Offset);
        let (inside, behind) = offsets.split_at(offsets.len().checked_sub(cut as usize)?);
        let in_turn = (bits..).zip(behind);
        let mut in_turn = in_turn.map(|(bit, &at)| at == whole.along(dim, 1 << bit));
        let mut extents = whole.extents();
        *extents.get_mut(dim)? = 1 << bits;
        let shape = Shape::new(&extents).ok()?;
        let inner = inside.iter().map(|&at| whole.unflatten(at));
        let inner: Option<Vec<u64>> = inner
            .map(|at| (at.get(dim)? >> bits == 0).then(|| shape.flatten(&at)))
            .collect();
        let part = SharedLayout::new(Layout::memory(shape, inner?).ok()?, self.element_bits);
        let part = part.ok().filter(|p| p.bytes().is_multiple_of(BUFFER_ALIGN));
        part.filter(|_| in_turn.all(|t| t))
    }

    /// The same memory seen as the tile whose dimension `i` is this tile's `perm[i]`.
    pub fn permute(&self, perm: &[usize]) -> Result<SharedLayout, LayoutError> {
        SharedLayout::new(self.layout.permute(perm)?, self.element_bits)
    }

    /// The same memory seen as a tile of another shape, row-major.
    pub fn reshape(&self, shape: &Shape) -> Result<SharedLayout, LayoutError> {
        SharedLayout::new(self.layout.reshape(shape)?, self.element_bits)
    }

    /// Where a distributed layout's places lie: the map from input bits (register, lane,
    /// warp, block) to element offsets.
    pub fn offsets_from(&self, distributed: &Layout) -> Result<Matrix, LayoutError> {
        if distributed.shape() != self.shape() {
            return Err(self.layout.mismatch(distributed));
        }
        let inputs = [In::Register, In::Lane, In::Warp, In::Block];
        Ok(self.offset_of.compose(&distributed.matrix(&inputs)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row and column to byte offset, from the description of the swizzle modes: chunk
    /// `c` of 16 bytes of a 128-byte line `l` goes to chunk `c ^ (l % 8)` (restricted to
    /// the mode's bits).
    fn strip_offset(row: u64, col: u64, rows: u64, bytes: u64, swizzle: Swizzle) -> u64 {
        let span = swizzle.span_bytes();
        let strip = col * bytes / span;
        let linear = strip * rows * span + row * span + col * bytes % span;
        let (line, chunk, byte) = (linear / 128, linear / 16 % 8, linear % 16);
        let pattern = (line % 8) & (span / 16 - 1);
        line * 128 + (chunk ^ pattern) * 16 + byte
    }

    #[test]
    fn strips_are_the_hardware_swizzles() {
        for (bits, extents) in [
            (16u32, [64u64, 128u64]),
            (32, [16, 64]),
            (8, [8, 256]),
            (16, [4, 64]),
        ] {
            let bytes = u64::from(bits) / 8;
            for swizzle in Swizzle::SWIZZLED {
                let s =
                    SharedLayout::strips(&Shape::new(&extents).unwrap(), &[1, 0], bits, swizzle)
                        .unwrap();
                let t = SharedLayout::strips(
                    &Shape::new(&[extents[1], extents[0]]).unwrap(),
                    &[0, 1],
                    bits,
                    swizzle,
                )
                .unwrap();
                assert_eq!(t.permute(&[1, 0]).unwrap(), s);
                for (row, col) in (0..extents[0]).flat_map(|r| (0..extents[1]).map(move |c| (r, c)))
                {
                    let expected = strip_offset(row, col, extents[0], bytes, swizzle);
                    assert_eq!(
                        s.byte_offset(&[row, col]),
                        expected,
                        "{swizzle:?} {row} {col}"
                    );
                }
            }
        }
    }

    #[test]
    fn generic_swizzle_permutes_vectors_of_a_row() {
        for (vector, per_phase, max_phase) in
            [(8, 1, 8), (4, 2, 4), (8, 4, 2), (2, 1, 16), (1, 1, 1)]
        {
            let s = SharedLayout::swizzled(
                &Shape::new(&[64, 64]).unwrap(),
                &[1, 0],
                16,
                vector,
                per_phase,
                max_phase,
            )
            .unwrap();
            for (row, col) in (0..64).flat_map(|r| (0..64).map(move |c| (r, c))) {
                let phase = (row / per_phase) % max_phase;
                let permuted = ((col / vector) ^ phase) * vector + col % vector;
                assert_eq!(s.byte_offset(&[row, col]), (row * 64 + permuted) * 2);
            }
        }
        assert!(
            SharedLayout::swizzled(&Shape::new(&[64, 8]).unwrap(), &[1, 0], 16, 8, 1, 2).is_err()
        );
    }

    #[test]
    fn parts_lie_behind_each_other_where_strips_do() {
        let strips = |extents: &[u64], bits| {
            let shape = Shape::new(extents).unwrap();
            SharedLayout::strips(&shape, &[1, 0], bits, Swizzle::B128).unwrap()
        };
        for (columns, bits, parts) in [(256, 16, 4), (256, 16, 2), (128, 32, 4), (256, 8, 2)] {
            let part = strips(&[128, columns], bits).part(1, parts).unwrap();
            let own = columns / parts;
            let bytes = u64::from(bits) / 8;
            for (row, col) in (0..128).flat_map(|r| (0..columns).map(move |c| (r, c))) {
                let at = part.byte_offset(&[row, col % own]);
                let expected = strip_offset(row, col, 128, bytes, Swizzle::B128);
                assert_eq!(
                    col / own * part.bytes() + at,
                    expected,
                    "{columns} {row} {col}"
                );
            }
        }
        // Half a strip, rows of strips, and parts that are not aligned.
        assert!(strips(&[128, 256], 8).part(1, 4).is_none());
        assert!(strips(&[128, 256], 16).part(0, 2).is_none());
        assert!(strips(&[4, 128], 16).part(1, 2).is_none());
    }

    #[test]
    fn hardware_swizzle_is_its_own_inverse() {
        for swizzle in Swizzle::SWIZZLED {
            for address in 0..4096 {
                assert_eq!(swizzle.apply(swizzle.apply(address)), address);
                assert_eq!(
                    swizzle.apply(address + swizzle.alignment()),
                    swizzle.apply(address) + swizzle.alignment()
                );
            }
        }
    }

    #[test]
    fn memory_must_hold_every_element_once() {
        let shape = Shape::new(&[4]).unwrap();
        assert!(SharedLayout::new(Layout::memory(shape.clone(), vec![1]).unwrap(), 16).is_err());
        assert!(SharedLayout::new(Layout::memory(shape, vec![1, 2, 3]).unwrap(), 16).is_err());
    }
}
