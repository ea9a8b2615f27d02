//! Sums that a loop carries for one matmul alone.

use super::promote;
use crate::dialect::cuda_tile::Op as C;
use crate::facts::matmul::Matmul;
use crate::ir::{Module, OpBuilder, OpId, TypeId, ValueId};
use crate::lower::carried::inits;
use crate::lower::tileas::look::{is_zero, place};

/// A loop that carries an accumulator which nothing in it uses but one matmul.
pub struct CarriedSum {
    for_op: OpId,
    acc: ValueId,
    place: usize,
}

impl CarriedSum {
    /// The loop around `dot` that carries what it adds to, if it carries it for `dot` alone.
    pub fn find(m: &Module, dot: OpId) -> Option<CarriedSum> {
        let acc = Matmul::of(m.op(dot))?.acc;
        let block = m.op(dot).block;
        let for_op = m.parent_of_block(block)?;
        let is_loop = C::of(m.op(for_op).kind) == Some(C::For);
        let place = m.block(block).args.iter().skip(1).position(|&a| a == acc)?;
        let end = m.terminator(block)?;
        let sum = m.result(dot);
        let yields = |i: usize| m.op(end).operands.get(i) == Some(&sum);
        // The matmul may multiply it, too.
        let added = |&&v: &&ValueId| v == acc;
        let once = m.op(dot).operands.iter().filter(added).count() == 1;
        let alone = m.users(acc) == [dot] && once && m.users(sum) == [end] && yields(place);
        (is_loop && alone).then_some(CarriedSum { for_op, acc, place })
    }

    /// Lets the loop carry a `ty`, which `changed` makes of the first sum, and the former type of the last one.
    pub fn change(
        &self,
        m: &mut Module,
        ty: TypeId,
        changed: impl Fn(&mut OpBuilder<'_>, ValueId, TypeId) -> ValueId,
    ) {
        let (block, at) = place(m, self.for_op);
        let inits = inits(m.op(self.for_op)).to_vec();
        let (Some(&init), Some(&sum)) = (
            inits.get(self.place),
            m.op(self.for_op).results.get(self.place),
        ) else {
            return;
        };
        let old = m.ty(sum);
        let def = m.def_op(init);
        let zero = def.is_some_and(|o| C::of(m.op(o).kind) == Some(C::Constant) && is_zero(m, o));
        let mut b = m.at(block, at);
        let first = match zero {
            true => promote::zeros(&mut b, ty),
            false => changed(&mut b, init, ty),
        };
        let mut data = m.op_mut(self.for_op);
        let start = data.operands.len() - inits.len();
        data.operands[start + self.place] = first;
        drop(data);
        m.value_mut(self.acc).ty = ty;
        m.value_mut(sum).ty = ty;
        let (block, at) = place(m, self.for_op);
        let back = changed(&mut m.at(block, at + 1), sum, old);
        m.replace_all_uses(sum, back);
        if let Some(made) = m.def_op(back) {
            m.set_operand(made, "source", sum);
        }
    }
}
