//! Matmuls that need nothing of what the warps compute have a warp of their own, beside that of the ones which do: they
//! multiply for the next iteration while the warps compute with what they made in this one.
//!
//! ```text
//! acquire                           acquire; acquire'
//! for …                             for …
//!   tensor_dot q, k, s                tensor_dot q, k, s
//!   commit; wait; release             commit'; wait'; release'
//!   x = tensor_load s                 x = tensor_load s
//!   … of x, to y               →      acquire'
//!   tensor_store y, p                 … of x, to y
//!   acquire                           commit; wait; release
//!   tensor_dot p, v, o                tensor_store y, p
//! commit; wait; release               acquire
//!                                     tensor_dot p, v, o
//!                                   commit'; wait'; release'
//!                                   commit; wait; release
//! ```
//! The steps with a stroke are those of a second pipeline. Both are handed over: the warps let the next scores in when they
//! have loaded these, and the output when they have stored what it is made of. That takes columns of tensor memory: what is
//! computed of the scores cannot lie where the next ones go ([`reserve`]).

use super::{Held, Kernel, Matmuls, is_step, waits};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access;
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use crate::lower::build::cased;
use crate::lower::tileas::lifetime::intersect;
use crate::lower::tileas::look::{self, ancestor_in, pipeline_kind, place};
use crate::lower::tileas::missed::{Log, Refusal};
use crate::lower::tileas::operands::allocation;
use crate::lower::tileas::tcgen05::{columns, emit, number, together};
use rustc_hash::FxHashSet;

/// What is done, in messages.
const WHAT: &str = "warp of the next iteration's matmuls";

/// A loop whose first matmuls are waited for with the last ones of the iteration before.
struct Round {
    around: OpId,
    block: BlockId,
    /// Those first matmuls.
    dots: Vec<OpId>,
    /// The wait for them, and the release.
    wait: [OpId; 2],
    /// The steps around the loop.
    acquire: OpId,
    commit: OpId,
}

impl Round {
    fn of(m: &Module, block: BlockId, pipeline: ValueId) -> Option<Round> {
        let around = m.region(m.block(block).region).parent;
        let ops = &m.block(block).ops;
        let own = |o: &&OpId| access::pipeline(m.op(**o)) == Some(pipeline);
        let steps: Vec<OpId> = ops.iter().filter(own).copied().collect();
        let &[commit, wait, release, .., last] = &steps[..] else {
            return None;
        };
        let is = |op: OpId, kind: S| is_step(m, op, kind, pipeline);
        let joined = is(commit, S::ProducerCommit) && is(last, S::ProducerAcquire);
        if C::of(m.op(around).kind) != Some(C::For) || !joined {
            return None;
        }
        let before = ops.iter().take_while(|&&o| o != commit);
        let dots = before.filter(|&&o| S::of(m.op(o).kind) == Some(S::TensorDot));
        let (home, at) = place(m, around);
        let outside = &m.block(home).ops;
        let acquire = outside[..at].iter().rev().find(own);
        let behind = outside[at + 1..].iter().find(own);
        Some(Round {
            around,
            block,
            dots: Some(dots.copied().collect()).filter(|d: &Vec<OpId>| !d.is_empty())?,
            wait: [wait, release],
            acquire: *acquire.filter(|&&o| is(o, S::ProducerAcquire))?,
            commit: *behind.filter(|&&o| is(o, S::ProducerCommit))?,
        })
    }
}

/// Gives the first matmuls of loops a pipeline of their own. Both, with their matmuls.
pub fn part(
    m: &mut Module,
    body: BlockId,
    kernel: &Kernel,
    log: &mut Log,
) -> Option<[(ValueId, Matmuls); 2]> {
    let (consumer, pipeline) = (kernel.consumer, kernel.pipeline);
    let blocks = together::blocks(m, consumer, pipeline).into_iter();
    let rounds: Vec<Round> = blocks.filter_map(|b| Round::of(m, b, pipeline)).collect();
    let first: Vec<OpId> = rounds.iter().flat_map(|r| r.dots.clone()).collect();
    let &at = first.first()?;
    let dots = m.ops_under(consumer).into_iter();
    let dots = dots.filter(|o| S::of(m.op(*o).kind) == Some(S::TensorDot));
    let rest: Vec<OpId> = dots.filter(|o| !first.contains(o)).collect();
    let parted = match has_warp(m, body) {
        true => Parted::of(m, body, &rounds, first, rest),
        false => Err((at, "the producer has no warp to spare".to_owned())),
    };
    let parted = match parted {
        Ok(parted) => parted,
        Err((op, why)) => {
            log.note(m, op, WHAT, why);
            return None;
        }
    };
    let own = create(m, body);
    let mut around = FxHashSet::default();
    for round in &rounds {
        // Loops that follow one another are let in and waited for together.
        let outermost = around.insert(round.acquire);
        round.apply(m, &parted, [pipeline, own], outermost);
    }
    number::run(m, body, own);
    log.changed(
        m.op(at).loc,
        WHAT,
        "they are issued while the other warps compute",
    );
    let Parted {
        first, rest, rings, ..
    } = parted;
    let [ahead, behind] = &rings;
    let none = FxHashSet::default();
    let lent = ahead.intersection(behind).copied().collect();
    let part = |of, dots: &[OpId], rings| Matmuls::part(m, consumer, of, dots, rings);
    Some([
        (own, part(own, &first, [ahead, &lent])),
        (pipeline, part(pipeline, &rest, [behind, &none])),
    ])
}

/// Whether the producer is a warpgroup, most of whose warps have nothing to do.
fn has_warp(m: &Module, body: BlockId) -> bool {
    let func = m.region(m.block(body).region).parent;
    look::roles(m, body).is_some_and(|split| super::warps(m, func, split)[1] == 4)
}

fn create(m: &mut Module, body: BlockId) -> ValueId {
    let i32_ty = m.types.int(32);
    let int = |value: i64| Some(crate::ir::Attr::Int { value, ty: i32_ty });
    let ty = m.types.intern(Type::Pipeline { stages: 1 });
    let attrs = [cased(PipelineKind::Mma), int(1), int(0), int(0), None];
    m.at(body, 0).value(S::PipelineCreate, &[], attrs, ty)
}

/// The matmuls of a kernel in two parts that have nothing to do with each other.
struct Parted {
    first: Vec<OpId>,
    rest: Vec<OpId>,
    /// The rings that the matmuls of either hand back.
    rings: [FxHashSet<ValueId>; 2],
    /// The accumulators of the first ones.
    scores: FxHashSet<ValueId>,
}

impl Parted {
    fn of(
        m: &Module,
        body: BlockId,
        rounds: &[Round],
        first: Vec<OpId>,
        rest: Vec<OpId>,
    ) -> Result<Parted, Refusal> {
        let filled = waits::filled_by(m, body);
        let by_matmuls = super::rings(m, body);
        let rings = |dots: &[OpId]| -> FxHashSet<ValueId> {
            let sources = dots.iter().flat_map(|&o| Matmul::known(m.op(o)).sources());
            let rings = sources.filter_map(|v| filled.get(&allocation(m, v)));
            rings.filter(|r| by_matmuls.contains(r)).copied().collect()
        };
        let rings = [rings(&first), rings(&rest)];
        let Some(&at) = first.first() else {
            return Err((rounds[0].around, String::new()));
        };
        for &ring in rings[0].intersection(&rings[1]) {
            Self::is_handed_back_by(m, ring, &rest).map_err(|op| {
                let why = "another matmul reads its tiles, and does not always hand them back";
                (op, why.to_owned())
            })?;
        }
        let [own, theirs] = [&first, &rest].map(|dots| touched(m, dots));
        let meet = |a: &ValueId| theirs.iter().any(|b| overlap(m, *a, *b));
        if own.iter().any(meet) {
            let why =
                "tensor memory has no columns for it beside what is computed of the one before";
            return Err((at, why.to_owned()));
        }
        let scores = first.iter().map(|&o| Matmul::known(m.op(o)).acc).collect();
        for &dot in &first {
            Self::is_free(m, body, rounds, dot)?;
        }
        Ok(Parted {
            first,
            rest,
            rings,
            scores,
        })
    }

    /// Whether all stages of `ring` are handed back behind matmuls of the `rest`; else a release that is not.
    fn is_handed_back_by(m: &Module, ring: ValueId, rest: &[OpId]) -> Result<(), OpId> {
        let users = m.users(ring).into_iter();
        let mut releases = users.filter(|&o| is_step(m, o, S::ConsumerRelease, ring));
        let behind_first = |&release: &OpId| {
            let (block, at) = place(m, release);
            let before = m.block(block).ops.iter().take(at).rev();
            let mut dots = before.filter(|&&o| S::of(m.op(o).kind) == Some(S::TensorDot));
            !dots.next().is_some_and(|dot| rest.contains(dot))
        };
        releases.find(behind_first).map_or(Ok(()), Err)
    }

    /// Whether warps touch what `dot` makes only behind the wait for it, in its loop, and read what it reads only there.
    fn is_free(m: &Module, body: BlockId, rounds: &[Round], dot: OpId) -> Result<(), Refusal> {
        let Some(round) = rounds.iter().find(|r| r.dots.contains(&dot)) else {
            return Err((dot, String::new()));
        };
        let matmul = Matmul::known(m.op(dot));
        for user in m.users(matmul.acc) {
            let inside = ancestor_in(m, body, round.block, user);
            let behind = inside.is_some_and(|o| place(m, o).1 > place(m, round.wait[0]).1);
            let loads = S::of(m.op(user).kind) == Some(S::TensorLoad);
            let multiplies = round.dots.contains(&user);
            if !(multiplies || loads && behind) {
                let why = "its result is used elsewhere than behind the wait for it in its loop";
                return Err((dot, why.to_owned()));
            }
        }
        let stored = |buffer: ValueId| {
            let mut users = m.users(buffer).into_iter();
            users.find(|&o| {
                let written = access::destination(m.op(o)) == Some(buffer);
                let stores = matches!(S::of(m.op(o).kind), Some(S::LocalStore | S::TensorStore));
                (stores || written && S::of(m.op(o).kind) != Some(S::TmaLoad))
                    && ancestor_in(m, body, round.block, o).is_some()
            })
        };
        let mut sources = matmul.sources().map(|v| allocation(m, v));
        match sources.find_map(stored) {
            Some(store) => Err((store, "warps store what it reads".to_owned())),
            None => Ok(()),
        }
    }
}

/// The buffers in tensor memory that matmuls read and write.
fn touched(m: &Module, dots: &[OpId]) -> FxHashSet<ValueId> {
    let values = dots.iter().flat_map(|&o| m.op(o).operands.to_vec());
    let tensor = |v: &ValueId| matches!(m.types.get(m.ty(*v)), Type::TensorTile { .. });
    values.filter(tensor).collect()
}

/// Whether two buffers have columns in common.
fn overlap(m: &Module, a: ValueId, b: ValueId) -> bool {
    let columns = |v: ValueId| columns::of(m, m.def_op(v)?);
    columns(a)
        .zip(columns(b))
        .is_none_or(|(a, b)| intersect(&a, &b))
}

impl Round {
    /// Gives the first matmuls the steps of `own`, those around the loop only if it is the `outermost`, and lets the others of
    /// `pipeline` be waited for later.
    fn apply(
        &self,
        m: &mut Module,
        parted: &Parted,
        [pipeline, own]: [ValueId; 2],
        outermost: bool,
    ) {
        let zero = emit::number_at(m, self.function(m));
        let step = |m: &mut Module, at: OpId, kind: S| {
            let groups: [&[ValueId]; 3] = [&[own], &[zero], &[]];
            let many = if kind == S::ConsumerRelease { 3 } else { 2 };
            emit::before(m, at, kind, &groups[..many]);
        };
        let waited = [S::ProducerCommit, S::ConsumerWait, S::ConsumerRelease];
        let [wait, release] = self.wait;
        if outermost {
            step(m, self.acquire, S::ProducerAcquire);
            for kind in waited {
                step(m, self.commit, kind);
            }
        }
        for kind in waited {
            step(m, wait, kind);
        }
        let (_, from) = place(m, release);
        let ops = m.block(self.block).ops.clone();
        let uses = |&o: &OpId| {
            let inside = m.ops_inside(o).into_iter().chain([o]);
            let mut values = inside.flat_map(|o| m.op(o).operands.to_vec());
            values.any(|v| parted.scores.contains(&v))
        };
        let last = ops.iter().rposition(uses).unwrap_or(from).max(from);
        let last = reduced(m, parted, &ops, last, [pipeline, own]).unwrap_or(last);
        if let Some(&next) = ops.get(last + 1) {
            step(m, next, S::ProducerAcquire);
        }
        self.wait_later(m, parted, [pipeline, own]);
    }

    fn function(&self, m: &Module) -> BlockId {
        let mut at = self.around;
        while let Some(parent) = m.parent_op(at)
            && S::of(m.op(parent).kind) != Some(S::Func)
        {
            at = parent;
        }
        m.op(at).block
    }

    /// Moves the wait for the other matmuls down to what needs them to be done.
    fn wait_later(&self, m: &mut Module, parted: &Parted, own: [ValueId; 2]) {
        let (_, from) = place(m, self.wait[1]);
        let ops = m.block(self.block).ops.clone();
        let mut behind = ops.iter().skip(from + 1).copied();
        let Some(to) = behind.find(|&o| !lets_pass(m, o, parted, own)) else {
            return;
        };
        let block = self.block;
        let taken = self.wait;
        m.block_mut(block).ops.retain(|o| !taken.contains(o));
        for op in taken {
            let (_, at) = place(m, to);
            m.place(op, block, at);
        }
    }
}

/// Where what was loaded by `ops` up to number `last` is first reduced, if nothing needs the other matmuls before: what is
/// computed while tiles are loaded part by part stands in front of a step then.
fn reduced(
    m: &Module,
    parted: &Parted,
    ops: &[OpId],
    last: usize,
    pipelines: [ValueId; 2],
) -> Option<usize> {
    let loaded = |o: &OpId| view::TensorLoad::of(m.op(*o)).map(|v| v.result());
    let mut made: FxHashSet<ValueId> = ops[..=last].iter().filter_map(loaded).collect();
    for (i, &op) in ops.iter().enumerate().skip(last + 1) {
        let data = m.op(op);
        if !lets_pass(m, op, parted, pipelines) {
            return None;
        }
        if data.operands.iter().any(|v| made.contains(v)) {
            if C::of(data.kind) == Some(C::Reduce) {
                return Some(i);
            }
            made.extend(&data.results);
        }
    }
    None
}

/// Whether an operation, with what is in it, can be done while matmuls of the later part are in flight.
fn lets_pass(m: &Module, op: OpId, parted: &Parted, [pipeline, own]: [ValueId; 2]) -> bool {
    let inner = m.ops_inside(op).into_iter();
    inner.chain([op]).all(|op| {
        let data = m.op(op);
        if access::pipeline(data) == Some(own) {
            return true;
        }
        match view::View::of(data) {
            Some(view::View::TensorLoad(v)) => parted.scores.contains(&v.source()),
            Some(view::View::ConsumerWait(v)) => {
                v.pipeline() != pipeline
                    && pipeline_kind(m, v.pipeline()) == Some(PipelineKind::Tma)
            }
            Some(view::View::ConsumerRelease(v)) => v.matmuls(),
            _ => matches!(
                S::of(data.kind),
                None | Some(S::TiledLoad | S::Load | S::LocalLoad | S::SharedView)
            ),
        }
    })
}

/// Gives the accumulators of matmuls in loops of `pipeline` that read nothing which the warps compute columns of their own, if
/// there are so many `columns`.
pub fn reserve(m: &Module, body: BlockId, pipeline: ValueId, held: &mut Vec<Held>, columns: u64) {
    if !has_warp(m, body) {
        return;
    }
    let mut first: FxHashSet<OpId> = FxHashSet::default();
    for block in together::blocks(m, body, pipeline) {
        let around = m.region(m.block(block).region).parent;
        let dots = m.block(block).ops.iter().copied();
        let dots = dots.filter(|&o| S::of(m.op(o).kind) == Some(S::TensorDot));
        let free = dots.take_while(|&dot| !needs_warps(m, body, block, dot));
        if C::of(m.op(around).kind) == Some(C::For) {
            first.extend(free);
        }
    }
    let ahead = |h: &Held| Held {
        ahead: Some(first.contains(&h.dot)),
        ..*h
    };
    let all: Vec<Held> = held.iter().map(ahead).collect();
    if !first.is_empty() && columns::needed(m, &all) <= columns {
        *held = all;
    }
}

/// Whether warps store what a matmul reads in its block.
fn needs_warps(m: &Module, body: BlockId, block: BlockId, dot: OpId) -> bool {
    let matmul = Matmul::known(m.op(dot));
    let mut sources = matmul.sources();
    sources.any(|v| {
        let users = m.users(allocation(m, v));
        users.into_iter().any(|o| {
            let stores = matches!(S::of(m.op(o).kind), Some(S::LocalStore | S::TensorStore));
            stores && ancestor_in(m, body, block, o).is_some()
        })
    })
}
