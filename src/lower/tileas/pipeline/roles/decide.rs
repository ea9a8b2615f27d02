//! Whether a kernel's warps get roles, and what these bring and store.

use super::super::described::RECORD;
use super::super::prefetch::{feeds_matmul, loads_tile, taken_whole};
use super::super::purpose::Purpose;
use super::super::{tma, tokens};
use super::context::{Context, WHAT};
use super::plan::{FEW_PAGES, MAKER_REGISTERS, PRODUCER_REGISTERS, PRODUCER_WARPS, Plan};
use super::sites::Site;
use super::{copies, multicast, sites, streams};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::matmul::Matmul;
use crate::facts::{FactMap, access};
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use crate::layout::shared::BUFFER_ALIGN;
use crate::lower::hints::Hints;
use crate::lower::tileas::buffers::{RESERVE, stage_bytes, tile_bytes};
use crate::lower::tileas::cluster::Split;
use crate::lower::tileas::expected::Expected;
use crate::lower::tileas::for_groups::is_for_groups;
use crate::lower::tileas::limits::{
    ENOUGH_STAGES, MAX_STAGES_OF_THREADS, REGISTERS_BESIDE_TILES, stages_that_fit,
};
use crate::lower::tileas::look::{ancestor_in, is_chained, is_matmul, is_scaled};
use crate::lower::tileas::missed::Log;
use crate::lower::tileas::neighbours::Neighbours;
use crate::lower::tileas::operands::read_where_brought;
use crate::lower::tileas::staging::Staging;
use crate::lower::tileas::{matmul, pressure, tcgen05, wgmma};
use crate::target::{Feature, Target};
use rustc_hash::FxHashSet;

/// Fewest bytes of shared memory for barriers and alignment.
const BARRIERS: u64 = 2048;
/// Bytes for each thread of the warps that multiply from which on a producer pays for what is loaded once: six of the widest
/// loads take no longer.
const WORTH_A_PRODUCER: u64 = 6 * 16;
/// Stages of a ring which are enough where, for more, other loads of its loop would be waited for in each iteration.
const ENOUGH_WITH_OTHERS: u64 = 3;
/// The same where these loads are at least half as large as the operands, as a bias for each pair of rows is.
const ENOUGH_WITH_LARGE_OTHERS: u64 = 2;
/// Stages of a ring beside which there is room for whole results, where they could be copied out in parts as well.
const ENOUGH_WITH_PARTS: u64 = 3;

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
        let by_groups = m
            .ops_under(body)
            .iter()
            .any(|&o| is_for_groups(m, o, target));
        let mut context = Context {
            func,
            body,
            facts,
            expected: Expected::of(m, body, consumer_warps, target),
            shared: in_front(m, body),
            threads: by_groups && copies::can(m, body, target, consumer_warps, split),
            maps: target.has(Feature::TensorMaps),
            // Blocks of a cluster, and matmuls of tensor memory, hand stages back by themselves.
            behind: split.is_none() && !(by_groups && target.has(Feature::Tcgen05)),
        };
        // The warps beside matmuls in tensor memory wait: they copy as well as others, if all is left to threads.
        if context.threads && target.has(Feature::Tcgen05) {
            context.threads = sites::brings_some(m, &context);
        }
        let mut sites = sites::find(m, &context, log);
        let copies = sites.iter().any(|s| !s.by_threads.is_empty());
        let by_matmuls = !sites.is_empty();
        if !by_matmuls {
            sites = streams::find(m, &context, log);
        }
        let repeats = sites.iter().any(|s| sites::in_loop(m, body, s.block));
        let brings_once = by_matmuls
            && split.is_none()
            && is_straight(m, body)
            && (by_groups || pay_once(m, body, target, &sites, consumer_warps));
        if !(repeats || brings_once) {
            return None;
        }
        let producer_registers = match copies {
            true => copies::producer_registers(m, body, target, consumer_warps),
            false if sites.iter().any(|s| s.made_maps(m, func, facts) > 0) => MAKER_REGISTERS,
            false => match sites.iter().map(|s| s.pages(m)).max() {
                Some(pages) if pages > FEW_PAGES => PRODUCER_REGISTERS + 2 * pages,
                _ => PRODUCER_REGISTERS,
            },
        };
        let redistributes = match copies {
            true => producer_registers < target.registers_per_thread(2 * consumer_warps),
            false => {
                consumer_warps > 4 && (by_groups || pays(m, func, body, target, consumer_warps))
            }
        };
        let mut plan = Plan {
            blocks: split.map_or(1, |s| s.blocks),
            multicast: FxHashSet::default(),
            sites: Vec::new(),
            rings: Vec::new(),
            shared: context.shared.clone(),
            consumer_warps,
            redistributes,
            copies,
            producer_registers,
            together: 1,
            by_groups,
            nested_stores: Vec::new(),
            last_stores: Vec::new(),
            awaited: FxHashSet::default(),
            staging: 0,
            kept: 0,
            neighbours: Neighbours::asked(m, func, target),
        };
        // Where nothing asks for them: warps that compute between matmuls that they do themselves, and one warpgroup, which
        // stops multiplying for the first and the last tiles of its block.
        let one_group = by_groups && target.has(Feature::Wgmma) && consumer_warps == 4;
        let in_turn = !by_groups && is_chained(m, body);
        if !redistributes && (one_group && split.is_none() || in_turn) {
            let warps = [plan.all_warps(), consumer_warps];
            plan.neighbours = Neighbours::of(m, func, target, warps);
        }
        let others = match split {
            None if by_matmuls => sites::with_others(m, &context, &sites, log),
            _ => None,
        };
        let scratch = match repeats || by_groups {
            true => 0,
            false => taken_whole(m, body, consumer_warps),
        };
        match plan.with(m, &context, target, sites, split) {
            Ok(bare) if bare.bytes() + scratch > u64::from(target.shared_per_block()) => {
                let why = "what is loaded once leaves shared memory no room for what is computed of it: smaller tiles would";
                log.note(m, func, WHAT, why.to_owned());
                None
            }
            Ok(bare) => {
                plan.kept = bare.staging.min(bare.wanted(m, body, target, facts));
                let all = others.and_then(|s| plan.with(m, &context, target, s, split).ok());
                Some(all.filter(|p| p.is_as_good(&bare)).unwrap_or(bare))
            }
            Err(why) => {
                log.note(m, func, WHAT, why);
                None
            }
        }
    }

    /// This plan with `sites`, and room for all in shared memory.
    fn with(
        &self,
        m: &mut Module,
        context: &Context<'_>,
        target: &Target,
        mut sites: Vec<Site>,
        split: Option<&Split>,
    ) -> Result<Plan, String> {
        let (body, facts) = (context.body, context.facts);
        let rings = sites::rings(m, context, &mut sites);
        let multicast = split.map(|s| multicast::loads(m, facts, &sites, s));
        let streams = sites.iter().any(|s| s.purpose == Purpose::Stream);
        let mut plan = Plan {
            multicast: multicast.unwrap_or_default(),
            sites,
            rings,
            ..self.clone()
        };
        if streams {
            // Threads hold what they store in the order of memory already.
            plan.streams(m, context, target)?;
            return Ok(plan);
        }
        plan.stores(m, context.func, body, facts);
        let [share, all] = plan.neighbours.rooms(target);
        // Registers that are redistributed are all of them: no second block finds any.
        let shares = !plan.redistributes;
        let rooms = shares.then_some(share).into_iter().chain([all]);
        let fits = |plan: &mut Plan| {
            let mut rooms = rooms.clone();
            rooms.any(|room| plan.share(m, context, target, room))
        };
        let together = match split {
            None if plan.copies => 1,
            None => plan.turns(m, body, target),
            Some(_) => 1,
        };
        match plan.fits_together(m, context, target, together)
            || fits(&mut plan)
            || plan.take_turns(m, body) && fits(&mut plan)
        {
            true => Ok(plan),
            false => Err("one stage of what its loops load does not fit in shared memory: smaller tiles would".to_owned()),
        }
    }

    /// Bytes of shared memory that operands of matmuls would take which no ring brings, as many as would be stored at most.
    fn wanted(&self, m: &Module, body: BlockId, target: &Target, facts: &FactMap) -> u64 {
        let brought: FxHashSet<OpId> = self.loads().into_iter().collect();
        let by_wgmma = self.by_groups && target.has(Feature::Wgmma);
        let of = |&op: &OpId| -> u64 {
            let Some(matmul) = Matmul::of(m.op(op)) else {
                return 0;
            };
            let in_registers =
                by_wgmma && wgmma::takes_left_as_computed(m, body, op, self.consumer_warps);
            let sides = [(matmul.lhs, 1, in_registers), (matmul.rhs, 0, false)];
            let stored = sides.into_iter().filter(|&(tile, k, in_registers)| {
                !in_registers && !read_where_brought(m, facts, tile, k, &brought)
            });
            stored.map(|(tile, ..)| tile_bytes(m, tile)).sum()
        };
        m.ops_under(body)
            .iter()
            .filter(|&&o| is_matmul(m, o))
            .map(of)
            .sum()
    }

    /// Whether a plan brings its tiles about as early as the other, with as many blocks beside each other, and copies as
    /// much of what is stored.
    fn is_as_good(&self, other: &Plan) -> bool {
        let stages = |p: &Plan| {
            let again = p.rings.iter().filter(|r| r.repeats && !r.outer);
            again.map(|r| r.stages).min().unwrap_or(0)
        };
        let waiting = |p: &Plan| p.rings.iter().filter(|r| r.behind).count();
        let bytes =
            |p: &Plan| -> u64 { p.rings.iter().filter(|r| r.repeats).map(|r| r.bytes).sum() };
        let enough = match 2 * bytes(self) >= 3 * bytes(other) {
            true => ENOUGH_WITH_LARGE_OTHERS,
            false => ENOUGH_WITH_OTHERS,
        };
        self.together == other.together
            && self.rings.len() == other.rings.len()
            && waiting(self) == waiting(other)
            && self.nested_stores.len() == other.nested_stores.len()
            && stages(self) >= stages(other).min(enough)
    }

    /// Bytes of all rings.
    pub fn bytes(&self) -> u64 {
        self.rings.iter().map(|r| r.stages * r.bytes).sum()
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

    /// Blocks that should share a multiprocessor so that one multiplies while the other computes.
    fn turns(&self, m: &Module, body: BlockId, target: &Target) -> u64 {
        match target.has(Feature::Tcgen05) {
            true => tcgen05::turns::blocks(m, body, target, self.consumer_warps),
            false if self.by_groups => self.neighbours.in_turns(m, body, self.consumer_warps),
            false => 1,
        }
    }

    /// Lets `together` blocks share a multiprocessor, if each has room in its part of shared memory for everything. Then
    /// it has a producer warpgroup that gives its registers away.
    fn fits_together(
        &mut self,
        m: &Module,
        context: &Context,
        target: &Target,
        together: u64,
    ) -> bool {
        if together < 2 || !target.has(Feature::SetMaxNReg) {
            return false;
        }
        let mut plan = Plan {
            redistributes: true,
            together,
            ..self.clone()
        };
        let room = target.shared_of_each(together);
        let fits = plan.share(m, context, target, room);
        if fits {
            *self = plan;
        }
        fits
    }

    /// Bytes of tensor maps that the kernel makes, with what their alignment takes.
    fn maps(&self, m: &Module, body: BlockId, facts: &FactMap) -> u64 {
        let made = m.parent_of_block(body).map_or(0, |func| {
            let counts = self.sites.iter().map(|s| s.made_maps(m, func, facts));
            counts.sum()
        });
        match made {
            0 => 0,
            n => ((n + 1) * RECORD).next_multiple_of(BUFFER_ALIGN),
        }
    }

    /// Gives the rings their stages, so that everything fits in `room` bytes.
    fn share(&mut self, m: &Module, context: &Context<'_>, target: &Target, room: u64) -> bool {
        let (body, facts) = (context.body, context.facts);
        let once: u64 = self
            .rings
            .iter()
            .filter(|r| !r.repeats)
            .map(|r| r.bytes)
            .sum();
        let repeated = self.rings.iter().filter(|r| r.repeats);
        let again: u64 = repeated.clone().map(|r| r.bytes).sum();
        let outer: u64 = repeated.filter(|r| r.outer).map(|r| r.bytes).sum();
        let stored = |&op: &OpId| access::tile(m.op(op)).map_or(0, |t| tile_bytes(m, t));
        let brought: FxHashSet<OpId> = self.sites.iter().flat_map(|s| s.loads.clone()).collect();
        let operands = match self.by_groups {
            true if target.has(Feature::Tcgen05) => tcgen05::staging(m, body, target, &brought),
            true => wgmma::staging(m, body, facts, &brought),
            false => Staging::new(body),
        };
        let scratch = self.scratch(m, context, target, &brought);
        let mut stores = self.nested_stores.iter().map(stored).sum::<u64>();
        // Operands take each other's bytes, at the price of barriers, where rings would have few stages.
        let apart = operands.bytes_apart(m);
        let staged = match once + apart + scratch + stores + ENOUGH_STAGES * again {
            all if all <= room => apart,
            _ => operands.bytes(),
        };
        let staged = staged.max(self.kept);
        let mut fixed = once + staged + scratch + self.maps(m, body, facts);
        let matmuls = m.ops_under(body).into_iter().filter(|&o| is_matmul(m, o));
        let in_parts = self.by_groups && target.has(Feature::Tcgen05) && matmuls.count() == 1;
        let least = if in_parts { ENOUGH_WITH_PARTS } else { 2 };
        if fixed + stores + least * again > room {
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
        // Of one stage each, those that are filled in inner loops come first.
        let inner = match stages {
            1 => stages_that_fit(left - outer, again - outer).unwrap_or(1),
            _ => stages,
        };
        for ring in self.rings.iter_mut().filter(|r| r.repeats) {
            let fit = if ring.outer { stages } else { inner };
            ring.stages = match self.copies {
                true => fit.min(MAX_STAGES_OF_THREADS),
                false => fit,
            };
        }
        let rings = self.bytes();
        self.staging = staged + left + once - rings;
        let before = self.last_stores.len();
        self.last_stores.retain(|s| stored(s) <= rings);
        before == self.last_stores.len() || self.share(m, context, target, room)
    }

    /// Bytes of scratch to leave: for what takes a trip through shared memory besides the tiles of the rings, and
    /// for operands of a warp's matmuls that no ring brings.
    fn scratch(
        &self,
        m: &Module,
        context: &Context<'_>,
        target: &Target,
        brought: &FxHashSet<OpId>,
    ) -> u64 {
        let ops = m.ops_under(context.body);
        let other = |&&o: &&OpId| is_matmul(m, o) && !is_for_groups(m, o, target);
        let is_brought = |o: OpId| brought.contains(&o);
        let operands = |&op: &OpId| context.expected.through_memory(m, op, is_brought);
        let matmuls = ops.iter().filter(other).map(operands).max();
        match matmuls {
            Some(bytes) => bytes.max(RESERVE),
            None if ops.iter().any(|&o| self.moves(m, o, target, brought)) => RESERVE,
            None => self.barriers(target),
        }
    }

    /// Bytes for barriers, where nothing else needs scratch: those of each ring, those of matmuls in tensor memory, and its
    /// address stand between buffers, which begin at multiples of their alignment.
    fn barriers(&self, target: &Target) -> u64 {
        let of_tensor = match self.by_groups && target.has(Feature::Tcgen05) {
            true => 2,
            false => 0,
        };
        BARRIERS.max((self.rings.len() as u64 + of_tensor) * BUFFER_ALIGN)
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

/// Whether it pays that `sites` outside of loops are brought for matmuls of so many `warps`: these have instructions, for
/// threads that multiply and add read what they have loaded, and read matrices of a batch as they are, which warpgroups do
/// not; and threads load none of their operands beside.
fn pay_once(m: &Module, body: BlockId, target: &Target, sites: &[Site], warps: u64) -> bool {
    let ops = m.ops_under(body);
    let brought = |o: OpId| sites.iter().any(|s| s.loads.contains(&o));
    let all = |&o: &OpId| !loads_tile(m, o) || brought(o) || !feeds_matmul(m, &ops, o);
    let batch = |&o: &OpId| matmul::is_batch_for_groups(m, o, target);
    let bytes: u64 = sites.iter().map(|s| stage_bytes(m, &s.loads)).sum();
    bytes >= WORTH_A_PRODUCER * 32 * warps
        && ops.iter().any(|&o| matmul::is_by_instruction(m, o))
        && !ops.iter().any(batch)
        && ops.iter().all(all)
}

/// Whether no loop loads a tile: what the matmuls read is all that there is to bring, and through registers it would take
/// those of what is computed.
fn is_straight(m: &Module, body: BlockId) -> bool {
    let ops = m.ops_under(body);
    // Scales are read where their instruction wants them.
    if ops.iter().any(|&o| is_scaled(m, o)) {
        return false;
    }
    let mut loads = ops.into_iter().filter(|&o| loads_tile(m, o));
    !loads.any(|o| sites::in_loop(m, body, m.op(o).block))
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
        if data.only_computes()
            && data.results.iter().all(scalar)
            && data.operands.iter().all(known)
        {
            front.insert(op);
        }
    }
    front
}
