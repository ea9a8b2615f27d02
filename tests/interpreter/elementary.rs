//! Elementary functions against true values over the whole range (`tests/math/table.py`).

use tilec::scalar::{FloatFormat, Lanes, MathBinary, MathUnary, vector};

/// Errors above this are no longer those of one rounding of an accurate f64.
const F32_BOUND: f64 = 0.51;
/// Of f64 itself: what `src/scalar/math.rs` says of the library.
const F64_BOUND: f64 = 2.5;

fn unary(name: &str) -> Option<MathUnary> {
    use MathUnary::{Cos, Cosh, Exp, Exp2, Log, Log2, Rsqrt, Sin, Sinh, Tan, Tanh};
    Some(match name {
        "exp" => Exp,
        "exp2" => Exp2,
        "log" => Log,
        "log2" => Log2,
        "sin" => Sin,
        "cos" => Cos,
        "tan" => Tan,
        "sinh" => Sinh,
        "cosh" => Cosh,
        "tanh" => Tanh,
        "rsqrt" => Rsqrt,
        _ => return None,
    })
}

fn hex(word: &str) -> u64 {
    u64::from_str_radix(word, 16).expect("a pattern")
}

/// What the interpreter makes of a line's function and inputs, and the true value.
fn evaluate(format: FloatFormat, line: &str) -> (u64, [f64; 2]) {
    let words: Vec<&str> = line.split(' ').collect();
    let lanes = |bits: u64| Lanes::splat(format.bits(), bits);
    let a = lanes(hex(words[1]));
    let (result, rest) = match (unary(words[0]), words[0]) {
        (Some(op), _) => (vector::math_unary(op, format, false, &a), &words[2..]),
        (None, "powi") => {
            let n: i32 = words[2].parse().expect("an exponent");
            let n = Lanes::splat(32, u64::from(n as u32));
            (vector::powi(format, 32, &a, &n), &words[3..])
        }
        (None, name) => {
            let op = match name {
                "pow" => MathBinary::Pow,
                "atan2" => MathBinary::Atan2,
                other => panic!("{other} is no function"),
            };
            let b = lanes(hex(words[2]));
            (vector::math_binary(op, format, &a, &b), &words[3..])
        }
    };
    let part = |i: usize| rest.get(i).map_or(0.0, |w| f64::from_bits(hex(w)));
    (result.get(0), [part(0), part(1)])
}

/// The distance from the true value in units in the last place; infinite where a special value is
/// another one.
fn error(format: FloatFormat, got: u64, [high, low]: [f64; 2]) -> f64 {
    let (mantissa, least, past) = match format {
        FloatFormat::F32 => (23, -149, 2_f64.powi(128)),
        _ => (52, -1074, f64::INFINITY),
    };
    let got = format.decode(got);
    if high.is_nan() || got.is_nan() {
        return if high.is_nan() && got.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if high == got {
        // Zeros have signs.
        let same = got != 0.0 || high.is_sign_negative() == got.is_sign_negative();
        if !same || high.is_infinite() {
            return if same { 0.0 } else { f64::INFINITY };
        }
    }
    // Overflow counts as the first number that is too large.
    let overflow = |v: f64| if v.abs() > past { past.copysign(v) } else { v };
    let high = if high.is_infinite() {
        high
    } else {
        overflow(high)
    };
    let got = if high.is_infinite() {
        got
    } else {
        overflow(got)
    };
    if high.is_infinite() || got.is_infinite() {
        return f64::INFINITY;
    }
    let exponent = (high.abs().max(f64::MIN_POSITIVE).log2().floor() as i32 - mantissa).max(least);
    // In two steps: a subnormal unit's reciprocal is no f64.
    let scaled = |v: f64| v * 2_f64.powi(-exponent / 2) * 2_f64.powi(-exponent - (-exponent / 2));
    (scaled(got - high) - scaled(low)).abs()
}

fn check(format: FloatFormat, table: &str, bound: f64) {
    let mut worst: Vec<(&str, f64)> = Vec::new();
    let mut wrong = Vec::new();
    for line in table.lines() {
        let (got, value) = evaluate(format, line);
        let error = error(format, got, value);
        let name = line.split(' ').next().unwrap_or_default();
        match worst.iter_mut().find(|(n, _)| *n == name) {
            Some((_, most)) => *most = most.max(error),
            None => worst.push((name, error)),
        }
        if error > bound {
            wrong.push(format!("{line}: got {got:x}, off by {error} ulp"));
        }
    }
    println!("{format:?}, largest errors in ulp: {worst:.3?}");
    assert_eq!(worst.len(), 14, "every function is in the table");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn f32_within_one_unit_in_the_last_place() {
    check(FloatFormat::F32, include_str!("../math/f32.txt"), F32_BOUND);
}

#[test]
fn f64_as_accurate_as_documented() {
    check(FloatFormat::F64, include_str!("../math/f64.txt"), F64_BOUND);
}
