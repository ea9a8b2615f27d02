//! The order of a loop's operations, and how long an iteration takes in it.
//!
//! Each warpgroup runs its operations one after the other; matmuls are issued and run beside them, one at a time on
//! the tensor cores that all groups share. What the tensor cores can begin with soonest comes first, waits last.

use rustc_hash::FxHashMap;

use super::body::{Body, Origin};
use super::clock::{self, Cycles, TENSOR_LATENCY};
use super::stages::Stages;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view::{AsyncDot, AsyncDotWait};
use crate::ir::{Module, ValueId};

/// An operation of the loop: of the iteration at hand, or, late, of the one before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Node {
    pub op: usize,
    pub late: bool,
}

/// What the operations of a loop take.
#[derive(Debug)]
pub struct Times {
    /// Cycles of one group's arithmetic for each operation, and of the tensor cores for each matmul.
    cycles: Vec<Cycles>,
    groups: u64,
}

impl Times {
    pub fn of(m: &Module, body: &Body, groups: u64) -> Times {
        let cycles = body.ops.iter().map(|&op| match S::of(m.op(op).kind) {
            Some(S::AsyncDot) => clock::matmul(m, op, groups),
            _ => clock::arithmetic(m, op, groups),
        });
        Times {
            cycles: cycles.collect(),
            groups,
        }
    }
}

/// The operations of a loop whose iterations overlap by `stages`, in order.
pub fn order(body: &Body, stages: &Stages, times: &Times) -> Vec<Node> {
    let nodes = nodes(body, stages);
    let number: FxHashMap<Node, usize> = nodes.iter().copied().zip(0..).collect();
    let before = before(body, stages, &nodes, &number);
    let far = distances(body, &nodes, &before, times);
    let (mut ready, mut finished) = (vec![0; nodes.len()], vec![None; nodes.len()]);
    let (mut now, mut tensor) = (0, 0);
    let mut order = Vec::with_capacity(nodes.len());
    while order.len() < nodes.len() {
        let open =
            |&i: &usize| finished[i].is_none() && before[i].iter().all(|&b| finished[b].is_some());
        // What can start soonest; of these what leads to a matmul soonest; of these what stands first.
        let key = |&i: &usize| (now.max(ready[i]), far[i], nodes[i].op, nodes[i].late);
        let Some(i) = (0..nodes.len()).filter(open).min_by_key(key) else {
            break;
        };
        let cycles = times.cycles[nodes[i].op].alone;
        now = now.max(ready[i]);
        let done = match body.dots.iter().any(|d| d.at == nodes[i].op) {
            true => {
                tensor = tensor.max(now) + cycles;
                tensor + TENSOR_LATENCY
            }
            false => {
                now += cycles;
                now
            }
        };
        finished[i] = Some(done);
        for (k, before) in before.iter().enumerate() {
            if before.contains(&i) {
                ready[k] = ready[k].max(done);
            }
        }
        order.push(nodes[i]);
    }
    order
}

fn nodes(body: &Body, stages: &Stages) -> Vec<Node> {
    let second = stages.second();
    let first = (0..body.ops.len()).filter(|&op| !stages.late[op]);
    let first = first.map(|op| Node { op, late: false });
    let second = second.into_iter().map(|op| Node { op, late: true });
    first.chain(second).collect()
}

/// Of each node, those that come before it in the loop.
fn before(
    body: &Body,
    stages: &Stages,
    nodes: &[Node],
    number: &FxHashMap<Node, usize>,
) -> Vec<Vec<usize>> {
    let same = |n: &Node| {
        let op = |&op: &usize| number.get(&Node { op, ..*n }).copied();
        body.before[n.op].iter().filter_map(op).collect()
    };
    let mut before: Vec<Vec<usize>> = nodes.iter().map(same).collect();
    // A matmul reads its fragment in registers until it is waited for: the next one is made behind that.
    for dot in body.dots.iter().filter(|d| stages.late[d.at]) {
        let at = |op, late| number.get(&Node { op, late }).copied();
        let Some(wait) = at(dot.wait, true) else {
            continue;
        };
        let sources = dot.sources.iter();
        for &v in sources.filter(|v| stages.crossing.contains(v)) {
            if let Origin::Made(op) = body.origin(v)
                && let Some(maker) = at(op, false)
            {
                before[maker].push(wait);
            }
        }
    }
    before
}

/// Cycles of arithmetic until a matmul that each node leads to can be issued; the most there can be if it leads to none.
fn distances(body: &Body, nodes: &[Node], before: &[Vec<usize>], times: &Times) -> Vec<u64> {
    let mut far = vec![u64::MAX; nodes.len()];
    let is_dot = |i: usize| body.dots.iter().any(|d| d.at == nodes[i].op);
    let waits = |i: usize| body.dots.iter().any(|d| d.wait == nodes[i].op);
    let mut changed = true;
    while changed {
        changed = false;
        for i in 0..nodes.len() {
            let mut best = if is_dot(i) { 0 } else { u64::MAX };
            for (k, before) in before.iter().enumerate() {
                // What stands behind a wait does not hurry what is in front of it.
                if before.contains(&i) && !is_dot(i) && !waits(k) && far[k] != u64::MAX {
                    best = best.min(far[k] + times.cycles[nodes[k].op].alone);
                }
            }
            if best < far[i] {
                far[i] = best;
                changed = true;
            }
        }
    }
    far
}

/// Iterations that are run, and from which on they are taken as all that follow.
const RUN: u64 = 6;
const WARM: u64 = 2;

/// What limits an iteration beside what its operations take.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    /// Blocks that run beside each other, each of as many groups as the times say.
    pub blocks: u64,
    /// Registers of a thread that are copied in each iteration ([`copied`]). A scheduler issues one copy of a warp in a
    /// cycle, and has one warp of each group.
    pub copies: u64,
}

/// Cycles of an iteration of all groups.
///
/// They go through it together: on an H100, groups that wait for the same tiles issue their matmuls at the same time, the
/// tensor cores take these in turns, and so all of them compute at the same time, too, sharing the schedulers. (Named
/// barriers that made them alternate cost more than they gained.) What a group computes while the tensor cores multiply
/// takes longer.
pub fn period(body: &Body, order: &[Node], times: &Times, sharing: Sharing) -> u64 {
    let groups = times.groups.max(1) * sharing.blocks.max(1);
    let (mut now, mut tensor, mut warm) = (0, 0, 0);
    let mut done: FxHashMap<usize, u64> = FxHashMap::default();
    for run in 0..RUN {
        if run == WARM {
            warm = now;
        }
        for node in order {
            let cycles = times.cycles[node.op];
            if body.dots.iter().any(|d| d.at == node.op) {
                tensor = now.max(tensor) + cycles.alone * groups;
                done.insert(node.op, tensor + TENSOR_LATENCY);
                continue;
            }
            let awaited = body.dots.iter().filter(|d| d.wait == node.op);
            let awaited = awaited.filter_map(|d| done.get(&d.at)).max();
            now = now.max(awaited.copied().unwrap_or(0));
            now += computing(cycles, groups, tensor.saturating_sub(now));
        }
        now += sharing.copies * groups;
    }
    (now - warm) / (RUN - WARM)
}

/// How long `groups` compute whose tensor cores multiply for the next `busy` cycles.
fn computing(cycles: Cycles, groups: u64, busy: u64) -> u64 {
    let (alone, beside) = (cycles.alone * groups, cycles.beside * groups);
    match beside <= busy {
        true => beside,
        // As much as is done in that time has not to be done afterwards.
        false => busy + alone - busy * alone / beside.max(1),
    }
}

/// What the first stage hands to the second, and makes anew before the second has read the last of it: each iteration
/// copies it, since both live at once.
pub fn copied(m: &Module, body: &Body, stages: &Stages, order: &[Node]) -> Vec<ValueId> {
    let overlaps = |&v: &ValueId| match body.origin(v) {
        Origin::Made(op) => {
            let home = in_place(m, body, v);
            let reads = |node: &Node| {
                let waited = body.dots.iter().filter(|d| d.wait == node.op);
                let mut waited = waited.flat_map(|d| d.sources);
                let mut read = body.reads[node.op].iter();
                node.late && (read.any(|r| home.contains(r)) || waited.any(|s| s == v))
            };
            let made = order.iter().position(|n| n.op == op && !n.late);
            made < order.iter().rposition(reads)
        }
        // The loop's own value and the one before.
        _ => true,
    };
    stages.crossing.iter().copied().filter(overlaps).collect()
}

/// The values of an iteration that have the registers of `value`: accumulators are added to in their place.
fn in_place(m: &Module, body: &Body, value: ValueId) -> Vec<ValueId> {
    let mut home = vec![value];
    for &op in &body.ops {
        let data = m.op(op);
        let adds_to = AsyncDot::of(data)
            .map(|v| v.acc())
            .or_else(|| AsyncDotWait::of(data).map(|v| v.acc()));
        if adds_to.is_some_and(|v| home.contains(&v)) {
            home.extend(&data.results);
        }
    }
    home
}

/// A value as the iteration at hand makes it or, true, as the one before has made it.
pub type Instance = (ValueId, bool);

/// Values that live at once, by the order in which they are made and read.
pub fn live(
    body: &Body,
    stages: &Stages,
    order: &[Node],
    stands: &dyn Fn(usize) -> bool,
    count: &dyn Fn(&[Instance]) -> u64,
) -> u64 {
    let crossing = |v: ValueId, late: bool| (v, late && stages.crossing.contains(&v));
    let mut live: Vec<Instance> = Vec::new();
    let add = |live: &mut Vec<Instance>, v: Instance| {
        if !live.contains(&v) {
            live.push(v);
        }
    };
    let outside = body.reads.iter().flatten();
    let outside = outside.filter(|&&v| body.origin(v) == Origin::Outside);
    let handed = stages.crossing.iter().chain(&body.yields).chain(outside);
    handed.for_each(|&v| add(&mut live, (v, false)));
    let mut most = count(&live);
    for node in order.iter().rev() {
        let made = |v: ValueId| body.origin(v) == Origin::Made(node.op);
        let here = stands(node.op).then(|| count(&live));
        live.retain(|&(v, before)| before || !made(v));
        for &v in &body.reads[node.op] {
            add(&mut live, crossing(v, node.late));
        }
        // Until a matmul is waited for, its fragments stay.
        for dot in body.dots.iter().filter(|d| d.wait == node.op) {
            for v in dot.sources {
                add(&mut live, crossing(v, node.late));
            }
        }
        if let Some(here) = here {
            most = most.max(here).max(count(&live));
        }
    }
    most
}
