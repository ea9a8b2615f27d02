//! Matmuls whose operands do not come from the matmul before are issued with it, and waited for with it.
//!
//! ```text
//! tensor_dot q, k, s                          tensor_dot q, k, s
//! wait                                        tensor_dot g, v, d
//! p = … tensor_load s                         wait
//! tensor_dot g, v, d                          p = … tensor_load s
//! wait                                   →    tensor_store p, x
//! tensor_store p · tensor_load d, y           tensor_store p · tensor_load d, y
//! tensor_dot y, q, …                          tensor_dot y, q, …
//! wait                                        tensor_dot x, g, …
//! tensor_store p, x                           wait
//! tensor_dot x, g, …
//! wait
//! ```
//! What stands between two matmuls follows from the first one, and then the second one goes in front of it, or it does not, and
//! then it goes in front of the first one. The warps wait as often as a matmul needs what they make of another one's result.
//!
//! First [`reserve`] sees to it that buffers which live together then have columns of their own, where tensor memory has them.
//! When columns are known, [`issue`] moves what it can.

use super::columns::{self, Held};
use super::together::{self, Step};
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access;
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use crate::lower::tileas::lifetime::intersect;
use crate::lower::tileas::look::{loads_weakly, pipeline_kind, place};
use crate::lower::tileas::missed::Log;
use crate::lower::tileas::operands::allocation;
use crate::lower::tileas::staging::shared_bytes;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// What is done, in messages.
const WHAT: &str = "matmul issued with the one before";

/// Gives buffers under `body` that live together when matmuls of `pipeline` are issued with the ones before columns of their
/// own, if all have room in so many `columns`.
pub fn reserve(m: &Module, body: BlockId, pipeline: ValueId, held: &mut Vec<Held>, columns: u64) {
    for block in together::blocks(m, body, pipeline) {
        let steps = together::steps(m, block, pipeline);
        for (first, second) in steps.iter().zip(steps.iter().skip(1)) {
            let Some(between) = Between::of(m, pipeline, first, second, false) else {
                continue;
            };
            let mut all = held.clone();
            all.extend(between.meetings(m, held));
            if columns::needed(m, &all) <= columns {
                *held = all;
            }
        }
    }
}

/// Issues matmuls of `pipeline` under `body` with the ones before, where they need nothing that is made of these.
pub fn issue(m: &mut Module, body: BlockId, pipeline: ValueId, log: &mut Log) {
    for block in together::blocks(m, body, pipeline) {
        let count = together::steps(m, block, pipeline).len();
        for at in 1..count {
            let steps = together::steps(m, block, pipeline);
            let [first, second] = &steps[at - 1..=at] else {
                continue;
            };
            if !first.is_next_to(m, second)
                && let Some(between) = Between::of(m, pipeline, first, second, true)
            {
                log.changed(
                    m.op(second.acquire).loc,
                    WHAT,
                    "it needs nothing of the one before",
                );
                between.reorder(m, block);
            }
        }
    }
}

fn is(m: &Module, op: OpId, kind: S) -> bool {
    S::of(m.op(op).kind) == Some(kind)
}

fn has(m: &Module, ops: &[OpId], kind: S) -> bool {
    ops.iter().any(|&o| is(m, o, kind))
}

/// Two steps of a block and what stands between them.
struct Between {
    first: Vec<OpId>,
    second: Vec<OpId>,
    /// What does not follow from the first one's matmuls.
    ahead: Vec<OpId>,
    /// What does.
    behind: Vec<OpId>,
}

impl Between {
    /// That between `first` and `second`, if this one needs nothing of what follows from the first one. `placed`: buffers in
    /// tensor memory have their columns.
    fn of(
        m: &Module,
        pipeline: ValueId,
        first: &Step,
        second: &Step,
        placed: bool,
    ) -> Option<Between> {
        let (block, start) = place(m, first.acquire);
        let at = |op: OpId| place(m, op).1;
        let (end, next, last) = (at(first.after[2]), at(second.acquire), at(second.after[2]));
        let ops = &m.block(block).ops;
        let mut between = Between {
            first: ops.get(start..=end)?.to_vec(),
            second: ops.get(next..=last)?.to_vec(),
            ahead: Vec::new(),
            behind: Vec::new(),
        };
        let all = |ops: &[OpId]| ops.iter().map(|&o| Touched::by(m, o)).collect::<Vec<_>>();
        let mut before = all(&between.first);
        let mut made: FxHashSet<ValueId> = FxHashSet::default();
        for &op in ops.get(end + 1..next)? {
            let inside = || m.ops_inside(op).into_iter().chain([op]);
            if inside().any(|o| access::pipeline(m.op(o)) == Some(pipeline)) {
                return None;
            }
            let touched = Touched::by(m, op);
            let uses = inside().any(|o| m.op(o).operands.iter().any(|v| made.contains(v)));
            let follows = before.iter().any(|b| b.orders(m, &touched, placed));
            if uses || follows || between.holds_back(m, op) || !moves(m, op) {
                made.extend(&m.op(op).results);
                before.push(touched);
                between.behind.push(op);
            } else {
                between.ahead.push(op);
            }
        }
        let of_those = &before[between.first.len()..];
        let needs = |&op: &OpId| {
            let touched = Touched::by(m, op);
            m.op(op).operands.iter().any(|v| made.contains(v))
                || of_those.iter().any(|b| b.orders(m, &touched, placed))
        };
        let [ahead, behind] = [&between.ahead, &between.behind];
        // Of what is stored there a matmul knows by a fence behind it, and of a tile that comes by a wait for it.
        let fenced = !has(m, ahead, S::LocalStore) || !has(m, behind, S::ProxyFence);
        let waited = !has(m, behind, S::ConsumerWait);
        let free = fenced && waited && !between.second.iter().any(needs);
        free.then_some(between)
    }

    /// Whether an access to shared memory stays behind what stays: a fence behind the stores that it is for, and all of them
    /// behind waits for copies and the like.
    fn holds_back(&self, m: &Module, op: OpId) -> bool {
        let waits = |&o: &OpId| {
            let harmless = [S::TensorLoad, S::ConsumerRelease];
            !moves(m, o) && !harmless.iter().any(|&kind| is(m, o, kind))
        };
        let shared = [S::LocalStore, S::LocalLoad, S::ProxyFence];
        let accesses = shared.iter().any(|&kind| is(m, op, kind));
        let fences = is(m, op, S::ProxyFence) && has(m, &self.behind, S::LocalStore);
        fences || accesses && self.behind.iter().any(waits)
    }

    /// The buffers in tensor memory that live together in the new order, in addition to those of `held`.
    fn meetings(&self, m: &Module, held: &[Held]) -> Vec<Held> {
        let dots = |ops: &[OpId]| -> Vec<OpId> {
            let dots = ops.iter().filter(|&&o| is(m, o, S::TensorDot));
            dots.copied().collect()
        };
        let (first, second) = (dots(&self.first), dots(&self.second));
        let results = |dots: &[OpId]| -> Vec<ValueId> {
            let acc = |&o: &OpId| Matmul::known(m.op(o)).acc;
            dots.iter().map(acc).collect()
        };
        let stored = |ops: &[OpId]| -> Vec<ValueId> {
            let stores = ops.iter().filter_map(|&o| view::TensorStore::of(m.op(o)));
            stores.map(|v| v.destination()).collect()
        };
        let read_at = |buffer: ValueId| held.iter().filter(move |h| h.buffer == Some(buffer));
        let mut more = Vec::new();
        let mut lives = |buffer: ValueId, at: &[OpId]| {
            if let Some(own) = read_at(buffer).find(|h| h.loops == 0) {
                more.extend(at.iter().map(|&dot| Held { dot, ..*own }));
            }
        };
        results(&first)
            .into_iter()
            .for_each(|acc| lives(acc, &second));
        for operand in stored(&self.ahead) {
            lives(operand, &first);
        }
        let later: Vec<OpId> = stored(&self.behind)
            .into_iter()
            .flat_map(|b| read_at(b).map(|h| h.dot).collect::<Vec<_>>())
            .collect();
        for acc in results(&second) {
            lives(acc, &first);
            lives(acc, &later);
        }
        more
    }

    fn reorder(self, m: &mut Module, block: BlockId) {
        let start = self.first.first().map_or(0, |&o| place(m, o).1);
        let order = [self.ahead, self.first, self.second, self.behind].concat();
        let end = start + order.len();
        m.block_mut(block).ops.splice(start..end, order);
    }
}

/// Whether an operation may be done before the matmuls in front of it, if it touches nothing that they do.
fn moves(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    match view::View::of(data) {
        Some(view::View::ConsumerWait(v)) => {
            pipeline_kind(m, v.pipeline()) == Some(PipelineKind::Tma)
        }
        _ => match S::of(data.kind) {
            Some(S::TensorStore | S::LocalStore | S::LocalLoad | S::ProxyFence | S::SharedView) => {
                true
            }
            _ => loads_weakly(data) || data.only_computes(),
        },
    }
}

/// The buffers that an operation, with what is in it, reads and writes: in tensor memory, or allocations of shared memory.
#[derive(Default)]
struct Touched {
    reads: Vec<ValueId>,
    writes: Vec<ValueId>,
}

impl Touched {
    fn by(m: &Module, op: OpId) -> Touched {
        let mut touched = Touched::default();
        for op in m.ops_inside(op).into_iter().chain([op]) {
            let data = m.op(op);
            let mut written: Vec<ValueId> = access::destination(data).into_iter().collect();
            match view::View::of(data) {
                Some(view::View::TensorDot(v)) => {
                    written.extend(v.scales().into_iter().chain([v.acc()]));
                }
                Some(view::View::TensorStore(v)) => written.push(v.destination()),
                Some(view::View::LocalStore(v)) => written.push(v.destination()),
                Some(view::View::SharedView(_)) => continue,
                _ => {}
            }
            for &v in &data.operands {
                let buffer = match m.types.get(m.ty(v)) {
                    Type::SharedTile { .. } => allocation(m, v),
                    Type::TensorTile { .. } => v,
                    _ => continue,
                };
                match written.contains(&v) {
                    true => touched.writes.push(buffer),
                    false => touched.reads.push(buffer),
                }
            }
        }
        touched
    }

    /// Whether another operation behind this one has to stay there.
    fn orders(&self, m: &Module, other: &Touched, placed: bool) -> bool {
        let meet = |some: &[ValueId], others: &[ValueId]| {
            some.iter()
                .any(|&a| others.iter().any(|&b| overlap(m, a, b, placed)))
        };
        meet(&self.writes, &other.writes)
            || meet(&self.writes, &other.reads)
            || meet(&self.reads, &other.writes)
    }
}

/// Whether two buffers are one, or have bytes or columns in common.
fn overlap(m: &Module, a: ValueId, b: ValueId, placed: bool) -> bool {
    let columns = |v: ValueId| columns::of(m, m.def_op(v)?);
    let bytes = |v: ValueId| shared_bytes(m, m.def_op(v)?);
    let meet = |a: Option<Range<u64>>, b: Option<Range<u64>>| {
        a.zip(b).is_some_and(|(a, b)| intersect(&a, &b))
    };
    a == b || meet(bytes(a), bytes(b)) || placed && meet(columns(a), columns(b))
}
