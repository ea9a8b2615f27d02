//! What clusters did, recorded for the model: instructions in the order of each warp, with what they touched and whom
//! they waited for.

use super::Sampling;
use rustc_hash::{FxHashMap, FxHashSet};

/// Something that warps wait for: a phase of an mbarrier, a generation of a barrier. An index into
/// [`ClusterTrace::meetings`].
pub type Meeting = u32;

/// What an instruction did besides computing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// an access to shared memory
    Shared {
        /// passes of 128 bytes that it takes, those of bank conflicts included
        passes: u32,
        /// memory of another block of the cluster
        remote: bool,
    },
    /// an access to global memory
    Global {
        /// 128-byte lines
        lines: Vec<u64>,
        /// 32-byte sectors of these
        sectors: u32,
        /// which way
        how: Way,
    },
    /// `cp.async` of the warp
    CpAsync {
        /// 32-byte sectors that are read
        sectors: u32,
        /// bytes written to shared memory
        bytes: u32,
    },
    /// a bulk or tensor copy starts
    Bulk {
        /// bytes that go between the multiprocessor and L2
        bytes: u64,
        /// out of shared memory
        store: bool,
        /// arrives there when it is done
        meetings: Vec<Meeting>,
    },
    /// multiply-adds of `tcgen05.mma`, of one or two blocks, and the element type
    TensorCore {
        /// multiply-adds
        work: u64,
        /// element type
        kind: &'static str,
        /// both blocks of a pair work on it
        pair: bool,
    },
    /// `tcgen05.commit`: arrives when the thread's operations are done
    TensorCommit(Meeting),
    /// `cp.async.mbarrier.arrive`: arrives when the thread's copies are done
    CopiesArrive(Meeting),
    /// arrives
    Arrive(Meeting),
    /// waits
    Await(Meeting),
}

/// Which way an access goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Way {
    Load,
    Store,
    Atomic,
}

/// An instruction that a warp, or a part of it, has executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// index of the instruction
    pub pc: u32,
    /// its effects among the warp's: the first
    pub first: u32,
    /// … and the one after the last
    pub last: u32,
}

/// What a warp did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WarpTrace {
    /// instructions
    pub events: Vec<Event>,
    /// their effects
    pub effects: Vec<Effect>,
}

/// What a cluster did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterTrace {
    /// its number in the grid
    pub serial: u64,
    /// blocks
    pub blocks: u32,
    /// warps by block, then by number
    pub warps: Vec<WarpTrace>,
    /// arrivals that each meeting takes
    pub meetings: Vec<u32>,
    /// different 128-byte lines that it read from global memory
    pub lines_read: u64,
    /// … and wrote
    pub lines_written: u64,
    /// bytes that were asked of L2: loads, copies
    pub bytes_read: u64,
    /// the multiply-adds of its matrix instructions
    pub multiply_adds: u64,
}

/// What a cluster read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbour {
    /// its number
    pub serial: u64,
    /// 128-byte lines of global memory
    pub lines: FxHashSet<u64>,
}

/// Identity of a meeting while it is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Mbarrier(usize, u64, u64),
    Barrier(usize, usize, u64),
    Cluster(u64),
}

/// A recording under way.
#[derive(Debug, Default)]
pub struct Tape {
    trace: ClusterTrace,
    meetings: FxHashMap<Key, Meeting>,
    /// completed phases of each mbarrier; an initialisation counts two, so that old phases stay apart
    phases: FxHashMap<(usize, u64), u64>,
    /// effects of the instruction under way, by warp
    open: Vec<Vec<Effect>>,
    read: FxHashSet<u64>,
    written: FxHashSet<u64>,
    /// instructions are kept, not only lines
    whole: bool,
    /// lines are kept after the end
    neighbour: bool,
}

impl Tape {
    /// An empty tape for a cluster, if it is to have one.
    pub fn of(sampling: &Sampling, serial: u64, blocks: u32, warps: usize) -> Option<Tape> {
        let whole = sampling.clusters.binary_search(&serial).is_ok();
        let neighbour = sampling.neighbours.contains(&serial);
        (whole || neighbour).then(|| Tape {
            whole,
            neighbour,
            trace: ClusterTrace {
                serial,
                blocks,
                warps: vec![WarpTrace::default(); warps],
                ..ClusterTrace::default()
            },
            open: vec![Vec::new(); warps],
            ..Tape::default()
        })
    }

    /// The warp has executed an instruction: what was noted for it belongs to it.
    pub fn executed(&mut self, warp: usize, pc: u32) {
        if !self.whole {
            self.open[warp].clear();
            return;
        }
        let to = &mut self.trace.warps[warp];
        let first = to.effects.len() as u32;
        to.effects.append(&mut self.open[warp]);
        to.events.push(Event {
            pc,
            first,
            last: to.effects.len() as u32,
        });
    }

    /// Something that the warp's instruction under way does.
    pub fn note(&mut self, warp: usize, effect: Effect) {
        match &effect {
            Effect::Global {
                lines,
                sectors,
                how,
            } => {
                let (reads, writes) = (*how != Way::Store, *how != Way::Load);
                if reads {
                    self.read.extend(lines);
                    self.trace.bytes_read += 32 * u64::from(*sectors);
                }
                if writes {
                    self.written.extend(lines);
                }
            }
            Effect::CpAsync { sectors, .. } => self.trace.bytes_read += 32 * u64::from(*sectors),
            Effect::Bulk {
                bytes,
                store: false,
                ..
            } => self.trace.bytes_read += bytes,
            _ => {}
        }
        self.open[warp].push(effect);
    }

    /// Bytes of global memory that a copy reads or writes.
    pub fn touch(&mut self, address: u64, bytes: u64, store: bool) {
        let lines = address / LINE..=(address + bytes.max(1) - 1) / LINE;
        if store {
            self.written.extend(lines);
        } else {
            self.read.extend(lines);
        }
    }

    fn meeting(&mut self, key: Key) -> Meeting {
        let next = self.trace.meetings.len() as Meeting;
        let found = *self.meetings.entry(key).or_insert(next);
        if found == next {
            self.trace.meetings.push(0);
        }
        found
    }

    fn arrival(&mut self, key: Key) -> Meeting {
        let meeting = self.meeting(key);
        self.trace.meetings[meeting as usize] += 1;
        meeting
    }

    fn phase(&self, place: (usize, u64)) -> u64 {
        self.phases.get(&place).copied().unwrap_or(0)
    }

    /// An arrival, by a thread or a copy, that the mbarrier's current phase waits for.
    pub fn mbarrier_arrival(&mut self, rank: usize, offset: u64) -> Meeting {
        let phase = self.phase((rank, offset));
        self.arrival(Key::Mbarrier(rank, offset, phase))
    }

    /// The phase of an mbarrier that completed last; none if none has since its initialisation.
    pub fn mbarrier_wait(&mut self, rank: usize, offset: u64) -> Option<Meeting> {
        let before = self.phase((rank, offset)).checked_sub(1)?;
        let key = Key::Mbarrier(rank, offset, before);
        self.meetings.get(&key).copied()
    }

    /// Its phase completes.
    pub fn mbarrier_completes(&mut self, rank: usize, offset: u64) {
        *self.phases.entry((rank, offset)).or_default() += 1;
    }

    /// It is initialised.
    pub fn mbarrier_initialised(&mut self, rank: usize, offset: u64) {
        *self.phases.entry((rank, offset)).or_default() += 2;
    }

    /// An arrival at a hardware barrier.
    pub fn barrier_arrival(&mut self, cta: usize, id: usize, generation: u64) -> Meeting {
        self.arrival(Key::Barrier(cta, id, generation))
    }

    /// A wait for it.
    pub fn barrier_wait(&mut self, cta: usize, id: usize, generation: u64) -> Meeting {
        self.meeting(Key::Barrier(cta, id, generation))
    }

    /// An arrival at the cluster barrier.
    pub fn cluster_arrival(&mut self, generation: u64) -> Meeting {
        self.arrival(Key::Cluster(generation))
    }

    /// A wait for it.
    pub fn cluster_wait(&mut self, generation: u64) -> Meeting {
        self.meeting(Key::Cluster(generation))
    }

    /// The recording, once the cluster has ended.
    pub fn finish(mut self, multiply_adds: u64) -> (Option<ClusterTrace>, Option<Neighbour>) {
        self.trace.lines_read = self.read.len() as u64;
        self.trace.lines_written = self.written.len() as u64;
        self.trace.multiply_adds = multiply_adds;
        let neighbour = self.neighbour.then(|| Neighbour {
            serial: self.trace.serial,
            lines: self.read,
        });
        (self.whole.then_some(self.trace), neighbour)
    }
}

/// Bytes of a line of L2.
pub const LINE: u64 = 128;

/// Lines and the number of 32-byte sectors that some accesses of `bytes` bytes touch.
pub fn lines_of(accesses: impl Iterator<Item = u64>, bytes: u64) -> (Vec<u64>, u32) {
    let last = bytes.max(1) - 1;
    let mut sectors: Vec<u64> = accesses.flat_map(|a| a / 32..=(a + last) / 32).collect();
    sectors.sort_unstable();
    sectors.dedup();
    let count = sectors.len() as u32;
    let mut lines: Vec<u64> = sectors.into_iter().map(|s| s * 32 / LINE).collect();
    lines.dedup();
    (lines, count)
}
