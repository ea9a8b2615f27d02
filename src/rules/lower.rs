//! Patterns, replacements and guards from forms.

use super::names::resolve;
use crate::dialect::{
    Arity, AttrKind, Dialect, OpDef, OpKind, Traits, cuda_tile,
    enums::{Case, Rounding},
    nvvm,
};
use crate::egraph::node::{Head, Leaf, explicit_results};
use crate::egraph::rule::{
    AttrExpr, AttrPattern, Comparison, ConstValue, Constraint, ElemTest, Expr, Function, Guard,
    Literal, OpPattern, OpTemplate, Pattern, Template, TypeExpr,
};
use crate::ir::Diagnostic;
use crate::sexpr::Sexpr;
use crate::target::Feature;

type Result<T> = std::result::Result<T, Diagnostic>;

/// The variables of one rule and what its names mean.
pub(super) struct Lower<'a> {
    file: &'a str,
    sides: (Dialect, Dialect),
    slots: Vec<String>,
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
    pub fn with_slots(mut self, names: &[String]) -> Self {
        self.slots = names.to_vec();
        self
    }

    /// Variable names by slot, and what `let` named.
    pub fn finish(self) -> (Vec<String>, Vec<Template>) {
        (self.slots, self.locals)
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
                self.slots.push(name.to_string());
                self.slots.len() - 1
            }
        };
        if slot >= 64 {
            return self.error(at, "too many variables");
        }
        Ok((slot as u8, parts))
    }

    fn tests(&self, at: &Sexpr, names: &str) -> Result<Vec<ElemTest>> {
        let tests: Option<Vec<_>> = names.split('|').map(ElemTest::by_name).collect();
        match tests {
            Some(tests) => Ok(tests),
            None => self.error(at, format!("`{names}` is no element type")),
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
            None => self.error(form, format!("there is no operation called `{name}`")),
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
            attrs: patterns,
            children,
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
        Ok(Pattern::Var { slot, constraints })
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
                tests.extend(self.tests(form, part)?);
            }
            return Ok(AttrPattern::Var { slot, tests });
        }
        if let AttrKind::Type = kind {
            return Ok(AttrPattern::Elem(self.tests(form, symbol)?));
        }
        let leaves: Option<Vec<Leaf>> = symbol.split('|').map(|s| attr_leaf(s, kind)).collect();
        match leaves.as_deref() {
            Some([leaf]) => Ok(AttrPattern::Is(*leaf)),
            Some(leaves) => Ok(AttrPattern::OneOf(leaves.to_vec())),
            None => self.error(form, attr_help(symbol, kind)),
        }
    }

    // ---- replacements --------------------------------------------------------------------------

    pub fn template(&mut self, form: &Sexpr) -> Result<Template> {
        let kind = self.constant_op();
        if let Some(symbol) = form.symbol() {
            if symbol == "none" {
                return Ok(Template::Absent);
            }
            if symbol.starts_with('?') {
                return Ok(Template::Var(self.bound(form)?));
            }
            if symbol.starts_with('$') {
                return match self.names.iter().rfind(|(name, _)| name == symbol) {
                    Some((_, index)) => Ok(Template::Local(*index)),
                    None => self.error(form, format!("no `let` names {symbol}")),
                };
            }
            return match literal(symbol) {
                Some(literal) => Ok(Template::Const {
                    kind,
                    value: ConstValue::Literal(literal),
                    ty: None,
                }),
                None => self.error(
                    form,
                    format!("`{symbol}` is neither a variable nor a literal"),
                ),
            };
        }
        let items = form.list().unwrap_or(&[]);
        match form.keyword() {
            Some("list") => Ok(Template::List(
                items[1..]
                    .iter()
                    .map(|i| self.template(i))
                    .collect::<Result<_>>()?,
            )),
            Some("const") => self.constant(form, items, kind),
            Some("let") => self.with_names(form, items),
            Some("horner") => self.horner(form, items),
            _ => self.op_template(form),
        }
    }

    /// `(let (($name FORM) …) BODY)`: each name stands for its form in the later forms and the body.
    fn with_names(&mut self, form: &Sexpr, items: &[Sexpr]) -> Result<Template> {
        let [_, bindings, body] = items else {
            return self.error(form, "expected (let (($NAME FORM) …) BODY)");
        };
        let outer = self.names.len();
        for binding in bindings.list().unwrap_or(&[]) {
            let (Some(name), Some([_, value])) = (binding.keyword(), binding.list()) else {
                return self.error(binding, "expected ($NAME FORM)");
            };
            if !name.starts_with('$') {
                return self.error(binding, "the names of a `let` start with `$`");
            }
            let value = self.template(value)?;
            let Ok(index) = u8::try_from(self.locals.len()) else {
                return self.error(binding, "too many names");
            };
            self.locals.push(value);
            self.names.push((name.to_string(), index));
        }
        let body = self.template(body)?;
        self.names.truncate(outer);
        Ok(body)
    }

    /// `(horner X cN … c1 c0)`: the polynomial by fused multiply-adds.
    fn horner(&mut self, form: &Sexpr, items: &[Sexpr]) -> Result<Template> {
        let [_, x, first, rest @ ..] = items else {
            return self.error(form, "expected (horner X COEFFICIENT …), highest first");
        };
        let x = self.template(x)?;
        let mut sum = self.template(first)?;
        for coefficient in rest {
            let children = vec![sum, x.clone(), self.template(coefficient)?];
            sum = Template::Op(OpTemplate {
                head: Head::Op(nvvm::Op::Fma.into()),
                attrs: vec![
                    AttrExpr::Is(Leaf::Enum(Rounding::NearestEven.code())),
                    AttrExpr::Is(Leaf::Absent),
                ],
                children,
            });
        }
        Ok(sum)
    }

    /// What constants of the replacement side are written as.
    fn constant_op(&self) -> OpKind {
        match self.sides.1 {
            Dialect::Nvvm => nvvm::Op::Const.into(),
            _ => cuda_tile::Op::Constant.into(),
        }
    }

    fn constant(&mut self, form: &Sexpr, items: &[Sexpr], kind: OpKind) -> Result<Template> {
        let (value, ty) = match items {
            [_, value] => (value, None),
            [_, value, ty] => (value, Some(self.type_expr(ty)?)),
            _ => return self.error(form, "expected (const VALUE [TYPE])"),
        };
        let value = match value.symbol().and_then(literal) {
            Some(literal) => ConstValue::Literal(literal),
            None => ConstValue::Computed(self.expr(value)?),
        };
        Ok(Template::Const { kind, value, ty })
    }

    fn op_template(&mut self, form: &Sexpr) -> Result<Template> {
        let (head, def) = self.row(form, self.sides.1)?;
        let (attrs, types, operands) = self.split(form, def)?;
        let mut exprs = Vec::new();
        for (item, attr) in attrs.iter().zip(def.attrs) {
            exprs.push(self.attr_expr(item, attr.kind)?);
        }
        match types {
            Some(types) => {
                for item in types {
                    exprs.push(AttrExpr::Type(self.type_expr(item)?));
                }
            }
            None => exprs.resize(def.attrs.len() + explicit_results(def), AttrExpr::Inferred),
        }
        let children = operands
            .iter()
            .map(|i| self.template(i))
            .collect::<Result<_>>()?;
        Ok(Template::Op(OpTemplate {
            head,
            attrs: exprs,
            children,
        }))
    }

    fn attr_expr(&mut self, form: &Sexpr, kind: AttrKind) -> Result<AttrExpr> {
        if let Some(symbol) = form.symbol() {
            if symbol.starts_with('?') {
                return Ok(AttrExpr::Var(self.bound(form)?));
            }
            if let AttrKind::Type = kind {
                return Ok(AttrExpr::Type(self.type_expr(form)?));
            }
            return match attr_leaf(symbol, kind) {
                Some(leaf) => Ok(AttrExpr::Is(leaf)),
                None => self.error(form, attr_help(symbol, kind)),
            };
        }
        let items = form.list().unwrap_or(&[]);
        match (form.keyword(), items) {
            (Some("add-each"), [_, list, by]) => {
                Ok(AttrExpr::AddEach(self.bound(list)?, self.expr(by)?))
            }
            (Some("ints"), [_, rest @ ..]) => Ok(AttrExpr::Ints(
                rest.iter().map(|e| self.expr(e)).collect::<Result<_>>()?,
            )),
            _ if matches!(kind, AttrKind::Type) => Ok(AttrExpr::Type(self.type_expr(form)?)),
            _ => Ok(AttrExpr::Int(self.expr(form)?)),
        }
    }

    fn type_expr(&mut self, form: &Sexpr) -> Result<TypeExpr> {
        let one = |s: &Self, f: &Sexpr| match f.symbol().and_then(ElemTest::by_name) {
            Some(test @ (ElemTest::IntOf(_) | ElemTest::FloatOf(_) | ElemTest::SharedPtr)) => {
                Ok(test)
            }
            _ => s.error(f, "expected an element type such as i32 or f16"),
        };
        if let Some(symbol) = form.symbol() {
            return if symbol.starts_with('?') {
                Ok(TypeExpr::Of(self.bound(form)?))
            } else {
                Ok(TypeExpr::Elem(one(self, form)?))
            };
        }
        match (form.keyword(), form.list().unwrap_or(&[])) {
            (Some("like"), [_, var, elem]) => {
                Ok(TypeExpr::Like(self.bound(var)?, one(self, elem)?))
            }
            (Some("type"), [_, var]) => Ok(TypeExpr::Of(self.bound(var)?)),
            (Some("elem"), [_, var]) => Ok(TypeExpr::ElemOf(self.bound(var)?)),
            (Some("root"), [_]) => Ok(TypeExpr::Root),
            (Some("scalar"), [_, elem]) => Ok(TypeExpr::Scalar(one(self, elem)?)),
            _ => self.error(
                form,
                "expected a type: i32, (like ?x i32), (type ?x), (elem ?x), (root), (scalar i32)",
            ),
        }
    }

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
                let args = items.iter().map(|i| self.expr(i)).collect::<Result<_>>()?;
                Ok(Expr::Apply(function, args))
            }
            Some(_) => self.error(form, format!("wrong number of arguments of `{name}`")),
            None => self.error(form, format!("there is no function called `{name}`")),
        }
    }

    // ---- guards --------------------------------------------------------------------------------

    pub fn guard(&mut self, form: &Sexpr) -> Result<Guard> {
        let items = form.list().unwrap_or(&[]);
        let bits = |s: &Self, f: &Sexpr| match f.symbol().map(str::parse::<u32>) {
            Some(Ok(n)) if (1..=64).contains(&n) => Ok(n),
            _ => s.error(f, "expected a width"),
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
            (Some("wider"), [_, a, b]) => Guard::Wider(self.bound(a)?, self.bound(b)?),
            (Some("type-is"), [_, v, t]) => Guard::TypeIs(
                self.bound(v)?,
                self.tests(t, t.symbol().unwrap_or_default())?,
            ),
            (Some("sm"), [_, range]) => self.sm(range)?,
            (Some("feature"), [_, name]) => match name.symbol().and_then(Feature::named) {
                Some(feature) => Guard::Feature(feature),
                None => return self.error(name, "there is no such feature"),
            },
            (Some("not"), [_, g]) => Guard::Not(Box::new(self.guard(g)?)),
            (Some("and"), [_, rest @ ..]) => {
                Guard::And(rest.iter().map(|g| self.guard(g)).collect::<Result<_>>()?)
            }
            (Some("or"), [_, rest @ ..]) => {
                Guard::Or(rest.iter().map(|g| self.guard(g)).collect::<Result<_>>()?)
            }
            _ => {
                return self.error(
                    form,
                    "there is no such guard, or its arguments are wrong (see docs/rules.md)",
                );
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
