//! Tensor memory: moves between it and registers, and `tcgen05.mma`.

use super::build::{Fail, fail};
use super::mir::{Atom, Operand};
use super::select::{Selector, enumeration, int, ints};
use super::values::{Elem, Form};
use crate::dialect::{enums, nvvm::Op as N};
use crate::ir::{Op, ValueId};

/// Mnemonics up to the operation.
const LD: &str = "tcgen05.ld.sync.aligned";
const ST: &str = "tcgen05.st.sync.aligned";

impl Selector<'_> {
    pub(super) fn tensor(&mut self, kind: N, op: &Op) -> Result<(), Fail> {
        match kind {
            N::TensorLd => self.tensor_ld(op),
            N::TensorSt => self.tensor_st(op),
            N::TensorMma => self.tensor_mma(op),
            N::TensorCopy => self.tensor_copy(op),
            N::TensorMmaScaled => self.tensor_mma_scaled(op),
            _ => fail("no operation of tensor memory"),
        }
    }

    /// `value` (i32) plus each of `offsets`.
    pub(super) fn tensor_address(&self, value: ValueId, offsets: &[i64]) -> Result<Operand, Fail> {
        let base = self.scalar(value)?;
        Ok(Operand {
            atoms: vec![base; offsets.len()],
            offsets: offsets.to_vec(),
        })
    }

    /// Shape and `.x` number of a load or store.
    fn tensor_shape(op: &Op) -> Result<String, Fail> {
        let shape = enumeration(op, "shape")? as usize;
        match enums::TENSOR_MOVE.cases.get(shape) {
            Some(shape) => Ok(format!("{shape}.x{}", int(op, "count")?)),
            None => fail("unknown shape of a move"),
        }
    }

    fn tensor_ld(&mut self, op: &Op) -> Result<(), Fail> {
        let form = self.result_form(op)?;
        let offsets = ints(op, "offsets")?;
        let address = self.tensor_address(self.operand(op, 0)?, &offsets)?;
        let pairs = if op.has_unit("pairs") {
            ".pack::16b"
        } else {
            ""
        };
        let name = format!("{LD}.{}{pairs}.b32", Self::tensor_shape(op)?);
        let words = self.b.op(&name, offsets.len(), vec![address])?.concat();
        self.b.effect("tcgen05.wait::ld.sync.aligned", Vec::new())?;
        let whole = Form::new(Elem::Int(32), words.len());
        let value = self.bitcast(whole, form, words)?;
        self.define(op, vec![value])
    }

    fn tensor_st(&mut self, op: &Op) -> Result<(), Fail> {
        let value = self.operand(op, 1)?;
        let offsets = ints(op, "offsets")?;
        let address = self.tensor_address(self.operand(op, 0)?, &offsets)?;
        let (form, atoms) = (self.form(value)?, self.get(value)?);
        let words = self.b.split_words(form, &atoms)?;
        let pairs = if op.has_unit("pairs") {
            ".unpack::16b"
        } else {
            ""
        };
        let name = format!("{ST}.{}{pairs}.b32", Self::tensor_shape(op)?);
        self.b
            .op(&name, offsets.len(), vec![address, words.into()])?;
        self.b.effect("tcgen05.wait::st.sync.aligned", Vec::new())
    }

    fn tensor_mma(&mut self, op: &Op) -> Result<(), Fail> {
        let kind = enumeration(op, "kind")? as usize;
        let Some(kind) = enums::TENSOR_KIND.cases.get(kind) else {
            return fail("unknown kind of element types");
        };
        let (d, a) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let from_tensor = self.form(a)?.elem == Elem::Int(32);
        let name = match from_tensor {
            true => format!("@tcgen05.ts.{kind}"),
            false => format!("@tcgen05.ss.{kind}"),
        };
        let a_atom = self.scalar(a)?;
        let b_atom = self.scalar(self.operand(op, 2)?)?;
        let accumulate = match op.optional(3) {
            Some(value) => self.scalar(value)?,
            None => Atom::Imm(1),
        };
        let descriptor = Atom::Imm(int(op, "descriptor")? as u32 as u64);
        let [d_m, d_n, a_m, a_k, b_n, b_k] = [
            "d_m_steps",
            "d_n_steps",
            "a_m_steps",
            "a_k_steps",
            "b_n_steps",
            "b_k_steps",
        ]
        .map(|name| ints(op, name));
        let (d_m, d_n, a_m, a_k, b_n, b_k) = (d_m?, d_n?, a_m?, a_k?, b_n?, b_k?);
        self.descriptors.clear();
        for (step, (a_k, b_k)) in a_k.iter().zip(&b_k).enumerate() {
            let adds = if step == 0 { accumulate } else { Atom::Imm(1) };
            for (d_m, a_m) in d_m.iter().zip(&a_m) {
                for (d_n, b_n) in d_n.iter().zip(&b_n) {
                    let a_operand = match from_tensor {
                        true => self.tensor_address(a, &[a_m + a_k])?,
                        false => self.descriptor(a_atom, a_m + a_k)?.into(),
                    };
                    let operands = vec![
                        self.tensor_address(d, &[d_m + d_n])?,
                        a_operand,
                        self.descriptor(b_atom, b_n + b_k)?.into(),
                        descriptor.into(),
                        adds.into(),
                    ];
                    self.b.effect(&name, operands)?;
                }
            }
        }
        Ok(())
    }
}
