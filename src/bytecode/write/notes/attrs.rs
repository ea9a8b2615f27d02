//! Self-contained attributes.

use super::numbers;
use crate::bytecode::notes::tag;
use crate::bytecode::read::dense::Storage;
use crate::bytecode::write::buffer::Buffer;
use crate::bytecode::write::{Result, Writer};
use crate::dialect::AttrKind;
use crate::ir::{AssumePredicate, Attr, Dense, Diagnostic, Type, TypeId};

impl Writer<'_> {
    /// The value of an attribute that an operation declares to be of `kind`.
    pub fn notes_attr(&mut self, out: &mut Buffer, kind: AttrKind, attr: &Attr) -> Result<()> {
        match kind {
            AttrKind::Str
            | AttrKind::Symbol
            | AttrKind::Type
            | AttrKind::Dense
            | AttrKind::I32s
            | AttrKind::I64s
            | AttrKind::Assume => self.self_contained(out, attr),
            other => self.inline_attr(out, other, attr),
        }
    }

    /// An attribute with one of the thirteen tags.
    pub fn self_contained(&mut self, out: &mut Buffer, attr: &Attr) -> Result<()> {
        match attr {
            Attr::Str(name) | Attr::Symbol(name) => {
                out.varint(tag::STRING);
                out.varint(self.strings.id(name));
            }
            Attr::Float { bits, ty } => {
                out.varint(tag::FLOAT);
                let ty = self.type_id(*ty)?;
                out.varint(ty);
                out.signed_varint(*bits as i64);
            }
            Attr::Type(ty) => {
                out.varint(tag::TYPE);
                let ty = self.type_id(*ty)?;
                out.varint(ty);
            }
            Attr::Dense { data, ty } => self.notes_dense(out, data, *ty)?,
            Attr::I32s(list) => {
                out.varint(tag::I64S_A);
                numbers(out, list.iter().map(|&n| i64::from(n)));
            }
            Attr::I64s(list) => {
                out.varint(tag::I64S_A);
                numbers(out, list.iter().copied());
            }
            Attr::Assume(predicate) => {
                out.varint(tag::ASSUME);
                assumption(out, predicate);
            }
            other => {
                return Err(Diagnostic::error(format!(
                    "attribute {other:?} has no encoding"
                )));
            }
        }
        Ok(())
    }

    fn notes_dense(&mut self, out: &mut Buffer, data: &Dense, ty: TypeId) -> Result<()> {
        let Type::Tile { elem, shape } = self.module.types.get(ty) else {
            return Err(Diagnostic::error("constant data must be of a tile type"));
        };
        let extents = shape.iter().map(|&d| d as i64);
        match data {
            Dense::Strings(names) => {
                out.varint(tag::DENSE_STRINGS);
                numbers(out, extents);
                out.varint(names.len() as u64);
                for &name in names {
                    let text = self.module.str(name);
                    out.varint(text.len() as u64);
                    out.bytes(text.as_bytes());
                }
            }
            Dense::Bytes(bytes) => {
                let element = self.module.types.get(*elem);
                let bits = self.module.types.bits(*elem);
                let (Some(_), Some(bits)) = (Storage::of(element), bits) else {
                    return Err(Diagnostic::error(
                        "constant data must be numbers of a tile type",
                    ));
                };
                let elem = self.type_id(*elem)?;
                out.varint(tag::DENSE);
                numbers(out, extents);
                out.varint(elem);
                let width = bits.div_ceil(8) as usize;
                numbers(out, bytes.chunks_exact(width).map(pattern));
            }
        }
        Ok(())
    }
}

/// The bits of an element.
fn pattern(element: &[u8]) -> i64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(element) {
        *to = *from;
    }
    i64::from_le_bytes(bytes)
}

/// What is promised, inside an assumption.
fn assumption(out: &mut Buffer, p: &AssumePredicate) {
    match p {
        AssumePredicate::DivBy {
            divisor,
            every,
            along,
        } => {
            out.varint(tag::DIV_BY);
            out.varint(*divisor);
            out.byte(u8::from(every.is_some()) << 1 | u8::from(along.is_some()) << 2);
            every
                .iter()
                .chain(along)
                .for_each(|&v| out.signed_varint(v));
        }
        AssumePredicate::SameElements(values) => {
            out.varint(tag::SAME_ELEMENTS);
            numbers(out, values.iter().copied());
        }
        AssumePredicate::Bounded { lower, upper } => {
            out.varint(match (lower, upper) {
                (Some(_), None) => tag::BOUNDED_BELOW,
                (None, Some(_)) => tag::BOUNDED_ABOVE,
                _ => tag::BOUNDED,
            });
            out.byte(u8::from(lower.is_some()) | u8::from(upper.is_some()) << 1);
            lower
                .iter()
                .chain(upper)
                .for_each(|&v| out.signed_varint(v));
        }
    }
}
