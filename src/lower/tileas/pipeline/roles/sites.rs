//! Loads that a producer can bring, and the rings that they come through.
//!
//! Loads that matmuls read come first: where there are any, shared memory is theirs. In other kernels
//! [`super::streams`] are what loops load.

use crate::lower::invariant::stands;
use crate::lower::tileas::buffers::{memory_order, shared_type, tile_bytes};
use crate::lower::tileas::look::{
    ancestor_in, elements, is_matmul, is_number, is_scaled, is_view, loop_around, may_end, place,
    reach_arranged,
};
use crate::lower::tileas::pipeline::ahead::{
    UNALIGNED, address_of, copies_elements, copies_through_pointers, copies_tile, starts_anywhere,
    waits_for_reads,
};
use crate::lower::tileas::pipeline::tokens::waits_for_earlier_iterations;
use rustc_hash::FxHashSet;

use super::super::described::described;
use super::super::prefetch::{copies_words, feeds_matmul, loads_tile};
use super::super::purpose::{Purpose, is_little};
use super::super::tma::tma_legal;
use super::context::{Context, WHAT};
use super::slice::{Blocked, Slice};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{self, Access};
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpId, TypeId, ValueId};
use crate::layout::shared::{BUFFER_ALIGN, Swizzle};
use crate::layout::tma::{Cut, TmaBoxes, boxes_for};
use crate::lower::run::Run;
use crate::lower::tileas::flow::jump_target;
use crate::lower::tileas::missed::Log;

/// Loads of one block that feed one matmul: they fill a stage of a ring together.
#[derive(Clone, Debug)]
pub struct Site {
    pub block: BlockId,
    /// In the order of the program.
    pub loads: Vec<OpId>,
    /// Those of them that the producer's threads copy by themselves.
    pub by_threads: FxHashSet<OpId>,
    /// The first and the last operation of the block that reads the tiles, in its regions or itself.
    pub first: OpId,
    pub last: OpId,
    /// The last operation of the block whose accesses the next iteration's loads wait for. The stage is handed back behind
    /// it, and the ring has no other one.
    pub behind: Option<OpId>,
    pub ring: usize,
    /// The type of a stage of the ring for each load.
    pub buffers: Vec<TypeId>,
    pub purpose: Purpose,
}

/// A ring of stages that sites in loops one after another may share.
#[derive(Clone, Debug)]
pub struct Ring {
    /// The type of a stage of each buffer, and the load that it is named after.
    pub buffers: Vec<(TypeId, OpId)>,
    /// Bytes that a stage takes.
    pub bytes: u64,
    /// Bytes that tensor copies bring to a stage, and whether threads copy the rest.
    pub by_tensor: u64,
    pub by_threads: bool,
    pub stages: u64,
    /// Whether it may have more than one stage: some site of it is in a loop, and none is loaded behind the accesses of an
    /// earlier iteration.
    pub repeats: bool,
    /// Whether another ring is filled in a loop inside of its own: this one is filled less often.
    pub outer: bool,
    /// Whether its sites are loaded behind the accesses of earlier iterations.
    pub behind: bool,
}

impl Site {
    /// Finds what its loads wait for in the last iteration, and keeps its stage until then.
    fn wait_behind(&mut self, m: &Module, c: &Context<'_>) {
        let behind = self.loads.iter();
        let behind = behind.filter_map(|&l| waits_for_earlier_iterations(m, c.body, l));
        self.behind = behind.max_by_key(|&o| place(m, o).1);
        if let Some(behind) = self.behind
            && place(m, behind).1 > place(m, self.last).1
        {
            self.last = behind;
        }
    }

    /// The loads that come by tensor copies.
    pub fn by_tensor(&self) -> impl Iterator<Item = OpId> {
        let loads = self.loads.iter().copied();
        loads.filter(|l| !self.by_threads.contains(l))
    }

    /// Most pages of one of its tensor copies.
    pub fn pages(&self, m: &Module) -> u64 {
        let of = |load| Some(Access::of(m.op(load))?.pages(m)?.1.len() as u64);
        self.by_tensor().filter_map(of).max().unwrap_or(0)
    }

    /// How many of its copies go by tensor maps that the kernel makes.
    pub fn made_maps(&self, m: &Module, func: OpId, facts: &FactMap) -> u64 {
        let made = self.by_tensor().filter(|&load| {
            let access = Access::of(m.op(load));
            access.is_some_and(|a| described(m, func, load, &a, facts).is_err())
        });
        made.count() as u64
    }
}

/// Finds the sites of a kernel.
pub fn find(m: &mut Module, c: &Context<'_>, log: &mut Log) -> Vec<Site> {
    let ops = m.ops_under(c.body);
    let matmuls: Vec<OpId> = ops.iter().copied().filter(|&o| is_matmul(m, o)).collect();
    let mut groups: Vec<((BlockId, OpId), Vec<OpId>)> = Vec::new();
    let mut by_threads = FxHashSet::default();
    for &load in &ops {
        match S::of(m.op(load).kind) {
            Some(S::TiledLoad) => {}
            Some(S::Load) if c.threads => {}
            _ => continue,
        }
        let reached = reach_arranged(m, &ops, m.result(load));
        let takes = |&&o: &&OpId| {
            Matmul::of(m.op(o)).is_some_and(|p| p.sources().any(|v| reached.contains(&v)))
        };
        let Some(&matmul) = matmuls.iter().find(takes) else {
            continue;
        };
        let brought = match can_be_brought(m, c, load, Purpose::Operands) {
            Ok(()) if is_little(m, m.result(load), &memory_order(m, c.facts, load)) => continue,
            Err((op, why)) if c.threads => {
                let copied = copied_by_threads(m, c, load);
                if copied.is_ok() && S::of(m.op(load).kind) == Some(S::TiledLoad) {
                    log.note(m, op, WHAT, format!("{why}; threads of a producer copy it"));
                }
                let copied = copied.map_err(|(at, also)| match (at == op, why == also) {
                    (true, true) => (op, why),
                    (true, false) => (
                        op,
                        format!("{why}; nor do threads of a producer copy it: {also}"),
                    ),
                    (false, _) => (at, also),
                });
                by_threads.extend(copied.is_ok().then_some(load));
                copied
            }
            brought => brought,
        };
        match brought {
            Ok(()) => {
                let key = (m.op(load).block, matmul);
                match groups.iter_mut().find(|g| g.0 == key) {
                    Some(group) => group.1.push(load),
                    None => groups.push((key, vec![load])),
                }
            }
            Err((op, why)) => log.note(m, op, WHAT, why),
        }
    }
    // Single elements are copied beside what comes in pieces, here or in another loop: for them alone no warps are set aside.
    let all: Vec<OpId> = groups.iter().flat_map(|g| g.1.clone()).collect();
    let alone = all.iter().map(|&load| in_runs(m, c, load).err());
    if let Some(why) = alone.collect::<Option<Vec<_>>>() {
        for (&load, why) in all.iter().zip(why) {
            log.note(m, load, WHAT, why.to_owned());
        }
        groups.clear();
    }
    let blocks: Vec<BlockId> = groups.iter().map(|g| g.0.0).collect();
    let stages = groups.into_iter().flat_map(|((block, _), loads)| {
        let loops = loops_that_load(m, c.body, block, &blocks);
        let stages = in_order(m, c.body, block, loads, &loops);
        stages.into_iter().map(move |loads| (block, loads))
    });
    let stages: Vec<(BlockId, Vec<OpId>)> = stages.collect();
    let mut sites = Vec::new();
    for (block, loads) in stages {
        if let Some((first, last)) = readers(m, c.body, block, &loads) {
            let by_threads = loads.iter().copied().filter(|l| by_threads.contains(l));
            let mut site = Site {
                block,
                by_threads: by_threads.collect(),
                loads,
                first,
                last,
                behind: None,
                ring: 0,
                buffers: Vec::new(),
                purpose: Purpose::Operands,
            };
            site.wait_behind(m, c);
            sites.push(site);
        }
    }
    sites
}

/// Whether a tensor copy can bring what some matmul reads.
pub fn brings_some(m: &mut Module, c: &Context<'_>) -> bool {
    let ops = m.ops_under(c.body);
    let tiled = |&&o: &&OpId| S::of(m.op(o).kind) == Some(S::TiledLoad) && feeds_matmul(m, &ops, o);
    let loads: Vec<OpId> = ops.iter().filter(tiled).copied().collect();
    let brought = |load: OpId| can_be_brought(m, c, load, Purpose::Operands).is_ok();
    loads.into_iter().any(brought)
}

/// The same sites with what else their loops load, if there is anything: packed weights, scales, masks, sums of rows. Each
/// iteration would wait for them. They come with the operands that are loaded before them.
pub fn with_others(
    m: &mut Module,
    c: &Context<'_>,
    sites: &[Site],
    log: &mut Log,
) -> Option<Vec<Site>> {
    let ops = m.ops_under(c.body);
    if ops.iter().any(|&o| is_scaled(m, o)) {
        // Its scales are read where their instruction wants them.
        return None;
    }
    let mut sites = sites.to_vec();
    let mut found = false;
    for &load in &ops {
        let block = m.op(load).block;
        let known = sites.iter().any(|s| s.loads.contains(&load));
        if known || !loads_tile(m, load) || !in_loop(m, c.body, block) || says_where(m, &ops, load)
        {
            continue;
        }
        let Some(site) = beside(m, c.body, &sites, load) else {
            continue;
        };
        if let Err((op, why)) = can_be_brought(m, c, load, Purpose::Operands) {
            log.note(m, op, WHAT, why);
            continue;
        }
        let mut loads = sites[site].loads.clone();
        loads.push(load);
        loads.sort_by_key(|&l| place(m, l).1);
        if let Some((first, last)) = readers(m, c.body, block, &loads) {
            let site = &mut sites[site];
            (site.loads, site.first, site.last) = (loads, first, last);
            site.wait_behind(m, c);
            found = true;
        }
    }
    found.then_some(sites)
}

/// Places in `block` of the operations in whose regions some of `blocks` are.
fn loops_that_load(m: &Module, body: BlockId, block: BlockId, blocks: &[BlockId]) -> Vec<usize> {
    let inside = blocks.iter().filter(|&&b| b != block);
    let holders = inside.filter_map(|&b| ancestor_in(m, body, block, m.parent_of_block(b)?));
    holders.map(|op| place(m, op).1).collect()
}

/// Whether a stage of these loads would be waited for before a loop that has stages of its own, and filled behind it: the
/// producer waits in the loop for those who wait in front of it.
fn is_crossed(m: &Module, body: BlockId, block: BlockId, loads: &[OpId], loops: &[usize]) -> bool {
    let filled = loads.iter().map(|&l| place(m, l).1).max();
    let read = readers(m, body, block, loads).map(|(first, _)| place(m, first).1);
    let crosses = |&at: &usize| read.is_some_and(|read| read <= at) && Some(at) < filled;
    loops.iter().any(crosses)
}

/// Loads of one matmul by the stages that they can fill.
fn in_order(
    m: &Module,
    body: BlockId,
    block: BlockId,
    loads: Vec<OpId>,
    loops: &[usize],
) -> Vec<Vec<OpId>> {
    let mut stages: Vec<Vec<OpId>> = Vec::new();
    for load in loads {
        let with = |stage: &&mut Vec<OpId>| {
            !is_crossed(m, body, block, &[&stage[..], &[load]].concat(), loops)
        };
        match stages.last_mut().filter(with) {
            Some(stage) => stage.push(load),
            None => stages.push(vec![load]),
        }
    }
    stages
}

/// Whether what a load loads says where something is loaded from, or whether, or may do so in a later iteration: the producer
/// needs its numbers in registers.
fn says_where(m: &Module, ops: &[OpId], load: OpId) -> bool {
    let mut made: FxHashSet<ValueId> = [m.result(load)].into_iter().collect();
    ops.iter().any(|&op| {
        let data = m.op(op);
        let reads = |v: &&ValueId| made.contains(v);
        let addresses = address_of(m, op);
        let read: Vec<ValueId> = data.operands.iter().filter(reads).copied().collect();
        let ends = data.def().traits.has(Traits::TERMINATOR);
        let flow = matches!(C::of(data.kind), Some(C::If | C::For | C::Loop));
        let decides = flow && !read.is_empty() || ends && read.iter().any(|&v| elements(m, v) == 1);
        let says = addresses.iter().any(|v| reads(&v));
        if !read.is_empty() {
            made.extend(&data.results);
        }
        says || decides
    })
}

/// The site of the load's block that loads last before it; else the first one.
fn beside(m: &Module, body: BlockId, sites: &[Site], load: OpId) -> Option<usize> {
    let (block, at) = place(m, load);
    let blocks: Vec<BlockId> = sites.iter().map(|s| s.block).collect();
    let loops = loops_that_load(m, body, block, &blocks);
    let with = |site: &Site| [&site.loads[..], &[load]].concat();
    let here = |&i: &usize| {
        sites[i].block == block && !is_crossed(m, body, block, &with(&sites[i]), &loops)
    };
    let before = |&i: &usize| {
        let places = sites[i].loads.iter().map(|&l| place(m, l).1);
        places.filter(|&p| p < at).max()
    };
    let all = || (0..sites.len()).filter(here);
    let last = all().filter(|i| before(i).is_some()).max_by_key(before);
    last.or_else(|| all().next())
}

/// Most copies of less than the pattern of a swizzle that bring a tile: of few long rows there would be many.
const MOST_SMALL_BOXES: usize = 4;

/// Whether a TMA copy that a producer thread starts can take the place of a load.
pub(super) fn can_be_brought(
    m: &mut Module,
    c: &Context<'_>,
    load: OpId,
    purpose: Purpose,
) -> Result<(), (OpId, String)> {
    let no = |why: &str| Err((load, why.to_owned()));
    if S::of(m.op(load).kind) != Some(S::TiledLoad) {
        return no("it loads through pointers");
    }
    copies_tile(m, load, purpose).or_else(no)?;
    let behind = c.behind
        && purpose == Purpose::Operands
        && waits_for_earlier_iterations(m, c.body, load).is_some();
    if !behind {
        waits_for_reads(m, load).or_else(no)?;
    }
    let made = c.maps && purpose == Purpose::Operands && pays_for_map(m, c.body, load);
    tma_legal(m, c.func, load, c.facts, made).map_err(|why| (load, why))?;
    let order = memory_order(m, c.facts, load);
    let Ok(layout) = purpose.layout(m, m.result(load), &order) else {
        return no("the tile has no layout in shared memory");
    };
    let mut all = Swizzle::ALL.into_iter();
    let cut = Cut {
        pages: Access::of(m.op(load)).and_then(|a| a.sparse),
        ..Cut::default()
    };
    // Pages are as large as they are.
    let few = |b: &TmaBoxes| {
        cut.pages.is_some() || b.are_whole_patterns() || b.boxes.len() <= MOST_SMALL_BOXES
    };
    if !all.any(|s| boxes_for(&layout, &order, s, cut).is_ok_and(|b| few(&b))) {
        return no("no boxes of a tensor copy make up the tile");
    }
    has_slice(m, c, load, false)
}

/// Whether a tensor map that the kernel makes for a load serves several iterations of a loop.
fn pays_for_map(m: &Module, body: BlockId, load: OpId) -> bool {
    let inner = loop_around(m, body, m.op(load).block).and_then(|l| m.body_of(l, 0));
    let Some((inner, access)) = inner.zip(Access::of(m.op(load))) else {
        return false;
    };
    let mut numbers = [&[access.base], &access.extents[..], &access.strides]
        .concat()
        .into_iter();
    numbers.all(|v| stands(m, inner, v))
}

/// Whether a producer of one thread, or with `tiles` of warps that spread tiles over their threads, can compute where a
/// load loads from, and whoever reads its tile waits for it in any case.
fn has_slice(m: &Module, c: &Context<'_>, load: OpId, tiles: bool) -> Result<(), (OpId, String)> {
    let block = m.op(load).block;
    let first = readers(m, c.body, block, &[load]);
    if first.is_some_and(|(first, _)| may_end(m, load, first)) {
        let why = "the kernel may end before the tile is read";
        return Err((load, why.to_owned()));
    }
    match Slice::of(m, c.body, &[load], &c.shared, tiles) {
        Ok(_) => Ok(()),
        Err(Blocked { op, why }) => Err((
            op,
            format!("a producer cannot compute where to load from: this {why}"),
        )),
    }
}

/// Whether several elements of what a load loads are copied at a time, or why not.
fn in_runs(m: &Module, c: &Context<'_>, load: OpId) -> Result<(), &'static str> {
    match S::of(m.op(load).kind) {
        Some(S::Load) => copies_through_pointers(m, c.facts, load, Purpose::Operands),
        _ => Ok(()),
    }
}

/// The order of the dimensions of what a load loads in shared memory: as they lie in memory. Of single elements, which threads
/// beside each other load along a row, a thread has a column: matrices of 16 bits, which matmuls read either way, lie by
/// columns, so that it stores several at once.
fn order_in_shared(m: &Module, c: &Context<'_>, load: OpId) -> Vec<usize> {
    let mut order = memory_order(m, c.facts, load);
    let alone = |pointers| Run::of(m, c.facts, pointers).is_none_or(|r| r.width == 1);
    if order.len() == 2
        && m.types.bits(m.ty(m.result(load))) == Some(16)
        && access::pointers(m.op(load)).is_some_and(alone)
    {
        order.reverse();
    }
    order
}

/// Whether copies that a producer's threads start can take the place of a load that feeds a matmul in a loop.
fn copied_by_threads(m: &Module, c: &Context<'_>, load: OpId) -> Result<(), (OpId, String)> {
    let no = |why: &str| Err((load, why.to_owned()));
    let purpose = Purpose::Operands;
    if !in_loop(m, c.body, m.op(load).block) || is_number(m, load) {
        return no("only tiles that loops load are copied");
    }
    if S::of(m.op(load).kind) == Some(S::Load) {
        copies_elements(m, load, purpose).or_else(no)?;
    } else {
        starts_anywhere(m, load, purpose).or_else(no)?;
        if !copies_words(m, c.facts, load) {
            return no(UNALIGNED);
        }
    }
    let order = order_in_shared(m, c, load);
    if purpose.layout(m, m.result(load), &order).is_err() {
        return no("the tile has no layout in shared memory");
    }
    has_slice(m, c, load, true)
}

/// The first and the last operation of `block` that reads what these loads of it load, as it is or reshaped; the first may be
/// one that jumps away in front of it.
pub(super) fn readers(
    m: &Module,
    body: BlockId,
    block: BlockId,
    loads: &[OpId],
) -> Option<(OpId, OpId)> {
    let mut work: Vec<ValueId> = loads.iter().map(|&l| m.result(l)).collect();
    let mut reading = FxHashSet::default();
    while let Some(value) = work.pop() {
        for user in m.users(value) {
            reading.extend(ancestor_in(m, body, block, user));
            if is_view(m, user) {
                work.extend(&m.op(user).results);
            }
        }
    }
    let ops = &m.block(block).ops;
    let mut found = ops.iter().copied().filter(|o| reading.contains(o));
    let first = found.next()?;
    let last = found.next_back().unwrap_or(first);
    // What jumps away in front of the first reader hands back a stage that has been filled by then.
    let filled = ops.iter().rposition(|o| loads.contains(o));
    let unread = ops.iter().take_while(|&&o| o != first);
    let mut behind = unread.skip(filled.map_or(0, |at| at + 1));
    let first = behind
        .find(|&&o| jumps_away(m, block, o))
        .map_or(first, |&o| o);
    Some((first, last))
}

/// Whether some jump in `op`, an operation of `block`, goes out of the block.
fn jumps_away(m: &Module, block: BlockId, op: OpId) -> bool {
    let jumps = |o: OpId| matches!(C::of(m.op(o).kind), Some(C::Continue | C::Break));
    let mut inside = m.ops_inside(op).into_iter();
    inside.any(|o| jumps(o) && leaves(m, block, o))
}

/// Whether a `jump` in what operations of a block hold goes out of the block.
pub(super) fn leaves(m: &Module, block: BlockId, jump: OpId) -> bool {
    let target = jump_target(m, jump);
    let mut around = std::iter::successors(m.parent_of_block(block), |&o| m.parent_op(o));
    target.is_some_and(|target| around.any(|o| o == target))
}

/// Gives each site its ring. Sites whose tiles are alike share one where neither stands inside of the other's
/// block, so that stages are filled and emptied in one order.
pub fn rings(m: &mut Module, c: &Context<'_>, sites: &mut [Site]) -> Vec<Ring> {
    let mut rings: Vec<(Ring, Vec<BlockId>)> = Vec::new();
    for site in sites {
        let mut buffers = Vec::new();
        let (mut bytes, mut by_tensor) = (0, 0);
        for &load in &site.loads {
            let tile = m.result(load);
            let order = order_in_shared(m, c, load);
            if let Ok(layout) = site.purpose.layout(m, tile, &order) {
                bytes += match site.purpose {
                    // Each stage begins at a multiple of that.
                    Purpose::Operands => tile_bytes(m, tile).max(BUFFER_ALIGN),
                    Purpose::Stream => tile_bytes(m, tile),
                };
                if !site.by_threads.contains(&load) {
                    by_tensor += tile_bytes(m, tile);
                }
                buffers.push((shared_type(m, tile, &layout, 1), load));
            }
        }
        site.buffers = buffers.iter().map(|b| b.0).collect();
        let behind = site.behind.is_some();
        let repeats = in_loop(m, c.body, site.block) && !behind;
        let types = |b: &[(TypeId, OpId)]| b.iter().map(|x| x.0).collect::<Vec<_>>();
        let fits = |(ring, blocks): &(Ring, Vec<BlockId>)| {
            let apart =
                |&b: &BlockId| !holds(m, c.body, b, site.block) && !holds(m, c.body, site.block, b);
            ring.behind == behind
                && types(&ring.buffers) == types(&buffers)
                && ring.by_tensor == by_tensor
                && blocks.iter().all(apart)
        };
        match rings.iter().position(fits) {
            Some(found) => {
                site.ring = found;
                rings[found].0.repeats |= repeats;
                rings[found].1.push(site.block);
            }
            None => {
                site.ring = rings.len();
                let ring = Ring {
                    buffers,
                    bytes,
                    by_tensor,
                    by_threads: !site.by_threads.is_empty(),
                    stages: 1,
                    repeats,
                    outer: false,
                    behind,
                };
                rings.push((ring, vec![site.block]));
            }
        }
    }
    let inside = |outer: BlockId, inner: BlockId| outer != inner && holds(m, c.body, outer, inner);
    let outer = |blocks: &[BlockId]| {
        let mut others = rings.iter().flat_map(|r| &r.1);
        others.any(|&b| blocks.iter().any(|&own| inside(own, b)))
    };
    let outer: Vec<bool> = rings.iter().map(|r| outer(&r.1)).collect();
    let rings = rings.into_iter().zip(outer);
    rings
        .map(|((ring, _), outer)| Ring { outer, ..ring })
        .collect()
}

/// Whether `inner` is `outer` or inside of it.
pub(super) fn holds(m: &Module, body: BlockId, outer: BlockId, mut inner: BlockId) -> bool {
    while inner != outer {
        if inner == body {
            return false;
        }
        inner = m.op(m.region(m.block(inner).region).parent).block;
    }
    true
}

/// Whether a block is in a loop.
pub fn in_loop(m: &Module, body: BlockId, block: BlockId) -> bool {
    loop_around(m, body, block).is_some()
}
