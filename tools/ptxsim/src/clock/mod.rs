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
mod drawn;
pub mod gpu;
pub mod grid;
pub mod machine;
mod memory;
pub mod occupancy;
mod operands;
pub mod report;
mod sampling;
mod schedule;
mod setup;
mod subject;
pub mod trace;
mod traffic;
pub mod waits;
pub mod weight;

pub use gpu::Gpu;
pub use grid::{Estimate, estimate};
pub use sampling::Sampling;
pub use subject::Subject;
pub use trace::ClusterTrace;

use crate::launch::{Launch, Report};
use crate::program::window;
use crate::record::Timeline;

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
    estimate(&subject(launch, report, given), gpu)
}

/// What a cluster of such a launch does when, in cycles; it is one of those that were recorded.
pub fn timeline_of_launch(
    launch: &Launch<'_>,
    report: &Report,
    gpu: &Gpu,
    given: Given,
    cluster: u64,
) -> Result<Timeline, String> {
    let [x, y, _] = launch.shape().map(u64::from);
    let at = [cluster % x, cluster / x % y, cluster / (x * y)].map(|c| c as u32);
    let place = |rank: u32| {
        let [w, h, _] = launch.cluster.map(|extent| extent.max(1));
        let inside = [rank % w, rank / w % h, rank / (w * h)];
        [0, 1, 2].map(|i| at[i] * launch.cluster[i].max(1) + inside[i])
    };
    drawn::timeline(&subject(launch, report, given), gpu, cluster, place)
}

fn subject<'a>(launch: &'a Launch<'_>, report: &'a Report, given: Given) -> Subject<'a> {
    let own = launch.program.shared_end - window::SHARED_BASE as u32;
    Subject {
        program: launch.program,
        traces: &report.recorded,
        neighbours: &report.neighbours,
        shape: launch.shape(),
        threads: launch.block.iter().product(),
        shared: own + launch.dynamic_shared,
        registers: given.registers,
        buffers: launch.buffers.iter().map(|b| b.bytes.len() as u64).sum(),
        mhz: given.mhz,
    }
}
