//! Rules of attributes by themselves: assume predicates, inbounds, hints.

use super::Ctx;
use crate::dialect::{AttrKind, cuda_tile::Op};
use crate::ir::{AssumePredicate, Attr, Type};
use crate::verify::{Check, ensure, fail};

pub fn check(c: &Ctx) -> Check {
    for (def, attr) in c.op.def().attrs.iter().zip(&c.op.attrs) {
        match (def.kind, attr) {
            (AttrKind::Assume, Some(Attr::Assume(p))) => assume(c, p)?,
            (AttrKind::Bools, Some(Attr::Bools(list))) if def.name == "inbounds" => {
                inbounds(c, list)?
            }
            (AttrKind::Hints, Some(Attr::Hints(hints))) => {
                for (name, value) in hints {
                    ensure(matches!(value, Attr::Dict(_)), || {
                        format!(
                            "expected dictionary attribute for optimization_hints entry `{}`",
                            c.module.str(*name)
                        )
                    })?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// One flag per index operand.
fn inbounds(c: &Ctx, list: &[bool]) -> Check {
    let group = c.op.def().operands.iter().position(|o| o.name == "index");
    let n = group.map_or(0, |g| c.op.group(g).len());
    ensure(list.len() == n, || {
        format!(
            "inbounds size ({}) must match the number of index dimensions ({n})",
            list.len()
        )
    })
}

fn assume(c: &Ctx, predicate: &AssumePredicate) -> Check {
    if c.kind != Op::Assume {
        return Ok(());
    }
    match predicate {
        AssumePredicate::DivBy {
            divisor,
            every,
            along,
        } => div_by(c, *divisor, *every, *along),
        AssumePredicate::SameElements(values) => same_elements(c, values),
        AssumePredicate::Bounded { lower, upper } => bounded(c, *lower, *upper),
    }
}

fn div_by(c: &Ctx, divisor: u64, every: Option<i64>, along: Option<i64>) -> Check {
    const NAME: &str = "'cuda_tile.div_by'";
    const WHERE: &str = "is valid only for tile of integer/pointer or tensor_view values";
    ensure(divisor.is_power_of_two(), || {
        format!("{NAME} divisor must be a power of 2")
    })?;
    ensure(every.is_some() == along.is_some(), || {
        format!("{NAME} 'every'/'along' must be used in combination")
    })?;
    ensure(divisor <= 1 << 62, || {
        format!("{NAME} divisor is too large")
    })?;
    let value = c.op.results[0];
    if let Type::TensorView { .. } = c.type_of(value) {
        return ensure(every.is_none(), || {
            format!(
                "{NAME} 'every'/'along' cannot be used if the constrained value is a tensor_view"
            )
        });
    }
    let Some((elem, shape)) = c.module.types.as_tile(c.module.ty(value)) else {
        return fail(format!("{NAME} {WHERE}"));
    };
    ensure(!shape.is_empty() || every.is_none(), || {
        format!("{NAME} 'every'/'along' cannot be used if the constrained value is a 0D tile")
    })?;
    ensure(
        matches!(c.get(elem), Type::Int(_) | Type::Ptr { .. }),
        || format!("{NAME} {WHERE}"),
    )?;
    let (Some(every), Some(along)) = (every, along) else {
        return Ok(());
    };
    let Some(&extent) = usize::try_from(along).ok().and_then(|d| shape.get(d)) else {
        return fail(format!(
            "{NAME} every_dim ({along}) must be >= 0 and < tile rank ({})",
            shape.len()
        ));
    };
    ensure(u64::try_from(every).is_ok_and(|e| e <= extent), || {
        format!(
            "expected {NAME} every_dim to be within 0 and the size of the respective dimension ({extent})"
        )
    })
}

fn same_elements(c: &Ctx, values: &[i64]) -> Check {
    const NAME: &str = "'cuda_tile.same_elements'";
    let shape = match c.module.types.as_tile(c.module.ty(c.op.results[0])) {
        Some((elem, shape)) if matches!(c.get(elem), Type::Int(_) | Type::Ptr { .. }) => shape,
        _ => {
            return fail(format!(
                "{NAME} is valid only for tile of integer/pointer values"
            ));
        }
    };
    ensure(values.len() == shape.len(), || {
        format!(
            "expected number of values in {NAME} ({}) to match rank of constrained tile ({})",
            values.len(),
            shape.len()
        )
    })?;
    for (i, (&value, &extent)) in values.iter().zip(shape).enumerate() {
        ensure(u64::try_from(value).is_ok_and(|v| v <= extent), || {
            format!(
                "expected {NAME} value {i} to be within 0 and the size of the respective dimension ({extent})"
            )
        })?;
    }
    Ok(())
}

fn bounded(c: &Ctx, lower: Option<i64>, upper: Option<i64>) -> Check {
    const NAME: &str = "'cuda_tile.bounded'";
    let width = match c.get(c.module.types.elem(c.module.ty(c.op.results[0]))) {
        Type::Int(n) => *n,
        _ => 0,
    };
    ensure(width > 0, || {
        format!("{NAME} is valid only for tile of integer values")
    })?;
    let min = i64::MIN >> (64 - width.min(64));
    let max = i64::MAX >> (64 - width.min(64));
    for (which, bound) in [("lower", lower), ("upper", upper)] {
        ensure(bound.is_none_or(|b| (min..=max).contains(&b)), || {
            format!("{NAME} expects {which} bound to be within [{min}, {max}]")
        })?;
    }
    match (lower, upper) {
        (Some(l), Some(u)) if l > u => fail(format!(
            "{NAME} expects lower bound to be less than or equal to upper bound"
        )),
        _ => Ok(()),
    }
}
