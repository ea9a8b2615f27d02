//! Constructors of `nvvm` operations: constants, arithmetic that widens scalars to register
//! arrays, and linear functions of the thread number.

use crate::dialect::OpKind;
use crate::dialect::enums::{Cache, Ordering, Predicate, Rounding, Scope, Space, SpecialRegister};
use crate::dialect::nvvm::{Op as N, view};
use crate::ir::{Attr, BlockId, Dense, Float, LocId, Module, Op, OpId, Type, TypeId, ValueId};
use crate::lower::build::cased;
use crate::scalar::Signedness;

/// Appends to one block of a module.
pub struct Emit<'m> {
    pub m: &'m mut Module,
    pub block: BlockId,
    pub loc: LocId,
}

impl Emit<'_> {
    // ---- types -----------------------------------------------------------------------------

    pub fn int(&mut self, bits: u32) -> TypeId {
        self.m.types.int(bits)
    }

    /// Registers of a value.
    pub fn count(&self, value: ValueId) -> u32 {
        self.m.types.reg_count(self.m.ty(value))
    }

    pub fn elem(&self, value: ValueId) -> TypeId {
        self.m.types.elem(self.m.ty(value))
    }

    fn regs(&mut self, elem: TypeId, n: u32) -> TypeId {
        self.m.types.regs(elem, n)
    }

    // ---- operations ------------------------------------------------------------------------

    pub fn op(
        &mut self,
        kind: impl Into<OpKind>,
        groups: &[&[ValueId]],
        attrs: impl IntoIterator<Item = Option<Attr>>,
        results: &[TypeId],
    ) -> OpId {
        let mut b = self.m.at_end(self.block);
        b.loc = self.loc;
        b.op(kind, groups, attrs, results, &[])
    }

    /// An operation of one result.
    pub fn get(
        &mut self,
        kind: impl Into<OpKind>,
        groups: &[&[ValueId]],
        attrs: impl IntoIterator<Item = Option<Attr>>,
        result: TypeId,
    ) -> ValueId {
        let op = self.op(kind, groups, attrs, &[result]);
        self.m.result(op)
    }

    /// A copy of `op`, same kind and attributes, with other operands (one per group) and result types.
    pub fn like(&mut self, op: &Op, operands: &[ValueId], results: &[TypeId]) -> OpId {
        let groups: Vec<&[ValueId]> = operands.chunks(1).collect();
        self.op(op.kind, &groups, op.attrs.iter().cloned(), results)
    }

    pub fn effect(
        &mut self,
        kind: N,
        operands: &[ValueId],
        attrs: impl IntoIterator<Item = Option<Attr>>,
    ) {
        let groups: Vec<&[ValueId]> = operands.chunks(1).collect();
        self.op(kind, &groups, attrs, &[]);
    }

    pub fn i32_attr(&mut self, value: i64) -> Option<Attr> {
        let ty = self.int(32);
        Some(Attr::Int { value, ty })
    }

    // ---- constants -------------------------------------------------------------------------

    /// The bytes of one element in every register of `ty`.
    pub fn bytes(&mut self, bytes: Vec<u8>, ty: TypeId) -> ValueId {
        let attr = Attr::Dense {
            data: Dense::Bytes(bytes),
            ty,
        };
        self.get(N::Const, &[], [Some(attr)], ty)
    }

    /// An integer (or pattern of bits) in every register of `ty`.
    pub fn constant(&mut self, value: i64, ty: TypeId) -> ValueId {
        let bytes = self.m.types.width(ty).div_ceil(8).min(8) as usize;
        self.bytes(value.to_le_bytes()[..bytes].to_vec(), ty)
    }

    pub fn i32(&mut self, value: i64) -> ValueId {
        let ty = self.int(32);
        self.constant(value, ty)
    }

    /// One integer per register; a scalar or splat when they are all the same.
    pub fn array(&mut self, values: &[i64], elem: TypeId) -> ValueId {
        let n = values.len() as u32;
        let ty = self.regs(elem, n);
        if let Some(&first) = values.first().filter(|f| values.iter().all(|v| v == *f)) {
            return self.constant(first, ty);
        }
        let bytes = self.m.types.width(elem).div_ceil(8).min(8) as usize;
        let data = values
            .iter()
            .flat_map(|v| v.to_le_bytes()[..bytes].to_vec())
            .collect();
        self.bytes(data, ty)
    }

    // ---- register arrays -------------------------------------------------------------------

    /// `value` in `n` registers: a scalar is widened, an array must have them already.
    pub fn widen(&mut self, value: ValueId, n: u32) -> ValueId {
        if self.count(value) == n {
            return value;
        }
        debug_assert_eq!(self.count(value), 1, "only scalars widen");
        let elem = self.elem(value);
        let ty = self.regs(elem, n);
        self.get(N::Splat, &[&[value]], [], ty)
    }

    /// Registers `indices` of `value`.
    pub fn take(&mut self, value: ValueId, indices: &[u32]) -> ValueId {
        let n = self.count(value);
        let identity =
            indices.len() as u32 == n && indices.iter().enumerate().all(|(i, &x)| x == i as u32);
        if identity {
            return value;
        }
        let elem = self.elem(value);
        let ty = self.regs(elem, indices.len() as u32);
        if n == 1 {
            return self.get(N::Splat, &[&[value]], [], ty);
        }
        let attr = Attr::I32s(indices.iter().map(|&i| i as i32).collect());
        self.get(N::Take, &[&[value]], [Some(attr)], ty)
    }

    /// `count` registers of `value` from `start` on.
    pub fn take_range(&mut self, value: ValueId, start: u32, count: u32) -> ValueId {
        let indices: Vec<u32> = (start..start + count).collect();
        self.take(value, &indices)
    }

    /// The `i`-th of `count` equally long parts of the registers of `value`.
    pub fn part(&mut self, value: ValueId, i: u32, count: u32) -> ValueId {
        let registers = self.count(value) / count.max(1);
        self.take_range(value, i * registers, registers)
    }

    /// Registers of no particular value, as many as `value` has.
    pub fn undef_like(&mut self, value: ValueId) -> ValueId {
        let ty = self.m.ty(value);
        self.get(N::Undef, &[], [], ty)
    }

    /// Zeros, as many as `value` has registers.
    pub fn zero_like(&mut self, value: ValueId) -> ValueId {
        let ty = self.m.ty(value);
        self.constant(0, ty)
    }

    /// The sum of floats, rounded to nearest.
    pub fn fadd(&mut self, lhs: ValueId, rhs: ValueId) -> ValueId {
        let ty = self.m.ty(lhs);
        let attrs = [cased(Rounding::NearestEven), None];
        self.get(N::FAdd, &[&[lhs], &[rhs]], attrs, ty)
    }

    /// The boolean false.
    pub fn no(&mut self) -> ValueId {
        let ty = self.int(1);
        self.constant(0, ty)
    }

    /// All registers, one value after another.
    pub fn concat(&mut self, values: &[ValueId]) -> ValueId {
        if let [one] = values {
            return *one;
        }
        let n = values.iter().map(|&v| self.count(v)).sum();
        let elem = values
            .first()
            .map(|&v| self.elem(v))
            .unwrap_or_else(|| self.int(32));
        let ty = self.regs(elem, n);
        self.get(N::Concat, &[values], [], ty)
    }

    /// Widens the operands to a common register count.
    fn level(&mut self, operands: &[ValueId]) -> (Vec<ValueId>, u32) {
        let n = operands.iter().map(|&v| self.count(v)).max().unwrap_or(1);
        (operands.iter().map(|&v| self.widen(v, n)).collect(), n)
    }

    /// An elementwise operation whose result has the type of its first operand. What changes nothing is no operation.
    pub fn binary(&mut self, kind: N, lhs: ValueId, rhs: ValueId) -> ValueId {
        let n = self.count(lhs).max(self.count(rhs));
        if self
            .number(rhs)
            .is_some_and(|number| is_neutral(kind, number))
        {
            return self.widen(lhs, n);
        }
        if kind == N::Add && self.number(lhs) == Some(0) {
            return self.widen(rhs, n);
        }
        self.elementwise(kind, lhs, rhs)
    }

    /// The operation, whatever its operands are.
    fn elementwise(&mut self, kind: N, lhs: ValueId, rhs: ValueId) -> ValueId {
        let (operands, _) = self.level(&[lhs, rhs]);
        let ty = self.m.ty(operands[0]);
        let groups: Vec<&[ValueId]> = operands.chunks(1).collect();
        self.get(kind, &groups, [], ty)
    }

    /// The number that every register of a value is, where it is a constant.
    fn number(&self, value: ValueId) -> Option<i64> {
        let constant = view::Const::of(self.m.op(self.m.def_op(value)?))?;
        let Attr::Dense { data, ty } = constant.value() else {
            return None;
        };
        let bits = self.m.types.bits(*ty).filter(|bits| *bits <= 64)?;
        crate::facts::constant(&self.m.types, data, *ty).int_constant(bits)
    }

    pub fn add(&mut self, lhs: ValueId, rhs: ValueId) -> ValueId {
        self.binary(N::Add, lhs, rhs)
    }

    pub fn mul(&mut self, lhs: ValueId, rhs: ValueId) -> ValueId {
        self.binary(N::Mul, lhs, rhs)
    }

    pub fn and(&mut self, lhs: ValueId, rhs: ValueId) -> ValueId {
        self.binary(N::And, lhs, rhs)
    }

    pub fn xor(&mut self, lhs: ValueId, rhs: ValueId) -> ValueId {
        self.binary(N::Xor, lhs, rhs)
    }

    /// `lhs op constant`, with the constant in the type of `lhs`. What changes nothing is no operation, and a product with a
    /// power of two is a shift: rules would find both, but the e-graph would hold each form of each address until then.
    pub fn with(&mut self, kind: N, lhs: ValueId, constant: i64) -> ValueId {
        if is_neutral(kind, constant) {
            return lhs;
        }
        let ty = self.m.ty(lhs);
        let is_shift = kind == N::Mul && constant > 0 && constant.count_ones() == 1;
        let (kind, constant) = match is_shift && self.m.types.width(ty) > 8 {
            true => (N::Shl, i64::from(constant.trailing_zeros())),
            false => (kind, constant),
        };
        let constant = self.constant(constant, ty);
        self.elementwise(kind, lhs, constant)
    }

    /// Address plus bytes. Known bytes are added last, where accesses take them as their immediate offset.
    pub fn ptr_add(&mut self, base: ValueId, offset: ValueId) -> ValueId {
        let Some((start, bytes)) = self.behind(base) else {
            return self.binary(N::PtrAdd, base, offset);
        };
        let ty = self.m.ty(offset);
        match self.number(offset) {
            Some(more) => self.moved(start, bytes.wrapping_add(more), ty),
            None => {
                let sum = self.ptr_add(start, offset);
                self.moved(sum, bytes, ty)
            }
        }
    }

    /// An address that known bytes lead to, and these: of a buffer, the start of shared memory.
    fn behind(&mut self, address: ValueId) -> Option<(ValueId, i64)> {
        let op = self.m.op(self.m.def_op(address)?);
        if let Some(sum) = view::PtrAdd::of(op) {
            return Some((sum.base(), self.number(sum.offset())?));
        }
        let offset = view::SmemBase::of(op)?.offset();
        (offset != 0).then(|| (self.smem(0), offset))
    }

    /// Address plus known bytes, which are of the type `ty`.
    fn moved(&mut self, address: ValueId, bytes: i64, ty: TypeId) -> ValueId {
        let bytes = self.constant(bytes, ty);
        self.binary(N::PtrAdd, address, bytes)
    }

    /// Integer comparison.
    pub fn icmp(
        &mut self,
        predicate: Predicate,
        signedness: Signedness,
        lhs: ValueId,
        rhs: ValueId,
    ) -> ValueId {
        let (operands, n) = self.level(&[lhs, rhs]);
        let i1 = self.int(1);
        let ty = self.regs(i1, n);
        let attrs = [cased(predicate), cased(signedness)];
        let groups: Vec<&[ValueId]> = operands.chunks(1).collect();
        self.get(N::ICmp, &groups, attrs, ty)
    }

    /// `value` as an integer of `bits`, sign-extended or cut.
    pub fn int_cast(&mut self, value: ValueId, bits: u32) -> ValueId {
        let have = self.m.types.width(self.m.ty(value));
        let (elem, n) = (self.int(bits), self.count(value));
        let ty = self.regs(elem, n);
        match have.cmp(&bits) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Less => self.get(N::SExt, &[&[value]], [], ty),
            std::cmp::Ordering::Greater => self.get(N::Trunc, &[&[value]], [], ty),
        }
    }

    /// `value` as an integer of `bits`, extended by zeros or cut.
    pub fn zero_extended(&mut self, value: ValueId, bits: u32) -> ValueId {
        if self.m.types.width(self.m.ty(value)) >= bits {
            return self.int_cast(value, bits);
        }
        let (elem, n) = (self.int(bits), self.count(value));
        let ty = self.regs(elem, n);
        self.get(N::ZExt, &[&[value]], [], ty)
    }

    /// `then` where `condition`, else `other`, register by register.
    pub fn select(&mut self, condition: ValueId, then: ValueId, other: ValueId) -> ValueId {
        let (n, ty) = (self.count(then), self.m.ty(then));
        let condition = self.widen(condition, n);
        self.get(N::Select, &[&[condition], &[then], &[other]], [], ty)
    }

    /// `value` where `condition`, else zero, register by register.
    pub fn select_or_none(&mut self, condition: ValueId, value: ValueId) -> ValueId {
        let none = self.zero_like(value);
        self.select(condition, value, none)
    }

    /// The same bits under another element type.
    pub fn bitcast(&mut self, value: ValueId, elem: TypeId) -> ValueId {
        if self.elem(value) == elem {
            return value;
        }
        let n = self.count(value);
        let ty = self.regs(elem, n);
        self.get(N::Bitcast, &[&[value]], [], ty)
    }

    /// The low word of a descriptor of a matrix in shared memory: 16 bytes are the address' unit, and `constant` holds the
    /// other fields.
    pub fn low_word(&mut self, address: ValueId, constant: u64) -> ValueId {
        let i32_ty = self.int(32);
        let address = self.bitcast(address, i32_ty);
        let field = self.with(N::And, address, 0x3ffff);
        let field = self.with(N::ShrU, field, 4);
        self.with(N::Or, field, i64::from(constant as u32))
    }

    // ---- threads ---------------------------------------------------------------------------

    /// An i32 that all lanes of a warp have alike, in a form in which ptxas knows it.
    pub fn warp_uniform(&mut self, value: ValueId) -> ValueId {
        let ty = self.int(32);
        self.get(N::WarpUniform, &[&[value]], [], ty)
    }

    pub fn sreg(&mut self, register: SpecialRegister) -> ValueId {
        let ty = self.int(32);
        self.get(N::Sreg, &[], [cased(register)], ty)
    }

    /// The xor of the images of the set bits of the thread number (i32): columns are (bit, image).
    ///
    /// Bits that move by the same distance move together: one mask and one shift per distance.
    pub fn linear(&mut self, columns: &[(u32, u64)]) -> ValueId {
        let mut by_shift: std::collections::BTreeMap<i32, u32> = Default::default();
        for &(bit, image) in columns {
            for to in crate::layout::gf2::ones(image) {
                *by_shift.entry(to as i32 - bit as i32).or_default() |= 1 << bit;
            }
        }
        let tid = self.sreg(SpecialRegister::TidX);
        let mut sum: Option<ValueId> = None;
        for (shift, mask) in by_shift {
            let masked = self.with(N::And, tid, i64::from(mask));
            let moved = match shift {
                0 => masked,
                s if s > 0 => self.with(N::Shl, masked, i64::from(s)),
                s => self.with(N::ShrU, masked, i64::from(-s)),
            };
            sum = Some(match sum {
                Some(sum) => self.xor(sum, moved),
                None => moved,
            });
        }
        sum.unwrap_or_else(|| self.i32(0))
    }

    /// True in the threads whose number has none of `mask`'s bits; `None` when that is all of them.
    pub fn threads_without(&mut self, mask: u64) -> Option<ValueId> {
        self.threads_with(mask, 0)
    }

    /// True in the threads whose number has `bits` under `mask`; `None` when that is all of them.
    pub fn threads_with(&mut self, mask: u64, bits: u64) -> Option<ValueId> {
        if mask == 0 {
            return None;
        }
        let tid = self.sreg(SpecialRegister::TidX);
        if bits == 0 {
            let (mask, bit) = (self.i32(mask as i64), self.int(1));
            return Some(self.get(N::TestClear, &[&[tid], &[mask]], [], bit));
        }
        let under = self.with(N::And, tid, mask as i64);
        let bits = self.i32(bits as i64);
        Some(self.icmp(Predicate::Equal, Signedness::Unsigned, under, bits))
    }

    /// Shared address of a byte of `global_smem`.
    pub fn smem(&mut self, offset: u64) -> ValueId {
        let ty = self.m.types.intern(Type::SharedPtr);
        let attr = self.i32_attr(offset as i64);
        self.get(N::SmemBase, &[], [attr], ty)
    }

    /// A float constant of any format, in every register of `ty`, from its bits.
    pub fn float_bits(&mut self, format: Float, bits: u64, ty: TypeId) -> ValueId {
        let bytes = format.bits().div_ceil(8) as usize;
        self.bytes(bits.to_le_bytes()[..bytes].to_vec(), ty)
    }
}

/// Attributes of an `ld` or `st`.
pub struct AccessAttrs {
    pub space: Space,
    /// Elements per access.
    pub vec: u64,
    /// Bytes added to each access's address.
    pub offsets: Vec<i64>,
    pub cache: Cache,
    pub order: Ordering,
    pub scope: Scope,
}

impl AccessAttrs {
    /// Plain accesses to shared memory.
    pub fn shared(vec: u64, offsets: Vec<i64>) -> Self {
        Self {
            space: Space::Shared,
            vec,
            offsets,
            cache: Cache::Default,
            order: Ordering::Weak,
            scope: Scope::Block,
        }
    }

    /// The attributes in table order.
    pub fn list(&self, e: &mut Emit<'_>) -> [Option<Attr>; 6] {
        [
            cased(self.space),
            e.i32_attr(self.vec as i64),
            Some(Attr::I64s(self.offsets.clone())),
            cased(self.cache),
            cased(self.order),
            cased(self.scope),
        ]
    }
}

/// Whether an operation leaves its first operand as it is, if the second one is this number.
fn is_neutral(kind: N, number: i64) -> bool {
    match kind {
        N::Mul | N::DivS | N::DivU => number == 1,
        N::Add | N::Sub | N::Or | N::Xor | N::PtrAdd | N::Shl | N::ShrS | N::ShrU => number == 0,
        _ => false,
    }
}
