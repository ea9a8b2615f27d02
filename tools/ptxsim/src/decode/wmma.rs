//! `wmma` (PTX ISA 9.7.14.4).

use super::Result;
use super::fragments::{
    ACCUMULATORS, ELEMENTS, accumulator_type, register_list, required, shape, source_list,
};
use super::memory::SPACES;
use super::mods::Mods;
use super::names::Function;
use crate::matrix::wmma::registers;
use crate::parse::ast::Instruction;
use crate::program::inst::{AccTy, MatTy, Op, Product, Space, Src, WmmaMove};
use crate::program::types::Ty;

/// m, n and k.
type Shape = (usize, usize, usize);

/// Shapes with their element types; 16-bit and 8-bit integer ones come in three aspects.
const SHAPES: &[(Shape, &[MatTy])] = &[
    ((16, 16, 16), WIDE),
    ((32, 8, 16), WIDE),
    ((8, 32, 16), WIDE),
    ((16, 16, 8), &[MatTy::TF32]),
    ((8, 8, 4), &[MatTy::F64]),
    ((8, 8, 32), &[MatTy::S4, MatTy::U4]),
    ((8, 8, 128), &[MatTy::B1]),
];
const WIDE: &[MatTy] = &[MatTy::F16, MatTy::BF16, MatTy::S8, MatTy::U8];

fn element_of(acc: AccTy) -> (u32, Ty) {
    match acc {
        AccTy::F16 => (16, Ty::B32),
        AccTy::F64 => (64, Ty::F64),
        _ => (32, accumulator_type(acc)),
    }
}

/// Registers of an A or B fragment: half-precision ones always have eight.
fn operand_registers(ty: MatTy, count: usize) -> usize {
    match ty {
        MatTy::F16 => 8,
        _ => registers(count, ty.container_bits(false)),
    }
}

fn check_shape<'a>(
    cx: &Function<'_, 'a>,
    inst: &Instruction<'a>,
    shape: Shape,
    ty: MatTy,
) -> Result<()> {
    if SHAPES
        .iter()
        .any(|(s, tys)| *s == shape && tys.contains(&ty))
    {
        return Ok(());
    }
    cx.unsupported(inst)
}

fn check_count(cx: &Function<'_, '_>, name: &str, found: usize, wanted: usize) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    cx.error(format!(
        "wmma fragment {name} has {found} registers, the shape and type need {wanted}"
    ))
}

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    if mods.flag("mma") {
        return product(cx, inst, mods);
    }
    let store = mods.flag("store");
    if !store && !mods.flag("load") {
        return cx.unsupported(inst);
    }
    transfer(cx, inst, mods, store)
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    A,
    B,
    C,
}

fn transfer<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
    store: bool,
) -> Result<Op> {
    let role = mods.one_of(&[
        ("a", Role::A),
        ("b", Role::B),
        ("c", Role::C),
        ("d", Role::C),
    ]);
    let role = required(cx, inst, role)?;
    mods.flag("sync");
    mods.flag("aligned");
    let layout = mods.one_of(&[("row", true), ("col", false)]);
    let row_major = required(cx, inst, layout)?;
    let (m, n, k) = required(cx, inst, mods.take(shape))?;
    let space = mods.one_of(SPACES).unwrap_or(Space::Generic);
    let (rows, columns) = match role {
        Role::A => (m, k),
        Role::B => (k, n),
        Role::C => (m, n),
    };
    let (bits, ty, count) = if role == Role::C {
        let acc = required(cx, inst, mods.one_of(ACCUMULATORS))?;
        let (bits, ty) = element_of(acc);
        (bits, ty, registers(rows * columns, bits))
    } else {
        let element = required(cx, inst, mods.one_of(ELEMENTS))?;
        check_shape(cx, inst, (m, n, k), element)?;
        let ty = if element == MatTy::F64 {
            Ty::F64
        } else {
            Ty::B32
        };
        let bits = element.container_bits(false);
        (bits, ty, operand_registers(element, rows * columns))
    };
    let (regs_at, address_at) = if store { (1, 0) } else { (0, 1) };
    let regs: Vec<Src> = if store {
        source_list(cx, inst, regs_at, ty)?
    } else {
        let list = register_list(cx, inst, regs_at, ty)?;
        list.into_iter().map(|r| Src::Reg(r.0)).collect()
    };
    check_count(cx, "", regs.len(), count)?;
    let address = cx.address_at(inst, address_at, space)?;
    let stride = inst
        .operands
        .get(2)
        .map(|o| cx.src(o, Ty::U32))
        .transpose()?;
    Ok(Op::WmmaMove(Box::new(WmmaMove {
        rows,
        columns,
        bits,
        row_major,
        regs,
        address,
        stride,
        store,
    })))
}

fn product<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let bit_xor = mods.flag("xor");
    mods.flag("and");
    mods.flag("popc");
    for word in ["sync", "aligned", "row", "col", "row", "col"] {
        mods.flag(word);
    }
    mods.round();
    let (m, n, k) = required(cx, inst, mods.take(shape))?;
    let saturate = mods.flag("satfinite");
    // Four types, or those of D and C with half-precision operands.
    let d_ty = required(cx, inst, mods.one_of(ACCUMULATORS))?;
    let second = required(cx, inst, mods.one_of(ELEMENTS_AND_SINGLE))?;
    let (a_ty, b_ty, c_ty) = match mods.one_of(ELEMENTS) {
        Some(b_ty) => {
            let c_ty = required(cx, inst, mods.one_of(ACCUMULATORS))?;
            (required(cx, inst, second)?, b_ty, c_ty)
        }
        None => {
            let c_ty = if second == Some(MatTy::F16) {
                AccTy::F16
            } else {
                AccTy::F32
            };
            (MatTy::F16, MatTy::F16, c_ty)
        }
    };
    check_shape(cx, inst, (m, n, k), a_ty)?;
    let wide = if a_ty == MatTy::F64 { Ty::F64 } else { Ty::B32 };
    let (d_bits, d_reg) = element_of(d_ty);
    let (c_bits, c_reg) = element_of(c_ty);
    let d = register_list(cx, inst, 0, d_reg)?;
    let (a, b) = (
        source_list(cx, inst, 1, wide)?,
        source_list(cx, inst, 2, wide)?,
    );
    let c = source_list(cx, inst, 3, c_reg)?;
    check_count(cx, "A", a.len(), operand_registers(a_ty, m * k))?;
    check_count(cx, "B", b.len(), operand_registers(b_ty, k * n))?;
    check_count(cx, "C", c.len(), registers(m * n, c_bits))?;
    check_count(cx, "D", d.len(), registers(m * n, d_bits))?;
    Ok(Op::Wmma(Box::new(Product {
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
        bit_and: !bit_xor,
    })))
}

/// The second type of `wmma.mma`: A's, or a single-precision C's, which no A has.
const ELEMENTS_AND_SINGLE: &[(&str, Option<MatTy>)] = &[
    ("f16", Some(MatTy::F16)),
    ("bf16", Some(MatTy::BF16)),
    ("tf32", Some(MatTy::TF32)),
    ("f64", Some(MatTy::F64)),
    ("s8", Some(MatTy::S8)),
    ("u8", Some(MatTy::U8)),
    ("s4", Some(MatTy::S4)),
    ("u4", Some(MatTy::U4)),
    ("b1", Some(MatTy::B1)),
    ("f32", None),
];
