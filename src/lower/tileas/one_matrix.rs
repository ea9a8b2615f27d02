//! Matmuls of batches of one matrix, which are matmuls of matrices: every instruction and pipeline knows those.

use super::carried_sum::multiply_changed;
use super::look::{is_matmul, is_scaled};
use crate::dialect::cuda_tile::Op as C;
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpBuilder, OpId, TypeId, ValueId};

/// Takes the first dimension from every such matmul under `body`, and from the sums that loops carry for it.
pub fn flatten(m: &mut Module, body: BlockId) {
    for op in m.ops_under(body) {
        if is_matmul(m, op) && !is_scaled(m, op) && has_one_matrix(m, op) {
            flatten_one(m, op);
        }
    }
}

fn has_one_matrix(m: &Module, op: OpId) -> bool {
    let lhs = Matmul::of(m.op(op)).and_then(|v| m.types.as_tile(m.ty(v.lhs)));
    matches!(lhs, Some((_, &[1, _, _])))
}

fn flatten_one(m: &mut Module, op: OpId) {
    let Matmul { lhs, rhs, .. } = Matmul::known(m.op(op));
    let operands = [lhs, rhs].map(|v| (v, flat_type(m, v)));
    let flat = flat_type(m, m.result(op));
    let attrs = m.op(op).attrs.clone();
    multiply_changed(m, op, operands, attrs, flat, reshape);
}

fn reshape(b: &mut OpBuilder<'_>, tile: ValueId, ty: TypeId) -> ValueId {
    b.value(C::Reshape, &[tile], [], ty)
}

/// The type of a tile without its first dimension of three.
fn flat_type(m: &mut Module, tile: ValueId) -> TypeId {
    let elem = m.types.elem(m.ty(tile));
    let shape = m.types.as_tile(m.ty(tile)).map_or(vec![], |t| t.1.to_vec());
    match shape[..] {
        [_, ref matrix @ ..] if shape.len() == 3 => m.types.tile(elem, matrix),
        _ => m.ty(tile),
    }
}
