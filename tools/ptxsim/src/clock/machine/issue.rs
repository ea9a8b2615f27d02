//! What an instruction takes when it is issued, and when what it makes is there.

use super::ready::arrives;
use super::{Machine, Reason};
use crate::clock::cost::{Action, CYCLE, Cost, PARTS, Tick, ticks};
use crate::clock::trace::{Effect, Way};
use crate::clock::weight::Pipe;
use crate::record::Kind;

/// When results are there, and what they come from.
#[derive(Clone, Copy)]
struct Result {
    at: Tick,
    from: Reason,
}

impl Result {
    fn later(&mut self, at: Tick, from: Reason) {
        if at > self.at {
            *self = Result { at, from };
        }
    }
}

impl<'a> Machine<'a> {
    /// Issues the warp's next instruction.
    pub(super) fn issue(&mut self, index: usize, now: Tick) {
        let warp = &self.warps[index];
        let Some(event) = warp.event() else {
            return;
        };
        let costs = self.costs;
        let cost = &costs.code[event.pc as usize];
        let effects: &'a [Effect] = warp.effects();
        if warp.arrived {
            let warp = &mut self.warps[index];
            (warp.arrived, warp.earliest) = (false, now);
            warp.at += 1;
            return;
        }
        let start = self.slots_taken(index, now, cost);
        let mut result = Result {
            at: start + cost.latency + cost.issue.saturating_sub(CYCLE),
            from: source(cost.pipe),
        };
        match cost.pipe {
            // Only renamed: there when its sources are, which it waited for.
            Pipe::Free => result.at = now,
            Pipe::Tensor if cost.action == Action::Mma => result.from = Reason::Tensor,
            _ if cost.action == Action::Mbarrier => result.from = Reason::Mbarrier,
            _ => {}
        }
        self.groups(index, start, cost);
        for effect in effects {
            self.effect(index, start, effect, &mut result);
        }
        let warp = &mut self.warps[index];
        for &place in &cost.operands.writes {
            warp.there[place as usize] = (result.at, result.from);
        }
        if arrives(effects) && !matches!(cost.action, Action::Mbarrier) {
            warp.arrived = true;
        } else {
            warp.at += 1;
        }
    }

    /// Takes the scheduler and the pipeline.
    fn slots_taken(&mut self, index: usize, now: Tick, cost: &Cost) -> Tick {
        let (sm, part, number) = {
            let warp = &self.warps[index];
            (warp.sm, warp.part, warp.number)
        };
        if cost.pipe == Pipe::Free {
            self.warps[index].earliest = now;
            return now;
        }
        let slots = cost.issue.max(CYCLE);
        self.sms[sm].parts[part].scheduler = now + slots;
        self.result.warps[number].issued += slots;
        self.draw(index, Kind::Run, now, now + slots, slots / CYCLE);
        self.warps[index].earliest = now + slots;
        match cost.action {
            Action::Wgmma { .. } => now,
            Action::Mma => {
                let start = self.sms[sm].take(part, cost.pipe, now, cost.busy);
                self.draw(index, Kind::Mma, start, start + cost.busy, 0);
                // Their own share of the peak is what counts as tensor work.
                let lost = cost.busy as f64 * (1.0 - self.gpu.get("warp_mma_share"));
                self.sms[sm].tensor_busy -= lost as Tick;
                start
            }
            _ => {
                let busy = match self.sms[sm].parts[part].multiplies(now) {
                    true => cost.beside,
                    false => cost.busy,
                };
                self.sms[sm].take(part, cost.pipe, now, busy)
            }
        }
    }

    /// Asynchronous products, and groups of asynchronous work.
    fn groups(&mut self, index: usize, now: Tick, cost: &Cost) {
        let (sm, part) = (self.warps[index].sm, self.warps[index].part);
        match cost.action {
            Action::Wgmma { operands } => {
                // The four warps' operands come over one path while the four tensor cores compute.
                let taken = cost.busy.max(operands * PARTS as Tick);
                let sm = &mut self.sms[sm];
                sm.take(part, Pipe::Tensor, now, taken);
                let until = sm.parts[part].tensor;
                sm.parts[part].queued(until, self.costs.wgmma_queue);
                sm.tensor_busy -= taken - cost.busy;
                sm.shared_busy += operands;
                let done = sm.parts[part].tensor + cost.latency.saturating_sub(cost.busy);
                let open = &mut self.warps[index].wgmma.open;
                *open = (*open).max(done);
                self.draw(index, Kind::Wgmma, now, done, 0);
            }
            Action::WgmmaCommit => {
                let warp = &mut self.warps[index];
                // An empty group is done when the one before is.
                let before = warp.wgmma.closed.last().copied().unwrap_or(0);
                warp.wgmma.open = warp.wgmma.open.max(before);
                warp.wgmma.commit();
            }
            Action::CpAsyncCommit => {
                let warp = &mut self.warps[index];
                let before = warp.copies.closed.last().copied().unwrap_or(0);
                warp.copies.open = warp.copies.open.max(before);
                warp.copies.commit();
            }
            Action::BulkCommit => self.warps[index].bulk.commit(),
            _ => {}
        }
    }

    fn effect(&mut self, index: usize, now: Tick, effect: &'a Effect, result: &mut Result) {
        let (sm, slot) = (self.warps[index].sm, self.warps[index].slot);
        let pass = CYCLE;
        let shared_latency = ticks(self.gpu.get("shared_latency"));
        match effect {
            Effect::Shared { passes, remote } => {
                let there = self.sms[sm].move_data(now, u64::from(*passes) * pass);
                // Memory of another block lies about as far as half the way to L2.
                let far = if *remote {
                    ticks(self.gpu.get("l2_latency") / 2.0)
                } else {
                    0
                };
                let at = there - pass.min(there) + shared_latency + far;
                result.later(at, Reason::Shared);
            }
            Effect::Global {
                lines,
                sectors,
                how,
            } => {
                let bytes = 32 * u64::from(*sectors);
                let moved = self.sms[sm].move_data(now, ticks(bytes as f64 / 128.0).max(pass));
                let salt = self.slots[slot].job as u64 + 1;
                let memory = &mut self.sms[sm].memory;
                match how {
                    Way::Load => {
                        result.later(memory.load(moved, lines, *sectors, salt), Reason::Global)
                    }
                    Way::Store => {
                        memory.write(moved, bytes);
                    }
                    Way::Atomic => result.later(memory.read(moved, bytes), Reason::Global),
                }
            }
            Effect::CpAsync { sectors, bytes } => {
                let there = self.sms[sm].memory.read(now, 32 * u64::from(*sectors));
                self.sms[sm].move_data(now, ticks(f64::from(*bytes) / 128.0).max(pass));
                let open = &mut self.warps[index].copies.open;
                *open = (*open).max(there + shared_latency);
                self.draw(index, Kind::CpAsync, now, there, u64::from(*bytes));
            }
            Effect::Bulk {
                bytes,
                store,
                meetings,
            } => {
                self.bulk(index, now, *bytes, *store, meetings);
            }
            Effect::TensorCore { work, kind, pair } => self.tensor(index, now, *work, kind, *pair),
            Effect::TensorCommit(meeting) => {
                let done = self.warps[index].tensor_done.max(now);
                self.arrive(slot, *meeting, done);
            }
            Effect::CopiesArrive(meeting) => {
                let copies = &self.warps[index].copies;
                let done = copies.open.max(copies.awaited(0).unwrap_or(0)).max(now);
                self.arrive(slot, *meeting, done);
            }
            Effect::Arrive(meeting) => self.arrive(slot, *meeting, now),
            Effect::Await(_) => {}
        }
    }

    /// A copy of the TMA unit.
    fn bulk(&mut self, index: usize, now: Tick, bytes: u64, store: bool, meetings: &[u32]) {
        let (sm, slot) = (self.warps[index].sm, self.warps[index].slot);
        let begin = now + ticks(self.gpu.get("tma_latency"));
        let path = ticks(bytes as f64 / self.gpu.get("shared_bytes_per_clock"));
        if store {
            // It reads shared memory beside what the warps do there.
            self.sms[sm].shared_busy += path;
            let read = begin + path;
            let written = self.sms[sm].memory.write(read, bytes);
            let (r, w) = &mut self.warps[index].bulk.open;
            (*r, *w) = ((*r).max(read), (*w).max(written));
            self.draw(index, Kind::Bulk, now, written, bytes);
            return;
        }
        let there = self.sms[sm].memory.read(begin, bytes);
        self.sms[sm].shared_busy += path;
        self.draw(index, Kind::Bulk, now, there, bytes);
        for &meeting in meetings {
            self.arrive(slot, meeting, there);
        }
    }

    /// `tcgen05.mma`: the tensor cores of a multiprocessor, or of two, in the order of issue.
    fn tensor(&mut self, index: usize, now: Tick, work: u64, kind: &str, pair: bool) {
        let sm = self.warps[index].sm;
        // Types without a rate of their own were refused before.
        let rate = self.gpu.multiply_adds(kind).unwrap_or(f64::INFINITY);
        let (first, count) = if pair { (sm & !1, 2) } else { (sm, 1) };
        let busy = ticks(work as f64 / count as f64 / rate);
        let mut done = now;
        for sm in self.sms.iter_mut().skip(first).take(count) {
            sm.tensor = sm.tensor.max(now) + busy;
            sm.tensor_busy += busy * PARTS as u64;
            done = done.max(sm.tensor);
        }
        let latency = ticks(self.gpu.get("wgmma_latency"));
        self.draw(index, Kind::Tcgen05, now, done + latency, work);
        let warp = &mut self.warps[index];
        warp.tensor_done = warp.tensor_done.max(done + latency);
    }
}

/// What results of a pipeline are called when somebody waits for them.
fn source(pipe: Pipe) -> Reason {
    match pipe {
        Pipe::Special | Pipe::ConvertWide | Pipe::Count | Pipe::Vote => Reason::Special,
        Pipe::Shuffle => Reason::Shared,
        Pipe::Tensor => Reason::Tensor,
        _ => Reason::Arithmetic,
    }
}
