//! Functions of floats as SMT-LIB terms. Floats are bit vectors that are read as floats where an operation computes
//! with them; what is no number may have any of its patterns.

use std::fmt::Write;

use super::terms::{Script, bit, literal};
use crate::scalar::{
    Compare, FloatBinary, FloatFormat, FloatMode, FloatUnary, Function, Ordering, Overflow,
    Rounding, Signedness,
};

/// Exponent and significand bits (the hidden one included) of the formats that are IEEE 754's in form.
pub fn sort(format: FloatFormat) -> Option<(u32, u32)> {
    match format {
        FloatFormat::F16 => Some((5, 11)),
        FloatFormat::BF16 => Some((8, 8)),
        FloatFormat::F32 => Some((8, 24)),
        FloatFormat::F64 => Some((11, 53)),
        FloatFormat::F8E5M2 => Some((5, 3)),
        _ => None,
    }
}

fn direction(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::NearestEven => "RNE",
        Rounding::Zero => "RTZ",
        Rounding::NegativeInf => "RTN",
        Rounding::PositiveInf => "RTP",
        Rounding::NearestAway => "RNA",
    }
}

impl Script {
    /// A pattern of the float that a term is.
    fn pattern(&mut self, format: FloatFormat, float: &str) -> Option<String> {
        Some(self.bits_of(sort(format)?, float))
    }

    /// The same for a format of so many bits of exponent and significand.
    fn bits_of(&mut self, (e, s): (u32, u32), float: &str) -> String {
        if let Some(name) = self.names.get(float) {
            return name.clone();
        }
        self.hard += usize::try_from(s / 8).unwrap_or(0) + 1;
        let name = self.fresh(float);
        let width = e + s;
        let _ = writeln!(
            self.text,
            "(declare-const {name} (_ BitVec {width}))\n(assert (= ((_ to_fp {e} {s}) {name}) {float}))"
        );
        name
    }

    /// The term of a function of floats, or nothing where this language has none for it.
    pub(super) fn float(&mut self, f: Function, operands: &[&str]) -> Option<String> {
        match (f, operands) {
            (Function::Float1(op, format, mode), [a]) => self.float_unary(op, format, mode, a),
            (Function::Float2(op, format, mode), [a, b]) => {
                self.float_binary(op, format, mode, a, b)
            }
            (Function::Reciprocal(format, mode), [a]) => {
                let one = literal(format.bits(), format.one());
                self.float_binary(FloatBinary::Div, format, mode, &one, a)
            }
            (Function::Integral(format, mode), [a]) => {
                let (a, rm) = (self.flushed(format, mode, a)?, direction(mode.rounding));
                let a = self.read(format, &a)?;
                self.pattern(format, &format!("(fp.roundToIntegral {rm} {a})"))
            }
            (Function::Fma(format, mode), [a, b, c]) => {
                let mut x = Vec::new();
                for v in [a, b, c] {
                    let v = self.flushed(format, mode, v)?;
                    x.push(self.read(format, &v)?);
                }
                let rm = direction(mode.rounding);
                let sum = format!("(fp.fma {rm} {} {} {})", x[0], x[1], x[2]);
                self.finish(format, mode, &sum)
            }
            (Function::FloatCompare(predicate, ordering, format), [a, b]) => {
                let (x, y) = (self.read(format, a)?, self.read(format, b)?);
                let holds = match predicate {
                    Compare::Equal => format!("(fp.eq {x} {y})"),
                    Compare::NotEqual => format!("(not (fp.eq {x} {y}))"),
                    Compare::Less => format!("(fp.lt {x} {y})"),
                    Compare::LessEqual => format!("(fp.leq {x} {y})"),
                    Compare::Greater => format!("(fp.gt {x} {y})"),
                    Compare::GreaterEqual => format!("(fp.geq {x} {y})"),
                };
                let nan = format!("(or (fp.isNaN {x}) (fp.isNaN {y}))");
                let open = ordering == Ordering::Unordered;
                Some(bit(&format!("(ite {nan} {open} {holds})")))
            }
            (
                Function::IntToFloat {
                    sign, to, rounding, ..
                },
                [a],
            ) => {
                let (e, s) = sort(to)?;
                let name = match sign {
                    Signedness::Signed => "to_fp",
                    Signedness::Unsigned => "to_fp_unsigned",
                };
                let rm = direction(rounding);
                self.pattern(to, &format!("((_ {name} {e} {s}) {rm} {a})"))
            }
            // The upper bits of an f32.
            (
                Function::FloatToFloat {
                    from: FloatFormat::TF32,
                    to,
                    rounding,
                    overflow: Overflow::Ieee,
                },
                [a],
            ) => {
                let upper = format!("(bvand {a} {})", literal(32, 0xffff_e000));
                let a = match self.tf32.iter().any(|known| known == a) {
                    true => (*a).to_owned(),
                    false => self.name(32, &upper),
                };
                if to == FloatFormat::F32 {
                    return Some(a);
                }
                let from = FloatFormat::F32;
                let overflow = Overflow::Ieee;
                self.float(
                    Function::FloatToFloat {
                        from,
                        to,
                        rounding,
                        overflow,
                    },
                    &[&a],
                )
            }
            (
                Function::FloatToFloat {
                    from,
                    to: FloatFormat::TF32,
                    rounding,
                    overflow: Overflow::Ieee,
                },
                [a],
            ) => {
                let (a, rm) = (self.read(from, a)?, direction(rounding));
                let upper = self.bits_of((8, 11), &format!("((_ to_fp 8 11) {rm} {a})"));
                Some(format!("(concat {upper} {})", literal(13, 0)))
            }
            (
                Function::FloatToFloat {
                    from,
                    to,
                    rounding,
                    overflow: Overflow::Ieee,
                },
                [a],
            ) => {
                let ((e, s), a) = (sort(to)?, self.read(from, a)?);
                let rm = direction(rounding);
                self.pattern(to, &format!("((_ to_fp {e} {s}) {rm} {a})"))
            }
            (
                Function::FloatToInt {
                    from,
                    mode,
                    width,
                    sign,
                    nan_is_top,
                },
                [a],
            ) if width > 1 => {
                let a = self.flushed(from, mode, a)?;
                let x = self.read(from, &a)?;
                let nan = literal(width, u64::from(nan_is_top) << (width - 1));
                let range = Range::of(from, mode, width, sign, &x)?;
                let least = literal(
                    width,
                    if sign == Signedness::Signed {
                        1 << (width - 1)
                    } else {
                        0
                    },
                );
                let most = u64::MAX >> (64 - width);
                let most = if sign == Signedness::Signed {
                    most >> 1
                } else {
                    most
                };
                let most = literal(width, most);
                let convert = match sign {
                    Signedness::Signed => "fp.to_sbv",
                    Signedness::Unsigned => "fp.to_ubv",
                };
                let rm = direction(mode.rounding);
                Some(format!(
                    "(ite (fp.isNaN {x}) {nan} (ite {} {least} (ite {} {most} ((_ {convert} {width}) {rm} {x}))))",
                    range.below, range.above
                ))
            }
            _ => None,
        }
    }

    fn float_unary(
        &mut self,
        op: FloatUnary,
        format: FloatFormat,
        mode: FloatMode,
        a: &str,
    ) -> Option<String> {
        let sign = literal(format.bits(), format.sign_bit());
        let rest = literal(format.bits(), format.sign_bit() - 1);
        match op {
            FloatUnary::Neg => Some(self.sign(format, "fp.neg", a, &format!("(bvxor {a} {sign})"))),
            FloatUnary::Abs => Some(self.sign(format, "fp.abs", a, &format!("(bvand {a} {rest})"))),
            FloatUnary::Sqrt => {
                let a = self.flushed(format, mode, a)?;
                let x = self.read(format, &a)?;
                let rm = direction(mode.rounding);
                self.finish(format, mode, &format!("(fp.sqrt {rm} {x})"))
            }
            FloatUnary::Floor | FloatUnary::Ceil => {
                let rm = if op == FloatUnary::Floor {
                    "RTN"
                } else {
                    "RTP"
                };
                let x = self.read(format, a)?;
                self.pattern(format, &format!("(fp.roundToIntegral {rm} {x})"))
            }
        }
    }

    fn float_binary(
        &mut self,
        op: FloatBinary,
        format: FloatFormat,
        mode: FloatMode,
        a: &str,
        b: &str,
    ) -> Option<String> {
        let (a, b) = (
            self.flushed(format, mode, a)?,
            self.flushed(format, mode, b)?,
        );
        let (x, y) = (self.read(format, &a)?, self.read(format, &b)?);
        let name = match op {
            // The sum with the other's negation, by IEEE 754.
            FloatBinary::Add | FloatBinary::Sub => "fp.add",
            FloatBinary::Mul => "fp.mul",
            FloatBinary::Div => "fp.div",
            FloatBinary::Rem => return None,
            FloatBinary::Min { nan } | FloatBinary::Max { nan } => {
                let max = matches!(op, FloatBinary::Max { .. });
                // -0 is below +0.
                let zeros = format!("(and (fp.isZero {x}) (fp.isZero {y}) (fp.isNegative {x}))");
                let first = format!("(or (fp.lt {x} {y}) {zeros})");
                let (low, high) = if max { (&b, &a) } else { (&a, &b) };
                let number = format!("(ite {first} {low} {high})");
                let canonical = literal(format.bits(), format.nan());
                let (either, both) = (
                    format!("(or (fp.isNaN {x}) (fp.isNaN {y}))"),
                    format!("(and (fp.isNaN {x}) (fp.isNaN {y}))"),
                );
                return Some(if nan {
                    format!("(ite {either} {canonical} {number})")
                } else {
                    format!(
                        "(ite {both} {canonical} (ite (fp.isNaN {x}) {b} (ite (fp.isNaN {y}) {a} {number})))"
                    )
                });
            }
        };
        let rm = direction(mode.rounding);
        let y = match (
            op,
            y.strip_prefix("(fp.neg ").and_then(|y| y.strip_suffix(')')),
        ) {
            (FloatBinary::Sub, Some(y)) => y.to_owned(),
            (FloatBinary::Sub, None) => format!("(fp.neg {y})"),
            _ => y,
        };
        self.finish(format, mode, &format!("({name} {rm} {x} {y})"))
    }

    /// A pattern with another sign.
    fn sign(&mut self, format: FloatFormat, name: &'static str, of: &str, term: &str) -> String {
        let result = self.name(format.bits(), term);
        self.signs.insert(result.clone(), (name, of.to_owned()));
        result
    }

    /// The float that a pattern is, by an operation on floats where its sign was changed.
    fn read(&self, format: FloatFormat, bits: &str) -> Option<String> {
        match self.signs.get(bits) {
            Some((name, of)) => Some(format!("({name} {})", self.read(format, of)?)),
            None => read(format, bits),
        }
    }

    /// A pattern with zero in place of a subnormal, of the same sign.
    fn flushed(&mut self, format: FloatFormat, mode: FloatMode, bits: &str) -> Option<String> {
        if !mode.flush {
            return Some(bits.to_owned());
        }
        let width = format.bits();
        let sign = literal(width, format.sign_bit());
        if let Some((name, of)) = self.signs.get(bits).cloned() {
            let of = self.flushed(format, mode, &of)?;
            return Some(match name {
                "fp.neg" => self.sign(format, name, &of, &format!("(bvxor {of} {sign})")),
                _ => {
                    let rest = literal(width, format.sign_bit() - 1);
                    self.sign(format, name, &of, &format!("(bvand {of} {rest})"))
                }
            });
        }
        let x = read(format, bits)?;
        let term = format!("(ite (fp.isSubnormal {x}) (bvand {bits} {sign}) {bits})");
        Some(self.name(width, &term))
    }

    fn finish(&mut self, format: FloatFormat, mode: FloatMode, float: &str) -> Option<String> {
        let bits = self.pattern(format, float)?;
        self.flushed(format, mode, &bits)
    }
}

/// The float that a pattern is.
pub fn read(format: FloatFormat, bits: &str) -> Option<String> {
    let (e, s) = sort(format)?;
    Some(format!("((_ to_fp {e} {s}) {bits})"))
}

/// Where a float, rounded to an integral value, lies against the range of an integer type.
pub struct Range {
    pub below: String,
    pub above: String,
}

impl Range {
    pub fn of(
        format: FloatFormat,
        mode: FloatMode,
        width: u32,
        sign: Signedness,
        x: &str,
    ) -> Option<Range> {
        let (e, s) = sort(format)?;
        let rounded = format!("(fp.roundToIntegral {} {x})", direction(mode.rounding));
        let top = if sign == Signedness::Signed {
            width - 1
        } else {
            width
        };
        let end = format!("((_ to_fp {e} {s}) RNE {}.0)", 1u128 << top);
        let low = match sign {
            Signedness::Signed => format!("(fp.lt {rounded} (fp.neg {end}))"),
            Signedness::Unsigned => format!("(fp.lt {rounded} (_ +zero {e} {s}))"),
        };
        let negative = format!("(and (fp.isInfinite {x}) (fp.isNegative {x}))");
        let positive = format!("(and (fp.isInfinite {x}) (fp.isPositive {x}))");
        // Where the end is beyond the format, only infinities are there.
        Some(Range {
            below: format!("(or {negative} {low})"),
            above: format!("(or {positive} (fp.geq {rounded} {end}))"),
        })
    }
}
