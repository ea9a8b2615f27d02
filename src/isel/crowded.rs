//! Whether a loop that multiplies and works on what it has multiplied has registers for both.
//!
//! In attention a matmul's fragments are read while the accumulator of the other matmul, and what was made of its
//! results, are live. Loops that only multiply are left out: there `ptxas` has nothing to choose between but fragments.

use rustc_hash::FxHashSet;

use super::bounds::registers;
use super::uses::visit;
use super::{coalesce, live, recompute};
use crate::machine::mir::{Func, Inst, VReg};
use crate::machine::table::{Table, Unit};
use crate::target::Target;

/// Of the registers that [`registers`] sets aside for `ptxas`, those that it gives up before it spills.
const SPARE: u32 = 8;

/// Words of registers of which so many must be live for a loop to be crowded.
fn limit(func: &Func, table: &Table, target: Target) -> u32 {
    registers(func, table, target) + SPARE
}

/// Whether the function has registers enough for a loop to be crowded, in whatever order its instructions stand.
pub(super) fn may_be_crowded(func: &Func, table: &Table, target: Target) -> bool {
    live::all(func) > limit(func, table, target)
}

/// Whether more registers are live in such a loop than a thread has, once the passes behind this one have merged copies
/// and computed again what is cheap.
pub(super) fn is_crowded(func: &Func, table: &Table, target: Target) -> bool {
    let limit = limit(func, table, target);
    if !exceeds(func, table, limit) {
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
        live::touches(&crowds, place(first), place(last))
            && works_on_results(func.insts.get(first..=last).unwrap_or(&[]), table)
    })
}

/// Whether anything but a matmul or a copy reads what a matmul of the loop writes.
fn works_on_results(insts: &[Inst], table: &Table) -> bool {
    let is_matmul =
        |inst: &&Inst| matches!(inst, Inst::Op(op) if table.row(&op.insn).unit == Unit::Mma);
    let mut results: FxHashSet<VReg> = FxHashSet::default();
    for inst in insts.iter().filter(is_matmul) {
        visit(inst, table, &mut |_, r, write| {
            if write {
                results.insert(r);
            }
        });
    }
    let works = |inst: &&Inst| matches!(inst, Inst::Op(_)) && !is_matmul(inst);
    insts.iter().filter(works).any(|inst| {
        let mut reads = false;
        visit(inst, table, &mut |_, r, write| {
            reads |= !write && results.contains(&r)
        });
        reads
    })
}
