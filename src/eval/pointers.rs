//! Tiles of pointers: loads, stores, atomics, allocations and globals.

use smallvec::smallvec;

use super::operation::{Action, Decoded, Operation};
use super::selection::canonical;
use super::types::Elem;
use super::value::Value;
use crate::dialect::cuda_tile::Op as Name;
use crate::dialect::enums::{Case, Reduction, RmwMode};
use crate::scalar::{FloatBinary, FloatMode, IntBinary, Lanes, Signedness, float, int};

pub fn decode(o: &Operation) -> Decoded {
    Ok(Some(match o.name {
        Name::LoadPtr => load(o)?,
        Name::StorePtr => store(o)?,
        Name::AtomicRmw => read_modify_write(o)?,
        Name::AtomicCas => compare_and_swap(o)?,
        Name::Alloca => alloca(o)?,
        Name::GetGlobal => global(o)?,
        _ => return Ok(None),
    }))
}

/// Bytes of an element that pointers can point at.
fn size(elem: Elem) -> Result<usize, String> {
    match elem.memory_bits() {
        bits @ (8 | 16 | 32 | 64) => Ok(bits as usize / 8),
        _ => Err(format!("{elem} cannot be accessed through pointers")),
    }
}

/// Whether element `i` takes part.
fn enabled(mask: Option<&Lanes>, i: usize) -> bool {
    mask.is_none_or(|mask| mask.get(i) != 0)
}

fn load(o: &Operation) -> Result<Action, String> {
    let ty = o.result(0)?;
    let (mask, padding, fence) = (o.optional(1), o.optional(2), o.fence());
    let (elem, bytes, count) = (ty.elem, size(ty.elem)?, o.operand(0)?.count());
    if count != ty.count() {
        return Err("the result is not as large as the tile of pointers".into());
    }
    Ok(Box::new(move |context, args| {
        let pointers = args.lanes(0)?;
        let mask = mask.map(|i| args.lanes(i)).transpose()?;
        let padding = padding.map(|i| args.lanes(i)).transpose()?;
        let one = |i: usize| -> Result<u64, String> {
            if enabled(mask, i) {
                Ok(canonical(
                    elem,
                    context.memory.read(pointers.get(i), bytes)?,
                ))
            } else {
                Ok(padding.map_or(0, |padding| padding.get(i)))
            }
        };
        let values: Result<Vec<u64>, String> = fence.around(|| (0..count).map(one).collect());
        let lanes = Lanes::collect(elem.bits(), values?.into_iter());
        Ok(smallvec![Value::tile(lanes), Value::Token])
    }))
}

fn store(o: &Operation) -> Result<Action, String> {
    let ty = o.operand(1)?;
    let (mask, fence) = (o.optional(2), o.fence());
    let (elem, bytes, count) = (ty.elem, size(ty.elem)?, ty.count());
    if count != o.operand(0)?.count() {
        return Err("the value is not as large as the tile of pointers".into());
    }
    Ok(Box::new(move |context, args| {
        let (pointers, values) = (args.lanes(0)?, args.lanes(1)?);
        let mask = mask.map(|i| args.lanes(i)).transpose()?;
        fence.around(|| {
            (0..count).filter(|&i| enabled(mask, i)).try_for_each(|i| {
                let value = canonical(elem, values.get(i));
                context.memory.write(pointers.get(i), bytes, value)
            })
        })?;
        Ok(smallvec![Value::Token])
    }))
}

/// The modification of an atomic read-modify-write.
#[derive(Clone, Copy)]
pub enum ReadModifyWrite {
    Int(IntBinary, u32),
    FloatAdd(crate::scalar::FloatFormat),
    Exchange,
}

impl ReadModifyWrite {
    pub fn new(mode: u8, elem: Elem) -> Result<Self, String> {
        let Some(mode) = RmwMode::of(mode) else {
            return Err(format!("unknown atomic mode {mode}"));
        };
        let op = match mode {
            RmwMode::Exchange => return Ok(ReadModifyWrite::Exchange),
            RmwMode::AddF => {
                return match elem {
                    Elem::Float(format) => Ok(ReadModifyWrite::FloatAdd(format)),
                    other => Err(format!("addf of {other}")),
                };
            }
            RmwMode::And => IntBinary::And,
            RmwMode::Or => IntBinary::Or,
            RmwMode::Xor => IntBinary::Xor,
            RmwMode::Add => IntBinary::Add,
            RmwMode::Max => IntBinary::Max(Signedness::Signed),
            RmwMode::Min => IntBinary::Min(Signedness::Signed),
            RmwMode::MaxU => IntBinary::Max(Signedness::Unsigned),
            RmwMode::MinU => IntBinary::Min(Signedness::Unsigned),
        };
        match elem {
            Elem::Int(width) => Ok(ReadModifyWrite::Int(op, width)),
            other => Err(format!("an integer mode on {other}")),
        }
    }

    /// The modification of a reduction over devices.
    pub fn of_reduction(reduction: u8, elem: Elem) -> Result<Self, String> {
        let mode = match Reduction::of(reduction) {
            Some(Reduction::Add) if matches!(elem, Elem::Float(_)) => RmwMode::AddF,
            Some(Reduction::Add) => RmwMode::Add,
            Some(Reduction::Min) => RmwMode::Min,
            Some(Reduction::Max) => RmwMode::Max,
            Some(Reduction::And) => RmwMode::And,
            Some(Reduction::Or) => RmwMode::Or,
            Some(Reduction::Xor) => RmwMode::Xor,
            Some(Reduction::MinU) => RmwMode::MinU,
            Some(Reduction::MaxU) => RmwMode::MaxU,
            None => return Err(format!("unknown reduction {reduction}")),
        };
        Self::new(mode.code(), elem)
    }

    /// What memory holds afterwards.
    pub fn apply(self, old: u64, argument: u64) -> u64 {
        match self {
            ReadModifyWrite::Int(op, width) => int::binary(op, width, old, argument),
            ReadModifyWrite::FloatAdd(format) => float::binary(
                FloatBinary::Add,
                format,
                FloatMode::default(),
                old,
                argument,
            ),
            ReadModifyWrite::Exchange => argument,
        }
    }
}

fn read_modify_write(o: &Operation) -> Result<Action, String> {
    let ty = o.result(0)?;
    let (elem, bytes, count) = (ty.elem, size(ty.elem)?, ty.count());
    let (update, mask) = (ReadModifyWrite::new(o.case("mode")?, elem)?, o.optional(2));
    Ok(Box::new(move |context, args| {
        let (pointers, arguments) = (args.lanes(0)?, args.lanes(1)?);
        let mask = mask.map(|i| args.lanes(i)).transpose()?;
        let one = |i: usize| -> Result<u64, String> {
            if !enabled(mask, i) {
                return Ok(0);
            }
            let argument = arguments.get(i);
            let apply = |old| update.apply(old, argument);
            context.memory.update(pointers.get(i), bytes, apply)
        };
        let old: Vec<u64> = (0..count).map(one).collect::<Result<_, _>>()?;
        let lanes = Lanes::collect(elem.bits(), old.into_iter());
        Ok(smallvec![Value::tile(lanes), Value::Token])
    }))
}

/// Compares bit patterns. A masked-off element yields what it would have compared with.
fn compare_and_swap(o: &Operation) -> Result<Action, String> {
    let ty = o.result(0)?;
    let (elem, bytes, count) = (ty.elem, size(ty.elem)?, ty.count());
    let mask = o.optional(3);
    Ok(Box::new(move |context, args| {
        let (pointers, expected, new) = (args.lanes(0)?, args.lanes(1)?, args.lanes(2)?);
        let mask = mask.map(|i| args.lanes(i)).transpose()?;
        let one = |i: usize| -> Result<u64, String> {
            let (expected, new) = (expected.get(i), new.get(i));
            if !enabled(mask, i) {
                return Ok(expected);
            }
            let swap = |old| if old == expected { new } else { old };
            context.memory.update(pointers.get(i), bytes, swap)
        };
        let old: Vec<u64> = (0..count).map(one).collect::<Result<_, _>>()?;
        let lanes = Lanes::collect(elem.bits(), old.into_iter());
        Ok(smallvec![Value::tile(lanes), Value::Token])
    }))
}

fn alloca(o: &Operation) -> Result<Action, String> {
    let Elem::Ptr { pointee } = o.result(0)?.elem else {
        return Err("an allocation yields a pointer".into());
    };
    let elements = usize::try_from(o.int("num_elem")?).map_err(|_| "a negative size")?;
    let bytes = elements
        .checked_mul(pointee as usize)
        .map(|bits| bits.div_ceil(8))
        .ok_or("too large an allocation")?;
    Ok(Box::new(move |context, _| {
        let address = context.memory.allocate(bytes)?;
        context.allocations.borrow_mut().push(address);
        Ok(smallvec![Value::splat(64, address)])
    }))
}

fn global(o: &Operation) -> Result<Action, String> {
    let name = o.text("name")?.to_owned();
    Ok(Box::new(move |context, _| {
        let address = context.globals.get(&name);
        let address = address.ok_or_else(|| format!("there is no global `{name}`"))?;
        Ok(smallvec![Value::splat(64, *address)])
    }))
}
