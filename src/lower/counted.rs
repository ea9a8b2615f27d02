//! Loops that end by a condition on a counter are counted loops.
//!
//! ```text
//! loop s = s0, i = i0, first = 1 {             for i from i0 to n, step k, s = s0 {
//!   at = if first { i } else { i + k }           … i, s …
//!   if at < n {                          →       continue next
//!     … at, s …                                }
//!     continue next, at, 0
//!   }
//!   break s, at, 0
//! }
//! ```
//! nvcc writes a C++ `for` whose bound is an expression in this way. Others carry `i + k` itself; in cuTile's, a `while`, the
//! iteration follows a branch of which the other way leaves the loop. Pipelines follow counters.

use super::invariant::{is_inside, outside};
use super::tileas::look::place;
use super::{build, carried};
use crate::dialect::cuda_tile::{Op as C, view};
use crate::dialect::enums::{Overflow, Predicate};
use crate::facts::access::constant;
use crate::facts::{self, FactMap};
use crate::ir::{Attr, BlockId, Module, OpId, Type, TypeId, ValueId};
use crate::scalar::Signedness;

/// Rewrites the loops of every entry, inner ones first.
pub fn run(m: &mut Module) {
    for entry in m.block(m.body).ops.clone() {
        let Some(body) = m.body_of(entry, 0) else {
            continue;
        };
        let mut loops = m.ops_under(body);
        loops.retain(|&o| C::of(m.op(o).kind) == Some(C::Loop));
        if loops.is_empty() {
            continue;
        }
        let facts = facts::of(m, entry);
        for op in loops.into_iter().rev() {
            if let Some(counted) = Counted::of(m, &facts, op) {
                counted.rewrite(m);
            }
        }
    }
}

/// A loop that counts.
struct Counted {
    op: OpId,
    body: BlockId,
    asked: Asked,
    /// The number that the condition is about.
    counter: ValueId,
    counting: Counting,
    bound: ValueId,
    /// Whether the counter goes as far as the bound, instead of staying below.
    inclusive: bool,
    unsigned: bool,
    /// What ends iterations.
    continues: Vec<OpId>,
}

/// How the loop's counter is made of what the loop carries.
struct Counting {
    /// The place of the counter among these values.
    place: usize,
    step: ValueId,
    /// Where the loop carries an iteration's counter to the next.
    choice: Option<Choice>,
}

/// A choice between the first counter and the next one.
struct Choice {
    op: OpId,
    /// The place of what says which.
    first: usize,
    /// Tokens that are chosen, too, and those of later iterations, which order as much and more.
    tokens: Vec<(ValueId, ValueId)>,
}

impl Choice {
    /// Computes what the ways compute in front of the choice. Returns what computes it.
    fn lift(&self, m: &mut Module) -> Vec<OpId> {
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

/// What a loop leaves with.
enum Left {
    /// What it carries at a place.
    Carried(usize),
    /// A token of these.
    Joined(Vec<Left>),
    Outside(ValueId),
}

impl Left {
    /// That value behind the loop `of`, whose `results` are known by their places among what the old one carried.
    fn behind(self, m: &mut Module, of: OpId, results: &dyn Fn(usize) -> ValueId) -> ValueId {
        match self {
            Left::Carried(place) => results(place),
            Left::Outside(value) => value,
            Left::Joined(tokens) => {
                let tokens = tokens.into_iter().map(|t| t.behind(m, of, results));
                let tokens: Vec<ValueId> = tokens.collect();
                let (ty, (block, at)) = (m.types.intern(Type::Token), place(m, of));
                m.at(block, at + 1).value(C::JoinTokens, &tokens, [], ty)
            }
        }
    }
}

/// Where a loop asks its condition.
struct Asked {
    /// Operations of the loop's body in front of the branch.
    before: Vec<OpId>,
    branch: OpId,
    /// Where an iteration is, unless it follows the branch.
    inside: Option<BlockId>,
    /// What ends the loop.
    end: OpId,
}

impl Asked {
    fn of(m: &Module, body: BlockId) -> Option<Asked> {
        let is = |o: OpId, kind| C::of(m.op(o).kind) == Some(kind);
        let ops = &m.block(body).ops;
        let at = ops
            .iter()
            .position(|&o| is(o, C::If) && m.op(o).results.is_empty())?;
        let (branch, rest) = (ops[at], &ops[at + 1..]);
        let way = |i: usize| m.body_of(branch, i);
        let last = |block: BlockId| m.terminator(block);
        let empty = |i: usize| {
            way(i).is_none_or(|b| {
                m.block(b).ops.len() == 1 && last(b).is_some_and(|o| is(o, C::Yield))
            })
        };
        let goes_on = |o: &OpId| is(*o, C::Continue);
        let (inside, end) = match rest {
            // The iteration is in the branch, and leads to the next.
            &[end] if is(end, C::Break) && empty(1) => (Some(way(0)?), end),
            // The other way leaves.
            _ => match &m.block(way(1)?).ops[..] {
                &[end] if is(end, C::Break) && empty(0) => (None, end),
                _ => return None,
            },
        };
        let iteration = inside.map_or(rest.last().copied(), last);
        iteration.filter(goes_on)?;
        Some(Asked {
            before: ops[..at].to_vec(),
            branch,
            inside,
            end,
        })
    }
}

impl Counted {
    fn of(m: &Module, facts: &FactMap, op: OpId) -> Option<Counted> {
        let body = m.body_of(op, 0)?;
        let asked = Asked::of(m, body)?;
        let condition = view::If::of(m.op(asked.branch))?.condition();
        let compare = view::CmpI::of(m.op(m.def_op(truth(m, facts, condition))?))?;
        let mut continues = carried::ends(m, body);
        continues.retain(|&o| o != asked.end);
        let is_continue = |&o: &OpId| C::of(m.op(o).kind) == Some(C::Continue);
        if !continues.iter().all(is_continue) {
            return None;
        }
        let [counter, bound] = [compare.lhs(), compare.rhs()];
        let inclusive = match compare.comparison_predicate() {
            Predicate::LessThan => false,
            // The number behind the bound is one, too.
            Predicate::LessThanOrEqual => {
                let (known, (_, most)) = (facts.get(bound)?, facts::range(&m.types, m.ty(bound)));
                let signed = compare.signedness() == Signedness::Signed;
                (known.hi < most && (signed || known.lo >= 0)).then_some(true)?
            }
            _ => return None,
        };
        let ends = Ends {
            m,
            facts,
            body,
            continues: &continues,
            unsigned: compare.signedness() == Signedness::Unsigned,
        };
        let counting = ends.carry_next(counter);
        let counting = counting.or_else(|| ends.carry_last(op, counter))?;
        let counted = Counted {
            op,
            body,
            asked,
            counter,
            counting,
            bound,
            inclusive,
            unsigned: ends.unsigned,
            continues,
        };
        let stays = |&o: &OpId| counted.stays(o) || m.op(o).only_computes();
        let plain = counted.asked.before.iter().all(stays);
        (plain && stands(m, body, &[body], bound) && counted.ends_plainly(m)).then_some(counted)
    }

    /// Whether an operation of the loop's body is about counting and ending alone.
    fn stays(&self, op: OpId) -> bool {
        let choice = self.counting.choice.as_ref().map(|c| c.op);
        [Some(self.asked.branch), Some(self.asked.end), choice].contains(&Some(op))
    }

    /// Whether what the loop leaves with, as far as it is asked for, is known behind the counted one.
    fn ends_plainly(&self, m: &Module) -> bool {
        let results = m.op(self.op).results.iter();
        let mut asked = results.zip(&m.op(self.asked.end).operands);
        asked.all(|(result, &value)| !m.is_used(*result) || self.left(m, value).is_some())
    }

    /// What a value that the loop leaves with is behind it: carried values other than the counter, tokens that are joined of such
    /// ones, or what is made in front of the loop.
    fn left(&self, m: &Module, value: ValueId) -> Option<Left> {
        let args = &m.block(self.body).args;
        let place = |v: ValueId| {
            args.iter()
                .position(|&a| a == v)
                .filter(|&p| self.is_kept(p))
        };
        let mut tokens = self.counting.choice.iter().flat_map(|c| &c.tokens);
        if let Some(&(_, later)) = tokens.find(|t| t.0 == value) {
            let joins = m.def_op(later).map(|o| m.op(o).operands.to_vec());
            let joined = joins.unwrap_or(vec![later]).into_iter();
            let joined = joined.map(|token| self.left(m, token));
            return Some(Left::Joined(joined.collect::<Option<_>>()?));
        }
        match place(value) {
            Some(place) => Some(Left::Carried(place)),
            None => (!is_inside(m, self.body, value)).then_some(Left::Outside(value)),
        }
    }

    /// Whether the counted loop carries what this one does at `place`.
    fn is_kept(&self, place: usize) -> bool {
        let first = self.counting.choice.as_ref().map(|c| c.first);
        place != self.counting.place && Some(place) != first
    }

    fn rewrite(&self, m: &mut Module) {
        let data = m.op(self.op).clone();
        let args = m.block(self.body).args.clone();
        let ends = m.op(self.asked.end).operands.to_vec();
        let left: Vec<Option<Left>> = ends.into_iter().map(|v| self.left(m, v)).collect();
        let kept: Vec<usize> = (0..args.len()).filter(|&p| self.is_kept(p)).collect();
        let choice = self.counting.choice.as_ref();
        let lifted = choice.map_or(Vec::new(), |c| c.lift(m));
        let [bound, step] = self.in_front(m);
        let types: Vec<TypeId> = kept.iter().map(|&p| m.ty(args[p])).collect();
        let region = m.new_region();
        let counter = m.ty(self.counter);
        let body = m.new_block(region, &[&[counter], &types[..]].concat());
        let first = self.move_iteration(m, body);
        for &(chosen, later) in self.counting.choice.iter().flat_map(|c| &c.tokens) {
            m.replace_all_uses(chosen, later);
        }
        let old = std::iter::once(self.counter).chain(kept.iter().map(|&p| args[p]));
        for (old, new) in old.zip(m.block(body).args.clone()) {
            m.replace_all_uses(old, new);
        }
        for &end in &self.continues {
            for place in (0..args.len()).rev().filter(|&p| !self.is_kept(p)) {
                m.op_mut(end).remove_operand(place);
            }
        }
        let inits: Vec<ValueId> = kept.iter().map(|&p| data.operands[p]).collect();
        let lower = data.operands[self.counting.place];
        let (block, at) = place(m, self.op);
        let mut b = m.at(block, at);
        b.loc = data.loc;
        let unsigned = self.unsigned.then_some(Attr::Unit);
        let groups: [&[ValueId]; 4] = [&[lower], &[bound], &[step], &inits];
        let new = b.op(C::For, &groups, [unsigned], &types, &[region]);
        let results = m.op(new).results.clone();
        let results = |place: usize| results[kept.iter().position(|&p| p == place).unwrap_or(0)];
        for (&result, left) in data.results.iter().zip(left) {
            if let Some(left) = left {
                let value = left.behind(m, new, &results);
                m.replace_all_uses(result, value);
            }
        }
        m.erase(self.op);
        // What only the condition, or the choice of the counter, asked for.
        for op in first.into_iter().chain(lifted).rev() {
            if !m.op(op).results.iter().any(|&r| m.is_used(r)) {
                m.erase(op);
            }
        }
    }

    /// The first number that the counter does not reach, and the step, in front of the loop.
    fn in_front(&self, m: &mut Module) -> [ValueId; 2] {
        let numbers = [self.bound, self.counting.step];
        let [bound, step] = numbers.map(|v| outside(m, self.op, self.body, v));
        if !self.inclusive {
            return [bound, step];
        }
        let (ty, (block, at)) = (m.ty(bound), place(m, self.op));
        let mut b = m.at(block, at);
        let one = build::constant(&mut b, 1, ty);
        let none = build::cased(Overflow::None);
        [b.value(C::AddI, &[bound, one], [none], ty), step]
    }

    /// Moves to `to` what an iteration does, but for what counts and ends. Returns what stood in front of the branch.
    fn move_iteration(&self, m: &mut Module, to: BlockId) -> Vec<OpId> {
        let ops = std::mem::take(&mut m.block_mut(self.body).ops);
        let (stay, moved): (Vec<OpId>, Vec<OpId>) = ops.into_iter().partition(|&o| self.stays(o));
        m.block_mut(self.body).ops = stay;
        let inside = self.asked.inside;
        let inside = inside.map_or(Vec::new(), |b| std::mem::take(&mut m.block_mut(b).ops));
        for (at, &op) in moved.iter().chain(&inside).enumerate() {
            m.place(op, to, at);
        }
        let first = |o: &OpId| self.asked.before.contains(o);
        moved.into_iter().filter(first).collect()
    }
}

/// What ends the iterations of a loop with this `body`.
struct Ends<'m> {
    m: &'m Module,
    facts: &'m FactMap,
    body: BlockId,
    continues: &'m [OpId],
    unsigned: bool,
}

impl Ends<'_> {
    /// A counter that is carried as that of the next iteration.
    fn carry_next(&self, counter: ValueId) -> Option<Counting> {
        let place = self.argument(counter)?;
        let mut steps = self.continues.iter().map(|&end| {
            let next = *self.m.op(end).operands.get(place)?;
            self.step(next, counter, &[self.body])
        });
        let step = steps.next()??;
        let number = constant(self.facts, step);
        let same = |s: ValueId| s == step || number.is_some() && constant(self.facts, s) == number;
        steps.all(|s| s.is_some_and(same)).then_some(Counting {
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
        let mut tokens = Vec::new();
        for (i, &result) in m.op(choice).results.iter().enumerate() {
            if i != at {
                let later = *nexts.get(i)?;
                orders(m, later, *firsts.get(i)?).then_some(())?;
                tokens.push((result, later));
            }
        }
        let choice = Choice {
            op: choice,
            first,
            tokens,
        };
        Some(Counting {
            place,
            step,
            choice: Some(choice),
        })
    }

    /// The place of an argument of the loop's body.
    fn argument(&self, value: ValueId) -> Option<usize> {
        self.m
            .block(self.body)
            .args
            .iter()
            .position(|&a| a == value)
    }

    /// What `next` adds to `last`: a positive number that the loop does not change, computed in one of the blocks `homes` if it
    /// is in the loop, and the sum does not wrap. By one it does
    /// not, for what is added to is below the bound.
    fn step(&self, next: ValueId, last: ValueId, homes: &[BlockId]) -> Option<ValueId> {
        let add = self.m.op(self.m.def_op(next)?);
        let (Some(C::AddI), &[lhs, rhs]) = (C::of(add.kind), &add.operands[..]) else {
            return None;
        };
        let step = match (lhs == last, rhs == last) {
            (true, false) => rhs,
            (false, true) => lhs,
            _ => return None,
        };
        let kept = match Overflow::of(add.enum_named("overflow")?)? {
            Overflow::None => false,
            Overflow::NoWrap => true,
            Overflow::NoSignedWrap => !self.unsigned,
            Overflow::NoUnsignedWrap => self.unsigned,
        };
        let known = self.facts.get(step)?;
        let grows = known.lo > 0 && (kept || known.hi == 1);
        (grows && stands(self.m, self.body, homes, step)).then_some(step)
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
fn truth(m: &Module, facts: &FactMap, value: ValueId) -> ValueId {
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
fn stands(m: &Module, body: BlockId, homes: &[BlockId], value: ValueId) -> bool {
    if !is_inside(m, body, value) {
        return true;
    }
    m.def_op(value).is_some_and(|op| {
        let data = m.op(op);
        let plain = homes.contains(&data.block) && data.only_computes();
        plain && data.operands.iter().all(|&v| stands(m, body, homes, v))
    })
}
