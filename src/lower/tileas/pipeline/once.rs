//! Operands of matmuls that stand outside of loops, or beside a loop in another one, go straight to shared memory.
//!
//! ```text
//! a, b = load …                    acquire; tiled_copy a, b, …; commit
//! …                        →       …
//! dot a, b                         wait; local_load a, b; dot a, b; release
//! …                                drain; …
//! ```
//! Loaded to registers, they would be stored to shared memory from there and read again as the instruction wants them. Each
//! has a buffer of its own, which is scratch once all have been read. In a loop it is filled again in each iteration, behind
//! the barrier of the drain:
//!
//! ```text
//! for h {                              for h {
//!   for k { s += load · load }           acquire; tiled_copy b; commit
//!   b = load …                    →      for k { s += load · load }
//!   o += f(s) · b                        wait; local_load b; o += f(s) · b; release; drain
//! }                                    }
//! ```

use super::ahead::{address_of, copies_through_pointers, forget_token, starts_anywhere};
use super::padding;
use super::prefetch::{copies_words, loads_tile};
use super::purpose::{Purpose, is_little};
use super::roles::steps::{copy_by_threads, number, step};
use super::slice::backward;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::matmul::Matmul;
use crate::ir::{Attr, BlockId, Diagnostic, LocId, Module, OpId, Type, ValueId};
use crate::lower::build::cased;
use crate::lower::tileas::buffers::{memory_order, shared_type, stage_bytes, tile_bytes};
use crate::lower::tileas::look::{
    ancestor_in, elements, is_matmul, is_view, loop_around, may_end, may_end_in, place,
};
use crate::lower::tileas::operands::read_where_brought;
use crate::lower::tileas::order::move_before;
use crate::lower::unsupported;
use rustc_hash::{FxHashMap, FxHashSet};

/// Bytes that a thread copies at once: where it has fewer to copy, loads to registers are as few.
const WIDEST: u64 = 16;

/// Loads of a block that are waited for together.
#[derive(Clone, Debug)]
pub struct Site {
    block: BlockId,
    /// In the order of the program.
    pub loads: Vec<OpId>,
}

impl Site {
    /// Bytes of its buffers.
    pub fn bytes(&self, m: &Module) -> u64 {
        stage_bytes(m, &self.loads)
    }
}

/// The sites in a kernel's `body` itself, and in loops around others, whose buffers have `room` bytes together, for a block
/// of `warps`. `planned`: loads that come another way. What a loop reads again and again stays in registers, as far as these
/// do, or is stored for it.
pub fn find(
    m: &Module,
    body: BlockId,
    facts: &FactMap,
    planned: &[OpId],
    (warps, mut room): (u64, u64),
) -> Vec<Site> {
    let loops = loops_around_loops(m, body);
    let blocks = std::iter::once(body).chain(loops);
    let sites = blocks.flat_map(|block| in_block(m, block, facts, planned, warps));
    let fits = |site: &Site| {
        let left = room.checked_sub(site.bytes(m));
        room = left.unwrap_or(room);
        left.is_some()
    };
    sites.filter(fits).collect()
}

/// The bodies of counted loops that hold another loop.
fn loops_around_loops(m: &Module, body: BlockId) -> Vec<BlockId> {
    let is_loop = |&o: &OpId| matches!(C::of(m.op(o).kind), Some(C::For | C::Loop));
    let around =
        |&o: &OpId| C::of(m.op(o).kind) == Some(C::For) && m.ops_inside(o).iter().any(is_loop);
    let loops = m.ops_under(body).into_iter().filter(around);
    loops.filter_map(|o| m.body_of(o, 0)).collect()
}

/// The sites of one block.
fn in_block(
    m: &Module,
    block: BlockId,
    facts: &FactMap,
    planned: &[OpId],
    warps: u64,
) -> Vec<Site> {
    let mut found: Vec<(OpId, Site)> = Vec::new();
    for &load in &m.block(block).ops {
        if planned.contains(&load) || !can(m, facts, load, warps) {
            continue;
        }
        let readers = Readers::of(m, block, &[load]);
        let Some((first, last)) = readers.first.zip(readers.last) else {
            continue;
        };
        if readers.in_loop || leaves(m, load, last) {
            continue;
        }
        match found.iter_mut().find(|s| s.0 == first) {
            Some((_, site)) => site.loads.push(load),
            None => {
                let loads = vec![load];
                found.push((first, Site { block, loads }));
            }
        }
    }
    found.into_iter().map(|s| s.1).collect()
}

/// Whether the kernel, or an iteration, may end between a load and the last operation that reads what it loads.
fn leaves(m: &Module, load: OpId, last: OpId) -> bool {
    let ends = |o: &OpId| matches!(C::of(m.op(*o).kind), Some(C::Continue | C::Break));
    let branch = |o: &OpId| C::of(m.op(*o).kind) == Some(C::If);
    let (block, start) = place(m, load);
    let end = place(m, last).1;
    let between = m.block(block).ops.get(start..=end).unwrap_or(&[]);
    let inside = between
        .iter()
        .flat_map(|&o| std::iter::once(o).chain(m.ops_inside(o)));
    let mut branches = inside.filter(branch);
    may_end(m, load, last)
        || may_end_in(m, last)
        || branches.any(|o| m.ops_inside(o).iter().any(ends))
}

/// Who reads what loads of a block load.
#[derive(Default)]
struct Readers {
    /// Operations of the block that show the tiles otherwise, in order.
    views: Vec<OpId>,
    /// The first and the last of the others that read them, in their regions or themselves.
    first: Option<OpId>,
    last: Option<OpId>,
    /// Whether a loop reads them.
    in_loop: bool,
}

impl Readers {
    fn of(m: &Module, body: BlockId, loads: &[OpId]) -> Readers {
        let mut readers = Readers::default();
        let mut work: Vec<ValueId> = loads.iter().map(|&l| m.result(l)).collect();
        let mut views: FxHashSet<OpId> = FxHashSet::default();
        let mut reading: FxHashSet<OpId> = FxHashSet::default();
        while let Some(value) = work.pop() {
            for user in m.users(value) {
                let block = m.op(user).block;
                if is_view(m, user) {
                    work.push(m.result(user));
                }
                readers.in_loop |= loop_around(m, body, block).is_some();
                match is_view(m, user) && block == body {
                    true => {
                        views.insert(user);
                    }
                    false => reading.extend(ancestor_in(m, body, body, user)),
                }
            }
        }
        for &op in &m.block(body).ops {
            if views.contains(&op) {
                readers.views.push(op);
            }
            if reading.contains(&op) {
                readers.first = readers.first.or(Some(op));
                readers.last = Some(op);
            }
        }
        readers
    }
}

/// Whether threads can copy what `load` loads to where matmuls of warps or warpgroups read it, and nothing else does.
fn can(m: &Module, facts: &FactMap, load: OpId, warps: u64) -> bool {
    if !loads_tile(m, load) {
        return false;
    }
    let purpose = Purpose::Operands;
    let tile = m.result(load);
    let copies = || match S::of(m.op(load).kind) {
        Some(S::Load) => copies_through_pointers(m, facts, load, purpose).is_ok(),
        _ => starts_anywhere(m, load, purpose).is_ok() && copies_words(m, facts, load),
    };
    let lies = || {
        let order = memory_order(m, facts, load);
        !is_little(m, tile, &order) && purpose.layout(m, tile, &order).is_ok()
    };
    tile_bytes(m, tile) >= WIDEST * 32 * warps
        && are_operands(m, facts, load, tile)
        && copies()
        && lies()
}

/// Whether nothing but matmuls by instructions reads `tile`, which shows what `load` loads, where it would be brought.
fn are_operands(m: &Module, facts: &FactMap, load: OpId, tile: ValueId) -> bool {
    let half = m.types.bits(m.types.elem(m.ty(m.result(load)))) == Some(16);
    let brought: FxHashSet<OpId> = [load].into_iter().collect();
    let reads = |user: OpId| {
        // Of a batch, each warp stores and reads its own matrices, without the others.
        let two = |v: ValueId| m.types.as_tile(m.ty(v)).is_some_and(|t| t.1.len() == 2);
        let matmul = Matmul::of(m.op(user));
        let matmul = matmul.filter(|p| S::of(m.op(user).kind) == Some(S::Dot) && two(p.acc));
        matmul.is_some_and(|p| {
            let sides = [(p.lhs, 1), (p.rhs, 0)].into_iter();
            let mut here = sides.filter(|s| s.0 == tile);
            p.acc != tile && here.all(|(v, k)| half || read_where_brought(m, facts, v, k, &brought))
        })
    };
    let users = m.users(tile);
    !users.is_empty()
        && users.into_iter().all(|user| match is_view(m, user) {
            true => are_operands(m, facts, load, m.result(user)),
            false => reads(user),
        })
}

/// Brings the tiles of `sites` of the kernel with this `body`.
pub fn apply(
    m: &mut Module,
    body: BlockId,
    facts: &FactMap,
    sites: &[Site],
) -> Result<(), Diagnostic> {
    for sites in sites.chunk_by(|a, b| a.block == b.block) {
        let block = sites[0].block;
        match block == body {
            true => hoist(m, block, sites),
            false => start_first(m, block, sites),
        }
        let built = sites
            .iter()
            .map(|s| Built::of(m, (body, block), facts, s))
            .collect::<Result<Vec<Built<'_>>, Diagnostic>>()?;
        rewrite(m, block, &built);
    }
    Ok(())
}

/// Puts the loads of a loop's `body` in front of the loops in it, as far as numbers alone say where they load from.
fn start_first(m: &mut Module, body: BlockId, sites: &[Site]) {
    let ops = m.block(body).ops.clone();
    let loads = sites.iter().flat_map(|s| s.loads.clone()).collect();
    start_behind(m, body, loads, &ops);
}

/// Puts the loads together behind those of the first site, as far as numbers alone say where they load from.
fn hoist(m: &mut Module, body: BlockId, sites: &[Site]) {
    let ops = m.block(body).ops.clone();
    let at: FxHashMap<OpId, usize> = ops.iter().copied().zip(0..).collect();
    let place = |op: OpId| at.get(&op).copied().unwrap_or(0);
    let ends = sites
        .iter()
        .filter_map(|s| s.loads.iter().map(|&l| place(l)).max());
    let Some(front) = ends.min().map(|end| end + 1) else {
        return;
    };
    let behind = ops.get(front..).unwrap_or(&[]);
    let mut loads: Vec<OpId> = sites.iter().flat_map(|s| s.loads.clone()).collect();
    loads.retain(|&l| place(l) >= front);
    start_behind(m, body, loads, behind);
}

/// Puts the loads in front of the operations `behind`, the last ones of a block, which hold them.
fn start_behind(m: &mut Module, body: BlockId, mut loads: Vec<OpId>, behind: &[OpId]) {
    let at: FxHashMap<OpId, usize> = behind.iter().copied().zip(0..).collect();
    loads.retain(|&l| S::of(m.op(l).kind) == Some(S::TiledLoad));
    loads.retain(|&l| behind.first().is_some_and(|&b| !may_end(m, b, l)));
    loads.sort_by_key(|l| at.get(l).copied());
    let mut moved: FxHashSet<OpId> = FxHashSet::default();
    let mut order = Vec::new();
    for load in loads {
        let slice = backward(m, body, address_of(m, load));
        let slice: Vec<OpId> = slice.into_iter().filter(|o| behind.contains(o)).collect();
        let simple = |&o: &OpId| {
            let numbers = m.op(o).results.iter().all(|&r| elements(m, r) == 1);
            m.op(o).only_computes() && m.op(o).regions.is_empty() && numbers && !is_matmul(m, o)
        };
        if slice.iter().all(simple) {
            order.extend(slice.into_iter().chain([load]).filter(|&o| moved.insert(o)));
        }
    }
    let Some(&anchor) = behind.iter().find(|o| !moved.contains(o)) else {
        return;
    };
    let mut before: FxHashMap<OpId, Vec<OpId>> = [(anchor, order)].into_iter().collect();
    move_before(m, body, &moved, &mut before);
}

/// A site with its readers, its pipeline, and a buffer for each load.
struct Built<'s> {
    site: &'s Site,
    readers: Readers,
    pipeline: ValueId,
    buffers: Vec<ValueId>,
}

impl<'s> Built<'s> {
    fn of(
        m: &mut Module,
        (body, block): (BlockId, BlockId),
        facts: &FactMap,
        site: &'s Site,
    ) -> Result<Built<'s>, Diagnostic> {
        let readers = Readers::of(m, block, &site.loads);
        let mut buffers = Vec::new();
        for &load in &site.loads {
            let tile = m.result(load);
            let layout = Purpose::Operands
                .layout(m, tile, &memory_order(m, facts, load))
                .map_err(|e| unsupported(m, load, format!("no layout: {e}")))?;
            let ty = shared_type(m, tile, &layout, 1);
            buffers.push(m.at(body, 0).value(S::AllocTensor, &[], [], ty));
        }
        let i32_ty = m.types.int(32);
        let int = |value: i64| Some(Attr::Int { value, ty: i32_ty });
        let ty = m.types.intern(Type::Pipeline { stages: 1 });
        let attrs = [cased(PipelineKind::CpAsync), int(1), int(1), int(0), None];
        let loc = site.loads.first().map_or(LocId::UNKNOWN, |&l| m.op(l).loc);
        let mut b = m.at(body, 0);
        b.loc = loc;
        let pipeline = b.value(S::PipelineCreate, &[], attrs, ty);
        Ok(Built {
            site,
            readers,
            pipeline,
            buffers,
        })
    }

    /// Starts the copy of load number `at` at the end of `block`, as the first one or after `done` others.
    fn copy(&self, m: &mut Module, block: BlockId, (at, done): (usize, usize), iteration: ValueId) {
        if done == 0 {
            step(m, block, S::ProducerAcquire, self.pipeline, iteration);
        }
        let to = [self.buffers[at], self.pipeline, iteration];
        copy_by_threads(m, block, self.site.loads[at], to);
        if done + 1 == self.site.loads.len() {
            step(m, block, S::ProducerCommit, self.pipeline, iteration);
        }
    }

    /// Reads all tiles at the end of `block`.
    fn read(&self, m: &mut Module, block: BlockId, iteration: ValueId) {
        step(m, block, S::ConsumerWait, self.pipeline, iteration);
        for (&load, &buffer) in self.site.loads.iter().zip(&self.buffers) {
            let tile = m.result(load);
            let (ty, loc) = (m.ty(tile), m.op(load).loc);
            let mut b = m.at_end(block);
            b.loc = loc;
            let value = b.value(S::LocalLoad, &[buffer, iteration], [], ty);
            let value = padding::fill(m, block, load, value);
            m.replace_all_uses(tile, value);
        }
        for &view in &self.readers.views {
            let end = m.block(block).ops.len();
            m.place(view, block, end);
        }
    }
}

/// Puts the steps of the sites where the loads and their readers stand.
fn rewrite(m: &mut Module, block: BlockId, sites: &[Built<'_>]) {
    let ops = std::mem::take(&mut m.block_mut(block).ops);
    let at: FxHashMap<OpId, usize> = ops.iter().copied().zip(0..).collect();
    let last = sites.iter().filter_map(|s| s.readers.last);
    let all_read = last.max_by_key(|o| at.get(o).copied());
    let mut started = vec![0; sites.len()];
    let mut iteration = None;
    for op in ops {
        let zero = |m: &mut Module| number(m, block, 0);
        let loaded = sites.iter().enumerate().find_map(|(i, s)| {
            let at = s.site.loads.iter().position(|&l| l == op)?;
            Some((i, s, at))
        });
        if let Some((i, site, at)) = loaded {
            let iteration = *iteration.get_or_insert_with(|| zero(m));
            site.copy(m, block, (at, started[i]), iteration);
            started[i] += 1;
            continue;
        }
        if sites.iter().any(|s| s.readers.views.contains(&op)) {
            continue;
        }
        for site in sites.iter().filter(|s| s.readers.first == Some(op)) {
            let iteration = *iteration.get_or_insert_with(|| zero(m));
            site.read(m, block, iteration);
        }
        let end = m.block(block).ops.len();
        m.place(op, block, end);
        for site in sites.iter().filter(|s| s.readers.last == Some(op)) {
            let iteration = *iteration.get_or_insert_with(|| zero(m));
            step(m, block, S::ConsumerRelease, site.pipeline, iteration);
        }
        if all_read == Some(op) {
            for site in sites {
                let groups: [&[ValueId]; 1] = [&[site.pipeline]];
                m.at_end(block).op(S::Drain, &groups, [], &[], &[]);
            }
        }
    }
    for &load in sites.iter().flat_map(|s| &s.site.loads) {
        forget_token(m, block, load);
        m.erase(load);
    }
}
