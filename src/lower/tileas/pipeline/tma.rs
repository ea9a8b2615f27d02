//! The warp-specialised form of a stream: TMA producer, WGMMA consumers.
//!
//! ```text
//! alloc a, b            (ring of stages)
//! pipeline.create
//! warp_specialize
//!   producer: for i     { producer_acquire; tma_load a, b; producer_commit }
//!   consumer: for i     { consumer_wait; async.dot; dot_wait 1; consumer_release of the one before }
//!             dot_wait 0; epilogue: local_store, fence, tma_store
//! ```
//! One iteration's group stays in flight while the next one's is issued; a stage is released when
//! the group after it has been issued and its own is done.

use super::carried::{with_one_more, yield_too};
use super::slice::{Map, backward, copy};
use super::{Stream, forget_token, memory_order, shared_room, shared_type, swizzled, tile_bytes};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::{Traits, enums};
use crate::egraph::facts::FactMap;
use crate::ir::{Attr, BlockId, Diagnostic, Float, Module, OpBuilder, OpId, Type, ValueId};
use crate::layout::wgmma_desc;
use crate::lower::access::{Access, constant, operand};
use crate::lower::build::{self, case};
use crate::target::Target;

/// Bytes of shared memory that are left for barriers and alignment.
const RESERVE: u64 = 2048;
/// Most stages that pay.
const MAX_STAGES: u64 = 8;
/// Registers of a consumer and of a producer thread once they have been redistributed: with two
/// consumer warpgroups, 2·128·240 + 128·24 = 64512 of 65536.
const CONSUMER_REGISTERS: i64 = 240;
const PRODUCER_REGISTERS: i64 = 24;

/// The decisions about one stream.
#[derive(Clone, Debug)]
pub struct Plan {
    pub stream: Stream,
    pub stages: u64,
    /// Bytes of both tiles of a stage.
    pub stage_bytes: u64,
    /// Warpgroups over rows and columns.
    pub warpgroups: [i32; 2],
}

impl Plan {
    /// A plan for the stream in `for_op`, if every part of it is within what TMA and WGMMA can do.
    pub fn of(
        m: &Module,
        func: OpId,
        for_op: OpId,
        target: &Target,
        facts: &FactMap,
    ) -> Option<Plan> {
        let body = m.body_of(func, 0)?;
        if m.op(for_op).block != body {
            return None;
        }
        let stream = Stream::find(m, for_op)?;
        let warpgroups = warpgroups(m, &stream)?;
        for (side, &load) in stream.loads.iter().enumerate() {
            if !tma_legal(m, func, load, facts) {
                return None;
            }
            let tile = m.op(load).results[0];
            let (shared, _) = swizzled(m, tile, &memory_order(m, facts, load)).ok()?;
            // WGMMA reads 8- and 32-bit elements with K contiguous only.
            let mn_dim = side;
            let rows = if side == 0 {
                64
            } else {
                columns_per_instruction(m, &stream, warpgroups)
            };
            let operand = wgmma_desc::describe(&shared.squeezed().ok()?, mn_dim, rows).ok()?;
            if shared.element_bits() != 16 && operand.major == wgmma_desc::Major::Mn {
                return None;
            }
        }
        let stage_bytes = stream.stage_bytes(m);
        let stages = |room: u64| stages_that_fit(room.checked_sub(RESERVE)?, stage_bytes);
        let stages = shared_room(m, func, target).into_iter().find_map(stages)?;
        let plan = Plan {
            stream,
            stages,
            stage_bytes,
            warpgroups,
        };
        plan.separable(m, body).then_some(plan)
    }

    /// Warps that hold tiles.
    pub fn consumer_warps(&self) -> u64 {
        4 * (self.warpgroups[0] * self.warpgroups[1]) as u64
    }

    /// Whether what the producer needs can be computed before the warps part.
    fn separable(&self, m: &Module, body: BlockId) -> bool {
        let inner = backward(m, self.stream.body, self.producer_roots(m));
        let outer_roots = inner
            .iter()
            .flat_map(|&o| m.op(o).operands.to_vec())
            .chain(self.producer_roots(m));
        backward(m, body, outer_roots).iter().all(|&o| stays(m, o))
    }

    /// Values the producer reads: bounds, and the operands of the loads.
    fn producer_roots(&self, m: &Module) -> Vec<ValueId> {
        let bounds = m.op(self.stream.for_op).operands[..3].to_vec();
        let loads = self.stream.loads.iter().flat_map(|&l| {
            let data = m.op(l);
            let token = operand(data, "token");
            data.operands
                .iter()
                .copied()
                .filter(move |&v| Some(v) != token)
        });
        bounds.into_iter().chain(loads).collect()
    }
}

/// As many stages as fit: a power of two where at least four do.
fn stages_that_fit(room: u64, bytes: u64) -> Option<u64> {
    let most = (room / bytes.max(1)).min(MAX_STAGES);
    match most {
        0 | 1 => None,
        2 | 3 => Some(most),
        n => Some(1 << n.ilog2()),
    }
}

/// Whether an operation before the loop stays in front of the warp roles: scalar and pure.
fn stays(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    let scalar = |v: &ValueId| match m.types.get(m.ty(*v)) {
        Type::Tile { shape, .. } => shape.is_empty(),
        _ => true,
    };
    data.def().traits.has(Traits::PURE)
        && data.regions.is_empty()
        && data.results.iter().all(scalar)
}

/// Warpgroups over the accumulator, or `None` where WGMMA has no form of the product.
fn warpgroups(m: &Module, stream: &Stream) -> Option<[i32; 2]> {
    let operands = &m.op(stream.mma).operands;
    let (a, shape_a) = m.types.as_tile(m.ty(operands[0]))?;
    let (b, _) = m.types.as_tile(m.ty(operands[1]))?;
    let (c, shape_c) = m.types.as_tile(m.ty(operands[2]))?;
    let (&[rows, columns], &[_, k]) = (shape_c, shape_a) else {
        return None;
    };
    let (a, b, c) = (m.types.get(a), m.types.get(b), m.types.get(c));
    let fits = matches!(
        (a, c),
        (
            Type::Float(Float::F16),
            Type::Float(Float::F16 | Float::F32)
        ) | (
            Type::Float(Float::BF16 | Float::TF32),
            Type::Float(Float::F32)
        )
    ) && a == b;
    let bits = match a {
        Type::Float(f) => u64::from(f.bits()),
        _ => return None,
    };
    if !fits || rows < 64 || columns < 8 || k * bits < 256 {
        return None;
    }
    match (rows >= 128, columns) {
        (true, ..=256) => Some([2, 1]),
        (false, ..=256) => Some([1, 1]),
        (false, 512) => Some([1, 2]),
        _ => None,
    }
}

/// Columns of one instruction.
fn columns_per_instruction(m: &Module, stream: &Stream, warpgroups: [i32; 2]) -> u64 {
    let columns = m
        .types
        .as_tile(m.ty(m.op(stream.mma).operands[2]))
        .map_or(8, |t| t.1[1]);
    (columns / warpgroups[1] as u64).min(256)
}

/// The entry parameter that a scalar is, through assumptions.
pub fn parameter(m: &Module, func: OpId, mut value: ValueId) -> Option<u32> {
    while let Some(op) = m.def_op(value) {
        if C::of(m.op(op).kind) != Some(C::Assume) {
            return None;
        }
        value = m.op(op).operands[0];
    }
    let body = m.body_of(func, 0)?;
    m.block(body)
        .args
        .iter()
        .position(|&a| a == value)
        .map(|i| i as u32)
}

/// Whether a tensor map can describe the tensor of a tiled access: its numbers are parameters or
/// constants, aligned as the hardware wants (CUDA driver API, `cuTensorMapEncodeTiled`).
pub fn tma_legal(m: &Module, func: OpId, op: OpId, facts: &FactMap) -> bool {
    let Some(access) = Access::of(m.op(op)) else {
        return false;
    };
    let rank = access.extents.len();
    let known = |v: ValueId| constant(facts, v).is_some() || parameter(m, func, v).is_some();
    let numbers = access
        .extents
        .iter()
        .chain(&access.strides)
        .all(|&v| known(v));
    let elem = crate::lower::access::pointee(m, access.base);
    let bytes = u64::from(m.types.bits(elem).unwrap_or(0) / 8);
    let divides = |v: ValueId, n: u64| facts.get(v).is_some_and(|f| f.divisor % n == 0);
    let order = access.order(facts);
    let Some(&inner) = order.first() else {
        return false;
    };
    let inner_tensor = access.dim_map.get(inner).copied();
    let unit = access
        .stride(inner)
        .is_some_and(|s| constant(facts, s) == Some(1));
    let strides =
        access.strides.iter().enumerate().all(|(i, &s)| {
            Some(i) == inner_tensor || (bytes > 0 && divides(s, (16 / bytes).max(1)))
        });
    rank == access.index.len()
        && (1..=5).contains(&rank)
        && bytes > 0
        && numbers
        && unit
        && strides
        && parameter(m, func, access.base).is_some()
        && divides(access.base, 16)
        && access.sparse.is_none()
        && !m
            .op(op)
            .attr_named("hints")
            .is_some_and(|h| forbids_tma(m, h))
}

/// `allow_tma = false` among the hints.
fn forbids_tma(m: &Module, hints: &Attr) -> bool {
    let Attr::Hints(by_arch) = hints else {
        return false;
    };
    by_arch.iter().any(|(_, dict)| match dict {
        Attr::Dict(entries) => entries
            .iter()
            .any(|(n, a)| m.str(*n) == "allow_tma" && matches!(a, Attr::Bool(false))),
        _ => false,
    })
}

/// Rewrites the function by `plan`.
pub fn apply(m: &mut Module, func: OpId, plan: &Plan, facts: &FactMap) -> Result<(), Diagnostic> {
    let Some(body) = m.body_of(func, 0) else {
        return Ok(());
    };
    let for_op = plan.stream.for_op;
    let ops = std::mem::take(&mut m.block_mut(body).ops);
    let split = ops.iter().position(|&o| o == for_op).unwrap_or(0);
    let (before, after) = ops.split_at(split);
    let (front, prologue): (Vec<OpId>, Vec<OpId>) = before.iter().partition(|&&o| stays(m, o));
    m.block_mut(body).ops = front;
    let ring = Ring::create(m, body, plan, facts)?;
    let (producer, consumer) = (m.new_region(), m.new_region());
    let producer_block = m.new_block(producer, &[]);
    let consumer_block = m.new_block(consumer, &[]);
    build_producer(m, producer_block, plan, &ring);
    for &op in &prologue {
        append(m, consumer_block, op);
    }
    build_consumer(m, consumer_block, plan, &ring);
    for &op in &after[1..] {
        append(m, consumer_block, op);
    }
    epilogue(m, func, consumer_block, plan, facts)?;
    let i32_ty = m.types.int(32);
    let int = |value: i64| Some(Attr::Int { value, ty: i32_ty });
    let redistribute = plan.consumer_warps() > 4;
    let registers = if redistribute {
        [PRODUCER_REGISTERS, CONSUMER_REGISTERS]
    } else {
        [0, 0]
    };
    let attrs = [
        int(registers[0]),
        int(registers[1]),
        int(plan.consumer_warps() as i64),
    ];
    let mut b = m.at_end(body);
    b.op(S::WarpSpecialize, &[], attrs, &[], &[producer, consumer]);
    b.op(S::Return, &[&[]], [], &[], &[]);
    Ok(())
}

/// Moves an operation to the end of a block.
fn append(m: &mut Module, block: BlockId, op: OpId) {
    let at = m.block(block).ops.len();
    m.place(op, block, at);
}

/// The buffers and the pipeline.
struct Ring {
    buffers: [ValueId; 2],
    pipeline: ValueId,
}

impl Ring {
    fn create(
        m: &mut Module,
        block: BlockId,
        plan: &Plan,
        facts: &FactMap,
    ) -> Result<Ring, Diagnostic> {
        let mut buffers = [ValueId::default(); 2];
        let mut bytes = 0;
        for (buffer, &load) in buffers.iter_mut().zip(&plan.stream.loads) {
            let tile = m.op(load).results[0];
            let order = memory_order(m, facts, load);
            let (layout, _) = swizzled(m, tile, &order)
                .map_err(|e| crate::lower::unsupported(m, load, format!("no layout: {e}")))?;
            bytes += tile_bytes(m, tile);
            let ty = shared_type(m, tile, &layout, plan.stages as u32);
            *buffer = m.at_end(block).value(S::AllocTensor, &[], [], ty);
        }
        let i32_ty = m.types.int(32);
        let int = |value: i64| Some(Attr::Int { value, ty: i32_ty });
        let ty = m.types.intern(Type::Pipeline {
            stages: plan.stages as u32,
        });
        let attrs = [
            case(&enums::PIPELINE_KIND, "tma"),
            int(plan.stages as i64),
            int(plan.consumer_warps() as i64),
            int(bytes as i64),
        ];
        let pipeline = m.at_end(block).value(S::PipelineCreate, &[], attrs, ty);
        Ok(Ring { buffers, pipeline })
    }
}

/// A scalar tile i32 constant at the end of a block.
fn number(m: &mut Module, block: BlockId, value: i64) -> ValueId {
    let i32_ty = m.types.int(32);
    let ty = m.types.tile(i32_ty, &[]);
    build::constant(&mut m.at_end(block), value, ty)
}

fn build_producer(m: &mut Module, block: BlockId, plan: &Plan, ring: &Ring) {
    let stream = &plan.stream;
    let bounds = m.op(stream.for_op).operands[..3].to_vec();
    let zero = number(m, block, 0);
    let region = m.new_region();
    let counter_ty = m.ty(m.block(stream.body).args[0]);
    let iteration_ty = m.ty(zero);
    let body = m.new_block(region, &[counter_ty, iteration_ty]);
    let args = m.block(body).args.clone();
    let mut map = Map::default();
    map.insert(m.block(stream.body).args[0], args[0]);
    for op in backward(m, stream.body, plan.producer_roots(m)) {
        copy(m, op, body, &mut map);
    }
    let iteration = args[1];
    m.at_end(body).op(
        S::ProducerAcquire,
        &[&[ring.pipeline], &[iteration]],
        [],
        &[],
        &[],
    );
    for (&load, &buffer) in stream.loads.iter().zip(&ring.buffers) {
        let data = m.op(load).clone();
        let access = ["base", "extents", "strides", "index"];
        let operands: Vec<Vec<ValueId>> = access
            .iter()
            .map(|name| {
                let group = crate::lower::access::group(&data, name);
                group
                    .iter()
                    .map(|v| map.get(v).copied().unwrap_or(*v))
                    .collect()
            })
            .collect();
        let (last, pipeline, iteration) = ([buffer], [ring.pipeline], [iteration]);
        let mut groups: Vec<&[ValueId]> = operands.iter().map(Vec::as_slice).collect();
        groups.extend([&last[..], &pipeline[..], &iteration[..]]);
        let attrs = ["dim_map", "traversal", "padding"].map(|n| data.attr_named(n).cloned());
        let mut b = m.at_end(body);
        b.loc = data.loc;
        b.op(S::TmaLoad, &groups, attrs, &[], &[]);
    }
    m.at_end(body).op(
        S::ProducerCommit,
        &[&[ring.pipeline], &[iteration]],
        [],
        &[],
        &[],
    );
    let next = plus_one(&mut m.at_end(body), iteration);
    m.at_end(body).op(C::Continue, &[&[next]], [], &[], &[]);
    let mut b = m.at_end(block);
    b.op(
        C::For,
        &[&bounds[..1], &bounds[1..2], &bounds[2..3], &[zero]],
        [None],
        &[iteration_ty],
        &[region],
    );
    b.op(S::RoleEnd, &[], [], &[], &[]);
}

fn plus_one(b: &mut OpBuilder<'_>, value: ValueId) -> ValueId {
    let ty = b.module.ty(value);
    let one = build::constant(b, 1, ty);
    b.value(C::AddI, &[value, one], [case(&enums::OVERFLOW, "none")], ty)
}

/// The loop with its loads replaced by waits and its product by a WGMMA group.
fn build_consumer(m: &mut Module, block: BlockId, plan: &Plan, ring: &Ring) {
    let stream = &plan.stream;
    let zero = number(m, block, 0);
    let iteration = m.add_arg(stream.body, m.ty(zero));
    let ops = std::mem::take(&mut m.block_mut(stream.body).ops);
    for op in ops {
        if stream.loads.contains(&op) || stream.views.contains(&op) {
            forget_token(m, op);
            continue;
        }
        if op == stream.mma {
            let done = product(m, stream, plan, ring, iteration);
            let result = m.op(op).results[0];
            m.replace_all_uses(result, done);
            continue;
        }
        let is_end = C::of(m.op(op).kind) == Some(C::Continue);
        if is_end {
            let next = plus_one(&mut m.at_end(stream.body), iteration);
            yield_too(m, op, next);
        }
        append(m, stream.body, op);
    }
    // The loop itself: one more carried value.
    let old = m.op(stream.for_op).results.clone();
    let new = with_one_more(m, block, stream.for_op, zero);
    let acc = m.op(new).results[stream.carried];
    let drained = dot_wait(m, block, acc, 0);
    for (i, &result) in old.iter().enumerate() {
        let value = if i == stream.carried {
            drained
        } else {
            m.op(new).results[i]
        };
        m.replace_all_uses(result, value);
    }
    m.erase(stream.for_op);
    let views = stream.views.iter().copied();
    for op in stream.loads.into_iter().chain(views).chain([stream.mma]) {
        m.erase(op);
    }
}

fn product(
    m: &mut Module,
    stream: &Stream,
    plan: &Plan,
    ring: &Ring,
    iteration: ValueId,
) -> ValueId {
    let body = stream.body;
    let data = m.op(stream.mma).clone();
    let acc = data.operands[2];
    let ty = m.ty(acc);
    m.at_end(body).op(
        S::ConsumerWait,
        &[&[ring.pipeline], &[iteration]],
        [],
        &[],
        &[],
    );
    let attrs = [Some(Attr::I32s(plan.warpgroups.to_vec()))];
    let groups: [&[ValueId]; 6] = [
        &[ring.buffers[0]],
        &[ring.buffers[1]],
        &[acc],
        &[iteration],
        &[iteration],
        &[],
    ];
    let mut b = m.at_end(body);
    b.loc = data.loc;
    let dot = b.op(S::AsyncDot, &groups, attrs, &[ty], &[]);
    let issued = m.op(dot).results[0];
    let done = dot_wait(m, body, issued, 1);
    // The group of the iteration before is done: its stage is free. Iteration -1 has none.
    let mut b = m.at_end(body);
    let iteration_ty = b.module.ty(iteration);
    let minus_one = build::constant(&mut b, -1, iteration_ty);
    let previous = b.value(
        C::AddI,
        &[iteration, minus_one],
        [case(&enums::OVERFLOW, "none")],
        iteration_ty,
    );
    b.op(
        S::ConsumerRelease,
        &[&[ring.pipeline], &[previous]],
        [],
        &[],
        &[],
    );
    done
}

fn dot_wait(m: &mut Module, block: BlockId, acc: ValueId, pending: i64) -> ValueId {
    let i32_ty = m.types.int(32);
    let ty = m.ty(acc);
    m.at_end(block).value(
        S::AsyncDotWait,
        &[acc],
        [Some(Attr::Int {
            value: pending,
            ty: i32_ty,
        })],
        ty,
    )
}

/// Stores of the consumer that a tensor map can do go through shared memory; the role ends.
fn epilogue(
    m: &mut Module,
    func: OpId,
    block: BlockId,
    plan: &Plan,
    facts: &FactMap,
) -> Result<(), Diagnostic> {
    let ops = std::mem::take(&mut m.block_mut(block).ops);
    for op in ops {
        match S::of(m.op(op).kind) {
            Some(S::Return) => {
                m.erase(op);
                m.at_end(block).op(S::RoleEnd, &[], [], &[], &[]);
            }
            Some(S::TiledStore) if tma_store_legal(m, func, op, plan, facts) => {
                tma_store(m, block, op, facts)?
            }
            _ => append(m, block, op),
        }
    }
    Ok(())
}

fn tma_store_legal(m: &Module, func: OpId, op: OpId, plan: &Plan, facts: &FactMap) -> bool {
    let data = m.op(op);
    let Some(tile) = operand(data, "tile") else {
        return false;
    };
    let unused = data.results.iter().all(|&r| !is_used(m, r));
    let ring = plan.stages * plan.stage_bytes;
    tma_legal(m, func, op, facts)
        && data.enum_named("order") == Some(0)
        && unused
        && tile_bytes(m, tile) <= ring
        && swizzled(m, tile, &memory_order(m, facts, op)).is_ok()
}

fn is_used(m: &Module, value: ValueId) -> bool {
    let mut used = false;
    m.walk(m.body, &mut |op| used |= m.op(op).operands.contains(&value));
    used
}

fn tma_store(m: &mut Module, block: BlockId, op: OpId, facts: &FactMap) -> Result<(), Diagnostic> {
    let data = m.op(op).clone();
    let Some(tile) = operand(&data, "tile") else {
        return Ok(());
    };
    let order = memory_order(m, facts, op);
    let (layout, _) = swizzled(m, tile, &order)
        .map_err(|e| crate::lower::unsupported(m, op, format!("no layout: {e}")))?;
    let ty = shared_type(m, tile, &layout, 1);
    let buffer = m.at_end(block).value(S::AllocTensor, &[], [], ty);
    let mut b = m.at_end(block);
    b.loc = data.loc;
    b.op(S::LocalStore, &[&[tile], &[buffer], &[]], [], &[], &[]);
    b.op(S::ProxyFence, &[], [], &[], &[]);
    let group = |name| crate::lower::access::group(&data, name);
    let groups: [&[ValueId]; 5] = [
        group("base"),
        group("extents"),
        group("strides"),
        group("index"),
        &[buffer],
    ];
    let attrs = ["dim_map", "traversal"].map(|n| data.attr_named(n).cloned());
    b.op(S::TmaStore, &groups, attrs, &[], &[]);
    m.erase(op);
    Ok(())
}
