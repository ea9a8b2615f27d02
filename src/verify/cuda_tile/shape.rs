//! Shapes: broadcasts, slices, permutations, packing, reductions.

use super::{Ctx, bodies, dims};
use crate::dialect::cuda_tile::Op;
use crate::ir::{Attr, Dense, Float, Type, TypeId};
use crate::verify::{Check, ensure, fail};

pub fn broadcast(c: &Ctx) -> Check {
    let (from, to) = (c.operand(0).1, c.result(0).1);
    let fits = from.iter().zip(to).all(|(f, t)| f == t || *f == 1);
    ensure(fits, || {
        format!(
            "expects the shape of source tile to be compatible with that of the result tile, but got: {} and {}",
            dims(from),
            dims(to)
        )
    })
}

pub fn cat(c: &Ctx, dim: i64) -> Check {
    let (lhs, rhs, result) = (c.operand(0).1, c.operand(1).1, c.result(0).1);
    let Some(at) = usize::try_from(dim).ok().filter(|d| *d < lhs.len()) else {
        return fail(format!(
            "expect dim to be [0, {}), but got: {dim}",
            lhs.len()
        ));
    };
    ensure(lhs[at] + rhs[at] == result[at], || {
        format!(
            "invalid concat at position {at}, expected: {} but got: {}",
            lhs[at] + rhs[at],
            result[at]
        )
    })?;
    for i in (0..lhs.len()).filter(|i| *i != at) {
        for (name, other) in [("rhs", rhs[i]), ("result", result[i])] {
            ensure(lhs[i] == other, || {
                format!(
                    "expect lhs and {name} shapes to match at non-concat position {i}, expected: {} but got: {other}",
                    lhs[i]
                )
            })?;
        }
    }
    Ok(())
}

/// `part` divides `whole`, with an index per dimension.
fn slices(
    c: &Ctx,
    whole: (TypeId, &[u64]),
    part: (TypeId, &[u64]),
    names: [&str; 2],
    index: usize,
) -> Check {
    let [whole_name, part_name] = names;
    ensure(whole.0 == part.0, || {
        "source and result element type do not match".into()
    })?;
    for (i, (w, p)) in whole.1.iter().zip(part.1).enumerate() {
        ensure(w % p == 0, || {
            format!(
                "{whole_name} dimension {i} size ({w}) must be evenly divisible by {part_name} dimension {i} size ({p})"
            )
        })?;
    }
    let got = c.op.group(index).len();
    ensure(got == whole.1.len(), || {
        format!("expected {} indices, but got {got}", whole.1.len())
    })
}

pub fn extract(c: &Ctx) -> Check {
    slices(c, c.operand(0), c.result(0), ["source", "result"], 1)
}

pub fn insert(c: &Ctx) -> Check {
    slices(c, c.operand(1), c.operand(0), ["result", "source"], 2)
}

pub fn iota(c: &Ctx) -> Check {
    let (elem, shape) = c.result(0);
    ensure(shape.len() == 1, || {
        "expects result type to be 1-d tile".into()
    })?;
    let bits = c.module.types.bits(elem).unwrap_or(64);
    ensure(bits >= 64 || shape[0] <= 1 << bits, || {
        format!(
            "the number of elements {} exceeds the maximum value of element type {}",
            shape[0],
            c.text(elem)
        )
    })
}

pub fn pack(c: &Ctx) -> Check {
    let (from, to) = (c.operand(0), c.result(0));
    // MLIR counts 19 bits for tf32 here, and 32 in the size.
    let width = |ty| match c.get(ty) {
        Type::Float(Float::TF32) => 19,
        _ => c.module.types.bits(ty).unwrap_or(0),
    };
    let size = |t: (TypeId, &[u64])| {
        u64::from(c.module.types.bits(t.0).unwrap_or(0)) * t.1.iter().product::<u64>()
    };
    ensure(from.1.len() == 1, || {
        "expects source and result to be rank-1 tiles".into()
    })?;
    ensure(width(from.0) != width(to.0), || {
        "expects source and result to have different element type widths".into()
    })?;
    for (what, t) in [("source", from), ("result", to)] {
        ensure(size(t) % 8 == 0, || {
            format!("expects {what} tile to be byte-aligned")
        })?;
    }
    ensure(size(from) == size(to), || {
        format!(
            "expects source and result to have the same size in bytes, but got source tile size {} bytes and result tile size {} bytes",
            size(from) / 8,
            size(to) / 8
        )
    })
}

pub fn permute(c: &Ctx, map: &[i32]) -> Check {
    let (from, to) = (c.operand(0).1, c.result(0).1);
    let rank = from.len();
    ensure(rank >= 2, || {
        format!("expects at least rank 2, but got: {rank}")
    })?;
    ensure(map.len() == rank, || {
        format!(
            "expect permutation size ({}) to equal the rank of the source ({rank})",
            map.len()
        )
    })?;
    let unique: std::collections::BTreeSet<_> = map.iter().collect();
    ensure(unique.len() == rank, || {
        "expect permutation elements to be unique".into()
    })?;
    for (i, &p) in map.iter().enumerate() {
        let Some(&extent) = usize::try_from(p).ok().and_then(|p| from.get(p)) else {
            return fail(format!(
                "permutation element at index {i} ({p}) is out of bound [0, {rank})"
            ));
        };
        ensure(to[i] == extent, || {
            format!(
                "result shape invalid at index {i}, expected: {extent}, but got: {}",
                to[i]
            )
        })?;
    }
    Ok(())
}

pub fn reshape(c: &Ctx) -> Check {
    let count = |shape: &[u64]| shape.iter().product::<u64>();
    ensure(count(c.operand(0).1) == count(c.result(0).1), || {
        "expected source tile and result tile to have the same number of elements".into()
    })
}

pub fn select(c: &Ctx) -> Check {
    ensure(
        !matches!(c.get(c.result(0).0), Type::Float(Float::F4E2M1FN)),
        || "cannot operate on sub-byte type F4E2M1FN".into(),
    )
}

/// The data's type is the result's and its size fits.
pub fn constant(c: &Ctx) -> Check {
    let Some(Attr::Dense { data, ty }) = c.op.attr(0) else {
        return Ok(());
    };
    // A later stage gives the result a layout; the data keep their own type.
    let tile = |ty| c.module.types.as_tile(ty);
    ensure(tile(*ty) == tile(c.module.ty(c.op.results[0])), || {
        "failed to verify that all of {value, result} have same type".into()
    })?;
    data_fits(c, data, *ty)
}

/// One element or all of them.
pub fn data_fits(c: &Ctx, data: &Dense, ty: TypeId) -> Check {
    let numbers = |elem| matches!(c.get(elem), Type::Int(_) | Type::Float(_));
    let tile = c
        .module
        .types
        .as_tile(ty)
        .filter(|(elem, _)| numbers(*elem));
    let (Dense::Bytes(bytes), Some((elem, shape))) = (data, tile) else {
        return fail("value must be numbers of a tile type");
    };
    let width = u64::from(c.module.types.bits(elem).unwrap_or(8).div_ceil(8));
    let count = shape.iter().product::<u64>();
    let len = bytes.len() as u64;
    ensure(len == width || len == width * count, || {
        format!(
            "value has {len} bytes, expected {width} or {}",
            width * count
        )
    })
}

/// `reduce` and `scan`.
pub fn aggregate(c: &Ctx, dim: i64, neutral: &Attr) -> Check {
    let operands = &c.op.operands;
    ensure(!operands.is_empty(), || {
        "expected 1 or more operands, but found 0".into()
    })?;
    ensure(operands.len() == c.op.results.len(), || {
        "expect same number of operands and results".into()
    })?;
    identities(c, neutral)?;
    let shape = c.tile(operands[0]).1;
    ensure(dim >= 0, || {
        "attribute 'dim' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative".into()
    })?;
    let Some(at) = usize::try_from(dim).ok().filter(|d| *d < shape.len()) else {
        return fail(format!(
            "dimension ({dim}) is out of bound [0, {})",
            shape.len()
        ));
    };
    for (i, (&operand, &result)) in operands.iter().zip(&c.op.results).enumerate() {
        let (elem, from) = c.tile(operand);
        let mut expected = from.to_vec();
        if c.kind == Op::Reduce {
            expected.remove(at);
        }
        ensure(c.tile(result) == (elem, expected.as_slice()), || {
            if c.kind == Op::Scan {
                return format!(
                    "expect same type for operand at index: {i} and result at index: {i}"
                );
            }
            format!(
                "inferred type(s) {} are incompatible with return type(s) of operation {}",
                c.tile_text(elem, &expected),
                c.text(c.module.ty(result))
            )
        })?;
    }
    combination(c)
}

fn identities(c: &Ctx, neutral: &Attr) -> Check {
    let Attr::Array(items) = neutral else {
        return fail("attribute 'identities' failed to satisfy constraint: array attribute");
    };
    let n = c.op.operands.len();
    ensure(items.len() == n, || {
        format!(
            "expect identities to match the number of operands but got: {n} operands and {} identities",
            items.len()
        )
    })?;
    for (i, (item, &operand)) in items.iter().zip(&c.op.operands).enumerate() {
        let elem = c.tile(operand).0;
        let ty = match item {
            Attr::Int { ty, .. } | Attr::Float { ty, .. } => Some(*ty),
            Attr::Bool(_) if matches!(c.get(elem), Type::Int(1)) => Some(elem),
            _ => None,
        };
        let half = |t| matches!(c.get(t), Type::Float(Float::F16 | Float::BF16));
        let fits = ty.is_some_and(|ty| ty == elem || half(ty) && half(elem));
        ensure(fits, || {
            format!(
                "expect same type for operand at index: {i} and identity at index: {i} but got: {} and {}",
                c.text(elem),
                ty.map_or("'none'".into(), |ty| c.text(ty))
            )
        })?;
    }
    Ok(())
}

/// The region: pairs of scalars in, one scalar per operand out, no effects.
fn combination(c: &Ctx) -> Check {
    let block = bodies::single_block(c, 0)?;
    let block = c.module.block(block);
    let n = c.op.operands.len();
    ensure(block.args.len() == 2 * n, || {
        format!(
            "expect {} block arguments but got: {}",
            2 * n,
            block.args.len()
        )
    })?;
    for (i, &arg) in block.args.iter().enumerate() {
        ensure(is_scalar(c, arg), || {
            let got = c.text(c.module.ty(arg));
            format!("expect 0-rank tile type at index: {i} but got: {got}")
        })?;
    }
    for (i, pair) in block.args.chunks_exact(2).enumerate() {
        let (a, b) = (c.tile(pair[0]).0, c.tile(pair[1]).0);
        ensure(a == b, || {
            format!(
                "expect same element type for block argument at index: {} and {} but got: {} and {}",
                2 * i,
                2 * i + 1,
                c.text(a),
                c.text(b)
            )
        })?;
        let elem = c.tile(c.op.operands[i]).0;
        ensure(elem == a, || {
            format!(
                "expect same type for operand at index: {i} and block argument at index: {} but got: {} and {}",
                2 * i,
                c.text(elem),
                c.text(a)
            )
        })?;
    }
    // That there is one follows from the structure.
    let Some(&last) = block.ops.last() else {
        return Ok(());
    };
    bodies::ends_with(c, last, &[Op::Yield])?;
    yields(c, &c.module.op(last).operands)
}

fn is_scalar(c: &Ctx, value: crate::ir::ValueId) -> bool {
    matches!(c.type_of(value), Type::Tile { shape, .. } if shape.is_empty())
}

fn yields(c: &Ctx, values: &[crate::ir::ValueId]) -> Check {
    let n = c.op.operands.len();
    ensure(values.len() == n, || {
        format!(
            "expect number of terminators operands ({}) to match number of operands ({n})",
            values.len()
        )
    })?;
    for (i, (&value, &operand)) in values.iter().zip(&c.op.operands).enumerate() {
        let (want, got) = (c.tile(operand).0, c.tile(value).0);
        ensure(want == got, || {
            format!(
                "expect same type for operand at index: {i} and terminator argument at index: {i} but got: {} and {}",
                c.text(want),
                c.text(got)
            )
        })?;
        // NVIDIA's reader takes a tile here, too, which its compiler then refuses without a reason.
        ensure(is_scalar(c, value), || {
            let got = c.text(c.module.ty(value));
            format!("expect 0-rank tile type for terminator argument at index: {i} but got: {got}")
        })?;
    }
    Ok(())
}
