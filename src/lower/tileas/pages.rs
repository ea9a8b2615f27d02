//! Operands of matmuls that lie in a few pages come by a tensor copy of each page.
//!
//! ```text
//! ids = tiled_load table[j] : 4                        a = tiled_load table[4j], …, d = tiled_load table[4j + 3]
//! k = tiled_load cache[ids, 0, h, 0] : 4x32x1x128   →  ids = numbers a, …, d
//!                                                      k = tiled_load cache[ids, 0, h, 0] : 4x32x1x128
//! ```
//! A producer is one thread: it knows numbers, but no tiles of them. What no producer brings after all is loaded through
//! pointers ([`super::gathered`]).

use super::elements::{Elements, Number, sources};
use super::gathered::Gather;
use super::look::{elements, loads_weakly, place};
use super::options::Options;
use super::pipeline::prefetch::feeds_matmul;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access::Access;
use crate::facts::{self, FactMap};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::hints::Hints;
use crate::target::{Feature, Target};
use rustc_hash::FxHashMap;

/// Most pages of a tile. Each takes its own copy, and its number a load of its own.
const MOST: u64 = 16;
/// Fewest bytes of a page for which a copy of its own pays.
const LEAST: u64 = 1024;

/// The loads under `body` that may come by a tensor copy of each page.
pub fn find(
    m: &Module,
    func: OpId,
    body: BlockId,
    target: &Target,
    options: &Options,
) -> Vec<OpId> {
    let roles = options.tma && options.roles && target.has(Feature::Tma);
    // The blocks of a cluster have parts of a tile.
    if !roles || Hints::of(m, func, target).blocks.is_some() {
        return Vec::new();
    }
    let ops = m.ops_under(body);
    let few = |&load: &OpId| {
        Gather::of(m, load).is_some() && few_pages(m, load) && feeds_matmul(m, &ops, load)
    };
    let mut found: Vec<OpId> = ops.iter().copied().filter(few).collect();
    if !found.is_empty() {
        let facts = facts::of(m, func);
        found.retain(|&load| {
            let numbers = numbers_of(m, load).filter(|_| is_dense(m, load, &facts));
            numbers.is_some_and(|tile| sources(m, tile).is_some())
        });
    }
    found
}

/// Whether a load gathers a few pages, large ones.
fn few_pages(m: &Module, load: OpId) -> bool {
    let Some(numbers) = numbers_of(m, load) else {
        return false;
    };
    let tile = m.result(load);
    let pages = elements(m, numbers);
    let bytes = elements(m, tile) * m.types.bits(m.ty(tile)).map_or(0, u64::from) / 8;
    pages <= MOST && bytes >= pages * LEAST
}

/// Whether the elements of a page's rows are neighbours in memory.
fn is_dense(m: &Module, load: OpId, facts: &FactMap) -> bool {
    let access = Access::of(m.op(load));
    access.is_some_and(|a| a.sparse != a.order(facts).first().copied())
}

/// The tile of the pages' numbers.
fn numbers_of(m: &Module, load: OpId) -> Option<ValueId> {
    let access = Access::of(m.op(load))?;
    access.index.get(access.sparse?).copied()
}

/// Makes the numbers of the pages of `loads` one by one.
pub fn list(m: &mut Module, loads: &[OpId]) {
    let mut listed: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    for &load in loads {
        let Some(tile) = numbers_of(m, load) else {
            continue;
        };
        if !listed.contains_key(&tile)
            && let Some(numbers) = one_by_one(m, tile)
        {
            listed.insert(tile, numbers);
        }
        m.replace_operands(load, &listed);
    }
    drop_unused(m, listed.keys().copied().collect());
}

/// Erases what makes these tiles, as far as nothing uses it: it would be loaded beside the numbers.
fn drop_unused(m: &mut Module, mut tiles: Vec<ValueId>) {
    tiles.sort_unstable();
    while let Some(tile) = tiles.pop() {
        if !m.holds(tile) {
            continue;
        }
        let Some(op) = m.def_op(tile) else {
            continue;
        };
        let data = m.op(op);
        let unused = data.results.iter().all(|&r| !m.is_used(r));
        if unused && (loads_weakly(data) || data.only_computes()) {
            tiles.extend(data.operands.clone());
            m.erase(op);
        }
    }
}

/// The elements of a tile, one by one, right behind it.
fn one_by_one(m: &mut Module, tile: ValueId) -> Option<ValueId> {
    let (block, at) = place(m, m.def_op(tile)?);
    let &next = m.block(block).ops.get(at + 1)?;
    let mut numbers = Vec::new();
    for number in 0..elements(m, tile) {
        let (block, at) = place(m, next);
        let number = Number::Known(number);
        numbers.push(Elements::new(m.at(block, at), number).of(tile)?);
    }
    let (block, at) = place(m, next);
    let ty = m.ty(tile);
    let all = m.at(block, at).op(S::Numbers, &[&numbers], [], &[ty], &[]);
    m.op(all).results.first().copied()
}

/// Whether a load's pages have been listed.
pub fn are_listed(m: &Module, load: OpId) -> bool {
    Access::of(m.op(load)).is_some_and(|a| a.pages(m).is_some())
}
