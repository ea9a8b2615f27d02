//! Which lanes and columns hold D (PTX ISA 9.7.16.10.5, figures 205-218; CuTe's `tmem_frg` says the same in formulas).

use super::instruction::Instruction;

/// Lanes of one block that hold a range of D's columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// lane, and the row of the block's part of A and D that it holds
    pub lanes: Vec<(usize, usize)>,
    /// first column of D
    pub first_n: usize,
    /// columns
    pub count: usize,
}

/// The layout of a product in each of its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// a lane for a row: layouts A and D
    Full,
    /// rows in the first or second 16 lanes of each quarter: layouts C and F
    Half,
    /// 64 rows, the two halves of the columns one below the other: layouts B and E
    TwoByTwo,
    /// 32 rows, the four quarters of the columns one below the other: layout G
    OneByFour,
}

impl Layout {
    /// The layout that an instruction uses.
    pub fn of(i: &Instruction, pair: bool, stationary: bool) -> Layout {
        match (i.m, pair, stationary) {
            (32, ..) => Layout::OneByFour,
            (64, _, true) => Layout::TwoByTwo,
            (64, _, false) => Layout::Half,
            (128, true, _) if i.sparse => Layout::Half,
            (128, true, _) => Layout::TwoByTwo,
            _ => Layout::Full,
        }
    }

    /// Its parts; `offset` is the lane of D's address, 0 or 16 for [`Layout::Half`].
    pub fn segments(self, n: usize, offset: usize) -> Vec<Segment> {
        let parts = match self {
            Layout::Full | Layout::Half => 1,
            Layout::TwoByTwo => 2,
            Layout::OneByFour => 4,
        };
        let count = n / parts;
        let rows = match self {
            Layout::Full => 128,
            Layout::Half | Layout::TwoByTwo => 64,
            Layout::OneByFour => 32,
        };
        (0..parts)
            .map(|part| Segment {
                lanes: (0..rows)
                    .map(|row| match self {
                        Layout::Half => (row % 16 + row / 16 * 32 + offset, row),
                        _ => (part * rows + row, row),
                    })
                    .collect(),
                first_n: part * count,
                count,
            })
            .collect()
    }

    /// Columns that D takes.
    pub fn columns(self, n: usize) -> usize {
        match self {
            Layout::Full | Layout::Half => n,
            Layout::TwoByTwo => n / 2,
            Layout::OneByFour => n / 4,
        }
    }

    /// Groups of 16 lanes that hold D (and A, where it lies in tensor memory).
    pub fn groups(self, offset: usize) -> u8 {
        match (self, offset) {
            (Layout::Half, 0) => 0b0101_0101,
            (Layout::Half, _) => 0b1010_1010,
            _ => u8::MAX,
        }
    }
}
