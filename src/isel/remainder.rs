//! Remainders beside quotients of the same numbers are computed from these:
//!
//! ```text
//! rd5 = div.s64 rd1, rd2         rd5 = div.s64 rd1, rd2
//! rd6 = rem.s64 rd1, rd2    →    rd7 = mul.lo.s64 rd5, rd2
//!                                rd6 = sub.s64 rd1, rd7
//! ```
//! `ptxas` divides for each of them: integers of 64 bits in a call of some seventy instructions.

use std::ops::Range;

use super::uses::visit;
use crate::machine::mir::{Atom, Func, Inst, Op, Operand, VReg};
use crate::machine::table::{Insn, Table};
use rustc_hash::FxHashSet;

/// Rewrites the function's remainders. Returns how many.
pub fn from_quotients(func: &mut Func, table: &Table) -> usize {
    let is_remainder =
        |inst: &Inst| matches!(inst, Inst::Op(op) if table.row(&op.insn).quotient.is_some());
    let mut count = 0;
    let mut at = func.insts.len();
    while let Some(found) = func.insts[..at].iter().rposition(is_remainder) {
        at = found;
        let block = block_around(&func.insts, at);
        count += rewrite(func, table, at, block).unwrap_or(0);
    }
    count
}

/// Instructions around one that run one after the other.
fn block_around(insts: &[Inst], at: usize) -> Range<usize> {
    let ends = |inst: &Inst| matches!(inst, Inst::Label(_) | Inst::Branch { .. });
    let start = insts[..at].iter().rposition(ends).map_or(0, |i| i + 1);
    let end = insts[at..].iter().position(ends);
    start..end.map_or(insts.len(), |n| at + n)
}

/// Rewrites the remainder at `at`, if its block computes the quotient.
fn rewrite(func: &mut Func, table: &Table, at: usize, block: Range<usize>) -> Option<usize> {
    let op = plain(&func.insts[at])?;
    let wanted = quotient_of(&op.insn, table)?;
    let class = func.regs[op.operands.first()?.atoms.first()?.reg()?.0 as usize];
    let find = |name: &str| table.find(&format!("{name}.s{}", class.bits()));
    let (multiply, subtract) = (find("mul.lo")?, find("sub")?);
    let is_quotient = |&i: &usize| {
        plain(&func.insts[i]).is_some_and(|q| {
            q.insn.mnemonic == wanted.mnemonic
                && q.reps == op.reps
                && q.operands.get(1..) == op.operands.get(1..)
                && stays(func, table, q, i, at)
        })
    };
    let from = block.into_iter().find(is_quotient)?;
    let quotient = plain(&func.insts[from])?.operands.first()?.clone();
    let [result, left, right] = <[Operand; 3]>::try_from(op.operands.to_vec()).ok()?;
    let (reps, loc) = (op.reps, op.loc);
    let whole = result.atoms.iter().map(|_| Atom::Reg(func.new_reg(class)));
    let whole: Operand = whole.collect::<Vec<_>>().into();
    let op = |insn: &Insn, operands: [Operand; 3]| {
        Inst::Op(Op {
            insn: insn.clone(),
            operands: operands.into_iter().collect(),
            reps,
            guard: None,
            loc,
            dead: Vec::new(),
        })
    };
    let steps = [
        op(&multiply, [whole.clone(), quotient, right]),
        op(&subtract, [result, left, whole]),
    ];
    func.insts.splice(at..=at, steps);
    if from > at {
        // There is one instruction more in front of it.
        let quotient = func.insts.remove(from + 1);
        func.insts.insert(at, quotient);
    }
    Some(reps as usize)
}

/// An operation that always computes all of its results.
fn plain(inst: &Inst) -> Option<&Op> {
    match inst {
        Inst::Op(op) if op.guard.is_none() && !op.dead.contains(&true) => Some(op),
        _ => None,
    }
}

/// The instruction for the quotient of a remainder's operands.
fn quotient_of(insn: &Insn, table: &Table) -> Option<Insn> {
    let (_, rest) = insn.mnemonic.split_once('.')?;
    table.find(&format!("{}.{rest}", table.row(insn).quotient.as_ref()?))
}

/// Whether the quotient that `op`, at `from`, computes can be computed and read at `to` as well: in between nothing writes its
/// operands or touches its result.
fn stays(func: &Func, table: &Table, op: &Op, from: usize, to: usize) -> bool {
    let regs = |operands: &[Operand]| -> FxHashSet<VReg> {
        let atoms = operands.iter().flat_map(|o| &o.atoms);
        atoms.filter_map(|a| a.reg()).collect()
    };
    let (results, sources) = (regs(&op.operands[..1]), regs(&op.operands[1..]));
    let between = from.min(to) + 1..from.max(to);
    let mut same = results.is_disjoint(&sources);
    for inst in &func.insts[between] {
        visit(inst, table, &mut |_, r, write| {
            let touched = results.contains(&r) && (write || from > to);
            same &= !(touched || write && sources.contains(&r));
        });
    }
    same
}
