//! Variables of loops and branches that always hold the same value become one: the counters of two pipelines that
//! advance together, for one.
//!
//! Variables are taken to be equal until a copy says otherwise: where one is written the other has to be, from the same
//! atom, from equal variables, or from results of the same operation on equal operands.

use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::live;
use super::uses::rename;
use crate::machine::mir::{Atom, Func, Inst, Op, VReg};
use crate::machine::table::{Role, Table};

/// Merges equal variables. Returns how many went.
pub(super) fn merge(func: &mut Func, table: &Table) -> usize {
    if !func.has_copies() {
        return 0;
    }
    let variables = Variables::of(func, table);
    let classes = variables.classes(func, table);
    let mut first: FxHashMap<u32, VReg> = FxHashMap::default();
    let mut merged: FxHashMap<VReg, VReg> = FxHashMap::default();
    for (&Variable { register, .. }, &class) in variables.written.iter().zip(&classes) {
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

/// A register that copies alone write.
struct Variable {
    register: VReg,
    /// The copies that write it, in the order of the text, and the atoms they write.
    copies: SmallVec<[(usize, Atom); 2]>,
}

/// All variables.
struct Variables {
    /// By register.
    definitions: Vec<Definition>,
    written: Vec<Variable>,
    /// By register: its place in `written`.
    place: Vec<Option<u32>>,
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
            place: vec![None; func.regs.len()],
            loops: live::loops(func),
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
        let next = self.written.len() as u32;
        let place = *self.place[register.0 as usize].get_or_insert(next);
        if place == next {
            self.written.push(Variable {
                register,
                copies: SmallVec::new(),
            });
        }
        self.written[place as usize].copies.push((at, atom));
    }

    /// A number for each of the variables: equal ones have the same.
    fn classes(&self, func: &Func, table: &Table) -> Vec<u32> {
        let mut classes = vec![0; self.written.len()];
        // What is copied elsewhere, or is no such register, is told apart without a look at what is copied.
        refine(&mut classes, |i| {
            let Variable { register, copies } = &self.written[i];
            let places = copies.iter().map(|&(at, _)| self.together[at]);
            (func.class(*register), places.collect::<SmallVec<[_; 4]>>())
        });
        loop {
            let before = classes.clone();
            let split = refine(&mut classes, |i| {
                let copies = self.written[i].copies.iter();
                let source = |&(at, atom)| self.source(func, table, &before, at, atom);
                copies.map(source).collect::<Vec<_>>()
            });
            if !split {
                return classes;
            }
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
        let Some(place) = atom.reg().and_then(|r| self.place[r.0 as usize]) else {
            return Source::Atom(atom);
        };
        let copies = &self.written[place as usize].copies;
        Source::Variable {
            class: classes[place as usize],
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

/// Splits each class by the keys of its members. Returns whether there were different ones in any.
fn refine<K: Hash + Eq>(classes: &mut [u32], key: impl Fn(usize) -> K) -> bool {
    let mut sizes: Vec<u32> = Vec::with_capacity(classes.len());
    for &class in classes.iter() {
        sizes.resize(sizes.len().max(class as usize + 1), 0);
        sizes[class as usize] += 1;
    }
    let before = sizes.len() as u32;
    let mut next = before;
    let mut kept = vec![false; sizes.len()];
    let mut known: FxHashMap<(u32, K), u32> = FxHashMap::default();
    for (i, class) in classes.iter_mut().enumerate() {
        let old = *class as usize;
        if sizes[old] == 1 {
            continue;
        }
        *class = match known.entry((*class, key(i))) {
            Entry::Occupied(number) => *number.get(),
            // The first key's members keep the number.
            Entry::Vacant(slot) if !std::mem::replace(&mut kept[old], true) => *slot.insert(*class),
            Entry::Vacant(slot) => {
                next += 1;
                *slot.insert(next - 1)
            }
        };
    }
    next > before
}

/// For each copy the first of the copies right before it of which none reads or writes what another writes.
fn together(func: &Func) -> Vec<usize> {
    // By register: the first of the copies of which one read or wrote it last.
    let mut read = vec![usize::MAX; func.regs.len()];
    let mut written = read.clone();
    let mut first = 0;
    let mut together = Vec::with_capacity(func.insts.len());
    for (at, inst) in func.insts.iter().enumerate() {
        let Inst::Copy { dst, src } = inst else {
            first = at + 1;
            together.push(at);
            continue;
        };
        let is = |of: &[usize], r: VReg| of[r.0 as usize] == first;
        let sources = || src.iter().filter_map(|a| a.reg());
        if sources().any(|r| is(&written, r))
            || dst.iter().any(|&r| is(&read, r) || is(&written, r))
        {
            first = at;
        }
        sources().for_each(|r| read[r.0 as usize] = first);
        dst.iter().for_each(|r| written[r.0 as usize] = first);
        together.push(first);
    }
    together
}
