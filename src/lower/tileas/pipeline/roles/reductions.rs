//! Reductions of a few integers, by a role that is one thread.
//!
//! ```text
//! ends = tiled_load x[0] : 128                 s = (x[0] <= row ? 1 : 0) + … + (x[3] <= row ? 1 : 0)
//! e = reduce sum(ends <= row ? 1 : 0)    →     e = for i in 4, 8, …: s += (x[i] <= row ? 1 : 0) + … + (x[i + 3] <= row ? 1 : 0)
//! tiled_load w[e, …]
//! ```
//! Batches of several lengths search whose rows a block has: an expert's, a sequence's; documents and sparse blocks say where
//! their keys begin. A reduction goes from thread to thread, and a producer is one thread: it loads and combines the numbers
//! one after the other, while the warps that compute reduce their tile, where they need the number, too. Both say so
//! (`nv_tileas.role_invariant`), for the protocol's verifier.

use super::super::slice::{Map, copy};
use crate::dialect::cuda_tile::{Op as C, view as tile};
use crate::dialect::nv_tileas::{Op as S, view};
use crate::ir::{Attr, BlockId, Module, OpId, Type, ValueId};
use crate::lower::build;
use crate::lower::tileas::elements::{Elements, Number, shaped, sources};
use crate::lower::tileas::look::{elements, place};

/// Most elements that one thread reduces: it takes as many loads, most of which the cache answers.
const MOST: u64 = 512;
/// Elements that are loaded in one iteration, one beside the other.
const AT_ONCE: u64 = 4;

/// What a thread needs for a reduction, all single elements, where it can do it: of integers, whose order does not matter,
/// for both roles have to find the same.
pub fn needed(m: &Module, op: OpId) -> Option<Vec<ValueId>> {
    let v = tile::Reduce::of(m.op(op))?;
    let integer = |&v: &ValueId| matches!(m.types.get(m.types.elem(m.ty(v))), Type::Int(_));
    let few = |&v: &ValueId| elements(m, v) <= MOST;
    let one = |&v: &ValueId| elements(m, v) == 1;
    let whole = m.op(op).results.iter().all(one);
    let body = m.body_of(op, 0)?;
    if !whole || !v.operands().iter().all(|v| integer(v) && few(v)) || !is_plain(m, body) {
        return None;
    }
    let all: Option<Vec<Vec<ValueId>>> = v.operands().iter().map(|&v| sources(m, v)).collect();
    Some(all?.concat())
}

/// Whether the body of a reduction only computes, of what it is handed.
fn is_plain(m: &Module, body: BlockId) -> bool {
    let own = |v: &ValueId| {
        let inside = |op| m.op(op).block == body;
        m.block(body).args.contains(v) || m.def_op(*v).is_some_and(inside)
    };
    m.block(body).ops.iter().all(|&op| {
        let data = m.op(op);
        (data.only_computes() || C::of(data.kind) == Some(C::Yield))
            && data.operands.iter().all(own)
    })
}

/// Says of the results of reductions in a role's slice that the slice's role finds them, too: `found` are the reductions that a
/// thread does for itself.
pub fn agree(m: &mut Module, body: BlockId, found: &[OpId]) {
    let said = |o: &OpId| view::RoleInvariant::of(m.op(*o)).is_some();
    let mut number = m.ops_under(body).into_iter().filter(said).count() as i64;
    let i32_ty = m.types.int(32);
    for &op in found {
        let Some(needed) = needed(m, op) else {
            continue;
        };
        for result in m.op(op).results.clone() {
            let (block, at) = place(m, op);
            let ty = m.ty(result);
            let elem = m.types.elem(ty);
            let scalar = m.types.tile(elem, &[]);
            let users = m.users(result);
            let mut b = m.at(block, at + 1);
            let value = shaped(&mut b, result, scalar);
            let of = [&[value][..], &needed];
            let attr = Attr::Int {
                value: number,
                ty: i32_ty,
            };
            let agreed = b.op(S::RoleInvariant, &of, [Some(attr)], &[scalar], &[]);
            let Some(&agreed) = b.module.op(agreed).results.first() else {
                continue;
            };
            let agreed = shaped(&mut b, agreed, ty);
            let instead = [(result, agreed)].into_iter().collect();
            users
                .into_iter()
                .for_each(|user| m.replace_operands(user, &instead));
            number += 1;
        }
    }
}

/// Appends a role's own of an operation that [`agree`] has made, of what a thread does instead of the reduction, under the names
/// in `map`, which gets the result.
pub fn copy_agreed(m: &mut Module, op: OpId, block: BlockId, map: &mut Map) -> Option<()> {
    let v = view::RoleInvariant::of(m.op(op))?;
    let (value, result) = (v.value(), v.result());
    let own = |v: &ValueId| map.get(v).copied().unwrap_or(*v);
    let inputs: Vec<ValueId> = v.inputs().iter().map(own).collect();
    let attrs = m.op(op).attrs.clone();
    let found = reduced(m, value)?;
    // A reduction may have several results, each with such an operation.
    if !map.contains_key(&found) {
        reduce(m, m.def_op(found)?, block, map)?;
    }
    let (&own, ty) = (map.get(&found)?, m.ty(result));
    let mut b = m.at_end(block);
    let own = shaped(&mut b, own, ty);
    let new = b.op(S::RoleInvariant, &[&[own], &inputs], attrs, &[ty], &[]);
    map.insert(result, *m.op(new).results.first()?);
    Some(())
}

/// The result of a reduction that a value is, or has the number of.
fn reduced(m: &Module, value: ValueId) -> Option<ValueId> {
    let op = m.def_op(value)?;
    match C::of(m.op(op).kind) {
        Some(C::Reshape) => Some(m.source(op)),
        _ => Some(value),
    }
}

/// Appends what a thread does instead of a reduction that it has what is [`needed`] for; `map` gets the results.
fn reduce(m: &mut Module, op: OpId, block: BlockId, map: &mut Map) -> Option<()> {
    let tiles = tile::Reduce::of(m.op(op))?.operands().to_vec();
    let count = elements(m, *tiles.first()?);
    let reduction = Reduction {
        tiles,
        body: m.body_of(op, 0)?,
    };
    let first = (0..count.min(AT_ONCE)).map(Number::Known);
    let mut sums = reduction.add(m, block, first, None, map)?;
    if count > AT_ONCE {
        sums = reduction.repeat(m, block, count, sums, map)?;
    }
    map.extend(m.op(op).results.iter().copied().zip(sums));
    Some(())
}

struct Reduction {
    tiles: Vec<ValueId>,
    body: BlockId,
}

impl Reduction {
    /// Appends the combination of what there is `so_far` with the elements of these `numbers`.
    fn add(
        &self,
        m: &mut Module,
        block: BlockId,
        numbers: impl Iterator<Item = Number>,
        so_far: Option<Vec<ValueId>>,
        map: &Map,
    ) -> Option<Vec<ValueId>> {
        let mut elements = Vec::new();
        for number in numbers {
            let mut of = Elements::beside(m.at_end(block), number, map);
            let one: Option<Vec<ValueId>> = self.tiles.iter().map(|&tile| of.of(tile)).collect();
            elements.push(one?);
        }
        let mut elements = so_far.into_iter().chain(elements);
        let first = elements.next()?;
        elements.try_fold(first, |sums, new| self.combine(m, block, &sums, &new))
    }

    /// Appends what the reduction's body makes of what there is so far and new elements.
    fn combine(
        &self,
        m: &mut Module,
        block: BlockId,
        so_far: &[ValueId],
        new: &[ValueId],
    ) -> Option<Vec<ValueId>> {
        let pairs = so_far.iter().zip(new).flat_map(|(&old, &new)| [old, new]);
        let args = m.block(self.body).args.clone();
        let mut map: Map = args.into_iter().zip(pairs).collect();
        let ops = m.block(self.body).ops.clone();
        let (&end, ops) = ops.split_last()?;
        for &op in ops {
            copy(m, op, block, &mut map);
        }
        let yielded = m.op(end).operands.iter();
        yielded.map(|v| map.get(v).copied()).collect()
    }

    /// Appends a loop that combines the first elements' `sums` with the others, up to `count`.
    fn repeat(
        &self,
        m: &mut Module,
        block: BlockId,
        count: u64,
        sums: Vec<ValueId>,
        map: &Map,
    ) -> Option<Vec<ValueId>> {
        let i32_ty = m.types.int(32);
        let number = m.types.tile(i32_ty, &[]);
        let carried: Vec<_> = sums.iter().map(|&v| m.ty(v)).collect();
        let region = m.new_region();
        let inside = m.new_block(region, &[&[number], &carried[..]].concat());
        let args = m.block(inside).args.to_vec();
        let (&counter, so_far) = args.split_first()?;
        let numbers = (0..AT_ONCE).map(|more| Number::Counted(counter, more));
        let next = self.add(m, inside, numbers, Some(so_far.to_vec()), map)?;
        m.at_end(inside).op(C::Continue, &[&next], [], &[], &[]);
        let mut b = m.at_end(block);
        let [from, to] = [AT_ONCE, count].map(|n| build::constant(&mut b, n as i64, number));
        let groups = [&[from][..], &[to], &[from], &sums];
        let all = b.op(C::For, &groups, [None], &carried, &[region]);
        Some(m.op(all).results.to_vec())
    }
}
