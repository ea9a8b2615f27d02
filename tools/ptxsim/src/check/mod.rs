//! Happens-before between warps and asynchronous operations, and the races in shared memory that follow from it.
//!
//! Every warp has a vector clock, and every asynchronous operation is an agent with a component of its own: what it
//! writes or reads is ordered with a warp only through the wait that the ISA prescribes. Barriers, mbarriers, groups and
//! strong accesses join clocks. Shared memory remembers the last write and the last read of every 4 bytes as epochs
//! (Flanagan and Freund, "FastTrack", 2009). A second clock per warp tells what the async proxy may see: it catches up
//! with the first at `fence.proxy.async` and travels along with it (PTX ISA 8.9, "proxy-preserved base causality").
//!
//! Lanes of one warp race with each other in shared memory too: an epoch names the lane, and any instruction that brings
//! lanes together (`bar.warp.sync`, but also `shfl.sync`, `mma.sync` and the like) counts as ordering them all. In global
//! memory they count as ordered, and of several unordered reads one is remembered: races may be missed, none is
//! invented.

mod clock;
pub mod global;
mod shared;
mod tensor;

pub use clock::Clock;
pub use tensor::{Committed, TensorAccess, TensorUse};

use crate::exec::fault::Trap;
use rustc_hash::FxHashMap;

/// An asynchronous operation's epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Agent {
    slot: u32,
    clock: u32,
}

impl Agent {
    /// Its number among those of its component.
    pub fn number(self) -> u32 {
        self.clock
    }
}

/// Components for asynchronous operations; they are reused in rotation.
const SLOTS: u32 = 96;

/// Who did what at a granule last.
#[derive(Debug, Clone, Copy, Default)]
struct Epoch {
    /// component; 0 is nobody
    who: u16,
    /// bytes of the granule
    bytes: Bytes,
    /// how, and by which lane
    mark: Mark,
    clock: u32,
}

impl Epoch {
    /// The same access, at these bytes of a granule.
    fn touching(self, bits: u8) -> Epoch {
        Epoch {
            bytes: Bytes::now(bits),
            ..self
        }
    }
}

/// Bytes of a granule, as four bits, and above them those touched at the clock of an [`Epoch`]: of a read, those that its
/// warp read before are kept, which lanes of the warp need not mind.
#[derive(Debug, Clone, Copy, Default)]
struct Bytes(u8);

impl Bytes {
    /// Bytes that are touched now.
    fn now(bits: u8) -> Bytes {
        Bytes(bits | bits << 4)
    }

    fn all(self) -> u8 {
        self.0 & 15
    }

    fn at_clock(self) -> u8 {
        self.0 >> 4
    }

    /// Together with those of an access at the same clock, or at an earlier one.
    fn with(self, old: Bytes, same_clock: bool) -> Bytes {
        Bytes(self.0 | if same_clock { old.0 } else { old.all() })
    }
}

/// How an access was made, and by which lane of its warp: two bits and six.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Mark(u8);

impl Mark {
    /// No lane stands for several, or for an asynchronous operation.
    fn new(how: How, lane: Option<u8>) -> Mark {
        Mark((how as u8) << 6 | lane.map_or(0, |l| (l & 31) + 1))
    }

    fn how(self) -> How {
        match self.0 >> 6 {
            1 => How::Strong,
            2 => How::AsyncProxy,
            _ => How::Generic,
        }
    }

    /// The lane, if it is known and one.
    fn lane(self) -> Option<u8> {
        (self.0 & 63).checked_sub(1).filter(|&l| l < 32)
    }

    /// Whether no other lane than this need have made the access.
    fn may_be_only(self, lane: u8) -> bool {
        self.0 & 63 == Self::APART || self.lane() == Some(lane)
    }

    /// Lanes that touched different bytes of a granule, of which it is not known which touched which.
    const APART: u8 = 33;

    /// The mark of `self`'s lane together with that of `old`, which touched the same bytes or (`apart`)
    /// others of the granule.
    fn beside(self, old: Mark, apart: bool) -> Mark {
        match old.0 & 63 {
            lane if lane == self.0 & 63 => self,
            lane if apart || lane == Self::APART => Mark(self.0 & !63 | Self::APART),
            _ => Mark::new(self.how(), None),
        }
    }
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

/// Clocks: order, order as the async proxy sees it, and what is known of operations on tensor memory, by way of their
/// fences and without asking for them.
#[derive(Debug, Clone, Default)]
struct View {
    order: Clock,
    proxy: Clock,
    tensor: Clock,
    tensor_unfenced: Clock,
}

impl View {
    fn join(&mut self, other: &View) {
        self.order.join(&other.order);
        self.proxy.join(&other.proxy);
        self.join_tensor(other);
    }

    fn join_tensor(&mut self, other: &View) {
        self.tensor.join(&other.tensor);
        self.tensor_unfenced.join(&other.tensor_unfenced);
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
    tensor: tensor::TensorChecker,
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
    /// lane
    pub lane: u8,
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
            slots: vec![Slot::default(); SLOTS as usize + warps],
            tensor: tensor::TensorChecker::new(blocks, warps),
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

    /// Operations complete on an mbarrier by one arrival: all belong to the phase that it may complete.
    pub fn agents_release(
        &mut self,
        agents: &[Agent],
        rank: usize,
        offset: u64,
        phase_after: bool,
    ) {
        for &agent in agents {
            let component = self.component(agent);
            let mut view = self.slots[agent.slot as usize].view.clone();
            view.order.raise(component, agent.clock);
            // Data that the async proxy itself wrote needs no proxy fence for the async proxy.
            view.proxy.raise(component, agent.clock);
            self.barrier_view(rank, offset).current.join(&view);
        }
        self.flip(rank, offset, phase_after);
    }

    fn release_view(&mut self, view: &View, rank: usize, offset: u64, phase_after: bool) {
        self.barrier_view(rank, offset).current.join(view);
        self.flip(rank, offset, phase_after);
    }

    fn barrier_view(&mut self, rank: usize, offset: u64) -> &mut BarrierView {
        self.mbarriers.entry((rank, offset)).or_default()
    }

    /// Hands what a phase has collected to who waits for it, if the last arrival completed it.
    fn flip(&mut self, rank: usize, offset: u64, phase_after: bool) {
        let barrier = self.barrier_view(rank, offset);
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
        if relaxed {
            // tcgen05.fence composes with execution order alone.
            let mut view = self.fenced[warp].clone();
            view.join_tensor(&self.warps[warp]);
            self.cluster.arrive(&view, generation);
        } else {
            self.cluster.arrive(&self.warps[warp], generation);
        }
        self.warps[warp].order.bump(warp + 1);
    }

    /// A warp leaves the cluster barrier.
    pub fn cluster_leave(&mut self, warp: usize, generation: u64) {
        self.warps[warp].join(self.cluster.leave(generation));
    }

    /// Lanes of a warp have come together.
    pub fn warp_sync(&mut self, warp: usize) {
        self.warps[warp].order.bump(warp + 1);
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
}
