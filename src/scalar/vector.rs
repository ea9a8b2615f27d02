//! The scalar operations over arrays.
//!
//! Operands have the same number of elements, or one (a splat). Where the machine's own
//! arithmetic is the correctly rounded one it is used: f32 and f64 to nearest, and f16 and bf16
//! through f32, whose 24 bits are at least 2p + 2, so that rounding twice is harmless (Figueroa,
//! *When is double rounding innocuous?*, 1995). Everything else goes element by element.

use half::{bf16, f16};

use super::float::{self, Compare, FloatBinary, FloatMode, FloatUnary, Ordering};
use super::format::{FloatFormat, Overflow, Rounding};
use super::int::{self, IntBinary, IntUnary, Signedness};
use super::lanes::{Lanes, Word, map1, map2, map3, with_lanes, with_word};
use super::math::{self, MathBinary, MathUnary};
use super::{convert, int::IntRounding};

/// A float type the machine computes with, or that a wider one computes for.
trait Native: Copy {
    type Bits: Word;
    type Wide: std::ops::Add<Output = Self::Wide>
        + std::ops::Sub<Output = Self::Wide>
        + std::ops::Mul<Output = Self::Wide>
        + std::ops::Div<Output = Self::Wide>;
    const FORMAT: FloatFormat;
    fn load(bits: Self::Bits) -> Self::Wide;
    /// Rounds to nearest even; NaN becomes the format's own.
    fn store(wide: Self::Wide) -> Self::Bits;
    fn sqrt(wide: Self::Wide) -> Self::Wide;
}

macro_rules! native {
    ($($ty:ident $bits:ident $wide:ident $format:ident |$from:ident| $load:expr, |$value:ident| $store:expr;)*) => { $(
        impl Native for $ty {
            type Bits = $bits;
            type Wide = $wide;
            const FORMAT: FloatFormat = FloatFormat::$format;
            #[inline(always)]
            fn load($from: $bits) -> $wide {
                $load
            }
            #[inline(always)]
            fn store($value: $wide) -> $bits {
                if $value.is_nan() {
                    Self::FORMAT.nan() as $bits
                } else {
                    $store
                }
            }
            #[inline(always)]
            fn sqrt(wide: $wide) -> $wide {
                wide.sqrt()
            }
        }
    )* };
}

native! {
    f32 u32 f32 F32 |b| f32::from_bits(b), |v| v.to_bits();
    f64 u64 f64 F64 |b| f64::from_bits(b), |v| v.to_bits();
    f16 u16 f32 F16 |b| f16::from_bits(b).to_f32(), |v| f16::from_f32(v).to_bits();
    bf16 u16 f32 BF16 |b| bf16::from_bits(b).to_f32(), |v| bf16::from_f32(v).to_bits();
}

/// Evaluates an expression with `$native` naming the native type of a format, or the other one.
macro_rules! with_native {
    ($format:expr, $native:ident => $body:expr, _ => $other:expr) => {
        match $format {
            FloatFormat::F32 => {
                type $native = f32;
                $body
            }
            FloatFormat::F64 => {
                type $native = f64;
                $body
            }
            FloatFormat::F16 => {
                type $native = f16;
                $body
            }
            FloatFormat::BF16 => {
                type $native = bf16;
                $body
            }
            _ => $other,
        }
    };
}

/// Applies a function of patterns to arrays of `$bits`-bit elements.
macro_rules! each {
    ($bits:expr, $a:expr, |$x:ident| $f:expr) => {
        with_word!($bits, W => map1(W::slice($a), |$x: W| { let $x = $x.bits(); W::of($f) }))
    };
    ($bits:expr, $a:expr, $b:expr, |$x:ident, $y:ident| $f:expr) => {
        with_word!($bits, W => map2(W::slice($a), W::slice($b), |$x: W, $y: W| {
            let ($x, $y) = ($x.bits(), $y.bits());
            W::of($f)
        }))
    };
}

/// Runs `$f` with `$op` a constant in each arm, so that the inner loop is specialised.
macro_rules! specialise {
    ($op:expr, $name:ident => $f:expr, [$($case:expr => $pattern:pat),* $(,)?]) => {
        match $op {
            $($pattern => { const OP: IntBinary = $case; let $name = OP; $f })*
            other => { let $name = other; $f }
        }
    };
}

pub fn int_unary(op: IntUnary, width: u32, a: &Lanes) -> Lanes {
    each!(width, a, |x| int::unary(op, width, x))
}

pub fn int_binary(op: IntBinary, width: u32, a: &Lanes, b: &Lanes) -> Lanes {
    specialise!(op, op => each!(width, a, b, |x, y| int::binary(op, width, x, y)), [
        IntBinary::Add => IntBinary::Add,
        IntBinary::Sub => IntBinary::Sub,
        IntBinary::Mul => IntBinary::Mul,
        IntBinary::And => IntBinary::And,
        IntBinary::Or => IntBinary::Or,
        IntBinary::Xor => IntBinary::Xor,
        IntBinary::Shl => IntBinary::Shl,
        IntBinary::Min(Signedness::Signed) => IntBinary::Min(Signedness::Signed),
        IntBinary::Max(Signedness::Signed) => IntBinary::Max(Signedness::Signed),
        IntBinary::Div(Signedness::Signed, IntRounding::Zero) => IntBinary::Div(Signedness::Signed, IntRounding::Zero),
    ])
}

/// The comparison as elements 0 and 1.
pub fn int_compare(op: Compare, signedness: Signedness, width: u32, a: &Lanes, b: &Lanes) -> Lanes {
    with_word!(width, W => map2(W::slice(a), W::slice(b), |x: W, y: W| {
        u8::from(op.holds(int::compare(width, signedness, x.bits(), y.bits())))
    }))
}

/// The comparison as elements 0 and 1.
pub fn float_compare(
    op: Compare,
    ordering: Ordering,
    format: FloatFormat,
    a: &Lanes,
    b: &Lanes,
) -> Lanes {
    with_word!(format.bits(), W => map2(W::slice(a), W::slice(b), |x: W, y: W| {
        u8::from(float::compare(format, op, ordering, x.bits(), y.bits()))
    }))
}

fn is_native(mode: FloatMode) -> bool {
    mode.rounding == Rounding::NearestEven && !mode.flush
}

pub fn float_unary(op: FloatUnary, format: FloatFormat, mode: FloatMode, a: &Lanes) -> Lanes {
    if op == FloatUnary::Sqrt && is_native(mode) {
        with_native!(format, N => {
            return map1(Word::slice(a), |x| N::store(<N as Native>::sqrt(N::load(x))));
        }, _ => ());
    }
    each!(format.bits(), a, |x| float::unary(op, format, mode, x))
}

fn native_binary<N: Native>(op: FloatBinary, a: &Lanes, b: &Lanes) -> Option<Lanes> {
    let (a, b) = (N::Bits::slice(a), N::Bits::slice(b));
    Some(match op {
        FloatBinary::Add => map2(a, b, |x, y| N::store(N::load(x) + N::load(y))),
        FloatBinary::Sub => map2(a, b, |x, y| N::store(N::load(x) - N::load(y))),
        FloatBinary::Mul => map2(a, b, |x, y| N::store(N::load(x) * N::load(y))),
        FloatBinary::Div => map2(a, b, |x, y| N::store(N::load(x) / N::load(y))),
        _ => return None,
    })
}

pub fn float_binary(
    op: FloatBinary,
    format: FloatFormat,
    mode: FloatMode,
    a: &Lanes,
    b: &Lanes,
) -> Lanes {
    let native = if is_native(mode) {
        with_native!(format, N => native_binary::<N>(op, a, b), _ => None)
    } else {
        None
    };
    native.unwrap_or_else(|| {
        each!(format.bits(), a, b, |x, y| float::binary(
            op, format, mode, x, y
        ))
    })
}

pub fn fma(format: FloatFormat, mode: FloatMode, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    if format == FloatFormat::F32 && is_native(mode) {
        let [a, b, c] = [a, b, c].map(u32::slice);
        return map3(a, b, c, |x, y, z| {
            f32::store(f32::load(x).mul_add(f32::load(y), f32::load(z)))
        });
    }
    with_word!(format.bits(), W => {
        map3(W::slice(a), W::slice(b), W::slice(c), |x: W, y: W, z: W| {
            W::of(float::fma(format, mode, x.bits(), y.bits(), z.bits()))
        })
    })
}

pub fn math_unary(op: MathUnary, format: FloatFormat, flush: bool, a: &Lanes) -> Lanes {
    let f = op.function();
    if format == FloatFormat::F32 && !flush {
        return map1(u32::slice(a), |x| {
            f32::store(f(f64::from(f32::load(x))) as f32)
        });
    }
    each!(format.bits(), a, |x| {
        math::finish(format, flush, f(math::operand(format, flush, x)))
    })
}

pub fn math_binary(op: MathBinary, format: FloatFormat, a: &Lanes, b: &Lanes) -> Lanes {
    each!(format.bits(), a, b, |x, y| math::binary(op, format, x, y))
}

/// Integer powers; the exponents are signed.
pub fn powi(format: FloatFormat, width: u32, a: &Lanes, exponents: &Lanes) -> Lanes {
    with_word!(format.bits(), W => with_word!(width, E => {
        map2(W::slice(a), E::slice(exponents), |x: W, n: E| {
            W::of(convert::power(format, FloatMode::default(), x.bits(), int::sign_extend(width, n.bits())))
        })
    }))
}

pub fn float_to_float(
    from: FloatFormat,
    to: FloatFormat,
    rounding: Rounding,
    overflow: Overflow,
    a: &Lanes,
) -> Lanes {
    use FloatFormat::{BF16, F16, F32, F64};
    match (from, to, rounding) {
        (F16, F32, _) => map1(u16::slice(a), |x| f32::store(f16::load(x))),
        (BF16, F32, _) => map1(u16::slice(a), |x| f32::store(bf16::load(x))),
        (F32, F16, Rounding::NearestEven) => map1(u32::slice(a), |x| f16::store(f32::load(x))),
        (F32, BF16, Rounding::NearestEven) => map1(u32::slice(a), |x| bf16::store(f32::load(x))),
        (F32, F64, _) => map1(u32::slice(a), |x| f64::store(f64::from(f32::load(x)))),
        (F64, F32, Rounding::NearestEven) => {
            map1(u64::slice(a), |x| f32::store(f64::load(x) as f32))
        }
        _ => with_word!(from.bits(), A => with_word!(to.bits(), R => {
            map1(A::slice(a), |x: A| {
                R::of(convert::float_to_float(from, to, rounding, overflow, x.bits()))
            })
        })),
    }
}

pub fn int_to_float(
    width: u32,
    signedness: Signedness,
    to: FloatFormat,
    rounding: Rounding,
    a: &Lanes,
) -> Lanes {
    with_word!(width, A => with_word!(to.bits(), R => {
        map1(A::slice(a), |x: A| R::of(convert::int_to_float(width, signedness, to, rounding, x.bits())))
    }))
}

/// A function of the patterns of arrays of any widths; `bits` is the width of its results. `None` where it has none.
pub fn each(bits: u32, operands: &[&Lanes], f: impl Fn(&[u64]) -> Option<u64>) -> Option<Lanes> {
    let count = operands.iter().map(|lanes| lanes.len()).max()?;
    let mut values = vec![0; operands.len()];
    let of = |i: usize| {
        for (value, lanes) in values.iter_mut().zip(operands) {
            *value = lanes.get(i);
        }
        f(&values)
    };
    let results: Option<Vec<u64>> = (0..count).map(of).collect();
    Some(Lanes::collect(bits, results?.into_iter()))
}

/// Sign or zero extension, or truncation.
pub fn int_to_int(from: u32, to: u32, signedness: Signedness, a: &Lanes) -> Lanes {
    with_word!(from, A => with_word!(to, R => {
        map1(A::slice(a), |x: A| R::of(int::extend(from, to, signedness, x.bits())))
    }))
}

/// Elements of `a` where `condition` is not 0, of `b` elsewhere.
pub fn select(condition: &Lanes, a: &Lanes, b: &Lanes) -> Lanes {
    let condition = u8::slice(condition);
    with_lanes!(a, a => map3(condition, a, Word::slice(b), |c, x, y| if c != 0 { x } else { y }))
}

/// The values as `f64`, exact.
pub fn to_f64(format: FloatFormat, a: &Lanes) -> Vec<f64> {
    match (format, a) {
        (FloatFormat::F32, Lanes::W32(v)) => {
            v.iter().map(|&x| f64::from(f32::from_bits(x))).collect()
        }
        (FloatFormat::F64, Lanes::W64(v)) => v.iter().map(|&x| f64::from_bits(x)).collect(),
        (FloatFormat::F16, Lanes::W16(v)) => v.iter().map(|&x| f64::from(f16::load(x))).collect(),
        (FloatFormat::BF16, Lanes::W16(v)) => v.iter().map(|&x| f64::from(bf16::load(x))).collect(),
        (_, Lanes::W8(v)) => {
            let table: Vec<f64> = (0..256).map(|x| format.decode(x)).collect();
            v.iter().map(|&x| table[usize::from(x)]).collect()
        }
        _ => a.iter().map(|x| format.decode(x)).collect(),
    }
}

/// The nearest patterns of the format.
pub fn from_f64(format: FloatFormat, values: &[f64]) -> Lanes {
    match format {
        FloatFormat::F32 => Lanes::W32(values.iter().map(|&v| f32::store(v as f32)).collect()),
        _ => Lanes::collect(
            format.bits(),
            values
                .iter()
                .map(|&v| format.encode(v, Rounding::NearestEven, Overflow::Ieee)),
        ),
    }
}
