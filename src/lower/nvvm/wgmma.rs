//! Warpgroup matmuls: descriptors of shared operands, fragments of register operands.

use super::Lower;
use super::shared::Buffer;
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Diagnostic, Op, OpId, ValueId};
use crate::layout::mma::Wgmma;
use crate::layout::wgmma_desc::{self, Major, OperandDescriptor};
use crate::lower::tileas;
use crate::lower::unsupported;

/// An operand as the instructions take it.
struct Multiplicand {
    /// A descriptor or a register fragment.
    value: ValueId,
    /// Bytes from one instruction to the next along M or N, and along K; none of a fragment.
    mn_steps: Vec<u64>,
    k_steps: Vec<u64>,
    /// Whether M or N is contiguous in memory, not K.
    transposed: bool,
}

impl Lower<'_> {
    pub(super) fn async_dot(&mut self, op: OpId, v: &view::AsyncDot<Op>) -> Result<(), Diagnostic> {
        let Some(w) = tileas::wgmma_of(self.m, op) else {
            return Err(unsupported(self.m, op, "no wgmma tiling for this matmul"));
        };
        let a = self.left(op, v, &w)?;
        let b = self.right(op, v, &w)?;
        let acc = self.get(op, v.acc())?;
        let accumulate = v.accumulate().map(|v| self.get(op, v)).transpose()?;
        let units =
            |steps: &[u64]| Some(Attr::I64s(steps.iter().map(|s| (s >> 4) as i64).collect()));
        let elem = |v: ValueId| Some(Attr::Type(self.m.types.elem(self.m.ty(v))));
        let (elem_a, elem_b) = (elem(v.lhs()), elem(v.rhs()));
        let ty = self.m.ty(acc);
        let mut e = self.emit();
        let attrs = [
            e.i32_attr(w.instruction_n() as i64),
            e.i32_attr(w.instruction_k() as i64),
            e.i32_attr((w.tile.m / (Wgmma::M * w.warpgroups_m)) as i64),
            e.i32_attr((w.tile.k / w.instruction_k()) as i64),
            e.i32_attr((step(&a.mn_steps, 1) >> 4) as i64),
            units(&a.k_steps),
            units(&b.k_steps),
            elem_a,
            elem_b,
            Some(Attr::Bool(a.transposed)),
            Some(Attr::Bool(b.transposed)),
            Some(Attr::Bool(v.signed_lhs() == Some(true))),
            Some(Attr::Bool(v.signed_rhs() == Some(true))),
        ];
        let value = e.get(
            N::Wgmma,
            &[&[a.value], &[b.value], &[acc], accumulate.as_slice()],
            attrs,
            ty,
        );
        e.op(N::WgmmaCommit, &[], [], &[]);
        self.set(v.result(), value);
        Ok(())
    }

    /// The left operand: a descriptor where it is a shared buffer, its fragment where it is a tile.
    fn left(
        &mut self,
        op: OpId,
        v: &view::AsyncDot<Op>,
        w: &Wgmma,
    ) -> Result<Multiplicand, Diagnostic> {
        let value = v.lhs();
        if self.layout(value).is_some() {
            return Ok(Multiplicand {
                value: self.get(op, value)?,
                mn_steps: Vec::new(),
                k_steps: Vec::new(),
                transposed: false,
            });
        }
        let buffer = self.buffer(op, value)?;
        let desc = self.described(op, &buffer, 0, Wgmma::M)?;
        let m_tiles = w.tile.m / (Wgmma::M * w.warpgroups_m);
        let parts: Vec<(u32, u64)> = (0..w.warpgroups_m.trailing_zeros())
            .map(|i| (i, step(&desc.mn_steps, (m_tiles << i) as usize)))
            .collect();
        self.shared_operand(op, v.lhs_iteration(), &buffer, desc, &parts)
    }

    /// The right operand, always a shared buffer.
    fn right(
        &mut self,
        op: OpId,
        v: &view::AsyncDot<Op>,
        w: &Wgmma,
    ) -> Result<Multiplicand, Diagnostic> {
        let buffer = self.buffer(op, v.rhs())?;
        let desc = self.described(op, &buffer, 1, w.instruction_n())?;
        let rows = w.warpgroups_m.trailing_zeros();
        let parts: Vec<(u32, u64)> = (0..w.warpgroups_n.trailing_zeros())
            .map(|i| (i + rows, step(&desc.mn_steps, 1 << i)))
            .collect();
        self.shared_operand(op, v.rhs_iteration(), &buffer, desc, &parts)
    }

    fn described(
        &self,
        op: OpId,
        buffer: &Buffer,
        mn_dim: usize,
        instruction_mn: u64,
    ) -> Result<OperandDescriptor, Diagnostic> {
        let matrix = self.layout_error(op, buffer.layout.squeezed())?;
        let desc = wgmma_desc::describe(&matrix, mn_dim, instruction_mn);
        self.layout_error(op, desc)
    }

    fn shared_operand(
        &mut self,
        op: OpId,
        iteration: Option<ValueId>,
        buffer: &Buffer,
        desc: OperandDescriptor,
        parts: &[(u32, u64)],
    ) -> Result<Multiplicand, Diagnostic> {
        let value = self.descriptor(op, iteration, buffer, &desc, parts)?;
        Ok(Multiplicand {
            value,
            mn_steps: desc.mn_steps,
            k_steps: desc.k_steps,
            transposed: desc.major == Major::Mn,
        })
    }

    /// The descriptor of this warpgroup's part of a stage of an operand.
    fn descriptor(
        &mut self,
        op: OpId,
        iteration: Option<ValueId>,
        buffer: &Buffer,
        desc: &OperandDescriptor,
        parts: &[(u32, u64)],
    ) -> Result<ValueId, Diagnostic> {
        let mut address = self.emit().smem(buffer.offset);
        for &(bit, bytes) in parts {
            let group = self.warpgroup();
            let mut e = self.emit();
            let chosen = e.with(N::ShrU, group, i64::from(bit));
            let chosen = e.with(N::And, chosen, 1);
            let offset = e.with(N::Mul, chosen, bytes as i64);
            address = e.ptr_add(address, offset);
        }
        self.matrix_descriptor(op, iteration, buffer, address, desc.constant())
    }

    /// The 64-bit descriptor of the stage at hand of an operand's buffer, which begins at `address`: `constant`
    /// holds the fields that say how the matrix lies there.
    pub(super) fn matrix_descriptor(
        &mut self,
        op: OpId,
        iteration: Option<ValueId>,
        buffer: &Buffer,
        address: ValueId,
        constant: u64,
    ) -> Result<ValueId, Diagnostic> {
        let stage = match iteration {
            Some(iteration) if buffer.stages > 1 => {
                Some(self.stage_of(op, iteration, buffer.stages)?)
            }
            _ => None,
        };
        let mut e = self.emit();
        let i32_ty = e.int(32);
        let address = e.bitcast(address, i32_ty);
        let field = e.with(N::And, address, 0x3ffff);
        let mut field = e.with(N::ShrU, field, 4);
        if let Some(stage) = stage {
            let offset = e.with(N::Mul, stage, (buffer.stage_bytes() >> 4) as i64);
            field = e.add(field, offset);
        }
        let i64_ty = e.int(64);
        let wide = e.get(N::ZExt, &[&[field]], [], i64_ty);
        Ok(e.with(N::Or, wide, constant as i64))
    }

    pub(super) fn async_dot_wait(
        &mut self,
        op: OpId,
        v: &view::AsyncDotWait<Op>,
    ) -> Result<(), Diagnostic> {
        let acc = self.get(op, v.acc())?;
        let ty = self.m.ty(acc);
        let pending = self.emit().i32_attr(v.pending());
        let value = self.emit().get(N::WgmmaWait, &[&[acc]], [pending], ty);
        self.set(v.result(), value);
        Ok(())
    }
}

/// Bytes of step `i`, 0 where there is only one.
fn step(steps: &[u64], i: usize) -> u64 {
    steps.get(i).copied().unwrap_or(0)
}
