//! The protocol's state, and what each step asks of it.
//!
//! Roles run as far as they can in turn. That is enough: a role waits only for counts that other
//! roles raise, so the order in which they are run does not change who waits for ever.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;

use super::trace::{Action, Event, RingIteration, Roles, StageUse};
use crate::dialect::enums::PipelineKind;
use crate::ir::{Diagnostic, Module, OpId, ValueId};
use crate::lower::unsupported;

/// A pipeline as declared.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline {
    pub kind: PipelineKind,
    /// Whether who fills a stage is also who reads it.
    pub alone: bool,
    pub stages: i64,
    /// Transaction bytes that fill a stage.
    pub bytes: u64,
}

impl Pipeline {
    fn is_tma(self) -> bool {
        self.kind == PipelineKind::Tma
    }

    fn is_mma(self) -> bool {
        self.kind == PipelineKind::Mma
    }

    fn is_cp_async(self) -> bool {
        self.kind == PipelineKind::CpAsync
    }
}

/// What does not change while a kernel runs.
pub struct Setting<'m> {
    pub m: &'m Module,
    pub pipelines: FxHashMap<ValueId, Pipeline>,
    /// The pipeline whose copies fill a buffer.
    pub filled_by: FxHashMap<ValueId, ValueId>,
    /// Bytes of one stage of a buffer.
    pub stage_bytes: FxHashMap<ValueId, u64>,
    /// Buffers that take the place of the pipelines' own.
    pub overlays: Vec<ValueId>,
}

impl Setting<'_> {
    /// The declaration of a pipeline; [`super::trace`] lets no other value through.
    fn pipeline(&self, value: ValueId) -> Pipeline {
        self.pipelines.get(&value).copied().unwrap_or(Pipeline {
            kind: PipelineKind::CpAsync,
            alone: false,
            stages: 0,
            bytes: 0,
        })
    }
}

/// An iteration between acquire and commit.
struct Open {
    op: OpId,
    bytes: u64,
    buffers: Vec<ValueId>,
}

#[derive(Default)]
struct State {
    next_acquire: i64,
    next_commit: i64,
    next_wait: i64,
    next_release: i64,
    /// Releases that a barrier has made known to all warps.
    safe: i64,
    open: BTreeMap<i64, Open>,
    /// Buffers that each committed iteration fills, and the operation that committed it.
    filled: BTreeMap<i64, (OpId, Vec<ValueId>)>,
    /// Iterations that are being read, with the operation that waited for them.
    waited: BTreeMap<i64, OpId>,
    /// Last commit since nothing was in flight.
    undrained: Option<OpId>,
}

/// A group in flight.
struct Group {
    number: u32,
    op: OpId,
    reads: Vec<StageUse>,
}

/// A matmul in flight.
struct Matmul {
    op: OpId,
    shared: Vec<StageUse>,
    tensor: Vec<StageUse>,
    /// The commit behind it.
    committed: Option<RingIteration>,
}

pub struct Machine<'s> {
    s: &'s Setting<'s>,
    states: FxHashMap<ValueId, State>,
    groups: VecDeque<Group>,
    matmuls: Vec<Matmul>,
    /// Buffers in tensor memory that warps have read or written since matmuls were last let in.
    touched: Vec<StageUse>,
    /// Buffers written through the generic proxy since the last fence.
    dirty: FxHashMap<ValueId, OpId>,
    /// Buffers that copies out of shared memory may still read; whether the thread that started them has waited.
    leaving: FxHashMap<ValueId, (OpId, bool)>,
    /// Commits of each pipeline by the end.
    commits: FxHashMap<ValueId, i64>,
}

enum Step {
    Done,
    Blocked,
}

/// Runs the roles against each other.
///
/// # Errors
/// The first step that breaks the protocol.
pub fn check(s: &Setting<'_>, roles: &Roles) -> Result<(), Diagnostic> {
    let mut machine = Machine {
        s,
        states: s.pipelines.keys().map(|&p| (p, State::default())).collect(),
        groups: VecDeque::new(),
        matmuls: Vec::new(),
        touched: Vec::new(),
        dirty: FxHashMap::default(),
        leaving: FxHashMap::default(),
        commits: FxHashMap::default(),
    };
    for event in roles
        .whole
        .iter()
        .chain(&roles.producer)
        .chain(&roles.consumer)
        .chain(&roles.matmuls)
    {
        if let Action::Commit(t) = event.action {
            *machine.commits.entry(t.pipeline).or_default() += 1;
        }
    }
    let mut whole: &[Event] = &roles.whole;
    machine.advance(&mut whole)?;
    machine.stuck(whole)?;
    let mut parts = [&roles.producer[..], &roles.matmuls[..], &roles.consumer[..]];
    loop {
        let before = parts.map(<[Event]>::len);
        for part in &mut parts {
            machine.advance(part)?;
        }
        if before == parts.map(<[Event]>::len) {
            break;
        }
    }
    for part in parts {
        machine.stuck(part)?;
    }
    machine.end(roles)
}

impl Machine<'_> {
    fn fail(&self, op: OpId, why: impl Into<String>) -> Result<Step, Diagnostic> {
        Err(unsupported(self.s.m, op, why))
    }

    /// Takes events off the front until one must wait.
    fn advance(&mut self, events: &mut &[Event]) -> Result<(), Diagnostic> {
        while let Some((first, rest)) = events.split_first() {
            match self.step(first)? {
                Step::Done => *events = rest,
                Step::Blocked => break,
            }
        }
        Ok(())
    }

    fn step(&mut self, event: &Event) -> Result<Step, Diagnostic> {
        let op = event.op;
        match &event.action {
            Action::Acquire(t) => self.acquire(op, *t),
            Action::Copy(t, buffer) => self.copy(op, *t, *buffer),
            Action::Commit(t) => self.commit(op, *t),
            Action::Wait(t) => self.wait(op, *t),
            Action::Release(t) => self.release(op, *t, false),
            Action::Drain(p) => self.drain(*p),
            Action::Read(stage) => self.read(op, *stage, false),
            Action::Write(stage) => self.write(op, *stage),
            Action::Fence => {
                self.dirty.clear();
                self.leaving.retain(|_, (_, waited)| !*waited);
                Ok(Step::Done)
            }
            Action::StoreOut(buffer) => {
                self.leaving.insert(*buffer, (op, false));
                self.fenced(op, *buffer)
            }
            Action::StoreWait => {
                self.leaving
                    .values_mut()
                    .for_each(|(_, waited)| *waited = true);
                Ok(Step::Done)
            }
            Action::Dot(number, reads) => {
                for &stage in reads {
                    self.read(op, stage, true)?;
                    self.fenced(op, stage.buffer)?;
                }
                let group = Group {
                    number: *number,
                    op,
                    reads: reads.clone(),
                };
                self.groups.push_back(group);
                Ok(Step::Done)
            }
            Action::DotWait(pending) => {
                let done = self.groups.len().saturating_sub(*pending);
                self.groups.drain(..done);
                Ok(Step::Done)
            }
            Action::Use(number) if self.groups.iter().any(|g| g.number == *number) => self.fail(
                op,
                "uses an accumulator that async.dot is still computing: missing async.dot_wait",
            ),
            Action::Use(_) => Ok(Step::Done),
            Action::TensorDot(shared, tensor) => self.matmul(op, shared, tensor),
            Action::TensorLoad(buffer) | Action::TensorStore(buffer) => {
                if let Some(p) = self.matmuls.iter().find(|p| p.tensor.contains(buffer)) {
                    let waiting = if p.committed.is_some() {
                        "consumer_wait"
                    } else {
                        "producer_commit"
                    };
                    return self.fail(
                        op,
                        format!("touches tensor memory that an async.tensor_dot in flight uses: missing {waiting}"),
                    );
                }
                self.touched.push(*buffer);
                Ok(Step::Done)
            }
            Action::ReleaseByMatmuls(t) => self.release(op, *t, true),
        }
    }

    fn matmul(
        &mut self,
        op: OpId,
        shared: &[StageUse],
        tensor: &[StageUse],
    ) -> Result<Step, Diagnostic> {
        for &stage in shared {
            self.read(op, stage, true)?;
            self.fenced(op, stage.buffer)?;
        }
        if tensor.iter().any(|b| self.touched.contains(b)) {
            return self.fail(
                op,
                "writes tensor memory that warps have touched: missing producer_acquire",
            );
        }
        self.matmuls.push(Matmul {
            op,
            shared: shared.to_vec(),
            tensor: tensor.to_vec(),
            committed: None,
        });
        Ok(Step::Done)
    }

    // ---- the producer ----------------------------------------------------------------------

    fn acquire(&mut self, op: OpId, t: RingIteration) -> Result<Step, Diagnostic> {
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
        let copies = pipeline.is_cp_async();
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
        let before = i - pipeline.stages;
        if before >= 0 && pipeline.is_tma() && state.next_release <= before {
            return Ok(Step::Blocked);
        }
        if before >= 0 && pipeline.is_mma() && !pipeline.alone && state.next_release <= before {
            return Ok(Step::Blocked);
        }
        let copies = pipeline.is_cp_async();
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
        if pipeline.is_mma() {
            self.touched.clear();
        }
        let state = self.states.entry(t.pipeline).or_default();
        state.open.insert(
            i,
            Open {
                op,
                bytes: 0,
                buffers: Vec::new(),
            },
        );
        Ok(Step::Done)
    }

    fn copy(&mut self, op: OpId, t: RingIteration, buffer: ValueId) -> Result<Step, Diagnostic> {
        let bytes = self.s.stage_bytes.get(&buffer).copied().unwrap_or(0);
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
        open.bytes += bytes;
        open.buffers.push(buffer);
        Ok(Step::Done)
    }

    fn commit(&mut self, op: OpId, t: RingIteration) -> Result<Step, Diagnostic> {
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
        state.next_commit = i + 1;
        state.filled.insert(i, (op, open.buffers));
        state.undrained = Some(op).filter(|_| !pipeline.is_mma());
        if pipeline.is_mma() {
            let open = self.matmuls.iter_mut().filter(|p| p.committed.is_none());
            open.for_each(|p| p.committed = Some(t));
        }
        Ok(Step::Done)
    }

    // ---- the consumer ----------------------------------------------------------------------

    fn wait(&mut self, op: OpId, t: RingIteration) -> Result<Step, Diagnostic> {
        let i = t.iteration;
        let pipeline = self.s.pipeline(t.pipeline);
        let state = self.states.entry(t.pipeline).or_default();
        if i != state.next_wait {
            let due = state.next_wait;
            return self.fail(op, format!("waits for iteration {i} out of order: {due} is next, so that the parity is wrong"));
        }
        if pipeline.is_tma() && state.next_commit <= i {
            return Ok(Step::Blocked);
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
            state.waited.insert(i, op);
            self.matmuls.retain(|p| {
                p.committed
                    .is_none_or(|c| c.pipeline != t.pipeline || c.iteration > i)
            });
            return Ok(Step::Done);
        }
        // cp.async.wait_group leaves the newest `stages - 2` groups in flight.
        let leaves = pipeline.stages - 2;
        if !pipeline.is_tma() && state.next_commit - leaves <= i {
            return self.fail(
                op,
                format!("waits for iteration {i}, whose copies are not committed {leaves} groups before: without producer, or behind it"),
            );
        }
        state.safe = state.next_release;
        state.next_wait = i + 1;
        state.waited.insert(i, op);
        if !pipeline.is_tma() {
            // cp.async writes through the generic proxy.
            let buffers = state
                .filled
                .get(&i)
                .map(|f| f.1.clone())
                .unwrap_or_default();
            self.dirty.extend(buffers.into_iter().map(|b| (b, op)));
        }
        Ok(Step::Done)
    }

    fn release(
        &mut self,
        op: OpId,
        t: RingIteration,
        by_matmuls: bool,
    ) -> Result<Step, Diagnostic> {
        let i = t.iteration;
        if i < 0 {
            return Ok(Step::Done);
        }
        let s = self.s;
        let reads = |u: &StageUse| {
            s.filled_by.get(&u.buffer) == Some(&t.pipeline) && u.iteration.unwrap_or(i) == i
        };
        let flying = self.groups.iter().rposition(|g| g.reads.iter().any(reads));
        let multiplied = self.matmuls.iter().any(|p| p.shared.iter().any(reads));
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
        if multiplied && !by_matmuls {
            return self.fail(
                op,
                format!("releases iteration {i} while an async.tensor_dot that reads it is in flight: missing consumer_wait"),
            );
        }
        state.waited.remove(&i);
        state.next_release = i + 1;
        Ok(Step::Done)
    }

    fn drain(&mut self, pipeline: ValueId) -> Result<Step, Diagnostic> {
        let tma = self.s.pipeline(pipeline).is_tma();
        let state = self.states.entry(pipeline).or_default();
        if !tma {
            *state = State::default();
        }
        Ok(Step::Done)
    }

    fn read(&mut self, op: OpId, stage: StageUse, dot: bool) -> Result<Step, Diagnostic> {
        let Some(pipeline) = self.s.filled_by.get(&stage.buffer) else {
            return Ok(Step::Done);
        };
        let Some(i) = stage.iteration else {
            return self.fail(
                op,
                "reads a pipeline's buffer without saying which iteration",
            );
        };
        let state = self.states.entry(*pipeline).or_default();
        if !state.waited.contains_key(&i) {
            let held: Vec<String> = state.waited.keys().map(i64::to_string).collect();
            let why = if i < state.next_release {
                format!("reads iteration {i} after its consumer_release")
            } else if held.is_empty() {
                format!("reads iteration {i}: missing consumer_wait")
            } else {
                let held = held.join(", ");
                format!(
                    "reads iteration {i}, but the iteration waited for is {held}: wrong iteration"
                )
            };
            return self.fail(op, why);
        }
        let filled = state
            .filled
            .get(&i)
            .is_some_and(|f| f.1.contains(&stage.buffer));
        if !filled {
            let how = if dot { "multiplies" } else { "reads" };
            return self.fail(
                op,
                format!("{how} a buffer that no copy of iteration {i} fills"),
            );
        }
        Ok(Step::Done)
    }

    fn write(&mut self, op: OpId, stage: StageUse) -> Result<Step, Diagnostic> {
        if self.s.filled_by.contains_key(&stage.buffer) {
            return self.fail(op, "writes to a buffer that a pipeline's copies fill");
        }
        let overlays = &self.s.overlays;
        let aliases = |b: &ValueId| {
            *b == stage.buffer || overlays.contains(b) && overlays.contains(&stage.buffer)
        };
        if self.leaving.keys().any(aliases) {
            return self.fail(
                op,
                "overwrites a buffer that a tensor copy may still read: missing async.store_wait and async.fence",
            );
        }
        let overlay = self.s.overlays.contains(&stage.buffer);
        let reads = |g: &Group| overlay || g.reads.iter().any(|r| r.buffer == stage.buffer);
        if self.groups.iter().any(reads) {
            return self.fail(
                op,
                "overwrites memory that an async.dot in flight reads: missing async.dot_wait",
            );
        }
        let multiplies = |p: &Matmul| overlay || p.shared.iter().any(|r| r.buffer == stage.buffer);
        if self.matmuls.iter().any(multiplies) {
            return self.fail(
                op,
                "overwrites memory that an async.tensor_dot in flight reads: missing consumer_wait",
            );
        }
        let unread = self
            .states
            .iter()
            .any(|(p, state)| state.next_wait < self.commits.get(p).copied().unwrap_or(0));
        if overlay && unread {
            return self.fail(
                op,
                "takes the place of a pipeline's buffers while copies into them may be in flight: missing consumer_wait",
            );
        }
        self.dirty.insert(stage.buffer, op);
        Ok(Step::Done)
    }

    /// The asynchronous proxy reads `buffer`.
    fn fenced(&self, op: OpId, buffer: ValueId) -> Result<Step, Diagnostic> {
        let Some(&writer) = self.dirty.get(&buffer) else {
            return Ok(Step::Done);
        };
        let m = self.s.m;
        let writer = m.op(writer);
        let note =
            Diagnostic::error(format!("'{}' writes it", writer.kind)).at(m.source_of(writer.loc));
        Err(unsupported(
            m,
            op,
            "reads generic writes to shared memory through the asynchronous proxy: missing async.fence",
        )
        .note(note.to_string().replacen("error: ", "", 1)))
    }

    // ---- ends ------------------------------------------------------------------------------

    /// A role that still has something to do waits for ever.
    fn stuck(&self, rest: &[Event]) -> Result<(), Diagnostic> {
        let Some(first) = rest.first() else {
            return Ok(());
        };
        let m = self.s.m;
        match first.action {
            Action::Acquire(t) => {
                let before = t.iteration - self.s.pipeline(t.pipeline).stages;
                let waited = self
                    .states
                    .get(&t.pipeline)
                    .and_then(|s| s.waited.get(&before));
                Err(match waited {
                    Some(&wait) => unsupported(
                        m,
                        wait,
                        format!(
                            "iteration {before} is waited for and never released: missing consumer_release for consumer_wait"
                        ),
                    ),
                    None => unsupported(
                        m,
                        first.op,
                        format!(
                            "waits for ever: iteration {before} of its stage is not consumed: missing consumer_wait and consumer_release"
                        ),
                    ),
                })
            }
            Action::Wait(t) => Err(unsupported(
                m,
                first.op,
                format!(
                    "waits for ever: iteration {} has no producer: missing producer_commit",
                    t.iteration
                ),
            )),
            _ => Ok(()),
        }
    }

    fn end(&self, roles: &Roles) -> Result<(), Diagnostic> {
        let m = self.s.m;
        if let Some(group) = self.groups.front() {
            return Err(unsupported(
                m,
                group.op,
                "is still in flight at the end: missing async.dot_wait",
            ));
        }
        if let Some(matmul) = self.matmuls.first() {
            return Err(unsupported(
                m,
                matmul.op,
                "is still in flight at the end: missing producer_commit and consumer_wait",
            ));
        }
        // The smallest key, for one message whatever the hash order is.
        let leaving = self.leaving.values().filter(|l| !l.1).map(|l| l.0).min();
        if let Some(op) = leaving {
            return Err(unsupported(
                m,
                op,
                "may still read shared memory at the end: missing async.store_wait",
            ));
        }
        let events = roles
            .whole
            .iter()
            .chain(&roles.producer)
            .chain(&roles.matmuls);
        // In the order of the kernel, for one message whatever the hash order is.
        for event in events {
            let (Action::Commit(t) | Action::Acquire(t)) = event.action else {
                continue;
            };
            let Some(state) = self.states.get(&t.pipeline) else {
                continue;
            };
            if let Some((i, open)) = state.open.iter().next() {
                return Err(unsupported(
                    m,
                    open.op,
                    format!(
                        "iteration {i} is acquired and never committed: missing producer_commit"
                    ),
                ));
            }
            let pipeline = self.s.pipeline(t.pipeline);
            let tma = !pipeline.is_cp_async();
            if !tma && let Some(op) = state.undrained {
                return Err(unsupported(
                    m,
                    op,
                    "copies may be in flight when the memory is used again: missing async.pipeline.drain",
                ));
            }
            if tma && state.next_wait < state.next_commit {
                let op = state.filled.get(&state.next_wait).map_or(event.op, |f| f.0);
                let i = state.next_wait;
                return Err(unsupported(
                    m,
                    op,
                    format!("iteration {i} is filled and never waited for: missing consumer_wait"),
                ));
            }
        }
        Ok(())
    }
}
