//! A warp: registers, and fragments of lanes that run together.
//!
//! Lanes that diverge become fragments, each with its own program counter and call stack. The fragment with the lowest
//! program counter runs first and fragments that meet merge, which reconverges structured code at its immediate
//! post-dominator; but a blocked fragment never stops the others, and a slice of fairness keeps a spinning one from
//! starving them, as independent thread scheduling promises.

use super::frame::Frame;
use crate::program::{FunctionInfo, LANES, Row};
use crate::record::{Kind, Track};

/// Why a fragment does not run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wait {
    /// it runs
    Ready,
    /// at a warp-synchronous instruction, for these lanes
    Converge {
        /// lanes that must arrive
        lanes: u32,
    },
    /// at a hardware barrier
    Barrier {
        /// 0-15
        id: u8,
        /// generation it waits to end
        generation: u64,
    },
    /// at the cluster barrier
    ClusterBarrier {
        /// generation it waits to end
        generation: u64,
    },
    /// in `mbarrier.try_wait`
    Mbarrier {
        /// block rank within the cluster
        rank: u32,
        /// shared offset
        offset: u32,
        /// phase parity whose completion it waits for
        parity: bool,
    },
    /// in `tcgen05.alloc` or `.dealloc`, for room or for the other block of the pair
    TensorMemory {
        /// columns that it asks for; none if it gives some back
        columns: u32,
    },
    /// in `setmaxnreg.inc`, for registers that others release
    Registers {
        /// its warpgroup
        warpgroup: u32,
        /// registers per thread that it asks for
        count: u32,
    },
}

impl Wait {
    /// What the record calls it.
    pub fn kind(self) -> Kind {
        match self {
            Wait::Ready | Wait::Converge { .. } => Kind::Converge,
            Wait::Barrier { .. } => Kind::Barrier,
            Wait::ClusterBarrier { .. } => Kind::Cluster,
            Wait::Mbarrier { .. } => Kind::Mbarrier,
            Wait::Registers { .. } => Kind::Registers,
            Wait::TensorMemory { .. } => Kind::TensorMemory,
        }
    }
}

/// Lanes that run together.
#[derive(Debug, Clone)]
pub struct Fragment {
    /// next instruction
    pub pc: u32,
    /// its lanes
    pub mask: u32,
    /// activations, innermost last
    pub frames: Vec<Frame>,
    /// why it does not run
    pub wait: Wait,
    /// barrier generation that it has arrived at and waits for
    pub ticket: Option<u64>,
}

impl Fragment {
    /// The running activation.
    #[inline]
    pub fn frame(&self) -> Frame {
        self.frames[self.frames.len() - 1]
    }
}

/// A warp.
#[derive(Debug)]
pub struct Warp {
    /// block within the cluster
    pub cta: usize,
    /// number within the block
    pub id: u32,
    /// general registers of all activations
    pub regs: Vec<Row>,
    /// lanes of each row that have been written
    pub defined: Vec<u32>,
    /// predicate registers
    pub preds: Vec<u32>,
    /// lanes of each predicate that have been written
    pub preds_defined: Vec<u32>,
    /// fragments that have not exited
    pub fragments: Vec<Fragment>,
    /// the fragment that runs
    pub current: usize,
    /// lanes that exist and have not exited
    pub live: u32,
    /// local memory per lane
    pub local: Vec<Vec<u8>>,
    /// end of what `alloca` has given to each lane in its local memory
    pub stack: [u32; LANES],
    /// call parameters per lane
    pub params: Vec<Vec<u8>>,
    /// region that the last global access hit
    pub hint: usize,
    /// cluster barrier generation arrived at
    pub cluster_ticket: Option<u64>,
    /// instructions executed
    pub steps: u64,
    /// instructions left before another ready fragment must get a turn
    pub slice: u32,
    /// step at which each row was last written
    pub written_at: Vec<u64>,
    /// rows that wgmma operations in flight write or read
    pub in_flight: Vec<u8>,
    /// true if any row is
    pub any_in_flight: bool,
    /// how many wgmma.mma_async it has issued, and the line of the last
    pub products: (u64, u32),
    /// an instruction wrote a row that is in flight
    pub touched: bool,
    /// asynchronous copies and matrix operations of this warp
    pub pending: crate::asynchronous::WarpPending,
}

/// Instructions that a fragment may run while others of its warp are ready with higher program counters.
pub const FAIR_SLICE: u32 = 4096;

impl Warp {
    /// A warp at the start of the entry.
    pub fn new(cta: usize, id: u32, live: u32, entry: &FunctionInfo) -> Warp {
        let frame = Frame {
            function: 0,
            return_pc: u32::MAX,
            rows: 0,
            preds: 0,
            local: 16,
            params: 0,
        };
        let mut warp = Warp {
            cta,
            id,
            regs: Vec::new(),
            defined: Vec::new(),
            preds: Vec::new(),
            preds_defined: Vec::new(),
            fragments: vec![Fragment {
                pc: entry.start,
                mask: live,
                frames: vec![frame],
                wait: Wait::Ready,
                ticket: None,
            }],
            current: 0,
            live,
            local: vec![Vec::new(); LANES],
            stack: [0; LANES],
            params: vec![Vec::new(); LANES],
            hint: 0,
            cluster_ticket: None,
            steps: 0,
            slice: FAIR_SLICE,
            written_at: Vec::new(),
            in_flight: Vec::new(),
            any_in_flight: false,
            products: (0, 0),
            touched: false,
            pending: crate::asynchronous::WarpPending::default(),
        };
        warp.make_room(frame, entry, live);
        warp
    }

    /// Grows the storage so that `function` can run in `frame`; its registers start undefined in `lanes`.
    pub fn make_room(&mut self, frame: Frame, function: &FunctionInfo, lanes: u32) {
        let rows = (frame.rows + function.rows) as usize;
        if self.regs.len() < rows {
            self.regs.resize(rows, [0; LANES]);
            self.defined.resize(rows, 0);
            self.written_at.resize(rows, 0);
            self.in_flight.resize(rows, 0);
        }
        self.defined[frame.rows as usize..rows]
            .iter_mut()
            .for_each(|d| *d &= !lanes);
        let preds = (frame.preds + function.preds) as usize;
        if self.preds.len() < preds {
            self.preds.resize(preds, 0);
            self.preds_defined.resize(preds, 0);
        }
        self.preds_defined[frame.preds as usize..preds]
            .iter_mut()
            .for_each(|d| *d &= !lanes);
        let (local, params) = (
            frame.local + function.local_bytes,
            frame.params + function.param_bytes,
        );
        for lane in 0..LANES {
            if lanes >> lane & 1 == 1 {
                grow(&mut self.local[lane], local as usize);
                grow(&mut self.params[lane], params as usize);
            }
        }
    }

    /// Grows the stack of a lane to `end`.
    pub fn grow_local(&mut self, lane: usize, end: u32) {
        self.stack[lane] = end;
        grow(&mut self.local[lane], end as usize);
    }

    /// Its rows in the record.
    pub fn track(&self) -> Track {
        Track {
            block: self.cta as u32,
            warp: self.id,
        }
    }

    /// The trap for registers that wgmma has in flight.
    pub fn touch_trap(&self) -> super::fault::Trap {
        super::fault::Trap::new(
            "touches a register that a wgmma in flight uses; commit its group and wait for it with wgmma.wait_group first",
        )
    }

    /// Picks the fragment to run next, or `None` if none is ready.
    pub fn choose(&mut self) -> Option<usize> {
        let ready = |f: &Fragment| f.wait == Wait::Ready;
        if self.slice == 0 {
            // Another ready fragment's turn, in rotation.
            self.slice = FAIR_SLICE;
            let n = self.fragments.len();
            let next = (1..=n)
                .map(|k| (self.current + k) % n)
                .find(|&i| ready(&self.fragments[i]))?;
            self.current = next;
            return Some(next);
        }
        let lowest = self
            .fragments
            .iter()
            .enumerate()
            .filter(|(_, f)| ready(f))
            .min_by_key(|(_, f)| f.pc)
            .map(|(i, _)| i)?;
        self.current = lowest;
        Some(lowest)
    }

    /// Splits a fragment so that it has only `lanes`; the others will execute the same instruction after it.
    pub fn isolate(&mut self, fragment: usize, lanes: u32) {
        let others = self.fragments[fragment].mask & !lanes;
        if others != 0 {
            let mut other = self.fragments[fragment].clone();
            other.mask = others;
            self.fragments[fragment].mask = lanes;
            self.fragments.push(other);
        }
    }

    /// Merges the current fragment with those at the same place. Returns true if it merged.
    pub fn merge(&mut self) -> bool {
        let mut merged = false;
        let mut i = 0;
        while i < self.fragments.len() {
            let (a, b) = (&self.fragments[self.current], &self.fragments[i]);
            let parked = matches!(b.wait, Wait::Ready | Wait::Converge { .. });
            if i != self.current
                && a.pc == b.pc
                && parked
                && b.ticket == a.ticket
                && a.frames == b.frames
            {
                let mask = b.mask;
                self.fragments.remove(i);
                if i < self.current {
                    self.current -= 1;
                }
                let kept = &mut self.fragments[self.current];
                kept.mask |= mask;
                kept.wait = Wait::Ready;
                merged = true;
                continue;
            }
            i += 1;
        }
        merged
    }
}

fn grow(bytes: &mut Vec<u8>, len: usize) {
    if bytes.len() < len {
        bytes.resize(len, 0);
    }
}

/// A register that an operation in flight writes.
pub const ACCUMULATOR: u8 = 1;
