//! Loops that stream tiles into a product become pipelines.
//!
//! Two patterns. [`Stream`] is the heart of every matrix product: a loop in which two tiled loads feed
//! one accumulating product and nothing else touches memory; [`tma`] builds its warp-specialised TMA
//! and WGMMA form. [`Prefetch`] is any loop with loads that feed products, such as attention's; [`cp_async`]
//! builds its multi-stage `cp.async` form. Both leave the protocol in the IR as `nv_tileas.async.*`
//! operations, which [`super::protocol`] verifies.
//!
//! Loads are started turns ahead, so where they load from must follow from the loop's counter alone
//! ([`induction`] writes carried counters that way), and they must not wait for a write.

mod carried;
pub mod cp_async;
pub mod induction;
pub mod prefetch;
mod slice;
pub mod tma;

pub use prefetch::{Prefetch, is_product, reach};

use smallvec::SmallVec;

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::egraph::facts::FactMap;
use crate::ir::{BlockId, Module, OpId, Type, TypeId, ValueId};
use crate::layout::shared::{SharedLayout, Swizzle};
use crate::layout::{LayoutError, Shape};
use crate::lower::access::{Access, group, operand};
use crate::lower::nvvm::Hints;
use crate::target::Target;

/// Bytes of shared memory that are left for scratch at least.
pub const RESERVE: u64 = 16 * 1024;
/// The operands of a tiled access that say where it goes.
const ACCESS: [&str; 4] = ["base", "extents", "strides", "index"];

/// A loop that streams two tiles per iteration into one accumulating product.
#[derive(Clone, Debug)]
pub struct Stream {
    pub for_op: OpId,
    pub body: BlockId,
    /// The product; its accumulator is carried around the loop and used by nothing else.
    pub mma: OpId,
    /// The loads of its left and right operand.
    pub loads: [OpId; 2],
    /// Reshapes between them and the product that drop dimensions of one element.
    pub views: Vec<OpId>,
    /// Which carried value the accumulator is.
    pub carried: usize,
}

impl Stream {
    /// The stream in `for_op`, if that is what it is.
    pub fn find(m: &Module, for_op: OpId) -> Option<Stream> {
        let data = m.op(for_op);
        if C::of(data.kind) != Some(C::For) || data.has_unit("unsignedCmp") {
            return None;
        }
        let body = m.body_of(for_op, 0)?;
        let ops = &m.block(body).ops;
        let products: Vec<OpId> = ops
            .iter()
            .copied()
            .filter(|&o| S::of(m.op(o).kind) == Some(S::Dot))
            .collect();
        let &[mma] = products.as_slice() else {
            return None;
        };
        let operands = &m.op(mma).operands;
        let mut views = Vec::new();
        let mut loads = [OpId::default(); 2];
        for (load, &value) in loads.iter_mut().zip(operands) {
            let view = unit_view(m, body, value);
            let tile = view.map_or(value, |v| m.op(v).operands[0]);
            *load = feeding_load(m, body, tile)?;
            views.extend(view);
        }
        let others = ops.iter().filter(|&&o| o != mma && !loads.contains(&o));
        if others
            .clone()
            .any(|&o| !m.op(o).regions.is_empty() || m.op(o).def().traits.has(Traits::MEMORY))
        {
            return None;
        }
        let acc = operands[2];
        let carried = m.block(body).args.iter().skip(1).position(|&a| a == acc)?;
        let result = m.op(mma).results[0];
        let end = m.terminator(body)?;
        let returns = m.op(end).operands.get(carried) == Some(&result);
        let uses = |v: ValueId| {
            ops.iter()
                .map(|&o| m.op(o).operands.iter().filter(|&&x| x == v).count())
                .sum::<usize>()
        };
        (returns && uses(result) == 1 && uses(acc) == 1).then_some(Stream {
            for_op,
            body,
            mma,
            loads,
            views,
            carried,
        })
    }

    /// Bytes of one stage: both tiles.
    pub fn stage_bytes(&self, m: &Module) -> u64 {
        stage_bytes(m, &self.loads)
    }
}

/// Bytes of shared memory that rings may take, wanted first: a block's share where several shall run on an
/// SM; else all that a block can have.
pub fn shared_room(m: &Module, func: OpId, target: &Target) -> [u64; 2] {
    let all = u64::from(target.shared_per_block());
    let hints = Hints::of(m, m.op(func).attr_named("hints"), target);
    let blocks = u64::try_from(hints.occupancy.unwrap_or(1)).unwrap_or(1);
    // The system takes 1 KiB of each block's (CUDA C++ Programming Guide, "Shared Memory").
    let share = ((all + 1024) / blocks.max(1)).saturating_sub(1024);
    [share, all]
}

/// Bytes of what these loads load.
fn stage_bytes(m: &Module, loads: &[OpId]) -> u64 {
    let bytes = |&load: &OpId| tile_bytes(m, m.op(load).results[0]);
    loads.iter().map(bytes).sum()
}

/// Bytes of a tile.
pub fn tile_bytes(m: &Module, tile: ValueId) -> u64 {
    let Some((elem, shape)) = m.types.as_tile(m.ty(tile)) else {
        return 0;
    };
    shape.iter().product::<u64>() * u64::from(m.types.bits(elem).unwrap_or(8)) / 8
}

/// The tiled load in `body` whose tile only this operand uses, if it can be started ahead.
fn feeding_load(m: &Module, body: BlockId, value: ValueId) -> Option<OpId> {
    let load = m.def_op(value)?;
    (used_once(m, body, value) && starts_ahead(m, body, load)).then_some(load)
}

fn used_once(m: &Module, body: BlockId, value: ValueId) -> bool {
    let uses = |&o: &OpId| m.op(o).operands.iter().filter(|&&v| v == value).count();
    m.block(body).ops.iter().map(uses).sum::<usize>() == 1
}

/// The reshape in `body` that makes this tile for one use and only drops dimensions of one element.
fn unit_view(m: &Module, body: BlockId, value: ValueId) -> Option<OpId> {
    let op = m.def_op(value)?;
    let data = m.op(op);
    let long = |v: ValueId| {
        let (_, shape) = m.types.as_tile(m.ty(v))?;
        Some(
            shape
                .iter()
                .copied()
                .filter(|&n| n > 1)
                .collect::<Vec<u64>>(),
        )
    };
    let drops = C::of(data.kind) == Some(C::Reshape) && long(value) == long(data.operands[0]);
    (drops && data.block == body && used_once(m, body, value)).then_some(op)
}

/// Whether an operation in a loop's `body` is a load that can be started turns ahead: it is weak, waits for
/// no write, and where it loads from follows from the counter. What waits for it comes later all the more:
/// see [`forget_token`].
fn starts_ahead(m: &Module, body: BlockId, load: OpId) -> bool {
    let data = m.op(load);
    if S::of(data.kind) != Some(S::TiledLoad)
        || data.block != body
        || data.enum_named("order") != Some(0)
    {
        return false;
    }
    let Some(access) = Access::of(data) else {
        return false;
    };
    // Elements of four bits have no address of their own.
    let whole_bytes = m
        .types
        .as_tile(m.ty(data.results[0]))
        .and_then(|(elem, _)| m.types.bits(elem))
        .is_some_and(|bits| bits.is_multiple_of(8));
    whole_bytes
        // Where nothing is promised about what is outside, zeros are as good.
        && access.padding.is_none_or(|case| case == 0)
        && access.sparse.is_none()
        && token_is_free(m, data)
        && follows_counter(m, body, load)
}

/// Whether where a load loads from is computed by pure operations from the counter and from outside
/// the loop.
fn follows_counter(m: &Module, body: BlockId, load: OpId) -> bool {
    let roots: Vec<ValueId> = (ACCESS.iter())
        .flat_map(|name| group(m.op(load), name).to_vec())
        .collect();
    let slice = slice::backward(m, body, roots.iter().copied());
    let pure = |&o: &OpId| m.op(o).def().traits.has(Traits::PURE) && m.op(o).regions.is_empty();
    let operands = slice.iter().flat_map(|&o| m.op(o).operands.to_vec());
    let carried = m.block(body).args.get(1..).unwrap_or(&[]);
    slice.iter().all(pure)
        && roots
            .iter()
            .copied()
            .chain(operands)
            .all(|v| !carried.contains(&v))
}

/// Whether the load waits for no write; without a token, that nothing waits for it either.
fn token_is_free(m: &Module, load: &crate::ir::Op) -> bool {
    match operand(load, "token") {
        Some(token) => {
            let def = m.def_op(token);
            def.is_some_and(|d| C::of(m.op(d).kind) == Some(C::MakeToken))
        }
        None => load.results.get(1).is_none_or(|&t| {
            let mut used = false;
            m.walk(m.body, &mut |op| used |= m.op(op).operands.contains(&t));
            !used
        }),
    }
}

/// What waited for a load now waits for what the load waited for, which is nothing: the loop waits for all
/// its loads before it ends, and each turn before it uses them.
fn forget_token(m: &mut Module, load: OpId) {
    let data = m.op(load);
    if let (Some(&result), Some(token)) = (data.results.get(1), operand(data, "token")) {
        m.replace_all_uses(result, token);
    }
}

/// The widest swizzled layout of a tile whose dimensions lie in memory in `order`.
pub fn swizzled(
    m: &Module,
    tile: ValueId,
    order: &[usize],
) -> Result<(SharedLayout, Swizzle), LayoutError> {
    let (elem, extents) = m.types.as_tile(m.ty(tile)).unwrap_or((m.ty(tile), &[]));
    let shape = Shape::new(extents)?;
    let bits = m.types.bits(elem).unwrap_or(8);
    let inner = order
        .first()
        .and_then(|&d| extents.get(d))
        .copied()
        .unwrap_or(1);
    let swizzle = Swizzle::widest(inner * u64::from(bits) / 8);
    Ok((SharedLayout::strips(&shape, order, bits, swizzle)?, swizzle))
}

/// The type of a shared buffer of `stages` tiles.
pub fn shared_type(m: &mut Module, tile: ValueId, layout: &SharedLayout, stages: u32) -> TypeId {
    let (elem, shape) = match m.types.as_tile(m.ty(tile)) {
        Some((elem, shape)) => (elem, SmallVec::from_slice(shape)),
        None => (m.ty(tile), SmallVec::new()),
    };
    let layout = m.layouts.intern(layout.layout().clone());
    m.types.intern(Type::SharedTile {
        elem,
        shape,
        layout,
        stages,
    })
}

/// The order of a load's tile dimensions in memory.
pub fn memory_order(m: &Module, facts: &FactMap, op: OpId) -> Vec<usize> {
    Access::of(m.op(op)).map_or_else(Vec::new, |a| a.order(facts))
}
