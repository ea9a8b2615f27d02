//! Matmuls done again on tiles of other shapes, with the sums that a loop carries for one of them alone.

use super::promote;
use crate::dialect::cuda_tile::Op as C;
use crate::facts::matmul::Matmul;
use crate::ir::{Attr, Module, OpBuilder, OpId, TypeId, ValueId};
use crate::lower::carried::inits;
use crate::lower::tileas::look::place;

/// Does `dot` on `operands`, each changed to the type beside it, and adds to a `ty`; what it was is made of the sum. A loop
/// that carries the sum for `dot` alone carries a `ty`.
pub fn multiply_changed<F>(
    m: &mut Module,
    dot: OpId,
    operands: [(ValueId, TypeId); 2],
    attrs: impl IntoIterator<Item = Option<Attr>>,
    ty: TypeId,
    changed: F,
) where
    F: Fn(&mut OpBuilder<'_>, ValueId, TypeId) -> ValueId,
{
    let (result, acc) = (m.result(dot), Matmul::known(m.op(dot)).acc);
    let whole = m.ty(result);
    let carried = CarriedSum::find(m, dot);
    if let Some(carried) = &carried {
        carried.change(m, ty, &changed);
    }
    let (block, at) = place(m, dot);
    let (kind, loc) = (m.op(dot).kind, m.op(dot).loc);
    let mut b = m.at(block, at);
    b.loc = loc;
    let [lhs, rhs] = operands.map(|(v, ty)| changed(&mut b, v, ty));
    let old = match carried {
        Some(_) => acc,
        None => first_sum(&mut b, acc, ty, &changed),
    };
    let product = b.op(kind, &[&[lhs], &[rhs], &[old]], attrs, &[ty], &[]);
    let mut product = b.module.result(product);
    if carried.is_none() {
        product = changed(&mut b, product, whole);
    }
    m.replace_all_uses(result, product);
    m.erase(dot);
}

/// What a matmul of another type begins with: zeros need no change.
fn first_sum(
    b: &mut OpBuilder<'_>,
    sum: ValueId,
    ty: TypeId,
    changed: impl Fn(&mut OpBuilder<'_>, ValueId, TypeId) -> ValueId,
) -> ValueId {
    match promote::are_zeros(b.module, sum) {
        true => promote::zeros(b, ty),
        false => changed(b, sum, ty),
    }
}

/// A loop that carries an accumulator which nothing in it uses but one matmul.
struct CarriedSum {
    for_op: OpId,
    acc: ValueId,
    place: usize,
}

impl CarriedSum {
    /// The loop around `dot` that carries what it adds to, if it carries it for `dot` alone.
    fn find(m: &Module, dot: OpId) -> Option<CarriedSum> {
        let acc = Matmul::of(m.op(dot))?.acc;
        let block = m.op(dot).block;
        let for_op = m.parent_of_block(block)?;
        let is_loop = C::of(m.op(for_op).kind) == Some(C::For);
        let place = m.block(block).args.iter().skip(1).position(|&a| a == acc)?;
        let end = m.terminator(block)?;
        let sum = m.result(dot);
        let yields = |i: usize| m.op(end).operands.get(i) == Some(&sum);
        let alone = m.is_used_once(acc, dot) && m.users(sum) == [end] && yields(place);
        (is_loop && alone).then_some(CarriedSum { for_op, acc, place })
    }

    /// Lets the loop carry a `ty`, which `changed` makes of the first sum, and the former type of the last one.
    fn change(
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
        let first = first_sum(&mut m.at(block, at), init, ty, &changed);
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
