//! Asynchronous copies, mbarriers and tensor maps (PTX ISA 9.7.9.25-28, 9.7.13.15).

mod mbarrier;
mod tensor;

use super::Result;
use super::checked::require_ty;
use super::logic::{immediate, second_row};
use super::memory::{SPACES, skip_hints};
use super::mods::Mods;
use super::names::Function;
use crate::parse::ast::Instruction;
use crate::program::inst::{
    Address, AtomOp, BulkCopy, BulkDirection, BulkReduce, Op, Query, Space, Src,
};
use crate::program::types::Ty;

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    match inst.opcode[0] {
        "mbarrier" => mbarrier::decode(cx, inst, mods),
        "tensormap" => tensor::map(cx, inst, mods),
        "clusterlaunchcontrol" => launch_control(cx, inst, mods),
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
        return tensor::copy(cx, inst, mods, op, prefetch);
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
pub(super) fn direction<'a>(
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

pub(super) fn completion(mods: &mut Mods<'_>) {
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

/// `clusterlaunchcontrol`
fn launch_control<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    if mods.flag("try_cancel") {
        let words = ["async", "shared::cta", "mbarrier::complete_tx::bytes"];
        words.iter().for_each(|word| {
            mods.flag(word);
        });
        let multicast = mods.flag("multicast::cluster::all");
        require_ty(cx, inst, mods)?;
        return Ok(Op::TryCancel {
            address: cx.address_at(inst, 0, Space::Shared)?,
            barrier: cx.address_at(inst, 1, Space::Shared)?,
            multicast,
        });
    }
    if !mods.flag("query_cancel") {
        return cx.unsupported(inst);
    }
    let axis = mods.one_of(&[
        ("get_first_ctaid::x", Some(0)),
        ("get_first_ctaid::y", Some(1)),
        ("get_first_ctaid::z", Some(2)),
        ("get_first_ctaid", None),
    ]);
    let what = match axis {
        None if mods.flag("is_canceled") && mods.flag("pred") => {
            match cx.pred_dst(cx.operand(inst, 0)?)? {
                Some(pred) => Query::IsCanceled(pred),
                None => return Ok(Op::Nop),
            }
        }
        None => return cx.unsupported(inst),
        Some(Some(axis)) => {
            let mut dsts = [None; 3];
            if let Some(slot) = dsts.get_mut(axis) {
                *slot = Some(cx.dst_at(inst, 0, Ty::B32)?);
            }
            Query::FirstBlock(dsts)
        }
        Some(None) => {
            mods.flag("v4");
            match cx.dsts(cx.operand(inst, 0)?, Ty::B32)?.as_slice() {
                &[x, y, z, _] => Query::FirstBlock([x, y, z]),
                _ => return cx.error("a block is a vector of four registers"),
            }
        }
    };
    mods.flag("b32");
    mods.flag("b128");
    let response = cx.src_at(inst, 1, Ty::B128)?;
    Ok(Op::QueryCancel {
        response: [response, second_row(response)],
        what,
    })
}
