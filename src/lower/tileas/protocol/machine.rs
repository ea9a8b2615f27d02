//! The protocol's state, and what each step asks of it.
//!
//! Roles run as far as they can in turn. That is enough: a role waits only for counts that other
//! roles raise, so the order in which they are run does not change who waits for ever.

mod apart;
mod buffers;
mod stages;

use apart::Apart;

use super::events::{Action, Event, ISSUERS, RingIteration, Roles, StageUse};
use crate::dialect::enums::PipelineKind;
use crate::ir::{Diagnostic, Module, OpId, ValueId};
use crate::lower::tileas::lifetime::intersect;
use crate::lower::unsupported;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// A pipeline as declared.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline {
    pub kind: PipelineKind,
    /// Whether who fills a stage is also who reads it.
    pub alone: bool,
    pub stages: i64,
    /// Transaction bytes that fill a stage.
    pub bytes: u64,
    /// Whether the producer's threads copy into its stages, too.
    pub by_threads: bool,
    /// Whether an iteration is released before it is acquired, instead of behind the wait for it.
    pub handed_over: bool,
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

    fn is_through_registers(self) -> bool {
        self.kind == PipelineKind::Registers
    }

    /// Whether all warps fill its stages and read them, between barriers.
    fn is_by_barriers(self) -> bool {
        self.is_cp_async() || self.is_through_registers()
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
    /// The bytes of buffers that share some with others.
    pub shared_bytes: FxHashMap<ValueId, Range<u64>>,
    /// The columns of buffers in tensor memory.
    pub columns: FxHashMap<ValueId, Range<u64>>,
}

impl Setting<'_> {
    /// The declaration of a pipeline; [`super::trace`] lets no other value through.
    fn pipeline(&self, value: ValueId) -> Pipeline {
        self.pipelines.get(&value).copied().unwrap_or(Pipeline {
            kind: PipelineKind::CpAsync,
            alone: false,
            stages: 0,
            bytes: 0,
            by_threads: false,
            handed_over: false,
        })
    }

    /// Whether two buffers have bytes in common.
    fn aliases(&self, a: ValueId, b: ValueId) -> bool {
        let bytes = |v| self.shared_bytes.get(&v);
        let overlays = self.overlays.contains(&a) && self.overlays.contains(&b);
        let common = bytes(a).zip(bytes(b));
        a == b || overlays || common.is_some_and(|(x, y)| intersect(x, y))
    }

    /// Whether two uses of tensor memory are of one stage, or of buffers that have columns in common.
    fn meet(&self, a: StageUse, b: StageUse) -> bool {
        let columns = |u: StageUse| self.columns.get(&u.buffer);
        match a.buffer == b.buffer {
            true => a == b,
            false => columns(a)
                .zip(columns(b))
                .is_some_and(|(x, y)| intersect(x, y)),
        }
    }
}

/// An iteration between acquire and commit.
struct Open {
    op: OpId,
    /// Of tensor copies.
    bytes: u64,
    buffers: Vec<ValueId>,
    /// Whether threads copy by themselves.
    copied: bool,
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

/// A matmul in flight, or the arrival that hands a stage back behind matmuls: both are done once a commit behind them was
/// waited for.
struct Matmul {
    op: OpId,
    shared: Vec<StageUse>,
    tensor: Vec<StageUse>,
    /// The role that has issued it.
    issuer: Option<usize>,
    /// The commit behind it.
    committed: Option<RingIteration>,
}

pub struct Machine<'s> {
    s: &'s Setting<'s>,
    states: FxHashMap<ValueId, State>,
    groups: VecDeque<Group>,
    matmuls: Vec<Matmul>,
    /// Buffers in tensor memory that warps have read or written since the matmuls of each role were last let in.
    touched: [Vec<StageUse>; ISSUERS],
    /// Buffers written through the generic proxy since the last fence.
    dirty: FxHashMap<ValueId, OpId>,
    /// Buffers whose bytes another one's tile was stored to since their own was, and the store.
    lost: FxHashMap<ValueId, OpId>,
    /// Buffers that copies out of shared memory may still read; whether the thread that started them has waited.
    leaving: FxHashMap<ValueId, (OpId, bool)>,
    /// Commits of each pipeline by the end.
    commits: FxHashMap<ValueId, i64>,
    /// What each role of matmuls knows of the consumers' work.
    apart: [Apart; ISSUERS],
    /// The role of matmuls that the step at hand is one of.
    here: Option<usize>,
    /// The role of matmuls that acquires each pipeline.
    issuers: FxHashMap<ValueId, usize>,
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
        touched: Default::default(),
        dirty: FxHashMap::default(),
        lost: FxHashMap::default(),
        leaving: FxHashMap::default(),
        commits: FxHashMap::default(),
        apart: std::array::from_fn(|issuer| Apart::of(roles, issuer)),
        here: None,
        issuers: issuers(roles),
    };
    for event in roles
        .whole
        .iter()
        .chain(&roles.producer)
        .chain(&roles.consumer)
        .chain(roles.matmuls.iter().flatten())
    {
        if let Action::Commit(t) = event.action {
            *machine.commits.entry(t.pipeline).or_default() += 1;
        }
    }
    let mut whole: &[Event] = &roles.whole;
    machine.advance(&mut whole)?;
    machine.stuck(whole)?;
    let [first, further] = &roles.matmuls;
    let mut parts = [
        &roles.producer[..],
        &first[..],
        &further[..],
        &roles.consumer[..],
    ];
    loop {
        let before = parts.map(<[Event]>::len);
        for (i, part) in parts.iter_mut().enumerate() {
            machine.here = i.checked_sub(1).filter(|&issuer| issuer < ISSUERS);
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

/// The role of matmuls that acquires each pipeline.
fn issuers(roles: &Roles) -> FxHashMap<ValueId, usize> {
    let all = roles.matmuls.iter().enumerate();
    let acquired = all.flat_map(|(issuer, events)| {
        events.iter().filter_map(move |e| match e.action {
            Action::Acquire(t) => Some((t.pipeline, issuer)),
            _ => None,
        })
    });
    acquired.collect()
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
            Action::Copy(t, buffer) => self.copy(op, *t, *buffer, false),
            Action::CopyByThreads(t, buffer) => self.copy(op, *t, *buffer, true),
            Action::Commit(t) => self.commit(op, *t),
            Action::Wait(t) => self.wait(op, *t),
            Action::Release(t) => self.release(op, *t, false),
            Action::Drain(p) => self.drain(op, *p),
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
                let uses = |p: &&Matmul| p.tensor.iter().any(|b| self.s.meet(*b, *buffer));
                if let Some(p) = self.matmuls.iter().find(uses) {
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
                self.touched.iter_mut().for_each(|t| t.push(*buffer));
                Ok(Step::Done)
            }
            Action::ReleaseByMatmuls(t) => {
                self.release(op, *t, true)?;
                if t.iteration >= 0 {
                    self.issue(op, &[], &[]);
                }
                Ok(Step::Done)
            }
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
            let ring = self.s.filled_by.get(&stage.buffer);
            if let Some(here) = self.here
                && let Err(why) = self.apart[here].reads(stage, ring.copied())
            {
                return self.fail(op, why);
            }
        }
        let touched = &self.touched[self.here.unwrap_or(0)];
        let is_touched = |b: &StageUse| touched.iter().any(|t| self.s.meet(*t, *b));
        if tensor.iter().any(is_touched) {
            let missing = match self.here {
                Some(_) => "consumer_release",
                None => "producer_acquire",
            };
            return self.fail(
                op,
                format!("writes tensor memory that warps have touched: missing {missing}"),
            );
        }
        self.issue(op, shared, tensor);
        Ok(Step::Done)
    }

    fn issue(&mut self, op: OpId, shared: &[StageUse], tensor: &[StageUse]) {
        self.matmuls.push(Matmul {
            op,
            shared: shared.to_vec(),
            tensor: tensor.to_vec(),
            issuer: self.here,
            committed: None,
        });
    }

    // ---- the producer ----------------------------------------------------------------------

    // ---- the consumer ----------------------------------------------------------------------

    // ---- ends ------------------------------------------------------------------------------

    /// A role that still has something to do waits for ever.
    fn stuck(&self, rest: &[Event]) -> Result<(), Diagnostic> {
        let Some(first) = rest.first() else {
            return Ok(());
        };
        let m = self.s.m;
        match first.action {
            Action::Acquire(t) if self.s.pipeline(t.pipeline).handed_over => Err(unsupported(
                m,
                first.op,
                format!(
                    "waits for ever: iteration {} is not handed over: missing consumer_release",
                    t.iteration
                ),
            )),
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
            .chain(roles.matmuls.iter().flatten());
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
            let tma = !pipeline.is_by_barriers();
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
