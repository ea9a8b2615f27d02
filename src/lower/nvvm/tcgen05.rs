//! Tensor memory and `tcgen05.mma`.
//!
//! A kernel allocates its columns once, by the first warp before anything else, and gives them back at each of its
//! ends. What its warps hold of a buffer there is `crate::layout::tensor`'s to say. Matmuls are issued by the role's
//! first thread.

use super::{Issuer, Lower, emit::AccessAttrs};
use crate::dialect::enums;
use crate::dialect::enums::{FenceKind, Predicate, SpecialRegister, TensorMove};
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::facts::tensor::{parts, stages, tensor_matrix};
use crate::ir::{Attr, BlockId, Diagnostic, Op, OpId, ValueId};
use crate::layout::tcgen05::{self, Atom, K_BITS};
use crate::layout::tensor::{LEAST_COLUMNS, MoveShape, Share};
use crate::layout::wgmma_desc::Major;
use crate::lower::build::{case, cased};
use crate::lower::tileas::intersect;
use crate::lower::tileas::tcgen05::fits::element_name;
use crate::lower::tileas::tcgen05::{columns_end, columns_of, whole_bytes};
use crate::lower::unsupported;
use crate::scalar::Signedness;

/// A warp's threads.
const WARP: i64 = 32;

/// The columns that a kernel holds.
#[derive(Clone, Copy, Debug)]
pub struct TensorMemory {
    /// Address of the first (i32).
    base: ValueId,
    columns: u64,
    /// Whether the code at hand gives them back where it ends.
    pub owned: bool,
}

/// An operand of the instructions: a descriptor (i64) or an address (i32), and its steps.
pub(super) struct Multiplicand {
    pub value: ValueId,
    pub mn_steps: Vec<i64>,
    pub k_steps: Vec<i64>,
    pub transposed: bool,
}

impl Lower<'_> {
    /// Allocates what the buffers under `body` need.
    pub(super) fn allocate_tensor_memory(
        &mut self,
        op: OpId,
        body: BlockId,
    ) -> Result<(), Diagnostic> {
        let Some(end) = columns_end(self.m, body) else {
            return Ok(());
        };
        let columns = end.next_power_of_two().max(LEAST_COLUMNS);
        if columns > crate::layout::tensor::COLUMNS {
            return Err(unsupported(
                self.m,
                op,
                format!("the kernel needs {end} columns of tensor memory"),
            ));
        }
        let slot = self.memory.reserve(4, 4, "address of tensor memory");
        let (first, pair) = (self.first_warp(), self.of_pair());
        self.when(first, true, |l| {
            let mut e = l.emit();
            let at = e.smem(slot);
            let count = e.i32_attr(columns as i64);
            e.effect(N::TensorAlloc, &[at], [count, pair.clone()]);
            e.effect(N::TensorRelinquish, &[], [pair]);
            Ok(())
        })?;
        self.tensor_barrier();
        let mut e = self.emit();
        let (at, ty) = (e.smem(slot), e.int(32));
        let attrs = AccessAttrs::shared(1, vec![0]).list(&mut e);
        let base = e.get(N::Ld, &[&[at], &[], &[]], attrs, ty);
        self.asynchronous.tensor = Some(TensorMemory {
            base,
            columns,
            owned: true,
        });
        Ok(())
    }

    /// At an end of the code that owns the kernel's tensor memory. A pair's is given back when both blocks have come to
    /// their ends ([`Lower::free_pair`]).
    pub(super) fn free_tensor_memory(&mut self) -> Result<(), Diagnostic> {
        let Some(memory) = self.asynchronous.tensor.filter(|t| t.owned) else {
            return Ok(());
        };
        if self.kernel.pair {
            return Ok(());
        }
        self.tensor_barrier();
        self.deallocate(memory)
    }

    /// At the end of a block of a pair, behind all roles: both give their tensor memory back when no warp of either
    /// reads it.
    pub(super) fn free_pair(&mut self) -> Result<(), Diagnostic> {
        self.fence(FenceKind::TensorBefore);
        self.warp_barrier();
        self.cluster_barrier(false);
        self.fence(FenceKind::TensorAfter);
        match self.asynchronous.tensor {
            Some(memory) => self.deallocate(memory),
            None => Ok(()),
        }
    }

    fn deallocate(&mut self, memory: TensorMemory) -> Result<(), Diagnostic> {
        let (first, pair) = (self.first_warp(), self.of_pair());
        self.when(first, true, |l| {
            let columns = l.emit().i32_attr(memory.columns as i64);
            l.emit()
                .effect(N::TensorDealloc, &[memory.base], [columns, pair]);
            Ok(())
        })
    }

    /// The attribute of instructions of a pair of blocks.
    fn of_pair(&self) -> Option<Attr> {
        self.kernel.pair.then_some(Attr::Unit)
    }

    fn first_warp(&mut self) -> ValueId {
        let mut e = self.emit();
        let (tid, threads) = (e.sreg(SpecialRegister::TidX), e.i32(WARP));
        e.icmp(Predicate::LessThan, Signedness::Unsigned, tid, threads)
    }

    /// What the role's warps have done to tensor memory comes before what any of them does to it afterwards.
    pub(super) fn tensor_barrier(&mut self) {
        self.fence(FenceKind::TensorBefore);
        self.barrier();
        self.fence(FenceKind::TensorAfter);
    }

    /// Whether the code at hand gives the kernel's tensor memory back.
    pub(super) fn own_tensor_memory(&mut self, owned: bool) {
        if let Some(tensor) = &mut self.asynchronous.tensor {
            tensor.owned = owned;
        }
    }

    /// What a barrier that follows says about tensor memory, it says of what came before this.
    pub(super) fn tensor_before(&mut self) {
        self.fence(FenceKind::TensorBefore);
    }

    /// What the barrier that was waited for says about tensor memory holds from here on.
    pub(super) fn tensor_after(&mut self) {
        self.fence(FenceKind::TensorAfter);
    }

    // ---- tiles -----------------------------------------------------------------------------

    /// Address of a stage of a buffer.
    pub(super) fn tensor_address(
        &mut self,
        op: OpId,
        buffer: ValueId,
        iteration: Option<ValueId>,
    ) -> Result<ValueId, Diagnostic> {
        let (address, column) = self.tensor_place(op, buffer, iteration)?;
        Ok(self.emit().with(N::Add, address, column))
    }

    /// An address, and how many columns behind it a stage of a buffer begins.
    fn tensor_place(
        &mut self,
        op: OpId,
        buffer: ValueId,
        iteration: Option<ValueId>,
    ) -> Result<(ValueId, i64), Diagnostic> {
        let (Some(memory), Some(alloc), Some(matrix)) = (
            self.asynchronous.tensor,
            self.m.def_op(buffer),
            tensor_matrix(self.m, buffer),
        ) else {
            return Err(unsupported(self.m, op, "no buffer in tensor memory"));
        };
        let column = view::AllocTensorMemory::of(self.m.op(alloc)).and_then(|a| a.column());
        let Some(column) = column else {
            let why = "internal error: a buffer without a column in tensor memory";
            return Err(unsupported(self.m, alloc, why));
        };
        let mut address = memory.base;
        let stages = stages(self.m, buffer);
        if let Some(iteration) = iteration.filter(|_| stages > 1) {
            let stage = self.stage_of(op, iteration, stages)?;
            let mut e = self.emit();
            let offset = e.with(N::Mul, stage, matrix.all_columns() as i64);
            address = e.add(address, offset);
        }
        Ok((address, column))
    }

    /// How the role's warps share out a buffer, or the part of it that `tile` is.
    fn share(&self, op: OpId, buffer: ValueId, tile: ValueId) -> Result<Share, Diagnostic> {
        let Some(matrix) = tensor_matrix(self.m, buffer) else {
            return Err(unsupported(self.m, op, "no buffer in tensor memory"));
        };
        let parts = parts(self.m, buffer, tile);
        self.layout_error(op, Share::of_part(matrix, parts, self.role.warps / 4))
    }

    /// This thread's address, and the attributes of the instructions.
    fn tensor_moves(
        &mut self,
        op: OpId,
        buffer: ValueId,
        iteration: Option<ValueId>,
        share: &Share,
    ) -> Result<(ValueId, [Option<Attr>; 4]), Diagnostic> {
        let (address, column) = self.tensor_place(op, buffer, iteration)?;
        let moves = share.moves();
        let mut e = self.emit();
        let own = e.linear(&moves.base);
        let address = e.add(address, own);
        let shape = match moves.shape {
            MoveShape::Lanes32x32 => TensorMove::By32x32,
            MoveShape::Lanes16x256 => TensorMove::By16x256,
            MoveShape::Lanes16x128 => TensorMove::By16x128,
        };
        let attrs = [
            cased(shape),
            e.i32_attr(moves.count as i64),
            moves.pairs.then_some(Attr::Unit),
            Some(Attr::I64s(
                moves.offsets.iter().map(|&o| column + o as i64).collect(),
            )),
        ];
        Ok((address, attrs))
    }

    pub(super) fn tensor_load(
        &mut self,
        op: OpId,
        v: &view::TensorLoad<Op>,
    ) -> Result<(), Diagnostic> {
        let (buffer, result) = (v.source(), v.result());
        let share = self.share(op, buffer, result)?;
        let layout = self.layout_error(op, share.layout())?;
        let (mut address, attrs) = self.tensor_moves(op, buffer, v.iteration(), &share)?;
        if let Some(part) = v.part() {
            let part = self.get(op, part)?;
            let mut e = self.emit();
            let first = e.with(N::Mul, part, share.matrix.block_columns() as i64);
            address = e.add(address, first);
        }
        let elem = self.m.types.elem(self.m.ty(result));
        let ty = self.m.types.regs(elem, layout.registers() as u32);
        let value = self.emit().get(N::TensorLd, &[&[address]], attrs, ty);
        let value = match self.layout(result) {
            Some(wanted) => self.convert_value(op, value, &layout, &wanted)?,
            None => return Err(unsupported(self.m, op, "a tile without a layout")),
        };
        self.set(result, value);
        Ok(())
    }

    pub(super) fn tensor_store(
        &mut self,
        op: OpId,
        v: &view::TensorStore<Op>,
    ) -> Result<(), Diagnostic> {
        let (tile, buffer) = (v.tile(), v.destination());
        let share = self.share(op, buffer, tile)?;
        let layout = self.layout_error(op, share.layout())?;
        let Some(have) = self.layout(tile) else {
            return Err(unsupported(self.m, op, "a tile without a layout"));
        };
        let value = self.get(op, tile)?;
        let value = self.convert_value(op, value, &have, &layout)?;
        let value = self.emit().widen(value, layout.registers() as u32);
        if self.role.warps > 4 && self.shares_columns(buffer) {
            // Warps of other warpgroups may still read what was there.
            self.tensor_barrier();
        }
        let (address, attrs) = self.tensor_moves(op, buffer, v.iteration(), &share)?;
        self.emit().effect(N::TensorSt, &[address, value], attrs);
        Ok(())
    }

    /// Whether another buffer has columns of this one.
    fn shares_columns(&self, buffer: ValueId) -> bool {
        let m = &*self.m;
        let Some((own, columns)) = m.def_op(buffer).and_then(|a| Some((a, columns_of(m, a)?)))
        else {
            return false;
        };
        let others = m.block(m.op(own).block).ops.iter();
        let others =
            others.filter(|&&o| o != own && S::of(m.op(o).kind) == Some(S::AllocTensorMemory));
        others
            .filter_map(|&o| columns_of(m, o))
            .any(|r| intersect(&r, &columns))
    }

    // ---- matmuls --------------------------------------------------------------------------

    pub(super) fn tensor_dot(
        &mut self,
        op: OpId,
        v: &view::TensorDot<Op>,
    ) -> Result<(), Diagnostic> {
        if let (Some(a), Some(b), Some(to)) = (v.lhs_scale(), v.rhs_scale(), v.scales()) {
            return self.scaled_tensor_dot(op, v, [a, b], to);
        }
        let acc = v.acc();
        let Some(matrix) = tensor_matrix(self.m, acc) else {
            return Err(unsupported(
                self.m,
                op,
                "the accumulator is not in tensor memory",
            ));
        };
        let [a, b, c] = [v.lhs(), v.rhs(), acc].map(|v| element_name(self.m, v));
        let Some(atom) = Atom::of(&a, &b, &c) else {
            return Err(unsupported(self.m, op, "no tcgen05.mma for these elements"));
        };
        let (m, n) = (matrix.lanes, matrix.columns.min(256));
        let accumulate = v.accumulate().map(|v| self.get(op, v)).transpose()?;
        // Each has its rows of the accumulator and of the left operand, and a share of the right one's columns.
        let blocks = if v.pair() { 2 } else { 1 };
        let pair = self.of_pair();
        self.by_first_thread(|l| {
            let lhs = l.tensor_left(op, v, m)?;
            let rhs = l.shared_multiplicand(op, 1, v.rhs(), v.rhs_iteration(), n / blocks)?;
            let d = l.tensor_address(op, acc, v.acc_iteration())?;
            let signed = [v.signed_lhs(), v.signed_rhs()].map(|s| s == Some(true));
            let bits = atom.descriptor([blocks * m, n], signed, [lhs.transposed, rhs.transposed]);
            let steps = |count: u64, each: u64| -> Vec<i64> {
                (0..count).map(|i| (i * each) as i64).collect()
            };
            let mut e = l.emit();
            let attrs = [
                case(&enums::TENSOR_KIND, atom.a.kind),
                e.i32_attr(i64::from(bits)),
                Some(Attr::I64s(steps(matrix.blocks(), matrix.block_columns()))),
                Some(Attr::I64s(steps(
                    matrix.columns / n,
                    n * u64::from(matrix.cell) / 32,
                ))),
                Some(Attr::I64s(lhs.mn_steps)),
                Some(Attr::I64s(lhs.k_steps)),
                Some(Attr::I64s(rhs.mn_steps)),
                Some(Attr::I64s(rhs.k_steps)),
                pair,
            ];
            let groups: [&[ValueId]; 4] = [&[d], &[lhs.value], &[rhs.value], accumulate.as_slice()];
            e.op(N::TensorMma, &groups, attrs, &[]);
            Ok(())
        })
    }

    /// What the one thread does that issues matmuls.
    pub(super) fn by_first_thread(
        &mut self,
        then: impl FnOnce(&mut Self) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let issuer = match self.role.issuer {
            Issuer::Alone => return then(self),
            Issuer::First => self.thread_is(0),
            Issuer::Where(issuer) => issuer,
        };
        self.when(issuer, false, then)
    }

    /// The left operand: in tensor memory, or in shared memory.
    fn tensor_left(
        &mut self,
        op: OpId,
        v: &view::TensorDot<Op>,
        m: u64,
    ) -> Result<Multiplicand, Diagnostic> {
        let lhs = v.lhs();
        let Some(matrix) = tensor_matrix(self.m, lhs) else {
            return self.shared_multiplicand(op, 0, lhs, v.lhs_iteration(), m);
        };
        let value = self.tensor_address(op, lhs, v.lhs_iteration())?;
        let each = (K_BITS / 32) as i64;
        Ok(Multiplicand {
            value,
            mn_steps: (0..matrix.blocks())
                .map(|i| (i * matrix.block_columns()) as i64)
                .collect(),
            k_steps: (0..matrix.block_columns() as i64 / each)
                .map(|i| i * each)
                .collect(),
            transposed: false,
        })
    }

    pub(super) fn shared_multiplicand(
        &mut self,
        op: OpId,
        side: usize,
        operand: ValueId,
        iteration: Option<ValueId>,
        instruction_mn: u64,
    ) -> Result<Multiplicand, Diagnostic> {
        let buffer = self.buffer(op, operand)?;
        let matrix = self.layout_error(op, whole_bytes(&buffer.layout, side))?;
        let desc = tcgen05::describe(&matrix, side, instruction_mn);
        let desc = self.layout_error(op, desc)?;
        let address = self.emit().smem(buffer.offset);
        let constant = tcgen05::constant(&desc);
        let low = self.emit().low_word(address, constant);
        let value = self.matrix_descriptor(op, iteration, &buffer, low, constant)?;
        let units = |steps: &[u64]| steps.iter().map(|s| (s >> 4) as i64).collect();
        Ok(Multiplicand {
            value,
            mn_steps: units(&desc.mn_steps),
            k_steps: units(&desc.k_steps),
            transposed: desc.major == Major::Mn,
        })
    }

    /// An arrival at `barrier` when the matmuls issued so far are done; at those of `blocks` (a mask) of the cluster, if
    /// there are any.
    pub(super) fn tensor_commit(
        &mut self,
        barrier: ValueId,
        blocks: i64,
    ) -> Result<(), Diagnostic> {
        self.by_first_thread(|l| {
            let (blocks, pair) = (l.emit().i32_attr(blocks), l.of_pair());
            l.emit().effect(N::TensorCommit, &[barrier], [blocks, pair]);
            Ok(())
        })
    }
}
