//! What a replay does and waits for, to be drawn.

use super::Reason;
use crate::clock::cost::{CYCLE, Tick};
use crate::record::{Kind, Recorder, Span, Timeline, Track};

/// What is drawn of a replay: spans of the cluster that was started first.
pub(in crate::clock) struct Drawing {
    recorder: Recorder,
    warps_per_block: u32,
    /// when the cluster was started
    start: Tick,
}

impl Drawing {
    pub fn new(warps_per_block: u32) -> Drawing {
        Drawing {
            recorder: Recorder::default(),
            warps_per_block,
            start: 0,
        }
    }

    pub fn starts(&mut self, at: Tick) {
        self.start = at;
    }

    /// What was drawn of blocks in these places, until `end`.
    pub fn finish(self, blocks: Vec<[u32; 3]>, end: Tick) -> Timeline {
        let end = end.saturating_sub(self.start).div_ceil(CYCLE);
        self.recorder.finish(blocks, self.warps_per_block, end)
    }

    /// Something that warp `number` of the cluster did or waited for, or that it had under way.
    pub fn span(
        &mut self,
        number: usize,
        kind: Kind,
        from: Tick,
        to: Tick,
        line: u32,
        amount: u64,
    ) {
        let cycle = |at: Tick| (at.saturating_sub(self.start) + CYCLE / 2) / CYCLE;
        let (from, to) = (cycle(from), cycle(to));
        if from >= to {
            return;
        }
        let number = number as u32;
        self.recorder.span(Span {
            track: Track {
                block: number / self.warps_per_block,
                warp: number % self.warps_per_block,
            },
            kind,
            from,
            to,
            line,
            amount,
        });
    }
}

/// What a wait is drawn as.
pub(super) fn kind(reason: Reason) -> Kind {
    match reason {
        Reason::Arithmetic | Reason::Special => Kind::Results,
        Reason::Shared => Kind::SharedMemory,
        Reason::Global => Kind::GlobalMemory,
        Reason::Tensor => Kind::Products,
        Reason::Copies => Kind::Copies,
        Reason::Barrier => Kind::Barrier,
        Reason::Mbarrier => Kind::Mbarrier,
        Reason::Pipeline | Reason::Scheduler => Kind::Pipeline,
    }
}
