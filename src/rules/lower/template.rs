//! Replacements.

use super::{Lower, Result, attr_help, attr_leaf, literal};
use crate::dialect::{
    AttrKind, Dialect, OpKind, cuda_tile,
    enums::{Case, Rounding},
    nvvm,
};
use crate::egraph::head::{Head, explicit_results};
use crate::egraph::rule::{AttrExpr, ConstValue, ElemTest, OpTemplate, Template, TypeExpr};
use crate::facts::Leaf;
use crate::sexpr::Sexpr;

impl Lower<'_> {
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
                ]
                .into(),
                children: children.into(),
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
            attrs: exprs.into(),
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

    /// The number of a dimension, counted from the last.
    fn place(&self, form: &Sexpr) -> Result<u8> {
        match form.symbol().and_then(|s| s.parse().ok()) {
            Some(place) => Ok(place),
            None => self.error(form, "expected a dimension's number, 0 for the last one"),
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
            (Some("only"), [_, dim, var]) => Ok(TypeExpr::Only(self.bound(var)?, self.place(dim)?)),
            (Some("dimension"), [_, dim, var]) => {
                Ok(TypeExpr::Dimension(self.bound(var)?, self.place(dim)?))
            }
            (Some("root"), [_]) => Ok(TypeExpr::Root),
            (Some("scalar"), [_, elem]) => Ok(TypeExpr::Scalar(one(self, elem)?)),
            _ => self.error(
                form,
                "expected a type: i32, (like ?x i32), (type ?x), (elem ?x), (root), (scalar i32), \
                 (only 0 ?x), (dimension 0 ?x)",
            ),
        }
    }
}
