//! `tcgen05.cp` and `.shift` in flight.

use super::descriptor::Descriptor;
use super::memory::Place;
use crate::program::tensor::{FillShape, Unpack};
use std::ops::Range;

/// A copy in flight. Each block of a pair copies from its own shared memory.
#[derive(Debug)]
pub struct Fill {
    /// blocks that it concerns
    pub blocks: Vec<usize>,
    pub(super) shape: FillShape,
    pub(super) unpack: Option<Unpack>,
    pub(super) place: Place,
    pub(super) source: Descriptor,
}

impl FillShape {
    pub(super) fn rows(self) -> usize {
        match self {
            FillShape::L128B256 | FillShape::L128B128 => 128,
            FillShape::L4B256 => 4,
            FillShape::L64Pairs02 | FillShape::L64Pairs01 => 64,
            FillShape::L32Four => 32,
        }
    }

    /// Bytes of a row in tensor memory.
    pub(super) fn bytes(self) -> usize {
        match self {
            FillShape::L128B256 | FillShape::L4B256 => 32,
            _ => 16,
        }
    }

    /// Lanes, from the address, that a row goes to.
    pub(super) fn lanes(self, row: usize) -> Vec<usize> {
        match self {
            FillShape::L128B256 | FillShape::L128B128 => vec![row],
            // One lane of each quarter.
            FillShape::L4B256 => vec![32 * row],
            FillShape::L64Pairs02 => vec![row, row + 64],
            FillShape::L64Pairs01 => {
                let first = row % 32 + row / 32 * 64;
                vec![first, first + 32]
            }
            FillShape::L32Four => (0..4).map(|q| 32 * q + row).collect(),
        }
    }
}

/// A shift in flight.
#[derive(Debug)]
pub struct Shift {
    /// blocks whose tensor memory it concerns
    pub blocks: Vec<usize>,
    pub(super) place: Place,
}

/// Columns of 32 bytes.
const WIDTH: usize = 8;

impl Fill {
    /// Columns that it writes.
    pub fn columns(&self) -> Range<usize> {
        self.place.column..self.place.column + self.shape.bytes() / 4
    }
}

impl Shift {
    /// Columns that it moves.
    pub fn columns(&self) -> Range<usize> {
        self.place.column..self.place.column + WIDTH
    }
}
