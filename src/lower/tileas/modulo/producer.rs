//! The producer brings tiles in the order in which an overlapped loop wants them.
//!
//! Where the late stage waits for a tile, the first stage of the next iteration has waited for its own before. A
//! producer that starts copies in the order of the program would wait for room for the former while there is room for
//! the latter already. So its loop gets the same two stages.

use super::body::Body;
use super::order::Node;
use super::stages::Stages;
use super::{Schedule, rewrite};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access;
use rustc_hash::FxHashMap;

use crate::ir::{Module, OpId, ValueId};

/// Lets the producer's loop `for_op` follow the `stages` of the loop `body` that reads what it brings.
pub fn follow(m: &mut Module, for_op: OpId, body: &Body, stages: &Stages) {
    let waits = |i: &usize| S::of(m.op(body.ops[*i]).kind) == Some(S::ConsumerWait);
    let waits = (0..body.ops.len()).filter(waits);
    let of = |i: usize| access::pipeline(m.op(body.ops[i]));
    let pipelines: Vec<(ValueId, bool)> = waits
        .filter_map(|i| Some((of(i)?, stages.late[i])))
        .collect();
    let both = |late| pipelines.iter().any(|p| p.1 == late);
    if !both(true) || !both(false) {
        return;
    }
    let Ok(loads) = Body::of_producer(m, for_op) else {
        return;
    };
    let acquires = |i: &usize| {
        let op = m.op(loads.ops[*i]);
        S::of(op.kind) == Some(S::ProducerAcquire)
            && access::pipeline(op).is_some_and(|p| pipelines.contains(&(p, true)))
    };
    let late: Vec<usize> = (0..loads.ops.len()).filter(acquires).collect();
    let stages = Stages::with_late(m, &loads, &late);
    let ring = |i: usize| access::pipeline(m.op(loads.ops[i]));
    let follows = (0..loads.ops.len())
        .all(|i| ring(i).is_none_or(|p| pipelines.contains(&(p, stages.late[i]))));
    if !follows {
        return;
    }
    let first = (0..loads.ops.len()).filter(|&op| !stages.late[op]);
    let first = first.map(|op| Node { op, late: false });
    let second = stages
        .second()
        .into_iter()
        .map(|op| Node { op, late: true });
    let order = first.chain(second).collect();
    rewrite::apply(m, &loads, &Schedule { stages, order });
}

/// The producer's loop that fills the stages for which each of `loops` waits, `ops` being the function's operations.
pub fn counterparts(m: &Module, ops: &[OpId], loops: &[OpId]) -> Vec<Option<OpId>> {
    // Of each pipeline, what holds its steps of a kind, in the order of the program.
    let mut around: FxHashMap<(ValueId, S), Vec<OpId>> = FxHashMap::default();
    for &op in ops {
        let data = m.op(op);
        if let Some(kind @ (S::ConsumerWait | S::ProducerAcquire)) = S::of(data.kind)
            && let (Some(pipeline), Some(holder)) = (access::pipeline(data), m.parent_op(op))
        {
            around.entry((pipeline, kind)).or_default().push(holder);
        }
    }
    let one = |for_op: OpId| {
        let mut found = None;
        let steps = m.body_of(for_op, 0).map_or(&[][..], |b| &m.block(b).ops);
        for &wait in steps {
            if S::of(m.op(wait).kind) != Some(S::ConsumerWait) {
                continue;
            }
            let pipeline = access::pipeline(m.op(wait))?;
            let waits = around.get(&(pipeline, S::ConsumerWait))?;
            let acquires = around.get(&(pipeline, S::ProducerAcquire))?;
            let at = waits.iter().position(|&o| o == for_op)?;
            let same = *acquires.get(at).filter(|_| acquires.len() == waits.len())?;
            if C::of(m.op(same).kind) != Some(C::For) || found.is_some_and(|f| f != same) {
                return None;
            }
            found = Some(same);
        }
        found
    };
    loops.iter().map(|&l| one(l)).collect()
}
