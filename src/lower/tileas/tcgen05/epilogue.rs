//! What is computed from an accumulator is computed and stored in parts where registers are short.
//!
//! ```text
//! t = tensor_load acc : 256x256          for part in 0..4 {
//! x = load : 256x256                       t = tensor_load acc, part : 256x64
//! y = load : 256                           x = load : 256x64
//! store t + x + y                  →       y = load : 64
//!                                          store t + x + y
//!                                        }
//! ```
//! The selector puts instructions in an order in which an accumulator is loaded, computed on and stored a few registers
//! at a time, which is enough where it is all that there is. What is loaded beside it, a row that every thread has all
//! of, an accumulator that is stored twice, and one that threads store to global memory, for which it changes its layout,
//! are in registers as a whole, however the instructions stand. The columns
//! of such an epilogue are cut in parts ([`strips`](crate::lower::tileas::strips)), and a loop works on one at a time.
//! Two stores of which one waits for the other are made two epilogues before ([`twice`]). Sums of rows are added up part by
//! part.

mod copied;

use super::narrowed::Narrowed;
use super::twice;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access::tile_of;
use crate::facts::tensor::tensor_matrix;
use crate::ir::{BlockId, Diagnostic, Module, OpId, ValueId};
use crate::layout::tensor::Share;
use crate::lower::tileas::decided::Kernel;
use crate::lower::tileas::limits::REGISTERS_BESIDE_TILES;
use crate::lower::tileas::look::{is_matmul, place};
use crate::lower::tileas::missed::{Log, Refusal};
use crate::lower::tileas::pipeline::tokens::loads_freely;
use crate::lower::tileas::pressure::Weights;
use crate::lower::tileas::strips::apart;
use crate::lower::tileas::strips::cut::{Cut, cheap};
use crate::lower::tileas::strips::dims::{Dim, Dims, extents};
use crate::lower::tileas::strips::parts::Parts;
use crate::lower::tileas::strips::sums::reduces;
use rustc_hash::FxHashSet;

/// What is done, in messages.
const WHAT: &str = "epilogue in parts";
/// Fewest columns of a part: what a thread stores of them is a sector of memory where elements have 16 bits.
const LEAST_COLUMNS: u64 = 16;
/// Registers of a load from tensor memory, which is under way while what the one before has brought is worked on.
const UNDER_WAY: u64 = 32;

/// Cuts the epilogues of a kernel that a thread has too few registers for, or of whose results `bytes` of shared memory hold
/// only a part.
pub fn in_parts(
    m: &mut Module,
    func: OpId,
    kernel: &Kernel<'_>,
    bytes: u64,
    log: &mut Log,
) -> Result<(), Diagnostic> {
    copied::out(m, func, kernel, bytes, log)?;
    let (body, warps, room) = (kernel.body, kernel.warps(), room(kernel));
    for load in whole_loads(m, body) {
        let full = |m: &Module| Epilogue::of(m, body, load, warps).map(|e| e.held > room);
        let full = full(m).unwrap_or_else(|| {
            let ops = Work::of(m, body, load).all(m, body);
            let narrowed = Narrowed::buffers(m, &ops);
            let full = full(m) == Some(true);
            if !full {
                narrowed.undo(m);
            }
            full
        });
        if full {
            twice::loads(m, body, load);
        }
    }
    let loads = whole_loads(m, body);
    if loads.is_empty() {
        return Ok(());
    }
    // Numbers of rows are those of columns until each has its own.
    let copies = apart::take(m, body);
    let mut cut = false;
    for load in loads {
        if let Some(epilogue) = Epilogue::of(m, body, load, warps).filter(|e| e.held > room) {
            cut |= epilogue.cut_for(m, body, room, log);
        }
    }
    if !cut {
        copies.undo(m);
    }
    Ok(())
}

/// Registers of a thread for what an epilogue holds as a whole.
pub fn room(kernel: &Kernel<'_>) -> u64 {
    (kernel.registers()).saturating_sub(REGISTERS_BESIDE_TILES + UNDER_WAY)
}

/// The loads of whole accumulators under `body`.
pub fn whole_loads(m: &Module, body: BlockId) -> Vec<OpId> {
    let mut loads = m.ops_under(body);
    loads.retain(|&o| view::TensorLoad::of(m.op(o)).is_some_and(|v| v.part().is_none()));
    loads
}

/// What is computed from an accumulator.
struct Epilogue {
    load: OpId,
    /// Its columns, and how many warpgroups share them out.
    columns: u64,
    groups: u64,
    /// Registers of a thread for what it holds as a whole.
    held: u64,
}

impl Epilogue {
    /// That behind `load`, if nothing in it needs whole rows.
    fn of(m: &Module, body: BlockId, load: OpId, warps: u64) -> Option<Epilogue> {
        let buffer = view::TensorLoad::of(m.op(load))?.source();
        let matrix = tensor_matrix(m, buffer)?;
        let share = Share::new(matrix, warps / 4).ok()?;
        let ops = Work::of(m, body, load).all(m, body);
        let (mut dims, set) = columns(m, &ops, load)?;
        let mut epilogue = Epilogue {
            load,
            columns: matrix.columns,
            groups: share.groups_n.max(1),
            held: 0,
        };
        let weights = Weights::of(m, body, warps);
        epilogue.held = epilogue.holds(m, &ops, &mut dims, set, &weights)?;
        Some(epilogue)
    }

    /// Registers for tiles with the dimension `set` that are held as a whole.
    fn holds(
        &self,
        m: &Module,
        ops: &[OpId],
        dims: &mut Dims,
        set: Dim,
        weights: &Weights<'_>,
    ) -> Option<u64> {
        let (parts, concerned) = Parts::of(m, ops, dims, set, 1).ok()?;
        let cheap = cheap(m, &concerned, &parts.dims);
        let (mut held, mut accumulators, mut stores, mut turned) = (0, 0, 0, false);
        let mut rows: FxHashSet<ValueId> = FxHashSet::default();
        let mut folded = 0;
        for &op in concerned.iter().filter(|o| !cheap.contains(o)) {
            let data = m.op(op);
            match (C::of(data.kind), S::of(data.kind)) {
                (_, Some(S::TensorLoad)) => accumulators += weights.weight(m.result(op)),
                (_, Some(S::TiledLoad | S::Load)) => held += weights.weight(m.result(op)),
                (_, Some(kind @ (S::TiledStore | S::Store | S::LocalStore))) => {
                    // While one tile is stored, the others wait or are computed.
                    if stores > 0 {
                        held += tile_of(m, op).map_or(0, |tile| weights.weight(tile));
                    }
                    stores += 1;
                    turned |= kind != S::LocalStore;
                }
                // What there is of the sums so far is carried from part to part.
                (Some(C::Reduce), _) if reduces(m, op, &parts) => {
                    let sources = data.operands.iter();
                    held += sources.map(|&v| weights.weight(v)).sum::<u64>();
                }
                // Lanes exchange what a thread has of all columns, beside what it is computed from.
                (Some(C::Reduce), _) => {
                    let sources = data.operands.iter();
                    folded = folded.max(sources.map(|&v| weights.weight(v)).sum());
                }
                (Some(C::Broadcast), _) => {
                    let row = weights.root(m.source(op));
                    let made = m.def_op(row).is_some_and(|d| !cheap.contains(&d));
                    if made && parts.dims.contains_key(&row) && rows.insert(row) {
                        held += self.columns / self.groups;
                    }
                }
                _ => {}
            }
        }
        held += folded;
        Some(if stores > 1 || turned {
            held + accumulators
        } else {
            held
        })
    }

    /// In how many parts it has room in so many registers, or comes near it.
    fn parts(&self, room: u64) -> u64 {
        let mut parts = 2;
        while self.held.div_ceil(parts) > room
            && self.columns / (2 * parts * self.groups) >= LEAST_COLUMNS
        {
            parts *= 2;
        }
        parts
    }

    /// Cuts it so that its parts have room in so many registers, or come near it. Whether it could be cut.
    fn cut_for(&self, m: &mut Module, body: BlockId, room: u64, log: &mut Log) -> bool {
        let loc = m.op(self.load).loc;
        match self.cut_at_most(m, body, self.parts(room)) {
            Ok(parts) => {
                let how = format!(
                    "a loop works on one of {parts} parts of the columns at a time, for {} registers are held beside what is loaded from tensor memory, and {room} are left",
                    self.held
                );
                log.changed(loc, WHAT, how);
                true
            }
            Err((op, why)) => {
                log.note(m, op, WHAT, why);
                false
            }
        }
    }

    /// Cuts it in so many parts, or in fewer if those have no place in shared memory; returns how many.
    fn cut_at_most(&self, m: &mut Module, body: BlockId, mut parts: u64) -> Result<u64, Refusal> {
        loop {
            match self.cut(m, body, parts) {
                Ok(()) => return Ok(parts),
                Err(why) if parts <= 2 => return Err(why),
                Err(_) => parts /= 2,
            }
        }
    }

    /// Puts it in a loop over its parts, or says what stands against it.
    fn cut(&self, m: &mut Module, body: BlockId, parts: u64) -> Result<(), Refusal> {
        let (block, _) = place(m, self.load);
        let before = m.block(block).ops.clone();
        let work = Work::of(m, body, self.load);
        work.stand_together(m, self.load);
        let ops = work.all(m, body);
        let planned = match columns(m, &ops, self.load) {
            Some((mut dims, set)) => Cut::plan_among(m, body, &ops, &mut dims, set, parts),
            None => Err((self.load, "an operation needs whole rows".to_owned())),
        };
        match planned {
            Ok(cut) => {
                cut.apply(m, body);
                Ok(())
            }
            Err(why) => {
                m.block_mut(block).ops = before;
                Err(why)
            }
        }
    }
}

/// The dimensions of what `ops` work on, and the columns of what `load` loads among them, if they can be cut: as they are,
/// or where sums of rows are added up part by part.
fn columns(m: &Module, ops: &[OpId], load: OpId) -> Option<(Dims, Dim)> {
    let whole = [Dims::of, Dims::with_reductions];
    whole.into_iter().find_map(|dims| {
        let mut dims = dims(m, ops);
        let set = dims.free(m.result(load), 1)?;
        Some((dims, set))
    })
}

/// The operations of an epilogue.
struct Work {
    /// What its block holds from the load of the accumulator on, with what is inside.
    behind: Vec<OpId>,
    /// Loads in front of that, and what is computed of them, which only the epilogue uses, in order.
    early: Vec<OpId>,
    /// Tiles of constants, of numbers of elements and of scalars that it uses, made anywhere.
    known: FxHashSet<OpId>,
}

impl Work {
    fn of(m: &Module, body: BlockId, load: OpId) -> Work {
        let (block, at) = place(m, load);
        let (ahead, behind) = m.block(block).ops.split_at(at);
        let behind = with_inner(m, behind);
        let mut needed: FxHashSet<OpId> = behind.iter().copied().collect();
        let mut used: Vec<ValueId> = (behind.iter())
            .flat_map(|&o| m.op(o).operands.to_vec())
            .collect();
        while let Some(value) = used.pop() {
            let Some(op) = m.def_op(value) else { continue };
            let computes = m.op(op).only_computes() && !is_matmul(m, op);
            if (computes || loads_freely(m, op)) && needed.insert(op) {
                used.extend(&m.op(op).operands);
            }
        }
        let mut work = Work {
            known: known(m, body, &needed),
            behind,
            early: Vec::new(),
        };
        let mut own: FxHashSet<OpId> = work.behind.iter().copied().collect();
        for &op in ahead.iter().rev() {
            let results = &m.op(op).results;
            let tiles = results.iter().any(|&r| !extents(m, r).is_empty());
            let mut users = results.iter().flat_map(|&r| m.users(r));
            if tiles
                && needed.contains(&op)
                && !work.known.contains(&op)
                && users.all(|u| own.contains(&u))
            {
                own.insert(op);
                work.early.push(op);
            }
        }
        work.early.reverse();
        work
    }

    /// All of it, in order.
    fn all(&self, m: &Module, body: BlockId) -> Vec<OpId> {
        let mut own: FxHashSet<OpId> = self.known.clone();
        own.extend(self.behind.iter().chain(&self.early));
        let mut ops = m.ops_under(body);
        ops.retain(|o| own.contains(o));
        ops
    }

    /// Moves what stands in front of `load` behind it, what a store to shared memory waits for in front of it, and copies to
    /// global memory behind all that is computed: they are done once.
    fn stand_together(&self, m: &mut Module, load: OpId) {
        let (block, at) = place(m, load);
        let kind = |o: &OpId| S::of(m.op(*o).kind);
        let waits = |o: &OpId| {
            let steps = [S::AllocTensor, S::StoreWait, S::ProxyFence];
            kind(o).is_some_and(|k| steps.contains(&k))
        };
        // They order nothing that is loaded to registers or computed there.
        let passes = |o: &OpId| {
            let loads = matches!(kind(o), Some(S::TensorLoad | S::TiledLoad | S::Load));
            loads || m.op(*o).def().is_pure() || waits(o)
        };
        let behind = m.block(block).ops.iter().copied().skip(at);
        let waits: Vec<OpId> = behind.take_while(passes).filter(waits).collect();
        let mut ops = m.block(block).ops.clone();
        ops.retain(|o| !self.early.contains(o) && !waits.contains(o));
        let at = ops.iter().position(|&o| o == load).unwrap_or(0);
        ops.splice(at..at, waits);
        let at = ops.iter().position(|&o| o == load).map_or(0, |i| i + 1);
        ops.splice(at..at, self.early.iter().copied());
        copies_last(m, &mut ops[at..]);
        m.block_mut(block).ops = ops;
    }
}

/// Puts copies of buffers to global memory that nothing waits for, with their fences, behind the last of `ops` that works on a
/// tile: of those in front of the first that waits, or that may read a buffer behind a fence.
fn copies_last(m: &Module, ops: &mut [OpId]) {
    use S::{AllocTensor, LocalStore, ProxyFence, TensorLoad, TensorStore, TmaStore};
    let kind = |o: &OpId| S::of(m.op(*o).kind);
    let passes = |o: &OpId| match kind(o) {
        Some(AllocTensor | LocalStore | ProxyFence | TensorLoad | TensorStore | TmaStore) => true,
        Some(S::TiledLoad | S::Load | S::TiledStore | S::Store) => true,
        Some(_) => false,
        None => true,
    };
    let stands = |o: &OpId| !with_inner(m, &[*o]).iter().all(passes);
    let end = ops.iter().position(stands).unwrap_or(ops.len());
    let tiles = |o: &OpId| {
        let inner = with_inner(m, &[*o]).into_iter();
        let mut values = inner.flat_map(|o| m.op(o).operands.to_vec());
        values.any(|v| !extents(m, v).is_empty())
    };
    let copies = |o: &OpId| {
        let unused = m.op(*o).results.iter().all(|&r| !m.is_used(r));
        matches!(kind(o), Some(ProxyFence | TmaStore)) && unused
    };
    let end = ops[..end]
        .iter()
        .rposition(|o| tiles(o) && !copies(o))
        .map_or(0, |i| i + 1);
    ops[..end].sort_by_key(copies);
}

/// Operations with those in their regions.
fn with_inner(m: &Module, ops: &[OpId]) -> Vec<OpId> {
    let inner = |&op: &OpId| [op].into_iter().chain(m.ops_inside(op));
    ops.iter().flat_map(inner).collect()
}

/// Those of `ops` that make tiles of constants, of numbers of elements and of scalars.
fn known(m: &Module, body: BlockId, ops: &FxHashSet<OpId>) -> FxHashSet<OpId> {
    let mut found: FxHashSet<OpId> = FxHashSet::default();
    for op in m.ops_under(body).into_iter().filter(|o| ops.contains(o)) {
        let known = |&v: &ValueId| {
            extents(m, v).is_empty() || m.def_op(v).is_some_and(|d| found.contains(&d))
        };
        if m.op(op).only_computes() && m.op(op).operands.iter().all(known) {
            found.insert(op);
        }
    }
    found
}
