//! IEEE 754 operations on bit patterns of any format.

use super::format::{FloatFormat, Overflow, Rounding, Unpacked};

/// Modifiers of an arithmetic operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloatMode {
    pub rounding: Rounding,
    /// Subnormal operands and results become zero of the same sign.
    pub flush: bool,
}

impl Default for FloatMode {
    fn default() -> Self {
        Self {
            rounding: Rounding::NearestEven,
            flush: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatUnary {
    /// Flips the sign bit, of NaN too.
    Neg,
    /// Clears the sign bit, of NaN too.
    Abs,
    Sqrt,
    Floor,
    Ceil,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatBinary {
    Add,
    Sub,
    Mul,
    Div,
    /// Remainder of truncated division, exact.
    Rem,
    /// IEEE 754-2019 `minimum` (NaN wins) when `nan`, else `minimumNumber`; -0 < +0.
    Min {
        nan: bool,
    },
    /// `maximum` when `nan`, else `maximumNumber`.
    Max {
        nan: bool,
    },
}

/// Comparison predicates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Compare {
    /// Whether the predicate holds for operands in this order.
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Compare::Equal => order.is_eq(),
            Compare::NotEqual => order.is_ne(),
            Compare::Less => order.is_lt(),
            Compare::LessEqual => order.is_le(),
            Compare::Greater => order.is_gt(),
            Compare::GreaterEqual => order.is_ge(),
        }
    }
}

/// What a comparison with NaN yields: false when ordered, true when unordered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ordering {
    Unordered,
    Ordered,
}

/// A subnormal becomes a zero of its sign where the mode flushes.
pub fn flush(format: FloatFormat, mode: FloatMode, bits: u64) -> u64 {
    if mode.flush && format.is_subnormal(bits) {
        bits & format.sign_bit()
    } else {
        bits
    }
}

/// The rounded value, flushed where the mode says so.
fn finish(format: FloatFormat, mode: FloatMode, value: Unpacked) -> u64 {
    flush(
        format,
        mode,
        format.pack_any(value, mode.rounding, Overflow::Ieee),
    )
}

pub fn unary(op: FloatUnary, format: FloatFormat, mode: FloatMode, a: u64) -> u64 {
    match op {
        FloatUnary::Neg => a ^ format.sign_bit(),
        FloatUnary::Abs => a & !format.sign_bit(),
        FloatUnary::Sqrt => {
            let a = flush(format, mode, a);
            let root = match format.unpack(a) {
                Unpacked::Finite(v) if !v.negative => Unpacked::Finite(v.sqrt()),
                Unpacked::Finite(_) | Unpacked::Infinity { negative: true } => Unpacked::Nan,
                special => special,
            };
            finish(format, mode, root)
        }
        FloatUnary::Floor => to_integer(format, Rounding::NegativeInf, a),
        FloatUnary::Ceil => to_integer(format, Rounding::PositiveInf, a),
    }
}

/// The integer next to the value in the given direction, in the same format.
fn to_integer(format: FloatFormat, direction: Rounding, a: u64) -> u64 {
    let value = format.decode(a);
    if value.is_nan() {
        return format.nan();
    }
    let integer = match direction {
        Rounding::NegativeInf => value.floor(),
        _ => value.ceil(),
    };
    // Exact: an integer between two values of a format is a value of that format.
    format.encode(integer, Rounding::NearestEven, Overflow::Ieee)
}

pub fn binary(op: FloatBinary, format: FloatFormat, mode: FloatMode, a: u64, b: u64) -> u64 {
    let (a, b) = (flush(format, mode, a), flush(format, mode, b));
    let (x, y) = (format.unpack(a), format.unpack(b));
    match op {
        FloatBinary::Add => finish(format, mode, sum(x, y, mode.rounding)),
        FloatBinary::Sub => finish(format, mode, sum(x, negated(y), mode.rounding)),
        FloatBinary::Mul => finish(format, mode, product(x, y)),
        FloatBinary::Div => finish(format, mode, quotient(x, y)),
        FloatBinary::Rem => remainder(format, a, b),
        FloatBinary::Min { nan } => extremum(format, nan, a, b, false),
        FloatBinary::Max { nan } => extremum(format, nan, a, b, true),
    }
}

/// `a * b + c`, rounded once.
pub fn fma(format: FloatFormat, mode: FloatMode, a: u64, b: u64, c: u64) -> u64 {
    let [x, y, z] = [a, b, c].map(|v| format.unpack(flush(format, mode, v)));
    finish(format, mode, sum(product(x, y), z, mode.rounding))
}

fn negated(x: Unpacked) -> Unpacked {
    match x {
        Unpacked::Nan => Unpacked::Nan,
        Unpacked::Infinity { negative } => Unpacked::Infinity {
            negative: !negative,
        },
        Unpacked::Zero { negative } => Unpacked::Zero {
            negative: !negative,
        },
        Unpacked::Finite(v) => Unpacked::Finite(-v),
    }
}

/// The sum before rounding; `rounding` decides the sign of an exact zero from opposite operands.
fn sum(x: Unpacked, y: Unpacked, rounding: Rounding) -> Unpacked {
    let cancelled = Unpacked::Zero {
        negative: rounding == Rounding::NegativeInf,
    };
    match (x, y) {
        (Unpacked::Nan, _) | (_, Unpacked::Nan) => Unpacked::Nan,
        (Unpacked::Infinity { negative: a }, Unpacked::Infinity { negative: b }) if a != b => {
            Unpacked::Nan
        }
        (Unpacked::Infinity { .. }, _) => x,
        (_, Unpacked::Infinity { .. }) => y,
        (Unpacked::Zero { negative: a }, Unpacked::Zero { negative: b }) => {
            if a == b {
                x
            } else {
                cancelled
            }
        }
        (Unpacked::Zero { .. }, _) => y,
        (_, Unpacked::Zero { .. }) => x,
        (Unpacked::Finite(a), Unpacked::Finite(b)) => a.plus(b).map_or(cancelled, Unpacked::Finite),
    }
}

fn product(x: Unpacked, y: Unpacked) -> Unpacked {
    let negative = x.is_negative() != y.is_negative();
    match (x, y) {
        (Unpacked::Nan, _) | (_, Unpacked::Nan) => Unpacked::Nan,
        (Unpacked::Infinity { .. }, Unpacked::Zero { .. })
        | (Unpacked::Zero { .. }, Unpacked::Infinity { .. }) => Unpacked::Nan,
        (Unpacked::Infinity { .. }, _) | (_, Unpacked::Infinity { .. }) => {
            Unpacked::Infinity { negative }
        }
        (Unpacked::Zero { .. }, _) | (_, Unpacked::Zero { .. }) => Unpacked::Zero { negative },
        (Unpacked::Finite(a), Unpacked::Finite(b)) => Unpacked::Finite(a * b),
    }
}

fn quotient(x: Unpacked, y: Unpacked) -> Unpacked {
    let negative = x.is_negative() != y.is_negative();
    match (x, y) {
        (Unpacked::Nan, _) | (_, Unpacked::Nan) => Unpacked::Nan,
        (Unpacked::Infinity { .. }, Unpacked::Infinity { .. })
        | (Unpacked::Zero { .. }, Unpacked::Zero { .. }) => Unpacked::Nan,
        (Unpacked::Infinity { .. }, _) | (_, Unpacked::Zero { .. }) => {
            Unpacked::Infinity { negative }
        }
        (Unpacked::Zero { .. }, _) | (_, Unpacked::Infinity { .. }) => Unpacked::Zero { negative },
        (Unpacked::Finite(a), Unpacked::Finite(b)) => Unpacked::Finite(a / b),
    }
}

/// `x - trunc(x / y) * y`: always representable, so the exact remainder of `f64` serves every format.
fn remainder(format: FloatFormat, a: u64, b: u64) -> u64 {
    let rest = format.decode(a) % format.decode(b);
    format.encode(rest, Rounding::NearestEven, Overflow::Ieee)
}

fn extremum(format: FloatFormat, nan: bool, a: u64, b: u64, max: bool) -> u64 {
    match (format.is_nan(a), format.is_nan(b)) {
        (false, false) => {
            let a_first = format.total_order_key(a) < format.total_order_key(b);
            if a_first != max { a } else { b }
        }
        (true, false) if !nan => b,
        (false, true) if !nan => a,
        _ => format.nan(),
    }
}

/// The comparison of two patterns.
pub fn compare(format: FloatFormat, op: Compare, ordering: Ordering, a: u64, b: u64) -> bool {
    if format.is_nan(a) || format.is_nan(b) {
        return ordering == Ordering::Unordered;
    }
    // The zeros are equal: the key of -0 is -1.
    let key = |bits| match format.total_order_key(bits) {
        -1 => 0,
        key => key,
    };
    op.holds(key(a).cmp(&key(b)))
}
