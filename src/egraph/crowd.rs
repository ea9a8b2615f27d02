//! Register arrays that are so wide that it is better to make them again than to keep them.
//!
//! What does not change in a loop is computed before it, what both branches of an `if` need before these. An array of
//! most of a thread's registers would take them from what the loop or the branches work on, which has as many: it is
//! spilled, and read back where computing it again takes as few instructions. That pays where it is made of little: the
//! number of a row, of a column, a pointer. What is made of an array that is kept anyway frees nothing.

use egg::Id;
use rustc_hash::FxHashSet;

use super::analysis::Graph;
use super::build::{BlockIx, Skeleton};
use super::by_class::ByClass;
use super::cost::{self, CostModel};
use super::extract::Choice;
use super::node::Head;
use crate::dialect::OpDef;

/// 32-bit registers of an array that a thread has no room for twice, beside what else a loop holds.
const LOOP: u64 = 96;
/// The same where two branches follow: the array is used up in either, register by register.
const BRANCH: u64 = 128;
/// 32-bit registers that an inner loop carries from one iteration to the next where it needs all of a thread's: the
/// accumulator of a matmul, beside which are its fragments, or what a softmax makes of another matmul's result.
const CARRIED: u64 = 32;
/// Elements of what counts as little.
const LITTLE: u64 = 8;
/// Tenths of an instruction that an element of an easy array takes.
const EASY: u64 = 40;

/// Elements of a tile of which each thread of four warps has what counts as little.
const LITTLE_TILE: u64 = 128 * LITTLE;

/// Whether a class is more elements than count as little: of a thread's array, or of a tile that all threads share.
pub fn is_wide(graph: &Graph, id: Id) -> bool {
    let Some(ty) = graph[id].data.ty else {
        return false;
    };
    match graph.analysis.types.as_tile(ty) {
        Some((_, shape)) => shape.iter().product::<u64>() > LITTLE_TILE,
        None => cost::elements(&graph.analysis, Some(ty)) > LITTLE,
    }
}

/// The arrays that are made where they are used.
pub struct Crowd {
    /// 32-bit registers of each array that is made again rather than kept; 0 of all others.
    registers: ByClass<u64>,
}

impl Crowd {
    /// Finds them among the chosen forms.
    pub fn of(graph: &Graph, choice: &Choice, model: &dyn CostModel) -> Crowd {
        let mut crowd = Crowd {
            registers: ByClass::new(graph),
        };
        let know = &graph.analysis;
        let count = |id: Id| cost::elements(know, graph[graph.find(id)].data.ty);
        let mut easy: ByClass<bool> = ByClass::new(graph);
        for (id, node) in choice.in_order() {
            let n = count(id);
            let list = node.head == Head::List;
            if !list && n <= LITTLE || matches!(node.head, Head::Value(_) | Head::Proj(_)) {
                continue;
            }
            let little = |&c: &Id| {
                let c = graph.find(c);
                easy.get(c) == Some(&true)
                    || count(c) <= LITTLE && choice.node(c).is_none_or(|n| n.head != Head::List)
            };
            if !node.children.iter().all(little) {
                continue;
            }
            let ty = graph[id].data.ty;
            let pure = know.def(node.head).is_some_and(OpDef::is_pure);
            let cheap = cost::of(model, graph, node, ty).is_some_and(|c| c <= EASY * n);
            if !(list || pure && cheap) {
                continue;
            }
            easy.set(id, true);
            if !list {
                crowd.registers.set(id, cost::registers(know, ty));
            }
        }
        crowd
    }

    /// Whether an array stays in a loop that does not change it.
    pub fn stays_in_loops(&self, id: Id) -> bool {
        self.registers.get(id).is_some_and(|&n| n > LOOP)
    }

    /// Whether an array is made in each branch that needs it.
    pub fn stays_in_branches(&self, id: Id) -> bool {
        self.registers.get(id).is_some_and(|&n| n > BRANCH)
    }
}

/// Registers of a thread for arrays of wider elements than they are made of, from where on they are too many.
const WIDENED: u64 = 64;

/// Arrays that take at least twice the registers of the one that they are made of, by few instructions, and do not change
/// in a loop that uses them. Where they are many, each is made in the loop: what it is made of is all that stays in
/// registers, as a row of weights in 16 bits does while each row is scaled by them in 32.
pub fn widened(
    graph: &Graph,
    choice: &Choice,
    model: &dyn CostModel,
    depths: &ByClass<Option<usize>>,
) -> FxHashSet<Id> {
    let know = &graph.analysis;
    let depth = |id: Id| depths.get(id).copied().flatten().unwrap_or(0);
    let bits = |id: Id| {
        let ty = graph[graph.find(id)].data.ty;
        let n = cost::elements(know, ty);
        n * u64::from(ty.and_then(|t| know.types.bits(t)).unwrap_or(0))
    };
    let widens = |id: Id| {
        let node = choice.node(id)?;
        let &[source] = node.children.as_slice() else {
            return None;
        };
        let ty = graph[id].data.ty;
        let n = cost::elements(know, ty);
        let pure = know.def(node.head)?.is_pure();
        let easy = cost::of(model, graph, node, ty)? <= EASY * n;
        (n > LITTLE && pure && easy && bits(source) > 0 && bits(id) >= 2 * bits(source))
            .then_some(n)
    };
    let mut found = FxHashSet::default();
    let mut registers = 0;
    for (user, node) in choice.in_order() {
        for &child in &node.children {
            let child = graph.find(child);
            if depth(user) > depth(child)
                && let Some(n) = widens(child)
                && found.insert(child)
            {
                registers += n;
            }
        }
    }
    if registers < WIDENED {
        found.clear();
    }
    found
}

/// The loops that hold a loop which carries arrays of at least [`CARRIED`] registers, each as the block and the item
/// there that it is. What is made in front of the outer one for its epilogue, or for the inner one's prologue, is in
/// registers while the inner one runs.
pub fn crowded_loops(graph: &Graph, skeleton: &Skeleton) -> FxHashSet<(BlockIx, usize)> {
    let know = &graph.analysis;
    let registers = |&value: &u32| {
        let ty = know.values.get(value as usize).map(|v| v.0);
        match cost::elements(know, ty) {
            1 => 0,
            _ => cost::registers(know, ty),
        }
    };
    skeleton.loops_around(|block| block.args.iter().map(registers).sum::<u64>() >= CARRIED)
}
