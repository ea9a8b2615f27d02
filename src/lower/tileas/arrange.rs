//! The operations of loops that multiply, in an order that keeps fewer tiles in registers.
//!
//! ```text
//! a = q · s                       b = k · s
//! p = q · kᵀ                      n = v - b
//! b = k · s              →        p = q · kᵀ
//! o = a + p · (v - b)             o = q · s + p · n
//! ```
//! Rules leave what is pure where it is first used, in the order of operands. Where an operand takes more registers while
//! it is computed than it has in the end, it had better be computed before the others are there (Sethi and Ullman, "The
//! Generation of Optimal Code for Arithmetic Expressions", 1970). Effects stay in order.

use super::look::is_matmul;
use super::pipeline::tokens::loads_freely;
use super::pressure::{self, Weights};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::ir::{BlockId, Module, OpId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Warps by which the registers of a thread are reckoned here, before the plan: two warpgroups.
const WARPS: u64 = 8;

/// Registers of a thread for tiles above which another order is tried. Fragments and what is converted on the way may take
/// as many again.
const MANY: u64 = 104;

/// Reorders the loops under `body` whose matmuls follow from each other, where that saves registers.
pub fn loops(m: &mut Module, body: BlockId) {
    let mut now = pressure::registers(m, body, WARPS);
    if now <= MANY {
        return;
    }
    for op in m.ops_under(body) {
        let is_loop = matches!(C::of(m.op(op).kind), Some(C::For | C::Loop));
        let Some(block) = m.body_of(op, 0).filter(|_| is_loop) else {
            continue;
        };
        let before = m.block(block).ops.clone();
        if before.iter().filter(|&&o| is_matmul(m, o)).count() < 2 {
            continue;
        }
        let order = Order::of(m, body, block);
        m.block_mut(block).ops = order;
        let then = pressure::registers(m, body, WARPS);
        if then < now {
            now = then;
        } else {
            m.block_mut(block).ops = before;
        }
    }
}

/// What an operation takes until it is computed.
#[derive(Clone, Copy, Default)]
struct Need {
    /// Registers of a thread.
    registers: u64,
    /// Matmuls on the way, whose fragments may take more.
    matmuls: u64,
}

/// A new order of a block, as far as it is made.
struct Order<'m> {
    m: &'m Module,
    weights: Weights<'m>,
    /// What stands in the block and may stand elsewhere.
    needs: FxHashMap<OpId, Need>,
    placed: FxHashSet<OpId>,
    order: Vec<OpId>,
}

impl<'m> Order<'m> {
    fn of(m: &'m Module, body: BlockId, block: BlockId) -> Vec<OpId> {
        let mut order = Order {
            m,
            weights: Weights::of(m, body, WARPS),
            needs: FxHashMap::default(),
            placed: FxHashSet::default(),
            order: Vec::new(),
        };
        let ops = &m.block(block).ops;
        for &op in ops {
            if is_movable(m, op) {
                let need = order.need(op);
                order.needs.insert(op, need);
            }
        }
        let fixed = ops.iter().filter(|&&o| !is_movable(m, o));
        let (last, effects): (Vec<OpId>, Vec<OpId>) =
            fixed.partition(|&&o| m.op(o).def().traits.has(Traits::TERMINATOR));
        effects.iter().for_each(|&op| order.place(op));
        let handed_on: Vec<OpId> = last.iter().flat_map(|&op| order.operands(op)).collect();
        handed_on.into_iter().for_each(|op| order.place(op));
        // What nothing uses, and the terminator.
        ops.iter().for_each(|&op| order.place(op));
        order.order
    }

    /// What is taken while `op` is computed, what comes from outside of the block apart.
    fn need(&self, op: OpId) -> Need {
        let mut held = 0;
        let mut most = self.weight(op);
        let mut matmuls = u64::from(is_matmul(self.m, op));
        for operand in self.operands(op) {
            let need = self.needs.get(&operand).copied().unwrap_or_default();
            most = most.max(held + need.registers);
            held += self.weight(operand);
            matmuls = matmuls.saturating_add(need.matmuls);
        }
        Need {
            registers: most.max(held),
            matmuls,
        }
    }

    fn weight(&self, op: OpId) -> u64 {
        let results = self.m.op(op).results.iter();
        results
            .filter(|&&r| self.weights.root(r) == r)
            .map(|&r| self.weights.weight(r))
            .sum()
    }

    /// The movable operations that compute what `op` and the operations in it use: those first that need most beyond what
    /// they leave.
    fn operands(&self, op: OpId) -> Vec<OpId> {
        let m = self.m;
        let regions = 0..m.op(op).regions.len();
        let inside = regions.filter_map(|i| m.body_of(op, i));
        let inside = inside.flat_map(|b| m.ops_under(b));
        let mut found: Vec<OpId> = Vec::new();
        for user in std::iter::once(op).chain(inside) {
            let made = m.op(user).operands.iter().filter_map(|&v| m.def_op(v));
            for operand in made.filter(|o| self.needs.contains_key(o)) {
                if !found.contains(&operand) {
                    found.push(operand);
                }
            }
        }
        let beyond = |o: &OpId| {
            let need = self.needs.get(o).copied().unwrap_or_default();
            let registers = need.registers.saturating_sub(self.weight(*o));
            (registers, need.matmuls)
        };
        found.sort_by_key(|o| std::cmp::Reverse(beyond(o)));
        found
    }

    /// Places `op` behind what it is computed of.
    fn place(&mut self, op: OpId) {
        let mut open = vec![(op, self.operands(op).into_iter())];
        while let Some((op, operands)) = open.last_mut() {
            let op = *op;
            match operands.next() {
                Some(operand) if self.placed.contains(&operand) => {}
                Some(operand) => {
                    let operands = self.operands(operand).into_iter();
                    open.push((operand, operands));
                }
                None => {
                    open.pop();
                    if self.placed.insert(op) {
                        self.order.push(op);
                    }
                }
            }
        }
    }
}

/// Whether an operation has no place of its own: it computes, or reads what nothing in front of it wrote.
fn is_movable(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    loads_freely(m, op)
        || data.only_computes()
        || matches!(C::of(data.kind), Some(C::Reduce | C::Scan))
}
