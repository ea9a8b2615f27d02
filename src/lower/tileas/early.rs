//! Loads that stand behind something slow are started in front of it.
//!
//! ```text
//! x = load                        x = load
//! sum = reduce x                  w = load
//! store x / sum              →    sum = reduce x
//! w = load                        store x / sum
//! ```
//! A reduction waits for what it reduces and ends in a barrier, a store waits for what it writes; the assembler moves no
//! load over either. Started in front, all loads of a block are under way at once: tiles that no loop loads need no ring
//! for that. It takes registers for what is loaded, and pays as long as the blocks of a multiprocessor, which may become
//! fewer, have more under way than before.

use std::collections::BTreeMap;

use super::limits::REGISTERS_BESIDE_LOADS;
use super::order::Moves;
use super::pipeline::prefetch::loads_tile;
use super::pipeline::tokens;
use super::pressure;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Ordering;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access::{self, group};
use crate::ir::{BlockId, Module, OpId};
use crate::lower::hints::Hints;
use crate::lower::tileas::buffers::tile_bytes;
use crate::lower::tileas::look::is_matmul;
use crate::lower::tileas::pipeline::ahead::address_of;
use crate::target::Target;
use rustc_hash::FxHashMap;

/// A load that can be started earlier.
struct Late {
    load: OpId,
    /// The first slow operation before it.
    front: OpId,
    /// What computes its address behind that one, in order.
    slice: Vec<OpId>,
    /// Bytes that the block has loaded in front of it.
    before: u64,
}

/// Starts the loads of the function with this `body` as early as its registers admit, for a block of `warps`.
pub fn start(m: &mut Module, func: OpId, body: BlockId, target: &Target, warps: u64) {
    let mut blocks = vec![body];
    for op in m.ops_under(body) {
        let flow = matches!(C::of(m.op(op).kind), Some(C::For | C::Loop | C::If));
        let regions = 0..m.op(op).regions.len();
        blocks.extend(regions.filter(|_| flow).filter_map(|i| m.body_of(op, i)));
    }
    let late: Vec<(BlockId, Vec<Late>)> = blocks.into_iter().map(|b| (b, late(m, b))).collect();
    if late.iter().all(|(_, found)| found.is_empty()) {
        return;
    }
    let mut room = Room::of(m, func, body, target, warps);
    for (block, found) in late {
        let mut moved = 0;
        let fitting = |l: &Late| room.takes(m, l, &mut moved);
        let fitting: Vec<Late> = found.into_iter().filter(fitting).collect();
        start_in(m, block, fitting);
    }
}

/// The loads of a block that stand behind something slow and follow from nothing slow.
fn late(m: &Module, block: BlockId) -> Vec<Late> {
    let ops = &m.block(block).ops;
    let places: FxHashMap<OpId, usize> = ops.iter().copied().zip(0..).collect();
    let mut found = Vec::new();
    let mut front: Option<usize> = None;
    let mut before = 0;
    for (at, &op) in ops.iter().enumerate() {
        let loads = loads_tile(m, op);
        match front {
            _ if is_slow(m, op) => front = front.or(Some(at)),
            _ if !loads && !is_quiet(m, op) => (front, before) = (None, 0),
            None if loads => before += tile_bytes(m, m.result(op)),
            Some(first) if loads => {
                let behind =
                    |op: OpId| places.get(&op).copied().filter(|p| (first..at).contains(p));
                let load = |slice| Late {
                    load: op,
                    front: ops[first],
                    slice,
                    before,
                };
                found.extend(movable(m, op, &behind).map(load));
            }
            _ => {}
        }
    }
    found
}

/// Whether an operation waits for loads, for threads, or both.
fn is_slow(m: &Module, op: OpId) -> bool {
    let kind = m.op(op).kind;
    is_matmul(m, op)
        || matches!(C::of(kind), Some(C::Reduce | C::Scan))
        || matches!(S::of(kind), Some(S::TiledStore | S::Store))
}

/// Whether a load may be moved over an operation: it neither branches nor has effects of its own.
fn is_quiet(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    let reads = matches!(S::of(data.kind), Some(S::TiledLoad | S::Load));
    reads || data.only_computes()
}

/// Which operations behind the slow one compute where a load loads from, if all of them may be moved with it. `behind`: the
/// place of such an operation.
pub(super) fn movable(
    m: &Module,
    load: OpId,
    behind: &dyn Fn(OpId) -> Option<usize>,
) -> Option<Vec<OpId>> {
    let data = m.op(load);
    let waits = access::token(data).is_some_and(|t| {
        let late = m.def_op(t).is_some_and(|o| behind(o).is_some());
        late || !tokens::only_read(m, t)
    });
    if access::ordering(data) != Ordering::Weak || waits {
        return None;
    }
    let mut work = address_of(m, load);
    work.extend(group(data, "padding"));
    let mut slice: BTreeMap<usize, OpId> = BTreeMap::new();
    while let Some(value) = work.pop() {
        let maker = m.def_op(value);
        if let Some(op) = maker
            && let Some(place) = behind(op)
            && slice.insert(place, op).is_none()
        {
            work.extend(&m.op(op).operands);
        }
    }
    let pure =
        |&o: &OpId| is_quiet(m, o) && !is_slow(m, o) && !m.op(o).def().traits.has(Traits::MEMORY);
    slice
        .values()
        .all(pure)
        .then(|| slice.into_values().collect())
}

/// What moving loads may cost.
struct Room<'t> {
    target: &'t Target,
    warps: u64,
    /// Blocks of a multiprocessor that the kernel asks for.
    asked: Option<u64>,
    /// Registers of a thread, with what has been moved.
    registers: u64,
}

impl<'t> Room<'t> {
    fn of(m: &Module, func: OpId, body: BlockId, target: &'t Target, warps: u64) -> Self {
        let asked = Hints::of(m, func, target).occupancy;
        Room {
            target,
            warps,
            asked: asked.and_then(|o| u64::try_from(o).ok()),
            registers: pressure::registers(m, body, warps) + REGISTERS_BESIDE_LOADS,
        }
    }

    /// Blocks that share a multiprocessor where a thread has so many registers.
    fn blocks(&self, registers: u64) -> u64 {
        if registers > u64::from(self.target.max_registers_per_thread()) {
            return 0;
        }
        let threads = 32 * self.warps.max(1);
        let by_registers = u64::from(self.target.registers_per_sm()) / (registers * threads).max(1);
        let by_threads = u64::from(self.target.threads_per_sm()) / threads;
        by_registers.min(by_threads)
    }

    /// Whether a load is worth its registers, which are taken then; `moved`: bytes that have been moved to the same place.
    fn takes(&mut self, m: &Module, late: &Late, moved: &mut u64) -> bool {
        let bytes = tile_bytes(m, m.result(late.load));
        let registers = self.registers + bytes.div_ceil(4 * 32 * self.warps.max(1));
        let [now, then] = [self.registers, registers].map(|r| self.blocks(r));
        let under_way = late.before + *moved;
        let enough = self.asked.is_none_or(|a| then >= a.min(now));
        let takes = enough && then * (under_way + bytes) > now * under_way;
        if takes {
            self.registers = registers;
            *moved += bytes;
        }
        takes
    }
}

/// Moves loads of `block`.
fn start_in(m: &mut Module, block: BlockId, loads: Vec<Late>) {
    if loads.is_empty() {
        return;
    }
    let mut moves = Moves::default();
    for late in loads {
        moves.add(late.front, late.slice.into_iter().chain([late.load]));
    }
    moves.apply(m, block);
}
