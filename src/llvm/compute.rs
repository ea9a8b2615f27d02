//! Computations, by the rows of `isel/llvm/*.sel`.

use smallvec::SmallVec;

use super::body::Val;
use super::kernel::{Kernel, fail};
use super::types::{Flavor, Ty};
use crate::dialect::nvvm::{Op as N, view};
use crate::facts::Leaf;
use crate::ir::{Attr, Dense, Op};
use crate::isel::pattern::{Candidate, Case};
use crate::isel::{Expr, Shape};
use crate::isel::{Fail, Form, cases};

impl Kernel<'_, '_> {
    /// The registers of a computation's result; `None` where no row has it.
    pub(super) fn computed(&mut self, op: &Op) -> Result<Option<Vec<Val>>, Fail> {
        let forms = op.operands.iter().map(|&v| self.form(v));
        let forms = forms.collect::<Result<SmallVec<[Form; 3]>, _>>()?;
        let Some(&result) = op.results.first() else {
            return fail("a computation without a result");
        };
        let result = self.form(result)?;
        let rows = self.rows;
        let all = rows.0.candidates(op.kind, &self.cases(op), &forms, result);
        let fits = |row: &Candidate| row.result.per == 1 || row.result.per == result.per;
        let Some(row) = all.into_iter().find(|c| self.is_typed(c) && fits(c)) else {
            return Ok(None);
        };
        let mut sources = Vec::with_capacity(forms.len());
        for ((&value, &shape), &form) in op.operands.iter().zip(&row.operands).zip(&forms) {
            let registers = self.get(value)?;
            let parts = match shape.per == form.per {
                true => registers.to_vec(),
                false if shape.per == 1 => self.unpack(form, &registers),
                false => {
                    return fail("a value cannot be brought into the shape of a row's operand");
                }
            };
            let ty = self.computed_in(shape).unwrap_or(Ty::Int(32));
            sources.push(
                parts
                    .iter()
                    .map(|p| self.body.cast(p, ty))
                    .collect::<Vec<_>>(),
            );
        }
        let each = row.result.per;
        let mut values = Vec::new();
        for i in 0..result.n.div_ceil(each) {
            let value = self.evaluate(&row.expr, &sources, i)?;
            let ty = match each == result.per {
                true => Ty::of_register(result),
                false => Ty::of_element(result.elem),
            };
            values.push(self.body.cast(&value, ty));
        }
        if each != result.per {
            values = self.pack(result, &values);
        }
        Ok(Some(values))
    }

    /// The cases of attributes, and those that only these rows know.
    fn cases(&self, op: &Op) -> SmallVec<[Case<'static>; 4]> {
        let attrs: SmallVec<[Leaf; 4]> = op.attrs.iter().map(|a| Leaf::from(a.as_ref())).collect();
        let mut all = cases(op.kind, &attrs);
        let mut also = |attribute, holds: bool| {
            let case = holds.then_some("present");
            all.push(Case { attribute, case });
        };
        also("modern", self.body.flavor == Flavor::Modern);
        also("small", self.shifts_by_less(op));
        all
    }

    /// Whether an operation shifts by constants below its width.
    fn shifts_by_less(&self, op: &Op) -> bool {
        if !matches!(N::of(op.kind), Some(N::Shl | N::ShrS | N::ShrU)) {
            return false;
        }
        let Some(&[value, amount]) = op.operands.first_chunk() else {
            return false;
        };
        let Some(def) = self.module.def_op(amount).map(|def| self.module.op(def)) else {
            return false;
        };
        let Ok(form) = self.form(value) else {
            return false;
        };
        let size = form.elem.bits().div_ceil(8) as usize;
        let below = |chunk: &[u8]| {
            let amount = chunk.iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b));
            amount < u64::from(form.elem.bits())
        };
        view::Const::of(def).is_some()
            && matches!(def.attr(0), Some(Attr::Dense { data: Dense::Bytes(bytes), .. })
                if bytes.chunks(size).all(below))
    }

    /// The type that a row computes in; the old dialect carries bf16 as bits.
    fn computed_in(&self, shape: Shape) -> Option<Ty> {
        match (Ty::of_arithmetic(shape.elem, shape.per)?, self.body.flavor) {
            (Ty::Bfloat, Flavor::Legacy) => Some(Ty::Int(16)),
            (Ty::Bfloats, Flavor::Legacy) => Some(Ty::Int(32)),
            (ty, _) => Some(ty),
        }
    }

    /// Whether all shapes of a row have types.
    fn is_typed(&self, row: &Candidate) -> bool {
        let mut shapes = row.operands.iter().chain([&row.result]);
        shapes.all(|&shape| self.computed_in(shape).is_some())
    }

    /// The value of a row's right side for register `i` of the result.
    fn evaluate(&mut self, expr: &Expr, sources: &[Vec<Val>], i: usize) -> Result<Val, Fail> {
        let source = |operand: usize, i: usize| match sources.get(operand) {
            Some(all) => match all.get(i).or(all.first()) {
                Some(value) => Ok(value.clone()),
                None => fail("an operand without registers"),
            },
            None => fail("a row names an operand that there is none of"),
        };
        match expr {
            Expr::Operand(operand) => source(*operand, i),
            Expr::Lane { operand, lane, of } => source(*operand, i * of + lane),
            Expr::Insn(name, args) => {
                let mut values = Vec::with_capacity(args.len());
                for arg in args.iter() {
                    values.push(match arg {
                        Expr::Imm(_) => None,
                        arg => Some(self.evaluate(arg, sources, i)?),
                    });
                }
                let Some(ty) = values.iter().flatten().map(|v| v.ty).next() else {
                    return fail("a row's operation has constants only");
                };
                let args: Vec<Val> = args
                    .iter()
                    .zip(values)
                    .map(|(arg, value)| match (arg, value) {
                        (Expr::Imm(bits), None) => self.body.constant(ty, *bits),
                        (_, value) => value.unwrap_or_else(|| Val::undef(ty)),
                    })
                    .collect();
                self.operation(name, &args)
            }
            _ => fail("a row has more than operations on its right side"),
        }
    }

    /// An operation of LLVM's by its name in the rows.
    fn operation(&mut self, name: &str, args: &[Val]) -> Result<Val, Fail> {
        if name.starts_with("llvm.") {
            return self.intrinsic(name, args);
        }
        let (op, suffix) = name.split_once('.').unwrap_or((name, ""));
        match (op, args) {
            ("icmp" | "fcmp", [a, b]) => Ok(self.body.binary(&format!("{op} {suffix}"), a, b)),
            ("select", [c, a, b]) => Ok(self.body.select(c, a, b)),
            ("not", [a]) => {
                let ones = self.body.constant(a.ty, u64::MAX);
                Ok(self.body.binary("xor", a, &ones))
            }
            ("fneg", [a]) => Ok(self.negated(a)),
            // The bits of a bf16 are the upper half of an f32's.
            ("widen", [a]) => {
                let bits = self.body.cast(a, Ty::Int(16));
                let wide = self.body.convert("zext", &bits, Ty::Int(32));
                let by = self.body.constant(Ty::Int(32), 16);
                let bits = self.body.binary("shl", &wide, &by);
                Ok(self.body.cast(&bits, Ty::Float))
            }
            (_, [a, b]) => Ok(self.body.binary(op, a, b)),
            (_, [a]) => {
                let to = self.named_type(suffix)?;
                match to == a.ty {
                    true => Ok(a.clone()),
                    false => Ok(self.body.convert(op, a, to)),
                }
            }
            _ => fail(format!(
                "a row's operation '{name}' has another number of operands"
            )),
        }
    }

    fn named_type(&self, name: &str) -> Result<Ty, Fail> {
        match Shape::parse(name)
            .ok()
            .and_then(|s| Ty::of_arithmetic(s.elem, s.per))
        {
            Some(ty) => Ok(ty),
            None => fail(format!("unknown type '{name}' in a row")),
        }
    }

    /// `NAME`, `NAME=TYPE` where the result's type is not the first operand's; `*` is that type's name.
    fn intrinsic(&mut self, name: &str, args: &[Val]) -> Result<Val, Fail> {
        let Some(first) = args.first().map(|a| a.ty) else {
            return fail("an intrinsic without operands");
        };
        let (name, result) = match name.split_once('=') {
            Some((name, ty)) => (name, self.named_type(ty)?),
            None => (name, first),
        };
        let name = name.replace('*', &first.mangled());
        Ok(self.call(&name, result, args))
    }

    /// The sign flipped. LLVM 7 has no operation for it but a subtraction, which it turns into one.
    fn negated(&mut self, a: &Val) -> Val {
        match (self.body.flavor, a.ty) {
            (Flavor::Modern, ty) => {
                let text = format!("fneg {}", self.body.typed(a));
                self.body.def(ty, &text)
            }
            (Flavor::Legacy, ty) => {
                let zero = match ty {
                    Ty::Halves => Val::new(ty, "<half 0xH8000, half 0xH8000>"),
                    Ty::Half => Val::new(ty, "0xH8000"),
                    ty => Val::new(ty, "-0.0"),
                };
                self.body.binary("fsub", &zero, a)
            }
        }
    }
}
