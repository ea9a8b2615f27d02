//! Loops and branches: how often they run, and what runs in them.

use super::relevant::{Jumps, ends_by_leaving};
use super::{Flow, Length, OUTER_TRIPS, Term, Tracer, Val};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{Diagnostic, Op, OpId, RegionId, Type, ValueId};

impl Tracer<'_> {
    /// Trips of a loop with these bounds: those of another as deep, in whichever role. What a loop holds may differ
    /// between roles, since each keeps only its own work, but the loops around its steps do not.
    fn trips(&mut self, op: OpId, bounds: [Val; 3]) -> u64 {
        let nesting = self.run.nesting;
        let known = |l: &&Length| l.nesting == nesting && l.bounds == bounds;
        if let Some(known) = self.run.met.iter().find(known) {
            return known.trips;
        }
        // A loop whose first iteration stands in front of it.
        let [lower, upper, step] = bounds;
        let behind = |l: &&Length| {
            let [first, rest @ ..] = l.bounds;
            l.nesting == nesting && rest == [upper, step] && self.is_next(first, step, lower)
        };
        let compared = self.run.compared.contains(&[lower, upper]);
        let trips = match self.run.met.iter().find(behind) {
            Some(whole) => whole.trips.saturating_sub(1),
            // As the branch went that asked.
            None if compared && !self.run.scenario.taken => 0,
            None => {
                let trips = self.new_trips(bounds, self.is_outer(op));
                trips.max(u64::from(compared))
            }
        };
        self.run.met.push(Length {
            bounds,
            nesting,
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
    pub(super) fn has_trips(&self, lower: Val, upper: Val) -> Option<bool> {
        let met = |l: &&Length| l.bounds[..2] == [lower, upper];
        self.run.met.iter().find(met).map(|l| l.trips > 0)
    }

    /// Trips of a loop with bounds that have nothing to do with those met before.
    fn new_trips(&mut self, bounds: [Val; 3], outer: bool) -> u64 {
        let n = match bounds {
            [Val::Int(lower), Val::Int(upper), Val::Int(step)] if step > 0 => {
                let span = upper.saturating_sub(lower).max(0) as u64;
                span.div_ceil(step as u64)
            }
            _ => {
                let met = self.run.lengths.iter().position(|l| *l == bounds);
                let index = met.unwrap_or_else(|| {
                    self.run.lengths.push(bounds);
                    self.run.lengths.len() - 1
                });
                self.run.scenario.trips + index as u64
            }
        };
        n.min(if outer {
            // Two stages of accumulators are full then, and the first is used again.
            OUTER_TRIPS + u64::from(self.apart)
        } else {
            self.run.scenario.most
        })
    }

    pub(super) fn counted(&mut self, op: OpId, data: &Op) -> Result<Option<Flow>, Diagnostic> {
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

    pub(super) fn endless(&mut self, op: OpId, data: &Op) -> Result<Option<Flow>, Diagnostic> {
        let inside = self
            .m
            .body_of(op, 0)
            .map(|b| self.m.ops_under(b))
            .unwrap_or_default();
        let unknown = match inside.iter().any(|&o| self.is_shared_step(o)) {
            true => {
                self.run.endless += 1;
                Term::Endless(self.run.endless)
            }
            false => Term::Leaf(data.results.first().copied().unwrap_or_default()),
        };
        let unknown = self.term(unknown);
        let trips = self.trips(op, [unknown; 3]).max(1);
        let inits = self.vals(&data.operands);
        self.repeat(op, data, inits, vec![None; trips as usize])
    }

    /// Whether an operation is a step of a pipeline that another role, if there are roles, has steps of, too: only loops
    /// with such steps have the same number in every role.
    fn is_shared_step(&self, op: OpId) -> bool {
        let (m, data) = (self.m, self.m.op(op));
        let is_pipeline = |v: &&ValueId| matches!(m.types.get(m.ty(**v)), Type::Pipeline { .. });
        let mut pipelines = data.operands.iter().filter(is_pipeline);
        let role = self.role(op);
        let elsewhere = |&p: &ValueId| m.users(p).into_iter().any(|user| self.role(user) != role);
        data.def().traits.has(Traits::STEP) && (role.is_none() || pipelines.any(elsewhere))
    }

    /// The region of a role that an operation is in.
    fn role(&self, op: OpId) -> Option<RegionId> {
        let (m, mut at) = (self.m, op);
        loop {
            let region = m.block(m.op(at).block).region;
            at = m.parent_op(at)?;
            if S::of(m.op(at).kind) == Some(S::WarpSpecialize) {
                return Some(region);
            }
        }
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
        let around = self.run.last;
        self.run.nesting += 1;
        let mut carried = inits;
        let count = counters.len();
        for (t, counter) in counters.into_iter().enumerate() {
            self.run.last = t + 1 == count;
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
        self.run.last = around;
        self.run.nesting -= 1;
        self.bind(&data.results, &carried);
        Ok(None)
    }

    pub(super) fn branch(&mut self, op: OpId, data: &Op) -> Result<Option<Flow>, Diagnostic> {
        let m = self.m;
        self.uses_of(op, &data.operands);
        let condition = match data.operands.first() {
            Some(&v) => self.get(v),
            None => Val::Other,
        };
        let sides = [0, 1].map(|side| m.body_of(op, side));
        let [one, other] = sides.map(|b| b.map_or_else(Jumps::default, |b| Jumps::of(m, b)));
        let leaves_by_choice = one.breaks != other.breaks;
        let stays_by_choice = one.continues != other.continues && ends_by_leaving(m, op);
        let side = match condition {
            // A loop is left on its last trip and not before.
            _ if stays_by_choice && !(self.run.last && leaves_by_choice) => {
                usize::from(one.continues == self.run.last)
            }
            _ if leaves_by_choice => usize::from(one.breaks != self.run.last),
            Val::Int(n) => usize::from(n == 0),
            _ => {
                self.run.roles.conditional = true;
                usize::from(!self.run.scenario.taken)
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
}
