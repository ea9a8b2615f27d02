//! Matrix units: `mma.sync` and `wgmma`.

use super::build::{Fail, fail};
use super::select::Selector;
use super::values::{Elem, Form};
use crate::dialect::nvvm::view::{self, View};
use crate::ir::{Float, Op, Type, TypeId, ValueId};
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Operand, VReg};
use crate::machine::table::Width;

impl Selector<'_> {
    pub(super) fn matrix(&mut self, op: &Op) -> Result<(), Fail> {
        match View::of(op) {
            Some(View::MmaSync(v)) => self.mma(&v),
            Some(View::MmaScaled(v)) => self.mma_scaled(&v),
            Some(View::Wgmma(v)) => self.wgmma(&v),
            Some(View::WgmmaWait(v)) => self.wgmma_wait(&v),
            _ => fail("no matrix operation"),
        }
    }

    /// PTX name of a multiplicand's type; integers may be signed.
    pub(super) fn multiplicand(&self, ty: TypeId, signed: bool) -> Result<&'static str, Fail> {
        match self.module.types.get(ty) {
            Type::Float(Float::F16) => Ok("f16"),
            Type::Float(Float::BF16) => Ok("bf16"),
            Type::Float(Float::TF32 | Float::F32) => Ok("tf32"),
            Type::Float(Float::F64) => Ok("f64"),
            Type::Float(Float::F8E4M3FN) => Ok("e4m3"),
            Type::Float(Float::F8E5M2) => Ok("e5m2"),
            Type::Float(Float::F4E2M1FN) => Ok("e2m1"),
            Type::Int(8) if signed => Ok("s8"),
            Type::Int(8) => Ok("u8"),
            other => fail(format!("no matrix unit multiplies {other:?}")),
        }
    }

    /// PTX name of an accumulator's type.
    fn accumulator(form: Form) -> Result<&'static str, Fail> {
        match form.elem {
            Elem::Float(Float::F32) => Ok("f32"),
            Elem::Float(Float::F16) => Ok("f16"),
            Elem::Float(Float::F64) => Ok("f64"),
            Elem::Int(32) => Ok("s32"),
            other => fail(format!("no matrix unit accumulates in {other:?}")),
        }
    }

    fn mma(&mut self, v: &view::MmaSync<Op>) -> Result<(), Fail> {
        let form = self.result_form(v.op())?;
        let acc = Self::accumulator(form)?;
        let a_type = self.multiplicand(v.a_type(), v.signed_a())?;
        let b_type = self.multiplicand(v.b_type(), v.signed_b())?;
        let ([m, n, k], [mt, nt, kt]) = (v.shape(), v.tiles()) else {
            return fail("'shape' and 'tiles' have three entries each");
        };
        let (mt, nt, kt) = (*mt as usize, *nt as usize, *kt as usize);
        let name = format!("mma.sync.aligned.m{m}n{n}k{k}.row.col.{acc}.{a_type}.{b_type}.{acc}");
        let insn = self.b.insn(&name)?;
        let widths: Vec<usize> = self.b.table.row(&insn).slots[1..]
            .iter()
            .map(|slot| match slot.width {
                Width::Each(n) => n as usize,
                Width::All => 1,
            })
            .collect();
        let [aw, bw, cw] = widths[..] else {
            return fail("a matrix instruction has three sources");
        };
        let (a, b) = (self.words(v.a())?, self.words(v.b())?);
        let c = self.get(v.c())?;
        if a.len() != mt * kt * aw || b.len() != nt * kt * bw || c.len() != mt * nt * cw {
            return fail("the operands' registers do not add up to the tiles");
        }
        let class = form.class;
        let result: Vec<VReg> = c.iter().map(|_| self.b.func.new_reg(class)).collect();
        let result_atoms: Vec<Atom> = result.iter().copied().map(Atom::Reg).collect();
        for step in 0..kt {
            let (mut av, mut bv) = (Vec::new(), Vec::new());
            for i in 0..mt {
                for j in 0..nt {
                    av.extend_from_slice(&a[(i * kt + step) * aw..][..aw]);
                    bv.extend_from_slice(&b[(j * kt + step) * bw..][..bw]);
                }
            }
            let source = if step == 0 { &c } else { &result_atoms };
            let operands: Vec<Operand> = vec![av.into(), bv.into(), source.clone().into()];
            let into = Some(vec![result.clone()]);
            self.b.emit(insn.clone(), mt * nt, operands, None, into)?;
        }
        self.define(v.op(), vec![result_atoms])
    }

    /// A multiplicand's registers: 32-bit words, or f64 values.
    pub(super) fn words(&mut self, value: ValueId) -> Result<Vec<Atom>, Fail> {
        let (form, atoms) = (self.form(value)?, self.get(value)?);
        match form.elem {
            Elem::Float(Float::F64) => Ok(atoms),
            _ => self.b.split_words(form, &atoms),
        }
    }

    fn wgmma(&mut self, v: &view::Wgmma<Op>) -> Result<(), Fail> {
        let form = self.result_form(v.op())?;
        let acc_type = Self::accumulator(form)?;
        let a_type = self.multiplicand(v.a_type(), v.signed_a())?;
        let b_type = self.multiplicand(v.b_type(), v.signed_b())?;
        let (n, k) = (v.n(), v.k());
        let (m_tiles, k_steps) = (v.m_tiles().max(1) as usize, v.k_steps().max(1) as usize);
        let a = v.a();
        let a_form = self.form(a)?;
        let from_registers = a_form.elem != Elem::Int(64);
        let family = match a_type {
            "f16" | "bf16" => "16",
            "s8" | "u8" => "i",
            _ => "f",
        };
        let source = if from_registers { "rs" } else { "ss" };
        let row = format!("wgmma.{source}.{family}");
        let name = format!("wgmma.mma_async.sync.aligned.m64n{n}k{k}.{acc_type}.{a_type}.{b_type}");
        let Some(insn) = self
            .b
            .table
            .find_as(&row, &name)
            .filter(|insn| self.b.table.row(insn).available_on(self.b.target))
        else {
            return fail(format!(
                "instruction '{name}' does not exist on {}",
                self.b.target
            ));
        };
        let acc = self.get(v.acc())?;
        let acc = self.in_place(form.class, &acc);
        if !acc.len().is_multiple_of(m_tiles) {
            return fail("the accumulator does not divide into the m tiles");
        }
        let per_tile = acc.len() / m_tiles;
        let accumulate = match v.accumulate() {
            Some(value) => self.scalar(value)?,
            None => Atom::Imm(1),
        };
        let a_atoms = match from_registers {
            true => self.fragment(a_form, a)?,
            false => self.get(a)?,
        };
        if from_registers && a_atoms.len() != m_tiles * k_steps * 4 {
            return fail("a register operand has 4 registers per m tile and k step");
        }
        let b_atom = self.scalar(v.b())?;
        let (a_m_step, a_k, b_k) = (v.a_m_step(), v.a_k_steps(), v.b_k_steps());
        if b_k.len() < k_steps || !from_registers && a_k.len() < k_steps {
            return fail("fewer descriptor steps than k steps");
        }
        // All descriptors first: the matrix instructions then follow one another.
        self.descriptors.clear();
        let (mut a_operands, mut b_operands) = (Vec::new(), Vec::new());
        for step in 0..k_steps {
            b_operands.push(self.descriptor(b_atom, b_k[step])?);
            for tile in 0..m_tiles {
                a_operands.push(match from_registers {
                    true => a_atoms[(tile * k_steps + step) * 4..][..4].to_vec(),
                    false => vec![self.descriptor(a_atoms[0], a_k[step] + a_m_step * tile as i64)?],
                });
            }
        }
        // After everything that writes the accumulator's and the fragment's registers.
        self.b.effect("wgmma.fence.sync.aligned", vec![])?;
        for (i, a_operand) in a_operands.into_iter().enumerate() {
            let (step, tile) = (i / m_tiles, i % m_tiles);
            let scale = if step == 0 { accumulate } else { Atom::Imm(1) };
            let atoms = acc[tile * per_tile..][..per_tile].iter().copied();
            let atoms: Vec<Atom> = atoms.map(Atom::Reg).collect();
            let mut operands: Vec<Operand> = vec![
                atoms.into(),
                a_operand.into(),
                b_operands[step].into(),
                scale.into(),
            ];
            if family == "16" {
                if !from_registers {
                    operands.push(flag(v.trans_a()));
                }
                operands.push(flag(v.trans_b()));
            }
            self.b.emit(insn.clone(), 1, operands, None, None)?;
        }
        self.define(v.op(), vec![acc.into_iter().map(Atom::Reg).collect()])
    }

    /// A multiplicand that `wgmma` reads in registers. Constants are put there now: the fence before the instruction
    /// does not order what is written after it.
    fn fragment(&mut self, form: Form, value: ValueId) -> Result<Vec<Atom>, Fail> {
        let words = self.b.split_words(form, &self.get(value)?)?;
        let registers = words
            .into_iter()
            .map(|word| self.b.register(Class::B32, word));
        registers.map(|register| register.map(Atom::Reg)).collect()
    }

    /// A descriptor moved by `steps` units.
    pub(super) fn descriptor(&mut self, base: Atom, steps: i64) -> Result<Atom, Fail> {
        if let Some(&moved) = self.descriptors.get(&(base, steps)) {
            return Ok(moved);
        }
        let moved = match (base, steps) {
            (base, 0) => base,
            (Atom::Imm(bits), steps) => Atom::Imm(bits.wrapping_add(steps as u64)),
            (base, steps) => self
                .b
                .value("add.s64", &[&[base], &[Atom::Imm(steps as u64)]])?[0],
        };
        self.descriptors.insert((base, steps), moved);
        Ok(moved)
    }

    /// The wait, after which the results are usable: the same registers under new names.
    fn wgmma_wait(&mut self, v: &view::WgmmaWait<Op>) -> Result<(), Fail> {
        self.b.effect(
            "wgmma.wait_group.sync.aligned",
            vec![Atom::Imm(v.pending() as u64).into()],
        )?;
        let mut results = Vec::new();
        for &value in v.accs() {
            let (form, atoms) = (self.form(value)?, self.get(value)?);
            let copies = self.in_place(form.class, &atoms);
            results.push(copies.into_iter().map(Atom::Reg).collect());
        }
        self.define(v.op(), results)
    }
}

/// A flag operand.
fn flag(set: bool) -> Operand {
    Atom::Imm(u64::from(set)).into()
}
