//! Float literals, as MLIR writes them.
//!
//! Six digits in scientific form if that reads back as the same value, else enough digits for any
//! value of the format, else (infinities, NaN) the bit pattern in hexadecimal. The digits follow
//! LLVM's `APFloat::toString`, including where it truncates before it rounds.

use num_bigint::BigUint;

use crate::ir::Float;

/// Layout of a format: exponent bits, stored mantissa bits, bias, sign.
struct Layout {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    signed: bool,
}

impl Layout {
    fn of(float: Float) -> Self {
        let (exponent, mantissa, bias, signed) = match float {
            Float::F16 => (5, 10, 15, true),
            Float::BF16 => (8, 7, 127, true),
            Float::F32 => (8, 23, 127, true),
            // As f32: the low 13 bits are zero.
            Float::TF32 => (8, 10, 127, true),
            Float::F64 => (11, 52, 1023, true),
            Float::F8E4M3FN => (4, 3, 7, true),
            Float::F8E5M2 => (5, 2, 15, true),
            Float::F8E8M0FNU => (8, 0, 127, false),
            Float::F8E5M3FNU => (5, 3, 15, false),
            Float::F4E2M1FN => (2, 1, 1, true),
        };
        Self {
            exponent,
            mantissa,
            bias,
            signed,
        }
    }
}

/// A value taken apart: `(-1)^negative · significand · 2^exponent`.
enum Parts {
    Finite {
        negative: bool,
        significand: u64,
        exponent: i32,
    },
    Special,
}

fn parts(float: Float, bits: u64) -> Parts {
    let layout = Layout::of(float);
    let bits = if float == Float::TF32 {
        bits >> 13
    } else {
        bits
    };
    let mantissa = bits & ((1 << layout.mantissa) - 1);
    let all_ones = (1u64 << layout.exponent) - 1;
    let exponent = bits >> layout.mantissa & all_ones;
    let negative = layout.signed && bits >> (layout.mantissa + layout.exponent) & 1 == 1;
    let special = match float {
        Float::F4E2M1FN => false,
        Float::F8E4M3FN | Float::F8E5M3FNU | Float::F8E8M0FNU => {
            exponent == all_ones && mantissa == (1 << layout.mantissa) - 1
        }
        _ => exponent == all_ones,
    };
    if special {
        return Parts::Special;
    }
    // f8E8M0FNU has neither zero nor subnormals.
    let subnormal = exponent == 0 && float != Float::F8E8M0FNU;
    let (significand, power) = if subnormal {
        (mantissa, 1)
    } else {
        (mantissa | 1 << layout.mantissa, exponent as i32)
    };
    Parts::Finite {
        negative,
        significand,
        exponent: power - layout.bias - layout.mantissa as i32,
    }
}

/// `bits` of format `float` as a literal.
pub fn literal(float: Float, bits: u64) -> String {
    let Parts::Finite {
        negative,
        significand,
        exponent,
    } = parts(float, bits)
    else {
        let bits = if float == Float::TF32 {
            bits >> 13
        } else {
            bits
        };
        return format!("0x{bits:X}");
    };
    let sign = if negative { "-" } else { "" };
    if significand == 0 {
        return format!("{sign}0.000000e+00");
    }
    let short = Decimal::of(significand, exponent, 6);
    let text = format!("{sign}{}", short.scientific(6));
    if encode(float, &text) == Some(bits) {
        return text;
    }
    let precision = Layout::of(float).mantissa + 1;
    let digits = 2 + precision as usize * 59 / 196;
    let text = Decimal::of(significand, exponent, digits).plain(digits);
    if text.contains('.') {
        return format!("{sign}{text}");
    }
    let bits = if float == Float::TF32 {
        bits >> 13
    } else {
        bits
    };
    format!("0x{bits:X}")
}

/// Significant decimal digits, most significant first, and the power of ten of the last one.
struct Decimal {
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// `significand · 2^exponent` to at most `precision` digits.
    fn of(significand: u64, exponent: i32, precision: usize) -> Self {
        let zeros = significand.trailing_zeros();
        let mut value = BigUint::from(significand >> zeros);
        let binary = exponent + zeros as i32;
        let mut power = 0;
        if binary >= 0 {
            value <<= binary;
        } else {
            value *= BigUint::from(5u32).pow(binary.unsigned_abs());
            power = binary;
        }
        // Cut to a few digits more than needed before rounding, as LLVM does.
        let bits = value.bits();
        let required = (precision as u64 * 196).div_ceil(59);
        if bits > required {
            let tens = (bits - required) * 59 / 196;
            value /= BigUint::from(10u32).pow(tens as u32);
            power += tens as i32;
        }
        let mut digits = value.to_string().into_bytes();
        digits.iter_mut().for_each(|d| *d -= b'0');
        let mut decimal = Self {
            digits,
            exponent: power,
        };
        decimal.drop_zeros();
        decimal.round(precision);
        decimal
    }

    fn drop_zeros(&mut self) {
        while self.digits.len() > 1 && self.digits.last() == Some(&0) {
            self.digits.pop();
            self.exponent += 1;
        }
    }

    /// Rounds half up to `precision` digits.
    fn round(&mut self, precision: usize) {
        if self.digits.len() <= precision {
            return;
        }
        let up = self.digits[precision] >= 5;
        self.exponent += (self.digits.len() - precision) as i32;
        self.digits.truncate(precision);
        if up {
            let nines = self.digits.iter().rev().take_while(|d| **d == 9).count();
            self.digits.truncate(precision - nines);
            self.exponent += nines as i32;
            match self.digits.last_mut() {
                Some(d) => *d += 1,
                None => self.digits.push(1),
            }
        }
        self.drop_zeros();
    }

    fn text(&self, range: std::ops::Range<usize>) -> String {
        self.digits[range]
            .iter()
            .map(|d| char::from(b'0' + d))
            .collect()
    }

    /// `d.dddddde±xx`, padded with zeros to `precision` digits after the point.
    fn scientific(&self, precision: usize) -> String {
        let n = self.digits.len();
        let exponent = self.exponent + n as i32 - 1;
        format!(
            "{}.{:0<precision$}e{}{:02}",
            self.digits[0],
            self.text(1..n),
            if exponent < 0 { '-' } else { '+' },
            exponent.abs()
        )
    }

    /// Positional form when short enough, else scientific with a capital E.
    fn plain(&self, precision: usize) -> String {
        const MAX_PADDING: i32 = 3;
        let n = self.digits.len() as i32;
        let msd = self.exponent + n - 1;
        let scientific = if self.exponent >= 0 {
            self.exponent > MAX_PADDING || n + self.exponent > precision as i32
        } else {
            msd < 0 && -msd > MAX_PADDING
        };
        let all = self.text(0..self.digits.len());
        if scientific {
            let rest = if n == 1 { "0" } else { &all[1..] };
            let sign = if msd < 0 { '-' } else { '+' };
            return format!("{}.{rest}E{sign}{}", &all[..1], msd.abs());
        }
        if self.exponent >= 0 {
            return all + &"0".repeat(self.exponent as usize);
        }
        let whole = self.exponent + n;
        if whole > 0 {
            format!("{}.{}", &all[..whole as usize], &all[whole as usize..])
        } else {
            format!("0.{}{all}", "0".repeat(-whole as usize))
        }
    }
}

/// The nearest value of `float` to a decimal or hexadecimal literal; hexadecimal is the bit pattern.
/// Too large a decimal is infinity, as MLIR has it. `None` when it is no number, or does not fit in a
/// format without infinities.
pub fn encode(float: Float, text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x") {
        let bits = u64::from_str_radix(hex, 16).ok()?;
        let width = if float == Float::TF32 {
            19
        } else {
            float.bits()
        };
        if width < 64 && bits >> width != 0 {
            return None;
        }
        return Some(if float == Float::TF32 {
            bits << 13
        } else {
            bits
        });
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, power) = decimal(digits)?;
    let layout = Layout::of(float);
    if negative && !layout.signed {
        return None;
    }
    let bits = round_to_format(&layout, float, mantissa, power)?;
    let sign = u64::from(negative) << (layout.mantissa + layout.exponent);
    let bits = bits | sign;
    Some(if float == Float::TF32 {
        bits << 13
    } else {
        bits
    })
}

/// `text` as an integer times a power of ten.
fn decimal(text: &str) -> Option<(BigUint, i32)> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((n, e)) => (n, e.strip_prefix('+').unwrap_or(e).parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // The exponent that can matter is small; refuse what would only make huge numbers.
    if exponent.abs() > 5000 || whole.len() + fraction.len() > 5000 {
        return None;
    }
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mantissa = BigUint::parse_bytes(digits.as_bytes(), 10)?;
    Some((mantissa, exponent - fraction.len() as i32))
}

/// `mantissa · 10^power` to nearest, ties to even, without the sign; `None` where it overflows a
/// format without infinities.
fn round_to_format(layout: &Layout, float: Float, mantissa: BigUint, power: i32) -> Option<u64> {
    let zero = BigUint::ZERO;
    if mantissa == zero {
        return (float != Float::F8E8M0FNU).then_some(0);
    }
    let ten = BigUint::from(10u32).pow(power.unsigned_abs());
    let (num, den) = match power >= 0 {
        true => (mantissa * ten, BigUint::from(1u32)),
        false => (mantissa, ten),
    };
    // Scale so that the quotient has exactly mantissa + 1 bits, or fewer for subnormals.
    let first_normal = i32::from(float != Float::F8E8M0FNU);
    let lowest = first_normal - layout.bias - layout.mantissa as i32;
    let estimate = num.bits() as i32 - den.bits() as i32;
    let mut unit = (estimate - layout.mantissa as i32).max(lowest);
    let divide = |unit: i32| {
        let (num, den) = match unit >= 0 {
            true => (num.clone(), &den << unit),
            false => (&num << -unit, den.clone()),
        };
        let (q, r) = (&num / &den, &num % &den);
        let twice = r << 1;
        let up = twice > den || (twice == den && q.bit(0));
        (q, up)
    };
    let limit = layout.mantissa as u64 + 1;
    // The estimate is off by at most one.
    let (mut q, mut up) = divide(unit);
    if q.bits() < limit && unit > lowest {
        unit -= 1;
        (q, up) = divide(unit);
    } else if q.bits() > limit {
        unit += 1;
        (q, up) = divide(unit);
    }
    if up {
        q += 1u32;
        if q.bits() > limit {
            q >>= 1;
            unit += 1;
        }
    }
    let q = u64::try_from(q).ok()?;
    let hidden = 1u64 << layout.mantissa;
    let field = if q < hidden {
        if float == Float::F8E8M0FNU {
            return None;
        }
        0
    } else {
        u64::try_from(unit + layout.mantissa as i32 + layout.bias).ok()?
    };
    let bits = field << layout.mantissa | (q & (hidden - 1));
    match (field >> layout.exponent, parts(float, untf32(float, bits))) {
        (0, Parts::Finite { .. }) => Some(bits),
        _ => infinity(layout, float),
    }
}

/// The pattern of positive infinity, if the format has one.
fn infinity(layout: &Layout, float: Float) -> Option<u64> {
    use Float::{BF16, F8E5M2, F16, F32, F64, TF32};
    let has = matches!(float, F16 | BF16 | F32 | F64 | TF32 | F8E5M2);
    has.then_some(((1 << layout.exponent) - 1) << layout.mantissa)
}

fn untf32(float: Float, bits: u64) -> u64 {
    if float == Float::TF32 {
        bits << 13
    } else {
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32_text(v: f32) -> String {
        literal(Float::F32, u64::from(v.to_bits()))
    }

    /// Spellings seen in MLIR's own test files and tileirdisasm output.
    #[test]
    fn known_spellings() {
        assert_eq!(f32_text(0.0), "0.000000e+00");
        assert_eq!(f32_text(-0.0), "-0.000000e+00");
        assert_eq!(f32_text(1.0), "1.000000e+00");
        assert_eq!(f32_text(0.1), "1.000000e-01");
        assert_eq!(f32_text(std::f32::consts::LOG2_E), "1.44269502");
        assert_eq!(f32_text(f32::INFINITY), "0x7F800000");
        assert_eq!(literal(Float::F16, 0xFC00), "0xFC00");
    }

    #[test]
    fn every_small_float_reads_back() {
        for (float, bits) in [
            (Float::F16, 16),
            (Float::BF16, 16),
            (Float::F8E4M3FN, 8),
            (Float::F8E5M2, 8),
            (Float::F8E8M0FNU, 8),
            (Float::F8E5M3FNU, 8),
            (Float::F4E2M1FN, 4),
        ] {
            for value in 0..1u64 << bits {
                let text = literal(float, value);
                assert_eq!(
                    encode(float, &text),
                    Some(value),
                    "{float:?} {value:#x} {text}"
                );
            }
        }
    }

    #[test]
    fn decimals_agree_with_the_standard_library() {
        for text in [
            "3.14159",
            "1e-45",
            "7.006492321624085e-46",
            "16777217",
            "1e38",
            "1e39",
            "0.3",
        ] {
            let expected = u64::from(text.parse::<f32>().unwrap().to_bits());
            assert_eq!(encode(Float::F32, text), Some(expected), "{text}");
            let expected = text.parse::<f64>().unwrap().to_bits();
            assert_eq!(encode(Float::F64, text), Some(expected), "{text}");
        }
        // The format has no infinity to overflow to.
        assert_eq!(encode(Float::F8E4M3FN, "1e39"), None);
    }
}
