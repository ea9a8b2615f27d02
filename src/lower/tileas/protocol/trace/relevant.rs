//! Which operations are steps of the protocol, or hold some.

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{BlockId, Module, OpId};
use rustc_hash::FxHashSet;

/// Whether an operation changes the protocol's state or ends a role early.
pub(super) fn is_step(m: &Module, op: OpId) -> bool {
    S::of(m.op(op).kind).is_some_and(|s| {
        matches!(
            s,
            S::Return
                | S::RoleEnd
                | S::LocalLoad
                | S::LocalStore
                | S::AsyncDot
                | S::AsyncDotWait
                | S::TensorLoad
                | S::TensorStore
        )
    }) || m.op(op).def().traits.has(Traits::ASYNC)
}

/// Collects the operations with regions that hold steps, or jumps out of themselves; says whether
/// `block` holds (a step, a jump).
pub(super) fn mark(m: &Module, block: BlockId, relevant: &mut FxHashSet<OpId>) -> (bool, bool) {
    let (mut steps, mut jumps) = (false, false);
    for &op in &m.block(block).ops {
        let kind = C::of(m.op(op).kind);
        steps |= is_step(m, op);
        jumps |= matches!(kind, Some(C::Break | C::Continue));
        let mut inside = (false, false);
        for &region in &m.op(op).regions {
            for &inner in &m.region(region).blocks {
                let (s, j) = mark(m, inner, relevant);
                inside = (inside.0 | s, inside.1 | j);
            }
        }
        // Loops keep their jumps to themselves.
        let escapes = inside.1 && kind == Some(C::If);
        if inside.0 || escapes {
            relevant.insert(op);
        }
        steps |= inside.0;
        jumps |= escapes;
    }
    (steps, jumps)
}

/// The jumps of the loop around a block that are in it.
#[derive(Clone, Copy, Default)]
pub(super) struct Jumps {
    pub breaks: bool,
    pub continues: bool,
}

impl Jumps {
    pub(super) fn of(m: &Module, block: BlockId) -> Jumps {
        let mut found = Jumps::default();
        for &op in &m.block(block).ops {
            match C::of(m.op(op).kind) {
                Some(C::Break) => found.breaks = true,
                Some(C::Continue) => found.continues = true,
                Some(C::If) => {
                    let sides = (0..m.op(op).regions.len()).filter_map(|i| m.body_of(op, i));
                    for inside in sides.map(|b| Jumps::of(m, b)) {
                        found.breaks |= inside.breaks;
                        found.continues |= inside.continues;
                    }
                }
                _ => {}
            }
        }
        found
    }
}

/// Whether the loop around an operation is left where its body ends.
pub(super) fn ends_by_leaving(m: &Module, op: OpId) -> bool {
    let mut around = std::iter::successors(m.parent_op(op), |&o| m.parent_op(o));
    let holder = around.find(|&o| C::of(m.op(o).kind) != Some(C::If));
    let end = holder.and_then(|o| m.terminator(m.body_of(o, 0)?));
    end.is_some_and(|end| C::of(m.op(end).kind) == Some(C::Break))
}
