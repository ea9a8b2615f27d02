//! Where elements of A, B, C and D live in a warp's registers (PTX ISA 9.7.14.5, "Matrix fragments for mma").
//!
//! One rule covers every shape with m = 16 or 8: lanes form 8 groups of 4; a group holds a row of A and C and a column
//! of B, a lane within it `per_reg` neighbouring elements along k, and further registers go on along m, then along k.

use crate::program::{LANES, Row};

/// Row and k of element `i` of register `reg` of A.
#[inline]
pub fn a_position(lane: usize, reg: usize, i: usize, per_reg: usize, m: usize) -> (usize, usize) {
    let (group, within) = (lane / 4, lane % 4);
    if m == 8 {
        return (group, within * per_reg + i + 4 * per_reg * reg);
    }
    (
        group + 8 * (reg & 1),
        within * per_reg + i + 4 * per_reg * (reg >> 1),
    )
}

/// k and column of element `i` of register `reg` of B.
#[inline]
pub fn b_position(lane: usize, reg: usize, i: usize, per_reg: usize) -> (usize, usize) {
    (lane % 4 * per_reg + i + 4 * per_reg * reg, lane / 4)
}

/// Row and column of accumulator element `i` of a lane; columns go on in steps of 8 (wgmma has many).
#[inline]
pub fn c_position(lane: usize, i: usize, m: usize) -> (usize, usize) {
    let (row, column) = (lane / 4, lane % 4 * 2 + (i & 1));
    if m == 8 {
        return (row, column + 8 * (i >> 1));
    }
    (row + 8 * (i >> 1 & 1), column + 8 * (i >> 2))
}

/// Spreads the elements of registers: calls `put` with lane, register, element number and bits.
#[inline]
pub fn elements(rows: &[Row], bits: u32, mut put: impl FnMut(usize, usize, usize, u64)) {
    let width = if bits == 64 { 64 } else { 32 };
    let per_reg = (width / bits) as usize;
    let all = crate::num::int::mask(bits);
    for (reg, row) in rows.iter().enumerate() {
        for (lane, &word) in row.iter().enumerate().take(LANES) {
            for i in 0..per_reg {
                put(lane, reg, i, word >> (bits as usize * i) & all);
            }
        }
    }
}
