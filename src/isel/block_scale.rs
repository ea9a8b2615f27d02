//! Block-scaled matrix instructions: `mma.sync`, `tcgen05.mma`.

use super::build::{Fail, fail};
use super::select::{Selector, enumeration, int, ints};
use crate::dialect::enums;
use crate::ir::{Attr, Float, Op, Type};
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
    pub(super) fn mma_scaled(&mut self, op: &Op) -> Result<(), Fail> {
        let form = self.result_form(op)?;
        let (shape, tiles, per) = (ints(op, "shape")?, ints(op, "tiles")?, int(op, "scales")?);
        let (&[m, n, k], &[mt, nt, kt]) = (&shape[..], &tiles[..]) else {
            return fail("'shape' and 'tiles' have three entries each");
        };
        let (mt, nt, kt, per) = (mt as usize, nt as usize, kt as usize, per as u64);
        let [a_type, b_type] = [
            self.multiplicand(op, "a_type", "")?,
            self.multiplicand(op, "b_type", "")?,
        ];
        let scale_type = self.scale(op)?;
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
        let (a, b) = (self.words(op, 0)?, self.words(op, 1)?);
        let c = self.get(self.operand(op, 2)?)?;
        let (a_scales, b_scales) = (self.words(op, 3)?, self.words(op, 4)?);
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
        self.define(op, vec![result_atoms])
    }

    pub(super) fn tensor_copy(&mut self, op: &Op) -> Result<(), Fail> {
        let address = self.operand(op, 0)?;
        let source = self.scalar(self.operand(op, 1)?)?;
        self.descriptors.clear();
        for (column, step) in ints(op, "columns")?.into_iter().zip(ints(op, "steps")?) {
            let to = self.tensor_address(address, &[column])?;
            let from = self.descriptor(source, step)?.into();
            self.b
                .effect("tcgen05.cp.cta_group::1.32x128b.warpx4", vec![to, from])?;
        }
        Ok(())
    }

    pub(super) fn tensor_mma_scaled(&mut self, op: &Op) -> Result<(), Fail> {
        let kind = enumeration(op, "kind")? as usize;
        let Some(kind) = enums::TENSOR_KIND.cases.get(kind) else {
            return fail("unknown kind of element types");
        };
        let name = format!("@tcgen05.{kind}.block{}", int(op, "block")?);
        let [d, scales] = [self.operand(op, 0)?, self.operand(op, 3)?];
        let [a, b] = [
            self.scalar(self.operand(op, 1)?)?,
            self.scalar(self.operand(op, 2)?)?,
        ];
        let accumulate = match op.optional(4) {
            Some(value) => self.scalar(value)?,
            None => Atom::Imm(1),
        };
        let along = |names: [&str; 2]| -> Result<Vec<(i64, i64)>, Fail> {
            Ok(ints(op, names[0])?
                .into_iter()
                .zip(ints(op, names[1])?)
                .collect())
        };
        let rows = along(["d_m_steps", "a_m_steps"])?;
        let row_scales = ints(op, "a_scale_m_steps")?;
        let columns = along(["d_n_steps", "b_n_steps"])?;
        let column_scales = ints(op, "b_scale_n_steps")?;
        let steps = along(["a_k_steps", "b_k_steps"])?;
        let step_scales = along(["a_scale_k_steps", "b_scale_k_steps"])?;
        let descriptors = ints(op, "descriptors")?;
        self.descriptors.clear();
        let all = steps.iter().zip(&step_scales).zip(&descriptors);
        for (step, (((a_k, b_k), (sa_k, sb_k)), descriptor)) in all.enumerate() {
            let adds = if step == 0 { accumulate } else { Atom::Imm(1) };
            for ((d_m, a_m), sa_m) in rows.iter().zip(&row_scales) {
                for ((d_n, b_n), sb_n) in columns.iter().zip(&column_scales) {
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
    fn scale(&self, op: &Op) -> Result<&'static str, Fail> {
        let Some(Attr::Type(ty)) = op.attr_named("scale_type") else {
            return fail("attribute 'scale_type' is missing");
        };
        match self.module.types.get(*ty) {
            Type::Float(Float::F8E8M0FNU) => Ok("ue8m0"),
            Type::Float(Float::F8E4M3FN) => Ok("ue4m3"),
            other => fail(format!("no matrix unit scales by {other:?}")),
        }
    }
}
