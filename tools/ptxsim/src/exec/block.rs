//! One block: its shared memory and its hardware barriers.

use crate::asynchronous::tcgen05::memory::TensorMemory;
use crate::program::window;

/// A hardware barrier (`bar` 0-15).
#[derive(Debug, Clone, Default)]
pub struct Barrier {
    /// threads that have arrived in this generation
    pub arrived: u32,
    /// threads expected if the instruction named a count
    pub count: Option<u32>,
    /// completed generations
    pub generation: u64,
    /// reduction so far: population of true, of all
    pub trues: u32,
    /// threads that contributed to the reduction
    pub voters: u32,
    /// trues and voters of the generation completed last
    pub result: (u32, u32),
}

/// One block of a cluster.
#[derive(Debug)]
pub struct Cta {
    /// block index in the grid
    pub index: [u32; 3],
    /// shared memory from address 0; the first kilobyte is the system's
    pub shared: Vec<u8>,
    /// bytes of shared memory that somebody wrote
    pub written: Vec<bool>,
    /// barriers 0 to 15
    pub barriers: [Barrier; 16],
    /// warps that have not exited
    pub live_warps: u32,
    /// threads that have not exited
    pub live_threads: u32,
    /// registers that `setmaxnreg` released and nobody has taken, in units of one per thread of a warpgroup
    pub spare_registers: i64,
    /// what setmaxnreg knows of each warpgroup
    pub warpgroups: Vec<Warpgroup>,
    /// tensor memory
    pub tensor: TensorMemory,
}

/// Registers of four warps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Warpgroup {
    /// per thread, once setmaxnreg has spoken
    pub registers: Option<u32>,
    /// the setmaxnreg that not all four warps have executed yet
    pub pending: Option<PendingRegisters>,
}

/// A setmaxnreg under way.
#[derive(Debug, Clone, Copy)]
pub struct PendingRegisters {
    /// its count
    pub count: u32,
    /// `.inc`
    pub increase: bool,
    /// its PTX line
    pub line: u32,
    /// warps of the group that have executed it, as a mask
    pub arrived: u32,
}

impl Cta {
    /// A fresh block with `shared_bytes` bytes of shared memory after the reserved ones.
    pub fn new(index: [u32; 3], shared_end: u32, warps: u32, threads: u32) -> Cta {
        let bytes = shared_end.max(window::SHARED_BASE as u32) as usize;
        Cta {
            index,
            shared: vec![0xcc; bytes],
            written: vec![false; bytes],
            barriers: std::array::from_fn(|_| Barrier::default()),
            live_warps: warps,
            live_threads: threads,
            spare_registers: 0,
            warpgroups: vec![Warpgroup::default(); warps.div_ceil(4) as usize],
            tensor: TensorMemory::default(),
        }
    }

    /// True if `size` bytes at `offset` lie in this block's shared memory.
    #[inline]
    pub fn holds(&self, offset: u64, size: u64) -> bool {
        offset >= window::SHARED_BASE
            && offset
                .checked_add(size)
                .is_some_and(|end| end <= self.shared.len() as u64)
    }

    /// Writes shared memory, which holds so much from `at` on, unchecked.
    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        let range = at..at + bytes.len();
        self.shared[range.clone()].copy_from_slice(bytes);
        self.written[range].fill(true);
    }

    /// True if a warpgroup may have `count` registers per thread now.
    pub fn registers_granted(&self, warpgroup: u32, count: u32) -> bool {
        let held = self
            .warpgroups
            .get(warpgroup as usize)
            .and_then(|w| w.registers)
            .unwrap_or(0);
        i64::from(count) - i64::from(held) <= self.spare_registers
    }

    /// An exited warpgroup's registers are free.
    pub fn release_registers(&mut self, warp: u32) {
        if warp % 4 == 3
            && let Some(held) = self
                .warpgroups
                .get_mut(warp as usize / 4)
                .and_then(|w| w.registers.take())
        {
            self.spare_registers += i64::from(held);
        }
    }

    /// Completes barriers that the remaining warps have all reached.
    pub fn recheck_barriers(&mut self) {
        for id in 0..16 {
            self.complete_if_full(id);
        }
    }

    /// Ends barrier `id`'s generation if everybody has arrived.
    pub fn complete_if_full(&mut self, id: usize) {
        let expected = self.barriers[id].count.unwrap_or(self.live_warps * 32);
        let barrier = &mut self.barriers[id];
        if barrier.arrived > 0 && barrier.arrived >= expected {
            barrier.arrived = 0;
            barrier.count = None;
            barrier.generation += 1;
            barrier.result = (barrier.trues, barrier.voters);
            (barrier.trues, barrier.voters) = (0, 0);
        }
    }
}
