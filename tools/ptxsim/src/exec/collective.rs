//! Operations among the lanes of a warp and the warps of a block (PTX ISA 9.7.9.5-6, 9.7.13.1-3, 9.7.13.8-11).

use super::env::Env;
use super::fault::Trap;
use super::flow::Flow;
use super::warp::{Wait, Warp};
use crate::exec::frame::Frame;
use crate::num::int::{mask as low_bits, sign_extend};
use crate::program::inst::{BarKind, Pred, PredSrc, Redux, Reg, ShflMode, Src, VoteMode};
use crate::program::types::Ty;
use crate::program::{LANES, Row, lanes};

/// What a `.sync` instruction may do now.
#[allow(
    clippy::large_enum_variant,
    reason = "it lives for one instruction, and most are ready"
)]
pub enum Gathered {
    /// Members are still elsewhere.
    Wait(Flow),
    /// Everyone is here.
    Ready(Groups),
}

/// The lanes of a `.sync` instruction by their membermasks: groups with different masks do not know of each other, as
/// in a partition of a warp by a label.
pub struct Groups {
    masks: Row,
    left: u32,
}

impl Iterator for Groups {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let first = lanes(self.left).next()?;
        let members = self.masks[first] as u32;
        let group = self.left & members;
        self.left &= !group;
        Some(group)
    }
}

/// Checks the membership masks of a `.sync` instruction.
pub fn gather(
    env: &Env<'_>,
    warp: &Warp,
    frame: Frame,
    fragment_mask: u32,
    active: u32,
    mask: Src,
) -> Result<Gathered, Trap> {
    let masks = warp.source(env, frame, mask, active)?;
    let mut waits_for = 0;
    let mut left = active;
    while let Some(first) = lanes(left).next() {
        let members = masks[first] as u32;
        if members >> first & 1 == 0 {
            return Err(Trap::lane(
                first,
                format!(
                    "executes a .sync instruction whose membermask {members:#010x} leaves it out"
                ),
            ));
        }
        if let Some(lane) = lanes(members & active).find(|&l| masks[l] as u32 != members) {
            return Err(Trap::lane(
                lane,
                format!(
                    "executes a .sync instruction with membermask {:#010x}, but lane {first} has {members:#010x}",
                    masks[lane] as u32
                ),
            ));
        }
        left &= !members;
        let missing = members & warp.live & !active;
        if missing & fragment_mask != 0 {
            return Err(Trap::lane(
                (missing & fragment_mask).trailing_zeros() as usize,
                format!(
                    "is in membermask {members:#010x} of a .sync instruction that its guard predicate makes it skip"
                ),
            ));
        }
        if missing != 0 {
            waits_for |= members;
        }
    }
    if waits_for != 0 {
        return Ok(Gathered::Wait(Flow::Wait(Wait::Converge {
            lanes: waits_for,
        })));
    }
    Ok(Gathered::Ready(Groups {
        masks,
        left: active,
    }))
}

/// An `.aligned` instruction: every live lane must be here.
pub fn aligned(warp: &Warp, fragment_mask: u32, active: u32) -> Result<Option<Flow>, Trap> {
    let missing = warp.live & !active;
    if missing == 0 {
        return Ok(None);
    }
    if missing & fragment_mask != 0 {
        return Err(Trap::lane(
            (missing & fragment_mask).trailing_zeros() as usize,
            "skips an .aligned instruction that other lanes of its warp execute; guard it by a warp-uniform condition",
        ));
    }
    Ok(Some(Flow::Wait(Wait::Converge { lanes: warp.live })))
}

/// `shfl.sync`
#[allow(clippy::too_many_arguments)]
pub fn shfl(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    mode: ShflMode,
    dst: Reg,
    pred: Option<Pred>,
    src: Src,
    lane: Src,
    clamp: Src,
) -> Result<(), Trap> {
    let values = warp.source(env, frame, src, active)?;
    let (b, c) = (
        warp.source(env, frame, lane, active)?,
        warp.source(env, frame, clamp, active)?,
    );
    let (mut result, mut in_range) = (values, 0u32);
    for lane in lanes(active) {
        let b = b[lane] as usize & 31;
        let (clamp, segment) = (c[lane] as usize & 31, c[lane] as usize >> 8 & 31);
        let max_lane = (lane & segment) | (clamp & !segment);
        let min_lane = lane & segment;
        let (from, valid) = match mode {
            ShflMode::Up => (
                lane as isize - b as isize,
                lane as isize - b as isize >= max_lane as isize,
            ),
            ShflMode::Down => ((lane + b) as isize, lane + b <= max_lane),
            ShflMode::Bfly => ((lane ^ b) as isize, lane ^ b <= max_lane),
            ShflMode::Idx => {
                let j = min_lane | (b & !segment);
                (j as isize, j <= max_lane)
            }
        };
        if valid {
            let from = from as usize & 31;
            if active >> from & 1 == 0 && env.shared.checks.uninitialised {
                return Err(Trap::lane(
                    lane,
                    format!("shuffles from lane {from}, which does not execute the shuffle"),
                ));
            }
            result[lane] = values[from];
            in_range |= 1 << lane;
        }
    }
    warp.set(frame, dst, active, &result);
    if let Some(pred) = pred {
        warp.set_pred(frame, pred, active, in_range);
    }
    Ok(())
}

/// `vote.sync`
#[allow(clippy::too_many_arguments)]
pub fn vote(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    mode: VoteMode,
    dst: Option<Reg>,
    dst_pred: Option<Pred>,
    src: PredSrc,
) -> Result<(), Trap> {
    let holds = warp.pred(env, frame, src, active)? & active;
    let result = match mode {
        VoteMode::All => holds == active,
        VoteMode::Any => holds != 0,
        VoteMode::Uni => holds == 0 || holds == active,
        VoteMode::Ballot => {
            if let Some(dst) = dst {
                warp.set(frame, dst, active, &[holds.into(); LANES]);
            }
            return Ok(());
        }
    };
    if let Some(pred) = dst_pred {
        warp.set_pred(frame, pred, active, if result { u32::MAX } else { 0 });
    }
    Ok(())
}

/// `match.sync`
#[allow(clippy::too_many_arguments)]
pub fn matching(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    all: bool,
    dst: Reg,
    pred: Option<Pred>,
    src: Src,
) -> Result<(), Trap> {
    let values = warp.source(env, frame, src, active)?;
    let equal = |lane: usize| {
        lanes(active)
            .filter(|&l| values[l] == values[lane])
            .fold(0u32, |m, l| m | 1 << l)
    };
    let mut result = [0; LANES];
    let mut agree = 0;
    for lane in lanes(active) {
        let same = equal(lane);
        let whole = same == active;
        agree |= u32::from(whole) << lane;
        result[lane] = match (all, whole) {
            (false, _) => same.into(),
            (true, true) => active.into(),
            (true, false) => 0,
        };
    }
    warp.set(frame, dst, active, &result);
    if let Some(pred) = pred {
        warp.set_pred(frame, pred, active, agree);
    }
    Ok(())
}

/// `redux.sync`
#[allow(clippy::too_many_arguments)]
pub fn redux(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    op: Redux,
    ty: Ty,
    abs: bool,
    nan: bool,
    dst: Reg,
    src: Src,
) -> Result<(), Trap> {
    let values = warp.source(env, frame, src, active)?;
    let members = lanes(active).map(|l| values[l]);
    let result = match ty {
        Ty::F32 => float_redux(members, op, abs, nan),
        Ty::S32 => {
            let signed = members.map(|v| sign_extend(v, 32));
            let value = match op {
                Redux::Min => signed.min(),
                Redux::Max => signed.max(),
                _ => Some(signed.fold(0i64, i64::wrapping_add)),
            };
            value.unwrap_or(0) as u64 & low_bits(32)
        }
        _ => members.reduce(|a, b| reduce_bits(op, a, b)).unwrap_or(0) & low_bits(32),
    };
    warp.set(frame, dst, active, &[result; LANES]);
    Ok(())
}

fn reduce_bits(op: Redux, a: u64, b: u64) -> u64 {
    match op {
        Redux::Add | Redux::Popc => a.wrapping_add(b),
        Redux::Min => a.min(b),
        Redux::Max => a.max(b),
        Redux::And => a & b,
        Redux::Or => a | b,
        Redux::Xor => a ^ b,
    }
}

fn float_redux(values: impl Iterator<Item = u64>, op: Redux, abs: bool, nan: bool) -> u64 {
    let values: Vec<f32> = values
        .map(|v| f32::from_bits(v as u32))
        .map(|x| if abs { x.abs() } else { x })
        .collect();
    if nan && values.iter().any(|v| v.is_nan()) {
        return 0x7fff_ffff;
    }
    let best = values
        .iter()
        .copied()
        .filter(|v| !v.is_nan())
        .reduce(|a, b| {
            let less = a.total_cmp(&b).is_lt();
            if less == (op == Redux::Min) { a } else { b }
        });
    best.map_or(0x7fff_ffff, |b| b.to_bits().into())
}

/// `bar` and `barrier`. Re-executed when the barrier completes: the ticket says that it has arrived before.
#[allow(clippy::too_many_arguments)]
pub fn barrier(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    fragment: usize,
    active: u32,
    kind: BarKind,
    id: Src,
    count: Option<Src>,
    is_aligned: bool,
    dst_reg: Option<Reg>,
    dst_pred: Option<Pred>,
) -> Result<Flow, Trap> {
    let fragment_mask = warp.fragments[fragment].mask;
    if is_aligned && let Some(flow) = aligned(warp, fragment_mask, active)? {
        return Ok(flow);
    }
    let id = uniform(
        warp.source(env, frame, id, active)?,
        active,
        "barrier number",
    )?;
    let count = count
        .map(|c| {
            uniform(
                warp.source(env, frame, c, active)?,
                active,
                "barrier thread count",
            )
        })
        .transpose()?;
    if id >= 16 {
        return Err(Trap::new(format!(
            "barrier {id} does not exist; a block has 0 to 15"
        )));
    }
    let ticket = warp.fragments[fragment].ticket.take();
    if let Some(generation) = ticket {
        let barrier = &env.ctas[warp.cta].barriers[id as usize];
        if barrier.generation == generation {
            warp.fragments[fragment].ticket = ticket;
            return Ok(Flow::Wait(Wait::Barrier {
                id: id as u8,
                generation,
            }));
        }
        let result = barrier.result;
        env.barrier_leave(warp, id as usize, generation);
        if let BarKind::Red(op, _) = kind {
            let (trues, voters) = result;
            deliver(warp, frame, active, op, trues, voters, dst_reg, dst_pred);
        }
        return Ok(Flow::Next);
    }
    let generation = arrive(env, warp, frame, active, kind, id as usize, count)?;
    env.barrier_arrive(warp, id as usize, generation);
    if matches!(kind, BarKind::Arrive) {
        return Ok(Flow::Next);
    }
    warp.fragments[fragment].ticket = Some(generation);
    Ok(Flow::Wait(Wait::Barrier {
        id: id as u8,
        generation,
    }))
}

/// Counts the active threads in; returns the generation they wait to end.
fn arrive(
    env: &mut Env<'_>,
    warp: &Warp,
    frame: Frame,
    active: u32,
    kind: BarKind,
    id: usize,
    count: Option<u64>,
) -> Result<u64, Trap> {
    // A whole warp counts as 32 even if it has fewer threads (PTX ISA 9.7.13.1).
    let threads = if active == warp.live {
        32
    } else {
        active.count_ones()
    };
    let vote = match kind {
        BarKind::Red(_, pred) => Some(warp.pred(env, frame, pred, active)? & active),
        _ => None,
    };
    if let Some(n) = count
        && (n == 0 || n % 32 != 0 || n > 1024)
    {
        return Err(Trap::new(format!(
            "barrier thread count {n} is not a positive multiple of 32 up to 1024"
        )));
    }
    let cta = &mut env.ctas[warp.cta];
    let barrier = &mut cta.barriers[id];
    let count = count.map(|n| n as u32);
    if barrier.arrived > 0 && barrier.count != count {
        return Err(Trap::new(format!(
            "arrives at barrier {id} with thread count {}, but others arrived with {}",
            show_count(count),
            show_count(barrier.count)
        )));
    }
    barrier.count = count;
    let generation = barrier.generation;
    barrier.arrived += threads;
    if let Some(n) = count.filter(|&n| barrier.arrived > n) {
        return Err(Trap::new(format!(
            "{} threads arrived at barrier {id}, which expects {n}",
            barrier.arrived
        )));
    }
    if let Some(holds) = vote {
        barrier.trues += holds.count_ones();
        barrier.voters += active.count_ones();
    }
    cta.complete_if_full(id);
    Ok(generation)
}

fn show_count(count: Option<u32>) -> String {
    count.map_or("none (all threads)".into(), |n| n.to_string())
}

#[allow(clippy::too_many_arguments)]
fn deliver(
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    op: Redux,
    trues: u32,
    voters: u32,
    dst_reg: Option<Reg>,
    dst_pred: Option<Pred>,
) {
    if let Some(dst) = dst_reg {
        warp.set(frame, dst, active, &[trues.into(); LANES]);
    }
    if let Some(pred) = dst_pred {
        let holds = if op == Redux::And {
            trues == voters
        } else {
            trues > 0
        };
        warp.set_pred(frame, pred, active, if holds { u32::MAX } else { 0 });
    }
}

/// The value that all active lanes agree on.
pub fn uniform(row: Row, active: u32, what: &str) -> Result<u64, Trap> {
    let mut members = lanes(active);
    let value = members.next().map_or(0, |l| row[l]);
    match members.find(|&l| row[l] != value) {
        Some(lane) => Err(Trap::lane(
            lane,
            format!("disagrees with its warp about the {what}"),
        )),
        None => Ok(value),
    }
}
