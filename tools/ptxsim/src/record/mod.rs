//! Watching a launch: every step for a trace, progress for a bar, spans of time for a picture.

pub mod svg;
mod timeline;

pub use timeline::{Kind, Span, Timeline, Track};

use rustc_hash::FxHashMap;

/// An instruction that some lanes of a warp have executed.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// block in the grid
    pub block: [u32; 3],
    /// warp within the block
    pub warp: u32,
    /// the lanes, before the guard
    pub lanes: u32,
    /// line of the PTX text
    pub line: u32,
    /// what the lowest of the lanes holds now in the first register that the instruction writes
    pub result: Option<u64>,
}

/// How far a launch is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// blocks that are done
    pub blocks: u64,
    /// blocks of the grid
    pub total: u64,
    /// instructions of warps since the last report
    pub instructions: u64,
}

/// Somebody who watches a launch.
pub trait Observer: Sync {
    /// True if [`Observer::step`] wants to be called; the launch runs on one core then.
    fn traces(&self) -> bool {
        false
    }
    /// After each instruction.
    fn step(&self, _step: &Step) {}
    /// Now and then, from any thread.
    fn progress(&self, _progress: Progress) {}
}

/// Spans of one cluster as they happen. Time is the cluster's count of warp instructions.
#[derive(Debug, Default)]
pub struct Recorder {
    spans: Vec<Span>,
    open: FxHashMap<(Track, Kind, u64), Open>,
    truncated: bool,
}

#[derive(Debug)]
struct Open {
    from: u64,
    line: u32,
    amount: u64,
    /// begun and not ended
    count: u32,
}

/// More spans than anybody can look at.
const MAX_SPANS: usize = 1 << 18;

impl Recorder {
    fn push(&mut self, span: Span) {
        if let Some(last) = self.spans.last_mut()
            && (last.track, last.kind, last.to) == (span.track, span.kind, span.from)
            && matches!(span.kind, Kind::Run | Kind::Mma)
        {
            last.to = span.to;
            last.amount += span.amount;
            return;
        }
        if self.spans.len() < MAX_SPANS {
            self.spans.push(span);
        } else {
            self.truncated = true;
        }
    }

    /// Something that began and ended.
    pub fn span(&mut self, span: Span) {
        self.push(span);
    }

    /// Something begins; several with one identity are one span that lasts until all have ended.
    pub fn begin(&mut self, track: Track, kind: Kind, id: u64, line: u32, amount: u64, now: u64) {
        let open = self.open.entry((track, kind, id)).or_insert(Open {
            from: now,
            line,
            amount: 0,
            count: 0,
        });
        open.count += 1;
        open.amount += amount;
    }

    /// It ends.
    pub fn end(&mut self, track: Track, kind: Kind, id: u64, now: u64) {
        let key = (track, kind, id);
        let Some(open) = self.open.get_mut(&key) else {
            return;
        };
        open.count -= 1;
        if open.count == 0
            && let Some(open) = self.open.remove(&key)
        {
            self.push(Span {
                track,
                kind,
                from: open.from,
                to: now,
                line: open.line,
                amount: open.amount,
            });
        }
    }

    /// What was recorded; what has not ended ends `now`.
    pub fn finish(mut self, blocks: Vec<[u32; 3]>, warps_per_block: u32, now: u64) -> Timeline {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_by_key(|(key, _)| *key);
        for ((track, kind, _), open) in open {
            self.push(Span {
                track,
                kind,
                from: open.from,
                to: now,
                line: open.line,
                amount: open.amount,
            });
        }
        Timeline {
            unit: "instructions of the cluster's warps".into(),
            blocks,
            warps_per_block,
            end: now,
            spans: self.spans,
            truncated: self.truncated,
        }
    }
}
