//! Scale factors in tensor memory (PTX ISA 9.7.16.10.7, figures 231-258; CuTe's `tmem_sf_frg`).
//!
//! The scales of row r lie in lane r mod 32 of every quarter, in the word of column r / 32; its bytes are those of
//! neighbouring blocks of k. Each quarter of the lanes of D uses its own copy.

use super::instruction::Scaling;
use super::memory::{Place, TensorMemory};
use crate::exec::fault::Trap;
use crate::num::format::{E4M3, scale};

/// Scales of A or B.
#[derive(Debug, Clone, Copy)]
pub struct Factors {
    /// first column
    pub place: Place,
    /// rows of A, or columns of B, that a quarter of the lanes needs
    pub rows: usize,
    /// byte of the first
    pub first: usize,
    /// how many per row
    pub count: usize,
    /// powers of two, else positive e4m3
    pub powers: bool,
    /// "A" or "B"
    pub name: &'static str,
}

impl Factors {
    /// Factors of one operand.
    pub fn new(place: Place, rows: usize, scaling: &Scaling, of_a: bool) -> Factors {
        let (a, b) = scaling.first;
        Factors {
            place,
            rows,
            first: if of_a { a } else { b },
            count: scaling.count,
            powers: scaling.powers,
            name: if of_a { "A" } else { "B" },
        }
    }

    /// Columns that they take.
    pub fn columns(&self) -> std::ops::Range<usize> {
        let words = (self.first + self.count).div_ceil(4);
        self.place.column..self.place.column + words * self.rows.div_ceil(32)
    }

    /// Scale `index` of a row, for lanes of `quarter`.
    pub fn get(
        &self,
        memory: &TensorMemory,
        quarter: usize,
        row: usize,
        index: usize,
    ) -> Result<f32, Trap> {
        let byte = self.first + index;
        let column = self.place.column + byte / 4 * self.rows.div_ceil(32) + row / 32;
        let lane = 32 * quarter + row % 32;
        let Some(word) = memory.get(lane, column) else {
            return Err(Trap::new(format!(
                "tcgen05.mma reads the scale factor of row {row} of {} at lane {lane}, column {column} of tensor memory, \
                 where nothing has been written; scale factors must lie in all four quarters (tcgen05.cp.32x128b.warpx4)",
                self.name
            )));
        };
        let code = word >> (8 * (byte % 4)) & 0xff;
        Ok(match (self.powers, code) {
            (true, 255) => f32::NAN,
            (true, code) => scale(1.0, code as i32 - 127) as f32,
            (false, code) => E4M3.decode(u64::from(code & 0x7f)) as f32,
        })
    }
}
