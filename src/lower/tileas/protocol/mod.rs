//! The verifier of the asynchronous protocol.
//!
//! | what | rule |
//! |---|---|
//! | stages | a pipeline, its type and its buffers agree on how many there are |
//! | roles | TMA is started by the producer role and read by the consumer role; the producer, one thread, does nothing that needs a barrier |
//! | counts | `consumers` is the consumer role's warps; `bytes` is what the copies of a stage bring |
//! | order | acquire, commit, wait and release of a pipeline each go through 0, 1, 2, …: stage and parity follow from the iteration |
//! | producer | writes only to what it acquired, commits what it acquired, once |
//! | consumer | reads only between the wait and the release of the same iteration, and only what was filled |
//! | tensor memory | what matmuls write or read there is loaded and stored once a commit behind them was waited for, and again written by matmuls behind the next acquire |
//! | handed over | a role of matmuls reads what it waited for itself, or what consumers waited for or wrote before they handed the iteration over |
//! | groups | accumulators are used, and stages released, when the `async.dot`s are waited for; none is left at the end |
//! | copies out | a buffer is written again, and the kernel ends, after `async.store_wait` |
//! | shared bytes | a buffer that shares bytes with others is read before another one's tile is stored there, and stored once the matmuls that read the others are waited for |
//! | proxies | between generic writes and asynchronous reads of shared memory stands `async.fence` |
//! | copiers | warps of the producer that copy by themselves, as many as the consumers, bring the rest of the stage: every acquired stage gets copies of theirs, since each of its threads arrives |
//! | clusters | blocks that fill each other's stages take the same steps, and say so of the pipeline |
//! | registers | tiles are stored to stages of pipelines through registers, and nothing else fills these |
//! | ends | `cp_async` pipelines and those through registers are drained, TMA pipelines and single stages of `cp_async` consumed; a commit behind every matmul, and behind every release by matmuls, is waited for; nobody waits for ever |
//!
//! The first three rules are read off the operations. The others hold for a run of the kernel, so
//! [`trace`] runs each role for loop lengths around the number of stages (everything depends on an
//! iteration only modulo twice that number) and [`machine`] runs the roles against each other.

mod cluster;
mod events;
mod machine;
mod steps;
mod trace;

use crate::dialect::Traits;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view::{self, View};
use crate::facts::access;
use crate::ir::{BlockId, Diagnostic, Diagnostics, Module, Op, OpId, Type, ValueId};
use crate::lower::tileas::buffers::tile_bytes;
use crate::lower::tileas::look::{self, elements};
use crate::lower::tileas::staging::shared_bytes;
use crate::lower::tileas::{lifetime::intersect, tcgen05};
use crate::lower::unsupported;
use events::Scenario;
use machine::{Pipeline, Setting};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

pub use trace::number;

/// Warps of a producer role: one, or a warpgroup.
const PRODUCER_WARPS: [i64; 2] = [1, 4];

/// Checks every `nv_tileas.func` of the module.
///
/// # Errors
/// Per function, the first operation that breaks the protocol.
pub fn verify(m: &Module) -> Result<(), Diagnostics> {
    let mut errors = Vec::new();
    for &op in &m.block(m.body).ops {
        if S::of(m.op(op).kind) == Some(S::Func) {
            errors.extend(func(m, op).err());
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Diagnostics(errors))
    }
}

fn func(m: &Module, func: OpId) -> Result<(), Diagnostic> {
    let Some(body) = m.body_of(func, 0) else {
        return Ok(());
    };
    let asynchronous = |op: &OpId| m.op(*op).def().traits.has(Traits::ASYNC);
    if !m.ops_under(body).iter().any(asynchronous) {
        return Ok(());
    }
    let mut s = Static {
        m,
        func,
        setting: Setting {
            m,
            pipelines: FxHashMap::default(),
            filled_by: FxHashMap::default(),
            stage_bytes: FxHashMap::default(),
            overlays: Vec::new(),
            shared_bytes: FxHashMap::default(),
            columns: FxHashMap::default(),
        },
        creates: Vec::new(),
        consumer_warps: None,
        apart: false,
    };
    s.collect(body, Role::Whole)?;
    s.counts()?;
    s.steps(body, Role::Whole)?;
    s.pairs(body)?;
    s.issuers(body)?;
    cluster::check(m, func, body)?;
    run(m, body, &s.setting)
}

/// Runs the kernel for every interesting length of its loops.
fn run(m: &Module, body: BlockId, setting: &Setting<'_>) -> Result<(), Diagnostic> {
    let stages = setting
        .pipelines
        .values()
        .map(|p| p.stages as u64)
        .max()
        .unwrap_or(1);
    let most = 2 * stages + 2;
    let mut lengths = vec![
        0,
        1,
        2,
        stages.saturating_sub(1),
        stages,
        stages + 1,
        2 * stages + 1,
    ];
    lengths.sort_unstable();
    lengths.dedup();
    let mut tracer = trace::Tracer::new(m, body);
    let front = tracer.front(body)?;
    for trips in lengths {
        for taken in [true, false] {
            let roles = tracer.run(&front, Scenario { trips, most, taken })?;
            machine::check(setting, &roles)?;
            if !roles.conditional {
                break;
            }
        }
    }
    Ok(())
}

/// Who runs an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Whole,
    Producer,
    Consumer,
    /// The thread that issues matmuls.
    Matmuls,
}

/// What is read off the operations before anything runs.
struct Static<'m> {
    m: &'m Module,
    func: OpId,
    setting: Setting<'m>,
    creates: Vec<OpId>,
    consumer_warps: Option<i64>,
    /// Whether matmuls have a role of their own.
    apart: bool,
}

impl Static<'_> {
    fn fail(&self, op: OpId, why: impl Into<String>) -> Result<(), Diagnostic> {
        Err(unsupported(self.m, op, why))
    }

    /// Calls `visit` with every operation and its role.
    fn each(
        &mut self,
        block: BlockId,
        role: Role,
        visit: &mut impl FnMut(&mut Self, OpId, Role) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let m = self.m;
        for &op in &m.block(block).ops {
            visit(self, op, role)?;
            let split = S::of(m.op(op).kind) == Some(S::WarpSpecialize);
            for (i, &region) in m.op(op).regions.iter().enumerate() {
                let role = match (split, i) {
                    (false, _) => role,
                    (true, 0) => Role::Producer,
                    (true, 1) => Role::Consumer,
                    (true, _) => Role::Matmuls,
                };
                for &inner in &m.region(region).blocks {
                    self.each(inner, role, visit)?;
                }
            }
        }
        Ok(())
    }

    /// Finds pipelines and buffers.
    fn collect(&mut self, body: BlockId, role: Role) -> Result<(), Diagnostic> {
        self.each(body, role, &mut |s, op, role| match View::of(s.m.op(op)) {
            Some(View::PipelineCreate(v)) => s.pipeline(op, &v, role),
            Some(View::AllocTensor(v)) => {
                let bytes = tile_bytes(s.m, v.result());
                s.setting.stage_bytes.insert(v.result(), bytes);
                if let Some(bytes) = shared_bytes(s.m, op) {
                    s.setting.shared_bytes.insert(v.result(), bytes);
                }
                if role == Role::Consumer {
                    s.setting.overlays.push(v.result());
                }
                Ok(())
            }
            Some(View::WarpSpecialize(v)) => s.warp_specialize(op, &v),
            Some(View::AllocTensorMemory(v)) => {
                let columns = tcgen05::columns_of(s.m, op);
                s.setting.columns.extend(columns.map(|c| (v.result(), c)));
                Ok(())
            }
            _ => Ok(()),
        })
    }

    fn pipeline(
        &mut self,
        op: OpId,
        v: &view::PipelineCreate<'_, Op>,
        role: Role,
    ) -> Result<(), Diagnostic> {
        let (kind, stages) = (v.kind(), v.stages());
        let typed = match self.m.types.get(self.m.ty(v.result())) {
            Type::Pipeline { stages } => i64::from(*stages),
            _ => return self.fail(op, "its result is not a pipeline"),
        };
        if stages != typed {
            return self.fail(op, format!("has {stages} stages, its type {typed}"));
        }
        if stages < 1 {
            return self.fail(op, format!("has {stages} stages, but needs at least 1"));
        }
        if role != Role::Whole {
            return self.fail(
                op,
                "is in the wrong role: all warps create it before they part",
            );
        }
        let Ok(bytes) = u64::try_from(v.bytes()) else {
            return self.fail(op, "`bytes` is negative");
        };
        self.creates.push(op);
        self.setting.pipelines.insert(
            v.result(),
            Pipeline {
                kind,
                alone: v.consumers() == 0,
                stages,
                bytes,
                by_threads: v.copiers().is_some(),
                handed_over: v.handed_over(),
            },
        );
        Ok(())
    }

    fn warp_specialize(
        &mut self,
        op: OpId,
        v: &view::WarpSpecialize<'_, Op>,
    ) -> Result<(), Diagnostic> {
        let (m, data) = (self.m, v.op());
        if m.parent_op(op) != Some(self.func) {
            return self.fail(op, "the warps of the block part inside of control flow");
        }
        if self.consumer_warps.is_some() {
            return self.fail(op, "the warps of the block part a second time");
        }
        let after = m
            .block(data.block)
            .ops
            .iter()
            .skip_while(|&&o| o != op)
            .nth(1);
        if after.is_some_and(|&o| S::of(m.op(o).kind) != Some(S::Return)) {
            return self.fail(
                op,
                "is not the last operation: its roles do not come back together",
            );
        }
        let warps = v.consumer_warps();
        let all = view::Func::of(m.op(self.func)).map_or(0, |f| f.num_warps());
        // Beside a lone producer, each role of matmuls has a warp of its own.
        let issuers = data.regions.len().saturating_sub(2) as i64;
        let alone = all - warps == 1 + issuers;
        let beside = if alone { 1 } else { all - warps };
        if let Some(copiers) = self.copiers() {
            if copiers != all - warps || copiers != warps || data.regions.len() > 2 {
                return self.fail(
                    op,
                    format!("{warps} consumer warps and {copiers} that copy are not the kernel's {all} warps, half of them each"),
                );
            }
        } else if !PRODUCER_WARPS.contains(&beside) || all - warps <= issuers {
            return self.fail(
                op,
                format!("{warps} consumer warps and one or four producer warps are not the kernel's {all} warps"),
            );
        }
        self.consumer_warps = Some(warps);
        self.apart = data.regions.len() > 2;
        Ok(())
    }

    /// The producer's warps where they copy by themselves.
    fn copiers(&self) -> Option<i64> {
        let mut creates = self.creates.iter();
        creates.find_map(|&o| view::PipelineCreate::of(self.m.op(o))?.copiers())
    }

    fn counts(&self) -> Result<(), Diagnostic> {
        for &op in &self.creates {
            let Some(v) = view::PipelineCreate::of(self.m.op(op)) else {
                continue;
            };
            let tma = v.kind() == PipelineKind::Tma;
            if v.copiers().is_some() && (!tma || v.pair() || v.blocks().is_some()) {
                return self.fail(
                    op,
                    "`copiers` fill stages of a TMA pipeline of one block only",
                );
            }
            if v.copiers().is_some() && v.copiers() != self.copiers() {
                return self.fail(op, "`copiers` are all of the producer's warps");
            }
            let consumers = v.consumers();
            // Matmuls hand a stage back with one arrival.
            let by_matmuls = self.by_matmuls(v.result());
            if v.handed_over() && (v.kind() != PipelineKind::Mma || v.pair() || consumers < 1) {
                return self.fail(
                    op,
                    "only consumers of matmuls of one block hand iterations over",
                );
            }
            match self.consumer_warps {
                Some(_) if tma && by_matmuls && consumers == 1 => {}
                Some(warps) if tma && consumers != warps => {
                    return self.fail(
                        op,
                        format!(
                            "`consumers` is {consumers}, but the consumer role has {warps} warps"
                        ),
                    );
                }
                None if tma => {
                    return self.fail(
                        op,
                        "a TMA pipeline needs roles: missing async.warp_specialize",
                    );
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether all releases of a pipeline are those of matmuls.
    fn by_matmuls(&self, pipeline: ValueId) -> bool {
        let ops = self.m.body_of(self.func, 0).map(|b| self.m.ops_under(b));
        let ops = ops.unwrap_or_default();
        let releases = ops
            .iter()
            .filter_map(|&o| view::ConsumerRelease::of(self.m.op(o)));
        let own = releases.filter(|r| r.pipeline() == pipeline);
        let marked: Vec<bool> = own.map(|r| r.matmuls()).collect();
        !marked.is_empty() && marked.into_iter().all(|x| x)
    }

    /// Roles, kinds and stage counts of the steps; which pipeline fills which buffer.
    fn steps(&mut self, body: BlockId, role: Role) -> Result<(), Diagnostic> {
        self.each(body, role, &mut |s, op, role| {
            let data = s.m.op(op);
            let Some(kind) = S::of(data.kind) else {
                return Ok(());
            };
            let pipeline = access::pipeline(data);
            let of = pipeline.and_then(|p| s.setting.pipelines.get(&p)).copied();
            let tma = of.is_some_and(|p| p.kind == PipelineKind::Tma);
            s.role(op, kind, tma, role)?;
            let (Some(pipeline), Some(of)) = (pipeline, of) else {
                return Ok(());
            };
            let (stages, by_threads) = (of.stages, of.by_threads);
            let through_registers = of.kind == PipelineKind::Registers;
            match kind {
                S::LocalStore if !through_registers => {
                    return s.fail(
                        op,
                        "fills a stage of a pipeline that is not through registers",
                    );
                }
                S::TmaLoad | S::TiledCopy | S::PointerCopy if through_registers => {
                    return s.fail(op, "copies into a pipeline through registers");
                }
                S::TmaLoad if !tma => return s.fail(op, "copies by TMA in a cp_async pipeline"),
                S::TiledCopy | S::PointerCopy if tma && !by_threads => {
                    return s.fail(
                        op,
                        "copies by cp.async in a TMA pipeline of which no warps are `copiers`",
                    );
                }
                S::TmaLoad | S::TiledCopy | S::PointerCopy | S::LocalStore => {}
                _ => return Ok(()),
            }
            let Some(buffer) = access::destination(data) else {
                return Ok(());
            };
            if let Type::SharedTile { stages: have, .. } = s.m.types.get(s.m.ty(buffer))
                && i64::from(*have) != stages
            {
                return s.fail(
                    op,
                    format!("the buffer has {have} stages, the pipeline {stages}"),
                );
            }
            let before = s.setting.filled_by.insert(buffer, pipeline);
            if before.is_some_and(|p| p != pipeline) {
                return s.fail(op, "two pipelines fill one buffer");
            }
            Ok(())
        })
    }

    fn role(&self, op: OpId, kind: S, tma: bool, role: Role) -> Result<(), Diagnostic> {
        let tiles = &[Role::Whole, Role::Consumer][..];
        let of_matmuls = kind == S::TensorDot
            || view::ConsumerRelease::of(self.m.op(op)).is_some_and(|v| v.matmuls());
        if self.apart && of_matmuls && role != Role::Matmuls {
            return self.fail(
                op,
                "is in the wrong role: it belongs to the matmuls' thread",
            );
        }
        if role == Role::Matmuls {
            // A number that says how often they run is loaded by each role for itself.
            let number = || (self.m.op(op).results.iter()).all(|&v| elements(self.m, v) == 1);
            return match kind {
                S::Load | S::TiledLoad if number() => Ok(()),
                S::TensorDot
                | S::ProducerAcquire
                | S::ProducerCommit
                | S::ConsumerWait
                | S::ConsumerRelease
                | S::RoleInvariant
                | S::RoleEnd
                | S::Return => Ok(()),
                _ => self.fail(
                    op,
                    "is in the wrong role: one thread issues matmuls and nothing else",
                ),
            };
        }
        let (allowed, who) = match kind {
            S::ProducerAcquire | S::ProducerCommit | S::TmaLoad | S::TiledCopy | S::PointerCopy
                if tma =>
            {
                (&[Role::Producer][..], "the producer")
            }
            S::ConsumerWait | S::ConsumerRelease | S::Drain if tma => {
                (&[Role::Consumer][..], "the consumer")
            }
            S::ProducerAcquire
            | S::ProducerCommit
            | S::TmaLoad
            | S::TiledCopy
            | S::PointerCopy
            | S::ConsumerWait
            | S::ConsumerRelease
            | S::Drain
            | S::AsyncDot
            | S::AsyncDotWait
            | S::TensorDot
            | S::TensorLoad
            | S::TensorStore
            | S::ProxyFence
            | S::TmaStore
            | S::StoreWait
            | S::LocalLoad
            | S::LocalStore => (tiles, "the warps that hold tiles"),
            _ => return Ok(()),
        };
        if allowed.contains(&role) {
            return Ok(());
        }
        let here = match role {
            Role::Whole => "all warps",
            Role::Producer => "the producer",
            Role::Consumer => "the consumer",
            Role::Matmuls => "the matmuls' thread",
        };
        self.fail(
            op,
            format!("is in the wrong role: it belongs to {who}, not to {here}"),
        )
    }

    /// Matmuls of two roles have no columns of tensor memory in common: nothing says in which order they are done.
    fn issuers(&mut self, body: BlockId) -> Result<(), Diagnostic> {
        let m = self.m;
        let Some(split) = look::roles(m, body) else {
            return Ok(());
        };
        let [first, further] = [2, 3].map(|role| {
            let ops = m.body_of(split, role).map(|b| m.ops_under(b));
            let ops = ops.unwrap_or_default().into_iter();
            let dots = ops.filter(|&o| S::of(m.op(o).kind) == Some(S::TensorDot));
            let uses = dots.flat_map(|o| m.op(o).operands.iter().map(move |&v| (o, v)));
            let columns = uses.filter_map(|(o, v)| Some((o, self.setting.columns.get(&v)?)));
            columns.collect::<Vec<_>>()
        });
        let meets = |c: &&Range<u64>| first.iter().any(|(_, own)| intersect(own, c));
        match further.iter().find(|(_, c)| meets(c)) {
            Some(&(op, _)) => self.fail(
                op,
                "uses columns of tensor memory that another role's matmuls use: they are done in no order",
            ),
            None => Ok(()),
        }
    }

    /// Every step has its counterpart somewhere.
    fn pairs(&self, body: BlockId) -> Result<(), Diagnostic> {
        const PAIRS: &[(S, S, &str)] = &[
            (
                S::ConsumerWait,
                S::ProducerCommit,
                "waits without any producer: missing producer_commit",
            ),
            (
                S::ProducerAcquire,
                S::ProducerCommit,
                "missing producer_commit for producer_acquire",
            ),
            (
                S::ProducerCommit,
                S::ProducerAcquire,
                "missing producer_acquire for producer_commit",
            ),
            (
                S::ProducerCommit,
                S::ConsumerWait,
                "missing consumer_wait for producer_commit",
            ),
            (
                S::ConsumerWait,
                S::ConsumerRelease,
                "missing consumer_release for consumer_wait",
            ),
            (
                S::ConsumerRelease,
                S::ConsumerWait,
                "missing consumer_wait for consumer_release",
            ),
        ];
        let m = self.m;
        let ops = m.ops_under(body);
        let steps = ops.iter().filter_map(|&op| {
            let data = m.op(op);
            Some((S::of(data.kind)?, access::pipeline(data)?, op))
        });
        let steps: Vec<(S, ValueId, OpId)> = steps.collect();
        let present: FxHashSet<(S, ValueId)> = steps.iter().map(|s| (s.0, s.1)).collect();
        for &(kind, pipeline, op) in &steps {
            let missing = PAIRS
                .iter()
                .find(|p| p.0 == kind && !present.contains(&(p.1, pipeline)));
            if let Some((.., why)) = missing {
                return self.fail(op, *why);
            }
        }
        Ok(())
    }
}
