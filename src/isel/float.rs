//! Floating-point operations: packed forms where the target has them, else element by element,
//! else through f32.

use super::build::{Fail, fail};
use super::mir::Atom;
use super::pure::COMPARE;
use super::select::{Selector, enumeration};
use super::values::{Elem, Form};
use crate::dialect::enums::rounding;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Float, Op};

/// What a float operation is called, without its type.
fn stem(kind: N, op: &Op) -> Result<String, Fail> {
    let round = || -> Result<&'static str, Fail> {
        match op.enum_named("rounding") {
            None | Some(rounding::NEAREST_EVEN) => Ok("rn"),
            Some(rounding::ZERO) => Ok("rz"),
            Some(rounding::NEGATIVE_INF) => Ok("rm"),
            Some(rounding::POSITIVE_INF) => Ok("rp"),
            Some(rounding::APPROX) => Ok("approx"),
            Some(rounding::FULL) => Ok("full"),
            Some(_) => fail("this rounding is not one of the operation's"),
        }
    };
    let ftz = if op.has_unit("ftz") { ".ftz" } else { "" };
    let nan = if op.has_unit("nan") { ".NaN" } else { "" };
    let rounded = |name: &str| Ok(format!("{name}.{}{ftz}", round()?));
    match kind {
        N::FAdd => rounded("add"),
        N::FSub => rounded("sub"),
        N::FMul => rounded("mul"),
        N::FDiv => rounded("div"),
        N::Fma => rounded("fma"),
        N::Sqrt => rounded("sqrt"),
        N::Rcp => rounded("rcp"),
        N::FMin => Ok(format!("min{ftz}{nan}")),
        N::FMax => Ok(format!("max{ftz}{nan}")),
        N::FNeg => Ok("neg".into()),
        N::FAbs => Ok("abs".into()),
        N::Rsqrt => Ok(format!("rsqrt.approx{ftz}")),
        N::Ex2 => Ok(format!("ex2.approx{ftz}")),
        N::Lg2 => Ok(format!("lg2.approx{ftz}")),
        N::Sin => Ok(format!("sin.approx{ftz}")),
        N::Cos => Ok(format!("cos.approx{ftz}")),
        N::Tanh => Ok("tanh.approx".into()),
        N::FRound => Ok(format!("cvt.{}{ftz}", integral_rounding(op)?)),
        _ => fail("no float operation"),
    }
}

/// The PTX name of a rounding to an integral value.
pub(super) fn integral_rounding(op: &Op) -> Result<&'static str, Fail> {
    match op.enum_named("rounding") {
        None | Some(rounding::NEAREST_EVEN) => Ok("rni"),
        Some(rounding::ZERO | rounding::NEAREST_INT_TO_ZERO) => Ok("rzi"),
        Some(rounding::NEGATIVE_INF) => Ok("rmi"),
        Some(rounding::POSITIVE_INF) => Ok("rpi"),
        Some(_) => fail("no rounding to an integral value"),
    }
}

/// The PTX name of a format in arithmetic.
pub(super) fn float_name(f: Float) -> Result<&'static str, Fail> {
    match f {
        Float::F16 => Ok("f16"),
        Float::BF16 => Ok("bf16"),
        Float::F32 | Float::TF32 => Ok("f32"),
        Float::F64 => Ok("f64"),
        other => fail(format!("no arithmetic on {}", other.name())),
    }
}

impl Selector<'_> {
    pub(super) fn float(&mut self, kind: N, op: &Op, f: Float) -> Result<Vec<Atom>, Fail> {
        let form = self.result_form(op)?;
        let stem = stem(kind, op)?;
        let ty = float_name(f)?;
        let operands = op
            .operands
            .iter()
            .map(|&v| self.get(v))
            .collect::<Result<Vec<_>, _>>()?;
        let suffix = |ty: &str| match kind {
            N::FRound => format!("{ty}.{ty}"),
            _ => ty.to_owned(),
        };
        self.float_arrays(&stem, &suffix(ty), form, &operands)
    }

    /// `stem.ty` over arrays of one form.
    fn float_arrays(
        &mut self,
        stem: &str,
        ty: &str,
        form: Form,
        operands: &[Vec<Atom>],
    ) -> Result<Vec<Atom>, Fail> {
        let name = format!("{stem}.{ty}");
        if form.is_packed() {
            let packed = format!("{name}x2");
            if self.b.has(&packed) {
                return self.b.value(&packed, &refs(operands));
            }
            if let Some(result) = self.bf16_by_fma(stem, form, operands)? {
                return Ok(result);
            }
        }
        if self.b.has(&name) {
            let elements = operands
                .iter()
                .map(|atoms| self.b.unpack(form, atoms))
                .collect::<Result<Vec<_>, _>>()?;
            let result = self.b.value(&name, &refs(&elements))?;
            return self.b.pack(form, &result);
        }
        if let Some(result) = self.bf16_by_fma(stem, form, operands)? {
            return Ok(result);
        }
        match form.elem {
            // Twice the precision and two bits more: rounding twice equals rounding once.
            Elem::Float(Float::F16 | Float::BF16) if !stem.starts_with("fma") => {
                let wide = Form::new(Elem::Float(Float::F32), form.n);
                let operands = operands
                    .iter()
                    .map(|atoms| self.float_to_float(form, wide, atoms, "rn", false))
                    .collect::<Result<Vec<_>, _>>()?;
                let ty = if stem.starts_with("cvt") {
                    "f32.f32"
                } else {
                    "f32"
                };
                let result = self.b.value(&format!("{stem}.{ty}"), &refs(&operands))?;
                let rounding = ["rz", "rm", "rp"]
                    .into_iter()
                    .find(|r| stem.contains(&format!(".{r}")))
                    .unwrap_or("rn");
                self.float_to_float(wide, form, &result, rounding, false)
            }
            _ => {
                self.b.insn(&name)?;
                fail(format!("no way to select '{name}'"))
            }
        }
    }

    /// bf16 sums, differences and products before sm_90: a fused multiply-add that rounds once.
    fn bf16_by_fma(
        &mut self,
        stem: &str,
        form: Form,
        operands: &[Vec<Atom>],
    ) -> Result<Option<Vec<Atom>>, Fail> {
        const ONE: u64 = 0x3f80;
        const MINUS_ONE: u64 = 0xbf80;
        const MINUS_ZERO: u64 = 0x8000;
        let ([lhs, rhs], Elem::Float(Float::BF16)) = (operands, form.elem) else {
            return Ok(None);
        };
        let constant = |bits: u64| match form.per {
            1 => vec![Atom::Imm(bits)],
            _ => vec![Atom::Imm(bits | bits << 16)],
        };
        let terms: [Vec<Atom>; 3] = match stem {
            "add.rn" => [lhs.clone(), constant(ONE), rhs.clone()],
            "sub.rn" => [rhs.clone(), constant(MINUS_ONE), lhs.clone()],
            "mul.rn" => [lhs.clone(), rhs.clone(), constant(MINUS_ZERO)],
            _ => return Ok(None),
        };
        let name = if form.is_packed() {
            "fma.rn.bf16x2"
        } else {
            "fma.rn.bf16"
        };
        if !self.b.has(name) {
            return Ok(None);
        }
        self.b.value(name, &refs(&terms)).map(Some)
    }

    pub(super) fn compare_floats(&mut self, op: &Op) -> Result<Vec<Atom>, Fail> {
        let (lhs, rhs) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let form = self.form(lhs)?;
        let Elem::Float(f) = form.elem else {
            return fail("a float comparison of other values");
        };
        let case = enumeration(op, "predicate")? as usize;
        let ordered = enumeration(op, "ordering")? == 1;
        let Some(&predicate) = COMPARE.get(case) else {
            return fail("unknown comparison");
        };
        let suffix = if ordered { "" } else { "u" };
        let (lhs, rhs) = (self.elements(lhs)?, self.elements(rhs)?);
        let name = format!("setp.{predicate}{suffix}.{}", float_name(f)?);
        if self.b.has(&name) {
            return self.b.value(&name, &[&lhs, &rhs]);
        }
        let one = Form {
            n: 1,
            class: form.elem_class(),
            per: 1,
            ..form
        };
        let narrow = Form {
            n: lhs.len(),
            ..one
        };
        let wide = Form::new(Elem::Float(Float::F32), form.n);
        let lhs = self.float_to_float(narrow, wide, &lhs, "rn", false)?;
        let rhs = self.float_to_float(narrow, wide, &rhs, "rn", false)?;
        self.b
            .value(&format!("setp.{predicate}{suffix}.f32"), &[&lhs, &rhs])
    }
}

/// The slices of some vectors.
pub(super) fn refs(operands: &[Vec<Atom>]) -> Vec<&[Atom]> {
    operands.iter().map(Vec::as_slice).collect()
}
