//! Loops that stream tiles into a product become pipelines.
//!
//! The pattern is the heart of every matrix product: a loop in which the only memory accesses are
//! tiled loads that feed products. [`Stream::find`] recognises it; [`tma`] builds the warp-specialised
//! TMA and WGMMA form, [`cp_async`] the multi-stage `cp.async` form. Both leave the protocol in
//! the IR as `nv_tileas.async.*` operations, which [`super::protocol`] verifies.

mod carried;
pub mod cp_async;
mod slice;
pub mod tma;

use smallvec::SmallVec;

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::egraph::facts::FactMap;
use crate::ir::{BlockId, Module, OpId, Type, TypeId, ValueId};
use crate::layout::shared::{SharedLayout, Swizzle};
use crate::layout::{LayoutError, Shape};
use crate::lower::access::{Access, operand};

/// A loop that streams two tiles per iteration into one accumulating product.
#[derive(Clone, Debug)]
pub struct Stream {
    pub for_op: OpId,
    pub body: BlockId,
    /// The product; its accumulator is carried around the loop and used by nothing else.
    pub mma: OpId,
    /// The loads of its left and right operand.
    pub loads: [OpId; 2],
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
        let loads = [
            feeding_load(m, body, operands[0])?,
            feeding_load(m, body, operands[1])?,
        ];
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
            carried,
        })
    }

    /// Bytes of one stage: both tiles.
    pub fn stage_bytes(&self, m: &Module) -> u64 {
        self.loads
            .iter()
            .map(|&l| tile_bytes(m, m.op(l).results[0]))
            .sum()
    }
}

/// Bytes of a tile.
pub fn tile_bytes(m: &Module, tile: ValueId) -> u64 {
    let Some((elem, shape)) = m.types.as_tile(m.ty(tile)) else {
        return 0;
    };
    shape.iter().product::<u64>() * u64::from(m.types.bits(elem).unwrap_or(8)) / 8
}

/// The weak tiled load in `body` whose tile only this operand uses.
fn feeding_load(m: &Module, body: BlockId, value: ValueId) -> Option<OpId> {
    let load = m.def_op(value)?;
    let data = m.op(load);
    let plain = S::of(data.kind) == Some(S::TiledLoad)
        && data.block == body
        && data.enum_named("order") == Some(0);
    let access = Access::of(data)?;
    let zero_fill = matches!(access.padding, Some(0));
    let token_unused = data.results.get(1).is_none_or(|&t| {
        !m.ops_under(body)
            .iter()
            .any(|&o| m.op(o).operands.contains(&t))
    });
    let uses: usize = m
        .block(body)
        .ops
        .iter()
        .map(|&o| m.op(o).operands.iter().filter(|&&v| v == value).count())
        .sum();
    // Elements of four bits have no address of their own.
    let whole_bytes = m
        .types
        .as_tile(m.ty(value))
        .and_then(|(elem, _)| m.types.bits(elem))
        .is_some_and(|bits| bits.is_multiple_of(8));
    (plain
        && whole_bytes
        && zero_fill
        && token_unused
        && access.sparse.is_none()
        && uses == 1
        && token_is_free(m, data))
    .then_some(load)
}

/// Whether the load waits for no write.
fn token_is_free(m: &Module, load: &crate::ir::Op) -> bool {
    let Some(token) = operand(load, "token") else {
        return true;
    };
    m.def_op(token)
        .is_some_and(|d| C::of(m.op(d).kind) == Some(C::MakeToken))
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
