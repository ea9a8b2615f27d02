//! Happens-before between warps and asynchronous operations, and the races in shared memory that follow from it.
//!
//! Every warp has a vector clock, and every asynchronous operation is an agent with a component of its own: what it
//! writes or reads is ordered with a warp only through the wait that the ISA prescribes. Barriers, mbarriers, groups and
//! strong accesses join clocks. Shared memory remembers the last write and the last read of every 4 bytes as epochs
//! (Flanagan and Freund, "FastTrack", 2009). A second clock per warp tells what the async proxy may see: it catches up
//! with the first at `fence.proxy.async` and travels along with it (PTX ISA 8.9, "proxy-preserved base causality").
//!
//! Lanes of one warp count as ordered, and of several unordered reads one is remembered: races may be missed, none is
//! invented.

mod clock;
pub mod global;

pub use clock::Clock;

use crate::exec::fault::Trap;
use rustc_hash::FxHashMap;

/// An asynchronous operation's epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Agent {
    slot: u32,
    clock: u32,
}

/// Components for asynchronous operations; they are reused in rotation.
const SLOTS: u32 = 96;

/// Who did what at a granule last.
#[derive(Debug, Clone, Copy, Default)]
struct Epoch {
    /// component; 0 is nobody
    who: u16,
    /// bytes of the granule, as four bits
    bytes: u8,
    /// how
    how: How,
    clock: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum How {
    #[default]
    Generic,
    Strong,
    AsyncProxy,
}

#[derive(Debug, Clone, Copy, Default)]
struct Granule {
    write: Epoch,
    read: Epoch,
}

/// A pair of clocks: order, and order as the async proxy sees it.
#[derive(Debug, Clone, Default)]
struct View {
    order: Clock,
    proxy: Clock,
}

impl View {
    fn join(&mut self, other: &View) {
        self.order.join(&other.order);
        self.proxy.join(&other.proxy);
    }
}

/// Clocks of an mbarrier: what completed phases released, and what the current one has so far.
#[derive(Debug, Default)]
struct BarrierView {
    completed: View,
    current: View,
    phase: bool,
    /// component and clock of who initialised it
    initialised: (usize, u32),
}

/// Clocks of a barrier whose generations are numbered: those of the one under way, and of the one before it.
#[derive(Debug, Default)]
struct GenerationView {
    generation: u64,
    current: View,
    previous: View,
}

impl GenerationView {
    fn arrive(&mut self, view: &View, generation: u64) {
        if self.generation != generation {
            self.generation = generation;
            self.previous = std::mem::take(&mut self.current);
        }
        self.current.join(view);
    }

    /// What a waiter of `generation` learns; others may have arrived for the next one already.
    fn leave(&self, generation: u64) -> &View {
        if self.generation == generation {
            &self.current
        } else {
            &self.previous
        }
    }
}

/// The checker of one cluster.
#[derive(Debug)]
pub struct Checker {
    warps: Vec<View>,
    /// what each warp knew at its last fence
    fenced: Vec<View>,
    /// where each block's warps start
    warps_per_block: usize,
    shadow: Vec<Vec<Granule>>,
    barriers: FxHashMap<(usize, usize), GenerationView>,
    mbarriers: FxHashMap<(usize, u64), BarrierView>,
    cluster: GenerationView,
    /// strong accesses, by block and offset (or `usize::MAX` and a global address)
    places: FxHashMap<(usize, u64), View>,
    slots: Vec<Slot>,
    next_slot: u32,
    tie: u32,
}

#[derive(Debug, Clone, Default)]
struct Slot {
    clock: u32,
    /// what the issuer knew
    view: View,
    line: u32,
    what: &'static str,
}

/// One access for the checker.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// warp within the cluster
    pub warp: usize,
    /// block
    pub cta: usize,
    /// shared offset
    pub offset: u64,
    /// bytes
    pub size: u64,
    /// ordered with other strong accesses to the same place
    pub strong: bool,
}

impl Checker {
    /// A checker for `blocks` blocks with `bytes` bytes of shared memory each.
    pub fn new(blocks: usize, warps_per_block: usize, bytes: usize) -> Checker {
        let warps = blocks * warps_per_block;
        let mut views = vec![View::default(); warps];
        for (i, view) in views.iter_mut().enumerate() {
            view.order.set(i + 1, 1);
        }
        Checker {
            fenced: vec![View::default(); warps],
            warps: views,
            warps_per_block,
            shadow: vec![vec![Granule::default(); bytes.div_ceil(4)]; blocks],
            barriers: FxHashMap::default(),
            mbarriers: FxHashMap::default(),
            cluster: GenerationView::default(),
            places: FxHashMap::default(),
            slots: vec![Slot::default(); SLOTS as usize],
            next_slot: 0,
            tie: 1,
        }
    }

    /// The component of an agent.
    fn component(&self, agent: Agent) -> usize {
        1 + self.warps.len() + agent.slot as usize
    }

    /// A new asynchronous operation of a warp.
    pub fn issue(&mut self, warp: usize, line: u32, what: &'static str) -> Agent {
        let slot = self.next_slot;
        self.next_slot = (slot + 1) % SLOTS;
        let view = self.warps[warp].clone();
        let entry = &mut self.slots[slot as usize];
        entry.clock += 1;
        (entry.line, entry.what, entry.view) = (line, what, view);
        let clock = entry.clock;
        // What the warp does from now on is not ordered before the operation.
        self.warps[warp].order.bump(warp + 1);
        Agent { slot, clock }
    }

    /// The warp has waited for the operation.
    pub fn acquire(&mut self, warp: usize, agent: Agent) {
        let component = self.component(agent);
        self.warps[warp].order.raise(component, agent.clock);
    }

    /// The operation completes on an mbarrier.
    pub fn agent_release(&mut self, agent: Agent, rank: usize, offset: u64, phase_after: bool) {
        let component = self.component(agent);
        let mut view = self.slots[agent.slot as usize].view.clone();
        view.order.raise(component, agent.clock);
        // Data that the async proxy itself wrote needs no proxy fence for the async proxy.
        view.proxy.raise(component, agent.clock);
        self.release_view(&view, rank, offset, phase_after);
    }

    fn release_view(&mut self, view: &View, rank: usize, offset: u64, phase_after: bool) {
        let barrier = self.mbarriers.entry((rank, offset)).or_default();
        barrier.current.join(view);
        if barrier.phase != phase_after {
            barrier.phase = phase_after;
            let current = std::mem::take(&mut barrier.current);
            barrier.completed.join(&current);
        }
    }

    /// A warp arrives at an mbarrier.
    pub fn release(&mut self, warp: usize, rank: usize, offset: u64, phase_after: bool) {
        let view = self.warps[warp].clone();
        self.release_view(&view, rank, offset, phase_after);
        self.warps[warp].order.bump(warp + 1);
    }

    /// A warp has seen a phase complete.
    pub fn acquire_mbarrier(&mut self, warp: usize, rank: usize, offset: u64) {
        if let Some(barrier) = self.mbarriers.get(&(rank, offset)) {
            self.warps[warp].join(&barrier.completed);
        }
    }

    /// A fresh mbarrier knows nothing.
    pub fn reset_mbarrier(&mut self, warp: usize, rank: usize, offset: u64) {
        let order = &mut self.warps[warp].order;
        let view = BarrierView {
            initialised: (warp + 1, order.get(warp + 1)),
            ..BarrierView::default()
        };
        order.bump(warp + 1);
        self.mbarriers.insert((rank, offset), view);
    }

    /// A warp uses an mbarrier.
    pub fn use_mbarrier(&self, warp: usize, rank: usize, offset: u64) -> Result<(), Trap> {
        let Some(view) = self.mbarriers.get(&(rank, offset)) else {
            return Ok(());
        };
        let (who, clock) = view.initialised;
        if who == warp + 1 || self.warps[warp].order.get(who) >= clock {
            return Ok(());
        }
        Err(Trap::new(format!(
            "uses mbarrier {offset:#x}, whose mbarrier.init by {} it need not see yet; put a barrier between them: \
             bar.sync within a block, fence.mbarrier_init.release.cluster and barrier.cluster for other blocks",
            self.name(who)
        )))
    }

    /// A fence of cluster or wider scope: what a relaxed arrival at the cluster barrier hands on.
    pub fn fence(&mut self, warp: usize) {
        self.fenced[warp] = self.warps[warp].clone();
        self.warps[warp].order.bump(warp + 1);
    }

    /// A warp arrives at a hardware barrier.
    pub fn barrier_arrive(&mut self, warp: usize, cta: usize, id: usize, generation: u64) {
        self.barriers
            .entry((cta, id))
            .or_default()
            .arrive(&self.warps[warp], generation);
        self.warps[warp].order.bump(warp + 1);
    }

    /// A warp leaves a hardware barrier.
    pub fn barrier_leave(&mut self, warp: usize, cta: usize, id: usize, generation: u64) {
        if let Some(barrier) = self.barriers.get(&(cta, id)) {
            self.warps[warp].join(barrier.leave(generation));
        }
    }

    /// A warp arrives at the cluster barrier.
    pub fn cluster_arrive(&mut self, warp: usize, generation: u64, relaxed: bool) {
        let view = if relaxed {
            &self.fenced[warp]
        } else {
            &self.warps[warp]
        };
        self.cluster.arrive(view, generation);
        self.warps[warp].order.bump(warp + 1);
    }

    /// A warp leaves the cluster barrier.
    pub fn cluster_leave(&mut self, warp: usize, generation: u64) {
        self.warps[warp].join(self.cluster.leave(generation));
    }

    /// `fence.proxy.async`
    pub fn proxy_fence(&mut self, warp: usize) {
        let view = &mut self.warps[warp];
        let order = view.order.clone();
        view.proxy.join(&order);
        view.order.bump(warp + 1);
    }

    /// A strong access: everything before it is ordered before later strong accesses to the same place.
    pub fn strong(&mut self, warp: usize, cta: usize, offset: u64) {
        let place = self.places.entry((cta, offset)).or_default();
        self.warps[warp].join(place);
        place.join(&self.warps[warp]);
        self.warps[warp].order.bump(warp + 1);
    }

    /// True if `warp` is ordered after a step of a component.
    pub fn knows(&self, warp: usize, component: u16, clock: u32) -> bool {
        usize::from(component) == warp + 1 || self.warps[warp].order.get(component.into()) >= clock
    }

    /// The component and its current step of a warp, or of an asynchronous operation.
    pub fn epoch(&self, warp: usize, agent: Option<Agent>) -> (u16, u32) {
        match agent {
            Some(agent) => (self.component(agent) as u16, agent.clock),
            None => ((warp + 1) as u16, self.warps[warp].order.get(warp + 1)),
        }
    }

    /// How to call a component in a message.
    pub fn name(&self, who: usize) -> String {
        let warps = self.warps.len();
        if who <= warps {
            let warp = who - 1;
            let block = if warps > self.warps_per_block {
                format!(" of block {} of the cluster", warp / self.warps_per_block)
            } else {
                String::new()
            };
            return format!("warp {}{block}", warp % self.warps_per_block);
        }
        let slot = &self.slots[who - warps - 1];
        format!("the {} issued at line {}", slot.what, slot.line)
    }

    fn is_agent(&self, who: u16) -> bool {
        usize::from(who) > self.warps.len()
    }

    /// A read by a warp.
    #[inline]
    pub fn read(&mut self, a: Access) -> Result<(), Trap> {
        let clock = self.warps[a.warp].order.get(a.warp + 1);
        let me = Epoch {
            who: (a.warp + 1) as u16,
            bytes: 15,
            how: if a.strong { How::Strong } else { How::Generic },
            clock,
        };
        for (index, bytes) in granules(a.offset, a.size) {
            let granule = self.shadow[a.cta][index];
            let write = granule.write;
            if write.who != 0 && write.who != me.who && write.bytes & bytes != 0 {
                let ordered = self.warps[a.warp].order.get(write.who.into()) >= write.clock;
                let both_strong = a.strong && write.how == How::Strong;
                if !ordered && !both_strong {
                    return Err(self.bad_read(a, write));
                }
            }
            self.remember_read(a.cta, index, Epoch { bytes, ..me }, a.warp);
        }
        Ok(())
    }

    /// Keeps the later of two ordered reads, and either of two unordered ones.
    fn remember_read(&mut self, cta: usize, index: usize, epoch: Epoch, warp: usize) {
        let old = self.shadow[cta][index].read;
        let ordered = old.who == 0
            || old.who == epoch.who
            || self.warps[warp].order.get(old.who.into()) >= old.clock;
        self.tie = self.tie.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if ordered || self.tie >> 31 == 0 {
            let bytes = if old.who == epoch.who {
                old.bytes | epoch.bytes
            } else {
                epoch.bytes
            };
            self.shadow[cta][index].read = Epoch { bytes, ..epoch };
        }
    }

    fn bad_read(&self, a: Access, write: Epoch) -> Trap {
        let who = self.name(write.who.into());
        if self.is_agent(write.who) {
            return Trap::new(format!(
                "reads shared memory at {:#x}, which {who} writes and nobody here has waited for; wait for its group or \
                 mbarrier phase first",
                a.offset
            ));
        }
        Trap::new(format!(
            "reads shared memory at {:#x}, which {who} has written without a barrier in between: a data race",
            a.offset
        ))
    }

    /// A write by a warp; `same` if it does not change the contents, which another write may then race with.
    #[inline]
    pub fn write(&mut self, a: Access, same: bool) -> Result<(), Trap> {
        let clock = self.warps[a.warp].order.get(a.warp + 1);
        let me = Epoch {
            who: (a.warp + 1) as u16,
            bytes: 15,
            how: if a.strong { How::Strong } else { How::Generic },
            clock,
        };
        for (index, bytes) in granules(a.offset, a.size) {
            let granule = self.shadow[a.cta][index];
            for (old, is_read) in [(granule.write, false), (granule.read, true)] {
                if old.who == 0
                    || old.who == me.who
                    || old.bytes & bytes == 0
                    || (a.strong && old.how == How::Strong)
                {
                    continue;
                }
                let benign = same && !is_read && !self.is_agent(old.who);
                if !benign && self.warps[a.warp].order.get(old.who.into()) < old.clock {
                    return Err(self.bad_write(a, old, is_read));
                }
            }
            let entry = &mut self.shadow[a.cta][index];
            let merged = if granule.write.who == me.who && granule.write.clock == clock {
                granule.write.bytes
            } else {
                0
            };
            entry.write = Epoch {
                bytes: bytes | merged,
                ..me
            };
        }
        Ok(())
    }

    fn bad_write(&self, a: Access, old: Epoch, is_read: bool) -> Trap {
        let who = self.name(old.who.into());
        let verb = if is_read { "reads" } else { "writes" };
        if self.is_agent(old.who) {
            return Trap::new(format!(
                "overwrites shared memory at {:#x}, which {who} still {verb}; wait for it to finish first",
                a.offset
            ));
        }
        Trap::new(format!(
            "writes shared memory at {:#x}, which {who} {verb} without a barrier in between: a data race",
            a.offset
        ))
    }

    /// An asynchronous operation of `issuer` will write; `async_proxy` is false for `cp.async`.
    pub fn agent_write(
        &mut self,
        agent: Agent,
        issuer: usize,
        cta: usize,
        offset: u64,
        size: u64,
        async_proxy: bool,
    ) -> Result<(), Trap> {
        let who = self.component(agent) as u16;
        let how = if async_proxy {
            How::AsyncProxy
        } else {
            How::Generic
        };
        for (index, bytes) in granules(offset, size) {
            let granule = self.shadow[cta][index];
            for (old, is_read) in [(granule.write, false), (granule.read, true)] {
                let unordered = self.warps[issuer].order.get(old.who.into()) < old.clock;
                if old.who != 0 && old.who != who && old.bytes & bytes != 0 && unordered {
                    let verb = if is_read { "reads" } else { "writes" };
                    return Err(Trap::new(format!(
                        "starts an asynchronous copy into shared memory at {offset:#x}, which {} still {verb}: the buffer \
                         has not been released to this warp",
                        self.name(old.who.into())
                    )));
                }
            }
            self.shadow[cta][index] = Granule {
                write: Epoch {
                    who,
                    bytes,
                    how,
                    clock: agent.clock,
                },
                read: Epoch::default(),
            };
        }
        Ok(())
    }

    /// An asynchronous operation of `issuer` will read through the async proxy.
    pub fn agent_read(
        &mut self,
        agent: Agent,
        issuer: usize,
        cta: usize,
        offset: u64,
        size: u64,
    ) -> Result<(), Trap> {
        let who = self.component(agent) as u16;
        for (index, bytes) in granules(offset, size) {
            let write = self.shadow[cta][index].write;
            if write.who != 0 && write.bytes & bytes != 0 {
                let view = &self.warps[issuer];
                if view.order.get(write.who.into()) < write.clock {
                    return Err(self.bad_read(
                        Access {
                            warp: issuer,
                            cta,
                            offset,
                            size,
                            strong: false,
                        },
                        write,
                    ));
                }
                if write.how != How::AsyncProxy && view.proxy.get(write.who.into()) < write.clock {
                    return Err(Trap::new(format!(
                        "an asynchronous operation reads shared memory at {offset:#x} through the async proxy, but {} wrote \
                         it through the generic proxy without a fence.proxy.async since",
                        self.name(write.who.into())
                    )));
                }
            }
            self.remember_read(
                cta,
                index,
                Epoch {
                    who,
                    bytes,
                    how: How::AsyncProxy,
                    clock: agent.clock,
                },
                issuer,
            );
        }
        Ok(())
    }
}

/// Granules that a range touches, with the bytes of each as four bits.
#[inline]
fn granules(offset: u64, size: u64) -> impl Iterator<Item = (usize, u8)> {
    let (first, last) = (offset / 4, (offset + size - 1) / 4);
    (first..=last).map(move |g| {
        let low = if g == first { offset % 4 } else { 0 };
        let high = if g == last {
            (offset + size - 1) % 4
        } else {
            3
        };
        (g as usize, ((2u8 << high) - 1) & !((1u8 << low) - 1))
    })
}
