//! Warps with roles: a producer that starts tensor copies, consumers that do the rest.
//!
//! ```text
//! alloc buffers              (rings of stages)
//! pipeline.create
//! warp_specialize
//!   producer: its slice of the program, each site of loads as
//!             { producer_acquire; tma_load …; producer_commit }
//!   consumer: the program, around what reads a site's tiles
//!             { consumer_wait; local_load …; …; consumer_release }
//! ```
//! The producer runs the slice of the kernel ([`mod@slice`]) that says which tiles are loaded: scalars, and the control
//! flow around the loads. [`sites`] finds the loads and gives them rings, [`mod@thread`] carries each ring's iteration
//! number through both programs. Loads stand at any depth, in several loops and under branches; the next loop's
//! loads are under way while this one's results are stored.

mod context;
mod multicast;
mod plan;
mod sites;
pub mod slice;
mod streams;
pub mod thread;

use crate::dialect::enums::{Overflow, PipelineKind};
use crate::lower::build::{self, cased};
use crate::lower::tileas::buffers::RESERVE;
use crate::lower::tileas::buffers::{shared_room, tile_bytes};
use crate::lower::tileas::look::ancestor_in;
use crate::lower::tileas::look::{is_matmul, shows};
use crate::lower::tileas::pipeline::ahead::ACCESS;
use crate::lower::tileas::pipeline::ahead::forget_token;
pub use context::Context;
use context::{MAX_STAGES, WHAT};
pub use plan::Plan;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{padding, tma, tokens};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{self, group};
use crate::facts::matmul::Matmul;
use crate::ir::{Attr, BlockId, Diagnostic, Module, OpId, Type, ValueId};
use crate::lower::hints::Hints;
use crate::lower::tileas::cluster::Split;
use crate::lower::tileas::missed::Log;
use crate::lower::tileas::pressure::REGISTERS_BESIDE_TILES;
use crate::lower::tileas::{pressure, tcgen05, wgmma};
use crate::target::{Feature, Target};
pub use slice::{Copier, Slice};
use thread::{Steps, thread};

/// Bytes of shared memory for barriers and alignment.
const BARRIERS: u64 = 2048;
/// Warps of the producer: one, or a warpgroup where registers are redistributed, which goes by warpgroups.
const PRODUCER_WARPS: [u64; 2] = [1, 4];
/// Registers of a producer thread once they have been redistributed.
const PRODUCER_REGISTERS: u64 = 24;

impl Plan {
    /// A plan for `func`, if tensor copies can bring what some matmul in a loop reads.
    pub fn of(
        m: &mut Module,
        func: OpId,
        target: &Target,
        facts: &FactMap,
        consumer_warps: u64,
        split: Option<&Split>,
        log: &mut Log,
    ) -> Option<Plan> {
        let body = m.body_of(func, 0)?;
        let context = Context {
            func,
            body,
            facts,
            shared: in_front(m, body),
        };
        let mut sites = sites::find(m, &context, log);
        let by_matmuls = !sites.is_empty();
        if !by_matmuls {
            sites = streams::find(m, &context, log);
        }
        if !sites.iter().any(|s| sites::in_loop(m, body, s.block)) {
            return None;
        }
        let rings = sites::rings(m, &context, &mut sites);
        let by_groups = m
            .ops_under(body)
            .iter()
            .any(|&o| is_for_groups(m, o, target));
        let multicast = split.map(|s| multicast::loads(m, facts, &sites, s));
        let mut plan = Plan {
            blocks: split.map_or(1, |s| s.blocks),
            multicast: multicast.unwrap_or_default(),
            sites,
            rings,
            shared: context.shared.clone(),
            consumer_warps,
            redistributes: consumer_warps > 4
                && (by_groups || pays(m, func, body, target, consumer_warps)),
            by_groups,
            nested_stores: Vec::new(),
            last_stores: Vec::new(),
            awaited: FxHashSet::default(),
            staging: 0,
        };
        let fits = if by_matmuls {
            plan.stores(m, func, body, facts);
            let [share, all] = shared_room(m, func, target);
            // Registers that are redistributed are all of them: no second block finds any.
            let shares = !plan.redistributes;
            let mut rooms = shares.then_some(share).into_iter().chain([all]);
            match rooms.any(|room| plan.share(m, body, target, facts, room)) {
                true => Ok(()),
                false => Err("not even one stage of each ring fits in shared memory".to_owned()),
            }
        } else {
            // Threads hold what they store in the order of memory already.
            plan.streams(m, &context, target)
        };
        match fits {
            Ok(()) => Some(plan),
            Err(why) => {
                log.note(m, func, WHAT, why);
                None
            }
        }
    }

    /// Warps of the block.
    pub fn all_warps(&self) -> u64 {
        self.consumer_warps + PRODUCER_WARPS[usize::from(self.redistributes)]
    }

    /// The loads that a producer brings.
    pub fn loads(&self) -> Vec<OpId> {
        self.sites.iter().flat_map(|s| s.loads.clone()).collect()
    }

    /// Whether the producer gives registers to the consumers.
    pub fn redistributes(&self) -> bool {
        self.redistributes
    }

    /// Registers of a producer's and of a consumer's thread once they have been redistributed: the block has those
    /// that all its warps start with. Two consumer warpgroups: 2·128·240 + 128·24 = 384·168.
    pub fn registers(&self, target: &Target) -> [u64; 2] {
        let all = target.registers_per_thread(self.all_warps()) * self.all_warps();
        let producers = self.all_warps() - self.consumer_warps;
        let left = all.saturating_sub(producers * PRODUCER_REGISTERS);
        [
            PRODUCER_REGISTERS,
            left / self.consumer_warps.max(1) / 8 * 8,
        ]
    }

    /// Finds the stores that tensor copies can do.
    fn stores(&mut self, m: &Module, func: OpId, body: BlockId, facts: &FactMap) {
        let at = |op: OpId| m.block(body).ops.iter().position(|&o| o == op);
        // Until then shared memory holds tiles and operands of matmuls.
        let matmuls = m.ops_under(body).into_iter().filter(|&o| is_matmul(m, o));
        let users = self.sites.iter().map(|s| s.last).chain(matmuls);
        let busy = users
            .filter_map(|o| at(ancestor_in(m, body, body, o)?))
            .max();
        for op in m.ops_under(body) {
            if S::of(m.op(op).kind) != Some(S::TiledStore) || !tma::store_legal(m, func, op, facts)
            {
                continue;
            }
            if m.op(op).block != body {
                self.nested_stores.push(op);
            } else if at(op) > busy {
                self.last_stores.push(op);
            }
        }
        let copies: FxHashSet<OpId> = self
            .nested_stores
            .iter()
            .chain(&self.last_stores)
            .copied()
            .collect();
        self.awaited = copies
            .iter()
            .copied()
            .filter(|&s| {
                !tokens::followers(m, body, s)
                    .iter()
                    .all(|f| copies.contains(f))
            })
            .collect();
    }

    /// Gives the rings their stages, so that everything fits in `room` bytes.
    fn share(
        &mut self,
        m: &Module,
        body: BlockId,
        target: &Target,
        facts: &FactMap,
        room: u64,
    ) -> bool {
        let once: u64 = self
            .rings
            .iter()
            .filter(|r| !r.repeats)
            .map(|r| r.bytes)
            .sum();
        let again: u64 = self
            .rings
            .iter()
            .filter(|r| r.repeats)
            .map(|r| r.bytes)
            .sum();
        let stored = |&op: &OpId| access::tile(m.op(op)).map_or(0, |t| tile_bytes(m, t));
        let brought: FxHashSet<OpId> = self.sites.iter().flat_map(|s| s.loads.clone()).collect();
        let staged = match self.by_groups {
            true if target.has(Feature::Tcgen05) => {
                tcgen05::staged_bytes(m, body, target, &brought)
            }
            true => wgmma::staged_bytes(m, body, facts, &brought),
            false => 0,
        };
        let scratch = self.scratch(m, body, target, &brought);
        let mut stores = self.nested_stores.iter().map(stored).sum::<u64>();
        let mut fixed = once + staged + scratch;
        if fixed + stores + 2 * again > room {
            // Stages are worth more than tensor copies of results.
            self.nested_stores.clear();
            stores = 0;
            fixed += RESERVE.saturating_sub(scratch);
        }
        let Some(left) = room.checked_sub(fixed + stores) else {
            return false;
        };
        let Some(stages) = stages_that_fit(left, again) else {
            return false;
        };
        for ring in self.rings.iter_mut().filter(|r| r.repeats) {
            ring.stages = stages;
        }
        self.staging = staged + left - stages * again;
        let rings: u64 = self.rings.iter().map(|r| r.stages * r.bytes).sum();
        let before = self.last_stores.len();
        self.last_stores.retain(|s| stored(s) <= rings);
        before == self.last_stores.len() || self.share(m, body, target, facts, room)
    }

    /// Bytes of scratch to leave: for what takes a trip through shared memory besides the tiles of the rings, and
    /// for operands of a warp's matmuls that no ring brings.
    fn scratch(
        &self,
        m: &Module,
        body: BlockId,
        target: &Target,
        brought: &FxHashSet<OpId>,
    ) -> u64 {
        let ops = m.ops_under(body);
        let other = |&&o: &&OpId| is_matmul(m, o) && !is_for_groups(m, o, target);
        let operands = |&op: &OpId| {
            let sides = Matmul::of(m.op(op)).into_iter().flat_map(Matmul::sources);
            let alone = sides.filter(|&v| !shows(m, v, |o| brought.contains(&o)));
            alone.map(|v| tile_bytes(m, v)).sum::<u64>()
        };
        let matmuls = ops.iter().filter(other).map(operands).max();
        match matmuls {
            Some(bytes) => bytes.max(RESERVE),
            None if ops.iter().any(|&o| self.moves(m, o, target, brought)) => RESERVE,
            None => BARRIERS,
        }
    }

    /// Whether an operation may take a trip through shared memory.
    fn moves(&self, m: &Module, op: OpId, target: &Target, brought: &FxHashSet<OpId>) -> bool {
        let data = m.op(op);
        let through_copies = brought.contains(&op)
            || self.nested_stores.contains(&op)
            || self.last_stores.contains(&op)
            || is_for_groups(m, op, target);
        match (C::of(data.kind), S::of(data.kind)) {
            (_, Some(S::Return)) => false,
            (_, Some(_)) => !through_copies,
            (Some(kind), _) => matches!(
                kind,
                C::Reduce | C::Scan | C::Permute | C::Reshape | C::Cat | C::Extract | C::Insert
            ),
            _ => false,
        }
    }
}

/// Whether warpgroups can do a matmul, or one thread for them.
fn is_for_groups(m: &Module, op: OpId, target: &Target) -> bool {
    let wgmma = target.has(Feature::Wgmma)
        && S::of(m.op(op).kind) == Some(S::Dot)
        && wgmma::Extents::of(m, op).is_ok();
    wgmma || tcgen05::fits::takes(m, op, target).is_some()
}

/// Whether it pays that a producer warpgroup gives registers to the warps of `consumers`, which warps multiply by
/// themselves or not at all: not where several blocks share the multiprocessor, nor where a thread has plenty for its
/// tiles, those that it multiplies included.
fn pays(m: &Module, func: OpId, body: BlockId, target: &Target, consumers: u64) -> bool {
    if !target.has(Feature::SetMaxNReg) {
        return false;
    }
    let warps = consumers + PRODUCER_WARPS[0];
    let needed = pressure::registers(m, body, consumers) + REGISTERS_BESIDE_TILES;
    let asked = Hints::of(m, func, target).occupancy.unwrap_or(1);
    let shared = asked > 1 && target.blocks_by_registers(warps, needed) > 1;
    let all = pressure::registers_without(m, body, consumers, &[]) + REGISTERS_BESIDE_TILES;
    // What is computed between them is not counted.
    !shared && all >= target.registers_per_thread(warps) * 7 / 8
}

/// As many stages as fit: a power of two where at least four do.
pub fn stages_that_fit(room: u64, bytes: u64) -> Option<u64> {
    match (room / bytes.max(1)).min(MAX_STAGES) {
        0 => None,
        n @ 1..=3 => Some(n),
        n => Some(1 << n.ilog2()),
    }
}

/// Operations of `body` that stay in front of the roles: pure, on scalars, from what is in front, too.
fn in_front(m: &Module, body: BlockId) -> FxHashSet<OpId> {
    let mut front = FxHashSet::default();
    for &op in &m.block(body).ops {
        let data = m.op(op);
        let scalar = |v: &ValueId| match m.types.get(m.ty(*v)) {
            Type::Tile { shape, .. } => shape.is_empty(),
            _ => true,
        };
        let known = |&v: &ValueId| m.def_op(v).is_none_or(|d| front.contains(&d));
        if data.def().traits.has(Traits::PURE)
            && data.regions.is_empty()
            && data.results.iter().all(scalar)
            && data.operands.iter().all(known)
        {
            front.insert(op);
        }
    }
    front
}

/// A ring in the program: its pipeline and buffers.
struct Built {
    pipeline: ValueId,
    buffers: Vec<ValueId>,
}

/// Rewrites the function by `plan`.
pub fn apply(
    m: &mut Module,
    func: OpId,
    plan: &Plan,
    target: &Target,
    facts: &FactMap,
) -> Result<(), Diagnostic> {
    let Some(body) = m.body_of(func, 0) else {
        return Ok(());
    };
    let loads: Vec<OpId> = plan.sites.iter().flat_map(|s| s.loads.clone()).collect();
    loads.iter().for_each(|&l| forget_token(m, body, l));
    let slice = Slice::of(m, body, &loads, &plan.shared)
        .map_err(|b| crate::lower::unsupported(m, b.op, format!("the producer {}", b.why)))?;
    let producer = m.new_region();
    let producer_block = m.new_block(producer, &[]);
    let mut copier = Copier::new(&slice);
    copier.block(m, body, producer_block);
    let copies = copier.ops;

    let ops = std::mem::take(&mut m.block_mut(body).ops);
    let (front, rest): (Vec<OpId>, Vec<OpId>) = ops
        .iter()
        .partition(|o| plan.shared.contains(o) || is_token(m, **o));
    m.block_mut(body).ops = front;
    let rings = 0..plan.rings.len();
    let built: Vec<Built> = rings.map(|r| build(m, body, r, plan)).collect();
    let mut buffers = FxHashMap::default();
    for &store in &plan.nested_stores {
        let ty = tma::store_buffer(m, store, facts)?;
        buffers.insert(store, m.at_end(body).value(S::AllocTensor, &[], [], ty));
    }
    let stores = plan.nested_stores.iter().chain(&plan.last_stores);
    stores.for_each(|&s| forget_token(m, body, s));
    let zero = number(m, body, 0);
    let start = vec![zero; plan.rings.len()];

    let mut steps = Producer::new(plan, &built, &copies);
    thread(m, producer_block, &mut start.clone(), &mut steps);
    loads
        .iter()
        .filter_map(|l| copies.get(l))
        .for_each(|&copy| m.erase(copy));
    m.at_end(producer_block).op(S::RoleEnd, &[], [], &[], &[]);

    let consumer = m.new_region();
    let consumer_block = m.new_block(consumer, &[]);
    for op in rest {
        let at = m.block(consumer_block).ops.len();
        m.place(op, consumer_block, at);
    }
    let mut steps = Consumer {
        plan,
        built: &built,
        held: FxHashMap::default(),
    };
    thread(m, consumer_block, &mut start.clone(), &mut steps);
    loads.into_iter().for_each(|l| m.erase(l));
    epilogue(m, consumer_block, plan, facts, &buffers)?;
    specialize(m, body, plan, target, [producer, consumer]);
    Ok(())
}

/// A token that follows nothing may be made anywhere.
fn is_token(m: &Module, op: OpId) -> bool {
    C::of(m.op(op).kind) == Some(C::MakeToken)
}

fn specialize(
    m: &mut Module,
    body: BlockId,
    plan: &Plan,
    target: &Target,
    roles: [crate::ir::RegionId; 2],
) {
    let i32_ty = m.types.int(32);
    let int = |value: i64| Some(Attr::Int { value, ty: i32_ty });
    let registers = match plan.redistributes {
        true => plan.registers(target),
        false => [0, 0],
    };
    let attrs = [
        int(registers[0] as i64),
        int(registers[1] as i64),
        int(plan.consumer_warps as i64),
    ];
    let mut b = m.at_end(body);
    b.op(S::WarpSpecialize, &[], attrs, &[], &roles);
    b.op(S::Return, &[&[]], [], &[], &[]);
}

/// The buffers and the pipeline of a ring.
fn build(m: &mut Module, block: BlockId, number: usize, plan: &Plan) -> Built {
    let ring = &plan.rings[number];
    let mut loads = plan.sites.iter().filter(|s| s.ring == number);
    let together = loads.any(|s| s.loads.iter().any(|l| plan.multicast.contains(l)));
    let stages = ring.stages as u32;
    let mut buffers = Vec::new();
    for &(ty, _) in &ring.buffers {
        let mut ty = m.types.get(ty).clone();
        if let Type::SharedTile { stages: all, .. } = &mut ty {
            *all = stages;
        }
        let ty = m.types.intern(ty);
        buffers.push(m.at_end(block).value(S::AllocTensor, &[], [], ty));
    }
    let i32_ty = m.types.int(32);
    let int = |value: u64| {
        Some(Attr::Int {
            value: value as i64,
            ty: i32_ty,
        })
    };
    let ty = m.types.intern(Type::Pipeline { stages });
    let attrs = [
        cased(PipelineKind::Tma),
        int(ring.stages),
        int(plan.consumer_warps),
        int(ring.bytes),
        int(plan.blocks).filter(|_| together),
    ];
    let pipeline = m.at_end(block).value(S::PipelineCreate, &[], attrs, ty);
    Built { pipeline, buffers }
}

/// A scalar tile i32 constant at the end of a block.
pub fn number(m: &mut Module, block: BlockId, value: i64) -> ValueId {
    let i32_ty = m.types.int(32);
    let ty = m.types.tile(i32_ty, &[]);
    build::constant(&mut m.at_end(block), value, ty)
}

/// One more, at the end of a block.
fn next(m: &mut Module, block: BlockId, counter: ValueId) -> ValueId {
    let ty = m.ty(counter);
    let mut b = m.at_end(block);
    let one = build::constant(&mut b, 1, ty);
    b.value(C::AddI, &[counter, one], [cased(Overflow::None)], ty)
}

/// A step of a pipeline at the end of a block.
pub fn step(m: &mut Module, block: BlockId, kind: S, pipeline: ValueId, iteration: ValueId) {
    let mut groups: Vec<&[ValueId]> = vec![
        std::slice::from_ref(&pipeline),
        std::slice::from_ref(&iteration),
    ];
    if kind == S::ConsumerRelease {
        groups.push(&[]);
    }
    m.at_end(block).op(kind, &groups, [], &[], &[]);
}

/// The producer's steps: at the last load of each site, all copies of it.
struct Producer<'p> {
    plan: &'p Plan,
    built: &'p [Built],
    /// The last load of a site, as copied: the site and all its loads as copied.
    anchors: FxHashMap<OpId, (usize, Vec<OpId>)>,
    copies: FxHashSet<OpId>,
}

impl<'p> Producer<'p> {
    fn new(plan: &'p Plan, built: &'p [Built], copies: &FxHashMap<OpId, OpId>) -> Self {
        let mut anchors = FxHashMap::default();
        let mut all = FxHashSet::default();
        for (i, site) in plan.sites.iter().enumerate() {
            let loads: Vec<OpId> = site
                .loads
                .iter()
                .filter_map(|l| copies.get(l).copied())
                .collect();
            all.extend(&loads);
            if let Some(&last) = loads.last() {
                anchors.insert(last, (i, loads));
            }
        }
        Self {
            plan,
            built,
            anchors,
            copies: all,
        }
    }
}

impl Steps for Producer<'_> {
    fn rings_at(&self, op: OpId) -> Vec<usize> {
        let site = self.anchors.get(&op).map(|a| self.plan.sites[a.0].ring);
        site.into_iter().collect()
    }

    fn before(&mut self, m: &mut Module, op: OpId, block: BlockId, counters: &mut [ValueId]) {
        let Some((site, loads)) = self.anchors.get(&op) else {
            return;
        };
        let ring = self.plan.sites[*site].ring;
        let (built, iteration) = (&self.built[ring], counters[ring]);
        step(m, block, S::ProducerAcquire, built.pipeline, iteration);
        let originals = &self.plan.sites[*site].loads;
        for ((&load, &buffer), original) in loads.iter().zip(&built.buffers).zip(originals) {
            let multicast = self.plan.multicast.contains(original);
            copy(
                m,
                block,
                load,
                [buffer, built.pipeline, iteration],
                multicast,
            );
        }
        step(m, block, S::ProducerCommit, built.pipeline, iteration);
        counters[ring] = next(m, block, iteration);
    }

    fn after(&mut self, _: &mut Module, _: OpId, _: BlockId, _: &mut [ValueId]) {}

    fn drops(&self, op: OpId) -> bool {
        self.copies.contains(&op)
    }
}

/// The tensor copy of what `load` loads to (buffer, pipeline, iteration); `multicast`: for all blocks of the cluster.
fn copy(m: &mut Module, block: BlockId, load: OpId, to: [ValueId; 3], multicast: bool) {
    let data = m.op(load).clone();
    let access = ACCESS.map(|name| group(&data, name));
    let groups: Vec<&[ValueId]> = access.into_iter().chain(to.chunks(1)).collect();
    let attrs = ["dim_map", "traversal", "padding"].map(|n| data.attr_named(n).cloned());
    let attrs = attrs.into_iter().chain([multicast.then_some(Attr::Unit)]);
    let mut b = m.at_end(block);
    b.loc = data.loc;
    b.op(S::TmaLoad, &groups, attrs, &[], &[]);
}

/// The consumers' steps: a wait before the first reader of a site's tiles, a release after the last.
struct Consumer<'p> {
    plan: &'p Plan,
    built: &'p [Built],
    /// The iteration that each site has waited for.
    held: FxHashMap<usize, ValueId>,
}

impl Consumer<'_> {
    fn wait(&mut self, m: &mut Module, site: usize, block: BlockId, counters: &mut [ValueId]) {
        let ring = self.plan.sites[site].ring;
        let (built, iteration) = (&self.built[ring], counters[ring]);
        step(m, block, S::ConsumerWait, built.pipeline, iteration);
        for (&load, &buffer) in self.plan.sites[site].loads.iter().zip(&built.buffers) {
            let tile = m.result(load);
            let ty = m.ty(tile);
            let loc = m.op(load).loc;
            let mut b = m.at_end(block);
            b.loc = loc;
            let value = b.value(S::LocalLoad, &[buffer, iteration], [], ty);
            let value = padding::fill(m, block, load, value);
            m.replace_all_uses(tile, value);
        }
        self.held.insert(site, iteration);
        counters[ring] = next(m, block, iteration);
    }
}

impl Steps for Consumer<'_> {
    fn rings_at(&self, op: OpId) -> Vec<usize> {
        let sites = self.plan.sites.iter().filter(|s| s.first == op);
        sites.map(|s| s.ring).collect()
    }

    fn before(&mut self, m: &mut Module, op: OpId, block: BlockId, counters: &mut [ValueId]) {
        for site in 0..self.plan.sites.len() {
            if self.plan.sites[site].first == op {
                self.wait(m, site, block, counters);
            }
        }
    }

    fn after(&mut self, m: &mut Module, op: OpId, block: BlockId, _: &mut [ValueId]) {
        for (i, site) in self.plan.sites.iter().enumerate() {
            if site.last == op
                && let Some(&iteration) = self.held.get(&i)
            {
                let pipeline = self.built[site.ring].pipeline;
                step(m, block, S::ConsumerRelease, pipeline, iteration);
            }
        }
    }

    fn drops(&self, op: OpId) -> bool {
        self.plan.sites.iter().any(|s| s.loads.contains(&op))
    }
}

/// Stores become tensor copies, the kernel's end the role's.
fn epilogue(
    m: &mut Module,
    block: BlockId,
    plan: &Plan,
    facts: &FactMap,
    buffers: &FxHashMap<OpId, ValueId>,
) -> Result<(), Diagnostic> {
    for op in std::mem::take(&mut m.block_mut(block).ops) {
        for i in 0..m.op(op).regions.len() {
            if let Some(inner) = m.body_of(op, i) {
                epilogue(m, inner, plan, facts, buffers)?;
            }
        }
        if S::of(m.op(op).kind) == Some(S::Return) {
            if !buffers.is_empty() || !plan.last_stores.is_empty() {
                m.at_end(block).op(S::StoreWait, &[], [], &[], &[]);
            }
            let nested = m
                .parent_op(op)
                .is_some_and(|p| C::of(m.op(p).kind).is_some());
            if nested {
                let at = m.block(block).ops.len();
                m.place(op, block, at);
            } else {
                m.erase(op);
                m.at_end(block).op(S::RoleEnd, &[], [], &[], &[]);
            }
        } else if plan.last_stores.contains(&op) || buffers.contains_key(&op) {
            let way = match buffers.get(&op) {
                Some(&buffer) => tma::Way::Through(buffer),
                None => tma::Way::InPlaceOfRings {
                    again: plan.last_stores.first() != Some(&op),
                },
            };
            tma::store(m, block, op, facts, way, plan.awaited.contains(&op))?;
        } else {
            let at = m.block(block).ops.len();
            m.place(op, block, at);
        }
    }
    Ok(())
}
