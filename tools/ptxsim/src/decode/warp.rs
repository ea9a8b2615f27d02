//! Barriers, fences and operations among the lanes of a warp (PTX ISA 9.7.13).

use super::Result;
use super::checked::require_ty;
use super::logic::immediate;
use super::mods::Mods;
use super::names::Function;
use crate::parse::ast::{Instruction, Operand};
use crate::program::inst::{BarKind, FenceKind, Op, Redux, Scope, ShflMode, VoteMode};
use crate::program::types::Ty;

const REDUCTIONS: &[(&str, Redux)] = &[
    ("add", Redux::Add),
    ("min", Redux::Min),
    ("max", Redux::Max),
    ("and", Redux::And),
    ("or", Redux::Or),
    ("xor", Redux::Xor),
    ("popc", Redux::Popc),
];

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    match inst.opcode[0] {
        "bar" | "barrier" if mods.flag("cluster") => cluster_barrier(cx, inst, mods),
        "bar" if mods.flag("warp") => {
            mods.flag("sync");
            Ok(Op::WarpSync {
                mask: cx.src_at(inst, 0, Ty::B32)?,
            })
        }
        "bar" | "barrier" => barrier(cx, inst, mods),
        "fence" | "membar" => fence(mods),
        "shfl" => shfl(cx, inst, mods),
        "vote" => vote(cx, inst, mods),
        "match" => match_sync(cx, inst, mods),
        "redux" => redux(cx, inst, mods),
        "elect" => {
            mods.flag("sync");
            let (dst, pred) = pair(cx, inst)?;
            let Some(pred) = pred else {
                return cx.error("elect.sync needs a predicate");
            };
            Ok(Op::Elect {
                dst,
                pred,
                mask: cx.src_at(inst, 1, Ty::B32)?,
            })
        }
        "activemask" => {
            require_ty(cx, inst, mods)?;
            Ok(Op::ActiveMask {
                dst: cx.dst_at(inst, 0, Ty::B32)?,
            })
        }
        "griddepcontrol" => {
            if mods.flag("wait") || mods.flag("launch_dependents") {
                Ok(Op::GridDependency)
            } else {
                cx.unsupported(inst)
            }
        }
        "setmaxnreg" => {
            let increase = mods.flag("inc");
            if !(increase || mods.flag("dec")) {
                return cx.unsupported(inst);
            }
            mods.flag("sync");
            mods.flag("aligned");
            mods.ty();
            let count = immediate(cx, inst, 0)? as u32;
            if !(24..=256).contains(&count) || !count.is_multiple_of(8) {
                return cx.error("setmaxnreg takes a multiple of 8 from 24 to 256");
            }
            Ok(Op::SetMaxNreg { count, increase })
        }
        _ => cx.unsupported(inst),
    }
}

fn cluster_barrier<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let arrive = mods.flag("arrive");
    let wait = mods.flag("wait");
    for word in ["aligned", "release", "acquire"] {
        mods.flag(word);
    }
    let relaxed = mods.flag("relaxed");
    match (arrive, wait) {
        (true, false) => Ok(Op::ClusterArrive { relaxed }),
        (false, true) => Ok(Op::ClusterWait),
        _ => cx.unsupported(inst),
    }
}

fn barrier<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    mods.flag("cta");
    // `bar` is `barrier.aligned` (PTX ISA 9.7.13.1).
    let aligned = mods.flag("aligned") || inst.opcode[0] == "bar";
    if mods.flag("red") {
        return barrier_red(cx, inst, mods, aligned);
    }
    let arrive = mods.flag("arrive");
    if !arrive && !mods.flag("sync") {
        return cx.unsupported(inst);
    }
    let id = cx.src_at(inst, 0, Ty::U32)?;
    let count = inst
        .operands
        .get(1)
        .map(|c| cx.src(c, Ty::U32))
        .transpose()?;
    if arrive && count.is_none() {
        return cx.error("barrier.arrive needs a thread count");
    }
    let kind = if arrive {
        BarKind::Arrive
    } else {
        BarKind::Sync
    };
    Ok(Op::Bar {
        kind,
        id,
        count,
        aligned,
        dst_reg: None,
        dst_pred: None,
    })
}

fn barrier_red<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
    aligned: bool,
) -> Result<Op> {
    let Some(op) = mods.one_of(REDUCTIONS) else {
        return cx.unsupported(inst);
    };
    mods.ty();
    let id = cx.src_at(inst, 1, Ty::U32)?;
    let (count, at) = if inst.operands.len() > 3 {
        (Some(cx.src_at(inst, 2, Ty::U32)?), 3)
    } else {
        (None, 2)
    };
    let pred = cx.pred_src(cx.operand(inst, at)?)?;
    let first = cx.operand(inst, 0)?;
    let (dst_reg, dst_pred) = if op == Redux::Popc {
        (Some(cx.dst(first, Ty::U32)?), None)
    } else {
        (None, cx.pred_dst(first)?)
    };
    Ok(Op::Bar {
        kind: BarKind::Red(op, pred),
        id,
        count,
        aligned,
        dst_reg,
        dst_pred,
    })
}

fn fence(mods: &mut Mods<'_>) -> Result<Op> {
    let proxy = mods.flag("proxy");
    let kind = if mods.flag("mbarrier_init") {
        FenceKind::MbarrierInit
    } else if proxy
        && mods
            .take(|w| (w == "async" || w.starts_with("async::")).then_some(()))
            .is_some()
    {
        FenceKind::ProxyAsync
    } else if proxy {
        FenceKind::ProxyOther
    } else {
        // `membar.gl` is `fence.sc.gpu`.
        let scope = mods.one_of(&[
            ("cta", Scope::Block),
            ("cluster", Scope::Cluster),
            ("gpu", Scope::Device),
            ("gl", Scope::Device),
            ("sys", Scope::Device),
        ]);
        FenceKind::Memory(scope.unwrap_or(Scope::Device))
    };
    while mods
        .take(|w| {
            let known = matches!(
                w,
                "sc" | "acq_rel"
                    | "acquire"
                    | "release"
                    | "cta"
                    | "cluster"
                    | "gpu"
                    | "sys"
                    | "gl"
                    | "alias"
                    | "global"
                    | "shared::cta"
                    | "shared::cluster"
            ) || w.starts_with("tensormap")
                || w.starts_with("sync_restrict");
            known.then_some(())
        })
        .is_some()
    {}
    Ok(Op::Fence { kind })
}

/// `d|p`, or `d` alone.
fn pair<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
) -> Result<(
    Option<crate::program::inst::Reg>,
    Option<crate::program::inst::Pred>,
)> {
    match cx.operand(inst, 0)? {
        Operand::Pair(d, p) => Ok((cx.dst_or_sink(d, Ty::B32)?, cx.pred_dst(p)?)),
        d => Ok((cx.dst_or_sink(d, Ty::B32)?, None)),
    }
}

fn shfl<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    if !mods.flag("sync") {
        return cx.error("shfl without .sync is not supported by any target since sm_70");
    }
    let mode = mods.one_of(&[
        ("up", ShflMode::Up),
        ("down", ShflMode::Down),
        ("bfly", ShflMode::Bfly),
        ("idx", ShflMode::Idx),
    ]);
    let Some(mode) = mode else {
        return cx.unsupported(inst);
    };
    require_ty(cx, inst, mods)?;
    let (dst, pred) = pair(cx, inst)?;
    let dst = dst.unwrap_or_else(|| cx.temporary());
    let (src, lane) = (cx.src_at(inst, 1, Ty::B32)?, cx.src_at(inst, 2, Ty::B32)?);
    let (clamp, mask) = (cx.src_at(inst, 3, Ty::B32)?, cx.src_at(inst, 4, Ty::B32)?);
    Ok(Op::Shfl {
        mode,
        dst,
        pred,
        src,
        lane,
        clamp,
        mask,
    })
}

fn vote<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    if !mods.flag("sync") {
        return cx.error("vote without .sync is not supported by any target since sm_70");
    }
    let mode = mods.one_of(&[
        ("all", VoteMode::All),
        ("any", VoteMode::Any),
        ("uni", VoteMode::Uni),
        ("ballot", VoteMode::Ballot),
    ]);
    let Some(mode) = mode else {
        return cx.unsupported(inst);
    };
    mods.ty();
    let first = cx.operand(inst, 0)?;
    let (dst, dst_pred) = if mode == VoteMode::Ballot {
        (Some(cx.dst(first, Ty::B32)?), None)
    } else {
        (None, cx.pred_dst(first)?)
    };
    let src = cx.pred_src(cx.operand(inst, 1)?)?;
    Ok(Op::Vote {
        mode,
        dst,
        dst_pred,
        src,
        mask: cx.src_at(inst, 2, Ty::B32)?,
    })
}

fn match_sync<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    mods.flag("sync");
    let all = mods.flag("all");
    if !all && !mods.flag("any") {
        return cx.unsupported(inst);
    }
    let ty = require_ty(cx, inst, mods)?;
    let (dst, pred) = pair(cx, inst)?;
    let dst = dst.unwrap_or_else(|| cx.temporary());
    Ok(Op::Match {
        all,
        dst,
        pred,
        src: cx.src_at(inst, 1, ty)?,
        mask: cx.src_at(inst, 2, Ty::B32)?,
    })
}

fn redux<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    mods.flag("sync");
    let Some(op) = mods.one_of(REDUCTIONS) else {
        return cx.unsupported(inst);
    };
    let (abs, nan) = (mods.flag("abs"), mods.flag("NaN"));
    let ty = require_ty(cx, inst, mods)?;
    let dst = cx.dst_at(inst, 0, ty)?;
    Ok(Op::Redux {
        op,
        ty,
        abs,
        nan,
        dst,
        src: cx.src_at(inst, 1, ty)?,
        mask: cx.src_at(inst, 2, Ty::B32)?,
    })
}
