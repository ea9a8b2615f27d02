//! The world around a running warp: what the blocks of a launch and of a cluster share.

use super::block::Cta;
use super::global::GlobalMemory;
use super::objects::Heap;
use super::rng::Rng;
use super::stats::Stats;
use super::warp::Warp;
use crate::asynchronous::bulk;
use crate::asynchronous::starts::Starts;
use crate::asynchronous::tcgen05::work::Queue;
use crate::check::Checker;
use crate::check::global::{Foreign, GlobalRaces};
use crate::clock::Sampling;
use crate::clock::trace::Tape;
use crate::program::Program;
use crate::record::{Observer, Recorder};
use std::sync::Mutex;

/// Which checks run.
#[derive(Debug, Clone, Copy)]
pub struct Checks {
    /// reads of registers and shared memory that nothing wrote
    pub uninitialised: bool,
    /// races and missing waits in shared memory
    pub races: bool,
    /// races in global memory; needs `races`
    pub global_races: bool,
    /// `tcgen05.fence` around the synchronisation of threads that share tensor memory; needs `races`
    pub tensor_fences: bool,
}

impl Checks {
    /// Every check.
    pub const ALL: Checks = Checks {
        uninitialised: true,
        races: true,
        global_races: true,
        tensor_fences: true,
    };
    /// None of them.
    pub const NONE: Checks = Checks {
        uninitialised: false,
        races: false,
        global_races: false,
        tensor_fences: false,
    };
}

/// What all blocks of a launch share.
pub struct Shared<'a> {
    /// the program
    pub program: &'a Program,
    /// device memory
    pub global: &'a GlobalMemory,
    /// bytes of the entry's parameters
    pub params: Vec<u8>,
    /// blocks
    pub grid: [u32; 3],
    /// threads per block
    pub block: [u32; 3],
    /// blocks per cluster
    pub cluster: [u32; 3],
    /// dynamic shared memory
    pub dynamic_bytes: u32,
    /// what to check
    pub checks: Checks,
    /// count accesses for the statistics
    pub count: bool,
    /// interleaving
    pub seed: u64,
    /// what the kernel printed
    pub output: &'a Mutex<String>,
    /// held during 128-bit atomics
    pub wide_atomics: &'a Mutex<()>,
    /// objects of `malloc`
    pub heap: &'a Heap,
    /// the grid is launched cooperatively
    pub cooperative: bool,
    /// clusters that have not started
    pub starts: &'a Starts,
    /// who touched global memory, where races are checked
    pub races: Option<&'a GlobalRaces>,
    /// number of the cluster whose timeline is recorded
    pub timeline: Option<u64>,
    /// which clusters are recorded for the clock
    pub sampling: Option<&'a Sampling>,
    /// who watches
    pub observer: Option<&'a dyn Observer>,
}

impl Shared<'_> {
    /// Threads per block.
    pub fn threads_per_block(&self) -> u32 {
        self.block.iter().product()
    }

    /// The first block of a cluster.
    pub fn first_block(&self, cluster: u64) -> [u32; 3] {
        let counts: [u64; 2] = std::array::from_fn(|i| u64::from(self.grid[i] / self.cluster[i]));
        let at = [
            cluster % counts[0],
            cluster / counts[0] % counts[1],
            cluster / (counts[0] * counts[1]),
        ];
        std::array::from_fn(|i| at[i] as u32 * self.cluster[i])
    }

    /// Warps per block.
    pub fn warps_per_block(&self) -> u32 {
        self.threads_per_block().div_ceil(32)
    }
}

/// The world around a running warp.
pub struct Env<'a> {
    /// what all blocks share
    pub shared: &'a Shared<'a>,
    /// blocks of this cluster, by rank
    pub ctas: Vec<Cta>,
    /// choices
    pub rng: Rng,
    /// instructions executed by this cluster
    pub clock: u64,
    /// a made-up multiprocessor number
    pub smid: u32,
    /// completed phases of the cluster barrier
    pub cluster_generation: u64,
    /// threads that have arrived in this phase
    pub cluster_arrived: u32,
    /// the access under way is atomic, volatile or has an order
    pub strong: bool,
    /// … and the order is acquire, release or both
    pub ordered: bool,
    /// unfinished bulk copies
    pub engine: bulk::Engine,
    /// tcgen05 operations in flight
    pub tensor: Queue,
    /// order and races in shared memory
    pub checker: Option<Checker>,
    /// order between clusters
    pub foreign: Foreign,
    /// line of the memory access under way
    pub line: u32,
    /// counters
    pub stats: Stats,
    /// polls of mbarriers that failed since something last completed
    pub failed_polls: u64,
    /// lanes that executed each instruction of the program
    pub executed: Vec<u64>,
    /// asynchronous copies that have not finished
    pub copies_in_flight: u32,
    /// accesses of the kind with which blocks wait for each other
    pub polls: u64,
    /// a thread has seen a request to cancel another cluster fail
    pub cancellation_failed: bool,
    /// spans for the picture, if this cluster is the one
    pub recorder: Option<Box<Recorder>>,
    /// what the clock will replay, if this cluster is recorded
    pub tape: Option<Box<Tape>>,
}

impl Env<'_> {
    /// Arrival of a warp at the cluster barrier; returns the generation it waits to end.
    pub fn cluster_arrive(&mut self, warp: &Warp, relaxed: bool) -> u64 {
        let generation = self.cluster_generation;
        self.cluster_arrived_by(warp, generation, relaxed);
        self.cluster_arrived += warp.live.count_ones();
        self.recheck_cluster_barrier();
        generation
    }

    /// Ends the cluster barrier's phase if all threads that still run have arrived.
    pub fn recheck_cluster_barrier(&mut self) {
        let live: u32 = self.ctas.iter().map(|c| c.live_threads).sum();
        if self.cluster_arrived > 0 && self.cluster_arrived >= live {
            self.cluster_arrived = 0;
            self.cluster_generation += 1;
        }
    }
}
