//! From clusters to the grid: occupancy, waves and their tail, what L2 holds, the clock.

use super::cost::{Costs, Tick};
use super::gpu::Gpu;
use super::machine::{Replay, cycles, replay};
use super::memory::Load;
use super::occupancy::Occupancy;
use super::setup::Setup;
use super::trace::ClusterTrace;
use super::traffic::Traffic;
use super::waits::{LineWait, Role, lines, roles};
use crate::clock::Subject;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The estimate.
#[derive(Debug, Clone, Serialize)]
pub struct Estimate {
    /// whose figures
    pub gpu: String,
    /// of the launch
    pub cycles: f64,
    /// of those
    pub mhz: f64,
    /// microseconds, with what a launch costs
    pub microseconds: f64,
    /// clusters of the grid
    pub clusters: u64,
    /// those that were recorded
    pub sampled: Vec<u64>,
    /// what is resident at once
    pub occupancy: Occupancy,
    /// full and started waves
    pub waves: f64,
    /// cycles of a cluster beside its like, for each that was recorded
    pub cluster_cycles: Vec<f64>,
    /// multiply-adds · 2 / second / 10^12
    pub tflops: f64,
    /// percent of the tensor cores' cycles
    pub tensor: f64,
    /// percent of L2's bandwidth
    pub l2: f64,
    /// percent of device memory's bandwidth, as far as copies reach it
    pub dram: f64,
    /// percent of the schedulers' slots
    pub issue: f64,
    /// percent of the cycles of shared memory's data path
    pub shared: f64,
    /// bytes that are read from L2
    pub bytes_read: u64,
    /// bytes that are not there
    pub bytes_missed: u64,
    /// warps that did the same, of a block
    pub roles: Vec<Role>,
    /// the most expensive first
    pub lines: Vec<LineWait>,
}

/// Generations of clusters in a slot that are replayed; more go on as the last ones.
const GENERATIONS: usize = 3;
/// A recorded cluster's durations in ticks.
struct Duration {
    serial: u64,
    first: Tick,
    next: Tick,
}

/// Estimates the launch.
pub fn estimate(subject: &Subject<'_>, gpu: &Gpu) -> Result<Estimate, String> {
    let Setup {
        costs,
        traces,
        occupancy,
        resident,
        traffic,
        mut load,
    } = Setup::of(subject, gpu)?;
    let subject = &Subject {
        traces: &traces,
        ..*subject
    };
    let generations = subject
        .clusters()
        .div_ceil(resident)
        .min(GENERATIONS as u64) as usize;
    let mut run = Run::of(
        subject,
        gpu,
        &costs,
        &load,
        occupancy.blocks as usize,
        generations,
    )?;
    let mhz = subject.mhz.unwrap_or_else(|| clock(gpu, run.tensor_share));
    if (mhz / load.mhz - 1.0).abs() > 0.02 {
        load.mhz = mhz;
        run = Run::of(
            subject,
            gpu,
            &costs,
            &load,
            occupancy.blocks as usize,
            generations,
        )?;
    }
    let tail = tail(subject, gpu, &costs, &load, &run, resident)?;
    let total = match tail {
        Some(ticks) => cycles(ticks),
        None => cycles(makespan(
            &Between::of(&run.durations, subject.shape),
            subject.clusters(),
            resident,
        )),
    };
    let total = total.max(traffic.least_cycles(gpu, &load));
    Ok(run.summary(subject, gpu, &load, occupancy, resident, total, &traffic))
}

/// Ticks of a grid of clusters that all take as long: full waves, then a tail. The tail's clusters have the shares of
/// those that are not there, but none is faster than alone. None if clusters differ, or there is no tail.
fn tail(
    subject: &Subject<'_>,
    gpu: &Gpu,
    costs: &Costs,
    load: &Load,
    run: &Run,
    resident: u64,
) -> Result<Option<Tick>, String> {
    let next = || run.durations.iter().map(|d| d.next);
    let (low, high) = (next().min().unwrap_or(0), next().max().unwrap_or(0));
    let (full, rest) = (subject.clusters() / resident, subject.clusters() % resident);
    if rest == 0 || full == 0 || (high - low) as f64 > 0.02 * high as f64 {
        return Ok(None);
    }
    let (Some(trace), Some(duration)) = (subject.traces.first(), run.durations.first()) else {
        return Ok(None);
    };
    let active = load.active.min((rest * u64::from(trace.blocks)) as f64);
    let load = Load { active, ..*load };
    let alone = replay(gpu, costs, &load, &[trace], 1).map_err(|e| e.to_string())?;
    let alone = alone.ends.first().copied().unwrap_or(0);
    let share = (duration.next as f64 * rest as f64 / resident as f64) as Tick;
    let last = alone.max(share).min(duration.first);
    Ok(Some(duration.first + (full - 1) * duration.next + last))
}

/// The clock under a load that keeps the tensor cores busy for a share of the time.
fn clock(gpu: &Gpu, tensor_share: f64) -> f64 {
    let (boost, loaded) = (gpu.get("boost_mhz"), gpu.get("tensor_mhz"));
    boost - (boost - loaded) * tensor_share.min(1.0)
}

/// Replays of all recorded clusters.
struct Run {
    durations: Vec<Duration>,
    replay: Replay,
    /// ticks of multiprocessors that the replays took
    ticks: Tick,
    tensor_share: f64,
}

impl Run {
    fn of(
        subject: &Subject<'_>,
        gpu: &Gpu,
        costs: &Costs,
        load: &Load,
        resident: usize,
        generations: usize,
    ) -> Result<Run, String> {
        let mut all = Replay::default();
        let (mut durations, mut ticks) = (Vec::new(), 0);
        let mut known: Vec<(&ClusterTrace, Tick, Tick)> = Vec::new();
        for trace in subject.traces {
            let same = known.iter().find(|(other, ..)| alike(other, trace));
            if let Some(&(_, first, next)) = same {
                durations.push(Duration {
                    serial: trace.serial,
                    first,
                    next,
                });
                continue;
            }
            let jobs = vec![trace; resident * generations];
            let done = replay(gpu, costs, load, &jobs, resident).map_err(|e| e.to_string())?;
            let end = |generation: usize| {
                let ends = &done.ends[(generation - 1) * resident..generation * resident];
                ends.iter().copied().max().unwrap_or(0)
            };
            let (first, last) = (end(1), end(generations));
            let next = match generations {
                1 => first,
                _ => (last - first.min(last)) / (generations as Tick - 1),
            };
            known.push((trace, first, next));
            durations.push(Duration {
                serial: trace.serial,
                first,
                next,
            });
            ticks += done.ends.iter().copied().max().unwrap_or(0) * Tick::from(trace.blocks.max(1));
            add(&mut all, done);
        }
        let tensor_share = all.tensor as f64 / (ticks as f64).max(1.0);
        Ok(Run {
            durations,
            replay: all,
            ticks,
            tensor_share,
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn summary(
        self,
        subject: &Subject<'_>,
        gpu: &Gpu,
        load: &Load,
        occupancy: Occupancy,
        resident: u64,
        total: f64,
        traffic: &Traffic,
    ) -> Estimate {
        let microseconds = total / load.mhz + gpu.get("launch_us");
        let count = subject.traces.len() as f64;
        let work = subject
            .traces
            .iter()
            .map(|t| t.multiply_adds as f64)
            .sum::<f64>()
            / count;
        let percent = |ticks: Tick| 100.0 * ticks as f64 / (self.ticks as f64).max(1.0);
        // Shares of the replays hold for the time that multiprocessors are busy; the grid's are less by its tail.
        let busy = self.busy(subject, resident, total);
        // Bytes of the grid in the time of the grid.
        let bytes = |bytes: f64, rate: f64| 100.0 * bytes / (total * rate * load.active);
        Estimate {
            gpu: gpu.name.clone(),
            cycles: total,
            mhz: load.mhz,
            microseconds,
            clusters: subject.clusters(),
            sampled: subject.traces.iter().map(|t| t.serial).collect(),
            occupancy,
            waves: subject.clusters() as f64 / resident as f64,
            cluster_cycles: self.durations.iter().map(|d| cycles(d.next)).collect(),
            tflops: 2.0 * work * subject.clusters() as f64 / microseconds / 1e6,
            tensor: percent(self.replay.tensor) * busy,
            l2: bytes(traffic.read + traffic.written, gpu.l2_share(load.active)),
            dram: bytes(
                traffic.missed + traffic.written,
                gpu.dram_share(load.active, load.mhz),
            ),
            issue: percent(self.replay.issued) / super::cost::PARTS as f64 * busy,
            shared: percent(self.replay.shared) * busy,
            bytes_read: traffic.read as u64,
            bytes_missed: traffic.missed as u64,
            roles: roles(&subject.traces[0], &self.replay),
            lines: lines(&self.replay),
        }
    }

    /// Share of the slots' time in which a cluster is there.
    fn busy(&self, subject: &Subject<'_>, resident: u64, total: f64) -> f64 {
        let mean = self.durations.iter().map(|d| cycles(d.next)).sum::<f64>()
            / self.durations.len() as f64;
        (mean * subject.clusters() as f64 / (resident as f64 * total)).min(1.0)
    }
}

/// True if two clusters executed the same instructions and moved as much.
fn alike(a: &ClusterTrace, b: &ClusterTrace) -> bool {
    a.warps.len() == b.warps.len()
        && a.bytes_read == b.bytes_read
        && a.warps.iter().zip(&b.warps).all(|(x, y)| {
            x.events.len() == y.events.len()
                && x.events.iter().zip(&y.events).all(|(e, f)| e.pc == f.pc)
        })
}

fn add(all: &mut Replay, done: Replay) {
    all.issued += done.issued;
    all.tensor += done.tensor;
    all.shared += done.shared;
    if all.warps.len() < done.warps.len() {
        all.warps.resize_with(done.warps.len(), Default::default);
    }
    for (to, from) in all.warps.iter_mut().zip(done.warps) {
        to.issued += from.issued;
        for (reason, ticks) in from.waits {
            *to.waits.entry(reason).or_default() += ticks;
        }
    }
    for (key, ticks) in done.lines {
        *all.lines.entry(key).or_default() += ticks;
    }
}

/// Durations of clusters between those that were recorded, along one axis of the grid.
struct Between {
    shape: [u32; 3],
    axis: usize,
    /// coordinate on the axis, ascending, with the durations there
    points: Vec<(u64, Tick, Tick)>,
}

/// Coordinate of a cluster on an axis of the grid.
fn coordinate(serial: u64, shape: [u32; 3], axis: usize) -> u64 {
    let below: u64 = shape[..axis].iter().map(|&n| u64::from(n)).product();
    serial / below.max(1) % u64::from(shape[axis].max(1))
}

impl Between {
    /// Along the axis on which the recorded durations vary least from one to the next.
    fn of(durations: &[Duration], shape: [u32; 3]) -> Between {
        let along = |axis: usize| {
            let point = |d: &Duration| (coordinate(d.serial, shape, axis), d.first, d.next);
            let mut points: Vec<_> = durations.iter().map(point).collect();
            points.sort_unstable();
            let steps = points.windows(2).map(|w| w[0].2.abs_diff(w[1].2));
            (steps.sum::<Tick>(), axis, points)
        };
        let axes = (0..3).filter(|&a| a == 0 || shape[a] > 1).map(along);
        let (_, axis, points) = axes.min().unwrap_or_default();
        Between {
            shape,
            axis,
            points,
        }
    }

    /// Of a cluster: as long as the recorded ones around it, by their distances. `later`: where another has ended.
    fn ticks(&self, serial: u64, later: bool) -> Tick {
        let at = coordinate(serial, self.shape, self.axis);
        let ticks = |p: &(u64, Tick, Tick)| if later { p.2 } else { p.1 };
        let after = self.points.partition_point(|p| p.0 < at);
        match (
            after.checked_sub(1).and_then(|i| self.points.get(i)),
            self.points.get(after),
        ) {
            (Some(a), Some(b)) => {
                let share = (at - a.0) as f64 / (b.0 - a.0) as f64;
                (ticks(a) as f64 * (1.0 - share) + ticks(b) as f64 * share) as Tick
            }
            (Some(only), None) | (None, Some(only)) => ticks(only),
            (None, None) => 0,
        }
    }
}

/// Clusters start in the order of their numbers, each where one has ended.
fn makespan(between: &Between, clusters: u64, resident: u64) -> Tick {
    let mut slots: BinaryHeap<Reverse<Tick>> = BinaryHeap::new();
    let mut last = 0;
    for serial in 0..clusters {
        let full = slots.len() as u64 >= resident;
        let free = if full {
            slots.pop().map_or(0, |Reverse(t)| t)
        } else {
            0
        };
        let end = free + between.ticks(serial, full);
        last = last.max(end);
        slots.push(Reverse(end));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three clusters at a time for seven: two full waves and one alone.
    #[test]
    fn clusters_start_where_others_end() {
        let durations = [Duration {
            serial: 0,
            first: 110,
            next: 100,
        }];
        let same = Between::of(&durations, [7, 1, 1]);
        assert_eq!(makespan(&same, 7, 3), 110 + 100 + 100);
        // One that was not recorded takes what its distances to the recorded ones say.
        let rising = [0, 10].map(|serial| Duration {
            serial,
            first: 100 + 10 * serial,
            next: 100 + 10 * serial,
        });
        assert_eq!(Between::of(&rising, [11, 1, 1]).ticks(5, true), 150);
        // Clusters of a column take as long: rows of four.
        let columns = [(0, 100), (3, 400), (4, 100), (7, 400)].map(|(serial, next)| Duration {
            serial,
            first: next,
            next,
        });
        assert_eq!(Between::of(&columns, [4, 2, 1]).ticks(5, true), 200);
    }
}
