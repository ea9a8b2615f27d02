//! Scratch: the shared memory that conversions, reductions and scans use one after another, and the barriers around it.

use super::Lower;
use super::shared_memory::Readers;
use crate::ir::ValueId;
use crate::layout::convert::SharedPlan;

impl Lower<'_> {
    /// Scratch of `bytes`, after a barrier if an earlier use of it may not be over.
    pub fn scratch(&mut self, bytes: u64) -> u64 {
        self.take_scratch(bytes, Readers::Block)
    }

    /// The scratch of a trip, likewise.
    pub(super) fn scratch_for(&mut self, trip: &SharedPlan) -> ValueId {
        let at = self.take_scratch(trip.shared.bytes(), Readers::of(trip));
        self.emit().smem(at)
    }

    /// Between the two ways of a trip: what is stored is there for those who load it.
    pub(super) fn meet(&mut self, trip: &SharedPlan) {
        self.wait_for(Readers::of(trip));
    }

    /// Bytes that scratch may have.
    pub fn scratch_room(&self) -> u64 {
        let all = self.target.shared_of_each(self.kernel.together);
        all.saturating_sub(self.memory.scratch_offset())
    }

    fn take_scratch(&mut self, bytes: u64, readers: Readers) -> u64 {
        let earlier = self.memory.taken_over(&readers);
        self.wait_for(earlier);
        self.memory.take(bytes, readers)
    }

    fn wait_for(&mut self, threads: Readers) {
        match threads {
            Readers::Nobody => {}
            Readers::Warps(_) => self.warp_barrier(),
            Readers::Block => self.barrier(),
        }
    }
}
