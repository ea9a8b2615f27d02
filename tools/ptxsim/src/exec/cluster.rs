//! A cluster of blocks (usually one) and the scheduler that interleaves its warps.

use super::block::Cta;
use super::fault::Fault;
use super::flow::Flow;
use super::report::{bulk_fault, fault, trace};
use super::rng::Rng;
use super::stats::Stats;
use super::step::step;
use super::warp::{Wait, Warp};
use crate::asynchronous::{bulk, cp_async, tcgen05, wgmma};
use crate::check::Checker;
use crate::check::global::Foreign;
use crate::clock::trace::{ClusterTrace, Neighbour, Tape};
use crate::exec::Shared;
use crate::exec::env::Env;
use crate::program::inst::Op;
use crate::record::Timeline;

/// True if the reason for a wait is gone.
fn ready(env: &Env<'_>, warp: &Warp, wait: Wait) -> bool {
    match wait {
        Wait::Ready => true,
        Wait::Converge { .. } => false,
        Wait::Barrier { id, generation } => {
            env.ctas[warp.cta].barriers[id as usize].generation != generation
        }
        Wait::ClusterBarrier { generation } => env.cluster_generation != generation,
        Wait::Mbarrier {
            rank,
            offset,
            parity,
        } => {
            // An object that is no mbarrier any more wakes its waiter, who will say so.
            env.mbarrier(rank as usize, offset.into())
                .map_or(true, |b| b.phase != parity)
        }
        Wait::Registers { warpgroup, count } => {
            env.ctas[warp.cta].registers_granted(warpgroup, count)
        }
        Wait::TensorMemory { columns } => tcgen05::alloc::ready(env, warp.cta, columns as usize),
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
            tensor: tcgen05::work::Queue::default(),
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
                if ready(&self.env, warp, wait) {
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
