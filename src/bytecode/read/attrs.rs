//! Attribute values: inline ones, whose kind the operation's row says, and tagged ones.

use super::{Reader, dense};
use crate::bytecode::cursor::Cursor;
use crate::bytecode::{Context, Result};
use crate::dialect::{AttrKind, EnumDef, enums};
use crate::ir::{AssumePredicate, Attr, EnumAttr, Float, Name, Type, TypeId};

/// Arrays and dictionaries may be nested this deep.
const MAX_DEPTH: u32 = 64;

/// Tags of self-contained attributes.
pub(in crate::bytecode) mod tag {
    pub const INTEGER: u64 = 1;
    pub const FLOAT: u64 = 2;
    pub const BOOL: u64 = 3;
    pub const TYPE: u64 = 4;
    pub const STRING: u64 = 5;
    pub const ARRAY: u64 = 6;
    pub const DENSE: u64 = 7;
    pub const DIV_BY: u64 = 8;
    pub const SAME_ELEMENTS: u64 = 9;
    pub const DICTIONARY: u64 = 10;
    pub const HINTS: u64 = 11;
    pub const BOUNDED: u64 = 12;
}

impl Reader<'_> {
    /// An attribute of a known kind. `dense` is the type of inline constant data.
    pub fn inline_attr(
        &mut self,
        c: &mut Cursor,
        kind: AttrKind,
        dense: Option<TypeId>,
    ) -> Result<Attr> {
        match kind {
            AttrKind::Unit => Ok(Attr::Unit),
            AttrKind::Bool => Ok(Attr::Bool(c.u8()? != 0)),
            AttrKind::Int(width) => {
                let ty = self.module.types.int(width);
                let value = integer(c, width)?;
                Ok(Attr::Int { value, ty })
            }
            AttrKind::Enum(def) => self.enumeration(c, def),
            AttrKind::Type => self.type_ref(c).map(Attr::Type),
            AttrKind::Str => self.string(c).map(Attr::Str),
            AttrKind::Symbol => {
                let name = self.strings.read_ref(c)?;
                match self.module.str(name) {
                    "" => Err(c.error("empty symbol reference is invalid")),
                    _ => Ok(Attr::Symbol(name)),
                }
            }
            AttrKind::I32s => i32s(c).map(Attr::I32s),
            AttrKind::I64s => i64s(c).map(Attr::I64s),
            AttrKind::Bools => bools(c).map(Attr::Bools),
            AttrKind::Dense => match dense {
                Some(ty) => self.constant(c, ty),
                None => Err(c.error("constant data has no type here")),
            },
            AttrKind::Assume => match self.tagged_attr(c, 0)? {
                attr @ Attr::Assume(_) => Ok(attr),
                _ => {
                    Err(c.error("failed to cast parsed attribute to AssumePredicateAttrInterface"))
                }
            },
            AttrKind::Array => self.array(c, 0),
            AttrKind::Hints => self.dictionary(c, 0).map(Attr::Hints),
        }
    }

    /// A self-contained attribute: its tag, then its value.
    pub fn tagged_attr(&mut self, c: &mut Cursor, depth: u32) -> Result<Attr> {
        if depth > MAX_DEPTH {
            return Err(c.error(format!("attributes nested deeper than {MAX_DEPTH}")));
        }
        let tag = c.varint().map_err(|e| {
            replace(
                e,
                "failed to read AttributeTag for self-contained attribute.",
            )
        })?;
        match tag {
            tag::INTEGER => self.integer_attr(c),
            tag::FLOAT => self.float_attr(c),
            tag::BOOL => Ok(Attr::Bool(c.u8()? != 0)),
            tag::TYPE => self.type_ref(c).map(Attr::Type),
            tag::STRING => self.string(c).map(Attr::Str),
            tag::ARRAY => self.array(c, depth + 1),
            tag::DENSE => {
                let ty = self.type_ref(c).map_err(|e| {
                    replace(
                        e,
                        "failed to read valid MLIR Type for self-contained DenseElementsAttr",
                    )
                })?;
                self.constant(c, ty)
            }
            tag::DIV_BY => div_by(c),
            tag::SAME_ELEMENTS => i64s(c)
                .map(|v| Attr::Assume(AssumePredicate::SameElements(v)))
                .context(|| "failed to read DenseI64ArrayAttr for SameElementsAttr".into()),
            tag::DICTIONARY => self.dictionary(c, depth + 1).map(Attr::Dict),
            tag::HINTS => self.dictionary(c, depth + 1).map(Attr::Hints),
            tag::BOUNDED => bounded(c),
            _ => Err(c.error(format!(
                "unsupported AttributeTag {tag} for self-contained attribute"
            ))),
        }
    }

    fn type_ref(&mut self, c: &mut Cursor) -> Result<TypeId> {
        self.types
            .read_ref(c, &mut self.module)
            .context(|| "failed to get referenced type for TypeAttr".into())
    }

    fn string(&mut self, c: &mut Cursor) -> Result<Name> {
        self.strings
            .read_ref(c)
            .context(|| "failed to read StringAttr.".into())
    }

    fn enumeration(&mut self, c: &mut Cursor, def: &'static EnumDef) -> Result<Attr> {
        let value = c
            .varint()
            .map_err(|e| replace(e, "failed to read VarInt for enum attribute."))?;
        if value >= def.cases.len() as u64 {
            return Err(c
                .error(format!("invalid integer value for enum type: {value}"))
                .note(format!("'{}' has {} cases", def.name, def.cases.len())));
        }
        let since = enums::since(def, value as u8);
        if since > self.version {
            return Err(c.error(format!(
                "case '{}' of '{}' is not available in bytecode version {} (since {since})",
                def.cases[value as usize], def.name, self.version
            )));
        }
        Ok(Attr::Enum(EnumAttr(value as u8)))
    }

    fn integer_attr(&mut self, c: &mut Cursor) -> Result<Attr> {
        let ty = self.types.read_ref(c, &mut self.module);
        match ty.as_ref().map(|&t| self.module.types.get(t)) {
            Ok(&Type::Int(1)) => Ok(Attr::Int {
                value: -i64::from(c.u8()? != 0),
                ty: ty?,
            }),
            Ok(&Type::Int(width)) => Ok(Attr::Int {
                value: integer(c, width)?,
                ty: ty?,
            }),
            _ => Err(c.error("failed to read valid IntegerType for IntegerAttr")),
        }
    }

    fn float_attr(&mut self, c: &mut Cursor) -> Result<Attr> {
        let ty = self.types.read_ref(c, &mut self.module);
        let Ok(&Type::Float(float)) = ty.as_ref().map(|&t| self.module.types.get(t)) else {
            return Err(c.error("failed to read valid FloatType for FloatAttr"));
        };
        let width = encoded_float_bits(float);
        let bits = if width <= 8 {
            u64::from(c.u8()?)
        } else {
            c.wide_signed_varint()?
        };
        if width < 64 && bits >> width != 0 {
            return Err(c
                .error("failed to cast parsed attribute to FloatAttr")
                .note(format!("value {bits} does not fit in {width} bits")));
        }
        Ok(Attr::Float {
            bits: if float == Float::TF32 {
                bits << 13
            } else {
                bits
            },
            ty: ty?,
        })
    }

    /// A reference to the constant section.
    pub fn constant(&mut self, c: &mut Cursor, ty: TypeId) -> Result<Attr> {
        let index = c
            .varint()
            .context(|| "failed to read constant index".into())?;
        if index >= self.constants.len() as u64 {
            return Err(c.error(format!("constant index {index} out of bounds")));
        }
        let blob = self.constants.get(index as usize)?;
        self.spend(c, blob.remaining())?;
        let data = dense::decode(blob, ty, &self.module)?;
        Ok(Attr::Dense { data, ty })
    }

    fn array(&mut self, c: &mut Cursor, depth: u32) -> Result<Attr> {
        let n = c
            .count(1, "array elements")
            .context(|| "failed to read size for ArrayAttr.".into())?;
        let items = (0..n).map(|i| {
            self.tagged_attr(c, depth)
                .context(|| format!("failed to parse ArrayAttr element {i}"))
        });
        items.collect::<Result<_>>().map(Attr::Array)
    }

    fn dictionary(&mut self, c: &mut Cursor, depth: u32) -> Result<Vec<(Name, Attr)>> {
        let n = c
            .count(2, "dictionary entries")
            .context(|| "failed to read size for DictionaryAttr".into())?;
        let mut entries = Vec::with_capacity(n);
        let mut seen = rustc_hash::FxHashSet::default();
        for i in 0..n {
            let key = self
                .strings
                .read_ref(c)
                .context(|| format!("failed to read key for DictionaryAttr element {i}"))?;
            if self.module.str(key).is_empty() {
                return Err(c.error(format!(
                    "invalid empty attribute name for DictionaryAttr element {i}"
                )));
            }
            if !seen.insert(key) {
                return Err(c.error(format!(
                    "failed to parse DictionaryAttr, duplicate key found: {}",
                    self.module.str(key)
                )));
            }
            let value = self.tagged_attr(c, depth);
            let value = value.context(|| {
                format!(
                    "failed to parse DictionaryAttr value for key {}",
                    self.module.str(key)
                )
            })?;
            entries.push((key, value));
        }
        Ok(entries)
    }
}

/// Bits of a float attribute's value; tf32 has 19 there.
pub(in crate::bytecode) fn encoded_float_bits(float: Float) -> u32 {
    match float {
        Float::TF32 => 19,
        _ => float.bits(),
    }
}

/// The same error with other words, the old ones as a note.
pub(super) fn replace(mut error: crate::ir::Diagnostic, message: &str) -> crate::ir::Diagnostic {
    let old = std::mem::replace(&mut error.message, message.into());
    error.notes.insert(0, old);
    error
}

/// An integer zero-extended from `width` bits, to be sign-extended.
fn integer(c: &mut Cursor, width: u32) -> Result<i64> {
    let value = c.varint()?;
    if width < 64 && value >> width != 0 {
        return Err(c.error(format!("value {value} does not fit in {width} bits")));
    }
    let shift = 64 - width.clamp(1, 64);
    Ok((value << shift) as i64 >> shift)
}

fn i32s(c: &mut Cursor) -> Result<Vec<i32>> {
    let n = c
        .count(4, "array elements")
        .context(|| "failed to read DenseI32ArrayAttr values.".into())?;
    let one = |c: &mut Cursor| match c.u32()? as i32 {
        value @ (i32::MIN | i32::MAX) => {
            Err(c.error(format!("array contains unsupported value {value}")))
        }
        value => Ok(value),
    };
    (0..n).map(|_| one(c)).collect()
}

fn i64s(c: &mut Cursor) -> Result<Vec<i64>> {
    let n = c
        .count(8, "array elements")
        .context(|| "failed to read DenseI64ArrayAttr values.".into())?;
    let one = |c: &mut Cursor| match c.u64()? as i64 {
        value @ (i64::MIN | i64::MAX) => {
            Err(c.error(format!("array contains unsupported value {value}")))
        }
        value => Ok(value),
    };
    (0..n).map(|_| one(c)).collect()
}

fn bools(c: &mut Cursor) -> Result<Vec<bool>> {
    let n = c
        .count(1, "array elements")
        .context(|| "failed to read DenseBoolArrayAttr values.".into())?;
    let one = |c: &mut Cursor| match c.u8()? {
        byte @ (0 | 1) => Ok(byte == 1),
        byte => Err(c.error(format!("array contains unsupported value {byte}"))),
    };
    (0..n).map(|_| one(c)).collect()
}

fn flags(c: &mut Cursor, message: &str) -> Result<u8> {
    let flags = c.u8().map_err(|e| replace(e, message))?;
    match flags & !3 {
        0 => Ok(flags),
        unknown => Err(c.error(format!("unknown flags {unknown:#x} of an assume predicate"))),
    }
}

fn bound(c: &mut Cursor, present: bool, message: &str) -> Result<Option<i64>> {
    if !present {
        return Ok(None);
    }
    c.signed_varint().map(Some).map_err(|e| replace(e, message))
}

fn div_by(c: &mut Cursor) -> Result<Attr> {
    let divisor = c
        .varint()
        .map_err(|e| replace(e, "failed to read divisor for DivByAttr"))?;
    let flags = flags(c, "failed to read flags byte for DivByAttr")?;
    Ok(Attr::Assume(AssumePredicate::DivBy {
        divisor,
        every: bound(
            c,
            flags & 1 != 0,
            "failed to read value for 'every' in DivByAttr",
        )?,
        along: bound(
            c,
            flags & 2 != 0,
            "failed to read value for 'along' in DivByAttr",
        )?,
    }))
}

fn bounded(c: &mut Cursor) -> Result<Attr> {
    let flags = flags(c, "failed to read flags byte for BoundedAttr")?;
    Ok(Attr::Assume(AssumePredicate::Bounded {
        lower: bound(
            c,
            flags & 1 != 0,
            "failed to read lower bound for BoundedAttr",
        )?,
        upper: bound(
            c,
            flags & 2 != 0,
            "failed to read upper bound for BoundedAttr",
        )?,
    }))
}
