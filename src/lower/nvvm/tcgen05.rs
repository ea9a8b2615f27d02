//! Tensor memory and `tcgen05.mma`.
//!
//! A kernel allocates its columns once, by the first warp before anything else, and gives them back at each of its
//! ends. What its warps hold of a buffer there is `crate::layout::tensor`'s to say. Products are issued by the role's
//! first thread.

use super::pipeline::int;
use super::shared::Buffer;
use super::{Lower, emit::AccessAttrs};
use crate::dialect::enums;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::operand;
use crate::facts::tensor::{stages, tensor_matrix};
use crate::ir::{Attr, BlockId, Diagnostic, Op, OpId, ValueId};
use crate::layout::tcgen05::{self, Atom, K_BITS};
use crate::layout::tensor::{LANES, LEAST_COLUMNS, MoveShape, Share};
use crate::layout::wgmma_desc::{Major, OperandDescriptor};
use crate::lower::build::case;
use crate::lower::tileas::tcgen05::{columns_end, columns_of, element_name};
use crate::lower::unsupported;

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
struct Multiplicand {
    value: ValueId,
    mn_steps: Vec<i64>,
    k_steps: Vec<i64>,
    transposed: bool,
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
        let first = self.first_warp();
        self.when(first, true, |l| {
            let mut e = l.emit();
            let at = e.smem(slot);
            let count = e.i32_attr(columns as i64);
            e.effect(N::TensorAlloc, &[at], [count]);
            e.effect(N::TensorRelinquish, &[], []);
            Ok(())
        })?;
        self.tensor_fence("tensor_before");
        self.barrier();
        self.tensor_fence("tensor_after");
        let mut e = self.emit();
        let (at, ty) = (e.smem(slot), e.int(32));
        let attrs = AccessAttrs::shared(1, vec![0]).list(&mut e);
        let base = e.get(N::Ld, &[&[at], &[], &[]], attrs, ty);
        self.tensor = Some(TensorMemory {
            base,
            columns,
            owned: true,
        });
        Ok(())
    }

    /// At an end of the code that owns the kernel's tensor memory.
    pub(super) fn free_tensor_memory(&mut self) -> Result<(), Diagnostic> {
        let Some(memory) = self.tensor.filter(|t| t.owned) else {
            return Ok(());
        };
        self.tensor_fence("tensor_before");
        self.barrier();
        self.tensor_fence("tensor_after");
        let first = self.first_warp();
        self.when(first, true, |l| {
            let columns = l.emit().i32_attr(memory.columns as i64);
            l.emit().effect(N::TensorDealloc, &[memory.base], [columns]);
            Ok(())
        })
    }

    fn first_warp(&mut self) -> ValueId {
        let mut e = self.emit();
        let (tid, threads) = (e.sreg("tid.x"), e.i32(WARP));
        e.icmp("less_than", "unsigned", tid, threads)
    }

    fn tensor_fence(&mut self, kind: &str) {
        let attr = case(&enums::FENCE, kind);
        self.emit().op(N::Fence, &[], [attr], &[]);
    }

    /// What the role's warps have done to tensor memory comes before what any of them does to it afterwards.
    pub(super) fn tensor_barrier(&mut self) {
        self.tensor_fence("tensor_before");
        self.barrier();
        self.tensor_fence("tensor_after");
    }

    /// Whether the code at hand gives the kernel's tensor memory back.
    pub(super) fn own_tensor_memory(&mut self, owned: bool) {
        if let Some(tensor) = &mut self.tensor {
            tensor.owned = owned;
        }
    }

    /// What a barrier that follows says about tensor memory, it says of what came before this.
    pub(super) fn tensor_before(&mut self) {
        self.tensor_fence("tensor_before");
    }

    /// What the barrier that was waited for says about tensor memory holds from here on.
    pub(super) fn tensor_after(&mut self) {
        self.tensor_fence("tensor_after");
    }

    // ---- tiles -----------------------------------------------------------------------------

    /// Address of a stage of a buffer.
    fn tensor_address(
        &mut self,
        op: OpId,
        data: &Op,
        buffer: ValueId,
        iteration: &str,
    ) -> Result<ValueId, Diagnostic> {
        let (Some(memory), Some(alloc), Some(matrix)) = (
            self.tensor,
            self.m.def_op(buffer),
            tensor_matrix(self.m, buffer),
        ) else {
            return Err(unsupported(self.m, op, "no buffer in tensor memory"));
        };
        let column = int(self.m.op(alloc), "column");
        let mut address = self.emit().with(N::Add, memory.base, column);
        let stages = stages(self.m, buffer);
        if operand(data, iteration).is_some() && stages > 1 {
            let stage = self.turn(op, data, iteration, stages)?.stage;
            let mut e = self.emit();
            let offset = e.with(N::Mul, stage, matrix.all_columns() as i64);
            address = e.add(address, offset);
        }
        Ok(address)
    }

    fn share(&self, op: OpId, buffer: ValueId) -> Result<Share, Diagnostic> {
        let Some(matrix) = tensor_matrix(self.m, buffer) else {
            return Err(unsupported(self.m, op, "no buffer in tensor memory"));
        };
        self.layout_error(op, Share::new(matrix, self.role.warps / 4))
    }

    /// This thread's address, and the attributes of the instructions.
    fn tensor_moves(
        &mut self,
        op: OpId,
        data: &Op,
        buffer: ValueId,
        share: &Share,
    ) -> Result<(ValueId, [Option<Attr>; 4]), Diagnostic> {
        let address = self.tensor_address(op, data, buffer, "iteration")?;
        let moves = share.moves();
        let mut e = self.emit();
        let own = e.linear(&moves.base);
        let address = e.add(address, own);
        let shape = match moves.shape {
            MoveShape::Lanes32x32 => "32x32b",
            MoveShape::Lanes16x256 => "16x256b",
            MoveShape::Lanes16x128 => "16x128b",
        };
        let attrs = [
            case(&enums::TENSOR_MOVE, shape),
            e.i32_attr(moves.count as i64),
            moves.pairs.then_some(Attr::Unit),
            Some(Attr::I64s(
                moves.offsets.iter().map(|&o| o as i64).collect(),
            )),
        ];
        Ok((address, attrs))
    }

    pub(super) fn tensor_load(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let (buffer, result) = (data.operands[0], data.results[0]);
        let share = self.share(op, buffer)?;
        let layout = self.layout_error(op, share.layout())?;
        let (address, attrs) = self.tensor_moves(op, data, buffer, &share)?;
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

    pub(super) fn tensor_store(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let (tile, buffer) = (data.operands[0], data.operands[1]);
        let share = self.share(op, buffer)?;
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
        let (address, attrs) = self.tensor_moves(op, data, buffer, &share)?;
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
            .any(|r| r.start < columns.end && columns.start < r.end)
    }

    // ---- products --------------------------------------------------------------------------

    pub(super) fn tensor_dot(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let acc = operand(data, "acc").unwrap_or_default();
        let Some(matrix) = tensor_matrix(self.m, acc) else {
            return Err(unsupported(
                self.m,
                op,
                "the accumulator is not in tensor memory",
            ));
        };
        let [a, b, c] = [data.operands[0], data.operands[1], acc].map(|v| element_name(self.m, v));
        let Some(atom) = Atom::of(&a, &b, &c) else {
            return Err(unsupported(self.m, op, "no tcgen05.mma for these elements"));
        };
        let (m, n) = (matrix.rows.min(LANES), matrix.columns.min(256));
        let accumulate = operand(data, "accumulate")
            .map(|v| self.get(op, v))
            .transpose()?;
        self.by_first_thread(|l| {
            let lhs = l.tensor_left(op, data, m)?;
            let rhs = l.shared_multiplicand(op, data, 1, n)?;
            let d = l.tensor_address(op, data, acc, "acc_iteration")?;
            let signed = ["signed_lhs", "signed_rhs"]
                .map(|name| data.attr_named(name) == Some(&Attr::Bool(true)));
            let bits = atom.descriptor([m, n], signed, [lhs.transposed, rhs.transposed]);
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
            ];
            let groups: [&[ValueId]; 4] = [&[d], &[lhs.value], &[rhs.value], accumulate.as_slice()];
            e.op(N::TensorMma, &groups, attrs, &[]);
            Ok(())
        })
    }

    /// What the one thread does that issues products.
    pub(super) fn by_first_thread(
        &mut self,
        then: impl FnOnce(&mut Self) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        if self.single {
            return then(self);
        }
        let mut e = self.emit();
        let (tid, first) = (e.sreg("tid.x"), e.i32(0));
        let first = e.icmp("equal", "unsigned", tid, first);
        self.when(first, false, then)
    }

    /// The left operand: in tensor memory, or in shared memory.
    fn tensor_left(&mut self, op: OpId, data: &Op, m: u64) -> Result<Multiplicand, Diagnostic> {
        let lhs = data.operands[0];
        let Some(matrix) = tensor_matrix(self.m, lhs) else {
            return self.shared_multiplicand(op, data, 0, m);
        };
        let value = self.tensor_address(op, data, lhs, "lhs_iteration")?;
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

    fn shared_multiplicand(
        &mut self,
        op: OpId,
        data: &Op,
        side: usize,
        instruction_mn: u64,
    ) -> Result<Multiplicand, Diagnostic> {
        let buffer = self.buffer(op, data.operands[side])?;
        let matrix = self.layout_error(op, buffer.layout.squeezed())?;
        let desc = tcgen05::describe(&matrix, side, instruction_mn);
        let desc = self.layout_error(op, desc)?;
        let iteration = ["lhs_iteration", "rhs_iteration"][side];
        let value = self.tensor_descriptor(op, data, iteration, &buffer, &desc)?;
        let units = |steps: &[u64]| steps.iter().map(|s| (s >> 4) as i64).collect();
        Ok(Multiplicand {
            value,
            mn_steps: units(&desc.mn_steps),
            k_steps: units(&desc.k_steps),
            transposed: desc.major == Major::Mn,
        })
    }

    /// The matrix descriptor of a stage of an operand.
    fn tensor_descriptor(
        &mut self,
        op: OpId,
        data: &Op,
        iteration: &str,
        buffer: &Buffer,
        desc: &OperandDescriptor,
    ) -> Result<ValueId, Diagnostic> {
        let address = self.emit().smem(buffer.offset);
        let constant = tcgen05::constant(desc);
        self.matrix_descriptor(op, data, iteration, buffer, address, constant)
    }

    /// An arrival at `barrier` when the products issued so far are done.
    pub(super) fn tensor_commit(&mut self, barrier: ValueId) -> Result<(), Diagnostic> {
        self.by_first_thread(|l| {
            l.emit().effect(N::TensorCommit, &[barrier], []);
            Ok(())
        })
    }
}
