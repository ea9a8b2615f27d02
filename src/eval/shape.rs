//! Operations that move elements without changing them.

use smallvec::smallvec;

use super::operation::{Action, Decoded, Operation, pure1, pure2, same};
use super::types::{Dims, TileType};
use super::value::{Args, Value};
use crate::dialect::cuda_tile::Op as Name;
use crate::ir::Attr;
use crate::scalar::Lanes;

pub fn decode(o: &Operation) -> Decoded {
    Ok(Some(match o.name {
        Name::Reshape => reshape(o)?,
        Name::Broadcast => broadcast(o)?,
        Name::Permute => permute(o)?,
        Name::Cat => cat(o)?,
        Name::Extract => extract(o)?,
        Name::Insert => insert(o)?,
        Name::Pack => pack(o)?,
        Name::Unpack => unpack(o)?,
        _ => return Ok(None),
    }))
}

/// Row-major strides of a shape.
pub fn strides(shape: &[usize]) -> Dims {
    let mut strides: Dims = Dims::from_elem(1, shape.len());
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d] * shape[d];
    }
    strides
}

/// For each element of `shape` in row-major order, `start` plus its coordinates times `strides`.
fn positions(shape: &[usize], strides: &[usize], start: usize) -> Vec<usize> {
    let mut positions = vec![start];
    for (&extent, &stride) in shape.iter().zip(strides) {
        positions = positions
            .iter()
            .flat_map(|&at| (0..extent).map(move |i| at + i * stride))
            .collect();
    }
    positions
}

/// The elements of the operand at fixed positions.
fn gathered(positions: Vec<usize>) -> Action {
    pure1(move |a| a.gather(positions.iter().copied()))
}

fn reshape(o: &Operation) -> Result<Action, String> {
    if o.operand(0)?.count() != o.result(0)?.count() {
        return Err("the number of elements changes".into());
    }
    Ok(same())
}

fn broadcast(o: &Operation) -> Result<Action, String> {
    let (from, to) = (o.operand(0)?, o.result(0)?);
    let fits = from.shape.len() == to.shape.len()
        && from
            .shape
            .iter()
            .zip(&to.shape)
            .all(|(&a, &b)| a == b || a == 1);
    if !fits {
        return Err("only extents of 1 can be repeated".into());
    }
    let mut steps = strides(&from.shape);
    for (step, &extent) in steps.iter_mut().zip(&from.shape) {
        if extent == 1 {
            *step = 0;
        }
    }
    Ok(gathered(positions(&to.shape, &steps, 0)))
}

fn permute(o: &Operation) -> Result<Action, String> {
    let (from, to) = (o.operand(0)?, o.result(0)?);
    let Attr::I32s(permutation) = o.attr("permutation")? else {
        return Err("attribute `permutation` is not a list of dimensions".into());
    };
    let source = strides(&from.shape);
    let steps: Option<Dims> = permutation
        .iter()
        .map(|&d| source.get(usize::try_from(d).ok()?).copied())
        .collect();
    let steps = steps
        .filter(|steps| steps.len() == to.shape.len() && from.count() == to.count())
        .ok_or("the permutation does not fit the tile")?;
    Ok(gathered(positions(&to.shape, &steps, 0)))
}

fn cat(o: &Operation) -> Result<Action, String> {
    let (a, b, to) = (o.operand(0)?, o.operand(1)?, o.result(0)?);
    let dim = o.dim(to.shape.len())?;
    let run = |ty: &TileType| -> Result<usize, String> {
        let extents = ty.shape.get(dim..).ok_or("ranks differ")?;
        Ok(extents.iter().product())
    };
    let (from_a, from_b) = (run(&a)?, run(&b)?);
    if a.count() + b.count() != to.count() || from_a == 0 || from_b == 0 {
        return Err("the result is not as long as both operands together".into());
    }
    // Positions in the two operands, one after the other.
    let positions: Vec<usize> = (0..a.count() / from_a)
        .flat_map(|i| {
            let second = a.count() + i * from_b;
            (i * from_a..(i + 1) * from_a).chain(second..second + from_b)
        })
        .collect();
    let (count_a, count_b, bits) = (a.count(), b.count(), to.elem.bits());
    Ok(pure2(move |x, y| {
        let (x, y) = (x.expand(count_a), y.expand(count_b));
        let both = Lanes::collect(bits, x.iter().chain(y.iter()));
        both.gather(positions.iter().copied())
    }))
}

/// The part of `whole` that an index selects, as the position of its first element.
struct Slice {
    whole: Dims,
    part: Dims,
    strides: Dims,
    /// The first of the index operands.
    first: usize,
}

impl Slice {
    fn new(whole: &TileType, part: &TileType, first: usize) -> Result<Self, String> {
        let divides = whole.shape.len() == part.shape.len()
            && whole
                .shape
                .iter()
                .zip(&part.shape)
                .all(|(&w, &p)| p != 0 && w.is_multiple_of(p));
        if !divides || whole.elem != part.elem {
            return Err("the slice does not divide the tile".into());
        }
        Ok(Self {
            strides: strides(&whole.shape),
            whole: whole.shape.clone(),
            part: part.shape.clone(),
            first,
        })
    }

    fn positions(&self, args: &Args) -> Result<Vec<usize>, String> {
        let mut start = 0;
        for (d, &extent) in self.part.iter().enumerate() {
            let index = args.scalar(self.first + d)?;
            let slices = (self.whole[d] / extent) as u64;
            if index >= slices {
                return Err(format!(
                    "slice {index} of dimension {d}, which has {slices}"
                ));
            }
            start += index as usize * extent * self.strides[d];
        }
        Ok(positions(&self.part, &self.strides, start))
    }
}

fn extract(o: &Operation) -> Result<Action, String> {
    let slice = Slice::new(&o.operand(0)?, &o.result(0)?, 1)?;
    Ok(Box::new(move |_, args| {
        let at = slice.positions(args)?;
        Ok(smallvec![Value::tile(
            args.lanes(0)?.gather(at.into_iter())
        )])
    }))
}

fn insert(o: &Operation) -> Result<Action, String> {
    let (part, whole) = (o.operand(0)?, o.operand(1)?);
    let slice = Slice::new(&whole, &part, 2)?;
    let (count, bits) = (whole.count(), whole.elem.bits());
    Ok(Box::new(move |_, args| {
        let at = slice.positions(args)?;
        let (part, whole) = (args.lanes(0)?, args.lanes(1)?.expand(count));
        let mut elements: Vec<u64> = whole.iter().collect();
        for (i, &position) in at.iter().enumerate() {
            if let Some(element) = elements.get_mut(position) {
                *element = part.get(i);
            }
        }
        Ok(smallvec![Value::tile(Lanes::collect(
            bits,
            elements.into_iter()
        ))])
    }))
}

/// Elements to bytes, the first in the lowest bits.
fn pack(o: &Operation) -> Result<Action, String> {
    let (from, to) = (o.operand(0)?, o.result(0)?);
    let (bits, count) = (from.elem.bits(), from.count());
    if count * bits as usize != to.count() * 8 {
        return Err("the result has other bytes than the operand".into());
    }
    Ok(pure1(move |a| {
        let elements = a.expand(count);
        let bytes: Vec<u8> = if bits >= 8 {
            let bytes = bits as usize / 8;
            elements
                .iter()
                .flat_map(|v| v.to_le_bytes().into_iter().take(bytes))
                .collect()
        } else {
            let elements: Vec<u64> = elements.iter().collect();
            let join =
                |part: &[u64]| part.iter().rev().fold(0_u64, |byte, &v| byte << bits | v) as u8;
            elements.chunks(8 / bits as usize).map(join).collect()
        };
        Lanes::W8(bytes)
    }))
}

fn unpack(o: &Operation) -> Result<Action, String> {
    let (from, to) = (o.operand(0)?, o.result(0)?);
    let (bits, count) = (to.elem.bits(), from.count());
    if to.count() * bits as usize != count * 8 {
        return Err("the result has other bytes than the operand".into());
    }
    Ok(pure1(move |a| {
        let bytes: Vec<u64> = a.expand(count).iter().collect();
        if bits >= 8 {
            let join = |part: &[u64]| part.iter().rev().fold(0, |value, &byte| value << 8 | byte);
            Lanes::collect(bits, bytes.chunks(bits as usize / 8).map(join))
        } else {
            let mask = (1 << bits) - 1;
            let split = |&byte: &u64| (0..8 / bits).map(move |i| (byte >> (i * bits)) & mask);
            Lanes::collect(bits, bytes.iter().flat_map(split))
        }
    }))
}
