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
//!
//! The condition may be any comparison that is known to hold for the first numbers of a count and for no more:
//! `n > at`, `at * 64 < n`, `at != n`, or one with numbers that go down by one ([`condition`]).

mod condition;
mod step;

use condition::{Condition, Way};
use step::{Counting, Ends, Moved, stands, truth};

use super::invariant::{is_inside, outside};
use super::tileas::look::place;
use super::{build, carried};
use crate::dialect::cuda_tile::{Op as C, view};
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
    condition: Condition,
    counting: Counting,
    way: Way,
    /// What ends iterations.
    continues: Vec<OpId>,
}

/// What a loop leaves with.
enum Left {
    /// What it carries at a place.
    Carried(usize),
    /// A token of these.
    Joined(Vec<Left>),
    Outside(ValueId),
    /// The counter, which was this number first, and goes by one.
    Counter(ValueId, Way),
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
            Left::Counter(first, way) => {
                let (lower, bound) = (m.op(of).operands[0], m.op(of).operands[1]);
                let (ty, (block, at)) = (m.ty(first), place(m, of));
                let mut b = m.at(block, at + 1);
                let signs = match way.unsigned {
                    true => Signedness::Unsigned,
                    false => Signedness::Signed,
                };
                let reached = b.value(C::MaxI, &[lower, bound], [build::cased(signs)], ty);
                match way.down {
                    true => build::difference(&mut b, first, reached),
                    false => reached,
                }
            }
        }
    }
}

/// Where a loop asks its condition.
struct Asked {
    /// Operations of the loop's body in front of the branch.
    before: Vec<OpId>,
    branch: OpId,
    /// Whether the loop goes on where the condition holds; it ends there otherwise.
    goes_on: bool,
    /// Where an iteration is, unless it follows the branch.
    inside: Option<BlockId>,
    /// The branch's results, and what they are where the loop goes on.
    results: Vec<(ValueId, ValueId)>,
    /// What ends the loop.
    end: OpId,
}

impl Asked {
    fn of(m: &Module, body: BlockId) -> Option<Asked> {
        let ops = &m.block(body).ops;
        let is = |o: OpId, kind| C::of(m.op(o).kind) == Some(kind);
        let last = |block: BlockId| m.terminator(block);
        let only = |block: BlockId, kind| match m.block(block).ops[..] {
            [op] => is(op, kind).then_some(op),
            _ => None,
        };
        let leaves = |o: OpId, way: usize| m.body_of(o, way).and_then(|b| only(b, C::Break));
        let branches = |o: OpId| {
            let way = [0, 1].into_iter().find(|&way| leaves(o, way).is_some());
            is(o, C::If) && (m.op(o).results.is_empty() || way.is_some())
        };
        let at = ops.iter().position(|&o| branches(o))?;
        let (branch, rest) = (ops[at], &ops[at + 1..]);
        let stays = |way: usize| match m.body_of(branch, way) {
            Some(block) => only(block, C::Yield).map(|end| m.op(end).operands.to_vec()),
            None => Some(Vec::new()),
        };
        // Where the other way only leads on to `rest`.
        let beside = |way: usize| Some((way, stays(1 - way)?));
        let (goes_on, inside, end, handed_on) = match rest {
            // The iteration is in the branch, and leads to the next.
            &[end] if is(end, C::Break) => {
                // What the branch hands on is for those who leave.
                let (way, handed_on) = [0, 1].into_iter().find_map(beside)?;
                m.op(branch).results.is_empty().then_some(())?;
                (way == 0, Some(m.body_of(branch, way)?), end, handed_on)
            }
            _ => {
                let leaving = [1, 0]
                    .into_iter()
                    .filter_map(|way| Some((way, leaves(branch, way)?)));
                let mut leaving =
                    leaving.filter_map(|(way, end)| Some((way, end, stays(1 - way)?)));
                let (way, end, handed_on) = leaving.next()?;
                (way == 1, None, end, handed_on)
            }
        };
        let iteration = inside.map_or(rest.last().copied(), last);
        iteration.filter(|&o| is(o, C::Continue))?;
        let results = m.op(branch).results.iter().copied();
        Some(Asked {
            before: ops[..at].to_vec(),
            branch,
            goes_on,
            inside,
            results: results.zip(handed_on).collect(),
            end,
        })
    }
}

impl Counted {
    fn of(m: &Module, facts: &FactMap, op: OpId) -> Option<Counted> {
        let body = m.body_of(op, 0)?;
        let asked = Asked::of(m, body)?;
        let mut continues = carried::ends(m, body);
        continues.retain(|&o| o != asked.end);
        let is_continue = |&o: &OpId| C::of(m.op(o).kind) == Some(C::Continue);
        if !continues.iter().all(is_continue) {
            return None;
        }
        let condition = view::If::of(m.op(asked.branch))?.condition();
        let compare = m.def_op(truth(m, facts, condition))?;
        let sides = Condition::sides(m, facts, compare, asked.goes_on);
        let (condition, counting, way) = sides.into_iter().find_map(|side| {
            let ends = Ends {
                m,
                facts,
                body,
                continues: &continues,
                unsigned: side.unsigned,
            };
            let mut all = std::iter::successors(Some(side), |s| s.within(m, facts));
            all.find_map(|condition| {
                let counting = ends.counting(op, condition.counter)?;
                let first = *m.op(op).operands.get(counting.place)?;
                let way = condition.way(m, facts, first, &counting.step)?;
                Some((condition, counting, way))
            })
        })?;
        let counted = Counted {
            op,
            body,
            asked,
            condition,
            counting,
            way,
            continues,
        };
        let stays = |&o: &OpId| counted.stays(o) || m.op(o).only_computes();
        let plain = counted.asked.before.iter().all(stays);
        let stands = stands(m, body, &[body], counted.condition.bound);
        (plain && stands && counted.ends_plainly(m)).then_some(counted)
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

    /// What a value that the loop leaves with is behind it: carried values, the counter if it goes by one, tokens that are joined of
    /// such ones, or what is made in front of the loop.
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
        let moved = self.moved().find(|moved| moved.chosen == value);
        match moved.map(|moved| moved.place).or_else(|| place(value)) {
            Some(place) => Some(Left::Carried(place)),
            None if value == self.condition.counter && self.way.one => {
                let first = m.op(self.op).operands.get(self.counting.place)?;
                Some(Left::Counter(*first, self.way))
            }
            None => (!is_inside(m, self.body, value)).then_some(Left::Outside(value)),
        }
    }

    fn moved(&self) -> impl Iterator<Item = &Moved> {
        self.counting.choice.iter().flat_map(|c| &c.moved)
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
        let lower = data.operands[self.counting.place];
        let bounds = self.in_front(m, lower);
        let types: Vec<TypeId> = kept.iter().map(|&p| m.ty(args[p])).collect();
        let region = m.new_region();
        let counter = m.ty(self.condition.counter);
        let body = m.new_block(region, &[&[counter], &types[..]].concat());
        let first = self.move_iteration(m, body);
        for &(result, value) in &self.asked.results {
            m.replace_all_uses(result, value);
        }
        for &(chosen, later) in self.counting.choice.iter().flat_map(|c| &c.tokens) {
            m.replace_all_uses(chosen, later);
        }
        self.replace_carried(m, body, lower, &args);
        let inits: Vec<ValueId> = kept.iter().map(|&p| data.operands[p]).collect();
        let (block, at) = place(m, self.op);
        let mut b = m.at(block, at);
        b.loc = data.loc;
        let unsigned = self.way.unsigned.then_some(Attr::Unit);
        let [lower, bound, step] = &bounds;
        let groups = [lower, bound, step].map(std::slice::from_ref);
        let groups: [&[ValueId]; 4] = [groups[0], groups[1], groups[2], &inits];
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

    /// Puts what the counted loop's `body` begins with in the place of what this one's iterations did, in those that are there now;
    /// `lower` is the counter's first number, `args` what this one carries.
    fn replace_carried(&self, m: &mut Module, body: BlockId, lower: ValueId, args: &[ValueId]) {
        for &end in &self.continues {
            for moved in self.moved() {
                m.op_mut(end).operands[moved.place] = moved.next;
            }
            for place in (0..args.len()).rev().filter(|&p| !self.is_kept(p)) {
                m.op_mut(end).remove_operand(place);
            }
        }
        let mut count = m.block(body).args[0];
        let carried = m.block(body).args[1..].to_vec();
        if self.way.down {
            count = build::difference(&mut m.at(body, 0), lower, count);
        }
        for counter in [self.condition.counter, args[self.counting.place]] {
            m.replace_all_uses(counter, count);
        }
        let kept = (0..args.len()).filter(|&p| self.is_kept(p));
        for (place, now) in kept.zip(carried) {
            m.replace_all_uses(args[place], now);
            for moved in self.moved().filter(|moved| moved.place == place) {
                m.replace_all_uses(moved.chosen, now);
            }
        }
    }

    /// The first number, the one behind the last and the step of the counted loop, in front of this one, which begins with
    /// `first`.
    fn in_front(&self, m: &mut Module, first: ValueId) -> [ValueId; 3] {
        let numbers = [self.condition.bound, self.counting.step.by];
        let [bound, step] = numbers.map(|v| outside(m, self.op, self.body, v));
        let (ty, (block, at)) = (m.ty(bound), place(m, self.op));
        let mut b = m.at(block, at);
        if self.way.down {
            let distance = self.condition.distance(&mut b, first, bound);
            return [
                build::constant(&mut b, 0, ty),
                distance,
                build::constant(&mut b, 1, ty),
            ];
        }
        [first, self.condition.end(&mut b, bound), step]
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
