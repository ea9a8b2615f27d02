//! A cluster of blocks (usually one) and the scheduler that interleaves its warps.

use super::block::Cta;
use super::fault::{Fault, Trap};
use super::global::GlobalMemory;
use super::memory;
use super::rng::Rng;
use super::step::{Flow, step};
use super::warp::{Fragment, Wait, Warp};
use crate::program::inst::{FenceKind, Space};
use crate::program::{Program, Row};
use std::sync::Mutex;

/// Which checks run.
#[derive(Debug, Clone, Copy)]
pub struct Checks {
    /// reads of registers and shared memory that nothing wrote
    pub uninitialised: bool,
    /// races and missing waits in shared memory
    pub races: bool,
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
    /// interleaving
    pub seed: u64,
    /// what the kernel printed
    pub output: &'a Mutex<String>,
    /// held during 128-bit atomics
    pub wide_atomics: &'a Mutex<()>,
}

impl Shared<'_> {
    /// Threads per block.
    pub fn threads_per_block(&self) -> u32 {
        self.block.iter().product()
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
    /// true during an atomic access
    pub atomic_access: bool,
}

impl Env<'_> {
    /// Checks a shared read: bounds, then initialisation.
    #[inline]
    pub fn before_shared_read(
        &mut self,
        warp: &Warp,
        lane: usize,
        cta: usize,
        offset: u64,
        size: u64,
    ) -> Result<(), Trap> {
        let block = &self.ctas[cta];
        if !block.holds(offset, size) {
            return Err(memory::shared_outside(
                self,
                offset,
                size,
                block.shared.len(),
            ));
        }
        if self.shared.checks.uninitialised {
            let range = offset as usize..(offset + size) as usize;
            if block.written[range].iter().any(|&w| !w) {
                return Err(Trap::new(format!(
                    "reads shared memory at {offset:#x} that nothing has written"
                )));
            }
        }
        let _ = (warp, lane);
        Ok(())
    }

    /// Checks a shared write: bounds.
    #[inline]
    pub fn before_shared_write(
        &mut self,
        warp: &Warp,
        lane: usize,
        cta: usize,
        offset: u64,
        size: u64,
    ) -> Result<(), Trap> {
        let block = &self.ctas[cta];
        if !block.holds(offset, size) {
            return Err(memory::shared_outside(
                self,
                offset,
                size,
                block.shared.len(),
            ));
        }
        let _ = (warp, lane);
        Ok(())
    }

    /// Counts an access for the statistics.
    #[inline]
    pub fn count_access(
        &mut self,
        _warp: &Warp,
        _space: Space,
        _addresses: &Row,
        _bytes: u32,
        _active: u32,
        _store: bool,
    ) {
    }

    /// What a hardware barrier orders.
    pub fn synchronise_barrier(&mut self, _warp: &Warp, _id: usize, _arrive_only: bool) {}

    /// What the cluster barrier orders.
    pub fn synchronise_cluster(&mut self, _warp: &Warp) {}

    /// What a fence orders.
    pub fn fence(&mut self, _warp: &Warp, _kind: FenceKind) {}

    /// Arrival of a warp at the cluster barrier; returns the generation it waits to end.
    pub fn cluster_arrive(&mut self, warp: &Warp) -> u64 {
        let generation = self.cluster_generation;
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
            Wait::Mbarrier { .. } | Wait::Registers { .. } => false,
        }
    }
}

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
    env: Env<'a>,
    warps: Vec<Warp>,
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
        let env = Env {
            shared,
            ctas,
            rng: Rng::new(shared.seed, serial),
            clock: 0,
            smid: (serial % 132) as u32,
            cluster_generation: 0,
            cluster_arrived: 0,
            atomic_access: false,
        };
        Cluster {
            env,
            warps,
            runnable: Vec::new(),
        }
    }

    /// Runs for at most `fuel` warp instructions.
    pub fn run(&mut self, fuel: u64) -> Result<Progress, Fault> {
        let end = self.env.clock + fuel;
        while self.env.clock < end {
            self.wake();
            if self.runnable.is_empty() {
                if self.warps.iter().all(|w| w.live == 0) {
                    return Ok(Progress::Finished);
                }
                return Err(self.deadlock());
            }
            let pick = self.runnable[self.env.rng.below(self.runnable.len())];
            let quantum = 1 + self.env.rng.below(256) as u64;
            self.run_warp(pick, quantum)?;
        }
        Ok(Progress::OutOfFuel)
    }

    /// Makes fragments whose wait is over ready, and lists the warps that can run.
    fn wake(&mut self) {
        self.runnable.clear();
        for (i, warp) in self.warps.iter_mut().enumerate() {
            let mut any = false;
            for k in 0..warp.fragments.len() {
                if self.env.ready(warp, warp.fragments[k].wait) {
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

    /// The fault for a cluster that ran too long.
    pub fn give_up(&self, limit: u64) -> Fault {
        let culprit = self
            .warps
            .iter()
            .find(|w| w.live != 0)
            .unwrap_or(&self.warps[0]);
        let pc = culprit.fragments.first().map_or(0, |f| f.pc as usize);
        let line = self.env.shared.program.code.get(pc).map_or(0, |i| i.line);
        fault(
            &self.env,
            culprit,
            line,
            Trap::new(format!(
                "still running after {limit} warp instructions: a loop without end?"
            )),
        )
    }

    /// A report of who waits for what.
    fn deadlock(&self) -> Fault {
        let mut lines = Vec::new();
        let program = self.env.shared.program;
        for warp in &self.warps {
            for fragment in &warp.fragments {
                let line = program.code.get(fragment.pc as usize).map_or(0, |i| i.line);
                lines.push(format!(
                    "  block {:?} warp {} lanes {:#010x} at line {line} {}",
                    self.env.ctas[warp.cta].index,
                    warp.id,
                    fragment.mask,
                    describe(&self.env, warp, fragment)
                ));
            }
        }
        let shown = lines.len().min(40);
        let more = if lines.len() > shown {
            format!("\n  and {} more", lines.len() - shown)
        } else {
            String::new()
        };
        let culprit = self
            .warps
            .iter()
            .find(|w| !w.fragments.is_empty())
            .unwrap_or(&self.warps[0]);
        let line = culprit
            .fragments
            .first()
            .and_then(|f| program.code.get(f.pc as usize))
            .map_or(0, |i| i.line);
        let message = format!(
            "deadlock: nothing can run any more\n{}{more}",
            lines[..shown].join("\n")
        );
        fault(&self.env, culprit, line, Trap::new(message))
    }
}

fn describe(env: &Env<'_>, warp: &Warp, fragment: &Fragment) -> String {
    match fragment.wait {
        Wait::Ready => "is ready".into(),
        Wait::Converge { lanes } => {
            let missing = lanes & !fragment.mask;
            format!(
                "waits at a warp-synchronous or .aligned instruction for lanes {missing:#010x}, which wait elsewhere: \
                 it is executed divergently"
            )
        }
        Wait::Barrier { id, .. } => {
            let barrier = &env.ctas[warp.cta].barriers[id as usize];
            let expected = barrier.count.unwrap_or(env.ctas[warp.cta].live_warps * 32);
            format!(
                "waits at barrier {id}: {} of {expected} threads have arrived",
                barrier.arrived
            )
        }
        Wait::ClusterBarrier { .. } => {
            let live: u32 = env.ctas.iter().map(|c| c.live_threads).sum();
            format!(
                "waits at the cluster barrier: {} of {live} threads have arrived",
                env.cluster_arrived
            )
        }
        Wait::Mbarrier {
            rank,
            offset,
            parity,
        } => {
            format!(
                "waits for phase parity {} of mbarrier {offset:#x} in block {rank} of the cluster",
                u8::from(parity)
            )
        }
        Wait::Registers { count } => {
            format!("waits in setmaxnreg.inc for {count} registers that no warpgroup releases")
        }
    }
}

/// A trap with its place.
fn fault(env: &Env<'_>, warp: &Warp, line: u32, trap: Trap) -> Fault {
    Fault {
        kernel: env.shared.program.entry.clone(),
        block: env.ctas[warp.cta].index,
        warp: warp.id,
        lane: trap.lane,
        line,
        message: trap.message,
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
        Flow::Diverge { target, lanes } => {
            let mut other = fragment.clone();
            other.mask = lanes;
            other.pc = target;
            fragment.mask &= !lanes;
            fragment.pc += 1;
            warp.fragments.push(other);
        }
        Flow::Wait(wait) => fragment.wait = wait,
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
