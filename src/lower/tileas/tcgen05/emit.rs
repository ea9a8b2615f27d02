//! Small operations around matmuls in tensor memory.

use crate::dialect::cuda_tile::view as tile;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{Attr, BlockId, Module, OpId, Type, TypeId, ValueId};
use crate::lower::build::{cased, constant};
use crate::lower::tileas::look::{self, place};

/// An operation without results or attributes in front of `op`.
pub fn before(m: &mut Module, op: OpId, kind: S, groups: &[&[ValueId]]) -> OpId {
    let ((block, at), loc) = (place(m, op), m.op(op).loc);
    let mut b = m.at(block, at);
    b.loc = loc;
    b.op(kind, groups, [], &[], &[])
}

/// A pipeline of matmuls with one stage, which nobody consumes yet, at the front of `body`.
pub fn pipeline(m: &mut Module, body: BlockId) -> ValueId {
    let i32_ty = m.types.int(32);
    let int = |value: i64| Some(Attr::Int { value, ty: i32_ty });
    let ty = m.types.intern(Type::Pipeline { stages: 1 });
    let attrs = [cased(PipelineKind::Mma), int(1), int(0), int(0), None];
    m.at(body, 0).value(S::PipelineCreate, &[], attrs, ty)
}

/// The constant 0 (i32) at the front of `body`.
pub fn number_at(m: &mut Module, body: BlockId) -> ValueId {
    let i32_ty = m.types.int(32);
    let ty = m.types.tile(i32_ty, &[]);
    constant(&mut m.at(body, 0), 0, ty)
}

/// A scalar i1 in front of `op`.
pub fn flag(m: &mut Module, op: OpId, value: bool) -> ValueId {
    let ty = flag_type(m);
    let (block, at) = place(m, op);
    constant(&mut m.at(block, at), i64::from(value), ty)
}

pub fn flag_type(m: &mut Module) -> TypeId {
    let i1 = m.types.int(1);
    m.types.tile(i1, &[])
}

/// Whether all elements of a tile are the constant zero.
pub fn is_zero(m: &Module, tile: ValueId) -> bool {
    let Some(op) = m.def_op(tile) else {
        return false;
    };
    match tile::View::of(m.op(op)) {
        Some(tile::View::Broadcast(v)) => is_zero(m, v.source()),
        Some(tile::View::Reshape(v)) => is_zero(m, v.source()),
        _ => look::is_zero(m, op),
    }
}
