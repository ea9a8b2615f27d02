//! Attributes and types as transfer functions see them.

use serde::Serialize;

use crate::ir::TypeId;

/// An attribute as far as transfer functions look at it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
pub enum Leaf {
    Absent,
    Unit,
    Bool(bool),
    Int(i64),
    Enum(u8),
    /// Of a module, so never in a rule.
    #[serde(skip)]
    Type(TypeId),
    /// The bits of each element of constant data.
    Bits(u64),
    /// Anything structured: an index into the e-graph's attribute table.
    Data(u32),
    /// Keeps one effect apart from all others.
    Effect(u32),
    /// Anything structured, not looked at.
    Other,
}
