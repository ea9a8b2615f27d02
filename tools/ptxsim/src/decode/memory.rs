//! Loads, stores, atomics and address conversions (PTX ISA 9.7.9.8-21, 9.7.13.13-14).

use super::Result;
use super::binding::Binding;
use super::checked::require_ty;
use super::mods::Mods;
use super::names::Function;
use crate::parse::ast::{Instruction, Operand};
use crate::program::WIDEST;
use crate::program::inst::{AtomOp, Op, Order, Reg, Space, Src};
use crate::program::types::Ty;

/// State spaces as opcodes name them.
pub const SPACES: &[(&str, Space)] = &[
    ("global", Space::Global),
    ("shared", Space::Shared),
    ("shared::cta", Space::Shared),
    ("shared::cluster", Space::SharedCluster),
    ("local", Space::Local),
    ("const", Space::Const),
    ("param", Space::CallParam),
    ("param::entry", Space::Param),
    ("param::func", Space::CallParam),
];

/// Consumes cache operators, eviction priorities, prefetch sizes and scopes: they change speed or who may look, not
/// what a sequentially interleaved machine sees.
pub fn skip_hints(mods: &mut Mods<'_>) -> bool {
    const HINTS: &[&str] = &[
        "ca",
        "cg",
        "cs",
        "lu",
        "cv",
        "wb",
        "wt",
        "nc",
        "L1::evict_normal",
        "L1::evict_unchanged",
        "L1::evict_first",
        "L1::evict_last",
        "L1::no_allocate",
        "L2::evict_normal",
        "L2::evict_first",
        "L2::evict_last",
        "L2::64B",
        "L2::128B",
        "L2::256B",
        "cta",
        "cluster",
        "gpu",
        "sys",
        "unified",
    ];
    for hint in HINTS {
        mods.flag(hint);
    }
    mods.flag("level::eviction_priority");
    mods.flag("L2::cache_hint") || mods.flag("level::cache_hint")
}

/// `.weak`, `.volatile`, `.relaxed`, `.acquire`, …
pub fn order(mods: &mut Mods<'_>) -> Order {
    let order = mods.one_of(&[
        ("weak", Order::Weak),
        ("volatile", Order::Relaxed),
        ("relaxed", Order::Relaxed),
        ("acquire", Order::Strong),
        ("release", Order::Strong),
        ("acq_rel", Order::Strong),
    ]);
    let mmio = mods.flag("mmio");
    order.unwrap_or(if mmio { Order::Relaxed } else { Order::Weak })
}

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    match inst.opcode[0] {
        "ld" | "ldu" => load(cx, inst, mods),
        "st" if mods.flag("async") => st_async(cx, inst, mods, None),
        "red" if mods.flag("async") => {
            let op = atom_op(cx, inst, mods)?;
            st_async(cx, inst, mods, Some(op))
        }
        "st" => store(cx, inst, mods),
        "atom" => atom(cx, inst, mods, false),
        "red" => atom(cx, inst, mods, true),
        "cvta" => cvta(cx, inst, mods),
        "isspacep" => {
            let Some(space) = mods.one_of(SPACES) else {
                return cx.unsupported(inst);
            };
            let src = cx.src_at(inst, 1, Ty::B64)?;
            match cx.pred_dst(cx.operand(inst, 0)?)? {
                Some(dst) => Ok(Op::IsSpace { dst, src, space }),
                None => Ok(Op::Nop),
            }
        }
        "multimem" => multimem(cx, inst, mods),
        "stacksave" | "stackrestore" | "alloca" => stack(cx, inst, mods),
        "prefetch" | "prefetchu" | "applypriority" | "discard" => prefetch(cx, inst, mods),
        "createpolicy" => createpolicy(cx, inst, mods),
        "mapa" => mapa(cx, inst, mods),
        "getctarank" => {
            let generic = !mods.flag("shared::cluster");
            require_ty(cx, inst, mods)?;
            let address = cx.src_at(inst, 1, Ty::B64)?;
            Ok(Op::GetCtaRank {
                dst: cx.dst_at(inst, 0, Ty::B32)?,
                address,
                generic,
            })
        }
        _ => cx.unsupported(inst),
    }
}

fn vector_width(mods: &mut Mods<'_>) -> usize {
    mods.one_of(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1)
}

fn load<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let space = mods.one_of(SPACES).unwrap_or(Space::Generic);
    let order = order(mods);
    skip_hints(mods);
    let width = vector_width(mods);
    let ty = require_ty(cx, inst, mods)?;
    let address = cx.address_at(inst, 1, space)?;
    let operand = cx.operand(inst, 0)?;
    let mut dsts = cx.dsts(operand, ty)?;
    check_width(cx, inst, dsts.len(), width, ty)?;
    let extend_to = register_bits(cx, &cx.items(operand)[0], ty);
    let ty = split_128(&mut dsts, ty, |reg| Reg(reg.0 + 1));
    Ok(Op::Load {
        dsts,
        address,
        ty,
        order,
        extend_to,
    })
}

/// A 128-bit access is a pair of 64-bit ones; the vector doubles.
fn split_128<T: Copy>(regs: &mut Vec<Option<T>>, ty: Ty, second: impl Fn(T) -> T) -> Ty {
    if ty != Ty::B128 {
        return ty;
    }
    *regs = regs.iter().flat_map(|&r| [r, r.map(&second)]).collect();
    Ty::B64
}

fn check_width(
    cx: &Function<'_, '_>,
    inst: &Instruction<'_>,
    found: usize,
    wanted: usize,
    ty: Ty,
) -> Result<()> {
    let name = inst.mnemonic();
    if found != wanted {
        return cx.error(format!("`{name}` needs {wanted} registers, found {found}"));
    }
    match found * ty.bytes() as usize {
        0..=WIDEST => Ok(()),
        bytes => cx.error(format!(
            "`{name}` is an access of {bytes} bytes, and none is wider than {WIDEST}"
        )),
    }
}

/// Width of the register that an operand names, to extend a signed load to.
fn register_bits<'a>(cx: &Function<'_, 'a>, operand: &Operand<'a>, ty: Ty) -> u32 {
    match operand {
        Operand::Name(name, _) => match cx.lookup(name) {
            Some(Binding::Register { ty, .. }) => ty.bits(),
            _ => ty.bits(),
        },
        _ => ty.bits(),
    }
}

fn store<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    if mods.flag("bulk") {
        return bulk_store(cx, inst, mods);
    }
    let space = mods.one_of(SPACES).unwrap_or(Space::Generic);
    let order = order(mods);
    skip_hints(mods);
    let width = vector_width(mods);
    let ty = require_ty(cx, inst, mods)?;
    let address = cx.address_at(inst, 0, space)?;
    let operand = cx.operand(inst, 1)?;
    let mut srcs: Vec<_> = cx.srcs(operand, ty)?.into_iter().map(Some).collect();
    check_width(cx, inst, srcs.len(), width, ty)?;
    let ty = split_128(&mut srcs, ty, super::logic::second_row);
    Ok(Op::Store {
        srcs: srcs.into_iter().flatten().collect(),
        address,
        ty,
        order,
    })
}

/// `st.bulk`: zeroes a stretch of shared memory (PTX ISA 9.7.9.13).
fn bulk_store<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    order(mods);
    let space = mods.one_of(SPACES).unwrap_or(Space::Generic);
    let address = cx.address_at(inst, 0, space)?;
    let size = cx.src_at(inst, 1, Ty::U64)?;
    if super::logic::immediate(cx, inst, 2)? != 0 {
        return cx.error("st.bulk stores zero only");
    }
    Ok(Op::ZeroShared { address, size })
}

fn atom_op<'a>(
    cx: &Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<AtomOp> {
    let op = mods.one_of(&[
        ("add", AtomOp::Add),
        ("min", AtomOp::Min),
        ("max", AtomOp::Max),
        ("inc", AtomOp::Inc),
        ("dec", AtomOp::Dec),
        ("and", AtomOp::And),
        ("or", AtomOp::Or),
        ("xor", AtomOp::Xor),
        ("exch", AtomOp::Exch),
        ("cas", AtomOp::Cas),
    ]);
    match op {
        Some(op) => Ok(op),
        None => cx.unsupported(inst),
    }
}

fn atom<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
    red: bool,
) -> Result<Op> {
    let space = mods.one_of(SPACES).unwrap_or(Space::Generic);
    let order = order(mods);
    let op = atom_op(cx, inst, mods)?;
    mods.flag("noftz");
    skip_hints(mods);
    let width = vector_width(mods);
    let ty = require_ty(cx, inst, mods)?;
    let first = usize::from(!red);
    let mut dsts = if red {
        Vec::new()
    } else {
        cx.dsts(cx.operand(inst, 0)?, ty)?
    };
    let address = cx.address_at(inst, first, space)?;
    let mut srcs = cx.srcs(cx.operand(inst, first + 1)?, ty)?;
    check_width(cx, inst, srcs.len(), width, ty)?;
    let mut compare = None;
    if op == AtomOp::Cas {
        // atom.cas d, [a], compare, new
        let new = cx.src_at(inst, first + 2, ty)?;
        compare = Some(srcs[0]);
        srcs = vec![new];
    }
    if ty == Ty::B128 {
        if op != AtomOp::Exch && op != AtomOp::Cas {
            return cx.unsupported(inst);
        }
        dsts = dsts
            .iter()
            .flat_map(|&d| [d, d.map(|r: Reg| Reg(r.0 + 1))])
            .collect();
    }
    Ok(Op::Atom {
        op,
        ty,
        dsts,
        address,
        srcs,
        compare,
        order,
        red,
    })
}

/// `st.async`, `red.async` to another block's shared memory, completing on its mbarrier.
fn st_async<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
    reduce: Option<AtomOp>,
) -> Result<Op> {
    order(mods);
    skip_hints(mods);
    mods.flag("shared::cluster");
    mods.flag("mbarrier::complete_tx::bytes");
    let width = vector_width(mods);
    let ty = require_ty(cx, inst, mods)?;
    let address = cx.address_at(inst, 0, Space::SharedCluster)?;
    let srcs = cx.srcs(cx.operand(inst, 1)?, ty)?;
    check_width(cx, inst, srcs.len(), width, ty)?;
    let barrier = cx.address_at(inst, 2, Space::SharedCluster)?;
    Ok(Op::StAsync {
        address,
        barrier,
        srcs,
        ty,
        reduce,
    })
}

/// `multimem` (PTX ISA 9.7.9.15): a multicast object of one device, whose address is that of its memory. A reduction over
/// one device is its value.
fn multimem<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    if mods.flag("ld_reduce") {
        atom_op(cx, inst, mods)?;
        mods.one_of(&[("acc::f32", ()), ("acc::f16", ())]);
        return load(cx, inst, mods);
    }
    if mods.flag("st") {
        return store(cx, inst, mods);
    }
    if mods.flag("red") {
        return atom(cx, inst, mods, true);
    }
    cx.unsupported(inst)
}

/// Stack manipulation (PTX ISA 9.7.17).
fn stack<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let ty = require_ty(cx, inst, mods)?;
    match inst.opcode[0] {
        "stacksave" => Ok(Op::StackSave {
            dst: cx.dst_at(inst, 0, ty)?,
        }),
        "stackrestore" => Ok(Op::StackRestore {
            src: cx.src_at(inst, 0, ty)?,
        }),
        _ => {
            let align = match inst.operands.len() {
                3 => super::logic::immediate(cx, inst, 2)?,
                _ => 8,
            };
            if !align.is_power_of_two() || align > 4096 {
                return cx.error(format!(
                    "alignment {align} is not a power of two up to 4096"
                ));
            }
            Ok(Op::Alloca {
                dst: cx.dst_at(inst, 0, ty)?,
                size: cx.src_at(inst, 1, ty)?,
                align: align as u32,
            })
        }
    }
}

fn cvta<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let to_generic = !mods.flag("to");
    let Some(space) = mods.one_of(SPACES) else {
        return cx.unsupported(inst);
    };
    let ty = require_ty(cx, inst, mods)?;
    let src = cx.src_at(inst, 1, ty)?;
    let dst = cx.dst_at(inst, 0, ty)?;
    Ok(Op::CvtaTo {
        dst,
        src,
        space,
        to_generic,
    })
}

fn prefetch<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let space = mods.one_of(SPACES).unwrap_or(Space::Generic);
    let is_map = mods.flag("tensormap");
    skip_hints(mods);
    for level in ["L1", "L2", "L2::evict_last", "L2::evict_normal"] {
        mods.flag(level);
    }
    let address = cx.address_at(
        inst,
        0,
        if space == Space::CallParam {
            Space::Param
        } else {
            space
        },
    )?;
    Ok(Op::Prefetch { address, is_map })
}

/// A cache policy is opaque; nothing reads it but hints.
fn createpolicy<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    for word in ["fractional", "range", "cvt", "global", "L2"] {
        mods.flag(word);
    }
    while mods.take(|w| w.starts_with("L2::").then_some(())).is_some() {}
    mods.ty();
    let dst = cx.dst_at(inst, 0, Ty::B64)?;
    Ok(Op::Move {
        dst,
        src: Src::Const(0),
    })
}

fn mapa<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let generic = !mods.flag("shared::cluster");
    let ty = require_ty(cx, inst, mods)?;
    let (operand, offset) = match cx.operand(inst, 1)? {
        Operand::SymbolOffset(name, offset) => (Operand::Name(name, None), *offset),
        other => (other.clone(), 0),
    };
    let address = cx.src(&operand, ty)?;
    let rank = cx.src_at(inst, 2, Ty::U32)?;
    Ok(Op::Mapa {
        dst: cx.dst_at(inst, 0, ty)?,
        address,
        offset,
        rank,
        generic,
    })
}
