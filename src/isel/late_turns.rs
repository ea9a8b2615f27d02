//! A warpgroup that waits for its turn does beforehand what needs none: addresses, descriptors, accumulators that begin
//! at zero.

use crate::machine::mir::{Atom, Func, Inst};
use crate::machine::table::Table;

/// Moves each wait at a barrier whose number is in a register behind the computations and copies that follow it.
/// Returns how many moved.
pub fn sink(func: &mut Func, table: &Table) -> usize {
    let mut moved = 0;
    let mut at = func.insts.len();
    while at > 0 {
        at -= 1;
        let Some(number) = func.insts.get(at).and_then(turn) else {
            continue;
        };
        let rest = func.insts.iter().skip(at + 1);
        let over = rest.take_while(|i| passable(i, number, table)).count();
        if over > 0
            && let Some(stretch) = func.insts.get_mut(at..=at + over)
        {
            stretch.rotate_left(1);
            moved += 1;
        }
    }
    moved
}

/// The register with the number of the barrier at which an instruction waits, if it is in one.
fn turn(inst: &Inst) -> Option<Atom> {
    let Inst::Op(op) = inst else { return None };
    let number = op.operands.first()?.atoms.first()?;
    let waits = &*op.insn.mnemonic == "bar.sync" && op.guard.is_none();
    (waits && matches!(number, Atom::Reg(_))).then_some(*number)
}

/// Whether an instruction may run in front of the wait and leaves the number as it is.
fn passable(inst: &Inst, number: Atom, table: &Table) -> bool {
    match inst {
        Inst::Op(op) => {
            let row = table.row(&op.insn);
            let mut changes = false;
            for rep in 0..op.reps as usize {
                op.writes(&row.slots, rep, &mut |r| changes |= Atom::Reg(r) == number);
            }
            row.unit.is_pure() && !changes
        }
        Inst::Copy { dst, .. } => dst.iter().all(|&d| Atom::Reg(d) != number),
        Inst::Label(_) | Inst::Branch { .. } => false,
    }
}
