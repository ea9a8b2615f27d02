//! Layouts in which accesses to memory are wide and coalesced, and where a conversion to them pays.

use super::fragments::by_threads;
use super::look::last_users;
use super::relation::{at, canonical, is_distributed, layout_of, shape_of};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{self, Access};
use crate::ir::{Diagnostic, Module, OpId, ValueId};
use crate::layout::blocked::Blocked;
use crate::layout::{Layout, LayoutError, Shape};
use crate::lower::run::Run;

/// The pointers of an access through a tile of them.
pub fn pointers(m: &Module, op: OpId) -> Option<ValueId> {
    let pointers = access::pointers(m.op(op))?;
    let held = is_distributed(m, pointers) || layout_of(m, pointers).is_some();
    held.then_some(pointers)
}

/// The coalesced layout of an access to memory: along the contiguous dimension, as wide as facts
/// allow. Pointers of which nothing is known: neighbours in neighbouring threads, for each is accessed
/// by itself.
pub fn coalesced(
    m: &Module,
    facts: &FactMap,
    op: OpId,
    tile: ValueId,
    warps: u64,
) -> Result<Layout, LayoutError> {
    let (blocked, least) = blocked(m, facts, op, tile, warps)?;
    usual(m, op, blocked, least)
}

/// The layout of an access to memory that [`blocked`] says.
pub(super) fn usual(
    m: &Module,
    op: OpId,
    blocked: Blocked,
    least: u64,
) -> Result<Layout, LayoutError> {
    let rows = blocked.shape.extents().iter().filter(|&&n| n > 1).count() > 1;
    let loads = match S::of(m.op(op).kind) {
        Some(S::Load) => true,
        Some(S::TiledLoad) => feeds_threads(m, op),
        _ => false,
    };
    match loads && rows && blocked.max_vector == 1 {
        true => one_by_one(blocked),
        false => blocked.layout_of_at_least(least),
    }
}

/// Whether multiply-adds take what a load loads, as it is or computed on.
fn feeds_threads(m: &Module, load: OpId) -> bool {
    let users = last_users(m, m.result(load));
    let mut users = users.into_iter().filter_map(|(_, user)| user);
    users.any(|o| by_threads(m, o))
}

/// The layout of a tile that is loaded element by element, for nothing says that pointers go to neighbours or that rows are
/// aligned: four bytes in each thread, so that a warp's accesses are to one line of 128 bytes where they are neighbours
/// after all, and as few rows in each warp as can be, so that its threads have few addresses and masks.
fn one_by_one(blocked: Blocked) -> Result<Layout, LayoutError> {
    let neighbours = Blocked {
        max_vector: u64::from(32 / blocked.element_bits).max(1),
        ..blocked
    };
    neighbours.layout_of_own_rows()
}

/// What the coalesced layout is chosen from, and the fewest elements of a vector.
pub(super) fn blocked(
    m: &Module,
    facts: &FactMap,
    op: OpId,
    tile: ValueId,
    warps: u64,
) -> Result<(Blocked, u64), LayoutError> {
    let data = m.op(op);
    let shape = shape_of(m, tile)?;
    let ty = m.ty(tile);
    let element_bits = m.types.width(ty).max(8);
    let (order, bytes) = match Access::of(data) {
        Some(access) => {
            let extents = m.types.as_tile(ty).map_or(&[][..], |t| t.1);
            (
                access.order(facts),
                access.alignment(m, facts, extents, m.types.elem(ty)),
            )
        }
        None => match pointers(m, op).and_then(|p| Run::of(m, facts, p)) {
            Some(run) => return Ok((through(&run, shape, warps), 1)),
            None => (
                (0..shape.rank()).rev().collect(),
                u64::from(element_bits / 8),
            ),
        },
    };
    let max_vector = (bytes * 8 / u64::from(element_bits)).max(1);
    let multicast = matches!(
        S::of(data.kind),
        Some(S::MultimemLoad | S::MultimemReduce | S::MultimemStore)
    );
    // No access to a multicast address moves less than a word.
    let least = match multicast {
        true => u64::from(32 / element_bits).max(1),
        false => 1,
    };
    let blocked = Blocked {
        shape,
        order,
        max_vector,
        element_bits,
        warps,
    };
    Ok((blocked, least))
}

/// The layout of a tile of `shape` that is accessed through pointers in runs.
pub(super) fn through(run: &Run, shape: Shape, warps: u64) -> Blocked {
    Blocked {
        order: run.order(shape.rank()),
        shape,
        max_vector: run.width,
        element_bits: 8 * run.bytes as u32,
        warps,
    }
}

/// The layout of a load that makes its accesses at least four times as wide as that of its tile, which has a matmul's as
/// a rule: that of the tile with longer runs, so that each warp converts what it has loaded itself, or the coalesced one.
pub fn loaded(
    m: &Module,
    facts: &FactMap,
    op: OpId,
    warps: u64,
) -> Result<Option<Layout>, Diagnostic> {
    if S::of(m.op(op).kind) != Some(S::TiledLoad) {
        return Ok(None);
    }
    let wider = Wider::of(m, facts, op, m.result(op), warps)?.filter(|w| w.by(4));
    Ok(wider.map(|w| {
        let own = w.have.with_runs(&w.order, w.best);
        own.unwrap_or(w.want)
    }))
}

/// The coalesced layout of what a store stores, where that widens its accesses enough to pay for the trip: accesses of
/// under half the possible width, in tiles of more than one access per thread.
pub fn stored(
    m: &Module,
    facts: &FactMap,
    op: OpId,
    tile: ValueId,
    warps: u64,
) -> Result<Option<Layout>, Diagnostic> {
    let wider = Wider::of(m, facts, op, tile, warps)?.filter(|w| w.by(2));
    Ok(wider.map(|w| w.want))
}

/// The layout that a tile has and the one in which an access to it is coalesced.
struct Wider {
    have: Layout,
    want: Layout,
    /// Dimensions by contiguity in memory.
    order: Vec<usize>,
    /// Elements that a thread has next to each other in either.
    now: u64,
    best: u64,
}

impl Wider {
    fn of(
        m: &Module,
        facts: &FactMap,
        op: OpId,
        tile: ValueId,
        warps: u64,
    ) -> Result<Option<Wider>, Diagnostic> {
        let Some(have) = layout_of(m, tile).map(|l| m.layouts.get(l).clone()) else {
            return Ok(None);
        };
        let want = canonical(&at(m, op, coalesced(m, facts, op, tile, warps))?);
        let order = Access::of(m.op(op)).map_or_else(Vec::new, |a| a.order(facts));
        let width = |l: &Layout| at(m, op, l.contiguous_per_thread(&order));
        let (now, best) = (width(&have)?, width(&want)?);
        Ok(Some(Wider {
            have,
            want,
            order,
            now,
            best,
        }))
    }

    /// Whether a thread's accesses are at least `times` as wide, and more than one.
    fn by(&self, times: u64) -> bool {
        self.now * times <= self.best && self.have.registers() > self.best
    }
}
