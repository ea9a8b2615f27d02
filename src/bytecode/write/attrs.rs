//! Attribute values.

use super::buffer::Buffer;
use super::{Context, Result, Writer};
use crate::bytecode::read::attrs::{encoded_float_bits, tag};
use crate::bytecode::read::dense::Storage;
use crate::dialect::{AttrKind, enums};
use crate::ir::{AssumePredicate, Attr, Dense, Diagnostic, Float, Name, Type, TypeId};

impl Writer<'_> {
    /// An attribute of a known kind, without a tag.
    pub fn inline_attr(&mut self, out: &mut Buffer, kind: AttrKind, attr: &Attr) -> Result<()> {
        match (kind, attr) {
            (AttrKind::Unit, _) => {}
            (AttrKind::Bool, Attr::Bool(b)) => out.byte(u8::from(*b)),
            (AttrKind::Int(width), Attr::Int { value, .. }) => out.varint(unsigned(*value, width)),
            (AttrKind::Enum(def), Attr::Enum(case)) => {
                let name = def.case(case.0).unwrap_or("?");
                self.since(enums::since(def, case.0), || {
                    format!("'{name}' of '{}'", def.name)
                })?;
                out.varint(u64::from(case.0));
            }
            (AttrKind::Type, Attr::Type(ty)) => {
                let id = self.type_id(*ty)?;
                out.varint(id);
            }
            (AttrKind::Str, Attr::Str(s)) | (AttrKind::Symbol, Attr::Symbol(s)) => {
                out.varint(self.strings.id(s));
            }
            (AttrKind::I32s, Attr::I32s(v)) => {
                out.varint(v.len() as u64);
                v.iter().for_each(|x| out.bytes(&x.to_le_bytes()));
            }
            (AttrKind::I64s, Attr::I64s(v)) => i64s(out, v),
            (AttrKind::Bools, Attr::Bools(v)) => {
                out.varint(v.len() as u64);
                v.iter().for_each(|b| out.byte(u8::from(*b)));
            }
            (AttrKind::Dense, Attr::Dense { data, ty }) => self.constant(out, data, *ty)?,
            (AttrKind::Array, Attr::Array(items)) => self.array(out, items)?,
            (AttrKind::Hints, Attr::Hints(d)) => self.dictionary(out, d)?,
            (AttrKind::Assume, Attr::Assume(_)) => self.tagged_attr(out, attr)?,
            _ => return Err(Diagnostic::error("attribute is not of its declared kind")),
        }
        Ok(())
    }

    /// A self-contained attribute.
    pub fn tagged_attr(&mut self, out: &mut Buffer, attr: &Attr) -> Result<()> {
        match attr {
            Attr::Int { value, ty } => {
                out.varint(tag::INTEGER);
                let id = self.type_id(*ty)?;
                out.varint(id);
                match self.module.types.get(*ty) {
                    Type::Int(1) => out.byte(u8::from(*value != 0)),
                    Type::Int(width) => out.varint(unsigned(*value, *width)),
                    _ => return Err(Diagnostic::error("integer attribute without integer type")),
                }
            }
            Attr::Float { bits, ty } => {
                out.varint(tag::FLOAT);
                let id = self.type_id(*ty)?;
                out.varint(id);
                self.float(out, *bits, *ty)?;
            }
            Attr::Bool(b) => {
                out.varint(tag::BOOL);
                out.byte(u8::from(*b));
            }
            Attr::Type(ty) => {
                out.varint(tag::TYPE);
                let id = self.type_id(*ty)?;
                out.varint(id);
            }
            Attr::Str(s) => {
                out.varint(tag::STRING);
                out.varint(self.strings.id(s));
            }
            Attr::Array(items) => {
                out.varint(tag::ARRAY);
                self.array(out, items)?;
            }
            Attr::Dense { data, ty } => {
                out.varint(tag::DENSE);
                let id = self.type_id(*ty)?;
                out.varint(id);
                self.constant(out, data, *ty)?;
            }
            Attr::Assume(p) => predicate(out, p),
            Attr::Dict(entries) => {
                out.varint(tag::DICTIONARY);
                self.dictionary(out, entries)?;
            }
            Attr::Hints(entries) => {
                out.varint(tag::HINTS);
                self.dictionary(out, entries)?;
            }
            other => {
                return Err(Diagnostic::error(format!(
                    "attribute {other:?} has no encoding"
                )));
            }
        }
        Ok(())
    }

    fn float(&self, out: &mut Buffer, bits: u64, ty: TypeId) -> Result<()> {
        let Type::Float(float) = self.module.types.get(ty) else {
            return Err(Diagnostic::error("float attribute without float type"));
        };
        let bits = if *float == Float::TF32 {
            bits >> 13
        } else {
            bits
        };
        match encoded_float_bits(*float) {
            0..=8 => out.byte(bits as u8),
            _ => out.signed_varint(bits as i64),
        }
        Ok(())
    }

    fn array(&mut self, out: &mut Buffer, items: &[Attr]) -> Result<()> {
        out.varint(items.len() as u64);
        items
            .iter()
            .try_for_each(|item| self.tagged_attr(out, item))
    }

    fn dictionary(&mut self, out: &mut Buffer, entries: &[(Name, Attr)]) -> Result<()> {
        out.varint(entries.len() as u64);
        for (key, value) in entries {
            out.varint(self.strings.id(key));
            self.tagged_attr(out, value)
                .context(|| format!("in '{}'", self.module.str(*key)))?;
        }
        Ok(())
    }

    /// A reference to the constant section.
    pub fn constant(&mut self, out: &mut Buffer, data: &Dense, ty: TypeId) -> Result<()> {
        let elem = self.module.types.get(self.module.types.elem(ty));
        let (Dense::Bytes(bytes), Some(storage)) = (data, Storage::of(elem)) else {
            return Err(Diagnostic::error(
                "constant data must be numbers of a tile type",
            ));
        };
        let raw = storage.encode(bytes);
        out.varint(self.constants.id(&raw));
        Ok(())
    }
}

/// The low `width` bits.
fn unsigned(value: i64, width: u32) -> u64 {
    match width {
        64.. => value as u64,
        _ => value as u64 & ((1 << width) - 1),
    }
}

fn i64s(out: &mut Buffer, v: &[i64]) {
    out.varint(v.len() as u64);
    v.iter().for_each(|x| out.bytes(&x.to_le_bytes()));
}

fn optional_pair(out: &mut Buffer, a: Option<i64>, b: Option<i64>) {
    out.byte(u8::from(a.is_some()) | u8::from(b.is_some()) << 1);
    a.into_iter().chain(b).for_each(|v| out.signed_varint(v));
}

fn predicate(out: &mut Buffer, p: &AssumePredicate) {
    match p {
        AssumePredicate::DivBy {
            divisor,
            every,
            along,
        } => {
            out.varint(tag::DIV_BY);
            out.varint(*divisor);
            optional_pair(out, *every, *along);
        }
        AssumePredicate::SameElements(v) => {
            out.varint(tag::SAME_ELEMENTS);
            i64s(out, v);
        }
        AssumePredicate::Bounded { lower, upper } => {
            out.varint(tag::BOUNDED);
            optional_pair(out, *lower, *upper);
        }
    }
}
