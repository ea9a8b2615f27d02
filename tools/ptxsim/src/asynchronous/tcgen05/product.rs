//! A `tcgen05.mma` in flight.

use super::instruction::Instruction;
use super::layout::Layout;
use super::memory::Place;
use super::operands::SharedMatrix;
use super::scale::Factors;
use super::zero_columns::ZeroColumns;
use crate::program::tensor::MmaKind;
use std::ops::Range;

/// A, where it lies.
#[derive(Debug, Clone, Copy)]
pub enum Left {
    /// each block has its rows
    Shared(SharedMatrix),
    /// in the lanes of D
    Tensor(Place),
}

/// A product in flight.
#[derive(Debug)]
pub struct Product {
    /// its blocks, the even one first
    pub blocks: Vec<usize>,
    /// shape and types
    pub instruction: Instruction,
    /// lanes of D
    pub layout: Layout,
    /// address of D
    pub d: Place,
    /// A
    pub a: Left,
    /// B; each block of a pair has half of the columns
    pub b: SharedMatrix,
    /// metadata of a sparse A
    pub metadata: Option<Place>,
    /// scale factors of A and B
    pub scales: Option<(Factors, Factors)>,
    /// lanes that stay as they are, a bit for each, 128 per block
    pub disabled: Vec<u128>,
    /// D is added
    pub accumulate: bool,
    /// … after division by this power of two
    pub scale_d: u32,
    /// A's rows move up by one, but for the last
    pub shift_a: bool,
    /// `.ws` columns that count as zero
    pub zero: Option<ZeroColumns>,
}

impl Product {
    /// For statistics and the picture.
    pub fn multiply_adds(&self) -> usize {
        self.instruction.m * self.instruction.n * self.instruction.k
    }

    /// Columns of D.
    pub fn d_columns(&self) -> Range<usize> {
        self.d.column..self.d.column + self.layout.columns(self.instruction.n)
    }

    /// Columns of what it reads in tensor memory besides D, with groups of 16 lanes and a name.
    pub fn reads(&self) -> Vec<(Range<usize>, u8, &'static str)> {
        let mut reads = Vec::new();
        if let Left::Tensor(place) = self.a {
            let columns = place.column..place.column + self.instruction.a_bytes() / 4;
            reads.push((columns, self.layout.groups(place.lane), "A"));
        }
        if let Some(place) = self.metadata {
            let wide = match self.instruction.kind {
                MmaKind::F16 | MmaKind::Tf32 => {
                    self.instruction.selector..self.instruction.selector + 1
                }
                _ => 0..2,
            };
            let columns = place.column + wide.start..place.column + wide.end;
            reads.push((columns, self.layout.groups(place.lane), "metadata"));
        }
        if let Some((a, b)) = &self.scales {
            reads.push((a.columns(), u8::MAX, "scale factors of A"));
            reads.push((b.columns(), u8::MAX, "scale factors of B"));
        }
        reads
    }

    /// All columns that it touches.
    pub fn columns(&self) -> Vec<Range<usize>> {
        let reads = self.reads().into_iter().map(|(columns, ..)| columns);
        reads.chain([self.d_columns()]).collect()
    }
}
