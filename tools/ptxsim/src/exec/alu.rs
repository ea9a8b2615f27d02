//! Instructions that touch nothing but the warp's own registers.

use super::env::Env;
use super::fault::Trap;
use super::memory::undefined;
use super::warp::{ACCUMULATOR, Warp};
use crate::exec::frame::Frame;
use crate::program::inst::{BoolOp, CarryFn, LaneFn, Pred, PredSrc, Reg, Special, Src};
use crate::program::{LANES, Row, window};

/// The boolean operation on masks.
pub fn bool_op(op: BoolOp, a: u32, b: u32) -> u32 {
    match op {
        BoolOp::And => a & b,
        BoolOp::Or => a | b,
        BoolOp::Xor => a ^ b,
    }
}

impl Warp {
    /// Lanes in which a predicate holds; those outside `active` may be anything.
    #[inline]
    pub fn pred(
        &self,
        env: &Env<'_>,
        frame: Frame,
        src: PredSrc,
        active: u32,
    ) -> Result<u32, Trap> {
        let value = match src.pred {
            None => u32::MAX,
            Some(pred) => {
                let index = (frame.preds + pred.0) as usize;
                if self.preds_defined[index] & active != active && env.shared.checks.uninitialised {
                    return Err(undefined(active & !self.preds_defined[index]));
                }
                self.preds[index]
            }
        };
        Ok(if src.negated { !value } else { value })
    }

    /// Writes the active lanes of a predicate.
    #[inline]
    pub fn set_pred(&mut self, frame: Frame, pred: Pred, active: u32, value: u32) {
        let index = (frame.preds + pred.0) as usize;
        self.preds[index] = self.preds[index] & !active | value & active;
        self.preds_defined[index] |= active;
    }
}

/// dst = f(srcs)
#[inline]
#[allow(clippy::too_many_arguments)]
pub fn lanes(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    f: &LaneFn,
    dst: Reg,
    srcs: &[Src; 4],
    count: u8,
) -> Result<(), Trap> {
    let mut result = [0; LANES];
    apply(env, warp, frame, active, f, srcs, count, &mut result)?;
    warp.set(frame, dst, active, &result);
    Ok(())
}

#[inline]
#[allow(clippy::too_many_arguments)]
fn apply(
    env: &Env<'_>,
    warp: &Warp,
    frame: Frame,
    active: u32,
    f: &LaneFn,
    srcs: &[Src; 4],
    count: u8,
    result: &mut Row,
) -> Result<(), Trap> {
    let program = env.shared.program;
    let (mut missing, mut in_flight) = (0, 0);
    let mut fetch = |src: Src| -> &Row {
        match src {
            Src::Const(index) => &program.constants[index as usize],
            Src::Reg(row) => {
                let row = (frame.rows + row) as usize;
                missing |= active & !warp.defined[row];
                in_flight |= warp.in_flight[row];
                &warp.regs[row]
            }
        }
    };
    let zero = &program.constants[0];
    let a = fetch(srcs[0]);
    let b = if count > 1 { fetch(srcs[1]) } else { zero };
    let c = if count > 2 { fetch(srcs[2]) } else { zero };
    let d = if count > 3 { fetch(srcs[3]) } else { zero };
    if missing != 0 && env.shared.checks.uninitialised {
        return Err(undefined(missing));
    }
    if in_flight & ACCUMULATOR != 0 {
        return Err(warp.touch_trap());
    }
    f(a, b, c, d, result);
    Ok(())
}

/// `setp` and friends.
#[allow(clippy::too_many_arguments)]
pub fn compare(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    f: &LaneFn,
    srcs: &[Src; 4],
    count: u8,
    combine: Option<(BoolOp, PredSrc)>,
    p: Option<Pred>,
    q: Option<Pred>,
) -> Result<(), Trap> {
    let mut result = [0; LANES];
    apply(env, warp, frame, active, f, srcs, count, &mut result)?;
    let holds = result
        .iter()
        .enumerate()
        .fold(0u32, |mask, (lane, &bit)| mask | (bit as u32 & 1) << lane);
    let (mut yes, mut no) = (holds, !holds);
    if let Some((op, other)) = combine {
        let other = warp.pred(env, frame, other, active)?;
        (yes, no) = (bool_op(op, yes, other), bool_op(op, no, other));
    }
    if let Some(p) = p {
        warp.set_pred(frame, p, active, yes);
    }
    if let Some(q) = q {
        warp.set_pred(frame, q, active, no);
    }
    Ok(())
}

/// Arithmetic with the carry flag.
#[allow(clippy::too_many_arguments)]
pub fn carry(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    f: CarryFn,
    dst: Reg,
    srcs: &[Src; 3],
    reads: Option<u32>,
    flag: Option<Pred>,
) -> Result<(), Trap> {
    let a = warp.source(env, frame, srcs[0], active)?;
    let b = warp.source(env, frame, srcs[1], active)?;
    let c = warp.source(env, frame, srcs[2], active)?;
    let carry_in = reads.unwrap_or(0);
    let (mut result, mut carry_out) = ([0; LANES], 0);
    for lane in 0..LANES {
        let (value, carry) = f(a[lane], b[lane], c[lane], carry_in >> lane & 1 == 1);
        result[lane] = value;
        carry_out |= u32::from(carry) << lane;
    }
    warp.set(frame, dst, active, &result);
    if let Some(flag) = flag {
        warp.set_pred(frame, flag, active, carry_out);
    }
    Ok(())
}

/// `mov` from one register to several.
pub fn unpack(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    dsts: &[Option<Reg>],
    src: Src,
    bits: u32,
) -> Result<(), Trap> {
    let known = match src {
        Src::Const(_) => active,
        Src::Reg(row) => warp.defined[(frame.rows + row) as usize] & active,
    };
    let low = warp.source(env, frame, src, known)?;
    let total = bits * dsts.len() as u32;
    let high = if total > 64 {
        warp.source(env, frame, crate::decode::second_row(src), active)?
    } else {
        [0; LANES]
    };
    let all = crate::num::int::mask(bits);
    for (i, dst) in dsts.iter().enumerate() {
        let Some(dst) = dst else { continue };
        let shift = bits * i as u32;
        let row = if shift >= 64 {
            high.map(|x| x >> (shift - 64) & all)
        } else {
            low.map(|x| x >> shift & all)
        };
        warp.set(frame, *dst, active, &row);
        let at = (frame.rows + dst.0) as usize;
        warp.defined[at] = warp.defined[at] & !active | known;
    }
    Ok(())
}

/// `mov` from several registers to one. Compilers pad with pieces that they never define; the result counts as defined
/// where any piece is.
pub fn pack(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    dst: Reg,
    srcs: &[Src],
    bits: u32,
) -> Result<(), Trap> {
    let all = crate::num::int::mask(bits);
    let mut halves = [[0u64; LANES]; 2];
    let mut defined = 0;
    for (i, &src) in srcs.iter().enumerate() {
        let known = match src {
            Src::Const(_) => active,
            Src::Reg(row) => warp.defined[(frame.rows + row) as usize] & active,
        };
        defined |= known;
        let row = warp.source(env, frame, src, known)?;
        let shift = bits * i as u32;
        let half = &mut halves[usize::from(shift >= 64)];
        for (h, x) in half.iter_mut().zip(row) {
            *h |= (x & all) << (shift % 64);
        }
    }
    warp.set(frame, dst, active, &halves[0]);
    let row = (frame.rows + dst.0) as usize;
    warp.defined[row] = warp.defined[row] & !active | defined;
    if bits * srcs.len() as u32 > 64 {
        warp.set(frame, Reg(dst.0 + 1), active, &halves[1]);
    }
    Ok(())
}

/// Thread index of a lane.
fn thread_index(env: &Env<'_>, warp: &Warp, lane: usize) -> [u32; 3] {
    let linear = warp.id * 32 + lane as u32;
    let [x, y, _] = env.shared.block;
    [linear % x, linear / x % y, linear / (x * y)]
}

/// The value of a special register (PTX ISA 10).
pub fn special(env: &Env<'_>, warp: &Warp, frame: Frame, which: Special) -> Row {
    let shared = env.shared;
    let axis = |v: [u32; 3], i: u8| u64::from(v.get(i as usize).copied().unwrap_or(0));
    let all = |x: u64| [x; LANES];
    let per_lane = |f: &dyn Fn(usize) -> u64| std::array::from_fn(f);
    let cta = &env.ctas[warp.cta];
    let clusters: [u32; 3] = std::array::from_fn(|i| shared.grid[i] / shared.cluster[i].max(1));
    let cluster_ctaid: [u32; 3] = std::array::from_fn(|i| cta.index[i] % shared.cluster[i].max(1));
    let dynamic = u64::from(shared.dynamic_bytes);
    let total = cta.shared.len() as u64;
    match which {
        Special::Tid(i) => per_lane(&|lane| axis(thread_index(env, warp, lane), i)),
        Special::Ntid(i) => all(axis(shared.block, i)),
        Special::Ctaid(i) => all(axis(cta.index, i)),
        Special::Nctaid(i) => all(axis(shared.grid, i)),
        Special::Laneid => per_lane(&|lane| lane as u64),
        Special::Warpid => all(warp.id.into()),
        Special::Nwarpid => all(shared.warps_per_block().into()),
        Special::Smid => all(u64::from(env.smid)),
        Special::Nsmid => all(132),
        // Where cooperative groups look for the grid's workspace.
        Special::Envreg(Some(1)) if shared.cooperative => all(window::GRID >> 32),
        Special::Envreg(Some(2)) if shared.cooperative => all(window::GRID & 0xffff_ffff),
        Special::Gridid | Special::Envreg(_) => all(0),
        Special::LanemaskEq => per_lane(&|lane| 1 << lane),
        Special::LanemaskLt => per_lane(&|lane| (1 << lane) - 1),
        Special::LanemaskLe => per_lane(&|lane| (2 << lane) - 1),
        Special::LanemaskGe => per_lane(&|lane| 0xffff_ffff & !((1 << lane) - 1)),
        Special::LanemaskGt => per_lane(&|lane| 0xffff_ffff & !((2 << lane) - 1)),
        Special::Clock | Special::GlobaltimerLo => all(env.clock & 0xffff_ffff),
        Special::ClockHi | Special::GlobaltimerHi => all(env.clock >> 32),
        Special::Clock64 | Special::Globaltimer => all(env.clock),
        Special::Clusterid(i) => all(axis(
            std::array::from_fn(|k| cta.index[k] / shared.cluster[k].max(1)),
            i,
        )),
        Special::Nclusterid(i) => all(axis(clusters, i)),
        Special::ClusterCtaid(i) => all(axis(cluster_ctaid, i)),
        Special::ClusterNctaid(i) => all(axis(shared.cluster, i)),
        Special::ClusterCtarank => all(warp.cta as u64),
        Special::ClusterNctarank => all(env.ctas.len() as u64),
        Special::IsExplicitCluster => all(u64::from(env.ctas.len() > 1)),
        Special::DynamicSmemSize => all(dynamic),
        Special::TotalSmemSize | Special::AggrSmemSize => all(total),
        Special::ReservedSmem => all(0),
        Special::LocalAddress(offset) => all(u64::from(frame.local + offset)),
        Special::CallParamAddress(offset) => all(u64::from(frame.params + offset)),
    }
}
