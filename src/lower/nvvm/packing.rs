//! `pack` and `unpack`: elements as bytes, the first in the lowest bits.

use super::Lower;
use crate::dialect::cuda_tile::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Diagnostic, Op, OpId, TypeId, ValueId};
use crate::layout::blocked::Blocked;
use crate::layout::{Layout, LayoutError, bytes};
use crate::lower::unsupported;

/// The layout of the tile of one dimension in which `many` elements take the place of each of
/// `layout`'s, next to each other in a thread.
fn spread(layout: &Layout, many: u64) -> Result<Layout, LayoutError> {
    bytes::spread(layout, 0, many)
}

impl Lower<'_> {
    pub(super) fn pack(&mut self, op: OpId, v: &view::Pack<Op>) -> Result<(), Diagnostic> {
        let (source, result) = (v.source(), v.result());
        let value = self.get(op, source)?;
        let (Some(from), Some(to)) = (self.layout(source), self.layout(result)) else {
            return Err(unsupported(self.m, op, "a scalar has no bytes to pack"));
        };
        let elem = self.m.types.elem(self.m.ty(source));
        let bits = self.m.types.width(elem);
        let i8_ty = self.emit().int(8);
        let (bytes, have) = if bits >= 8 {
            let n = u64::from(bits / 8);
            let bytes = self.recast(value, i8_ty, from.registers() * n);
            (bytes, self.layout_error(op, spread(&from, n))?)
        } else {
            let per = u64::from(8 / bits);
            let byte_layout = self.blocked_1d(op, to.shape().elements())?;
            let want = self.layout_error(op, spread(&byte_layout, per))?;
            let value = self.convert_value(op, value, &from, &want)?;
            (self.join_bits(value, bits), byte_layout)
        };
        let new = self.convert_value(op, bytes, &have, &to)?;
        self.set(result, new);
        Ok(())
    }

    pub(super) fn unpack(&mut self, op: OpId, v: &view::Unpack<Op>) -> Result<(), Diagnostic> {
        let (source, result) = (v.source(), v.result());
        let value = self.get(op, source)?;
        let (Some(from), Some(to)) = (self.layout(source), self.layout(result)) else {
            return Err(unsupported(self.m, op, "a scalar has no bytes to unpack"));
        };
        let elem = self.m.types.elem(self.m.ty(result));
        let bits = self.m.types.width(elem);
        let (elements, have) = if bits == 8 {
            (self.recast(value, elem, from.registers()), from)
        } else if bits > 8 {
            let n = u64::from(bits / 8);
            let layout = self.blocked_1d(op, to.shape().elements())?;
            let want = self.layout_error(op, spread(&layout, n))?;
            let value = self.convert_value(op, value, &from, &want)?;
            (self.recast(value, elem, layout.registers()), layout)
        } else {
            let per = u64::from(8 / bits);
            let elements = self.split_bits(value, bits, elem);
            (elements, self.layout_error(op, spread(&from, per))?)
        };
        let new = self.convert_value(op, elements, &have, &to)?;
        self.set(result, new);
        Ok(())
    }

    fn blocked_1d(&self, op: OpId, elements: u64) -> Result<Layout, Diagnostic> {
        let shape = self.layout_error(op, crate::layout::Shape::new(&[elements]))?;
        let layout = Blocked {
            shape,
            order: vec![0],
            max_vector: 4,
            element_bits: 32,
            warps: self.role.warps,
        }
        .layout();
        self.layout_error(op, layout)
    }

    /// The same bits as `n` registers of `elem`.
    fn recast(&mut self, value: ValueId, elem: TypeId, n: u64) -> ValueId {
        let mut e = self.emit();
        let ty = e.m.types.regs(elem, n as u32);
        if e.m.ty(value) == ty {
            return value;
        }
        e.get(N::Bitcast, &[&[value]], [], ty)
    }

    /// Bytes of elements of `bits` bits each, in order: those that they were taken from, where they were.
    pub(super) fn join_bits(&mut self, value: ValueId, bits: u32) -> ValueId {
        if let Some(bytes) = self.values.bytes_of(value) {
            return bytes;
        }
        let (value, _) = self.as_bytes(value);
        let mut e = self.emit();
        let (n, per) = (e.count(value), 8 / bits);
        let part = |e: &mut super::Emit<'_>, i: u32| {
            let registers: Vec<u32> = (0..n / per).map(|b| b * per + i).collect();
            e.take(value, &registers)
        };
        let mut bytes = part(&mut e, 0);
        for i in 1..per {
            let next = part(&mut e, i);
            let next = e.with(N::Shl, next, i64::from(i * bits));
            bytes = e.binary(N::Or, bytes, next);
        }
        bytes
    }

    /// The elements of `bits` bits in bytes, in order.
    pub(super) fn split_bits(&mut self, value: ValueId, bits: u32, elem: TypeId) -> ValueId {
        let mut e = self.emit();
        let (n, per) = (e.count(value), 8 / bits);
        let parts: Vec<ValueId> = (0..per)
            .map(|i| {
                let moved = e.with(N::ShrU, value, i64::from(i * bits));
                e.with(N::And, moved, (1 << bits) - 1)
            })
            .collect();
        let all = e.concat(&parts);
        let order: Vec<u32> = (0..n)
            .flat_map(|b| (0..per).map(move |i| i * n + b))
            .collect();
        let all = e.take(all, &order);
        let elements = self.from_bytes(all, elem);
        if bits == 4 {
            self.values.set_bytes_of(elements, value);
        }
        elements
    }
}
