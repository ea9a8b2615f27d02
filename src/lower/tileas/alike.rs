//! Loads through pointers of which neighbours are the same load each once.
//!
//! ```text
//! p = broadcast row : 1x128 → 64x128        p = row : 1x128
//! b = load p : 64x128                  →    b = broadcast (load p) : 64x128
//!
//! p = base + (0, 1, 2, …) / 8 : 64          p = base + (0, 8, 16, …) / 8 : 8
//! w = load p : 64                      →    w = reshape (broadcast (load p : 8) : 8x8) : 64
//! ```
//! Programs in CUDA Tile C++ compute the place of each element of a tile, also of one that a vector of biases is added to; and
//! where a word holds the numbers of several elements, each of these loads the word. Loaded once, they lie as what is computed of
//! them does, and take that much less of a ring.

use super::look::{are_few, loads_weakly};
use super::missed::Log;
use super::pipeline::slice::{Map, copy_in_front};
use super::strips::dims::{extents, is_splat};
use super::strips::parts::{before, retype};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Overflow;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::{self, FactMap, access, gcd};
use crate::ir::{BlockId, Module, OpId, TypeId, ValueId};
use crate::lower::build::{self, cased};
use smallvec::SmallVec;

/// Most operations that pointers, mask and padding are computed by.
const MOST: usize = 64;

/// Elements of which a thread has one, with as few warps as a block has by itself.
const FEW: u64 = 128;

/// For each dimension of a tile, how many neighbours are the same.
type Groups = SmallVec<[u64; 4]>;

/// Loads each once in every such load under `body` of the kernel `func`.
pub fn absorb(m: &mut Module, func: OpId, body: BlockId, log: &mut Log) {
    let mut loads = m.ops_under(body);
    let is_load = |o: OpId| S::of(m.op(o).kind) == Some(S::Load) && loads_weakly(m.op(o));
    loads.retain(|&o| is_load(o));
    if loads.is_empty() {
        return;
    }
    let facts = facts::of(m, func);
    for load in loads {
        let Some(groups) = groups(m, &facts, load) else {
            continue;
        };
        let dims = groups.iter().enumerate().filter(|(_, n)| **n > 1);
        let dims: Vec<String> = dims
            .map(|(d, n)| format!("{n} along dimension {d}"))
            .collect();
        let why = format!("its pointers are the same for {}", dims.join(" and "));
        log.changed(m.op(load).loc, "neighbours loaded once", why);
        rewrite(m, load, &groups);
    }
}

/// How many neighbours a load loads from the same place, if it does so, and one of them can be computed alone.
fn groups(m: &Module, facts: &FactMap, load: OpId) -> Option<Groups> {
    let mut groups: Groups = SmallVec::from_vec(extents(m, m.result(load)));
    for value in inputs(m, load) {
        let facts = facts.get(value)?;
        for (d, n) in groups.iter_mut().enumerate() {
            let same = facts.axes.get(d).map_or(1, |axis| axis.constancy);
            if facts.constant.is_none() {
                *n = gcd(*n, same);
            }
        }
    }
    // A thread has one of them in any case, and those of a warp that load the same cost one access.
    if are_few(m, m.result(load), FEW) {
        return None;
    }
    let mut left = MOST;
    let alone = |&v: &ValueId| has_first(m, v, &groups, &mut left);
    (groups.iter().any(|&n| n > 1) && inputs(m, load).iter().all(alone)).then_some(groups)
}

/// Pointers, mask and padding of a load.
fn inputs(m: &Module, load: OpId) -> Vec<ValueId> {
    let named = ["pointers", "mask", "padding"].into_iter();
    named
        .filter_map(|name| access::operand(m.op(load), name))
        .collect()
}

/// The extents of a tile of the first elements of each group. A dimension of one element is a group.
fn firsts(m: &Module, value: ValueId, groups: &[u64]) -> Vec<u64> {
    let extents = extents(m, value).into_iter().zip(groups);
    extents.map(|(n, &same)| (n / same).max(1)).collect()
}

/// Whether [`first`] can make the first elements of the groups of a tile, by no more operations than are `left`.
fn has_first(m: &Module, value: ValueId, groups: &[u64], left: &mut usize) -> bool {
    if firsts(m, value, groups) == extents(m, value) {
        return true;
    }
    let (Some(op), Some(fewer)) = (m.def_op(value), left.checked_sub(1)) else {
        return false;
    };
    *left = fewer;
    match C::of(m.op(op).kind) {
        Some(C::Constant) => is_splat(m, op),
        Some(C::Iota) => true,
        _ => of_operands(m, op, groups).is_some_and(|operands| {
            operands
                .iter()
                .all(|(v, groups)| has_first(m, *v, groups, left))
        }),
    }
}

/// The operands of an operation that a group of its result is computed of, with their groups.
fn of_operands(m: &Module, op: OpId, groups: &[u64]) -> Option<Vec<(ValueId, Groups)>> {
    let data = m.op(op);
    let elementwise = data.def().traits.has(Traits::ELEMENTWISE) && data.def().is_pure();
    match C::of(data.kind) {
        Some(C::Reshape) => {
            let source = m.source(op);
            Some(vec![(source, before_reshape(m, op, groups)?)])
        }
        Some(C::Broadcast) => Some(vec![(m.source(op), SmallVec::from_slice(groups))]),
        _ if elementwise => {
            let operands = data.operands.iter();
            Some(
                operands
                    .map(|&v| (v, SmallVec::from_slice(groups)))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// The groups of a reshape's source, where the reshape only adds and drops dimensions of one element.
fn before_reshape(m: &Module, reshape: OpId, groups: &[u64]) -> Option<Groups> {
    let [from, to] = [m.source(reshape), m.result(reshape)].map(|v| extents(m, v));
    let mut wide = to.iter().zip(groups).filter(|(n, _)| **n > 1);
    let mut of = Groups::new();
    for n in from {
        of.push(match n {
            1 => 1,
            _ => *wide.next().filter(|(to, _)| **to == n)?.1,
        });
    }
    wide.next().is_none().then_some(of)
}

/// Lets `load` load the first of each group, and gives its users as many as it loaded.
fn rewrite(m: &mut Module, load: OpId, groups: &[u64]) {
    let tile = m.result(load);
    let mut map = Map::default();
    for value in inputs(m, load) {
        let alone = first(m, load, value, groups);
        map.insert(value, alone);
    }
    let narrow = copy_in_front(m, load, load, &mut map);
    let ty = first_type(m, tile, groups);
    retype(m, m.result(narrow), ty);
    let whole = repeat(m, load, m.result(narrow), (m.ty(tile), groups));
    map.insert(tile, whole);
    for old in m.op(load).results.clone() {
        if let Some(&new) = map.get(&old) {
            m.replace_all_uses(old, new);
        }
    }
    m.erase(load);
}

fn first_type(m: &mut Module, value: ValueId, groups: &[u64]) -> TypeId {
    let extents = firsts(m, value, groups);
    let elem = m.types.elem(m.ty(value));
    m.types.tile(elem, &extents)
}

/// The tile of the first elements of each group of `value`, computed in front of `user`.
fn first(m: &mut Module, user: OpId, value: ValueId, groups: &[u64]) -> ValueId {
    let ty = first_type(m, value, groups);
    let Some(op) = m.def_op(value).filter(|_| m.ty(value) != ty) else {
        return value;
    };
    let kind = C::of(m.op(op).kind);
    if kind == Some(C::Iota) {
        return numbers(m, user, ty, groups);
    }
    let mut map = Map::default();
    for (operand, groups) in of_operands(m, op, groups).unwrap_or_default() {
        let alone = first(m, user, operand, &groups);
        map.insert(operand, alone);
    }
    if kind == Some(C::Broadcast)
        && let Some(&source) = map.get(&m.source(op))
        && m.ty(source) == ty
    {
        return source;
    }
    copy_in_front(m, op, user, &mut map);
    let alone = map.get(&value).copied().unwrap_or(value);
    retype(m, alone, ty);
    alone
}

/// 0, n, 2 n, … for groups of n.
fn numbers(m: &mut Module, user: OpId, ty: TypeId, groups: &[u64]) -> ValueId {
    let mut b = before(m, user);
    let step = groups.first().map_or(1, |&n| n as i64);
    let step = build::constant(&mut b, step, ty);
    let numbers = b.value(C::Iota, &[], [], ty);
    b.value(C::MulI, &[numbers, step], [cased(Overflow::None)], ty)
}

/// A tile of type `ty` in front of `user`, with as many of each element of `tile` along each dimension as `groups` has.
fn repeat(m: &mut Module, user: OpId, tile: ValueId, (ty, groups): (TypeId, &[u64])) -> ValueId {
    let elem = m.types.elem(ty);
    let alone = extents(m, tile);
    let inner = |(&n, &same): (&u64, &u64)| n > 1 && same > 1;
    if !alone.iter().zip(groups).any(inner) {
        return before(m, user).value(C::Broadcast, &[tile], [], ty);
    }
    let of = alone.iter().zip(groups);
    let ones: Vec<u64> = of.clone().flat_map(|(&n, _)| [n, 1]).collect();
    let many: Vec<u64> = of.flat_map(|(&n, &same)| [n, same]).collect();
    let [ones, many] = [ones, many].map(|extents| m.types.tile(elem, &extents));
    let mut b = before(m, user);
    let apart = b.value(C::Reshape, &[tile], [], ones);
    let whole = b.value(C::Broadcast, &[apart], [], many);
    b.value(C::Reshape, &[whole], [], ty)
}
