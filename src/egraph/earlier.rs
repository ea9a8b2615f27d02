//! Values that are made early because that sets registers free.
//!
//! What a loop carries is asked for at its end, and computed there: a softmax's sum of rows would wait for that, beside
//! the scale that it is multiplied with, under the matmul in between. Where more registers end in an operation than it
//! takes, it stands behind the last of what it reads.
//!
//! What works on parts of an array reads each by a `take`, which costs nothing and stands where it is asked for. It moves
//! along, as does what else is only computed for the operation:
//!
//! ```text
//! for …, p0 = …                    for …, p0 = …
//! for …, p1 = …                    y0 = fma (take x), s, p0
//! y0 = fma (take x), s, p0    →    for …, p1 = …
//! y1 = fma (take x), s, p1         y1 = fma (take x), s, p1
//! ```
//! Past loads alone it does not: between barriers and branches `ptxas` orders loads and computations by itself.

use super::analysis::Graph;
use super::cost;
use super::node::Head;
use super::schedule::{Inst, Schedule, Step, Val};
use crate::dialect::OpDef;
use crate::dialect::nvvm::Op as N;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Registers that have to end: fewer are not worth another order.
pub(super) const WORTH: i64 = 8;
/// Most operations that move together.
const TOGETHER: usize = 64;

/// Moves such operations up in every block.
pub fn move_up(graph: &Graph, schedule: &mut Schedule) {
    let mut uses = Uses {
        graph,
        wide: widths(graph, schedule),
        all: vec![Use::default(); schedule.values.len()],
        seen: vec![Use::default(); schedule.values.len()],
    };
    if uses.wide.iter().all(|&w| w < WORTH) {
        return;
    }
    for step in schedule.blocks.iter().flat_map(|b| &b.steps) {
        let takes = uses.is_take(step);
        operands(step).for_each(|v| uses.all[v as usize].count(takes));
    }
    for block in 0..schedule.blocks.len() {
        let mut steps = std::mem::take(&mut schedule.blocks[block].steps);
        for at in 0..steps.len() {
            let takes = uses.is_take(&steps[at]);
            operands(&steps[at]).for_each(|v| uses.seen[v as usize].count(takes));
            if !uses.may_move(&steps[at]) {
                continue;
            }
            if let Some(to) = uses.alone(&steps, at) {
                steps[to..=at].rotate_right(1);
            } else if let Some((to, group)) = uses.together(&steps, at) {
                pull(&mut steps, to..at + 1, &group);
            }
        }
        schedule.blocks[block].steps = steps;
    }
}

/// Moves the steps at the places `group` to the front of `range`, which holds them.
pub(super) fn pull(steps: &mut Vec<Step>, range: Range<usize>, group: &FxHashSet<usize>) {
    if group.is_empty() {
        return;
    }
    let from = range.start;
    let (mut moved, mut others) = (Vec::with_capacity(group.len()), Vec::new());
    for (i, step) in steps.drain(range).enumerate() {
        match group.contains(&(from + i)) {
            true => moved.push(step),
            false => others.push(step),
        }
    }
    steps.splice(from..from, moved.into_iter().chain(others));
}

/// Registers of each value. Conditions are in predicates, constants are part of instructions, a splat is one register, and
/// what is taken is in registers of its source.
pub(super) fn widths(graph: &Graph, schedule: &Schedule) -> Vec<i64> {
    let know = &graph.analysis;
    let of_type = |v: &super::schedule::ScheduledValue| match know.types.bits(v.ty) {
        None | Some(0 | 1) => 0,
        Some(_) => cost::registers(know, Some(v.ty)) as i64,
    };
    let mut wide: Vec<i64> = schedule.values.iter().map(of_type).collect();
    for step in schedule.blocks.iter().flat_map(|b| &b.steps) {
        let registers = match operands(step).next() {
            _ if is(step, &[N::Const]) => 0,
            Some(source) if is(step, &[N::Splat, N::Take]) => {
                wide.get(source as usize).copied().unwrap_or(0)
            }
            _ => continue,
        };
        for &result in results(step) {
            wide[result as usize] = wide[result as usize].min(registers);
        }
    }
    wide
}

/// Whether a step is one of these operations.
pub(super) fn is(step: &Step, kinds: &[N]) -> bool {
    let kind = match step {
        Step::Inst(inst) => inst.head,
        _ => return false,
    };
    matches!(kind, Head::Op(kind) if N::of(kind).is_some_and(|n| kinds.contains(&n)))
}

/// A step that only computes.
pub(super) fn pure<'s>(graph: &Graph, step: &'s Step) -> Option<&'s Inst> {
    let Step::Inst(inst) = step else { return None };
    let pure = graph.analysis.def(inst.head);
    pure.is_some_and(OpDef::is_pure).then_some(inst)
}

/// How often a value is used: by operations that take some of its registers, and by others.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Use {
    takes: u32,
    others: u32,
}

impl Use {
    fn count(&mut self, takes: bool) {
        match takes {
            true => self.takes += 1,
            false => self.others += 1,
        }
    }
}

/// What is known of the values of a schedule.
struct Uses<'g> {
    graph: &'g Graph,
    /// Registers of each.
    wide: Vec<i64>,
    all: Vec<Use>,
    /// As far as the walk has come.
    seen: Vec<Use>,
}

impl Uses<'_> {
    fn wide(&self, v: Val) -> i64 {
        self.wide.get(v as usize).copied().unwrap_or(0)
    }

    fn has_ended(&self, v: Val) -> bool {
        self.all[v as usize] == self.seen[v as usize]
    }

    fn is_take(&self, step: &Step) -> bool {
        is(step, &[N::Take])
    }

    fn pure<'s>(&self, step: &'s Step) -> Option<&'s Inst> {
        pure(self.graph, step)
    }

    /// Whether an operation only computes, and registers end in it.
    fn may_move(&self, step: &Step) -> bool {
        self.pure(step)
            .is_some_and(|inst| self.gain(inst, &|v| self.has_ended(v)) >= WORTH)
    }

    /// Registers that end in an operation, by `ends`, beyond those that it makes.
    fn gain(&self, inst: &Inst, ends: &dyn Fn(Val) -> bool) -> i64 {
        let made: i64 = inst.results.iter().map(|&v| self.wide(v)).sum();
        let ended = inst.operands.iter().filter(|&&v| ends(v));
        ended.map(|&v| self.wide(v)).sum::<i64>() - made
    }

    /// Where the operation at `at` goes by itself.
    fn alone(&self, steps: &[Step], at: usize) -> Option<usize> {
        let inst = self.pure(&steps[at])?;
        let makes = |s: &Step| results(s).iter().any(|r| inst.operands.contains(r));
        let to = steps[..at].iter().rposition(makes).map_or(0, |i| i + 1);
        let read_between = |v: Val| steps[to..at].iter().any(|s| operands(s).any(|o| o == v));
        let ends = |v: Val| self.has_ended(v) && !read_between(v);
        (to < at && self.gain(inst, &ends) >= WORTH).then_some(to)
    }

    /// Where the operation at `at` goes together with what is computed for it alone, and the places of all of these: past an
    /// operation with regions or effects other than a load's at least.
    fn together(&self, steps: &[Step], at: usize) -> Option<(usize, FxHashSet<usize>)> {
        let mut group: FxHashSet<usize> = [at].into_iter().collect();
        let mut needed: FxHashSet<Val> = operands(&steps[at]).collect();
        let mut made: FxHashSet<Val> = FxHashSet::default();
        let mut to = 0;
        let mut passed = false;
        for (i, step) in steps[..at].iter().enumerate().rev() {
            if !results(step).iter().any(|r| needed.contains(r)) {
                passed |= self.pure(step).is_none() && !is(step, &[N::Ld]);
                continue;
            }
            let light = |inst: &&Inst| {
                let registers: i64 = inst.results.iter().map(|&v| self.wide(v)).sum();
                registers < WORTH || is(step, &[N::Take, N::Splat, N::Const])
            };
            let goes_along = group.len() < TOGETHER && self.pure(step).filter(light).is_some();
            if !goes_along {
                to = i + 1;
                break;
            }
            group.insert(i);
            made.extend(results(step));
            needed.extend(operands(step));
        }
        if !passed {
            return None;
        }
        let others = (to..at).filter(|i| !group.contains(i));
        let read_between: FxHashSet<Val> = others.flat_map(|i| operands(&steps[i])).collect();
        let inst = self.pure(&steps[at])?;
        let ends = |v: Val| {
            let taken = made.contains(&v) && self.wide(v) >= WORTH;
            self.has_ended(v) && !read_between.contains(&v) && (!made.contains(&v) || taken)
        };
        // What is taken from ends with it where nothing else will use it.
        let sources = group.iter().filter(|&&i| self.is_take(&steps[i]));
        let sources: Vec<Val> = sources.flat_map(|&i| operands(&steps[i])).collect();
        let over = |v: Val| self.all[v as usize].others == self.seen[v as usize].others;
        let frees = |&v: &Val| over(v) && !read_between.contains(&v);
        let parts = !sources.is_empty() && sources.iter().all(frees);
        (parts && self.gain(inst, &ends) >= WORTH).then_some((to, group))
    }
}

pub(super) fn operands(step: &Step) -> impl Iterator<Item = Val> {
    let operands: &[Val] = match step {
        Step::Inst(inst) => &inst.operands,
        Step::Region { operands, .. } | Step::Terminator { operands, .. } => operands,
    };
    operands.iter().copied()
}

pub(super) fn results(step: &Step) -> &[Val] {
    match step {
        Step::Inst(inst) => &inst.results,
        Step::Region { results, .. } => results,
        Step::Terminator { .. } => &[],
    }
}
