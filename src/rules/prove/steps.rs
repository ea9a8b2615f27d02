//! A side of a rule as SMT-LIB: its value, and where the dialect leaves it open.

use super::floats::{Range, sort};
use super::symbols::Terms;
use super::terms::{Script, bit, int_compare, literal, resize};
use crate::dialect::meaning::Meaning;
use crate::dialect::resolve::{Attributes, Given};
use crate::dialect::{Dialect, OpKind, cuda_tile, enums, nvvm};
use crate::egraph::node::Head;
use crate::facts::Leaf;
use crate::facts::semantics::Scalar;
use crate::rules::program::{Input, Program, Step};
use crate::scalar::{Function, IntBinary, Signedness};

/// A value and the condition under which it is defined.
#[derive(Clone)]
pub struct Value {
    pub term: String,
    pub defined: String,
    pub width: u32,
}

/// The value of a program, with these terms for some of its constants; nothing where the language has no term for
/// one of its operations.
pub fn program(
    script: &mut Script,
    program: &Program,
    inputs: &[Input],
    constants: &Terms,
) -> Option<Value> {
    let mut values: Vec<Value> = Vec::new();
    for step in &program.steps {
        let value = match step {
            Step::Input(i) => Value {
                term: format!("x{i}"),
                defined: "true".into(),
                width: inputs.get(*i)?.scalar.bits(),
            },
            Step::Constant {
                bits,
                scalar,
                class,
            } => Value {
                term: match constants.get(class) {
                    Some(term) => term.clone(),
                    None => literal(scalar.bits(), *bits),
                },
                defined: "true".into(),
                width: scalar.bits(),
            },
            Step::Select([c, a, b]) => {
                let [c, a, b] = [values.get(*c)?, values.get(*a)?, values.get(*b)?];
                let chosen = format!("(ite (= {} #b1) {} {})", c.term, a.term, b.term);
                let defined = match (a.defined.as_str(), b.defined.as_str()) {
                    ("true", "true") => c.defined.clone(),
                    (a, b) => {
                        let chosen = format!("(ite (= {} #b1) {a} {b})", c.term);
                        script.condition(&format!("(and {} {chosen})", c.defined))
                    }
                };
                Value {
                    term: script.name(a.width, &chosen),
                    defined,
                    width: a.width,
                }
            }
            Step::Op {
                head: Head::Op(kind),
                leaves,
                args,
                result,
            } => {
                let operands: Vec<&Value> = args
                    .iter()
                    .map(|(i, _)| values.get(*i))
                    .collect::<Option<_>>()?;
                let scalars: Vec<Scalar> = args.iter().map(|a| a.1).collect();
                operation(script, *kind, leaves, (&operands, &scalars), *result)?
            }
            // Samples show whether what is said to be equal is.
            Step::Op { .. } | Step::Rarely(..) => return None,
        };
        values.push(value);
    }
    values.pop()
}

/// The value of an operation.
pub fn operation(
    script: &mut Script,
    kind: OpKind,
    leaves: &[Leaf],
    (operands, scalars): (&[&Value], &[Scalar]),
    result: Scalar,
) -> Option<Value> {
    let terms: Vec<&str> = operands.iter().map(|v| v.term.as_str()).collect();
    let mut all: Vec<&str> = operands.iter().map(|v| v.defined.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    all.retain(|d| *d != "true");
    let row = kind.def();
    let leaf = |i: usize| leaves.get(i).copied().unwrap_or(Leaf::Absent);
    let value = |i| Given::from(leaf(i));
    let attributes = Attributes { row, value: &value };
    let width = result.bits();
    let (term, open) = match row.meaning {
        None => (
            special(kind, attributes, &leaf, &terms, scalars)?,
            "false".to_owned(),
        ),
        Some(meaning) => {
            let function = meaning.function(attributes, scalars, result).ok()?;
            let widths: Vec<u32> = scalars.iter().map(|s| s.bits()).collect();
            let term = script.term(function, &widths, width, &terms);
            (term, undefined(kind.dialect, attributes, function, &terms)?)
        }
    };
    let mut all: Vec<String> = all.into_iter().map(str::to_owned).collect();
    if open != "false" {
        all.push(script.condition(&format!("(not {open})")));
    }
    let defined = match all.as_slice() {
        [] => "true".to_owned(),
        [one] => one.clone(),
        several => script.condition(&format!("(and {})", several.join(" "))),
    };
    Some(Value {
        term: script.name(width, &term),
        defined,
        width,
    })
}

/// What `semantics::special` computes.
fn special(
    kind: OpKind,
    attributes: Attributes,
    leaf: &dyn Fn(usize) -> Leaf,
    terms: &[&str],
    scalars: &[Scalar],
) -> Option<String> {
    use nvvm::Op as N;
    if cuda_tile::Op::of(kind) == Some(cuda_tile::Op::Assume) {
        return terms.first().map(|t| (*t).to_owned());
    }
    let op = N::of(kind)?;
    let sign = match op {
        N::MulWideS | N::MadWideS => Signedness::Signed,
        _ => Signedness::Unsigned,
    };
    match (op, terms, scalars) {
        (N::Splat | N::Take | N::WarpUniform, [a], _) => Some((*a).to_owned()),
        (N::SpreadByte, [byte], _) => Some(format!(
            "(concat ((_ extract 7 7) {byte}) #b0 ((_ extract 6 0) {byte}) {})",
            literal(7, 0)
        )),
        (N::ShlBy | N::ShrBy, [source], [Scalar::Int(bits)]) => {
            let Leaf::Int(by) = leaf(0) else {
                return None;
            };
            let by = literal(*bits, u64::try_from(by).ok()?);
            let shift = if op == N::ShlBy { "bvshl" } else { "bvlshr" };
            Some(format!("({shift} {source} {by})"))
        }
        (N::SpreadNibble, [nibble], _) => {
            let Leaf::Int(by) = leaf(0) else {
                return None;
            };
            let sign = format!("(concat ((_ extract 3 3) {nibble}) {})", literal(15, 0));
            let rest = format!("((_ zero_extend 13) ((_ extract 2 0) {nibble}))");
            let by = literal(16, u64::try_from(by).ok()?);
            Some(format!("(bvor {sign} (bvshl {rest} {by}))"))
        }
        (N::TestClear, [source, mask], [Scalar::Int(bits), _]) => Some(format!(
            "(ite (= (bvand {source} {mask}) {}) #b1 #b0)",
            literal(*bits, 0)
        )),
        (N::JoinBytes, [low, high], _) => Some(format!("(concat {high} {low})")),
        (N::MulWideS | N::MulWideU, [a, b], [Scalar::Int(w), _]) => Some(wide(*w, sign, a, b)),
        (N::MadWideS | N::MadWideU, [a, b, c], [Scalar::Int(w), _, _]) => {
            Some(format!("(bvadd {} {c})", wide(*w, sign, a, b)))
        }
        (N::Mad, [a, b, c], _) => Some(format!("(bvadd (bvmul {a} {b}) {c})")),
        (N::Lop3, [a, b, c], _) => {
            let Leaf::Int(table) = leaf(0) else {
                return None;
            };
            let row = |i: i64| {
                let side = |term: &str, set: bool| match set {
                    true => term.to_owned(),
                    false => format!("(bvnot {term})"),
                };
                let (x, y, z) = (
                    side(a, i & 4 != 0),
                    side(b, i & 2 != 0),
                    side(c, i & 1 != 0),
                );
                format!("(bvand {x} (bvand {y} {z}))")
            };
            let zero = format!("(bvand {a} (bvnot {a}))");
            let rows = (0..8).filter(|i| table >> i & 1 == 1);
            Some(rows.fold(zero, |sum, i| format!("(bvor {sum} {})", row(i))))
        }
        (N::ShfL | N::ShfR, [a, b, c], _) => {
            let by = format!(
                "(concat {} (bvand {c} {}))",
                literal(32, 0),
                literal(32, 31)
            );
            let (name, low) = if op == N::ShfL {
                ("bvshl", 32)
            } else {
                ("bvlshr", 0)
            };
            Some(format!(
                "((_ extract {} {low}) ({name} (concat {b} {a}) {by}))",
                low + 31
            ))
        }
        (N::ICmpAnd | N::ICmpOr, [a, b, c], [s, t, _]) => {
            let compare = Meaning::IntCompare.function(attributes, &[*s, *t], Scalar::Int(1));
            let Ok(Function::IntCompare(predicate, sign, _)) = compare else {
                return None;
            };
            let holds = bit(&int_compare(predicate, sign, a, b));
            let name = if op == N::ICmpAnd { "bvand" } else { "bvor" };
            Some(format!("({name} {holds} {c})"))
        }
        _ => None,
    }
}

fn wide(width: u32, sign: Signedness, a: &str, b: &str) -> String {
    let (x, y) = (
        resize(width, 2 * width, sign, a),
        resize(width, 2 * width, sign, b),
    );
    format!("(bvmul {x} {y})")
}

/// Where `semantics::undefined` says that the result is open.
fn undefined(
    dialect: Dialect,
    attributes: Attributes,
    f: Function,
    terms: &[&str],
) -> Option<String> {
    let tile = dialect == Dialect::CudaTile;
    let promise = attributes.case(&enums::OVERFLOW).unwrap_or(0);
    let both = |broken: &dyn Fn(Signedness) -> String| {
        let mut list = vec!["false".to_owned()];
        for (bit, sign) in [(1, Signedness::Signed), (2, Signedness::Unsigned)] {
            if promise & bit != 0 {
                list.push(broken(sign));
            }
        }
        format!("(or false {})", list.join(" "))
    };
    Some(match (f, terms) {
        (Function::Int2(op @ (IntBinary::Div(..) | IntBinary::Rem(_)), width), [a, b]) => {
            let zero = format!("(= {b} {})", literal(width, 0));
            let signed = matches!(
                op,
                IntBinary::Div(Signedness::Signed, _) | IntBinary::Rem(Signedness::Signed)
            );
            if tile && signed && width > 1 {
                let least = literal(width, 1 << (width - 1));
                let ones = literal(width, u64::MAX >> (64 - width));
                format!("(or {zero} (and (= {a} {least}) (= {b} {ones})))")
            } else {
                zero
            }
        }
        (Function::Int2(op, width), [a, b]) if promise != 0 => match op {
            IntBinary::Add | IntBinary::Sub | IntBinary::Mul => {
                let name = match op {
                    IntBinary::Add => "bvadd",
                    IntBinary::Sub => "bvsub",
                    _ => "bvmul",
                };
                // Exact in twice the width and two bits, read with a sign.
                let more = 2 * width + 2;
                both(&|sign| {
                    let (x, y) = (resize(width, more, sign, a), resize(width, more, sign, b));
                    let short = resize(width, more, sign, &format!("({name} {a} {b})"));
                    format!("(distinct ({name} {x} {y}) {short})")
                })
            }
            IntBinary::Shl => {
                let inside = format!("(bvult {b} {})", literal(width, u64::from(width)));
                let inside = if width == 1 {
                    format!("(= {b} #b0)")
                } else {
                    inside
                };
                let lost = both(&|sign| {
                    let name = if sign == Signedness::Signed {
                        "bvashr"
                    } else {
                        "bvlshr"
                    };
                    format!("(distinct ({name} (bvshl {a} {b}) {b}) {a})")
                });
                format!("(and {inside} {lost})")
            }
            _ => "false".into(),
        },
        (Function::Resize { from, to, .. }, [a]) if to < from && promise != 0 => both(&|sign| {
            let back = resize(to, from, sign, &resize(from, to, sign, a));
            format!("(distinct {back} {a})")
        }),
        (
            Function::FloatToInt {
                from,
                mode,
                width,
                sign,
                ..
            },
            [a],
        ) if tile && width != 1 && !attributes.unit(&["saturating"]) => {
            let (e, s) = sort(from)?;
            let x = format!("((_ to_fp {e} {s}) {a})");
            let range = Range::of(from, mode, width, sign, &x)?;
            format!("(or (fp.isNaN {x}) {} {})", range.below, range.above)
        }
        _ => "false".into(),
    })
}
