//! Equations in the language of rule files.

use std::fmt::Write;

use tilec::dialect::{AttrKind, enums};
use tilec::facts::semantics::Scalar;
use tilec::facts::{Leaf, sign_extend};

use crate::generalise::{General, Written};
use crate::numbers::name;
use crate::operations::Operation;
use crate::tree::Tree;
use crate::vectors::Variable;

/// A rule as text, without the header that names the dialect.
pub fn rule(name: &str, doc: &str, general: &General) -> String {
    let equation = &general.equation;
    let mut pattern = Writer::new(general, Side::Pattern);
    let before = pattern.tree(&equation.lhs, true);
    let after = Writer::new(general, Side::Replacement).tree(&equation.rhs, true);
    let mut text = format!("(rule {name} \"{doc}\"\n  {before} => {after}");
    if !general.conditions.is_empty() {
        let _ = write!(text, "\n  (where {})", general.conditions.join(" "));
    }
    // A variable of an example has no known range.
    if !equation.variables.iter().any(|v| v.nonneg) {
        let example = |tree| Writer::new(general, Side::Example).tree(tree, true);
        let (before, after) = (example(&equation.lhs), example(&equation.rhs));
        let _ = write!(text, "\n  (example {before} => {after})");
    }
    text + ")\n"
}

/// A term as a pattern, on one line.
pub fn term(tree: &Tree, variables: &[Variable]) -> String {
    let plain = General {
        equation: crate::equation::Equation {
            variables: variables.to_vec(),
            lhs: tree.clone(),
            rhs: tree.clone(),
        },
        lhs: vec![Written::Literal; tree.constants().len()],
        rhs: Vec::new(),
        conditions: Vec::new(),
        types: Vec::new(),
    };
    Writer::new(&plain, Side::Pattern).tree(tree, true)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Pattern,
    Replacement,
    /// Literals alone, variables with their exact types.
    Example,
}

struct Writer<'a> {
    general: &'a General,
    side: Side,
    variables: Vec<bool>,
    constants: std::slice::Iter<'a, Written>,
    /// Constants of the pattern that stand in it already.
    named: Vec<usize>,
}

impl<'a> Writer<'a> {
    fn new(general: &'a General, side: Side) -> Writer<'a> {
        let constants = match side {
            Side::Pattern => general.lhs.iter(),
            Side::Replacement => general.rhs.iter(),
            Side::Example => [].iter(),
        };
        Writer {
            general,
            side,
            variables: vec![false; general.equation.variables.len()],
            constants,
            named: Vec::new(),
        }
    }

    /// `typed`: whether the place says which type a constant has.
    fn tree(&mut self, tree: &Tree, typed: bool) -> String {
        match tree {
            Tree::Variable(i, _) => self.variable(*i),
            Tree::Constant(bits, scalar) => self.constant(*bits, *scalar, typed),
            Tree::Op(operation, args) => {
                let mut text = format!("({}", operation.row().name);
                for (i, leaf) in operation.leaves.iter().enumerate() {
                    let _ = write!(text, " {}", self.attribute(operation, i, *leaf));
                }
                if operation.states_type() {
                    let _ = write!(text, " {}", operation.result);
                }
                let constant = |t: &Tree| matches!(t, Tree::Constant(..));
                let others = args.iter().filter(|a| !constant(a)).map(Tree::scalar);
                let others: Vec<Scalar> = others.collect();
                for arg in args {
                    // Operands have the type of their neighbours, except where the row states types.
                    let known = match self.side {
                        Side::Pattern => true,
                        _ => !operation.is_fused() && others.contains(&arg.scalar()),
                    };
                    let _ = write!(
                        text,
                        " {}",
                        self.tree(arg, known || self.follows(operation, typed))
                    );
                }
                text + ")"
            }
        }
    }

    /// Whether the operands have the result's type, and that is known.
    fn follows(&self, operation: &Operation, typed: bool) -> bool {
        typed
            && self.side == Side::Replacement
            && operation.operands.last() == Some(&operation.result)
            && !operation.states_type()
    }

    fn variable(&mut self, i: usize) -> String {
        let variable = &self.general.equation.variables[i];
        let first = !std::mem::replace(&mut self.variables[i], true);
        match self.side {
            Side::Example => format!("?{}:{}", variable.name, variable.scalar),
            Side::Pattern if first => {
                let nonneg = if variable.nonneg { ":nonneg" } else { "" };
                format!("?{}:{}{nonneg}", variable.name, self.types(variable.scalar))
            }
            _ => format!("?{}", variable.name),
        }
    }

    fn types(&self, scalar: Scalar) -> String {
        if self.general.types.is_empty() || scalar == Scalar::Int(1) {
            return scalar.to_string();
        }
        let mut all: Vec<Scalar> = self.general.types.clone();
        all.push(scalar);
        all.sort_by_key(|s| s.bits());
        all.iter()
            .map(Scalar::to_string)
            .collect::<Vec<_>>()
            .join("|")
    }

    fn constant(&mut self, bits: u64, scalar: Scalar, typed: bool) -> String {
        match self.constants.next() {
            Some(Written::Named(i)) => {
                let name = name(*i);
                let first = self.side == Side::Pattern && !self.named.contains(i);
                self.named.push(*i);
                match first {
                    true => format!("?{name}:{scalar}:const"),
                    false => format!("?{name}"),
                }
            }
            Some(Written::Computed(number)) if typed => format!("(const {})", number.text),
            Some(Written::Computed(number)) => format!("(const {} {scalar})", number.text),
            _ => {
                let literal = literal(bits, scalar);
                let shape = self.general.equation.variables.first().map(|v| v.scalar);
                match self.side {
                    Side::Example if shape != Some(scalar) => {
                        format!("(const {literal} (scalar {scalar}))")
                    }
                    Side::Replacement if !typed => format!("(const {literal} {scalar})"),
                    _ => literal,
                }
            }
        }
    }

    fn attribute(&self, operation: &Operation, i: usize, leaf: Leaf) -> String {
        let row = &operation.row().attrs[i];
        match (leaf, row.kind) {
            (Leaf::Enum(_), AttrKind::Enum(def))
                if std::ptr::eq(def, &enums::SIGNEDNESS)
                    && operation.is_without_sign()
                    && self.side == Side::Pattern =>
            {
                "_".into()
            }
            (Leaf::Enum(case), AttrKind::Enum(def)) => def.cases[usize::from(case)].to_owned(),
            (Leaf::Unit, _) => "unit".into(),
            (Leaf::Int(number), _) => number.to_string(),
            _ => "none".into(),
        }
    }
}

fn literal(bits: u64, scalar: Scalar) -> String {
    match scalar {
        Scalar::Int(1) => if bits & 1 == 1 { "true" } else { "false" }.to_owned(),
        Scalar::Int(width) => sign_extend(bits, width).to_string(),
        other => format!("#x{bits:0width$x}", width = (other.bits() / 4) as usize),
    }
}
