//! Approximate functions: within the errors that the PTX ISA documents, against double precision, and exact where the ISA
//! has a table of special values.

use super::{Judge, Row, Want, all, check, float_operands};

/// A result near the right one.
#[derive(Debug)]
struct Near {
    right: f64,
    relative: f64,
    absolute: f64,
}

impl Judge for Near {
    fn holds(&self, bits: u64) -> bool {
        let got = f64::from(f32::from_bits(bits as u32));
        if self.right.is_nan() {
            return got.is_nan();
        }
        // Beyond the range of single precision: infinity, or the last number before it.
        let most = f64::from(f32::MAX);
        if self.right.abs() > most {
            return got.abs() >= most && got.signum() == self.right.signum();
        }
        // Below the normal range results may be flushed.
        let least = f64::from(f32::MIN_POSITIVE);
        let error = (got - self.right).abs();
        error <= self.right.abs() * self.relative + self.absolute
            || self.right.abs() < least && got.abs() <= least
    }
}

fn single(bits: u64) -> f64 {
    f64::from(f32::from_bits(bits as u32))
}

/// A function of one operand with its error; `within` says where the ISA promises it.
fn row(
    section: &'static str,
    text: &str,
    (relative, absolute): (f64, f64),
    within: fn(f64) -> bool,
    f: fn(f64) -> f64,
) -> Row {
    Row {
        section,
        text: format!("{text} d, a"),
        want: Box::new(move |a, _, _| {
            let x = single(a);
            // Subnormal inputs may be flushed: the documented error is that of normal ones.
            if x.is_finite() && (!within(x) || x != 0.0 && x.abs() < f64::from(f32::MIN_POSITIVE)) {
                return Want::Anything;
            }
            Want::Such(Box::new(Near {
                right: f(x),
                relative,
                absolute,
            }))
        }),
    }
}

/// 2 to a power that is no integer.
fn two_to(x: f64) -> f64 {
    x.exp2()
}

#[test]
fn errors_are_within_the_documented_ones() {
    let ulp = two_to(-23.0);
    let anywhere: fn(f64) -> bool = |_| true;
    let rows = [
        row("9.7.3.13", "rcp.approx.f32", (ulp, 0.0), anywhere, |x| {
            1.0 / x
        }),
        row(
            "9.7.3.15",
            "sqrt.approx.f32",
            (two_to(-22.0), 0.0),
            anywhere,
            f64::sqrt,
        ),
        row(
            "9.7.3.16",
            "rsqrt.approx.f32",
            (two_to(-22.9), 0.0),
            anywhere,
            |x| 1.0 / x.sqrt(),
        ),
        row(
            "9.7.3.18",
            "sin.approx.f32",
            (0.0, two_to(-20.5)),
            |x| x.abs() <= 2.0 * std::f64::consts::PI,
            f64::sin,
        ),
        row(
            "9.7.3.19",
            "cos.approx.f32",
            (0.0, two_to(-20.5)),
            |x| x.abs() <= 2.0 * std::f64::consts::PI,
            f64::cos,
        ),
        row(
            "9.7.3.20",
            "lg2.approx.f32",
            (two_to(-22.0), two_to(-22.0)),
            anywhere,
            f64::log2,
        ),
        row(
            "9.7.3.21",
            "ex2.approx.f32",
            (two_to(-22.5) + ulp, 0.0),
            anywhere,
            f64::exp2,
        ),
        row(
            "9.7.3.22",
            "tanh.approx.f32",
            (two_to(-11.0), 0.0),
            anywhere,
            f64::tanh,
        ),
    ];
    check(all("b32"), &rows, &float_operands(8, 23, 9000, 51));
}

#[test]
fn special_values() {
    let bits = |x: f32| u64::from(x.to_bits());
    let (inf, least) = (f32::INFINITY, f32::from_bits(1));
    // Section, instruction, operand, result, as the ISA's tables have them.
    let table: &[(&'static str, &str, f32, f32)] = &[
        ("9.7.3.13", "rcp.approx.ftz.f32", -inf, -0.0),
        ("9.7.3.13", "rcp.approx.ftz.f32", -least, -inf),
        ("9.7.3.13", "rcp.approx.ftz.f32", 0.0, inf),
        ("9.7.3.15", "sqrt.approx.ftz.f32", -0.0, -0.0),
        ("9.7.3.15", "sqrt.approx.ftz.f32", -least, -0.0),
        ("9.7.3.15", "sqrt.approx.f32", inf, inf),
        ("9.7.3.16", "rsqrt.approx.ftz.f32", -least, -inf),
        ("9.7.3.16", "rsqrt.approx.f32", -0.0, -inf),
        ("9.7.3.16", "rsqrt.approx.f32", inf, 0.0),
        ("9.7.3.18", "sin.approx.ftz.f32", -least, -0.0),
        ("9.7.3.19", "cos.approx.f32", 0.0, 1.0),
        ("9.7.3.20", "lg2.approx.ftz.f32", least, -inf),
        ("9.7.3.20", "lg2.approx.f32", 1.0, 0.0),
        ("9.7.3.20", "lg2.approx.f32", inf, inf),
        ("9.7.3.21", "ex2.approx.ftz.f32", -least, 1.0),
        ("9.7.3.21", "ex2.approx.f32", -inf, 0.0),
        ("9.7.3.21", "ex2.approx.f32", 0.0, 1.0),
        ("9.7.3.22", "tanh.approx.f32", -inf, -1.0),
        ("9.7.3.22", "tanh.approx.f32", -0.0, -0.0),
    ];
    for &(section, text, a, d) in table {
        let row = Row::new(section, format!("{text} d, a"), move |_, _, _| bits(d));
        check(all("b32"), &[row], &[[bits(a), 0, 0]]);
    }
}

#[test]
fn quotients_within_two_units() {
    let quotient = |section, text: &str| Row {
        section,
        text: format!("{text} d, a, b"),
        want: Box::new(|a, b, _| {
            let (x, y) = (single(a), single(b));
            // For divisors between 2^-126 and 2^126, where the quotient is normal (PTX ISA 9.7.3.8).
            let range = (-126f64).exp2()..=126f64.exp2();
            let right = x / y;
            if !range.contains(&y.abs()) || !x.is_normal() || x.abs() < (-126f64).exp2() {
                return Want::Anything;
            }
            Want::Such(Box::new(Near {
                right,
                relative: 2.0 * (-23f64).exp2(),
                absolute: 0.0,
            }))
        }),
    };
    let rows = [
        quotient("9.7.3.8", "div.approx.f32"),
        quotient("9.7.3.8", "div.full.f32"),
    ];
    check(all("b32"), &rows, &float_operands(8, 23, 9000, 52));
}
