//! Copies through tiles of pointers from global to shared memory by the threads themselves: `cp.async`.

use super::Lower;
use super::pointer_runs::{Accesses, places};
use super::shared::Buffer;
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::pointee;
use crate::ir::{Diagnostic, Op, OpId, ValueId};
use crate::layout::addr::{self, AccessPlan};
use crate::layout::convert::Transfer;
use crate::lower::run::{Run, cuts_once};
use crate::lower::unsupported;

impl Lower<'_> {
    /// Copies what the pointers of `op` show to the stage at `base`: asynchronously where a thread's neighbours
    /// are known to lie next to each other.
    pub(super) fn copy_pointed(
        &mut self,
        op: OpId,
        v: &view::PointerCopy<Op>,
        buffer: &Buffer,
        base: ValueId,
    ) -> Result<(), Diagnostic> {
        let pointers = v.pointers();
        let Some(layout) = self.layout(pointers) else {
            return Err(unsupported(self.m, op, "pointers without a layout"));
        };
        let plan = addr::plan(&layout, &buffer.layout, 128);
        let plan = self.layout_error(op, plan)?;
        let mask = v.mask();
        let bytes = u64::from(buffer.layout.element_bits() / 8);
        let run = Run::of(self.m, &self.facts, pointers).filter(|r| {
            let vec = plan.vector_elems;
            let cut = mask.is_none_or(|m| cuts_once(self.m, &self.facts, m, r.dim, vec));
            vec <= r.width && vec * r.bytes >= 4 && r.bytes == bytes && cut
        });
        let Some(run) = run else {
            return self.copy_one_by_one(op, v, &plan, base);
        };
        let registers: Vec<u32> = plan
            .accesses()
            .flat_map(|(_, a)| a.registers.clone())
            .collect();
        let accesses = Accesses {
            pointers,
            places: places(&layout, &run, &registers),
            vec: plan.vector_elems,
            registers,
            along: None,
        };
        let (from, src_offsets) = accesses.addresses(accesses.vec);
        let value = self.get(op, pointers)?;
        let src = self.emit().take(value, &from);
        let read = match mask {
            Some(mask) => Some(self.bytes_there(op, &accesses, mask, &run)?),
            None => None,
        };
        let bytes = accesses.vec * run.bytes;
        self.start_copies(base, &plan, bytes, (src, src_offsets), read);
        Ok(())
    }

    /// How many bytes of each copy the mask admits, as i32: the first ones.
    fn bytes_there(
        &mut self,
        op: OpId,
        a: &Accesses,
        mask: ValueId,
        run: &Run,
    ) -> Result<ValueId, Diagnostic> {
        let given = self.get(op, mask)?;
        let n = a.registers.len() as u32 / a.vec as u32;
        let i32_ty = self.m.types.int(32);
        let same = a.mask_constancy(self.facts.get(mask), run.dim);
        let (parts, step) = match same >= a.vec {
            true => (1, a.vec),
            false => (a.vec, 1),
        };
        let mut sum: Option<ValueId> = None;
        for i in 0..parts {
            let here: Vec<u32> = a
                .registers
                .iter()
                .skip(i as usize)
                .step_by(a.vec as usize)
                .copied()
                .collect();
            let mut e = self.emit();
            let there = e.take(given, &here);
            let some = e.array(&vec![(step * run.bytes) as i64; n as usize], i32_ty);
            let none = e.array(&vec![0; n as usize], i32_ty);
            let ty = e.m.ty(some);
            let part = e.get(N::Select, &[&[there], &[some], &[none]], [], ty);
            sum = Some(match sum {
                Some(sum) => e.binary(N::Add, sum, part),
                None => part,
            });
        }
        Ok(sum.unwrap_or(given))
    }

    /// Loads and stores of single elements, zeros where the mask is false.
    fn copy_one_by_one(
        &mut self,
        op: OpId,
        v: &view::PointerCopy<Op>,
        plan: &AccessPlan,
        base: ValueId,
    ) -> Result<(), Diagnostic> {
        let address = self.get(op, v.pointers())?;
        let n = self.emit().count(address);
        let elem = pointee(self.m, v.pointers());
        let stored = self.stored(elem);
        let ty = self.m.types.regs(stored, n);
        let mask = v.mask();
        let mask = mask.map(|m| self.get(op, m)).transpose()?;
        let padding = mask.map(|_| self.emit().constant(0, ty));
        let attrs = self.access_attrs(v.op(), 1, vec![0; n as usize]);
        let mut e = self.emit();
        let attrs = attrs.list(&mut e);
        let groups: [&[ValueId]; 3] = [&[address], mask.as_slice(), padding.as_slice()];
        let value = e.get(N::Ld, &groups, attrs, ty);
        self.store_shared(&Transfer::Plain(plan.clone()), base, value);
        self.asynchronous.stored.insert(v.pipeline());
        Ok(())
    }
}
