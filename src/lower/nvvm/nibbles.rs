//! Tiles of four-bit elements in memory: two to a byte, the first in the low half.
//!
//! A view of such elements has a contiguous dimension of even extent (Tile IR, "Tensor View"). Its
//! tiles are read and written as bytes: the tile has half the extent along that dimension, in a
//! layout of its own, and the halves of a byte are two neighbouring registers of one thread.

use super::Lower;
use super::tiled::Tiled;
use crate::facts::access::{Access, constant, pointee};
use crate::ir::{Diagnostic, Op, OpId, ValueId};
use crate::layout::blocked::Blocked;
use crate::layout::{Layout, Shape, bytes};
use crate::lower::unsupported;

impl Lower<'_> {
    /// The dimension along which two elements share a byte, in every tile of the access.
    pub(super) fn halved_dim(
        &self,
        op: OpId,
        access: &Access,
        order: &[usize],
    ) -> Result<usize, Diagnostic> {
        let why = |why: &str| {
            let text = format!("elements of four bits in memory: {why}");
            unsupported(self.m, op, text)
        };
        let unit = |d: &usize| {
            let stride = access.stride(*d).and_then(|s| constant(&self.facts, s));
            stride == Some(1)
        };
        let inner = order.first().copied().filter(unit);
        let inner = inner.ok_or_else(|| why("no dimension is known to have stride 1"))?;
        if access.sparse == Some(inner) {
            return Err(why("rows may not be chosen along the contiguous dimension"));
        }
        let step = access.traversal.get(inner).copied().unwrap_or(1);
        if step % 2 != 0 {
            return Err(why("a tile may start in the middle of a byte"));
        }
        Ok(inner)
    }

    /// The access of `op` to the bytes of `tile`, and the layout of the elements in them.
    fn nibbles(
        &mut self,
        op: OpId,
        data: &Op,
        tile: ValueId,
    ) -> Result<(Tiled, Layout), Diagnostic> {
        let (Some(access), Some(layout)) = (Access::of(data), self.layout(tile)) else {
            return Err(unsupported(self.m, op, "not a tiled access"));
        };
        let order = access.order(&self.facts);
        let inner = self.halved_dim(op, &access, &order)?;
        let extents = layout.shape().extents();
        let elem = pointee(self.m, access.base);
        let aligned = access.alignment(self.m, &self.facts, &extents, elem);
        let mut halved = extents.clone();
        halved[inner] /= 2;
        if halved[inner] == 0 {
            let why = "elements of four bits in memory: a tile ends in the middle of a byte";
            return Err(unsupported(self.m, op, why));
        }
        let shape = self.layout_error(op, Shape::new(&halved))?;
        let blocked = Blocked {
            shape,
            order,
            max_vector: aligned,
            element_bits: 8,
            warps: self.role.warps,
        };
        let blocked = self.layout_error(op, blocked.layout())?;
        let elements = self.layout_error(op, bytes::spread(&blocked, inner, 2))?;
        Ok((self.tiled_as(op, data, halved.to_vec(), blocked)?, elements))
    }

    pub(super) fn load_nibbles(
        &mut self,
        op: OpId,
        data: &Op,
        tile: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let (tiled, have) = self.nibbles(op, data, tile)?;
        let bytes = self.load_tile(op, data, &tiled)?;
        let elem = self.m.types.elem(self.m.ty(tile));
        let elements = self.split_bits(bytes, 4, elem);
        match self.layout(tile) {
            Some(want) => self.convert_value(op, elements, &have, &want),
            None => Ok(elements),
        }
    }

    pub(super) fn store_nibbles(
        &mut self,
        op: OpId,
        data: &Op,
        tile: ValueId,
        value: ValueId,
    ) -> Result<(), Diagnostic> {
        let (tiled, want) = self.nibbles(op, data, tile)?;
        let value = match self.layout(tile) {
            Some(have) => self.convert_value(op, value, &have, &want)?,
            None => value,
        };
        let bytes = self.join_bits(value, 4);
        self.store_tile(op, data, &tiled, bytes)
    }
}
