//! What replays of a launch's clusters start from: costs, the compiler's order, occupancy, shares of the memories.

use super::cost::Costs;
use super::gpu::Gpu;
use super::memory::Load;
use super::occupancy::{Limit, Occupancy, occupancy};
use super::schedule::Schedule;
use super::trace::ClusterTrace;
use super::traffic::Traffic;
use crate::clock::Subject;

/// See the module.
pub(super) struct Setup {
    pub costs: Costs,
    /// in the order of machine code
    pub traces: Vec<ClusterTrace>,
    pub occupancy: Occupancy,
    /// clusters that the GPU holds at once
    pub resident: u64,
    pub traffic: Traffic,
    pub load: Load,
}

impl Setup {
    pub fn of(subject: &Subject<'_>, gpu: &Gpu) -> Result<Setup, String> {
        let Some(first) = subject.traces.first() else {
            return Err("no cluster was recorded".into());
        };
        let costs = Costs::of(subject.program, gpu)?;
        let schedule = Schedule::of(subject.program, &costs, gpu);
        let traces: Vec<ClusterTrace> = subject.traces.iter().map(|t| schedule.apply(t)).collect();
        let subject = &Subject {
            traces: &traces,
            ..*subject
        };
        let mut occupancy = occupancy(subject, gpu)?;
        let blocks = u64::from(first.blocks.max(1));
        let groups = (gpu.get("sms") as u64 / blocks).max(1);
        // A small grid is spread over the multiprocessors first.
        let each = subject.clusters().div_ceil(groups);
        if each < u64::from(occupancy.blocks) {
            let warps = occupancy.warps / occupancy.blocks;
            occupancy.blocks = each as u32;
            (occupancy.warps, occupancy.limit) = (each as u32 * warps, Limit::Grid);
        }
        let resident = groups * u64::from(occupancy.blocks);
        let traffic = Traffic::of(subject, gpu, resident);
        let load = Load {
            active: (groups * blocks).min(subject.clusters() * blocks) as f64,
            mhz: subject.mhz.unwrap_or(gpu.get("boost_mhz")),
            read_misses: traffic.missed / traffic.read.max(1.0),
            l1_bytes: (256u64 << 10)
                .saturating_sub(u64::from(subject.shared * occupancy.blocks))
                .max(16 << 10),
        };
        Ok(Setup {
            costs,
            traces,
            occupancy,
            resident,
            traffic,
            load,
        })
    }
}
