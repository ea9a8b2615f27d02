//! Leaves of attributes, and what types say of bytes.

use super::leaf::Leaf;
use crate::ir::{Attr, Type, TypeId, Types};

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
