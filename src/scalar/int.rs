//! Integer operations on patterns of 1 to 64 bits.
//!
//! Results are modulo 2^width. Where Tile IR leaves a result undefined, the choice is NVIDIA
//! hardware's: a shift by the width or more shifts everything out, a quotient by zero has all
//! bits set, a remainder by zero is the dividend.

/// How an operation reads its patterns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Signedness {
    Unsigned,
    Signed,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IntUnary {
    /// Negation.
    Neg,
    /// Magnitude of the signed value, as an unsigned result.
    Abs,
    Not,
    /// How many bits are set.
    CountOnes,
    /// How many zeros stand above the highest set bit.
    LeadingZeros,
}

/// Direction in which a quotient is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IntRounding {
    Zero,
    NegativeInf,
    PositiveInf,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IntBinary {
    Add,
    Sub,
    Mul,
    /// The high half of the double-width product.
    MulHi(Signedness),
    Div(Signedness, IntRounding),
    /// Remainder of truncated division: the sign of the dividend.
    Rem(Signedness),
    Min(Signedness),
    Max(Signedness),
    And,
    Or,
    Xor,
    /// The shift count is unsigned.
    Shl,
    Shr(Signedness),
}

/// The low `width` bits set.
#[inline]
pub fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}

/// The signed value of a pattern.
#[inline]
pub fn sign_extend(width: u32, bits: u64) -> i64 {
    let shift = 64 - width.clamp(1, 64);
    (bits << shift) as i64 >> shift
}

/// The value of a pattern.
pub fn value(width: u32, signedness: Signedness, bits: u64) -> i128 {
    match signedness {
        Signedness::Unsigned => i128::from(bits & mask(width)),
        Signedness::Signed => i128::from(sign_extend(width, bits)),
    }
}

#[inline]
pub fn unary(op: IntUnary, width: u32, a: u64) -> u64 {
    let result = match op {
        IntUnary::Neg => a.wrapping_neg(),
        IntUnary::Abs => sign_extend(width, a).unsigned_abs(),
        IntUnary::Not => !a,
        IntUnary::CountOnes => (a & mask(width)).count_ones().into(),
        IntUnary::LeadingZeros => {
            ((a & mask(width)).leading_zeros() + width.clamp(1, 64) - 64).into()
        }
    };
    result & mask(width)
}

#[inline]
pub fn binary(op: IntBinary, width: u32, a: u64, b: u64) -> u64 {
    let of = |s| (value(width, s, a), value(width, s, b));
    let result = match op {
        IntBinary::Add => a.wrapping_add(b),
        IntBinary::Sub => a.wrapping_sub(b),
        IntBinary::Mul => a.wrapping_mul(b),
        IntBinary::MulHi(Signedness::Unsigned) => {
            let (a, b) = (u128::from(a & mask(width)), u128::from(b & mask(width)));
            ((a * b) >> width) as u64
        }
        IntBinary::MulHi(Signedness::Signed) => {
            let (a, b) = of(Signedness::Signed);
            ((a * b) >> width) as u64
        }
        IntBinary::Div(s, rounding) => {
            let (a, b) = of(s);
            divide(a, b, rounding) as u64
        }
        IntBinary::Rem(s) => {
            let (a, b) = of(s);
            if b == 0 { a as u64 } else { (a % b) as u64 }
        }
        IntBinary::Min(s) | IntBinary::Max(s) => {
            if compare(width, s, a, b).is_lt() == matches!(op, IntBinary::Min(_)) {
                a
            } else {
                b
            }
        }
        IntBinary::And => a & b,
        IntBinary::Or => a | b,
        IntBinary::Xor => a ^ b,
        IntBinary::Shl | IntBinary::Shr(_) => shift(op, width, a, b & mask(width)),
    };
    result & mask(width)
}

fn divide(a: i128, b: i128, rounding: IntRounding) -> i128 {
    if b == 0 {
        return -1;
    }
    let (quotient, rest) = (a / b, a % b);
    let positive = (a < 0) == (b < 0);
    match rounding {
        IntRounding::PositiveInf if rest != 0 && positive => quotient + 1,
        IntRounding::NegativeInf if rest != 0 && !positive => quotient - 1,
        _ => quotient,
    }
}

fn shift(op: IntBinary, width: u32, a: u64, by: u64) -> u64 {
    let by = by.min(u64::from(width)) as u32;
    match op {
        IntBinary::Shl => a.checked_shl(by).unwrap_or(0),
        IntBinary::Shr(Signedness::Signed) => (sign_extend(width, a) >> by.min(63)) as u64,
        _ => (a & mask(width)).checked_shr(by).unwrap_or(0),
    }
}

/// Numerical order of two patterns.
#[inline]
pub fn compare(width: u32, signedness: Signedness, a: u64, b: u64) -> std::cmp::Ordering {
    match signedness {
        Signedness::Unsigned => (a & mask(width)).cmp(&(b & mask(width))),
        Signedness::Signed => sign_extend(width, a).cmp(&sign_extend(width, b)),
    }
}

/// The pattern in a wider type.
pub fn extend(from: u32, to: u32, signedness: Signedness, a: u64) -> u64 {
    value(from, signedness, a) as u64 & mask(to)
}
