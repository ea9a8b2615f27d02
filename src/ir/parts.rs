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

#[cfg(test)]
mod tests {
    use crate::dialect::enums::Ordering;
    use crate::dialect::nv_tileas::{Op as S, view};
    use crate::ir::{Attr, EnumAttr, Module};

    /// A load from a pointer, with a mask where it is given one, ordered as the case says.
    fn load(masked: bool, order: Option<u8>) -> (Module, crate::ir::OpId) {
        let mut m = Module::new("m");
        let (i1, i32_ty) = (m.types.int(1), m.types.int(32));
        let body = m.body;
        let pointers = m.add_arg(body, i32_ty);
        let mask = masked.then(|| m.add_arg(body, i1));
        let groups = [&[pointers][..], mask.as_slice(), &[], &[]];
        let attrs = [order.map(|case| Attr::Enum(EnumAttr(case)))];
        let op = m.at_end(body).op(S::Load, &groups, attrs, &[i32_ty], &[]);
        (m, op)
    }

    #[test]
    fn a_view_reads_what_the_row_names() {
        for masked in [false, true] {
            let (m, op) = load(masked, Some(Ordering::Acquire as u8));
            let v = view::Load::of(m.op(op)).expect("it is one");
            assert_eq!(v.pointers(), m.block(m.body).args[0]);
            assert_eq!(v.mask(), m.block(m.body).args.get(1).copied());
            assert_eq!((v.padding(), v.token()), (None, None));
            assert_eq!((v.order(), v.scope()), (Ordering::Acquire, None));
            assert_eq!(v.tile(), m.result(op));
            assert!(view::Store::of(m.op(op)).is_none());
        }
    }

    #[test]
    #[should_panic(expected = "internal error: a 'load' without its 'order'")]
    fn what_an_operation_lacks_is_an_internal_error() {
        let (m, op) = load(false, None);
        let v = view::Load::of(m.op(op)).expect("it is one");
        let _ = v.order();
    }
}
