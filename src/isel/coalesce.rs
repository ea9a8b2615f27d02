//! Copies that selection introduced disappear: source and destination of a copy become one
//! register (a union-find class) unless their live ranges interfere. What remains of parallel
//! copies is written as moves, in an order that overwrites nothing that is still needed.

use ena::unify::{InPlaceUnificationTable, NoError, UnifyKey, UnifyValue};

use super::build::Fail;
use super::live::{self, Range};
use super::uses::rename;
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Func, Inst, Op, Operand, VReg};
use crate::machine::table::Table;

/// A register as a union-find key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Key(u32);

/// The live range of a class.
#[derive(Clone, Debug, Default)]
struct Live(Range);

impl UnifyValue for Live {
    type Error = NoError;

    fn unify_values(a: &Self, b: &Self) -> Result<Self, NoError> {
        Ok(Live(live::union(&a.0, &b.0)))
    }
}

impl UnifyKey for Key {
    type Value = Live;
    fn index(&self) -> u32 {
        self.0
    }
    fn from_index(index: u32) -> Self {
        Key(index)
    }
    fn tag() -> &'static str {
        "register"
    }
}

/// Merges registers that copies connect. Returns how many copies are of a register to itself then.
pub fn merge(func: &mut Func, table: &Table) -> usize {
    if !func.has_copies() {
        return 0;
    }
    let live = live::ranges(func, table);
    let mut classes: InPlaceUnificationTable<Key> = InPlaceUnificationTable::new();
    for range in live.ranges {
        classes.new_key(Live(range));
    }
    let mut copies: Vec<(u32, usize)> = func
        .insts
        .iter()
        .enumerate()
        .filter(|(_, inst)| matches!(inst, Inst::Copy { .. }))
        .map(|(i, _)| (live.depth[i], i))
        .collect();
    // Inner loops first: a copy there costs most.
    copies.sort_by_key(|&(depth, i)| (std::cmp::Reverse(depth), i));
    for (_, i) in copies {
        let Inst::Copy { dst, src } = &func.insts[i] else {
            continue;
        };
        for (&d, s) in dst.iter().zip(src) {
            if let Atom::Reg(s) = *s
                && func.class(d) == func.class(s)
            {
                join(&mut classes, d, s);
            }
        }
    }
    rename(func, |r| VReg(classes.find(Key(r.0)).0));
    let copies = func.insts.iter().map(|inst| match inst {
        Inst::Copy { dst, src } => dst
            .iter()
            .zip(src)
            .filter(|(d, s)| **s == Atom::Reg(**d))
            .count(),
        _ => 0,
    });
    copies.sum()
}

fn join(classes: &mut InPlaceUnificationTable<Key>, d: VReg, s: VReg) {
    let (d, s) = (Key(d.0), Key(s.0));
    if classes.unioned(d, s) {
        return;
    }
    let (a, b) = (classes.probe_value(d), classes.probe_value(s));
    if !live::overlap(&a.0, &b.0) {
        // Cannot fail: ranges always have a union.
        let _ = classes.unify_var_var(d, s);
    }
}

/// Replaces parallel copies by moves.
pub fn write_moves(func: &mut Func, table: &Table) -> Result<(), Fail> {
    if !func.has_copies() {
        return Ok(());
    }
    let insts = std::mem::take(&mut func.insts);
    func.insts.reserve(insts.len());
    let mut readers = Vec::new();
    for inst in insts {
        match inst {
            Inst::Copy { dst, src } => {
                let moves = dst
                    .into_iter()
                    .zip(src)
                    .filter(|&(d, s)| s != Atom::Reg(d) && s != Atom::Undef)
                    .collect();
                sequence(func, table, moves, &mut readers)?;
            }
            other => func.insts.push(other),
        }
    }
    Ok(())
}

/// Writes moves one after another; a cycle goes through a fresh register. `readers` counts the moves to be written that
/// read a register: none before, and none in the end.
fn sequence(
    func: &mut Func,
    table: &Table,
    mut moves: Vec<(VReg, Atom)>,
    readers: &mut Vec<u32>,
) -> Result<(), Fail> {
    readers.resize(func.regs.len(), 0);
    for (_, s) in &moves {
        if let Atom::Reg(s) = s {
            readers[s.0 as usize] += 1;
        }
    }
    while !moves.is_empty() {
        let before = moves.len();
        let mut waiting = Vec::new();
        for (d, s) in moves {
            if readers[d.0 as usize] > 0 {
                waiting.push((d, s));
                continue;
            }
            push_move(func, table, d, s)?;
            if let Atom::Reg(s) = s {
                readers[s.0 as usize] -= 1;
            }
        }
        if waiting.len() == before {
            // Only cycles are left: set one destination's old value aside.
            let (blocked, _) = waiting[0];
            let spare = func.new_reg(func.class(blocked));
            readers.push(0);
            push_move(func, table, spare, Atom::Reg(blocked))?;
            for (_, s) in &mut waiting {
                if *s == Atom::Reg(blocked) {
                    *s = Atom::Reg(spare);
                    readers[spare.0 as usize] += 1;
                    readers[blocked.0 as usize] -= 1;
                }
            }
        }
        moves = waiting;
    }
    Ok(())
}

fn push_move(func: &mut Func, table: &Table, d: VReg, s: Atom) -> Result<(), Fail> {
    let name = match (func.class(d), s) {
        (_, Atom::Shared(_)) => "@addressof",
        (Class::Pred, _) => "mov.pred",
        (Class::B16, _) => "mov.b16",
        (Class::B32, _) => "mov.b32",
        (Class::B64, _) => "mov.b64",
    };
    let Some(insn) = table.find(name) else {
        return super::build::fail(format!("no instruction '{name}' in the instruction table"));
    };
    func.insts.push(Inst::Op(Op {
        insn,
        operands: [Operand::from(Atom::Reg(d)), Operand::from(s)]
            .into_iter()
            .collect(),
        reps: 1,
        guard: None,
        loc: crate::ir::LocId::UNKNOWN,
        dead: Vec::new(),
    }));
    Ok(())
}
