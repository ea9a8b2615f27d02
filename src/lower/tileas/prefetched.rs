//! Matmuls' operands that a loop loads for its next iteration are loaded in the iteration that multiplies them.
//!
//! ```text
//! x0 = tiled_load a[i, 0]                        for k iter (p = 0) {
//! for k iter (x = x0) {                            x = tiled_load a[i, p]
//!   next = tiled_load a[i, k + 1]         →        mma x …
//!   mma x …                                        continue k + 1
//!   continue next                                }
//! }
//! ```
//! Programs prefetch by hand where their compiler does not. What is carried is then a tile in registers, which no pipeline
//! brings and no asynchronous matmul reads; of where it lies, the loop carries the numbers that differ instead.

use super::look::{is_matmul, place, reach_arranged};
use super::numbers;
use super::pipeline::prefetch::takes;
use super::protocol::number;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Overflow;
use crate::facts::access::{self, Access};
use crate::ir::{BlockId, Module, OpBuilder, OpId, ValueId};
use crate::lower::build::{self, cased};
use crate::lower::carried::{bounds, counted_loops, drop_carried, hand_on_too, inits, only_end};

/// Does so in every counted loop under `body`.
pub fn undo(m: &mut Module, body: BlockId) {
    if !m.ops_under(body).iter().any(|&o| is_matmul(m, o)) {
        return;
    }
    for op in counted_loops(m, body) {
        // What is prefetched two iterations ahead is handed on twice.
        while let Some(found) = (0..inits(m.op(op)).len()).find_map(|at| Prefetched::of(m, op, at))
        {
            found.apply(m);
        }
    }
}

/// A loaded tile that a loop hands on to its next iteration, and only that.
struct Prefetched {
    for_op: OpId,
    body: BlockId,
    end: OpId,
    /// Its number among what the loop carries.
    at: usize,
    /// The load in front of the loop, and the one in it.
    loads: [OpId; 2],
    /// Dimensions whose numbers differ between the loads.
    dims: Vec<usize>,
}

impl Prefetched {
    fn of(m: &Module, for_op: OpId, at: usize) -> Option<Self> {
        let body = m.body_of(for_op, 0)?;
        let end = only_end(m, body)?;
        let &init = inits(m.op(for_op)).get(at)?;
        let &handed_on = m.op(end).operands.get(at)?;
        let loads = [m.def_op(init)?, m.def_op(handed_on)?];
        let free = |&o: &OpId| numbers::is_independent(m, o);
        let alone = m.is_used_once(init, for_op) && m.is_used_once(handed_on, end);
        if !alone || !loads.iter().all(free) || m.op(loads[1]).block != body {
            return None;
        }
        let dims = differing(m, loads)?;
        multiplied(m, body, end, at).then_some(Self {
            for_op,
            body,
            end,
            at,
            loads,
            dims,
        })
    }

    fn apply(self, m: &mut Module) {
        let [first, next] = self.loads;
        let result = m.op(self.for_op).results[self.at];
        let needed_behind = m.is_used(result);
        let [starts, ends] = [first, next].map(|load| index(m, load));
        let (mut inside, mut behind) = (starts.clone(), starts.clone());
        for &dim in &self.dims {
            let (start, end) = (starts[dim], ends[dim]);
            let counted = self.behind_counter(m, start, end);
            if needed_behind || counted.is_none() {
                let handed_on = hand_on_too(m, self.for_op, (start, end), self.end);
                (inside[dim], behind[dim]) = handed_on;
            }
            if let Some(more) = counted {
                let counter = m.block(self.body).args[0];
                inside[dim] = plus(&mut m.at(self.body, 0), counter, more);
            }
        }
        let carried = m.block(self.body).args[self.at + 1];
        // Behind what has been computed of the counter.
        let computes = |&v: &ValueId| m.def_op(v).filter(|&op| m.op(op).block == self.body);
        let at = inside
            .iter()
            .filter_map(computes)
            .map(|op| place(m, op).1 + 1);
        let at = at.max().unwrap_or(0);
        let tile = load_at(m, first, (self.body, at), &inside);
        m.replace_all_uses(carried, tile);
        if needed_behind {
            let (block, at) = place(m, self.for_op);
            let tile = load_at(m, first, (block, at + 1), &behind);
            m.replace_all_uses(result, tile);
        }
        drop_carried(m, self.for_op, self.at);
        m.erase(next);
        m.erase(first);
    }
}

impl Prefetched {
    /// What a number that is `start` at first and `end` in the next iteration is more than the loop's counter, if it follows from
    /// the counter: pipelines know such loads ahead.
    fn behind_counter(&self, m: &Module, start: ValueId, end: ValueId) -> Option<i64> {
        let known = |v: ValueId| number(m.op(m.def_op(v)?));
        let &counter = m.block(self.body).args.first()?;
        let &[lower, _, step] = &bounds(m.op(self.for_op))[..] else {
            return None;
        };
        let more = more_than(m, counter, end)?.checked_sub(known(step)?)?;
        (known(start)? == known(lower)?.checked_add(more)?).then_some(more)
    }
}

/// What `value` is more than `counter`, if that is a known number.
fn more_than(m: &Module, counter: ValueId, value: ValueId) -> Option<i64> {
    if value == counter {
        return Some(0);
    }
    let sum = m.op(m.def_op(value)?);
    if C::of(sum.kind) != Some(C::AddI) {
        return None;
    }
    let &[a, b] = &sum.operands[..] else {
        return None;
    };
    let more = match counter {
        c if c == a => b,
        c if c == b => a,
        _ => return None,
    };
    number(m.op(m.def_op(more)?))
}

/// A counter and so much.
fn plus(b: &mut OpBuilder<'_>, counter: ValueId, more: i64) -> ValueId {
    if more == 0 {
        return counter;
    }
    let ty = b.module.ty(counter);
    let more = build::constant(b, more, ty);
    b.value(C::AddI, &[counter, more], [cased(Overflow::None)], ty)
}

/// The dimensions in whose numbers two loads of the same tensor's tiles differ; `None` where anything else differs.
fn differing(m: &Module, loads: [OpId; 2]) -> Option<Vec<usize>> {
    let [first, next] = loads.map(|load| m.op(load));
    let same = |name| {
        let [a, b] = [first, next].map(|load| access::group(load, name));
        a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| is_same(m, a, b))
    };
    if first.attrs != next.attrs || !["base", "extents", "strides"].into_iter().all(same) {
        return None;
    }
    let [first, next] = [Access::of(first)?.index, Access::of(next)?.index];
    let mut dims = Vec::new();
    for (dim, (&a, &b)) in first.iter().zip(next.iter()).enumerate() {
        if m.ty(a) != m.ty(b) {
            return None;
        }
        if !is_same(m, a, b) {
            dims.push(dim);
        }
    }
    Some(dims)
}

/// Whether two values are one, or the same constant.
fn is_same(m: &Module, a: ValueId, b: ValueId) -> bool {
    let constant = |v| {
        m.def_op(v)
            .map(|op| m.op(op))
            .filter(|o| C::of(o.kind) == Some(C::Constant))
    };
    let equal = || constant(a).is_some_and(|a| constant(b).is_some_and(|b| a.attrs == b.attrs));
    a == b || equal()
}

/// Where in its tensor a tile lies that an operation loads.
fn index(m: &Module, load: OpId) -> Vec<ValueId> {
    Access::of(m.op(load)).map_or_else(Vec::new, |a| a.index.to_vec())
}

/// Whether a matmul multiplies what a loop carries, in this iteration or when it was handed on again.
fn multiplied(m: &Module, body: BlockId, end: OpId, mut at: usize) -> bool {
    let under = m.ops_under(body);
    for _ in 0..m.op(end).operands.len() {
        let Some(&carried) = m.block(body).args.get(at + 1) else {
            return false;
        };
        if takes(m, &under, &reach_arranged(m, &under, carried)) {
            return true;
        }
        match m.op(end).operands.iter().position(|&v| v == carried) {
            Some(next) if m.is_used_once(carried, end) => at = next,
            _ => return false,
        }
    }
    false
}

/// Inserts a load like `load` of the tile at these places; its tile.
fn load_at(
    m: &mut Module,
    load: OpId,
    (block, at): (BlockId, usize),
    index: &[ValueId],
) -> ValueId {
    let data = m.op(load).clone();
    let groups: Vec<Vec<ValueId>> = (data.def().operands.iter().enumerate())
        .map(|(i, group)| match group.name {
            "index" => index.to_vec(),
            _ => data.group(i).to_vec(),
        })
        .collect();
    let groups: Vec<&[ValueId]> = groups.iter().map(Vec::as_slice).collect();
    let types: Vec<_> = data.results.iter().map(|&r| m.ty(r)).collect();
    let mut b = m.at(block, at);
    b.loc = data.loc;
    let new = b.op(data.kind, &groups, data.attrs, &types, &[]);
    m.op(new).results[0]
}
