//! Tiles that loops load again are kept in shared memory.
//!
//! ```text
//! for i { x = load p[i]; sum += x² }         for i { x = load p[i]; held[i] = x; sum += x² }
//! for i { x = load p[i]; store x · s }   →   for i { x = held[i]; store x · s }
//! ```
//! Such kernels read a row, reduce it and read it once more. Caches serve the second reading as long as they hold the rows
//! of all blocks that run; where these are longer, each comes from memory again. A load reads again what an earlier
//! loop of the same counts loads by equal operations of equal values, where no token orders either behind a write.

use rustc_hash::FxHashSet;

use super::buffers::{memory_order, shared_type, tile_bytes};
use super::look::{is_matmul, loop_around};
use super::missed::Log;
use super::pipeline::ahead::{ACCESS, POINTED, forget_token};
use super::pipeline::prefetch::loads_tile;
use super::pipeline::purpose::Purpose;
use super::pipeline::stream::Share;
use super::pipeline::tokens::loads_freely;
use crate::dialect::cuda_tile::view as tile;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{constant, group};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::target::Target;

/// What is done, in messages.
const WHAT: &str = "tiles kept for later loops";

/// A loop that counts from zero by ones.
#[derive(Clone, Copy)]
struct Counted {
    op: OpId,
    body: BlockId,
    counter: ValueId,
    iterations: u64,
}

/// A load of a loop, and loads of later loops that load the same.
struct Held {
    first: OpId,
    again: Vec<OpId>,
}

/// Keeps what loops under `body` load again, for a block of `warps`. Whether it kept anything.
pub fn apply(
    m: &mut Module,
    func: OpId,
    body: BlockId,
    target: &Target,
    facts: &FactMap,
    warps: u64,
    log: &mut Log,
) -> bool {
    if m.ops_under(body).iter().any(|&o| is_matmul(m, o)) {
        return false;
    }
    let mut found: Vec<(Counted, Held)> = Vec::new();
    let loops: Vec<Counted> = (m.ops_under(body).into_iter())
        .filter_map(|op| counted(m, facts, op))
        .collect();
    let mut taken: FxHashSet<OpId> = FxHashSet::default();
    for (at, &first) in loops.iter().enumerate() {
        for load in loads(m, first.body) {
            if taken.contains(&load) {
                continue;
            }
            let later = loops.iter().skip(at + 1);
            let later =
                later.filter(|l| beside(m, first.op, l.op) && l.iterations == first.iterations);
            let again: Vec<OpId> = later
                .flat_map(|l| loads(m, l.body).into_iter().map(move |o| (l, o)))
                .filter(|&(l, o)| !taken.contains(&o) && reads_the_same(m, [&first, l], [load, o]))
                .map(|(_, o)| o)
                .collect();
            if !again.is_empty() {
                taken.extend(&again);
                found.push((first, Held { first: load, again }));
            }
        }
    }
    let bytes: u64 = found
        .iter()
        .map(|(l, h)| l.iterations * tile_bytes(m, m.result(h.first)))
        .sum();
    let Some(&(first, _)) = found.first() else {
        return false;
    };
    let share = Share::of(m, func, body, target, [warps, warps]);
    if let Err(why) = share.holds(bytes) {
        log.note(m, first.op, WHAT, why);
        return false;
    }
    log.changed(
        m.op(first.op).loc,
        WHAT,
        format!("{bytes} bytes of shared memory"),
    );
    let mut fenced: FxHashSet<OpId> = FxHashSet::default();
    for (from, held) in found {
        let once = fenced.insert(from.op);
        keep(m, body, facts, &from, &held, once);
    }
    true
}

/// `op`, if it is a loop that counts from zero by ones a known number of times.
fn counted(m: &Module, facts: &FactMap, op: OpId) -> Option<Counted> {
    let v = tile::For::of(m.op(op)).filter(|v| !v.unsignedCmp())?;
    let (from, to, step) = (v.lowerBound(), v.upperBound(), v.step());
    let [from, to, step] = [from, to, step].map(|v| constant(facts, v));
    let body = m.body_of(op, 0)?;
    let counter = *m.block(body).args.first()?;
    let i32 = m.types.bits(m.types.elem(m.ty(counter))) == Some(32);
    (from? == 0 && step? == 1 && i32).then_some(Counted {
        op,
        body,
        counter,
        iterations: u64::try_from(to?).ok().filter(|&n| n > 1)?,
    })
}

/// Whether two loops stand in one block, the `first` one in front.
fn beside(m: &Module, first: OpId, later: OpId) -> bool {
    let block = m.op(first).block;
    let at = |op: OpId| m.block(block).ops.iter().position(|&o| o == op);
    m.op(later).block == block && at(first) < at(later)
}

/// The loads of tiles in a loop's `body` that every iteration does and that wait for no write.
fn loads(m: &Module, body: BlockId) -> Vec<OpId> {
    let plain = |&o: &OpId| {
        loads_tile(m, o)
            && loads_freely(m, o)
            && (m.types.bits(m.types.elem(m.ty(m.result(o))))).is_some_and(|b| b % 8 == 0)
    };
    m.block(body).ops.iter().copied().filter(plain).collect()
}

/// Whether two loads of two loops load the same in iterations of the same number.
fn reads_the_same(m: &Module, loops: [&Counted; 2], ops: [OpId; 2]) -> bool {
    let [a, b] = ops.map(|o| m.op(o));
    let names = ACCESS.iter().chain(&POINTED).chain(&["padding"]);
    let attrs = ["dim_map", "traversal", "padding", "inbounds"];
    let mut equal = Equal {
        m,
        counters: loops.map(|l| l.counter),
        known: FxHashSet::default(),
    };
    a.kind == b.kind
        && m.ty(m.result(ops[0])) == m.ty(m.result(ops[1]))
        && attrs.iter().all(|n| a.attr_named(n) == b.attr_named(n))
        && names.copied().all(|n| equal.all(group(a, n), group(b, n)))
}

/// Which values are equal where the counters of two loops are.
struct Equal<'m> {
    m: &'m Module,
    counters: [ValueId; 2],
    known: FxHashSet<(ValueId, ValueId)>,
}

impl Equal<'_> {
    fn all(&mut self, a: &[ValueId], b: &[ValueId]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| self.values(a, b))
    }

    fn values(&mut self, a: ValueId, b: ValueId) -> bool {
        if a == b || [a, b] == self.counters || self.known.contains(&(a, b)) {
            return true;
        }
        let m = self.m;
        let (Some(x), Some(y)) = (m.def_op(a), m.def_op(b)) else {
            return false;
        };
        let (x, y) = (m.op(x), m.op(y));
        let place = |of: &crate::ir::Op, v| of.results.iter().position(|&r| r == v);
        let same = x.kind == y.kind
            && x.attrs == y.attrs
            && m.ty(a) == m.ty(b)
            && place(x, a) == place(y, b)
            && x.only_computes()
            && self.all(&x.operands, &y.operands);
        if same {
            self.known.insert((a, b));
        }
        same
    }
}

/// Stores what the first loop loads, and has the others read that. `fence`: other threads are waited for, those that
/// still read what the loop stored last time, and those that store.
fn keep(m: &mut Module, body: BlockId, facts: &FactMap, from: &Counted, held: &Held, fence: bool) {
    let value = m.result(held.first);
    let order = memory_order(m, facts, held.first);
    let Ok(layout) = Purpose::Stream.layout(m, value, &order) else {
        return;
    };
    let stages = u32::try_from(from.iterations).unwrap_or(u32::MAX);
    let ty = shared_type(m, value, &layout, stages);
    let buffer = m.at(body, 0).value(S::AllocTensor, &[], [], ty);
    let place = |m: &Module, op: OpId| {
        let ops = &m.block(m.op(op).block).ops;
        ops.iter().position(|&o| o == op).unwrap_or(ops.len())
    };
    let at = place(m, held.first) + 1;
    let groups: [&[ValueId]; 4] = [&[value], &[buffer], &[from.counter], &[]];
    let mut b = m.at(from.body, at);
    b.op(S::LocalStore, &groups, [], &[], &[]);
    for &load in &held.again {
        let (block, at) = (m.op(load).block, place(m, load));
        let counter = m.block(block).args[0];
        let (old, loc) = (m.result(load), m.op(load).loc);
        let ty = m.ty(old);
        let mut b = m.at(block, at);
        b.loc = loc;
        let read = b.op(S::LocalLoad, &[&[buffer], &[counter]], [], &[ty], &[]);
        let read = m.result(read);
        m.replace_all_uses(old, read);
        forget_token(m, body, load);
        m.erase(load);
    }
    if fence {
        let outer = m.op(from.op).block;
        let at = place(m, from.op);
        m.at(outer, at + 1).op(S::ProxyFence, &[], [], &[], &[]);
        if loop_around(m, body, outer).is_some() {
            m.at(outer, at).op(S::ProxyFence, &[], [], &[], &[]);
        }
    }
}
