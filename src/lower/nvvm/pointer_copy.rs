//! Copies through tiles of pointers from global to shared memory by the threads themselves: `cp.async`.

use super::Lower;
use super::emit::Emit;
use super::pointer_runs::{Accesses, places};
use super::shared::Buffer;
use crate::dialect::enums::Predicate;
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::facts::{self, access::pointee};
use crate::ir::{Diagnostic, Op, OpId, ValueId};
use crate::layout::Layout;
use crate::layout::addr;
use crate::layout::convert::Transfer;
use crate::lower::run::{Below, Cut, How, Run};
use crate::lower::unsupported;
use crate::scalar::Signedness;

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
        // Without a run each copy is of one element, and its mask its own.
        let cut = v.mask().map(|mask| match run {
            Some(run) => Cut::of(self.m, &self.facts, mask, run.dim, vec),
            None => Some(Cut {
                mask,
                how: How::Alike,
            }),
        });
        if vec > together || vec * bytes < 4 || cut == Some(None) {
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
        let admits = |cut: Cut| self.bytes_there(op, &cut, &accesses.firsts(vec), [vec, bytes]);
        let read = cut.flatten().map(admits).transpose()?;
        self.start_copies(base, &plan, vec * bytes, (src, src_offsets), read);
        Ok(())
    }

    /// How many bytes of copies of `vec` elements of so many `bytes` a mask admits, as i32: `firsts` are the registers of
    /// their first elements.
    fn bytes_there(
        &mut self,
        op: OpId,
        cut: &Cut,
        firsts: &[u32],
        [vec, bytes]: [u64; 2],
    ) -> Result<ValueId, Diagnostic> {
        match &cut.how {
            How::Alike => {
                let there = self.first_of(op, cut.mask, firsts)?;
                let mut e = self.emit();
                let i32_ty = e.int(32);
                let ty = e.m.types.regs(i32_ty, firsts.len() as u32);
                let all = e.constant((vec * bytes) as i64, ty);
                Ok(e.select_or_none(there, all))
            }
            How::Both(cuts) => {
                let [a, b] = &**cuts;
                let (a, b) = match b.how {
                    How::Alike => (b, a),
                    _ => (a, b),
                };
                let of_b = self.bytes_there(op, b, firsts, [vec, bytes])?;
                if a.how == How::Alike {
                    let there = self.first_of(op, a.mask, firsts)?;
                    return Ok(self.emit().select_or_none(there, of_b));
                }
                let of_a = self.bytes_there(op, a, firsts, [vec, bytes])?;
                Ok(self.emit().binary(N::MinS, of_a, of_b))
            }
            How::Renamed(source) => {
                let layouts = self.layout(source.mask).zip(self.layout(cut.mask));
                let renamed = self.m.def_op(cut.mask).zip(layouts);
                let Some((renaming, (from, to))) = renamed else {
                    return Err(unsupported(self.m, op, "a mask without a layout"));
                };
                let map = self.register_map(renaming, &from, &to)?;
                let of_source = |&r: &u32| map.get(r as usize).copied();
                let Some(firsts) = firsts.iter().map(of_source).collect::<Option<Vec<_>>>() else {
                    return Err(unsupported(self.m, op, "a mask of another layout"));
                };
                self.bytes_there(op, source, &firsts, [vec, bytes])
            }
            How::Below(below) => {
                let least = self.least_limit(below);
                let below = Below {
                    numbers: self.first_of(op, below.numbers, firsts)?,
                    limit: self.first_of(op, below.limit, firsts)?,
                    ..*below
                };
                let mut e = self.emit();
                let count = match least {
                    Some(least) => clamped(&mut e, below, vec, least),
                    None => compared(&mut e, below, vec),
                };
                Ok(e.with(N::Mul, count, bytes as i64))
            }
        }
    }

    /// The registers `firsts` of a tile.
    fn first_of(&mut self, op: OpId, tile: ValueId, firsts: &[u32]) -> Result<ValueId, Diagnostic> {
        let value = self.get(op, tile)?;
        Ok(self.emit().take(value, firsts))
    }

    /// The least that a limit must be, a smaller one being as good, for its distance from the numbers to be a signed number of
    /// 32 bits that is negative where it is the lesser one; `None` where no such limit will do.
    fn least_limit(&self, below: &Below) -> Option<i64> {
        let (a, b) = (self.facts.get(below.numbers)?, self.facts.get(below.limit)?);
        let ordered = below.signedness == Signedness::Signed || a.nonneg() && b.nonneg();
        if !ordered || self.m.types.width(self.m.ty(below.numbers)) != 32 {
            return None;
        }
        let (least, most) = facts::int_range(32);
        let fits = |lowest: &i64| {
            let apart = |x: i64, y: i64| i128::from(x.max(*lowest)) - i128::from(y);
            apart(b.lo, a.hi) >= i128::from(least)
                && apart(b.hi, a.lo) + i128::from(below.included) <= i128::from(most)
        };
        // No number is below the least of them.
        let raised = a.lo - i64::from(below.included);
        [least, raised].into_iter().find(fits)
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

/// How many of `vec` neighbours, of which `below` has the first of each, are below their limit, as i32: where the limit's
/// distance is a signed number of 32 bits once it is `least` at least.
fn clamped(e: &mut Emit<'_>, below: Below, vec: u64, least: i64) -> ValueId {
    let limit = match least == facts::int_range(32).0 {
        true => below.limit,
        false => e.with(N::MaxS, below.limit, least),
    };
    let mut distance = e.binary(N::Sub, limit, below.numbers);
    if below.included {
        distance = e.with(N::Add, distance, 1);
    }
    let few = e.with(N::MinS, distance, vec as i64);
    e.with(N::MaxS, few, 0)
}

/// The same for any numbers: where the first is below, the limit's distance is an unsigned number.
fn compared(e: &mut Emit<'_>, below: Below, vec: u64) -> ValueId {
    let (predicate, most) = match below.included {
        true => (Predicate::LessThanOrEqual, vec - 1),
        false => (Predicate::LessThan, vec),
    };
    let there = e.icmp(predicate, below.signedness, below.numbers, below.limit);
    let distance = e.binary(N::Sub, below.limit, below.numbers);
    // The most that is asked of fits wherever the neighbours do.
    let few = e.with(N::MinU, distance, most as i64);
    let mut count = e.zero_extended(few, 32);
    if below.included {
        count = e.with(N::Add, count, 1);
    }
    e.select_or_none(there, count)
}
