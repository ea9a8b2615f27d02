//! Scale factors of `tcgen05.mma`: their columns of tensor memory, and how they lie in shared memory.
//!
//! The scale of a row and a block of K is a byte of the word in lane `row % 32` (of each quarter); rows 32 apart are in
//! neighbouring columns, and so are then the next four blocks. `tcgen05.cp.32x128b.warpx4` fills four columns from 512
//! bytes, 16 for each lane.
//!
//! Source: PTX ISA, "Block Scaling for tcgen05.mma.sync", figures of "Scale Factor A ID" and "Scale Factor B ID".

use super::shape::log2;
use super::shared::SharedLayout;
use super::{In, Layout, LayoutError, Shape};

/// Bytes that one copy brings.
pub const COPY_BYTES: u64 = 512;
/// Columns that one copy fills.
pub const COPY_COLUMNS: u64 = 4;
/// Scales in a word.
const PER_WORD: u64 = 4;
/// Lanes that hold different scales.
const LANES: u64 = 32;

/// The scales of an operand: of A's rows, or of B's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorScales {
    /// Rows of one instruction.
    pub rows: u64,
    /// Instructions along the rows.
    pub blocks: u64,
    /// Scales of a row.
    pub along_k: u64,
}

impl TensorScales {
    /// Those of a tile of so many rows, of which an instruction has at most `most`.
    pub fn new(rows: u64, most: u64, along_k: u64) -> TensorScales {
        let own = rows.min(most);
        TensorScales {
            rows: own,
            blocks: rows / own.max(1),
            along_k,
        }
    }

    /// Columns of one instruction's rows, with all their scales.
    pub fn block_columns(&self) -> u64 {
        self.rows / LANES * (self.along_k / PER_WORD)
    }

    /// Columns of all.
    pub fn columns(&self) -> u64 {
        self.block_columns() * self.blocks
    }

    /// Where an instruction finds its scales, `first` being the number of the first of a row: columns from the
    /// block's first one, and the byte of the word.
    pub fn select(&self, first: u64) -> (u64, u64) {
        (first / PER_WORD * (self.rows / LANES), first % PER_WORD)
    }

    /// The elements that differ in one bit of the column's number; `k_dim` is the dimension of K.
    fn column_bits(&self, shape: &Shape, k_dim: usize) -> Result<Vec<u64>, LayoutError> {
        let unsupported = |what: &str| {
            Err(LayoutError::Unsupported(format!(
                "{} scales of {} rows: {what}",
                self.along_k, self.rows
            )))
        };
        if self.along_k < PER_WORD {
            return unsupported("four of a row fill a word");
        }
        if self.rows < LANES || self.block_columns() < COPY_COLUMNS {
            return unsupported("a copy brings four columns");
        }
        let bits = |dim: usize, from: u64, to: u64| -> Result<Vec<u64>, LayoutError> {
            let (first, last) = (log2("scales", from)?, log2("scales", to)?);
            Ok((first..last).map(|b| shape.along(dim, 1 << b)).collect())
        };
        let mut all = bits(1 - k_dim, LANES, self.rows)?;
        all.extend(bits(k_dim, PER_WORD, self.along_k)?);
        all.extend(bits(1 - k_dim, self.rows, self.rows * self.blocks)?);
        Ok(all)
    }

    /// What the first bits of an offset in shared memory say: the byte, two bits of the column, the lane.
    fn first_bits(&self, shape: &Shape, k_dim: usize, columns: &[u64]) -> Vec<u64> {
        let along = |dim: usize, n: &u64| shape.along(dim, *n);
        let bytes = [1, 2].iter().map(|n| along(k_dim, n));
        let lanes = [1, 2, 4, 8, 16].iter().map(|n| along(1 - k_dim, n));
        bytes
            .chain(columns.iter().copied().take(2))
            .chain(lanes)
            .collect()
    }

    fn shape(&self, k_dim: usize) -> Result<Shape, LayoutError> {
        let mut extents = [self.rows * self.blocks; 2];
        if let Some(k) = extents.get_mut(k_dim) {
            *k = self.along_k;
        }
        Shape::new(&extents)
    }

    /// A layout in shared memory that copies bring from.
    pub fn memory(&self, k_dim: usize) -> Result<SharedLayout, LayoutError> {
        let shape = self.shape(k_dim)?;
        let columns = self.column_bits(&shape, k_dim)?;
        let mut offset = self.first_bits(&shape, k_dim, &columns);
        offset.extend(columns.iter().skip(2));
        SharedLayout::new(Layout::memory(shape, offset)?, 8)
    }

    /// Where the copies of all columns begin, in bytes, if they can bring the scales from where they lie.
    pub fn copies(&self, shared: &SharedLayout, k_dim: usize) -> Option<Vec<u64>> {
        let shape = self.shape(k_dim).ok()?;
        if *shared.shape() != shape || shared.element_bits() != 8 {
            return None;
        }
        let columns = self.column_bits(&shape, k_dim).ok()?;
        let offset = shared.layout().bases(In::Offset);
        let first = self.first_bits(&shape, k_dim, &columns);
        let rest = offset.strip_prefix(&first[..])?;
        let place = |bit: &u64| Some(COPY_BYTES << rest.iter().position(|b| b == bit)?);
        let steps: Option<Vec<u64>> = columns.iter().skip(2).map(place).collect();
        let steps = steps?;
        let copy = |i: u64| {
            let taken = steps
                .iter()
                .enumerate()
                .filter(|(bit, _)| i >> bit & 1 == 1);
            taken.map(|(_, step)| step).sum()
        };
        Some((0..1 << steps.len()).map(copy).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The word of a row and a block of K as the figures have it, and its byte in shared memory by way of a copy.
    fn check(scales: TensorScales, shared: &SharedLayout, k_dim: usize) {
        let copies = scales.copies(shared, k_dim).unwrap();
        assert_eq!(copies.len() as u64 * COPY_COLUMNS, scales.columns());
        for row in 0..scales.rows * scales.blocks {
            for k in 0..scales.along_k {
                let (words, byte) = scales.select(k);
                let within = row % scales.rows;
                let column = row / scales.rows * scales.block_columns() + words + within / 32;
                let lane = within % 32;
                let from = copies[(column / 4) as usize] + lane * 16 + column % 4 * 4 + byte;
                let at = if k_dim == 1 { [row, k] } else { [k, row] };
                assert_eq!(shared.byte_offset(&at), from);
            }
        }
    }

    #[test]
    fn copies_bring_every_scale_to_its_word() {
        for (rows, most, along_k) in [(128, 128, 4), (256, 128, 8), (256, 256, 16), (64, 256, 8)] {
            let scales = TensorScales::new(rows, most, along_k);
            for k_dim in [0, 1] {
                check(scales, &scales.memory(k_dim).unwrap(), k_dim);
            }
        }
        assert!(TensorScales::new(64, 256, 4).memory(1).is_err());
        assert!(TensorScales::new(128, 128, 2).memory(1).is_err());
    }

    /// The order that cuTile's documentation gives for packed scales: 128 rows by 4 as 32 by 4 by 4.
    #[test]
    fn packed_scales_are_copied_as_they_are() {
        let packed = Shape::new(&[2, 4, 32, 16]).unwrap();
        let memory = SharedLayout::row_major(&packed, &[3, 2, 1, 0], 8).unwrap();
        let parts = Shape::new(&[2, 4, 32, 4, 4]).unwrap();
        let layout = memory.layout().reshape(&parts).unwrap();
        let layout = layout.permute(&[0, 3, 2, 1, 4]).unwrap();
        let layout = layout.reshape(&Shape::new(&[256, 16]).unwrap()).unwrap();
        let shared = SharedLayout::new(layout, 8).unwrap();
        check(TensorScales::new(256, 256, 16), &shared, 1);
        check(TensorScales::new(256, 128, 16), &shared, 1);
        let rows = SharedLayout::row_major(&Shape::new(&[128, 4]).unwrap(), &[1, 0], 8).unwrap();
        assert_eq!(TensorScales::new(128, 128, 4).copies(&rows, 1), None);
    }
}
