//! Copies through tiles of pointers from global to shared memory by the threads themselves: `cp.async`.

use super::Lower;
use super::pointer_runs::{Accesses, places};
use super::shared::Buffer;
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::pointee;
use crate::ir::{Diagnostic, Op, OpId, ValueId};
use crate::layout::Layout;
use crate::layout::addr;
use crate::layout::convert::Transfer;
use crate::lower::run::{Run, cuts_once};
use crate::lower::unsupported;

impl Lower<'_> {
    /// Copies what the pointers of `op` show to the stage at `base`: asynchronously, as many of a thread's neighbours at
    /// once as are known to lie next to each other, unless these are less than the four bytes that a copy moves at least.
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
        let element = buffer.layout.element_bits();
        let bytes = u64::from(element / 8);
        let run = Run::of(self.m, &self.facts, pointers).filter(|r| r.bytes == bytes);
        let together = run.map_or(1, |r| r.width);
        let bits = (together as u32 * element).clamp(element.max(32), 128);
        let plan = addr::plan(&layout, &buffer.layout, bits);
        let plan = self.layout_error(op, plan)?;
        let vec = plan.vector_elems;
        let cut = |m| run.is_none_or(|r| cuts_once(self.m, &self.facts, m, r.dim, vec));
        if vec > together || vec * bytes < 4 || !v.mask().is_none_or(cut) {
            return self.copy_one_by_one(op, v, &layout, buffer, base);
        }
        let registers: Vec<u32> = plan
            .accesses()
            .flat_map(|(_, a)| a.registers.clone())
            .collect();
        let accesses = Accesses {
            pointers,
            places: match &run {
                Some(run) => places(&layout, run, &registers),
                None => registers.iter().map(|&r| (r, 0)).collect(),
            },
            vec,
            registers,
            along: None,
        };
        let (from, src_offsets) = accesses.addresses(vec);
        let value = self.get(op, pointers)?;
        let src = self.emit().take(value, &from);
        let read = match v.mask() {
            Some(mask) => Some(self.bytes_there(op, &accesses, mask, run.as_ref(), bytes)?),
            None => None,
        };
        self.start_copies(base, &plan, vec * bytes, (src, src_offsets), read);
        Ok(())
    }

    /// How many bytes of each copy the mask admits, as i32: the first ones.
    fn bytes_there(
        &mut self,
        op: OpId,
        a: &Accesses,
        mask: ValueId,
        run: Option<&Run>,
        bytes: u64,
    ) -> Result<ValueId, Diagnostic> {
        let given = self.get(op, mask)?;
        let n = a.registers.len() as u32 / a.vec as u32;
        let i32_ty = self.m.types.int(32);
        let same = run.map_or(1, |r| a.mask_constancy(self.facts.get(mask), r.dim));
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
            let some = e.array(&vec![(step * bytes) as i64; n as usize], i32_ty);
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

    /// Loads of single elements, zeros where the mask is false, and stores of as many as the buffer's layout admits.
    fn copy_one_by_one(
        &mut self,
        op: OpId,
        v: &view::PointerCopy<Op>,
        layout: &Layout,
        buffer: &Buffer,
        base: ValueId,
    ) -> Result<(), Diagnostic> {
        let plan = addr::plan(layout, &buffer.layout, 128);
        let plan = self.layout_error(op, plan)?;
        let address = self.get(op, v.pointers())?;
        let n = self.emit().count(address);
        let (from, offsets) = self.element_places(v.pointers(), n);
        let address = self.emit().take(address, &from);
        let elem = pointee(self.m, v.pointers());
        let stored = self.stored(elem);
        let ty = self.m.types.regs(stored, n);
        let mask = v.mask();
        let mask = mask.map(|m| self.get(op, m)).transpose()?;
        let padding = mask.map(|_| self.emit().constant(0, ty));
        let attrs = self.access_attrs(v.op(), 1, offsets);
        let mut e = self.emit();
        let attrs = attrs.list(&mut e);
        let groups: [&[ValueId]; 3] = [&[address], mask.as_slice(), padding.as_slice()];
        let value = e.get(N::Ld, &groups, attrs, ty);
        self.store_shared(&Transfer::Plain(plan), base, value);
        self.asynchronous.stored.insert(v.pipeline());
        Ok(())
    }
}
