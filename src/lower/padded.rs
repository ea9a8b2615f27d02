//! What a selection puts in the place of what a masked load leaves out becomes the load's padding.
//!
//! `select(mask, load(p, mask), 0)` is how programs write it whose loads take no padding. Registers are set to the padding
//! before the load either way, and asynchronous copies leave zeros by themselves: the comparisons and the selection behind
//! them go.

use super::tileas::look::{is_matmul, is_zero, place};
use crate::dialect::cuda_tile::{Op as C, view};
use crate::ir::{Module, OpId, ValueId};

/// Rewrites the loads of every entry.
pub fn run(m: &mut Module) {
    for entry in m.block(m.body).ops.clone() {
        let Some(body) = m.body_of(entry, 0) else {
            continue;
        };
        let ops = m.ops_under(body);
        // Pipelines bring the operands of matmuls, and leave zeros.
        let only_zeros = ops.iter().any(|&o| is_matmul(m, o));
        let loads = ops
            .iter()
            .filter(|&&o| C::of(m.op(o).kind) == Some(C::LoadPtr));
        for op in loads.copied().collect::<Vec<_>>() {
            if let Some(padding) = of_selections(m, op).filter(|&p| !only_zeros || is_zero(m, p)) {
                pad(m, op, padding);
            }
        }
    }
}

/// The constant that all selections behind an unpadded load agree on, if there are any.
fn of_selections(m: &Module, op: OpId) -> Option<OpId> {
    let load = view::LoadPtr::of(m.op(op)).filter(|v| v.paddingValue().is_none())?;
    let (mask, tile) = (load.mask()?, m.result(op));
    let others = m.users(tile).into_iter();
    let mut others = others.filter_map(|user| other_than(m, user, mask, tile));
    let padding = m.def_op(others.next()?)?;
    let same = |other| m.def_op(other) == Some(padding);
    (C::of(m.op(padding).kind) == Some(C::Constant) && others.all(same)).then_some(padding)
}

/// What `user` selects where `mask` is false, if it selects `tile` where that is true.
fn other_than(m: &Module, user: OpId, mask: ValueId, tile: ValueId) -> Option<ValueId> {
    let select = view::Select::of(m.op(user))?;
    let selects = select.cond() == mask && select.val_if_true() == tile;
    Some(select.val_if_false()).filter(|_| selects)
}

/// Gives a load a padding, and takes the selections of it away.
fn pad(m: &mut Module, op: OpId, padding: OpId) {
    let (Some(mask), tile) = (
        view::LoadPtr::of(m.op(op)).and_then(|v| v.mask()),
        m.result(op),
    ) else {
        return;
    };
    for user in m.users(tile) {
        if other_than(m, user, mask, tile).is_some() {
            m.replace_all_uses(m.result(user), tile);
            m.erase(user);
        }
    }
    // The constant may stand behind the load.
    let (block, at) = place(m, op);
    let (attrs, ty) = (m.op(padding).attrs.clone(), m.ty(m.result(padding)));
    let value = m.at(block, at).value(C::Constant, &[], attrs, ty);
    m.set_operand(op, "paddingValue", value);
}
