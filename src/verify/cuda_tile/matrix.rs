//! Matmuls.

use super::{Ctx, dims};
use crate::ir::{Float, Type};
use crate::verify::{Check, ensure};

/// What each input format accumulates into.
const ACCUMULATORS: &[(Float, &[Float])] = &[
    (Float::F8E4M3FN, &[Float::F16, Float::F32]),
    (Float::F8E5M2, &[Float::F16, Float::F32]),
    (Float::F16, &[Float::F16, Float::F32]),
    (Float::BF16, &[Float::F32]),
    (Float::TF32, &[Float::F32]),
    (Float::F32, &[Float::F32]),
    (Float::F64, &[Float::F64]),
];

/// One dimension of one operand and one of another must agree.
fn equal(c: &Ctx, a: (&str, usize, usize), b: (&str, usize, usize)) -> Check {
    let (x, y) = (c.operand(a.1).1, c.operand(b.1).1);
    ensure(x[a.2] == y[b.2], || {
        format!(
            "shape error: dim {} of {} ({}) and dim {} of {} ({}) must match, but got {} shape ({}) and {} shape ({})",
            a.2,
            a.0,
            x[a.2],
            b.2,
            b.0,
            y[b.2],
            a.0,
            dims(x),
            b.0,
            dims(y)
        )
    })
}

/// `[b ×] m×k · [b ×] k×n → [b ×] m×n`.
pub fn shapes(c: &Ctx) -> Check {
    let rank = c.operand(0).1.len();
    ensure(matches!(rank, 2 | 3), || {
        "operands must be 2D or 3D tiles".into()
    })?;
    let (row, col) = (rank - 2, rank - 1);
    if rank == 3 {
        equal(c, ("lhs", 0, 0), ("rhs", 1, 0))?;
        equal(c, ("lhs", 0, 0), ("acc", 2, 0))?;
    }
    equal(c, ("lhs", 0, col), ("rhs", 1, row))?;
    equal(c, ("lhs", 0, row), ("acc", 2, row))?;
    equal(c, ("rhs", 1, col), ("acc", 2, col))
}

fn float(c: &Ctx, group: usize) -> Option<Float> {
    match c.get(c.operand(group).0) {
        Type::Float(f) => Some(*f),
        _ => None,
    }
}

pub fn mmaf(c: &Ctx) -> Check {
    shapes(c)?;
    let (Some(input), Some(acc)) = (float(c, 0), float(c, 2)) else {
        return Ok(());
    };
    // The type constraint has refused what is not there.
    let row = ACCUMULATORS.iter().find(|(f, _)| *f == input);
    let allowed = row.map_or(&[][..], |(_, allowed)| allowed);
    ensure(allowed.contains(&acc), || {
        let names: Vec<_> = allowed.iter().map(|f| format!("'{}'", f.name())).collect();
        format!(
            "unsupported combination of element types. Input type '{}' expects accumulator/result type to be one of {{{}}}, but got '{}'",
            input.name(),
            names.join(", "),
            acc.name()
        )
    })
}

pub fn scaled(c: &Ctx) -> Check {
    shapes(c)?;
    let rank = c.operand(0).1.len();
    let (row, col) = (rank - 2, rank - 1);
    if rank == 3 {
        equal(c, ("lhs", 0, 0), ("lhs_scale", 3, 0))?;
        equal(c, ("rhs", 1, 0), ("rhs_scale", 4, 0))?;
    }
    equal(c, ("lhs", 0, row), ("lhs_scale", 3, row))?;
    equal(c, ("rhs", 1, col), ("rhs_scale", 4, col))?;
    equal(c, ("lhs_scale", 3, col), ("rhs_scale", 4, row))?;
    let (Some(input), Some(scale)) = (float(c, 0), float(c, 3)) else {
        return Ok(());
    };
    let fp4 = input == Float::F4E2M1FN;
    ensure(fp4 || scale == Float::F8E8M0FNU, || {
        format!(
            "unsupported combination of element types. Scale type '{}' expects lhs and rhs element types to be '{}', but got '{}'",
            scale.name(),
            Float::F4E2M1FN.name(),
            input.name()
        )
    })?;
    let (k, blocks) = (c.operand(0).1[col], c.operand(3).1[col]);
    ensure(k % blocks == 0, || {
        format!(
            "shape error: dim {col} of lhs_scale ({blocks}) must be a divisor of dim {col} of lhs ({k}), but got lhs_scale shape ({}) and lhs shape ({})",
            dims(c.operand(3).1),
            dims(c.operand(0).1)
        )
    })?;
    block_size(input, scale, k / blocks)
}

/// How many elements share a scale.
fn block_size(input: Float, scale: Float, size: u64) -> Check {
    let (allowed, list): (&[u64], &str) = match (input, scale) {
        (Float::F4E2M1FN, Float::F8E4M3FN) => (&[16], "16"),
        (Float::F4E2M1FN, _) => (&[16, 32], "16 or 32"),
        _ => (&[32], "32"),
    };
    ensure(allowed.contains(&size), || {
        let subject = match input {
            Float::F4E2M1FN => {
                format!("{} element type with {} scales", input.name(), scale.name())
            }
            _ => "f8 element type".into(),
        };
        format!(
            "shape error: {subject} requires block scale factor of lhs_scale and rhs_scale to be {list}, but got {size}"
        )
    })
}
