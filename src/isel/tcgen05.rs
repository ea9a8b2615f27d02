//! Tensor memory: moves between it and registers, and `tcgen05.mma`.

use super::build::{Fail, fail};
use super::mir::{Atom, Operand};
use super::select::Selector;
use super::values::{Elem, Form};
use crate::dialect::nvvm::view::{self, View};
use crate::ir::{Op, ValueId};

/// Mnemonics up to the operation.
const LD: &str = "tcgen05.ld.sync.aligned";
const ST: &str = "tcgen05.st.sync.aligned";

impl Selector<'_> {
    pub(super) fn tensor(&mut self, op: &Op) -> Result<(), Fail> {
        match View::of(op) {
            Some(View::TensorLd(v)) => self.tensor_ld(&v),
            Some(View::TensorSt(v)) => self.tensor_st(&v),
            Some(View::TensorMma(v)) => self.tensor_mma(&v),
            Some(View::TensorCopy(v)) => self.tensor_copy(&v),
            Some(View::TensorMmaScaled(v)) => self.tensor_mma_scaled(&v),
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

    fn tensor_ld(&mut self, v: &view::TensorLd<Op>) -> Result<(), Fail> {
        let form = self.result_form(v.op())?;
        let offsets = v.offsets();
        let address = self.tensor_address(v.address(), offsets)?;
        let pairs = if v.pairs() { ".pack::16b" } else { "" };
        let name = format!("{LD}.{}.x{}{pairs}.b32", v.shape().text(), v.count());
        let words = self.b.op(&name, offsets.len(), vec![address])?.concat();
        self.b.effect("tcgen05.wait::ld.sync.aligned", Vec::new())?;
        let whole = Form::new(Elem::Int(32), words.len());
        let value = self.bitcast(whole, form, words)?;
        self.define(v.op(), vec![value])
    }

    fn tensor_st(&mut self, v: &view::TensorSt<Op>) -> Result<(), Fail> {
        let (value, offsets) = (v.value(), v.offsets());
        let address = self.tensor_address(v.address(), offsets)?;
        let (form, atoms) = (self.form(value)?, self.get(value)?);
        let words = self.b.split_words(form, &atoms)?;
        let pairs = if v.pairs() { ".unpack::16b" } else { "" };
        let name = format!("{ST}.{}.x{}{pairs}.b32", v.shape().text(), v.count());
        self.b
            .op(&name, offsets.len(), vec![address, words.into()])?;
        self.b.effect("tcgen05.wait::st.sync.aligned", Vec::new())
    }

    fn tensor_mma(&mut self, v: &view::TensorMma<Op>) -> Result<(), Fail> {
        let kind = v.kind().text();
        let (d, a) = (v.d(), v.a());
        let from_tensor = self.form(a)?.elem == Elem::Int(32);
        let name = match (v.pair(), from_tensor) {
            (true, false) => format!("@tcgen05.pair.{kind}"),
            (true, true) => return fail("a pair's left operand is in tensor memory"),
            (false, true) => format!("@tcgen05.ts.{kind}"),
            (false, false) => format!("@tcgen05.ss.{kind}"),
        };
        let a_atom = self.scalar(a)?;
        let b_atom = self.scalar(v.b())?;
        let accumulate = match v.accumulate() {
            Some(value) => self.scalar(value)?,
            None => Atom::Imm(1),
        };
        let descriptor = Atom::Imm(v.descriptor() as u32 as u64);
        let (d_m, d_n) = (v.d_m_steps(), v.d_n_steps());
        let (a_m, a_k, b_n, b_k) = (v.a_m_steps(), v.a_k_steps(), v.b_n_steps(), v.b_k_steps());
        self.descriptors.clear();
        for (step, (a_k, b_k)) in a_k.iter().zip(b_k).enumerate() {
            let adds = if step == 0 { accumulate } else { Atom::Imm(1) };
            for (d_m, a_m) in d_m.iter().zip(a_m) {
                for (d_n, b_n) in d_n.iter().zip(b_n) {
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
