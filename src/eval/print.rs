//! `print_tko`: C `printf` formats over tiles.
//!
//! A scalar prints like a C argument; a tile prints its elements as `[0, 1, 2]`, nested by
//! dimension, each with the conversion's flags, width and precision. `h`, `l`, `j`, `z`, `t` and
//! `L` are accepted and ignored: the tile's type says how wide its elements are.

use super::types::{Elem, TileType};
use crate::scalar::{Lanes, int};

/// A parsed format string.
pub struct Format(Vec<Piece>);

enum Piece {
    Text(String),
    Value(Spec),
}

/// One conversion.
#[derive(Default)]
struct Spec {
    minus: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    conversion: char,
}

/// Longest field or precision; more is cut to this.
const LIMIT: usize = 1024;

impl Format {
    /// Reads a format; an incomplete conversion at the end is text.
    pub fn parse(format: &str) -> Self {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("%%") {
                text.push('%');
                rest = after;
            } else if let Some((spec, after)) = Spec::parse(&rest[1..]) {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Value(spec));
                rest = after;
            } else {
                text.push('%');
                rest = &rest[1..];
            }
        }
        text.push_str(rest);
        pieces.push(Piece::Text(text));
        Self(pieces)
    }

    /// How many values it takes.
    pub fn values(&self) -> usize {
        let is_value = |piece: &&Piece| matches!(piece, Piece::Value(_));
        self.0.iter().filter(is_value).count()
    }

    /// Appends the formatted values.
    pub fn write(&self, out: &mut String, types: &[TileType], values: &[&Lanes]) {
        let mut arguments = types.iter().zip(values);
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Value(spec) => {
                    if let Some((ty, lanes)) = arguments.next() {
                        let mut next = 0;
                        spec.tile(out, ty.elem, &ty.shape, lanes, &mut next);
                    }
                }
            }
        }
    }
}

impl Spec {
    fn parse(s: &str) -> Option<(Self, &str)> {
        let mut spec = Spec::default();
        let mut chars = s.chars();
        let mut c = chars.next()?;
        loop {
            match c {
                '-' => spec.minus = true,
                '+' => spec.plus = true,
                ' ' => spec.space = true,
                '#' => spec.alternate = true,
                '0' => spec.zero = true,
                _ => break,
            }
            c = chars.next()?;
        }
        spec.width = number(&mut c, &mut chars)?;
        if c == '.' {
            c = chars.next()?;
            spec.precision = Some(number(&mut c, &mut chars)?);
        }
        while "hljztL".contains(c) {
            c = chars.next()?;
        }
        spec.conversion = c;
        "diuoxXcfFeEgGaAp"
            .contains(c)
            .then_some((spec, chars.as_str()))
    }

    fn tile(&self, out: &mut String, elem: Elem, shape: &[usize], lanes: &Lanes, next: &mut usize) {
        let Some((&extent, inner)) = shape.split_first() else {
            self.element(out, elem, lanes.get(*next));
            *next += 1;
            return;
        };
        out.push('[');
        for i in 0..extent {
            if i > 0 {
                out.push_str(", ");
            }
            self.tile(out, elem, inner, lanes, next);
        }
        out.push(']');
    }

    fn element(&self, out: &mut String, elem: Elem, bits: u64) {
        let text = match self.conversion {
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => self.float(as_float(elem, bits)),
            'd' | 'i' => self.signed(as_signed(elem, bits)),
            'c' => char::from(bits as u8).to_string(),
            'p' => format!("{bits:#x}"),
            _ => self.unsigned(match elem {
                Elem::Float(_) => as_signed(elem, bits) as u64,
                _ => bits,
            }),
        };
        self.pad(out, &text);
    }

    /// Pads to the width, zeros after sign and prefix.
    fn pad(&self, out: &mut String, text: &str) {
        let missing = self.width.saturating_sub(text.chars().count());
        let number =
            !text.ends_with(|c: char| c.is_ascii_alphabetic()) || "xX".contains(self.conversion);
        let zeros = self.zero && !self.minus && number && self.integer_precision().is_none();
        if self.minus {
            out.push_str(text);
            out.extend(std::iter::repeat_n(' ', missing));
        } else if zeros {
            let sign = text.len() - text.trim_start_matches(['+', '-', ' ']).len();
            let prefix = if text[sign..].starts_with("0x") || text[sign..].starts_with("0X") {
                sign + 2
            } else {
                sign
            };
            out.push_str(&text[..prefix]);
            out.extend(std::iter::repeat_n('0', missing));
            out.push_str(&text[prefix..]);
        } else {
            out.extend(std::iter::repeat_n(' ', missing));
            out.push_str(text);
        }
    }

    /// The precision, which turns zero padding off for integers.
    fn integer_precision(&self) -> Option<usize> {
        "diuoxX"
            .contains(self.conversion)
            .then_some(self.precision)?
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        }
    }

    fn digits(&self, digits: String) -> String {
        let least = self.precision.unwrap_or(1);
        if least == 0 && digits == "0" {
            return String::new();
        }
        format!("{digits:0>least$}")
    }

    fn signed(&self, value: i64) -> String {
        let digits = self.digits(value.unsigned_abs().to_string());
        format!("{}{digits}", self.sign(value < 0))
    }

    fn unsigned(&self, value: u64) -> String {
        let (prefix, digits) = match self.conversion {
            'x' => ("0x", format!("{value:x}")),
            'X' => ("0X", format!("{value:X}")),
            'o' => ("0", format!("{value:o}")),
            _ => ("", value.to_string()),
        };
        let prefix = if self.alternate && value != 0 {
            prefix
        } else {
            ""
        };
        format!("{prefix}{}", self.digits(digits))
    }

    fn float(&self, value: f64) -> String {
        let magnitude = value.abs();
        let precision = self.precision.unwrap_or(6);
        let body = if !value.is_finite() {
            (if value.is_nan() { "nan" } else { "inf" }).to_owned()
        } else {
            match self.conversion {
                'f' | 'F' => format!("{magnitude:.precision$}"),
                'e' | 'E' => exponential(magnitude, precision),
                'a' | 'A' => hexadecimal(magnitude, self.precision),
                _ => self.general(magnitude, precision.max(1)),
            }
        };
        let body = if self.conversion.is_ascii_uppercase() {
            body.to_uppercase()
        } else {
            body
        };
        let negative = value.is_sign_negative() && !value.is_nan();
        format!("{}{body}", self.sign(negative))
    }

    /// `%g`: `precision` significant digits in the shorter of the two forms.
    fn general(&self, magnitude: f64, precision: usize) -> String {
        let scientific = exponential(magnitude, precision - 1);
        let exponent: i64 = scientific
            .split_once('e')
            .and_then(|(_, e)| e.parse().ok())
            .unwrap_or(0);
        let trim = |digits: &str| {
            if self.alternate || !digits.contains('.') {
                digits.to_owned()
            } else {
                digits
                    .trim_end_matches('0')
                    .trim_end_matches('.')
                    .to_owned()
            }
        };
        if exponent < -4 || exponent >= precision as i64 {
            let (digits, e) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
            format!("{}e{e}", trim(digits))
        } else {
            let decimals = (precision as i64 - 1 - exponent).max(0) as usize;
            trim(&format!("{magnitude:.decimals$}"))
        }
    }
}

/// `%a`: the bits as C's libraries on Linux write them, rounded to `precision` hexadecimal digits if there is one.
fn hexadecimal(magnitude: f64, precision: Option<usize>) -> String {
    const DIGITS: usize = 13;
    let bits = magnitude.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let (lead, exponent) = match bits >> 52 {
        0 if fraction == 0 => (0, 0),
        0 => (0, -1022),
        biased => (1, biased as i64 - 1023),
    };
    let kept = precision.unwrap_or(DIGITS).min(DIGITS);
    let dropped = 4 * (DIGITS - kept);
    let all = lead << 52 | fraction;
    let (whole, rest) = (all >> dropped, all & ((1 << dropped) - 1));
    let half = if dropped == 0 {
        u64::MAX
    } else {
        1 << (dropped - 1)
    };
    let whole = whole + u64::from(rest > half || (rest == half && whole & 1 == 1));
    let digits = format!("{:0kept$x}", whole & ((1 << (4 * kept)) - 1));
    let digits = match precision {
        Some(precision) => format!("{:0<precision$}", if kept == 0 { "" } else { &digits }),
        None => digits.trim_end_matches('0').to_owned(),
    };
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{}{point}{digits}p{exponent:+}", whole >> (4 * kept))
}

/// The decimal number that starts at `c`, which becomes the character after it.
fn number(c: &mut char, rest: &mut std::str::Chars) -> Option<usize> {
    let mut n = 0;
    while let Some(digit) = c.to_digit(10) {
        n = (n * 10 + digit as usize).min(LIMIT);
        *c = rest.next()?;
    }
    Some(n)
}

/// `d.ddde±xx`.
fn exponential(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(e) => ('-', e),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

fn as_float(elem: Elem, bits: u64) -> f64 {
    match elem {
        Elem::Float(format) => format.decode(bits),
        _ => as_signed(elem, bits) as f64,
    }
}

/// i1 counts as 0 or 1.
fn as_signed(elem: Elem, bits: u64) -> i64 {
    match elem {
        Elem::Int(1) => (bits & 1) as i64,
        Elem::Int(width) => int::sign_extend(width, bits),
        Elem::Float(format) => format.decode(bits) as i64,
        Elem::Ptr { .. } => bits as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::FloatFormat;

    /// Expected strings are those of C's printf.
    #[test]
    fn formats_like_printf() {
        let float = |format: &str, value: f64| {
            let ty = TileType {
                elem: Elem::Float(FloatFormat::F64),
                shape: Default::default(),
            };
            let mut out = String::new();
            Format::parse(format).write(&mut out, &[ty], &[&Lanes::splat(64, value.to_bits())]);
            out
        };
        assert_eq!(float("%f", 1.5), "1.500000");
        assert_eq!(float("%+08.3f", -2.25), "-002.250");
        assert_eq!(float("<%-9.2e>", 12345.0), "<1.23e+04 >");
        assert_eq!(float("%a", 0.1), "0x1.999999999999ap-4");
        assert_eq!(float("%A", -1.0), "-0X1P+0");
        assert_eq!(float("%.2a", 3.15), "0x1.93p+1");
        assert_eq!(float("%.0a", 1.5), "0x2p+0");
        assert_eq!(float("%a", 5e-324), "0x0.0000000000001p-1022");
        assert_eq!(float("%.15a", 0.0), "0x0.000000000000000p+0");
        assert_eq!(float("%g", 0.0001), "0.0001");
        assert_eq!(float("%g", 1e-5), "1e-05");
        assert_eq!(float("%g", 1234567.0), "1.23457e+06");
        assert_eq!(float("%.3g", 100.0), "100");
        assert_eq!(float("%05f", f64::INFINITY), "  inf");
        let int = |format: &str, value: i32| {
            let ty = TileType {
                elem: Elem::Int(32),
                shape: Default::default(),
            };
            let mut out = String::new();
            Format::parse(format).write(&mut out, &[ty], &[&Lanes::splat(32, value as u32 as u64)]);
            out
        };
        assert_eq!(int("%d", -7), "-7");
        assert_eq!(int("%5d|", 42), "   42|");
        assert_eq!(int("%-5d|", 42), "42   |");
        assert_eq!(int("%05d", -42), "-0042");
        assert_eq!(int("%+d", 42), "+42");
        assert_eq!(int("%#x", 255), "0xff");
        assert_eq!(int("%08X", 255), "000000FF");
        assert_eq!(int("%u", -1), "4294967295");
        assert_eq!(int("%lld%%", 3), "3%");
        assert_eq!(int("%.3d", 7), "007");
    }

    #[test]
    fn tiles_are_nested_lists() {
        let ty = TileType {
            elem: Elem::Int(8),
            shape: [2, 2].into_iter().collect(),
        };
        let mut out = String::new();
        let lanes = Lanes::W8(vec![1, 2, 255, 4]);
        Format::parse("t = %d!\n").write(&mut out, &[ty], &[&lanes]);
        assert_eq!(out, "t = [[1, 2], [-1, 4]]!\n");
    }
}
