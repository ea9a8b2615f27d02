//! Emitting what the selection tables chose for an operation.

use smallvec::SmallVec;

use super::build::{Fail, fail};
use super::select::{Selector, int};
use super::table::row::{End, Expr, Shape};
use super::values::{Elem, Form};
use crate::dialect::Traits;
use crate::dialect::nvvm::Op as N;
use crate::facts::Leaf;
use crate::ir::Op;
use crate::machine::mir::Atom;

/// Whether the first two operands may change places.
fn commutes(kind: N, op: &Op) -> bool {
    op.def().traits.has(Traits::COMMUTATIVE) || matches!(kind, N::Mad | N::MadWideS | N::MadWideU)
}

impl Selector<'_> {
    /// Selects an operation without effect that computes: the registers of its result.
    pub(super) fn computed(&mut self, kind: N, op: &Op) -> Result<Vec<Atom>, Fail> {
        let mut operands = op.operands.clone();
        if commutes(kind, op) && operands.len() >= 2 && is_constant(&self.get(operands[0])?) {
            // Instructions take a constant as their second operand.
            operands.swap(0, 1);
        }
        let forms = operands.iter().map(|&v| self.form(v));
        let forms = forms.collect::<Result<SmallVec<[Form; 3]>, _>>()?;
        let result = self.result_form(op)?;
        let attrs: SmallVec<[Leaf; 4]> = op.attrs.iter().map(|a| Leaf::from(a.as_ref())).collect();
        let Some(choice) = self.chooser.choose(op.kind, &attrs, &forms, result) else {
            return fail(self.chooser.refusal(op.kind, &attrs, &forms, result));
        };
        let candidate = &choice.candidate;
        let mut sources = Vec::with_capacity(operands.len());
        for ((&value, &shape), &form) in operands.iter().zip(&candidate.operands).zip(&forms) {
            let atoms = self.get(value)?;
            sources.push(self.b.reshape(form, shape, atoms)?);
        }
        let atoms = self.evaluate(&candidate.expr, op, &sources)?;
        self.b.restore(candidate.result, result, atoms)
    }

    fn evaluate(&mut self, expr: &Expr, op: &Op, sources: &[Vec<Atom>]) -> Result<Vec<Atom>, Fail> {
        let source = |i: usize| match sources.get(i) {
            Some(atoms) => Ok(atoms.as_slice()),
            None => fail("the selection table names an operand that there is none of"),
        };
        match expr {
            Expr::Operand(i) => Ok(source(*i)?.to_vec()),
            Expr::Lane { operand, lane, of } => {
                let atoms = source(*operand)?;
                let mut lanes: Vec<Atom> = atoms.iter().skip(*lane).step_by(*of).copied().collect();
                lanes.resize(atoms.len().div_ceil(*of), Atom::Imm(0));
                Ok(lanes)
            }
            Expr::Imm(value) => Ok(vec![Atom::Imm(*value)]),
            Expr::Attr(name) => Ok(vec![Atom::Imm(int(op, name)? as u64)]),
            Expr::Kept { attr, from } => {
                let Some(&first) = op.operands.first() else {
                    return fail(
                        "the selection table asks for an operand's bits that there is none of",
                    );
                };
                let bits = self.form(first)?.elem.stored();
                Ok(vec![Atom::Imm(kept(bits, int(op, attr)?, *from))])
            }
            Expr::Insn(name, args) => {
                let args = args.iter().map(|arg| self.evaluate(arg, op, sources));
                let args = args.collect::<Result<Vec<_>, _>>()?;
                let args: Vec<&[Atom]> = args.iter().map(Vec::as_slice).collect();
                self.b.folded(name, &args)
            }
            Expr::Interleave(args) => {
                let parts = args.iter().map(|arg| self.evaluate(arg, op, sources));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                let rows = parts.first().map_or(0, Vec::len);
                let row = |i: usize| parts.iter().filter_map(move |p| p.get(i).copied());
                Ok((0..rows).flat_map(row).collect())
            }
        }
    }

    pub(super) fn pointer_add(&mut self, op: &Op) -> Result<Vec<Atom>, Fail> {
        let (base, offset) = (self.operand(op, 0)?, self.operand(op, 1)?);
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

    /// One condition per element; packed registers are chosen whole where their conditions agree,
    /// which the types do not tell: hence no row of the tables.
    pub(super) fn select(&mut self, op: &Op) -> Result<Vec<Atom>, Fail> {
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
            let not = self.b.folded("not.pred", &[&conditions])?;
            let a = self.b.folded("and.pred", &[&a, &conditions])?;
            let b = self.b.folded("and.pred", &[&b, &not])?;
            return self.b.folded("or.pred", &[&a, &b]);
        }
        let agree = |group: &[Atom]| group.iter().all(|c| *c == group[0]);
        if conditions.chunks(form.per).all(agree) {
            let conditions: Vec<Atom> = conditions.chunks(form.per).map(|g| g[0]).collect();
            let name = format!("selp.b{}", form.class.bits());
            return self.b.value(&name, &[&a, &b, &conditions]);
        }
        let (a, b) = (self.b.unpack(form, &a)?, self.b.unpack(form, &b)?);
        let picked = self.b.value("selp.b16", &[&a, &b, &conditions])?;
        self.b.pack(form, &picked)
    }
}

impl super::build::Builder<'_> {
    /// The registers of a value in the shape an instruction works on.
    fn reshape(&mut self, form: Form, shape: Shape, atoms: Vec<Atom>) -> Result<Vec<Atom>, Fail> {
        match (form.per, shape.per) {
            (a, b) if a == b => Ok(atoms),
            (_, 1) => self.unpack(form, &atoms),
            (4, 2) => self.split(&atoms),
            (1, 2) if form.elem.stored() == 8 => self.pairs(&atoms),
            _ => fail("a value cannot be brought into the shape of an instruction's operand"),
        }
    }

    /// The inverse: what an instruction yields as the registers of a value.
    fn restore(&mut self, shape: Shape, form: Form, atoms: Vec<Atom>) -> Result<Vec<Atom>, Fail> {
        let mut elements = match (shape.per, form.per) {
            (a, b) if a == b => return Ok(atoms),
            (1, _) => return self.pack(form, &atoms),
            (2, 4) => return self.join(&atoms),
            (2, 1) if form.elem.stored() == 8 => self.unpair(&atoms)?,
            (2, 1) => self.split(&atoms)?,
            _ => return fail("what an instruction yields does not fit the value's registers"),
        };
        elements.truncate(form.n);
        Ok(elements)
    }

    /// The bytes of 16-bit registers; the high half of a register is unspecified.
    fn unpair(&mut self, pairs: &[Atom]) -> Result<Vec<Atom>, Fail> {
        let high = self.value("shr.u16", &[pairs, &[Atom::Imm(8)]])?;
        let bytes = pairs.iter().zip(high).flat_map(|(&low, high)| [low, high]);
        Ok(bytes.collect())
    }

    /// Bytes in 16-bit registers, two per register.
    pub fn pairs(&mut self, bytes: &[Atom]) -> Result<Vec<Atom>, Fail> {
        let low: Vec<Atom> = bytes.iter().step_by(2).copied().collect();
        let mut high: Vec<Atom> = bytes.iter().skip(1).step_by(2).copied().collect();
        high.resize(low.len(), Atom::Imm(0));
        let low = self.folded("and.b16", &[&low, &[Atom::Imm(0xff)]])?;
        let high = self.folded("shl.b16", &[&high, &[Atom::Imm(8)]])?;
        self.folded("or.b16", &[&low, &high])
    }
}

/// Whether no register is among the atoms.
fn is_constant(atoms: &[Atom]) -> bool {
    atoms.iter().all(|a| matches!(a, Atom::Imm(_)))
}

/// In each element of so many `bits` of a 32-bit register, all of them but `by` from an end.
fn kept(bits: u32, by: i64, from: End) -> u64 {
    let all = u32::MAX >> (32 - bits.clamp(1, 32));
    let by = u32::try_from(by).unwrap_or(bits);
    let each = match from {
        End::Low => all.checked_shl(by).unwrap_or(0) & all,
        End::High => all.checked_shr(by).unwrap_or(0),
    };
    let places = (0..32).step_by(bits.clamp(1, 32) as usize);
    places.fold(0, |mask, at| mask | u64::from(each) << at)
}

#[cfg(test)]
mod tests {
    use super::{End, kept};

    #[test]
    fn masks_keep_the_bits_of_each_element_that_a_shift_keeps() {
        assert_eq!(kept(16, 3, End::Low), 0xfff8_fff8);
        assert_eq!(kept(16, 3, End::High), 0x1fff_1fff);
        assert_eq!(kept(8, 4, End::High), 0x0f0f_0f0f);
        assert_eq!(kept(8, 9, End::Low), 0);
        assert_eq!(kept(32, 0, End::Low), 0xffff_ffff);
    }
}
