//! What nodes are, and patterns look for. (The build script reads rules with this, too.)

use serde::Serialize;

use crate::dialect::{OpDef, OpKind, ResultDef, ResultType};

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
pub enum Head {
    /// An operation of a dialect. Children are its operand groups.
    Op(OpKind),
    /// A block argument or a result of an operation with regions, by number.
    Value(u32),
    /// Result `i` of the operation of several results that is the only child.
    Proj(u32),
    /// A variadic operand group.
    List,
    /// An absent optional operand.
    Absent,
}

/// Number of explicit result types a node of this row carries after its attributes.
pub fn explicit_results(def: &OpDef) -> usize {
    let explicit = |r: &&ResultDef| r.ty == ResultType::Explicit;
    def.results.iter().filter(explicit).count()
}
