//! Which registers an instruction reads and writes.

use smallvec::SmallVec;

use crate::machine::mir::{Atom, Func, Inst, Op, VReg};
use crate::machine::table::{Role, Slot, Table};

impl Op {
    /// Registers that repetition `rep` reads. A guarded repetition also reads what it may leave
    /// unwritten.
    pub(super) fn reads(&self, slots: &[Slot], rep: usize, visit: &mut impl FnMut(VReg)) {
        let guarded = self.pred(rep);
        guarded.into_iter().for_each(&mut *visit);
        for (i, slot) in slots.iter().enumerate() {
            if slot.role != Role::Def || guarded.is_some() {
                self.atoms_of(slots, i, rep)
                    .iter()
                    .filter_map(|a| a.reg())
                    .for_each(&mut *visit);
            }
        }
    }

    /// Registers that repetition `rep` writes.
    pub(super) fn writes(&self, slots: &[Slot], rep: usize, visit: &mut impl FnMut(VReg)) {
        for (i, slot) in slots.iter().enumerate() {
            if matches!(slot.role, Role::Def | Role::InOut) {
                self.atoms_of(slots, i, rep)
                    .iter()
                    .filter_map(|a| a.reg())
                    .for_each(&mut *visit);
            }
        }
    }
}

/// Every register that an instruction reads or writes, with the repetition: `(repetition, register, is_write)`.
pub(super) fn visit(inst: &Inst, table: &Table, f: &mut impl FnMut(usize, VReg, bool)) {
    match inst {
        Inst::Op(op) => {
            let slots = &table.row(&op.insn).slots;
            for rep in (0..op.reps as usize).filter(|&r| !op.is_dead(r)) {
                op.reads(slots, rep, &mut |r| f(rep, r, false));
                op.writes(slots, rep, &mut |r| f(rep, r, true));
            }
        }
        Inst::Copy { dst, src } => {
            src.iter()
                .filter_map(|a| a.reg())
                .for_each(|r| f(0, r, false));
            dst.iter().for_each(|&r| f(0, r, true));
        }
        Inst::Branch { guard, .. } => guard.iter().for_each(|g| f(0, g.0, false)),
        Inst::Label(_) => {}
    }
}

/// Applies `f` to every register of the function's instructions.
pub(super) fn rename(func: &mut Func, mut f: impl FnMut(VReg) -> VReg) {
    func.insts
        .iter_mut()
        .for_each(|inst| rename_in(inst, &mut f));
}

/// By register: how often the text writes it.
pub(super) fn writers(func: &Func, table: &Table) -> Vec<u32> {
    let mut writers = vec![0; func.regs.len()];
    for inst in &func.insts {
        visit(inst, table, &mut |_, register, write| {
            writers[register.0 as usize] += u32::from(write);
        });
    }
    writers
}

/// Applies `f` to every register of an instruction.
pub(super) fn rename_in(inst: &mut Inst, f: &mut impl FnMut(VReg) -> VReg) {
    let mut atoms = |atoms: &mut Vec<Atom>| {
        for atom in atoms {
            if let Atom::Reg(register) = atom {
                *register = f(*register);
            }
        }
    };
    match inst {
        Inst::Op(op) => {
            op.operands
                .iter_mut()
                .for_each(|operand| atoms(&mut operand.atoms));
            let preds = op.guard.iter_mut().flat_map(|guard| guard.preds.iter_mut());
            preds.flatten().for_each(|pred| *pred = f(*pred));
        }
        Inst::Copy { dst, src } => {
            atoms(src);
            dst.iter_mut().for_each(|register| *register = f(*register));
        }
        Inst::Branch { guard, .. } => guard.iter_mut().for_each(|(pred, _)| *pred = f(*pred)),
        Inst::Label(_) => {}
    }
}

/// Drops pure repetitions and copies whose results nothing needs. Returns how many.
pub(super) fn drop_dead(func: &mut Func, table: &Table) -> usize {
    let mut dropped = 0;
    let needed = needed_registers(func, table);
    let is_needed = |r: &VReg| needed[r.0 as usize];
    func.insts.retain_mut(|inst| match inst {
        Inst::Op(op) => {
            let row = table.row(&op.insn);
            if !row.unit.is_pure() {
                return true;
            }
            let is_dead = |rep: usize| {
                let mut live = false;
                op.writes(&row.slots, rep, &mut |r| live |= is_needed(&r));
                !live
            };
            let reps = 0..op.reps as usize;
            let count = reps.clone().filter(|&rep| is_dead(rep)).count();
            dropped += count;
            // Most have none, and need no list of them.
            op.dead = match count {
                0 => Vec::new(),
                _ => reps.map(is_dead).collect(),
            };
            count < op.reps as usize
        }
        Inst::Copy { dst, .. } if dst.iter().all(is_needed) => !dst.is_empty(),
        Inst::Copy { dst, src } => {
            let kept: Vec<(VReg, Atom)> = dst
                .iter()
                .copied()
                .zip(src.iter().copied())
                .filter(|(d, _)| is_needed(d))
                .collect();
            dropped += dst.len() - kept.len();
            (*dst, *src) = kept.into_iter().unzip();
            !dst.is_empty()
        }
        _ => true,
    });
    dropped
}

/// Registers that something with an effect depends on.
fn needed_registers(func: &Func, table: &Table) -> Vec<bool> {
    // Most registers have one definition, those of loops and branches some.
    let mut definers: Vec<SmallVec<[(u32, u32); 1]>> = Vec::new();
    definers.resize_with(func.regs.len(), SmallVec::new);
    let mut needed = vec![false; func.regs.len()];
    let mut work: Vec<VReg> = Vec::with_capacity(func.regs.len());
    for (i, inst) in func.insts.iter().enumerate() {
        match inst {
            Inst::Op(op) => {
                let row = table.row(&op.insn);
                // What an effect reads is needed whether or not what it writes is.
                for rep in 0..op.reps as usize {
                    match row.unit.is_pure() {
                        true => op.writes(&row.slots, rep, &mut |r| {
                            definers[r.0 as usize].push((i as u32, rep as u32));
                        }),
                        false => op.reads(&row.slots, rep, &mut |r| work.push(r)),
                    }
                }
            }
            Inst::Copy { dst, .. } => {
                for (k, d) in dst.iter().enumerate() {
                    definers[d.0 as usize].push((i as u32, k as u32));
                }
            }
            Inst::Branch {
                guard: Some((r, _)),
                ..
            } => work.push(*r),
            _ => {}
        }
    }
    while let Some(r) = work.pop() {
        if std::mem::replace(&mut needed[r.0 as usize], true) {
            continue;
        }
        for &(inst, part) in &definers[r.0 as usize] {
            match &func.insts[inst as usize] {
                Inst::Op(op) => {
                    op.reads(&table.row(&op.insn).slots, part as usize, &mut |r| {
                        work.push(r);
                    });
                }
                Inst::Copy { src, .. } => work.extend(src[part as usize].reg()),
                _ => {}
            }
        }
    }
    needed
}
