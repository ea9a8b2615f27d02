//! How many warps share out small tiles.
//!
//! A warp whose threads read some elements of a row each, in one access, reduces them without a barrier. Of four warps, each
//! thread would have an element or two of it, compute addresses and masks for these, and wait for the others at each
//! reduction. A multiprocessor has room for fewer blocks than warps, half as many as a rule: so four warps in a block do not
//! have more memory in flight.

use super::look::{elements, is_matmul, loop_around};
use super::pipeline::prefetch::loads_tile;
use super::pressure;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::FactMap;
use crate::facts::access::Access;
use crate::ir::{BlockId, Module, OpId, ValueId};

/// Most elements of one tile that a thread should hold.
const ELEMENTS_OF_A_THREAD: u64 = 8;
/// Most bytes of one tile that it should load or store.
const BYTES_OF_A_THREAD: u64 = 16;
/// Most registers of a thread for tiles that live at once, so that there are as many blocks as a multiprocessor takes.
const MOST_REGISTERS: u64 = 32;
/// Warps of a block where no tile is small.
const USUAL: u64 = 4;

/// One warp, two or four for a kernel with `ops`, whose largest tile has so many elements.
pub fn of(m: &Module, body: BlockId, ops: &[OpId], facts: &FactMap, largest: u64) -> u64 {
    // What loops load runs ahead, in a producer beside four warps.
    let in_loop = |o: OpId| loads_tile(m, o) && loop_around(m, body, m.op(o).block).is_some();
    if ops.iter().any(|&o| is_matmul(m, o) || in_loop(o)) {
        return USUAL;
    }
    let hold = |&warps: &u64| {
        let threads = warps * 32;
        largest <= threads * ELEMENTS_OF_A_THREAD
            && ops.iter().all(|&o| is_one_access(m, facts, o, threads))
            && pressure::registers(m, body, warps) <= MOST_REGISTERS
    };
    [1, 2].into_iter().find(hold).unwrap_or(USUAL)
}

/// Whether each of so many threads loads or stores its part of a tile in one access. Several of a warp, with gaps between
/// threads, would read the same lines again.
fn is_one_access(m: &Module, facts: &FactMap, op: OpId, threads: u64) -> bool {
    let Some(tile) = accessed(m, op) else {
        return true;
    };
    let (each, ty) = (elements(m, tile) / threads, m.ty(tile));
    let Some((elem, shape)) = m.types.as_tile(ty).filter(|_| each > 1) else {
        return true;
    };
    let Some(access) = Access::of(m.op(op)) else {
        return false;
    };
    let element = u64::from(m.types.width(elem)).div_ceil(8);
    let run = access.order(facts).first().and_then(|&d| shape.get(d));
    let aligned = access.alignment(m, facts, shape, elem);
    let wide = aligned.min(run.map_or(0, |run| run * element));
    each * element <= wide.min(BYTES_OF_A_THREAD)
}

/// The tile that an operation loads or stores.
fn accessed(m: &Module, op: OpId) -> Option<ValueId> {
    let data = m.op(op);
    match S::of(data.kind)? {
        S::TiledLoad | S::Load => data.results.first().copied(),
        S::TiledStore => view::TiledStore::of(data).map(|v| v.tile()),
        S::Store => view::Store::of(data).map(|v| v.value()),
        _ => None,
    }
}
