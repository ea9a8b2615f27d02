//! What of an instance is drawn, so that others of the same types exist.

use crate::dialect::AttrKind;
use crate::egraph::node::Head;
use crate::egraph::rule::{
    AttrExpr, AttrPattern, ConstValue, Constraint, Expr, Function, Guard, OpPattern, Pattern, Rule,
    Template,
};

/// What a rule's instances are drawn with, besides types and attributes that are few.
pub struct Drawn {
    /// Variables that are constants.
    pub constants: Vec<u8>,
    /// Facts that guards or replacements ask of variables, other than the next two.
    pub facts: bool,
    /// Integer attributes.
    pub numbers: bool,
    pub nonneg: Vec<u8>,
    pub nonzero: Vec<u8>,
}

impl Drawn {
    pub fn of(rule: &Rule) -> Drawn {
        let mut drawn = Drawn {
            constants: Vec::new(),
            facts: false,
            numbers: false,
            nonneg: Vec::new(),
            nonzero: Vec::new(),
        };
        drawn.pattern(&rule.pattern);
        for guard in rule.guards.iter() {
            match guard {
                Guard::Nonneg(slot) => drawn.nonneg.push(*slot),
                Guard::Nonzero(slot) => drawn.nonzero.push(*slot),
                other => drawn.facts |= asks_facts(other),
            }
        }
        let mut templates = rule.templates.iter().chain(&*rule.locals);
        drawn.facts |= templates.any(|t| any_number(t, &reads_facts));
        drawn
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Var { slot, constraints } => {
                let number = |c: &Constraint| matches!(c, Constraint::Const | Constraint::Numbers);
                if constraints.iter().any(number) && !self.constants.contains(slot) {
                    self.constants.push(*slot);
                }
                if constraints.contains(&Constraint::Nonneg) {
                    self.nonneg.push(*slot);
                }
            }
            Pattern::Op(op) => {
                self.numbers |= draws_number(op);
                op.children.iter().for_each(|c| self.pattern(c));
            }
            Pattern::List(items) => items.iter().for_each(|i| self.pattern(i)),
            _ => {}
        }
    }

    pub fn anything(&self) -> bool {
        !self.constants.is_empty() || self.facts || self.numbers
    }

    pub fn text(&self) -> String {
        let mut list = Vec::new();
        if !self.constants.is_empty() {
            list.push("constant");
        }
        if self.facts {
            list.push("range");
        }
        if self.numbers {
            list.push("attribute");
        }
        format!("for each {} that was drawn", list.join(" and "))
    }
}

/// Whether an operation has an integer attribute that may be anything.
fn draws_number(op: &OpPattern) -> bool {
    let Head::Op(kind) = op.head else {
        return false;
    };
    let free = |p: &AttrPattern| matches!(p, AttrPattern::Any | AttrPattern::Var { .. });
    let mut pairs = kind.def().attrs.iter().zip(&*op.attrs);
    pairs.any(|(row, pattern)| matches!(row.kind, AttrKind::Int(_)) && free(pattern))
}

/// Whether a guard asks what is known of a variable's values.
fn asks_facts(guard: &Guard) -> bool {
    match guard {
        Guard::Not(list) | Guard::And(list) | Guard::Or(list) => list.iter().any(asks_facts),
        Guard::DivisibleBy(..) | Guard::InRange(..) | Guard::Nonneg(_) | Guard::Nonzero(_) => true,
        Guard::Compare(_, a, b) => reads_facts(a) || reads_facts(b),
        Guard::IsPow2(e) | Guard::FitsSigned(e, _) | Guard::FitsUnsigned(e, _) => reads_facts(e),
        _ => false,
    }
}

/// Whether a number is computed from what is known of a variable's values.
fn reads_facts(expr: &Expr) -> bool {
    match expr {
        Expr::Apply(Function::Lo | Function::Hi | Function::Divisor, _) => true,
        Expr::Apply(_, operands) => operands.iter().any(reads_facts),
        _ => false,
    }
}

/// Whether one of the numbers that a replacement computes is such a one.
pub fn any_number(template: &Template, is: &dyn Fn(&Expr) -> bool) -> bool {
    match template {
        Template::Const {
            value: ConstValue::Computed(expr),
            ..
        } => is(expr),
        Template::Op(op) => {
            op.attrs.iter().any(|a| attribute(a, is))
                || op.children.iter().any(|c| any_number(c, is))
        }
        Template::List(items) => items.iter().any(|i| any_number(i, is)),
        _ => false,
    }
}

/// Whether one of the numbers of an attribute is such a one.
pub fn attribute(attribute: &AttrExpr, is: &dyn Fn(&Expr) -> bool) -> bool {
    match attribute {
        AttrExpr::Int(expr) | AttrExpr::AddEach(_, expr) => is(expr),
        AttrExpr::Var(slot) => is(&Expr::Var(*slot)),
        AttrExpr::Ints(exprs) => exprs.iter().any(is),
        _ => false,
    }
}
