//! What each warp role does, in order, when loops of unknown length run a given number of times.
//!
//! Scalars are followed symbolically: an iteration number must come out as a number, a trip count
//! or a condition may stay a term. Equal terms are equal in every role, so that a producer and a
//! consumer that count to the same bound do so together here too.

mod loops;
mod relevant;

use super::events::{Action, Event, ISSUERS, Roles, Scenario};
use crate::dialect::cuda_tile::{Op as C, view as tile};
use crate::dialect::enums::Predicate;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view::{self, View};
use crate::ir::{Attr, BlockId, Dense, Diagnostic, Module, Op, OpId, Type, ValueId};
use crate::lower::unsupported;
use relevant::mark;
use rustc_hash::{FxHashMap, FxHashSet};

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

/// A branch of a loop without steps that leaves it or its iteration.
#[derive(Clone)]
struct Exit {
    condition: Val,
    /// The region of the branch.
    side: i64,
    /// Whether it leaves the loop.
    breaks: bool,
    /// What it hands to the loop: its results then, else what it carries.
    vals: Vec<Val>,
}

/// How often a loop of these bounds runs.
#[derive(Clone)]
struct Length {
    bounds: [Val; 3],
    /// Loops around it.
    nesting: u32,
    trips: u64,
}

pub struct Tracer<'m> {
    pub(super) m: &'m Module,
    /// Operations with regions whose inside matters.
    relevant: FxHashSet<OpId>,
    /// Whether matmuls have a role of their own.
    apart: bool,
    /// Terms are the same in every run.
    terms: FxHashMap<Term, u32>,
    /// What terms are the sum of.
    added: FxHashMap<Val, [Val; 2]>,
    pub(super) run: Run,
}

/// What is known at a place of one run.
#[derive(Clone, Default)]
pub(super) struct Run {
    scenario: Scenario,
    pub(super) env: FxHashMap<ValueId, Val>,
    /// Bounds of loops of unknown length, in the order they were met.
    lengths: Vec<[Val; 3]>,
    /// All loops met.
    met: Vec<Length>,
    /// Bounds that were compared before a loop between them was met: the scenario says whether one runs.
    compared: FxHashSet<[Val; 2]>,
    events: Vec<Event>,
    roles: Roles,
    pub(super) groups: u32,
    steps: u64,
    /// Loops and branches without steps around the place at hand.
    depth: u32,
    /// Where an iteration of the innermost loop without steps may end early, as far as it was looked at.
    exits: Vec<Exit>,
    /// Loops without a counter that the role has met and that step a pipeline.
    endless: u32,
    /// Loops of the protocol around the place at hand.
    nesting: u32,
    /// Whether the loop at hand is on its last trip.
    last: bool,
}

/// Where the first loop, branch or parting of the protocol stands in a kernel's block, and what is known there: until
/// then every run is the same.
pub struct Front {
    block: BlockId,
    at: usize,
    run: Run,
}

impl<'m> Tracer<'m> {
    pub fn new(m: &'m Module, body: BlockId) -> Self {
        let mut relevant = FxHashSet::default();
        mark(m, body, &mut relevant);
        let parts_in_three =
            |o: OpId| S::of(m.op(o).kind) == Some(S::WarpSpecialize) && m.op(o).regions.len() > 2;
        Tracer {
            m,
            relevant,
            apart: m.ops_under(body).into_iter().any(parts_in_three),
            terms: FxHashMap::default(),
            added: FxHashMap::default(),
            run: Run::default(),
        }
    }

    /// Runs `block`, a kernel's, as far as every scenario does the same.
    ///
    /// # Errors
    /// The first operation that cannot be followed.
    pub fn front(&mut self, block: BlockId) -> Result<Front, Diagnostic> {
        let ops = &self.m.block(block).ops;
        let splits = |op: &OpId| self.relevant.contains(op);
        let at = ops.iter().position(splits).unwrap_or(ops.len());
        self.ops(&ops[..at])?;
        Ok(Front {
            block,
            at,
            run: std::mem::take(&mut self.run),
        })
    }

    /// Runs the rest of the kernel in `scenario`.
    ///
    /// # Errors
    /// The first operation that cannot be followed.
    pub fn run(&mut self, front: &Front, scenario: Scenario) -> Result<Roles, Diagnostic> {
        self.run = Run {
            scenario,
            ..front.run.clone()
        };
        self.ops(&self.m.block(front.block).ops[front.at..])?;
        let Run { roles, events, .. } = std::mem::take(&mut self.run);
        Ok(Roles {
            whole: events,
            ..roles
        })
    }
}

impl Tracer<'_> {
    pub(super) fn get(&mut self, value: ValueId) -> Val {
        match self.run.env.get(&value) {
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
            self.run
                .env
                .insert(v, vals.get(i).copied().unwrap_or(Val::Other));
        }
    }

    pub(super) fn event(&mut self, op: OpId, action: Action) {
        self.run.events.push(Event { op, action });
    }

    fn block(&mut self, block: BlockId) -> Result<Flow, Diagnostic> {
        self.ops(&self.m.block(block).ops)
    }

    fn ops(&mut self, ops: &[OpId]) -> Result<Flow, Diagnostic> {
        for &op in ops {
            self.run.steps += 1;
            if self.run.steps > STEPS {
                return Err(unsupported(
                    self.m,
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
            Some(C::If | C::For | C::Loop) => {
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
                self.run.env.insert(*result, val);
            }
            results => self.several(data, results),
        }
        Ok(None)
    }

    /// What the results of an operation with several are: if it only computes, as a block's coordinates are, the same
    /// numbers in every role.
    fn several(&mut self, data: &Op, results: &[ValueId]) {
        let parts = data.only_computes().then(|| self.vals(&data.operands));
        for (i, &r) in results.iter().enumerate() {
            let term = match &parts {
                Some(parts) => {
                    let parts = parts.iter().copied().chain([Val::Int(i as i64)]);
                    Term::Op(data.kind, data.attrs.to_vec(), parts.collect())
                }
                None => Term::Leaf(r),
            };
            let val = self.term(term);
            self.run.env.insert(r, val);
        }
    }

    /// The results of a loop or branch without steps, as terms that are the same for a role's part of it.
    fn summary(&mut self, op: OpId, data: &Op, kind: Option<C>) -> Result<(), Diagnostic> {
        let m = self.m;
        let first = data.operands.len() - data.group(data.groups.len().saturating_sub(1)).len();
        let (head, inits) = match kind {
            Some(C::For) => data.operands.split_at(first.min(data.operands.len())),
            Some(C::Loop) => (&[][..], &data.operands[..]),
            _ => (&data.operands[..], &[][..]),
        };
        let around = (kind != Some(C::If)).then(|| std::mem::take(&mut self.run.exits));
        let (head, inits) = (self.vals(head), self.vals(inits));
        let mut ends = Vec::new();
        self.run.depth += 1;
        for i in 0..data.regions.len() {
            let Some(body) = m.body_of(op, i) else {
                continue;
            };
            let depth = self.run.depth;
            let counter = head.first().copied().unwrap_or(Val::Other);
            let starts = [counter].into_iter().filter(|_| kind == Some(C::For));
            let starts: Vec<Val> = starts.chain(inits.iter().copied()).collect();
            let args: Vec<Val> = starts
                .into_iter()
                .map(|v| self.term(Term::Carried(depth, v)))
                .collect();
            self.bind(&m.block(body).args, &args);
            let flow = self.block(body)?;
            let breaks = matches!(flow, Flow::Break(_));
            match (kind, flow) {
                (Some(C::If), Flow::Continue(vals) | Flow::Break(vals))
                | (Some(C::Loop), Flow::Break(vals)) => {
                    let (condition, side) = (counter, i as i64);
                    self.run.exits.push(Exit {
                        condition,
                        side,
                        breaks,
                        vals,
                    });
                    ends.push(Vec::new());
                }
                (_, Flow::Yield(vals) | Flow::Continue(vals) | Flow::Break(vals)) => {
                    ends.push(vals);
                }
                (_, Flow::Return) => ends.push(Vec::new()),
            }
        }
        self.run.depth -= 1;
        let mut exits = around.map_or_else(Vec::new, |around| {
            std::mem::replace(&mut self.run.exits, around)
        });
        // What leaves a loop are its results, which are numbered otherwise than what it carries: a role has those of either
        // that it needs.
        let (inits, ends) = match kind {
            Some(C::Loop) => (Vec::new(), Vec::new()),
            _ => (inits, ends),
        };
        exits.retain(|e| e.breaks == (kind == Some(C::Loop)));
        self.outcome(data, (&head, &inits), &ends, &exits);
        Ok(())
    }

    /// The results of such an operation: a scalar is a term of what it is computed of at its place of `inits`, `ends` and what
    /// `exits` hand on.
    fn outcome(
        &mut self,
        data: &Op,
        (head, inits): (&[Val], &[Val]),
        ends: &[Vec<Val>],
        exits: &[Exit],
    ) {
        let m = self.m;
        for (i, &result) in data.results.iter().enumerate() {
            let parts = head.iter().copied().chain(inits.get(i).copied());
            let ends = ends.iter().map(|e| e.get(i).copied().unwrap_or(Val::Other));
            let exits = exits.iter().flat_map(|e| {
                let val = e.vals.get(i).copied().unwrap_or(Val::Other);
                [e.condition, Val::Int(e.side), val]
            });
            let parts: Vec<Val> = parts.chain(ends).chain(exits).collect();
            let scalar =
                matches!(m.types.get(m.ty(result)), Type::Tile { shape, .. } if shape.is_empty());
            let term = match scalar {
                true => self.term(Term::Op(data.kind, Vec::new(), parts)),
                false => self.term(Term::Leaf(result)),
            };
            self.run.env.insert(result, term);
        }
    }

    /// Notes the accumulators in use by `op` and by everything in it.
    fn uses(&mut self, op: OpId) {
        let m = self.m;
        if self.run.groups == 0 {
            return;
        }
        self.uses_of(op, &m.op(op).operands);
        let mut inner = Vec::new();
        for &region in &m.op(op).regions {
            for &b in &m.region(region).blocks {
                inner.extend(m.ops_under(b));
            }
        }
        for user in inner {
            for v in &m.op(user).operands {
                if let Some(&Val::Group(g)) = self.run.env.get(v) {
                    self.event(user, Action::Use(g));
                }
            }
        }
    }

    /// What a load yields: roles that load the same elements without waiting for a write find the same there.
    fn loaded(&mut self, data: &Op) {
        let m = self.m;
        let token = |v: &&ValueId| matches!(m.types.get(m.ty(**v)), Type::Token);
        let operands: Vec<ValueId> = data
            .operands
            .iter()
            .filter(|v| !token(v))
            .copied()
            .collect();
        let tile = |v: ValueId| {
            let ty = m.types.get(m.ty(v));
            matches!(ty, Type::Tile { .. } | Type::Distributed { .. })
        };
        for &result in &data.results {
            let val = if tile(result) {
                let vals = self.vals(&operands);
                self.term(Term::Op(data.kind, data.attrs.to_vec(), vals))
            } else {
                self.term(Term::Leaf(result))
            };
            self.run.env.insert(result, val);
        }
    }

    /// What a plain operation's only result is.
    fn compute(&mut self, data: &Op, kind: Option<C>) -> Val {
        let [result] = data.results.as_slice() else {
            return Val::Other;
        };
        let m = self.m;
        // Of what was loaded, single elements may be looked at.
        if S::of(data.kind) == Some(S::ConvertLayout)
            && let Some(&source) = data.operands.first()
            && let Some(&val @ Val::Term(_)) = self.run.env.get(&source)
        {
            return val;
        }
        match m.types.get(m.ty(*result)) {
            Type::SharedTile { .. } | Type::TensorTile { .. } | Type::Pipeline { .. } => {
                return Val::Object(*result);
            }
            Type::Tile { shape, .. } | Type::Distributed { shape, .. }
                if shape.iter().product::<u64>() == 1 => {}
            _ => return Val::Other,
        }
        if !data.only_computes() {
            return self.term(Term::Leaf(*result));
        }
        if let Some(v) = view::RoleInvariant::of(data) {
            let of = self.vals(v.inputs());
            return self.term(Term::Op(data.kind, data.attrs.to_vec(), of));
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
        // Whether a loop of these bounds runs at all. Of numbers that is the same in every role, also in one without the
        // loop.
        let predicate = tile::CmpI::of(data).map(|v| v.comparison_predicate());
        if let (Some(Predicate::LessThan), &[lower, upper]) = (predicate, vals.as_slice()) {
            let runs = match (lower, upper) {
                (Val::Int(a), Val::Int(b)) => Some(a < b),
                _ => self.has_trips(lower, upper),
            };
            if let Some(runs) = runs {
                return Val::Int(i64::from(runs));
            }
            self.run.compared.insert([lower, upper]);
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
        let whole = std::mem::take(&mut self.run.events);
        for side in 0..2 + ISSUERS {
            let env = self.run.env.clone();
            self.run.endless = 0;
            self.run.nesting = 0;
            if let Some(body) = self.m.body_of(op, side) {
                self.block(body)?;
            }
            self.run.env = env;
            let events = std::mem::take(&mut self.run.events);
            let roles = &mut self.run.roles;
            let [first, further] = &mut roles.matmuls;
            *[&mut roles.producer, &mut roles.consumer, first, further][side] = events;
        }
        self.run.events = whole;
        Ok(None)
    }

    pub(super) fn uses_of(&mut self, op: OpId, values: &[ValueId]) {
        for v in values {
            if let Some(&Val::Group(g)) = self.run.env.get(v) {
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
