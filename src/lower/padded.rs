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
            let found = Selections::find(m, op);
            if let Some(found) = found.filter(|f| !only_zeros || is_zero(m, f.padding)) {
                found.absorb(m, op);
            }
        }
    }
}

/// The selections behind a masked load that put something else in the place of what it leaves out.
struct Selections {
    ops: Vec<OpId>,
    /// The constant that all of them put there.
    padding: OpId,
}

impl Selections {
    /// Those behind a load without a padding, if there are any and they agree.
    fn find(m: &Module, op: OpId) -> Option<Selections> {
        let load = view::LoadPtr::of(m.op(op)).filter(|v| v.paddingValue().is_none())?;
        let (mask, tile) = (load.mask()?, m.result(op));
        let users = m.users(tile).into_iter();
        let found = users.filter_map(|user| Some((user, other_than(m, user, mask, tile)?)));
        let (ops, others): (Vec<OpId>, Vec<ValueId>) = found.unzip();
        let padding = m.def_op(*others.first()?)?;
        let same = others.iter().all(|&other| m.def_op(other) == Some(padding));
        let constant = C::of(m.op(padding).kind) == Some(C::Constant);
        (same && constant).then_some(Selections { ops, padding })
    }

    /// Gives the load `op` the padding, and takes the selections away.
    fn absorb(self, m: &mut Module, op: OpId) {
        let tile = m.result(op);
        for selection in self.ops {
            m.replace_all_uses(m.result(selection), tile);
            m.erase(selection);
        }
        // The constant may stand behind the load.
        let (block, at) = place(m, op);
        let constant = m.op(self.padding);
        let (attrs, ty) = (constant.attrs.clone(), m.ty(m.result(self.padding)));
        let value = m.at(block, at).value(C::Constant, &[], attrs, ty);
        m.set_operand(op, "paddingValue", value);
    }
}

/// What `user` selects where `mask` is false, if it selects `tile` where that is true.
fn other_than(m: &Module, user: OpId, mask: ValueId, tile: ValueId) -> Option<ValueId> {
    let select = view::Select::of(m.op(user))?;
    let selects = select.cond() == mask && select.val_if_true() == tile;
    Some(select.val_if_false()).filter(|_| selects)
}
