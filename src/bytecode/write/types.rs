//! The type section.

use rustc_hash::FxHashMap;

use super::buffer::{self, Buffer};
use super::{Result, Writer};
use crate::bytecode::Format;
use crate::bytecode::read::types::{SIMPLE, tag};
use crate::dialect::{Version, enums};
use crate::ir::{Diagnostic, Padding, Type, TypeId};

/// Encoded types and their numbers.
#[derive(Default)]
pub struct TypeWriter {
    items: Vec<Vec<u8>>,
    by_bytes: FxHashMap<Vec<u8>, u64>,
    by_type: FxHashMap<TypeId, u64>,
}

impl TypeWriter {
    fn add(&mut self, item: Vec<u8>) -> u64 {
        let next = self.items.len() as u64;
        *self.by_bytes.entry(item).or_insert_with_key(|item| {
            self.items.push(item.clone());
            next
        })
    }

    /// A type with no payload.
    pub fn simple(&mut self, ty: &Type) {
        if let Some((tag, ..)) = SIMPLE.iter().find(|s| s.2 == *ty) {
            let mut item = Buffer::new(Format::Public);
            item.varint(*tag);
            self.add(item.data);
        }
    }

    pub fn section(&self, format: Format) -> Buffer {
        buffer::table(&self.items, 4, format)
    }
}

impl Writer<'_> {
    /// The number of a type, which is added after those it refers to.
    pub fn type_id(&mut self, ty: TypeId) -> Result<u64> {
        if let Some(&id) = self.types.by_type.get(&ty) {
            return Ok(id);
        }
        let item = match self.format {
            Format::Public => self.encode_type(ty)?,
            Format::Notes => self.notes_type(ty)?,
        };
        let id = self.types.add(item);
        self.types.by_type.insert(ty, id);
        Ok(id)
    }

    pub(super) fn encode_type(&mut self, ty: TypeId) -> Result<Vec<u8>> {
        let ty = self.module.types.get(ty);
        let mut out = self.buffer();
        if let Some((tag, since, _)) = SIMPLE.iter().find(|s| s.2 == *ty) {
            self.since(*since, || {
                format!("type {}", crate::asm::simple_type_name(ty))
            })?;
            out.varint(*tag);
            return Ok(out.data);
        }
        match ty {
            Type::Ptr { pointee, attr } => {
                out.varint(tag::POINTER);
                self.optional_bits(&mut out, Version::V13_4, *attr != 0);
                let pointee = self.type_id(*pointee)?;
                out.varint(pointee);
                self.pointer_attr(&mut out, *attr)?;
            }
            Type::Tile { elem, shape } => {
                let elem = self.type_id(*elem)?;
                out.varint(tag::TILE);
                out.varint(elem);
                out.varint(shape.len() as u64);
                shape.iter().for_each(|d| out.bytes(&d.to_le_bytes()));
            }
            Type::TensorView { .. } => self.tensor_view(&mut out, ty)?,
            Type::PartitionView { .. }
            | Type::StridedView { .. }
            | Type::GatherScatterView { .. } => {
                self.view(&mut out, ty)?;
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
            other => {
                return Err(Diagnostic::error(format!(
                    "type {other:?} has no bytecode encoding"
                )));
            }
        }
        Ok(out.data)
    }

    /// The bit field of optional parameters, where the version has it.
    fn optional_bits(&self, out: &mut Buffer, since: Version, present: bool) {
        if self.version >= since {
            out.varint(u64::from(present));
        }
    }

    fn pointer_attr(&self, out: &mut Buffer, attr: u8) -> Result<()> {
        let Some(case) = attr.checked_sub(1) else {
            return Ok(());
        };
        let since = enums::since(&enums::PTR_ATTR, case).max(Version::V13_4);
        self.since(since, || format!("pointer attribute {case}"))?;
        out.varint(u64::from(case));
        Ok(())
    }

    fn tensor_view(&mut self, out: &mut Buffer, ty: &Type) -> Result<()> {
        let Type::TensorView {
            elem,
            shape,
            strides,
            attr,
        } = ty
        else {
            return Ok(());
        };
        out.varint(tag::TENSOR_VIEW);
        self.optional_bits(out, Version::V13_4, *attr != 0);
        let elem = self.type_id(*elem)?;
        out.varint(elem);
        for list in [shape, strides] {
            out.varint(list.len() as u64);
            list.iter().for_each(|d| out.bytes(&d.to_le_bytes()));
        }
        self.pointer_attr(out, *attr)
    }

    fn view(&mut self, out: &mut Buffer, ty: &Type) -> Result<()> {
        let list = |out: &mut Buffer, items: &[i32]| {
            out.varint(items.len() as u64);
            items.iter().for_each(|d| out.bytes(&d.to_le_bytes()));
        };
        let padding = |out: &mut Buffer, p: &Option<Padding>| {
            if let Some(p) = p {
                out.varint(*p as u64);
            }
        };
        match ty {
            Type::PartitionView {
                tile,
                view,
                dim_map,
                padding: p,
            } => {
                out.varint(tag::PARTITION_VIEW);
                self.optional_bits(out, Version::V13_3, p.is_some());
                list(out, tile);
                let view = self.type_id(*view)?;
                out.varint(view);
                list(out, dim_map);
                if self.version < Version::V13_3 {
                    out.byte(u8::from(p.is_some()));
                }
                padding(out, p);
            }
            Type::StridedView {
                tile,
                traversal,
                view,
                dim_map,
                padding: p,
            } => {
                self.since(Version::V13_3, || "type strided_view".into())?;
                out.varint(tag::STRIDED_VIEW);
                self.optional_bits(out, Version::V13_3, p.is_some());
                list(out, tile);
                list(out, traversal);
                let view = self.type_id(*view)?;
                out.varint(view);
                list(out, dim_map);
                padding(out, p);
            }
            Type::GatherScatterView {
                tile,
                view,
                sparse_dim,
                padding: p,
            } => {
                self.since(Version::V13_3, || "type gather_scatter_view".into())?;
                out.varint(tag::GATHER_SCATTER_VIEW);
                self.optional_bits(out, Version::V13_3, p.is_some());
                list(out, tile);
                let view = self.type_id(*view)?;
                out.varint(view);
                out.varint(*sparse_dim as u32 as u64);
                padding(out, p);
            }
            _ => {}
        }
        Ok(())
    }
}
