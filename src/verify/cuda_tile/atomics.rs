//! Atomic read-modify-write, compare-and-swap, reductions into views.

use super::{Ctx, dims, views};
use crate::dialect::enums::{Case, Ordering, RmwMode};
use crate::ir::{Float, Type, TypeId};
use crate::verify::{Check, ensure, fail};

/// Scope `sys` in [`crate::dialect::enums::SCOPE`].
const SYS: u8 = 2;

pub fn rmw(c: &Ctx) -> Check {
    let arg = c.operand(1);
    pointee(c, arg.0, "arg", "rmw")?;
    if let Some(mask) = c.op.optional(2) {
        ensure(c.tile(mask).1 == arg.1, || {
            "failed to verify that all of {pointers, arg, mask} have same shape".into()
        })?;
    }
    mode(c, arg.0)?;
    ordering(c)
}

pub fn cas(c: &Ctx) -> Check {
    let val = c.operand(2);
    pointee(c, val.0, "val", "cas")?;
    let number = matches!(c.get(val.0), Type::Int(_) | Type::Float(_));
    let width = c.module.types.bits(val.0).unwrap_or(0);
    let tf32 = matches!(c.get(val.0), Type::Float(Float::TF32));
    ensure(number && matches!(width, 32 | 64) && !tf32, || {
        "expect only float or integer types with 32 or 64 bit".into()
    })?;
    if let Some(mask) = c.op.optional(3) {
        ensure(c.tile(mask).1 == val.1, || {
            "failed to verify that all of {pointers, val, cmp and mask} have same shape".into()
        })?;
    }
    ordering(c)
}

fn pointee(c: &Ctx, elem: TypeId, name: &str, what: &str) -> Check {
    let Type::Ptr { pointee, attr } = c.get(c.operand(0).0) else {
        // The type constraint has refused everything else.
        return Ok(());
    };
    ensure(*attr != views::MULTICAST, || {
        format!("multicast pointer is not supported for atomic_{what}")
    })?;
    ensure(*pointee == elem, || {
        format!(
            "expected pointee type ({}) to match element type of '{name}' ({})",
            c.text(*pointee),
            c.text(elem)
        )
    })
}

fn ordering(c: &Ctx) -> Check {
    let ordering = c.case("memory_ordering_semantics");
    ensure(ordering.is_some_and(|x| x != Ordering::Weak.code()), || {
        "memory ordering semantics must be one of: relaxed, acquire, release, acq_rel".into()
    })
}

/// Whether the mode works on the element type.
pub fn mode(c: &Ctx, elem: TypeId) -> Check {
    let Some(mode) = c.case("mode").and_then(RmwMode::of) else {
        // The enumeration's own check has refused every other encoding.
        return Ok(());
    };
    let elem = c.get(elem);
    let (fits, what) = match mode {
        RmwMode::AddF => (
            matches!(
                elem,
                Type::Float(Float::F16 | Float::BF16 | Float::F32 | Float::F64)
            ),
            "floats f16, bf16, f32, and f64",
        ),
        RmwMode::Exchange => (
            matches!(
                elem,
                Type::Int(32 | 64) | Type::Float(Float::F32 | Float::F64)
            ),
            "integers or float of 32 or 64 bitwidth",
        ),
        _ => (matches!(elem, Type::Int(32 | 64)), "integers i32 and i64"),
    };
    ensure(fits, || format!("'{}' works only with {what}", mode.text()))
}

pub fn red_view(c: &Ctx) -> Check {
    let view = c.op.group(0)[0];
    if let Type::GatherScatterView { .. } = c.type_of(view) {
        return fail("gather_scatter_view is not supported; use partition_view instead");
    }
    let (elem, tile) = views::tile_of(c, view);
    let value = c.operand(2);
    views::access(c, view)?;
    ensure(elem == value.0, || {
        format!(
            "view element type ({}) must match value element type ({})",
            c.text(elem),
            c.text(value.0)
        )
    })?;
    ensure(tile == value.1, || {
        format!(
            "view tile shape {} must match value shape {} for element-wise atomic operations",
            dims(&tile),
            dims(value.1)
        )
    })?;
    ensure(
        c.case("mode").and_then(RmwMode::of) != Some(RmwMode::Exchange),
        || "atomic_red_view_tko op cannot use xchg operation".into(),
    )?;
    mode(c, elem)?;
    ensure(
        c.case("memory_ordering_semantics") == Some(Ordering::Relaxed.code()),
        || "only 'relaxed' memory ordering is supported for view-based atomic reductions".into(),
    )?;
    ensure(c.case("memory_scope") != Some(SYS), || {
        "memory scope 'sys' is not supported for view-based atomic reductions; use 'tl_blk' or 'device' for TMA compatibility".into()
    })?;
    let index = c.op.group(1);
    ensure(index.len() == tile.len(), || {
        format!(
            "expected {rank} index operand(s) for view with tile rank {rank}, got {}",
            index.len(),
            rank = tile.len()
        )
    })?;
    for (i, &v) in index.iter().enumerate() {
        let shape = c.tile(v).1;
        ensure(shape.is_empty(), || {
            format!(
                "index operand {i} must be a scalar tile (rank 0), got shape {}",
                dims(shape)
            )
        })?;
    }
    Ok(())
}
