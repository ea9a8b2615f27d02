//! Payloads of the type section.

use smallvec::SmallVec;

use crate::bytecode::Result;
use crate::bytecode::cursor::Cursor;
use crate::bytecode::read::types::{SIMPLE, TypeTable, tag};
use crate::ir::{Float, Module, Padding, Type, TypeId};

/// The last tag: an 8-bit scale.
const F8E8M0FNU: u64 = 18;

/// One type. Extents and strides are signed VarInts after their number.
pub fn decode(types: &mut TypeTable, c: &mut Cursor, module: &mut Module) -> Result<Type> {
    let tag = c.varint()?;
    match tag {
        F8E8M0FNU => Ok(Type::Float(Float::F8E8M0FNU)),
        tag::POINTER => Ok(Type::Ptr {
            pointee: types.read_ref(c, module)?,
            attr: 0,
        }),
        tag::TILE => Ok(Type::Tile {
            elem: types.read_ref(c, module)?,
            shape: shape(c)?,
        }),
        tag::TENSOR_VIEW => Ok(Type::TensorView {
            elem: types.read_ref(c, module)?,
            shape: numbers(c)?.into(),
            strides: numbers(c)?.into(),
            attr: 0,
        }),
        tag::PARTITION_VIEW => Ok(Type::PartitionView {
            view: types.read_ref(c, module)?,
            tile: i32s(c)?,
            dim_map: i32s(c)?,
            padding: padding(c)?,
        }),
        tag::FUNCTION => Ok(Type::Function {
            params: list(types, c, module, "parameters")?,
            results: list(types, c, module, "results")?,
        }),
        _ => match SIMPLE.iter().find(|(t, ..)| *t == tag && tag < F8E8M0FNU) {
            Some((.., ty)) => Ok(ty.clone()),
            None => Err(c.error(format!("unknown type tag: {tag}"))),
        },
    }
}

/// Signed numbers after their number.
pub fn numbers(c: &mut Cursor) -> Result<Vec<i64>> {
    let n = c.count(1, "elements")?;
    (0..n).map(|_| c.signed_varint()).collect()
}

/// Extents of a tile.
pub fn shape(c: &mut Cursor) -> Result<SmallVec<[u64; 4]>> {
    let one = |d: i64| match u64::try_from(d) {
        Ok(d) if d > 0 => Ok(d),
        _ => Err(c.error(format!(
            "all dimensions must be positive constants, got {d}"
        ))),
    };
    numbers(&mut c.clone())?
        .into_iter()
        .try_for_each(|d| one(d).map(drop))?;
    Ok(numbers(c)?.into_iter().map(|d| d as u64).collect())
}

fn i32s(c: &mut Cursor) -> Result<SmallVec<[i32; 4]>> {
    let n = c.count(1, "elements")?;
    let one = |c: &mut Cursor| {
        let value = c.signed_varint()?;
        i32::try_from(value)
            .map_err(|_| c.error(format!("array contains unsupported value {value}")))
    };
    (0..n).map(|_| one(c)).collect()
}

/// The mode byte of a partition: 0 for none, else the padding value plus one.
fn padding(c: &mut Cursor) -> Result<Option<Padding>> {
    let Some(case) = c.u8()?.checked_sub(1) else {
        return Ok(None);
    };
    let padding = Padding::ALL.get(usize::from(case)).copied();
    padding
        .map(Some)
        .ok_or_else(|| c.error(format!("invalid integer value for enum type: {case}")))
}

fn list(
    types: &mut TypeTable,
    c: &mut Cursor,
    module: &mut Module,
    what: &str,
) -> Result<Vec<TypeId>> {
    let n = c.count(1, what)?;
    (0..n).map(|_| types.read_ref(c, module)).collect()
}
