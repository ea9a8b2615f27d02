//! Tiles in shared memory: buffers, and moves between them and registers.

use super::Lower;
use super::shared::{Buffer, stage_stride};
use crate::dialect::enums::FenceKind;
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Diagnostic, Op, OpId, Type, ValueId};
use crate::layout::shared::{BUFFER_ALIGN, SharedLayout};
use crate::lower::build::cased;
use crate::lower::tileas::shared_bytes;
use crate::lower::unsupported;
use crate::target::Feature;

impl Lower<'_> {
    pub(super) fn alloc_tensor(
        &mut self,
        op: OpId,
        v: &view::AllocTensor<Op>,
    ) -> Result<(), Diagnostic> {
        let value = v.result();
        let Type::SharedTile {
            elem,
            layout,
            stages,
            ..
        } = *self.m.types.get(self.m.ty(value))
        else {
            return Err(unsupported(self.m, op, "a shared buffer of another type"));
        };
        let bits = self.m.types.width(elem);
        let layout = SharedLayout::new(self.m.layouts.get(layout).clone(), bits);
        let layout = self.layout_error(op, layout)?;
        let stages = u64::from(stages);
        // A consumer's own buffers take the place of the ring, which is idle by then.
        let overlay = self.role.partial;
        let offset = if overlay {
            self.memory.kept()
        } else if let Some(bytes) = shared_bytes(self.m, op) {
            let all = self.kernel.operands;
            self.memory
                .reserve_shared(all, bytes, "operand, in turn with others")
        } else {
            let what = match stages {
                1 => "buffer".to_owned(),
                _ => format!("ring of {stages} stages of {} bytes", layout.bytes()),
            };
            let bytes = stages * stage_stride(&layout, stages);
            self.memory.reserve(bytes, BUFFER_ALIGN, what)
        };
        self.memory.buffers.insert(
            value,
            Buffer {
                offset,
                layout,
                stages,
                overlay,
            },
        );
        Ok(())
    }

    pub(super) fn shared_view(
        &mut self,
        op: OpId,
        v: &view::SharedView<Op>,
    ) -> Result<(), Diagnostic> {
        let mut buffer = self.buffer(op, v.source())?;
        let Type::SharedTile {
            elem,
            layout,
            stages,
            ..
        } = *self.m.types.get(self.m.ty(v.result()))
        else {
            return Err(unsupported(self.m, op, "a view that is no shared buffer"));
        };
        if buffer.stages == 1 {
            // Its parts, one behind the other.
            buffer.stages = u64::from(stages);
        }
        let bits = self.m.types.width(elem);
        let layout = self.m.layouts.get(layout).clone();
        let layout = SharedLayout::new(layout, bits);
        buffer.layout = self.layout_error(op, layout)?;
        self.memory.buffers.insert(v.result(), buffer);
        Ok(())
    }

    pub(super) fn buffer(&self, op: OpId, value: ValueId) -> Result<Buffer, Diagnostic> {
        let found = self.memory.buffers.get(&value).cloned();
        found.ok_or_else(|| {
            unsupported(
                self.m,
                op,
                "the operand is not a shared buffer of this kernel",
            )
        })
    }

    /// Address of a stage of a buffer.
    pub(super) fn stage_address(&mut self, buffer: &Buffer, stage: Option<ValueId>) -> ValueId {
        let mut e = self.emit();
        let base = e.smem(buffer.offset);
        match stage {
            Some(stage) if buffer.stages > 1 => {
                let offset = e.with(N::Mul, stage, buffer.stage_bytes() as i64);
                e.ptr_add(base, offset)
            }
            _ => base,
        }
    }

    /// The stage of an optional iteration operand.
    pub(super) fn optional_stage(
        &mut self,
        op: OpId,
        iteration: Option<ValueId>,
        stages: u64,
    ) -> Result<Option<ValueId>, Diagnostic> {
        iteration.map(|i| self.stage_of(op, i, stages)).transpose()
    }

    pub(super) fn local_store(
        &mut self,
        op: OpId,
        v: &view::LocalStore<Op>,
    ) -> Result<(), Diagnostic> {
        let (tile, destination) = (v.tile(), v.destination());
        let buffer = self.buffer(op, destination)?;
        let value = self.get(op, tile)?;
        let Some(layout) = self.layout(tile) else {
            return Err(unsupported(self.m, op, "a tile without a layout"));
        };
        let transfer = self.transfer(&layout, &buffer.layout, false);
        let transfer = self.layout_error(op, transfer)?;
        if buffer.overlay {
            // Other warps may still read what was there.
            self.barrier();
        }
        let stage = self.optional_stage(op, v.iteration(), buffer.stages)?;
        let base = self.stage_address(&buffer, stage);
        self.store_shared(&transfer, base, value);
        Ok(())
    }

    pub(super) fn local_load(
        &mut self,
        op: OpId,
        v: &view::LocalLoad<Op>,
    ) -> Result<(), Diagnostic> {
        let buffer = self.buffer(op, v.source())?;
        let result = v.result();
        let Some(layout) = self.layout(result) else {
            return Err(unsupported(self.m, op, "a tile without a layout"));
        };
        let transfer = self.transfer(&layout, &buffer.layout, true);
        let transfer = self.layout_error(op, transfer)?;
        let stage = self.optional_stage(op, v.iteration(), buffer.stages)?;
        let base = self.stage_address(&buffer, stage);
        let elem = self.m.types.elem(self.m.ty(result));
        let value = self.load_shared(&transfer, base, elem);
        self.set(result, value);
        Ok(())
    }

    /// What the role's warps have written to shared memory is seen by all of them and, where the target has one, by the
    /// asynchronous proxy.
    pub(super) fn proxy_fence(&mut self) {
        self.drop_barrier();
        if self.target.has(Feature::Tma) {
            self.fence(FenceKind::ProxyAsyncShared);
        }
        self.barrier();
    }

    pub(super) fn fence(&mut self, kind: FenceKind) {
        self.emit().op(N::Fence, &[], [cased(kind)], &[]);
    }
}
