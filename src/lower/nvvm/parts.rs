//! Parts of tiles: `extract`, `insert`, `cat`. Where registers alone step between parts they are
//! renamed; else the tile takes a trip through scratch memory.

use super::Lower;
use super::spill::embed;
use crate::dialect::cuda_tile::view;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::constant;
use crate::ir::{Diagnostic, Op, OpId, ValueId};
use crate::layout::pieces::Extract;
use crate::layout::{Layout, Shape};
use crate::lower::unsupported;

impl Lower<'_> {
    /// The index, when it is constant and in range of `whole` cut into tiles of `part`.
    fn constant_index(&self, index: &[ValueId], whole: &Shape, part: &Shape) -> Option<Vec<u64>> {
        let number = |(dim, &value): (usize, &ValueId)| {
            let i = u64::try_from(constant(&self.facts, value)?).ok()?;
            (i < whole.extent(dim) / part.extent(dim)).then_some(i)
        };
        index.iter().enumerate().map(number).collect()
    }

    pub(super) fn extract(&mut self, op: OpId, v: &view::Extract<Op>) -> Result<(), Diagnostic> {
        let (source, result) = (v.source(), v.result());
        let value = self.get(op, source)?;
        let (Some(whole), Some(to)) = (self.layout(source), self.layout(result)) else {
            self.set(result, value);
            return Ok(());
        };
        let index = v.indices();
        let known = self.constant_index(index, whole.shape(), to.shape());
        let new = match (known, Extract::new(&whole, to.shape())) {
            (Some(index), Ok(parts)) => self.taken(op, value, (&parts, &index), &to)?,
            (Some(index), Err(_)) if self.lacks_room(value, &whole) => {
                let (beside, parts) = self.parts_beside(op, &to, whole.shape())?;
                let value = self.convert_value(op, value, &whole, &beside)?;
                self.taken(op, value, (&parts, &index), &to)?
            }
            _ => {
                let room = self.spill(op, value, &whole)?;
                let base = self.part_address(op, &room, index, to.shape())?;
                let inside = embed(&to, whole.shape());
                let inside = self.layout_error(op, inside)?;
                self.fetch(op, &room, base, &inside)?
            }
        };
        self.set(result, new);
        Ok(())
    }

    /// A layout of a whole tile in which each part lies as in `part`, in registers of its own.
    fn parts_beside(
        &self,
        op: OpId,
        part: &Layout,
        whole: &Shape,
    ) -> Result<(Layout, Extract), Diagnostic> {
        let beside = self.layout_error(op, part.repeated(whole))?;
        let parts = Extract::new(&beside, part.shape());
        Ok((beside, self.layout_error(op, parts)?))
    }

    /// The part of `value` with that index, in layout `to`.
    fn taken(
        &mut self,
        op: OpId,
        value: ValueId,
        (parts, index): (&Extract, &[u64]),
        to: &Layout,
    ) -> Result<ValueId, Diagnostic> {
        let taken = self.emit().take(value, &parts.part(index));
        self.convert_value(op, taken, &parts.layout, to)
    }

    /// Whether scratch memory cannot hold a whole tile: it is converted in parts.
    fn lacks_room(&mut self, value: ValueId, layout: &Layout) -> bool {
        let bits = u64::from(self.m.types.width(self.m.ty(value)));
        (bits << layout.shape().total_bits()) / 8 > self.scratch_room()
    }

    pub(super) fn insert(&mut self, op: OpId, v: &view::Insert<Op>) -> Result<(), Diagnostic> {
        let (source, destination, result) = (v.source(), v.destination(), v.result());
        let (part, whole) = (self.get(op, source)?, self.get(op, destination)?);
        let (Some(from), Some(have), Some(to)) = (
            self.layout(source),
            self.layout(destination),
            self.layout(result),
        ) else {
            self.set(result, part);
            return Ok(());
        };
        let index = v.indices();
        let known = self.constant_index(index, to.shape(), from.shape());
        let new = match (known, Extract::new(&to, from.shape())) {
            (Some(index), Ok(parts)) => {
                let whole = self.convert_value(op, whole, &have, &to)?;
                let part = self.convert_value(op, part, &from, &parts.layout)?;
                self.replaced(whole, part, &parts.part(&index))
            }
            (Some(index), Err(_)) if self.lacks_room(whole, &to) => {
                let (beside, parts) = self.parts_beside(op, &from, to.shape())?;
                let whole = self.convert_value(op, whole, &have, &beside)?;
                let part = self.convert_value(op, part, &from, &parts.layout)?;
                let new = self.replaced(whole, part, &parts.part(&index));
                self.convert_value(op, new, &beside, &to)?
            }
            _ => {
                let elem = self.emit().elem(whole);
                let room = self.room(op, elem, to.shape())?;
                self.fill(op, &room, room.base, whole, &have)?;
                self.barrier();
                let base = self.part_address(op, &room, index, from.shape())?;
                let inside = embed(&from, to.shape());
                let inside = self.layout_error(op, inside)?;
                self.fill(op, &room, base, part, &inside)?;
                self.barrier();
                self.fetch(op, &room, room.base, &to)?
            }
        };
        self.set(result, new);
        Ok(())
    }

    /// `whole` with registers `at` taken from `part`, in order.
    pub fn replaced(&mut self, whole: ValueId, part: ValueId, at: &[u32]) -> ValueId {
        let mut e = self.emit();
        let n = e.count(whole);
        let mut from: Vec<u32> = (0..n).collect();
        for (i, &register) in (0..).zip(at) {
            if let Some(slot) = from.get_mut(register as usize) {
                *slot = n + i;
            }
        }
        let both = e.concat(&[whole, part]);
        e.take(both, &from)
    }

    pub(super) fn cat(&mut self, op: OpId, v: &view::Cat<Op>) -> Result<(), Diagnostic> {
        let dim = v.dim() as usize;
        let result = v.result();
        let Some(to) = self.layout(result) else {
            return Err(unsupported(self.m, op, "a result without dimensions"));
        };
        let mut halves: Vec<(ValueId, Layout)> = Vec::new();
        for &operand in &[v.lhs(), v.rhs()] {
            let value = self.get(op, operand)?;
            let Some(layout) = self.layout(operand) else {
                return Err(unsupported(self.m, op, "operands without dimensions"));
            };
            halves.push((value, layout));
        }
        let Some((first, own)) = halves.first().cloned() else {
            return Err(unsupported(self.m, op, "nothing to join"));
        };
        let part = own.shape().clone();
        // Extents are powers of two, and so is their sum: the operands are equally long.
        if halves.iter().any(|h| *h.1.shape() != part) {
            return Err(unsupported(self.m, op, "operands of different shapes"));
        }
        let new = match Extract::new(&to, &part) {
            Ok(parts) => self.side_by_side(op, dim, &halves, (&parts, &to))?,
            Err(_) if self.lacks_room(first, &to) => {
                let (beside, parts) = self.parts_beside(op, &own, to.shape())?;
                let new = self.side_by_side(op, dim, &halves, (&parts, &beside))?;
                self.convert_value(op, new, &beside, &to)?
            }
            Err(_) => self.joined_in_memory(op, dim, &halves, &to)?,
        };
        self.set(result, new);
        Ok(())
    }

    /// Parts joined in registers: `to` has each of them in some of its own.
    fn side_by_side(
        &mut self,
        op: OpId,
        dim: usize,
        halves: &[(ValueId, Layout)],
        (parts, to): (&Extract, &Layout),
    ) -> Result<ValueId, Diagnostic> {
        let Some((first, _)) = halves.first() else {
            return Err(unsupported(self.m, op, "nothing to join"));
        };
        let mut e = self.emit();
        let elem = e.elem(*first);
        let ty = e.m.types.regs(elem, to.registers() as u32);
        let mut new = e.get(N::Undef, &[], [], ty);
        for (i, (value, layout)) in (0..).zip(halves) {
            let value = self.convert_value(op, *value, layout, &parts.layout)?;
            let mut index = vec![0; layout.rank()];
            if let Some(slot) = index.get_mut(dim) {
                *slot = i;
            }
            new = self.replaced(new, value, &parts.part(&index));
        }
        Ok(new)
    }

    fn joined_in_memory(
        &mut self,
        op: OpId,
        dim: usize,
        parts: &[(ValueId, Layout)],
        to: &Layout,
    ) -> Result<ValueId, Diagnostic> {
        let Some((first, _)) = parts.first() else {
            return Err(unsupported(self.m, op, "nothing to join"));
        };
        let elem = self.emit().elem(*first);
        let room = self.room(op, elem, to.shape())?;
        for (i, (value, layout)) in (0..).zip(parts) {
            let mut start = vec![0; layout.rank()];
            if let Some(slot) = start.get_mut(dim) {
                *slot = i * layout.shape().extent(dim);
            }
            let offset = room.shared.byte_offset(&start);
            let by = self.emit().i32(offset as i64);
            let base = self.emit().ptr_add(room.base, by);
            let inside = embed(layout, to.shape());
            let inside = self.layout_error(op, inside)?;
            self.fill(op, &room, base, *value, &inside)?;
        }
        self.barrier();
        self.fetch(op, &room, room.base, to)
    }
}
