//! Block-scaled matrix instructions: `mma.sync`, `tcgen05.mma`.

use super::build::{Fail, fail};
use super::select::Selector;
use crate::dialect::nvvm::view;
use crate::ir::{Float, Op, Type, TypeId};
use crate::layout::scales::Side;
use crate::machine::mir::{Atom, Operand, VReg};

/// Scales of an operand as the instructions take them: registers, and their selectors.
#[derive(Default)]
struct Scales {
    words: Vec<Atom>,
    bytes: Vec<Atom>,
    threads: Vec<Atom>,
}

impl Scales {
    /// Those of one more instruction, whose first scale has the number `first`.
    fn push(&mut self, side: Side, words: &[Atom], first: u64) -> Result<(), Fail> {
        let at = side.select(first);
        let Some(&word) = words.get(at.word as usize) else {
            return fail("fewer scales than the tiles need");
        };
        self.words.push(word);
        self.bytes.push(Atom::Imm(at.byte));
        self.threads.push(Atom::Imm(at.thread));
        Ok(())
    }

    fn operands(self) -> [Operand; 3] {
        [self.words, self.bytes, self.threads].map(Operand::from)
    }
}

impl Selector<'_> {
    pub(super) fn mma_scaled(&mut self, v: &view::MmaScaled<Op>) -> Result<(), Fail> {
        let form = self.result_form(v.op())?;
        let (&[m, n, k], &[mt, nt, kt]) = (v.shape(), v.tiles()) else {
            return fail("'shape' and 'tiles' have three entries each");
        };
        let (mt, nt, kt, per) = (mt as usize, nt as usize, kt as usize, v.scales() as u64);
        let a_type = self.multiplicand(v.a_type(), false)?;
        let b_type = self.multiplicand(v.b_type(), false)?;
        let scale_type = self.scale(v.scale_type())?;
        let kind = match (per, scale_type) {
            (1, "ue8m0") => "mxf8f6f4",
            (2, "ue8m0") => "mxf4",
            (4, _) => "mxf4nvf4",
            _ => return fail(format!("no matrix unit takes {per} scales of {scale_type}")),
        };
        let name = format!(
            "mma.sync.aligned.m{m}n{n}k{k}.row.col.kind::{kind}.block_scale.scale_vec::{per}X.f32.{a_type}.{b_type}.f32.{scale_type}"
        );
        let insn = self.b.insn(&name)?;
        let (a, b) = (self.words(v.a())?, self.words(v.b())?);
        let c = self.get(v.c())?;
        let (a_scales, b_scales) = (self.words(v.a_scale())?, self.words(v.b_scale())?);
        if a.len() != mt * kt * 4 || b.len() != nt * kt * 2 || c.len() != mt * nt * 4 {
            return fail("the operands' registers do not add up to the tiles");
        }
        let result: Vec<VReg> = c.iter().map(|_| self.b.func.new_reg(form.class)).collect();
        let result_atoms: Vec<Atom> = result.iter().copied().map(Atom::Reg).collect();
        for step in 0..kt {
            let (mut av, mut bv) = (Vec::new(), Vec::new());
            let (mut sa, mut sb) = (Scales::default(), Scales::default());
            let first = |tile: usize| (tile * kt + step) as u64 * per;
            for (i, j) in (0..mt).flat_map(|i| (0..nt).map(move |j| (i, j))) {
                av.extend_from_slice(&a[(i * kt + step) * 4..][..4]);
                bv.extend_from_slice(&b[(j * kt + step) * 2..][..2]);
                sa.push(Side::A, &a_scales, first(i))?;
                sb.push(Side::B, &b_scales, first(j))?;
            }
            let source = if step == 0 { &c } else { &result_atoms };
            let mut operands: Vec<Operand> = vec![av.into(), bv.into(), source.clone().into()];
            operands.extend(sa.operands());
            operands.extend(sb.operands());
            let into = Some(vec![result.clone()]);
            self.b.emit(insn.clone(), mt * nt, operands, None, into)?;
        }
        self.define(v.op(), vec![result_atoms])
    }

    pub(super) fn tensor_copy(&mut self, v: &view::TensorCopy<Op>) -> Result<(), Fail> {
        let source = self.scalar(v.source())?;
        self.descriptors.clear();
        for (&column, &step) in v.columns().iter().zip(v.steps()) {
            let to = self.tensor_address(v.address(), &[column])?;
            let from = self.descriptor(source, step)?.into();
            self.b
                .effect("tcgen05.cp.cta_group::1.32x128b.warpx4", vec![to, from])?;
        }
        Ok(())
    }

    pub(super) fn tensor_mma_scaled(&mut self, v: &view::TensorMmaScaled<Op>) -> Result<(), Fail> {
        let name = format!("@tcgen05.{}.block{}", v.kind().text(), v.block());
        let (d, scales) = (v.d(), v.scales());
        let (a, b) = (self.scalar(v.a())?, self.scalar(v.b())?);
        let accumulate = match v.accumulate() {
            Some(value) => self.scalar(value)?,
            None => Atom::Imm(1),
        };
        let rows = || {
            v.d_m_steps()
                .iter()
                .zip(v.a_m_steps())
                .zip(v.a_scale_m_steps())
        };
        let columns = || {
            v.d_n_steps()
                .iter()
                .zip(v.b_n_steps())
                .zip(v.b_scale_n_steps())
        };
        let steps = v.a_k_steps().iter().zip(v.b_k_steps());
        let step_scales = v.a_scale_k_steps().iter().zip(v.b_scale_k_steps());
        self.descriptors.clear();
        let all = steps.zip(step_scales).zip(v.descriptors());
        for (step, (((a_k, b_k), (sa_k, sb_k)), descriptor)) in all.enumerate() {
            let adds = if step == 0 { accumulate } else { Atom::Imm(1) };
            for ((d_m, a_m), sa_m) in rows() {
                for ((d_n, b_n), sb_n) in columns() {
                    let operands = vec![
                        self.tensor_address(d, &[d_m + d_n])?,
                        self.descriptor(a, a_m + a_k)?.into(),
                        self.descriptor(b, b_n + b_k)?.into(),
                        Atom::Imm(*descriptor as u32 as u64).into(),
                        self.tensor_address(scales, &[sa_m + sa_k])?,
                        self.tensor_address(scales, &[sb_n + sb_k])?,
                        adds.into(),
                    ];
                    self.b.effect(&name, operands)?;
                }
            }
        }
        Ok(())
    }

    /// PTX name of the scales' type.
    fn scale(&self, ty: TypeId) -> Result<&'static str, Fail> {
        match self.module.types.get(ty) {
            Type::Float(Float::F8E8M0FNU) => Ok("ue8m0"),
            Type::Float(Float::F8E4M3FN) => Ok("ue4m3"),
            other => fail(format!("no matrix unit scales by {other:?}")),
        }
    }
}
