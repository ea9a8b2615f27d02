//! Buffers in tensor memory, read off their types.

use crate::ir::{Module, Type, ValueId};
use crate::layout::tensor::TensorMatrix;

/// The buffer in tensor memory that `value` is.
pub fn tensor_matrix(m: &Module, value: ValueId) -> Option<TensorMatrix> {
    let Type::TensorTile {
        elem,
        shape,
        lanes,
        cell,
        ..
    } = m.types.get(m.ty(value))
    else {
        return None;
    };
    let &[rows, columns] = shape.as_slice() else {
        return None;
    };
    Some(TensorMatrix {
        rows,
        columns,
        lanes: u64::from(*lanes),
        cell: *cell,
        element_bits: m.types.bits(*elem)?,
    })
}

/// How many parts of the columns of `buffer`, of which `tile` is one, there are.
pub fn parts(m: &Module, buffer: ValueId, tile: ValueId) -> u64 {
    let columns = |v| m.types.as_tile(m.ty(v)).and_then(|t| t.1.last().copied());
    match (columns(buffer), columns(tile)) {
        (Some(all), Some(part)) if part > 0 => (all / part).max(1),
        _ => 1,
    }
}

/// Stages of a buffer in tensor memory.
pub fn stages(m: &Module, value: ValueId) -> u64 {
    match m.types.get(m.ty(value)) {
        Type::TensorTile { stages, .. } => u64::from(*stages),
        _ => 1,
    }
}
