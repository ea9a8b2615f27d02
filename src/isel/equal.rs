//! Variables of loops and branches that always hold the same value become one: the counters of two pipelines that
//! advance together, for one.
//!
//! Variables are taken to be equal until a copy says otherwise: where one is written the other has to be, from the same
//! atom, from equal variables, or from results of the same operation on equal operands.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::uses::rename;
use crate::machine::mir::{Atom, Func, Inst, Op, VReg};
use crate::machine::table::{Role, Table};

/// Merges equal variables. Returns how many went.
pub(super) fn merge(func: &mut Func, table: &Table) -> usize {
    let variables = Variables::of(func, table);
    let classes = variables.classes(func, table);
    let mut first: FxHashMap<u32, VReg> = FxHashMap::default();
    let mut merged: FxHashMap<VReg, VReg> = FxHashMap::default();
    for (&(register, _), &class) in variables.written.iter().zip(&classes) {
        let kept = *first.entry(class).or_insert(register);
        if kept != register {
            merged.insert(register, kept);
        }
    }
    if merged.is_empty() {
        return 0;
    }
    for inst in &mut func.insts {
        if let Inst::Copy { dst, src } = inst {
            let pairs = dst.iter().copied().zip(src.iter().copied());
            let kept = pairs.filter(|(d, _)| !merged.contains_key(d));
            (*dst, *src) = kept.unzip();
        }
    }
    func.insts
        .retain(|inst| !matches!(inst, Inst::Copy { dst, .. } if dst.is_empty()));
    rename(func, |r| merged.get(&r).copied().unwrap_or(r));
    merged.len()
}

/// What writes a register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Definition {
    None,
    /// One repetition of a pure instruction, at this place.
    Pure(usize),
    /// Copies alone.
    Copies,
    /// Something else, or several things.
    Other,
}

/// The registers that copies alone write.
struct Variables {
    /// By register.
    definitions: Vec<Definition>,
    /// Each with the copies that write it, in the order of the text, and the atoms they write.
    written: Vec<(VReg, Vec<(usize, Atom)>)>,
    /// By register: its place in `written`.
    place: FxHashMap<VReg, usize>,
    /// First and last instruction of each loop.
    loops: Vec<(usize, usize)>,
    /// By instruction: for a copy, the first of those right before it that could as well be one copy with it.
    together: Vec<usize>,
}

/// What a copy writes, up to what is known to be equal.
#[derive(PartialEq, Eq, Hash)]
enum Source {
    Atom(Atom),
    /// A variable, and how many copies have written it before.
    Variable {
        class: u32,
        before: usize,
    },
    /// An operation in a loop. What it reads is the same for two that are in the same innermost loop, as nothing is
    /// written between them.
    Computed {
        insn: (usize, Arc<str>),
        reads: Vec<Source>,
        offsets: Vec<i64>,
        innermost: Option<(usize, usize)>,
    },
}

impl Variables {
    fn of(func: &Func, table: &Table) -> Self {
        let mut variables = Variables {
            definitions: vec![Definition::None; func.regs.len()],
            written: Vec::new(),
            place: FxHashMap::default(),
            loops: loops(func),
            together: together(func),
        };
        let mut copies: Vec<(VReg, usize, Atom)> = Vec::new();
        for (at, inst) in func.insts.iter().enumerate() {
            match inst {
                Inst::Copy { dst, src } => {
                    for (&register, &atom) in dst.iter().zip(src) {
                        variables.define(register, Definition::Copies);
                        copies.push((register, at, atom));
                    }
                }
                Inst::Op(op) => {
                    let row = table.row(&op.insn);
                    let alone = op.reps == 1 && op.guard.is_none() && row.unit.is_pure();
                    let definition = if alone {
                        Definition::Pure(at)
                    } else {
                        Definition::Other
                    };
                    for rep in 0..op.reps as usize {
                        op.writes(&row.slots, rep, &mut |r| variables.define(r, definition));
                    }
                }
                Inst::Label(_) | Inst::Branch { .. } => {}
            }
        }
        for (register, at, atom) in copies {
            if variables.definition(register) == Definition::Copies {
                variables.write(register, at, atom);
            }
        }
        variables
    }

    fn define(&mut self, register: VReg, by: Definition) {
        let slot = &mut self.definitions[register.0 as usize];
        *slot = match (*slot, by) {
            (Definition::None, by) => by,
            (Definition::Copies, Definition::Copies) => by,
            _ => Definition::Other,
        };
    }

    fn definition(&self, register: VReg) -> Definition {
        self.definitions[register.0 as usize]
    }

    fn write(&mut self, register: VReg, at: usize, atom: Atom) {
        let next = self.written.len();
        let place = *self.place.entry(register).or_insert(next);
        if place == next {
            self.written.push((register, Vec::new()));
        }
        self.written[place].1.push((at, atom));
    }

    /// A number for each of the variables: equal ones have the same.
    fn classes(&self, func: &Func, table: &Table) -> Vec<u32> {
        let mut classes = vec![0; self.written.len()];
        let mut count = 1;
        loop {
            let mut known: FxHashMap<_, u32> = FxHashMap::default();
            let mut refined = Vec::with_capacity(classes.len());
            for ((register, copies), &class) in self.written.iter().zip(&classes) {
                let source = |&(at, atom)| {
                    let source = self.source(func, table, &classes, at, atom);
                    (self.together[at], source)
                };
                let sources: Vec<(usize, Source)> = copies.iter().map(source).collect();
                let next = known.len() as u32;
                let key = (class, func.class(*register), sources);
                refined.push(*known.entry(key).or_insert(next));
            }
            if known.len() <= count {
                return refined;
            }
            count = known.len();
            classes = refined;
        }
    }

    /// What the copy number `at` writes where it writes `atom`.
    fn source(&self, func: &Func, table: &Table, classes: &[u32], at: usize, atom: Atom) -> Source {
        if let Some(register) = atom.reg()
            && let Definition::Pure(made) = self.definition(register)
            && let Some(Inst::Op(op)) = func.insts.get(made)
            && let Some(computed) = self.computed(op, made, table, classes)
        {
            return computed;
        }
        self.read(classes, at, atom)
    }

    /// What instruction number `at` reads.
    fn read(&self, classes: &[u32], at: usize, atom: Atom) -> Source {
        let Some(&place) = atom.reg().and_then(|r| self.place.get(&r)) else {
            return Source::Atom(atom);
        };
        let copies = &self.written[place].1;
        Source::Variable {
            class: classes[place],
            before: copies.iter().filter(|c| c.0 < at).count(),
        }
    }

    /// The result of the pure operation `op`, instruction number `at`, if it has one only and what it reads does not
    /// change but by copies.
    fn computed(&self, op: &Op, at: usize, table: &Table, classes: &[u32]) -> Option<Source> {
        let slots = &table.row(&op.insn).slots;
        let mut results = 0;
        let mut reads = Vec::new();
        for (i, slot) in slots.iter().enumerate() {
            let atoms = op.atoms_of(slots, i, 0);
            match slot.role {
                Role::Def => results += atoms.len(),
                Role::Use => reads.extend(atoms.iter().map(|&a| self.read(classes, at, a))),
                Role::InOut | Role::Address => return None,
            }
        }
        let changes = |s: &Source| matches!(s, Source::Atom(Atom::Reg(r)) if self.definition(*r) == Definition::Other);
        if results != 1 || reads.iter().any(changes) {
            return None;
        }
        let around = self
            .loops
            .iter()
            .filter(|(first, last)| (*first..=*last).contains(&at));
        Some(Source::Computed {
            insn: (op.insn.row, op.insn.mnemonic.clone()),
            reads,
            offsets: op
                .operands
                .iter()
                .flat_map(|o| o.offsets.iter().copied())
                .collect(),
            innermost: around.min_by_key(|(first, last)| last - first).copied(),
        })
    }
}

/// For each copy the first of the copies right before it of which none reads or writes what another writes.
fn together(func: &Func) -> Vec<usize> {
    let (mut read, mut written) = (FxHashSet::default(), FxHashSet::default());
    let mut first = 0;
    let mut together = Vec::with_capacity(func.insts.len());
    for (at, inst) in func.insts.iter().enumerate() {
        let apart = match inst {
            Inst::Copy { dst, src } => {
                src.iter()
                    .any(|a| a.reg().is_some_and(|r| written.contains(&r)))
                    || dst.iter().any(|r| read.contains(r) || written.contains(r))
            }
            _ => true,
        };
        if apart {
            read.clear();
            written.clear();
        }
        if read.is_empty() && written.is_empty() {
            first = at;
        }
        if let Inst::Copy { dst, src } = inst {
            read.extend(src.iter().filter_map(|a| a.reg()));
            written.extend(dst.iter().copied());
        }
        together.push(first);
    }
    together
}

/// First and last instruction of each loop: a label, and the last jump back to it.
fn loops(func: &Func) -> Vec<(usize, usize)> {
    let mut labels: FxHashMap<u32, usize> = FxHashMap::default();
    let mut loops: FxHashMap<usize, usize> = FxHashMap::default();
    for (at, inst) in func.insts.iter().enumerate() {
        match inst {
            Inst::Label(label) => {
                labels.insert(label.0, at);
            }
            Inst::Branch { to, .. } => {
                if let Some(&first) = labels.get(&to.0) {
                    loops.insert(first, at);
                }
            }
            Inst::Op(_) | Inst::Copy { .. } => {}
        }
    }
    let mut loops: Vec<_> = loops.into_iter().collect();
    loops.sort_unstable();
    loops
}
