//! Numeric literals (PTX ISA 4.5 "Constants").

/// A literal's value before it meets a type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Literal {
    /// An integer as a 64-bit pattern.
    Int(u64),
    /// `0f…`: the bits of a single.
    Single(u32),
    /// `0d…` or decimal: a double.
    Double(f64),
}

impl Literal {
    /// Reads `text`, negated if `negative`. `None` if it is no literal.
    pub fn parse(text: &str, negative: bool) -> Option<Literal> {
        let lower = text.to_ascii_lowercase();
        if let Some(hex) = lower.strip_prefix("0f").filter(|h| h.len() == 8) {
            let bits = u32::from_str_radix(hex, 16).ok()?;
            return Some(Literal::Single(bits ^ (u32::from(negative) << 31)));
        }
        if let Some(hex) = lower.strip_prefix("0d").filter(|h| h.len() == 16) {
            let bits = u64::from_str_radix(hex, 16).ok()?;
            return Some(Literal::Double(f64::from_bits(
                bits ^ (u64::from(negative) << 63),
            )));
        }
        let digits = lower.strip_suffix('u').unwrap_or(&lower);
        if digits.contains('.') || (digits.contains('e') && !digits.starts_with("0x")) {
            let value: f64 = digits.parse().ok()?;
            return Some(Literal::Double(if negative { -value } else { value }));
        }
        let value = if let Some(hex) = digits.strip_prefix("0x") {
            u64::from_str_radix(hex, 16)
        } else if let Some(bin) = digits.strip_prefix("0b") {
            u64::from_str_radix(bin, 2)
        } else if digits.len() > 1 && digits.starts_with('0') {
            u64::from_str_radix(&digits[1..], 8)
        } else {
            digits.parse()
        };
        let value = value.ok()?;
        Some(Literal::Int(if negative {
            value.wrapping_neg()
        } else {
            value
        }))
    }

    /// The 64-bit pattern for an integer context.
    pub fn as_int(self) -> u64 {
        match self {
            Literal::Int(v) => v,
            Literal::Single(b) => u64::from(b),
            Literal::Double(d) => d.to_bits(),
        }
    }

    /// The value for a floating-point context.
    pub fn as_f64(self) -> f64 {
        match self {
            Literal::Int(v) => v as i64 as f64,
            Literal::Single(b) => f64::from(f32::from_bits(b)),
            Literal::Double(d) => d,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Literal;

    #[test]
    fn literals_read_as_the_isa_says() {
        assert_eq!(Literal::parse("0x1F", false), Some(Literal::Int(31)));
        assert_eq!(Literal::parse("017", false), Some(Literal::Int(15)));
        assert_eq!(Literal::parse("0b101", false), Some(Literal::Int(5)));
        assert_eq!(
            Literal::parse("4294967295U", false),
            Some(Literal::Int(u32::MAX.into()))
        );
        assert_eq!(Literal::parse("1", true), Some(Literal::Int(u64::MAX)));
        assert_eq!(
            Literal::parse("0f3F800000", false),
            Some(Literal::Single(0x3f80_0000))
        );
        assert_eq!(
            Literal::parse("0d3FF0000000000000", true),
            Some(Literal::Double(-1.0))
        );
        assert_eq!(Literal::parse("1.5e2", false), Some(Literal::Double(150.0)));
        assert_eq!(Literal::parse("0xg", false), None);
    }
}
