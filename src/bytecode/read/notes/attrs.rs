//! Self-contained attributes: thirteen tags. All others are encoded as in the public container.

use crate::bytecode::cursor::Cursor;
use crate::bytecode::notes::{self, tag};
use crate::bytecode::read::Reader;
use crate::bytecode::read::attrs::replace;
use crate::bytecode::read::dense::Storage;
use crate::bytecode::read::notes::types::{numbers, shape};
use crate::bytecode::{Context, Result};
use crate::dialect::AttrKind;
use crate::ir::{AssumePredicate, Attr, Dense, Float, Type};

impl Reader<'_> {
    /// The attribute of entry `index` of the constant section, which `c` holds next.
    pub fn constant_attr(&mut self, c: &mut Cursor) -> Result<Attr> {
        let index = c
            .varint()
            .context(|| "failed to read constant index".into())?;
        if index >= self.constants.len() as u64 {
            return Err(c.error(format!("constant index {index} out of bounds")));
        }
        let mut item = self.constants.get(index as usize)?;
        self.spend(&item, item.remaining())?;
        let attr = self.self_contained(&mut item)?;
        match item.remaining() {
            0 => Ok(attr),
            n => Err(item.error(format!("{n} bytes after the constant's data"))),
        }
    }

    /// The value of an attribute that an operation declares to be of `kind`.
    pub fn notes_attr(&mut self, c: &mut Cursor, kind: AttrKind) -> Result<Attr> {
        let at = c.clone();
        let attr = match kind {
            AttrKind::Str
            | AttrKind::Symbol
            | AttrKind::Type
            | AttrKind::Dense
            | AttrKind::I32s
            | AttrKind::I64s
            | AttrKind::Assume => self.self_contained(c)?,
            other => return self.inline_attr(c, other, None),
        };
        match (kind, attr) {
            (AttrKind::Symbol, Attr::Str(name)) => Ok(Attr::Symbol(name)),
            (AttrKind::I32s, Attr::I64s(list)) => {
                let narrow = |value: i64| {
                    i32::try_from(value)
                        .map_err(|_| at.error(format!("array contains unsupported value {value}")))
                };
                Ok(Attr::I32s(
                    list.into_iter().map(narrow).collect::<Result<_>>()?,
                ))
            }
            (AttrKind::Str, attr @ Attr::Str(_))
            | (AttrKind::Type, attr @ Attr::Type(_))
            | (AttrKind::Dense, attr @ Attr::Dense { .. })
            | (AttrKind::I64s, attr @ Attr::I64s(_))
            | (AttrKind::Assume, attr @ Attr::Assume(_)) => Ok(attr),
            _ => Err(at.error("attribute is not of its declared kind")),
        }
    }

    /// An attribute with one of the thirteen tags.
    fn self_contained(&mut self, c: &mut Cursor) -> Result<Attr> {
        match attribute_tag(c)? {
            tag::STRING => self
                .strings
                .read_ref(c)
                .map(Attr::Str)
                .context(|| "failed to read StringAttr.".into()),
            tag::FLOAT => self.notes_float(c),
            tag::TYPE => self
                .types
                .read_ref(c, &mut self.module)
                .map(Attr::Type)
                .context(|| "failed to get referenced type for TypeAttr".into()),
            tag::DENSE => self.notes_dense(c),
            tag::DENSE_STRINGS => self.notes_strings(c),
            tag::I64S_A | tag::I64S_B => i64s(c).map(Attr::I64s),
            tag::ASSUME => {
                let inner = attribute_tag(c)?;
                predicate(c, inner).map(Attr::Assume)
            }
            other => predicate(c, other).map(Attr::Assume),
        }
    }

    fn notes_float(&mut self, c: &mut Cursor) -> Result<Attr> {
        const TYPE: &str = "failed to read valid FloatType for FloatAttr";
        let ty = self
            .types
            .read_ref(c, &mut self.module)
            .map_err(|e| replace(e, TYPE))?;
        let &Type::Float(float) = self.module.types.get(ty) else {
            return Err(c.error(TYPE));
        };
        let bits = c.signed_varint()? as u64;
        if float.bits() < 64 && bits >> float.bits() != 0 {
            return Err(c
                .error("failed to cast parsed attribute to FloatAttr")
                .note(format!(
                    "value {bits} does not fit in {} bits",
                    float.bits()
                )));
        }
        Ok(Attr::Float { bits, ty })
    }

    /// Shape, element type, number of elements (1 for a splat), their bit patterns.
    fn notes_dense(&mut self, c: &mut Cursor) -> Result<Attr> {
        const TYPE: &str = "failed to read valid MLIR Type for self-contained DenseElementsAttr";
        let shape = shape(c)?;
        let elem = self
            .types
            .read_ref(c, &mut self.module)
            .map_err(|e| replace(e, TYPE))?;
        let ty = self.module.types.get(elem);
        let bits = match *ty {
            Type::Int(bits) => bits,
            Type::Float(float) => float.bits(),
            _ => 0,
        };
        if Storage::of(ty).is_none() {
            return Err(c.error(TYPE));
        }
        let tf32 = *ty == Type::Float(Float::TF32);
        let n = c.count(1, "elements")?;
        let total = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
        if n != 1 && total != Some(n as u64) {
            return Err(c.error(format!("{n} elements for a shape of {total:?}")));
        }
        let width = bits.div_ceil(8) as usize;
        let mut bytes = Vec::with_capacity(n.saturating_mul(width));
        for _ in 0..n {
            let value = c.signed_varint()?;
            let fits = bits == 64 || value as u64 >> bits == 0;
            if !fits || tf32 && value & 0x1FFF != 0 {
                return Err(c.error(format!("array contains unsupported value {value}")));
            }
            bytes.extend_from_slice(&value.to_le_bytes()[..width]);
        }
        let ty = self.module.types.intern(Type::Tile { elem, shape });
        Ok(Attr::Dense {
            data: Dense::Bytes(bytes),
            ty,
        })
    }

    fn notes_strings(&mut self, c: &mut Cursor) -> Result<Attr> {
        let shape = shape(c)?;
        let n = c.count(1, "strings").map_err(|e| {
            replace(
                e,
                "failed to read number of string attrs in DenseElementsAttr",
            )
        })?;
        let mut names = Vec::new();
        for _ in 0..n {
            let text = notes::string(c)
                .map_err(|e| replace(e, "failed to read string in DenseElementsAttr"))?;
            names.push(self.module.intern(text));
        }
        let elem = self.module.types.intern(Type::String);
        let ty = self.module.types.intern(Type::Tile { elem, shape });
        Ok(Attr::Dense {
            data: Dense::Strings(names),
            ty,
        })
    }
}

fn attribute_tag(c: &mut Cursor) -> Result<u64> {
    c.varint().map_err(|e| {
        replace(
            e,
            "failed to read AttributeTag for self-contained attribute.",
        )
    })
}

fn i64s(c: &mut Cursor) -> Result<Vec<i64>> {
    numbers(c).map_err(|e| replace(e, "failed to read DenseI64ArrayAttr values."))
}

/// What an assumption promises.
fn predicate(c: &mut Cursor, tag: u64) -> Result<AssumePredicate> {
    match tag {
        tag::DIV_BY => div_by(c),
        tag::SAME_ELEMENTS => i64s(c)
            .map(AssumePredicate::SameElements)
            .map_err(|e| replace(e, "failed to read DenseI64ArrayAttr for SameElementsAttr")),
        tag::BOUNDED_BELOW => bounded(c, 1),
        tag::BOUNDED_ABOVE => bounded(c, 2),
        tag::BOUNDED => bounded(c, 3),
        _ => Err(c.error(format!(
            "unsupported AttributeTag {tag} for self-contained attribute"
        ))),
    }
}

fn flags(c: &mut Cursor, known: u8, message: &str) -> Result<u8> {
    let flags = c.u8().map_err(|e| replace(e, message))?;
    match flags & !known {
        0 => Ok(flags),
        unknown => Err(c
            .error(message)
            .note(format!("unknown flags {unknown:#x} of an assume predicate"))),
    }
}

fn optional(c: &mut Cursor, present: bool, message: &str) -> Result<Option<i64>> {
    match present {
        true => c.signed_varint().map(Some).map_err(|e| replace(e, message)),
        false => Ok(None),
    }
}

fn div_by(c: &mut Cursor) -> Result<AssumePredicate> {
    let divisor = c
        .varint()
        .map_err(|e| replace(e, "failed to read divisor for DivByAttr"))?;
    let flags = flags(c, 7, "failed to read flags byte for DivByAttr")?;
    let every = "failed to read value for 'every' in DivByAttr";
    let along = "failed to read value for 'along' in DivByAttr";
    Ok(AssumePredicate::DivBy {
        divisor,
        every: optional(c, flags & 2 != 0, every)?,
        along: optional(c, flags & 4 != 0, along)?,
    })
}

/// `bounds`: those that the tag is for.
fn bounded(c: &mut Cursor, bounds: u8) -> Result<AssumePredicate> {
    let flags = flags(c, bounds, "failed to read flags byte for BoundedAttr")?;
    let lower = "failed to read lower bound for BoundedAttr";
    let upper = "failed to read upper bound for BoundedAttr";
    Ok(AssumePredicate::Bounded {
        lower: optional(c, flags & 1 != 0, lower)?,
        upper: optional(c, flags & 2 != 0, upper)?,
    })
}
