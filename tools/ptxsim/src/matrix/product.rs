//! Products of small dense matrices.
//!
//! The order of additions on hardware is unspecified. Here every product is exact (all element types have at most 12
//! significant bits, except f64), and products are added to the accumulator one by one in the order of k, each addition
//! rounded to nearest in the accumulator's arithmetic: single for f16 and f32 accumulators, double for f64. Where 8-bit
//! floats are added with fewer bits, [`super::rough`] does it.

/// d\[m\]\[n\] += Σ a\[m\]\[k\] × b\[k\]\[n\] in single precision.
pub fn reals(d: &mut [f32], a: &[f32], b: &[f32], n: usize, k: usize) {
    for (row, a_row) in d.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
        for (&x, b_row) in a_row.iter().zip(b.chunks_exact(n)) {
            for (sum, &y) in row.iter_mut().zip(b_row) {
                *sum += x * y;
            }
        }
    }
}

/// The same in double precision.
pub fn doubles(d: &mut [f64], a: &[f64], b: &[f64], n: usize, k: usize) {
    for (row, a_row) in d.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
        for (&x, b_row) in a_row.iter().zip(b.chunks_exact(n)) {
            for (sum, &y) in row.iter_mut().zip(b_row) {
                *sum = x.mul_add(y, *sum);
            }
        }
    }
}

/// The same in 64-bit integers, which hold any sum that the shapes allow.
pub fn integers(d: &mut [i64], a: &[i32], b: &[i32], n: usize, k: usize) {
    for (row, a_row) in d.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
        for (&x, b_row) in a_row.iter().zip(b.chunks_exact(n)) {
            for (sum, &y) in row.iter_mut().zip(b_row) {
                *sum += i64::from(x * y);
            }
        }
    }
}

/// The same for bits with exclusive or in place of the product.
pub fn xor_popcounts(d: &mut [i64], a: &[i32], b: &[i32], n: usize, k: usize) {
    for (row, a_row) in d.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
        for (&x, b_row) in a_row.iter().zip(b.chunks_exact(n)) {
            for (sum, &y) in row.iter_mut().zip(b_row) {
                *sum += i64::from(x ^ y);
            }
        }
    }
}

/// An integer sum as its accumulator holds it.
pub fn integer_result(sum: i64, saturate: bool) -> u64 {
    let value = if saturate {
        sum.clamp(i32::MIN.into(), i32::MAX.into())
    } else {
        sum
    };
    u64::from(value as u32)
}

/// The bits of a result, with the NaN that matrix instructions produce.
pub fn canonical(x: f32) -> u64 {
    if x.is_nan() {
        0x7fff_ffff
    } else {
        x.to_bits().into()
    }
}
