//! Products of 8-bit floats on the tensor cores of compute capability 8.9 and 9.0 (`wgmma`), which add with fewer bits
//! than f32 has.
//!
//! A step adds the accumulator and all its products at once: each addend is cut off below 2⁻¹³ of the largest one's
//! power of two, what is left is added without error. The sum is cut off to 13 bits of fraction where it goes to f32,
//! and rounded to nearest where it goes to f16. The largest power of two is taken from the factors' exponents: a
//! product of two significands of at least 1.5 counts as one of half its size. `wgmma` adds its 32 products in one
//! step, `mma.sync` of 8.9 in steps of 16.
//!
//! Sources: DeepSeek-V3 Technical Report (arXiv 2412.19437), 3.3.2, "increasing accumulation precision"; MMA-Sim: a
//! bit-accurate reference model of tensor cores (arXiv 2511.10909), whose model this is; SageAttention2 (arXiv
//! 2411.10958), 3.2, for the accumulator on 8.9. An H100 agrees: 4096 products of whole numbers from 1 to 7 came out 4.5 %
//! too small, 8192 of them 13 %, by this model as by the device.

use crate::program::inst::{AccTy, MatTy};
use std::ops::Range;

/// Bits of fraction that addends and sums keep.
const FRACTION: i32 = 13;

/// Exponent of a zero: that of the smallest normal f32.
const LEAST: i32 = -126;

/// The smallest exponent of a normal number; subnormals have it, too. `None` for types that are added otherwise.
fn smallest_exponent(ty: MatTy) -> Option<i32> {
    match ty {
        MatTy::E4M3 => Some(-6),
        MatTy::E5M2 => Some(-14),
        _ => None,
    }
}

/// Whether products of these types are added so.
pub fn is(a: MatTy, b: MatTy) -> bool {
    smallest_exponent(a).is_some() && smallest_exponent(b).is_some()
}

/// Exponent of a number whose type's smallest is `smallest`.
fn exponent(x: f32, smallest: i32) -> i32 {
    if x == 0.0 {
        return LEAST;
    }
    // f32 holds all numbers of these types as normal ones, and its own subnormals have its smallest exponent.
    ((x.to_bits() >> 23 & 0xff) as i32 - 127).max(smallest)
}

/// `x`, which is zero or normal, without what is below 2^`place`.
fn cut(x: f64, place: i32) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    match exponent - place {
        // A zero keeps its sign.
        ..0 => f64::from_bits(bits & 1 << 63),
        kept @ 0..52 => f64::from_bits(bits & u64::MAX << (52 - kept)),
        _ => x,
    }
}

/// Rows of factors with their exponents: those of one number of the result stand together.
struct Factors {
    values: Vec<f32>,
    exponents: Vec<i32>,
}

impl Factors {
    fn of(values: Vec<f32>, ty: MatTy) -> Self {
        let smallest = smallest_exponent(ty).unwrap_or(LEAST);
        Factors {
            exponents: values.iter().map(|&x| exponent(x, smallest)).collect(),
            values,
        }
    }

    fn slice(&self, places: Range<usize>) -> Slice<'_> {
        Slice {
            values: &self.values[places.clone()],
            exponents: &self.exponents[places],
        }
    }
}

/// Factors of one step.
struct Slice<'f> {
    values: &'f [f32],
    exponents: &'f [i32],
}

/// d\[m\]\[n\] += Σ a\[m\]\[k\] × b\[k\]\[n\], `step` products at a time.
pub fn products(
    d: &mut [f32],
    into: AccTy,
    (a, a_ty): (&[f32], MatTy),
    (b, b_ty): (&[f32], MatTy),
    [n, k, step]: [usize; 3],
) {
    let columns = (0..n).flat_map(|column| b.iter().skip(column).step_by(n).take(k));
    let b = Factors::of(columns.copied().collect(), b_ty);
    let a = Factors::of(a.to_vec(), a_ty);
    for (i, sum) in d.iter_mut().enumerate() {
        let (row, column) = (i / n, i % n);
        for start in (0..k).step_by(step) {
            let of = |line: usize| line * k + start..line * k + k.min(start + step);
            *sum = one_step(*sum, into, a.slice(of(row)), b.slice(of(column)));
        }
    }
}

/// The sum of `old` and of the products of the factors.
fn one_step(old: f32, into: AccTy, a: Slice<'_>, b: Slice<'_>) -> f32 {
    let factors = || a.values.iter().zip(b.values);
    let products = || factors().map(|(&x, &y)| f64::from(x) * f64::from(y));
    if !(old.is_finite() && factors().all(|(x, y)| x.is_finite() & y.is_finite())) {
        return (f64::from(old) + products().sum::<f64>()) as f32;
    }
    let exponents = a.exponents.iter().zip(b.exponents).map(|(x, y)| x + y);
    let largest = exponents.fold(exponent(old, LEAST), i32::max);
    let place = largest - FRACTION;
    // Multiples of 2^place, at most 33 times 2^(13 + 2) of them: exact.
    let sum = products().fold(cut(f64::from(old), place), |s, x| s + cut(x, place));
    match into {
        AccTy::F16 => sum as f32,
        _ => cut(sum, exponent(sum as f32, LEAST) - FRACTION) as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row times one column.
    fn dot(old: f32, a: &[f32], b: &[f32], into: AccTy, step: usize) -> f32 {
        let mut d = [old];
        let sizes = [1, a.len(), step];
        products(&mut d, into, (a, MatTy::E4M3), (b, MatTy::E4M3), sizes);
        d[0]
    }

    /// SageAttention2, 3.2: with A and B zero, what C has below 13 bits of fraction is gone.
    #[test]
    fn the_accumulator_has_13_bits_of_fraction() {
        let old = f32::from_bits(0x4040_03ff);
        let cut = f32::from_bits(0x4040_0000);
        assert_eq!(dot(old, &[0.0; 32], &[0.0; 32], AccTy::F32, 32), cut);
        assert_eq!(dot(-old, &[0.0; 32], &[0.0; 32], AccTy::F32, 32), -cut);
    }

    /// MMA-Sim's probe of the output's rounding: towards zero, not to nearest, for either sign.
    #[test]
    fn sums_are_cut_off_towards_zero() {
        let ulp = 2f32.powi(-13);
        assert_eq!(dot(0.75 * ulp, &[0.25; 4], &[1.0; 4], AccTy::F32, 32), 1.0);
        assert_eq!(
            dot(-0.75 * ulp, &[-0.25; 4], &[1.0; 4], AccTy::F32, 32),
            -1.0
        );
    }

    #[test]
    fn what_is_below_a_place_is_cut_off() {
        assert_eq!(cut(5.75, 0), 5.0);
        assert_eq!(cut(-5.75, -1), -5.5);
        assert_eq!(cut(0.75, 0), 0.0);
        assert!(cut(-0.75, 0).is_sign_negative());
        assert_eq!(cut(0.0, -100), 0.0);
        assert_eq!(cut(5.75, -51), 5.75);
        assert_eq!(cut(1.0 + 2f64.powi(-52), -51), 1.0);
    }

    /// DeepSeek-V3, 3.3.2: addends are shifted to the largest exponent. Beside 2^13, ones and nothing smaller are kept.
    #[test]
    fn addends_lose_what_is_below_13_bits_of_the_largest() {
        let ones = |x: f32| dot(8192.0, &[x; 32], &[1.0; 32], AccTy::F32, 32);
        assert_eq!(ones(1.0), 8192.0 + 32.0);
        assert_eq!(ones(0.875), 8192.0);
        assert_eq!(ones(1.75), 8192.0 + 32.0);
    }

    /// The largest exponent is the sum of the factors' exponents: 1.5 × 1.5 counts as 2^0, not 2^1.
    #[test]
    fn exponents_are_the_factors() {
        let least = 2f32.powi(-13);
        let a = [1.5, 2f32.powi(-6)];
        let b = [1.5, 2f32.powi(-7)];
        // 2.25 + 2^-13: the addend is kept, and then lost in the sum, which is above 2.
        assert_eq!(dot(0.0, &a, &b, AccTy::F32, 32), 2.25);
        // 2.25 − 1.25 + 2^-13 is below 2 and keeps it.
        let a = [1.5, -1.25, 2f32.powi(-6)];
        let b = [1.5, 1.0, 2f32.powi(-7)];
        assert_eq!(dot(0.0, &a, &b, AccTy::F32, 32), 1.0 + least);
    }

    /// Sixteen halves are 8, which a sum of 8192 keeps; one after another it loses them.
    #[test]
    fn a_step_adds_all_its_products_at_once() {
        let (mut a, mut b) = ([0.5; 32], [1.0; 32]);
        (a[31], b[31]) = (256.0, 32.0);
        // In one step each half meets 8192; in steps of 16 the first sixteen meet each other before.
        assert_eq!(dot(0.0, &a, &b, AccTy::F32, 32), 8192.0);
        assert_eq!(dot(0.0, &a, &b, AccTy::F32, 16), 8192.0 + 8.0);
    }

    /// Sums in f16 are rounded to nearest (MMA-Sim), so they leave here with all their bits.
    #[test]
    fn half_sums_are_not_cut() {
        let old = 2048.0;
        assert_eq!(dot(old, &[1.0; 3], &[1.0; 3], AccTy::F16, 32), 2051.0);
    }
}
