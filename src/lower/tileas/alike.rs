//! Loads through pointers that are the same along a dimension load one line for all.
//!
//! ```text
//! p = broadcast row : 1x128 → 64x128        p = row : 1x128
//! b = load p : 64x128                  →    b = broadcast (load p) : 64x128
//! ```
//! Programs in CUDA Tile C++ compute the place of each element of a tile, also of one that a vector of biases is added to.
//! As a vector it is loaded once, in whatever layout what it is added to has, and takes that much of a ring.

use super::look::place;
use super::missed::Log;
use super::pipeline::slice::{Map, copy_in_front};
use super::strips::dims::is_splat;
use super::strips::parts::retype;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Ordering;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access;
use crate::ir::{BlockId, Module, OpId, TypeId, ValueId};
use smallvec::SmallVec;

/// Most operations that pointers, mask and padding are computed by.
const MOST: usize = 64;

/// What a tile is the same along, dimension by dimension; of one element, it is.
type Along = SmallVec<[bool; 4]>;

/// Loads one line for all in every such load under `body`.
pub fn absorb(m: &mut Module, body: BlockId, log: &mut Log) {
    for op in m.ops_under(body) {
        let Some(along) = load(m, op) else { continue };
        let dims = (0..along.len()).filter(|&d| along[d]);
        let dims: Vec<String> = dims.map(|d| d.to_string()).collect();
        let why = format!(
            "its pointers are the same along dimension {}",
            dims.join(" and ")
        );
        log.changed(m.op(op).loc, "one line loaded for all", why);
        rewrite(m, op, &along);
    }
}

/// The dimensions along which a weak load through pointers loads the same, if it loads anything twice.
fn load(m: &Module, op: OpId) -> Option<Along> {
    let data = m.op(op);
    if S::of(data.kind) != Some(S::Load) || access::ordering(data) != Ordering::Weak {
        return None;
    }
    let tile = m.result(op);
    let mut left = MOST;
    let mut along: Along = SmallVec::from_elem(true, shape(m, tile).len());
    for value in inputs(m, op) {
        let of = same(m, value, &mut left)?;
        meet(&mut along, &of);
    }
    let repeats = |(same, &n): (&bool, &u64)| *same && n > 1;
    along
        .iter()
        .zip(shape(m, tile))
        .any(repeats)
        .then_some(along)
}

/// Pointers, mask and padding of a load.
fn inputs(m: &Module, op: OpId) -> Vec<ValueId> {
    let named = ["pointers", "mask", "padding"].into_iter();
    named
        .filter_map(|name| access::operand(m.op(op), name))
        .collect()
}

fn shape(m: &Module, value: ValueId) -> &[u64] {
    m.types.as_tile(m.ty(value)).map_or(&[], |tile| tile.1)
}

fn meet(along: &mut Along, other: &[bool]) {
    along.iter_mut().zip(other).for_each(|(a, b)| *a &= b);
}

/// The dimensions along which a tile is the same; `None` once more than `left` operations were looked at.
fn same(m: &Module, value: ValueId, left: &mut usize) -> Option<Along> {
    *left = left.checked_sub(1)?;
    let extents = shape(m, value);
    let mut along: Along = extents.iter().map(|&n| n == 1).collect();
    let Some(op) = m.def_op(value).filter(|_| along.contains(&false)) else {
        return Some(along);
    };
    let data = m.op(op);
    match C::of(data.kind) {
        Some(C::Constant) if is_splat(m, op) => along.fill(true),
        Some(C::Broadcast) => {
            let source = m.source(op);
            let of = same(m, source, left)?;
            let ones = shape(m, source).iter().map(|&n| n == 1);
            along = of
                .iter()
                .zip(ones)
                .map(|(same, one)| *same || one)
                .collect();
        }
        Some(C::Reshape) => {
            if let Some(dims) = kept(m, op) {
                let of = same(m, m.source(op), left)?;
                let kept = along.iter().zip(dims);
                along = kept
                    .map(|(one, d)| *one || d.is_some_and(|d| of[d]))
                    .collect();
            }
        }
        _ if data.def().traits.has(Traits::ELEMENTWISE) && data.def().is_pure() => {
            along.fill(true);
            for &operand in &data.operands {
                meet(&mut along, &same(m, operand, left)?);
            }
        }
        _ => {}
    }
    Some(along)
}

/// For each dimension of what a reshape makes, the dimension of its source that it is, where the reshape only adds and
/// drops dimensions of one element.
fn kept(m: &Module, reshape: OpId) -> Option<SmallVec<[Option<usize>; 4]>> {
    let (from, to) = (shape(m, m.source(reshape)), shape(m, m.result(reshape)));
    let mut wide = (0..from.len()).filter(|&d| from[d] > 1);
    let mut dims = SmallVec::new();
    for &n in to {
        let dim = if n > 1 {
            Some(wide.next().filter(|&d| from[d] == n)?)
        } else {
            None
        };
        dims.push(dim);
    }
    wide.next().is_none().then_some(dims)
}

/// Lets `op` load one line, of which its users get as many as it loaded.
fn rewrite(m: &mut Module, op: OpId, along: &[bool]) {
    let tile = m.result(op);
    let ty = m.ty(tile);
    let mut map = Map::default();
    for value in inputs(m, op) {
        let line = thin(m, op, value, along);
        map.insert(value, line);
    }
    let load = copy_in_front(m, op, op, &mut map);
    let (line, line_ty) = (m.result(load), thin_type(m, tile, along));
    retype(m, line, line_ty);
    let (block, at) = place(m, op);
    let mut b = m.at(block, at);
    let whole = b.value(C::Broadcast, &[line], [], ty);
    map.insert(tile, whole);
    for old in m.op(op).results.to_vec() {
        if let Some(&new) = map.get(&old) {
            m.replace_all_uses(old, new);
        }
    }
    m.erase(op);
}

/// The type of a tile with one element along each of these dimensions.
fn thin_type(m: &mut Module, value: ValueId, along: &[bool]) -> TypeId {
    let extents = shape(m, value).iter().zip(along);
    let extents: Vec<u64> = extents
        .map(|(&n, &same)| if same { 1 } else { n })
        .collect();
    let elem = m.types.elem(m.ty(value));
    m.types.tile(elem, &extents)
}

/// One line of a tile that is the same along some dimensions, computed in front of `user`.
fn thin(m: &mut Module, user: OpId, value: ValueId, along: &[bool]) -> ValueId {
    let ty = thin_type(m, value, along);
    let Some(op) = m.def_op(value).filter(|_| m.ty(value) != ty) else {
        return value;
    };
    let mut map = Map::default();
    for operand in m.op(op).operands.to_vec() {
        let along: Along = match C::of(m.op(op).kind) {
            Some(C::Reshape) => match kept(m, op) {
                Some(dims) => source_along(m, operand, &dims, along),
                None => continue,
            },
            _ => SmallVec::from_slice(along),
        };
        let line = thin(m, user, operand, &along);
        map.insert(operand, line);
    }
    if C::of(m.op(op).kind) == Some(C::Broadcast)
        && let Some(&source) = map.get(&m.source(op))
        && m.ty(source) == ty
    {
        return source;
    }
    copy_in_front(m, op, user, &mut map);
    let line = map.get(&value).copied().unwrap_or(value);
    retype(m, line, ty);
    line
}

/// The dimensions of a reshape's source that are those of its result: all of one element, and those `kept`.
fn source_along(m: &Module, source: ValueId, kept: &[Option<usize>], along: &[bool]) -> Along {
    let mut of: Along = shape(m, source).iter().map(|&n| n == 1).collect();
    for (dim, &same) in kept.iter().zip(along) {
        if let Some(of) = dim.and_then(|d| of.get_mut(d)) {
            *of = same;
        }
    }
    of
}
