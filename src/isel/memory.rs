//! Loads, stores, atomics, asynchronous copies and matrix loads.

mod manner;

use super::build::{Fail, fail};
use super::select::Selector;
use super::values::{Elem, Form};
use crate::dialect::enums::{Ordering, RmwMode, Scope, Space};
use crate::dialect::nvvm::view::{self, View};
use crate::ir::{Float, Op, ValueId};
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Guard, Operand, VReg};
pub(super) use manner::{Access, floats, scope};
use manner::{Manner, space};

/// The accesses of a load or store: `vec` elements each, at an address plus each of the offsets.
pub(super) struct Accesses<'a> {
    pub address: ValueId,
    pub vec: i64,
    pub offsets: &'a [i64],
    pub mask: Option<ValueId>,
}

/// The accesses of an operation by its view.
macro_rules! accesses {
    ($v:expr) => {
        &crate::isel::memory::Accesses {
            address: $v.addr(),
            vec: $v.vec(),
            offsets: $v.offsets(),
            mask: $v.mask(),
        }
    };
}
pub(super) use accesses;

/// The manner of a load or store by its view.
macro_rules! manner {
    ($v:expr) => {
        Manner {
            space: $v.space(),
            cache: $v.cache(),
            order: $v.order(),
            scope: $v.scope(),
        }
    };
}

impl Selector<'_> {
    /// An access to memory; `None` for an operation that is none.
    pub(super) fn memory(&mut self, view: &View<Op>) -> Option<Result<(), Fail>> {
        Some(match view {
            View::Ld(v) => self.load(v),
            View::St(v) => self.store(v),
            View::AtomicRmw(v) => self.atomic(v),
            View::AtomicCas(v) => self.compare_and_swap(v),
            View::RedAdd(v) => self.add_vectors(v),
            View::CpAsync(v) => self.cp_async(v),
            View::LdMatrix(v) => self.ldmatrix(v),
            View::StMatrix(v) => self.stmatrix(v),
            View::MultimemLoad(v) => self.multimem_load(v),
            View::MultimemReduce(v) => self.multimem_reduce(v),
            View::MultimemStore(v) => self.multimem_store(v),
            _ => return None,
        })
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

    fn load(&mut self, v: &view::Ld<Op>) -> Result<(), Fail> {
        self.read(v.op(), accesses!(v), v.other(), |_, access| {
            let name = manner!(v).name("ld", &[Ordering::Relaxed, Ordering::Acquire])?;
            Ok(format!("{name}.{}", access.ty))
        })
    }

    /// A load by the instruction that `name` gives for the accesses of elements; `other` is what comes where
    /// the accesses are masked off.
    pub(super) fn read(
        &mut self,
        op: &Op,
        of: &Accesses,
        other: Option<ValueId>,
        name: impl FnOnce(Elem, &Access) -> Result<String, Fail>,
    ) -> Result<(), Fail> {
        let form = self.result_form(op)?;
        let memory = Self::memory_form(form);
        let (vec, accesses) = (of.vec.max(1) as usize, of.offsets.len());
        if vec * accesses != form.n {
            return fail("'vec' and 'offsets' do not fit the type");
        }
        let access = Access::of(memory.elem.bits(), vec)?;
        let insn = self.b.insn(&name(form.elem, &access)?)?;
        let address = self.address(of.address, of.offsets)?;
        let guard = self.guard(of.mask, accesses)?;
        let into = match &guard {
            None => None,
            Some(_) => {
                let initial = match other {
                    Some(other) => {
                        let atoms = self.get(other)?;
                        self.words_of(form, memory, vec, &access, atoms)?
                    }
                    None => vec![Atom::Undef; access.words * accesses],
                };
                Some(vec![self.b.copy(access.class, &initial)])
            }
        };
        let loaded = self.b.emit(insn, accesses, vec![address], guard, into)?;
        let value = self.value_of(form, memory, vec, &access, loaded.concat())?;
        self.define(op, vec![value])
    }

    fn store(&mut self, v: &view::St<Op>) -> Result<(), Fail> {
        self.write(v.value(), accesses!(v), |_, access| {
            let name = manner!(v).name("st", &[Ordering::Relaxed, Ordering::Release])?;
            Ok(format!("{name}.{}", access.ty))
        })
    }

    /// A store by the instruction that `name` gives for the accesses of elements.
    pub(super) fn write(
        &mut self,
        value: ValueId,
        of: &Accesses,
        name: impl FnOnce(Elem, &Access) -> Result<String, Fail>,
    ) -> Result<(), Fail> {
        let form = self.form(value)?;
        let memory = Self::memory_form(form);
        let (vec, accesses) = (of.vec.max(1) as usize, of.offsets.len());
        if vec * accesses != form.n {
            return fail("'vec' and 'offsets' do not fit the type");
        }
        let access = Access::of(memory.elem.bits(), vec)?;
        let insn = self.b.insn(&name(form.elem, &access)?)?;
        let address = self.address(of.address, of.offsets)?;
        let atoms = self.get(value)?;
        let words = self.words_of(form, memory, vec, &access, atoms)?;
        let guard = self.guard(of.mask, accesses)?;
        let operands = vec![address, words.into()];
        self.b
            .emit(insn, accesses, operands, guard, None)
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

    fn atomic(&mut self, v: &view::AtomicRmw<Op>) -> Result<(), Fail> {
        let elem = self.result_form(v.op())?.elem;
        let bits = elem.bits();
        let action = match v.mode() {
            RmwMode::And => format!("and.b{bits}"),
            RmwMode::Or => format!("or.b{bits}"),
            RmwMode::Xor => format!("xor.b{bits}"),
            RmwMode::Add => format!("add.u{bits}"),
            RmwMode::AddF if bits == 16 => format!("add.noftz.{elem}"),
            RmwMode::AddF => format!("add.{elem}"),
            RmwMode::Max => format!("max.s{bits}"),
            RmwMode::Min => format!("min.s{bits}"),
            RmwMode::MaxU => format!("max.u{bits}"),
            RmwMode::MinU => format!("min.u{bits}"),
            RmwMode::Exchange => format!("exch.b{bits}"),
        };
        let name = format!("{}.{action}", atomic_name(v.order(), v.scope(), v.space()));
        let update = Update {
            address: v.addr(),
            offsets: v.offsets(),
            values: &[v.value()],
            mask: v.mask(),
            other: v.other(),
        };
        self.update(v.op(), &name, &update)
    }

    fn add_vectors(&mut self, v: &view::RedAdd<Op>) -> Result<(), Fail> {
        self.write(v.value(), accesses!(v), |elem, access| {
            let Elem::Float(float) = elem else {
                return fail("vectors of integers are added one by one");
            };
            let precision = if float == Float::F32 { "" } else { ".noftz" };
            let (order, scope) = (strong(v.order()).text(), scope(v.scope()));
            let vectors = floats(float, access)?;
            Ok(format!(
                "red.{order}.{scope}.global.add{precision}{vectors}"
            ))
        })
    }

    fn compare_and_swap(&mut self, v: &view::AtomicCas<Op>) -> Result<(), Fail> {
        let bits = self.result_form(v.op())?.elem.bits();
        let name = format!(
            "{}.cas.b{bits}",
            atomic_name(v.order(), v.scope(), v.space())
        );
        let update = Update {
            address: v.addr(),
            offsets: v.offsets(),
            values: &[v.compare(), v.value()],
            mask: v.mask(),
            other: v.other(),
        };
        self.update(v.op(), &name, &update)
    }

    fn update(&mut self, op: &Op, name: &str, u: &Update) -> Result<(), Fail> {
        let form = self.result_form(op)?;
        if u.offsets.len() != form.n {
            return fail("'offsets' do not fit the type");
        }
        let insn = self.b.insn(name)?;
        let mut operands = vec![self.address(u.address, u.offsets)?];
        for &value in u.values {
            operands.push(self.elements(value)?.into());
        }
        let guard = self.guard(u.mask, form.n)?;
        let into = match (&guard, u.other) {
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

    fn cp_async(&mut self, v: &view::CpAsync<Op>) -> Result<(), Fail> {
        let row = match v.bytes() {
            16 => "@cp.async.cg",
            8 => "@cp.async.ca8",
            4 => "@cp.async.ca4",
            bytes => return fail(format!("an asynchronous copy of {bytes} bytes")),
        };
        let dst = self.address(v.dst(), v.dst_offsets())?;
        let src = self.address(v.src(), v.src_offsets())?;
        let copies = dst.atoms.len();
        if src.atoms.len() != copies {
            return fail("source and destination differ in their number of accesses");
        }
        let guard = self.guard(v.mask(), copies)?;
        let Some(read) = v.read() else {
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

    fn ldmatrix(&mut self, v: &view::LdMatrix<Op>) -> Result<(), Fail> {
        let form = self.result_form(v.op())?;
        let name = match v.bytes() {
            true => format!("ldmatrix.sync.aligned.m16n16.x{}.trans.shared.b8", v.num()),
            false => matrix_name("ldmatrix", v.num(), v.trans()),
        };
        let held = v.num().max(1) as usize * (1 + usize::from(v.bytes()));
        let accesses = v.offsets().len();
        let address = self.address(v.addr(), v.offsets())?;
        let words = self.b.op(&name, accesses, vec![address])?.concat();
        if words.len() != held * accesses {
            return fail("no matrix load has so many results");
        }
        let whole = Form::new(Elem::Int(32), words.len());
        let value = self.bitcast(whole, form, words)?;
        self.define(v.op(), vec![value])
    }

    fn stmatrix(&mut self, v: &view::StMatrix<Op>) -> Result<(), Fail> {
        let name = matrix_name("stmatrix", v.num(), v.trans());
        let address = self.address(v.addr(), v.offsets())?;
        let (form, atoms) = (self.form(v.value())?, self.get(v.value())?);
        let words = self.b.split_words(form, &atoms)?;
        let operands = vec![address, words.into()];
        self.b.op(&name, v.offsets().len(), operands).map(|_| ())
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

/// The update of an atomic operation.
struct Update<'a> {
    address: ValueId,
    offsets: &'a [i64],
    values: &'a [ValueId],
    mask: Option<ValueId>,
    /// What the old values are where masked off.
    other: Option<ValueId>,
}

/// The mnemonic of an atomic operation up to its action.
fn atomic_name(order: Ordering, within: Scope, at: Space) -> String {
    format!(
        "atom.{}.{}{}",
        strong(order).text(),
        scope(within),
        space(at)
    )
}

/// The ordering of an atomic access: there is none weaker than relaxed.
fn strong(order: Ordering) -> Ordering {
    match order {
        Ordering::Weak => Ordering::Relaxed,
        order => order,
    }
}

fn matrix_name(stem: &str, num: i64, trans: bool) -> String {
    let trans = if trans { ".trans" } else { "" };
    format!("{stem}.sync.aligned.m8n8.x{num}{trans}.shared.b16")
}
