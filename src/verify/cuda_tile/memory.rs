//! Loads and stores through pointers, tokens, alloca, print.

use super::{Ctx, ordering, views};
use crate::dialect::cuda_tile::view;
use crate::ir::{Op, Type};
use crate::verify::{Check, ensure, fail};

/// `pointers` points to elements of `value`, one each.
fn points_to(c: &Ctx, pointers: usize, value: (crate::ir::TypeId, &[u64])) -> bool {
    let (elem, shape) = c.operand(pointers);
    matches!(c.get(elem), Type::Ptr { pointee, .. } if *pointee == value.0) && shape == value.1
}

/// Only the multimem operations and atomics' own rules know what a multicast address is.
fn unicast(c: &Ctx) -> Check {
    let multicast = matches!(
        c.get(c.operand(0).0),
        Type::Ptr {
            attr: views::MULTICAST,
            ..
        }
    );
    ensure(!multicast, || "multicast pointer is not allowed".into())
}

pub fn load_ptr(c: &Ctx) -> Check {
    let result = c.result(0);
    ensure(points_to(c, 0, result), || {
        "failed to verify that `source` type is expected a pointer type of `result` type".into()
    })?;
    unicast(c)?;
    if let Some(mask) = c.op.optional(1) {
        ensure(c.tile(mask).1 == c.operand(0).1, || {
            "failed to verify that shape of 'mask' must match the shape of 'source'".into()
        })?;
    }
    if let Some(padding) = c.op.optional(2) {
        ensure(c.tile(padding) == result, || {
            "failed to verify that type of 'paddingValue' must match the type of 'result'".into()
        })?;
    }
    ordering::load(c)
}

pub fn store_ptr(c: &Ctx) -> Check {
    ensure(points_to(c, 0, c.operand(1)), || {
        "failed to verify that `destination` type is expected a pointer type of `value` type".into()
    })?;
    unicast(c)?;
    if let Some(mask) = c.op.optional(2) {
        ensure(c.tile(mask).1 == c.operand(0).1, || {
            "failed to verify that shape of 'destination' must match the shape of 'mask'".into()
        })?;
    }
    ordering::store(c)
}

pub fn join_tokens(c: &Ctx) -> Check {
    ensure(c.op.operands.len() >= 2, || {
        "expect two or more tokens".into()
    })
}

pub fn alloca(c: &Ctx, v: &view::Alloca<Op>) -> Check {
    let (alignment, size) = (v.alignment(), v.num_elem());
    ensure(size >= 0, || {
        "attribute 'num_elem' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0".into()
    })?;
    ensure(alignment > 0 && alignment.count_ones() == 1, || {
        "'alignment' must be power of two".into()
    })?;
    let Type::Ptr { pointee, .. } = c.get(c.result(0).0) else {
        return Ok(());
    };
    let bytes = c
        .module
        .types
        .bits(*pointee)
        .map_or(0, |b| i64::from(b.div_ceil(8)));
    ensure(alignment >= bytes, || {
        format!(
            "'alignment' ({alignment}) must be at least the natural size ({bytes} bytes) for element type {}",
            c.text(*pointee)
        )
    })
}

/// A `printf` conversion for each operand.
pub fn print(c: &Ctx, v: &view::Print<Op>) -> Check {
    let text = c.module.str(v.str());
    let mut rest = text.as_bytes();
    let mut expected = 0;
    while let Some(at) = rest.iter().position(|&b| b == b'%') {
        let conversion = rest[at + 1..]
            .iter()
            .position(|b| b"diuoxXeEfFgGaAcsSpn%".contains(b));
        let Some(len) = conversion else {
            return fail("found unterminated format expression");
        };
        // Only `%%` is an escape; `%5%` is a conversion, as in the public verifier.
        if !(len == 0 && rest[at + 1] == b'%') {
            expected += 1;
        }
        rest = match rest[at + 1] {
            b'%' => &rest[at + 2..],
            _ => &rest[at + 1..],
        };
    }
    let found = c.op.group(0).len();
    ensure(expected == found, || {
        format!("incorrect number of operands: expected {expected}, found {found}")
    })
}
