//! Asynchronous copies, mbarriers and tensor maps (PTX ISA 9.7.9.25-28, 9.7.13.15).

use super::Result;
use super::logic::{immediate, require_ty};
use super::memory::{SPACES, order, skip_hints};
use super::mods::Mods;
use super::names::Function;
use crate::parse::ast::{Instruction, Operand};
use crate::program::inst::{
    Address, AtomOp, BulkCopy, BulkDirection, BulkReduce, MapField, MbarOp, Op, Space, Src,
    TensorCopy, TensorMode, WaitPhase,
};
use crate::program::types::Ty;

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    match inst.opcode[0] {
        "mbarrier" => mbarrier(cx, inst, mods),
        "tensormap" => tensormap(cx, inst, mods),
        _ => copy(cx, inst, mods),
    }
}

fn copy<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    let reduce = mods.flag("reduce");
    if !mods.flag("async") {
        return cx.unsupported(inst);
    }
    if !mods.flag("bulk") {
        return cp_async(cx, inst, mods);
    }
    if mods.flag("commit_group") {
        return Ok(Op::BulkCommit);
    }
    if mods.flag("wait_group") {
        let read_only = mods.flag("read");
        return Ok(Op::BulkWait {
            pending: immediate(cx, inst, 0)? as u32,
            read_only,
        });
    }
    let op = if reduce {
        mods.one_of(REDUCTIONS)
    } else {
        None
    };
    if reduce && op.is_none() {
        return cx.unsupported(inst);
    }
    let prefetch = mods.flag("prefetch");
    if mods.flag("tensor") {
        return tensor_copy(cx, inst, mods, op, prefetch);
    }
    bulk_copy(cx, inst, mods, op, prefetch)
}

const REDUCTIONS: &[(&str, AtomOp)] = &[
    ("add", AtomOp::Add),
    ("min", AtomOp::Min),
    ("max", AtomOp::Max),
    ("inc", AtomOp::Inc),
    ("dec", AtomOp::Dec),
    ("and", AtomOp::And),
    ("or", AtomOp::Or),
    ("xor", AtomOp::Xor),
];

fn cp_async<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    if mods.flag("commit_group") {
        return Ok(Op::CpAsyncCommit);
    }
    if mods.flag("wait_all") {
        return Ok(Op::CpAsyncWait { pending: None });
    }
    if mods.flag("wait_group") {
        return Ok(Op::CpAsyncWait {
            pending: Some(immediate(cx, inst, 0)? as u32),
        });
    }
    if mods.flag("mbarrier") {
        mods.flag("arrive");
        let no_increment = mods.flag("noinc");
        let space = mods.one_of(SPACES).unwrap_or(Space::Generic);
        require_ty(cx, inst, mods)?;
        return Ok(Op::CpAsyncArrive {
            barrier: cx.address_at(inst, 0, space)?,
            no_increment,
        });
    }
    let to = mods.one_of(&SPACES[1..3]);
    let hint = skip_hints(mods);
    mods.flag("global");
    let (Some(space), Ok(dst)) = (to, cx.address_at(inst, 0, Space::Shared)) else {
        return cx.unsupported(inst);
    };
    let dst = Address { space, ..dst };
    let src = cx.address_at(inst, 1, Space::Global)?;
    let bytes = immediate(cx, inst, 2)? as u32;
    if !matches!(bytes, 4 | 8 | 16) {
        return cx.error("cp.async copies 4, 8 or 16 bytes");
    }
    let mut rest = inst.operands.get(3..).unwrap_or(&[]).to_vec();
    if hint {
        rest.pop();
    }
    let (mut src_size, mut ignore) = (None, None);
    if let Some(operand) = rest.first() {
        match cx.pred_src(operand) {
            Ok(pred) if pred.pred.is_some() => ignore = Some(pred),
            _ => src_size = Some(cx.src(operand, Ty::U32)?),
        }
    }
    Ok(Op::CpAsync {
        dst,
        src,
        bytes,
        src_size,
        ignore,
    })
}

/// `.dst.src` of a bulk copy and what they make of it.
fn direction<'a>(
    cx: &Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<BulkDirection> {
    let spaces = (mods.one_of(SPACES), mods.one_of(SPACES));
    match spaces {
        (Some(Space::Shared | Space::SharedCluster), Some(Space::Global)) => {
            Ok(BulkDirection::Load)
        }
        (Some(Space::Global), Some(Space::Shared)) => Ok(BulkDirection::Store),
        (Some(Space::SharedCluster), Some(Space::Shared)) => Ok(BulkDirection::Cluster),
        _ => cx.unsupported(inst),
    }
}

fn completion(mods: &mut Mods<'_>) {
    mods.flag("mbarrier::complete_tx::bytes");
    mods.flag("bulk_group");
}

fn bulk_copy<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
    reduce: Option<AtomOp>,
    prefetch: bool,
) -> Result<Op> {
    if prefetch {
        mods.flag("L2");
        mods.flag("global");
        skip_hints(mods);
        let (src, size) = (
            cx.address_at(inst, 0, Space::Global)?,
            cx.src_at(inst, 1, Ty::U32)?,
        );
        let copy = BulkCopy {
            dst: None,
            src,
            size,
            barrier: None,
            direction: BulkDirection::Prefetch,
            reduce: None,
            multicast: None,
            byte_mask: None,
        };
        return Ok(Op::BulkCopy(Box::new(copy)));
    }
    let direction = direction(cx, inst, mods)?;
    completion(mods);
    let multicast = mods.flag("multicast::cluster");
    let hint = skip_hints(mods);
    let masked = mods.flag("cp_mask");
    mods.flag("noftz");
    let reduce = match reduce {
        Some(op) => Some(BulkReduce {
            op,
            ty: require_ty(cx, inst, mods)?,
        }),
        None => None,
    };
    let (to, from) = match direction {
        BulkDirection::Load => (Space::SharedCluster, Space::Global),
        BulkDirection::Store => (Space::Global, Space::Shared),
        _ => (Space::SharedCluster, Space::Shared),
    };
    let (dst, src) = (cx.address_at(inst, 0, to)?, cx.address_at(inst, 1, from)?);
    let size = cx.src_at(inst, 2, Ty::U32)?;
    let mut next = 3;
    let barrier = if direction == BulkDirection::Store {
        None
    } else {
        next += 1;
        Some(cx.address_at(inst, 3, Space::SharedCluster)?)
    };
    let mut extra = |wanted: bool, ty: Ty| -> Result<Option<Src>> {
        next += usize::from(wanted);
        if wanted {
            cx.src_at(inst, next - 1, ty).map(Some)
        } else {
            Ok(None)
        }
    };
    let multicast = extra(multicast, Ty::U16)?;
    extra(hint, Ty::B64)?;
    let byte_mask = extra(masked, Ty::U16)?;
    let copy = BulkCopy {
        dst: Some(dst),
        src,
        size,
        barrier,
        direction,
        reduce,
        multicast,
        byte_mask,
    };
    Ok(Op::BulkCopy(Box::new(copy)))
}

/// The map and the coordinates of `[map, {x, y}]`.
fn map_operand<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    index: usize,
) -> Result<(Address, Vec<Src>)> {
    let operand = cx.operand(inst, index)?;
    let Operand::Memory { extra, .. } = operand else {
        return cx.error("expected [tensorMap, {coordinates}]");
    };
    let coords = match extra.first() {
        Some(list) => cx.srcs(list, Ty::S32)?,
        None => return cx.error("expected coordinates after the tensor map"),
    };
    Ok((cx.address(operand, Space::Generic)?, coords))
}

fn tensor_copy<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
    reduce: Option<AtomOp>,
    prefetch: bool,
) -> Result<Op> {
    let rank = mods.one_of(&[("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)]);
    let Some(rank) = rank else {
        return cx.unsupported(inst);
    };
    let direction = if prefetch {
        mods.flag("L2");
        mods.flag("global");
        BulkDirection::Prefetch
    } else {
        direction(cx, inst, mods)?
    };
    completion(mods);
    let multicast = mods.flag("multicast::cluster");
    mods.flag("cta_group::1");
    let hint = skip_hints(mods);
    // The wide forms are sm_100a's.
    let im2col = mods.flag("im2col") || mods.flag("im2col_no_offs");
    let mode = mods.one_of(&[
        ("tile::gather4", TensorModeName::Gather4),
        ("tile::scatter4", TensorModeName::Scatter4),
    ]);
    mods.flag("tile");
    let is_load = direction == BulkDirection::Load;
    let (map_at, shared_at) = if is_load {
        (1, Some(0))
    } else {
        (0, (direction == BulkDirection::Store).then_some(1))
    };
    let (map, coords) = map_operand(cx, inst, map_at)?;
    let expected = if mode.is_some() { 5 } else { rank };
    if coords.len() != expected {
        return cx.error(format!(
            "a {rank}-dimensional copy needs {expected} coordinates, found {}",
            coords.len()
        ));
    }
    let shared_space = if is_load {
        Space::SharedCluster
    } else {
        Space::Shared
    };
    let shared = shared_at
        .map(|i| cx.address_at(inst, i, shared_space))
        .transpose()?;
    let barrier = if is_load {
        Some(cx.address_at(inst, 2, Space::SharedCluster)?)
    } else {
        None
    };
    let mut next = if is_load {
        3
    } else {
        map_at + 1 + usize::from(shared_at.is_some())
    };
    let mut offsets = Vec::new();
    if im2col && rank < 3 {
        return cx.unsupported(inst);
    }
    if im2col && direction != BulkDirection::Store {
        offsets = cx.srcs(cx.operand(inst, next)?, Ty::U16)?;
        next += 1;
        if offsets.len() != rank - 2 {
            return cx.error(format!(
                "an im2col copy of {rank} dimensions needs {} offsets, found {}",
                rank - 2,
                offsets.len()
            ));
        }
    }
    let multicast = if multicast {
        next += 1;
        Some(cx.src_at(inst, next - 1, Ty::U16)?)
    } else {
        None
    };
    if hint {
        cx.src_at(inst, next, Ty::B64)?;
    }
    let mode = match (im2col, mode) {
        (true, _) => TensorMode::Im2col { offsets },
        (false, Some(TensorModeName::Gather4)) => TensorMode::Gather4,
        (false, Some(TensorModeName::Scatter4)) => TensorMode::Scatter4,
        (false, None) => TensorMode::Tile,
    };
    let copy = TensorCopy {
        map,
        coords,
        shared,
        barrier,
        direction,
        mode,
        reduce,
        multicast,
    };
    Ok(Op::TensorCopy(Box::new(copy)))
}

#[derive(Clone, Copy)]
enum TensorModeName {
    Gather4,
    Scatter4,
}

fn mbarrier<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    #[derive(Clone, Copy, PartialEq)]
    enum Name {
        Init,
        Inval,
        Arrive,
        ArriveDrop,
        ExpectTx,
        CompleteTx,
        TestWait,
        TryWait,
        PendingCount,
    }
    let name = mods.one_of(&[
        ("init", Name::Init),
        ("inval", Name::Inval),
        ("arrive", Name::Arrive),
        ("arrive_drop", Name::ArriveDrop),
        ("test_wait", Name::TestWait),
        ("try_wait", Name::TryWait),
        ("pending_count", Name::PendingCount),
        ("complete_tx", Name::CompleteTx),
        ("expect_tx", Name::ExpectTx),
    ]);
    let Some(name) = name else {
        return cx.unsupported(inst);
    };
    let (expect, no_complete) = (mods.flag("expect_tx"), mods.flag("noComplete"));
    let parity = mods.flag("parity");
    order(mods);
    let space = mods.one_of(SPACES).unwrap_or(Space::Generic);
    skip_hints(mods);
    require_ty(cx, inst, mods)?;
    if name == Name::PendingCount {
        let (dst, state) = (cx.dst_at(inst, 0, Ty::U32)?, cx.src_at(inst, 1, Ty::B64)?);
        let nowhere = Address {
            space,
            base: Src::Const(0),
            offset: 0,
            in_frame: false,
        };
        return Ok(Op::Mbarrier {
            op: MbarOp::PendingCount { dst, state },
            address: nowhere,
        });
    }
    let (op, at) = match name {
        Name::Init => (
            MbarOp::Init {
                count: cx.src_at(inst, 1, Ty::U32)?,
            },
            0,
        ),
        Name::Inval => (MbarOp::Inval, 0),
        Name::ExpectTx => (
            MbarOp::ExpectTx {
                bytes: cx.src_at(inst, 1, Ty::U32)?,
            },
            0,
        ),
        Name::CompleteTx => (
            MbarOp::CompleteTx {
                bytes: cx.src_at(inst, 1, Ty::U32)?,
            },
            0,
        ),
        Name::Arrive | Name::ArriveDrop => {
            arrive(cx, inst, expect, no_complete, name == Name::ArriveDrop)?
        }
        _ => {
            let Some(result) = cx.pred_dst(cx.operand(inst, 0)?)? else {
                return cx.error("a wait needs a predicate");
            };
            let phase = cx.src_at(inst, 2, if parity { Ty::U32 } else { Ty::B64 })?;
            let phase = if parity {
                WaitPhase::Parity(phase)
            } else {
                WaitPhase::State(phase)
            };
            (
                MbarOp::TestWait {
                    result,
                    phase,
                    blocking: name == Name::TryWait,
                },
                1,
            )
        }
    };
    Ok(Op::Mbarrier {
        op,
        address: cx.address_at(inst, at, space)?,
    })
}

/// `mbarrier.arrive state, [a]{, count}` with the state optional when the object is remote.
fn arrive<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    expect: bool,
    no_complete: bool,
    drop: bool,
) -> Result<(MbarOp, usize)> {
    let at = usize::from(!matches!(cx.operand(inst, 0)?, Operand::Memory { .. }));
    let state = if at == 1 {
        cx.dst_or_sink(cx.operand(inst, 0)?, Ty::B64)?
    } else {
        None
    };
    let value = inst
        .operands
        .get(at + 1)
        .map(|o| cx.src(o, Ty::U32))
        .transpose()?;
    let (count, expect) = if expect { (None, value) } else { (value, None) };
    Ok((
        MbarOp::Arrive {
            count,
            expect,
            drop,
            no_complete,
            state,
        },
        at,
    ))
}

fn tensormap<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    if mods.flag("cp_fenceproxy") {
        for word in [
            "global",
            "shared::cta",
            "tensormap::generic",
            "release",
            "sync",
            "aligned",
        ] {
            mods.flag(word);
        }
        skip_hints(mods);
        let (dst, src) = (
            cx.address_at(inst, 0, Space::Global)?,
            cx.address_at(inst, 1, Space::Shared)?,
        );
        return Ok(Op::TensormapCopy { dst, src });
    }
    if !mods.flag("replace") {
        return cx.unsupported(inst);
    }
    mods.flag("tile");
    let field = mods.one_of(&[
        ("global_address", MapField::GlobalAddress),
        ("rank", MapField::Rank),
        ("box_dim", MapField::BoxDim),
        ("global_dim", MapField::GlobalDim),
        ("global_stride", MapField::GlobalStride),
        ("element_stride", MapField::ElementStride),
        ("elemtype", MapField::Elemtype),
        ("interleave_layout", MapField::Interleave),
        ("swizzle_mode", MapField::Swizzle),
        ("swizzle_atomicity", MapField::SwizzleAtomicity),
        ("fill_mode", MapField::Fill),
    ]);
    let Some(field) = field else {
        return cx.unsupported(inst);
    };
    let space = mods.one_of(SPACES).unwrap_or(Space::Generic);
    mods.flag("b1024");
    let ty = require_ty(cx, inst, mods)?;
    let address = cx.address_at(inst, 0, space)?;
    let indexed = matches!(
        field,
        MapField::BoxDim | MapField::GlobalDim | MapField::GlobalStride | MapField::ElementStride
    );
    let index = if indexed {
        immediate(cx, inst, 1)? as u32
    } else {
        0
    };
    let value = cx.src_at(inst, if indexed { 2 } else { 1 }, ty)?;
    Ok(Op::TensormapReplace {
        address,
        field,
        index,
        value,
    })
}
