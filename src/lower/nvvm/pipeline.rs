//! The asynchronous protocol as instructions: mbarriers, TMA, WGMMA, warp roles.
//!
//! A TMA pipeline of S stages has S *full* and S *empty* mbarriers. Iteration i uses stage `i % S`;
//! its full barrier completes phase `i / S`, so the consumer waits for parity `(i / S) & 1`, and the
//! producer, which needs the phase before on the empty barrier, for the opposite parity: on a fresh
//! barrier that wait passes at once.

use super::shared::{BUFFER_ALIGN, Buffer, stage_stride};
use super::{Lower, Role};
use crate::dialect::enums;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::{Access, constant, operand, pointee};
use crate::ir::{Attr, Diagnostic, Float, Op, OpId, Type, ValueId};
use crate::launch::{self, Expr};
use crate::layout::shared::{SharedLayout, Swizzle};
use crate::layout::tma::{TmaBoxes, boxes};
use crate::lower::build::case;
use crate::lower::tileas::pipeline;
use crate::lower::unsupported;

/// Threads of a warpgroup.
const WARPGROUP: u64 = 128;
/// Bytes of an mbarrier.
const MBARRIER: u64 = 8;

/// Where a pipeline's barriers lie.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline {
    full: u64,
    empty: u64,
    stages: u64,
    bytes: u64,
    /// Case of `enums::PIPELINE_KIND`.
    kind: u8,
    /// Whether threads load from its stages, beside matrix instructions of a whole warp.
    loaded: bool,
    /// Arrivals that empty a stage; of products, none where their own role waits for them.
    consumers: i64,
    /// Whether its stages are handed back by the products that read them.
    by_products: bool,
}

impl Pipeline {
    fn is_tma(self) -> bool {
        enums::PIPELINE_KIND.cases.get(self.kind as usize) == Some(&"tma")
    }

    fn is_mma(self) -> bool {
        enums::PIPELINE_KIND.cases.get(self.kind as usize) == Some(&"mma")
    }
}

/// Where an iteration is in a ring: its stage and the parity of its phase, both i32.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) stage: ValueId,
    parity: ValueId,
}

pub(super) fn int(op: &Op, name: &str) -> i64 {
    match op.attr_named(name) {
        Some(Attr::Int { value, .. }) => *value,
        _ => 0,
    }
}

impl Lower<'_> {
    // ---- buffers and pipelines -------------------------------------------------------------

    pub(super) fn alloc_tensor(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let value = data.results[0];
        let Type::SharedTile {
            elem,
            layout,
            stages,
            ..
        } = *self.m.types.get(self.m.ty(value))
        else {
            return Err(unsupported(self.m, op, "a shared buffer of another type"));
        };
        let bits = self.m.types.bits(elem).unwrap_or(8);
        let layout = SharedLayout::new(self.m.layouts.get(layout).clone(), bits);
        let layout = self.layout_error(op, layout)?;
        let stages = u64::from(stages);
        // A consumer's own buffers take the place of the ring, which is idle by then.
        let overlay = self.role.partial;
        let offset = if overlay {
            0
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

    pub(super) fn shared_view(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let mut buffer = self.buffer(op, data.operands[0])?;
        let Type::SharedTile { layout, .. } = *self.m.types.get(self.m.ty(data.results[0])) else {
            return Err(unsupported(self.m, op, "a view that is no shared buffer"));
        };
        let layout = self.m.layouts.get(layout).clone();
        let layout = SharedLayout::new(layout, buffer.layout.element_bits());
        buffer.layout = self.layout_error(op, layout)?;
        self.memory.buffers.insert(data.results[0], buffer);
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

    fn pipeline(&self, op: OpId, data: &Op) -> Result<Pipeline, Diagnostic> {
        let found = operand(data, "pipeline")
            .and_then(|p| self.pipelines.get(&p))
            .copied();
        found.ok_or_else(|| unsupported(self.m, op, "the operand is not a pipeline of this kernel"))
    }

    pub(super) fn pipeline_create(&mut self, data: &Op) -> Result<(), Diagnostic> {
        let stages = int(data, "stages") as u64;
        let kind = data.enum_named("kind").unwrap_or(0);
        let tma = Pipeline {
            full: 0,
            empty: 0,
            stages,
            bytes: 0,
            kind,
            loaded: false,
            consumers: 0,
            by_products: false,
        };
        let consumers = int(data, "consumers");
        let (tma, mma) = (tma.is_tma(), tma.is_mma());
        let barriers = if tma || mma { stages * MBARRIER } else { 0 };
        let full = self
            .memory
            .reserve(barriers, MBARRIER, "mbarriers: stage is full");
        // Who waits for its own products needs no mbarrier to let them begin.
        let empties = if consumers == 0 { 0 } else { barriers };
        let empty = self
            .memory
            .reserve(empties, MBARRIER, "mbarriers: stage is empty");
        let pipeline = Pipeline {
            full,
            empty,
            stages,
            bytes: int(data, "bytes") as u64,
            kind,
            loaded: self.is_loaded(data.results[0]),
            consumers,
            by_products: self.by_products(data.results[0]),
        };
        self.pipelines.insert(data.results[0], pipeline);
        if !tma && !mma {
            return Ok(());
        }
        let first = self.thread_is(0);
        self.when(first, false, |l| {
            for stage in 0..stages {
                for (base, count) in [(full, 1), (empty, consumers)] {
                    if count == 0 {
                        continue;
                    }
                    let mut e = l.emit();
                    let at = e.smem(base + stage * MBARRIER);
                    let count = e.i32_attr(count);
                    e.effect(N::MbarInit, &[at], [count]);
                }
            }
            l.fence("mbarrier_init");
            Ok(())
        })?;
        self.barrier();
        Ok(())
    }

    /// Whether products hand the stages of `pipeline` back.
    fn by_products(&self, pipeline: ValueId) -> bool {
        let m = &self.m;
        let ops = m.body_of(self.func, 0).map(|b| m.ops_under(b));
        ops.unwrap_or_default().iter().any(|&o| {
            let data = m.op(o);
            S::of(data.kind) == Some(S::ConsumerRelease)
                && data.has_unit("products")
                && operand(data, "pipeline") == Some(pipeline)
        })
    }

    /// Whether some `local_load` reads what the copies of `pipeline` bring.
    fn is_loaded(&self, pipeline: ValueId) -> bool {
        let m = &self.m;
        let ops = m
            .body_of(self.func, 0)
            .map(|b| m.ops_under(b))
            .unwrap_or_default();
        let brings = |o: &&OpId| operand(m.op(**o), "pipeline") == Some(pipeline);
        let copies = ops
            .iter()
            .filter(|o| S::of(m.op(**o).kind) == Some(S::TmaLoad));
        let buffers: Vec<Option<ValueId>> = copies
            .filter(brings)
            .map(|&o| operand(m.op(o), "destination"))
            .collect();
        let mut loads = ops
            .iter()
            .filter(|o| S::of(m.op(**o).kind) == Some(S::LocalLoad));
        loads.any(|&o| buffers.contains(&m.op(o).operands.first().copied()))
    }

    fn fence(&mut self, kind: &str) {
        let attr = case(&enums::FENCE, kind);
        self.emit().op(N::Fence, &[], [attr], &[]);
    }

    /// True in thread `n` of the block.
    fn thread_is(&mut self, n: u64) -> ValueId {
        let mut e = self.emit();
        let (tid, n) = (e.sreg("tid.x"), n as i64);
        let n = e.i32(n);
        e.icmp("equal", "unsigned", tid, n)
    }

    /// The turn of the iteration operand called `name`.
    pub(super) fn turn(
        &mut self,
        op: OpId,
        data: &Op,
        name: &str,
        stages: u64,
    ) -> Result<Turn, Diagnostic> {
        let Some(iteration) = operand(data, name) else {
            return Err(unsupported(self.m, op, format!("missing operand {name}")));
        };
        let iteration = self.get(op, iteration)?;
        let mut e = self.emit();
        let (stage, phase) = if stages.is_power_of_two() {
            let stage = e.with(N::And, iteration, stages as i64 - 1);
            (
                stage,
                e.with(N::ShrU, iteration, i64::from(stages.trailing_zeros())),
            )
        } else {
            (
                e.with(N::RemU, iteration, stages as i64),
                e.with(N::DivU, iteration, stages as i64),
            )
        };
        let parity = e.with(N::And, phase, 1);
        Ok(Turn { stage, parity })
    }

    /// Address of the barrier of a stage, in the array at `base`.
    fn stage_barrier(&mut self, base: u64, stage: ValueId) -> ValueId {
        let mut e = self.emit();
        let base = e.smem(base);
        let offset = e.with(N::Mul, stage, MBARRIER as i64);
        e.ptr_add(base, offset)
    }

    /// Address of a stage of a buffer.
    fn stage_address(&mut self, buffer: &Buffer, stage: Option<ValueId>) -> ValueId {
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

    // ---- the protocol ----------------------------------------------------------------------

    pub(super) fn producer_acquire(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, data)?;
        if p.is_mma() && p.consumers == 0 {
            self.tensor_barrier();
            return Ok(());
        }
        if p.is_mma() {
            let turn = self.turn(op, data, "iteration", p.stages)?;
            let empty = self.stage_barrier(p.empty, turn.stage);
            let parity = self.emit().with(N::Xor, turn.parity, 1);
            self.emit().effect(N::MbarWait, &[empty, parity], []);
            self.tensor_after();
            return Ok(());
        }
        if !p.is_tma() {
            // The consumer's barrier freed the stage.
            return Ok(());
        }
        let turn = self.turn(op, data, "iteration", p.stages)?;
        let empty = self.stage_barrier(p.empty, turn.stage);
        let parity = self.emit().with(N::Xor, turn.parity, 1);
        self.emit().effect(N::MbarWait, &[empty, parity], []);
        let full = self.stage_barrier(p.full, turn.stage);
        let bytes = self.emit().i32(p.bytes as i64);
        self.emit().effect(N::MbarExpectTx, &[full, bytes], []);
        Ok(())
    }

    pub(super) fn producer_commit(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, data)?;
        if p.is_mma() {
            let turn = self.turn(op, data, "iteration", p.stages)?;
            let full = self.stage_barrier(p.full, turn.stage);
            return self.tensor_commit(full);
        }
        // With TMA the transactions were announced when the stage was acquired.
        if !p.is_tma() {
            self.emit().op(N::CpAsyncCommit, &[], [], &[]);
        }
        Ok(())
    }

    pub(super) fn consumer_wait(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, data)?;
        if p.is_mma() {
            let turn = self.turn(op, data, "iteration", p.stages)?;
            let full = self.stage_barrier(p.full, turn.stage);
            self.emit().effect(N::MbarWait, &[full, turn.parity], []);
            self.tensor_after();
            return Ok(());
        }
        if p.by_products {
            // The others may be a phase behind.
            return self.by_first_thread(|l| l.wait_full(op, data, p));
        }
        if !p.is_tma() {
            let pending = self.emit().i32_attr(p.stages as i64 - 2);
            self.emit().op(N::CpAsyncWait, &[], [pending], &[]);
            self.barrier();
            return Ok(());
        }
        self.wait_full(op, data, p)
    }

    /// Waits until the stage is full.
    fn wait_full(&mut self, op: OpId, data: &Op, p: Pipeline) -> Result<(), Diagnostic> {
        let turn = self.turn(op, data, "iteration", p.stages)?;
        let full = self.stage_barrier(p.full, turn.stage);
        self.emit().effect(N::MbarWait, &[full, turn.parity], []);
        Ok(())
    }

    /// One arrival per warp; an iteration below 0 has nothing to release.
    pub(super) fn consumer_release(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, data)?;
        let crosses_roles = p.is_tma() || p.is_mma() && p.consumers > 0;
        if !crosses_roles {
            return Ok(());
        }
        let turn = self.turn(op, data, "iteration", p.stages)?;
        let empty = self.stage_barrier(p.empty, turn.stage);
        if data.has_unit("products") {
            return self.tensor_commit(empty);
        }
        if p.is_mma() {
            self.tensor_before();
        }
        let iteration = self.get(op, operand(data, "iteration").unwrap_or_default())?;
        let enable = operand(data, "enable")
            .map(|v| self.get(op, v))
            .transpose()?;
        if p.loaded || p.is_mma() {
            // The lane that arrives does so for all.
            self.emit().effect(N::BarWarp, &[], []);
        }
        let first_lane = self.emit().threads_without(31);
        let mut e = self.emit();
        let zero = e.i32(0);
        let real = match enable {
            Some(enable) => enable,
            None => e.icmp("greater_than_or_equal", "signed", iteration, zero),
        };
        let condition = match first_lane {
            Some(first) => e.and(first, real),
            None => real,
        };
        self.when(condition, false, |l| {
            l.emit().effect(N::MbarArrive, &[empty], []);
            Ok(())
        })
    }

    /// Nothing in flight, and every warp done reading: another loop may fill the stages. Where nothing uses a buffer
    /// any more, their memory becomes scratch.
    pub(super) fn drain(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        if !self.pipeline(op, data)?.is_tma() {
            let pending = self.emit().i32_attr(0);
            self.emit().op(N::CpAsyncWait, &[], [pending], &[]);
        }
        if self.buffers_used_after(op) {
            self.barrier();
        } else {
            self.memory.release();
        }
        Ok(())
    }

    /// Whether some shared buffer is used behind `op`, or `op` may run again.
    fn buffers_used_after(&self, op: OpId) -> bool {
        let m = &self.m;
        if m.parent_op(op) != Some(self.func) {
            return true;
        }
        let ops = &m.block(m.op(op).block).ops;
        let behind = ops.iter().skip_while(|&&o| o != op).skip(1);
        let mut inside = behind.flat_map(|&o| {
            let regions = 0..m.op(o).regions.len();
            let bodies = regions.filter_map(move |i| m.body_of(o, i));
            let under = bodies.flat_map(|b| m.ops_under(b));
            std::iter::once(o).chain(under)
        });
        let shared = |v: &ValueId| {
            matches!(
                m.types.get(m.ty(*v)),
                Type::SharedTile { .. } | Type::Pipeline { .. }
            )
        };
        inside.any(|o| m.op(o).operands.iter().any(shared))
    }

    // ---- cp.async --------------------------------------------------------------------------

    /// Copies of 16 bytes where alignment allows; at ragged edges, elements through registers.
    /// A tile copied by the threads themselves, from a view or through pointers.
    pub(super) fn tile_copy(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, data)?;
        let buffer = self.buffer(op, operand(data, "destination").unwrap_or_default())?;
        let stage = self.turn(op, data, "iteration", p.stages)?.stage;
        let base = self.stage_address(&buffer, Some(stage));
        let copy = |l: &mut Self| match operand(data, "pointers") {
            Some(pointers) => l.copy_pointed(op, data, pointers, &buffer, base),
            None => l.copy_tile(op, data, &buffer, base),
        };
        match operand(data, "enable") {
            Some(enable) => {
                let enable = self.get(op, enable)?;
                self.when(enable, true, copy)
            }
            None => copy(self),
        }
    }

    // ---- TMA -------------------------------------------------------------------------------

    pub(super) fn tma_load(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, data)?;
        let turn = self.turn(op, data, "iteration", p.stages)?;
        let buffer = self.buffer(op, operand(data, "destination").unwrap_or_default())?;
        let (access, order, boxes) = self.tma_boxes(op, data, &buffer)?;
        let map = self.tensor_map(op, &access, &order, &boxes, &buffer)?;
        let full = self.stage_barrier(p.full, turn.stage);
        let base = self.stage_address(&buffer, Some(turn.stage));
        for b in &boxes.boxes {
            let coords = self.tma_coords(op, &access, &order, &b.start)?;
            let mut e = self.emit();
            let offset = e.i32(b.offset as i64);
            let dst = e.ptr_add(base, offset);
            e.op(N::TmaLoad, &[&[dst], &[map], &coords, &[full]], [], &[]);
        }
        Ok(())
    }

    pub(super) fn tma_store(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let buffer = self.buffer(op, operand(data, "source").unwrap_or_default())?;
        let (access, order, boxes) = self.tma_boxes(op, data, &buffer)?;
        let map = self.tensor_map(op, &access, &order, &boxes, &buffer)?;
        let first = self.thread_is(0);
        self.when(first, false, |l| {
            let base = l.stage_address(&buffer, None);
            for b in &boxes.boxes {
                let coords = l.tma_coords(op, &access, &order, &b.start)?;
                let mut e = l.emit();
                let offset = e.i32(b.offset as i64);
                let src = e.ptr_add(base, offset);
                e.op(N::TmaStore, &[&[map], &coords, &[src]], [], &[]);
            }
            l.emit().op(N::BulkCommit, &[], [], &[]);
            Ok(())
        })
    }

    /// In the thread that starts the copies.
    pub(super) fn store_wait(&mut self, data: &Op) -> Result<(), Diagnostic> {
        let first = self.thread_is(0);
        let read = (!data.has_unit("complete")).then_some(Attr::Unit);
        self.when(first, false, |l| {
            let mut e = l.emit();
            let pending = e.i32_attr(0);
            e.op(N::BulkWait, &[], [pending, read], &[]);
            Ok(())
        })
    }

    fn tma_boxes(
        &self,
        op: OpId,
        data: &Op,
        buffer: &Buffer,
    ) -> Result<(Access, Vec<usize>, TmaBoxes), Diagnostic> {
        let Some(access) = Access::of(data) else {
            return Err(unsupported(self.m, op, "not a tiled access"));
        };
        let order = access.order(&self.facts);
        let all = Swizzle::SWIZZLED.into_iter().chain([Swizzle::None]);
        let found = all
            .filter_map(|s| boxes(&buffer.layout, &order, s).ok())
            .next();
        match found {
            Some(boxes) => Ok((access, order, boxes)),
            None => Err(unsupported(
                self.m,
                op,
                "the buffer's layout is not one that TMA can fill",
            )),
        }
    }

    /// Coordinates of a box's first element, innermost first.
    fn tma_coords(
        &mut self,
        op: OpId,
        access: &Access,
        order: &[usize],
        start: &[u64],
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let mut coords = Vec::new();
        for &dim in order {
            let index = self.get(op, access.index[dim])?;
            let mut e = self.emit();
            let index = e.int_cast(index, 32);
            let origin = e.with(
                N::Mul,
                index,
                access.traversal.get(dim).copied().unwrap_or(1),
            );
            coords.push(e.with(N::Add, origin, start[dim] as i64));
        }
        Ok(coords)
    }

    /// The hidden parameter of the tensor map that a tiled access needs, made on first use.
    fn tensor_map(
        &mut self,
        op: OpId,
        access: &Access,
        order: &[usize],
        boxes: &TmaBoxes,
        buffer: &Buffer,
    ) -> Result<ValueId, Diagnostic> {
        let elem = pointee(self.m, access.base);
        let bytes = u64::from(buffer.layout.element_bits() / 8);
        let no = |l: &Self| {
            unsupported(
                l.m,
                op,
                "a tensor map needs the tensor's numbers to be parameters or constants",
            )
        };
        let number = |l: &Self, v: Option<ValueId>| v.and_then(|v| l.expr(v)).ok_or_else(|| no(l));
        let base =
            pipeline::tma::parameter(self.m, self.func, access.base).ok_or_else(|| no(self))?;
        let mut map = launch::TensorMap {
            param: 0,
            base,
            base_offset: None,
            element: element_name(self.m.types.get(elem)),
            dims: Vec::new(),
            strides_bytes: Vec::new(),
            box_dims: order.iter().map(|&d| boxes.box_extents[d] as u32).collect(),
            element_strides: vec![1; order.len()],
            swizzle: match boxes.swizzle {
                Swizzle::None => launch::Swizzle::None,
                Swizzle::B32 => launch::Swizzle::B32,
                Swizzle::B64 => launch::Swizzle::B64,
                Swizzle::B128 => launch::Swizzle::B128,
            },
            interleave: launch::Interleave::None,
            oob_fill: launch::OobFill::Zero,
            l2_promotion: launch::L2Promotion::B128,
        };
        for (i, &dim) in order.iter().enumerate() {
            map.dims.push(number(self, access.extent(dim))?);
            if i > 0 {
                map.strides_bytes
                    .push(number(self, access.stride(dim))?.times(Expr::Number(bytes)));
            }
        }
        let same = |old: &launch::TensorMap| {
            launch::TensorMap {
                param: 0,
                ..old.clone()
            } == map
        };
        if let Some((_, value)) = self.maps.iter().find(|(old, _)| same(old)) {
            return Ok(*value);
        }
        let ty = self.m.types.intern(Type::TensorMap);
        let value = self.m.add_arg(self.entry_block, ty);
        map.param = self.m.block(self.entry_block).args.len() as u32 - 1;
        self.maps.push((map, value));
        Ok(value)
    }

    /// A launch-time number as an expression over parameters.
    fn expr(&self, value: ValueId) -> Option<Expr> {
        match constant(&self.facts, value) {
            Some(number) => u64::try_from(number).ok().map(Expr::Number),
            None => pipeline::tma::parameter(self.m, self.func, value).map(Expr::param),
        }
    }

    // ---- warp roles ------------------------------------------------------------------------

    pub(super) fn warp_specialize(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let consumer_warps = int(data, "consumer_warps") as u64;
        let threads = consumer_warps * 32;
        let (fewer, more) = (
            int(data, "producer_registers"),
            int(data, "consumer_registers"),
        );
        let (producer, consumer) = (self.m.body_of(op, 0), self.m.body_of(op, 1));
        let (Some(producer), Some(consumer)) = (producer, consumer) else {
            return Err(unsupported(self.m, op, "warp roles without bodies"));
        };
        let mut e = self.emit();
        let tid = e.sreg("tid.x");
        let limit = e.i32(threads as i64);
        let is_producer = e.icmp("greater_than_or_equal", "unsigned", tid, limit);
        let products = self.m.body_of(op, 2);
        let whole = self.role;
        self.either(
            is_producer,
            |l| {
                l.set_registers(fewer, false);
                let one = l.thread_is(threads);
                l.own_tensor_memory(false);
                l.when(one, false, |l| l.block(producer))?;
                if let Some(products) = products {
                    let one = l.thread_is(threads + 32);
                    l.single = true;
                    l.when(one, false, |l| l.block(products))?;
                    l.single = false;
                }
                Ok(vec![])
            },
            |l| {
                l.set_registers(more, true);
                l.role = Role {
                    warps: consumer_warps,
                    barrier: 1,
                    partial: true,
                };
                l.own_tensor_memory(true);
                if consumer_warps > 4 {
                    l.warpgroup = Some(l.find_warpgroup());
                }
                let lowered = l.block(consumer);
                l.role = whole;
                l.warpgroup = None;
                l.own_tensor_memory(false);
                lowered.map(|()| vec![])
            },
        )?;
        Ok(())
    }

    fn set_registers(&mut self, count: i64, increase: bool) {
        if count > 0 {
            let count = self.emit().i32_attr(count);
            self.emit()
                .op(N::SetMaxNReg, &[], [count, Some(Attr::Bool(increase))], &[]);
        }
    }

    /// The warpgroup of this thread, in a form that the whole warp shares: found once per role,
    /// since a shuffle stays where it is.
    pub(super) fn warpgroup(&mut self) -> ValueId {
        self.warpgroup.unwrap_or_else(|| self.find_warpgroup())
    }

    fn find_warpgroup(&mut self) -> ValueId {
        let mut e = self.emit();
        let tid = e.sreg("tid.x");
        let group = e.with(N::ShrU, tid, i64::from(WARPGROUP.trailing_zeros()));
        let lane = e.i32(0);
        self.shfl("idx", group, Some(lane), 0)
    }

    // ---- shared tiles ----------------------------------------------------------------------

    pub(super) fn local_store(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let (tile, destination) = (data.operands[0], data.operands[1]);
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
        let stage = match operand(data, "iteration") {
            Some(_) => Some(self.turn(op, data, "iteration", buffer.stages)?.stage),
            None => None,
        };
        let base = self.stage_address(&buffer, stage);
        self.store_shared(&transfer, base, value);
        Ok(())
    }

    pub(super) fn local_load(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let buffer = self.buffer(op, data.operands[0])?;
        let result = data.results[0];
        let Some(layout) = self.layout(result) else {
            return Err(unsupported(self.m, op, "a tile without a layout"));
        };
        let transfer = self.transfer(&layout, &buffer.layout, true);
        let transfer = self.layout_error(op, transfer)?;
        let stage = match operand(data, "iteration") {
            Some(_) => Some(self.turn(op, data, "iteration", buffer.stages)?.stage),
            None => None,
        };
        let base = self.stage_address(&buffer, stage);
        let elem = self.m.types.elem(self.m.ty(result));
        let value = self.load_shared(&transfer, base, elem);
        self.set(result, value);
        Ok(())
    }

    pub(super) fn proxy_fence(&mut self) {
        self.fence("proxy_async_shared");
        self.barrier();
    }
}

fn element_name(ty: &Type) -> String {
    match ty {
        Type::Int(n) => format!("i{n}"),
        Type::Float(f) => Float::name(*f).to_owned(),
        _ => "i64".to_owned(),
    }
}
