//! Operations on lanes whose types and operands have been checked.

use super::Result;
use crate::decode::{Function, Mods};
use crate::parse::ast::Instruction;
use crate::program::inst::{BoolOp, LaneFn, Op};
use crate::program::operand::Src;
use crate::program::types::Ty;

/// A source that is not there.
pub const ZERO: Src = Src::Const(0);

/// A lane operation with as many sources as `srcs`.
pub fn lanes<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    dst_ty: Ty,
    f: LaneFn,
    srcs: &[Src],
) -> Result<Op> {
    let dst = cx.dst_at(inst, 0, dst_ty)?;
    if inst.operands.len() != srcs.len() + 1 {
        return cx.error(format!(
            "`{}` takes {} operands, found {}",
            inst.mnemonic(),
            srcs.len() + 1,
            inst.operands.len()
        ));
    }
    let mut four = [ZERO; 4];
    four[..srcs.len()].copy_from_slice(srcs);
    Ok(Op::Lanes {
        f,
        dst,
        srcs: four,
        count: srcs.len() as u8,
    })
}

/// Sources 1.. of `inst`, all of type `ty`.
pub fn same_srcs<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    ty: Ty,
) -> Result<Vec<Src>> {
    (1..inst.operands.len())
        .map(|i| cx.src_at(inst, i, ty))
        .collect()
}

/// The single type of the opcode.
pub fn require_ty<'a>(
    cx: &Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Ty> {
    match mods.ty() {
        Some(ty) => Ok(ty),
        None => cx.error(format!("`{}` lacks a type", inst.mnemonic())),
    }
}

/// Words of boolean operations.
pub const BOOLS: &[(&str, BoolOp)] = &[
    ("and", BoolOp::And),
    ("or", BoolOp::Or),
    ("xor", BoolOp::Xor),
];
