//! Matrix fragments are read just before the matmuls that use them.
//!
//! A tile's fragments are one operation of many repetitions, and so is a matmul: written out one
//! after the other, all fragments of an operand would be in registers at once, which for the
//! operands of attention is more than there are. Here every `ldmatrix` moves down to the first matmul
//! that reads what it loads, and matmuls are cut where a fragment comes in.
//!
//! Nothing that writes memory or waits is crossed, so what is read is the same.
//!
//! Where more registers are live even so than a thread has (`crowded.rs`), all stays as it was: `ptxas` then reads
//! fragments as late as it must, whereas those that stand just before their matmuls it reads earlier, and spills something
//! else for them.

use rustc_hash::FxHashMap;

use super::crowded::{is_crowded, may_be_crowded};
use super::part::part;
use crate::machine::mir::{Func, Inst, Op, VReg};
use crate::machine::table::{Does, Table, Unit};
use crate::target::Target;

/// Moves the function's fragment loads down. Returns how many it moved.
pub fn interleave(func: &mut Func, table: &Table, target: Target) -> usize {
    let loads = |inst: &Inst| matches!(inst, Inst::Op(op) if is_fragment_load(op, table));
    if !func.insts.iter().any(loads) {
        return 0;
    }
    if !may_be_crowded(func, table, target) {
        return move_down(func, table);
    }
    let before = func.insts.clone();
    let moved = move_down(func, table);
    if is_crowded(func, table, target) {
        func.insts = before;
        return 0;
    }
    moved
}

/// Moves the loads whatever that does to registers.
fn move_down(func: &mut Func, table: &Table) -> usize {
    let insts = std::mem::take(&mut func.insts);
    let mut mover = Mover {
        table,
        out: Vec::with_capacity(insts.len()),
        held: Vec::new(),
        moved: 0,
        loaded: FxHashMap::default(),
    };
    for inst in insts {
        mover.inst(inst);
    }
    mover.release_all();
    func.insts = mover.out;
    mover.moved
}

/// One repetition of a load that waits for a use.
struct Held {
    load: Op,
    /// How much had been written when it was met.
    at: usize,
    released: bool,
}

struct Mover<'t> {
    table: &'t Table,
    out: Vec<Inst>,
    /// In the order in which they stood.
    held: Vec<Held>,
    moved: usize,
    /// Which held load writes a register.
    loaded: FxHashMap<VReg, usize>,
}

impl Mover<'_> {
    fn inst(&mut self, inst: Inst) {
        match inst {
            Inst::Op(op) if is_fragment_load(&op, self.table) => self.hold(&op),
            Inst::Op(op) => self.op(op),
            Inst::Copy { .. } if self.loaded.is_empty() => self.out.push(inst),
            Inst::Copy { ref dst, ref src } => {
                let read = src.iter().filter_map(|a| a.reg());
                let touched: Vec<VReg> = dst.iter().copied().chain(read).collect();
                self.release(&touched);
                self.out.push(inst);
            }
            Inst::Label(_) | Inst::Branch { .. } => {
                self.release_all();
                self.out.push(inst);
            }
        }
    }

    fn op(&mut self, op: Op) {
        let row = self.table.row(&op.insn);
        let touched = |rep| {
            let mut touched = Vec::new();
            op.reads(&row.slots, rep, &mut |r| touched.push(r));
            op.writes(&row.slots, rep, &mut |r| touched.push(r));
            touched
        };
        match row.unit {
            Unit::Mma => {
                let touched: Vec<_> = (0..op.reps as usize).map(touched).collect();
                self.matmul(&op, &touched);
            }
            unit if unit.is_pure() || is_exchange(&op, self.table) => {
                // Nearly always nothing is held.
                if !self.loaded.is_empty() {
                    let touched: Vec<_> = (0..op.reps as usize).flat_map(touched).collect();
                    self.release(&touched);
                }
                self.out.push(Inst::Op(op));
            }
            _ => {
                self.release_all();
                self.out.push(Inst::Op(op));
            }
        }
    }

    fn hold(&mut self, op: &Op) {
        let slots = &self.table.row(&op.insn).slots;
        for rep in 0..op.reps as usize {
            let load = part(op, self.table, rep..rep + 1);
            let index = self.held.len();
            load.writes(slots, 0, &mut |r| {
                self.loaded.insert(r, index);
            });
            self.held.push(Held {
                load,
                at: self.out.len(),
                released: false,
            });
        }
    }

    /// A matmul, with the loads that its repetitions need in between.
    fn matmul(&mut self, op: &Op, touched: &[Vec<VReg>]) {
        let mut start = 0;
        for (rep, touched) in touched.iter().enumerate() {
            if touched.iter().any(|r| self.waits(*r)) {
                self.push_part(op, start..rep);
                start = rep;
                self.release(touched);
            }
        }
        self.push_part(op, start..op.reps as usize);
    }

    fn push_part(&mut self, op: &Op, reps: std::ops::Range<usize>) {
        if reps.is_empty() {
            return;
        }
        let part = part(op, self.table, reps);
        self.out.push(Inst::Op(part));
    }

    /// Whether a load of a register is held.
    fn waits(&self, register: VReg) -> bool {
        self.loaded.contains_key(&register)
    }

    /// Emits the held loads that have to do with any of these registers.
    fn release(&mut self, touched: &[VReg]) {
        if self.loaded.is_empty() {
            return;
        }
        let mut due: Vec<usize> = touched
            .iter()
            .filter_map(|r| self.loaded.get(r).copied())
            .collect();
        due.extend(self.held.iter().enumerate().filter_map(|(i, held)| {
            let mut uses = false;
            let slots = &self.table.row(&held.load.insn).slots;
            held.load
                .reads(slots, 0, &mut |r| uses |= touched.contains(&r));
            (uses && !held.released).then_some(i)
        }));
        due.sort_unstable();
        due.dedup();
        for index in due {
            self.release_one(index);
        }
    }

    fn release_all(&mut self) {
        for index in 0..self.held.len() {
            self.release_one(index);
        }
        self.held.clear();
    }

    fn release_one(&mut self, index: usize) {
        let held = &mut self.held[index];
        if std::mem::replace(&mut held.released, true) {
            return;
        }
        let load = held.load.clone();
        self.moved += usize::from(self.out.len() > held.at);
        let slots = &self.table.row(&load.insn).slots;
        load.writes(slots, 0, &mut |r| {
            self.loaded.remove(&r);
        });
        self.out.push(Inst::Op(load));
    }
}

fn is_fragment_load(op: &Op, table: &Table) -> bool {
    table.row(&op.insn).does == Does::Fragments && op.guard.is_none()
}

/// Exchanges within a warp touch no memory.
fn is_exchange(op: &Op, table: &Table) -> bool {
    table.row(&op.insn).does == Does::Exchange
}
