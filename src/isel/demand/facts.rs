//! What holds of registers in the whole function, and the columns of tensor memory that instructions move.

use super::super::uses::visit;
use super::does;
use crate::machine::mir::{Atom, Func, Inst, Op, VReg};
use crate::machine::table::{Does, Role, Table, Width};
use rustc_hash::FxHashMap;

/// What holds of registers in the whole function.
pub(super) struct Facts {
    /// How often each is written, and read.
    pub(super) writes: Vec<u32>,
    pub(super) reads: Vec<u32>,
    /// Addresses as a register and a number that is added to it.
    pub(super) sums: FxHashMap<VReg, (VReg, i64)>,
    pub(super) wait: Option<Op>,
}

impl Facts {
    pub(super) fn of(func: &Func, insts: &[Inst], table: &Table) -> Facts {
        let mut facts = Facts {
            writes: vec![0; func.regs.len()],
            reads: vec![0; func.regs.len()],
            sums: FxHashMap::default(),
            wait: None,
        };
        for inst in insts {
            visit(inst, table, &mut |_, r, write| {
                let count = if write {
                    &mut facts.writes
                } else {
                    &mut facts.reads
                };
                count[r.0 as usize] += 1;
            });
            let Inst::Op(op) = inst else { continue };
            if does(op, table) == Does::TensorLoaded {
                facts.wait = Some(op.clone());
            }
            if does(op, table) == Does::Sum
                && op.reps == 1
                && let [d, a, b] = &op.operands[..]
                && let ([Atom::Reg(d)], [Atom::Reg(a)], [Atom::Imm(n)]) =
                    (&d.atoms[..], &a.atoms[..], &b.atoms[..])
            {
                facts.sums.insert(*d, (*a, i64::from(*n as u32 as i32)));
            }
        }
        facts
    }

    pub(super) fn once(&self, r: VReg) -> bool {
        self.writes[r.0 as usize] == 1
    }

    /// A register and what is added to it, that `r` is.
    pub(super) fn sum(&self, mut r: VReg) -> (VReg, i64) {
        let mut all = 0;
        while let Some(&(base, n)) = self.sums.get(&r)
            && self.once(r)
        {
            (r, all) = (base, all + n);
        }
        (r, all)
    }
}

/// Columns of tensor memory: an address, the first behind it, and the first that is not one of them.
#[derive(Clone, Copy)]
pub(super) struct Columns(VReg, i64, i64);

impl Columns {
    /// Those that repetition `rep` of a load or store moves.
    pub(super) fn of(
        op: &Op,
        table: &Table,
        rep: usize,
        address: usize,
        facts: &Facts,
    ) -> Option<Columns> {
        let address = op.operands.get(address)?;
        let base = address.atoms.get(rep)?.reg()?;
        let (base, first) = facts.sum(base);
        let first = first + address.offset(rep);
        let row = table.row(&op.insn);
        let registers = row.slots.iter().map(|s| match s.width {
            Width::Each(n) if s.role != Role::Address => i64::from(n),
            _ => 0,
        });
        let count = registers.sum::<i64>() * i64::from(row.columns);
        Some(Columns(base, first, first + count))
    }

    /// Whether they may be the same as others.
    pub(super) fn meets(self, other: Option<Columns>) -> bool {
        other.is_none_or(|o| self.0 != o.0 || self.1 < o.2 && o.1 < self.2)
    }
}
