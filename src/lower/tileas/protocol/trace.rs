//! What each warp role does, in order, when loops of unknown length run a given number of times.
//!
//! Scalars are followed symbolically: an iteration number must come out as a number, a trip count
//! or a condition may stay a term. Equal terms are equal in every role, so that a producer and a
//! consumer that count to the same bound do so together here too.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view as tile;
use crate::dialect::enums::Predicate;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view::View;
use crate::ir::{Attr, BlockId, Dense, Diagnostic, Module, Op, OpId, Type, ValueId};
use crate::lower::unsupported;

/// How what is unknown turns out in one run.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Trips of the first loop of unknown length; every other length gets one more than the last.
    pub trips: u64,
    /// Most trips of a loop, a known length included.
    pub most: u64,
    /// What unknown conditions are.
    pub taken: bool,
}

/// An iteration of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingIteration {
    pub pipeline: ValueId,
    pub iteration: i64,
}

/// One use of a shared buffer: the stage of an iteration, or its only one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StageUse {
    pub buffer: ValueId,
    pub iteration: Option<i64>,
}

/// What a role does to the protocol's state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    Acquire(RingIteration),
    Copy(RingIteration, ValueId),
    Commit(RingIteration),
    Wait(RingIteration),
    Release(RingIteration),
    Drain(ValueId),
    Read(StageUse),
    Write(StageUse),
    Fence,
    StoreOut(ValueId),
    /// The copies out of shared memory have read their buffers, as far as the thread that started them knows.
    StoreWait,
    /// A group numbered as given reads these buffers.
    Dot(u32, Vec<StageUse>),
    DotWait(usize),
    /// Uses what a group computes.
    Use(u32),
    /// A matmul reads these shared buffers, and reads and writes these in tensor memory.
    TensorDot(Vec<StageUse>, Vec<StageUse>),
    TensorLoad(StageUse),
    TensorStore(StageUse),
    /// A release by the matmuls issued so far.
    ReleaseByMatmuls(RingIteration),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    pub op: OpId,
    pub action: Action,
}

/// The events of a kernel: of all warps, then of each role.
#[derive(Debug, Default)]
pub struct Roles {
    pub whole: Vec<Event>,
    pub producer: Vec<Event>,
    pub consumer: Vec<Event>,
    pub matmuls: Vec<Event>,
    /// Some condition of the protocol's control flow was unknown.
    pub conditional: bool,
}

/// Most operations looked at in one run.
const STEPS: u64 = 2_000_000;
/// Most trips of a loop that holds another loop of the protocol.
const OUTER_TRIPS: u64 = 2;

/// What a value is known to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Val {
    Int(i64),
    /// An expression, by number.
    Term(u32),
    /// A buffer or a pipeline.
    Object(ValueId),
    /// The accumulator of a group.
    Group(u32),
    Other,
}

#[derive(PartialEq, Eq, Hash)]
enum Term {
    Leaf(ValueId),
    Op(crate::dialect::OpKind, Vec<Option<Attr>>, Vec<Val>),
    Counter(Val, Val, u64),
    /// A loop without a counter that steps a pipeline, by the order of these loops in a role.
    Endless(u32),
    /// What a loop of no steps carries, by how deep the loop stands and what it starts with.
    Carried(u32, Val),
}

/// How a block ends.
enum Flow {
    Yield(Vec<Val>),
    Continue(Vec<Val>),
    Break(Vec<Val>),
    Return,
}

/// How often a loop of these bounds runs.
struct Length {
    bounds: [Val; 3],
    /// Whether it holds another loop of the protocol.
    outer: bool,
    trips: u64,
}

pub struct Tracer<'m> {
    pub(super) m: &'m Module,
    scenario: Scenario,
    /// Operations with regions whose inside matters.
    relevant: FxHashSet<OpId>,
    pub(super) env: FxHashMap<ValueId, Val>,
    terms: FxHashMap<Term, u32>,
    /// What terms are the sum of.
    added: FxHashMap<Val, [Val; 2]>,
    /// Bounds of loops of unknown length, in the order they were met.
    lengths: Vec<[Val; 3]>,
    /// All loops met.
    met: Vec<Length>,
    events: Vec<Event>,
    roles: Roles,
    pub(super) groups: u32,
    steps: u64,
    /// Loops and branches without steps around the place at hand.
    depth: u32,
    /// Loops without a counter that the role has met and that step a pipeline.
    endless: u32,
    /// Whether the loop at hand is on its last trip.
    last: bool,
    /// Whether matmuls have a role of their own.
    apart: bool,
}

/// Runs `func` in `scenario`.
///
/// # Errors
/// The first operation that cannot be followed.
pub fn trace(m: &Module, func: OpId, scenario: Scenario) -> Result<Roles, Diagnostic> {
    let Some(body) = m.body_of(func, 0) else {
        return Ok(Roles::default());
    };
    let mut relevant = FxHashSet::default();
    mark(m, body, &mut relevant);
    let mut t = Tracer {
        m,
        scenario,
        relevant,
        env: FxHashMap::default(),
        terms: FxHashMap::default(),
        added: FxHashMap::default(),
        lengths: Vec::new(),
        met: Vec::new(),
        events: Vec::new(),
        roles: Roles::default(),
        groups: 0,
        steps: 0,
        depth: 0,
        endless: 0,
        last: false,
        apart: m
            .ops_under(body)
            .into_iter()
            .any(|o| S::of(m.op(o).kind) == Some(S::WarpSpecialize) && m.op(o).regions.len() > 2),
    };
    t.block(body)?;
    t.roles.whole = std::mem::take(&mut t.events);
    Ok(t.roles)
}

/// Whether an operation changes the protocol's state or ends a role early.
fn is_step(m: &Module, op: OpId) -> bool {
    S::of(m.op(op).kind).is_some_and(|s| {
        matches!(
            s,
            S::Return
                | S::RoleEnd
                | S::LocalLoad
                | S::LocalStore
                | S::AsyncDot
                | S::AsyncDotWait
                | S::TensorLoad
                | S::TensorStore
        )
    }) || m.op(op).def().traits.has(Traits::ASYNC)
}

/// Collects the operations with regions that hold steps, or jumps out of themselves; says whether
/// `block` holds (a step, a jump).
fn mark(m: &Module, block: BlockId, relevant: &mut FxHashSet<OpId>) -> (bool, bool) {
    let (mut steps, mut jumps) = (false, false);
    for &op in &m.block(block).ops {
        let kind = C::of(m.op(op).kind);
        steps |= is_step(m, op);
        jumps |= matches!(kind, Some(C::Break | C::Continue));
        let mut inside = (false, false);
        for &region in &m.op(op).regions {
            for &inner in &m.region(region).blocks {
                let (s, j) = mark(m, inner, relevant);
                inside = (inside.0 | s, inside.1 | j);
            }
        }
        // Loops keep their jumps to themselves.
        let escapes = inside.1 && kind == Some(C::If);
        if inside.0 || escapes {
            relevant.insert(op);
        }
        steps |= inside.0;
        jumps |= escapes;
    }
    (steps, jumps)
}

/// Whether a `break` in `block` leaves the loop around it.
fn breaks(m: &Module, block: BlockId) -> bool {
    m.block(block)
        .ops
        .iter()
        .any(|&op| match C::of(m.op(op).kind) {
            Some(C::Break) => true,
            Some(C::If) => {
                (0..m.op(op).regions.len()).any(|i| m.body_of(op, i).is_some_and(|b| breaks(m, b)))
            }
            _ => false,
        })
}

impl Tracer<'_> {
    pub(super) fn get(&mut self, value: ValueId) -> Val {
        match self.env.get(&value) {
            Some(&val) => val,
            None => self.term(Term::Leaf(value)),
        }
    }

    fn term(&mut self, term: Term) -> Val {
        let next = self.terms.len() as u32;
        Val::Term(*self.terms.entry(term).or_insert(next))
    }

    fn vals(&mut self, values: &[ValueId]) -> Vec<Val> {
        values.iter().map(|&v| self.get(v)).collect()
    }

    pub(super) fn bind(&mut self, values: &[ValueId], vals: &[Val]) {
        for (i, &v) in values.iter().enumerate() {
            self.env
                .insert(v, vals.get(i).copied().unwrap_or(Val::Other));
        }
    }

    pub(super) fn event(&mut self, op: OpId, action: Action) {
        self.events.push(Event { op, action });
    }

    fn block(&mut self, block: BlockId) -> Result<Flow, Diagnostic> {
        let m = self.m;
        for &op in &m.block(block).ops {
            self.steps += 1;
            if self.steps > STEPS {
                return Err(unsupported(
                    m,
                    op,
                    "the pipelines are nested too deeply to be checked",
                ));
            }
            if let Some(flow) = self.op(op)? {
                return Ok(flow);
            }
        }
        Ok(Flow::Yield(Vec::new()))
    }

    /// One operation; says how the block ends if it does.
    fn op(&mut self, op: OpId) -> Result<Option<Flow>, Diagnostic> {
        let m = self.m;
        let data = m.op(op);
        if let Some(view) = View::of(data) {
            if matches!(view, View::Return(_) | View::RoleEnd(_)) {
                return Ok(Some(Flow::Return));
            }
            if self.step(op, &view)? {
                return Ok(None);
            }
        }
        let kind = C::of(data.kind);
        match kind {
            Some(C::Yield) => return Ok(Some(Flow::Yield(self.vals(&data.operands)))),
            Some(C::Continue) => return Ok(Some(Flow::Continue(self.vals(&data.operands)))),
            Some(C::Break) => return Ok(Some(Flow::Break(self.vals(&data.operands)))),
            _ if self.relevant.contains(&op) => return self.control(op, data, kind),
            Some(C::If | C::For) => {
                self.uses(op);
                self.summary(op, data, kind)?;
                return Ok(None);
            }
            _ => {}
        }
        self.uses(op);
        if let Some(S::Load | S::TiledLoad) = S::of(data.kind) {
            self.loaded(data);
            return Ok(None);
        }
        let val = self.compute(data, kind);
        match data.results.as_slice() {
            [result] => {
                self.env.insert(*result, val);
            }
            results => {
                for &r in results {
                    let leaf = self.term(Term::Leaf(r));
                    self.env.insert(r, leaf);
                }
            }
        }
        Ok(None)
    }

    /// The results of a loop or branch without steps, as terms that are the same for a role's part of it.
    fn summary(&mut self, op: OpId, data: &Op, kind: Option<C>) -> Result<(), Diagnostic> {
        let m = self.m;
        let first = data.operands.len() - data.group(data.groups.len().saturating_sub(1)).len();
        let (head, inits) = match kind {
            Some(C::For) => data.operands.split_at(first.min(data.operands.len())),
            _ => (&data.operands[..], &[][..]),
        };
        let (head, inits) = (self.vals(head), self.vals(inits));
        let mut ends = Vec::new();
        self.depth += 1;
        for i in 0..data.regions.len() {
            let Some(body) = m.body_of(op, i) else {
                continue;
            };
            let depth = self.depth;
            let counter = head.first().copied().unwrap_or(Val::Other);
            let starts = [counter].into_iter().filter(|_| kind == Some(C::For));
            let starts: Vec<Val> = starts.chain(inits.iter().copied()).collect();
            let args: Vec<Val> = starts
                .into_iter()
                .map(|v| self.term(Term::Carried(depth, v)))
                .collect();
            self.bind(&m.block(body).args, &args);
            match self.block(body)? {
                Flow::Yield(vals) | Flow::Continue(vals) => ends.push(vals),
                _ => ends.push(Vec::new()),
            }
        }
        self.depth -= 1;
        for (i, &result) in data.results.iter().enumerate() {
            let parts = head.iter().copied().chain(inits.get(i).copied());
            let ends = ends.iter().map(|e| e.get(i).copied().unwrap_or(Val::Other));
            let parts: Vec<Val> = parts.chain(ends).collect();
            let scalar =
                matches!(m.types.get(m.ty(result)), Type::Tile { shape, .. } if shape.is_empty());
            let term = match scalar {
                true => self.term(Term::Op(data.kind, Vec::new(), parts)),
                false => self.term(Term::Leaf(result)),
            };
            self.env.insert(result, term);
        }
        Ok(())
    }

    /// Notes the accumulators in use by `op` and by everything in it.
    fn uses(&mut self, op: OpId) {
        let m = self.m;
        let mut inner = vec![op];
        for &region in &m.op(op).regions {
            for &b in &m.region(region).blocks {
                inner.extend(m.ops_under(b));
            }
        }
        for user in inner {
            for v in &m.op(user).operands {
                if let Some(&Val::Group(g)) = self.env.get(v) {
                    self.event(user, Action::Use(g));
                }
            }
        }
    }

    /// What a load yields: roles that load the same single element without waiting for a write find the same there.
    fn loaded(&mut self, data: &Op) {
        let m = self.m;
        let token = |v: &&ValueId| matches!(m.types.get(m.ty(**v)), Type::Token);
        let operands: Vec<ValueId> = data
            .operands
            .iter()
            .filter(|v| !token(v))
            .copied()
            .collect();
        let one = |v: ValueId| match m.types.get(m.ty(v)) {
            Type::Tile { shape, .. } | Type::Distributed { shape, .. } => {
                shape.iter().product::<u64>() == 1
            }
            _ => false,
        };
        for &result in &data.results {
            let val = if one(result) {
                let vals = self.vals(&operands);
                self.term(Term::Op(data.kind, data.attrs.to_vec(), vals))
            } else {
                self.term(Term::Leaf(result))
            };
            self.env.insert(result, val);
        }
    }

    /// What a plain operation's only result is.
    fn compute(&mut self, data: &Op, kind: Option<C>) -> Val {
        let [result] = data.results.as_slice() else {
            return Val::Other;
        };
        let m = self.m;
        match m.types.get(m.ty(*result)) {
            Type::SharedTile { .. } | Type::TensorTile { .. } | Type::Pipeline { .. } => {
                return Val::Object(*result);
            }
            Type::Tile { shape, .. } | Type::Distributed { shape, .. }
                if shape.iter().product::<u64>() == 1 => {}
            _ => return Val::Other,
        }
        let pure = data.def().traits.has(Traits::PURE) && data.regions.is_empty();
        if !pure {
            return self.term(Term::Leaf(*result));
        }
        let vals = self.vals(&data.operands);
        match (kind, vals.as_slice()) {
            (Some(C::Constant), []) => {
                if let Some(n) = number(data) {
                    return Val::Int(n);
                }
            }
            (Some(C::Assume | C::Reshape | C::Broadcast), [v]) => return *v,
            _ if S::of(data.kind) == Some(S::ConvertLayout) => {
                return vals.first().copied().unwrap_or(Val::Other);
            }
            (Some(C::AddI), [Val::Int(a), Val::Int(b)]) => return Val::Int(a.wrapping_add(*b)),
            (Some(C::SubI), [Val::Int(a), Val::Int(b)]) => return Val::Int(a.wrapping_sub(*b)),
            // Iteration numbers are compared for being the same or not.
            (Some(C::CmpI), [Val::Int(a), Val::Int(b)]) => {
                match tile::CmpI::of(data).map(|v| v.comparison_predicate()) {
                    Some(Predicate::Equal) => return Val::Int(i64::from(a == b)),
                    Some(Predicate::NotEqual) => return Val::Int(i64::from(a != b)),
                    _ => {}
                }
            }
            (Some(C::AddI), &[a, b]) => {
                let sum = self.term(Term::Op(data.kind, data.attrs.to_vec(), vec![a, b]));
                self.added.insert(sum, [a, b]);
                return sum;
            }
            (Some(C::MulI), [Val::Int(a), Val::Int(b)]) => return Val::Int(a.wrapping_mul(*b)),
            _ => {}
        }
        // Whether a loop of these bounds runs at all.
        let predicate = tile::CmpI::of(data).map(|v| v.comparison_predicate());
        if let (Some(Predicate::LessThan), &[lower, upper]) = (predicate, vals.as_slice())
            && let Some(runs) = self.has_trips(lower, upper)
        {
            return Val::Int(i64::from(runs));
        }
        self.term(Term::Op(data.kind, data.attrs.to_vec(), vals))
    }

    // ---- control ---------------------------------------------------------------------------

    fn control(
        &mut self,
        op: OpId,
        data: &Op,
        kind: Option<C>,
    ) -> Result<Option<Flow>, Diagnostic> {
        if S::of(data.kind) == Some(S::WarpSpecialize) {
            return self.roles(op);
        }
        match kind {
            Some(C::For) => self.counted(op, data),
            Some(C::Loop) => self.endless(op, data),
            Some(C::If) => self.branch(op, data),
            _ => Err(unsupported(
                self.m,
                op,
                "pipeline operations inside it cannot be checked",
            )),
        }
    }

    fn roles(&mut self, op: OpId) -> Result<Option<Flow>, Diagnostic> {
        let whole = std::mem::take(&mut self.events);
        for side in 0..3 {
            let env = self.env.clone();
            self.endless = 0;
            if let Some(body) = self.m.body_of(op, side) {
                self.block(body)?;
            }
            self.env = env;
            let events = std::mem::take(&mut self.events);
            let roles = &mut self.roles;
            *[&mut roles.producer, &mut roles.consumer, &mut roles.matmuls][side] = events;
        }
        self.events = whole;
        Ok(None)
    }

    /// Trips of a loop with these bounds.
    fn trips(&mut self, op: OpId, bounds: [Val; 3]) -> u64 {
        let outer = self.is_outer(op);
        let known = self
            .met
            .iter()
            .find(|l| l.bounds == bounds && l.outer == outer);
        if let Some(known) = known {
            return known.trips;
        }
        // A loop whose first iteration stands in front of it.
        let [lower, upper, step] = bounds;
        let behind = |l: &&Length| {
            let [first, rest @ ..] = l.bounds;
            l.outer == outer && rest == [upper, step] && self.is_next(first, step, lower)
        };
        let trips = match self.met.iter().find(behind) {
            Some(whole) => whole.trips.saturating_sub(1),
            None => self.new_trips(bounds, outer),
        };
        self.met.push(Length {
            bounds,
            outer,
            trips,
        });
        trips
    }

    /// Whether a loop holds another one of the protocol.
    fn is_outer(&self, op: OpId) -> bool {
        let body = self.m.body_of(op, 0);
        body.is_some_and(|b| {
            let inner = self.m.ops_under(b);
            inner.iter().any(|o| {
                // Where a role of its own multiplies, the others' loops around matmuls have no steps.
                matches!(C::of(self.m.op(*o).kind), Some(C::For | C::Loop))
                    && (self.apart || self.relevant.contains(o))
            })
        })
    }

    /// Whether `next` is `value` and one `step` more.
    fn is_next(&self, value: Val, step: Val, next: Val) -> bool {
        match (value, step, next) {
            (Val::Int(a), Val::Int(s), Val::Int(b)) => a.checked_add(s) == Some(b),
            _ => self.added.get(&next) == Some(&[value, step]),
        }
    }

    /// Whether a loop of these bounds has an iteration, where one was met.
    fn has_trips(&self, lower: Val, upper: Val) -> Option<bool> {
        let met = |l: &&Length| l.bounds[..2] == [lower, upper];
        self.met.iter().find(met).map(|l| l.trips > 0)
    }

    /// Trips of a loop with bounds that have nothing to do with those met before.
    fn new_trips(&mut self, bounds: [Val; 3], outer: bool) -> u64 {
        let n = match bounds {
            [Val::Int(lower), Val::Int(upper), Val::Int(step)] if step > 0 => {
                let span = upper.saturating_sub(lower).max(0) as u64;
                span.div_ceil(step as u64)
            }
            _ => {
                let met = self.lengths.iter().position(|l| *l == bounds);
                let index = met.unwrap_or_else(|| {
                    self.lengths.push(bounds);
                    self.lengths.len() - 1
                });
                self.scenario.trips + index as u64
            }
        };
        n.min(if outer {
            // Two stages of accumulators are full then, and the first is used again.
            OUTER_TRIPS + u64::from(self.apart)
        } else {
            self.scenario.most
        })
    }

    fn counted(&mut self, op: OpId, data: &Op) -> Result<Option<Flow>, Diagnostic> {
        let &[lower, upper, step, ..] = data.operands.as_slice() else {
            return Ok(None);
        };
        let (lower, upper, step) = (self.get(lower), self.get(upper), self.get(step));
        let trips = self.trips(op, [lower, upper, step]);
        let counters = (0..trips).map(|t| match (lower, step) {
            (Val::Int(l), Val::Int(s)) => Ok(l.wrapping_add(s.wrapping_mul(t as i64))),
            _ => Err(Term::Counter(lower, step, t)),
        });
        let counters: Vec<_> = counters.collect();
        let counters: Vec<Val> = counters
            .into_iter()
            .map(|c| c.map_or_else(|term| self.term(term), Val::Int))
            .collect();
        let inits = self.vals(data.operands.get(3..).unwrap_or(&[]));
        self.repeat(op, data, inits, counters.into_iter().map(Some).collect())
    }

    fn endless(&mut self, op: OpId, data: &Op) -> Result<Option<Flow>, Diagnostic> {
        let inside = self
            .m
            .body_of(op, 0)
            .map(|b| self.m.ops_under(b))
            .unwrap_or_default();
        let steps = |o: &OpId| self.m.op(*o).def().traits.has(Traits::STEP);
        let unknown = match inside.iter().any(steps) {
            true => {
                self.endless += 1;
                Term::Endless(self.endless)
            }
            false => Term::Leaf(data.results.first().copied().unwrap_or_default()),
        };
        let unknown = self.term(unknown);
        let trips = self.trips(op, [unknown; 3]).max(1);
        let inits = self.vals(&data.operands);
        self.repeat(op, data, inits, vec![None; trips as usize])
    }

    /// Runs a loop's body once for each counter (`None`: the loop has none).
    fn repeat(
        &mut self,
        op: OpId,
        data: &Op,
        inits: Vec<Val>,
        counters: Vec<Option<Val>>,
    ) -> Result<Option<Flow>, Diagnostic> {
        let m = self.m;
        let Some(body) = m.body_of(op, 0) else {
            return Ok(None);
        };
        let around = self.last;
        let mut carried = inits;
        let count = counters.len();
        for (t, counter) in counters.into_iter().enumerate() {
            self.last = t + 1 == count;
            let args: Vec<Val> = counter.into_iter().chain(carried).collect();
            self.bind(&m.block(body).args, &args);
            match self.block(body)? {
                Flow::Continue(vals) | Flow::Yield(vals) => carried = vals,
                Flow::Break(vals) => {
                    carried = vals;
                    break;
                }
                Flow::Return => return Ok(Some(Flow::Return)),
            }
        }
        self.last = around;
        self.bind(&data.results, &carried);
        Ok(None)
    }

    fn branch(&mut self, op: OpId, data: &Op) -> Result<Option<Flow>, Diagnostic> {
        let m = self.m;
        self.uses_of(op, &data.operands);
        let condition = match data.operands.first() {
            Some(&v) => self.get(v),
            None => Val::Other,
        };
        let leaves = |side| m.body_of(op, side).is_some_and(|b| breaks(m, b));
        let side = match condition {
            Val::Int(n) => usize::from(n == 0),
            // A loop is left on its last trip and not before.
            _ if leaves(0) != leaves(1) => usize::from(leaves(0) != self.last),
            _ => {
                self.roles.conditional = true;
                usize::from(!self.scenario.taken)
            }
        };
        let Some(body) = m.body_of(op, side) else {
            return Ok(None);
        };
        match self.block(body)? {
            Flow::Yield(vals) => {
                self.bind(&data.results, &vals);
                Ok(None)
            }
            other => Ok(Some(other)),
        }
    }

    pub(super) fn uses_of(&mut self, op: OpId, values: &[ValueId]) {
        for v in values {
            if let Some(&Val::Group(g)) = self.env.get(v) {
                self.event(op, Action::Use(g));
            }
        }
    }
}

/// The number of a scalar integer constant.
pub fn number(data: &Op) -> Option<i64> {
    let Attr::Dense {
        data: Dense::Bytes(bytes),
        ..
    } = tile::Constant::of(data)?.value()
    else {
        return None;
    };
    let sign = bytes.last().filter(|_| bytes.len() <= 8)? & 0x80 != 0;
    let mut wide = [if sign && bytes.len() > 1 { 0xff } else { 0 }; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i64::from_le_bytes(wide))
}
