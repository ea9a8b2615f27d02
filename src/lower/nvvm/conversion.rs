//! Layout conversions: register renaming, shuffles, trips through scratch memory, and trips in
//! parts where scratch has no room for a whole tile.

use super::Lower;
use super::shared::back;
use crate::dialect::nv_tileas::view;
use crate::ir::{Diagnostic, Op, OpId, ValueId};
use crate::layout::Layout;
use crate::layout::bank::Taken;
use crate::layout::bytes::pairs;
use crate::layout::convert::{Conversion, SharedPlan, Transfer};
use crate::layout::halves::{Halves, Sides};
use crate::layout::swizzle::Wanted;
use crate::lower::tileas::{self, look::is_view};
use crate::lower::unsupported;

/// The threads that hold what is converted: those whose number has `bits` under `mask`.
#[derive(Clone, Copy, Default)]
struct Holders {
    mask: u64,
    bits: u64,
}

/// How the source of a conversion is cut in two.
enum Cut {
    Halves(Halves),
    Sides(Sides),
}

impl Lower<'_> {
    pub(super) fn convert_layout(
        &mut self,
        op: OpId,
        v: &view::ConvertLayout<Op>,
    ) -> Result<(), Diagnostic> {
        let (source, result) = (v.source(), v.result());
        let value = self.get(op, source)?;
        let (Some(from), Some(to)) = (self.layout(source), self.layout(result)) else {
            return Err(unsupported(
                self.m,
                op,
                "conversion of something without a layout",
            ));
        };
        let to = Wanted {
            layout: &to,
            taken: self.taken_by_matmuls(result),
        };
        let new = self.convert_value(op, value, &from, to)?;
        self.set(result, new);
        Ok(())
    }

    /// How matmuls take the elements of a tile that they read, perhaps in another shape.
    fn taken_by_matmuls(&self, tile: ValueId) -> Taken {
        let m = &self.m;
        let by = |user: OpId| match is_view(m, user) {
            true => self.taken_by_matmuls(m.result(user)),
            false => tileas::taken(m, user, tile, self.role.warps).unwrap_or(Taken::SINGLY),
        };
        let all = m.users(tile).into_iter().map(by);
        all.reduce(|a, b| Taken {
            beside: a.beside.max(b.beside),
            times: a.times + b.times,
        })
        .unwrap_or(Taken::SINGLY)
    }

    /// `value` of layout `from` in the layout that is wanted.
    pub fn convert_value<'l>(
        &mut self,
        op: OpId,
        value: ValueId,
        from: &Layout,
        to: impl Into<Wanted<'l>>,
    ) -> Result<ValueId, Diagnostic> {
        let to @ Wanted { layout, taken } = to.into();
        if from == layout {
            return Ok(value);
        }
        if self.m.types.bits(self.m.ty(value)) == Some(4)
            && let Some([from, layout]) = &pairs(from, layout)
        {
            // Two elements of a byte stay together.
            let elem = self.emit().elem(value);
            let bytes = self.join_bits(value, 4);
            let beside = taken.beside / 2;
            let taken = Taken { beside, ..taken };
            let bytes = self.convert_value(op, bytes, from, Wanted { layout, taken })?;
            return Ok(self.split_bits(bytes, 4, elem));
        }
        let (value, elem) = self.as_bytes(value);
        let bits = self.m.types.width(self.m.ty(value));
        let plan = self.conversions.plan(from, to, bits);
        let plan = self.layout_error(op, plan)?;
        let new = match &plan.conversion {
            Conversion::Identity => value,
            Conversion::Registers(registers) => self.emit().take(value, registers),
            Conversion::Shuffle(plan) => self.shuffle(plan, value, layout.registers() as u32),
            Conversion::Shared(plan) if plan.shared.bytes() > self.scratch_room() => {
                self.convert_parts(op, value, from, Holders::default(), to)?
            }
            Conversion::Shared(plan) => self.through_shared(plan, value),
        };
        Ok(self.from_bytes(new, elem))
    }

    fn through_shared(&mut self, plan: &SharedPlan, value: ValueId) -> ValueId {
        let base = self.scratch_for(plan);
        self.store_shared(&plan.store, base, value);
        self.meet(plan);
        let elem = self.emit().elem(value);
        self.load_shared(&plan.load, base, elem)
    }

    /// One half of the tile after the other, until a part has room.
    fn convert_parts(
        &mut self,
        op: OpId,
        value: ValueId,
        from: &Layout,
        holders: Holders,
        to: Wanted<'_>,
    ) -> Result<ValueId, Diagnostic> {
        let bits = self.m.types.width(self.m.ty(value));
        let bytes = from.shape().elements() * u64::from(bits / 8);
        if bytes <= self.scratch_room() {
            return self.convert_part(op, value, from, holders, to);
        }
        let Some((cut, halves)) = cut(from, to.layout) else {
            // The error about the kernel's shared memory says how much is missing.
            return self.convert_part(op, value, from, holders, to);
        };
        let half = Wanted {
            layout: &halves.part,
            ..to
        };
        let mut parts = Vec::new();
        for side in [0, 1] {
            let part = match &cut {
                Cut::Halves(h) => {
                    let value = self.emit().take(value, &h.registers[side]);
                    self.convert_parts(op, value, &h.part, holders, half)?
                }
                Cut::Sides(s) => {
                    let holders = Holders {
                        mask: holders.mask | 1 << s.thread_bit,
                        bits: holders.bits | (side as u64) << s.thread_bit,
                    };
                    self.convert_parts(op, value, &s.part, holders, half)?
                }
            };
            parts.push(part);
        }
        let mut e = self.emit();
        let both = e.concat(&parts);
        Ok(e.take(both, &back(&halves.registers.concat(), &[])))
    }

    fn convert_part(
        &mut self,
        op: OpId,
        value: ValueId,
        from: &Layout,
        holders: Holders,
        to: Wanted<'_>,
    ) -> Result<ValueId, Diagnostic> {
        let bits = self.m.types.width(self.m.ty(value));
        let plan = self.conversions.part(from, to, bits, holders.mask == 0);
        let plan = self.layout_error(op, plan)?;
        let Conversion::Shared(plan) = &plan.conversion else {
            let what = "a part of a tile that needs no shared memory";
            return Err(unsupported(self.m, op, what));
        };
        let base = self.scratch_for(plan);
        match &plan.store {
            Transfer::Plain(store) => {
                let mask = store.redundant_tid | holders.mask;
                let owner = self.emit().threads_with(mask, holders.bits);
                self.store_plain(store, base, value, owner);
            }
            store @ Transfer::Matrix(_) => self.store_shared(store, base, value),
        }
        self.meet(plan);
        let elem = self.emit().elem(value);
        Ok(self.load_shared(&plan.load, base, elem))
    }
}

/// How both layouts are cut in two by one bit of the elements' numbers: the destination by its
/// registers; the source by its own, if it can be.
fn cut(from: &Layout, to: &Layout) -> Option<(Cut, Halves)> {
    let bits = || (0..from.shape().total_bits()).rev();
    let halves = |bit| Some((Cut::Halves(from.halves(bit)?), to.halves(bit)?));
    let sides = |bit| Some((Cut::Sides(from.sides(bit)?), to.halves(bit)?));
    bits().find_map(halves).or_else(|| bits().find_map(sides))
}
