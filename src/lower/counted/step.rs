//! How a loop's counter gets from one iteration to the next.

use crate::dialect::cuda_tile::{Op as C, view};
use crate::dialect::enums::{Overflow, Predicate};
use crate::facts::FactMap;
use crate::facts::access::constant;
use crate::ir::{BlockId, Module, Op, OpId, Type, ValueId};
use crate::lower::invariant::is_inside;
use crate::lower::tileas::look::place;

/// How the loop's counter is made of what the loop carries.
pub struct Counting {
    /// The place of the counter among these values.
    pub place: usize,
    pub step: Step,
    /// Where the loop carries an iteration's counter to the next.
    pub choice: Option<Choice>,
}

/// A choice between the first counter and the next one.
pub struct Choice {
    pub op: OpId,
    /// The place of what says which.
    pub first: usize,
    /// Tokens that are chosen, too, and those of later iterations, which order as much and more.
    pub tokens: Vec<(ValueId, ValueId)>,
    /// Numbers that are chosen, too.
    pub moved: Vec<Moved>,
}

/// What each iteration but the first computes of the last one's, which the loop carries.
pub struct Moved {
    pub place: usize,
    pub chosen: ValueId,
    pub next: ValueId,
}

impl Choice {
    /// Computes what the ways compute in front of the choice. Returns what computes it.
    pub fn lift(&self, m: &mut Module) -> Vec<OpId> {
        let mut inside = m.ops_inside(self.op);
        inside.retain(|&o| m.op(o).only_computes());
        for &op in &inside {
            let block = m.op(op).block;
            m.block_mut(block).ops.retain(|&o| o != op);
            let (home, at) = place(m, self.op);
            m.place(op, home, at);
        }
        inside
    }
}

/// How a counter goes from one iteration to the next.
#[derive(Clone, Copy)]
pub struct Step {
    /// What is added, a positive number; unless it goes down, by one.
    pub by: ValueId,
    pub down: bool,
    /// Whether the operation promises not to wrap.
    pub kept: bool,
}

impl Step {
    /// Whether it goes by one.
    pub fn is_one(&self, facts: &FactMap) -> bool {
        self.down || constant(facts, self.by) == Some(1)
    }
}

/// What ends the iterations of a loop with this `body`.
pub struct Ends<'m> {
    pub m: &'m Module,
    pub facts: &'m FactMap,
    pub body: BlockId,
    pub continues: &'m [OpId],
    /// Whether the counter is an unsigned number.
    pub unsigned: bool,
}

impl Ends<'_> {
    /// How the loop `op` counts in `counter`.
    pub fn counting(&self, op: OpId, counter: ValueId) -> Option<Counting> {
        let next = self.carry_next(counter);
        next.or_else(|| self.carry_last(op, counter))
    }

    /// A counter that is carried as that of the next iteration.
    fn carry_next(&self, counter: ValueId) -> Option<Counting> {
        let place = self.argument(counter)?;
        let mut steps = self.continues.iter().map(|&end| {
            let next = *self.m.op(end).operands.get(place)?;
            self.step(next, counter, &[self.body])
        });
        let first = steps.next()??;
        let number = constant(self.facts, first.by);
        let step = steps.try_fold(first, |all, step| {
            let step = step?;
            let same =
                step.by == all.by || number.is_some() && constant(self.facts, step.by) == number;
            let kept = all.kept && step.kept;
            (same && step.down == all.down).then_some(Step { kept, ..all })
        })?;
        Some(Counting {
            place,
            step,
            choice: None,
        })
    }

    /// A counter that is carried as it is: all but the first iteration of the loop `op` add the step.
    fn carry_last(&self, op: OpId, counter: ValueId) -> Option<Counting> {
        let (m, facts) = (self.m, self.facts);
        let choice = m.def_op(counter)?;
        let condition = view::If::of(m.op(choice))?.condition();
        let yielded = |way: usize| {
            let end = m.terminator(m.body_of(choice, way)?)?;
            Some(m.op(end).operands.to_vec())
        };
        let (firsts, nexts) = (yielded(0)?, yielded(1)?);
        let at = m.op(choice).results.iter().position(|&r| r == counter)?;
        let (last, next) = (*firsts.get(at)?, *nexts.get(at)?);
        let compare = m.def_op(truth(m, facts, condition))?;
        let v = view::CmpI::of(m.op(compare))?;
        let (place, first) = (self.argument(last)?, self.argument(v.lhs())?);
        let is_zero = |&v: &ValueId| constant(facts, v) == Some(0);
        let asks = v.comparison_predicate() == Predicate::NotEqual && is_zero(&v.rhs());
        let begins = view::Loop::of(m.op(op))?.initValues().get(first).copied();
        let begins = begins
            .and_then(|v| constant(facts, v))
            .is_some_and(|n| n != 0);
        let goes_on = |&end: &OpId| {
            let operands = &m.op(end).operands;
            operands.get(first).is_some_and(is_zero) && operands.get(place) == Some(&counter)
        };
        let chosen = |user: &OpId| m.parent_op(*user) == Some(choice);
        let sum = m.def_op(next);
        let alone = m.users(last).iter().all(|o| chosen(o) || Some(*o) == sum)
            && m.users(next).iter().all(chosen)
            && m.users(v.lhs()) == [compare]
            && serves(m, compare, choice);
        let yields = |&o: &OpId| C::of(m.op(o).kind) == Some(C::Yield) || m.op(o).only_computes();
        let counts = asks && begins && alone && self.continues.iter().all(goes_on);
        let counts = counts && m.ops_inside(choice).iter().all(yields);
        let ways = [0, 1].map(|way| m.body_of(choice, way));
        let homes: Vec<BlockId> = ways.into_iter().flatten().chain([self.body]).collect();
        let step = self.step(next, last, &homes).filter(|_| counts)?;
        let (mut tokens, mut moved) = (Vec::new(), Vec::new());
        for (i, &result) in m.op(choice).results.iter().enumerate() {
            let (first, later) = (*firsts.get(i)?, *nexts.get(i)?);
            match i == at {
                true => {}
                false if orders(m, later, first) => tokens.push((result, later)),
                false => moved.push(self.moved(choice, result, first, later)?),
            }
        }
        let choice = Choice {
            op: choice,
            first,
            tokens,
            moved,
        };
        Some(Counting {
            place,
            step,
            choice: Some(choice),
        })
    }

    /// A result of `choice` that the loop carries as it is: `first`, or `next`, which the choice computes of it.
    fn moved(&self, choice: OpId, chosen: ValueId, first: ValueId, next: ValueId) -> Option<Moved> {
        let (m, place) = (self.m, self.argument(first)?);
        let carried = |&end: &OpId| m.op(end).operands.get(place) == Some(&chosen);
        let alone = m
            .users(first)
            .iter()
            .all(|&o| m.parent_op(o) == Some(choice));
        let moved = Moved {
            place,
            chosen,
            next,
        };
        (alone && self.continues.iter().all(carried)).then_some(moved)
    }

    /// The place of an argument of the loop's body.
    fn argument(&self, value: ValueId) -> Option<usize> {
        self.m
            .block(self.body)
            .args
            .iter()
            .position(|&a| a == value)
    }

    /// How `next` follows `last`: by a number that the loop does not change, computed in one of the blocks `homes` if it is in
    /// the loop. Upwards, it is positive, and the sum does not wrap: by one it does not, for what is added to is below the
    /// bound.
    fn step(&self, next: ValueId, last: ValueId, homes: &[BlockId]) -> Option<Step> {
        let op = self.m.op(self.m.def_op(next)?);
        let (kind, &[lhs, rhs]) = (C::of(op.kind)?, &op.operands[..]) else {
            return None;
        };
        let by = match kind {
            C::AddI | C::SubI if lhs == last => rhs,
            C::AddI if rhs == last => lhs,
            _ => return None,
        };
        let (known, kept) = (self.facts.get(by)?, promises(op, self.unsigned));
        let down = match kind {
            C::AddI => (known.lo, known.hi) == (-1, -1),
            _ => (known.lo, known.hi) == (1, 1),
        };
        let grows = kind == C::AddI && known.lo > 0 && (kept || known.hi == 1);
        let follows = (down || grows) && stands(self.m, self.body, homes, by);
        follows.then_some(Step { by, down, kept })
    }
}

/// Whether an operation says that it does not wrap.
pub fn promises(op: &Op, unsigned: bool) -> bool {
    match op.enum_named("overflow").and_then(Overflow::of) {
        None | Some(Overflow::None) => false,
        Some(Overflow::NoWrap) => true,
        Some(Overflow::NoSignedWrap) => !unsigned,
        Some(Overflow::NoUnsignedWrap) => unsigned,
    }
}

/// Whether a token orders what another one does.
fn orders(m: &Module, token: ValueId, other: ValueId) -> bool {
    let joins = |op: OpId| {
        C::of(m.op(op).kind) == Some(C::JoinTokens) && m.op(op).operands.contains(&other)
    };
    m.types.get(m.ty(token)) == &Type::Token
        && (token == other || m.def_op(token).is_some_and(joins))
}

/// Whether nothing but `user` asks for what `op` computes, or for what is computed of it.
fn serves(m: &Module, op: OpId, user: OpId) -> bool {
    let users = m.op(op).results.iter().flat_map(|&r| m.users(r));
    let mut others = users.filter(|&o| o != user);
    others.all(|o| m.op(o).only_computes() && serves(m, o, user))
}

/// The truth value that `value` is, where that was a number that is compared with 0.
pub fn truth(m: &Module, facts: &FactMap, value: ValueId) -> ValueId {
    let inner = || {
        let v = view::CmpI::of(m.op(m.def_op(value)?))?;
        let differs = v.comparison_predicate() == Predicate::NotEqual;
        let widen = m
            .def_op(v.lhs())
            .filter(|&o| C::of(m.op(o).kind) == Some(C::ExtI))?;
        let widened = m.source(widen);
        let flag = m.types.bits(m.types.elem(m.ty(widened))) == Some(1);
        (differs && flag && constant(facts, v.rhs()) == Some(0)).then_some(widened)
    };
    inner().map_or(value, |inner| truth(m, facts, inner))
}

/// Whether a number is the same in every iteration of the loop with this body, which computes it in the first, in one of the
/// blocks `homes`: what it is computed by may stand in front of the loop.
pub fn stands(m: &Module, body: BlockId, homes: &[BlockId], value: ValueId) -> bool {
    if !is_inside(m, body, value) {
        return true;
    }
    m.def_op(value).is_some_and(|op| {
        let data = m.op(op);
        let plain = homes.contains(&data.block) && data.only_computes();
        plain && data.operands.iter().all(|&v| stands(m, body, homes, v))
    })
}
