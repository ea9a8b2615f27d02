//! Conversions between element types.

use super::build::{Fail, fail};
use super::float::{float_name, integral_rounding};
use super::mir::{Atom, Class};
use super::select::Selector;
use super::values::{Elem, Form};
use crate::dialect::enums::rounding;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Float, Op};

/// The PTX name of a rounding.
fn rounding_name(op: &Op) -> Result<&'static str, Fail> {
    match op.enum_named("rounding") {
        None | Some(rounding::NEAREST_EVEN) => Ok("rn"),
        Some(rounding::ZERO) => Ok("rz"),
        Some(rounding::NEGATIVE_INF) => Ok("rm"),
        Some(rounding::POSITIVE_INF) => Ok("rp"),
        Some(rounding::NEAREST_AWAY) => Ok("rna"),
        Some(_) => fail("no rounding of a conversion"),
    }
}

impl Selector<'_> {
    pub(super) fn convert(&mut self, kind: N, op: &Op) -> Result<Vec<Atom>, Fail> {
        let source = self.operand(op, 0)?;
        let (from, to) = (self.form(source)?, self.result_form(op)?);
        if from.n != to.n {
            return fail("a conversion changes the element count");
        }
        if let (N::FToF, Elem::Float(_), Elem::Float(_)) = (kind, from.elem, to.elem) {
            let atoms = self.get(source)?;
            let saturate = op.has_unit("satfinite");
            return self.float_to_float(from, to, &atoms, rounding_name(op)?, saturate);
        }
        let elements = self.elements(source)?;
        let elements = match (kind, from.elem, to.elem) {
            (N::Trunc, _, _) => self.truncate(from, to, elements)?,
            (N::ZExt, _, _) => self.extend(from, to, elements, false)?,
            (N::SExt, _, _) => self.extend(from, to, elements, true)?,
            (N::SIToF | N::UIToF, Elem::Int(bits), Elem::Float(f)) => {
                let round = rounding_name(op)?;
                self.int_to_float(bits, f, elements, kind == N::SIToF, round)?
            }
            (N::FToSI | N::FToUI, Elem::Float(f), Elem::Int(bits)) => {
                let sign = if kind == N::FToSI { 's' } else { 'u' };
                let round = integral_rounding(op)?;
                self.float_to_int(f, bits, elements, sign, round)?
            }
            _ => return fail("no such conversion"),
        };
        self.b.pack(to, &elements)
    }

    fn truncate(&mut self, from: Form, to: Form, elements: Vec<Atom>) -> Result<Vec<Atom>, Fail> {
        let mask = |bits: u32| {
            if bits >= 64 {
                u64::MAX
            } else {
                (1 << bits) - 1
            }
        };
        if let Some(known) = constants(&elements, |v| v & mask(to.elem.bits())) {
            return Ok(known);
        }
        if to.elem == Elem::Int(1) {
            let bits = from.elem_class().bits();
            let low = self
                .b
                .value(&format!("and.b{bits}"), &[&elements, &[Atom::Imm(1)]])?;
            return self
                .b
                .value(&format!("setp.ne.u{bits}"), &[&low, &[Atom::Imm(0)]]);
        }
        let name = match (from.elem_class(), to.elem_class()) {
            (a, b) if a == b => return Ok(elements),
            (Class::B64, Class::B32) => "cvt.u32.u64",
            (Class::B64, Class::B16) => "cvt.u16.u64",
            (Class::B32, Class::B16) => "cvt.u16.u32",
            _ => return fail("a truncation widens"),
        };
        self.b.value(name, &[&elements])
    }

    fn extend(
        &mut self,
        from: Form,
        to: Form,
        elements: Vec<Atom>,
        signed: bool,
    ) -> Result<Vec<Atom>, Fail> {
        let bits = from.elem.bits();
        let target = to.elem.bits();
        let widen = |v: u64| {
            let shift = 64 - bits;
            let value = if signed {
                (((v << shift) as i64) >> shift) as u64
            } else {
                v << shift >> shift
            };
            if target >= 64 {
                value
            } else {
                value & ((1 << target) - 1)
            }
        };
        if let Some(known) = constants(&elements, widen) {
            return Ok(known);
        }
        if bits == 1 {
            let width = to.elem_class().bits();
            let yes = Atom::Imm(widen(1));
            return self.b.value(
                &format!("selp.b{width}"),
                &[&[yes], &[Atom::Imm(0)], &elements],
            );
        }
        let sign = if signed { 's' } else { 'u' };
        let name = format!("cvt.{sign}{}.{sign}{bits}", target.max(16));
        self.b.value(&name, &[&elements])
    }

    fn int_to_float(
        &mut self,
        bits: u32,
        f: Float,
        elements: Vec<Atom>,
        signed: bool,
        round: &str,
    ) -> Result<Vec<Atom>, Fail> {
        let sign = if signed { 's' } else { 'u' };
        let ty = float_name(f)?;
        let name = format!("cvt.{round}.{ty}.{sign}{bits}");
        if bits == 1 {
            let one = float_one(f, signed);
            let width = f.bits();
            return self.b.value(
                &format!("selp.b{width}"),
                &[&[Atom::Imm(one)], &[Atom::Imm(0)], &elements],
            );
        }
        if f == Float::BF16 && !self.b.has(&name) && bits <= 16 {
            // Exact in f32, so rounding to bf16 is the only rounding.
            let wide = self
                .b
                .value(&format!("cvt.rn.f32.{sign}{bits}"), &[&elements])?;
            return self.b.value(&format!("cvt.{round}.bf16.f32"), &[&wide]);
        }
        if f == Float::BF16 && !self.b.has(&name) && bits == 32 {
            // Rounding to odd at 23 bits first leaves one decisive rounding.
            let sticky = self.sticky_24(elements, signed)?;
            let wide = self.b.value(&format!("cvt.rz.f32.{sign}32"), &[&sticky])?;
            return self.b.value(&format!("cvt.{round}.bf16.f32"), &[&wide]);
        }
        self.b.value(&name, &[&elements])
    }

    /// Integers of more than 24 bits rounded to odd at bit 8, so that they are exact in f32 and
    /// a later rounding to 8 bits comes out as if it were the only one.
    fn sticky_24(&mut self, elements: Vec<Atom>, signed: bool) -> Result<Vec<Atom>, Fail> {
        let low = self.b.value("and.b32", &[&elements, &[Atom::Imm(0xff)]])?;
        let any = self.b.value("setp.ne.u32", &[&low, &[Atom::Imm(0)]])?;
        let bit = self
            .b
            .value("selp.b32", &[&[Atom::Imm(0x100)], &[Atom::Imm(0)], &any])?;
        let folded = self.b.value("or.b32", &[&elements, &bit])?;
        let high = self
            .b
            .value("and.b32", &[&folded, &[Atom::Imm(0xffff_ff00)]])?;
        let magnitude = match signed {
            true => self.b.value("abs.s32", &[&elements])?,
            false => elements.clone(),
        };
        let large = self
            .b
            .value("setp.ge.u32", &[&magnitude, &[Atom::Imm(1 << 24)]])?;
        self.b.value("selp.b32", &[&high, &elements, &large])
    }

    fn float_to_int(
        &mut self,
        f: Float,
        bits: u32,
        elements: Vec<Atom>,
        sign: char,
        round: &str,
    ) -> Result<Vec<Atom>, Fail> {
        let mut ty = float_name(f)?;
        let mut elements = elements;
        if f == Float::BF16 {
            let from = Form {
                elem: Elem::Float(f),
                n: elements.len(),
                class: Class::B16,
                per: 1,
            };
            let wide = Form::new(Elem::Float(Float::F32), elements.len());
            elements = self.float_to_float(from, wide, &elements, "rn", false)?;
            ty = "f32";
        }
        if bits == 1 {
            return fail("a conversion of floats to i1");
        }
        self.b
            .value(&format!("cvt.{round}.{sign}{bits}.{ty}"), &[&elements])
    }

    /// Float to float; `from` and `to` may be packed or not.
    pub(super) fn float_to_float(
        &mut self,
        from: Form,
        to: Form,
        atoms: &[Atom],
        round: &str,
        saturate: bool,
    ) -> Result<Vec<Atom>, Fail> {
        use Float::{BF16, F8E4M3FN, F8E5M2, F16, F32, F64, TF32};
        let (Elem::Float(a), Elem::Float(b)) = (from.elem, to.elem) else {
            return fail("a float conversion of other values");
        };
        let f32_form = Form::new(Elem::Float(F32), from.n);
        match (a, b) {
            (a, b) if a == b => self.reform(from, to, atoms),
            (F32, TF32) => {
                let name = format!("cvt.{round}.tf32.f32");
                let name = if self.b.has(&name) {
                    name
                } else {
                    "cvt.rna.tf32.f32".into()
                };
                self.b.value(&name, &[atoms])
            }
            (TF32, F32) => Ok(atoms.to_vec()),
            (BF16, F32 | TF32) => self.bf16_to_f32(from, atoms),
            (F16, F32 | TF32) => {
                let elements = self.b.unpack(from, atoms)?;
                self.b.value("cvt.f32.f16", &[&elements])
            }
            (F32 | TF32, F16 | BF16) => self.narrow_f32(to, atoms, round),
            (F32 | TF32, F64) => self.b.value("cvt.f64.f32", &[atoms]),
            (F64, F32) => self.b.value(&format!("cvt.{round}.f32.f64"), &[atoms]),
            (F16, F64) => {
                let elements = self.b.unpack(from, atoms)?;
                self.b.value("cvt.f64.f16", &[&elements])
            }
            (F64, F16) => {
                let elements = self.b.value(&format!("cvt.{round}.f16.f64"), &[atoms])?;
                self.b.pack(to, &elements)
            }
            (F64, BF16) => {
                let elements = self.b.value(&format!("cvt.{round}.bf16.f64"), &[atoms])?;
                self.b.pack(to, &elements)
            }
            (F8E4M3FN | F8E5M2, F16) => self.f8_to_f16(a, from, to, atoms),
            (F16 | F32, F8E4M3FN | F8E5M2) => self.narrow_to_f8(a, b, from, to, atoms, saturate),
            (F8E4M3FN | F8E5M2, F32 | BF16 | F64) => {
                let half = Form::new(Elem::Float(F16), from.n);
                let halves = self.f8_to_f16(a, from, half, atoms)?;
                self.float_to_float(half, to, &halves, round, saturate)
            }
            // Exact in f32, rounded once on the way out.
            (F16 | BF16, _) => {
                let wide = self.float_to_float(from, f32_form, atoms, "rn", false)?;
                self.float_to_float(f32_form, to, &wide, round, saturate)
            }
            (a, b) => fail(format!("no conversion from {} to {}", a.name(), b.name())),
        }
    }

    /// The same elements in another form of the same type.
    fn reform(&mut self, from: Form, to: Form, atoms: &[Atom]) -> Result<Vec<Atom>, Fail> {
        if from.per == to.per {
            return Ok(atoms.to_vec());
        }
        let elements = self.b.unpack(from, atoms)?;
        self.b.pack(to, &elements)
    }

    /// bf16 is the high half of f32: a shift for the low element, a mask for the high one.
    fn bf16_to_f32(&mut self, from: Form, atoms: &[Atom]) -> Result<Vec<Atom>, Fail> {
        if !from.is_packed() {
            return self.b.value("@pack.hh", &[&[Atom::Imm(0)], atoms]);
        }
        let low = self.b.value("shl.b32", &[atoms, &[Atom::Imm(16)]])?;
        let high = self
            .b
            .value("and.b32", &[atoms, &[Atom::Imm(0xffff_0000)]])?;
        Ok(low
            .into_iter()
            .zip(high)
            .flat_map(|(l, h)| [l, h])
            .collect())
    }

    fn narrow_f32(&mut self, to: Form, atoms: &[Atom], round: &str) -> Result<Vec<Atom>, Fail> {
        let Elem::Float(f) = to.elem else {
            return fail("not a float");
        };
        let ty = float_name(f)?;
        let packed = format!("cvt.{round}.{ty}x2.f32");
        if to.is_packed() && self.b.has(&packed) {
            let (low, high): (Vec<_>, Vec<_>) = atoms.chunks(2).map(|p| (p[0], p[1])).unzip();
            return self.b.value(&packed, &[&high, &low]);
        }
        let elements = self.b.value(&format!("cvt.{round}.{ty}.f32"), &[atoms])?;
        self.b.pack(to, &elements)
    }

    fn f8_to_f16(
        &mut self,
        f: Float,
        from: Form,
        to: Form,
        atoms: &[Atom],
    ) -> Result<Vec<Atom>, Fail> {
        let name = format!("cvt.rn.f16x2.{}x2", f8_name(f)?);
        let pairs = match from.per {
            4 => self.b.split(atoms)?,
            _ => self.pairs(atoms)?,
        };
        let mut words = self.b.value(&name, &[&pairs])?;
        if !to.is_packed() {
            words = self.b.split(&words)?;
            words.truncate(to.n);
        }
        Ok(words)
    }

    /// Bytes in 16-bit registers, two per register.
    pub(super) fn pairs(&mut self, bytes: &[Atom]) -> Result<Vec<Atom>, Fail> {
        let low: Vec<Atom> = bytes.iter().step_by(2).copied().collect();
        let mut high: Vec<Atom> = bytes.iter().skip(1).step_by(2).copied().collect();
        high.resize(low.len(), Atom::Imm(0));
        let low = self.b.value("and.b16", &[&low, &[Atom::Imm(0xff)]])?;
        let high = self.b.value("shl.b16", &[&high, &[Atom::Imm(8)]])?;
        self.b.value("or.b16", &[&low, &high])
    }

    fn narrow_to_f8(
        &mut self,
        a: Float,
        b: Float,
        from: Form,
        to: Form,
        atoms: &[Atom],
        saturate: bool,
    ) -> Result<Vec<Atom>, Fail> {
        if !saturate {
            return fail("conversions to 8-bit floats saturate on this target");
        }
        let ty = f8_name(b)?;
        let mut elements = self.b.unpack(from, atoms)?;
        if elements.len() % 2 == 1 {
            elements.push(Atom::Imm(0));
        }
        let pairs = if a == Float::F16 {
            let words = self.b.join(&elements)?;
            self.b
                .value(&format!("cvt.rn.satfinite.{ty}x2.f16x2"), &[&words])?
        } else {
            let (low, high): (Vec<_>, Vec<_>) = elements.chunks(2).map(|p| (p[0], p[1])).unzip();
            self.b
                .value(&format!("cvt.rn.satfinite.{ty}x2.f32"), &[&high, &low])?
        };
        if to.per == 4 {
            return self.b.join(&pairs);
        }
        let high = self.b.value("shr.u16", &[&pairs, &[Atom::Imm(8)]])?;
        let mut bytes: Vec<Atom> = pairs
            .into_iter()
            .zip(high)
            .flat_map(|(l, h)| [l, h])
            .collect();
        bytes.truncate(to.n);
        Ok(bytes)
    }
}

fn f8_name(f: Float) -> Result<&'static str, Fail> {
    match f {
        Float::F8E4M3FN => Ok("e4m3"),
        Float::F8E5M2 => Ok("e5m2"),
        other => fail(format!("no conversion from or to {}", other.name())),
    }
}

/// Bits of 1.0, or of -1.0 for a signed true.
fn float_one(f: Float, signed: bool) -> u64 {
    let (one, sign) = match f {
        Float::F16 => (0x3c00, 1 << 15),
        Float::BF16 => (0x3f80, 1 << 15),
        Float::F64 => (0x3ff0_0000_0000_0000, 1 << 63),
        _ => (0x3f80_0000, 1 << 31),
    };
    if signed { one | sign } else { one }
}

/// `elements` mapped, if all are constants.
fn constants(elements: &[Atom], f: impl Fn(u64) -> u64) -> Option<Vec<Atom>> {
    elements
        .iter()
        .map(|a| match a {
            Atom::Imm(v) => Some(Atom::Imm(f(*v))),
            Atom::Undef => Some(Atom::Undef),
            _ => None,
        })
        .collect()
}
