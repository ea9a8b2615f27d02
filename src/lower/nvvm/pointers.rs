//! Loads, stores and atomics through tiles of pointers: one access per register.

use super::Lower;
use super::emit::AccessAttrs;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Diagnostic, Op, OpId, ValueId};
use crate::layout::In;
use crate::lower::access::{operand, pointee};
use crate::lower::unsupported;

impl Lower<'_> {
    fn value_of(&self, op: OpId, data: &Op, name: &str) -> Result<ValueId, Diagnostic> {
        match operand(data, name) {
            Some(value) => self.get(op, value),
            None => Err(unsupported(self.m, op, format!("missing operand {name}"))),
        }
    }

    fn optional_of(&self, op: OpId, data: &Op, name: &str) -> Result<Option<ValueId>, Diagnostic> {
        operand(data, name).map(|v| self.get(op, v)).transpose()
    }

    pub(super) fn pointer_load(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        self.order_after(op, data);
        let pointers = self.value_of(op, data, "pointers")?;
        let mask = self.optional_of(op, data, "mask")?;
        let padding = self.optional_of(op, data, "padding")?;
        let result = data.results[0];
        let Some(ty) = self.ty(self.m.ty(result)) else {
            return Err(unsupported(self.m, op, "a load without registers"));
        };
        let n = self.m.types.reg_count(ty);
        let attrs = self.pointer_attrs(data, n);
        let elem = self.m.types.elem(ty);
        let stored = self.stored(elem);
        let ty = self.m.types.regs(stored, n);
        let padding = padding.map(|p| self.as_bytes(p).0);
        let padding = match (mask, padding) {
            (Some(_), None) => Some(self.emit().constant(0, ty)),
            (Some(_), padding) => padding,
            _ => None,
        };
        let mut e = self.emit();
        let attrs = attrs.list(&mut e);
        let value = e.get(
            N::Ld,
            &[&[pointers], mask.as_slice(), padding.as_slice()],
            attrs,
            ty,
        );
        let value = self.from_bytes(value, elem);
        self.set(result, value);
        Ok(())
    }

    pub(super) fn pointer_store(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        self.order_after(op, data);
        let pointers = self.value_of(op, data, "pointers")?;
        let value = self.value_of(op, data, "value")?;
        let (value, _) = self.as_bytes(value);
        let mask = self.optional_of(op, data, "mask")?;
        let mask = self.owned(data, mask);
        let n = self.emit().count(value);
        let attrs = self.pointer_attrs(data, n);
        let mut e = self.emit();
        let attrs = attrs.list(&mut e);
        e.op(N::St, &[&[pointers], &[value], mask.as_slice()], attrs, &[]);
        Ok(())
    }

    pub(super) fn atomic_rmw(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        self.order_after(op, data);
        let pointers = self.value_of(op, data, "pointers")?;
        let value = self.value_of(op, data, "value")?;
        let mask = self.optional_of(op, data, "mask")?;
        let mask = self.owned(data, mask);
        let n = self.emit().count(value) as usize;
        let attrs = [
            data.attr_named("mode").cloned(),
            Some(Attr::I64s(vec![0; n])),
            data.attr_named("order").cloned(),
            data.attr_named("scope").cloned(),
        ];
        let ty = self.m.ty(value);
        let old = self.emit().get(
            N::AtomicRmw,
            &[&[pointers], &[value], mask.as_slice()],
            attrs,
            ty,
        );
        let old = self.shared_result(op, data, old)?;
        self.set(data.results[0], old);
        Ok(())
    }

    pub(super) fn atomic_cas(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        self.order_after(op, data);
        let pointers = self.value_of(op, data, "pointers")?;
        let compare = self.value_of(op, data, "compare")?;
        let value = self.value_of(op, data, "value")?;
        let mask = self.optional_of(op, data, "mask")?;
        let mask = self.owned(data, mask);
        let n = self.emit().count(value) as usize;
        let attrs = [
            Some(Attr::I64s(vec![0; n])),
            data.attr_named("order").cloned(),
            data.attr_named("scope").cloned(),
        ];
        let ty = self.m.ty(value);
        let groups: [&[ValueId]; 4] = [&[pointers], &[compare], &[value], mask.as_slice()];
        let old = self.emit().get(N::AtomicCas, &groups, attrs, ty);
        let old = self.shared_result(op, data, old)?;
        self.set(data.results[0], old);
        Ok(())
    }

    fn pointer_attrs(&self, data: &Op, n: u32) -> AccessAttrs {
        AccessAttrs {
            space: "global",
            vec: 1,
            offsets: vec![0; n as usize],
            cache: "default",
            order: data.enum_named("order").unwrap_or(0),
            scope: data.enum_named("scope").unwrap_or(1),
        }
    }

    /// Bits of tid that only repeat elements of the pointers' tile.
    fn repeats(&self, data: &Op) -> u64 {
        let all = (self.role.warps * 32).next_power_of_two() - 1;
        let Some(pointers) = operand(data, "pointers") else {
            return 0;
        };
        match self.layout(pointers) {
            Some(layout) => {
                let free = layout.free_variable_masks();
                free[In::Lane as usize] | free[In::Warp as usize] << layout.in_bits(In::Lane)
            }
            None => all,
        }
    }

    /// The mask, with only one of the threads that hold the same element left.
    fn owned(&mut self, data: &Op, mask: Option<ValueId>) -> Option<ValueId> {
        let repeats = self.repeats(data);
        let owner = self.emit().threads_without(repeats);
        match (mask, owner) {
            (Some(mask), Some(owner)) => Some(self.emit().and(mask, owner)),
            (mask, owner) => mask.or(owner),
        }
    }

    /// The old values for all threads that hold the element, from the one that did the atomic.
    fn shared_result(&mut self, op: OpId, data: &Op, old: ValueId) -> Result<ValueId, Diagnostic> {
        let repeats = self.repeats(data);
        if repeats == 0 || !self.is_used(data.results[0]) {
            return Ok(old);
        }
        let bits = self
            .m
            .types
            .bits(pointee(
                self.m,
                operand(data, "pointers").unwrap_or_default(),
            ))
            .unwrap_or(32);
        let n = u64::from(self.emit().count(old));
        let threads = self.role.warps * 32;
        let bytes = n * threads * u64::from(bits / 8);
        // Slot of a thread: its number without the bits that only repeat.
        let columns: Vec<(u32, u64)> = (0..threads.trailing_zeros())
            .filter(|b| repeats >> b & 1 == 0)
            .map(|b| (b, (1u64 << b) * n * u64::from(bits / 8)))
            .collect();
        if !(n * u64::from(bits / 8)).is_power_of_two() {
            return Err(unsupported(
                self.m,
                op,
                "atomic results of this size are not yet compiled to PTX",
            ));
        }
        let at = self.scratch(bytes);
        let slot = self.emit().linear(&columns);
        let base = self.emit().smem(at);
        let address = self.emit().ptr_add(base, slot);
        let owner = self.emit().threads_without(repeats);
        let offsets: Vec<i64> = (0..n as i64).map(|i| i * i64::from(bits / 8)).collect();
        let mut e = self.emit();
        let attrs = AccessAttrs::shared(1, offsets.clone()).list(&mut e);
        e.op(N::St, &[&[address], &[old], owner.as_slice()], attrs, &[]);
        self.barrier();
        let ty = self.m.ty(old);
        let mut e = self.emit();
        let attrs = AccessAttrs::shared(1, offsets).list(&mut e);
        Ok(e.get(N::Ld, &[&[address], &[], &[]], attrs, ty))
    }

    fn is_used(&self, value: ValueId) -> bool {
        let mut used = false;
        self.m.walk(self.m.body, &mut |op| {
            used |= self.m.op(op).operands.contains(&value)
        });
        used
    }
}
