//! Control flow that does nothing: jumps to the next instruction, code that is never reached,
//! labels nothing jumps to.

use rustc_hash::FxHashSet;

use crate::machine::mir::{Func, Inst, Label};
use crate::machine::table::{Table, Unit};

/// Removes it, until nothing changes. Returns how many instructions and labels are gone.
pub fn tidy(func: &mut Func, table: &Table) -> usize {
    let first = func.insts.len();
    loop {
        let before = func.insts.len();
        drop_unreached(func, table);
        drop_jumps_to_next(func);
        drop_jumps_over_jumps(func);
        let targets: FxHashSet<Label> = func
            .insts
            .iter()
            .filter_map(|inst| match inst {
                Inst::Branch { to, .. } => Some(*to),
                _ => None,
            })
            .collect();
        func.insts
            .retain(|inst| !matches!(inst, Inst::Label(label) if !targets.contains(label)));
        if func.insts.len() == before {
            return first - before;
        }
    }
}

fn drop_unreached(func: &mut Func, table: &Table) {
    let mut reached = true;
    func.insts.retain(|inst| {
        if let Inst::Label(_) = inst {
            reached = true;
        }
        let keep = reached;
        match inst {
            Inst::Branch { guard: None, .. } => reached = false,
            Inst::Op(op) if op.guard.is_none() && table.row(&op.insn).unit == Unit::Ctrl => {
                reached = false;
            }
            _ => {}
        }
        keep
    });
}

/// `@!p bra A; bra B; A:` is `@p bra B; A:`.
fn drop_jumps_over_jumps(func: &mut Func) {
    let mut i = 0;
    while i + 2 < func.insts.len() {
        if let [
            Inst::Branch {
                to: over,
                guard: Some((pred, negate)),
                ..
            },
            Inst::Branch {
                to,
                guard: None,
                uniform,
            },
            Inst::Label(label),
        ] = &func.insts[i..i + 3]
            && over == label
        {
            func.insts[i] = Inst::Branch {
                to: *to,
                guard: Some((*pred, !negate)),
                uniform: *uniform,
            };
            func.insts.remove(i + 1);
        }
        i += 1;
    }
}

fn drop_jumps_to_next(func: &mut Func) {
    let useless: Vec<bool> = (0..func.insts.len())
        .map(|i| match &func.insts[i] {
            Inst::Branch { to, .. } => func.insts[i + 1..]
                .iter()
                .take_while(|next| matches!(next, Inst::Label(_)))
                .any(|next| matches!(next, Inst::Label(label) if label == to)),
            _ => false,
        })
        .collect();
    let mut i = 0;
    func.insts.retain(|_| {
        i += 1;
        !useless[i - 1]
    });
}
