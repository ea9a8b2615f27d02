//! `nv_tileas` → `nvvm`: each thread's share of every tile.
//!
//! A distributed tile becomes a register array in the order of its layout's registers. Operations
//! that only move elements between layouts related by renaming cost nothing ([`shape`]); memory
//! accesses get addresses, masks and vectors ([`memory`]); reductions go through registers,
//! shuffles and shared memory ([`reduce`]); conversions and shared buffers follow the layout
//! algebra ([`shared`]). Elementwise operations keep their `cuda_tile` names on register arrays:
//! `rules/tileas_to_nvvm` turns them into `nvvm`.

mod alloca;
mod assert;
mod atomics;
mod cluster;
mod combine;
mod control;
mod conversion;
mod emit;
mod few;
mod fma;
mod func;
mod globals;
mod memory;
mod multimem;
mod nibbles;
mod packing;
mod parts;
mod pipeline;
mod place;
mod pointer_copy;
mod pointer_runs;
mod pointers;
mod print;
pub mod rarely;
mod reduce;
mod redux;
mod roles;
mod scaled_dot;
mod scan;
mod scan_runs;
mod scratch;
mod settled;
mod shape;
mod shared;
mod shared_memory;
mod shared_tiles;
mod spill;
mod sync;
mod tcgen05;
mod tcgen05_scaled;
mod tiled;
mod tiled_address;
mod tiled_copy;
mod values;
mod wgmma;

use crate::dialect::cuda_tile::view as tile;
use crate::dialect::cuda_tile::view::View as C;
use crate::dialect::enums::SpecialRegister as R;
use crate::dialect::nv_tileas::view::{Func, View as V};
use crate::dialect::{Dialect, Traits, nvvm};
use crate::facts::{self, FactMap};
use crate::ir::{
    AssumePredicate, Attr, BlockId, Dense, Diagnostic, Diagnostics, Module, Op, OpId, Type, TypeId,
    ValueId,
};
use crate::launch;
use crate::layout::Layout;
use crate::layout::convert::Planner;
use crate::lower::{capabilities, unsupported};
use crate::target::Target;
use emit::Emit;
use place::Place;
use rustc_hash::{FxHashMap, FxHashSet};
use values::Values;

/// What a launch needs to know beside the PTX, per kernel.
pub type Launches = Vec<launch::Entry>;

/// Lowers every `nv_tileas.func`; the module then holds `nvvm.func`s in their place.
pub fn run(m: &mut Module, target: &Target) -> Result<Launches, Diagnostics> {
    let mut launches = Launches::new();
    let mut conversions = Planner::new(capabilities(target));
    for op in m.block(m.body).ops.clone() {
        if tile::Global::of(m.op(op)).is_some() {
            globals::lower(m, op)?;
        }
        if Func::of(m.op(op)).is_some() {
            launches.push(func::lower(m, op, target, &mut conversions)?);
        }
    }
    Ok(launches)
}

/// The warps that run the code at hand.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    /// Warps; their first thread is thread 0 of the block.
    pub warps: u64,
    /// Barrier that these warps share.
    pub barrier: u32,
    /// Whether the block has other warps.
    pub partial: bool,
    /// The thread that issues matmuls in tensor memory.
    pub issuer: Issuer,
    /// The warpgroup of a thread, where it was found once for the whole role.
    pub warpgroup: Option<ValueId>,
}

/// The thread of a role that issues matmuls in tensor memory.
#[derive(Clone, Copy, Debug)]
pub enum Issuer {
    /// Thread 0 of the block.
    First,
    /// The only thread that runs the role.
    Alone,
    /// One of a warp that runs the role: where this value is true.
    Where(ValueId),
}

/// The kernel that is lowered, as it was, and where it goes.
pub struct Kernel {
    pub func: OpId,
    /// Blocks that share a multiprocessor: more than one where the roles' registers are divided for as many.
    pub together: u64,
    /// Blocks that the kernel asks to share a multiprocessor, shared memory permitting.
    pub occupancy: Option<i64>,
    /// Warps of a block, those of all roles.
    pub warps: u64,
    /// The entry block of what it becomes.
    pub entry: BlockId,
    /// The values that something uses.
    pub used: FxHashSet<ValueId>,
    /// What is computed where it stands, not where it is first used.
    pub early: FxHashSet<OpId>,
    /// Where the memory of each `alloca` lies.
    pub allocations: FxHashMap<OpId, u64>,
    /// Blocks of the cluster that executes a tile block.
    pub blocks: u64,
    /// Whether its matmuls are those of a pair of blocks, the cluster.
    pub pair: bool,
    /// Bytes of shared memory that operands of matmuls share.
    pub operands: u64,
}

/// What the kernel's asynchronous operations refer to.
#[derive(Default)]
pub struct Asynchronous {
    pub pipelines: FxHashMap<ValueId, pipeline::Pipeline>,
    /// Rings into whose stages threads store what they cannot copy.
    pub stored: FxHashSet<ValueId>,
    /// Tensor maps so far, with the parameters that hold them.
    pub maps: Vec<(launch::TensorMap, ValueId)>,
    /// Tensor maps that the kernel makes, if it makes any.
    pub made_maps: Option<pipeline::MadeMaps>,
    /// The kernel's tensor memory, if it has any.
    pub tensor: Option<tcgen05::TensorMemory>,
}

/// The lowering of one function.
pub struct Lower<'m> {
    m: &'m mut Module,
    target: Target,
    facts: FactMap,
    values: Values,
    place: Place,
    role: Role,
    memory: shared_memory::SharedMemory,
    conversions: &'m mut Planner,
    asynchronous: Asynchronous,
    kernel: Kernel,
}

impl Lower<'_> {
    /// What `value` became.
    pub fn get(&self, op: OpId, value: ValueId) -> Result<ValueId, Diagnostic> {
        self.values.get(value).ok_or_else(|| {
            unsupported(
                self.m,
                op,
                "an operand has no form in nvvm (a token or view used as a value?)",
            )
        })
    }

    pub fn set(&mut self, old: ValueId, new: ValueId) {
        self.values.set(old, new);
    }

    /// The layout of a distributed value.
    pub fn layout(&self, value: ValueId) -> Option<Layout> {
        let id = super::tileas::layout_of(self.m, value)?;
        Some(self.m.layouts.get(id).clone())
    }

    /// The `nvvm` type of an old type; `None` for tokens and other values without registers.
    pub fn ty(&mut self, ty: TypeId) -> Option<TypeId> {
        match self.m.types.get(ty).clone() {
            Type::Tile { elem, .. } => Some(elem),
            Type::Distributed { elem, layout, .. } => {
                let n = self.m.layouts.get(layout).registers() as u32;
                Some(self.m.types.regs(elem, n))
            }
            Type::Int(_) | Type::Float(_) | Type::Ptr { .. } | Type::Regs { .. } => Some(ty),
            _ => None,
        }
    }

    /// Lowers the operations of a block, the terminator included, into the current block.
    pub fn block(&mut self, block: BlockId) -> Result<(), Diagnostic> {
        for op in self.m.block(block).ops.clone() {
            self.op(op)?;
        }
        Ok(())
    }

    fn op(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let data = self.m.op(op).clone();
        self.come_from(data.loc);
        match data.kind.dialect {
            Dialect::CudaTile => self.cuda_tile(op, &data),
            Dialect::TileAs => self.tileas(op, &data),
            _ => Err(unsupported(
                self.m,
                op,
                "operation of another stage in nv_tileas",
            )),
        }?;
        match self.kernel.early.contains(&op) {
            true => self.settle(op),
            false => Ok(()),
        }
    }

    fn cuda_tile(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let Some(view) = C::of(data) else {
            return Ok(());
        };
        match view {
            C::MakeToken(_) | C::JoinTokens(_) => Ok(()),
            C::Assume(v) => self.assume(op, &v),
            C::Constant(v) => self.constant(op, &v),
            C::Iota(v) => self.iota(op, &v),
            C::Reshape(_) | C::Broadcast(_) | C::Permute(_) => self.renamed(op),
            C::Reduce(v) => self.reduce(op, &v),
            C::Scan(v) => self.scan(op, &v),
            C::Alloca(v) => self.alloca(op, &v),
            C::Extract(v) => self.extract(op, &v),
            C::Insert(v) => self.insert(op, &v),
            C::Cat(v) => self.cat(op, &v),
            C::Pack(v) => self.pack(op, &v),
            C::Unpack(v) => self.unpack(op, &v),
            C::GetGlobal(v) => self.get_global(&v),
            C::Assert(v) => self.assert(op, &v),
            C::Print(v) => self.print(op, &v),
            C::GdcLaunchDependents(_) => self.grid_dependency(nvvm::Op::GridDepLaunch),
            C::GdcWait(_) => self.grid_dependency(nvvm::Op::GridDepWait),
            C::MemoryFenceAlias(_) => self.alias_fence(),
            C::GetTileBlockId(_) => self.tile_block_id(data),
            C::GetNumTileBlocks(_) => self.tile_blocks(data),
            C::For(v) => self.for_loop(op, &v),
            C::If(v) => self.if_else(op, &v),
            C::Loop(v) => self.endless_loop(op, &v),
            C::Yield(_) => self.jump(op, data, nvvm::Op::Yield),
            C::Continue(_) => self.jump(op, data, nvvm::Op::Continue),
            C::Break(_) => self.jump(op, data, nvvm::Op::Break),
            C::Offset(v) => self.offset(op, &v),
            C::PtrToInt(_) | C::IntToPtr(_) | C::PtrToPtr(_) | C::Bitcast(_) => {
                self.reinterpret(op)
            }
            _ if data.def().traits.has(Traits::ELEMENTWISE) => self.elementwise(op, data),
            _ => Err(unsupported(self.m, op, "not yet compiled to PTX")),
        }
    }

    fn tileas(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let Some(view) = V::of(data) else {
            return Err(unsupported(
                self.m,
                op,
                "operation of another stage in nv_tileas",
            ));
        };
        match view {
            V::ClusterRank(v) => {
                let rank = self.emit().sreg(R::ClusterCtarank);
                self.set(v.result(), rank);
                Ok(())
            }
            // The copies that gather by them read them one by one.
            V::Numbers(_) => Ok(()),
            V::RoleInvariant(v) => {
                let value = self.get(op, v.value())?;
                self.set(v.result(), value);
                Ok(())
            }
            V::TiledLoad(v) => self.tiled_load(op, &v),
            V::TiledStore(v) => self.tiled_store(op, &v),
            V::TiledAtomic(v) => self.tiled_atomic(op, &v),
            V::MultimemLoad(v) => self.multimem_load(op, &v),
            V::MultimemReduce(v) => self.multimem_reduce(op, &v),
            V::MultimemStore(v) => self.multimem_store(op, &v),
            V::Load(v) => self.pointer_load(op, &v),
            V::Store(v) => self.pointer_store(op, &v),
            V::AtomicRmw(v) => self.atomic_rmw(op, &v),
            V::AtomicCas(v) => self.atomic_cas(op, &v),
            V::ConvertLayout(v) => self.convert_layout(op, &v),
            V::Dot(v) => self.dot(op, &v),
            V::ScaledDot(v) => self.scaled_dot(op, &v),
            V::AllocTensor(v) => self.alloc_tensor(op, &v),
            V::SharedView(v) => self.shared_view(op, &v),
            V::LocalStore(v) => self.local_store(op, &v),
            V::LocalLoad(v) => self.local_load(op, &v),
            V::PipelineCreate(v) => self.pipeline_create(&v),
            V::ProducerAcquire(v) => self.producer_acquire(op, &v),
            V::ProducerCommit(v) => self.producer_commit(op, &v),
            V::Drain(v) => self.drain(op, &v),
            V::TiledCopy(v) => self.tiled_copy(op, &v),
            V::PointerCopy(v) => self.pointer_copy(op, &v),
            V::ConsumerWait(v) => self.consumer_wait(op, &v),
            V::ConsumerRelease(v) => self.consumer_release(op, &v),
            V::TmaLoad(v) => self.tma_load(op, &v),
            V::TmaStore(v) => self.tma_store(op, &v),
            V::StoreWait(v) => self.store_wait(&v),
            V::ProxyFence(_) => {
                self.proxy_fence();
                Ok(())
            }
            V::WarpSync(_) => {
                self.warp_barrier();
                Ok(())
            }
            V::AsyncDot(v) => self.async_dot(op, &v),
            V::AsyncDotWait(v) => self.async_dot_wait(op, &v),
            V::AllocTensorMemory(_) => Ok(()),
            V::TensorLoad(v) => self.tensor_load(op, &v),
            V::TensorStore(v) => self.tensor_store(op, &v),
            V::TensorDot(v) => self.tensor_dot(op, &v),
            V::WarpSpecialize(v) => self.warp_specialize(op, &v),
            V::RoleEnd(_) => self.free_tensor_memory(),
            V::Func(_) => Err(unsupported(self.m, op, "a kernel within a kernel")),
            V::Return(_) => {
                self.give_places_back()?;
                self.free_tensor_memory()?;
                self.leave_cluster()?;
                self.emit()
                    .op(crate::dialect::nvvm::Op::Return, &[&[]], [], &[]);
                Ok(())
            }
        }
    }

    /// Kept where it says something about each element by itself: a rule drops it once its facts are
    /// known. They then hold for the value everywhere, so it must not depend on a condition.
    fn assume(&mut self, op: OpId, v: &tile::Assume<Op>) -> Result<(), Diagnostic> {
        let of_each = matches!(
            v.predicate(),
            Attr::Assume(
                AssumePredicate::Bounded { .. }
                    | AssumePredicate::DivBy {
                        every: None,
                        along: None,
                        ..
                    }
            )
        );
        let always = self
            .m
            .parent_op(op)
            .is_some_and(|parent| self.m.op(parent).def().traits.has(Traits::ISOLATED));
        if of_each && always && self.ty(self.m.ty(v.result())).is_some() {
            return self.elementwise(op, v.op());
        }
        let value = self.get(op, v.value())?;
        self.set(v.result(), value);
        Ok(())
    }

    /// The same operation on register arrays, or on the parts in which one of them was made.
    fn elementwise(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let operands: Result<Vec<_>, _> = data.operands.iter().map(|&v| self.get(op, v)).collect();
        let operands = operands?;
        let Some(ty) = self.ty(self.m.ty(data.results[0])) else {
            return Err(unsupported(
                self.m,
                op,
                "an elementwise result without registers",
            ));
        };
        let mut counts = operands.iter().filter_map(|&v| self.values.parts_of(v));
        let result = match counts.next().map(|parts| parts.len() as u32) {
            Some(count) => self.in_parts(data, &operands, ty, count),
            None => {
                let new = self.emit().like(data, &operands, &[ty]);
                self.m.result(new)
            }
        };
        self.set(data.results[0], result);
        Ok(())
    }

    /// The same operation on each of `count` parts of its operands.
    fn in_parts(&mut self, data: &Op, operands: &[ValueId], ty: TypeId, count: u32) -> ValueId {
        let mut parts = Vec::new();
        for i in 0..count {
            let part = |l: &mut Self, value: ValueId| {
                let made = l.values.parts_of(value);
                if let Some(made) = made.filter(|parts| parts.len() as u32 == count) {
                    return made[i as usize];
                }
                l.emit().part(value, i, count)
            };
            let own: Vec<ValueId> = operands.iter().map(|&v| part(self, v)).collect();
            let elem = self.m.types.elem(ty);
            let registers = own.first().map_or(1, |&v| self.emit().count(v));
            let ty = self.m.types.regs(elem, registers);
            let new = self.emit().like(data, &own, &[ty]);
            parts.push(self.m.result(new));
        }
        self.joined(parts)
    }

    /// The whole that was made in parts; what works on it element by element works on each of them.
    fn joined(&mut self, parts: Vec<ValueId>) -> ValueId {
        let whole = self.emit().concat(&parts);
        if parts.len() > 1 {
            self.values.set_parts_of(whole, parts);
        }
        whole
    }

    /// The grid's coordinates of what executes a tile block: a block, or a cluster of them.
    fn tile_block_id(&mut self, data: &Op) -> Result<(), Diagnostic> {
        self.grid(
            data,
            match self.kernel.blocks {
                1 => [R::CtaidX, R::CtaidY, R::CtaidZ],
                _ => [R::ClusteridX, R::ClusteridY, R::ClusteridZ],
            },
        )
    }

    /// How many there are of them.
    fn tile_blocks(&mut self, data: &Op) -> Result<(), Diagnostic> {
        self.grid(
            data,
            match self.kernel.blocks {
                1 => [R::NctaidX, R::NctaidY, R::NctaidZ],
                _ => [R::NclusteridX, R::NclusteridY, R::NclusteridZ],
            },
        )
    }

    fn grid(&mut self, data: &Op, registers: [R; 3]) -> Result<(), Diagnostic> {
        for (&result, register) in data.results.iter().zip(registers) {
            let value = self.emit().sreg(register);
            self.set(result, value);
        }
        Ok(())
    }

    /// A splat, or (with as many values as registers everywhere the same) an array of constants.
    fn constant(&mut self, op: OpId, v: &tile::Constant<Op>) -> Result<(), Diagnostic> {
        let result = v.result();
        let (
            Attr::Dense {
                data: Dense::Bytes(bytes),
                ..
            },
            Some(ty),
        ) = (v.value(), self.ty(self.m.ty(result)))
        else {
            return Err(unsupported(self.m, op, "a constant without numbers"));
        };
        let bits = self.m.types.width(ty);
        let element = bits.div_ceil(8) as usize;
        let bytes: Vec<u8> = if bits == 1 {
            bytes.iter().map(|&b| u8::from(b != 0)).collect()
        } else {
            bytes.clone()
        };
        let all_same = bytes
            .chunks(element)
            .all(|c| Some(c) == bytes.get(..element));
        if let Some(layout) = self.layout(result).filter(|_| !all_same) {
            let elem = self.m.types.elem(ty);
            let value = self.dense_constant(op, bytes, elem, &layout)?;
            self.set(result, value);
            return Ok(());
        }
        let bytes = bytes.get(..element).unwrap_or(&[]).to_vec();
        let value = self.emit().bytes(bytes, ty);
        self.set(result, value);
        Ok(())
    }
}

/// Facts of `func` at this stage.
fn facts_of(m: &mut Module, func: OpId) -> FactMap {
    facts::of(m, func)
}
