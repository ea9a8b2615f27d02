//! Emitting machine instructions: constants that a slot does not take are moved to registers,
//! results get fresh registers.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ir::{Diagnostic, LocId, Module, OpId, Place};
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Func, Guard, Inst, Label, Op, Operand, VReg};
use crate::machine::table::{Immediate, Insn, Role, Slot, Table, Width};
use crate::target::Target;

/// Why an operation could not be selected.
pub type Fail = Box<Diagnostic>;

/// A failure with a message.
pub fn fail<T>(message: impl Into<String>) -> Result<T, Fail> {
    Err(Box::new(Diagnostic::error(message)))
}

/// Says which operation an error is about, unless an inner one already did.
pub fn about(module: &Module, op: OpId, mut error: Fail) -> Fail {
    if error.operation.is_none() {
        error.operation = Some(module.op(op).kind.to_string());
    }
    if error.place == Place::Nowhere {
        error.place = module.source_of(module.op(op).loc);
    }
    error
}

/// What is known of registers up to the next label.
#[derive(Default)]
struct Known {
    constants: FxHashMap<(Class, Atom), VReg>,
    /// The 16-bit halves of a 32-bit register.
    halves: FxHashMap<VReg, [VReg; 2]>,
    /// The register a half belongs to.
    half_of: FxHashMap<VReg, (VReg, usize)>,
}

/// The repetitions of an operation that differ, and for each one which of these it is, if some are the same.
fn different(sources: &[&[Atom]], reps: usize) -> Option<(Vec<Vec<Atom>>, Vec<usize>)> {
    let repeats = |s: &&[Atom]| s.len() == 1 || s.first() == s.last();
    let whole = |s: &&[Atom]| s.len() == 1 || s.len() == reps;
    if reps < 2 || !sources.iter().all(whole) || !sources.iter().any(repeats) {
        return None;
    }
    let mut seen: FxHashMap<SmallVec<[Atom; 3]>, usize> = FxHashMap::default();
    let mut different: Vec<Vec<Atom>> = vec![Vec::new(); sources.len()];
    let mut which = Vec::with_capacity(reps);
    for i in 0..reps {
        let row: SmallVec<[Atom; 3]> = sources
            .iter()
            .filter_map(|s| s.get(i).or(s.first()).copied())
            .collect();
        let next = seen.len();
        let place = *seen.entry(row).or_insert_with_key(|row| {
            let columns = different.iter_mut().zip(row);
            columns.for_each(|(column, &atom)| column.push(atom));
            next
        });
        which.push(place);
    }
    (seen.len() < reps).then_some((different, which))
}

/// Appends instructions to a function.
pub struct Builder<'t> {
    pub table: &'t Table,
    pub target: Target,
    pub func: Func,
    /// Where what is appended comes from.
    pub loc: LocId,
    insns: FxHashMap<String, Option<Insn>>,
    known: Known,
}

impl<'t> Builder<'t> {
    pub fn new(table: &'t Table, target: Target) -> Self {
        Self {
            table,
            target,
            func: Func::default(),
            loc: LocId::UNKNOWN,
            insns: FxHashMap::default(),
            known: Known::default(),
        }
    }

    /// The instruction called `name`, if the target has it.
    pub fn lookup(&mut self, name: &str) -> Option<Insn> {
        if let Some(found) = self.insns.get(name) {
            return found.clone();
        }
        let found = self
            .table
            .find(name)
            .filter(|insn| self.table.row(insn).available_on(self.target));
        self.insns.insert(name.to_owned(), found.clone());
        found
    }

    /// Whether the instruction called `name` does nothing but compute its result.
    fn is_pure(&mut self, name: &str) -> bool {
        let insn = self.lookup(name);
        insn.is_some_and(|insn| self.table.row(&insn).unit.is_pure())
    }

    pub fn has(&mut self, name: &str) -> bool {
        self.lookup(name).is_some()
    }

    /// The instruction called `name`, or an error that says the target lacks it.
    pub fn insn(&mut self, name: &str) -> Result<Insn, Fail> {
        let target = self.target;
        match self.lookup(name) {
            Some(insn) => Ok(insn),
            None if self.table.find(name).is_some() => fail(format!(
                "instruction '{name}' needs a later target than {target}"
            )),
            None => fail(format!("no instruction '{name}' in the instruction table")),
        }
    }

    /// `name` over `reps` repetitions; the sources fill the slots after the results.
    pub fn op(
        &mut self,
        name: &str,
        reps: usize,
        sources: Vec<Operand>,
    ) -> Result<Vec<Vec<Atom>>, Fail> {
        let insn = self.insn(name)?;
        self.emit(insn, reps, sources, None, None)
    }

    /// An operation with one result per repetition and one register per source. What a broadcast repeats is computed once.
    pub fn value(&mut self, name: &str, sources: &[&[Atom]]) -> Result<Vec<Atom>, Fail> {
        let reps = sources.iter().map(|s| s.len()).max().unwrap_or(1);
        if let Some((different, which)) = different(sources, reps)
            && self.is_pure(name)
        {
            let sources: Vec<&[Atom]> = different.iter().map(Vec::as_slice).collect();
            let results = self.value(name, &sources)?;
            let results = which.iter().filter_map(|&i| results.get(i).copied());
            return Ok(results.collect());
        }
        let sources = sources.iter().map(|&s| Operand::from(s)).collect();
        let results = self.op(name, reps, sources)?;
        match results.into_iter().next() {
            Some(first) => Ok(first),
            None => fail(format!("instruction '{name}' has no result")),
        }
    }

    /// An operation without results.
    pub fn effect(&mut self, name: &str, sources: Vec<Operand>) -> Result<(), Fail> {
        self.op(name, 1, sources).map(|_| ())
    }

    /// The general form: a guard, and registers to write instead of fresh ones.
    pub fn emit(
        &mut self,
        insn: Insn,
        reps: usize,
        sources: Vec<Operand>,
        guard: Option<Guard>,
        into: Option<Vec<Vec<VReg>>>,
    ) -> Result<Vec<Vec<Atom>>, Fail> {
        if reps == 0 {
            return Ok(Vec::new());
        }
        let table = self.table;
        let slots = &table.row(&insn).slots;
        let mut sources = sources.into_iter();
        let mut into = into.map(Vec::into_iter);
        let mut operands = smallvec::SmallVec::new();
        let mut results = Vec::new();
        for slot in slots.iter() {
            if slot.role == Role::Def {
                let registers = match into.as_mut().and_then(Iterator::next) {
                    Some(registers) => registers,
                    None => self.fresh(slot, reps),
                };
                let atoms: Vec<Atom> = registers.into_iter().map(Atom::Reg).collect();
                results.push(atoms.clone());
                operands.push(Operand::from(atoms));
                continue;
            }
            let Some(source) = sources.next() else {
                return fail(format!("too few operands for '{}'", insn.mnemonic));
            };
            operands.push(self.fit(&insn, slot, reps, source)?);
        }
        if sources.next().is_some() {
            return fail(format!("too many operands for '{}'", insn.mnemonic));
        }
        self.func.insts.push(Inst::Op(Op {
            insn,
            operands,
            reps: reps as u32,
            guard,
            loc: self.loc,
            dead: Vec::new(),
        }));
        Ok(results)
    }

    fn fresh(&mut self, slot: &Slot, reps: usize) -> Vec<VReg> {
        let each = match slot.width {
            Width::Each(n) => n as usize,
            Width::All => 1,
        };
        (0..reps * each)
            .map(|_| self.func.new_reg(slot.class))
            .collect()
    }

    /// Checks an operand against its slot and moves what does not fit to registers.
    fn fit(
        &mut self,
        insn: &Insn,
        slot: &Slot,
        reps: usize,
        mut source: Operand,
    ) -> Result<Operand, Fail> {
        if let Width::Each(n) = slot.width {
            let wanted = reps * n as usize;
            if source.atoms.len() == 1 && n == 1 {
                source.atoms.resize(wanted, source.atoms[0]);
            }
            if source.atoms.len() != wanted {
                return fail(format!(
                    "'{}' wants {wanted} registers for an operand, not {}",
                    insn.mnemonic,
                    source.atoms.len()
                ));
            }
        }
        for atom in &mut source.atoms {
            *atom = self.fit_atom(slot, *atom)?;
            if let Atom::Reg(r) = *atom
                && self.func.class(r) != slot.class
            {
                return fail(format!(
                    "'{}' wants a {} register, not {}",
                    insn.mnemonic,
                    slot.class.ty(),
                    self.func.class(r).ty()
                ));
            }
        }
        Ok(source)
    }

    fn fit_atom(&mut self, slot: &Slot, atom: Atom) -> Result<Atom, Fail> {
        let fits = match atom {
            Atom::Reg(_) | Atom::Special(_) => true,
            Atom::Param(_) | Atom::Global(_) => true,
            Atom::Shared(_) => slot.role == Role::Address,
            Atom::Imm(_) => slot.immediate != Immediate::No,
            Atom::Undef => false,
        };
        if fits {
            Ok(atom)
        } else {
            Ok(Atom::Reg(self.register(slot.class, atom)?))
        }
    }

    /// `atom` in a register.
    pub fn register(&mut self, class: Class, atom: Atom) -> Result<VReg, Fail> {
        let atom = match atom {
            Atom::Reg(r) => return Ok(r),
            Atom::Undef => Atom::Imm(0),
            other => other,
        };
        if let Some(&r) = self.known.constants.get(&(class, atom)) {
            return Ok(r);
        }
        let name = match (atom, class) {
            (Atom::Shared(_), Class::B32) => "@addressof",
            (Atom::Imm(_), Class::Pred) => "mov.pred",
            (Atom::Imm(_), Class::B16) => "mov.b16",
            (Atom::Imm(_), Class::B32) => "mov.b32",
            (Atom::Imm(_), Class::B64) => "mov.b64",
            _ => return fail("an address is used as a value of another width"),
        };
        let insn = self.insn(name)?;
        let r = self.func.new_reg(class);
        self.func.insts.push(Inst::Op(Op {
            insn,
            operands: [Operand::from(Atom::Reg(r)), Operand::from(atom)]
                .into_iter()
                .collect(),
            reps: 1,
            guard: None,
            loc: self.loc,
            dead: Vec::new(),
        }));
        self.known.constants.insert((class, atom), r);
        Ok(r)
    }

    /// Fresh registers holding copies of `atoms`.
    pub fn copy(&mut self, class: Class, atoms: &[Atom]) -> Vec<VReg> {
        let dst: Vec<VReg> = atoms.iter().map(|_| self.func.new_reg(class)).collect();
        self.copy_to(dst.clone(), atoms.to_vec());
        dst
    }

    /// A parallel copy.
    pub fn copy_to(&mut self, dst: Vec<VReg>, src: Vec<Atom>) {
        if !dst.is_empty() {
            self.func.insts.push(Inst::Copy { dst, src });
        }
    }

    /// Places a label; nothing known before holds after it.
    pub fn label(&mut self, label: Label) {
        self.known = Known::default();
        self.func.insts.push(Inst::Label(label));
    }

    pub fn branch(&mut self, to: Label, guard: Option<(VReg, bool)>, uniform: bool) {
        self.func.insts.push(Inst::Branch { to, guard, uniform });
    }

    /// The 16-bit halves, low first, of each 32-bit atom.
    pub fn split(&mut self, words: &[Atom]) -> Result<Vec<Atom>, Fail> {
        let mut missing: Vec<Atom> = Vec::new();
        for &word in words {
            if let Atom::Reg(r) = word
                && !self.known.halves.contains_key(&r)
                && !missing.contains(&word)
            {
                missing.push(word);
            }
        }
        if !missing.is_empty() {
            let insn = self.insn("@unpack.hh")?;
            let low_high = self.emit(
                insn,
                missing.len(),
                vec![missing.clone().into()],
                None,
                None,
            )?;
            for (i, word) in missing.iter().enumerate() {
                if let (Atom::Reg(r), Some(Atom::Reg(low)), Some(Atom::Reg(high))) = (
                    *word,
                    low_high[0].get(i).copied(),
                    low_high[1].get(i).copied(),
                ) {
                    self.known.halves.insert(r, [low, high]);
                    self.known.half_of.insert(low, (r, 0));
                    self.known.half_of.insert(high, (r, 1));
                }
            }
        }
        let halves = words.iter().flat_map(|&word| match word {
            Atom::Reg(r) => match self.known.halves.get(&r) {
                Some(h) => h.map(Atom::Reg),
                None => [Atom::Undef; 2],
            },
            Atom::Imm(bits) => [Atom::Imm(bits & 0xffff), Atom::Imm(bits >> 16 & 0xffff)],
            _ => [Atom::Undef; 2],
        });
        Ok(halves.collect())
    }

    /// The inverse of [`Builder::split`].
    pub fn join(&mut self, halves: &[Atom]) -> Result<Vec<Atom>, Fail> {
        let mut words = Vec::with_capacity(halves.len() / 2);
        let (mut low, mut high, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for pair in halves.chunks(2) {
            let (a, b) = (pair[0], pair.get(1).copied().unwrap_or(Atom::Undef));
            let whole = match (a, b) {
                (Atom::Undef, Atom::Undef) => Some(Atom::Undef),
                (Atom::Imm(a), Atom::Imm(b)) => Some(Atom::Imm(a & 0xffff | (b & 0xffff) << 16)),
                (Atom::Reg(a), Atom::Reg(b)) => {
                    match (self.known.half_of.get(&a), self.known.half_of.get(&b)) {
                        (Some(&(w, 0)), Some(&(v, 1))) if w == v => Some(Atom::Reg(w)),
                        _ => None,
                    }
                }
                _ => None,
            };
            words.push(whole.unwrap_or(Atom::Undef));
            if whole.is_none() {
                places.push(words.len() - 1);
                low.push(a);
                high.push(b);
            }
        }
        if !places.is_empty() {
            let packed = self.value("@pack.hh", &[&low, &high])?;
            for (place, atom) in places.into_iter().zip(packed) {
                words[place] = atom;
            }
        }
        Ok(words)
    }
}
