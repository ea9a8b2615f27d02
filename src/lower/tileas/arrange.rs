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
//!
//! That takes what several operations use for several tiles. Where matmuls are multiply-adds, which nothing else runs beside,
//! each of them is also tried behind every other one.

use super::look::{is_matmul, lacks_instruction};
use super::pipeline::tokens::loads_freely;
use super::pressure::{self, Orders, Weights};
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
        let order = Order::of(&Graph::of(m, body, block), &before);
        m.block_mut(block).ops = order;
        let then = pressure::registers(m, body, WARPS);
        if then < now {
            now = then;
        } else {
            m.block_mut(block).ops = before;
        }
        try_places(m, body, block);
    }
}

/// Moves each matmul of a block, with what it is computed of, behind an earlier one where that saves registers, if all are
/// multiply-adds.
fn try_places(m: &mut Module, body: BlockId, block: BlockId) {
    let ops = &m.block(block).ops;
    let matmuls: Vec<OpId> = ops.iter().copied().filter(|&o| is_matmul(m, o)).collect();
    let several = (2..=MOST_TRIED).contains(&matmuls.len());
    if !several || !matmuls.iter().all(|&o| lacks_instruction(m, o)) {
        return;
    }
    let graph = Graph::of(m, body, block);
    let mut pressure = Orders::of(m, body, block, WARPS);
    let mut best = ops.clone();
    let mut now = pressure.registers_above(&best, MANY);
    for &matmul in matmuls.iter().skip(1) {
        let before = best.clone();
        let earlier = before.iter().take_while(|&&o| o != matmul);
        for &behind in earlier.filter(|&&o| is_matmul(m, o)) {
            let order = Order::with(&graph, &before, matmul, behind);
            if !graph.is_in_order(&order) {
                continue;
            }
            let then = pressure.registers_above(&order, MANY);
            if then.0 <= now.0 && then.1 < now.1 {
                now = then;
                best = order;
            }
        }
    }
    m.block_mut(block).ops = best;
}

/// Most matmuls of a loop of which other places are tried.
const MOST_TRIED: usize = 16;

/// What an operation takes until it is computed.
#[derive(Clone, Copy, Default)]
struct Need {
    /// Registers of a thread.
    registers: u64,
    /// Matmuls on the way, whose fragments may take more.
    matmuls: u64,
}

/// What the operations of a block need of each other, in whatever order they stand.
struct Graph<'m> {
    m: &'m Module,
    weights: Weights<'m>,
    /// What stands in the block and may stand elsewhere.
    needs: FxHashMap<OpId, Need>,
    /// The operations that make what an operation and those in it use.
    makers: FxHashMap<OpId, Vec<OpId>>,
    /// The movable ones of these: those first that need most beyond what they leave.
    operands: FxHashMap<OpId, Vec<OpId>>,
}

impl<'m> Graph<'m> {
    fn of(m: &'m Module, body: BlockId, block: BlockId) -> Self {
        let mut graph = Graph {
            m,
            weights: Weights::of(m, body, WARPS),
            needs: FxHashMap::default(),
            makers: FxHashMap::default(),
            operands: FxHashMap::default(),
        };
        for &op in &m.block(block).ops {
            let makers = graph.makers(op);
            let operands = graph.operands(&makers);
            if is_movable(m, op) {
                let need = graph.need(op, &operands);
                graph.needs.insert(op, need);
            }
            graph.makers.insert(op, makers);
            graph.operands.insert(op, operands);
        }
        graph
    }

    /// What is taken while `op` is computed of `operands`, what comes from outside of the block apart.
    fn need(&self, op: OpId, operands: &[OpId]) -> Need {
        let mut held = 0;
        let mut most = self.weight(op);
        let mut matmuls = u64::from(is_matmul(self.m, op));
        for operand in operands {
            let need = self.needs.get(operand).copied().unwrap_or_default();
            most = most.max(held + need.registers);
            held += self.weight(*operand);
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

    fn makers(&self, op: OpId) -> Vec<OpId> {
        let m = self.m;
        let regions = 0..m.op(op).regions.len();
        let inside = regions.filter_map(|i| m.body_of(op, i));
        let inside = inside.flat_map(|b| m.ops_under(b));
        let mut found: Vec<OpId> = Vec::new();
        for user in std::iter::once(op).chain(inside) {
            for maker in m.op(user).operands.iter().filter_map(|&v| m.def_op(v)) {
                if !found.contains(&maker) {
                    found.push(maker);
                }
            }
        }
        found
    }

    fn operands(&self, makers: &[OpId]) -> Vec<OpId> {
        let movable = makers.iter().filter(|o| self.needs.contains_key(o));
        let mut found: Vec<OpId> = movable.copied().collect();
        let beyond = |o: &OpId| {
            let need = self.needs.get(o).copied().unwrap_or_default();
            let registers = need.registers.saturating_sub(self.weight(*o));
            (registers, need.matmuls)
        };
        found.sort_by_key(|o| std::cmp::Reverse(beyond(o)));
        found
    }

    /// Whether none of the block's operations, in another order, uses what a later one makes.
    fn is_in_order(&self, ops: &[OpId]) -> bool {
        let mut later: FxHashSet<OpId> = ops.iter().copied().collect();
        ops.iter().all(|op| {
            later.remove(op);
            let mut makers = self.makers.get(op).into_iter().flatten();
            !makers.any(|o| later.contains(o))
        })
    }
}

/// A new order of a block, as far as it is made.
struct Order<'g, 'm> {
    graph: &'g Graph<'m>,
    placed: FxHashSet<OpId>,
    order: Vec<OpId>,
}

impl<'g, 'm> Order<'g, 'm> {
    /// Nothing placed yet.
    fn new(graph: &'g Graph<'m>) -> Self {
        Order {
            graph,
            placed: FxHashSet::default(),
            order: Vec::new(),
        }
    }

    /// `ops`, but `matmul` with what it is computed of right behind `behind`, which is earlier.
    fn with(graph: &'g Graph<'m>, ops: &[OpId], matmul: OpId, behind: OpId) -> Vec<OpId> {
        let mut order = Self::new(graph);
        for &op in ops {
            order.place(op);
            if op == behind {
                order.place(matmul);
            }
        }
        order.order
    }

    fn of(graph: &'g Graph<'m>, ops: &[OpId]) -> Vec<OpId> {
        let mut order = Self::new(graph);
        let m = graph.m;
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

    fn operands(&self, op: OpId) -> Vec<OpId> {
        self.graph.operands.get(&op).cloned().unwrap_or_default()
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
