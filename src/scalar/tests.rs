//! The arithmetic against LLVM's APFloat (its Rust port), the machine's own, and plain integers.

use proptest::prelude::*;
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, Round};

use super::convert::{float_to_int, int_to_float};
use super::float::{self, FloatBinary, FloatMode, FloatUnary};
use super::format::{FloatFormat, Overflow, Rounding};
use super::int::{self, IntBinary, IntRounding, Signedness};
use super::lanes::Lanes;
use super::vector;

fn round(rounding: Rounding) -> Round {
    match rounding {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::Zero => Round::TowardZero,
        Rounding::NegativeInf => Round::TowardNegative,
        Rounding::PositiveInf => Round::TowardPositive,
        Rounding::NearestAway => Round::NearestTiesToAway,
    }
}

/// Patterns that reach special values, neighbours of powers of two and subnormals often.
fn patterns(bits: u32) -> impl Strategy<Value = u64> {
    let all = int::mask(bits);
    prop_oneof![
        any::<u64>(),
        (0..bits, -2_i64..3, any::<bool>()).prop_map(|(at, by, top)| {
            let base = if top { u64::MAX << at } else { 1 << at };
            base.wrapping_add_signed(by)
        }),
        (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(a, b, c)| a & b & c),
        (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(a, b, c)| a | b | c),
    ]
    .prop_map(move |v| v & all)
}

fn roundings() -> impl Strategy<Value = Rounding> {
    proptest::sample::select(Rounding::ALL.to_vec())
}

/// Equal patterns, or both NaN.
fn assert_same(format: FloatFormat, ours: u64, theirs: u64, what: &str) {
    let same = ours == theirs || (format.is_nan(ours) && format.is_nan(theirs));
    assert!(
        same,
        "{format:?} {what}: {ours:#x}, APFloat has {theirs:#x}"
    );
}

fn check_arithmetic<F: Float>(format: FloatFormat, rounding: Rounding, [a, b, c]: [u64; 3]) {
    let [x, y, z] = [a, b, c].map(|v| F::from_bits(u128::from(v)));
    let mode = FloatMode {
        rounding,
        flush: false,
    };
    let r = round(rounding);
    let cases = [
        (FloatBinary::Add, x.add_r(y, r).value),
        (FloatBinary::Sub, x.sub_r(y, r).value),
        (FloatBinary::Mul, x.mul_r(y, r).value),
        (FloatBinary::Div, x.div_r(y, r).value),
        (FloatBinary::Rem, x.c_fmod(y).value),
    ];
    for (op, theirs) in cases {
        let ours = float::binary(op, format, mode, a, b);
        let what = format!("{op:?} {rounding:?} {a:#x} {b:#x}");
        assert_same(format, ours, theirs.to_bits() as u64, &what);
    }
    let ours = float::fma(format, mode, a, b, c);
    let theirs = x.mul_add_r(y, z, r).value.to_bits() as u64;
    assert_same(
        format,
        ours,
        theirs,
        &format!("fma {rounding:?} {a:#x} {b:#x} {c:#x}"),
    );
}

macro_rules! arithmetic {
    ($($test:ident $format:ident $theirs:ty;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(4000))]
            $(#[test]
            fn $test(
                v in proptest::array::uniform3(patterns(FloatFormat::$format.bits())),
                r in roundings(),
            ) {
                check_arithmetic::<$theirs>(FloatFormat::$format, r, v);
            })*
        }
    };
}

arithmetic! {
    f16_arithmetic F16 Half;
    bf16_arithmetic BF16 BFloat;
    f32_arithmetic F32 Single;
    f64_arithmetic F64 Double;
    f8e5m2_arithmetic F8E5M2 Float8E5M2;
}

/// f8E4M3FN by exhaustion, to nearest only: APFloat's directed overflow differs by design.
#[test]
fn f8e4m3_arithmetic() {
    for a in 0..256 {
        for b in 0..256 {
            check_arithmetic::<Float8E4M3FN>(
                FloatFormat::F8E4M3FN,
                Rounding::NearestEven,
                [a, b, a ^ b],
            );
        }
    }
}

/// The native paths against the exact ones.
fn check_vector(format: FloatFormat, a: &[u64], b: &[u64]) {
    let lanes = |v: &[u64]| Lanes::collect(format.bits(), v.iter().copied());
    let mode = FloatMode::default();
    for op in [
        FloatBinary::Add,
        FloatBinary::Sub,
        FloatBinary::Mul,
        FloatBinary::Div,
    ] {
        let fast = vector::float_binary(op, format, mode, &lanes(a), &lanes(b));
        for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
            let exact = float::binary(op, format, mode, x, y);
            assert_eq!(fast.get(i), exact, "{format:?} {op:?} {x:#x} {y:#x}");
        }
    }
    let roots = vector::float_unary(FloatUnary::Sqrt, format, mode, &lanes(a));
    for (i, &x) in a.iter().enumerate() {
        let exact = float::unary(FloatUnary::Sqrt, format, mode, x);
        assert_eq!(roots.get(i), exact, "{format:?} sqrt {x:#x}");
    }
    let fused = vector::fma(format, mode, &lanes(a), &lanes(b), &lanes(b));
    for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
        assert_eq!(fused.get(i), float::fma(format, mode, x, y, y));
    }
}

proptest! {
    #[test]
    fn native_paths_are_exact(
        a in proptest::collection::vec(patterns(64), 16),
        b in proptest::collection::vec(patterns(64), 16),
    ) {
        for format in [FloatFormat::F16, FloatFormat::BF16, FloatFormat::F32, FloatFormat::F64] {
            // The highest bits hold the exponent.
            let cut = |v: &[u64]| -> Vec<u64> {
                v.iter().map(|x| x >> (64 - format.bits())).collect()
            };
            check_vector(format, &cut(&a), &cut(&b));
        }
    }

    #[test]
    fn directed_roots_bracket(x in patterns(32), r in roundings()) {
        let mode = FloatMode { rounding: r, flush: false };
        let value = f32::from_bits(x as u32);
        prop_assume!(value.is_finite() && value > 0.0);
        let root = f32::from_bits(float::unary(FloatUnary::Sqrt, FloatFormat::F32, mode, x) as u32);
        // A product of two f32 is exact in f64.
        let square = |v: f32| f64::from(v) * f64::from(v);
        let value = f64::from(value);
        match r {
            Rounding::Zero | Rounding::NegativeInf => {
                prop_assert!(square(root) <= value && square(root.next_up()) > value);
            }
            Rounding::PositiveInf => {
                prop_assert!(square(root) >= value && square(root.next_down()) < value);
            }
            _ => prop_assert_eq!(root, (value as f32).sqrt()),
        }
    }

    #[test]
    fn every_format_reads_back_what_it_writes(bits in patterns(64), r in roundings()) {
        for format in FloatFormat::ALL {
            let bits = bits & int::mask(format.bits());
            let back = format.encode(format.decode(bits), r, Overflow::Ieee);
            let canonical = match format {
                FloatFormat::TF32 => bits & !0x1fff,
                _ => bits,
            };
            prop_assert!(back == canonical || format.is_nan(bits), "{format:?} {bits:#x} {back:#x}");
        }
    }

    #[test]
    fn narrowing_matches_apfloat(bits in patterns(64), r in roundings()) {
        use rustc_apfloat::FloatConvert;
        let x = Double::from_bits(u128::from(bits));
        let mut loses = false;
        let half: Half = x.convert_r(round(r), &mut loses).value;
        let bfloat: BFloat = x.convert_r(round(r), &mut loses).value;
        let single: Single = x.convert_r(round(r), &mut loses).value;
        let e5m2: Float8E5M2 = x.convert_r(round(r), &mut loses).value;
        let cases = [
            (FloatFormat::F16, half.to_bits()),
            (FloatFormat::BF16, bfloat.to_bits()),
            (FloatFormat::F32, single.to_bits()),
            (FloatFormat::F8E5M2, e5m2.to_bits()),
        ];
        for (format, theirs) in cases {
            let ours = format.encode(f64::from_bits(bits), r, Overflow::Ieee);
            assert_same(format, ours, theirs as u64, &format!("from {bits:#x} {r:?}"));
        }
    }

    #[test]
    fn integers_and_floats(a in any::<u64>(), bits in patterns(64)) {
        let to = |s, format, v| int_to_float(64, s, format, Rounding::NearestEven, v);
        prop_assert_eq!(to(Signedness::Signed, FloatFormat::F64, a), (a as i64 as f64).to_bits());
        prop_assert_eq!(to(Signedness::Unsigned, FloatFormat::F64, a), (a as f64).to_bits());
        prop_assert_eq!(to(Signedness::Unsigned, FloatFormat::F32, a), u64::from((a as f32).to_bits()));
        let x = f64::from_bits(bits);
        let from = |width, s| float_to_int(FloatFormat::F64, Rounding::Zero, width, s, bits);
        prop_assert_eq!(from(64, Signedness::Signed), x as i64 as u64);
        prop_assert_eq!(from(64, Signedness::Unsigned), x as u64);
        prop_assert_eq!(from(32, Signedness::Signed), u64::from(x as i32 as u32));
        prop_assert_eq!(from(8, Signedness::Unsigned), u64::from(x as u8));
    }

    #[test]
    fn integers_match_the_machine(a in patterns(32), b in patterns(32)) {
        let (x, y) = (a as u32, b as u32);
        let (sx, sy) = (x as i32, y as i32);
        let op = |op| int::binary(op, 32, a, b) as u32;
        let (s, u) = (Signedness::Signed, Signedness::Unsigned);
        prop_assert_eq!(op(IntBinary::Add), x.wrapping_add(y));
        prop_assert_eq!(op(IntBinary::Sub), x.wrapping_sub(y));
        prop_assert_eq!(op(IntBinary::Mul), x.wrapping_mul(y));
        prop_assert_eq!(op(IntBinary::MulHi(u)), ((u64::from(x) * u64::from(y)) >> 32) as u32);
        prop_assert_eq!(op(IntBinary::MulHi(s)), ((i64::from(sx) * i64::from(sy)) >> 32) as u32);
        prop_assert_eq!(op(IntBinary::Shl), x.checked_shl(y).unwrap_or(0));
        prop_assert_eq!(op(IntBinary::Shr(u)), x.checked_shr(y).unwrap_or(0));
        prop_assert_eq!(op(IntBinary::Shr(s)), (sx >> y.min(31)) as u32);
        prop_assert_eq!(op(IntBinary::Min(s)), sx.min(sy) as u32);
        prop_assert_eq!(op(IntBinary::Max(u)), x.max(y));
        prop_assume!(y != 0);
        prop_assert_eq!(op(IntBinary::Div(u, IntRounding::Zero)), x / y);
        prop_assert_eq!(op(IntBinary::Div(u, IntRounding::PositiveInf)), x.div_ceil(y));
        prop_assert_eq!(op(IntBinary::Rem(u)), x % y);
        prop_assert_eq!(op(IntBinary::Div(s, IntRounding::Zero)), sx.wrapping_div(sy) as u32);
        prop_assert_eq!(op(IntBinary::Rem(s)), sx.wrapping_rem(sy) as u32);
        let floor = (f64::from(sx) / f64::from(sy)).floor() as i64 as u32;
        let ceil = (f64::from(sx) / f64::from(sy)).ceil() as i64 as u32;
        prop_assert_eq!(op(IntBinary::Div(s, IntRounding::NegativeInf)), floor);
        prop_assert_eq!(op(IntBinary::Div(s, IntRounding::PositiveInf)), ceil);
    }
}

#[test]
fn minimum_and_maximum_order_zeros_and_nans() {
    let f = |op, a: f32, b: f32| {
        let bits = |v: f32| u64::from(v.to_bits());
        float::binary(op, FloatFormat::F32, FloatMode::default(), bits(a), bits(b)) as u32
    };
    let (min, max) = (
        FloatBinary::Min { nan: false },
        FloatBinary::Max { nan: false },
    );
    assert_eq!(f(min, 0.0, -0.0), (-0.0_f32).to_bits());
    assert_eq!(f(max, -0.0, 0.0), 0.0_f32.to_bits());
    assert_eq!(f(max, f32::NAN, 1.0), 1.0_f32.to_bits());
    assert_eq!(
        f(FloatBinary::Max { nan: true }, f32::NAN, 1.0),
        0x7fff_ffff
    );
    assert_eq!(f(min, f32::NAN, f32::NAN), 0x7fff_ffff);
    assert_eq!(f(min, -3.0, f32::NEG_INFINITY), f32::NEG_INFINITY.to_bits());
}

#[test]
fn flushing_keeps_the_sign() {
    let mode = FloatMode {
        flush: true,
        ..FloatMode::default()
    };
    let tiny = u64::from((-f32::MIN_POSITIVE / 2.0).to_bits());
    let one = u64::from(1.0_f32.to_bits());
    let op = |op, a, b| float::binary(op, FloatFormat::F32, mode, a, b);
    assert_eq!(op(FloatBinary::Mul, tiny, one), 0x8000_0000);
    let least = u64::from(f32::MIN_POSITIVE.to_bits());
    let half = u64::from(0.5_f32.to_bits());
    assert_eq!(op(FloatBinary::Mul, least, half), 0);
}
