//! Loads, stores and atomics through tiles of pointers.
//!
//! Pointers that are known to be neighbours share an address, and one access moves several elements
//! (`pointer_runs.rs`); all others are accessed one by one.

use super::Lower;
use super::atomics::{Update, redundant_threads};
use super::emit::AccessAttrs;
use super::pointer_runs::Accesses;
use super::tiled::inverse;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::operand;
use crate::ir::{Diagnostic, Op, OpId, TypeId, ValueId};
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
        let result = data.results[0];
        let Some(ty) = self.ty(self.m.ty(result)) else {
            return Err(unsupported(self.m, op, "a load without registers"));
        };
        let n = self.m.types.reg_count(ty);
        let a = self.pointer_accesses(op, data, n)?;
        let elem = self.m.types.elem(ty);
        let value = match operand(data, "mask") {
            None => self.load_run(op, data, &a, a.vec, None, None)?,
            Some(mask) => self.load_masked_run(op, data, &a, mask)?,
        };
        let value = self.emit().take(value, &inverse(&a.registers));
        let mut value = self.from_bytes(value, elem);
        if self.is_strong(data) && self.repeats(data) != 0 {
            // Other blocks may write meanwhile: all threads go by what one of them saw.
            value = self.shared_result(op, data, value)?;
        }
        self.set(result, value);
        self.after_access(data);
        Ok(())
    }

    /// A masked load: in vectors where a mask is known to be the same for a whole one; else the thread
    /// asks whether it has all of its elements.
    fn load_masked_run(
        &mut self,
        op: OpId,
        data: &Op,
        a: &Accesses,
        mask: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let given = self.get(op, mask)?;
        let padding = self.run_padding(op, data, a)?;
        let narrow = a.mask_vector(self.facts.get(mask));
        if narrow == a.vec {
            let mask = self.emit().take(given, &a.firsts(a.vec));
            return self.load_run(op, data, a, a.vec, Some(mask), padding);
        }
        let all = self.all_there(op, a, mask)?;
        let loaded = self.fork(
            all,
            |l| Ok(vec![l.load_run(op, data, a, a.vec, None, None)?]),
            |l| {
                let mask = l.emit().take(given, &a.firsts(narrow));
                Ok(vec![l.load_run(
                    op,
                    data,
                    a,
                    narrow,
                    Some(mask),
                    padding,
                )?])
            },
        )?;
        Ok(loaded[0])
    }

    /// What a masked load gives where nothing is loaded, in memory order; zero where nothing says so.
    fn run_padding(
        &mut self,
        op: OpId,
        data: &Op,
        a: &Accesses,
    ) -> Result<Option<ValueId>, Diagnostic> {
        let Some(padding) = self.optional_of(op, data, "padding")? else {
            let ty = self.stored_run(data, a);
            return Ok(Some(self.emit().constant(0, ty)));
        };
        let padding = self.as_bytes(padding).0;
        Ok(Some(self.emit().take(padding, &a.registers)))
    }

    /// The type of the elements of a thread as memory holds them.
    fn stored_run(&mut self, data: &Op, a: &Accesses) -> TypeId {
        let elem = self.m.types.elem(self.m.ty(data.results[0]));
        let stored = self.stored(elem);
        self.m.types.regs(stored, a.registers.len() as u32)
    }

    /// Loads all elements of a thread, in memory order, `vec` at a time.
    fn load_run(
        &mut self,
        op: OpId,
        data: &Op,
        a: &Accesses,
        vec: u64,
        mask: Option<ValueId>,
        padding: Option<ValueId>,
    ) -> Result<ValueId, Diagnostic> {
        let (address, offsets) = self.run_addresses(op, data, a, vec)?;
        let ty = self.stored_run(data, a);
        let attrs = self.access_attrs(data, vec, offsets);
        let mut e = self.emit();
        let attrs = attrs.list(&mut e);
        let groups: [&[ValueId]; 3] = [&[address], mask.as_slice(), padding.as_slice()];
        Ok(e.get(N::Ld, &groups, attrs, ty))
    }

    fn run_addresses(
        &mut self,
        op: OpId,
        data: &Op,
        a: &Accesses,
        vec: u64,
    ) -> Result<(ValueId, Vec<i64>), Diagnostic> {
        let pointers = self.value_of(op, data, "pointers")?;
        let (from, offsets) = a.addresses(vec);
        let from = match from.first() {
            Some(&first) if from.iter().all(|&r| r == first) => vec![first],
            _ => from,
        };
        Ok((self.emit().take(pointers, &from), offsets))
    }

    pub(super) fn pointer_store(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        self.before_access(op, data);
        let value = self.value_of(op, data, "value")?;
        let (value, _) = self.as_bytes(value);
        let n = self.emit().count(value);
        let a = self.pointer_accesses(op, data, n)?;
        let value = self.emit().take(value, &a.registers);
        let Some(mask) = operand(data, "mask") else {
            return self.store_run(op, data, &a, a.vec, None, value);
        };
        let given = self.get(op, mask)?;
        let narrow = a.mask_vector(self.facts.get(mask));
        if narrow == a.vec {
            let mask = self.emit().take(given, &a.firsts(a.vec));
            return self.store_run(op, data, &a, a.vec, Some(mask), value);
        }
        let all = self.all_there(op, &a, mask)?;
        self.fork(
            all,
            |l| {
                l.store_run(op, data, &a, a.vec, None, value)
                    .map(|()| vec![])
            },
            |l| {
                let mask = l.emit().take(given, &a.firsts(narrow));
                l.store_run(op, data, &a, narrow, Some(mask), value)
                    .map(|()| vec![])
            },
        )?;
        Ok(())
    }

    /// Stores all elements of a thread, given in memory order, `vec` at a time.
    fn store_run(
        &mut self,
        op: OpId,
        data: &Op,
        a: &Accesses,
        vec: u64,
        mask: Option<ValueId>,
        value: ValueId,
    ) -> Result<(), Diagnostic> {
        let (address, offsets) = self.run_addresses(op, data, a, vec)?;
        let mask = self.owned(self.repeats(data), mask);
        let attrs = self.access_attrs(data, vec, offsets);
        let mut e = self.emit();
        let attrs = attrs.list(&mut e);
        e.op(N::St, &[&[address], &[value], mask.as_slice()], attrs, &[]);
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
