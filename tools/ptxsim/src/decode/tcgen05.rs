//! `tcgen05` (PTX ISA 9.7.16.7-12).

use super::Result;
use super::fragments::required;
use super::logic::immediate;
use super::mods::Mods;
use super::names::Function;
use crate::decode::fragments::register_list;
use crate::parse::ast::{Instruction, Operand};
use crate::program::inst::{Op, Space, Src};
use crate::program::tensor::{
    Allocation, AllocationKind, Collect, FillShape, LoadReduce, MmaKind, MoveShape, ReduceType,
    ScaleSize, Tensor, TensorA, TensorAddress, TensorFill, TensorMma, TensorMove, TensorScales,
    Unpack,
};
use crate::program::types::Ty;

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let Some(name) = mods.take(Some) else {
        return cx.unsupported(inst);
    };
    let tensor = match name {
        "alloc" | "dealloc" | "relinquish_alloc_permit" => allocation(cx, inst, mods, name)?,
        "ld" | "st" => moves(cx, inst, mods, name == "st")?,
        "wait::ld" | "wait::st" => {
            aligned(mods);
            Tensor::Wait {
                stores: name == "wait::st",
            }
        }
        "fence::before_thread_sync" => Tensor::Fence { after: false },
        "fence::after_thread_sync" => Tensor::Fence { after: true },
        "commit" => commit(cx, inst, mods)?,
        "cp" => fill(cx, inst, mods)?,
        "shift" => {
            let pair = group(cx, inst, mods)?;
            if !mods.flag("down") {
                return cx.unsupported(inst);
            }
            Tensor::Shift {
                pair,
                address: tensor_address(cx, inst, 0)?,
            }
        }
        "mma" => mma(cx, inst, mods)?,
        _ => return cx.unsupported(inst),
    };
    Ok(Op::Tensor(tensor))
}

fn aligned(mods: &mut Mods<'_>) {
    mods.flag("sync");
    mods.flag("aligned");
}

/// `.cta_group::1` or `::2`; true for two.
fn group<'a>(cx: &Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<bool> {
    required(
        cx,
        inst,
        mods.one_of(&[("cta_group::1", false), ("cta_group::2", true)]),
    )
}

fn tensor_address<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    index: usize,
) -> Result<TensorAddress> {
    match cx.operand(inst, index)? {
        Operand::Memory {
            base,
            offset,
            extra,
        } if extra.is_empty() => Ok(TensorAddress {
            base: cx.src(base, Ty::B32)?,
            offset: *offset,
        }),
        _ => cx.error(format!(
            "operand {} of `{}` must be an address in brackets",
            index + 1,
            inst.mnemonic()
        )),
    }
}

fn allocation<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
    name: &str,
) -> Result<Tensor> {
    let pair = group(cx, inst, mods)?;
    aligned(mods);
    let what = match name {
        "alloc" => {
            let space = if mods.flag("shared::cta") || mods.flag("shared") {
                Space::Shared
            } else {
                Space::Generic
            };
            mods.flag("b32");
            AllocationKind::Alloc {
                to: cx.address_at(inst, 0, space)?,
                columns: cx.src_at(inst, 1, Ty::U32)?,
            }
        }
        "dealloc" => {
            mods.flag("b32");
            AllocationKind::Dealloc {
                address: cx.src_at(inst, 0, Ty::B32)?,
                columns: cx.src_at(inst, 1, Ty::U32)?,
            }
        }
        _ => AllocationKind::Relinquish,
    };
    Ok(Tensor::Allocation(Allocation { pair, what }))
}

const COUNTS: &[(&str, u32)] = &[
    ("x1", 1),
    ("x2", 2),
    ("x4", 4),
    ("x8", 8),
    ("x16", 16),
    ("x32", 32),
    ("x64", 64),
    ("x128", 128),
];

/// `tcgen05.ld` and `tcgen05.st`
fn moves<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
    store: bool,
) -> Result<Tensor> {
    let reduces = !store && mods.flag("red");
    aligned(mods);
    let shape = required(
        cx,
        inst,
        mods.one_of(&[
            ("32x32b", MoveShape::L32B32),
            ("16x64b", MoveShape::L16B64),
            ("16x128b", MoveShape::L16B128),
            ("16x256b", MoveShape::L16B256),
            ("16x32bx2", MoveShape::L16B32x2 { split: 0 }),
        ]),
    )?;
    let count = required(cx, inst, mods.one_of(COUNTS))?;
    let packed = mods.flag(if store { "unpack::16b" } else { "pack::16b" });
    let per_count = match shape {
        MoveShape::L16B128 => 2,
        MoveShape::L16B256 => 4,
        _ => 1,
    };
    let halves = matches!(shape, MoveShape::L16B32x2 { .. });
    let (at, regs_at) = match (store, reduces) {
        (true, _) => (0, 1 + usize::from(halves)),
        (false, false) => (1, 0),
        (false, true) => (2, 0),
    };
    let shape = if halves {
        MoveShape::L16B32x2 {
            split: immediate(cx, inst, at + 1)? as u32,
        }
    } else {
        shape
    };
    let regs = if store {
        let operand = cx.operand(inst, regs_at)?;
        cx.srcs(operand, Ty::B32)?
    } else {
        register_list(cx, inst, regs_at, Ty::B32)?
            .into_iter()
            .map(|r| Src::Reg(r.0))
            .collect()
    };
    if regs.len() != (count * per_count) as usize || regs.len() > 128 {
        return cx.error(format!(
            "`{}` has {} registers, its shape needs {}",
            inst.mnemonic(),
            regs.len(),
            count * per_count
        ));
    }
    let reduce = if reduces {
        let whole = matches!(shape, MoveShape::L32B32 | MoveShape::L16B32x2 { .. });
        if !whole || count < 2 || packed {
            return cx.error("tcgen05.ld.red needs shape .32x32b or .16x32bx2 and at least .x2");
        }
        Some(LoadReduce {
            dst: cx.dst_at(inst, 1, Ty::B32)?,
            max: required(cx, inst, mods.one_of(&[("min", false), ("max", true)]))?,
            abs: mods.flag("abs"),
            nan: mods.flag("NaN"),
            ty: required(
                cx,
                inst,
                mods.one_of(&[
                    ("f32", ReduceType::F32),
                    ("u32", ReduceType::U32),
                    ("s32", ReduceType::S32),
                ]),
            )?,
        })
    } else {
        mods.flag("b32");
        None
    };
    Ok(Tensor::Move(Box::new(TensorMove {
        store,
        shape,
        count,
        packed,
        address: tensor_address(cx, inst, at)?,
        regs,
        reduce,
    })))
}

fn commit<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Tensor> {
    let pair = group(cx, inst, mods)?;
    if !mods.flag("mbarrier::arrive::one") {
        return cx.unsupported(inst);
    }
    let space = if mods.flag("shared::cluster") {
        Space::SharedCluster
    } else {
        Space::Generic
    };
    let multicast = mods.flag("multicast::cluster");
    mods.flag("b64");
    Ok(Tensor::Commit {
        pair,
        barrier: cx.address_at(inst, 0, space)?,
        multicast: if multicast {
            Some(cx.src_at(inst, 1, Ty::U16)?)
        } else {
            None
        },
    })
}

/// `tcgen05.cp`
fn fill<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Tensor> {
    let pair = group(cx, inst, mods)?;
    let shape = required(
        cx,
        inst,
        mods.one_of(&[
            ("128x256b", 0),
            ("128x128b", 1),
            ("4x256b", 2),
            ("64x128b", 3),
            ("32x128b", 4),
        ]),
    )?;
    let multicast = mods.one_of(&[("warpx2::02_13", 1), ("warpx2::01_23", 2), ("warpx4", 3)]);
    let shape = match (shape, multicast) {
        (0, None) => FillShape::L128B256,
        (1, None) => FillShape::L128B128,
        (2, None) => FillShape::L4B256,
        (3, Some(1)) => FillShape::L64Pairs02,
        (3, Some(2)) => FillShape::L64Pairs01,
        (4, Some(3)) => FillShape::L32Four,
        _ => return cx.error("tcgen05.cp does not have this shape with this .warpx"),
    };
    let unpack = if mods.flag("b8x16") {
        let format = mods.one_of(&[("b6x16_p32", Unpack::Six), ("b4x16_p64", Unpack::Four)]);
        Some(required(cx, inst, format)?)
    } else {
        None
    };
    Ok(Tensor::Copy(Box::new(TensorFill {
        pair,
        shape,
        unpack,
        address: tensor_address(cx, inst, 0)?,
        source: cx.src_at(inst, 1, Ty::B64)?,
    })))
}

const KINDS: &[(&str, MmaKind)] = &[
    ("kind::f16", MmaKind::F16),
    ("kind::tf32", MmaKind::Tf32),
    ("kind::f8f6f4", MmaKind::F8f6f4),
    ("kind::i8", MmaKind::I8),
    ("kind::mxf8f6f4", MmaKind::Mxf8f6f4),
    ("kind::mxf4", MmaKind::Mxf4),
    ("kind::mxf4nvf4", MmaKind::Mxf4nvf4),
];

/// `collector::a::fill`: the buffer's name and what is done.
fn collector(word: &str) -> Option<(&str, Collect)> {
    let (buffer, what) = word.strip_prefix("collector::")?.split_once("::")?;
    let what = match what {
        "fill" => Collect::Fill,
        "use" => Collect::Use,
        "lastuse" => Collect::LastUse,
        "discard" => Collect::Discard,
        _ => return None,
    };
    Some((buffer, what))
}

fn collected<'a>(
    cx: &Function<'_, 'a>,
    mods: &mut Mods<'_>,
    stationary: bool,
) -> Result<(u8, Collect)> {
    let Some((buffer, what)) = mods.take(collector) else {
        return Ok((0, Collect::Discard));
    };
    let number = match (stationary, buffer) {
        (false, "a") | (true, "b0") => 0,
        (true, "b1") => 1,
        (true, "b2") => 2,
        (true, "b3") => 3,
        _ => return cx.error(format!("there is no collector buffer `{buffer}` here")),
    };
    Ok((number, what))
}

/// `tcgen05.mma` with `.sp` and `.ws`
fn mma<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Tensor> {
    let stationary = mods.flag("ws");
    let sparse = mods.flag("sp");
    let pair = group(cx, inst, mods)?;
    let kind = required(cx, inst, mods.one_of(KINDS))?;
    let scaled = mods.flag("block_scale");
    let block = mods.one_of(&[
        ("scale_vec::1X", ScaleSize::Vectors(1)),
        ("scale_vec::2X", ScaleSize::Vectors(2)),
        ("scale_vec::4X", ScaleSize::Vectors(4)),
        ("block16", ScaleSize::Block(16)),
        ("block32", ScaleSize::Block(32)),
    ]);
    let shift_a = mods.flag("ashift");
    let collect = collected(cx, mods, stationary)?;
    if scaled != kind.is_scaled() || stationary && (scaled || pair || shift_a) {
        return cx.error(format!(
            "`{}`: this .kind does not go with these qualifiers",
            inst.mnemonic()
        ));
    }
    let d = tensor_address(cx, inst, 0)?;
    let a = match cx.operand(inst, 1)? {
        Operand::Memory { .. } => TensorA::Tensor(tensor_address(cx, inst, 1)?),
        _ => TensorA::Shared(cx.src_at(inst, 1, Ty::B64)?),
    };
    if shift_a
        && (matches!(a, TensorA::Shared(_)) || matches!(collect.1, Collect::Fill | Collect::Use))
    {
        return cx.error(".ashift needs A in tensor memory and no .collector::a::fill or ::use");
    }
    let b = cx.src_at(inst, 2, Ty::B64)?;
    let mut next = 3;
    let metadata = if sparse {
        next += 1;
        Some(tensor_address(cx, inst, 3)?)
    } else {
        None
    };
    let descriptor = cx.src_at(inst, next, Ty::B32)?;
    next += 1;
    let scales = if scaled {
        next += 2;
        Some(TensorScales {
            block,
            a: tensor_address(cx, inst, next - 2)?,
            b: tensor_address(cx, inst, next - 1)?,
        })
    } else {
        None
    };
    let disabled = disabled_lanes(cx, inst, next, pair)?;
    next += usize::from(!disabled.is_empty());
    let accumulate = cx.pred_src(cx.operand(inst, next)?)?;
    let more = inst.operands.len() > next + 1;
    let (mut scale_d, mut zero_columns) = (0, None);
    if more && stationary {
        zero_columns = Some(cx.src_at(inst, next + 1, Ty::B64)?);
    } else if more {
        scale_d = immediate(cx, inst, next + 1)? as u32;
        if scale_d > 15 || !matches!(kind, MmaKind::F16 | MmaKind::Tf32) {
            return cx.error("scale-input-d is 0 to 15, for .kind::f16 and .kind::tf32");
        }
    }
    Ok(Tensor::Mma(Box::new(TensorMma {
        pair,
        kind,
        stationary,
        d,
        a,
        b,
        metadata,
        descriptor,
        scales,
        disabled,
        accumulate,
        scale_d,
        shift_a,
        collect,
        zero_columns,
    })))
}

/// `disable-output-lane`, if operand `index` is a vector.
fn disabled_lanes<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    index: usize,
    pair: bool,
) -> Result<Vec<Src>> {
    let operand = cx.operand(inst, index)?;
    if !matches!(operand, Operand::Vector(_)) {
        return Ok(Vec::new());
    }
    let words = cx.srcs(operand, Ty::B32)?;
    let wanted = if pair { 8 } else { 4 };
    if words.len() != wanted {
        return cx.error(format!(
            "disable-output-lane has {} elements, it needs {wanted}",
            words.len()
        ));
    }
    Ok(words)
}
