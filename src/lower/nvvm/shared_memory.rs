//! The shared memory of a kernel: what lies where, and scratch room behind it.

use super::shared::Buffer;
use crate::ir::ValueId;
use crate::launch::SharedRegion;
use crate::layout::convert::SharedPlan;
use crate::layout::shared::BUFFER_ALIGN;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Alignment of scratch: every swizzle repeats within it.
const SCRATCH_ALIGN: u64 = 1024;

/// The map of a kernel's shared memory: buffers that live throughout, then scratch that
/// conversions and reductions use in turn.
#[derive(Clone, Debug, Default)]
pub struct SharedMemory {
    pub buffers: FxHashMap<ValueId, Buffer>,
    /// What was reserved where.
    regions: Vec<SharedRegion>,
    /// Where the bytes begin that operands of matmuls share.
    operands: Option<u64>,
    /// Where mbarriers go that other blocks of the cluster arrive at, as far as they have not been taken yet.
    met_by_others: Range<u64>,
    /// First byte after the buffers and barriers.
    pub fixed: u64,
    /// Most scratch that one use needs.
    scratch: u64,
    /// The first byte that may be scratch when the buffers are no longer in use.
    kept: u64,
    /// The buffers are no longer in use: scratch begins where they do.
    idle: bool,
    /// Most scratch that one use needs since then.
    idle_scratch: u64,
    readers: Readers,
    /// Whether the code at hand is a role that runs beside the one that scratch belongs to.
    apart: bool,
    /// That role's own scratch: where it is, and its bytes.
    own: (u64, u64),
}

/// Who may still read scratch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Readers {
    #[default]
    Nobody,
    /// Each warp what it has written itself, where this plan says.
    Warps(Box<SharedPlan>),
    Block,
}

impl Readers {
    /// Those of what a trip through scratch stores.
    pub fn of(plan: &SharedPlan) -> Readers {
        match plan.in_warp {
            true => Readers::Warps(Box::new(plan.clone())),
            false => Readers::Block,
        }
    }
}

impl SharedMemory {
    /// Reserves `bytes` for good; returns their offset. `what` is for the map.
    pub fn reserve(&mut self, bytes: u64, align: u64, what: impl Into<String>) -> u64 {
        let offset = self.fixed.next_multiple_of(align.max(1));
        self.fixed = offset + bytes;
        if bytes > 0 {
            self.note(offset, bytes, what);
        }
        offset
    }

    /// Enters what was reserved in the map.
    fn note(&mut self, offset: u64, bytes: u64, what: impl Into<String>) {
        self.regions.push(SharedRegion {
            offset,
            bytes,
            what: what.into(),
        });
    }

    /// The offset of `bytes` of the `all` bytes that operands of matmuls share, which are reserved for good.
    pub fn reserve_shared(&mut self, all: u64, bytes: Range<u64>, what: &str) -> u64 {
        let first = match self.operands {
            Some(first) => first,
            None => {
                let first = self.fixed.next_multiple_of(BUFFER_ALIGN);
                self.fixed = first + all;
                *self.operands.insert(first)
            }
        };
        let offset = first + bytes.start;
        self.note(offset, bytes.end - bytes.start, what);
        offset
    }

    /// Keeps `bytes` for mbarriers that other blocks of the cluster arrive at, to the kernel's end: one of these may be late
    /// when the buffers of this block are no longer in use.
    pub fn keep_for_others(&mut self, bytes: u64) {
        self.met_by_others = self.fixed..self.fixed + bytes;
        self.fixed += bytes;
        self.keep();
    }

    /// The offset of `bytes` of those.
    pub fn reserve_for_others(&mut self, bytes: u64, what: &str) -> u64 {
        let offset = self.met_by_others.start;
        self.met_by_others.start += bytes;
        debug_assert!(self.met_by_others.start <= self.met_by_others.end);
        self.note(offset, bytes, what);
        offset
    }

    /// What lies where, in the order of use.
    pub fn map(&self) -> Vec<SharedRegion> {
        let mut map = self.regions.clone();
        let behind = match self.fixed {
            0 => 0,
            fixed => fixed.next_multiple_of(SCRATCH_ALIGN),
        };
        let scratch = [
            (
                behind,
                self.scratch,
                "scratch of conversions and reductions",
            ),
            (
                self.kept,
                self.idle_scratch,
                "scratch after the pipelines, in their place",
            ),
        ];
        for (offset, bytes, what) in scratch {
            if bytes > 0 {
                let what = what.to_owned();
                map.push(SharedRegion {
                    offset,
                    bytes,
                    what,
                });
            }
        }
        map
    }

    /// At the start of a loop's body: an earlier iteration may still read scratch.
    pub fn enter_loop(&mut self) {
        self.readers = Readers::Block;
    }

    /// At the end of a region: what was used in it depends on the way that was taken.
    pub fn leave_region(&mut self) {
        if self.readers != Readers::Nobody {
            self.readers = Readers::Block;
        }
    }

    /// Who must be waited for before threads write to scratch what `next` will read.
    pub(super) fn taken_over(&self, next: &Readers) -> Readers {
        match &self.readers {
            Readers::Warps(_) if self.readers != *next => Readers::Block,
            earlier => earlier.clone(),
        }
    }

    /// Where scratch begins.
    pub(super) fn scratch_offset(&self) -> u64 {
        if self.idle {
            self.kept
        } else if self.fixed == 0 {
            0
        } else {
            self.fixed.next_multiple_of(SCRATCH_ALIGN)
        }
    }

    /// Roles part: what is lowered from here on runs beside the role that scratch belongs to, or (false) no longer does.
    pub fn part(&mut self, apart: bool) {
        self.apart = apart;
        self.readers = Readers::Nobody;
    }

    /// Keeps what has been reserved so far to the kernel's end, whatever is released.
    pub fn keep(&mut self) {
        self.kept = self.fixed.next_multiple_of(SCRATCH_ALIGN);
    }

    /// The first byte that buffers in the place of others may have.
    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// Says that the buffers' contents are no longer needed; other threads may still read them.
    pub fn release(&mut self) {
        self.idle = true;
        self.readers = Readers::Block;
    }

    /// At a barrier of all who use scratch: what they have read of it until now, they have read.
    pub fn met(&mut self) {
        self.readers = Readers::Nobody;
    }

    /// Notes a use of `bytes` of scratch, which `readers` read, and returns where it is.
    pub(super) fn take(&mut self, bytes: u64, readers: Readers) -> u64 {
        self.readers = readers;
        if self.apart {
            if self.own.1 < bytes {
                let at = self.reserve(bytes, SCRATCH_ALIGN, "scratch of the producer");
                self.own = (at, bytes);
            }
            return self.own.0;
        }
        let most = if self.idle {
            &mut self.idle_scratch
        } else {
            &mut self.scratch
        };
        *most = bytes.max(*most);
        self.scratch_offset()
    }

    /// Bytes of `global_smem`.
    pub fn total(&self) -> u64 {
        let behind = match (self.fixed, self.scratch) {
            (_, 0) => self.fixed,
            (0, scratch) => scratch,
            (fixed, scratch) => fixed.next_multiple_of(SCRATCH_ALIGN) + scratch,
        };
        match self.idle_scratch {
            0 => behind,
            bytes => behind.max(self.kept + bytes),
        }
    }
}
