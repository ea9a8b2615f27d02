//! Products without a matrix instruction: fused multiply-adds on slices.
//!
//! Both operands are spread out in scratch memory, k slowest. For each k a thread reads the rows
//! and columns of its elements of the result and adds their products. Where registers are short, it does so for one part of
//! its elements after the other (`parts` of `nv_tileas.dot`).

use super::Lower;
use super::spill::{Spilled, embed};
use crate::dialect::enums::Rounding;
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Diagnostic, Float, Op, OpId, Type, TypeId, ValueId};
use crate::layout::blocked::Blocked;
use crate::layout::convert::Transfer;
use crate::layout::halves::Halves;
use crate::layout::shape::Coords;
use crate::layout::shared::SharedLayout;
use crate::layout::{In, Layout, LayoutError, Shape, addr};
use crate::lower::build::cased;
use crate::lower::unsupported;

/// Steps of k in one iteration of the loop.
const UNROLL: u64 = 4;

/// An operand in scratch memory, as the threads read one slice of it.
#[derive(Clone)]
struct Slices {
    base: ValueId,
    /// Bytes from the elements of the result's first part to those of each.
    parts: Vec<u64>,
    plan: addr::AccessPlan,
    elem: TypeId,
    /// For each register of the result, its element of the slice.
    of_result: Vec<u32>,
    /// Bytes from one k to the next.
    step: u64,
}

impl Lower<'_> {
    pub(super) fn dot_fma(&mut self, op: OpId, v: &view::Dot<Op>) -> Result<(), Diagnostic> {
        let [lhs, rhs, acc] = [v.lhs(), v.rhs(), v.acc()];
        let (Some(a), Some(b), Some(c)) = (self.layout(lhs), self.layout(rhs), self.layout(acc))
        else {
            return Err(unsupported(self.m, op, "a product of scalars"));
        };
        let rank = c.rank();
        if rank < 2 || a.rank() != rank || b.rank() != rank {
            return Err(unsupported(
                self.m,
                op,
                "operands of a product must have rank 2 or 3",
            ));
        }
        let result_elem = self.m.types.elem(self.m.ty(acc));
        let signs = [v.signed_lhs(), v.signed_rhs()];
        let mut values = [lhs, rhs];
        for (value, signed) in values.iter_mut().zip(signs) {
            let operand = self.get(op, *value)?;
            *value = self.as_factor(operand, result_elem, signed);
        }
        let sum = self.get(op, acc)?;
        let sum = self.as_factor(sum, result_elem, true);
        let operands = [values[0], values[1], sum];
        let parts = v.parts().and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
        let cut = Parts::of(&c, parts)
            .ok_or_else(|| unsupported(self.m, op, "internal error: no such parts of a product"))?;
        let sum = self.products(op, [&a, &b], &cut, operands)?;
        let value = match self.m.types.get(result_elem) {
            &Type::Float(format) => self.float_cast(sum, format),
            _ => sum,
        };
        self.set(v.result(), value);
        Ok(())
    }

    /// `value` in the type that products are summed in: f64 for f64, f32 for other floats, i32.
    fn as_factor(&mut self, value: ValueId, result: TypeId, signed: bool) -> ValueId {
        let elem = self.emit().elem(value);
        match (self.m.types.get(elem).clone(), self.m.types.get(result)) {
            (Type::Float(Float::TF32), _) => {
                let f32_ty = self.m.types.float(Float::F32);
                self.emit().bitcast(value, f32_ty)
            }
            (Type::Float(_), Type::Float(Float::F64)) => self.float_cast(value, Float::F64),
            (Type::Float(_), _) => self.float_cast(value, Float::F32),
            (Type::Int(32), _) => value,
            _ => {
                let mut e = self.emit();
                let (i32_ty, n) = (e.int(32), e.count(value));
                let ty = e.m.types.regs(i32_ty, n);
                let kind = if signed { N::SExt } else { N::ZExt };
                e.get(kind, &[&[value]], [], ty)
            }
        }
    }

    /// The sum of all products and `sum`; one half of k after the other where scratch has no room for
    /// the operands.
    fn products(
        &mut self,
        op: OpId,
        [a, b]: [&Layout; 2],
        c: &Parts,
        [lhs, rhs, sum]: [ValueId; 3],
    ) -> Result<ValueId, Diagnostic> {
        let rank = a.rank();
        let elem = self.emit().elem(lhs);
        let bits = self.m.types.width(elem);
        let bytes = (a.shape().elements() + b.shape().elements()) * u64::from(bits / 8);
        let k = a.shape().extent(rank - 1);
        if bytes > self.scratch_room() && k > 1 {
            let (lhs, left) = self.halved(op, lhs, a, rank - 1)?;
            let (rhs, right) = self.halved(op, rhs, b, rank - 2)?;
            let mut sum = sum;
            for (x, y) in left.registers.iter().zip(&right.registers) {
                let mut e = self.emit();
                let halves = [e.take(lhs, x), e.take(rhs, y), sum];
                sum = self.products(op, [&left.part, &right.part], c, halves)?;
            }
            return Ok(sum);
        }
        let (left, right) = self.slices(op, [a, b], c, &[lhs, rhs])?;
        let count = c.starts.len() as u32;
        let mut sums = Vec::new();
        for i in 0..count {
            let (left, right) = (self.part(&left, i), self.part(&right, i));
            let old = self.emit().part(sum, i, count);
            sums.push(self.sum_products(&left, &right, k, old));
        }
        Ok(self.joined(sums))
    }

    /// Whether values take so many of a thread's registers that they should not have to be there all at once.
    fn are_many(&mut self, values: &[ValueId]) -> bool {
        let registers = |&v: &ValueId| {
            let bits = u64::from(self.m.types.width(self.m.ty(v)));
            u64::from(self.emit().count(v)) * bits.div_ceil(32)
        };
        let all: u64 = values.iter().map(registers).sum();
        4 * all >= self.registers_at_launch()
    }

    /// The slices of one part of the result.
    fn part(&mut self, slices: &Slices, i: u32) -> Slices {
        let bytes = slices.parts.get(i as usize).copied().unwrap_or(0);
        let mut e = self.emit();
        let bytes = e.i32(bytes as i64);
        Slices {
            base: e.ptr_add(slices.base, bytes),
            ..slices.clone()
        }
    }

    /// `value` in a layout that registers cut in two along `k`, and that layout's halves.
    fn halved(
        &mut self,
        op: OpId,
        value: ValueId,
        layout: &Layout,
        k: usize,
    ) -> Result<(ValueId, Halves), Diagnostic> {
        let shape = layout.shape().clone();
        let bit = shape.dim_shift(k) + shape.dim_bits(k) - 1;
        if let Some(halves) = layout.halves(bit) {
            return Ok((value, halves));
        }
        let bits = {
            let elem = self.emit().elem(value);
            self.m.types.width(elem)
        };
        let slowest = in_halves(&shape, k, bit, bits, self.role.warps);
        let slowest = self.layout_error(op, slowest)?;
        let value = self.convert_value(op, value, layout, &slowest)?;
        match slowest.halves(bit) {
            Some(halves) => Ok((value, halves)),
            None => Err(unsupported(
                self.m,
                op,
                "the operands have no room in shared memory",
            )),
        }
    }

    /// Writes both operands to scratch memory, k slowest within a batch.
    fn slices(
        &mut self,
        op: OpId,
        [a, b]: [&Layout; 2],
        c: &Parts,
        values: &[ValueId],
    ) -> Result<(Slices, Slices), Diagnostic> {
        let rank = a.rank();
        let elem = self.emit().elem(values[0]);
        let bits = self.m.types.width(elem);
        let mut order_a: Vec<usize> = vec![rank - 2, rank - 1];
        let mut order_b: Vec<usize> = vec![rank - 1, rank - 2];
        order_a.extend((0..rank - 2).rev());
        order_b.extend((0..rank - 2).rev());
        let memory_a = SharedLayout::row_major(a.shape(), &order_a, bits);
        let memory_b = SharedLayout::row_major(b.shape(), &order_b, bits);
        let (memory_a, memory_b) = (
            self.layout_error(op, memory_a)?,
            self.layout_error(op, memory_b)?,
        );
        let second = memory_a.bytes().next_multiple_of(16);
        let emitted = |l: &Self| l.m.block(l.block_at_hand()).ops.len();
        let before = emitted(self);
        let at = self.scratch(second + memory_b.bytes());
        // Of many, the second operand is loaded when the first one has been stored.
        let mut later = match emitted(self) > before && self.are_many(values) {
            true => self.take_out(values[0]),
            false => Vec::new(),
        };
        let mut out = Vec::new();
        let sides = [
            (a, memory_a, at, rank - 1, rank - 2, values[0]),
            (b, memory_b, at + second, rank - 2, rank - 1, values[1]),
        ];
        for (layout, memory, at, k_dim, free_dim, value) in sides {
            let base = self.emit().smem(at);
            let slice = slice_of(&c.first, memory.shape(), free_dim);
            let slice = self.layout_error(op, slice)?;
            let starts = c.starts.iter().map(|at| {
                let at = (0..rank).map(|d| if d == k_dim { 0 } else { at[d] });
                memory.byte_offset(&at.collect::<Vec<u64>>())
            });
            let parts = starts.collect();
            let own = slice.without_redundant_registers().0;
            let plan = self.layout_error(op, addr::plan(&own, &memory, 128))?;
            let mut next = vec![0; rank];
            next[k_dim] = 1;
            let step = if memory.shape().extent(k_dim) > 1 {
                memory.byte_offset(&next)
            } else {
                0
            };
            let room = Spilled {
                base,
                shared: memory,
                elem,
                stored: elem,
            };
            self.fill(op, &room, base, value, layout)?;
            if !later.is_empty() {
                self.barrier();
                self.put_back(std::mem::take(&mut later));
            }
            let find =
                |r: u64| (0..own.registers()).find(|&s| own.flat(s, 0, 0) == slice.flat(r, 0, 0));
            out.push(Slices {
                base,
                parts,
                plan,
                elem,
                of_result: (0..slice.registers())
                    .map(|r| find(r).unwrap_or(0) as u32)
                    .collect(),
                step,
            });
        }
        self.barrier();
        let mut out = out.into_iter();
        match (out.next(), out.next()) {
            (Some(left), Some(right)) => Ok((left, right)),
            _ => Err(unsupported(self.m, op, "a product of two operands")),
        }
    }

    /// `sum` plus the products of all slices.
    fn sum_products(&mut self, left: &Slices, right: &Slices, k: u64, sum: ValueId) -> ValueId {
        let unroll = UNROLL.min(k);
        let (i32_ty, sum_ty) = (self.m.types.int(32), self.m.ty(sum));
        let region = self.m.new_region();
        let block = self.m.new_block(region, &[i32_ty, sum_ty]);
        let args = self.m.block(block).args.to_vec();
        let [zero, end, step] = [0, k as i64, unroll as i64].map(|v| self.emit().i32(v));
        self.within(block, |l| {
            let mut next = args[1];
            for i in 0..unroll {
                let x = l.slice_at(left, args[0], i);
                let y = l.slice_at(right, args[0], i);
                next = l.multiply_add(x, y, next);
            }
            l.emit().op(N::Yield, &[&[next]], [], &[]);
        });
        let mut b = self.build();
        let groups: [&[ValueId]; 4] = [&[zero], &[end], &[step], &[sum]];
        let op = b.op(N::For, &groups, [], &[sum_ty], &[region]);
        self.m.result(op)
    }

    /// The elements of slice `k + i` that belong to the result's registers.
    fn slice_at(&mut self, s: &Slices, k: ValueId, i: u64) -> ValueId {
        let mut e = self.emit();
        let offset = e.with(N::Mul, k, s.step as i64);
        let base = e.ptr_add(s.base, offset);
        let more = e.i32((i * s.step) as i64);
        let base = e.ptr_add(base, more);
        let own = self.load_shared(&Transfer::Plain(s.plan.clone()), base, s.elem);
        self.emit().take(own, &s.of_result)
    }

    fn multiply_add(&mut self, x: ValueId, y: ValueId, sum: ValueId) -> ValueId {
        let mut e = self.emit();
        let ty = e.m.ty(sum);
        let n = e.count(sum);
        let (x, y) = (e.widen(x, n), e.widen(y, n));
        if matches!(e.m.types.get(e.m.types.elem(ty)), Type::Float(_)) {
            let even = [cased(Rounding::NearestEven)];
            return e.get(N::Fma, &[&[x], &[y], &[sum]], even, ty);
        }
        let product = e.mul(x, y);
        e.add(product, sum)
    }
}

/// The parts of a result that are summed up one after the other: each has consecutive registers.
struct Parts {
    /// The elements of the first part, in the result's shape.
    first: Layout,
    /// Where the first element of each part is.
    starts: Vec<Coords>,
}

impl Parts {
    /// `count` of them, a power of two, if the last bits of the registers' numbers each move along one dimension alone.
    fn of(result: &Layout, count: u32) -> Option<Parts> {
        let shape = result.shape();
        let mut registers = result.bases(In::Register).to_vec();
        let kept = registers
            .len()
            .checked_sub(count.checked_ilog2()? as usize)?;
        let cut = registers.split_off(kept);
        let alone = |basis: u64| {
            let others = In::ALL.into_iter().flat_map(|i| result.bases(i));
            basis.is_power_of_two() && others.filter(|&&b| b & basis != 0).count() == 1
        };
        if !cut.iter().all(|&basis| alone(basis)) {
            return None;
        }
        let (lanes, warps) = (result.bases(In::Lane), result.bases(In::Warp));
        let first = Layout::distributed(shape.clone(), registers, lanes.to_vec(), warps.to_vec());
        let start = |i: u32| {
            let bits = cut.iter().enumerate().filter(|(bit, _)| i >> bit & 1 == 1);
            shape.unflatten(bits.map(|(_, basis)| basis).sum())
        };
        Some(Parts {
            first: first.ok()?,
            starts: (0..1 << cut.len()).map(start).collect(),
        })
    }
}

/// A layout of a tile of `shape` whose last register bit is element bit `bit`, the highest of `k`:
/// the threads share out either half, however few elements it has.
fn in_halves(
    shape: &Shape,
    k: usize,
    bit: u32,
    element_bits: u32,
    warps: u64,
) -> Result<Layout, LayoutError> {
    let mut extents = shape.extents();
    if let Some(extent) = extents.get_mut(k) {
        *extent /= 2;
    }
    let mut order: Vec<usize> = (0..shape.rank()).rev().filter(|&d| d != k).collect();
    order.push(k);
    let half = Blocked {
        shape: Shape::new(&extents)?,
        order,
        max_vector: 4,
        element_bits,
        warps,
    };
    let part = embed(&half.layout()?, shape)?;
    let mut registers = part.bases(In::Register).to_vec();
    registers.push(1 << bit);
    let (lanes, warps) = (part.bases(In::Lane), part.bases(In::Warp));
    Layout::distributed(shape.clone(), registers, lanes.to_vec(), warps.to_vec())
}

/// The layout of the elements of an operand's first slice (of `shape`) that each register of the
/// result needs: its coordinate along `free_dim`, 0 along k, and the batch's.
fn slice_of(result: &Layout, shape: &Shape, free_dim: usize) -> Result<Layout, LayoutError> {
    let rank = shape.rank();
    let moved = In::ALL.map(|i| {
        let place = |&v: &u64| {
            let mut at = result.shape().unflatten(v);
            for (d, x) in at.iter_mut().enumerate() {
                if d + 2 >= rank && d != free_dim {
                    *x = 0;
                }
            }
            shape.flatten(&at)
        };
        result.bases(i).iter().map(place).collect()
    });
    Layout::new(shape.clone(), moved)
}
