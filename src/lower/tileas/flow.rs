//! Which values control flow passes on, and to what.

use crate::dialect::cuda_tile::Op as C;
use crate::ir::{Module, OpId, ValueId};

/// Pairs (passed value, receiving value) of a control-flow operation.
pub fn carried(m: &Module, op: OpId) -> Vec<(ValueId, ValueId)> {
    let data = m.op(op);
    let mut pairs = Vec::new();
    let mut pass = |from: &[ValueId], to: &[ValueId]| {
        pairs.extend(from.iter().copied().zip(to.iter().copied()));
    };
    match C::of(data.kind) {
        Some(C::For | C::Loop) => {
            let first = data.groups.len().saturating_sub(1);
            let inits = data.group(first);
            let counter = usize::from(first > 0);
            if let Some(body) = m.body_of(op, 0) {
                pass(
                    inits,
                    &m.block(body).args[counter.min(m.block(body).args.len())..],
                );
            }
            if first > 0 {
                pass(inits, &data.results);
            }
        }
        Some(C::Yield | C::Continue | C::Break) => {
            let kind = C::of(data.kind);
            let Some(target) = jump_target(m, op) else {
                return pairs;
            };
            let holder = m.op(target);
            match (C::of(holder.kind), kind) {
                (Some(C::For), _) | (Some(C::Loop), Some(C::Continue)) => {
                    let counter = usize::from(C::of(holder.kind) == Some(C::For));
                    if let Some(body) = m.body_of(target, 0) {
                        pass(
                            &data.operands,
                            m.block(body).args.get(counter..).unwrap_or(&[]),
                        );
                    }
                }
                (Some(C::If | C::Loop), _) => pass(&data.operands, &holder.results),
                _ => {}
            }
        }
        _ => {}
    }
    pairs
}

/// The operation whose region a terminator leaves or repeats.
pub fn jump_target(m: &Module, op: OpId) -> Option<OpId> {
    let kind = C::of(m.op(op).kind);
    let mut holder = m.parent_op(op)?;
    while matches!(kind, Some(C::Continue | C::Break)) && C::of(m.op(holder).kind) == Some(C::If) {
        holder = m.parent_op(holder)?;
    }
    Some(holder)
}
