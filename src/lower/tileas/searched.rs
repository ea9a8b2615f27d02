//! Where a matmul's operand lies is found by scalars, not by reducing a tile.
//!
//! ```text
//! ends = tiled_load x[0] : 8                 a = x[0] <= row ? 1 : 0
//! e = reduce sum(ends <= row ? 1 : 0)   →    b = x[1] <= row ? 1 : 0
//! tiled_load w[e, …]                         e = a + b + …
//! ```
//! Batches of several lengths search whose rows a block has: an expert's, a sequence's. A reduction goes from thread to
//! thread, and a producer is one thread. Of a few numbers it loads each, and combines them.

use super::look::{elements, is_matmul, place};
use super::numbers;
use super::pipeline::ahead::address_of;
use super::pipeline::prefetch::{feeds_matmul, loads_tile};
use super::pipeline::slice::{Map, copy_in_front};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::{Op as C, view};
use crate::facts::access::constant;
use crate::facts::{self, FactMap};
use crate::ir::{BlockId, Module, Op, OpBuilder, OpId, Type, TypeId, ValueId};
use crate::lower::build;
use crate::target::{Feature, Target};
use rustc_hash::{FxHashMap, FxHashSet};

/// Most elements that are reduced one by one.
const MOST: u64 = 64;

/// Rewrites such reductions of the kernel `func`, where a producer loads what they lead to.
pub fn by_scalars(m: &mut Module, func: OpId, body: BlockId, target: &Target) {
    if !target.has(Feature::Tma) {
        return;
    }
    let ops = m.ops_under(body);
    if !ops.iter().any(|&o| is_matmul(m, o)) {
        return;
    }
    let leads = |&op: &OpId| is_short(m, op) && leads_to_operand(m, &ops, op);
    let found: Vec<OpId> = ops.iter().copied().filter(leads).collect();
    if found.is_empty() {
        return;
    }
    let facts = facts::of(m, func);
    for reduce in found {
        let source = m.source(reduce);
        if has_elements(m, &facts, source) {
            unroll(m, &facts, reduce);
        }
    }
}

/// Whether an operation reduces a few integers to one.
fn is_short(m: &Module, op: OpId) -> bool {
    let Some(v) = view::Reduce::of(m.op(op)) else {
        return false;
    };
    let (&[source], &[result]) = (v.operands(), &m.op(op).results[..]) else {
        return false;
    };
    let integers = matches!(m.types.get(m.types.elem(m.ty(source))), Type::Int(_));
    integers && elements(m, result) == 1 && (2..=MOST).contains(&elements(m, source))
}

/// Whether numbers that are computed of what `op` makes say where an operand of a matmul is loaded.
fn leads_to_operand(m: &Module, ops: &[OpId], op: OpId) -> bool {
    let mut reached: FxHashSet<ValueId> = m.op(op).results.iter().copied().collect();
    ops.iter().any(|&op| {
        let data = m.op(op);
        if !data.operands.iter().any(|v| reached.contains(v)) {
            return false;
        }
        if loads_tile(m, op) {
            let mut address = address_of(m, op).into_iter();
            return address.any(|v| reached.contains(&v)) && feeds_matmul(m, ops, op);
        }
        if data.results.iter().all(|&r| elements(m, r) == 1) {
            reached.extend(&data.results);
        }
        false
    })
}

/// Whether each element of a tile can be computed by itself: of loads that nothing waits for, of numbers and constants.
fn has_elements(m: &Module, facts: &FactMap, tile: ValueId) -> bool {
    if elements(m, tile) == 1 || constant(facts, tile).is_some() {
        return true;
    }
    let Some(op) = m.def_op(tile) else {
        return false;
    };
    let data = m.op(op);
    let all = |values: &[ValueId]| values.iter().all(|&v| has_elements(m, facts, v));
    match C::of(data.kind) {
        Some(C::Iota) => true,
        Some(C::Reshape) => all(&data.operands),
        Some(C::Broadcast) => elements(m, m.source(op)) == 1,
        Some(_) => data.def().traits.has(Traits::ELEMENTWISE) && all(&data.operands),
        None => is_free_load(m, op),
    }
}

/// Whether elements of what an operation loads may be loaded by themselves, all along one dimension.
fn is_free_load(m: &Module, op: OpId) -> bool {
    let long = |extent: &&u64| **extent > 1;
    let shape = m.types.as_tile(m.ty(m.result(op))).map(|t| t.1);
    numbers::is_free(m, op) && shape.is_some_and(|s| s.iter().filter(long).count() == 1)
}

/// Puts the reduction of single elements in front of a reduction, and in its place.
fn unroll(m: &mut Module, facts: &FactMap, reduce: OpId) {
    let (source, result) = (m.source(reduce), m.result(reduce));
    let Some(region) = m.body_of(reduce, 0) else {
        return;
    };
    let count = elements(m, source);
    let mut sum = None;
    for number in 0..count {
        let (block, at) = place(m, reduce);
        let mut elements = Elements {
            b: m.at(block, at),
            facts,
            number: number as i64,
            made: FxHashMap::default(),
        };
        let Some(element) = elements.of(source) else {
            return;
        };
        sum = match sum {
            None => Some(element),
            Some(sum) => combined(m, region, reduce, [sum, element]),
        };
    }
    let Some(sum) = sum else {
        return;
    };
    let (block, at) = place(m, reduce);
    let ty = m.ty(result);
    let whole = shaped(&mut m.at(block, at), sum, ty);
    m.replace_all_uses(result, whole);
    m.erase(reduce);
}

/// What the body of a reduction makes of two numbers, in front of it.
fn combined(m: &mut Module, region: BlockId, reduce: OpId, two: [ValueId; 2]) -> Option<ValueId> {
    let args = m.block(region).args.clone();
    let mut map: Map = args.into_iter().zip(two).collect();
    let ops = m.block(region).ops.clone();
    let (&end, ops) = ops.split_last()?;
    for &op in ops {
        copy_in_front(m, op, reduce, &mut map);
    }
    let &yielded = m.op(end).operands.first()?;
    Some(map.get(&yielded).copied().unwrap_or(yielded))
}

/// A tile of one element as one of another shape.
fn shaped(b: &mut OpBuilder<'_>, value: ValueId, ty: TypeId) -> ValueId {
    match b.module.ty(value) == ty {
        true => value,
        false => b.value(C::Reshape, &[value], [], ty),
    }
}

/// The elements of tiles with one number, counted row by row, as scalars.
struct Elements<'m, 'f> {
    b: OpBuilder<'m>,
    facts: &'f FactMap,
    number: i64,
    made: FxHashMap<ValueId, ValueId>,
}

impl Elements<'_, '_> {
    /// The element of a tile that [`has_elements`].
    fn of(&mut self, tile: ValueId) -> Option<ValueId> {
        if let Some(&made) = self.made.get(&tile) {
            return Some(made);
        }
        let made = self.make(tile)?;
        self.made.insert(tile, made);
        Some(made)
    }

    fn make(&mut self, tile: ValueId) -> Option<ValueId> {
        let m = &mut *self.b.module;
        let elem = m.types.elem(m.ty(tile));
        let scalar = m.types.tile(elem, &[]);
        if let Some(known) = constant(self.facts, tile) {
            return Some(build::constant(&mut self.b, known, scalar));
        }
        if elements(m, tile) == 1 {
            return Some(shaped(&mut self.b, tile, scalar));
        }
        let op = m.def_op(tile)?;
        let data = m.op(op).clone();
        match C::of(data.kind) {
            Some(C::Iota) => Some(build::constant(&mut self.b, self.number, scalar)),
            Some(C::Reshape | C::Broadcast) => self.of(*data.operands.first()?),
            Some(_) => {
                let operands: Option<Vec<ValueId>> =
                    data.operands.iter().map(|&v| self.of(v)).collect();
                let attrs = data.attrs.iter().cloned();
                Some(self.b.value(data.kind, &operands?, attrs, scalar))
            }
            None => self.load(&data, scalar),
        }
    }

    /// Loads the element of what a tiled load loads.
    fn load(&mut self, data: &Op, scalar: TypeId) -> Option<ValueId> {
        let tile = self.b.module.ty(*data.results.first()?);
        let (_, shape) = self.b.module.types.as_tile(tile)?;
        let along = |&extent: &u64| if extent > 1 { self.number } else { 0 };
        let inside: Vec<i64> = shape.iter().map(along).collect();
        let number = numbers::load_one(&mut self.b, data, &inside)?;
        Some(shaped(&mut self.b, number, scalar))
    }
}
