//! Functions of scalars as SMT-LIB terms. Every value is a bit vector.

use std::collections::HashMap;
use std::fmt::Write;

use crate::scalar::int::IntRounding;
use crate::scalar::{Compare, FloatFormat, Function, IntBinary, IntUnary, Rounding, Signedness};

/// Declarations and assertions of a query, as they are needed.
#[derive(Default)]
pub struct Script {
    pub text: String,
    /// Roundings, divisions and products: what makes a query long.
    pub hard: usize,
    pub(super) names: HashMap<String, String>,
    /// Signs flipped or cleared: the result's name, the operation on floats, the operand.
    pub(super) signs: HashMap<String, (&'static str, String)>,
    functions: Vec<String>,
    /// Terms of tf32 whose low bits are zero.
    pub(super) tf32: Vec<String>,
}

/// A bit vector's constant.
pub fn literal(width: u32, bits: u64) -> String {
    format!("(_ bv{bits} {width})")
}

/// 1 or 0 of one bit.
pub fn bit(condition: &str) -> String {
    format!("(ite {condition} #b1 #b0)")
}

impl Script {
    /// A name for a term, so that it is written once.
    pub fn name(&mut self, width: u32, term: &str) -> String {
        // A name needs no other.
        if !term.starts_with('(') && !term.starts_with('#') {
            return term.to_owned();
        }
        if let Some(name) = self.names.get(term) {
            return name.clone();
        }
        let name = self.fresh(term);
        let _ = writeln!(
            self.text,
            "(define-fun {name} () (_ BitVec {width}) {term})"
        );
        name
    }

    /// Declares an unknown.
    pub fn declare(&mut self, name: &str, width: u32) {
        let _ = writeln!(self.text, "(declare-const {name} (_ BitVec {width}))");
    }

    /// Asserts that the low bits of a tf32 are zero.
    pub fn assert_tf32(&mut self, name: &str) {
        let zero = literal(13, 0);
        self.assert(&format!("(= ((_ extract 12 0) {name}) {zero})"));
        self.tf32.push(name.to_owned());
    }

    /// A name for a condition, so that it is written once.
    pub fn condition(&mut self, term: &str) -> String {
        if let Some(name) = self.names.get(term) {
            return name.clone();
        }
        let name = self.fresh(term);
        let _ = writeln!(self.text, "(define-fun {name} () Bool {term})");
        name
    }

    /// Asserts what holds.
    pub fn assert(&mut self, condition: &str) {
        let _ = writeln!(self.text, "(assert {condition})");
    }

    /// A name for a term that has none yet.
    pub(super) fn fresh(&mut self, term: &str) -> String {
        let name = format!("t{}", self.names.len());
        self.names.insert(term.to_owned(), name.clone());
        name
    }

    /// An application of a function of which only this is known, that it is one.
    pub fn opaque(&mut self, name: &str, widths: &[u32], result: u32, operands: &[&str]) -> String {
        if !self.functions.iter().any(|f| f == name) {
            self.functions.push(name.to_owned());
            let sorts: Vec<String> = widths.iter().map(|w| format!("(_ BitVec {w})")).collect();
            let sorts = sorts.join(" ");
            let _ = writeln!(
                self.text,
                "(declare-fun {name} ({sorts}) (_ BitVec {result}))"
            );
        }
        format!("({name} {})", operands.join(" "))
    }

    /// The term of a function of terms of these widths. Where the language has none, it is a function of which nothing
    /// else is known.
    pub fn term(&mut self, f: Function, widths: &[u32], result: u32, operands: &[&str]) -> String {
        let f = exact(f);
        match self.function(f, operands) {
            Some(term) => term,
            None => self.opaque(&format!("|{f:?}|"), widths, result, operands),
        }
    }

    /// The term of a function of terms, or nothing where this language has none for it.
    pub fn function(&mut self, f: Function, operands: &[&str]) -> Option<String> {
        match (f, operands) {
            (Function::Copy, [a]) => Some((*a).to_owned()),
            (Function::Int1(op, width), [a]) => Some(int_unary(op, width, a)),
            (Function::Int2(op, width), [a, b]) => Some(int_binary(op, width, a, b)),
            (Function::IntCompare(predicate, sign, _), [a, b]) => {
                Some(bit(&int_compare(predicate, sign, a, b)))
            }
            (Function::Select, [c, a, b]) => Some(format!("(ite (= {c} #b1) {a} {b})")),
            (Function::Resize { from, to, sign }, [a]) => Some(resize(from, to, sign, a)),
            (
                Function::Advance {
                    address,
                    width,
                    scale,
                },
                [a, b],
            ) => {
                let by = resize(width, address, Signedness::Signed, b);
                let scale = literal(address, u64::from(scale));
                Some(format!("(bvadd {a} (bvmul {by} {scale}))"))
            }
            (Function::Math1 { op, format, flush }, [a]) => {
                let name = format!("|{op:?} {} {flush}|", format.name());
                let width = format.bits();
                Some(self.opaque(&name, &[width], width, &[a]))
            }
            (Function::Math2(op, format), [a, b]) => {
                let (name, w) = (format!("|{op:?} {}|", format.name()), format.bits());
                Some(self.opaque(&name, &[w, w], w, &[a, b]))
            }
            (Function::Power(format, width), [a, b]) => {
                let name = format!("|power {} {width}|", format.name());
                Some(self.opaque(&name, &[format.bits(), width], format.bits(), &[a, b]))
            }
            _ => self.float(f, operands),
        }
    }
}

/// A conversion to a format that has all values of the other: the direction does not matter.
fn exact(f: Function) -> Function {
    use FloatFormat::{BF16, F8E4M3FN, F8E5M2, F16, F32, F64, TF32};
    match f {
        Function::FloatToFloat {
            from, to, overflow, ..
        } if matches!(
            (from, to),
            (F16 | BF16 | F32 | TF32 | F8E4M3FN | F8E5M2, F64)
                | (F16 | BF16 | TF32 | F8E4M3FN | F8E5M2, F32)
                | (F8E4M3FN | F8E5M2, F16 | BF16)
                | (F16 | BF16, TF32)
        ) =>
        {
            Function::FloatToFloat {
                from,
                to,
                rounding: Rounding::NearestEven,
                overflow,
            }
        }
        other => other,
    }
}

fn int_unary(op: IntUnary, width: u32, a: &str) -> String {
    let zero = literal(width, 0);
    let bit_at = |i: u32| format!("((_ extract {i} {i}) {a})");
    match op {
        IntUnary::Neg => format!("(bvneg {a})"),
        IntUnary::Not => format!("(bvnot {a})"),
        IntUnary::Abs => format!("(ite (bvslt {a} {zero}) (bvneg {a}) {a})"),
        IntUnary::CountOnes => {
            let one = literal(width, 1 & (u64::MAX >> (64 - width)));
            (0..width).fold(zero.clone(), |sum, i| {
                format!("(bvadd {sum} (ite (= {} #b1) {one} {zero}))", bit_at(i))
            })
        }
        IntUnary::LeadingZeros => (0..width).fold(literal(width, u64::from(width)), |rest, i| {
            let zeros = literal(width, u64::from(width - 1 - i));
            format!("(ite (= {} #b1) {zeros} {rest})", bit_at(i))
        }),
    }
}

fn int_binary(op: IntBinary, width: u32, a: &str, b: &str) -> String {
    use Signedness::{Signed, Unsigned};
    let both = |name: &str| format!("({name} {a} {b})");
    let choose = |name: &str| format!("(ite ({name} {a} {b}) {a} {b})");
    match op {
        IntBinary::Add => both("bvadd"),
        IntBinary::Sub => both("bvsub"),
        IntBinary::Mul => both("bvmul"),
        IntBinary::MulHi(sign) => {
            let (x, y) = (
                resize(width, 2 * width, sign, a),
                resize(width, 2 * width, sign, b),
            );
            let (high, low) = (2 * width - 1, width);
            format!("((_ extract {high} {low}) (bvmul {x} {y}))")
        }
        IntBinary::Div(sign, rounding) => divide(sign, rounding, width, a, b),
        IntBinary::Rem(Signed) => both("bvsrem"),
        IntBinary::Rem(Unsigned) => both("bvurem"),
        IntBinary::Min(Signed) => choose("bvslt"),
        IntBinary::Min(Unsigned) => choose("bvult"),
        IntBinary::Max(Signed) => choose("bvsgt"),
        IntBinary::Max(Unsigned) => choose("bvugt"),
        IntBinary::And => both("bvand"),
        IntBinary::Or => both("bvor"),
        IntBinary::Xor => both("bvxor"),
        IntBinary::Shl => both("bvshl"),
        IntBinary::Shr(Signed) => both("bvashr"),
        IntBinary::Shr(Unsigned) => both("bvlshr"),
    }
}

fn divide(sign: Signedness, rounding: IntRounding, width: u32, a: &str, b: &str) -> String {
    let (name, rest) = match sign {
        Signedness::Signed => ("bvsdiv", "bvsrem"),
        Signedness::Unsigned => ("bvudiv", "bvurem"),
    };
    let quotient = format!("({name} {a} {b})");
    let zero = literal(width, 0);
    let exact = format!("(= ({rest} {a} {b}) {zero})");
    let differ = match sign {
        Signedness::Signed => format!("(xor (bvslt {a} {zero}) (bvslt {b} {zero}))"),
        Signedness::Unsigned => "false".into(),
    };
    let one = literal(width, 1);
    match rounding {
        IntRounding::Zero => quotient,
        IntRounding::NegativeInf => {
            format!("(ite (and (not {exact}) {differ}) (bvsub {quotient} {one}) {quotient})")
        }
        IntRounding::PositiveInf => {
            format!("(ite (or {exact} {differ}) {quotient} (bvadd {quotient} {one}))")
        }
    }
}

/// Whether a comparison of integers holds.
pub fn int_compare(predicate: Compare, sign: Signedness, a: &str, b: &str) -> String {
    let s = if sign == Signedness::Signed { "s" } else { "u" };
    match predicate {
        Compare::Equal => format!("(= {a} {b})"),
        Compare::NotEqual => format!("(distinct {a} {b})"),
        Compare::Less => format!("(bv{s}lt {a} {b})"),
        Compare::LessEqual => format!("(bv{s}le {a} {b})"),
        Compare::Greater => format!("(bv{s}gt {a} {b})"),
        Compare::GreaterEqual => format!("(bv{s}ge {a} {b})"),
    }
}

/// Extended or cut.
pub fn resize(from: u32, to: u32, sign: Signedness, a: &str) -> String {
    match (to.cmp(&from), sign) {
        (std::cmp::Ordering::Equal, _) => a.to_owned(),
        (std::cmp::Ordering::Less, _) => format!("((_ extract {} 0) {a})", to - 1),
        (_, Signedness::Signed) => format!("((_ sign_extend {}) {a})", to - from),
        (_, Signedness::Unsigned) => format!("((_ zero_extend {}) {a})", to - from),
    }
}
