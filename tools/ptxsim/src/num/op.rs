//! Operations that round once, in any direction, to any format of at most 24 significant bits, and to `f64`.
//!
//! The narrow ones work in `f64` rounded to odd: with at least two more bits than the target, rounding the odd result
//! again gives what one rounding of the exact value gives (Boldo and Melquiond, "Emulation of FMA and correctly rounded
//! sums: proved algorithms using rounding to odd", 2008).

use super::exact;
use super::format::Round;

/// `nearest` moved to the odd neighbour if the exact value differs from it by something of `error`'s sign.
fn odd(nearest: f64, error: f64) -> f64 {
    if error == 0.0 || !nearest.is_finite() || nearest == 0.0 || error.is_nan() {
        return nearest;
    }
    let bits = nearest.to_bits();
    let too_large = (error < 0.0) != (nearest < 0.0);
    f64::from_bits((bits - u64::from(too_large)) | 1)
}

/// The rounding error of `a + b` (Knuth's TwoSum).
fn sum_error(a: f64, b: f64, sum: f64) -> f64 {
    let b_virtual = sum - a;
    let a_virtual = sum - b_virtual;
    (a - a_virtual) + (b - b_virtual)
}

/// a + b, rounded to odd.
pub fn add_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    odd(sum, sum_error(a, b, sum))
}

/// a × b + c, rounded to odd; the product must be exact in `f64` (factors of at most 26 bits).
pub fn fma_odd(a: f64, b: f64, c: f64) -> f64 {
    add_odd(a * b, c)
}

/// a ÷ b, rounded to odd.
pub fn div_odd(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    let remainder = (-quotient).mul_add(b, a);
    odd(quotient, if b < 0.0 { -remainder } else { remainder })
}

/// √a, rounded to odd.
pub fn sqrt_odd(a: f64) -> f64 {
    let root = a.sqrt();
    odd(root, (-root).mul_add(root, a))
}

/// a + b in double with a direction.
pub fn add_f64(a: f64, b: f64, round: Round) -> f64 {
    let sum = a + b;
    if round == Round::Nearest || sum.is_nan() || a.is_infinite() || b.is_infinite() {
        return sum;
    }
    exact::fma(a, 1.0, b, round)
}

/// a × b + c in double with a direction.
pub fn fma_f64(a: f64, b: f64, c: f64, round: Round) -> f64 {
    let nearest = a.mul_add(b, c);
    let finite = a.is_finite() && b.is_finite() && c.is_finite();
    if round == Round::Nearest || !finite {
        nearest
    } else {
        exact::fma(a, b, c, round)
    }
}

/// a × b in double with a direction.
pub fn mul_f64(a: f64, b: f64, round: Round) -> f64 {
    let product = a * b;
    let plain = round == Round::Nearest || !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0;
    if plain {
        product
    } else {
        exact::mul(a, b, round)
    }
}

/// a ÷ b in double with a direction.
pub fn div_f64(a: f64, b: f64, round: Round) -> f64 {
    let quotient = a / b;
    let plain = round == Round::Nearest || !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0;
    if plain {
        quotient
    } else {
        exact::div(a, b, round)
    }
}

/// √a in double with a direction.
pub fn sqrt_f64(a: f64, round: Round) -> f64 {
    let root = a.sqrt();
    let plain = round == Round::Nearest || !root.is_finite() || root == 0.0;
    if plain { root } else { exact::sqrt(a, round) }
}

#[cfg(test)]
mod tests {
    use super::super::format::{F32, Overflow};
    use super::*;

    fn random(state: &mut u64) -> f32 {
        *state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let bits = (*state >> 32) as u32;
        // Keep exponents close so that sums and quotients are inexact.
        f32::from_bits(bits & 0x807f_ffff | ((bits >> 23 & 0x1f) + 112) << 23)
    }

    #[test]
    fn one_rounding_to_nearest_is_what_the_host_does() {
        let mut state = 7;
        for _ in 0..100_000 {
            let (a, b, c) = (random(&mut state), random(&mut state), random(&mut state));
            let (x, y, z) = (f64::from(a), f64::from(b), f64::from(c));
            let to_f32 = |v: f64| F32.encode(v, Round::Nearest, Overflow::Ieee) as u32;
            assert_eq!(to_f32(add_odd(x, y)), (a + b).to_bits());
            assert_eq!(to_f32(fma_odd(x, y, z)), a.mul_add(b, c).to_bits());
            assert_eq!(to_f32(div_odd(x, y)), (a / b).to_bits());
            assert_eq!(to_f32(sqrt_odd(x.abs())), a.abs().sqrt().to_bits());
        }
    }

    #[test]
    fn directions_of_double_operations_bracket_the_nearest() {
        let mut state = 3;
        for _ in 0..10_000 {
            let a = f64::from(random(&mut state)) * 1.000000001;
            let b = f64::from(random(&mut state)) * 0.999999999;
            for op in [add_f64, mul_f64, div_f64] {
                let (down, near, up) = (
                    op(a, b, Round::Down),
                    op(a, b, Round::Nearest),
                    op(a, b, Round::Up),
                );
                assert!(down <= near && near <= up);
                assert!(up == down || up == down.next_up());
                let zero = op(a, b, Round::Zero);
                assert_eq!(zero, if near < 0.0 { up } else { down });
            }
        }
    }
}
