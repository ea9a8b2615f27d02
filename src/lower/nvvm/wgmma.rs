//! Warpgroup matmuls: descriptors of shared operands, fragments of register operands.

use super::Lower;
use super::emit::Emit;
use super::roles::WARPGROUP;
use super::shared::Buffer;
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Diagnostic, Op, OpId, ValueId};
use crate::layout::mma::Wgmma;
use crate::layout::wgmma_desc::{self, Major, OperandDescriptor};
use crate::lower::tileas;
use crate::lower::unsupported;

/// Registers of a thread that an instruction needs beside those of its accumulators: a fragment of the left operand,
/// descriptors.
const BESIDE_ACCUMULATORS: u64 = 16;

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

impl Multiplicand {
    /// A left operand for m tile `i` of `count`.
    fn of_tile(&self, e: &mut Emit<'_>, i: u64, count: u64) -> Multiplicand {
        if !self.k_steps.is_empty() {
            return self.at_step(e, i);
        }
        let value = e.part(self.value, i as u32, count as u32);
        self.with(value)
    }

    /// A shared operand from the `i`-th instruction along M or N on.
    fn at_step(&self, e: &mut Emit<'_>, i: u64) -> Multiplicand {
        let bytes = step(&self.mn_steps, i as usize);
        self.with(match bytes {
            0 => self.value,
            bytes => e.with(N::Add, self.value, (bytes >> 4) as i64),
        })
    }

    fn with(&self, value: ValueId) -> Multiplicand {
        Multiplicand {
            value,
            mn_steps: self.mn_steps.clone(),
            k_steps: self.k_steps.clone(),
            transposed: self.transposed,
        }
    }
}

impl Lower<'_> {
    pub(super) fn async_dot(&mut self, op: OpId, v: &view::AsyncDot<Op>) -> Result<(), Diagnostic> {
        let Some(w) = tileas::wgmma_of(self.m, op) else {
            return Err(unsupported(self.m, op, "no wgmma tiling for this matmul"));
        };
        let acc = self.get(op, v.acc())?;
        let a = self.left(op, v, &w)?;
        let value = match v.part() {
            Some(columns) => {
                let columns = u64::try_from(columns).ok().filter(|&c| c >= 8);
                let columns = columns.ok_or_else(|| {
                    unsupported(
                        self.m,
                        op,
                        "internal error: `part` is less than an instruction",
                    )
                })?;
                let b = self.right(op, v, &w, columns)?;
                self.products_in_parts(v, &w, columns, acc, [&a, &b])
            }
            None => {
                let columns = self.columns_at_once(&w, acc);
                let b = self.right(op, v, &w, columns)?;
                let accumulate = match v.fresh() {
                    true => Some(self.emit().no()),
                    false => v.accumulate().map(|v| self.get(op, v)).transpose()?,
                };
                let acc = match v.fresh() {
                    true => self.emit().undef_like(acc),
                    false => acc,
                };
                let value = if columns == w.group_n() {
                    self.issue(v, &w, [columns, m_tiles(&w)], acc, [&a, &b], accumulate)
                } else {
                    let parts = self.by_columns(&w, columns, acc, [&a, &b], |l, acc, sides| {
                        l.issue(v, &w, [columns, 1], acc, sides, accumulate)
                    });
                    self.emit().concat(&parts)
                };
                self.emit().op(N::WgmmaCommit, &[], [], &[]);
                value
            }
        };
        self.set(v.result(), value);
        Ok(())
    }

    /// Columns of one instruction: as many as the tiling has, unless their accumulators are all registers that a thread
    /// has at launch. `ptxas` wants every instruction to do with those, although `setmaxnreg` gives more.
    fn columns_at_once(&mut self, w: &Wgmma, acc: ValueId) -> u64 {
        let bits = self.m.types.width(self.m.types.elem(self.m.ty(acc)));
        let registers = |columns| columns * Wgmma::M * u64::from(bits) / (32 * WARPGROUP);
        let most = self
            .registers_at_launch()
            .saturating_sub(BESIDE_ACCUMULATORS);
        let mut columns = w.instruction_n();
        while columns > 8 && registers(columns) > most {
            columns /= 2;
        }
        columns
    }

    /// Executes `part` for each part of `acc` that instructions of `columns` columns sum up, in the order of its registers,
    /// with the operands there; the parts' results, one behind the other, are the whole.
    fn by_columns(
        &mut self,
        w: &Wgmma,
        columns: u64,
        acc: ValueId,
        [a, b]: [&Multiplicand; 2],
        mut part: impl FnMut(&mut Self, ValueId, [&Multiplicand; 2]) -> ValueId,
    ) -> Vec<ValueId> {
        let (rows, of_row) = (m_tiles(w), w.group_n() / columns);
        let mut parts = Vec::new();
        for (row, column) in (0..rows).flat_map(|r| (0..of_row).map(move |c| (r, c))) {
            let mut e = self.emit();
            let old = e.part(acc, (row * of_row + column) as u32, (rows * of_row) as u32);
            let (a, b) = (a.of_tile(&mut e, row, rows), b.at_step(&mut e, column));
            parts.push(part(self, old, [&a, &b]));
        }
        parts
    }

    /// Issues instructions of `columns` columns, for so many m tiles.
    fn issue(
        &mut self,
        v: &view::AsyncDot<Op>,
        w: &Wgmma,
        [columns, m_tiles]: [u64; 2],
        acc: ValueId,
        [a, b]: [&Multiplicand; 2],
        accumulate: Option<ValueId>,
    ) -> ValueId {
        let units =
            |steps: &[u64]| Some(Attr::I64s(steps.iter().map(|s| (s >> 4) as i64).collect()));
        let elem = |v: ValueId| Some(Attr::Type(self.m.types.elem(self.m.ty(v))));
        let (elem_a, elem_b) = (elem(v.lhs()), elem(v.rhs()));
        let ty = self.m.ty(acc);
        let mut e = self.emit();
        let attrs = [
            e.i32_attr(columns as i64),
            e.i32_attr(w.instruction_k() as i64),
            e.i32_attr(m_tiles as i64),
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
        e.get(
            N::Wgmma,
            &[&[a.value], &[b.value], &[acc], accumulate.as_slice()],
            attrs,
            ty,
        )
    }

    /// The product, `columns` of a row of instructions at a time, each part waited for by itself; or the sum of `acc` and
    /// a promoted one.
    fn products_in_parts(
        &mut self,
        v: &view::AsyncDot<Op>,
        w: &Wgmma,
        columns: u64,
        acc: ValueId,
        sides: [&Multiplicand; 2],
    ) -> ValueId {
        let parts = self.by_columns(w, columns, acc, sides, |l, old, sides| {
            let mut e = l.emit();
            let (empty, no) = (e.undef_like(old), e.no());
            let product = l.issue(v, w, [columns, 1], empty, sides, Some(no));
            let ty = l.m.ty(product);
            let mut e = l.emit();
            e.op(N::WgmmaCommit, &[], [], &[]);
            let pending = e.i32_attr(0);
            let product = e.get(N::WgmmaWait, &[&[product]], [pending], ty);
            if v.promoted() {
                e.fadd(old, product)
            } else {
                product
            }
        });
        if v.promoted() {
            self.emit().concat(&parts)
        } else {
            self.joined(parts)
        }
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
        let m_tiles = m_tiles(w);
        let parts: Vec<(u32, u64)> = (0..w.warpgroups_m.trailing_zeros())
            .map(|i| (i, step(&desc.mn_steps, (m_tiles << i) as usize)))
            .collect();
        self.shared_operand(op, v.lhs_iteration(), &buffer, desc, &parts)
    }

    /// The right operand, always a shared buffer, for instructions of `columns` columns.
    fn right(
        &mut self,
        op: OpId,
        v: &view::AsyncDot<Op>,
        w: &Wgmma,
        columns: u64,
    ) -> Result<Multiplicand, Diagnostic> {
        let buffer = self.buffer(op, v.rhs())?;
        let desc = self.described(op, &buffer, 1, columns)?;
        let rows = w.warpgroups_m.trailing_zeros();
        let own = (w.group_n() / columns) as usize;
        let parts: Vec<(u32, u64)> = (0..w.warpgroups_n.trailing_zeros())
            .map(|i| (i + rows, step(&desc.mn_steps, own << i)))
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
        let mut e = self.emit();
        let low = e.low_word(address, desc.constant());
        // In loops within loops ptxas would add up descriptors in each lane's registers and move every one.
        let low = e.warp_uniform(low);
        self.matrix_descriptor(op, iteration, buffer, low, desc.constant())
    }

    /// The 64-bit descriptor of the stage at hand of an operand's buffer: `low` is the low word of the first stage's,
    /// `constant` holds the fields that say how the matrix lies there.
    pub(super) fn matrix_descriptor(
        &mut self,
        op: OpId,
        iteration: Option<ValueId>,
        buffer: &Buffer,
        mut low: ValueId,
        constant: u64,
    ) -> Result<ValueId, Diagnostic> {
        let stage = match iteration {
            Some(iteration) if buffer.stages > 1 => {
                Some(self.stage_of(op, iteration, buffer.stages)?)
            }
            _ => None,
        };
        let mut e = self.emit();
        if let Some(stage) = stage {
            // The address has 14 bits of the word, which hold all of shared memory: nothing is carried out of them.
            let offset = e.with(N::Mul, stage, (buffer.stage_bytes() >> 4) as i64);
            low = e.add(low, offset);
        }
        let i64_ty = e.int(64);
        let wide = e.get(N::ZExt, &[&[low]], [], i64_ty);
        Ok(e.with(N::Or, wide, (constant >> 32 << 32) as i64))
    }

    pub(super) fn async_dot_wait(
        &mut self,
        op: OpId,
        v: &view::AsyncDotWait<Op>,
    ) -> Result<(), Diagnostic> {
        let acc = self.get(op, v.acc())?;
        if self.values.parts_of(acc).is_some() {
            // Each has been waited for.
            self.set(v.result(), acc);
            return Ok(());
        }
        let ty = self.m.ty(acc);
        let pending = self.emit().i32_attr(v.pending());
        let value = self.emit().get(N::WgmmaWait, &[&[acc]], [pending], ty);
        self.set(v.result(), value);
        Ok(())
    }
}

/// Instructions along the rows of a warpgroup.
fn m_tiles(w: &Wgmma) -> u64 {
    w.tile.m / (Wgmma::M * w.warpgroups_m)
}

/// Bytes of step `i`, 0 where there is only one.
fn step(steps: &[u64], i: usize) -> u64 {
    steps.get(i).copied().unwrap_or(0)
}
