//! Values that are made early because that sets registers free.
//!
//! What a loop carries is asked for at its end, and computed there: a softmax's sum of rows would wait for that, beside
//! the scale that it is multiplied with, under the matmul in between. Where more registers end in an operation than it
//! takes, it stands behind the last of what it reads.

use super::analysis::Graph;
use super::cost;
use super::schedule::{Schedule, Step, Val};
use crate::dialect::OpDef;

/// Registers that have to end: fewer are not worth another order.
const WORTH: i64 = 8;

/// Moves such operations up in every block.
pub fn move_up(graph: &Graph, schedule: &mut Schedule) {
    let know = &graph.analysis;
    // Conditions are in predicates.
    let wide = |schedule: &Schedule, v: Val| {
        let ty = schedule.values.get(v as usize).map(|v| v.ty);
        match ty.and_then(|t| know.types.bits(t)) {
            None | Some(0 | 1) => 0,
            Some(_) => cost::registers(know, ty) as i64,
        }
    };
    if (0..schedule.values.len() as Val).all(|v| wide(schedule, v) < WORTH) {
        return;
    }
    let mut uses = vec![0u32; schedule.values.len()];
    for step in schedule.blocks.iter().flat_map(|b| &b.steps) {
        for &v in operands(step) {
            uses[v as usize] += 1;
        }
    }
    let mut seen = vec![0u32; uses.len()];
    for block in 0..schedule.blocks.len() {
        let mut steps = std::mem::take(&mut schedule.blocks[block].steps);
        for at in 0..steps.len() {
            for &v in operands(&steps[at]) {
                seen[v as usize] += 1;
            }
            let Step::Inst(inst) = &steps[at] else {
                continue;
            };
            if !know.def(inst.head).is_some_and(OpDef::is_pure) {
                continue;
            }
            let made: i64 = inst.results.iter().map(|&v| wide(schedule, v)).sum();
            let gain = |ends: &dyn Fn(Val) -> bool| {
                let ended = inst.operands.iter().filter(|&&v| ends(v));
                ended.map(|&v| wide(schedule, v)).sum::<i64>() - made
            };
            if gain(&|v| uses[v as usize] == seen[v as usize]) < WORTH {
                continue;
            }
            let makes = |s: &Step| results(s).iter().any(|r| inst.operands.contains(r));
            let to = steps[..at].iter().rposition(makes).map_or(0, |i| i + 1);
            let read_between = |v: Val| steps[to..at].iter().any(|s| operands(s).contains(&v));
            let ends = |v: Val| uses[v as usize] == seen[v as usize] && !read_between(v);
            if to < at && gain(&ends) >= WORTH {
                steps[to..=at].rotate_right(1);
            }
        }
        schedule.blocks[block].steps = steps;
    }
}

fn operands(step: &Step) -> &[Val] {
    match step {
        Step::Inst(inst) => &inst.operands,
        Step::Region { operands, .. } | Step::Terminator { operands, .. } => operands,
    }
}

fn results(step: &Step) -> &[Val] {
    match step {
        Step::Inst(inst) => &inst.results,
        Step::Region { results, .. } => results,
        Step::Terminator { .. } => &[],
    }
}
