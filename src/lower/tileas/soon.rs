//! What uses tiles up is computed as soon as they are there.
//!
//! ```text
//! x0 = load; s0 = reduce x0; …          x0 = load; s0 = reduce x0; …
//! x1 = load; s1 = reduce x1; …    →     x1 = load; s1 = reduce x1; …
//! …                                     a1 = x0 + x1
//! a1 = x0 + x1                          x2 = load; s2 = reduce x2; …
//! a2 = a1 + x2; …                       a2 = a1 + x2
//! ```
//! Rules leave what is pure where it is first used. Sums over rows that a program wrote out are used at its end, where
//! every row would have to be in registers still. An expression moves up to where the last of its operands is made if that
//! takes no more registers there than those operands that it uses up, and fewer from there on.

use super::look::{ancestor_in, blocks_of, is_matmul, is_view};
use super::pressure::{self, Weights};
use crate::ir::{BlockId, Def, Module, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Warps by which the registers of a thread are reckoned here, before the plan: the fewest of large tiles.
const WARPS: u64 = 4;

/// Registers of a thread for tiles up to which no order is better than another.
const FEW: u64 = 64;

/// Most operations of an expression.
const MOST_OPS: usize = 32;

/// Most uses of a value that an expression may use up: the others of one with more stand all over the block.
const MOST_USES: usize = 64;

/// Most rounds: what one expression uses up may be the last use for another.
const ROUNDS: usize = 8;

/// Reorders the blocks under `body` where that saves registers. Beside matmuls, what is computed meanwhile is a question
/// of the schedule.
pub fn compute(m: &mut Module, body: BlockId) {
    let ops = m.ops_under(body);
    let none_slow = ops.iter().all(|&o| m.op(o).regions.is_empty());
    if none_slow || ops.iter().any(|&o| is_matmul(m, o)) {
        return;
    }
    let mut now = pressure::registers(m, body, WARPS);
    if now <= FEW {
        return;
    }
    let weights = Weights::of(m, body, WARPS);
    let orders = blocks_of(m, ops).into_iter();
    let orders = orders.filter_map(|block| Some((block, Order::of(m, body, block, &weights)?)));
    for (block, order) in orders.collect::<Vec<_>>() {
        let before = std::mem::replace(&mut m.block_mut(block).ops, order);
        let then = pressure::registers(m, body, WARPS);
        match then < now {
            true => now = then,
            false => m.block_mut(block).ops = before,
        }
    }
}

/// Where an operation stands: its number in the block, or that of the one that it has moved behind; and which of those that
/// moved there it is.
type Place = (usize, usize);

/// A block of which some operations move up.
struct Order<'m> {
    m: &'m Module,
    block: BlockId,
    weights: &'m Weights<'m>,
    places: FxHashMap<OpId, Place>,
    /// The operations of the block that use registers, themselves or inside.
    users: FxHashMap<ValueId, Vec<OpId>>,
    /// The one operation that uses a value; `None`: there are several.
    only: FxHashMap<ValueId, Option<OpId>>,
    moved: FxHashSet<OpId>,
    /// The operations with regions, by their numbers: loops, branches and reductions.
    slow: Vec<usize>,
    /// How many operations have moved behind each.
    behind: FxHashMap<usize, usize>,
}

/// An expression: operations that nothing outside uses but its root.
struct Expression {
    /// In order, the root at last.
    ops: Vec<OpId>,
    /// What of the block it reads that takes registers.
    leaves: Vec<ValueId>,
    /// Operations without operands that others use, too: they can stand anywhere in front of their users.
    constants: Vec<OpId>,
    /// Where the last of its operands is made.
    made: Place,
}

impl<'m> Order<'m> {
    /// The order of `block` in which expressions have moved up; `None`: none does.
    fn of(
        m: &'m Module,
        body: BlockId,
        block: BlockId,
        weights: &'m Weights<'m>,
    ) -> Option<Vec<OpId>> {
        let ops = &m.block(block).ops;
        let numbered = || ops.iter().enumerate();
        let slow = numbered().filter(|&(_, &o)| !m.op(o).regions.is_empty());
        let slow: Vec<usize> = slow.map(|(i, _)| i).collect();
        if slow.is_empty() {
            return None;
        }
        let mut order = Order {
            m,
            block,
            weights,
            places: numbered().map(|(i, &o)| (o, (i, 0))).collect(),
            users: FxHashMap::default(),
            only: FxHashMap::default(),
            moved: FxHashSet::default(),
            slow,
            behind: FxHashMap::default(),
        };
        order.find_users(body);
        for _ in 0..ROUNDS {
            if ops.iter().filter(|&&op| order.move_up(op)).count() == 0 {
                break;
            }
        }
        if order.moved.is_empty() {
            return None;
        }
        let mut new = ops.clone();
        new.sort_by_key(|o| order.places.get(o).copied());
        Some(new)
    }

    fn find_users(&mut self, body: BlockId) {
        let m = self.m;
        for op in m.ops_under(self.block) {
            let user = ancestor_in(m, body, self.block, op).filter(|_| !is_view(m, op));
            for &v in &m.op(op).operands {
                let only = self.only.entry(v).or_insert(Some(op));
                *only = only.filter(|&o| o == op);
                let Some(user) = user else {
                    continue;
                };
                let users = self.users.entry(self.weights.root(v)).or_default();
                if users.last() != Some(&user) {
                    users.push(user);
                }
            }
        }
    }

    /// Moves the expression that ends in `op` up if that saves registers.
    fn move_up(&mut self, op: OpId) -> bool {
        let Some(e) = self.expression(op) else {
            return false;
        };
        let Some((at, _)) = self.better_place(op, &e) else {
            return false;
        };
        let behind = self.behind.entry(at).or_default();
        for &op in e.constants.iter().chain(&e.ops) {
            let there = (at, *behind + 1);
            if self.places.get(&op).is_some_and(|&p| p > there) {
                *behind += 1;
                self.places.insert(op, there);
            }
        }
        self.moved.extend(&e.ops);
        true
    }

    /// The expression that ends in `root`: what is computed for it alone.
    fn expression(&self, root: OpId) -> Option<Expression> {
        let m = self.m;
        let movable = |o: OpId| m.op(o).only_computes() && !self.moved.contains(&o);
        if !movable(root) || is_view(m, root) {
            return None;
        }
        let mut ops = vec![root];
        let mut inside: FxHashSet<OpId> = ops.iter().copied().collect();
        let mut next = 0;
        while let Some(&op) = ops.get(next) {
            next += 1;
            for maker in m.op(op).operands.iter().filter_map(|&v| m.def_op(v)) {
                let here = self.places.contains_key(&maker) && !inside.contains(&maker);
                let uses = |r| self.only.get(r).is_none_or(|&user| user == Some(op));
                let alone = || m.op(maker).results.iter().all(uses);
                if here && movable(maker) && ops.len() < MOST_OPS && alone() {
                    inside.insert(maker);
                    ops.push(maker);
                }
            }
        }
        let operands = || ops.iter().flat_map(|&o| m.op(o).operands.iter().copied());
        let outer = || operands().filter(|&v| m.def_op(v).is_none_or(|d| !inside.contains(&d)));
        let makers = outer().filter_map(|v| m.def_op(v).filter(|d| self.places.contains_key(d)));
        let free = |o: &OpId| m.op(*o).only_computes() && m.op(*o).operands.is_empty();
        let (constants, makers): (Vec<OpId>, Vec<OpId>) = makers.partition(free);
        let made = makers.iter().filter_map(|o| self.places.get(o).copied());
        let made = made.max()?;
        let roots = outer().map(|v| self.weights.root(v));
        let mut leaves: Vec<ValueId> = roots.filter(|&v| self.lives_here(v)).collect();
        leaves.sort_unstable();
        leaves.dedup();
        ops.sort_by_key(|o| self.places.get(o).copied());
        Some(Expression {
            ops,
            leaves,
            constants,
            made,
        })
    }

    /// Whether the block has a value's registers to give: what comes from outside may be used there again.
    fn lives_here(&self, value: ValueId) -> bool {
        let here = match self.m.value(value).def {
            Def::Result { op, .. } => self.places.contains_key(&op),
            Def::Argument { block, .. } => block == self.block,
        };
        let uses = self.users.get(&value).map_or(0, Vec::len);
        here && uses <= MOST_USES && self.weights.weight(value) > 0
    }

    /// The first place where an expression that ends in `root` takes no more registers than it frees, if computing it there
    /// saves some.
    fn better_place(&self, root: OpId, e: &Expression) -> Option<Place> {
        let results = self.m.op(root).results.iter();
        let result: u64 = results.map(|&r| self.weights.weight(r)).sum();
        let now = *self.places.get(&root)?;
        if result == 0 || !self.waits(e.made, now) || self.freed(e, now) <= result {
            return None;
        }
        let others = e.leaves.iter().flat_map(|&v| self.others(e, v));
        let others = others.filter_map(|u| self.places.get(&u).copied());
        let mut places: Vec<Place> = others.filter(|&p| p > e.made && p < now).collect();
        places.push(e.made);
        places.sort_unstable();
        let found = places.into_iter().find(|&p| self.freed(e, p) >= result)?;
        self.waits(found, now).then_some(found)
    }

    /// Whether something slow stands between two places.
    fn waits(&self, from: Place, to: Place) -> bool {
        let until = |place: Place| self.slow.partition_point(|&i| (i, 0) <= place);
        until(from) < until(to)
    }

    /// The operations beside an expression that use a value's registers.
    fn others<'a>(&'a self, e: &'a Expression, value: ValueId) -> impl Iterator<Item = OpId> + 'a {
        let users = self.users.get(&value).into_iter().flatten().copied();
        users.filter(|u| !e.ops.contains(u))
    }

    /// The registers that an expression reads and nothing else does behind `place`.
    fn freed(&self, e: &Expression, place: Place) -> u64 {
        let by = |u: OpId| self.places.get(&u).is_some_and(|&p| p <= place);
        let freed = (e.leaves.iter()).filter(|&&v| self.others(e, v).all(by));
        freed.map(|&v| self.weights.weight(v)).sum()
    }
}
