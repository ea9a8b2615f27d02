//! A cluster of blocks (usually one) and the scheduler that interleaves its warps.

use super::block::Cta;
use super::fault::Fault;
use super::global::GlobalMemory;
use super::heap::Heap;
use super::report::{bulk_fault, fault, trace};
use super::rng::Rng;
use super::stats::Stats;
use super::step::{Flow, step};
use super::warp::{Wait, Warp};
use crate::asynchronous::launch_control::Starts;
use crate::asynchronous::{bulk, cp_async, tcgen05, wgmma};
use crate::check::Checker;
use crate::check::global::{Foreign, GlobalRaces};
use crate::clock::Sampling;
use crate::clock::trace::{ClusterTrace, Neighbour, Tape};
use crate::program::Program;
use crate::program::inst::Op;
use crate::record::{Observer, Recorder, Timeline};
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
    pub tensor: tcgen05::Queue,
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

    /// True if the reason for a wait is gone.
    fn ready(&self, warp: &Warp, wait: Wait) -> bool {
        match wait {
            Wait::Ready => true,
            Wait::Converge { .. } => false,
            Wait::Barrier { id, generation } => {
                self.ctas[warp.cta].barriers[id as usize].generation != generation
            }
            Wait::ClusterBarrier { generation } => self.cluster_generation != generation,
            Wait::Mbarrier {
                rank,
                offset,
                parity,
            } => {
                // An object that is no mbarrier any more wakes its waiter, who will say so.
                self.mbarrier(rank as usize, offset.into())
                    .map_or(true, |b| b.phase != parity)
            }
            Wait::Registers { warpgroup, count } => {
                self.ctas[warp.cta].registers_granted(warpgroup, count)
            }
            Wait::TensorMemory { columns } => {
                tcgen05::alloc::ready(self, warp.cta, columns as usize)
            }
        }
    }
}

/// Failed polls without any progress after which polling warps count as waiting for ever.
const MAX_FAILED_POLLS: u64 = 100_000;

/// Polls of global memory in one turn after which another cluster gets one.
const MAX_POLLS: u64 = 256;

/// What a call of [`Cluster::run`] ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// every thread has exited
    Finished,
    /// the fuel is used up
    OutOfFuel,
}

/// A cluster of blocks and its warps.
pub struct Cluster<'a> {
    pub(super) env: Env<'a>,
    pub(super) warps: Vec<Warp>,
    runnable: Vec<usize>,
}

impl<'a> Cluster<'a> {
    /// The cluster that starts at block `first` of the grid.
    pub fn new(shared: &'a Shared<'a>, first: [u32; 3], serial: u64) -> Cluster<'a> {
        let [cx, cy, cz] = shared.cluster;
        let entry = &shared.program.functions[0];
        let (threads, warps_per_block) = (shared.threads_per_block(), shared.warps_per_block());
        let shared_end = shared.program.shared_end + shared.dynamic_bytes;
        let (mut ctas, mut warps) = (Vec::new(), Vec::new());
        for rank in 0..cx * cy * cz {
            let index = [
                first[0] + rank % cx,
                first[1] + rank / cx % cy,
                first[2] + rank / (cx * cy),
            ];
            ctas.push(Cta::new(index, shared_end, warps_per_block, threads));
            for id in 0..warps_per_block {
                let lanes = (threads - id * 32).min(32);
                warps.push(Warp::new(
                    rank as usize,
                    id,
                    (u64::MAX >> (64 - lanes)) as u32,
                    entry,
                ));
            }
        }
        let mut checker = shared
            .checks
            .races
            .then(|| Checker::new(ctas.len(), warps_per_block as usize, shared_end as usize));
        if let Some(checker) = checker.as_mut().filter(|_| !shared.checks.tensor_fences) {
            checker.without_tensor_fences();
        }
        let blocks = cx * cy * cz;
        let env = Env {
            shared,
            ctas,
            rng: Rng::new(shared.seed, serial),
            clock: 0,
            smid: (serial % 132) as u32,
            cluster_generation: 0,
            cluster_arrived: 0,
            strong: false,
            ordered: false,
            engine: bulk::Engine::default(),
            tensor: tcgen05::Queue::default(),
            checker,
            foreign: Foreign::new(serial, warps.len()),
            line: 0,
            stats: Stats::default(),
            failed_polls: 0,
            executed: vec![0; shared.program.code.len()],
            copies_in_flight: 0,
            polls: 0,
            cancellation_failed: false,
            recorder: (shared.timeline == Some(serial)).then(Box::default),
            tape: shared
                .sampling
                .and_then(|s| Tape::of(s, serial, blocks, warps.len()))
                .map(Box::new),
        };
        Cluster {
            env,
            warps,
            runnable: Vec::new(),
        }
    }

    /// Runs for at most `fuel` warp instructions, and not much longer than it takes to see that other clusters are
    /// waited for.
    pub fn run(&mut self, fuel: u64) -> Result<Progress, Fault> {
        let end = self.env.clock + fuel;
        let polls = self.env.polls + MAX_POLLS;
        while self.env.clock < end && self.env.polls < polls {
            self.complete(false)?;
            self.wake();
            if self.runnable.is_empty() {
                if self.warps.iter().all(|w| w.live == 0) {
                    self.drain()?;
                    return Ok(Progress::Finished);
                }
                if self.complete(true)? {
                    continue;
                }
                return Err(self.deadlock());
            }
            if self.env.failed_polls > MAX_FAILED_POLLS && !self.complete(true)? {
                return Err(self.deadlock());
            }
            let pick = self.runnable[self.env.rng.below(self.runnable.len())];
            let quantum = 1 + self.env.rng.below(256) as u64;
            let from = self.env.clock;
            self.run_warp(pick, quantum)?;
            self.env.ran(&self.warps[pick], from);
        }
        Ok(Progress::OutOfFuel)
    }

    /// Lets asynchronous work that is due happen; if `force` and nothing is due, something that is not.
    pub(super) fn complete(&mut self, force: bool) -> Result<bool, Fault> {
        let env = &mut self.env;
        let bulk =
            bulk::tick(env, false).map_err(|(origin, trap)| bulk_fault(env, origin, trap))?;
        let mut any = bulk;
        for warp in &mut self.warps {
            if !warp.pending.copies.is_empty() {
                any |= cp_async::tick(env, warp, force && !any)
                    .map_err(|(line, trap)| fault(env, warp, line, trap))?;
            }
            if !warp.pending.wgmma.is_empty() {
                any |= wgmma::tick(env, warp, force && !any)
                    .map_err(|(line, trap)| fault(env, warp, line, trap))?;
            }
        }
        any |= tcgen05::tick(env, force && !any)
            .map_err(|(origin, trap)| bulk_fault(env, origin, trap))?;
        if !any && force {
            any = bulk::tick(env, true).map_err(|(origin, trap)| bulk_fault(env, origin, trap))?;
        }
        Ok(any)
    }

    /// Counters so far.
    pub fn stats(&self) -> Stats {
        let mut stats = self.env.stats.clone();
        stats.warp_instructions = self.env.clock;
        stats.executed(self.env.shared.program, &self.env.executed);
        stats
    }

    /// The recorded timeline, if this cluster is the one.
    pub fn timeline(&mut self) -> Option<Timeline> {
        let recorder = self.env.recorder.take()?;
        let blocks = self.env.ctas.iter().map(|c| c.index).collect();
        Some(recorder.finish(blocks, self.env.shared.warps_per_block(), self.env.clock))
    }

    /// The tape, if this cluster is recorded.
    pub fn tape(&mut self) -> (Option<ClusterTrace>, Option<Neighbour>) {
        match self.env.tape.take() {
            Some(tape) => tape.finish(self.env.stats.matrix_multiply_adds),
            None => (None, None),
        }
    }

    /// Makes fragments whose wait is over ready, and lists the warps that can run.
    fn wake(&mut self) {
        self.runnable.clear();
        for (i, warp) in self.warps.iter_mut().enumerate() {
            let mut any = false;
            for k in 0..warp.fragments.len() {
                let wait = warp.fragments[k].wait;
                if self.env.ready(warp, wait) {
                    if wait != Wait::Ready {
                        self.env.end(warp, wait.kind(), 0);
                    }
                    warp.fragments[k].wait = Wait::Ready;
                    any = true;
                }
            }
            if any {
                self.runnable.push(i);
            }
        }
    }

    fn run_warp(&mut self, index: usize, quantum: u64) -> Result<(), Fault> {
        let warp = &mut self.warps[index];
        let env = &mut self.env;
        let program = env.shared.program;
        let Some(mut at) = warp.choose() else {
            return Ok(());
        };
        for _ in 0..quantum {
            env.clock += 1;
            warp.steps += 1;
            let pc = warp.fragments[at].pc;
            let inst = &program.code[pc as usize];
            let flow =
                step(env, warp, at, inst).map_err(|trap| fault(env, warp, inst.line, trap))?;
            if warp.touched {
                return Err(fault(env, warp, inst.line, warp.touch_trap()));
            }
            if let Some(observer) = env.shared.observer.filter(|o| o.traces()) {
                trace(observer, env, warp, at, inst);
            }
            if env.tape.is_some() {
                record(env, warp, pc, flow);
            }
            let keep_going = advance(env, warp, at, flow);
            if warp.fragments.len() > 1 {
                warp.merge();
                warp.slice = warp.slice.saturating_sub(1);
            }
            if !keep_going {
                break;
            }
            if warp.fragments.len() > 1
                || warp.fragments.get(at).is_none_or(|f| f.wait != Wait::Ready)
            {
                match warp.choose() {
                    Some(next) => at = next,
                    None => break,
                }
            }
        }
        Ok(())
    }

    /// Warp instructions executed so far.
    pub fn steps(&self) -> u64 {
        self.env.clock
    }
}

/// Puts an instruction on the tape, unless it will be executed again; polls that failed leave nothing.
fn record(env: &mut Env<'_>, warp: &Warp, pc: u32, flow: Flow) {
    let inst = &env.shared.program.code[pc as usize];
    let poll = matches!(flow, Flow::Yield) && matches!(inst.op, Op::Mbarrier { .. });
    let serial = env.serial(warp);
    if let Some(tape) = &mut env.tape
        && !matches!(flow, Flow::Wait(_))
        && !poll
    {
        tape.executed(serial, pc);
    }
}

/// Moves the fragment as `flow` says. False if another warp should run now.
fn advance(env: &mut Env<'_>, warp: &mut Warp, at: usize, flow: Flow) -> bool {
    let fragment = &mut warp.fragments[at];
    match flow {
        Flow::Next => fragment.pc += 1,
        Flow::Yield => {
            fragment.pc += 1;
            return false;
        }
        Flow::Jump(target) => fragment.pc = target,
        Flow::Diverge { target, lanes } | Flow::Peel { target, lanes } => {
            let mut other = fragment.clone();
            other.mask = lanes;
            other.pc = target;
            fragment.mask &= !lanes;
            fragment.pc += u32::from(matches!(flow, Flow::Diverge { .. }));
            warp.fragments.push(other);
        }
        Flow::Wait(wait) => {
            fragment.wait = wait;
            let line = env.shared.program.code[fragment.pc as usize].line;
            // Lanes that wait for lanes go on without this scheduler; they are no span.
            if !matches!(wait, Wait::Converge { .. }) {
                env.begin(warp, wait.kind(), 0, line, 0);
            }
        }
        Flow::Exit(lanes) => {
            fragment.mask &= !lanes;
            fragment.pc += 1;
            if fragment.mask == 0 {
                warp.fragments.remove(at);
                warp.current = 0;
            }
            warp.live &= !lanes;
            let cta = &mut env.ctas[warp.cta];
            cta.live_threads -= lanes.count_ones();
            if warp.live == 0 {
                cta.live_warps -= 1;
                cta.release_registers(warp.id);
            }
            cta.recheck_barriers();
            env.recheck_cluster_barrier();
            // Lanes that waited for the ones that are gone look again.
            for other in &mut warp.fragments {
                if matches!(other.wait, Wait::Converge { .. }) {
                    other.wait = Wait::Ready;
                }
            }
            return !warp.fragments.is_empty();
        }
    }
    true
}
