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
mod combine;
mod control;
mod conversion;
mod emit;
mod fma;
mod func;
mod globals;
mod memory;
mod nibbles;
mod packing;
mod parts;
mod pipeline;
mod pointer_copy;
mod pointer_runs;
mod pointers;
mod print;
mod reduce;
mod scan;
mod shape;
mod shared;
mod spill;
mod sync;
mod tcgen05;
mod tiled;
mod tiled_address;
mod tiled_copy;
mod wgmma;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nvvm;
use crate::dialect::{Dialect, Traits};
use crate::facts::{self, FactMap};
use crate::ir::{
    AssumePredicate, Attr, BlockId, Dense, Diagnostic, Diagnostics, Module, Op, OpId, Type, TypeId,
    ValueId,
};
use crate::launch;
use crate::layout::Layout;
use crate::lower::unsupported;
use crate::target::Target;
use emit::Emit;

/// What a launch needs to know beside the PTX, per kernel.
pub type Launches = Vec<launch::Entry>;

/// Lowers every `nv_tileas.func`; the module then holds `nvvm.func`s in their place.
pub fn run(m: &mut Module, target: &Target) -> Result<Launches, Diagnostics> {
    let mut launches = Launches::new();
    for op in m.block(m.body).ops.clone() {
        if C::of(m.op(op).kind) == Some(C::Global) {
            globals::lower(m, op)?;
        }
        if S::of(m.op(op).kind) == Some(S::Func) {
            launches.push(func::lower(m, op, target)?);
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
}

/// The lowering of one function.
pub struct Lower<'m> {
    pub m: &'m mut Module,
    pub target: Target,
    pub facts: FactMap,
    /// What each old value became; tokens become nothing.
    pub map: FxHashMap<ValueId, ValueId>,
    pub block: BlockId,
    pub role: Role,
    pub memory: shared::SharedMemory,
    pub pipelines: FxHashMap<ValueId, pipeline::Pipeline>,
    /// Tensor maps so far, with the parameters that hold them.
    pub maps: Vec<(launch::TensorMap, ValueId)>,
    /// The kernel's tensor memory, if it has any.
    pub tensor: Option<tcgen05::TensorMemory>,
    /// Whether one thread alone runs the role at hand.
    pub single: bool,
    /// The warpgroup of a thread of the role at hand.
    pub warpgroup: Option<ValueId>,
    /// The function as it was, and the entry block of what it becomes.
    pub func: OpId,
    pub entry_block: BlockId,
    /// The values of the function, as it was, that something uses.
    pub used: FxHashSet<ValueId>,
    /// Where the memory of each `alloca` lies.
    pub allocations: FxHashMap<OpId, u64>,
    pub loc: crate::ir::LocId,
}

impl Lower<'_> {
    pub fn emit(&mut self) -> Emit<'_> {
        Emit {
            m: self.m,
            block: self.block,
            loc: self.loc,
        }
    }

    /// What `value` became.
    pub fn get(&self, op: OpId, value: ValueId) -> Result<ValueId, Diagnostic> {
        self.map.get(&value).copied().ok_or_else(|| {
            unsupported(
                self.m,
                op,
                "an operand has no form in nvvm (a token or view used as a value?)",
            )
        })
    }

    pub fn set(&mut self, old: ValueId, new: ValueId) {
        self.map.insert(old, new);
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
        self.loc = data.loc;
        match data.kind.dialect {
            Dialect::CudaTile => self.cuda_tile(op, &data),
            Dialect::TileAs => self.tileas(op, &data),
            _ => Err(unsupported(
                self.m,
                op,
                "operation of another stage in nv_tileas",
            )),
        }
    }

    fn cuda_tile(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let Some(kind) = C::of(data.kind) else {
            return Ok(());
        };
        match kind {
            C::MakeToken | C::JoinTokens => Ok(()),
            C::Assume => self.assume(op, data),
            C::Constant => self.constant(op, data),
            C::Iota => self.iota(op, data),
            C::Reshape | C::Broadcast | C::Permute => self.renamed(op, data),
            C::Reduce => self.reduce(op, data),
            C::Scan => self.scan(op, data),
            C::Alloca => self.alloca(op, data),
            C::Extract => self.extract(op, data),
            C::Insert => self.insert(op, data),
            C::Cat => self.cat(op, data),
            C::Pack => self.pack(op, data),
            C::Unpack => self.unpack(op, data),
            C::GetGlobal => self.get_global(op, data),
            C::Assert => self.assert(op, data),
            C::Print => self.print(op, data),
            C::GdcLaunchDependents => self.grid_dependency(nvvm::Op::GridDepLaunch),
            C::GdcWait => self.grid_dependency(nvvm::Op::GridDepWait),
            C::MemoryFenceAlias => self.alias_fence(),
            C::GetTileBlockId => self.grid(data, ["ctaid.x", "ctaid.y", "ctaid.z"]),
            C::GetNumTileBlocks => self.grid(data, ["nctaid.x", "nctaid.y", "nctaid.z"]),
            C::For => self.for_loop(op, data),
            C::If => self.if_else(op, data),
            C::Loop => self.endless_loop(op, data),
            C::Yield | C::Continue | C::Break => self.jump(op, data, kind),
            C::Offset => self.offset(op, data),
            C::PtrToInt | C::IntToPtr | C::PtrToPtr | C::Bitcast => self.reinterpret(op, data),
            _ if data.def().traits.has(Traits::ELEMENTWISE) => self.elementwise(op, data),
            _ => Err(unsupported(self.m, op, "not yet compiled to PTX")),
        }
    }

    fn tileas(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        match S::of(data.kind) {
            Some(S::TiledLoad) => self.tiled_load(op, data),
            Some(S::TiledStore) => self.tiled_store(op, data),
            Some(S::TiledAtomic) => self.tiled_atomic(op, data),
            Some(S::Load) => self.pointer_load(op, data),
            Some(S::Store) => self.pointer_store(op, data),
            Some(S::AtomicRmw) => self.atomic_rmw(op, data),
            Some(S::AtomicCas) => self.atomic_cas(op, data),
            Some(S::ConvertLayout) => self.convert_layout(op, data),
            Some(S::Dot) => self.dot(op, data),
            Some(S::AllocTensor) => self.alloc_tensor(op, data),
            Some(S::SharedView) => self.shared_view(op, data),
            Some(S::LocalStore) => self.local_store(op, data),
            Some(S::LocalLoad) => self.local_load(op, data),
            Some(S::PipelineCreate) => self.pipeline_create(data),
            Some(S::ProducerAcquire) => self.producer_acquire(op, data),
            Some(S::ProducerCommit) => self.producer_commit(op, data),
            Some(S::Drain) => self.drain(op, data),
            Some(S::TiledCopy | S::PointerCopy) => self.tile_copy(op, data),
            Some(S::ConsumerWait) => self.consumer_wait(op, data),
            Some(S::ConsumerRelease) => self.consumer_release(op, data),
            Some(S::TmaLoad) => self.tma_load(op, data),
            Some(S::TmaStore) => self.tma_store(op, data),
            Some(S::StoreWait) => self.store_wait(data),
            Some(S::ProxyFence) => {
                self.proxy_fence();
                Ok(())
            }
            Some(S::AsyncDot) => self.async_dot(op, data),
            Some(S::AsyncDotWait) => self.async_dot_wait(op, data),
            Some(S::AllocTensorMemory) => Ok(()),
            Some(S::TensorLoad) => self.tensor_load(op, data),
            Some(S::TensorStore) => self.tensor_store(op, data),
            Some(S::TensorDot) => self.tensor_dot(op, data),
            Some(S::WarpSpecialize) => self.warp_specialize(op, data),
            Some(S::RoleEnd) => self.free_tensor_memory(),
            Some(S::Return) => {
                self.free_tensor_memory()?;
                self.emit()
                    .op(crate::dialect::nvvm::Op::Return, &[&[]], [], &[]);
                Ok(())
            }
            _ => Err(unsupported(self.m, op, "not yet compiled to PTX")),
        }
    }

    /// The same operation on register arrays.
    /// Kept where it says something about each element by itself: a rule drops it once its facts are
    /// known. They then hold for the value everywhere, so it must not depend on a condition.
    fn assume(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let of_each = matches!(
            data.attr(0),
            Some(Attr::Assume(
                AssumePredicate::Bounded { .. }
                    | AssumePredicate::DivBy {
                        every: None,
                        along: None,
                        ..
                    }
            ))
        );
        let always = self
            .m
            .parent_op(op)
            .is_some_and(|parent| self.m.op(parent).def().traits.has(Traits::ISOLATED));
        if of_each && always && self.ty(self.m.ty(data.results[0])).is_some() {
            return self.elementwise(op, data);
        }
        let value = self.get(op, data.operands[0])?;
        self.set(data.results[0], value);
        Ok(())
    }

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
        let new = self.emit().like(data, &operands, &[ty]);
        let result = self.m.op(new).results[0];
        self.set(data.results[0], result);
        Ok(())
    }

    fn grid(&mut self, data: &Op, names: [&str; 3]) -> Result<(), Diagnostic> {
        for (&result, name) in data.results.iter().zip(names) {
            let value = self.emit().sreg(name);
            self.set(result, value);
        }
        Ok(())
    }

    /// A splat, or (with as many values as registers everywhere the same) an array of constants.
    fn constant(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let result = data.results[0];
        let (
            Some(Attr::Dense {
                data: Dense::Bytes(bytes),
                ..
            }),
            Some(ty),
        ) = (
            data.attr_named("value").cloned(),
            self.ty(self.m.ty(result)),
        )
        else {
            return Err(unsupported(self.m, op, "a constant without numbers"));
        };
        let bits = self.m.types.bits(ty).unwrap_or(8);
        let element = bits.div_ceil(8) as usize;
        let bytes: Vec<u8> = if bits == 1 {
            bytes.iter().map(|&b| u8::from(b != 0)).collect()
        } else {
            bytes
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
