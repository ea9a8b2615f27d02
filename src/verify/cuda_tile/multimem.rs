//! Operations on the same address of several devices.

use super::{Ctx, ordering, views};
use crate::dialect::cuda_tile::Op;
use crate::dialect::enums::ordering as o;
use crate::ir::{Float, Type, TypeId};
use crate::verify::{Check, ensure, fail};

/// Cases of `multimem_reduction_kind`.
mod kind {
    pub const ADD: u8 = 0;
    pub const MIN: u8 = 1;
    pub const MAX: u8 = 2;
}

pub fn check(c: &Ctx) -> Check {
    let view = c.op.group(0)[0];
    let (tile, index) = match c.kind {
        Op::MultimemLoadReduceView => (c.op.results[0], c.op.group(1)),
        _ => (c.op.group(1)[0], c.op.group(2)),
    };
    ensure(
        matches!(c.type_of(view), Type::PartitionView { .. }),
        || {
            format!(
                "multimem view operations support only partition_view; got {}",
                c.text(c.module.ty(view))
            )
        },
    )?;
    let Some((
        _,
        Type::TensorView {
            elem,
            strides,
            attr,
            ..
        },
    )) = views::tensor_of(c, view)
    else {
        return Ok(());
    };
    ensure(*attr == views::MULTICAST, || {
        let got = views::attr_name(*attr);
        format!("expected a multicast pointer, but got {got}")
    })?;
    views::tile_and_index(c, view, tile, index)?;
    element(c, *elem)?;
    if c.kind != Op::MultimemStoreView {
        reduction(c, *elem)?;
    }
    if let Type::Float(float) = c.get(*elem) {
        words(*float, c.tile(tile).1)?;
        let half = matches!(float, Float::F16 | Float::BF16);
        let (units, _) = views::unit_strides(strides);
        ensure(!half || units == 1, || {
            format!(
                "f16/bf16 multimem views must have exactly one element stride statically known to equal 1; got {units}"
            )
        })?;
    }
    model(c)
}

fn element(c: &Ctx, elem: TypeId) -> Check {
    match c.get(elem) {
        Type::Int(32 | 64) | Type::Float(Float::F16 | Float::BF16 | Float::F32 | Float::F64) => {
            Ok(())
        }
        Type::Int(bits) => fail(format!(
            "multimem requires 32- or 64-bit integer/index element types; got {bits} bits"
        )),
        _ => fail("multimem supports only f16, bf16, f32, and f64 floating-point element types"),
    }
}

fn reduction(c: &Ctx, elem: TypeId) -> Check {
    let Type::Float(float) = c.get(elem) else {
        return Ok(());
    };
    let case = c.case("reduction").unwrap_or(kind::ADD);
    ensure(case <= kind::MAX, || {
        "and/or/xor/umin/umax reductions require integer element types".into()
    })?;
    if c.kind == Op::MultimemReduceView {
        return ensure(case == kind::ADD, || {
            "supports only add for floating-point element types".into()
        });
    }
    let half = matches!(float, Float::F16 | Float::BF16);
    ensure(half || !matches!(case, kind::MIN | kind::MAX), || {
        format!(
            "min/max supports f16 and bf16 float types only; got {}",
            c.text(elem)
        )
    })
}

/// The tile is whole 32-bit words.
fn words(float: Float, shape: &[u64]) -> Check {
    let (elements, bits) = (shape.iter().product::<u64>(), u64::from(float.bits()));
    ensure((elements * bits).is_multiple_of(32), || {
        format!(
            "multimem op requires tile total size to be a multiple of 4 bytes for float element types; got {elements} element(s) of {bits} bits (total {} bits)",
            elements * bits
        )
    })
}

fn model(c: &Ctx) -> Check {
    match c.kind {
        Op::MultimemLoadReduceView => ordering::load(c),
        Op::MultimemStoreView => ordering::store(c),
        _ => {
            let ordering = c.case("memory_ordering_semantics");
            ensure(matches!(ordering, Some(o::RELAXED | o::RELEASE)), || {
                "memory ordering semantics must be one of: relaxed, release".into()
            })
        }
    }
}
