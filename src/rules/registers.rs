//! Which registers of an array a rule reads. Checks and proofs look at one element: `(take ?i ?x)` is some element of `?x`
//! for them, as `?x` is. That says what the rule does to arrays if it reads each variable in one way on both sides: all of
//! its registers, those that one list of indices names, or the one register of a scalar that `splat` repeats.

use crate::dialect::nvvm::Op as N;
use crate::egraph::node::Head;
use crate::egraph::rule::{AttrExpr, AttrPattern, Pattern, Rule, Template};

/// How a variable is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    All,
    /// By the indices of an attribute's variable.
    Taken(u8),
    /// By indices without a name, which may be others elsewhere.
    Unnamed,
    Scalar,
}

/// The name of a variable that the rule reads in more than one way.
pub(super) fn mixed(rule: &Rule) -> Option<&str> {
    let mut ways = Ways {
        seen: vec![None; rule.vars.len()],
        mixed: None,
    };
    ways.pattern(&rule.pattern, Way::All);
    for template in rule.templates.iter().chain(rule.locals.iter()) {
        ways.template(template, Way::All);
    }
    let slot = ways.mixed?;
    rule.vars.get(slot as usize).map(|name| &**name)
}

struct Ways {
    /// By variable.
    seen: Vec<Option<Way>>,
    mixed: Option<u8>,
}

impl Ways {
    fn variable(&mut self, slot: u8, way: Way) {
        match self.seen.get_mut(slot as usize) {
            Some(seen @ None) => *seen = Some(way),
            Some(Some(seen)) if *seen != way || way == Way::Unnamed => self.mixed = Some(slot),
            _ => {}
        }
    }

    fn pattern(&mut self, pattern: &Pattern, way: Way) {
        match pattern {
            Pattern::Var { slot, .. } => self.variable(*slot, way),
            Pattern::List(items) => items.iter().for_each(|p| self.pattern(p, way)),
            Pattern::Op(op) => {
                let indices = match op.attrs.first() {
                    Some(AttrPattern::Var { slot, .. }) => Some(*slot),
                    _ => None,
                };
                let way = self.below(op.head, indices, way);
                op.children.iter().for_each(|p| self.pattern(p, way));
            }
            Pattern::Any | Pattern::Literal(_) | Pattern::Absent => {}
        }
    }

    fn template(&mut self, template: &Template, way: Way) {
        match template {
            Template::Var(slot) => self.variable(*slot, way),
            Template::List(items) => items.iter().for_each(|t| self.template(t, way)),
            Template::Op(op) => {
                let indices = match op.attrs.first() {
                    Some(AttrExpr::Var(slot)) => Some(*slot),
                    _ => None,
                };
                let way = self.below(op.head, indices, way);
                op.children.iter().for_each(|t| self.template(t, way));
            }
            Template::Local(_) | Template::Const { .. } | Template::Absent => {}
        }
    }

    /// How operands are read of an operation that is read in a `way`.
    fn below(&mut self, head: Head, indices: Option<u8>, way: Way) -> Way {
        let Head::Op(kind) = head else { return way };
        match (N::of(kind), indices, way) {
            (Some(N::Splat), ..) => Way::Scalar,
            (Some(N::Take), Some(slot), Way::All) => Way::Taken(slot),
            (Some(N::Take), None, _) => Way::Unnamed,
            // Indices of indices.
            (Some(N::Take), Some(slot), _) => {
                self.mixed = Some(slot);
                way
            }
            _ => way,
        }
    }
}
