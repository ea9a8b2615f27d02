//! Loads, stores and atomics through tiles of pointers: one access per register.

use super::Lower;
use super::atomics::{Update, redundant_threads};
use super::emit::AccessAttrs;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Diagnostic, Op, OpId, ValueId};
use crate::lower::access::operand;
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
        self.before_access(op, data);
        let pointers = self.value_of(op, data, "pointers")?;
        let mask = self.optional_of(op, data, "mask")?;
        let padding = self.optional_of(op, data, "padding")?;
        let result = data.results[0];
        let Some(ty) = self.ty(self.m.ty(result)) else {
            return Err(unsupported(self.m, op, "a load without registers"));
        };
        let n = self.m.types.reg_count(ty);
        let attrs = self.access_attrs(data, 1, vec![0; n as usize]);
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
        let mut value = self.from_bytes(value, elem);
        if self.is_strong(data) && self.repeats(data) != 0 {
            // Other blocks may write meanwhile: all threads go by what one of them saw.
            value = self.shared_result(op, data, value)?;
        }
        self.set(result, value);
        self.after_access(data);
        Ok(())
    }

    pub(super) fn pointer_store(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        self.before_access(op, data);
        let pointers = self.value_of(op, data, "pointers")?;
        let value = self.value_of(op, data, "value")?;
        let (value, _) = self.as_bytes(value);
        let mask = self.optional_of(op, data, "mask")?;
        let mask = self.owned(self.repeats(data), mask);
        let n = self.emit().count(value);
        let attrs = self.access_attrs(data, 1, vec![0; n as usize]);
        let mut e = self.emit();
        let attrs = attrs.list(&mut e);
        e.op(N::St, &[&[pointers], &[value], mask.as_slice()], attrs, &[]);
        Ok(())
    }

    pub(super) fn atomic_rmw(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        self.before_access(op, data);
        let value = self.value_of(op, data, "value")?;
        let n = self.emit().count(value) as usize;
        let given = self.optional_of(op, data, "mask")?;
        let update = Update {
            address: self.value_of(op, data, "pointers")?,
            offsets: vec![0; n],
            value,
            mask: self.owned(self.repeats(data), given),
            // What is masked off yields some value, the same in all threads that see it.
            other: given.filter(|_| self.is_result_used(data)).map(|_| value),
        };
        let old = self.update(data, &update);
        let old = self.shared_result(op, data, old)?;
        self.set(data.results[0], old);
        self.after_access(data);
        Ok(())
    }

    pub(super) fn atomic_cas(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        self.before_access(op, data);
        let pointers = self.value_of(op, data, "pointers")?;
        let compare = self.value_of(op, data, "compare")?;
        let value = self.value_of(op, data, "value")?;
        let given = self.optional_of(op, data, "mask")?;
        let mask = self.owned(self.repeats(data), given);
        // Where masked off, the result is the value compared with (Tile IR, `atomic_cas_tko`).
        let other = given.filter(|_| self.is_result_used(data)).map(|_| compare);
        let n = self.emit().count(value) as usize;
        let attrs = self.atomic_attrs(data, vec![0; n]);
        let ty = self.m.ty(value);
        let groups: [&[ValueId]; 5] = [
            &[pointers],
            &[compare],
            &[value],
            mask.as_slice(),
            other.as_slice(),
        ];
        let old = self.emit().get(N::AtomicCas, &groups, attrs, ty);
        let old = self.shared_result(op, data, old)?;
        self.set(data.results[0], old);
        self.after_access(data);
        Ok(())
    }

    /// Bits of tid that only repeat elements of the pointers' tile.
    fn repeats(&self, data: &Op) -> u64 {
        let all = (self.role.warps * 32).next_power_of_two() - 1;
        let Some(pointers) = operand(data, "pointers") else {
            return 0;
        };
        match self.layout(pointers) {
            Some(layout) => redundant_threads(&layout),
            None => all,
        }
    }

    fn is_result_used(&self, data: &Op) -> bool {
        data.results.first().is_some_and(|r| self.used.contains(r))
    }

    /// What one thread got, for all threads that hold the element.
    fn shared_result(
        &mut self,
        op: OpId,
        data: &Op,
        value: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let repeats = self.repeats(data);
        if repeats == 0 || !self.is_result_used(data) {
            return Ok(value);
        }
        if let Some(layout) = operand(data, "pointers").and_then(|p| self.layout(p)) {
            let room = self.spill(op, value, &layout)?;
            return self.fetch(op, &room, room.base, &layout);
        }
        let (value, elem) = self.as_bytes(value);
        let ty = self.m.ty(value);
        let bytes = u64::from(self.m.types.bits(ty).unwrap_or(64).div_ceil(8));
        let at = self.scratch(bytes);
        let owner = self.emit().threads_without(repeats);
        let mut e = self.emit();
        let address = e.smem(at);
        let attrs = AccessAttrs::shared(1, vec![0]).list(&mut e);
        e.op(N::St, &[&[address], &[value], owner.as_slice()], attrs, &[]);
        self.barrier();
        let mut e = self.emit();
        let attrs = AccessAttrs::shared(1, vec![0]).list(&mut e);
        let value = e.get(N::Ld, &[&[address], &[], &[]], attrs, ty);
        Ok(self.from_bytes(value, elem))
    }
}
