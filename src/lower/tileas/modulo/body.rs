//! What depends on what in one iteration of a loop, and from one iteration to the next.

use super::Refused;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view::{AsyncDot, ConsumerRelease};
use crate::facts::access;
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use crate::lower::tileas::look::loads_weakly;
use crate::lower::tileas::operands::allocation;
use crate::lower::tileas::overlap::waits_for;
use rustc_hash::{FxHashMap, FxHashSet};

/// Where a value that an iteration reads comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    Outside,
    Counter,
    /// What the loop carries, by number.
    Carried(usize),
    /// An operation of the iteration, by number.
    Made(usize),
}

/// A matmul that is issued and waited for.
#[derive(Clone, Copy, Debug)]
pub struct Dot {
    pub at: usize,
    /// The wait behind it, perhaps behind others that add to the same accumulator.
    pub wait: usize,
    pub sources: [ValueId; 2],
}

/// The body of a counted loop as a graph; operations are numbered as they stand.
#[derive(Debug)]
pub struct Body {
    pub for_op: OpId,
    pub block: BlockId,
    /// Without the end.
    pub ops: Vec<OpId>,
    /// What the next iteration is handed.
    pub yields: Vec<ValueId>,
    pub args: Vec<ValueId>,
    /// What each operation, or one in it, reads from outside of itself.
    pub reads: Vec<Vec<ValueId>>,
    /// The operations of the same iteration that come before each.
    pub before: Vec<Vec<usize>>,
    pub dots: Vec<Dot>,
    origins: FxHashMap<ValueId, Origin>,
}

impl Body {
    /// The graph of the body of a loop with matmuls; `filled`: the pipeline whose copies fill each buffer.
    pub fn of(
        m: &Module,
        for_op: OpId,
        filled: &FxHashMap<ValueId, ValueId>,
    ) -> Result<Body, Refused> {
        let mut body = Body::plain(m, for_op)?;
        for &op in &body.ops {
            admissible(m, op, true)?;
            let turns = S::of(m.op(op).kind) == Some(S::ConsumerWait)
                && waits_for(m, &body.ops, access::pipeline(m.op(op))) > 1;
            if turns {
                return Err(Refused::new(
                    op,
                    "several loads of an iteration use one ring of stages in turn",
                ));
            }
        }
        body.find_dots(m)?;
        body.find_steps(m, filled);
        Ok(body)
    }

    /// The graph of the body of a producer's loop, which computes and starts copies.
    pub fn of_producer(m: &Module, for_op: OpId) -> Result<Body, Refused> {
        const STEPS: [S; 3] = [S::ProducerAcquire, S::TmaLoad, S::ProducerCommit];
        let mut body = Body::plain(m, for_op)?;
        let step = |op: OpId| {
            let kind = S::of(m.op(op).kind)?;
            let rank = STEPS.iter().position(|&s| s == kind)?;
            Some((access::pipeline(m.op(op))?, rank))
        };
        let steps: Vec<_> = body.ops.iter().map(|&op| step(op)).collect();
        for (i, &op) in body.ops.iter().enumerate() {
            let Some((pipeline, rank)) = steps[i] else {
                admissible(m, op, false)?;
                continue;
            };
            let earlier = |s: &Option<_>| s.is_some_and(|(p, r)| p == pipeline && r < rank);
            let earlier = (0..steps.len()).filter(|&k| earlier(&steps[k]));
            body.before[i].extend(earlier);
        }
        Ok(body)
    }

    fn plain(m: &Module, for_op: OpId) -> Result<Body, Refused> {
        let whole = || Refused::new(for_op, "the loop has no body");
        let block = m.body_of(for_op, 0).ok_or_else(whole)?;
        let (&end, ops) = m.block(block).ops.split_last().ok_or_else(whole)?;
        let (counter, args) = m.block(block).args.split_first().ok_or_else(whole)?;
        let mut origins: FxHashMap<ValueId, Origin> = FxHashMap::default();
        origins.insert(*counter, Origin::Counter);
        origins.extend(args.iter().zip(0..).map(|(&a, i)| (a, Origin::Carried(i))));
        for (i, &op) in ops.iter().enumerate() {
            let made = m.op(op).results.iter();
            origins.extend(made.map(|&r| (r, Origin::Made(i))));
        }
        let mut body = Body {
            for_op,
            block,
            ops: ops.to_vec(),
            yields: m.op(end).operands.to_vec(),
            args: args.to_vec(),
            reads: ops.iter().map(|&op| reads(m, op)).collect(),
            before: Vec::new(),
            dots: Vec::new(),
            origins,
        };
        for (i, &v) in body.yields.iter().enumerate() {
            if matches!(body.origin(v), Origin::Carried(k) if k != i) {
                let why = "a value is used two iterations after it is computed";
                return Err(Refused::new(for_op, why));
            }
        }
        body.before = body.reads.iter().map(|r| body.makers(r)).collect();
        Ok(body)
    }

    pub fn origin(&self, value: ValueId) -> Origin {
        let known = self.origins.get(&value).copied();
        known.unwrap_or(Origin::Outside)
    }

    fn makers(&self, values: &[ValueId]) -> Vec<usize> {
        let made = values.iter().filter_map(|&v| match self.origin(v) {
            Origin::Made(i) => Some(i),
            _ => None,
        });
        made.collect()
    }

    /// The operation that makes carried value `i` for the next iteration.
    pub fn maker(&self, carried: usize) -> Option<usize> {
        match self.origin(*self.yields.get(carried)?) {
            Origin::Made(i) => Some(i),
            _ => None,
        }
    }

    /// Pairs matmuls with their waits.
    fn find_dots(&mut self, m: &Module) -> Result<(), Refused> {
        let is = |i: usize, kind: S| S::of(m.op(self.ops[i]).kind) == Some(kind);
        let mut dots = Vec::new();
        for at in (0..self.ops.len()).filter(|&i| is(i, S::AsyncDot)) {
            let mut last = at;
            let wait = loop {
                let mut users = (0..self.ops.len()).filter(|&i| self.before[i].contains(&last));
                match (users.next(), users.next()) {
                    (Some(user), None) if is(user, S::AsyncDotWait) => break user,
                    (Some(user), None) if is(user, S::AsyncDot) => last = user,
                    _ => {
                        let why = "a matmul is not waited for in its iteration";
                        return Err(Refused::new(self.ops[at], why));
                    }
                }
            };
            let Matmul { lhs, rhs, .. } = Matmul::known(m.op(self.ops[at]));
            let sources = [lhs, rhs];
            dots.push(Dot { at, wait, sources });
        }
        self.dots = dots;
        Ok(())
    }

    /// Orders what reads a stage behind the wait for it, and its release behind what reads it.
    fn find_steps(&mut self, m: &Module, filled: &FxHashMap<ValueId, ValueId>) {
        let done = |i: usize| self.dots.iter().find(|d| d.at == i).map_or(i, |d| d.wait);
        let mut more = Vec::new();
        for (i, &op) in self.ops.iter().enumerate() {
            let kind = S::of(m.op(op).kind);
            let waits = kind == Some(S::ConsumerWait);
            if !waits && kind != Some(S::ConsumerRelease) {
                continue;
            }
            let pipeline = access::pipeline(m.op(op));
            for (k, reads) in self.reads.iter().enumerate() {
                let mut buffers = reads.iter().map(|&v| allocation(m, v));
                let of = |b: ValueId| pipeline.is_some() && filled.get(&b).copied() == pipeline;
                let step = S::of(m.op(self.ops[k]).kind);
                let steps = matches!(step, Some(S::ConsumerWait | S::ConsumerRelease));
                let releases = step == Some(S::ConsumerRelease)
                    && access::pipeline(m.op(self.ops[k])) == pipeline;
                if waits && (releases || !steps && buffers.any(of)) {
                    more.push((k, i));
                } else if !waits && !steps && buffers.any(of) {
                    more.push((i, done(k)));
                }
            }
        }
        for (op, before) in more {
            self.before[op].push(before);
        }
    }

    /// Of each operation, those that come behind it: in its iteration, or that read what it hands to the next one.
    pub fn behind(&self) -> Vec<Vec<usize>> {
        let mut behind = vec![Vec::new(); self.ops.len()];
        for (i, before) in self.before.iter().enumerate() {
            before.iter().for_each(|&b| behind[b].push(i));
            for &v in &self.reads[i] {
                if let Origin::Carried(k) = self.origin(v)
                    && let Some(maker) = self.maker(k)
                {
                    behind[maker].push(i);
                }
            }
        }
        behind
    }
}

/// The values from outside of an operation that it or one in it reads.
fn reads(m: &Module, op: OpId) -> Vec<ValueId> {
    let mut reads = m.op(op).operands.to_vec();
    let mut own: FxHashSet<ValueId> = FxHashSet::default();
    for &region in &m.op(op).regions {
        for &block in &m.region(region).blocks {
            for inner in m.ops_under(block) {
                own.extend(&m.op(inner).results);
                for &deeper in &m.op(inner).regions {
                    let blocks = m.region(deeper).blocks.iter();
                    blocks.for_each(|&b| own.extend(&m.block(b).args));
                }
                reads.extend(&m.op(inner).operands);
            }
            own.extend(&m.block(block).args);
        }
    }
    reads.retain(|v| !own.contains(v));
    reads.sort_unstable();
    reads.dedup();
    reads
}

/// Whether an operation may run in another iteration's time: it computes, loads what nothing in the loop writes, or
/// is a step of the protocol in the loop's own block (`outermost`).
fn admissible(m: &Module, op: OpId, outermost: bool) -> Result<(), Refused> {
    let data = m.op(op);
    let refused = |why: String| Err(Refused { op, why });
    let plain = match (C::of(data.kind), S::of(data.kind)) {
        (_, Some(S::AsyncDot | S::AsyncDotWait | S::ConsumerWait | S::LocalLoad)) => outermost,
        (_, Some(S::ConsumerRelease)) => {
            let always = |v: ConsumerRelease<'_, _>| v.enable().is_none() && !v.matmuls();
            outermost && ConsumerRelease::of(data).is_some_and(always)
        }
        (_, Some(S::TiledLoad | S::Load)) => loads_weakly(data),
        (Some(C::Reduce | C::Scan | C::If | C::For | C::Yield), _) => true,
        (Some(C::Continue), _) => {
            let around = m.parent_op(op).and_then(|p| C::of(m.op(p).kind));
            around == Some(C::For)
        }
        _ => data.def().traits.has(Traits::PURE),
    };
    if !plain {
        return refused(format!("'{}' cannot move to another iteration", data.kind));
    }
    if let Some(dot) = AsyncDot::of(data)
        && dot.accumulate().is_some()
    {
        return refused(
            "whether the matmul adds to its accumulator is decided in the loop".to_owned(),
        );
    }
    if AsyncDot::of(data).is_some_and(|dot| dot.part().is_some()) {
        return refused("the matmul's product is added some columns at a time".to_owned());
    }
    for i in 0..data.regions.len() {
        for &inner in m.body_of(op, i).map_or(&[][..], |b| &m.block(b).ops) {
            admissible(m, inner, false)?;
        }
    }
    Ok(())
}

/// Whether an operation is made anew where its result is read rather than kept: constants, changes of shape, and lists of
/// numbers.
pub fn is_made_anew(m: &Module, op: OpId) -> bool {
    let kind = m.op(op).kind;
    matches!(
        C::of(kind),
        Some(C::Constant | C::Iota | C::Reshape | C::Broadcast | C::Permute | C::Assume)
    ) || S::of(kind) == Some(S::Numbers)
}

/// Whether an operation computes single numbers.
pub fn is_scalar(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    let scalar = |v: &ValueId| match m.types.get(m.ty(*v)) {
        Type::Tile { shape, .. } => shape.is_empty(),
        _ => true,
    };
    data.only_computes() && data.results.iter().chain(&data.operands).all(scalar)
}
