//! Guards, and the expressions in them.

use super::{Lower, Result, literal};
use crate::egraph::rule::{Comparison, Expr, Function, Guard, Items, Literal};
use crate::sexpr::Sexpr;
use crate::target::Feature;

impl Lower<'_> {
    pub fn expr(&mut self, form: &Sexpr) -> Result<Expr> {
        if let Some(symbol) = form.symbol() {
            if symbol.starts_with('?') {
                return Ok(Expr::Var(self.bound(form)?));
            }
            return match literal(symbol) {
                Some(Literal::Int(i)) => Ok(Expr::Int(i)),
                Some(Literal::Float(f)) => Ok(Expr::Float(f)),
                _ => self.error(form, "expected a number"),
            };
        }
        let Some(name) = form.keyword() else {
            return self.error(form, "expected a number or (FUNCTION …)");
        };
        let items = &form.list().unwrap_or(&[])[1..];
        match Function::NAMES.iter().find(|f| f.0 == name) {
            Some(&(_, function, least, most)) if (least..=most).contains(&items.len()) => {
                let args = items.iter().map(|i| self.expr(i));
                let args = args.collect::<Result<Items<_>>>()?;
                Ok(Expr::Apply(function, args))
            }
            Some(&(_, _, least, most)) => {
                let count = items.len();
                let message = format!("`{name}` has {count} arguments: expected {least} to {most}");
                self.error(form, message)
            }
            None => {
                let known: Vec<&str> = Function::NAMES.iter().map(|f| f.0).collect();
                let known = known.join(", ");
                self.error(
                    form,
                    format!("there is no function called `{name}`: expected {known}"),
                )
            }
        }
    }

    pub fn guard(&mut self, form: &Sexpr) -> Result<Guard> {
        let items = form.list().unwrap_or(&[]);
        let bits = |s: &Self, f: &Sexpr| match f.symbol().map(str::parse::<u32>) {
            Some(Ok(n)) if (1..=64).contains(&n) => Ok(n),
            _ => s.error(f, "expected a width from 1 to 64"),
        };
        Ok(match (form.keyword(), items) {
            (Some("is-pow2"), [_, e]) => Guard::IsPow2(self.expr(e)?),
            (Some("=="), [_, a, b]) => {
                Guard::Compare(Comparison::Equal, self.expr(a)?, self.expr(b)?)
            }
            (Some("!="), [_, a, b]) => {
                Guard::Compare(Comparison::NotEqual, self.expr(a)?, self.expr(b)?)
            }
            (Some("<"), [_, a, b]) => {
                Guard::Compare(Comparison::Less, self.expr(a)?, self.expr(b)?)
            }
            (Some("<="), [_, a, b]) => {
                Guard::Compare(Comparison::LessEqual, self.expr(a)?, self.expr(b)?)
            }
            (Some("exact-reciprocal"), [_, v]) => Guard::ExactReciprocal(self.bound(v)?),
            (Some("fits-signed"), [_, e, n]) => Guard::FitsSigned(self.expr(e)?, bits(self, n)?),
            (Some("fits-unsigned"), [_, e, n]) => {
                Guard::FitsUnsigned(self.expr(e)?, bits(self, n)?)
            }
            (Some("divisible-by"), [_, v, e]) => Guard::DivisibleBy(self.bound(v)?, self.expr(e)?),
            (Some("in-range"), [_, v, lo, hi]) => {
                Guard::InRange(self.bound(v)?, self.expr(lo)?, self.expr(hi)?)
            }
            (Some("each-fits"), [_, v, lo, hi]) => {
                Guard::EachFits(self.bound(v)?, self.expr(lo)?, self.expr(hi)?)
            }
            (Some("nonneg"), [_, v]) => Guard::Nonneg(self.bound(v)?),
            (Some("nonzero"), [_, v]) => Guard::Nonzero(self.bound(v)?),
            (Some("uniform"), [_, v]) => Guard::Uniform(self.bound(v)?),
            (Some("scalar"), [_, v]) => Guard::Scalar(self.bound(v)?),
            (Some("same-type"), [_, a, b]) => Guard::SameType(self.bound(a)?, self.bound(b)?),
            (Some("same-shape"), [_, a, b]) => Guard::SameShape(self.bound(a)?, self.bound(b)?),
            (Some("outside"), [_, a, b]) => Guard::Outside(self.bound(a)?, self.bound(b)?),
            (Some("wider"), [_, a, b]) => Guard::Wider(self.bound(a)?, self.bound(b)?),
            (Some("type-is"), [_, v, t]) => Guard::TypeIs(
                self.bound(v)?,
                self.tests(t, t.symbol().unwrap_or_default())?,
            ),
            (Some("sm"), [_, range]) => self.sm(range)?,
            (Some("feature"), [_, name]) => match name.symbol().and_then(Feature::named) {
                Some(feature) => Guard::Feature(feature),
                None => {
                    let known: Vec<&str> = Feature::NAMES.iter().map(|f| f.0).collect();
                    let known = known.join(", ");
                    return self.error(name, format!("there is no such feature: expected {known}"));
                }
            },
            (Some("not"), [_, g]) => Guard::Not(vec![self.guard(g)?].into()),
            (Some("and"), [_, rest @ ..]) => {
                Guard::And(rest.iter().map(|g| self.guard(g)).collect::<Result<_>>()?)
            }
            (Some("or"), [_, rest @ ..]) => {
                Guard::Or(rest.iter().map(|g| self.guard(g)).collect::<Result<_>>()?)
            }
            _ => {
                const KNOWN: &str = "(is-pow2 E), (== E E), (!= E E), (< E E), (<= E E), (exact-reciprocal ?v), \
                                     (fits-signed E BITS), (fits-unsigned E BITS), (divisible-by ?v E), \
                                     (in-range ?v E E), (each-fits ?v E E), (nonneg ?v), (nonzero ?v), (uniform ?v), \
                                     (scalar ?v), (same-type ?v ?v), (same-shape ?v ?v), (outside ?v ?v), \
                                     (wider ?v ?v), (type-is ?v TYPE), (sm RANGE), (feature NAME), (not G), (and G …) \
                                     or (or G …)";
                let message =
                    format!("there is no such guard, or its arguments are wrong: expected {KNOWN}");
                return self.error(form, message);
            }
        })
    }

    fn sm(&self, form: &Sexpr) -> Result<Guard> {
        let parse = || {
            let text = form.symbol()?;
            Some(match text.split_once("..") {
                None => (text.parse().ok()?, text.parse().ok()?),
                Some((lo, "")) => (lo.parse().ok()?, u16::MAX),
                Some(("", hi)) => (0, hi.parse().ok()?),
                Some((lo, hi)) => (lo.parse().ok()?, hi.parse().ok()?),
            })
        };
        match parse() {
            Some((lo, hi)) => Ok(Guard::Sm(lo, hi)),
            None => self.error(form, "expected 80, 80.., ..89 or 80..89"),
        }
    }
}
