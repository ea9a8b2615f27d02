//! How long a launch would take: a model of a GPU that replays what the functional run did.
//!
//! The functional run decides what happens and records it for some clusters ([`trace`]): the instructions of each warp in
//! their order, with what they touched and whom they waited for. The model ([`machine`]) replays these against the units
//! of one multiprocessor (for clusters, as many as they have blocks) with the figures of a GPU ([`gpu`]): schedulers that
//! issue one instruction a cycle once its operands are there, pipelines with their rates, shared memory with its
//! conflicts, tensor cores, and its share of L2 and of device memory. The grid ([`grid`]) then is a matter of occupancy,
//! waves and their tail.
//!
//! What it does not know: the machine code (PTX instructions are weighed by what ptxas usually makes of them, [`weight`],
//! and ordered within basic blocks as a compiler would, `schedule`), instruction caches, the order of requests in L2 and DRAM, and power beyond a clock under load.

pub(crate) mod cost;
pub mod gpu;
pub mod grid;
pub mod machine;
mod memory;
mod operands;
pub mod report;
mod schedule;
pub mod trace;
mod traffic;
pub mod waits;
pub mod weight;

pub use gpu::Gpu;
pub use grid::{Estimate, Subject, estimate};
pub use trace::ClusterTrace;

use crate::launch::{Launch, Report};
use crate::program::window;

/// What the launch itself does not say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given {
    /// registers of a thread
    pub registers: Option<u32>,
    /// clock in MHz
    pub mhz: Option<f64>,
}

/// Estimates a launch that has run with [`Launch::sampling`].
pub fn of_launch(
    launch: &Launch<'_>,
    report: &Report,
    gpu: &Gpu,
    given: Given,
) -> Result<Estimate, String> {
    let own = launch.program.shared_end - window::SHARED_BASE as u32;
    let subject = Subject {
        program: launch.program,
        traces: &report.recorded,
        neighbours: &report.neighbours,
        shape: launch.shape(),
        threads: launch.block.iter().product(),
        shared: own + launch.dynamic_shared,
        registers: given.registers,
        buffers: launch.buffers.iter().map(|b| b.bytes.len() as u64).sum(),
        mhz: given.mhz,
    };
    estimate(&subject, gpu)
}

/// Which clusters are recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sampling {
    /// their numbers, ascending
    pub clusters: Vec<u64>,
    /// clusters that follow one another, of which only the memory that they read is kept: what they share tells how much
    /// of a wave's reading L2 answers
    pub neighbours: std::ops::Range<u64>,
    /// The others do not run, and matrix products are not computed: results mean nothing then, and kernels whose
    /// control flow depends on them, or on other clusters, cannot be timed so.
    pub only: bool,
}

impl Sampling {
    /// A few clusters of a grid of so many along each axis, spread evenly along each: not all of one column, since
    /// clusters of a column often do as much.
    pub fn spread(shape: [u32; 3], only: bool) -> Sampling {
        let [x, y, z] = shape.map(u64::from);
        let total = x * y * z;
        let last = SAMPLES - 1;
        let at = |extent: u64, i: u64| extent.saturating_sub(1) * i / last;
        // Along other axes in other orders, so that what differs along one is told from what differs along another.
        let serial = |i: u64| at(x, i) + x * (at(y, 2 * i % SAMPLES) + y * at(z, 3 * i % SAMPLES));
        let mut clusters: Vec<u64> = (0..SAMPLES.min(total)).map(serial).collect();
        clusters.sort_unstable();
        clusters.dedup();
        let from = (total / 2).min(total.saturating_sub(NEIGHBOURS));
        Sampling {
            clusters,
            neighbours: from..total.min(from + NEIGHBOURS),
            only,
        }
    }

    /// All clusters that must run.
    pub fn all(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self
            .clusters
            .iter()
            .copied()
            .chain(self.neighbours.clone())
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Clusters that are recorded of a large grid.
const SAMPLES: u64 = 5;
/// Clusters whose reading is compared.
const NEIGHBOURS: u64 = 16;
