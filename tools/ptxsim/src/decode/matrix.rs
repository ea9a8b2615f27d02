//! Matrix instructions (PTX ISA 9.7.14, 9.7.15).

use super::Result;
use super::logic::immediate;
use super::memory::SPACES;
use super::mods::Mods;
use super::names::Function;
use crate::decode::fragments::{
    ACCUMULATORS, ELEMENTS, accumulator_type, register_list, required, shape, source_list,
};
use crate::parse::ast::{Instruction, Operand};
use crate::program::inst::{
    BlockScale, MatTy, MatrixMove, MatrixShape, Mma, Op, PredSrc, Product, Space, Src, Wgmma,
    WgmmaA,
};
use crate::program::types::Ty;

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    match inst.opcode[0] {
        "mma" => mma(cx, inst, mods),
        "wmma" => super::wmma::decode(cx, inst, mods),
        "wgmma" => wgmma(cx, inst, mods),
        "ldmatrix" => matrix_move(cx, inst, mods, false),
        "stmatrix" => matrix_move(cx, inst, mods, true),
        _ => {
            for word in ["sync", "aligned", "m8n8", "trans"] {
                mods.flag(word);
            }
            mods.ty();
            Ok(Op::MoveMatrix {
                dst: cx.dst_at(inst, 0, Ty::B32)?,
                src: cx.src_at(inst, 1, Ty::B32)?,
            })
        }
    }
}

fn mma<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let is_sparse = mods.take(|w| w.starts_with("sp").then_some(())).is_some();
    mods.flag("sync");
    mods.flag("aligned");
    let (m, n, k) = required(cx, inst, mods.take(shape))?;
    let layout = [("row", true), ("col", false)];
    let a_row = mods.one_of(&layout) == Some(true);
    let b_col = mods.one_of(&layout) == Some(false);
    mods.take(|w| w.starts_with("kind::").then_some(()));
    let scaled = mods.flag("block_scale");
    let vectors = mods.one_of(&[
        ("scale_vec::1X", 1),
        ("scale_vec::2X", 2),
        ("scale_vec::4X", 4),
    ]);
    let saturate = mods.flag("satfinite");
    let d_ty = required(cx, inst, mods.one_of(ACCUMULATORS))?;
    let a_ty = required(cx, inst, mods.one_of(ELEMENTS))?;
    let b_ty = required(cx, inst, mods.one_of(ELEMENTS))?;
    let c_ty = required(cx, inst, mods.one_of(ACCUMULATORS))?;
    let bit_and = mods.flag("and");
    mods.flag("xor");
    mods.flag("popc");
    let scale_ty = mods.one_of(&[("ue8m0", false), ("ue4m3", true)]);
    let wide = if a_ty == MatTy::F64 { Ty::F64 } else { Ty::B32 };
    let d = register_list(cx, inst, 0, wide)?;
    let (a, b) = (
        source_list(cx, inst, 1, wide)?,
        source_list(cx, inst, 2, wide)?,
    );
    let c = source_list(
        cx,
        inst,
        3,
        if wide == Ty::F64 {
            wide
        } else {
            accumulator_type(c_ty)
        },
    )?;
    let mut next = 4;
    let sparse = if is_sparse {
        next += 2;
        Some((cx.src_at(inst, 4, Ty::B32)?, immediate(cx, inst, 5)? as u32))
    } else {
        None
    };
    let scale = if scaled {
        Some(block_scale(cx, inst, next, vectors, scale_ty)?)
    } else {
        None
    };
    let product = Product {
        m,
        n,
        k,
        a_ty,
        b_ty,
        c_ty,
        d_ty,
        d,
        a,
        b,
        c,
        saturate,
        bit_and,
    };
    let mma = Mma {
        product,
        a_row,
        b_col,
        sparse,
        scale,
    };
    crate::matrix::mma::check(&mma)
        .or_else(|message| cx.error(format!("`{}`: {message}", inst.mnemonic())))?;
    Ok(Op::Mma(Box::new(mma)))
}

/// `scaleA, {byteA, threadA}, scaleB, {byteB, threadB}`
fn block_scale<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    at: usize,
    vectors: Option<usize>,
    e4m3: Option<bool>,
) -> Result<BlockScale> {
    let one = |cx: &mut Function<'_, 'a>, at: usize| -> Result<(Src, Src, Src)> {
        let data = cx.src_at(inst, at, Ty::B32)?;
        match source_list(cx, inst, at + 1, Ty::U16)?.as_slice() {
            &[byte, thread] => Ok((data, byte, thread)),
            _ => cx.error("a block scale needs {byte, thread}"),
        }
    };
    let (a, b) = (one(cx, at)?, one(cx, at + 2)?);
    Ok(BlockScale {
        vectors: vectors.unwrap_or(1),
        e4m3: e4m3.unwrap_or(false),
        a,
        b,
    })
}

fn wgmma<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let name = mods.one_of(&[
        ("fence", 0),
        ("commit_group", 1),
        ("wait_group", 2),
        ("mma_async", 3),
    ]);
    let is_sparse = mods.flag("sp");
    mods.flag("sync");
    mods.flag("aligned");
    match name {
        Some(0) => return Ok(Op::WgmmaFence),
        Some(1) => return Ok(Op::WgmmaCommit),
        Some(2) => {
            return Ok(Op::WgmmaWait {
                pending: immediate(cx, inst, 0)? as u32,
            });
        }
        Some(_) => {}
        None => return cx.unsupported(inst),
    }
    let (m, n, k) = required(cx, inst, mods.take(shape))?;
    let saturate = mods.flag("satfinite");
    let d_ty = required(cx, inst, mods.one_of(ACCUMULATORS))?;
    let a_ty = required(cx, inst, mods.one_of(ELEMENTS))?;
    let b_ty = required(cx, inst, mods.one_of(ELEMENTS))?;
    let bit_and = mods.flag("and");
    mods.flag("popc");
    let d = register_list(cx, inst, 0, accumulator_type(d_ty))?;
    let a = match cx.operand(inst, 1)? {
        Operand::Vector(_) => WgmmaA::Registers(source_list(cx, inst, 1, Ty::B32)?),
        _ => WgmmaA::Descriptor(cx.src_at(inst, 1, Ty::B64)?),
    };
    let b = cx.src_at(inst, 2, Ty::B64)?;
    let mut next = 3;
    let sparse = if is_sparse {
        next += 2;
        Some((cx.src_at(inst, 3, Ty::B32)?, immediate(cx, inst, 4)? as u32))
    } else {
        None
    };
    let scale_d = scale_d(cx, inst, next)?;
    // imm-scale-a, imm-scale-b, then the transposes of those that can have them
    let rest: Vec<i64> = (next + 1..inst.operands.len())
        .map(|i| immediate(cx, inst, i).map(|v| v as i64))
        .collect::<Result<_>>()?;
    let at = |i: usize| rest.get(i).copied();
    let from_registers = matches!(a, WgmmaA::Registers(_));
    let (a_mn_major, b_mn_major) = if from_registers {
        (false, at(2) == Some(1))
    } else {
        (at(2) == Some(1), at(3) == Some(1))
    };
    let wgmma = Wgmma {
        n,
        k,
        a_ty,
        b_ty,
        d_ty,
        d,
        a,
        b,
        scale_d,
        negate_a: at(0) == Some(-1),
        negate_b: at(1) == Some(-1),
        a_mn_major,
        b_mn_major,
        saturate,
        sparse,
        bit_and,
    };
    crate::asynchronous::wgmma::check(&wgmma, m)
        .or_else(|message| cx.error(format!("`{}`: {message}", inst.mnemonic())))?;
    Ok(Op::Wgmma(Box::new(wgmma)))
}

/// `scale-d`: a predicate, or an integer constant in what some compilers write.
fn scale_d<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, index: usize) -> Result<PredSrc> {
    cx.pred_src(cx.operand(inst, index)?)
}

fn matrix_move<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
    store: bool,
) -> Result<Op> {
    mods.flag("sync");
    mods.flag("aligned");
    let shape = mods
        .one_of(&[("m8n8", 0), ("m16n16", 1), ("m8n16", 2), ("m16n8", 3)])
        .unwrap_or(0);
    let count = required(
        cx,
        inst,
        mods.one_of(&[("x1", 1usize), ("x2", 2), ("x4", 4)]),
    )?;
    let trans = mods.flag("trans");
    let space = mods.one_of(SPACES).unwrap_or(Space::Generic);
    let packed = mods.one_of(&[("b8x16", ()), ("b8", ())]).is_some();
    let padded = mods.one_of(&[("b6x16_p32", true), ("b4x16_p64", false)]);
    if !packed {
        mods.flag("b16");
    }
    let shape = match (shape, padded) {
        (0, None) => MatrixShape::M8n8B16,
        (3, None) => MatrixShape::M16n8B8,
        (1, None) => MatrixShape::M16n16B8,
        (2, Some(six)) => MatrixShape::M8n16Unpack { six },
        (1, Some(six)) => MatrixShape::M16n16Unpack { six },
        _ => return cx.unsupported(inst),
    };
    let per_matrix = if matches!(
        shape,
        MatrixShape::M16n16B8 | MatrixShape::M16n16Unpack { .. }
    ) {
        2
    } else {
        1
    };
    let (regs_at, address_at) = if store { (1, 0) } else { (0, 1) };
    let regs: Vec<Src> = if store {
        source_list(cx, inst, regs_at, Ty::B32)?
    } else {
        register_list(cx, inst, regs_at, Ty::B32)?
            .into_iter()
            .map(|r| Src::Reg(r.0))
            .collect()
    };
    if regs.len() != count * per_matrix {
        return cx.error(format!(
            "`{}` needs {} registers, found {}",
            inst.mnemonic(),
            count * per_matrix,
            regs.len()
        ));
    }
    let address = cx.address_at(inst, address_at, space)?;
    Ok(Op::MatrixMove(Box::new(MatrixMove {
        address,
        regs,
        trans,
        shape,
        store,
    })))
}
