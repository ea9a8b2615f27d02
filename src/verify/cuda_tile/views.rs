//! Views: how they are made, and tiles loaded from and stored to them.

use super::{Ctx, ordering};
use crate::dialect::enums::PTR_ATTR;
use crate::ir::{DYNAMIC, Dim, Float, Type, TypeId, ValueId};
use crate::verify::{Check, ensure, fail};

/// Pointer attribute `multicast`, as types store it.
pub const MULTICAST: u8 = 3;

/// Element type and tile shape of a view.
pub fn tile_of(c: &Ctx, view: ValueId) -> (TypeId, Vec<u64>) {
    let (tile, view) = match c.type_of(view) {
        Type::PartitionView { tile, view, .. }
        | Type::StridedView { tile, view, .. }
        | Type::GatherScatterView { tile, view, .. } => (tile, *view),
        // The type constraint has refused everything else.
        _ => return (c.module.ty(view), Vec::new()),
    };
    let elem = match c.get(view) {
        Type::TensorView { elem, .. } => *elem,
        _ => view,
    };
    (elem, tile.iter().map(|&d| d as u64).collect())
}

/// The tensor view that a view divides, and its type.
pub fn tensor_of<'m>(c: &Ctx<'m>, view: ValueId) -> Option<(TypeId, &'m Type)> {
    match c.type_of(view) {
        Type::PartitionView { view, .. }
        | Type::StridedView { view, .. }
        | Type::GatherScatterView { view, .. } => Some((*view, c.get(*view))),
        _ => None,
    }
}

/// How many strides are known to be one, and the dimension of the last of them.
pub fn unit_strides(strides: &[Dim]) -> (usize, Option<usize>) {
    let units = strides.iter().enumerate().filter(|(_, s)| **s == 1);
    (units.clone().count(), units.map(|(i, _)| i).next_back())
}

/// Rules of ordinary accesses: no multicast addresses, and nibbles packed along one dimension.
pub fn access(c: &Ctx, view: ValueId) -> Check {
    let Some((
        tensor,
        Type::TensorView {
            elem,
            strides,
            attr,
            ..
        },
    )) = tensor_of(c, view)
    else {
        return Ok(());
    };
    ensure(*attr != MULTICAST, || {
        "multicast ptr_attr is not allowed".into()
    })?;
    if !matches!(c.get(*elem), Type::Float(Float::F4E2M1FN)) {
        return Ok(());
    }
    let (1, Some(packed)) = unit_strides(strides) else {
        return fail(format!(
            "an f4 view access requires exactly one statically encoded unit stride to identify the packing dimension; got {} in {}",
            unit_strides(strides).0,
            c.text(tensor)
        ));
    };
    match c.type_of(view) {
        Type::GatherScatterView { sparse_dim, .. } if *sparse_dim as usize == packed => {
            fail(format!(
                "an f4 gather/scatter view cannot use packing dimension {packed} as its sparse dimension"
            ))
        }
        _ => Ok(()),
    }
}

pub fn load(c: &Ctx) -> Check {
    tile_and_index(c, c.op.group(0)[0], c.op.results[0], c.op.group(1))?;
    access(c, c.op.group(0)[0])?;
    ordering::load(c)
}

pub fn store(c: &Ctx) -> Check {
    tile_and_index(c, c.op.group(1)[0], c.op.group(0)[0], c.op.group(2))?;
    access(c, c.op.group(1)[0])?;
    ordering::store(c)
}

pub fn tile_and_index(c: &Ctx, view: ValueId, tile: ValueId, index: &[ValueId]) -> Check {
    let (elem, shape) = tile_of(c, view);
    ensure(index.len() == shape.len(), || {
        format!(
            "expected {} index operands (based on view type), got {}",
            shape.len(),
            index.len()
        )
    })?;
    let got = c.tile(tile);
    ensure(got == (elem, shape.as_slice()), || {
        format!(
            "expected tile type to be {} (based on view type), got {}",
            c.tile_text(elem, &shape),
            c.text(c.module.ty(tile))
        )
    })?;
    match c.type_of(view) {
        Type::GatherScatterView {
            sparse_dim, tile, ..
        } => sparse_index(c, *sparse_dim as usize, tile, index),
        _ => scalar_index(c, index),
    }
}

fn scalar_index(c: &Ctx, index: &[ValueId]) -> Check {
    for &v in index {
        ensure(c.tile(v).1.is_empty(), || {
            format!(
                "expected index type to be a scalar tile, got {}",
                c.text(c.module.ty(v))
            )
        })?;
    }
    let Some(&first) = index.first() else {
        return Ok(());
    };
    let same = |v: &ValueId| c.module.ty(*v) == c.module.ty(first);
    match index.iter().position(|v| !same(v)) {
        Some(i) => fail(format!(
            "expected index type {i} to be the same as other index types ({}), got {}",
            c.text(c.module.ty(first)),
            c.text(c.module.ty(index[i]))
        )),
        None => Ok(()),
    }
}

/// A list of rows at the sparse dimension, scalars of one type elsewhere.
fn sparse_index(c: &Ctx, dim: usize, tile: &[i32], index: &[ValueId]) -> Check {
    // The dimension is one of the tile's, for each of which there is an index.
    let Some(&rows) = index.get(dim) else {
        return Ok(());
    };
    let shape = c.tile(rows).1;
    ensure(shape.len() == 1, || {
        format!(
            "expected index at sparse_dim position {dim} to be a 1D tensor for GatherScatterView, got rank {}",
            shape.len()
        )
    })?;
    ensure(shape[0] == tile[dim] as u64, || {
        format!(
            "expected gather/scatter index size ({}) to match tile shape at gather/scatter dimension {dim} ({})",
            shape[0], tile[dim]
        )
    })?;
    let mut first = None;
    for (i, &v) in index.iter().enumerate().filter(|(i, _)| *i != dim) {
        ensure(c.tile(v).1.is_empty(), || {
            format!("expected index {i} to be a scalar tile for GatherScatterView")
        })?;
        let ty = c.module.ty(v);
        let first = *first.get_or_insert(ty);
        ensure(ty == first, || {
            format!(
                "expected scalar index {i} to have the same type as other scalar indices ({}), got {}",
                c.text(first),
                c.text(ty)
            )
        })?;
    }
    Ok(())
}

pub fn make_view(c: &Ctx) -> Check {
    let given = c.module.ty(c.op.group(0)[0]);
    let (Type::PartitionView { view, .. }
    | Type::StridedView { view, .. }
    | Type::GatherScatterView { view, .. }) = c.type_of(c.op.results[0])
    else {
        return Ok(());
    };
    ensure(given == *view, || {
        format!(
            "expected the type of the provided tensor_view value ({}) to be the same as the view's tensor_view type ({})",
            c.text(given),
            c.text(*view)
        )
    })
}

/// How many results a shape query has.
pub fn shape(c: &Ctx) -> Check {
    let (rank, what) = match c.type_of(c.op.group(0)[0]) {
        Type::TensorView { shape, .. } => (shape.len(), "tensor rank"),
        Type::PartitionView { tile, .. }
        | Type::StridedView { tile, .. }
        | Type::GatherScatterView { tile, .. } => (tile.len(), "view index space rank"),
        _ => return Ok(()),
    };
    let got = c.op.results.len();
    ensure(got == rank, || {
        format!("expected {rank} results due to {what}, but got {got}")
    })
}

pub fn make_tensor_view(c: &Ctx) -> Check {
    let Type::TensorView {
        elem,
        shape,
        strides,
        attr,
    } = c.type_of(c.op.results[0])
    else {
        return Ok(());
    };
    let Type::Ptr {
        pointee,
        attr: base,
    } = c.get(c.operand(0).0)
    else {
        return Ok(());
    };
    ensure(elem == pointee, || {
        format!(
            "expected pointer to {} to build tensor_view of this type, got {}",
            c.text(*elem),
            c.text(*pointee)
        )
    })?;
    pointer_attr(*base, *attr)?;
    let dynamic = |dims: &[Dim]| dims.iter().filter(|d| **d == DYNAMIC).count();
    for (what, dims, group) in [("shape", shape, 1), ("stride", strides, 2)] {
        let (want, got) = (dynamic(dims), c.op.group(group).len());
        ensure(want == got, || {
            format!("expected {want} dynamic {what} operands, got {got}")
        })?;
    }
    let all = || c.op.group(1).iter().chain(c.op.group(2));
    let Some(first) = all().next().map(|&v| c.module.ty(v)) else {
        return Ok(());
    };
    for (what, group) in [("shape", 1), ("stride", 2)] {
        for (i, &v) in c.op.group(group).iter().enumerate() {
            ensure(c.module.ty(v) == first, || {
                format!(
                    "expected dynamic {what} index {i} to be of the same type as the other dynamic values ({}), got {}",
                    c.text(first),
                    c.text(c.module.ty(v))
                )
            })?;
        }
    }
    Ok(())
}

/// What messages call a pointer attribute.
pub fn attr_name(attr: u8) -> &'static str {
    let case = usize::from(attr).checked_sub(1);
    case.and_then(|i| PTR_ATTR.cases.get(i))
        .copied()
        .unwrap_or("none")
}

fn attr_text(attr: u8) -> String {
    format!("#cuda_tile.ptr_attr<{}>", attr_name(attr))
}

fn pointer_attr(base: u8, view: u8) -> Check {
    if base == view {
        return Ok(());
    }
    match (base, view) {
        (0, _) => fail("pointer base without ptr_attr cannot produce tensor_view with ptr_attr"),
        (_, 0) => fail(format!(
            "tensor_view must preserve ptr_attr from base pointer ({})",
            attr_text(base)
        )),
        _ => fail(format!(
            "ptr_attr mismatch between base pointer ({}) and result tensor_view ({})",
            attr_text(base),
            attr_text(view)
        )),
    }
}
