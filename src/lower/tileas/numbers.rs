//! Elements that are taken out of a loaded tile one by one are loaded one by one.
//!
//! ```text
//! t = tiled_load x[i, 0] : 1x8             a = tiled_load x[i, 0] : 1x1
//! a = extract t[0, 0] : 1x1         →      b = tiled_load x[i, 3] : 1x1
//! b = extract t[0, 3] : 1x1
//! ```
//! Lists of tensors are read in this way: a row holds an address, extents and strides. Every thread needs the number, and a
//! producer's only thread has no tile to take it from.

use crate::dialect::cuda_tile::{Op as C, view};
use crate::dialect::enums::{Ordering, Overflow};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access::{self, Access, constant};
use crate::facts::{self, FactMap};
use crate::ir::{Attr, BlockId, Module, Op, OpBuilder, OpId, TypeId, ValueId};
use crate::lower::build::{self, cased};
use crate::lower::tileas::look::{elements, place};
use crate::lower::tileas::pipeline::tokens::loads_freely;

/// Most elements that are loaded by themselves.
const MOST: usize = 8;

/// Loads the elements of such tiles in the kernel `func`.
pub fn load_alone(m: &mut Module, func: OpId, body: BlockId) {
    let ops = m.ops_under(body).into_iter();
    let found: Vec<(OpId, Vec<OpId>)> = ops
        .filter_map(|load| Some((load, only_elements(m, load)?)))
        .collect();
    if found.is_empty() {
        return;
    }
    let facts = facts::of(m, func);
    for (load, extracts) in found {
        let numbers: Option<Vec<Vec<i64>>> =
            extracts.iter().map(|&e| indices(m, e, &facts)).collect();
        let Some(numbers) = numbers else { continue };
        for (extract, inside) in extracts.into_iter().zip(numbers) {
            element(m, load, extract, &inside);
        }
        m.erase(load);
    }
}

/// Where what `extract` takes begins, if that is known.
fn indices(m: &Module, extract: OpId, facts: &FactMap) -> Option<Vec<i64>> {
    let v = view::Extract::of(m.op(extract))?;
    v.indices().iter().map(|&i| constant(facts, i)).collect()
}

/// The operations that take elements out of the tile that `load` loads, if nothing else reads it or waits for it.
fn only_elements(m: &Module, load: OpId) -> Option<Vec<OpId>> {
    if !is_free(m, load) {
        return None;
    }
    let tile = m.result(load);
    let users = m.users(tile);
    let takes =
        |&op: &OpId| view::Extract::of(m.op(op)).is_some_and(|v| elements(m, v.result()) == 1);
    let found =
        (1..=MOST).contains(&users.len()) && elements(m, tile) > 1 && users.iter().all(takes);
    found.then_some(users)
}

/// Whether an operation is a weak load of a dense tile that nothing waits for: its elements may be loaded by themselves.
pub fn is_free(m: &Module, load: OpId) -> bool {
    let data = m.op(load);
    S::of(data.kind) == Some(S::TiledLoad)
        && access::ordering(data) == Ordering::Weak
        && Access::of(data).is_some_and(|a| a.sparse.is_none())
        && is_unfollowed(m, load)
}

/// Whether such a load waits for no write, either: it may be made anywhere.
pub fn is_independent(m: &Module, load: OpId) -> bool {
    is_free(m, load) && loads_freely(m, load)
}

/// Whether nothing waits for a load, but for what uses its tile.
pub fn is_unfollowed(m: &Module, load: OpId) -> bool {
    let unfollowed = |&[_, token]: &[ValueId; 2]| m.users(token).is_empty();
    <&[ValueId; 2]>::try_from(&m.op(load).results[..]).is_ok_and(unfollowed)
}

/// Loads what `extract` takes from `inside` the tile that `load` loads.
fn element(m: &mut Module, load: OpId, extract: OpId, inside: &[i64]) {
    let data = m.op(load).clone();
    let result = m.result(extract);
    let (block, at) = place(m, load);
    let mut b = m.at(block, at);
    b.loc = data.loc;
    let place = |b: &mut OpBuilder<'_>, dim, ty| {
        let place = inside.get(dim).copied().unwrap_or(0);
        build::constant(b, place, ty)
    };
    if let Some(number) = load_one(&mut b, &data, place) {
        m.replace_all_uses(result, number);
        m.erase(extract);
    }
}

/// Appends a load of one element of the tile that a load like `data` loads: a tile of that one. `inside` makes the number of its
/// row in a dimension, of the type that is asked for.
pub fn load_one(
    b: &mut OpBuilder<'_>,
    data: &Op,
    inside: impl Fn(&mut OpBuilder<'_>, usize, TypeId) -> ValueId,
) -> Option<ValueId> {
    let access = Access::of(data)?;
    let &[tile, token] = &data.results[..] else {
        return None;
    };
    let mut index: Vec<ValueId> = Vec::new();
    for (dim, &tile) in access.index.iter().enumerate() {
        let step = access.traversal.get(dim).copied().unwrap_or(1);
        let ty = b.module.ty(tile);
        let first = build::times(b, tile, step);
        let inside = inside(b, dim, ty);
        let plain = [cased(Overflow::None)];
        index.push(b.value(C::AddI, &[first, inside], plain, ty));
    }
    let mut attrs = data.attrs.to_vec();
    let traversal = data.def().attrs.iter().position(|a| a.name == "traversal");
    if let Some(slot) = traversal.and_then(|i| attrs.get_mut(i)) {
        *slot = Some(Attr::I32s(vec![1; index.len()]));
    }
    let group = |name| access::group(data, name);
    let groups = [
        group("base"),
        group("extents"),
        group("strides"),
        &index,
        group("token"),
    ];
    let elem = b.module.types.elem(b.module.ty(tile));
    let one = b.module.types.tile(elem, &vec![1; index.len()]);
    let types = [one, b.module.ty(token)];
    let new = b.op(data.kind, &groups, attrs, &types, &[]);
    b.module.op(new).results.first().copied()
}
