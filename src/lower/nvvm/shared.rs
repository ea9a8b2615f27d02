//! Shared memory: where buffers lie, transfers between registers and buffers; shuffles.

use super::emit::AccessAttrs;
use super::{Emit, Lower};
use crate::dialect::enums::{Predicate, Shuffle};
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Diagnostic, Op, OpId, TypeId, ValueId};
use crate::layout::addr::{AccessPlan, XorGroup};
use crate::layout::convert::Transfer;
use crate::layout::ldmatrix::{self, Matrices, MatrixPlan};
use crate::layout::mma::MmaSync;
use crate::layout::shared::{BUFFER_ALIGN, SharedLayout};
use crate::layout::shuffle::{Select, ShufflePlan};
use crate::layout::{Layout, LayoutError};
use crate::lower::build::cased;
use crate::lower::{tileas, unsupported};
use crate::scalar::Signedness;

/// A buffer of one or more stages.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Byte of `global_smem` where stage 0 begins.
    pub offset: u64,
    pub layout: SharedLayout,
    pub stages: u64,
    /// Takes the place of other buffers that are no longer in use.
    pub overlay: bool,
}

impl Buffer {
    /// Bytes from one stage to the next.
    pub fn stage_bytes(&self) -> u64 {
        stage_stride(&self.layout, self.stages)
    }
}

/// Bytes from one stage of a ring to the next. Tensor copies and matrix descriptors swizzle by bits of the
/// address, in patterns of at most 1024 bytes, and each stage begins such a pattern (PTX ISA, "Swizzling modes").
pub fn stage_stride(layout: &SharedLayout, stages: u64) -> u64 {
    match stages {
        1 => layout.bytes(),
        _ => layout.bytes().max(BUFFER_ALIGN),
    }
}

impl Lower<'_> {
    // ---- elements --------------------------------------------------------------------------

    /// i1, and elements of four bits, have no place in memory or in shuffles: it travels as i8.
    pub fn as_bytes(&mut self, value: ValueId) -> (ValueId, TypeId) {
        let mut e = self.emit();
        let elem = e.elem(value);
        let Some(bits @ (1 | 4)) = e.m.types.bits(elem) else {
            return (value, elem);
        };
        let same_bits = e.int(bits);
        let value = e.bitcast(value, same_bits);
        let (i8_ty, n) = (e.int(8), e.count(value));
        let ty = e.m.types.regs(i8_ty, n);
        (e.get(N::ZExt, &[&[value]], [], ty), elem)
    }

    /// The type that holds an element in memory and in shuffles.
    pub fn stored(&mut self, elem: TypeId) -> TypeId {
        match self.m.types.bits(elem) {
            Some(1 | 4) => self.m.types.int(8),
            _ => elem,
        }
    }

    /// Undoes [`Lower::as_bytes`].
    pub fn from_bytes(&mut self, value: ValueId, elem: TypeId) -> ValueId {
        let mut e = self.emit();
        if e.elem(value) == elem {
            return value;
        }
        if e.m.types.bits(elem) == Some(4) {
            let low = e.int_cast(value, 4);
            return e.bitcast(low, elem);
        }
        let ty = e.m.ty(value);
        let zero = e.constant(0, ty);
        e.icmp(Predicate::NotEqual, Signedness::Unsigned, value, zero)
    }

    // ---- transfers -------------------------------------------------------------------------

    /// The transfer of a distributed tile from or to a buffer, by matrices where they fit.
    pub fn transfer(
        &self,
        tile: &Layout,
        shared: &SharedLayout,
        load: bool,
    ) -> Result<Transfer, LayoutError> {
        let can = self.conversions.capabilities();
        let plain = crate::layout::addr::plan(tile, shared, 128)?;
        for &kind in if load { can.loads() } else { can.stores() } {
            let plan = ldmatrix::plan(tile, shared, kind)?;
            if let Some(plan) = plan.filter(|p| p.instructions() < plain.instructions()) {
                return Ok(Transfer::Matrix(plan));
            }
        }
        Ok(Transfer::Plain(plain))
    }

    /// Writes `value` to the buffer at `base`.
    pub fn store_shared(&mut self, transfer: &Transfer, base: ValueId, value: ValueId) {
        match transfer {
            Transfer::Plain(p) => {
                let owner = self.emit().threads_without(p.redundant_tid);
                self.store_plain(p, base, value, owner);
            }
            Transfer::Matrix(p) => {
                let (address, offsets) = self.shared_addresses(base, &p.thread_base, &p.groups);
                let value = self.emit().take(value, &order(&p.groups));
                let [num, trans, offsets, _] = self.matrix_attrs(p, offsets);
                let attrs = [num, trans, offsets];
                self.emit().effect(N::StMatrix, &[address, value], attrs);
            }
        }
    }

    /// Writes `value` to the buffer at `base` in the threads where `owner` is true.
    pub fn store_plain(
        &mut self,
        p: &AccessPlan,
        base: ValueId,
        value: ValueId,
        owner: Option<ValueId>,
    ) {
        let (address, offsets) = self.shared_addresses(base, &p.thread_base, &p.groups);
        let mut e = self.emit();
        let value = e.take(value, &order(&p.groups));
        let attrs = AccessAttrs::shared(p.vector_elems, offsets).list(&mut e);
        e.op(N::St, &[&[address], &[value], owner.as_slice()], attrs, &[]);
    }

    /// Reads a distributed tile of `elem` from the buffer at `base`.
    pub fn load_shared(&mut self, transfer: &Transfer, base: ValueId, elem: TypeId) -> ValueId {
        let (groups, copies) = match transfer {
            Transfer::Plain(p) => (&p.groups, &p.copies),
            Transfer::Matrix(p) => (&p.groups, &p.copies),
        };
        let order = order(groups);
        let ty = self.m.types.regs(elem, order.len() as u32);
        let loaded = match transfer {
            Transfer::Plain(p) => {
                let (address, offsets) = self.shared_addresses(base, &p.thread_base, groups);
                let mut e = self.emit();
                let attrs = AccessAttrs::shared(p.vector_elems, offsets).list(&mut e);
                e.get(N::Ld, &[&[address], &[], &[]], attrs, ty)
            }
            Transfer::Matrix(p) => {
                let (address, offsets) = self.shared_addresses(base, &p.thread_base, groups);
                let attrs = self.matrix_attrs(p, offsets);
                self.emit().get(N::LdMatrix, &[&[address]], attrs, ty)
            }
        };
        let back = back(&order, copies);
        self.emit().take(loaded, &back)
    }

    fn matrix_attrs(&mut self, p: &MatrixPlan, offsets: Vec<i64>) -> [Option<Attr>; 4] {
        let num = self.emit().i32_attr(i64::from(p.matrices));
        [
            num,
            (p.kind != Matrices::Rows).then_some(Attr::Unit),
            Some(Attr::I64s(offsets)),
            (p.kind == Matrices::Bytes).then_some(Attr::Unit),
        ]
    }

    /// Addresses (one, or one per access) and immediates of the accesses of `groups`.
    pub fn shared_addresses(
        &mut self,
        base: ValueId,
        thread_base: &[(u32, u64)],
        groups: &[XorGroup],
    ) -> (ValueId, Vec<i64>) {
        let offsets = groups
            .iter()
            .flat_map(|g| g.accesses.iter().map(|a| a.offset as i64))
            .collect();
        let xors: Vec<i64> = groups.iter().map(|g| g.xor as i64).collect();
        let expand: Vec<u32> = groups
            .iter()
            .enumerate()
            .flat_map(|(i, g)| g.accesses.iter().map(move |_| i as u32))
            .collect();
        let mut e = self.emit();
        let thread = e.linear(thread_base);
        if let [0] = xors[..] {
            return (e.ptr_add(base, thread), offsets);
        }
        let i32_ty = e.int(32);
        let xors = e.array(&xors, i32_ty);
        let places = e.xor(thread, xors);
        let addresses = e.ptr_add(base, places);
        (e.take(addresses, &expand), offsets)
    }

    /// Byte places (i32: one, or one per access) and immediates of the accesses of `groups`.
    pub fn access_places(
        &mut self,
        thread_base: &[(u32, u64)],
        groups: &[XorGroup],
    ) -> (ValueId, Vec<i64>) {
        let offsets = groups
            .iter()
            .flat_map(|g| g.accesses.iter().map(|a| a.offset as i64))
            .collect();
        let xors: Vec<i64> = groups
            .iter()
            .flat_map(|g| g.accesses.iter().map(|_| g.xor as i64))
            .collect();
        let mut e = self.emit();
        let thread = e.linear(thread_base);
        if xors.iter().all(|&x| x == 0) {
            return (thread, offsets);
        }
        let i32_ty = e.int(32);
        let xors = e.array(&xors, i32_ty);
        (e.xor(thread, xors), offsets)
    }

    // ---- shuffles --------------------------------------------------------------------------

    pub(super) fn shuffle(
        &mut self,
        plan: &ShufflePlan,
        value: ValueId,
        registers: u32,
    ) -> ValueId {
        let value = self.selects(&plan.before, value);
        let lane_map: Vec<(u32, u64)> = plan
            .lane_map
            .iter()
            .map(|&(bit, lane)| (bit, lane.into()))
            .collect();
        let mut received: Vec<(u32, ValueId, u32)> = Vec::new();
        for round in &plan.rounds {
            let given = self.emit().take(value, &round.source);
            let lane = (!plan.butterfly).then(|| self.emit().linear(&lane_map));
            let got = match lane {
                None if round.lane_xor == 0 => given,
                None => self.shfl(Shuffle::Bfly, given, None, round.lane_xor),
                Some(lane) => {
                    let lane = self.emit().with(N::Xor, lane, i64::from(round.lane_xor));
                    self.shfl(Shuffle::Idx, given, Some(lane), 0)
                }
            };
            received.extend((0..).zip(&round.destination).map(|(i, &d)| (d, got, i)));
        }
        for &(to, from) in &plan.copies {
            if let Some(&(_, got, i)) = received.iter().find(|r| r.0 == from) {
                received.push((to, got, i));
            }
        }
        received.sort_by_key(|r| r.0);
        let parts: Vec<ValueId> = received
            .iter()
            .map(|&(_, got, i)| self.emit().take(got, &[i]))
            .collect();
        debug_assert_eq!(parts.len() as u32, registers);
        let value = self.emit().concat(&parts);
        self.selects(&plan.after, value)
    }

    /// A warp shuffle of every register.
    pub fn shfl(
        &mut self,
        mode: Shuffle,
        value: ValueId,
        lane: Option<ValueId>,
        constant: u32,
    ) -> ValueId {
        let mut e = self.emit();
        let attrs = [cased(mode), e.i32_attr(i64::from(constant))];
        let ty = e.m.ty(value);
        e.get(N::Shfl, &[&[value], lane.as_slice()], attrs, ty)
    }

    fn selects(&mut self, selects: &[Select], mut value: ValueId) -> ValueId {
        for s in selects {
            let mut e = self.emit();
            let n = e.count(value);
            let odd = parity(&mut e, s.tid_mask);
            let other: Vec<u32> = (0..n).map(|r| r ^ s.register_xor).collect();
            let exchanged = e.take(value, &other);
            value = e.select(odd, exchanged, value);
        }
        value
    }

    // ---- matmuls --------------------------------------------------------------------------

    pub(super) fn dot(&mut self, op: OpId, v: &view::Dot<Op>) -> Result<(), Diagnostic> {
        if tileas::is_fma(self.m, op) {
            return self.dot_fma(op, v);
        }
        let Some(mma) = tileas::mma_of(self.m, op, self.role.warps) else {
            return Err(unsupported(
                self.m,
                op,
                "no mma.sync tiling for this matmul",
            ));
        };
        let (a, b, c) = (
            self.get(op, v.lhs())?,
            self.get(op, v.rhs())?,
            self.get(op, v.acc())?,
        );
        let value = match mma.matrices() {
            1 => self.matrix(v, &mma, [a, b, c]),
            matrices => {
                let matrices = matrices as u32;
                let products = (0..matrices).map(|i| {
                    let operands = [a, b, c].map(|all| self.emit().part(all, i, matrices));
                    self.matrix(v, &mma, operands)
                });
                let products: Vec<ValueId> = products.collect();
                self.joined(products)
            }
        };
        self.set(v.result(), value);
        Ok(())
    }

    /// `mma.sync` for one of a warp's matrices, in the parts that `v` asks for.
    fn matrix(&mut self, v: &view::Dot<Op>, mma: &MmaSync, [a, b, c]: [ValueId; 3]) -> ValueId {
        let [rows, columns, k] = mma.instructions();
        let parts = v.parts().and_then(|n| u64::try_from(n).ok()).unwrap_or(1);
        match v.promoted() {
            false if parts > 1 && rows.is_multiple_of(parts) => {
                let count = parts as u32;
                let products = (0..count).map(|i| {
                    let mut e = self.emit();
                    let (a, c) = (e.part(a, i, count), e.part(c, i, count));
                    self.multiply(v, mma, [rows / parts, columns, k], [a, b, c])
                });
                let products: Vec<ValueId> = products.collect();
                self.joined(products)
            }
            false => self.multiply(v, mma, [rows, columns, k], [a, b, c]),
            true => {
                let count = rows as u32;
                let sums = (0..count).map(|i| {
                    let mut e = self.emit();
                    let (a, old) = (e.part(a, i, count), e.part(c, i, count));
                    let zero = e.zero_like(old);
                    let product = self.multiply(v, mma, [1, columns, k], [a, b, zero]);
                    self.emit().fadd(old, product)
                });
                let sums: Vec<ValueId> = sums.collect();
                self.emit().concat(&sums)
            }
        }
    }

    /// `mma.sync` for so many instructions along M, N and K.
    fn multiply(
        &mut self,
        v: &view::Dot<Op>,
        mma: &MmaSync,
        instructions: [u64; 3],
        [a, b, c]: [ValueId; 3],
    ) -> ValueId {
        let i = mma.instruction;
        let numbers = |v: &[u64]| Some(Attr::I32s(v.iter().map(|&x| x as i32).collect()));
        let elem = |v: ValueId| Some(Attr::Type(self.m.types.elem(self.m.ty(v))));
        let attrs = [
            numbers(&[i.m, i.n, i.k]),
            numbers(&instructions),
            elem(v.lhs()),
            elem(v.rhs()),
            Some(Attr::Bool(v.signed_lhs())),
            Some(Attr::Bool(v.signed_rhs())),
        ];
        let copies = mma.copies();
        let mut e = self.emit();
        let held = e.count(c);
        let repeated: Vec<u32> = (0..held * copies).map(|r| r / copies).collect();
        let firsts: Vec<u32> = (0..held).map(|r| r * copies).collect();
        let c = e.take(c, &repeated);
        let ty = e.m.ty(c);
        let product = e.get(N::MmaSync, &[&[a], &[b], &[c]], attrs, ty);
        e.take(product, &firsts)
    }
}

/// Whether an odd number of the bits of `mask` is set in the thread number.
pub fn parity(e: &mut Emit<'_>, mask: u32) -> ValueId {
    let columns: Vec<(u32, u64)> = (0..32)
        .filter(|b| mask >> b & 1 == 1)
        .map(|b| (b, 1))
        .collect();
    let bit = e.linear(&columns);
    let zero = e.i32(0);
    e.icmp(Predicate::NotEqual, Signedness::Unsigned, bit, zero)
}

/// Registers in the order in which the accesses list them.
pub fn order(groups: &[XorGroup]) -> Vec<u32> {
    groups
        .iter()
        .flat_map(|g| &g.accesses)
        .flat_map(|a| a.registers.iter().copied())
        .collect()
}

/// For each register, its place in what was loaded in `order`.
pub fn back(order: &[u32], copies: &[(u32, u32)]) -> Vec<u32> {
    let mut back = vec![0; order.len() + copies.len()];
    for (i, &r) in order.iter().enumerate() {
        back[r as usize] = i as u32;
    }
    for &(to, from) in copies {
        back[to as usize] = back[from as usize];
    }
    back
}
