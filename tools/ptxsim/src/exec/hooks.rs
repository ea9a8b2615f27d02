//! Where execution meets the checker.

use super::access::GlobalUse;
use super::env::Env;
use super::fault::Trap;
use super::memory;
use super::warp::Warp;
use crate::check::global::{Conflict, GlobalAccess, Handover, Judge, PlaceGuard, describe};
use crate::check::{Access, Agent, Committed, TensorAccess};
use crate::clock::trace::Effect;
use crate::program::Row;
use crate::program::inst::{FenceKind, Order, Scope};

impl Env<'_> {
    /// Number of a warp within the cluster.
    pub fn serial(&self, warp: &Warp) -> usize {
        warp.cta * self.shared.warps_per_block() as usize + warp.id as usize
    }

    fn access(&self, warp: &Warp, lane: usize, cta: usize, offset: u64, size: u64) -> Access {
        Access {
            warp: self.serial(warp),
            lane: lane as u8,
            cta,
            offset,
            size,
            strong: self.strong,
        }
    }

    /// Checks a shared read: bounds, initialisation, order.
    #[inline]
    pub fn before_shared_read(
        &mut self,
        warp: &Warp,
        lane: usize,
        cta: usize,
        offset: u64,
        size: u64,
    ) -> Result<(), Trap> {
        self.still_there(warp, cta)?;
        let block = &self.ctas[cta];
        if !block.holds(offset, size) {
            return Err(memory::shared_outside(
                self,
                offset,
                size,
                block.shared.len(),
            ));
        }
        let access = self.access(warp, lane, cta, offset, size);
        if let Some(checker) = &mut self.checker {
            if access.strong {
                checker.strong(access.warp, cta, offset);
            }
            checker.read(access)?;
        }
        self.initialised(cta, offset, size)
    }

    /// Refuses bytes of shared memory that nothing has written.
    pub fn initialised(&self, cta: usize, offset: u64, size: u64) -> Result<(), Trap> {
        let range = offset as usize..(offset + size) as usize;
        if self.shared.checks.uninitialised && self.ctas[cta].written[range].contains(&false) {
            return Err(Trap::new(format!(
                "reads shared memory at {offset:#x} that nothing has written; write it first, and put a barrier between \
                 if another warp does"
            )));
        }
        Ok(())
    }

    /// Writes shared memory, after checks of bounds and order.
    #[inline]
    pub fn write_shared(
        &mut self,
        warp: &Warp,
        lane: usize,
        cta: usize,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), Trap> {
        let size = bytes.len() as u64;
        self.still_there(warp, cta)?;
        let block = &self.ctas[cta];
        if !block.holds(offset, size) {
            return Err(memory::shared_outside(
                self,
                offset,
                size,
                block.shared.len(),
            ));
        }
        let access = self.access(warp, lane, cta, offset, size);
        let block = &mut self.ctas[cta];
        if let Some(checker) = &mut self.checker {
            if access.strong {
                checker.strong(access.warp, cta, offset);
            }
            // Layouts with copies of an element make warps write the same value to the same place.
            let old = &block.shared[offset as usize..(offset + size) as usize];
            checker.write(access, *old == *bytes)?;
        }
        block.put(offset as usize, bytes);
        Ok(())
    }

    /// Shared memory of another block goes when its last thread exits.
    pub fn still_there(&self, warp: &Warp, cta: usize) -> Result<(), Trap> {
        if cta == warp.cta || self.ctas[cta].live_threads > 0 {
            return Ok(());
        }
        Err(Trap::new(format!(
            "uses shared memory of block {cta} of the cluster, which has exited; keep it there with a barrier.cluster at \
             the end"
        )))
    }

    /// Lanes of a warp have come together.
    pub fn warp_sync(&mut self, warp: &Warp) {
        let serial = self.serial(warp);
        if let Some(checker) = &mut self.checker {
            checker.warp_sync(serial);
        }
    }

    /// The order and the line of the accesses that follow.
    pub fn begin_access(&mut self, order: Order, line: u32) {
        self.strong = order != Order::Weak;
        self.ordered = order == Order::Strong;
        self.line = line;
    }

    /// Holds the place of a strong access to global memory, and hands on and takes over what it orders.
    pub fn strong_global(
        &mut self,
        warp: &Warp,
        address: u64,
        how: Handover,
    ) -> Option<PlaceGuard<'_>> {
        let serial = self.serial(warp);
        let (races, checker) = (self.shared.races?, self.checker.as_mut()?);
        checker.strong(serial, usize::MAX, address);
        let mut place = races.place(address);
        self.foreign.strong(serial, &mut place, how);
        Some(place)
    }

    /// Checks an access of a warp's lanes to global memory.
    pub fn check_global(
        &self,
        warp: &Warp,
        addresses: &Row,
        active: u32,
        size: u64,
        how: GlobalUse,
    ) -> Result<(), Trap> {
        let Some(judge) = self.judge() else {
            return Ok(());
        };
        let access = self.global_access(warp, how);
        judge
            .lanes(&access, addresses, active, size, how.same)
            .map_err(|(lane, conflict)| {
                let trap = self.conflict(&access, &conflict);
                if how.agent.is_some() {
                    trap
                } else {
                    trap.at(lane)
                }
            })
    }

    /// Checks a contiguous access of one thread or of its asynchronous operation.
    pub fn check_global_bytes(
        &self,
        warp: &Warp,
        address: u64,
        size: u64,
        how: GlobalUse,
    ) -> Result<(), Trap> {
        let Some(judge) = self.judge() else {
            return Ok(());
        };
        let access = self.global_access(warp, how);
        judge
            .bytes(&access, address, size, how.same & 1 == 1)
            .map_err(|conflict| self.conflict(&access, &conflict))
    }

    /// Whoever says which accesses to global memory are ordered, if that is checked.
    fn judge(&self) -> Option<Judge<'_>> {
        Some(Judge {
            races: self.shared.races?,
            checker: self.checker.as_ref()?,
            foreign: &self.foreign,
        })
    }

    fn global_access(&self, warp: &Warp, how: GlobalUse) -> GlobalAccess {
        GlobalAccess {
            warp: self.serial(warp),
            agent: how.agent,
            strong: self.strong,
            store: how.store,
            line: self.line,
        }
    }

    fn conflict(&self, access: &GlobalAccess, conflict: &Conflict) -> Trap {
        let buffer = self.shared.global.name_at(conflict.address);
        describe(access, conflict, &self.who(conflict), buffer)
    }

    /// The other party of a conflict.
    fn who(&self, conflict: &Conflict) -> String {
        let shared = self.shared;
        let per_block = shared.warps_per_block() as usize;
        let name = match &self.checker {
            Some(checker) if !conflict.foreign => checker.name(conflict.who),
            _ => String::new(),
        };
        let per_cluster = shared.cluster.iter().product::<u32>() as usize * per_block;
        if !conflict.foreign || conflict.who > per_cluster {
            if !conflict.foreign {
                return name;
            }
            return format!(
                "an asynchronous operation of the cluster at block {:?}",
                shared.first_block(conflict.cluster)
            );
        }
        let first = shared.first_block(conflict.cluster);
        let rank = ((conflict.who - 1) / per_block) as u32;
        let [cx, cy, _] = shared.cluster;
        let block = [
            first[0] + rank % cx,
            first[1] + rank / cx % cy,
            first[2] + rank / (cx * cy),
        ];
        format!("warp {} of block {block:?}", (conflict.who - 1) % per_block)
    }

    /// Starts an asynchronous operation of `warp`.
    pub fn issue(&mut self, warp: &Warp, line: u32, what: &'static str) -> Agent {
        let serial = self.serial(warp);
        self.checker
            .as_mut()
            .map_or(Agent::default(), |c| c.issue(serial, line, what))
    }

    /// It will write shared memory through the async proxy.
    pub fn async_proxy_write(
        &mut self,
        agent: Agent,
        warp: &Warp,
        cta: usize,
        offset: u64,
        size: u64,
    ) -> Result<(), Trap> {
        let serial = self.serial(warp);
        self.checker.as_mut().map_or(Ok(()), |c| {
            c.agent_write(agent, serial, cta, offset, size, true)
        })
    }

    /// It will write shared memory through the generic proxy (`cp.async`).
    pub fn async_write(
        &mut self,
        agent: Agent,
        warp: &Warp,
        cta: usize,
        offset: u64,
        size: u64,
    ) -> Result<(), Trap> {
        let serial = self.serial(warp);
        self.checker.as_mut().map_or(Ok(()), |c| {
            c.agent_write(agent, serial, cta, offset, size, false)
        })
    }

    /// It will read shared memory through the async proxy.
    pub fn async_read(
        &mut self,
        agent: Agent,
        warp: &Warp,
        cta: usize,
        offset: u64,
        size: u64,
    ) -> Result<(), Trap> {
        let serial = self.serial(warp);
        self.checker
            .as_mut()
            .map_or(Ok(()), |c| c.agent_read(agent, serial, cta, offset, size))
    }

    /// A `tcgen05.mma`, `.cp` or `.shift` starts.
    pub fn tensor_issue(&mut self, warp: &Warp, line: u32, what: &'static str) -> Agent {
        let serial = self.serial(warp);
        self.checker
            .as_mut()
            .map_or(Agent::default(), |c| c.tensor_issue(serial, line, what))
    }

    /// Number of a new `tcgen05.ld` or `.st`.
    pub fn tensor_move(&mut self, warp: &Warp, store: bool) -> u32 {
        let serial = self.serial(warp);
        self.checker
            .as_mut()
            .map_or(0, |c| c.tensor_move(serial, store))
    }

    /// `tcgen05.wait`
    pub fn tensor_wait(&mut self, warp: &Warp, stores: bool) {
        let serial = self.serial(warp);
        if let Some(checker) = &mut self.checker {
            checker.tensor_wait(serial, stores);
        }
    }

    /// `tcgen05.fence`
    pub fn tensor_fence(&mut self, warp: &Warp, after: bool) {
        let serial = self.serial(warp);
        if let Some(checker) = &mut self.checker {
            checker.tensor_fence(serial, after);
        }
    }

    /// What a `tcgen05.commit` will hand on.
    pub fn tensor_commit(&mut self, warp: &Warp) -> Option<Committed> {
        let serial = self.serial(warp);
        self.checker.as_mut().map(|c| c.tensor_commit(serial))
    }

    /// It has arrived at an mbarrier, whose state is up to date.
    pub fn tensor_committed(&mut self, view: &Committed, rank: usize, offset: u64) {
        let phase = self.mbarrier(rank, offset).is_ok_and(|b| b.phase);
        if let Some(checker) = &mut self.checker {
            checker.tensor_committed(view, rank, offset, phase);
        }
    }

    /// An access to tensor memory.
    pub fn tensor_access(&mut self, access: TensorAccess) -> Result<(), Trap> {
        self.checker
            .as_mut()
            .map_or(Ok(()), |c| c.tensor_access(&access))
    }

    /// Columns of tensor memory change hands.
    pub fn tensor_forget(&mut self, cta: usize, columns: std::ops::Range<usize>) {
        if let Some(checker) = &mut self.checker {
            checker.tensor_forget(cta, columns);
        }
    }

    /// The warp has waited for it.
    pub fn acquire(&mut self, warp: &Warp, agent: Agent) {
        let serial = self.serial(warp);
        if let Some(checker) = &mut self.checker {
            checker.acquire(serial, agent);
        }
    }

    /// They have completed on an mbarrier by one arrival, after which its state is up to date.
    pub fn agents_release(&mut self, agents: &[Agent], rank: usize, offset: u64) {
        let phase = self.mbarrier(rank, offset).is_ok_and(|b| b.phase);
        if let Some(checker) = &mut self.checker {
            checker.agents_release(agents, rank, offset, phase);
        }
    }

    /// The warp has arrived at an mbarrier, whose state is up to date.
    pub fn release_to_mbarrier(&mut self, warp: &Warp, rank: usize, offset: u64) {
        let (serial, phase) = (
            self.serial(warp),
            self.mbarrier(rank, offset).is_ok_and(|b| b.phase),
        );
        if let Some(checker) = &mut self.checker {
            checker.release(serial, rank, offset, phase);
        }
    }

    /// The warp has seen a phase of an mbarrier complete.
    pub fn acquire_from_mbarrier(&mut self, warp: &Warp, rank: usize, offset: u64) {
        let serial = self.serial(warp);
        if let Some(checker) = &mut self.checker {
            checker.acquire_mbarrier(serial, rank, offset);
        }
    }

    /// A fresh mbarrier.
    pub fn mbarrier_initialised(&mut self, warp: &Warp, rank: usize, offset: u64) {
        let serial = self.serial(warp);
        if let Some(checker) = &mut self.checker {
            checker.reset_mbarrier(serial, rank, offset);
        }
    }

    /// The warp uses an mbarrier, by itself or for an asynchronous operation: its initialisation must be visible.
    pub fn use_mbarrier(&self, warp: &Warp, rank: usize, offset: u64) -> Result<(), Trap> {
        self.still_there(warp, rank)?;
        match &self.checker {
            Some(checker) => checker.use_mbarrier(self.serial(warp), rank, offset),
            None => Ok(()),
        }
    }

    /// The warp arrives at a hardware barrier.
    pub fn barrier_arrive(&mut self, warp: &Warp, id: usize, generation: u64) {
        let serial = self.serial(warp);
        self.note(warp, |tape| {
            Some(Effect::Arrive(
                tape.barrier_arrival(warp.cta, id, generation),
            ))
        });
        if let Some(checker) = &mut self.checker {
            checker.barrier_arrive(serial, warp.cta, id, generation);
        }
    }

    /// The warp leaves a hardware barrier.
    pub fn barrier_leave(&mut self, warp: &Warp, id: usize, generation: u64) {
        let serial = self.serial(warp);
        self.note(warp, |tape| {
            Some(Effect::Await(tape.barrier_wait(warp.cta, id, generation)))
        });
        if let Some(checker) = &mut self.checker {
            checker.barrier_leave(serial, warp.cta, id, generation);
        }
    }

    /// The warp leaves the cluster barrier.
    pub fn cluster_leave(&mut self, warp: &Warp, generation: u64) {
        let serial = self.serial(warp);
        self.note(warp, |tape| {
            Some(Effect::Await(tape.cluster_wait(generation)))
        });
        if let Some(checker) = &mut self.checker {
            checker.cluster_leave(serial, generation);
        }
    }

    /// The warp arrives at the cluster barrier.
    pub fn cluster_arrived_by(&mut self, warp: &Warp, generation: u64, relaxed: bool) {
        let serial = self.serial(warp);
        self.note(warp, |tape| {
            Some(Effect::Arrive(tape.cluster_arrival(generation)))
        });
        if let Some(checker) = &mut self.checker {
            checker.cluster_arrive(serial, generation, relaxed);
        }
    }

    /// What a fence orders.
    pub fn fence(&mut self, warp: &Warp, kind: FenceKind) {
        let serial = self.serial(warp);
        match (&mut self.checker, kind) {
            (Some(checker), FenceKind::ProxyAsync) => checker.proxy_fence(serial),
            (Some(checker), FenceKind::Memory(scope)) => {
                if scope >= Scope::Cluster {
                    checker.fence(serial);
                }
                if scope == Scope::Device {
                    self.foreign.fence(serial);
                }
            }
            (Some(checker), FenceKind::MbarrierInit) => checker.fence(serial),
            _ => {}
        }
    }
}
