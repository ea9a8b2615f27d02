//! Stages: acquired, filled, waited for, released.

use super::super::events::{RingIteration, StageUse};
use super::{Machine, Open, State, Step};
use crate::ir::{Diagnostic, OpId, ValueId};

impl Machine<'_> {
    pub(super) fn acquire(&mut self, op: OpId, t: RingIteration) -> Result<Step, Diagnostic> {
        let (i, pipeline) = (t.iteration, self.s.pipeline(t.pipeline));
        let Some(state) = self.states.get_mut(&t.pipeline) else {
            return Ok(Step::Done);
        };
        if state.open.contains_key(&i) {
            return self.fail(
                op,
                format!("acquires iteration {i} again: missing producer_commit of the first"),
            );
        }
        let copies = pipeline.is_by_barriers();
        if i == 0 && state.next_acquire > 0 && state.undrained.is_some() && copies {
            return self.fail(
                op,
                "starts over at iteration 0 while copies may be in flight: missing async.pipeline.drain",
            );
        }
        if i != state.next_acquire {
            let due = state.next_acquire;
            return self.fail(
                op,
                format!("acquires iteration {i} out of order: {due} is next"),
            );
        }
        if pipeline.is_through_registers() && pipeline.stages == 1 {
            // A single stage is acquired by a barrier.
            state.safe = state.next_release;
        }
        let before = i - pipeline.stages;
        if before >= 0 && pipeline.is_tma() && state.next_release <= before {
            return Ok(Step::Blocked);
        }
        let consumed = pipeline.is_mma() && !pipeline.alone && !pipeline.handed_over;
        if before >= 0 && consumed && state.next_release <= before {
            return Ok(Step::Blocked);
        }
        if pipeline.handed_over && state.next_release <= i {
            return Ok(Step::Blocked);
        }
        if before >= 0 && copies && state.safe <= before {
            let waited = state.waited.get(&before).copied().unwrap_or(op);
            let why = if state.next_release > before {
                format!(
                    "overwrites the stage of iteration {before}: missing consumer_wait between its consumer_release and this"
                )
            } else {
                format!(
                    "iteration {before} is waited for and not released before its stage is overwritten: missing consumer_release for consumer_wait"
                )
            };
            return self.fail(waited, why);
        }
        state.next_acquire = i + 1;
        if pipeline.is_mma() && !pipeline.handed_over {
            self.touched[self.here.unwrap_or(0)].clear();
        }
        let state = self.states.entry(t.pipeline).or_default();
        state.open.insert(
            i,
            Open {
                op,
                bytes: 0,
                buffers: Vec::new(),
                copied: false,
            },
        );
        Ok(Step::Done)
    }

    pub(super) fn copy(
        &mut self,
        op: OpId,
        t: RingIteration,
        buffer: ValueId,
        by_threads: bool,
    ) -> Result<Step, Diagnostic> {
        let Some(&bytes) = self.s.stage_bytes.get(&buffer) else {
            return self.fail(op, "writes to no shared buffer of the kernel");
        };
        let state = self.states.entry(t.pipeline).or_default();
        let Some(open) = state.open.get_mut(&t.iteration) else {
            let held: Vec<String> = state.open.keys().map(i64::to_string).collect();
            let held = if held.is_empty() {
                "none".to_owned()
            } else {
                held.join(", ")
            };
            let i = t.iteration;
            return self.fail(
                op,
                format!("writes to the stage of iteration {i}, which is not acquired (acquired: {held}): missing producer_acquire"),
            );
        };
        match by_threads {
            true => open.copied = true,
            false => open.bytes += bytes,
        }
        open.buffers.push(buffer);
        Ok(Step::Done)
    }

    pub(super) fn commit(&mut self, op: OpId, t: RingIteration) -> Result<Step, Diagnostic> {
        let i = t.iteration;
        let pipeline = self.s.pipeline(t.pipeline);
        let state = self.states.entry(t.pipeline).or_default();
        if i != state.next_commit && state.open.contains_key(&i) {
            let due = state.next_commit;
            return self.fail(
                op,
                format!("commits iteration {i} out of order: {due} is next"),
            );
        }
        let Some(open) = state.open.remove(&i) else {
            return self.fail(
                op,
                format!("commits iteration {i}, which is not acquired: missing producer_acquire"),
            );
        };
        if pipeline.is_tma() && open.bytes != pipeline.bytes {
            let (have, want) = (open.bytes, pipeline.bytes);
            return self.fail(
                op,
                format!(
                    "{have} bytes are copied into the stage, but the pipeline's `bytes` is {want}"
                ),
            );
        }
        if pipeline.by_threads && !open.copied {
            return self.fail(
                op,
                format!("no thread copies into the stage of iteration {i}, but the pipeline has `copiers`"),
            );
        }
        let state = self.states.entry(t.pipeline).or_default();
        state.next_commit = i + 1;
        state.filled.insert(i, (op, open.buffers));
        state.undrained = Some(op).filter(|_| !pipeline.is_mma());
        if pipeline.is_mma() {
            let own = self.here;
            let open = self.matmuls.iter_mut();
            let open = open.filter(|p| p.committed.is_none() && p.issuer == own);
            open.for_each(|p| p.committed = Some(t));
        }
        Ok(Step::Done)
    }

    pub(super) fn wait(&mut self, op: OpId, t: RingIteration) -> Result<Step, Diagnostic> {
        let i = t.iteration;
        let pipeline = self.s.pipeline(t.pipeline);
        if let Some(here) = self.here
            && self.apart[here].waits_beside(t.pipeline)
        {
            let filled = self.states.get(&t.pipeline).map_or(0, |s| s.next_commit);
            if filled > i + pipeline.stages {
                return self.fail(op, format!("waits for iteration {i}, whose stage may have been filled again: the parity may be wrong"));
            }
            if filled > i {
                self.apart[here].learns((t.pipeline, i));
                return Ok(Step::Done);
            }
            return Ok(Step::Blocked);
        }
        let state = self.states.entry(t.pipeline).or_default();
        if i != state.next_wait {
            let due = state.next_wait;
            return self.fail(op, format!("waits for iteration {i} out of order: {due} is next, so that the parity is wrong"));
        }
        if pipeline.is_tma() && state.next_commit <= i {
            return Ok(Step::Blocked);
        }
        match self.here {
            Some(here) => self.apart[here].learns((t.pipeline, i)),
            None => self.apart.iter_mut().for_each(|a| a.met((t.pipeline, i))),
        }
        if pipeline.is_mma() {
            if state.next_commit <= i {
                return match pipeline.alone {
                    true => self.fail(
                        op,
                        format!("waits for the matmuls of iteration {i}, which are not committed: missing producer_commit"),
                    ),
                    false => Ok(Step::Blocked),
                };
            }
            state.next_wait = i + 1;
            if !pipeline.handed_over {
                state.waited.insert(i, op);
            }
            self.matmuls.retain(|p| {
                p.committed
                    .is_none_or(|c| c.pipeline != t.pipeline || c.iteration > i)
            });
            return Ok(Step::Done);
        }
        if pipeline.is_through_registers() && state.next_commit <= i {
            return self.fail(
                op,
                format!("waits for iteration {i}, which is not committed: missing producer_commit"),
            );
        }
        // cp.async.wait_group leaves the newest `stages - 2` groups in flight; of a single stage, those of other pipelines.
        let leaves = (pipeline.stages - 2).max(0);
        if pipeline.is_cp_async() && state.next_commit - leaves <= i {
            return self.fail(
                op,
                format!("waits for iteration {i}, whose copies are not committed {leaves} groups before: without producer, or behind it"),
            );
        }
        state.safe = state.next_release;
        state.next_wait = i + 1;
        state.waited.insert(i, op);
        if !pipeline.is_tma() {
            // cp.async and stores write through the generic proxy.
            let buffers = state
                .filled
                .get(&i)
                .map(|f| f.1.clone())
                .unwrap_or_default();
            self.dirty.extend(buffers.into_iter().map(|b| (b, op)));
        }
        Ok(Step::Done)
    }

    pub(super) fn release(
        &mut self,
        op: OpId,
        t: RingIteration,
        by_matmuls: bool,
    ) -> Result<Step, Diagnostic> {
        let i = t.iteration;
        if i < 0 {
            return Ok(Step::Done);
        }
        if self.s.pipeline(t.pipeline).handed_over {
            return self.hand_over(op, t);
        }
        let s = self.s;
        let reads = |u: &StageUse| {
            s.filled_by.get(&u.buffer) == Some(&t.pipeline) && u.iteration.unwrap_or(i) == i
        };
        let flying = self.groups.iter().rposition(|g| g.reads.iter().any(reads));
        let own = self.here.filter(|_| by_matmuls);
        let mut others = self
            .matmuls
            .iter()
            .filter(|p| !by_matmuls || p.issuer != own);
        let multiplied = others.any(|p| p.shared.iter().any(reads));
        let state = self.states.entry(t.pipeline).or_default();
        if !state.waited.contains_key(&i) {
            return self.fail(
                op,
                format!("releases iteration {i}, which is not held: missing consumer_wait"),
            );
        }
        if i != state.next_release {
            let due = state.next_release;
            return self.fail(
                op,
                format!("releases iteration {i} out of order: {due} is next"),
            );
        }
        if let Some(at) = flying {
            let pending = self.groups.len() - 1 - at;
            return self.fail(
                op,
                format!("releases iteration {i} while an async.dot that reads it is in flight: missing async.dot_wait with `pending` at most {pending}"),
            );
        }
        if multiplied {
            return self.fail(
                op,
                format!("releases iteration {i} while an async.tensor_dot that reads it is in flight: missing consumer_wait"),
            );
        }
        state.waited.remove(&i);
        state.next_release = i + 1;
        self.apart
            .iter_mut()
            .for_each(|a| a.released((t.pipeline, i)));
        Ok(Step::Done)
    }

    /// The consumers let the matmuls of an iteration read and write what they have touched so far.
    fn hand_over(&mut self, op: OpId, t: RingIteration) -> Result<Step, Diagnostic> {
        let (i, stages) = (t.iteration, self.s.pipeline(t.pipeline).stages);
        let state = self.states.entry(t.pipeline).or_default();
        if i != state.next_release {
            let due = state.next_release;
            return self.fail(
                op,
                format!("hands iteration {i} over out of order: {due} is next"),
            );
        }
        if state.next_wait <= i - stages {
            let before = i - stages;
            return self.fail(
                op,
                format!("hands iteration {i} over before iteration {before} of its stage is waited for: missing consumer_wait"),
            );
        }
        state.next_release = i + 1;
        let issuer = self.issuers.get(&t.pipeline).copied().unwrap_or(0);
        self.touched[issuer].clear();
        self.apart[issuer].hand_over();
        Ok(Step::Done)
    }

    pub(super) fn drain(&mut self, op: OpId, pipeline: ValueId) -> Result<Step, Diagnostic> {
        let of = self.s.pipeline(pipeline);
        let tma = of.is_tma();
        let state = self.states.entry(pipeline).or_default();
        // Of a single stage, the copies are waited for by its consumers alone.
        if of.is_cp_async() && of.stages == 1 && state.next_wait < state.next_commit {
            return self.fail(
                op,
                "drains a single stage that nobody has waited for: missing consumer_wait",
            );
        }
        if !tma {
            *state = State::default();
        }
        Ok(Step::Done)
    }
}
