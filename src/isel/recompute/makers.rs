//! Which values can be computed again, and from what.

use crate::isel::live::Ranges;
use crate::isel::part::part;
use crate::isel::uses::visit;
use crate::machine::class::Class;
use crate::machine::mir::{Func, Inst, Op, VReg};
use crate::machine::table::{Fold, Role, Row, Table, Unit};

/// Which computation alone writes a register.
pub(super) struct Makers {
    of: Vec<Option<Maker>>,
}

/// A repetition of a computation.
#[derive(Clone)]
pub(super) struct Maker {
    /// The instruction, if it may be repeated.
    pub op: Option<Op>,
    pub reads: Vec<VReg>,
    /// Where it stands.
    pub at: u32,
}

impl Makers {
    pub fn of(func: &Func, table: &Table, live: &Ranges, loops: &[(u32, u32)]) -> Makers {
        let writers = writers(func, table, live);
        // Where the repetition stands that alone writes a register.
        let place = |r: VReg| match writers[r.0 as usize] {
            Writer::One(place) => Some(place),
            Writer::None | Writer::Several => None,
        };
        let comes_around = |r: VReg, at: u32| {
            let mut around = loops.iter().filter(|l| l.0 <= at && at < l.1);
            around.any(|&(start, _)| live.is_live(r, start))
        };
        let mut of: Vec<Option<Maker>> = vec![None; func.regs.len()];
        for (op, row, rep, at) in computations(func, table, live) {
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            op.reads(&row.slots, rep, &mut |r| reads.push(r));
            op.writes(&row.slots, rep, &mut |r| writes.push(r));
            let above = |&r: &VReg| place(r).is_some_and(|place| place < at);
            if let [one] = writes[..]
                && place(one).is_some()
                && !comes_around(one, at)
                && reads.iter().all(above)
            {
                let cheap = is_cheap(row) && !reads.is_empty() && !is_masked(func, one, &reads);
                of[one.0 as usize] = Some(Maker {
                    op: cheap.then(|| part(op, table, rep..rep + 1)),
                    reads,
                    at,
                });
            }
        }
        Makers { of }
    }

    pub fn get(&self, r: VReg) -> Option<&Maker> {
        self.of[r.0 as usize].as_ref()
    }

    pub fn cheap(&self, r: VReg) -> Option<&Maker> {
        self.get(r).filter(|maker| maker.op.is_some())
    }

    /// Whether a value is as good as a number: what computes it reads no register.
    pub fn is_free(&self, r: VReg) -> bool {
        self.get(r).is_some_and(|maker| maker.reads.is_empty())
    }
}

/// Each repetition that does nothing but write registers of its own, and its position.
fn computations<'a>(
    func: &'a Func,
    table: &'a Table,
    live: &'a Ranges,
) -> impl Iterator<Item = (&'a Op, &'a Row, usize, u32)> {
    let all = func.insts.iter().zip(&live.positions);
    let ops = all.filter_map(|(inst, &at)| match inst {
        Inst::Op(op) => Some((op, table.row(&op.insn), at)),
        _ => None,
    });
    let pure = ops.filter(|(op, row, _)| {
        let in_place = row.slots.iter().any(|slot| slot.role == Role::InOut);
        row.unit.is_pure() && !in_place && op.guard.is_none()
    });
    pure.flat_map(|(op, row, at)| {
        let reps = (0..op.reps as usize).filter(|&rep| !op.is_dead(rep));
        reps.map(move |rep| (op, row, rep, at + 2 * rep as u32))
    })
}

/// What writes a register: the position of the repetition that alone does.
#[derive(Clone, Copy)]
enum Writer {
    None,
    One(u32),
    Several,
}

fn writers(func: &Func, table: &Table, live: &Ranges) -> Vec<Writer> {
    let mut writers = vec![Writer::None; func.regs.len()];
    for (inst, &at) in func.insts.iter().zip(&live.positions) {
        visit(inst, table, &mut |rep, r, write| {
            let writer = &mut writers[r.0 as usize];
            match (write, *writer) {
                (false, _) => {}
                (true, Writer::None) => *writer = Writer::One(at + 2 * rep as u32),
                (true, _) => *writer = Writer::Several,
            }
        });
    }
    writers
}

/// Whether an instruction may be repeated: integers are computed, or whatever one instruction at full rate makes.
fn is_cheap(row: &Row) -> bool {
    matches!(row.unit, Unit::Alu | Unit::Fma) || row.fold == Some(Fold::Integers)
}

/// Whether a number is made from conditions: where it is an element's mask, it takes comparisons to make it again.
fn is_masked(func: &Func, value: VReg, reads: &[VReg]) -> bool {
    let is_condition = |&r: &VReg| func.class(r) == Class::Pred;
    !is_condition(&value) && reads.iter().any(is_condition)
}
