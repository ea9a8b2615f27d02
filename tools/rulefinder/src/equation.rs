//! Two terms that are equal as far as is known.

use crate::tree::Tree;
use crate::vectors::Variable;

/// Two terms over the same variables; the second is to replace the first.
#[derive(Clone, Debug)]
pub struct Equation {
    pub variables: Vec<Variable>,
    pub lhs: Tree,
    pub rhs: Tree,
}

impl Equation {
    /// Whether the terms agree on these values, on which the first need not be defined.
    pub fn holds_for(&self, values: &[u64]) -> bool {
        match self.lhs.value(values) {
            Some(expected) => self.rhs.value(values) == Some(expected),
            None => true,
        }
    }

    /// The equation for operands of which nothing is known.
    pub fn without_facts(&self) -> Equation {
        let variables = self.variables.iter();
        let variables = variables.map(|v| Variable {
            nonneg: false,
            ..v.clone()
        });
        Equation {
            variables: variables.collect(),
            ..self.clone()
        }
    }

    /// The equation over the variables that the first term has, numbered and named in order of appearance; nothing
    /// where the second one needs others.
    pub fn tidy(self) -> Option<Equation> {
        let (lhs, rhs) = (self.lhs.ordered(), self.rhs.ordered());
        let order = lhs.variables();
        let place = |i: usize| order.iter().position(|&o| o == i);
        if !rhs.variables().iter().all(|&i| place(i).is_some()) {
            return None;
        }
        let renumbered = |tree: &Tree| {
            tree.map(&mut |leaf| match leaf {
                Tree::Variable(i, scalar) => Tree::Variable(place(*i).unwrap_or(0), *scalar),
                other => other.clone(),
            })
        };
        let (lhs, rhs) = (renumbered(&lhs), renumbered(&rhs));
        let (mut truths, mut values) = (["p", "q", "r"].iter(), ["x", "y", "z", "w"].iter());
        let named = |&i: &usize| {
            let variable = self.variables.get(i)?;
            let names = match variable.scalar.bits() {
                1 => &mut truths,
                _ => &mut values,
            };
            Some(Variable::new(
                names.next()?,
                variable.scalar,
                variable.nonneg,
            ))
        };
        let variables = order.iter().map(named).collect::<Option<_>>()?;
        Some(Equation {
            variables,
            lhs,
            rhs,
        })
    }
}
