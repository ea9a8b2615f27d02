//! The type section.

use smallvec::SmallVec;

use super::tables::Blobs;
use crate::bytecode::cursor::Cursor;
use crate::bytecode::{Context, Result};
use crate::dialect::{Version, enums};
use crate::ir::{Float, Module, Padding, Type, TypeId};

/// A type may refer to others this deep.
const MAX_DEPTH: u32 = 64;

/// Types with no payload: tag, first version, type.
pub(in crate::bytecode) static SIMPLE: &[(u64, Version, Type)] = &[
    (0, Version::V13_1, Type::Int(1)),
    (1, Version::V13_1, Type::Int(8)),
    (2, Version::V13_1, Type::Int(16)),
    (3, Version::V13_1, Type::Int(32)),
    (4, Version::V13_1, Type::Int(64)),
    (5, Version::V13_1, Type::Float(Float::F16)),
    (6, Version::V13_1, Type::Float(Float::BF16)),
    (7, Version::V13_1, Type::Float(Float::F32)),
    (8, Version::V13_1, Type::Float(Float::TF32)),
    (9, Version::V13_1, Type::Float(Float::F64)),
    (10, Version::V13_1, Type::Float(Float::F8E4M3FN)),
    (11, Version::V13_1, Type::Float(Float::F8E5M2)),
    (17, Version::V13_1, Type::Token),
    (18, Version::V13_2, Type::Float(Float::F8E8M0FNU)),
    (19, Version::V13_3, Type::Float(Float::F4E2M1FN)),
    (22, Version::V13_3, Type::Int(4)),
    (130, Version::V13_4, Type::Float(Float::F8E5M3FNU)),
];

/// Tags of types with a payload.
pub(in crate::bytecode) mod tag {
    pub const POINTER: u64 = 12;
    pub const TILE: u64 = 13;
    pub const TENSOR_VIEW: u64 = 14;
    pub const PARTITION_VIEW: u64 = 15;
    pub const FUNCTION: u64 = 16;
    pub const GATHER_SCATTER_VIEW: u64 = 20;
    pub const STRIDED_VIEW: u64 = 21;
}

#[derive(Clone, Copy)]
enum State {
    Unread,
    Reading,
    Done(TypeId),
}

/// Decodes one type of a table.
pub type Decode = fn(&mut TypeTable, &mut Cursor, &mut Module) -> Result<Type>;

/// The types of a file, decoded when first used.
pub struct TypeTable<'a> {
    version: Version,
    decode: Decode,
    blobs: Blobs<'a>,
    state: Vec<State>,
    depth: u32,
}

impl<'a> TypeTable<'a> {
    /// `decode` reads the types of the file's container.
    pub fn read(payload: Option<Cursor<'a>>, version: Version, decode: Decode) -> Result<Self> {
        let blobs = payload.map_or(Ok(Blobs::default()), |p| Blobs::read(p, 4, "types"))?;
        Ok(Self {
            version,
            decode,
            state: vec![State::Unread; blobs.len()],
            blobs,
            depth: 0,
        })
    }

    pub fn len(&self) -> usize {
        self.state.len()
    }

    /// Reads an index and resolves it.
    pub fn read_ref(&mut self, cursor: &mut Cursor, module: &mut Module) -> Result<TypeId> {
        let index = cursor.varint()?;
        if index >= self.len() as u64 {
            return Err(cursor.error(format!("type index {index} out of bounds")));
        }
        self.get(index, module)
    }

    /// Type `index`, which the caller has checked to exist.
    pub fn get(&mut self, index: u64, module: &mut Module) -> Result<TypeId> {
        let i = index as usize;
        let mut item = self.blobs.get(i)?;
        match self.state[i] {
            State::Done(id) => return Ok(id),
            State::Reading => return Err(item.error(format!("type {index} refers to itself"))),
            State::Unread => {}
        }
        if self.depth == MAX_DEPTH {
            return Err(item.error(format!("types nested deeper than {MAX_DEPTH}")));
        }
        self.state[i] = State::Reading;
        self.depth += 1;
        let ty = (self.decode)(self, &mut item, module);
        let ty = ty.context(|| format!("failed to parse type at index {index}"));
        self.depth -= 1;
        let id = module.types.intern(ty?);
        self.state[i] = State::Done(id);
        Ok(id)
    }

    /// One type of the public container.
    pub fn public(&mut self, c: &mut Cursor, module: &mut Module) -> Result<Type> {
        let tag = c.varint()?;
        if let Some((_, since, ty)) = SIMPLE.iter().find(|(t, ..)| *t == tag) {
            self.available(c, tag, *since)?;
            return Ok(ty.clone());
        }
        match tag {
            tag::POINTER => self.pointer(c, module),
            tag::TILE => {
                let elem = self.read_ref(c, module)?;
                Ok(Type::Tile {
                    elem,
                    shape: tile_shape(c)?,
                })
            }
            tag::TENSOR_VIEW => self.tensor_view(c, module),
            tag::PARTITION_VIEW => self.partition_view(c, module),
            tag::FUNCTION => Ok(Type::Function {
                params: self.list(c, module, "parameters")?,
                results: self.list(c, module, "results")?,
            }),
            tag::GATHER_SCATTER_VIEW => self.gather_scatter_view(c, module, tag),
            tag::STRIDED_VIEW => self.strided_view(c, module, tag),
            _ => Err(c.error(format!("unknown type tag: {tag}"))),
        }
    }

    fn available(&self, c: &Cursor, tag: u64, since: Version) -> Result<()> {
        if self.version >= since {
            return Ok(());
        }
        Err(c.error(format!(
            "type tag {tag} is not available in bytecode version {} (since {since})",
            self.version
        )))
    }

    fn pointer(&mut self, c: &mut Cursor, module: &mut Module) -> Result<Type> {
        let flags = self.flags(c, Version::V13_4)?;
        let pointee = self.read_ref(c, module)?;
        Ok(Type::Ptr {
            pointee,
            attr: pointer_attr(c, flags, self.version)?,
        })
    }

    fn tensor_view(&mut self, c: &mut Cursor, module: &mut Module) -> Result<Type> {
        let flags = self.flags(c, Version::V13_4)?;
        let elem = self.read_ref(c, module)?;
        Ok(Type::TensorView {
            elem,
            shape: i64s(c)?,
            strides: i64s(c)?,
            attr: pointer_attr(c, flags, self.version)?,
        })
    }

    fn partition_view(&mut self, c: &mut Cursor, module: &mut Module) -> Result<Type> {
        let flags = self.flags(c, Version::V13_3)?;
        let tile = i32s(c)?;
        let view = self.read_ref(c, module)?;
        let dim_map = i32s(c)?;
        let present = if self.version >= Version::V13_3 {
            flags != 0
        } else {
            presence(c)?
        };
        Ok(Type::PartitionView {
            tile,
            view,
            dim_map,
            padding: padding(c, present)?,
        })
    }

    fn gather_scatter_view(
        &mut self,
        c: &mut Cursor,
        module: &mut Module,
        tag: u64,
    ) -> Result<Type> {
        self.available(c, tag, Version::V13_3)?;
        let flags = self.flags(c, Version::V13_3)?;
        let tile = i32s(c)?;
        let view = self.read_ref(c, module)?;
        let sparse_dim = c.varint()?;
        Ok(Type::GatherScatterView {
            tile,
            view,
            sparse_dim: i32::try_from(sparse_dim)
                .map_err(|_| c.error(format!("sparse dimension {sparse_dim} out of range")))?,
            padding: padding(c, flags != 0)?,
        })
    }

    fn strided_view(&mut self, c: &mut Cursor, module: &mut Module, tag: u64) -> Result<Type> {
        self.available(c, tag, Version::V13_3)?;
        let flags = self.flags(c, Version::V13_3)?;
        Ok(Type::StridedView {
            tile: i32s(c)?,
            traversal: i32s(c)?,
            view: self.read_ref(c, module)?,
            dim_map: i32s(c)?,
            padding: padding(c, flags != 0)?,
        })
    }

    /// The bit field of optional parameters, written since `since`; one bit exists so far.
    fn flags(&self, c: &mut Cursor, since: Version) -> Result<u64> {
        if self.version < since {
            return Ok(0);
        }
        let flags = c.varint()?;
        match flags & !1 {
            0 => Ok(flags),
            unknown => Err(c.error(format!(
                "unknown optional type parameters (flags {unknown:#x})"
            ))),
        }
    }

    fn list(&mut self, c: &mut Cursor, module: &mut Module, what: &str) -> Result<Vec<TypeId>> {
        let n = c.count(1, what)?;
        (0..n).map(|_| self.read_ref(c, module)).collect()
    }
}

fn presence(c: &mut Cursor) -> Result<bool> {
    match c.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        byte => Err(c.error(format!(
            "invalid presence byte for optional attribute: {byte}"
        ))),
    }
}

/// The pointer attribute as [`Type::Ptr`] stores it: 0 for none, else its case plus one.
fn pointer_attr(c: &mut Cursor, flags: u64, version: Version) -> Result<u8> {
    if flags == 0 {
        return Ok(0);
    }
    let value = c.varint()?;
    if value >= enums::PTR_ATTR.cases.len() as u64 {
        return Err(c.error(format!("invalid integer value for enum type: {value}")));
    }
    if enums::since(&enums::PTR_ATTR, value as u8) > version {
        return Err(c.error(format!(
            "enum value {value} is not available in bytecode version {version}"
        )));
    }
    Ok(value as u8 + 1)
}

fn padding(c: &mut Cursor, present: bool) -> Result<Option<Padding>> {
    if !present {
        return Ok(None);
    }
    let value = c.varint()?;
    let case = usize::try_from(value)
        .ok()
        .and_then(|i| Padding::ALL.get(i));
    case.copied()
        .map(Some)
        .ok_or_else(|| c.error(format!("invalid integer value for enum type: {value}")))
}

fn i32s(c: &mut Cursor) -> Result<SmallVec<[i32; 4]>> {
    let n = c.count(4, "elements")?;
    (0..n).map(|_| Ok(c.u32()? as i32)).collect()
}

fn i64s(c: &mut Cursor) -> Result<SmallVec<[i64; 4]>> {
    let n = c.count(8, "elements")?;
    (0..n).map(|_| Ok(c.u64()? as i64)).collect()
}

fn tile_shape(c: &mut Cursor) -> Result<SmallVec<[u64; 4]>> {
    let dims = i64s(c)?;
    match dims.iter().find(|d| **d <= 0) {
        Some(d) => Err(c.error(format!(
            "all dimensions must be positive constants, got {d}"
        ))),
        None => Ok(dims.iter().map(|&d| d as u64).collect()),
    }
}
