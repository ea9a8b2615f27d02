//! The notes' container; see [`crate::bytecode::notes`] for the readings chosen.

mod attrs;
mod debug;
mod envelope;
mod ops;

use super::buffer::{self, Buffer};
use super::{Result, Writer};
use crate::bytecode::container::SectionId;
use crate::bytecode::read::function::flag;
use crate::bytecode::read::types::tag;
use crate::dialect::Version;
use crate::ir::{Attr, Diagnostic, Float, Op, OpId, Padding, Type, TypeId};

/// The tag of an 8-bit scale.
const F8E8M0FNU: u64 = 18;

impl Writer<'_> {
    pub(super) fn notes_finish(
        mut self,
        functions: Buffer,
        globals: Option<Buffer>,
    ) -> Result<Vec<u8>> {
        let debug = self.notes_debug_section()?;
        let mut sections = vec![
            (SectionId::Type, self.types.section(self.format)),
            (
                SectionId::Constant,
                buffer::table(self.constants.items(), 8, self.format),
            ),
            (SectionId::Func, functions),
        ];
        sections.extend(globals.map(|g| (SectionId::Global, g)));
        sections.extend(debug.map(|d| (SectionId::Debug, d)));
        sections.insert(0, (SectionId::String, self.string_section()));
        Ok(envelope::file(&sections, self.records()))
    }

    /// Operations in all functions.
    fn records(&self) -> u64 {
        let mut n = 0;
        self.module.walk(self.module.body, &mut |_| n += 1);
        n - self.module.block(self.module.body).ops.len() as u64
    }

    pub(super) fn notes_global(&mut self, op: &Op, out: &mut Buffer) -> Result<()> {
        self.notes_global_fields(op, out)
            .map_err(|e| self.on(op, e))
    }

    fn notes_global_fields(&mut self, op: &Op, out: &mut Buffer) -> Result<()> {
        let (Some(Attr::Str(name)), Some(value @ Attr::Dense { ty, .. })) =
            (op.attr_named("sym_name"), op.attr_named("value"))
        else {
            return Err(Diagnostic::error(
                "requires attributes 'sym_name' and 'value'",
            ));
        };
        out.varint(self.strings.id(name));
        let ty = self.type_id(*ty)?;
        out.varint(ty);
        let mut item = self.buffer();
        self.self_contained(&mut item, value)?;
        out.varint(self.constants.id(&item.data));
        match op.attr_named("alignment") {
            Some(Attr::Int { value, .. }) => out.varint(*value as u64),
            _ => out.varint(0),
        }
        if op.enum_named("symbol_visibility").unwrap_or(0) != 0 {
            self.since(Version::V13_3, || "private visibility of a global".into())?;
        }
        if op.has_unit("constant") {
            self.since(Version::V13_3, || "a constant global".into())?;
        }
        Ok(())
    }

    pub(super) fn notes_entry(&mut self, id: OpId, out: &mut Buffer) -> Result<()> {
        let op = self.op(id);
        self.notes_entry_fields(op, out)
            .map_err(|e| match e.operation {
                None => self.on(op, e),
                Some(_) => e,
            })
    }

    fn notes_entry_fields(&mut self, op: &Op, out: &mut Buffer) -> Result<()> {
        let (Some(Attr::Str(name)), Some(Attr::Type(ty))) =
            (op.attr_named("sym_name"), op.attr_named("function_type"))
        else {
            return Err(Diagnostic::error(
                "requires attributes 'sym_name' and 'function_type'",
            ));
        };
        for unwritten in ["arg_attrs", "res_attrs"] {
            if op.attr_named(unwritten).is_some() {
                self.since(Version::V13_5, || format!("attribute '{unwritten}'"))?;
            }
        }
        out.varint(self.strings.id(name));
        let signature = self.type_id(*ty)?;
        out.varint(signature);
        let hints = op.attr_named("optimization_hints");
        out.byte(flag::KERNEL | if hints.is_some() { flag::HINTS } else { 0 });
        out.varint(self.debug_index(op.loc).map_or(0, |i| i + 1));
        if let Some(hints) = hints {
            self.tagged_attr(out, hints)?;
        }
        self.slots.push(super::tables::Table::starting_with(&[]));
        let mut body = self.buffer();
        self.notes_region(op.regions[0], &mut body, &mut Default::default())?;
        out.varint(body.data.len() as u64);
        out.bytes(&body.data);
        Ok(())
    }

    pub(super) fn notes_type(&mut self, id: TypeId) -> Result<Vec<u8>> {
        let ty = self.module.types.get(id);
        let mut out = self.buffer();
        match ty {
            Type::Float(Float::F8E8M0FNU) => out.varint(F8E8M0FNU),
            Type::Ptr { pointee, attr: 0 } => {
                let pointee = self.type_id(*pointee)?;
                out.varint(tag::POINTER);
                out.varint(pointee);
            }
            Type::Tile { elem, shape } => {
                let elem = self.type_id(*elem)?;
                out.varint(tag::TILE);
                out.varint(elem);
                numbers(&mut out, shape.iter().map(|&d| d as i64));
            }
            Type::TensorView {
                elem,
                shape,
                strides,
                attr: 0,
            } => {
                let elem = self.type_id(*elem)?;
                out.varint(tag::TENSOR_VIEW);
                out.varint(elem);
                numbers(&mut out, shape.iter().copied());
                numbers(&mut out, strides.iter().copied());
            }
            Type::PartitionView {
                tile,
                view,
                dim_map,
                padding,
            } => {
                let view = self.type_id(*view)?;
                out.varint(tag::PARTITION_VIEW);
                out.varint(view);
                numbers(&mut out, tile.iter().map(|&n| i64::from(n)));
                numbers(&mut out, dim_map.iter().map(|&n| i64::from(n)));
                out.byte(padding.map_or(0, |p: Padding| p as u8 + 1));
            }
            Type::Function { params, results } => {
                out.varint(tag::FUNCTION);
                for list in [params, results] {
                    out.varint(list.len() as u64);
                    for &ty in list {
                        let id = self.type_id(ty)?;
                        out.varint(id);
                    }
                }
            }
            // The others have no payload, or are newer: as in the public container.
            _ => return self.encode_type(id),
        }
        Ok(out.data)
    }
}

/// Signed numbers after their number.
fn numbers(out: &mut Buffer, items: impl ExactSizeIterator<Item = i64>) {
    out.varint(items.len() as u64);
    items.for_each(|n| out.signed_varint(n));
}
