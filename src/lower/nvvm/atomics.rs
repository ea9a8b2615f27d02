//! Atomic updates of global memory: one instruction per element, or a loop around compare-and-swap
//! where the target has no instruction.

use super::Lower;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::{Ordering, Predicate, RmwMode, Rounding, Space};
use crate::dialect::nvvm::Op as N;
use crate::facts::access;
use crate::ir::{Attr, Float, Op, Type, TypeId, ValueId};
use crate::layout::{In, Layout};
use crate::lower::build::cased;
use crate::scalar::Signedness;
use crate::target::Feature;

/// Atomic updates of one element each, or of several.
pub struct Update {
    /// A scalar, or one per update.
    pub address: ValueId,
    /// Bytes to add to the addresses.
    pub offsets: Vec<i64>,
    pub value: ValueId,
    pub mask: Option<ValueId>,
    /// The result where masked off.
    pub other: Option<ValueId>,
}

/// Bits of tid that only repeat elements of a tile in `layout`.
pub fn redundant_threads(layout: &Layout) -> u64 {
    let free = layout.free_variable_masks();
    free[In::Lane as usize] | free[In::Warp as usize] << layout.in_bits(In::Lane)
}

impl Lower<'_> {
    /// The mask, with only one of the threads left that hold the same element: `repeats` are the
    /// bits of tid in which they differ.
    pub fn owned(&mut self, repeats: u64, mask: Option<ValueId>) -> Option<ValueId> {
        let owner = self.emit().threads_without(repeats);
        match (mask, owner) {
            (Some(mask), Some(owner)) => Some(self.emit().and(mask, owner)),
            (mask, owner) => mask.or(owner),
        }
    }

    /// Offsets, memory ordering, scope and state space of an atomic operation that is ordered so.
    pub fn atomic_attrs(&self, data: &Op, offsets: Vec<i64>, order: Ordering) -> [Option<Attr>; 4] {
        let attrs = self.access_attrs(data, 1, offsets);
        [
            Some(Attr::I64s(attrs.offsets)),
            cased(order),
            cased(attrs.scope),
            cased(attrs.space),
        ]
    }

    /// The update that `data` asks for; its result is the old values.
    pub fn update(&mut self, data: &Op, mode: RmwMode, u: &Update) -> ValueId {
        let ty = self.m.ty(u.value);
        let is_bf16 = matches!(
            self.m.types.get(self.m.types.elem(ty)),
            Type::Float(Float::BF16)
        );
        if is_bf16 && mode == RmwMode::AddF && !self.target.has(Feature::Bf16Arithmetic) {
            return self.add_by_cas(data, u);
        }
        let groups: [&[ValueId]; 4] = [
            &[u.address],
            &[u.value],
            u.mask.as_slice(),
            u.other.as_slice(),
        ];
        self.ordered(data, u.offsets.len(), |l, order| {
            let [offsets, order, scope, space] = l.atomic_attrs(data, u.offsets.clone(), order);
            let attrs = [cased(mode), offsets, order, scope, space];
            l.emit().get(N::AtomicRmw, &groups, attrs, ty)
        })
    }

    /// Most elements that one addition to memory takes, where its old values are not read (PTX ISA, "red").
    pub fn added_at_once(&self, mode: RmwMode, elem: TypeId) -> u64 {
        let vectors = self.target.has(Feature::VectorAtomics);
        if mode != RmwMode::AddF || self.space() != Space::Global {
            return 1;
        }
        match self.m.types.get(elem) {
            Type::Float(Float::F32) if vectors => 4,
            Type::Float(Float::F16 | Float::BF16) if vectors => 8,
            Type::Float(Float::F16) => 2,
            _ => 1,
        }
    }

    /// Adds `vec` elements at each address.
    pub fn add_vectors(&mut self, data: &Op, u: &Update, vec: u64) {
        if vec == 1 {
            self.update(data, RmwMode::AddF, u);
            return;
        }
        let elements = u.offsets.len() * vec as usize;
        self.ordered(data, elements, |l, order| {
            let groups: [&[ValueId]; 3] = [&[u.address], &[u.value], u.mask.as_slice()];
            let attrs = l.access_attrs(data, vec, u.offsets.clone());
            let mut e = l.emit();
            let attrs = [
                e.i32_attr(attrs.vec as i64),
                Some(Attr::I64s(attrs.offsets)),
                cased(order),
                cased(attrs.scope),
            ];
            e.op(N::RedAdd, &groups, attrs, &[]);
        });
    }

    /// Float addition by compare-and-swap, register by register.
    fn add_by_cas(&mut self, data: &Op, u: &Update) -> ValueId {
        let mut old = Vec::new();
        for (i, &offset) in (0..).zip(&u.offsets) {
            let mut e = self.emit();
            let mut at = |v: ValueId| match e.count(v) {
                1 => v,
                _ => e.take(v, &[i]),
            };
            let (address, value) = (at(u.address), at(u.value));
            let (mask, other) = (u.mask.map(&mut at), u.other.map(&mut at));
            let Some(mask) = mask else {
                old.push(self.cas_loop(data, address, offset, value));
                continue;
            };
            let ty = self.m.ty(value);
            let masked = self.choose(
                mask,
                |l| l.cas_loop(data, address, offset, value),
                |l| other.unwrap_or_else(|| l.emit().get(N::Undef, &[], [], ty)),
            );
            old.push(masked);
        }
        self.emit().concat(&old)
    }

    /// Adds `value` to the element at an address; returns what was there.
    fn cas_loop(&mut self, data: &Op, address: ValueId, offset: i64, value: ValueId) -> ValueId {
        let float = self.emit().elem(value);
        let bits = self.m.types.width(float);
        let attrs = self.access_attrs(data, 1, vec![offset]);
        let mut e = self.emit();
        let int = e.int(bits);
        let attrs = super::emit::AccessAttrs {
            order: Ordering::Relaxed,
            ..attrs
        }
        .list(&mut e);
        let first = e.get(N::Ld, &[&[address], &[], &[]], attrs, int);
        let region = self.m.new_region();
        let block = self.m.new_block(region, &[int]);
        let expected = self.m.block(block).args[0];
        self.within(block, |l| {
            let mut e = l.emit();
            let was = e.bitcast(expected, float);
            let even = [cased(Rounding::NearestEven)];
            let sum = e.get(C::AddF, &[&[was], &[value]], even, float);
            let sum = e.bitcast(sum, int);
            let attrs = l.atomic_attrs(data, vec![offset], access::ordering(data));
            let groups: [&[ValueId]; 5] = [&[address], &[expected], &[sum], &[], &[]];
            let mut e = l.emit();
            let found = e.get(N::AtomicCas, &groups, attrs, int);
            let done = e.icmp(Predicate::Equal, Signedness::Unsigned, found, expected);
            l.leave_when(done, found);
            l.emit().op(N::Continue, &[&[found]], [], &[]);
        });
        let mut b = self.build();
        let op = b.op(N::Loop, &[&[first]], [], &[int], &[region]);
        let old = self.m.result(op);
        self.emit().bitcast(old, float)
    }
}
