//! When a warp's next instruction can issue.

use super::{Machine, Next, Reason, Warp};
use crate::clock::cost::{Action, Cost, Tick, ticks};
use crate::clock::trace::{Effect, Event};
use crate::clock::weight::Pipe;

impl<'a> Warp<'a> {
    pub(super) fn event(&self) -> Option<Event> {
        self.trace.events.get(self.at).copied()
    }

    /// What the event under way does besides computing.
    pub(super) fn effects(&self) -> &'a [Effect] {
        let (from, to) = self.event().map_or((0, 0), |e| (e.first, e.last));
        &self.trace.effects[from as usize..to as usize]
    }

    /// The groups that a wait waits for.
    fn awaited(&self, action: Action) -> Option<(Tick, Reason)> {
        match action {
            Action::WgmmaWait(pending) => Some((self.wgmma.awaited(pending)?, Reason::Tensor)),
            Action::CpAsyncWait(Some(pending)) => {
                Some((self.copies.awaited(pending)?, Reason::Copies))
            }
            Action::CpAsyncWait(None) => {
                let closed = self.copies.awaited(0).unwrap_or(0);
                Some((closed.max(self.copies.open), Reason::Copies))
            }
            Action::BulkWait { pending, read_only } => {
                let (read, written) = self.bulk.awaited(pending)?;
                Some((if read_only { read } else { written }, Reason::Copies))
            }
            _ => None,
        }
    }
}

impl Machine<'_> {
    pub(super) fn next(&self, index: usize) -> Next {
        let warp = &self.warps[index];
        let Some(event) = warp.event() else {
            return Next::Ended;
        };
        let cost = &self.costs.code[event.pc as usize];
        let (mut since, mut why) = (0, Reason::Arithmetic);
        let mut wait = |tick: Tick, reason: Reason| {
            if tick > since {
                (since, why) = (tick, reason);
            }
        };
        for &place in &cost.operands.reads {
            let (tick, reason) = warp.there[place as usize];
            wait(tick, reason);
        }
        if let Some((tick, reason)) = warp.awaited(cost.action) {
            wait(tick, reason);
        }
        // A barrier that a warp both arrives at and waits for is two instructions: the arrival comes first.
        if matches!(cost.action, Action::Mbarrier) || warp.arrived || !arrives(warp.effects()) {
            for effect in warp.effects() {
                let Effect::Await(meeting) = effect else {
                    continue;
                };
                let gathering = &self.slots[warp.slot].meetings[*meeting as usize];
                if gathering.missing > 0 {
                    return Next::Blocked(*meeting);
                }
                let (latency, reason) = match cost.action {
                    Action::Mbarrier => ("mbarrier_latency", Reason::Mbarrier),
                    _ => ("barrier_latency", Reason::Barrier),
                };
                wait(gathering.at + ticks(self.gpu.get(latency)), reason);
            }
        }
        self.slot_of(warp, cost, since, why)
    }

    /// The scheduler's slot and the pipeline behind it.
    fn slot_of(&self, warp: &Warp<'_>, cost: &Cost, since: Tick, why: Reason) -> Next {
        let there = since.max(warp.earliest);
        if cost.pipe == Pipe::Free || warp.arrived {
            return Next::At {
                time: there,
                since,
                why,
                unit: Reason::Scheduler,
            };
        }
        let sm = &self.sms[warp.sm];
        // Products of a warpgroup queue up, as far as there is room; others wait for their pipeline.
        let pipe = match cost.action {
            Action::Wgmma { .. } => sm.parts[warp.part].room(self.costs.wgmma_queue),
            _ => sm.free(warp.part, cost.pipe),
        };
        let scheduler = sm.parts[warp.part].scheduler;
        let unit = if pipe > scheduler {
            Reason::Pipeline
        } else {
            Reason::Scheduler
        };
        Next::At {
            time: there.max(pipe).max(scheduler),
            since,
            why,
            unit,
        }
    }
}

/// True if an instruction arrives somewhere before it waits.
pub(super) fn arrives(effects: &[Effect]) -> bool {
    effects.iter().any(|e| matches!(e, Effect::Arrive(_)))
        && effects.iter().any(|e| matches!(e, Effect::Await(_)))
}
