//! Races in global memory, between warps of one cluster and between clusters.
//!
//! Global memory remembers the last write and the last read of every 4 bytes, as shared memory does. Within a cluster
//! the cluster's own clocks decide. Between clusters there is one clock per cluster, which its fences and releases
//! advance: a strong store or atomic hands on what its warp has fenced (all of it, if it releases by itself), a strong
//! load or atomic takes it over, at once if it acquires and at the warp's next fence if it does not (PTX ISA 8.7-8.10,
//! release and acquire patterns). A fence speaks for its whole cluster and what one warp takes over counts for all:
//! races may be missed, none is invented.

use super::Checker;
use crate::exec::fault::Trap;
use crate::program::{Row, lanes};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

/// Bytes of a granule, of a chunk, and how many locks there are.
const GRANULE: u64 = 4;
const CHUNK: u64 = 1024;
const SHARDS: usize = 256;

/// What a cluster knows of others: the last release of each that is ordered before.
type Known = FxHashMap<u32, u32>;

fn join(to: &mut Known, from: &Known) {
    for (&cluster, &release) in from {
        let slot = to.entry(cluster).or_default();
        *slot = (*slot).max(release);
    }
}

/// Who touched a granule last.
#[derive(Debug, Clone, Copy, Default)]
struct Touch {
    /// cluster number plus 1; 0 is nobody
    cluster: u32,
    /// component of the cluster's clocks
    who: u16,
    /// bytes of the granule
    bytes: u8,
    strong: bool,
    clock: u32,
    /// release of its cluster that will hand it on
    release: u32,
    line: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Granule {
    write: Touch,
    read: Touch,
}

type Chunk = [Granule; (CHUNK / GRANULE) as usize];
type Shard = FxHashMap<u64, Box<Chunk>>;

/// What a launch remembers of global memory.
pub struct GlobalRaces {
    shards: Vec<Mutex<Shard>>,
    /// what strong accesses have handed on, by address
    places: Vec<Mutex<FxHashMap<u64, Known>>>,
}

impl Default for GlobalRaces {
    fn default() -> Self {
        GlobalRaces {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            places: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl GlobalRaces {
    fn shard(&self, chunk: u64) -> MutexGuard<'_, Shard> {
        lock(&self.shards[(chunk % SHARDS as u64) as usize])
    }

    /// Forgets who touched `bytes` bytes at `address`: they belong to a new object.
    pub fn forget(&self, address: u64, bytes: u64) {
        let (first, last) = (address / GRANULE, (address + bytes).div_ceil(GRANULE));
        let per_chunk = CHUNK / GRANULE;
        for number in first / per_chunk..last.div_ceil(per_chunk) {
            if let Some(chunk) = self.shard(number).get_mut(&number) {
                let from = first.saturating_sub(number * per_chunk) as usize;
                let to = (last - number * per_chunk).min(per_chunk) as usize;
                chunk[from..to].fill(Granule::default());
            }
        }
    }

    /// The place of a strong access. Hold it while the access happens: whoever sees the value must see what it hands on.
    pub fn place(&self, address: u64) -> PlaceGuard<'_> {
        let index = (address / 4 % SHARDS as u64) as usize;
        PlaceGuard(lock(&self.places[index]), address)
    }
}

/// See [`GlobalRaces::place`].
pub struct PlaceGuard<'a>(MutexGuard<'a, FxHashMap<u64, Known>>, u64);

/// A cluster's side of the order between clusters.
#[derive(Debug, Default)]
pub struct Foreign {
    /// this cluster's number plus 1
    cluster: u32,
    /// releases so far
    release: u32,
    known: Known,
    warps: Vec<WarpOrder>,
}

#[derive(Debug, Clone, Default)]
struct WarpOrder {
    /// the last release that a fence of this warp ended; 0 is none
    fenced: u32,
    /// read by relaxed accesses since its last fence
    unfenced: Known,
}

/// An access to global memory by some lanes of a warp.
#[derive(Debug, Clone, Copy)]
pub struct GlobalAccess {
    /// warp within the cluster
    pub warp: usize,
    /// asynchronous operation that does it, if the warp itself does not
    pub agent: Option<super::Agent>,
    /// ordered with other strong accesses to the same place
    pub strong: bool,
    /// writes
    pub store: bool,
    /// PTX line
    pub line: u32,
}

/// What a strong access does to the order.
#[derive(Debug, Clone, Copy)]
pub struct Handover {
    /// it reads
    pub load: bool,
    /// it writes
    pub store: bool,
    /// it is `.acquire`, `.release` or both
    pub ordered: bool,
}

impl Foreign {
    /// For cluster `serial` of a launch.
    pub fn new(serial: u64, warps: usize) -> Foreign {
        Foreign {
            cluster: serial as u32 + 1,
            release: 1,
            known: Known::default(),
            warps: vec![WarpOrder::default(); warps],
        }
    }

    /// A fence of device scope.
    pub fn fence(&mut self, warp: usize) {
        let order = &mut self.warps[warp];
        order.fenced = self.release;
        self.release += 1;
        join(&mut self.known, &std::mem::take(&mut order.unfenced));
    }

    /// A strong access to a place.
    pub fn strong(&mut self, warp: usize, place: &mut PlaceGuard<'_>, how: Handover) {
        if let (true, Some(view)) = (how.load, place.0.get(&place.1)) {
            let to = if how.ordered {
                &mut self.known
            } else {
                &mut self.warps[warp].unfenced
            };
            join(to, view);
        }
        if !how.store {
            return;
        }
        let released = if how.ordered {
            self.release += 1;
            self.release - 1
        } else {
            self.warps[warp].fenced
        };
        if released > 0 {
            let view = place.0.entry(place.1).or_default();
            join(view, &self.known);
            let own = view.entry(self.cluster).or_default();
            *own = (*own).max(released);
        }
    }
}

/// The checks of one access against what memory remembers.
pub struct Judge<'a> {
    /// the launch's memory
    pub races: &'a GlobalRaces,
    /// the cluster's clocks
    pub checker: &'a Checker,
    /// the order between clusters
    pub foreign: &'a Foreign,
}

/// A conflicting earlier access, for the message.
pub struct Conflict {
    /// first byte
    pub address: u64,
    /// cluster of the other access
    pub cluster: u64,
    /// component of its clocks
    pub who: usize,
    /// its PTX line
    pub line: u32,
    /// it wrote
    pub wrote: bool,
    /// the two accesses are in different clusters
    pub foreign: bool,
}

impl Judge<'_> {
    fn ordered(&self, access: &GlobalAccess, old: &Touch) -> bool {
        if old.cluster == self.foreign.cluster {
            return self.checker.knows(access.warp, old.who, old.clock);
        }
        let known = self.foreign.known.get(&old.cluster).copied();
        known.is_some_and(|release| release >= old.release)
    }

    fn touch(&self, access: &GlobalAccess, bytes: u8) -> Touch {
        let (who, clock) = self.checker.epoch(access.warp, access.agent);
        Touch {
            cluster: self.foreign.cluster,
            who,
            bytes,
            clock,
            release: self.foreign.release,
            line: access.line,
            strong: access.strong,
        }
    }

    /// The lanes' accesses of `size` bytes each; `same` says that a store leaves a lane's bytes as they are.
    pub fn lanes(
        &self,
        access: &GlobalAccess,
        addresses: &Row,
        active: u32,
        size: u64,
        same: u32,
    ) -> Result<(), (usize, Conflict)> {
        let bytes = |lane: usize| addresses[lane]..addresses[lane].saturating_add(size);
        let same = |lane: usize| same >> lane & 1 == 1;
        let mut held = None;
        let mut left = lanes(active).peekable();
        while let Some(first) = left.next() {
            // Lanes that follow each other in memory are one range.
            let mut range = bytes(first);
            let mut run = 1u32 << first;
            let follows = |lane: usize, end| addresses[lane] == end && same(lane) == same(first);
            while let Some(lane) = left.next_if(|&lane| follows(lane, range.end)) {
                range.end = range.end.saturating_add(size);
                run |= 1 << lane;
            }
            if self.range(&mut held, access, range, same(first)).is_err() {
                // What is remembered of this access conflicts with nothing in it.
                for lane in lanes(run) {
                    self.range(&mut held, access, bytes(lane), same(lane))
                        .map_err(|conflict| (lane, conflict))?;
                }
            }
        }
        Ok(())
    }

    /// A contiguous range; `same` as above.
    pub fn bytes(
        &self,
        access: &GlobalAccess,
        address: u64,
        size: u64,
        same: bool,
    ) -> Result<(), Conflict> {
        self.range(
            &mut None,
            access,
            address..address.saturating_add(size),
            same,
        )
    }

    /// A contiguous range; `held` is the part of the shadow memory that was touched last.
    fn range<'h>(
        &'h self,
        held: &mut Option<(u64, MutexGuard<'h, Shard>)>,
        access: &GlobalAccess,
        range: Range<u64>,
        same: bool,
    ) -> Result<(), Conflict> {
        let mut at = range.start;
        while at < range.end {
            let chunk = at / CHUNK;
            if held.as_ref().is_none_or(|(c, _)| *c != chunk) {
                // One part is held at a time.
                drop(held.take());
                *held = Some((chunk, self.races.shard(chunk)));
            }
            let stop = range.end.min((chunk + 1).saturating_mul(CHUNK));
            if let Some((_, shard)) = held {
                let memory = shard
                    .entry(chunk)
                    .or_insert_with(|| Box::new([Granule::default(); _]));
                self.within(memory, access, at..stop, same)?;
            }
            at = stop;
        }
        Ok(())
    }

    /// A range within one chunk.
    fn within(
        &self,
        memory: &mut Chunk,
        access: &GlobalAccess,
        range: Range<u64>,
        same: bool,
    ) -> Result<(), Conflict> {
        let all = self.touch(access, 0);
        for index in range.start / GRANULE..range.end.div_ceil(GRANULE) {
            let start = index * GRANULE;
            let low = range.start.max(start) - start;
            let high = (range.end - start).min(GRANULE);
            let bytes = (((1u32 << high) - 1) & !((1u32 << low) - 1)) as u8;
            let granule = &mut memory[(index % (CHUNK / GRANULE)) as usize];
            let me = Touch { bytes, ..all };
            let old = [(granule.write, true), (granule.read, false)];
            for (touch, wrote) in old.into_iter().take(if access.store { 2 } else { 1 }) {
                let other = touch.cluster != 0
                    && touch.bytes & bytes != 0
                    && (touch.cluster, touch.who) != (me.cluster, me.who)
                    && !exempt(&touch, wrote, access)
                    && !(wrote && same);
                if other && !self.ordered(access, &touch) {
                    return Err(Conflict {
                        address: range.start,
                        cluster: u64::from(touch.cluster - 1),
                        who: touch.who.into(),
                        line: touch.line,
                        wrote,
                        foreign: touch.cluster != me.cluster,
                    });
                }
            }
            let slot = if access.store {
                &mut granule.write
            } else {
                &mut granule.read
            };
            let merges = (slot.cluster, slot.who, slot.clock, slot.release)
                == (me.cluster, me.who, me.clock, me.release)
                && slot.strong == me.strong;
            *slot = Touch {
                bytes: if merges { slot.bytes | bytes } else { bytes },
                ..me
            };
        }
        Ok(())
    }
}

/// Pairs that are no race of ordinary accesses: two strong ones, a strong read of whatever is there (Triton's volatile
/// loads), and an ordinary read beside atomics (the first guess of a compare-and-swap loop).
fn exempt(old: &Touch, old_wrote: bool, new: &GlobalAccess) -> bool {
    let strong_read = (old.strong && !old_wrote) || (new.strong && !new.store);
    let guess = (old.strong && !new.store) || (new.strong && !old_wrote);
    old.strong && new.strong || strong_read || guess
}

/// The sentence for a conflict; `who` names the other party.
pub fn describe(access: &GlobalAccess, conflict: &Conflict, who: &str, buffer: &str) -> Trap {
    let verb = if access.store { "writes" } else { "reads" };
    let other = if conflict.wrote { "wrote" } else { "read" };
    let advice = if conflict.foreign {
        "order them through a release (fence.acq_rel.gpu and an atomic, or red.release.gpu) there and an acquire here, or \
         make both accesses atomic"
    } else {
        "put a barrier between them"
    };
    Trap::new(format!(
        "{verb} global memory at {:#x} (`{buffer}`), which {who} {other} at line {} and nothing orders: a data race; {advice}",
        conflict.address, conflict.line
    ))
}
