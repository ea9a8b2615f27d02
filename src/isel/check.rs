//! The verifier of machine functions: operands fit their slots, labels are where jumps go.
//!
//! Building an instruction checks it once; copies are coalesced and jumps tidied afterwards, and
//! this is the proof that nothing broke. A failure is a bug of the compiler, said before it
//! becomes bad PTX.

use rustc_hash::FxHashSet;

use crate::ir::Diagnostic;
use crate::machine::mir::{Atom, Func, Inst, Label, Op, Operand, VReg};
use crate::machine::table::{Immediate, Role, Slot, Table, Width};

/// Checks a function that is about to be written.
pub fn check(func: &Func, table: &Table) -> Result<(), Diagnostic> {
    let wrong = |what: String| {
        Err(Diagnostic::error(format!(
            "internal: machine function '{}': {what}",
            func.name
        )))
    };
    let mut placed = FxHashSet::default();
    let mut jumped = Vec::new();
    for inst in &func.insts {
        let outcome = match inst {
            Inst::Op(op) => operation(func, table, op),
            Inst::Label(label) if !placed.insert(*label) => {
                Err(format!("label {} is placed twice", label.0))
            }
            Inst::Branch { to, guard, .. } => {
                jumped.push(*to);
                guard.map_or(Ok(()), |(pred, _)| predicate(func, pred))
            }
            Inst::Copy { dst, src } if dst.len() != src.len() => Err(format!(
                "a copy of {} values to {} registers",
                src.len(),
                dst.len()
            )),
            _ => Ok(()),
        };
        outcome.or_else(wrong)?;
    }
    let named = |label: &Label| func.labels.get(label.0 as usize).is_some();
    match jumped.iter().find(|l| !placed.contains(l) || !named(l)) {
        Some(label) => wrong(format!("nothing is at label {}", label.0)),
        None => Ok(()),
    }
}

fn predicate(func: &Func, pred: VReg) -> Result<(), String> {
    match func.regs.get(pred.0 as usize) {
        Some(crate::machine::class::Class::Pred) => Ok(()),
        Some(class) => Err(format!("a {} register as a predicate", class.ty())),
        None => Err(format!("register {} does not exist", pred.0)),
    }
}

fn operation(func: &Func, table: &Table, op: &Op) -> Result<(), String> {
    let row = table.row(&op.insn);
    let name = &op.insn.mnemonic;
    if row.slots.len() != op.operands.len() {
        let (want, got) = (row.slots.len(), op.operands.len());
        return Err(format!("'{name}' has {got} operands, not {want}"));
    }
    if let Some(guard) = &op.guard {
        if guard.preds.len() != op.reps as usize {
            let n = guard.preds.len();
            return Err(format!(
                "'{name}' has {n} guards for {} instructions",
                op.reps
            ));
        }
        let mut preds = guard.preds.iter().flatten();
        preds.try_for_each(|&p| predicate(func, p))?;
    }
    for (slot, operand) in row.slots.iter().zip(&op.operands) {
        fits(func, slot, operand, op.reps as usize).map_err(|e| format!("'{name}': {e}"))?;
    }
    Ok(())
}

fn fits(func: &Func, slot: &Slot, operand: &Operand, reps: usize) -> Result<(), String> {
    if let Width::Each(n) = slot.width
        && operand.atoms.len() != reps * n as usize
    {
        let (want, got) = (reps * n as usize, operand.atoms.len());
        return Err(format!("{got} registers for {want}"));
    }
    for &atom in &operand.atoms {
        match atom {
            Atom::Reg(r) => match func.regs.get(r.0 as usize) {
                Some(class) if *class == slot.class => {}
                Some(class) => {
                    let want = slot.class.ty();
                    return Err(format!("a {} register for {want}", class.ty()));
                }
                None => return Err(format!("register {} does not exist", r.0)),
            },
            _ if matches!(slot.role, Role::Def | Role::InOut) => {
                return Err("writes what is no register".into());
            }
            Atom::Imm(_) if slot.immediate == Immediate::No && slot.role != Role::Address => {
                return Err("a number where only a register may be".into());
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::class::Class;

    /// `add.s32 r2, r0, r1` and a jump to its end.
    fn sample() -> (Func, Table) {
        let table = Table::parse(crate::machine::table::BUILTIN, "ptx.insn").expect("the table");
        let mut func = Func::default();
        let regs: Vec<VReg> = (0..3).map(|_| func.new_reg(Class::B32)).collect();
        let end = func.new_label("end");
        func.insts = vec![
            Inst::Op(Op {
                insn: table.find("add.s32").expect("a row"),
                operands: [regs[2], regs[0], regs[1]]
                    .map(|r| Operand::from(Atom::Reg(r)))
                    .into_iter()
                    .collect(),
                reps: 1,
                guard: None,
                loc: crate::ir::LocId::UNKNOWN,
                dead: Vec::new(),
            }),
            Inst::Branch {
                to: end,
                guard: None,
                uniform: true,
            },
            Inst::Label(end),
        ];
        (func, table)
    }

    /// The message after one change.
    fn after(change: impl FnOnce(&mut Func)) -> String {
        let (mut func, table) = sample();
        check(&func, &table).expect("the sample is sound");
        change(&mut func);
        check(&func, &table).expect_err("accepted").to_string()
    }

    fn op(func: &mut Func) -> &mut Op {
        match &mut func.insts[0] {
            Inst::Op(op) => op,
            _ => panic!("no operation"),
        }
    }

    #[test]
    fn what_does_not_fit_is_rejected() {
        let says = |message: String, why: &str| assert!(message.contains(why), "{message}");
        says(
            after(|f| {
                let wide = Atom::Reg(f.new_reg(Class::B64));
                op(f).operands[1] = wide.into();
            }),
            "a .b64 register for .b32",
        );
        says(
            after(|f| op(f).operands[0] = Atom::Imm(1).into()),
            "writes what is no register",
        );
        says(after(|f| op(f).reps = 2), "1 registers for 2");
        says(
            after(|f| {
                op(f).operands.pop();
            }),
            "has 2 operands, not 3",
        );
        says(
            after(|f| op(f).operands[1] = Atom::Reg(VReg(9)).into()),
            "register 9 does not exist",
        );
        says(
            after(|f| {
                f.insts.pop();
            }),
            "nothing is at label 0",
        );
        says(
            after(|f| f.insts.push(Inst::Label(Label(0)))),
            "placed twice",
        );
    }
}
