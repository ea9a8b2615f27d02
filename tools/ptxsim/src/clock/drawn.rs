//! One cluster's replay as a timeline, in cycles.

use super::gpu::Gpu;
use super::machine::{Drawing, replay_drawn};
use super::setup::Setup;
use crate::clock::Subject;
use crate::record::Timeline;

/// The first cluster with the given number and its like on a multiprocessor, as the estimate starts them; `place` gives
/// the place of a block in the grid by its rank in the cluster.
pub fn timeline(
    subject: &Subject<'_>,
    gpu: &Gpu,
    serial: u64,
    place: impl Fn(u32) -> [u32; 3],
) -> Result<Timeline, String> {
    let setup = Setup::of(subject, gpu)?;
    let Some(trace) = setup.traces.iter().find(|t| t.serial == serial) else {
        return Err(format!("cluster {serial} was not recorded"));
    };
    let warps_per_block = trace.warps.len() as u32 / trace.blocks.max(1);
    let jobs = vec![trace; setup.occupancy.blocks as usize];
    let drawing = Drawing::new(warps_per_block.max(1));
    let (costs, load) = (&setup.costs, &setup.load);
    let (done, drawing) = replay_drawn(gpu, costs, load, &jobs, jobs.len(), drawing)
        .map_err(|stuck| stuck.to_string())?;
    let end = done.ends.first().copied().unwrap_or(0);
    let mut timeline = drawing.finish((0..trace.blocks).map(place).collect(), end);
    timeline.unit = format!("cycles of {}, an estimate", gpu.name);
    Ok(timeline)
}
