//! The clusters of a grid, run on the host's cores.

use crate::clock::ClusterTrace;
use crate::clock::trace::Neighbour;
use crate::error::LaunchError;
use crate::exec::cluster::Progress;
use crate::exec::stats::Stats;
use crate::exec::{Cluster, Fault, Shared};
use crate::record::{self, Timeline};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Clusters that wait for a turn, and how many have one.
struct Queue<'a> {
    suspended: VecDeque<(u64, Cluster<'a>)>,
    running: usize,
}

/// What the clusters of a grid leave.
pub(super) struct Outcome {
    pub stats: Stats,
    pub timeline: Option<Timeline>,
    pub recorded: Vec<ClusterTrace>,
    pub neighbours: Vec<Neighbour>,
}

/// Runs all clusters of a grid on the host's cores; returns the counters.
pub(super) fn run_grid(shared: &Shared<'_>, max_steps: u64) -> Result<Outcome, LaunchError> {
    let shape = clusters(shared.grid, shared.cluster);
    let total: u64 = shape.into_iter().map(u64::from).product();
    let queue = Mutex::new(Queue {
        suspended: VecDeque::new(),
        running: 0,
    });
    let (failed, fault, stats) = (
        AtomicBool::new(false),
        Mutex::new(None::<(u64, Fault)>),
        Mutex::new(Stats::default()),
    );
    let (timeline, finished) = (Mutex::new(None), AtomicU64::new(0));
    let tapes = Mutex::new((Vec::new(), Vec::new()));
    let blocks: u64 = shared.cluster.iter().map(|&c| u64::from(c)).product();
    let worker = || {
        while !failed.load(Ordering::Relaxed) {
            let Some((serial, mut cluster)) = take(&queue, shared) else {
                break;
            };
            let before = cluster.steps();
            let outcome = cluster.run(TURN);
            if matches!(outcome, Ok(Progress::Finished)) {
                finished.fetch_add(blocks, Ordering::Relaxed);
            }
            if let Some(observer) = shared.observer {
                observer.progress(record::Progress {
                    blocks: finished.load(Ordering::Relaxed) + shared.starts.cancelled() * blocks,
                    total: total * blocks,
                    instructions: cluster.steps() - before,
                });
            }
            let mut guard = queue.lock().unwrap_or_else(|p| p.into_inner());
            guard.running -= 1;
            match outcome {
                Ok(Progress::Finished) => {
                    stats
                        .lock()
                        .unwrap_or_else(|p| p.into_inner())
                        .add(&cluster.stats());
                    if let Some(recorded) = cluster.timeline() {
                        *timeline.lock().unwrap_or_else(|p| p.into_inner()) = Some(recorded);
                    }
                    let (trace, neighbour) = cluster.tape();
                    let mut tapes = tapes.lock().unwrap_or_else(|p| p.into_inner());
                    tapes.0.extend(trace);
                    tapes.1.extend(neighbour);
                }
                Ok(Progress::OutOfFuel) if cluster.steps() > max_steps => {
                    report(&failed, &fault, serial, cluster.give_up(max_steps));
                }
                Ok(Progress::OutOfFuel) => guard.suspended.push_back((serial, cluster)),
                Err(found) => report(&failed, &fault, serial, found),
            }
        }
    };
    let traced = shared.observer.is_some_and(|o| o.traces());
    let cores = if traced {
        1
    } else {
        rayon::current_num_threads()
    };
    let threads = cores.min(total as usize).max(1);
    if threads == 1 {
        worker();
    } else {
        rayon::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|_| worker());
            }
            worker();
        });
    }
    if let Some((_, fault)) = fault.into_inner().unwrap_or_default() {
        return Err(LaunchError::Fault(Box::new(fault)));
    }
    let (mut recorded, mut neighbours): (Vec<ClusterTrace>, Vec<Neighbour>) =
        tapes.into_inner().unwrap_or_default();
    recorded.sort_by_key(|t| t.serial);
    neighbours.sort_by_key(|n| n.serial);
    Ok(Outcome {
        stats: stats.into_inner().unwrap_or_default(),
        timeline: timeline.into_inner().unwrap_or_default(),
        recorded,
        neighbours,
    })
}

/// The fault of the earliest block wins, as far as the threads found it.
fn report(failed: &AtomicBool, slot: &Mutex<Option<(u64, Fault)>>, serial: u64, fault: Fault) {
    failed.store(true, Ordering::Relaxed);
    let mut slot = slot.lock().unwrap_or_else(|p| p.into_inner());
    if slot.as_ref().is_none_or(|(s, _)| serial < *s) {
        *slot = Some((serial, fault));
    }
}

/// The next cluster to run: a new one while there is room, else the one suspended longest.
fn take<'a>(queue: &Mutex<Queue<'a>>, shared: &'a Shared<'a>) -> Option<(u64, Cluster<'a>)> {
    let mut guard = queue.lock().unwrap_or_else(|p| p.into_inner());
    let room = guard.suspended.len() + guard.running < RESIDENT;
    if (room || guard.suspended.is_empty())
        && let Some(serial) = shared.starts.take()
    {
        guard.running += 1;
        drop(guard);
        let first = shared.first_block(serial);
        return Some((serial, Cluster::new(shared, first, serial)));
    }
    let next = guard.suspended.pop_front();
    guard.running += usize::from(next.is_some());
    next
}

/// Warp instructions that a cluster runs before others get a turn; blocks may wait for each other through memory.
const TURN: u64 = 200_000;

/// Clusters in flight at once, at most; more wait until some finish, as on a device of limited size.
pub(super) const RESIDENT: usize = 256;

/// Clusters of a grid along each axis.
pub(super) fn clusters(grid: [u32; 3], cluster: [u32; 3]) -> [u32; 3] {
    std::array::from_fn(|i| grid[i] / cluster[i])
}
