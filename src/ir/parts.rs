//! Operations as the typed views of `crate::dialect` read them.

use super::{Attr, EnumAttr, Name, Op, TypeId, ValueId};
use crate::dialect::OpKind;
use crate::dialect::parts::Parts;

impl Parts for Op {
    type Value = ValueId;
    type Name = Name;
    type Type = TypeId;
    type Attr = Attr;

    fn kind(&self) -> OpKind {
        self.kind
    }

    fn group(&self, i: usize) -> &[ValueId] {
        self.group(i)
    }

    fn results(&self) -> &[ValueId] {
        &self.results
    }

    fn attr(&self, i: usize) -> Option<&Attr> {
        self.attr(i)
    }

    fn int(attr: &Attr) -> Option<i64> {
        match *attr {
            Attr::Int { value, .. } => Some(value),
            _ => None,
        }
    }

    fn bool(attr: &Attr) -> Option<bool> {
        match *attr {
            Attr::Bool(value) => Some(value),
            _ => None,
        }
    }

    fn case(attr: &Attr) -> Option<u8> {
        match *attr {
            Attr::Enum(EnumAttr(case)) => Some(case),
            _ => None,
        }
    }

    fn i32s(attr: &Attr) -> Option<&[i32]> {
        match attr {
            Attr::I32s(values) => Some(values),
            _ => None,
        }
    }

    fn i64s(attr: &Attr) -> Option<&[i64]> {
        match attr {
            Attr::I64s(values) => Some(values),
            _ => None,
        }
    }

    fn bools(attr: &Attr) -> Option<&[bool]> {
        match attr {
            Attr::Bools(values) => Some(values),
            _ => None,
        }
    }

    fn name(attr: &Attr) -> Option<Name> {
        match *attr {
            Attr::Str(name) | Attr::Symbol(name) => Some(name),
            _ => None,
        }
    }

    fn ty(attr: &Attr) -> Option<TypeId> {
        match *attr {
            Attr::Type(ty) => Some(ty),
            _ => None,
        }
    }
}
