//! Matmuls by block-scaled `mma.sync`.

use super::Lower;
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Diagnostic, Op, OpId, ValueId};
use crate::lower::{tileas, unsupported};

/// Scales in a register.
const PER_WORD: u32 = 4;

impl Lower<'_> {
    pub(super) fn scaled_dot(
        &mut self,
        op: OpId,
        v: &view::ScaledDot<Op>,
    ) -> Result<(), Diagnostic> {
        let Some(scales) = tileas::scales_of(self.m, op, self.role.warps) else {
            return Err(unsupported(
                self.m,
                op,
                "no block-scaled mma.sync for this matmul",
            ));
        };
        let sources = [v.lhs(), v.rhs(), v.acc(), v.lhs_scale(), v.rhs_scale()];
        let elem = |v: ValueId| Some(Attr::Type(self.m.types.elem(self.m.ty(v))));
        let numbers = |v: &[u64]| Some(Attr::I32s(v.iter().map(|&x| x as i32).collect()));
        let (mma, i) = (&scales.mma, scales.mma.instruction);
        let types = [elem(v.lhs()), elem(v.rhs()), elem(v.lhs_scale())];
        let [a_type, b_type, scale_type] = types;
        let attrs = [
            numbers(&[i.m, i.n, i.k]),
            numbers(&mma.instructions()),
            a_type,
            b_type,
            scale_type,
            self.emit().i32_attr(scales.per_instruction() as i64),
        ];
        let mut values = Vec::new();
        for (position, source) in sources.into_iter().enumerate() {
            let value = self.get(op, source)?;
            values.push(match position {
                0 | 1 => self.whole_bytes(value),
                2 => value,
                _ => self.whole_words(value),
            });
        }
        let groups: Vec<&[ValueId]> = values.iter().map(std::slice::from_ref).collect();
        let ty = self.m.ty(values[2]);
        let value = self.emit().get(N::MmaScaled, &groups, attrs, ty);
        self.set(v.result(), value);
        Ok(())
    }

    /// Elements of four bits, two to a byte.
    fn whole_bytes(&mut self, value: ValueId) -> ValueId {
        let e = self.emit();
        let elem = e.elem(value);
        match e.m.types.bits(elem) {
            Some(bits @ 4) => self.join_bits(value, bits),
            _ => value,
        }
    }

    /// Scales of fewer than four bytes, repeated to fill a register.
    fn whole_words(&mut self, value: ValueId) -> ValueId {
        let mut e = self.emit();
        match e.count(value) {
            0 | PER_WORD.. => value,
            n => e.take(value, &(0..PER_WORD).map(|i| i % n).collect::<Vec<_>>()),
        }
    }
}
