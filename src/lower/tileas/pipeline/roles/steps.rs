//! What the two roles do at the loads of a kernel and at what reads these.

use super::super::padding;
use super::plan::Plan;
use super::sites::{Site, leaves};
use super::thread::Steps;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Overflow;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access::group;
use crate::ir::{Attr, BlockId, Module, OpId, ValueId};
use crate::lower::build::{self, cased};
use crate::lower::tileas::pipeline::ahead::{ACCESS, POINTED};
use rustc_hash::{FxHashMap, FxHashSet};

/// A ring in the program: its pipeline, and its buffers as each of the sites that share it sees them.
pub(super) struct Built {
    pub pipeline: ValueId,
    pub buffers: FxHashMap<usize, Vec<ValueId>>,
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
pub(super) struct Producer<'p> {
    plan: &'p Plan,
    built: &'p [Built],
    /// The last load of a site, as copied: the site and all its loads as copied.
    anchors: FxHashMap<OpId, (usize, Vec<OpId>)>,
    copies: FxHashSet<OpId>,
}

impl<'p> Producer<'p> {
    pub fn new(plan: &'p Plan, built: &'p [Built], copies: &FxHashMap<OpId, OpId>) -> Self {
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
        let groups: [&[ValueId]; 2] = [&[built.pipeline], &[iteration]];
        let behind = self.plan.sites[*site].behind.is_some();
        let attrs = [behind.then_some(Attr::Unit)];
        m.at_end(block)
            .op(S::ProducerAcquire, &groups, attrs, &[], &[]);
        let originals = &self.plan.sites[*site].loads;
        let buffers = &built.buffers[site];
        for ((&load, &buffer), original) in loads.iter().zip(buffers).zip(originals) {
            let to = [buffer, built.pipeline, iteration];
            if self.plan.sites[*site].by_threads.contains(original) {
                copy_by_threads(m, block, load, to);
                continue;
            }
            let multicast = self.plan.multicast.contains(original);
            copy(m, block, load, to, multicast);
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
    let sparse = data.attr_named("sparse").cloned();
    let attrs = attrs
        .into_iter()
        .chain([multicast.then_some(Attr::Unit), sparse]);
    let mut b = m.at_end(block);
    b.loc = data.loc;
    b.op(S::TmaLoad, &groups, attrs, &[], &[]);
}

/// The threads' own copies of what `load` loads to (buffer, pipeline, iteration).
pub fn copy_by_threads(m: &mut Module, block: BlockId, load: OpId, to: [ValueId; 3]) {
    let data = m.op(load).clone();
    let through = S::of(data.kind) == Some(S::Load);
    let names = if through { &POINTED[..] } else { &ACCESS[..] };
    let access = names.iter().map(|name| group(&data, name));
    let mut groups: Vec<&[ValueId]> = access.chain(to.chunks(1)).collect();
    groups.push(&[]);
    let attrs =
        ["dim_map", "traversal", "padding", "inbounds"].map(|n| data.attr_named(n).cloned());
    let mut b = m.at_end(block);
    b.loc = data.loc;
    match through {
        true => b.op(S::PointerCopy, &groups, [], &[], &[]),
        false => b.op(S::TiledCopy, &groups, attrs, &[], &[]),
    };
}

/// The consumers' steps: a wait before the first reader of a site's tiles, a release after the last.
pub(super) struct Consumer<'p> {
    plan: &'p Plan,
    built: &'p [Built],
    /// The iteration that each site has waited for and not handed back.
    held: FxHashMap<usize, ValueId>,
}

impl<'p> Consumer<'p> {
    pub fn new(plan: &'p Plan, built: &'p [Built]) -> Self {
        Self {
            plan,
            built,
            held: FxHashMap::default(),
        }
    }

    fn wait(&mut self, m: &mut Module, site: usize, block: BlockId, counters: &mut [ValueId]) {
        let ring = self.plan.sites[site].ring;
        let (built, iteration) = (&self.built[ring], counters[ring]);
        step(m, block, S::ConsumerWait, built.pipeline, iteration);
        let buffers = &built.buffers[&site];
        for (&load, &buffer) in self.plan.sites[site].loads.iter().zip(buffers) {
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

    fn release(&self, m: &mut Module, site: &Site, block: BlockId, iteration: ValueId) {
        let pipeline = self.built[site.ring].pipeline;
        step(m, block, S::ConsumerRelease, pipeline, iteration);
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
                && let Some(iteration) = self.held.remove(&i)
            {
                self.release(m, site, block, iteration);
            }
        }
    }

    /// What jumps away between the readers of a tile hands its stage back, too.
    fn leave(&mut self, m: &mut Module, jump: OpId, block: BlockId) {
        for (i, site) in self.plan.sites.iter().enumerate() {
            if site.last != jump
                && leaves(m, site.block, jump)
                && let Some(&iteration) = self.held.get(&i)
            {
                self.release(m, site, block, iteration);
            }
        }
    }

    fn drops(&self, op: OpId) -> bool {
        self.plan.sites.iter().any(|s| s.loads.contains(&op))
    }
}
