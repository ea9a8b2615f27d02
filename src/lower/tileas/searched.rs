//! Where a matmul's operand lies, and how often one is loaded, is found by scalars, not by reducing a tile.
//!
//! ```text
//! ends = tiled_load x[0] : 8                 a = x[0] <= row ? 1 : 0
//! e = reduce sum(ends <= row ? 1 : 0)   →    b = x[1] <= row ? 1 : 0
//! tiled_load w[e, …]                         e = a + b + …
//! ```
//! Batches of several lengths search whose rows a block has: an expert's, a sequence's. A reduction goes from thread to
//! thread, and a producer is one thread. Of a few numbers it loads each, and combines them.

use super::elements::{Elements, has_elements, shaped};
use super::flow::jump_target;
use super::look::{elements, is_matmul, place};
use super::pipeline::ahead::address_of;
use super::pipeline::prefetch::{feeds_matmul, loads_tile};
use super::pipeline::slice::{Map, copy_in_front};
use crate::dialect::cuda_tile::{Op as C, view};
use crate::facts::{self, FactMap};
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use crate::target::{Feature, Target};
use rustc_hash::FxHashSet;

/// Most elements that are reduced one by one.
const MOST: u64 = 32;

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

/// Whether numbers that are computed of what `op` makes say where an operand of a matmul is loaded, or how often.
fn leads_to_operand(m: &Module, ops: &[OpId], op: OpId) -> bool {
    let mut reached: FxHashSet<ValueId> = m.op(op).results.iter().copied().collect();
    ops.iter().any(|&op| {
        let data = m.op(op);
        if !data.operands.iter().any(|v| reached.contains(v)) {
            return false;
        }
        if matches!(C::of(data.kind), Some(C::For | C::If)) && decides(m, ops, op, &reached) {
            return true;
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

/// Whether a loop whose bounds, or a branch whose condition, are `reached` decides about loads of matmuls' operands.
fn decides(m: &Module, ops: &[OpId], op: OpId, reached: &FxHashSet<ValueId>) -> bool {
    let data = m.op(op);
    let asked = match view::For::of(data) {
        Some(v) => vec![v.lowerBound(), v.upperBound(), v.step()],
        None => data.operands.to_vec(),
    };
    let inside = m.ops_inside(op);
    let jumps = |&o: &OpId| matches!(C::of(m.op(o).kind), Some(C::Continue | C::Break));
    let left = inside.iter().copied().filter(jumps);
    let left = left.filter_map(|jump| jump_target(m, jump));
    let held = left.flat_map(|around| m.ops_inside(around));
    asked.iter().any(|v| reached.contains(v))
        && (inside.iter().copied().chain(held)).any(|o| loads_tile(m, o) && feeds_matmul(m, ops, o))
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
        let mut elements = Elements::new(m.at(block, at), facts, number);
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
