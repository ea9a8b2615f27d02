//! The rule language: reading rule files, and what rules are once read.
//!
//! `docs/rules.md` describes the language. [`RuleSet::parse`] reads text; [`files`] finds the
//! rules that are compiled in or in a directory; [`crate::egraph::replace`] makes replacements in the e-graph.

mod builtin;
pub mod derive;
pub mod examples;
mod expand;
pub mod files;
mod group;
mod instance;
mod lower;
mod names;
mod parse;
mod program;
pub mod prove;
mod random;
mod registers;
pub mod soundness;
#[cfg(test)]
mod tests;
pub mod trial;
mod wrong;

pub use crate::egraph::literal::{is_nan, literal_bits};
pub use crate::egraph::rule::Examples;
pub use crate::egraph::rule::{
    AttrExpr, AttrPattern, Check, Constraint, ElemTest, Example, Expr, Guard, Literal, OpCost,
    OpPattern, OpTemplate, Pattern, Rule, RuleSet, Template, TypeExpr,
};
pub use crate::sexpr::Pos;
pub use random::Random;
pub use wrong::Wrong;
