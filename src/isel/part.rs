//! An operation of some of another's repetitions.

use crate::machine::mir::{Atom, Guard, Op, Operand};
use crate::machine::table::{Table, Width};

/// Some of an operation's repetitions.
pub(super) fn part(op: &Op, table: &Table, reps: std::ops::Range<usize>) -> Op {
    let slots = &table.row(&op.insn).slots;
    let cut = |(slot, operand): (usize, &Operand)| {
        let w = operand.width(&slots[slot]);
        let whole =
            w == operand.atoms.len() && op.reps != 1 && matches!(slots[slot].width, Width::All);
        let atoms: Vec<Atom> = match whole {
            true => operand.atoms.clone(),
            false => operand
                .atoms
                .get(reps.start * w..reps.end * w)
                .unwrap_or(&[])
                .to_vec(),
        };
        let offsets = operand
            .offsets
            .get(reps.clone())
            .unwrap_or(&operand.offsets)
            .to_vec();
        Operand { atoms, offsets }
    };
    let guard = op.guard.as_ref().map(|g| Guard {
        preds: g.preds.get(reps.clone()).unwrap_or(&g.preds).to_vec(),
        negate: g.negate,
    });
    Op {
        insn: op.insn.clone(),
        operands: op.operands.iter().enumerate().map(cut).collect(),
        reps: reps.len() as u32,
        guard,
        loc: op.loc,
        dead: op.dead.get(reps).unwrap_or(&[]).to_vec(),
    }
}
