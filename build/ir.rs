//! What is said of a wrong rule.

#[path = "../src/ir/diag.rs"]
mod diag;

pub use diag::{Diagnostic, Place};

/// Types are a module's: no rule has one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum TypeId {}
