//! Patterns, replacements and guards from forms.

mod guard;
mod template;

use super::names::resolve;
use crate::dialect::{Arity, AttrKind, Dialect, OpDef, Traits};
use crate::egraph::head::{Head, explicit_results};
use crate::egraph::rule::{
    AttrPattern, Constraint, ElemTest, Items, Literal, OpPattern, Pattern, Template, Text,
};
use crate::facts::Leaf;
use crate::ir::Diagnostic;
use crate::sexpr::Sexpr;

type Result<T> = std::result::Result<T, Diagnostic>;

/// The variables of one rule and what its names mean.
pub(super) struct Lower<'a> {
    file: &'a str,
    sides: (Dialect, Dialect),
    slots: Vec<Text>,
    /// Names of `let` in scope and what they stand for, as indices into `locals`.
    names: Vec<(String, u8)>,
    locals: Vec<Template>,
}

impl<'a> Lower<'a> {
    pub fn new(file: &'a str, sides: (Dialect, Dialect)) -> Self {
        Lower {
            file,
            sides,
            slots: Vec::new(),
            names: Vec::new(),
            locals: Vec::new(),
        }
    }

    /// Variables that are bound beforehand.
    pub fn with_slots(mut self, names: &[Text]) -> Self {
        self.slots = names.to_vec();
        self
    }

    /// Variable names by slot, and what `let` named.
    pub fn finish(self) -> (Items<Text>, Items<Template>) {
        (self.slots.into(), self.locals.into())
    }

    fn error<T>(&self, at: &Sexpr, message: impl Into<String>) -> Result<T> {
        Err(at.pos.error(self.file, message))
    }

    /// The slot of a variable that the pattern binds.
    pub fn slot_of(&self, symbol: &str) -> Option<u8> {
        let name = symbol.strip_prefix('?')?.split(':').next()?;
        self.slots.iter().position(|s| s == name).map(|i| i as u8)
    }

    fn bound(&self, form: &Sexpr) -> Result<u8> {
        match form.symbol().and_then(|s| self.slot_of(s)) {
            Some(slot) => Ok(slot),
            None => self.error(form, "expected a variable that the pattern binds"),
        }
    }

    /// The slot of a variable, a new one where it is new, and its constraints as written.
    fn bind<'s>(&mut self, at: &Sexpr, symbol: &'s str) -> Result<(u8, std::str::Split<'s, char>)> {
        let mut parts = symbol[1..].split(':');
        let name = parts.next().unwrap_or_default();
        if name.is_empty() {
            return self.error(at, "a variable needs a name");
        }
        let slot = match self.slots.iter().position(|s| s == name) {
            Some(slot) => slot,
            None => {
                self.slots.push(name.to_string().into());
                self.slots.len() - 1
            }
        };
        if slot >= 64 {
            return self.error(at, "too many variables");
        }
        Ok((slot as u8, parts))
    }

    fn tests(&self, at: &Sexpr, names: &str) -> Result<Items<ElemTest>> {
        let tests: Option<Items<_>> = names.split('|').map(ElemTest::by_name).collect();
        match tests {
            Some(tests) => Ok(tests),
            None => self.error(
                at,
                format!("`{names}` is no element type: expected i32, f16, int, float, ptr, shared_ptr or several, `|` between them"),
            ),
        }
    }

    fn row(&self, form: &Sexpr, side: Dialect) -> Result<(Head, &'static OpDef)> {
        let Some(name) = form.keyword() else {
            return self.error(form, "expected (OPERATION …)");
        };
        let head = resolve(name, Some(side));
        let def = match head {
            Some(Head::Op(kind)) => Some(kind.def()),
            _ => None,
        };
        match head.zip(def) {
            Some(found) => Ok(found),
            None => self.error(form, side.no_operation(name)),
        }
    }

    /// Splits the items of an operation: attributes, types (perhaps left out), operand groups.
    #[allow(clippy::type_complexity)]
    fn split<'s>(
        &self,
        form: &Sexpr<'s>,
        def: &OpDef,
    ) -> Result<(&'s [Sexpr<'s>], Option<&'s [Sexpr<'s>]>, &'s [Sexpr<'s>])> {
        let items = &form.list().unwrap_or(&[])[1..];
        let (attrs, types, groups) = (def.attrs.len(), explicit_results(def), def.operands.len());
        if items.len() == attrs + types + groups {
            let (a, rest) = items.split_at(attrs);
            let (t, o) = rest.split_at(types);
            Ok((a, Some(t), o))
        } else if items.len() == attrs + groups {
            let (a, o) = items.split_at(attrs);
            Ok((a, None, o))
        } else {
            let list = |names: Vec<&str>| names.join(" ");
            self.error(
                form,
                format!(
                    "`{}` takes {attrs} attributes ({}), {types} types, {groups} operands ({}): {} items, not {}",
                    def.name,
                    list(def.attrs.iter().map(|a| a.name).collect()),
                    list(def.operands.iter().map(|o| o.name).collect()),
                    attrs + types + groups,
                    items.len()
                ),
            )
        }
    }

    // ---- patterns ------------------------------------------------------------------------------

    pub fn pattern(&mut self, form: &Sexpr) -> Result<Pattern> {
        if let Some(symbol) = form.symbol() {
            return match symbol {
                "_" => Ok(Pattern::Any),
                "none" => Ok(Pattern::Absent),
                _ if symbol.starts_with('?') => self.variable(form, symbol),
                _ => match literal(symbol) {
                    Some(literal) => Ok(Pattern::Literal(literal)),
                    None => self.error(
                        form,
                        format!("`{symbol}` is neither a variable nor a literal"),
                    ),
                },
            };
        }
        if form.keyword() == Some("list") {
            let items = &form.list().unwrap_or(&[])[1..];
            return Ok(Pattern::List(
                items
                    .iter()
                    .map(|i| self.pattern(i))
                    .collect::<Result<_>>()?,
            ));
        }
        let (head, def) = self.row(form, self.sides.0)?;
        let (attrs, types, operands) = self.split(form, def)?;
        let mut patterns = Vec::new();
        for (item, attr) in attrs.iter().zip(def.attrs) {
            patterns.push(self.attr_pattern(item, attr.kind)?);
        }
        match types {
            Some(types) => {
                for item in types {
                    patterns.push(self.attr_pattern(item, AttrKind::Type)?);
                }
            }
            None => patterns.resize(def.attrs.len() + explicit_results(def), AttrPattern::Any),
        }
        let mut children = Vec::new();
        for (item, group) in operands.iter().zip(def.operands) {
            let list = item.keyword() == Some("list")
                || matches!(item.symbol(), Some(s) if s.starts_with('?') || s == "_");
            if group.arity == Arity::Variadic && !list {
                return self.error(item, format!("operands `{}` are a (list …)", group.name));
            }
            children.push(self.pattern(item)?);
        }
        Ok(Pattern::Op(OpPattern {
            head,
            attrs: patterns.into(),
            children: children.into(),
            commutative: def.traits.has(Traits::COMMUTATIVE),
        }))
    }

    fn variable(&mut self, form: &Sexpr, symbol: &str) -> Result<Pattern> {
        let (slot, parts) = self.bind(form, symbol)?;
        let mut constraints = Vec::new();
        for part in parts {
            constraints.push(match part {
                "const" => Constraint::Const,
                "numbers" => Constraint::Numbers,
                "pure" => Constraint::Pure,
                "scalar" => Constraint::Scalar,
                "array" => Constraint::Array,
                "nonneg" => Constraint::Nonneg,
                "uniform" => Constraint::Uniform,
                names => Constraint::Elem(self.tests(form, names)?),
            });
        }
        Ok(Pattern::Var {
            slot,
            constraints: constraints.into(),
        })
    }

    fn attr_pattern(&mut self, form: &Sexpr, kind: AttrKind) -> Result<AttrPattern> {
        let Some(symbol) = form.symbol() else {
            return self.error(form, "expected an attribute");
        };
        if symbol == "_" {
            return Ok(AttrPattern::Any);
        }
        if symbol.starts_with('?') {
            let (slot, parts) = self.bind(form, symbol)?;
            let mut tests = Vec::new();
            for part in parts {
                tests.extend_from_slice(&self.tests(form, part)?);
            }
            let tests = tests.into();
            return Ok(AttrPattern::Var { slot, tests });
        }
        if let AttrKind::Type = kind {
            return Ok(AttrPattern::Elem(self.tests(form, symbol)?));
        }
        let leaves: Option<Items<Leaf>> = symbol.split('|').map(|s| attr_leaf(s, kind)).collect();
        match leaves.as_deref() {
            Some([leaf]) => Ok(AttrPattern::Is(*leaf)),
            Some(leaves) => Ok(AttrPattern::OneOf(leaves.to_vec().into())),
            None => self.error(form, attr_help(symbol, kind)),
        }
    }

    // ---- replacements --------------------------------------------------------------------------

    // ---- guards --------------------------------------------------------------------------------
}

fn attr_leaf(symbol: &str, kind: AttrKind) -> Option<Leaf> {
    if symbol == "none" {
        return Some(Leaf::Absent);
    }
    match kind {
        AttrKind::Unit => (symbol == "unit").then_some(Leaf::Unit),
        AttrKind::Bool => symbol.parse().ok().map(Leaf::Bool),
        AttrKind::Enum(def) => def
            .cases
            .iter()
            .position(|c| *c == symbol)
            .map(|i| Leaf::Enum(i as u8)),
        AttrKind::Int(_) => match literal(symbol)? {
            Literal::Int(i) => i64::try_from(i).ok().map(Leaf::Int),
            _ => None,
        },
        AttrKind::Dense => match literal(symbol)? {
            Literal::Bits(bits) => Some(Leaf::Bits(bits)),
            _ => None,
        },
        _ => None,
    }
}

fn attr_help(symbol: &str, kind: AttrKind) -> String {
    match kind {
        AttrKind::Enum(def) => format!(
            "`{symbol}` is no case of {}: {}",
            def.name,
            def.cases.join(", ")
        ),
        AttrKind::Unit => format!("`{symbol}`: a unit attribute is `unit` or `none`"),
        _ => format!("`{symbol}` is no value of this attribute"),
    }
}

/// A literal: integer, float, bits, truth value.
pub(super) fn literal(symbol: &str) -> Option<Literal> {
    match symbol {
        "true" => return Some(Literal::Bool(true)),
        "false" => return Some(Literal::Bool(false)),
        "nan" => return Some(Literal::Nan),
        "inf" => return Some(Literal::Float(f64::INFINITY)),
        "-inf" => return Some(Literal::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    if let Some(hex) = symbol.strip_prefix("#x") {
        return u64::from_str_radix(hex, 16).ok().map(Literal::Bits);
    }
    if let Some(hex) = symbol.strip_prefix("0x") {
        return i128::from_str_radix(hex, 16).ok().map(Literal::Int);
    }
    let number = symbol.strip_prefix(['-', '+']).unwrap_or(symbol);
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if number.contains(['.', 'e']) {
        symbol.parse().ok().map(Literal::Float)
    } else {
        symbol.parse().ok().map(Literal::Int)
    }
}
