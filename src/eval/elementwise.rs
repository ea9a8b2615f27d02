//! Operations that work element by element, and constants.

use smallvec::{SmallVec, smallvec};

use super::operation::{Action, Decoded, Operation, same};
use super::types::{Elem, TileType};
use super::value::{Value, Values};
use crate::dialect::OpKind;
use crate::dialect::cuda_tile::Op as Name;
use crate::dialect::meaning::Meaning;
use crate::dialect::resolve::{Attributes, Given};
use crate::ir::{Attr, Dense};
use crate::scalar::{Element, Function, Lanes};

pub fn decode(o: &Operation) -> Decoded {
    Ok(Some(match o.name {
        Name::Constant => constant(o)?,
        Name::Iota => iota(&o.result(0)?)?,
        name => match OpKind::from(name).def().meaning {
            Some(meaning) => by_meaning(o, meaning)?,
            None => return Ok(None),
        },
    }))
}

/// The action of an operation whose row says what it computes.
fn by_meaning(o: &Operation, meaning: Meaning) -> Result<Action, String> {
    let value = |i| Given::from(o.op.attr(i));
    let attributes = Attributes {
        row: o.op.def(),
        value: &value,
    };
    let count = o.op.operands.len();
    let operands: Result<SmallVec<[Element; 3]>, String> = (0..count)
        .map(|i| Ok(element(o.operand(i)?.elem)))
        .collect();
    let function = meaning.function(attributes, &operands?, element(o.result(0)?.elem))?;
    let wrong = || "too few operands".to_string();
    Ok(match function {
        Function::Copy => same(),
        _ => Box::new(move |_, args| {
            let lanes: Result<SmallVec<[&Lanes; 3]>, String> =
                (0..count).map(|i| args.lanes(i)).collect();
            let result = function.lanes(&lanes?).ok_or_else(wrong)?;
            Ok(smallvec![Value::tile(result)])
        }),
    })
}

/// The arithmetic's view of an element type.
fn element(elem: Elem) -> Element {
    match elem {
        Elem::Int(width) => Element::Int(width),
        Elem::Float(format) => Element::Float(format),
        Elem::Ptr { pointee } => Element::Ptr(pointee),
    }
}

impl From<Option<&Attr>> for Given {
    fn from(attr: Option<&Attr>) -> Given {
        match attr {
            None => Given::Absent,
            Some(Attr::Unit) => Given::Unit,
            Some(Attr::Enum(case)) => Given::Case(case.0),
            Some(_) => Given::Other,
        }
    }
}

fn constant(o: &Operation) -> Result<Action, String> {
    let ty = o.result(0)?;
    let Attr::Dense {
        data: Dense::Bytes(bytes),
        ..
    } = o.attr("value")?
    else {
        return Err("a constant without data".into());
    };
    let lanes = from_bytes(&ty, bytes)?;
    let result: Values = smallvec![Value::tile(lanes)];
    Ok(Box::new(move |_, _| Ok(result.clone())))
}

/// Elements from constant data: one of them, or all.
pub fn from_bytes(ty: &TileType, bytes: &[u8]) -> Result<Lanes, String> {
    let size = ty.elem.bits().div_ceil(8) as usize;
    let count = bytes.len() / size;
    if !bytes.len().is_multiple_of(size) || (count != 1 && count != ty.count()) {
        return Err(format!(
            "{} bytes of data for {} elements of {size} bytes",
            bytes.len(),
            ty.count()
        ));
    }
    let value = |chunk: &[u8]| {
        chunk
            .iter()
            .rev()
            .fold(0_u64, |value, &byte| value << 8 | u64::from(byte))
    };
    Ok(Lanes::collect(
        ty.elem.bits(),
        bytes.chunks_exact(size).map(value),
    ))
}

fn iota(ty: &TileType) -> Result<Action, String> {
    let bits = ty.int_width()?;
    let result: Values = smallvec![Value::tile(Lanes::collect(
        bits,
        (0..ty.count() as u64).map(|i| i & crate::scalar::int::mask(bits))
    ))];
    Ok(Box::new(move |_, _| Ok(result.clone())))
}
