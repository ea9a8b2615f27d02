//! Numbers that rules compute, and what guards say of them, as SMT-LIB terms.
//!
//! Rules compute with wide integers ([`crate::egraph::guards`]); here those are bit vectors that hold every number
//! that a rule can make of 64-bit constants.

use super::terms::{Script, literal, resize};
use crate::egraph::guards::{self, Number};
use crate::egraph::rule::{Comparison, Expr, Function, Guard};
use crate::rules::instance::Instance;
use crate::scalar::Signedness::{Signed, Unsigned};

/// Bits of a number: products of two 64-bit constants, and shifts by up to 126, fit.
const WIDE: u32 = 144;
/// Shifts by more have no value.
const SHIFTS: u32 = 127;

/// What a variable stands for.
#[derive(Clone)]
pub struct Variable {
    pub term: String,
    pub width: u32,
    /// Its least and greatest possible values, as terms.
    pub bounds: Option<(String, String)>,
}

/// Terms of one instance.
pub struct Numbers<'a> {
    pub instance: &'a Instance,
    /// The rule's variables that are integers, by slot.
    pub variables: Vec<Option<Variable>>,
    pub constants: Vec<u8>,
}

/// A wide term and the conditions under which it has a value.
struct Wide {
    term: String,
    defined: Vec<String>,
}

impl Numbers<'_> {
    /// Whether a number depends on constants or on what is known of variables.
    pub fn is_open(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Int(_) | Expr::Float(_) => false,
            Expr::Var(slot) => self.constants.contains(slot),
            Expr::Apply(
                Function::Width | Function::Elems | Function::Rows | Function::Columns,
                _,
            ) => false,
            Expr::Apply(Function::Lo | Function::Hi | Function::Divisor, _) => true,
            Expr::Apply(_, operands) => operands.iter().any(|o| self.is_open(o)),
        }
    }

    /// The constant of `width` bits that an expression is; that it has a value and fits is asserted.
    pub fn constant(&self, script: &mut Script, expr: &Expr, width: u32) -> Option<String> {
        // The same number in another shape is the same class where the shapes are one element each.
        if let Expr::Var(slot) = expr
            && let Some(Some(same)) = self.variables.get(usize::from(*slot))
            && same.width == width
            && self.constants.contains(slot)
        {
            return Some(same.term.clone());
        }
        let number = self.number(script, expr)?;
        let low = format!("(bvneg {})", wide(1 << (width - 1)));
        let term = &number.term;
        let fits = format!(
            "(and (bvsle {low} {term}) (bvslt {term} {}))",
            wide(1 << width)
        );
        script.assert(&fits);
        number.defined.iter().for_each(|d| script.assert(d));
        Some(script.name(width, &format!("((_ extract {} 0) {term})", width - 1)))
    }

    fn number(&self, script: &mut Script, expr: &Expr) -> Option<Wide> {
        let plain = |term: String| Wide {
            term,
            defined: Vec::new(),
        };
        if !self.is_open(expr) {
            let graph = &self.instance.graph;
            return match guards::eval(graph, &self.instance.binds, expr)? {
                Number::Int(i) => Some(plain(number(i)?)),
                Number::Float(_) => None,
            };
        }
        let (function, operands) = match expr {
            Expr::Var(slot) => return Some(plain(self.value(*slot, true)?)),
            Expr::Apply(function, operands) => (*function, &**operands),
            _ => return None,
        };
        if let [Expr::Var(slot)] = operands {
            let bound = |low: bool| {
                let v = self.variable(*slot)?;
                let (lo, hi) = v.bounds.as_ref()?;
                Some(resize(v.width, WIDE, Signed, if low { lo } else { hi }))
            };
            match function {
                Function::Unsigned | Function::Bits => {
                    return Some(plain(self.value(*slot, false)?));
                }
                Function::Lo => return Some(plain(bound(true)?)),
                Function::Hi => return Some(plain(bound(false)?)),
                _ => {}
            }
        }
        let mut defined = Vec::new();
        let mut terms = Vec::new();
        for operand in operands {
            let wide = self.number(script, operand)?;
            defined.extend(wide.defined);
            terms.push(script.name(WIDE, &wide.term));
        }
        let term = apply(script, function, operands, &terms, &mut defined)?;
        Some(Wide {
            term: script.name(WIDE, &term),
            defined,
        })
    }

    fn variable(&self, slot: u8) -> Option<&Variable> {
        self.variables.get(usize::from(slot))?.as_ref()
    }

    fn value(&self, slot: u8, signed: bool) -> Option<String> {
        let v = self.variable(slot)?;
        let sign = if signed { Signed } else { Unsigned };
        Some(resize(v.width, WIDE, sign, &v.term))
    }

    /// What follows from a guard: perhaps less than it says.
    pub fn guard(&self, script: &mut Script, guard: &Guard) -> Option<String> {
        Some(match guard {
            Guard::Not(none) => match self.exact(guard) {
                true => format!("(not {})", self.list(script, "or false", none)?),
                false => "true".into(),
            },
            Guard::And(list) => self.list(script, "and true", list)?,
            Guard::Or(list) => self.list(script, "or false", list)?,
            Guard::IsPow2(e) => self.holds(script, &[e], |t| {
                let one = wide(1);
                format!(
                    "(and (bvsgt {0} {1}) (= (bvand {0} (bvsub {0} {one})) {1}))",
                    t[0],
                    wide(0)
                )
            })?,
            Guard::Compare(how, a, b) => {
                let name = match how {
                    Comparison::Equal => "=",
                    Comparison::NotEqual => "distinct",
                    Comparison::Less => "bvslt",
                    Comparison::LessEqual => "bvsle",
                };
                self.holds(script, &[a, b], |t| format!("({name} {} {})", t[0], t[1]))?
            }
            Guard::FitsSigned(e, bits) => {
                let end = wide(1 << (bits - 1));
                self.holds(script, &[e], |t| {
                    format!("(and (bvsle (bvneg {end}) {0}) (bvslt {0} {end}))", t[0])
                })?
            }
            Guard::FitsUnsigned(e, bits) => {
                let end = wide(1 << bits);
                self.holds(script, &[e], |t| {
                    format!("(and (bvsle {} {1}) (bvslt {1} {end}))", wide(0), t[0])
                })?
            }
            Guard::DivisibleBy(v, e) => {
                let value = self.value(*v, true)?;
                // By 0 nothing is divisible.
                self.holds(script, &[e], |t| {
                    let zero = wide(0);
                    format!(
                        "(and (bvsgt {0} {zero}) (= (bvsrem {value} {0}) {zero}))",
                        t[0]
                    )
                })?
            }
            Guard::InRange(v, lo, hi) => {
                let value = self.value(*v, true)?;
                self.holds(script, &[lo, hi], |t| {
                    format!("(and (bvsle {} {value}) (bvsle {value} {}))", t[0], t[1])
                })?
            }
            Guard::Nonneg(v) => format!("(bvsge {} {})", self.value(*v, true)?, wide(0)),
            Guard::Nonzero(v) => format!("(distinct {} {})", self.value(*v, true)?, wide(0)),
            // These hold for all instances of the same types.
            Guard::TypeIs(..)
            | Guard::SameType(..)
            | Guard::SameShape(..)
            | Guard::Wider(..)
            | Guard::Outside(..)
            | Guard::Scalar(_)
            | Guard::Uniform(_)
            | Guard::Sm(..)
            | Guard::Feature(_) => "true".into(),
            Guard::ExactReciprocal(_) | Guard::EachFits(..) => return None,
        })
    }

    /// Whether [`Numbers::guard`] says all of a guard.
    fn exact(&self, guard: &Guard) -> bool {
        match guard {
            Guard::IsPow2(_) | Guard::Compare(..) => true,
            Guard::FitsSigned(..) | Guard::FitsUnsigned(..) => true,
            Guard::Not(list) | Guard::And(list) | Guard::Or(list) => {
                list.iter().all(|g| self.exact(g))
            }
            _ => false,
        }
    }

    fn list(&self, script: &mut Script, how: &str, list: &[Guard]) -> Option<String> {
        let mut text = format!("({how}");
        for guard in list {
            text += " ";
            text += &self.guard(script, guard)?;
        }
        Some(text + ")")
    }

    /// That numbers have values of which something holds.
    fn holds(
        &self,
        script: &mut Script,
        exprs: &[&Expr],
        what: impl Fn(&[String]) -> String,
    ) -> Option<String> {
        let (mut terms, mut defined) = (Vec::new(), vec!["true".to_owned()]);
        for expr in exprs {
            let wide = self.number(script, expr)?;
            defined.extend(wide.defined);
            terms.push(script.name(WIDE, &wide.term));
        }
        Some(format!("(and {} {})", defined.join(" "), what(&terms)))
    }
}

fn apply(
    script: &mut Script,
    function: Function,
    operands: &[Expr],
    terms: &[String],
    defined: &mut Vec<String>,
) -> Option<String> {
    let zero = wide(0);
    let fold = |name: &str| {
        let (first, rest) = terms.split_first()?;
        let fold = |sum: String, t: &String| format!("({name} {sum} {t})");
        Some(rest.iter().fold(first.clone(), fold))
    };
    let choose = |name: &str| match terms {
        [a, b] => Some(format!("(ite ({name} {a} {b}) {a} {b})")),
        _ => None,
    };
    let mut shift = |by: &String| {
        let limit = wide(u128::from(SHIFTS));
        defined.push(format!("(and (bvsle {zero} {by}) (bvslt {by} {limit}))"));
    };
    match (function, terms) {
        (Function::Sub, [a]) => Some(format!("(bvneg {a})")),
        (Function::Not, [a]) => Some(format!("(bvnot {a})")),
        (Function::Pow2, [a]) => {
            shift(a);
            Some(format!("(bvshl {} {a})", wide(1)))
        }
        (Function::Shl, [a, b]) => {
            shift(b);
            let moved = script.name(WIDE, &format!("(bvshl {a} {b})"));
            defined.push(format!("(= (bvashr {moved} {b}) {a})"));
            Some(moved)
        }
        (Function::Shr, [a, b]) => {
            shift(b);
            Some(format!("(bvashr {a} {b})"))
        }
        (Function::Log2, [a]) => {
            defined.push(format!("(bvsgt {a} {zero})"));
            let log = (0..WIDE).fold(zero.clone(), |below, i| {
                let is = format!("(= ((_ extract {i} {i}) {a}) #b1)");
                format!("(ite {is} {} {below})", wide(u128::from(i)))
            });
            Some(log)
        }
        (Function::Add, _) => fold("bvadd"),
        (Function::Sub, _) => fold("bvsub"),
        (Function::And, _) => fold("bvand"),
        (Function::Or, _) => fold("bvor"),
        (Function::Xor, _) => fold("bvxor"),
        (Function::Min, _) => choose("bvslt"),
        (Function::Max, _) => choose("bvsgt"),
        // Products of more than two, or of what is computed, might not fit.
        (Function::Mul, [_, _]) if operands.iter().all(is_small) => fold("bvmul"),
        _ => None,
    }
}

/// Whether an operand has 65 bits at most.
fn is_small(expr: &Expr) -> bool {
    match expr {
        Expr::Int(i) => i.unsigned_abs() < 1 << 64,
        Expr::Var(_) => true,
        Expr::Apply(Function::Unsigned | Function::Lo | Function::Hi | Function::Width, _) => true,
        _ => false,
    }
}

fn wide(value: u128) -> String {
    format!("(_ bv{value} {WIDE})")
}

fn number(value: i128) -> Option<String> {
    Some(match u64::try_from(value) {
        Ok(small) => literal(WIDE, small),
        Err(_) if value < 0 => format!("(bvneg {})", wide(value.unsigned_abs())),
        Err(_) => wide(value.unsigned_abs()),
    })
}
