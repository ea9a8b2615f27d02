//! Memory operations that `nv_tileaa` and `nv_tileas` share: tiled accesses and pointers.

use super::Ctx;
use crate::facts::access::{Access, group, pointee};
use crate::ir::{Attr, Type, ValueId};
use crate::verify::{Check, ensure, fail};

pub fn check(c: &Ctx) -> Check {
    match Access::of(c.op) {
        Some(access) => tiled(c, &access),
        None if !group(c.op, "pointers").is_empty() => pointers(c),
        None => Ok(()),
    }
}

/// Every list of a tiled access has an entry per dimension that it describes.
fn tiled(c: &Ctx, a: &Access) -> Check {
    let (tensor, tile) = (a.extents.len(), a.index.len());
    let count = |what: &str, got: usize, want: usize, of: &str| {
        ensure(got == want, || {
            format!("{got} {what} for {want} {of} dimensions")
        })
    };
    count("strides", a.strides.len(), tensor, "tensor")?;
    count("'dim_map' entries", a.dim_map.len(), tile, "tile")?;
    count("'traversal' entries", a.traversal.len(), tile, "tile")?;
    if let Some(Attr::Bools(given)) = c.op.attr_named("inbounds") {
        count("'inbounds' entries", given.len(), tile, "tile")?;
    }
    let mut walked = vec![false; tensor];
    for &dim in &a.dim_map {
        match walked.get_mut(dim) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => {
                return fail(format!("two tile dimensions walk tensor dimension {dim}"));
            }
            None => {
                return fail(format!(
                    "'dim_map' names tensor dimension {dim} of {tensor}"
                ));
            }
        }
    }
    ensure(a.sparse.is_none_or(|d| d < tile), || {
        "'sparse' names no tile dimension".into()
    })?;
    ensure(matches!(c.elem(a.base), Type::Ptr { .. }), || {
        format!("the base is no pointer but {}", c.text(a.base))
    })?;
    // The accessed tile: stored, loaded, or the shared buffer that a copy goes through.
    let names = ["tile", "destination", "source"];
    let moved = names.iter().find_map(|n| c.operand(n));
    let moved = moved.or_else(|| c.op.results.first().copied());
    match moved.filter(|&v| c.m.types.as_tile(c.ty(v)).is_some()) {
        Some(moved) => accessed(c, a, moved),
        None => Ok(()),
    }
}

fn accessed(c: &Ctx, a: &Access, tile: ValueId) -> Check {
    let (elem, shape) = c.m.types.as_tile(c.ty(tile)).unwrap_or((c.ty(tile), &[]));
    ensure(shape.len() == a.index.len(), || {
        format!(
            "{} indices for a tile of {} dimensions",
            a.index.len(),
            shape.len()
        )
    })?;
    ensure(pointee(c.m, a.base) == elem, || {
        format!("{} is accessed through {}", c.text(tile), c.text(a.base))
    })
}

/// Accesses through a tile of pointers: everything has its shape.
fn pointers(c: &Ctx) -> Check {
    let shape = |v: ValueId| c.m.types.as_tile(c.ty(v)).map(|(_, s)| s);
    let Some(pointers) = c.operand("pointers") else {
        return Ok(());
    };
    ensure(matches!(c.elem(pointers), Type::Ptr { .. }), || {
        format!("the pointers are {}", c.text(pointers))
    })?;
    let loaded = c.op.results.first().filter(|&&r| shape(r).is_some());
    for name in ["mask", "padding", "value", "compare"] {
        for &v in c.group(name) {
            ensure(shape(v) == shape(pointers), || {
                format!(
                    "'{name}' is {}, the pointers {}",
                    c.text(v),
                    c.text(pointers)
                )
            })?;
        }
    }
    if let Some(mask) = c.operand("mask") {
        ensure(matches!(c.elem(mask), Type::Int(1)), || {
            format!("the mask is {}", c.text(mask))
        })?;
    }
    for v in c
        .group("value")
        .iter()
        .chain(c.group("padding"))
        .chain(loaded)
    {
        ensure(c.m.types.elem(c.ty(*v)) == pointee(c.m, pointers), || {
            format!("{} is accessed through {}", c.text(*v), c.text(pointers))
        })?;
    }
    Ok(())
}
