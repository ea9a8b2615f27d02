//! Two repetitions of an f32 operation become one instruction on a pair of registers (`fma.rn.f32x2`), where the
//! target computes such a pair at the cost of one:
//!
//! ```text
//! r4 = mul.rn.f32 r0, r8        d0 = {r0, r1};  d1 = {r8, r8}
//! r5 = mul.rn.f32 r1, r8    →   d2 = mul.rn.f32x2 d0, d1;  {r4, r5} = d2
//! ```
//! A pair costs nothing where its registers are neighbours: `ptxas` gives it two. So a register is in one pair at
//! most, and what memory and matrix instructions take in a row is paired that way; a number, or one register twice,
//! is an operand that the hardware widens. An operation whose operands do not pair so stays as it is.
//!
//! The results are the same bits: each half is rounded by itself, and no instruction is fused.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::uses::visit;
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Func, Inst, Op, Operand, VReg};
use crate::machine::table::{Insn, Role, Table, Width};
use crate::target::{Feature, Target};

/// Pairs the repetitions of the function's f32 operations. Returns how many pairs it made.
pub fn pair(func: &mut Func, table: &Table, target: Target) -> usize {
    if !target.has(Feature::PackedF32) {
        return 0;
    }
    let Some(mut pairing) = Pairing::new(func, table, target) else {
        return 0;
    };
    for inst in std::mem::take(&mut func.insts) {
        pairing.inst(func, inst);
    }
    func.insts = pairing.out;
    if pairing.made > 0 {
        drop_unread(func, table, &pairing.unpack);
    }
    pairing.made
}

/// Two operands of neighbouring repetitions.
type Pair = (Atom, Atom);

struct Pairing<'t> {
    table: &'t Table,
    target: Target,
    /// The instruction on pairs for one on single registers, if there is one.
    wide: FxHashMap<Arc<str>, Option<Insn>>,
    pack: Insn,
    unpack: Insn,
    constant: Insn,
    /// The other register of a register's pair, and whether that is the second.
    partner: Vec<Option<(VReg, bool)>>,
    /// Registers that hold pairs, up to the next label.
    packed: FxHashMap<Pair, VReg>,
    /// The pairs in `packed` that a register is in.
    holds: FxHashMap<VReg, SmallVec<[Pair; 2]>>,
    /// For each register the last operation that was seen to write it, by number.
    writer: Vec<u32>,
    seen: u32,
    out: Vec<Inst>,
    made: usize,
}

impl<'t> Pairing<'t> {
    /// `None` if no operation of the function can be paired.
    fn new(func: &Func, table: &'t Table, target: Target) -> Option<Self> {
        let mut pairing = Pairing {
            table,
            target,
            wide: FxHashMap::default(),
            pack: table.find("@pack.rr")?,
            unpack: table.find("@unpack.rr")?,
            constant: table.find("mov.b64")?,
            partner: vec![None; func.regs.len()],
            packed: FxHashMap::default(),
            holds: FxHashMap::default(),
            writer: vec![0; func.regs.len()],
            seen: 0,
            out: Vec::with_capacity(func.insts.len()),
            made: 0,
        };
        let mut any = false;
        for inst in &func.insts {
            if let Inst::Op(op) = inst {
                any |= pairing.on_pairs(op).is_some();
                pairing.neighbours(op);
            }
        }
        any.then_some(pairing)
    }

    /// The instruction that does two repetitions of `op` at once.
    fn on_pairs(&mut self, op: &Op) -> Option<Insn> {
        let (table, target) = (self.table, self.target);
        let behind = table.row(&op.insn).pairs.as_deref()?;
        if op.reps < 2 || op.guard.is_some() {
            return None;
        }
        let name = &op.insn.mnemonic;
        let find = || {
            let insn = table.find(&format!("{name}{behind}"))?;
            table.row(&insn).available_on(target).then_some(insn)
        };
        let wide = self.wide.entry(name.clone());
        wide.or_insert_with(find).clone()
    }

    /// Registers that an instruction takes or gives in a row are neighbours.
    fn neighbours(&mut self, op: &Op) {
        let slots = &self.table.row(&op.insn).slots;
        for (slot, operand) in slots.iter().zip(&op.operands) {
            let rows = match slot.width {
                Width::Each(1) => false,
                Width::Each(n) => n % 2 == 0,
                Width::All => operand.atoms.len() > 1,
            };
            if rows && slot.class == Class::B32 {
                for pair in operand.atoms.chunks_exact(2) {
                    self.join((pair[0], pair[1]));
                }
            }
        }
    }

    /// Whether the two can be one operand; if so, they are a pair from now on.
    fn join(&mut self, (a, b): Pair) -> bool {
        match (a, b) {
            (Atom::Imm(_), Atom::Imm(_)) => true,
            (Atom::Reg(a), Atom::Reg(b)) if a == b => true,
            (Atom::Reg(a), Atom::Reg(b)) => {
                let wanted = [Some((b, true)), Some((a, false))];
                let [of_a, of_b] = [a, b].map(|r| self.partner[r.0 as usize]);
                if of_a.is_none() && of_b.is_none() {
                    self.partner[a.0 as usize] = wanted[0];
                    self.partner[b.0 as usize] = wanted[1];
                    return true;
                }
                [of_a, of_b] == wanted
            }
            _ => false,
        }
    }

    fn inst(&mut self, func: &mut Func, inst: Inst) {
        match inst {
            Inst::Op(op) => match self.on_pairs(&op) {
                Some(wide) if self.independent(&op) => self.op(func, op, wide),
                _ => self.keep(op),
            },
            Inst::Copy { ref dst, .. } => {
                dst.iter().for_each(|&r| self.forget(r));
                self.out.push(inst);
            }
            Inst::Label(_) => {
                self.packed.clear();
                self.holds.clear();
                self.out.push(inst);
            }
            Inst::Branch { .. } => self.out.push(inst),
        }
    }

    /// Whether no repetition writes what any reads.
    fn independent(&mut self, op: &Op) -> bool {
        self.seen += 1;
        let Some((results, sources)) = op.operands.split_first() else {
            return false;
        };
        for r in results.atoms.iter().filter_map(|a| a.reg()) {
            self.writer[r.0 as usize] = self.seen;
        }
        let mut read = sources
            .iter()
            .flat_map(|s| &s.atoms)
            .filter_map(|a| a.reg());
        read.all(|r| self.writer[r.0 as usize] != self.seen)
    }

    /// An operation as it is.
    fn keep(&mut self, op: Op) {
        let slots = &self.table.row(&op.insn).slots;
        for (slot, operand) in slots.iter().zip(&op.operands) {
            if matches!(slot.role, Role::Def | Role::InOut) {
                let written = operand.atoms.iter().filter_map(|a| a.reg());
                written.for_each(|r| self.forget(r));
            }
        }
        self.out.push(Inst::Op(op));
    }

    /// A register is written: what was packed of it is not what it is now.
    fn forget(&mut self, r: VReg) {
        for pair in self.holds.remove(&r).into_iter().flatten() {
            self.packed.remove(&pair);
        }
    }

    /// An operation in pairs of repetitions, as far as they are pairs.
    fn op(&mut self, func: &mut Func, op: Op, wide: Insn) {
        let reps = op.reps as usize;
        let fits = |this: &mut Self, k: usize| {
            let pair = |operand: &Operand| (operand.atoms[2 * k], operand.atoms[2 * k + 1]);
            let alive = !op.is_dead(2 * k) && !op.is_dead(2 * k + 1);
            alive && op.operands.iter().all(|operand| this.join(pair(operand)))
        };
        let (paired, rest): (Vec<usize>, Vec<usize>) =
            (0..reps.div_ceil(2)).partition(|&k| 2 * k + 1 < reps && fits(self, k));
        if paired.is_empty() {
            return self.keep(op);
        }
        self.made += paired.len();
        let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
        let results: Vec<Atom> = paired.iter().map(|_| register(func)).collect();
        operands.push(results.clone().into());
        for source in &op.operands[1..] {
            operands.push(self.pairs(func, &op, source, &paired).into());
        }
        self.put(&op, wide, operands);
        let written = &op.operands[0].atoms;
        written
            .iter()
            .filter_map(|a| a.reg())
            .for_each(|r| self.forget(r));
        let half = |i: usize| -> Operand {
            let atoms: Vec<Atom> = paired.iter().map(|&k| written[2 * k + i]).collect();
            atoms.into()
        };
        let halves = [half(0), half(1), results.clone().into()];
        self.put(&op, self.unpack.clone(), halves.into_iter().collect());
        for (&k, result) in paired.iter().zip(results) {
            if let Atom::Reg(result) = result {
                self.remember((written[2 * k], written[2 * k + 1]), result);
            }
        }
        let rest: Vec<usize> = rest
            .iter()
            .flat_map(|&k| [2 * k, 2 * k + 1])
            .filter(|&rep| rep < reps)
            .collect();
        if !rest.is_empty() {
            let some = |operand: &Operand| -> Operand {
                let atoms: Vec<Atom> = rest.iter().map(|&rep| operand.atoms[rep]).collect();
                atoms.into()
            };
            let operands = op.operands.iter().map(some).collect();
            let dead = rest.iter().map(|&rep| op.is_dead(rep)).collect();
            self.out.push(Inst::Op(Op {
                operands,
                reps: rest.len() as u32,
                dead,
                ..op
            }));
        }
    }

    /// The registers that hold pairs of an operand; those that none holds are packed.
    fn pairs(&mut self, func: &mut Func, op: &Op, source: &Operand, paired: &[usize]) -> Vec<Atom> {
        let pair = |&k: &usize| (source.atoms[2 * k], source.atoms[2 * k + 1]);
        let mut missing: [Vec<(Atom, Pair)>; 2] = [Vec::new(), Vec::new()];
        let mut held = Vec::with_capacity(paired.len());
        for pair in paired.iter().map(pair) {
            if let Some(&r) = self.packed.get(&pair) {
                held.push(Atom::Reg(r));
                continue;
            }
            let made = register(func);
            if let Atom::Reg(r) = made {
                self.remember(pair, r);
            }
            missing[usize::from(matches!(pair.0, Atom::Imm(_)))].push((made, pair));
            held.push(made);
        }
        let [registers, numbers] = missing;
        let column = |rows: &[(Atom, Pair)], f: fn(&(Atom, Pair)) -> Atom| -> Operand {
            rows.iter().map(f).collect::<Vec<Atom>>().into()
        };
        if !registers.is_empty() {
            let operands = [
                column(&registers, |row| row.0),
                column(&registers, |row| row.1.0),
                column(&registers, |row| row.1.1),
            ];
            self.put(op, self.pack.clone(), operands.into_iter().collect());
        }
        if !numbers.is_empty() {
            let operands = [
                column(&numbers, |row| row.0),
                column(&numbers, |row| both(row.1)),
            ];
            self.put(op, self.constant.clone(), operands.into_iter().collect());
        }
        held
    }

    fn remember(&mut self, pair: Pair, register: VReg) {
        self.packed.insert(pair, register);
        for r in [pair.0, pair.1].into_iter().filter_map(Atom::reg) {
            self.holds.entry(r).or_default().push(pair);
        }
    }

    /// Writes an instruction with these operands, where `op` comes from.
    fn put(&mut self, op: &Op, insn: Insn, operands: SmallVec<[Operand; 4]>) {
        let reps = operands.first().map_or(0, |o| o.atoms.len()) as u32;
        self.out.push(Inst::Op(Op {
            insn,
            operands,
            reps,
            guard: None,
            loc: op.loc,
            dead: Vec::new(),
        }));
    }
}

/// A new register for a pair.
fn register(func: &mut Func) -> Atom {
    Atom::Reg(func.new_reg(Class::B64))
}

/// Two numbers as one.
fn both(pair: Pair) -> Atom {
    match pair {
        (Atom::Imm(low), Atom::Imm(high)) => Atom::Imm(low & 0xffff_ffff | high << 32),
        other => other.0,
    }
}

/// Drops what unpacks a pair of which nothing reads a half.
fn drop_unread(func: &mut Func, table: &Table, unpack: &Insn) {
    let mut read = vec![false; func.regs.len()];
    for inst in &func.insts {
        visit(inst, table, &mut |_, r, write| read[r.0 as usize] |= !write);
    }
    func.insts.retain_mut(|inst| {
        let Inst::Op(op) = inst else { return true };
        if op.insn.row != unpack.row {
            return true;
        }
        let unread = |rep: usize| {
            let halves = op.operands[..2].iter().filter_map(|o| o.atoms.get(rep));
            let mut halves = halves.filter_map(|a| a.reg());
            halves.all(|r| !read[r.0 as usize])
        };
        op.dead = (0..op.reps as usize).map(unread).collect();
        op.dead.iter().any(|dead| !dead)
    });
}
