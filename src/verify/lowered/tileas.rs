//! `nv_tileas`: layouts, shared buffers, matmuls. The asynchronous protocol has a verifier of its
//! own, [`crate::lower::tileas::protocol`].

use super::Ctx;
use crate::dialect::Traits;
use crate::dialect::nv_tileas::view::{self, View};
use crate::facts::tensor::tensor_matrix;
use crate::ir::{Op, Type, ValueId};
use crate::layout::shared::BUFFER_ALIGN;
use crate::layout::tensor::Share;
use crate::verify::{Check, ensure, fail};

pub fn check(c: &Ctx) -> Check {
    match View::of(c.op) {
        Some(View::Numbers(v)) => listed(c, v.values(), v.tile()),
        Some(View::ConvertLayout(v)) => same_tile(c, v.source(), v.result()),
        Some(View::AllocTensor(v)) => allocated(c, &v),
        Some(View::LocalLoad(v)) => stage(c, v.source(), v.result()),
        Some(View::LocalStore(v)) => stage(c, v.destination(), v.tile()),
        Some(View::Dot(_) | View::ScaledDot(_) | View::AsyncDot(_)) => matmul(c, 1),
        Some(View::TensorDot(v)) => {
            tensor(c, v.acc())?;
            // Of a pair's right operand a block has a half.
            matmul(c, if v.pair() { 2 } else { 1 })
        }
        Some(View::AllocTensorMemory(v)) => tensor(c, v.result()),
        Some(View::TensorLoad(v)) if v.part().is_some() => part(c, v.source(), v.result()),
        Some(View::TensorLoad(v)) => moved(c, v.source(), v.result()),
        Some(View::TensorStore(v)) => moved(c, v.destination(), v.tile()),
        _ => Ok(()),
    }?;
    for &v in &c.op.results {
        layout_fits(c, v)?;
    }
    Ok(())
}

/// Elementwise operations see the same element in every operand: their layouts are one.
pub fn same_layout(c: &Ctx) -> Check {
    if !c.op.def().traits.has(Traits::ELEMENTWISE) {
        return Ok(());
    }
    let layout = |v: &ValueId| match c.m.types.get(c.ty(*v)) {
        Type::Distributed { layout, .. } => Some(*layout),
        _ => None,
    };
    let mut seen = c.op.operands.iter().chain(&c.op.results).filter_map(layout);
    let Some(first) = seen.next() else {
        return Ok(());
    };
    match seen.find(|&l| l != first) {
        None => Ok(()),
        Some(other) => fail(format!(
            "operands and results have different layouts, {first} and {other}"
        )),
    }
}

/// A layout is one of the type's shape, over all of the kernel's warps or those of a role.
fn layout_fits(c: &Ctx, value: ValueId) -> Check {
    let (layout, shape, distributed) = match c.m.types.get(c.ty(value)) {
        Type::Distributed { layout, shape, .. } => (*layout, shape, true),
        Type::SharedTile { layout, shape, .. } => (*layout, shape, false),
        _ => return Ok(()),
    };
    let layout = c.m.layouts.get(layout);
    ensure(layout.shape().extents()[..] == shape[..], || {
        format!("the layout of {} is one of another shape", c.text(value))
    })?;
    // Every element is somewhere.
    ensure(layout.is_surjective(), || {
        format!("the layout of {} leaves elements out", c.text(value))
    })?;
    let warps = func_warps(c);
    ensure(!distributed || layout.warps() <= warps, || {
        let n = layout.warps();
        format!(
            "the layout of {} is over {n} warps, the kernel has {warps}",
            c.text(value)
        )
    })
}

fn func_warps(c: &Ctx) -> u64 {
    let mut at = c.id;
    while let Some(parent) = c.m.parent_op(at) {
        if let Some(func) = view::Func::of(c.m.op(parent)) {
            return u64::try_from(func.num_warps()).unwrap_or(0);
        }
        at = parent;
    }
    u64::MAX
}

/// Same elements and shape.
fn same_tile(c: &Ctx, a: ValueId, b: ValueId) -> Check {
    let tile = |v: ValueId| c.m.types.as_tile(c.ty(v));
    ensure(tile(a).is_some() && tile(a) == tile(b), || {
        format!("{} and {} are not the same tile", c.text(a), c.text(b))
    })
}

/// One scalar for each element of a line.
fn listed(c: &Ctx, values: &[ValueId], line: ValueId) -> Check {
    let tile = c.m.types.as_tile(c.ty(line));
    let (elem, extents) = tile.unwrap_or((c.ty(line), &[]));
    ensure(extents == [values.len() as u64], || {
        format!("{} numbers for {}", values.len(), c.text(line))
    })?;
    let other = values.iter().find(|&&v| c.elem(v) != c.m.types.get(elem));
    match other {
        None => Ok(()),
        Some(&v) => fail(format!("{} is a number of {}", c.text(v), c.text(line))),
    }
}

fn shared(c: &Ctx, buffer: ValueId) -> Check {
    ensure(
        matches!(c.m.types.get(c.ty(buffer)), Type::SharedTile { stages, .. } if *stages > 0),
        || format!("{} is no buffer in shared memory", c.text(buffer)),
    )
}

/// A buffer that shares bytes with others begins where a swizzle does, and is no ring.
fn allocated(c: &Ctx, v: &view::AllocTensor<'_, Op>) -> Check {
    shared(c, v.result())?;
    let Some(byte) = v.byte() else {
        return Ok(());
    };
    let aligned = u64::try_from(byte).is_ok_and(|b| b.is_multiple_of(BUFFER_ALIGN));
    ensure(aligned, || {
        format!("'byte' is {byte}, no multiple of {BUFFER_ALIGN}")
    })?;
    let once = matches!(
        c.m.types.get(c.ty(v.result())),
        Type::SharedTile { stages: 1, .. }
    );
    ensure(once, || "a ring shares bytes with other buffers".to_owned())
}

/// A buffer in tensor memory has a place there, and the kernel's warps reach all of it.
fn tensor(c: &Ctx, buffer: ValueId) -> Check {
    let Some(matrix) = tensor_matrix(c.m, buffer) else {
        return fail(format!("{} is no buffer in tensor memory", c.text(buffer)));
    };
    ensure(Share::new(matrix, 1).is_ok(), || {
        format!("{} has no place in tensor memory", c.text(buffer))
    })
}

/// A tile that goes through tensor memory is that buffer's tile, and its warps are whole warpgroups.
fn moved(c: &Ctx, buffer: ValueId, tile: ValueId) -> Check {
    tensor(c, buffer)?;
    same_tile(c, buffer, tile)
}

/// A part of a buffer's tile has its elements and rows, and some of its columns.
fn part(c: &Ctx, buffer: ValueId, tile: ValueId) -> Check {
    tensor(c, buffer)?;
    let of = |v: ValueId| c.m.types.as_tile(c.ty(v));
    let fits = match (of(buffer), of(tile)) {
        (Some((elem, [rows, columns])), Some((e, [r, n]))) => {
            elem == e && rows == r && *n > 0 && columns.is_multiple_of(*n)
        }
        _ => false,
    };
    ensure(fits, || {
        format!("{} is no part of {}", c.text(tile), c.text(buffer))
    })
}

/// A tile that goes through a stage of a buffer is that buffer's tile.
fn stage(c: &Ctx, buffer: ValueId, tile: ValueId) -> Check {
    shared(c, buffer)?;
    same_tile(c, buffer, tile)
}

/// [m, k] · [k, n] + [m, n], each with a batch in front or none; the result is that of so many `blocks`.
fn matmul(c: &Ctx, blocks: u64) -> Check {
    let shape = |name| {
        let value = c.operand(name)?;
        let shape = c.m.types.as_tile(c.ty(value))?.1.iter().copied();
        // A buffer may have dimensions of one element besides the matrix's.
        let buffer = matches!(c.m.types.get(c.ty(value)), Type::SharedTile { .. });
        Some(shape.filter(|&n| !buffer || n > 1).collect::<Vec<u64>>())
    };
    let (Some(a), Some(b), Some(acc)) = (shape("lhs"), shape("rhs"), shape("acc")) else {
        return fail("a matmul of what are no tiles");
    };
    let fits = match (&a[..], &b[..], &acc[..]) {
        ([ab @ .., m, k], [bb @ .., k2, n], [cb @ .., m2, n2]) => {
            ab == bb && bb == cb && k == k2 && m == m2 && blocks * n == *n2
        }
        _ => false,
    };
    ensure(fits, || format!("{a:?} · {b:?} is not {acc:?}"))
}
