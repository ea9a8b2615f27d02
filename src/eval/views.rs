//! Views of tensors: making them, asking for their shapes, loading, storing and reducing tiles.
//!
//! An index selects a tile; the tile's elements outside the tensor are padding when loaded and
//! left out when stored. An index beyond the view's index space, which Tile IR leaves undefined,
//! selects a tile that lies outside the tensor entirely.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::operation::{Action, Decoded, Operation};
use super::pointers::ReadModifyWrite;
use super::selection::Selector;
use super::types::{Elem, TensorType, TileType, ViewType};
use super::value::{Tensor, Value};
use crate::dialect::cuda_tile::Op as Name;
use crate::ir::Padding;
use crate::scalar::lanes::{Word, with_word};
use crate::scalar::{Overflow, int};

pub fn decode(o: &Operation) -> Decoded {
    Ok(Some(match o.name {
        Name::MakeTensorView => make_tensor(o)?,
        Name::MakePartitionView | Name::MakeStridedView | Name::MakeGatherScatterView => {
            ViewType::of(o.module, o.result_type(0)?)?;
            super::operation::same()
        }
        Name::GetTensorShape => tensor_shape(o)?,
        Name::GetIndexSpaceShape => index_space_shape(o)?,
        // A multicast address is taken for that of one device: what is combined is one value.
        Name::LoadView | Name::MultimemLoadReduceView => load(o)?,
        Name::StoreView => store(o, 0, Selector::new(o, 1, 2)?)?,
        Name::MultimemStoreView => store(o, 1, Selector::new(o, 0, 2)?)?,
        Name::AtomicRedView => {
            let mode = o.case("mode")?;
            reduce(o, o.group_start(2), Selector::new(o, 0, 1)?, |e| {
                ReadModifyWrite::new(mode, e)
            })?
        }
        Name::MultimemReduceView => {
            let reduction = o.case("reduction")?;
            reduce(o, 1, Selector::new(o, 0, 2)?, |e| {
                ReadModifyWrite::of_reduction(reduction, e)
            })?
        }
        _ => return Ok(None),
    }))
}

fn make_tensor(o: &Operation) -> Result<Action, String> {
    let ty = TensorType::of(o.module, o.result_type(0)?)?;
    let (shapes, strides) = (o.group_start(1), o.group_start(2));
    let dynamic = |dims: &[Option<u64>]| dims.iter().filter(|d| d.is_none()).count();
    if dynamic(&ty.shape) != o.op.group(1).len() || dynamic(&ty.strides) != o.op.group(2).len() {
        return Err("dynamic extents and strides do not match the operands".into());
    }
    let width = |i: usize, any: bool| {
        if any {
            o.operand(i)?.int_width()
        } else {
            Ok(64)
        }
    };
    let widths = [
        width(shapes, !o.op.group(1).is_empty())?,
        width(strides, !o.op.group(2).is_empty())?,
    ];
    Ok(Box::new(move |_, args| {
        let fill = |dims: &[Option<u64>], first: usize, width: u32| {
            let mut next = first;
            let mut filled: SmallVec<[u64; 4]> = SmallVec::new();
            for &dim in dims {
                filled.push(match dim {
                    Some(dim) => dim,
                    None => {
                        next += 1;
                        args.scalar(next - 1)? & int::mask(width)
                    }
                });
            }
            Ok::<_, String>(filled)
        };
        Ok(smallvec![Value::Tensor(Arc::new(Tensor {
            base: args.scalar(0)?,
            shape: fill(&ty.shape, shapes, widths[0])?,
            strides: fill(&ty.strides, strides, widths[1])?,
        }))])
    }))
}

fn result_bits(o: &Operation) -> Result<Vec<u32>, String> {
    (0..o.op.results.len())
        .map(|i| o.result(i)?.int_width())
        .collect()
}

fn tensor_shape(o: &Operation) -> Result<Action, String> {
    let bits = result_bits(o)?;
    Ok(Box::new(move |_, args| {
        let shape = &args.tensor(0)?.shape;
        let values = bits.iter().zip(shape);
        Ok(values
            .map(|(&bits, &n)| Value::splat(bits, n & int::mask(bits)))
            .collect())
    }))
}

fn index_space_shape(o: &Operation) -> Result<Action, String> {
    let (view, bits) = (o.view(0)?, result_bits(o)?);
    Ok(Box::new(move |_, args| {
        let tensor = args.tensor(0)?;
        let count = |d: usize| {
            let extent = tensor.shape.get(view.dim_map[d]).copied().unwrap_or(0);
            match view.step[d] {
                0 => 0,
                step => extent.div_ceil(step),
            }
        };
        Ok(bits
            .iter()
            .enumerate()
            .take(view.tile.len())
            .map(|(d, &bits)| Value::splat(bits, count(d) & int::mask(bits)))
            .collect())
    }))
}

fn padding(view: &ViewType) -> u64 {
    match (view.padding, view.elem) {
        (None | Some(Padding::Zero), _) | (_, Elem::Int(_) | Elem::Ptr { .. }) => 0,
        (Some(Padding::NegZero), Elem::Float(format)) => format.zero(true),
        (Some(Padding::Nan), Elem::Float(format)) => format.nan(),
        (Some(Padding::PosInf), Elem::Float(format)) => format.infinity(false, Overflow::Ieee),
        (Some(Padding::NegInf), Elem::Float(format)) => format.infinity(true, Overflow::Ieee),
    }
}

fn same_tile(view: &ViewType, tile: &TileType) -> Result<(), String> {
    if view.elem == tile.elem && view.tile == tile.shape {
        Ok(())
    } else {
        Err("the tile is not that of the view".into())
    }
}

fn load(o: &Operation) -> Result<Action, String> {
    let selector = Selector::new(o, 0, 1)?;
    let ty = o.result(0)?;
    same_tile(&selector.view, &ty)?;
    let (fence, count, padding) = (o.fence(), ty.count(), padding(&selector.view));
    let bits = ty.elem.bits();
    Ok(Box::new(move |context, args| {
        let selection = selector.select(args)?;
        let lanes = fence.around(
            || with_word!(bits, W => selection.load(context.memory, W::of(padding), count)),
        )?;
        Ok(smallvec![Value::tile(lanes), Value::Token])
    }))
}

/// Stores the operand number `value`.
fn store(o: &Operation, value: usize, selector: Selector) -> Result<Action, String> {
    let ty = o.operand(value)?;
    same_tile(&selector.view, &ty)?;
    let (fence, count, bits) = (o.fence(), ty.count(), ty.elem.bits());
    Ok(Box::new(move |context, args| {
        let selection = selector.select(args)?;
        let tile = args.lanes(value)?.expand(count);
        fence.around(|| with_word!(bits, W => selection.store(context.memory, W::slice(&tile))))?;
        Ok(smallvec![Value::Token])
    }))
}

/// Combines the operand number `value` into memory.
fn reduce(
    o: &Operation,
    value: usize,
    selector: Selector,
    update: impl FnOnce(Elem) -> Result<ReadModifyWrite, String>,
) -> Result<Action, String> {
    let ty = o.operand(value)?;
    same_tile(&selector.view, &ty)?;
    let (update, count) = (update(ty.elem)?, ty.count());
    Ok(Box::new(move |context, args| {
        let selection = selector.select(args)?;
        let tile = args.lanes(value)?.expand(count);
        let mut next = 0;
        selection.rows(|row, last| {
            for &at in last {
                let value = tile.get(next);
                next += 1;
                if let (Some(row), Some(at)) = (row, at) {
                    let offset = row.checked_add(at).ok_or("an offset beyond 2^63")?;
                    selection.update(context.memory, offset, |old| update.apply(old, value))?;
                }
            }
            Ok(())
        })?;
        Ok(smallvec![Value::Token])
    }))
}
