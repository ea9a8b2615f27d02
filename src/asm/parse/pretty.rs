//! The cuda_tile assembly form, by the formats that the printer uses.

use smallvec::SmallVec;

use super::cursor::Result;
use super::state::Parser;
use crate::asm::pretty::formats::{Field, Piece, format_of};
use crate::dialect::cuda_tile::Op as CudaTile;
use crate::dialect::{Arity, AttrKind, OpDef, OpKind, ResultType};
use crate::ir::{Attr, BlockId, EnumAttr, Op, OpId, RegionId, Type, TypeId, ValueId};

/// What has been read of an operation.
pub struct Fields {
    pub def: &'static OpDef,
    pub operands: Vec<Option<Vec<ValueId>>>,
    pub attrs: Vec<Option<Attr>>,
    /// Types per row of the results, as far as written.
    pub results: Vec<Option<Vec<TypeId>>>,
    pub regions: SmallVec<[RegionId; 2]>,
    /// Optional parts that were met, and whether they were there.
    decided: Vec<(Field, bool)>,
}

impl Fields {
    fn new(kind: CudaTile) -> Self {
        let def = OpKind::from(kind).def();
        Self {
            def,
            operands: vec![None; def.operands.len()],
            attrs: vec![None; def.attrs.len()],
            results: vec![None; def.results.len()],
            regions: SmallVec::new(),
            decided: Vec::new(),
        }
    }

    pub fn group(&self, i: usize) -> &[ValueId] {
        self.operands[i].as_deref().unwrap_or(&[])
    }
}

/// Names of operations in older versions of the dialect.
const ALIASES: &[(&str, &str)] = &[("pow", "fpowf"), ("print", "print_tko")];

impl<'t> Parser<'t> {
    pub fn pretty_operation(
        &mut self,
        block: BlockId,
        names: &[(&'t str, Option<usize>)],
    ) -> Result<OpId> {
        let at = self.c.offset();
        let word = self.c.word("an operation")?;
        let name = word.strip_prefix("cuda_tile.").unwrap_or(word);
        let name = ALIASES.iter().find(|a| a.0 == name).map_or(name, |a| a.1);
        let kind = OpKind::by_name(&format!("cuda_tile.{name}")).and_then(CudaTile::of);
        let Some((kind, format)) = kind.and_then(|k| Some((k, format_of(k)?))) else {
            return Err(self.c.error_at(at, format!("unknown operation '{word}'")));
        };
        let mut fields = Fields::new(kind);
        self.pieces(&mut fields, format)?;
        if !fields.regions.is_empty() && self.c.peek("{") {
            // Attributes that the dialect does not declare, such as hints for another compiler's passes, change no meaning.
            self.dictionary("{", "}")?;
        }
        let results = self.result_types(at, &fields)?;
        let mut op = Op::new(kind);
        for group in &mut fields.operands {
            op.operands.extend(group.take().unwrap_or_default());
            op.groups.push(op.operands.len() as u32);
        }
        op.attrs = std::mem::take(&mut fields.attrs).into();
        op.regions = std::mem::take(&mut fields.regions);
        let op = self.module.push_op(block, op, &results);
        let results = self.module.op(op).results.clone();
        self.define_results(at, names, &results)?;
        Ok(op)
    }

    fn pieces(&mut self, fields: &mut Fields, pieces: &[Piece]) -> Result<()> {
        for piece in pieces {
            match piece {
                Piece::Space => {}
                Piece::Literal(text) => self.c.expect(text)?,
                Piece::Value(Field::Operand(i)) => self.operand_group(fields, *i)?,
                Piece::Value(Field::Attr(i)) => {
                    // Numbers have no type here: a colon belongs to the operation.
                    fields.attrs[*i] = Some(match fields.def.attrs[*i].kind {
                        AttrKind::Int(width) => self.bare_integer(width)?,
                        kind => self.attr(kind)?,
                    });
                }
                Piece::Value(Field::Result(_)) | Piece::Type(Field::Attr(_)) => {}
                Piece::Type(Field::Operand(i)) => self.operand_types(fields, *i)?,
                Piece::Type(Field::Result(i)) => {
                    let types = match fields.def.results[*i].arity {
                        Arity::Variadic => self.type_list()?,
                        _ => vec![self.ty()?],
                    };
                    fields.results[*i] = Some(types);
                }
                Piece::Group {
                    field,
                    unless,
                    pieces,
                } => self.group(fields, *field, *unless, pieces)?,
                Piece::Custom(custom) => self.custom(fields, custom)?,
            }
        }
        Ok(())
    }

    fn operand_group(&mut self, fields: &mut Fields, i: usize) -> Result<()> {
        fields.operands[i] = Some(match fields.def.operands[i].arity {
            Arity::Variadic => self.value_list()?,
            _ => vec![self.value()?],
        });
        Ok(())
    }

    /// The types of a group, which must be those that its values have.
    fn operand_types(&mut self, fields: &Fields, i: usize) -> Result<()> {
        for (n, &value) in fields.group(i).iter().enumerate() {
            if n > 0 {
                self.c.expect(",")?;
            }
            let at = self.c.offset();
            let ty = self.ty()?;
            self.same_type(at, value, ty)?;
        }
        Ok(())
    }

    fn group(
        &mut self,
        fields: &mut Fields,
        field: Field,
        unless: Option<u8>,
        pieces: &[Piece],
    ) -> Result<()> {
        let known = fields.decided.iter().find(|d| d.0 == field).map(|d| d.1);
        let present = match known {
            Some(present) => present,
            None => self.starts(fields, pieces) && !self.is_padding(fields, field)?,
        };
        if known.is_none() {
            fields.decided.push((field, present));
        }
        if present {
            if let Field::Attr(i) = field
                && let AttrKind::Unit = fields.def.attrs[i].kind
            {
                fields.attrs[i] = Some(Attr::Unit);
            }
            return self.pieces(fields, pieces);
        }
        if let (Field::Attr(i), Some(case)) = (field, unless) {
            fields.attrs[i] = Some(Attr::Enum(EnumAttr(case)));
        }
        Ok(())
    }

    /// Whether the next operand, which could be a mask, is what stands where nothing is loaded: no truth values.
    fn is_padding(&mut self, fields: &Fields, field: Field) -> Result<bool> {
        let operands = fields.def.operands;
        let mask = matches!(field, Field::Operand(i) if operands[i].name == "mask");
        if !mask || operands.iter().all(|o| o.name != "paddingValue") {
            return Ok(false);
        }
        let here = self.c.clone();
        self.c.expect(",")?;
        let value = self.value()?;
        self.c = here;
        let ty = self.module.ty(value);
        Ok(self.module.types.bits(ty) != Some(1))
    }

    /// Whether the text goes on with the first of `pieces`.
    fn starts(&mut self, fields: &Fields, pieces: &[Piece]) -> bool {
        match pieces.iter().find(|p| **p != Piece::Space) {
            Some(Piece::Literal(text)) => self.c.peek(text),
            Some(Piece::Value(Field::Operand(_))) => self.c.peek("%"),
            Some(Piece::Value(Field::Attr(i))) => match fields.def.attrs[*i].kind {
                AttrKind::Enum(def) => {
                    let word = self.c.peek_word();
                    def.cases.contains(&word)
                }
                _ => false,
            },
            Some(Piece::Group { pieces, .. }) => self.starts(fields, pieces),
            _ => false,
        }
    }

    /// The types of all results: written, or following from operands.
    fn result_types(&mut self, at: usize, fields: &Fields) -> Result<Vec<TypeId>> {
        let mut types = Vec::new();
        for (row, written) in fields.def.results.iter().zip(&fields.results) {
            if let Some(written) = written {
                types.extend(written);
                continue;
            }
            if row.arity == Arity::Variadic {
                continue;
            }
            let operand = |i: u8| {
                let mut all = fields.operands.iter().flatten().flatten();
                all.nth(usize::from(i)).map(|&v| self.module.ty(v))
            };
            let ty = match row.ty {
                ResultType::Operand(i) => operand(i),
                ResultType::Token => Some(self.module.types.intern(Type::Token)),
                ResultType::BoolLike(i) => operand(i).map(|ty| {
                    let shape = self
                        .module
                        .types
                        .as_tile(ty)
                        .map_or(Vec::new(), |(_, s)| s.to_vec());
                    let i1 = self.module.types.int(1);
                    self.module.types.tile(i1, &shape)
                }),
                ResultType::Explicit => None,
            };
            match ty {
                Some(ty) => types.push(ty),
                None => {
                    let message = format!("the type of result '{}' is not given", row.name);
                    return Err(self.c.error_at(at, message));
                }
            }
        }
        Ok(types)
    }
}
