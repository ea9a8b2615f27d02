//! Matmuls of batches of one matrix, which are matmuls of matrices: every instruction and pipeline knows those.

use super::carried_sum::CarriedSum;
use super::look::{is_matmul, is_scaled, place};
use super::promote;
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
    let result = m.result(op);
    let (whole, flat) = (m.ty(result), flat_type(m, result));
    let carried = CarriedSum::find(m, op);
    if let Some(carried) = &carried {
        carried.change(m, flat, reshape);
    }
    let zero = promote::starts_from_zero(m, op);
    let acc = Matmul::of(m.op(op)).map(|v| v.acc);
    let data = m.op(op).clone();
    let types: Vec<TypeId> = data.operands.iter().map(|&v| flat_type(m, v)).collect();
    let (block, at) = place(m, op);
    let mut b = m.at(block, at);
    b.loc = data.loc;
    let matrix = |(&v, &ty): (&ValueId, &TypeId)| match Some(v) == acc {
        true if carried.is_some() => v,
        true if zero => promote::zeros(&mut b, ty),
        _ => reshape(&mut b, v, ty),
    };
    let operands: Vec<ValueId> = data.operands.iter().zip(&types).map(matrix).collect();
    let groups: Vec<&[ValueId]> = operands.iter().map(std::slice::from_ref).collect();
    let product = b.op(data.kind, &groups, data.attrs.iter().cloned(), &[flat], &[]);
    let mut product = b.module.result(product);
    if carried.is_none() {
        product = reshape(&mut b, product, whole);
    }
    m.replace_all_uses(result, product);
    m.erase(op);
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
