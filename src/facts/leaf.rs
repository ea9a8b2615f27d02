//! Attributes and types as transfer functions see them.

use crate::ir::{Attr, Type, TypeId, Types};

/// An attribute as far as transfer functions look at it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Leaf {
    Absent,
    Unit,
    Bool(bool),
    Int(i64),
    Enum(u8),
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

impl From<Option<&Attr>> for Leaf {
    fn from(attr: Option<&Attr>) -> Leaf {
        match attr {
            None => Leaf::Absent,
            Some(Attr::Unit) => Leaf::Unit,
            Some(Attr::Bool(b)) => Leaf::Bool(*b),
            Some(Attr::Int { value, .. }) => Leaf::Int(*value),
            Some(Attr::Enum(e)) => Leaf::Enum(e.0),
            Some(Attr::Type(t)) => Leaf::Type(*t),
            Some(_) => Leaf::Other,
        }
    }
}

/// Bytes of a pointer type's pointee.
pub(super) fn pointee_bytes(types: &Types, ty: TypeId) -> u64 {
    match types.get(types.elem(ty)) {
        Type::Ptr { pointee, .. } => types.bits(*pointee).map_or(1, |b| (b as u64).div_ceil(8)),
        _ => 1,
    }
}
