//! Loads, stores, atomics, asynchronous copies and matrix loads.

use super::build::{Fail, fail};
use super::select::{Selector, enumeration, int, ints};
use super::values::{Elem, Form};
use crate::dialect::enums::{Ordering, RmwMode};
use crate::dialect::nvvm::Op as N;
use crate::ir::{Op, ValueId};
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Guard, Operand, VReg};

/// One access of a load or store: the PTX type, and the registers it moves.
pub(super) struct Access {
    /// `b32`, `v4.b32`, …
    pub ty: &'static str,
    class: Class,
    /// Registers per access.
    pub words: usize,
}

impl Access {
    pub fn bytes(&self) -> usize {
        self.words * self.class.bits() as usize / 8
    }

    /// The access of `vec` elements of `bits`.
    fn of(bits: u32, vec: usize) -> Result<Access, Fail> {
        let access = |ty, class, words| Ok(Access { ty, class, words });
        match (bits, bits as usize * vec / 8) {
            (64, 8) => access("b64", Class::B64, 1),
            (64, 16) => access("v2.b64", Class::B64, 2),
            (64, 32) => access("v4.b64", Class::B64, 4),
            (_, 1) => access("b8", Class::B16, 1),
            (_, 2) => access("b16", Class::B16, 1),
            (_, 4) => access("b32", Class::B32, 1),
            (_, 8) => access("v2.b32", Class::B32, 2),
            (_, 16) => access("v4.b32", Class::B32, 4),
            (_, 32) => access("v8.b32", Class::B32, 8),
            (_, bytes) => fail(format!("an access of {bytes} bytes")),
        }
    }
}

const SCOPES: &[&str] = &["cta", "gpu", "sys"];
/// In the order of `enums::SPACE`; generic accesses name none.
const SPACES: &[&str] = &[".global", ".shared", ""];
const CACHES: &[&str] = &["", ".cg", ".cs", ".lu", ".nc"];

/// The name of a scope.
pub(super) fn scope(op: &Op) -> Result<&'static str, Fail> {
    match SCOPES.get(enumeration(op, "scope")? as usize) {
        Some(&scope) => Ok(scope),
        None => fail("unknown scope"),
    }
}

/// What the state space of an access adds to its mnemonic.
fn space(op: &Op) -> Result<&'static str, Fail> {
    match SPACES.get(enumeration(op, "space")? as usize) {
        Some(&space) => Ok(space),
        None => fail("unknown state space"),
    }
}

pub(super) fn ordering(op: &Op) -> Result<Ordering, Fail> {
    match Ordering::of(enumeration(op, "order")?) {
        Some(order) => Ok(order),
        None => fail("unknown memory ordering"),
    }
}

/// The mnemonic of a load or store, up to its type.
fn access_name(op: &Op, stem: &str, strong: &[Ordering]) -> Result<String, Fail> {
    let space = space(op)?;
    let shared = space == ".shared";
    let order = ordering(op)?;
    let cache = CACHES
        .get(enumeration(op, "cache")? as usize)
        .copied()
        .unwrap_or("");
    if order == Ordering::Weak {
        let cache = if shared { "" } else { cache };
        return Ok(format!("{stem}{space}{cache}"));
    }
    if shared {
        return Ok(format!("{stem}.volatile.shared"));
    }
    match strong.contains(&order) {
        true => Ok(format!("{stem}.{}.{}{space}", order.text(), scope(op)?)),
        false => fail(format!("'{stem}' has no such memory ordering")),
    }
}

impl Selector<'_> {
    pub(super) fn memory(&mut self, kind: N, op: &Op) -> Result<(), Fail> {
        match kind {
            N::Ld => self.load(op),
            N::St => self.store(op),
            N::AtomicRmw => self.atomic(op),
            N::AtomicCas => self.compare_and_swap(op),
            N::CpAsync => self.cp_async(op),
            N::LdMatrix => self.ldmatrix(op),
            N::StMatrix => self.stmatrix(op),
            N::MultimemLoad => self.multimem_load(op),
            N::MultimemReduce => self.multimem_reduce(op),
            N::MultimemStore => self.multimem_store(op),
            _ => fail("no memory operation"),
        }
    }

    /// The address slot for `offsets.len()` accesses.
    fn address(&self, addr: ValueId, offsets: &[i64]) -> Result<Operand, Fail> {
        let mut atoms = self.get(addr)?;
        if atoms.len() == 1 {
            atoms.resize(offsets.len(), atoms[0]);
        }
        if atoms.len() != offsets.len() {
            return fail(format!(
                "{} addresses and {} offsets",
                atoms.len(),
                offsets.len()
            ));
        }
        let mut operand = Operand::default();
        for (atom, &offset) in atoms.into_iter().zip(offsets) {
            let (base, more) = self.base_and_offset(atom);
            let total = more + offset;
            let small = i32::try_from(total).is_ok();
            operand.atoms.push(if small { base } else { atom });
            operand.offsets.push(if small { total } else { offset });
        }
        Ok(operand)
    }

    /// Takes an address apart as far as constants were added to it.
    pub(super) fn base_and_offset(&self, atom: Atom) -> (Atom, i64) {
        let (mut base, mut offset) = (atom, 0i64);
        while let Atom::Reg(r) = base {
            match self.offsets.get(&r) {
                Some(&(inner, more)) if offset.checked_add(more).is_some() => {
                    (base, offset) = (inner, offset + more);
                }
                _ => break,
            }
        }
        (base, offset)
    }

    /// The guard of `accesses` accesses.
    fn guard(&mut self, mask: Option<ValueId>, accesses: usize) -> Result<Option<Guard>, Fail> {
        let Some(mask) = mask else { return Ok(None) };
        let mut atoms = self.get(mask)?;
        if atoms.len() == 1 {
            atoms.resize(accesses, atoms[0]);
        }
        if atoms.len() != accesses {
            return fail(format!("{} masks for {accesses} accesses", atoms.len()));
        }
        let preds = atoms
            .into_iter()
            .map(|atom| match atom {
                Atom::Imm(bits) if bits & 1 == 1 => Ok(None),
                other => self.b.register(Class::Pred, other).map(Some),
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(preds.iter().any(Option::is_some).then_some(Guard {
            preds,
            negate: false,
        }))
    }

    /// How a value of `form` lies in memory: i1 as bytes of 0 or 1.
    fn memory_form(form: Form) -> Form {
        match form.elem {
            Elem::Int(1) => Form::new(Elem::Int(8), form.n),
            _ => form,
        }
    }

    fn load(&mut self, op: &Op) -> Result<(), Fail> {
        self.read(op, |_, access| {
            let name = access_name(op, "ld", &[Ordering::Relaxed, Ordering::Acquire])?;
            Ok(format!("{name}.{}", access.ty))
        })
    }

    /// A load by the instruction that `name` gives for the accesses of elements.
    pub(super) fn read(
        &mut self,
        op: &Op,
        name: impl FnOnce(Elem, &Access) -> Result<String, Fail>,
    ) -> Result<(), Fail> {
        let form = self.result_form(op)?;
        let memory = Self::memory_form(form);
        let (vec, offsets) = (int(op, "vec")?.max(1) as usize, ints(op, "offsets")?);
        if vec * offsets.len() != form.n {
            return fail("'vec' and 'offsets' do not fit the type");
        }
        let access = Access::of(memory.elem.bits(), vec)?;
        let insn = self.b.insn(&name(form.elem, &access)?)?;
        let address = self.address(self.operand(op, 0)?, &offsets)?;
        let guard = self.guard(op.optional(1), offsets.len())?;
        let into = match &guard {
            None => None,
            Some(_) => {
                let initial = match op.optional(2) {
                    Some(other) => {
                        let atoms = self.get(other)?;
                        self.words_of(form, memory, vec, &access, atoms)?
                    }
                    None => vec![Atom::Undef; access.words * offsets.len()],
                };
                Some(vec![self.b.copy(access.class, &initial)])
            }
        };
        let loaded = self
            .b
            .emit(insn, offsets.len(), vec![address], guard, into)?
            .concat();
        let value = self.value_of(form, memory, vec, &access, loaded)?;
        self.define(op, vec![value])
    }

    fn store(&mut self, op: &Op) -> Result<(), Fail> {
        self.write(op, |_, access| {
            let name = access_name(op, "st", &[Ordering::Relaxed, Ordering::Release])?;
            Ok(format!("{name}.{}", access.ty))
        })
    }

    /// A store by the instruction that `name` gives for the accesses of elements.
    pub(super) fn write(
        &mut self,
        op: &Op,
        name: impl FnOnce(Elem, &Access) -> Result<String, Fail>,
    ) -> Result<(), Fail> {
        let value = self.operand(op, 1)?;
        let form = self.form(value)?;
        let memory = Self::memory_form(form);
        let (vec, offsets) = (int(op, "vec")?.max(1) as usize, ints(op, "offsets")?);
        if vec * offsets.len() != form.n {
            return fail("'vec' and 'offsets' do not fit the type");
        }
        let access = Access::of(memory.elem.bits(), vec)?;
        let insn = self.b.insn(&name(form.elem, &access)?)?;
        let address = self.address(self.operand(op, 0)?, &offsets)?;
        let atoms = self.get(value)?;
        let words = self.words_of(form, memory, vec, &access, atoms)?;
        let guard = self.guard(op.optional(2), offsets.len())?;
        self.b
            .emit(
                insn,
                offsets.len(),
                vec![address, words.into()],
                guard,
                None,
            )
            .map(|_| ())
    }

    /// A value's registers as the registers of its accesses.
    fn words_of(
        &mut self,
        form: Form,
        memory: Form,
        vec: usize,
        access: &Access,
        atoms: Vec<Atom>,
    ) -> Result<Vec<Atom>, Fail> {
        let atoms = if form == memory {
            atoms
        } else {
            let bytes = self
                .b
                .value("selp.b16", &[&[Atom::Imm(1)], &[Atom::Imm(0)], &atoms])?;
            self.b.pack(memory, &bytes)?
        };
        match (access.class == memory.class, memory.elem.bits(), vec) {
            (true, 8, 2) => self.b.pairs(&atoms),
            (true, _, _) => Ok(atoms),
            (false, 8, 2) => self.b.split(&atoms),
            (false, _, _) => self.b.unpack(memory, &atoms),
        }
    }

    /// The inverse of `words_of`.
    fn value_of(
        &mut self,
        form: Form,
        memory: Form,
        vec: usize,
        access: &Access,
        words: Vec<Atom>,
    ) -> Result<Vec<Atom>, Fail> {
        let atoms = match (access.class == memory.class, memory.elem.bits(), vec) {
            (true, 8, 2) => {
                let high = self.b.value("shr.u16", &[&words, &[Atom::Imm(8)]])?;
                words
                    .into_iter()
                    .zip(high)
                    .flat_map(|(l, h)| [l, h])
                    .collect()
            }
            (true, _, _) => words,
            (false, 8, 2) => self.b.join(&words)?,
            (false, _, _) => self.b.pack(memory, &words)?,
        };
        if form == memory {
            return Ok(atoms);
        }
        let bytes = self.b.unpack(memory, &atoms)?;
        let bytes = self.b.value("cvt.u16.u8", &[&bytes])?;
        self.b.value("setp.ne.u16", &[&bytes, &[Atom::Imm(0)]])
    }

    fn atomic_name(op: &Op) -> Result<String, Fail> {
        let order = match ordering(op)? {
            Ordering::Weak => Ordering::Relaxed,
            order => order,
        };
        Ok(format!(
            "atom.{}.{}{}",
            order.text(),
            scope(op)?,
            space(op)?
        ))
    }

    fn atomic(&mut self, op: &Op) -> Result<(), Fail> {
        let form = self.result_form(op)?;
        let bits = form.elem.bits();
        let float = form.elem;
        let Some(mode) = RmwMode::of(enumeration(op, "mode")?) else {
            return fail("unknown atomic operation");
        };
        let action = match mode {
            RmwMode::And => format!("and.b{bits}"),
            RmwMode::Or => format!("or.b{bits}"),
            RmwMode::Xor => format!("xor.b{bits}"),
            RmwMode::Add => format!("add.u{bits}"),
            RmwMode::AddF if bits == 16 => format!("add.noftz.{float}"),
            RmwMode::AddF => format!("add.{float}"),
            RmwMode::Max => format!("max.s{bits}"),
            RmwMode::Min => format!("min.s{bits}"),
            RmwMode::MaxU => format!("max.u{bits}"),
            RmwMode::MinU => format!("min.u{bits}"),
            RmwMode::Exchange => format!("exch.b{bits}"),
        };
        let name = format!("{}.{action}", Self::atomic_name(op)?);
        self.atomic_access(op, &name, &[1], [2, 3])
    }

    fn compare_and_swap(&mut self, op: &Op) -> Result<(), Fail> {
        let bits = self.result_form(op)?.elem.bits();
        let name = format!("{}.cas.b{bits}", Self::atomic_name(op)?);
        self.atomic_access(op, &name, &[1, 2], [3, 4])
    }

    fn atomic_access(
        &mut self,
        op: &Op,
        name: &str,
        values: &[usize],
        [mask, other]: [usize; 2],
    ) -> Result<(), Fail> {
        let form = self.result_form(op)?;
        let offsets = ints(op, "offsets")?;
        if offsets.len() != form.n {
            return fail("'offsets' do not fit the type");
        }
        let insn = self.b.insn(name)?;
        let mut operands = vec![self.address(self.operand(op, 0)?, &offsets)?];
        for &group in values {
            let value = self.operand(op, group)?;
            operands.push(self.elements(value)?.into());
        }
        let guard = self.guard(op.optional(mask), form.n)?;
        let into = match (&guard, op.optional(other)) {
            (None, _) => None,
            (Some(_), other) => {
                let initial = match other {
                    Some(other) => self.elements(other)?,
                    None => vec![Atom::Undef; form.n],
                };
                Some(vec![self.b.copy(form.elem_class(), &initial)])
            }
        };
        let old = self.b.emit(insn, form.n, operands, guard, into)?.concat();
        let value = self.b.pack(form, &old)?;
        self.define(op, vec![value])
    }

    fn cp_async(&mut self, op: &Op) -> Result<(), Fail> {
        let bytes = int(op, "bytes")?;
        let row = match bytes {
            16 => "@cp.async.cg",
            8 => "@cp.async.ca8",
            4 => "@cp.async.ca4",
            _ => return fail(format!("an asynchronous copy of {bytes} bytes")),
        };
        let dst = self.address(self.operand(op, 0)?, &ints(op, "dst_offsets")?)?;
        let src = self.address(self.operand(op, 1)?, &ints(op, "src_offsets")?)?;
        let copies = dst.atoms.len();
        if src.atoms.len() != copies {
            return fail("source and destination differ in their number of accesses");
        }
        let guard = self.guard(op.optional(3), copies)?;
        let Some(read) = op.optional(2) else {
            let insn = self.b.insn(row)?;
            let operands = vec![dst, src];
            return self.b.emit(insn, copies, operands, guard, None).map(|_| ());
        };
        let mut read = self.get(read)?;
        if let [one] = read[..] {
            read.resize(copies, one);
        }
        if read.len() != copies {
            return fail(format!("{} sizes for {copies} copies", read.len()));
        }
        let insn = self.b.insn(&format!("{row}.zfill"))?;
        let operands = vec![dst, src, read.into()];
        self.b.emit(insn, copies, operands, guard, None).map(|_| ())
    }

    fn matrix_name(&self, op: &Op, stem: &str) -> Result<(String, usize), Fail> {
        let num = int(op, "num")?;
        let trans = if op.has_unit("trans") { ".trans" } else { "" };
        Ok((
            format!("{stem}.sync.aligned.m8n8.x{num}{trans}.shared.b16"),
            num.max(1) as usize,
        ))
    }

    fn ldmatrix(&mut self, op: &Op) -> Result<(), Fail> {
        let form = self.result_form(op)?;
        let offsets = ints(op, "offsets")?;
        let (name, num) = self.matrix_name(op, "ldmatrix")?;
        let address = self.address(self.operand(op, 0)?, &offsets)?;
        let words = self.b.op(&name, offsets.len(), vec![address])?.concat();
        if words.len() != num * offsets.len() {
            return fail("'num' is not 1, 2 or 4");
        }
        let whole = Form::new(Elem::Int(32), words.len());
        let value = self.bitcast(whole, form, words)?;
        self.define(op, vec![value])
    }

    fn stmatrix(&mut self, op: &Op) -> Result<(), Fail> {
        let value = self.operand(op, 1)?;
        let offsets = ints(op, "offsets")?;
        let (name, _) = self.matrix_name(op, "stmatrix")?;
        let address = self.address(self.operand(op, 0)?, &offsets)?;
        let form = self.form(value)?;
        let atoms = self.get(value)?;
        let words = self.b.split_words(form, &atoms)?;
        self.b
            .op(&name, offsets.len(), vec![address, words.into()])
            .map(|_| ())
    }

    /// A shared address for a slot of one access.
    pub(super) fn one_address(&self, addr: ValueId) -> Result<Operand, Fail> {
        self.address(addr, &[0])
    }

    /// Registers of every atom, for operands that are written in place.
    pub(super) fn in_place(&mut self, class: Class, atoms: &[Atom]) -> Vec<VReg> {
        self.b.copy(class, atoms)
    }
}
