//! `mma.m8n8k4` of halves: four products at once, each by a pair of quads (PTX ISA 9.7.14.5.1).
//!
//! Lanes 4q..4q+3 and 4q+16..4q+19 compute product q. `upper` below says that a lane is of the second quad.

use super::product::{self, canonical};
use crate::num::format::{f16_to_f32, f32_to_f16};
use crate::program::inst::{AccTy, MatTy, Mma};
use crate::program::{LANES, Row};

/// True for the shape with a layout of its own.
pub fn is(mma: &Mma) -> bool {
    (mma.product.m, mma.product.n, mma.product.k) == (8, 8, 4) && mma.product.a_ty == MatTy::F16
}

/// Registers of an accumulator of eight elements per lane.
fn accumulator_registers(ty: AccTy) -> usize {
    if ty == AccTy::F16 { 4 } else { 8 }
}

/// Checks the operands when the instruction is decoded.
pub fn check(mma: &Mma) -> Result<(), String> {
    let counts = (
        mma.product.a.len(),
        mma.product.b.len(),
        mma.product.c.len(),
        mma.product.d.len(),
    );
    let wanted = (
        2,
        2,
        accumulator_registers(mma.product.c_ty),
        accumulator_registers(mma.product.d_ty),
    );
    if counts != wanted || mma.sparse.is_some() {
        return Err(format!(
            "A, B, C and D have {counts:?} registers, the shape and types need {wanted:?}"
        ));
    }
    Ok(())
}

fn quad(lane: usize) -> (usize, usize, usize) {
    (lane % 16 / 4, lane % 4, lane / 16)
}

/// Row and column of accumulator element `i` of a lane.
fn accumulator_position(lane: usize, i: usize, ty: AccTy) -> (usize, usize) {
    let (_, within, upper) = quad(lane);
    if ty == AccTy::F16 {
        return (within + 4 * upper, i);
    }
    (
        (within & 1) + (i & 2) + 4 * upper,
        (i & 4) + (within & 2) + (i & 1),
    )
}

fn half(rows: &[Row], lane: usize, i: usize) -> f32 {
    f16_to_f32((rows[i / 2][lane] >> (16 * (i % 2))) as u16)
}

/// The four products as one fragment.
pub fn products(mma: &Mma, a: &[Row], b: &[Row], c: &[Row]) -> Vec<Row> {
    let mut d = vec![[0u64; LANES]; mma.product.d.len()];
    for q in 0..4 {
        let (mut am, mut bm, mut cm) = ([0f32; 32], [0f32; 32], [0f32; 64]);
        let lanes = || (0..LANES).filter(|&lane| quad(lane).0 == q);
        for lane in lanes() {
            let (_, within, upper) = quad(lane);
            for i in 0..4 {
                let (row, k) = if mma.a_row {
                    (within + 4 * upper, i)
                } else {
                    (i + 4 * upper, within)
                };
                am[row * 4 + k] = half(a, lane, i);
                let (k, column) = if mma.b_col {
                    (i, within + 4 * upper)
                } else {
                    (within, i + 4 * upper)
                };
                bm[k * 8 + column] = half(b, lane, i);
            }
            for i in 0..8 {
                let (row, column) = accumulator_position(lane, i, mma.product.c_ty);
                cm[row * 8 + column] = match mma.product.c_ty {
                    AccTy::F16 => half(c, lane, i),
                    _ => f32::from_bits(c[i][lane] as u32),
                };
            }
        }
        product::reals(&mut cm, &am, &bm, 8, 4);
        for lane in lanes() {
            for i in 0..8 {
                let (row, column) = accumulator_position(lane, i, mma.product.d_ty);
                let value = cm[row * 8 + column];
                match mma.product.d_ty {
                    AccTy::F16 => d[i / 2][lane] |= u64::from(f32_to_f16(value)) << (16 * (i % 2)),
                    _ => d[i][lane] = canonical(value),
                }
            }
        }
    }
    d
}
