//! Atomic operations and reductions on memory (PTX ISA 9.7.13.13-14).

use super::env::Env;
use super::fault::Trap;
use super::memory::{Place, addresses, place, read, write};
use super::stats::Direction;
use super::warp::Warp;
use crate::check::global::Handover;
use crate::exec::access::GlobalUse;
use crate::exec::frame::Frame;
use crate::num::format::{BF16, F16, Format, Overflow, Round};
use crate::num::int::{mask, sign_extend};
use crate::program::inst::{Address, AtomOp, Reg, Src};
use crate::program::types::Ty;
use crate::program::{LANES, Row, lanes};

/// The new value of a field that holds `old`.
pub fn combine(op: AtomOp, ty: Ty, old: u64, b: u64, compare: u64) -> u64 {
    if let Some(element) = ty.pair_element().filter(|_| ty != Ty::F32x2) {
        let half = |shift: u32| {
            combine(op, element, old >> shift & 0xffff, b >> shift & 0xffff, 0) << shift
        };
        return half(0) | half(16);
    }
    let all = mask(ty.bits());
    let signed = |x: u64| sign_extend(x, ty.bits());
    match (op, ty) {
        (AtomOp::Add | AtomOp::Min | AtomOp::Max, _) if ty.is_float() => float(op, ty, old, b),
        (AtomOp::Add, _) => old.wrapping_add(b) & all,
        (AtomOp::Min, _) if ty.is_signed() => {
            if signed(b) < signed(old) {
                b
            } else {
                old
            }
        }
        (AtomOp::Max, _) if ty.is_signed() => {
            if signed(b) > signed(old) {
                b
            } else {
                old
            }
        }
        (AtomOp::Min, _) => old.min(b),
        (AtomOp::Max, _) => old.max(b),
        (AtomOp::Inc, _) => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        (AtomOp::Dec, _) => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        (AtomOp::And, _) => old & b,
        (AtomOp::Or, _) => old | b,
        (AtomOp::Xor, _) => old ^ b,
        (AtomOp::Exch, _) => b,
        (AtomOp::Cas, _) => {
            if old == compare {
                b
            } else {
                old
            }
        }
    }
}

fn float(op: AtomOp, ty: Ty, old: u64, b: u64) -> u64 {
    let sixteen = |format: Format| {
        let (x, y) = (format.decode(old), format.decode(b));
        let value = match op {
            AtomOp::Add => crate::num::op::add_odd(x, y),
            AtomOp::Min => x.min(y),
            _ => x.max(y),
        };
        format.encode(value, Round::Nearest, Overflow::Ieee)
    };
    match ty {
        Ty::F64 => (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        Ty::F32 => {
            let (x, y) = (f32::from_bits(old as u32), f32::from_bits(b as u32));
            let value = match op {
                AtomOp::Add => x + y,
                AtomOp::Min => x.min(y),
                _ => x.max(y),
            };
            value.to_bits().into()
        }
        Ty::BF16 => sixteen(BF16),
        _ => sixteen(F16),
    }
}

/// One atomic update at a place; returns the old value.
pub fn update(
    env: &mut Env<'_>,
    warp: &mut Warp,
    lane: usize,
    place: Place,
    size: u32,
    f: impl Fn(u64) -> u64,
) -> Result<u64, Trap> {
    if let Place::Global(address) = place {
        let (region, offset) = env
            .shared
            .global
            .locate(address, size.into(), &mut warp.hint)?;
        if region.read_only {
            return Err(Trap::new(format!(
                "atomic on constant variable `{}`",
                region.name
            )));
        }
        let how = GlobalUse {
            store: true,
            ..GlobalUse::default()
        };
        env.check_global_bytes(warp, address, size.into(), how)?;
        let handover = Handover {
            load: true,
            store: true,
            ordered: env.ordered,
        };
        let _place = env.strong_global(warp, address, handover);
        return Ok(region.update(offset, size, f));
    }
    // Everything else is touched by this thread alone.
    let old = read(env, warp, lane, place, size);
    old.and_then(|old| write(env, warp, lane, place, size, f(old)).map(|()| old))
}

/// `atom` and `red`
#[allow(clippy::too_many_arguments)]
pub fn execute(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    op: AtomOp,
    ty: Ty,
    dsts: &[Option<Reg>],
    address: &Address,
    srcs: &[Src],
    compare: Option<Src>,
) -> Result<(), Trap> {
    if ty == Ty::B128 {
        return exchange_128(env, warp, frame, active, dsts, address, srcs, compare);
    }
    let base = addresses(env, warp, frame, address, active)?;
    let compare = compare
        .map(|c| warp.source(env, frame, c, active))
        .transpose()?
        .unwrap_or([0; LANES]);
    let size = ty.bytes();
    let total = size * srcs.len() as u32;
    env.count_access(warp, address.space, &base, total, active, Direction::Atomic);
    let mut results: Vec<Row> = vec![[0; LANES]; srcs.len()];
    let values: Vec<Row> = srcs
        .iter()
        .map(|&s| warp.source(env, frame, s, active))
        .collect::<Result<_, _>>()?;
    for lane in lanes(active) {
        for (i, (value, result)) in values.iter().zip(&mut results).enumerate() {
            let at = base[lane] + u64::from(i as u32 * size);
            if i == 0 && at % u64::from(total) != 0 {
                return Err(Trap::lane(
                    lane,
                    format!("atomic address {at:#x} is not a multiple of {total}"),
                ));
            }
            let place = place(env, warp, address.space, at).map_err(|t| t.at(lane))?;
            let (b, c) = (value[lane], compare[lane]);
            result[lane] = update(env, warp, lane, place, size, |old| {
                combine(op, ty, old, b, c)
            })
            .map_err(|t| t.at(lane))?;
        }
    }
    for (dst, row) in dsts.iter().zip(&results) {
        if let Some(reg) = dst {
            warp.set(frame, *reg, active, row);
        }
    }
    Ok(())
}

/// `atom.exch.b128` and `atom.cas.b128`: serialised by one lock for the whole launch.
#[allow(clippy::too_many_arguments)]
fn exchange_128(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    dsts: &[Option<Reg>],
    address: &Address,
    srcs: &[Src],
    compare: Option<Src>,
) -> Result<(), Trap> {
    let base = addresses(env, warp, frame, address, active)?;
    let both = |warp: &Warp, env: &Env<'_>, src: Src| -> Result<[Row; 2], Trap> {
        Ok([
            warp.source(env, frame, src, active)?,
            warp.source(env, frame, crate::decode::second_row(src), active)?,
        ])
    };
    let value = both(warp, env, srcs[0])?;
    let wanted = compare.map(|c| both(warp, env, c)).transpose()?;
    let mut old = [[0; LANES]; 2];
    let lock = env.shared.wide_atomics;
    let _held = lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    for lane in lanes(active) {
        let at = base[lane];
        if at % 16 != 0 {
            return Err(Trap::lane(
                lane,
                format!("atomic address {at:#x} is not a multiple of 16"),
            ));
        }
        let places = [
            place(env, warp, address.space, at).map_err(|t| t.at(lane))?,
            place(env, warp, address.space, at + 8).map_err(|t| t.at(lane))?,
        ];
        for half in 0..2 {
            old[half][lane] = read(env, warp, lane, places[half], 8).map_err(|t| t.at(lane))?;
        }
        let store = wanted.is_none_or(|w| w[0][lane] == old[0][lane] && w[1][lane] == old[1][lane]);
        for half in 0..2 {
            if store {
                write(env, warp, lane, places[half], 8, value[half][lane])
                    .map_err(|t| t.at(lane))?;
            }
        }
    }
    for (dst, row) in dsts.iter().zip(&old) {
        if let Some(reg) = dst {
            warp.set(frame, *reg, active, row);
        }
    }
    Ok(())
}
