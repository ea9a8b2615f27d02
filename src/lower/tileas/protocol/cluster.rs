//! Blocks of a cluster that fill each other's stages.
//!
//! A stage is empty when it is in all blocks, full when the copies of all blocks into it have come. All blocks run one
//! program, so if none of its control flow around the steps of such a pipeline follows from the block's number, all do
//! the same steps in the same order. Then they wait for each other exactly where one block's roles wait for each other:
//! each acquires iteration i when all have released i − S, and one that has released it is no later than the others.
//! What [`super::machine`] finds of one block holds for all.
//!
//! The blocks of a pair have one role more between them, the first's matmuls ([`pair`]). It waits for the copies and the
//! consumers of both and tells both; so it is where each block's own matmuls would be, as late as the later block.

mod pair;

use rustc_hash::FxHashSet;

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view::{self, View};
use crate::facts::access;
use crate::ir::{BlockId, Diagnostic, Module, OpId, Type, ValueId};
use crate::lower::tileas::pipeline::tokens::jumps;
use crate::lower::unsupported;

/// Checks the pipelines of `func` that blocks of its cluster share.
///
/// # Errors
/// The first operation that would let blocks wait for each other for ever, or write where another reads.
pub fn check(m: &Module, func: OpId, body: BlockId) -> Result<(), Diagnostic> {
    let fail = |op: OpId, why: &str| Err(unsupported(m, op, why));
    let cluster = view::Func::of(m.op(func)).and_then(|f| f.cluster());
    let ops = m.ops_under(body);
    let (mut shared, mut paired) = (FxHashSet::default(), FxHashSet::default());
    for &op in &ops {
        let Some(v) = view::PipelineCreate::of(m.op(op)) else {
            continue;
        };
        if v.pair() {
            let whole = matches!(v.kind(), PipelineKind::Tma | PipelineKind::Mma);
            if cluster != Some(2) || !whole {
                return fail(
                    op,
                    "`pair`: TMA or matmuls fill the stages of a cluster of two blocks",
                );
            }
            shared.insert(v.result());
            paired.insert(v.result());
        }
        if let Some(blocks) = v.blocks() {
            if v.kind() != PipelineKind::Tma {
                return fail(op, "no copies but TMA's fill stages of other blocks");
            }
            if Some(blocks) != cluster {
                return fail(op, "`blocks` is not the number of blocks of the cluster");
            }
            shared.insert(v.result());
        }
    }
    for &op in &ops {
        if let Some(v) = view::TmaLoad::of(m.op(op))
            && v.multicast()
            && !shared.contains(&v.pipeline())
        {
            return fail(
                op,
                "writes to stages of other blocks, which do not say when they are empty: missing `blocks` of the pipeline",
            );
        }
    }
    pair::check(m, body, &ops, &paired)?;
    if shared.is_empty() {
        return Ok(());
    }
    let own = follows_from_rank(m, &ops);
    for &op in &ops {
        let data = m.op(op);
        let decides = match C::of(data.kind) {
            Some(C::For) => data.operands.iter().take(3).any(|v| own.contains(v)),
            Some(C::If) => data.operands.iter().take(1).any(|v| own.contains(v)),
            _ => false,
        };
        if decides && (steps_inside(m, op, &shared) || leaves(m, op)) {
            return fail(
                op,
                "how often it runs follows from the block's number in the cluster, but the blocks share stages",
            );
        }
        let enabled = match View::of(data) {
            Some(View::ConsumerRelease(v)) => v.enable(),
            _ => None,
        };
        let of = access::pipeline(data).filter(|p| shared.contains(p));
        let at = access::iteration(data).into_iter().chain(enabled);
        if of.is_some() && at.into_iter().any(|v| own.contains(&v)) {
            return fail(
                op,
                "its iteration follows from the block's number in the cluster, but the blocks share stages",
            );
        }
    }
    Ok(())
}

/// The values that may differ from block to block of a cluster.
fn follows_from_rank(m: &Module, ops: &[OpId]) -> FxHashSet<ValueId> {
    let mut own: FxHashSet<ValueId> = FxHashSet::default();
    loop {
        let before = own.len();
        for &op in ops {
            let data = m.op(op);
            let token = |v: &&ValueId| matches!(m.types.get(m.ty(**v)), Type::Token);
            let rank = S::of(data.kind) == Some(S::ClusterRank);
            let reads = data.operands.iter().filter(|v| !token(v));
            if rank || reads.clone().any(|v| own.contains(v)) && data.regions.is_empty() {
                own.extend(&data.results);
            }
            if data.regions.is_empty() {
                continue;
            }
            carried(m, op, &mut own);
        }
        if own.len() == before {
            return own;
        }
    }
}

/// What a loop or branch hands on that differs from block to block.
fn carried(m: &Module, op: OpId, own: &mut FxHashSet<ValueId>) {
    let data = m.op(op);
    let kind = C::of(data.kind);
    let decides = match kind {
        Some(C::For) => data.operands.iter().take(3).any(|v| own.contains(v)),
        Some(C::If) => data.operands.iter().take(1).any(|v| own.contains(v)),
        _ => false,
    };
    let jumps = jumps(m, op);
    for (i, &result) in data.results.iter().enumerate() {
        let counter = usize::from(kind == Some(C::For));
        let body = m
            .body_of(op, 0)
            .filter(|_| matches!(kind, Some(C::For | C::Loop)));
        let argument = body.and_then(|b| m.block(b).args.get(i + counter)).copied();
        let init = match kind {
            Some(C::For | C::Loop) => data.group(data.groups.len().saturating_sub(1)).get(i),
            _ => None,
        };
        let handed = jumps.iter().filter_map(|&j| m.op(j).operands.get(i));
        if decides || init.into_iter().chain(handed).any(|v| own.contains(v)) {
            own.insert(result);
            own.extend(argument);
        }
    }
    if decides && kind == Some(C::For) {
        own.extend(m.body_of(op, 0).and_then(|b| m.block(b).args.first()));
    }
}

/// Whether steps of `shared` pipelines stand under `op`.
fn steps_inside(m: &Module, op: OpId, shared: &FxHashSet<ValueId>) -> bool {
    under(m, op)
        .into_iter()
        .any(|o| access::pipeline(m.op(o)).is_some_and(|p| shared.contains(&p)))
}

/// Whether something under `op` leaves a loop around it, or the kernel.
fn leaves(m: &Module, op: OpId) -> bool {
    C::of(m.op(op).kind) == Some(C::If)
        && under(m, op).into_iter().any(|o| {
            let data = m.op(o);
            matches!(C::of(data.kind), Some(C::Break | C::Continue))
                || S::of(data.kind) == Some(S::Return)
        })
}

fn under(m: &Module, op: OpId) -> Vec<OpId> {
    let regions = 0..m.op(op).regions.len();
    let bodies = regions.filter_map(|i| m.body_of(op, i));
    bodies.flat_map(|b| m.ops_under(b)).collect()
}
