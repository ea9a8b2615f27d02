//! Whether a loop that multiplies and works on what it has multiplied has registers for both.
//!
//! In attention a matmul's fragments are read while the accumulator of the other matmul, and what was made of its
//! results, are live. Loops that only multiply are left out: there `ptxas` has nothing to choose between but fragments.

use rustc_hash::FxHashSet;

use super::bounds::registers;
use super::{coalesce, live, recompute};
use crate::machine::mir::{Func, Inst, Op, VReg};
use crate::machine::table::{Row, Table, Unit};
use crate::target::Target;

/// Of the registers that [`registers`] sets aside for `ptxas`, those that it gives up before it spills.
const SPARE: u32 = 8;

/// Whether more registers are live in such a loop than a thread has, once the passes behind this one have merged copies
/// and computed again what is cheap.
pub(super) fn is_crowded(func: &Func, table: &Table, target: Target) -> bool {
    let limit = registers(func, table, target) + SPARE;
    if live::all(func) <= limit || !exceeds(func, table, limit) {
        return false;
    }
    let mut finished = func.clone();
    coalesce::merge(&mut finished, table);
    recompute::recompute(&mut finished, table, target);
    exceeds(&finished, table, limit)
}

/// Whether more words of registers than `limit` are live in such a loop.
fn exceeds(func: &Func, table: &Table, limit: u32) -> bool {
    let live = live::ranges(func, table);
    let crowds = live::crowded(func, &live, limit);
    if crowds.is_empty() {
        return false;
    }
    let place = |at: usize| live.positions.get(at).copied().unwrap_or(u32::MAX);
    let loops = live::loops(func);
    let holds_another = |&(first, last): &(usize, usize)| {
        let mut others = loops.iter();
        others.any(|&(a, b)| (a, b) != (first, last) && first <= a && b <= last)
    };
    let mut innermost = loops.iter().filter(|l| !holds_another(l));
    innermost.any(|&(first, last)| {
        let (from, to) = (place(first), place(last));
        crowds.iter().any(|&(a, b)| a < to && from < b)
            && works_on_results(func.insts.get(first..=last).unwrap_or(&[]), table)
    })
}

/// Whether anything but a matmul reads what a matmul of the loop writes.
fn works_on_results(insts: &[Inst], table: &Table) -> bool {
    let ops = || {
        insts.iter().filter_map(|inst| match inst {
            Inst::Op(op) => Some((op, table.row(&op.insn))),
            _ => None,
        })
    };
    let mut results: FxHashSet<VReg> = FxHashSet::default();
    for (op, row) in ops().filter(|(_, row)| row.unit == Unit::Mma) {
        for rep in 0..op.reps as usize {
            op.writes(&row.slots, rep, &mut |r| {
                results.insert(r);
            });
        }
    }
    let reads = |(op, row): (&Op, &Row)| {
        let mut reads = false;
        for rep in 0..op.reps as usize {
            op.reads(&row.slots, rep, &mut |r| reads |= results.contains(&r));
        }
        reads
    };
    !results.is_empty() && ops().filter(|(_, row)| row.unit != Unit::Mma).any(reads)
}
