//! Tiles spread out in scratch memory, row by row, where any thread can find any element.

use super::Lower;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Diagnostic, OpId, TypeId, ValueId};
use crate::layout::convert::Transfer;
use crate::layout::shared::SharedLayout;
use crate::layout::{In, Layout, LayoutError, Shape, addr};

/// A tile in scratch memory.
pub struct Spilled {
    /// Shared address of its first element.
    pub base: ValueId,
    pub shared: SharedLayout,
    /// What it is a tile of, and what holds that in memory.
    pub elem: TypeId,
    pub stored: TypeId,
}

impl Spilled {
    /// Bytes of an element.
    pub fn element_bytes(&self) -> u64 {
        u64::from(self.shared.element_bits() / 8)
    }
}

/// `layout` of a part, as a layout of the tile that the part begins.
pub fn embed(part: &Layout, whole: &Shape) -> Result<Layout, LayoutError> {
    let moved = In::ALL.map(|i| {
        part.bases(i)
            .iter()
            .map(|&v| whole.flatten(&part.shape().unflatten(v)))
            .collect()
    });
    Layout::new(whole.clone(), moved)
}

impl Lower<'_> {
    /// Where a tile of `shape` with elements like `value`'s will lie, in scratch of its own.
    pub fn room(&mut self, op: OpId, elem: TypeId, shape: &Shape) -> Result<Spilled, Diagnostic> {
        let bits = self.m.types.width(elem).max(8);
        let order = shape.row_major_order();
        let shared = SharedLayout::row_major(shape, &order, bits);
        let shared = self.layout_error(op, shared)?;
        let at = self.scratch(shared.bytes());
        let stored = self.stored(elem);
        Ok(Spilled {
            base: self.emit().smem(at),
            shared,
            elem,
            stored,
        })
    }

    /// Writes `value`, a tile or (embedded) a part of one, at `base` in the room of a tile.
    pub fn fill(
        &mut self,
        op: OpId,
        room: &Spilled,
        base: ValueId,
        value: ValueId,
        layout: &Layout,
    ) -> Result<(), Diagnostic> {
        let plan = addr::plan(layout, &room.shared, 128);
        let plan = self.layout_error(op, plan)?;
        let (value, _) = self.as_bytes(value);
        self.store_shared(&Transfer::Plain(plan), base, value);
        Ok(())
    }

    /// Reads a tile, or (embedded) a part of one, from `base` in the room of a tile.
    pub fn fetch(
        &mut self,
        op: OpId,
        room: &Spilled,
        base: ValueId,
        layout: &Layout,
    ) -> Result<ValueId, Diagnostic> {
        let plan = addr::plan(layout, &room.shared, 128);
        let plan = self.layout_error(op, plan)?;
        let value = self.load_shared(&Transfer::Plain(plan), base, room.stored);
        Ok(self.from_bytes(value, room.elem))
    }

    /// Spreads `value` out and waits until all of it is there.
    pub fn spill(
        &mut self,
        op: OpId,
        value: ValueId,
        layout: &Layout,
    ) -> Result<Spilled, Diagnostic> {
        let elem = self.emit().elem(value);
        let room = self.room(op, elem, layout.shape())?;
        self.fill(op, &room, room.base, value, layout)?;
        self.barrier();
        Ok(room)
    }

    /// Address of the part with the given index (i32 or wider scalars) per dimension.
    pub fn part_address(
        &mut self,
        op: OpId,
        room: &Spilled,
        index: &[ValueId],
        part: &Shape,
    ) -> Result<ValueId, Diagnostic> {
        let whole = room.shared.shape().clone();
        let mut address = room.base;
        for (dim, &i) in index.iter().enumerate() {
            let mut first = vec![0; whole.rank()];
            if let Some(slot) = first.get_mut(dim) {
                *slot = part.extent(dim);
            }
            let parts = whole.extent(dim) / part.extent(dim);
            if parts <= 1 {
                continue;
            }
            let step = room.shared.byte_offset(&first);
            let i = self.get(op, i)?;
            let mut e = self.emit();
            let i = e.int_cast(i, 32);
            // An index out of range is undefined, but must not leave the block's memory.
            let i = e.with(N::And, i, parts as i64 - 1);
            let offset = e.with(N::Mul, i, step as i64);
            address = e.ptr_add(address, offset);
        }
        Ok(address)
    }
}
