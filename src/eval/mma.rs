//! Matrix products.
//!
//! Floats are multiplied and summed in `f64`, in order of k, and rounded once to the result's
//! format: products of everything up to f32 are exact there. The hardware's own accumulation
//! order and width differ and are not specified.

use smallvec::smallvec;

use super::operation::{Action, Decoded, Operation};
use super::types::TileType;
use super::value::Value;
use crate::dialect::cuda_tile::Op as Name;
use crate::scalar::{FloatFormat, Lanes, int, vector};

/// Extents of a product: `b` times m×k by k×n.
#[derive(Clone, Copy)]
struct Extents {
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
}

impl Extents {
    fn of(lhs: &TileType, rhs: &TileType, acc: &TileType) -> Result<Self, String> {
        let (batch, [m, k], [k2, n], [m2, n2]) =
            match (&lhs.shape[..], &rhs.shape[..], &acc.shape[..]) {
                (&[m, k], &[k2, n], &[m2, n2]) => (1, [m, k], [k2, n], [m2, n2]),
                (&[b, m, k], &[b2, k2, n], &[b3, m2, n2]) if b == b2 && b == b3 => {
                    (b, [m, k], [k2, n], [m2, n2])
                }
                _ => return Err("operands of a product must have rank 2, or 3 with a batch".into()),
            };
        if k != k2 || m != m2 || n != n2 {
            return Err("the shapes are not those of a matrix product".into());
        }
        Ok(Self { batch, m, n, k })
    }
}

pub fn decode(o: &Operation) -> Decoded {
    Ok(Some(match o.name {
        Name::MmaF => product(o)?,
        Name::MmaFScaled => scaled_product(o)?,
        Name::MmaI => integer_product(o)?,
        _ => return Ok(None),
    }))
}

fn values(format: FloatFormat, a: &Lanes, count: usize) -> Vec<f64> {
    let mut values = vector::to_f64(format, a);
    if values.len() == 1 {
        values.resize(count, values[0]);
    }
    values
}

fn product(o: &Operation) -> Result<Action, String> {
    let (lhs, rhs, acc) = (o.operand(0)?, o.operand(1)?, o.operand(2)?);
    let extents = Extents::of(&lhs, &rhs, &acc)?;
    let (input, output) = (lhs.float()?, acc.float()?);
    let (a_count, b_count, c_count) = (lhs.count(), rhs.count(), acc.count());
    Ok(Box::new(move |_, args| {
        let a = values(input, args.lanes(0)?, a_count);
        let b = values(input, args.lanes(1)?, b_count);
        let mut c = values(output, args.lanes(2)?, c_count);
        multiply(extents, &a, &b, &mut c);
        Ok(smallvec![Value::tile(vector::from_f64(output, &c))])
    }))
}

/// `c += a · b` for each of the batch.
fn multiply(extents: Extents, a: &[f64], b: &[f64], c: &mut [f64]) {
    let Extents { batch, m, n, k } = extents;
    if n == 0 || k == 0 {
        return;
    }
    for i in 0..batch * m {
        let (Some(row), Some(result)) = (a.get(i * k..(i + 1) * k), c.get_mut(i * n..(i + 1) * n))
        else {
            return;
        };
        let Some(b) = b.get(i / m * k * n..(i / m + 1) * k * n) else {
            return;
        };
        // Four rows of b at a time keep the sums in registers; the order of additions stays k's.
        let mut quads = row.chunks_exact(4).zip(b.chunks_exact(4 * n));
        for (x, rows) in &mut quads {
            let (r0, rest) = rows.split_at(n);
            let (r1, rest) = rest.split_at(n);
            let (r2, r3) = rest.split_at(n);
            let columns = r0.iter().zip(r1).zip(r2).zip(r3);
            for (sum, (((y0, y1), y2), y3)) in result.iter_mut().zip(columns) {
                *sum = *sum + x[0] * y0 + x[1] * y1 + x[2] * y2 + x[3] * y3;
            }
        }
        let done = k / 4 * 4;
        for (x, rows) in row[done..].iter().zip(b[done * n..].chunks_exact(n)) {
            for (sum, y) in result.iter_mut().zip(rows) {
                *sum += x * y;
            }
        }
    }
}

/// Each scale belongs to a block of elements along k. The scaled operands are exact in `f64`.
fn scaled_product(o: &Operation) -> Result<Action, String> {
    let (lhs, rhs, acc) = (o.operand(0)?, o.operand(1)?, o.operand(2)?);
    let (lhs_scale, rhs_scale) = (o.operand(3)?, o.operand(4)?);
    let extents = Extents::of(&lhs, &rhs, &acc)?;
    let Extents { batch, m, n, k } = extents;
    let block = |scale: &TileType, others: usize| -> Result<usize, String> {
        let along_k = scale.count() / others.max(1);
        if along_k == 0 || scale.count() != along_k * others || !k.is_multiple_of(along_k) {
            return Err("the scales do not divide the operand into blocks".into());
        }
        Ok(k / along_k)
    };
    let (a_block, b_block) = (block(&lhs_scale, batch * m)?, block(&rhs_scale, batch * n)?);
    let (input, scale, output) = (lhs.float()?, lhs_scale.float()?, acc.float()?);
    let counts = [&lhs, &rhs, &acc, &lhs_scale, &rhs_scale].map(TileType::count);
    Ok(Box::new(move |_, args| {
        let mut a = values(input, args.lanes(0)?, counts[0]);
        let mut b = values(input, args.lanes(1)?, counts[1]);
        let mut c = values(output, args.lanes(2)?, counts[2]);
        let a_scale = values(scale, args.lanes(3)?, counts[3]);
        let b_scale = values(scale, args.lanes(4)?, counts[4]);
        for (part, scale) in a.chunks_mut(a_block).zip(&a_scale) {
            part.iter_mut().for_each(|x| *x *= scale);
        }
        for (part, scales) in b.chunks_mut(b_block * n).zip(b_scale.chunks(n)) {
            for row in part.chunks_mut(n) {
                row.iter_mut()
                    .zip(scales)
                    .for_each(|(x, scale)| *x *= scale);
            }
        }
        multiply(extents, &a, &b, &mut c);
        Ok(smallvec![Value::tile(vector::from_f64(output, &c))])
    }))
}

/// Modulo 2^32.
fn integer_product(o: &Operation) -> Result<Action, String> {
    let (lhs, rhs, acc) = (o.operand(0)?, o.operand(1)?, o.operand(2)?);
    let Extents { batch, m, n, k } = Extents::of(&lhs, &rhs, &acc)?;
    let signs = [
        o.signedness("signedness_lhs")?,
        o.signedness("signedness_rhs")?,
    ];
    let widths = [lhs.int_width()?, rhs.int_width()?];
    let counts = [lhs.count(), rhs.count(), acc.count()];
    let width = acc.int_width()?;
    Ok(Box::new(move |_, args| {
        let integers = |i: usize| -> Result<Vec<i64>, String> {
            let lanes = args.lanes(i)?.expand(counts[i]);
            let value = |v| int::value(widths[i], signs[i], v) as i64;
            Ok(lanes.iter().map(value).collect())
        };
        let (a, b) = (integers(0)?, integers(1)?);
        let c = args.lanes(2)?.expand(counts[2]);
        let mut sums: Vec<i64> = c.iter().map(|v| v as i64).collect();
        for (i, row) in sums.chunks_mut(n.max(1)).enumerate().take(batch * m) {
            let b = &b[i / m * k * n..];
            for (&x, ys) in a[i * k..(i + 1) * k].iter().zip(b.chunks(n)) {
                for (sum, &y) in row.iter_mut().zip(ys) {
                    *sum = sum.wrapping_add(x.wrapping_mul(y));
                }
            }
        }
        let wrapped = sums.iter().map(|&v| v as u64 & int::mask(width));
        Ok(smallvec![Value::tile(Lanes::collect(width, wrapped))])
    }))
}
