//! Loads, stores and atomics through tiles of pointers.
//!
//! Pointers that are known to be neighbours share an address, and one access moves several elements
//! (`pointer_runs.rs`); all others are accessed one by one.

use super::Lower;
use super::atomics::{Update, redundant_threads};
use super::emit::AccessAttrs;
use super::pointer_runs::Accesses;
use super::tiled::inverse;
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Diagnostic, Op, OpId, TypeId, ValueId};
use crate::lower::unsupported;

impl Lower<'_> {
    pub(super) fn pointer_load(&mut self, op: OpId, v: &view::Load<Op>) -> Result<(), Diagnostic> {
        self.before_access(op, v.op());
        let result = v.tile();
        let Some(ty) = self.ty(self.m.ty(result)) else {
            return Err(unsupported(self.m, op, "a load without registers"));
        };
        let n = self.m.types.reg_count(ty);
        let a = self.pointer_accesses(op, v.op(), v.pointers(), n)?;
        let elem = self.m.types.elem(ty);
        let value = match v.mask() {
            None => self.load_run(op, v.op(), &a, a.vec, None, None)?,
            Some(mask) => self.load_masked_run(op, v, &a, mask)?,
        };
        let value = self.emit().take(value, &inverse(&a.registers));
        let mut value = self.from_bytes(value, elem);
        if self.is_strong(v.op()) && self.repeats(v.pointers()) != 0 {
            // Other blocks may write meanwhile: all threads go by what one of them saw.
            value = self.shared_result(op, v.pointers(), v.tile(), value)?;
        }
        self.set(result, value);
        self.after_access(v.op());
        Ok(())
    }

    /// A masked load: in vectors where a mask is known to be the same for a whole one; else the thread
    /// asks whether it has all of its elements.
    fn load_masked_run(
        &mut self,
        op: OpId,
        v: &view::Load<Op>,
        a: &Accesses,
        mask: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let padding = self.run_padding(op, v, a)?;
        let narrow = a.mask_vector(self.facts.get(mask));
        if narrow == a.vec {
            let mask = self.vector_masks(op, mask, &a.firsts(a.vec))?;
            return self.load_run(op, v.op(), a, a.vec, Some(mask), padding);
        }
        let given = self.get(op, mask)?;
        let all = self.all_there(op, a, mask)?;
        let loaded = self.fork(
            all,
            |l| Ok(vec![l.load_run(op, v.op(), a, a.vec, None, None)?]),
            |l| {
                let mask = l.emit().take(given, &a.firsts(narrow));
                Ok(vec![l.load_run(
                    op,
                    v.op(),
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
        v: &view::Load<Op>,
        a: &Accesses,
    ) -> Result<Option<ValueId>, Diagnostic> {
        let Some(padding) = v.padding().map(|x| self.get(op, x)).transpose()? else {
            let ty = self.stored_run(v.op(), a);
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
        let (address, offsets) = self.run_addresses(op, a, vec)?;
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
        a: &Accesses,
        vec: u64,
    ) -> Result<(ValueId, Vec<i64>), Diagnostic> {
        let pointers = self.get(op, a.pointers)?;
        let (from, offsets) = a.addresses(vec);
        let from = match from.first() {
            Some(&first) if from.iter().all(|&r| r == first) => vec![first],
            _ => from,
        };
        Ok((self.emit().take(pointers, &from), offsets))
    }

    pub(super) fn pointer_store(
        &mut self,
        op: OpId,
        v: &view::Store<Op>,
    ) -> Result<(), Diagnostic> {
        self.before_access(op, v.op());
        let value = self.get(op, v.value())?;
        let (value, _) = self.as_bytes(value);
        let n = self.emit().count(value);
        let a = self.pointer_accesses(op, v.op(), v.pointers(), n)?;
        let value = self.emit().take(value, &a.registers);
        let Some(mask) = v.mask() else {
            return self.store_run(op, v.op(), &a, a.vec, None, value);
        };
        let narrow = a.mask_vector(self.facts.get(mask));
        if narrow == a.vec {
            let mask = self.vector_masks(op, mask, &a.firsts(a.vec))?;
            return self.store_run(op, v.op(), &a, a.vec, Some(mask), value);
        }
        let given = self.get(op, mask)?;
        let all = self.all_there(op, &a, mask)?;
        self.fork(
            all,
            |l| {
                l.store_run(op, v.op(), &a, a.vec, None, value)
                    .map(|()| vec![])
            },
            |l| {
                let mask = l.emit().take(given, &a.firsts(narrow));
                l.store_run(op, v.op(), &a, narrow, Some(mask), value)
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
        let (address, offsets) = self.run_addresses(op, a, vec)?;
        let mask = self.owned(self.repeats(a.pointers), mask);
        let attrs = self.access_attrs(data, vec, offsets);
        let mut e = self.emit();
        let attrs = attrs.list(&mut e);
        e.op(N::St, &[&[address], &[value], mask.as_slice()], attrs, &[]);
        Ok(())
    }

    pub(super) fn atomic_rmw(
        &mut self,
        op: OpId,
        v: &view::AtomicRmw<Op>,
    ) -> Result<(), Diagnostic> {
        self.before_access(op, v.op());
        let value = self.get(op, v.value())?;
        let n = self.emit().count(value);
        if !self.kernel.used.contains(&v.old()) && self.add_runs(op, v, value, n)? {
            self.after_access(v.op());
            return Ok(());
        }
        let given = v.mask().map(|x| self.get(op, x)).transpose()?;
        let (address, offsets) = self.element_addresses(op, v.pointers(), n)?;
        let update = Update {
            address,
            offsets,
            value,
            mask: self.owned(self.repeats(v.pointers()), given),
            // What is masked off yields some value, the same in all threads that see it.
            other: given
                .filter(|_| self.kernel.used.contains(&v.old()))
                .map(|_| value),
        };
        let old = self.update(v.op(), v.mode(), &update);
        let old = self.shared_result(op, v.pointers(), v.old(), old)?;
        self.set(v.old(), old);
        self.after_access(v.op());
        Ok(())
    }

    /// Adds the `n` elements of a thread to memory, several at a time; false where it does not, for there are no such
    /// additions or no such neighbours.
    fn add_runs(
        &mut self,
        op: OpId,
        v: &view::AtomicRmw<Op>,
        value: ValueId,
        n: u32,
    ) -> Result<bool, Diagnostic> {
        let elem = self.emit().elem(value);
        let most = self.added_at_once(v.mode(), elem);
        if most == 1 {
            return Ok(false);
        }
        let a = self.runs_of_pointers(op, v.pointers(), n)?;
        let masked = v.mask().map(|mask| a.mask_vector(self.facts.get(mask)));
        let vec = most.min(masked.unwrap_or(a.vec));
        if vec == 1 {
            return Ok(false);
        }
        let mask = match v.mask() {
            Some(mask) => Some(self.vector_masks(op, mask, &a.firsts(vec))?),
            None => None,
        };
        let (address, offsets) = self.run_addresses(op, &a, vec)?;
        let update = Update {
            address,
            offsets,
            value: self.emit().take(value, &a.registers),
            mask: self.owned(self.repeats(a.pointers), mask),
            other: None,
        };
        self.add_vectors(v.op(), &update, vec);
        Ok(true)
    }

    pub(super) fn atomic_cas(
        &mut self,
        op: OpId,
        v: &view::AtomicCas<Op>,
    ) -> Result<(), Diagnostic> {
        self.before_access(op, v.op());
        let compare = self.get(op, v.compare())?;
        let value = self.get(op, v.value())?;
        let n = self.emit().count(value);
        let (pointers, offsets) = self.element_addresses(op, v.pointers(), n)?;
        let given = v.mask().map(|x| self.get(op, x)).transpose()?;
        let mask = self.owned(self.repeats(v.pointers()), given);
        // Where masked off, the result is the value compared with (Tile IR, `atomic_cas_tko`).
        let other = given
            .filter(|_| self.kernel.used.contains(&v.old()))
            .map(|_| compare);
        let ty = self.m.ty(value);
        let groups: [&[ValueId]; 5] = [
            &[pointers],
            &[compare],
            &[value],
            mask.as_slice(),
            other.as_slice(),
        ];
        let old = self.ordered(v.op(), offsets.len(), |l, order| {
            let attrs = l.atomic_attrs(v.op(), offsets, order);
            l.emit().get(N::AtomicCas, &groups, attrs, ty)
        });
        let old = self.shared_result(op, v.pointers(), v.old(), old)?;
        self.set(v.old(), old);
        self.after_access(v.op());
        Ok(())
    }

    /// Where the `n` elements of a thread are that are accessed one by one: a pointer for each, and bytes
    /// to add.
    fn element_addresses(
        &mut self,
        op: OpId,
        pointers: ValueId,
        n: u32,
    ) -> Result<(ValueId, Vec<i64>), Diagnostic> {
        let given = self.get(op, pointers)?;
        let (from, offsets) = self.element_places(pointers, n);
        Ok((self.emit().take(given, &from), offsets))
    }

    /// Bits of tid that only repeat elements of the pointers' tile.
    fn repeats(&self, pointers: ValueId) -> u64 {
        let all = (self.role.warps * 32).next_power_of_two() - 1;
        match self.layout(pointers) {
            Some(layout) => redundant_threads(&layout),
            None => all,
        }
    }

    /// What one thread got, for all threads that hold the element.
    fn shared_result(
        &mut self,
        op: OpId,
        pointers: ValueId,
        result: ValueId,
        value: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let repeats = self.repeats(pointers);
        if repeats == 0 || !self.kernel.used.contains(&result) {
            return Ok(value);
        }
        if let Some(layout) = self.layout(pointers) {
            let room = self.spill(op, value, &layout)?;
            return self.fetch(op, &room, room.base, &layout);
        }
        let (value, elem) = self.as_bytes(value);
        let ty = self.m.ty(value);
        let bytes = u64::from(self.m.types.width(ty).div_ceil(8));
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
