//! Operations without effect, one register array at a time: integers, comparisons, selections.

use super::build::{Fail, fail};
use super::mir::Atom;
use super::select::{Selector, enumeration, int};
use super::values::{Elem, Form};
use crate::dialect::Traits;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Op, ValueId};

/// Names of the comparison predicates, in the order of `enums::CMP_PREDICATE`.
pub(super) const COMPARE: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];

impl Selector<'_> {
    /// Selects an operation without effect: the registers of its result.
    pub(super) fn pure(&mut self, kind: N, op: &Op) -> Result<Vec<Atom>, Fail> {
        if let Some(atoms) = self.structural(kind, op)? {
            return Ok(atoms);
        }
        match kind {
            N::PtrAdd => self.pointer_add(op),
            N::Mad
            | N::MulWideS
            | N::MulWideU
            | N::MadWideS
            | N::MadWideU
            | N::Lop3
            | N::ShfL
            | N::ShfR
            | N::ICmpAnd
            | N::ICmpOr => self.fused(kind, op),
            N::ICmp => self.compare_integers(op),
            N::Select => self.select(op),
            N::Trunc | N::ZExt | N::SExt | N::SIToF | N::UIToF | N::FToSI | N::FToUI | N::FToF => {
                self.convert(kind, op)
            }
            _ => match self.result_form(op)?.elem {
                Elem::Float(f) if !matches!(kind, N::And | N::Or | N::Xor) => {
                    self.float(kind, op, f)
                }
                _ if kind == N::FCmp => self.compare_floats(op),
                Elem::Int(1) => self.logic(kind, op),
                _ => self.integer(kind, op),
            },
        }
    }

    /// The forms that rules introduce: one instruction each.
    fn fused(&mut self, kind: N, op: &Op) -> Result<Vec<Atom>, Fail> {
        let bits = self.form(self.operand(op, 0)?)?.elem.bits();
        let name = match kind {
            N::Mad => format!("mad.lo.s{bits}"),
            N::MulWideS => format!("mul.wide.s{bits}"),
            N::MulWideU => format!("mul.wide.u{bits}"),
            N::MadWideS => format!("mad.wide.s{bits}"),
            N::MadWideU => format!("mad.wide.u{bits}"),
            N::Lop3 => format!("lop3.b{bits}"),
            N::ShfL => "shf.l.wrap.b32".into(),
            N::ShfR => "shf.r.wrap.b32".into(),
            _ => {
                let Some(predicate) = COMPARE.get(enumeration(op, "predicate")? as usize) else {
                    return fail("unknown comparison");
                };
                let sign = ["u", "s"][usize::from(enumeration(op, "signedness")? == 1)];
                let also = if kind == N::ICmpAnd { "and" } else { "or" };
                format!("setp.{predicate}.{also}.{sign}{bits}")
            }
        };
        let mut operands = Vec::new();
        for &value in &op.operands {
            operands.push(self.get(value)?);
        }
        if matches!(
            kind,
            N::Mad | N::MulWideS | N::MulWideU | N::MadWideS | N::MadWideU
        ) && is_constant(&operands[0])
        {
            operands.swap(0, 1);
        }
        if kind == N::Lop3 {
            operands.push(vec![Atom::Imm(int(op, "table")? as u64)]);
        }
        let slices: Vec<&[Atom]> = operands.iter().map(Vec::as_slice).collect();
        self.b.value(&name, &slices)
    }

    fn binary(&self, op: &Op) -> Result<(ValueId, ValueId), Fail> {
        Ok((self.operand(op, 0)?, self.operand(op, 1)?))
    }

    fn pointer_add(&mut self, op: &Op) -> Result<Vec<Atom>, Fail> {
        let (base, offset) = self.binary(op)?;
        let form = self.form(base)?;
        let (base, offset) = (self.get(base)?, self.get(offset)?);
        if base.len() != offset.len() {
            return fail("base and offset differ in their register counts");
        }
        let folded = base.iter().zip(&offset).map(|pair| match pair {
            (Atom::Shared(a), Atom::Imm(b)) => Some(Atom::Shared(a + i64::from(*b as u32 as i32))),
            (base, Atom::Imm(0)) => Some(*base),
            _ => None,
        });
        if let Some(folded) = folded.collect::<Option<Vec<_>>>() {
            return Ok(folded);
        }
        let name = match form.elem {
            Elem::Shared => "add.s32",
            _ => "add.s64",
        };
        let sums = self.b.value(name, &[&base, &offset])?;
        for ((sum, base), offset) in sums.iter().zip(&base).zip(&offset) {
            if let (Atom::Reg(sum), Atom::Imm(offset)) = (sum, offset) {
                let offset = match form.elem {
                    Elem::Shared => i64::from(*offset as u32 as i32),
                    _ => *offset as i64,
                };
                self.offsets.insert(*sum, (*base, offset));
            }
        }
        Ok(sums)
    }

    /// Elements widened to 16 bits where they have 8: the registers' high halves are unspecified.
    pub(super) fn widened(
        &mut self,
        form: Form,
        elements: Vec<Atom>,
        signed: bool,
    ) -> Result<Vec<Atom>, Fail> {
        if form.elem.bits() != 8 {
            return Ok(elements);
        }
        let immediate = elements.iter().map(|a| match *a {
            Atom::Imm(bits) if signed => Some(Atom::Imm(bits as u8 as i8 as i16 as u16 as u64)),
            Atom::Imm(bits) => Some(Atom::Imm(bits & 0xff)),
            _ => None,
        });
        if let Some(known) = immediate.collect::<Option<Vec<_>>>() {
            return Ok(known);
        }
        let name = if signed { "cvt.s16.s8" } else { "cvt.u16.u8" };
        self.b.value(name, &[&elements])
    }

    fn integer(&mut self, kind: N, op: &Op) -> Result<Vec<Atom>, Fail> {
        let source = self.operand(op, 0)?;
        let form = self.form(source)?;
        if matches!(kind, N::And | N::Or | N::Xor) {
            let (lhs, rhs) = self.binary(op)?;
            let name = format!("{}.b{}", op.def().name, form.class.bits());
            let (mut lhs, mut rhs) = (self.get(lhs)?, self.get(rhs)?);
            if is_constant(&lhs) {
                std::mem::swap(&mut lhs, &mut rhs);
            }
            return self.without_zeros(kind, &name, &lhs, &rhs);
        }
        let bits = form.elem.bits().max(16);
        let (stem, signed, widen) = match kind {
            N::Add => ("add.s", true, false),
            N::Sub => ("sub.s", true, false),
            N::Mul => ("mul.lo.s", true, false),
            N::MulHi => ("mul.hi.u", false, true),
            N::MulHiS => ("mul.hi.s", true, true),
            N::DivS => ("div.s", true, true),
            N::DivU => ("div.u", false, true),
            N::RemS => ("rem.s", true, true),
            N::RemU => ("rem.u", false, true),
            N::MinS => ("min.s", true, true),
            N::MinU => ("min.u", false, true),
            N::MaxS => ("max.s", true, true),
            N::MaxU => ("max.u", false, true),
            N::Shl => ("shl.b", false, false),
            N::ShrS => ("shr.s", true, true),
            N::ShrU => ("shr.u", false, true),
            N::Abs => ("abs.s", true, true),
            N::Popc => ("popc.b", false, true),
            N::Clz => ("clz.b", false, true),
            _ => return fail("no integer operation"),
        };
        let name = format!("{stem}{bits}");
        let mut lhs = self.elements(source)?;
        if widen {
            lhs = self.widened(form, lhs, signed)?;
        }
        let elements = match kind {
            N::Abs => self.b.value(&name, &[&lhs])?,
            N::Popc | N::Clz => return self.count_bits(kind, form, lhs),
            N::Shl | N::ShrS | N::ShrU => {
                let amount = self.operand(op, 1)?;
                let amount = self.shift_amounts(amount)?;
                self.b.value(&name, &[&lhs, &amount])?
            }
            _ => {
                let rhs = self.operand(op, 1)?;
                let mut rhs = self.elements(rhs)?;
                if widen {
                    rhs = self.widened(form, rhs, signed)?;
                }
                if op.def().traits.has(Traits::COMMUTATIVE) && is_constant(&lhs) {
                    // Instructions take a constant as their second operand.
                    std::mem::swap(&mut lhs, &mut rhs);
                }
                if form.elem.bits() == 8 && matches!(kind, N::MulHi | N::MulHiS) {
                    let product = self.b.value("mul.lo.s16", &[&lhs, &rhs])?;
                    self.b.value("shr.u16", &[&product, &[Atom::Imm(8)]])?
                } else {
                    self.without_zeros(kind, &name, &lhs, &rhs)?
                }
            }
        };
        self.b.pack(form, &elements)
    }

    /// `name`, but not where the right operand is a 0 that changes nothing: arrays of offsets and
    /// swizzles often start with one.
    fn without_zeros(
        &mut self,
        kind: N,
        name: &str,
        lhs: &[Atom],
        rhs: &[Atom],
    ) -> Result<Vec<Atom>, Fail> {
        let neutral = matches!(kind, N::Add | N::Sub | N::Or | N::Xor);
        if !neutral || lhs.len() != rhs.len() || !rhs.contains(&Atom::Imm(0)) {
            return self.b.value(name, &[lhs, rhs]);
        }
        self.fold_logic(name, lhs, rhs, |a, b| (b == Atom::Imm(0)).then_some(a))
    }

    /// Shift amounts as 32-bit registers; those of 64 bits saturate.
    fn shift_amounts(&mut self, amount: ValueId) -> Result<Vec<Atom>, Fail> {
        let form = self.form(amount)?;
        let elements = self.elements(amount)?;
        if let Some(known) = elements
            .iter()
            .map(|a| match a {
                Atom::Imm(bits) => Some(Atom::Imm((*bits).min(64))),
                _ => None,
            })
            .collect::<Option<Vec<_>>>()
        {
            return Ok(known);
        }
        match form.elem.bits() {
            8 => self.b.value("cvt.u32.u8", &[&elements]),
            16 => self.b.value("cvt.u32.u16", &[&elements]),
            32 => Ok(elements),
            _ => self.b.value("cvt.sat.u32.u64", &[&elements]),
        }
    }

    fn count_bits(&mut self, kind: N, form: Form, elements: Vec<Atom>) -> Result<Vec<Atom>, Fail> {
        let stem = if kind == N::Popc { "popc" } else { "clz" };
        let bits = form.elem.bits();
        let counted = match bits {
            64 => {
                let count = self.b.value(&format!("{stem}.b64"), &[&elements])?;
                return self.b.value("cvt.u64.u32", &[&count]);
            }
            32 => return self.b.value(&format!("{stem}.b32"), &[&elements]),
            _ => {
                let wide = self.b.value("cvt.u32.u16", &[&elements])?;
                self.b.value(&format!("{stem}.b32"), &[&wide])?
            }
        };
        let counted = match kind {
            N::Clz => self
                .b
                .value("sub.s32", &[&counted, &[Atom::Imm(u64::from(32 - bits))]])?,
            _ => counted,
        };
        let narrow = self.b.value("cvt.u16.u32", &[&counted])?;
        self.b.pack(form, &narrow)
    }

    /// Logic on predicates; `add` and `sub` are `xor`, `mul` is `and`.
    fn logic(&mut self, kind: N, op: &Op) -> Result<Vec<Atom>, Fail> {
        let (lhs, rhs) = self.binary(op)?;
        let (lhs, rhs) = (self.get(lhs)?, self.get(rhs)?);
        match kind {
            N::And | N::Mul | N::MinU | N::MaxS => self.and(&lhs, &rhs),
            N::Or | N::MaxU | N::MinS => self.or(&lhs, &rhs),
            N::Xor | N::Add | N::Sub => self.xor(&lhs, &rhs),
            _ => fail("not defined for i1"),
        }
    }

    /// Conjunction, with constants folded.
    pub(super) fn and(&mut self, lhs: &[Atom], rhs: &[Atom]) -> Result<Vec<Atom>, Fail> {
        self.fold_logic("and.pred", lhs, rhs, |a, b| match (a, b) {
            (Atom::Imm(0), _) | (_, Atom::Imm(0)) => Some(Atom::Imm(0)),
            (Atom::Imm(_), x) | (x, Atom::Imm(_)) => Some(x),
            _ => (a == b).then_some(a),
        })
    }

    fn or(&mut self, lhs: &[Atom], rhs: &[Atom]) -> Result<Vec<Atom>, Fail> {
        self.fold_logic("or.pred", lhs, rhs, |a, b| match (a, b) {
            (Atom::Imm(0), x) | (x, Atom::Imm(0)) => Some(x),
            (Atom::Imm(_), _) | (_, Atom::Imm(_)) => Some(Atom::Imm(1)),
            _ => (a == b).then_some(a),
        })
    }

    fn xor(&mut self, lhs: &[Atom], rhs: &[Atom]) -> Result<Vec<Atom>, Fail> {
        if let Some(Atom::Imm(1)) = rhs.first()
            && rhs.iter().all(|a| *a == Atom::Imm(1))
        {
            return self.not(lhs);
        }
        self.fold_logic("xor.pred", lhs, rhs, |a, b| match (a, b) {
            (Atom::Imm(x), Atom::Imm(y)) => Some(Atom::Imm((x ^ y) & 1)),
            (Atom::Imm(0), x) | (x, Atom::Imm(0)) => Some(x),
            _ => None,
        })
    }

    /// Negation of predicates.
    pub(super) fn not(&mut self, source: &[Atom]) -> Result<Vec<Atom>, Fail> {
        let known = source.iter().map(|a| match a {
            Atom::Imm(x) => Some(Atom::Imm(!x & 1)),
            _ => None,
        });
        match known.collect::<Option<Vec<_>>>() {
            Some(known) => Ok(known),
            None => self.b.value("not.pred", &[source]),
        }
    }

    /// `name` on the pairs that `fold` cannot answer.
    fn fold_logic(
        &mut self,
        name: &str,
        lhs: &[Atom],
        rhs: &[Atom],
        fold: impl Fn(Atom, Atom) -> Option<Atom>,
    ) -> Result<Vec<Atom>, Fail> {
        if lhs.len() != rhs.len() {
            return fail("operands differ in their register counts");
        }
        let mut out: Vec<Option<Atom>> = lhs.iter().zip(rhs).map(|(&a, &b)| fold(a, b)).collect();
        let open: Vec<usize> = (0..out.len()).filter(|&i| out[i].is_none()).collect();
        if !open.is_empty() {
            let pick = |from: &[Atom]| open.iter().map(|&i| from[i]).collect::<Vec<_>>();
            let computed = self.b.value(name, &[&pick(lhs), &pick(rhs)])?;
            for (i, atom) in open.into_iter().zip(computed) {
                out[i] = Some(atom);
            }
        }
        Ok(out.into_iter().map(|a| a.unwrap_or(Atom::Undef)).collect())
    }

    fn compare_integers(&mut self, op: &Op) -> Result<Vec<Atom>, Fail> {
        let (lhs, rhs) = self.binary(op)?;
        let form = self.form(lhs)?;
        let case = enumeration(op, "predicate")? as usize;
        let Some(&predicate) = COMPARE.get(case) else {
            return fail("unknown comparison");
        };
        let signed = enumeration(op, "signedness")? == 1;
        let (lhs, rhs) = (self.elements(lhs)?, self.elements(rhs)?);
        if form.elem == Elem::Int(1) {
            return self.compare_predicates(predicate, signed, lhs, rhs);
        }
        let lhs = self.widened(form, lhs, signed)?;
        let rhs = self.widened(form, rhs, signed)?;
        let sign = if signed { 's' } else { 'u' };
        let bits = form.elem.bits().max(16);
        self.b
            .value(&format!("setp.{predicate}.{sign}{bits}"), &[&lhs, &rhs])
    }

    /// Comparisons of i1, where true is 1 unsigned and -1 signed.
    fn compare_predicates(
        &mut self,
        predicate: &str,
        signed: bool,
        lhs: Vec<Atom>,
        rhs: Vec<Atom>,
    ) -> Result<Vec<Atom>, Fail> {
        let (a, b) = if signed { (rhs, lhs) } else { (lhs, rhs) };
        match predicate {
            "eq" => {
                let differ = self.xor(&a, &b)?;
                self.not(&differ)
            }
            "ne" => self.xor(&a, &b),
            "lt" => {
                let not = self.not(&a)?;
                self.and(&not, &b)
            }
            "gt" => {
                let not = self.not(&b)?;
                self.and(&a, &not)
            }
            "le" => {
                let not = self.not(&a)?;
                self.or(&not, &b)
            }
            _ => {
                let not = self.not(&b)?;
                self.or(&a, &not)
            }
        }
    }

    fn select(&mut self, op: &Op) -> Result<Vec<Atom>, Fail> {
        let condition = self.operand(op, 0)?;
        let (then, other) = (self.operand(op, 1)?, self.operand(op, 2)?);
        let form = self.form(then)?;
        let mut conditions = self.get(condition)?;
        if conditions.len() == 1 {
            conditions.resize(form.n, conditions[0]);
        }
        if conditions.len() != form.n {
            return fail("condition and values differ in their register counts");
        }
        let (a, b) = (self.get(then)?, self.get(other)?);
        if form.elem == Elem::Int(1) {
            let not = self.not(&conditions)?;
            let a = self.and(&a, &conditions)?;
            let b = self.and(&b, &not)?;
            return self.or(&a, &b);
        }
        let whole = conditions
            .chunks(form.per)
            .all(|group| group.iter().all(|c| *c == group[0]));
        let name = |bits: u32| format!("selp.b{bits}");
        if whole {
            let conditions: Vec<Atom> = conditions.chunks(form.per).map(|g| g[0]).collect();
            return self
                .b
                .value(&name(form.class.bits()), &[&a, &b, &conditions]);
        }
        let (a, b) = (self.b.unpack(form, &a)?, self.b.unpack(form, &b)?);
        let picked = self.b.value(&name(16), &[&a, &b, &conditions])?;
        self.b.pack(form, &picked)
    }
}

/// Whether no register is among the atoms.
fn is_constant(atoms: &[Atom]) -> bool {
    atoms.iter().all(|a| matches!(a, Atom::Imm(_)))
}
