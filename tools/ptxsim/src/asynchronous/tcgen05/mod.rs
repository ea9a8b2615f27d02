//! Tensor memory and the `tcgen05` instructions (PTX ISA 9.7.16).
//!
//! Loads and stores move their words when they are issued; that they are waited for is the checker's business. Products,
//! copies and shifts wait in a queue and read their operands when they happen.

pub mod alloc;
mod copy;
mod descriptor;
mod instruction;
mod layout;
pub mod memory;
mod mma;
mod moved;
mod moves;
mod multiply;
mod operands;
mod product;
pub mod queue;
mod scale;
mod shift;
pub mod work;
mod zero_columns;

use crate::clock::trace::Effect;
use crate::exec::collective;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::flow::Flow;
use crate::exec::frame::Frame;
use crate::exec::warp::Warp;
use crate::program::inst::{Address, Src};
use crate::program::lanes;
use crate::program::tensor::{Tensor, TensorAddress};
use memory::{COLUMNS, LANES, Place};
use work::Work;

pub use queue::tick;

/// Executes an instruction of the family for the active lanes of a fragment.
pub fn execute(
    env: &mut Env<'_>,
    warp: &mut Warp,
    fragment: usize,
    active: u32,
    line: u32,
    tensor: &Tensor,
) -> Result<Flow, Trap> {
    let mask = warp.fragments[fragment].mask;
    let frame = warp.fragments[fragment].frame();
    let whole = matches!(
        tensor,
        Tensor::Allocation(_) | Tensor::Move(_) | Tensor::Wait { .. }
    );
    if whole {
        if let Some(flow) = collective::aligned(warp, mask, active)? {
            return Ok(flow);
        }
        if active != u32::MAX {
            return Err(Trap::new(
                "tcgen05 .aligned instructions need all 32 threads of the warp",
            ));
        }
        env.warp_sync(warp);
    }
    match tensor {
        Tensor::Allocation(allocation) => {
            return alloc::execute(env, warp, frame, line, allocation);
        }
        Tensor::Move(mv) => moves::execute(env, warp, frame, line, mv)?,
        Tensor::Wait { stores } => env.tensor_wait(warp, *stores),
        Tensor::Fence { after } => env.tensor_fence(warp, *after),
        Tensor::Commit {
            pair,
            barrier,
            multicast,
        } => {
            for lane in lanes(active) {
                commit(env, warp, frame, lane, line, *pair, barrier, *multicast)
                    .map_err(|t| t.at(lane))?;
            }
        }
        Tensor::Copy(fill) => {
            for lane in lanes(active) {
                copy::issue(env, warp, frame, lane, line, fill).map_err(|t| t.at(lane))?;
            }
        }
        Tensor::Shift { pair, address } => {
            for lane in lanes(active) {
                shift::issue(env, warp, frame, lane, line, *pair, *address)
                    .map_err(|t| t.at(lane))?;
            }
        }
        Tensor::Mma(mma) => {
            for lane in lanes(active) {
                mma::issue(env, warp, frame, lane, line, mma).map_err(|t| t.at(lane))?;
            }
        }
    }
    Ok(Flow::Next)
}

/// One value for the whole warp.
fn uniform(env: &Env<'_>, warp: &Warp, frame: Frame, src: Src, what: &str) -> Result<u64, Trap> {
    let row = warp.source(env, frame, src, u32::MAX)?;
    match row.iter().position(|&x| x != row[0]) {
        Some(lane) => Err(Trap::lane(
            lane,
            format!("disagrees with its warp about the {what} of a tcgen05 instruction"),
        )),
        None => Ok(row[0]),
    }
}

fn lane_value(
    env: &Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    src: Src,
) -> Result<u64, Trap> {
    warp.source(env, frame, src, 1 << lane).map(|row| row[lane])
}

/// The place of an address that all of `active` agree about.
fn tensor_place(
    env: &Env<'_>,
    warp: &Warp,
    frame: Frame,
    address: TensorAddress,
    active: u32,
) -> Result<Place, Trap> {
    let row = warp.source(env, frame, address.base, active)?;
    let first = active.trailing_zeros() as usize & 31;
    if let Some(lane) = lanes(active).find(|&l| row[l] != row[first]) {
        return Err(Trap::lane(
            lane,
            "disagrees with its warp about a tensor memory address",
        ));
    }
    let value = (row[first] as u32).wrapping_add(address.offset as u32);
    let place = Place::of(value.into());
    if place.lane >= LANES || place.column >= COLUMNS {
        return Err(Trap::new(format!(
            "tensor memory address {value:#x}: lane {}, column {}; there are {LANES} lanes and {COLUMNS} columns",
            place.lane, place.column
        )));
    }
    Ok(place)
}

/// The other block of a pair (9.7.16.5.2).
fn peer(env: &Env<'_>, cta: usize) -> Result<usize, Trap> {
    let other = cta ^ 1;
    match env.ctas.get(other) {
        None => Err(Trap::new(format!(
            ".cta_group::2 needs a pair of blocks, and block {cta} has no peer in its cluster of {}",
            env.ctas.len()
        ))),
        Some(_) => Ok(other),
    }
}

/// Blocks that an operation of a thread concerns, the even one first.
fn blocks(env: &Env<'_>, warp: &Warp, pair: bool) -> Result<Vec<usize>, Trap> {
    if !pair {
        return Ok(vec![warp.cta]);
    }
    let other = peer(env, warp.cta)?;
    if env.ctas[other].live_threads == 0 {
        return Err(Trap::new(format!(
            "a tcgen05 operation of a pair, but all threads of block {other} of the cluster have exited"
        )));
    }
    Ok(vec![warp.cta & !1, warp.cta | 1])
}

/// All instructions of a kernel name the same `.cta_group`.
fn check_group(env: &mut Env<'_>, pair: bool) -> Result<(), Trap> {
    if *env.tensor.pair.get_or_insert(pair) == pair {
        return Ok(());
    }
    Err(Trap::new(
        "mixes .cta_group::1 and .cta_group::2; all tcgen05 instructions of a kernel must name the same",
    ))
}

/// `tcgen05.commit`
#[allow(clippy::too_many_arguments)]
fn commit(
    env: &mut Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    line: u32,
    pair: bool,
    barrier: &Address,
    multicast: Option<Src>,
) -> Result<(), Trap> {
    check_group(env, pair)?;
    let value = crate::exec::memory::addresses(env, warp, frame, barrier, 1 << lane)?[lane];
    let (rank, offset) = crate::asynchronous::mbarrier::shared_at(env, warp, barrier, value)?;
    let targets: Vec<(usize, u64)> = match multicast {
        None => vec![(rank, offset)],
        Some(src) => {
            let mask = lane_value(env, warp, frame, lane, src)? & 0xffff;
            let count = env.ctas.len();
            if mask == 0 || mask >> count != 0 {
                return Err(Trap::new(format!(
                    "multicast mask {mask:#x} of tcgen05.commit names blocks outside the cluster of {count}"
                )));
            }
            (0..count)
                .filter(|c| mask >> c & 1 == 1)
                .map(|cta| (cta, offset))
                .collect()
        }
    };
    for &(rank, offset) in &targets {
        env.mbarrier(rank, offset)?;
        env.use_mbarrier(warp, rank, offset)?;
    }
    for &(rank, offset) in &targets {
        env.note(warp, |tape| {
            Some(Effect::TensorCommit(tape.mbarrier_arrival(rank, offset)))
        });
    }
    let view = env.tensor_commit(warp);
    queue::push(env, warp, line, Work::Commit { targets, view });
    Ok(())
}
