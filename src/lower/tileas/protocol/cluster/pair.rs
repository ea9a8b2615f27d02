//! Two blocks whose matmuls the first one issues.

use crate::dialect::Traits;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access;
use crate::ir::{BlockId, Diagnostic, Module, OpId, ValueId};
use crate::lower::tileas::operands::allocation;
use crate::lower::unsupported;
use rustc_hash::FxHashSet;

/// Checks that all matmuls of the function with this `body` are a pair's or none, and that those of a pair are a role of
/// their own, which alone waits for what the pipelines in `paired` bring for it.
///
/// # Errors
/// The first operation for which that is not so.
pub(super) fn check(
    m: &Module,
    body: BlockId,
    ops: &[OpId],
    paired: &FxHashSet<ValueId>,
) -> Result<(), Diagnostic> {
    let fail = |op: OpId, why: &str| Err(unsupported(m, op, why));
    let dots = ops
        .iter()
        .filter_map(|&o| Some((o, view::TensorDot::of(m.op(o))?)));
    let of_pairs = dots.clone().filter(|d| d.1.pair()).count();
    if of_pairs == 0 {
        let create = paired.iter().filter_map(|&p| m.def_op(p)).min();
        return match create {
            Some(op) => fail(op, "`pair`, but no matmul is a pair's"),
            None => Ok(()),
        };
    }
    let mut role = FxHashSet::default();
    for &op in &m.block(body).ops {
        if S::of(m.op(op).kind) == Some(S::WarpSpecialize) {
            role.extend(m.body_of(op, 2).into_iter().flat_map(|b| m.ops_under(b)));
        }
    }
    let filled = |buffer: ValueId| {
        let buffer = allocation(m, buffer);
        let copies = ops.iter().filter_map(|&o| view::TmaLoad::of(m.op(o)));
        let mut copies = copies.filter(|c| c.destination() == buffer).peekable();
        copies.peek().is_some() && copies.all(|c| paired.contains(&c.pipeline()) && !c.multicast())
    };
    for (op, v) in dots {
        if !v.pair() {
            return fail(
                op,
                "multiplies for its block alone, others for a pair of blocks",
            );
        }
        if !role.contains(&op) {
            return fail(
                op,
                "multiplies for a pair of blocks, but is not in the matmuls' role",
            );
        }
        if !filled(v.lhs()) || !filled(v.rhs()) {
            return fail(
                op,
                "multiplies for a pair of blocks what no pipeline with `pair` brings",
            );
        }
    }
    for &op in ops {
        let data = m.op(op);
        let Some(create) = access::pipeline(data).and_then(|p| m.def_op(p)) else {
            continue;
        };
        let Some(v) = view::PipelineCreate::of(m.op(create)) else {
            continue;
        };
        let step = data.def().traits.has(Traits::STEP);
        let (mma, inside) = (v.kind() == PipelineKind::Mma, role.contains(&op));
        match S::of(data.kind) {
            Some(S::ConsumerWait | S::ConsumerRelease) if v.pair() && step && inside == mma => {
                return fail(
                    op,
                    "only the matmuls' role of the first block knows when a stage of a pair is full",
                );
            }
            Some(S::ProducerCommit) if mma && !v.pair() => {
                return fail(
                    op,
                    "the matmuls are a pair's: missing `pair` of the pipeline",
                );
            }
            _ => {}
        }
    }
    Ok(())
}
