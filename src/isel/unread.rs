//! Atomic updates whose old values nothing reads yield none.
//!
//! ```text
//! atom.relaxed.gpu.global.add.f32 r1, [d], r0   →   red.relaxed.gpu.global.add.f32 [d], r0
//! ```
//! An update that yields nothing is on its way when it is issued; a thread waits for the other kind's answer, and `ptxas`
//! jumps around it where it is masked. No such instruction acquires, and none exchanges.

use super::uses::visit;
use crate::machine::mir::{Func, Inst, Op};
use crate::machine::table::{Insn, Role, Table};

/// Rewrites the function's updates. Returns how many.
pub fn drop_results(func: &mut Func, table: &Table) -> usize {
    let has_update =
        |inst: &Inst| matches!(inst, Inst::Op(op) if table.row(&op.insn).unread.is_some());
    if !func.insts.iter().any(has_update) {
        return 0;
    }
    let mut reads: Vec<u32> = vec![0; func.regs.len()];
    for inst in &func.insts {
        visit(inst, table, &mut |_, r, write| {
            reads[r.0 as usize] += u32::from(!write);
        });
    }
    let mut count = 0;
    for inst in &mut func.insts {
        let Inst::Op(op) = inst else { continue };
        if let Some(insn) = without_result(&op.insn, table)
            && is_unread(op, table, &reads)
        {
            op.insn = insn;
            op.operands.remove(0);
            count += op.reps as usize;
        }
    }
    count
}

/// The instruction that does the same and yields nothing: its operands are all but the first one.
fn without_result(insn: &Insn, table: &Table) -> Option<Insn> {
    let (_, rest) = insn.mnemonic.split_once('.')?;
    let found = table.find(&format!("{}.{rest}", table.row(insn).unread.as_ref()?))?;
    let (with, without) = (&table.row(insn).slots, &table.row(&found).slots);
    let first = with.first()?;
    (first.role == Role::Def && without.len() + 1 == with.len()).then_some(found)
}

/// Whether nothing reads what an operation writes. A guarded repetition counts as a reader of what it leaves as it was.
fn is_unread(op: &Op, table: &Table, reads: &[u32]) -> bool {
    let slots = &table.row(&op.insn).slots;
    (0..op.reps as usize).all(|rep| {
        let own = u32::from(op.pred(rep).is_some());
        let mut unread = true;
        op.writes(slots, rep, &mut |r| unread &= reads[r.0 as usize] == own);
        unread
    })
}
