//! Replays recorded clusters on the multiprocessors that hold them.
//!
//! Each warp issues its recorded instructions in order: when its operands are there, when what it waits for has happened,
//! when its scheduler and its pipeline are free. An instruction that is issued takes its pipeline, its share of shared
//! memory's data path or of the way to L2, and says when its results will be there, so that no time passes but from issue
//! to issue. A scheduler takes the warp that can issue first; of several, the one that has not issued for longest, so
//! that warps share what all of them want.

mod drawing;
mod issue;
mod ready;
mod units;

use super::cost::{CYCLE, Costs, Tick};
use super::gpu::Gpu;
use super::memory::Load;
use super::trace::{ClusterTrace, Meeting, WarpTrace};
use crate::record::Kind;
pub(super) use drawing::Drawing;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Sm;

/// What a warp waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// results of arithmetic
    Arithmetic,
    /// results of special functions, conversions, votes
    Special,
    /// loads from shared memory, shuffles
    Shared,
    /// loads from global memory
    Global,
    /// matrix products
    Tensor,
    /// groups of asynchronous copies
    Copies,
    /// a barrier of the block or the cluster
    Barrier,
    /// an mbarrier
    Mbarrier,
    /// a pipeline that others, or it itself, keep busy
    Pipeline,
    /// the scheduler, which issues for others
    Scheduler,
}

/// Cycles of a warp: what it issued in, and what it waited for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spent {
    /// slots of the scheduler that it took
    pub issued: Tick,
    /// waits by reason
    pub waits: FxHashMap<Reason, Tick>,
}

/// What a replay showed. Ticks of all multiprocessors together, unless said otherwise.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// when each cluster ended
    pub ends: Vec<Tick>,
    /// of the schedulers: slots taken
    pub issued: Tick,
    /// of the tensor cores, as if they ran at their peak
    pub tensor: Tick,
    /// of shared memory's data path
    pub shared: Tick,
    /// by warp of the cluster, all clusters together
    pub warps: Vec<Spent>,
    /// waits by PTX line
    pub lines: FxHashMap<(u32, Reason), Tick>,
}

/// A warp that replays its recording.
struct Warp<'a> {
    trace: &'a WarpTrace,
    /// next event
    at: usize,
    /// when each place of the scoreboard is there, and what makes it so
    there: Vec<(Tick, Reason)>,
    /// not before
    earliest: Tick,
    /// when it issued last
    last: Tick,
    /// it has arrived at the barrier of the event under way
    arrived: bool,
    wgmma: Groups<Tick>,
    copies: Groups<Tick>,
    bulk: Groups<(Tick, Tick)>,
    /// its tcgen05 operations are done
    tensor_done: Tick,
    /// which cluster under way, and which warp of it
    slot: usize,
    number: usize,
    sm: usize,
    part: usize,
}

/// Asynchronous work of a warp in groups: when it is done.
#[derive(Default)]
struct Groups<T> {
    open: T,
    closed: Vec<T>,
}

impl<T: Copy + Default> Groups<T> {
    fn commit(&mut self) {
        self.closed.push(std::mem::take(&mut self.open));
    }

    /// The newest group that a wait for all but `pending` waits for. Groups are done in order.
    fn awaited(&self, pending: u32) -> Option<T> {
        let count = self.closed.len().checked_sub(pending as usize + 1)?;
        self.closed.get(count).copied()
    }
}

/// A meeting of a cluster under way.
#[derive(Default, Clone)]
struct Gathering {
    missing: u32,
    at: Tick,
    waiting: Vec<usize>,
}

/// A cluster under way.
struct Slot {
    job: usize,
    warps_left: usize,
    last: Tick,
    meetings: Vec<Gathering>,
}

/// What the next instruction of a warp waits for.
enum Next {
    /// it can issue then; `since` its operands were there, for this reason
    At {
        time: Tick,
        since: Tick,
        why: Reason,
        unit: Reason,
    },
    /// until somebody arrives
    Blocked(Meeting),
    /// it has ended
    Ended,
}

/// Multiprocessors and the clusters on them.
struct Machine<'a> {
    gpu: &'a Gpu,
    costs: &'a Costs,
    sms: Vec<Sm>,
    warps: Vec<Warp<'a>>,
    slots: Vec<Slot>,
    /// when a warp wants to go on, when it issued last, its number
    queue: BinaryHeap<Reverse<(Tick, Tick, usize)>>,
    result: Replay,
    /// what the first job does, if that is to be drawn
    drawing: Option<Drawing>,
}

/// A replay that cannot go on: warps wait for what nobody does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the recording of cluster {0} cannot be replayed: warps wait for arrivals that it does not have"
)]
pub struct Stuck(pub u64);

/// Replays `jobs`, `resident` at a time, on as many multiprocessors as a cluster has blocks.
pub fn replay<'a>(
    gpu: &'a Gpu,
    costs: &'a Costs,
    load: &Load,
    jobs: &[&'a ClusterTrace],
    resident: usize,
) -> Result<Replay, Stuck> {
    let mut machine = Machine::new(gpu, costs, load, jobs);
    machine.run(jobs, resident)?;
    Ok(machine.finish())
}

/// The same, with what the first of the jobs does.
pub(super) fn replay_drawn<'a>(
    gpu: &'a Gpu,
    costs: &'a Costs,
    load: &Load,
    jobs: &[&'a ClusterTrace],
    resident: usize,
    drawing: Drawing,
) -> Result<(Replay, Drawing), Stuck> {
    let mut machine = Machine::new(gpu, costs, load, jobs);
    machine.drawing = Some(drawing);
    machine.run(jobs, resident)?;
    match machine.drawing.take() {
        Some(drawing) => Ok((machine.finish(), drawing)),
        None => Err(Stuck(0)),
    }
}

impl<'a> Machine<'a> {
    fn new(gpu: &'a Gpu, costs: &'a Costs, load: &Load, jobs: &[&'a ClusterTrace]) -> Self {
        let blocks = jobs.iter().map(|j| j.blocks).max().unwrap_or(1) as usize;
        let warps = jobs.iter().map(|j| j.warps.len()).max().unwrap_or(0);
        Machine {
            gpu,
            costs,
            sms: (0..blocks).map(|_| Sm::new(gpu, load)).collect(),
            warps: Vec::new(),
            slots: Vec::new(),
            queue: BinaryHeap::new(),
            result: Replay {
                ends: vec![0; jobs.len()],
                warps: vec![Spent::default(); warps],
                ..Replay::default()
            },
            drawing: None,
        }
    }

    /// Something that a warp of the cluster that is drawn does, waits for, or has under way.
    fn draw(&mut self, index: usize, kind: Kind, from: Tick, to: Tick, amount: u64) {
        let warp = &self.warps[index];
        if let Some(drawing) = &mut self.drawing
            && self.slots[warp.slot].job == 0
        {
            let event = warp.trace.events.get(warp.at);
            let line = event.map_or(0, |e| self.costs.code[e.pc as usize].line);
            drawing.span(warp.number, kind, from, to, line, amount);
        }
    }

    fn run(&mut self, jobs: &[&'a ClusterTrace], resident: usize) -> Result<(), Stuck> {
        let start = super::cost::ticks(self.gpu.get("block_start"));
        let mut next = 0;
        while next < resident.min(jobs.len()) {
            self.start(jobs[next], next, None, start);
            next += 1;
        }
        while let Some(Reverse((time, _, index))) = self.queue.pop() {
            match self.next(index) {
                Next::At { time: at, .. } if at > time => self.wake(index, at),
                Next::At {
                    since, why, unit, ..
                } => {
                    self.account(index, time, since, why, unit);
                    self.issue(index, time);
                    self.warps[index].last = time;
                    self.wake(index, self.warps[index].earliest);
                }
                Next::Blocked(meeting) => {
                    let slot = self.warps[index].slot;
                    self.slots[slot].meetings[meeting as usize]
                        .waiting
                        .push(index);
                }
                Next::Ended => {
                    let (slot, at) = (self.warps[index].slot, self.warps[index].earliest);
                    let slot_state = &mut self.slots[slot];
                    slot_state.warps_left -= 1;
                    slot_state.last = slot_state.last.max(at);
                    if slot_state.warps_left == 0 {
                        let last = slot_state.last;
                        self.result.ends[slot_state.job] = last;
                        if next < jobs.len() {
                            self.start(jobs[next], next, Some(slot), last + start);
                            next += 1;
                        }
                    }
                }
            }
        }
        match self.slots.iter().find(|s| s.warps_left > 0) {
            Some(slot) => Err(Stuck(jobs[slot.job].serial)),
            None => Ok(()),
        }
    }

    /// Looks at a warp again, then.
    fn wake(&mut self, index: usize, at: Tick) {
        self.queue
            .push(Reverse((at, self.warps[index].last, index)));
    }

    /// Puts a cluster on the multiprocessors, in a new slot or where one has ended.
    fn start(&mut self, trace: &'a ClusterTrace, job: usize, slot: Option<usize>, now: Tick) {
        if let Some(drawing) = self.drawing.as_mut().filter(|_| job == 0) {
            drawing.starts(now);
        }
        let meetings = trace.meetings.iter().map(|&missing| Gathering {
            missing,
            ..Gathering::default()
        });
        let state = Slot {
            job,
            warps_left: trace.warps.len(),
            last: now,
            meetings: meetings.collect(),
        };
        let slot = match slot {
            Some(slot) => {
                self.slots[slot] = state;
                slot
            }
            None => {
                self.slots.push(state);
                self.slots.len() - 1
            }
        };
        let per_block = trace.warps.len() / trace.blocks.max(1) as usize;
        // A block's warps go to the parts behind those of the block before it: blocks of one warp take turns.
        let first = slot * per_block;
        for (number, warp) in trace.warps.iter().enumerate() {
            self.warps.push(Warp {
                trace: warp,
                at: 0,
                there: vec![(0, Reason::Arithmetic); self.costs.places],
                earliest: now,
                last: 0,
                arrived: false,
                wgmma: Groups::default(),
                copies: Groups::default(),
                bulk: Groups::default(),
                tensor_done: 0,
                slot,
                number,
                sm: number / per_block.max(1),
                part: (first + number % per_block.max(1)) % super::cost::PARTS,
            });
            self.wake(self.warps.len() - 1, now);
        }
    }

    /// Somebody arrives; the last one lets those who wait go on.
    fn arrive(&mut self, slot: usize, meeting: Meeting, at: Tick) {
        let gathering = &mut self.slots[slot].meetings[meeting as usize];
        gathering.missing = gathering.missing.saturating_sub(1);
        gathering.at = gathering.at.max(at);
        if gathering.missing == 0 {
            let then = gathering.at;
            for warp in std::mem::take(&mut gathering.waiting) {
                self.wake(warp, then.max(self.warps[warp].earliest));
            }
        }
    }

    /// Books what a warp waited for.
    fn account(&mut self, index: usize, time: Tick, since: Tick, why: Reason, unit: Reason) {
        let warp = &self.warps[index];
        let line = warp
            .trace
            .events
            .get(warp.at)
            .map_or(0, |e| self.costs.code[e.pc as usize].line);
        let mut book = |reason: Reason, ticks: Tick| {
            if ticks > 0 {
                *self.result.warps[warp.number]
                    .waits
                    .entry(reason)
                    .or_default() += ticks;
                *self.result.lines.entry((line, reason)).or_default() += ticks;
            }
        };
        let ready = warp.earliest;
        let there = since.max(ready);
        book(why, there - ready);
        book(unit, time.saturating_sub(there));
        self.draw(index, drawing::kind(why), ready, there, 0);
        self.draw(index, drawing::kind(unit), there, time, 0);
    }

    fn finish(mut self) -> Replay {
        for sm in &self.sms {
            self.result.shared += sm.shared_busy;
            self.result.tensor += sm.tensor_busy / super::cost::PARTS as u64;
        }
        self.result.issued = self.result.warps.iter().map(|w| w.issued).sum::<Tick>();
        self.result
    }
}

/// Ticks as cycles.
pub fn cycles(ticks: Tick) -> f64 {
    ticks as f64 / CYCLE as f64
}
