//! Tiles copied from global to shared memory by the threads themselves: `cp.async`.

use super::Lower;
use super::shared::Buffer;
use super::tiled::{Tiled, inverse};
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::{Access, pointee};
use crate::ir::{Attr, Diagnostic, Op, OpId, ValueId};
use crate::layout::Layout;
use crate::layout::addr::{self, AccessPlan};
use crate::layout::blocked::Blocked;
use crate::layout::convert::Transfer;
use crate::lower::unsupported;

impl Lower<'_> {
    /// Copies the tile of `op` to the stage of a shared buffer at `base`, asynchronously where whole
    /// chunks of at least 4 bytes are inside. `once`: no loop does it again, so that the kernel asks whether the whole tile is
    /// inside.
    pub fn copy_tile(
        &mut self,
        op: OpId,
        data: &Op,
        buffer: &Buffer,
        base: ValueId,
        once: bool,
    ) -> Result<(), Diagnostic> {
        let layout = self.copy_layout(op, data, buffer)?;
        let plan = addr::plan(&layout, &buffer.layout, 128);
        let plan = self.layout_error(op, plan)?;
        let tile = buffer.layout.shape().extents().to_vec();
        let mut t = self.tiled_as(op, data, tile, layout)?;
        t.vec = t.vec.min(plan.vector_elems);
        t.registers = plan
            .accesses()
            .flat_map(|(_, a)| a.registers.clone())
            .collect();
        let (inside, known) = self.inside(op, &t)?;
        if t.vec * t.bytes < 4 || t.vec != plan.vector_elems {
            return self.copy_elements(op, data, &t, &plan, base, &known);
        }
        let copies = |l: &mut Self, whole: bool| {
            let read = match whole {
                true => None,
                false => l.bytes_inside(op, &t, &known)?,
            };
            let source = l.addresses(op, &t, t.vec)?;
            l.start_copies(base, &plan, t.vec * t.bytes, source, read);
            Ok(vec![])
        };
        match inside {
            Some(inside) if once => {
                self.either(inside, |l| copies(l, true), |l| copies(l, false))?;
            }
            inside => {
                copies(self, inside.is_none())?;
            }
        }
        Ok(())
    }

    /// Which thread copies which elements of the tile of `op` to a stage of `buffer`.
    pub(super) fn copy_layout(
        &self,
        op: OpId,
        data: &Op,
        buffer: &Buffer,
    ) -> Result<Layout, Diagnostic> {
        let Some(access) = Access::of(data) else {
            return Err(unsupported(self.m, op, "not a tiled access"));
        };
        let shape = buffer.layout.shape().clone();
        let elem = pointee(self.m, access.base);
        let bytes = access.alignment(self.m, &self.facts, &shape.extents(), elem);
        let element_bits = buffer.layout.element_bits();
        let layout = Blocked {
            order: access.order(&self.facts),
            max_vector: (bytes * 8 / u64::from(element_bits)).max(1),
            element_bits,
            warps: self.role.warps,
            shape,
        }
        .layout();
        self.layout_error(op, layout)
    }

    /// Starts the copies of a plan, of `bytes` each: from `src` plus each of its offsets to shared memory at
    /// `base`. Of each, `read` bytes (all) are read, the others are zeros.
    pub(super) fn start_copies(
        &mut self,
        base: ValueId,
        plan: &addr::AccessPlan,
        bytes: u64,
        (src, src_offsets): (ValueId, Vec<i64>),
        read: Option<ValueId>,
    ) {
        let (dst, dst_offsets) = self.shared_addresses(base, &plan.thread_base, &plan.groups);
        // One thread of those that hold the same elements copies them.
        let owner = self.emit().threads_without(plan.redundant_tid);
        let mut e = self.emit();
        let attrs = [
            e.i32_attr(bytes as i64),
            Some(Attr::I64s(dst_offsets)),
            Some(Attr::I64s(src_offsets)),
        ];
        e.op(
            N::CpAsync,
            &[&[dst], &[src], read.as_slice(), owner.as_slice()],
            attrs,
            &[],
        );
    }

    /// How many bytes of each access lie inside, as i32: those that are not are its last.
    pub(super) fn bytes_inside(
        &mut self,
        op: OpId,
        t: &Tiled,
        known: &[bool],
    ) -> Result<Option<ValueId>, Diagnostic> {
        let chunk = (t.vec * t.bytes) as i64;
        let Some(mask) = self.mask(op, t, t.vec, known)? else {
            return Ok(None);
        };
        let inner = t.access.order(&self.facts).first().copied();
        let cut = inner.filter(|_| self.mask_vector(t, known) < t.vec);
        let some = match cut {
            Some(inner) => self.bytes_left(op, t, inner)?,
            None => None,
        };
        let mut e = self.emit();
        let n = e.count(mask).max(some.map_or(1, |v| e.count(v)));
        let i32_ty = e.int(32);
        let some = match some {
            Some(some) => e.widen(some, n),
            None => e.array(&vec![chunk; n as usize], i32_ty),
        };
        Ok(Some(e.select_or_none(mask, some)))
    }

    /// How many bytes of each access that begins inside are before the end of dimension `inner`.
    pub(super) fn bytes_left(
        &mut self,
        op: OpId,
        t: &Tiled,
        inner: usize,
    ) -> Result<Option<ValueId>, Diagnostic> {
        let Some(extent) = self.extent(op, t, inner)? else {
            return Ok(None);
        };
        let (position, extent, expand) = self.positions(t, inner, t.vec, extent);
        let mut e = self.emit();
        let left = e.binary(N::Sub, extent, position);
        let left = e.with(N::MinU, left, t.vec as i64);
        let left = e.int_cast(left, 32);
        let bytes = e.with(N::Mul, left, t.bytes as i64);
        Ok(Some(e.take(bytes, &expand)))
    }

    pub(super) fn copy_elements(
        &mut self,
        op: OpId,
        data: &Op,
        t: &Tiled,
        plan: &AccessPlan,
        base: ValueId,
        known: &[bool],
    ) -> Result<(), Diagnostic> {
        let value = self.load(op, data, t, 1, Some(known))?;
        let value = self.emit().take(value, &inverse(&t.registers));
        self.store_shared(&Transfer::Plain(plan.clone()), base, value);
        if let Some(v) = view::TiledCopy::of(self.m.op(op)) {
            let pipeline = v.pipeline();
            self.asynchronous.stored.insert(pipeline);
        }
        Ok(())
    }
}
