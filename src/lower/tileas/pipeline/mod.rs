//! Loops that stream tiles become pipelines.
//!
//! Two mechanisms. [`roles`] takes any kernel whose matmuls read tiles that a tensor map describes: a producer
//! warp runs the part of the program that says what is loaded, the other warps the rest. [`Prefetch`] is any loop
//! with loads that feed matmuls; [`cp_async`] builds its multi-stage `cp.async` form. Both leave the protocol in
//! the IR as `nv_tileas.async.*` operations, which [`super::protocol`] verifies.
//!
//! Loops that feed no matmul are [`mod@stream`]s: the same mechanisms, where they pay.
//!
//! What `cp.async` starts iterations ahead must follow from the loop's counter alone ([`induction`] writes carried
//! counters that way). No load that is started ahead may wait for a write.

pub mod carried;
pub mod cp_async;
pub mod induction;
pub mod padding;
pub mod prefetch;
pub mod roles;
pub mod slice;
pub mod stream;
pub mod tma;
pub mod tokens;

use stream::Purpose;

pub use prefetch::{Prefetch, is_matmul, is_view, reach, shows};

use crate::dialect::cuda_tile::view as tile;
use crate::dialect::enums::Ordering;
use crate::dialect::nv_tileas::view;
use smallvec::SmallVec;

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{self, Access, group};
use crate::ir::{Attr, BlockId, Dense, Module, OpId, Type, TypeId, ValueId};
use crate::layout::shared::{SharedLayout, Swizzle};
use crate::layout::{LayoutError, Shape};
use crate::lower::hints::Hints;
use crate::lower::run::{Run, cuts_once};
use crate::target::Target;

/// Bytes of shared memory that are left for scratch at least.
pub const RESERVE: u64 = 16 * 1024;
/// The operands of a tiled access that say where it goes.
const ACCESS: [&str; 4] = ["base", "extents", "strides", "index"];
/// The operands of an access through pointers that do.
const POINTED: [&str; 2] = ["pointers", "mask"];

/// Bytes of shared memory that rings may take, wanted first: a block's share where several shall run on an
/// SM; else all that a block can have.
pub fn shared_room(m: &Module, func: OpId, target: &Target) -> [u64; 2] {
    let all = u64::from(target.shared_per_block());
    let hints = Hints::of(m, func, target);
    let blocks = u64::try_from(hints.occupancy.unwrap_or(1)).unwrap_or(1);
    // The system takes 1 KiB of each block's (CUDA C++ Programming Guide, "Shared Memory").
    let share = ((all + 1024) / blocks.max(1)).saturating_sub(1024);
    [share, all]
}

/// Bytes of what these loads load.
fn stage_bytes(m: &Module, loads: &[OpId]) -> u64 {
    let bytes = |&load: &OpId| tile_bytes(m, m.result(load));
    loads.iter().map(bytes).sum()
}

/// Bytes of a tile.
pub fn tile_bytes(m: &Module, tile: ValueId) -> u64 {
    let Some((elem, shape)) = m.types.as_tile(m.ty(tile)) else {
        return 0;
    };
    shape.iter().product::<u64>() * u64::from(m.types.bits(elem).unwrap_or(8)) / 8
}

/// Whether an operation in a loop's `body` is a load that can be started iterations ahead: its address follows
/// from the counter. What waits for it comes later all the more: see [`forget_token`].
fn starts_ahead(m: &Module, body: BlockId, load: OpId, purpose: Purpose) -> bool {
    S::of(m.op(load).kind) == Some(S::TiledLoad)
        && m.op(load).block == body
        && starts_anywhere(m, load, purpose)
        && follows_counter(m, body, load)
}

/// Whether a tiled load can be made earlier than it stands, as a copy to shared memory for `purpose`: it is weak and
/// waits for no write.
pub fn starts_anywhere(m: &Module, load: OpId, purpose: Purpose) -> bool {
    let data = m.op(load);
    let Some(access) = Access::of(data).filter(|_| access::ordering(data) == Ordering::Weak) else {
        return false;
    };
    // Elements of four bits have no address of their own.
    let whole_bytes = m
        .types
        .as_tile(m.ty(m.result(load)))
        .and_then(|(elem, _)| m.types.bits(elem))
        .is_some_and(|bits| bits.is_multiple_of(8));
    whole_bytes
        && padding::allows(m, load, purpose)
        && access.sparse.is_none()
        && access::token(data).is_none_or(|t| tokens::only_read(m, t))
}

/// Whether a load through pointers in a loop's `body` can be started iterations ahead, as copies of several
/// elements each that leave zeros where its mask is false.
fn gathers_ahead(
    m: &Module,
    facts: &FactMap,
    body: BlockId,
    load: OpId,
    purpose: Purpose,
) -> Result<(), &'static str> {
    let data = m.op(load);
    let Some(pointers) = access::pointers(data) else {
        return Err("it has no pointers");
    };
    let Some(run) = Run::of(m, facts, pointers).filter(|r| r.width * r.bytes >= 4) else {
        return Err("neighbours are not known to lie next to each other, four bytes at least");
    };
    let zero = |v: ValueId| m.def_op(v).is_some_and(|o| is_zero(m, o));
    let once = |v: ValueId| cuts_once(m, facts, v, run.dim, run.width);
    match () {
        () if S::of(data.kind) != Some(S::Load) || data.block != body => {
            Err("it is no load of the loop")
        }
        () if access::ordering(data) != Ordering::Weak => Err("it is ordered"),
        () if !access::token(data).is_none_or(|t| tokens::only_read(m, t)) => {
            Err("it waits for a write")
        }
        () if purpose == Purpose::Operands
            && !view::Load::of(data)
                .and_then(|v| v.padding())
                .is_none_or(zero) =>
        {
            Err("its padding is not zero")
        }
        () if !access::mask(data).is_none_or(once) => {
            Err("its mask may cut elements out of the middle of a copy")
        }
        () if !follows_counter(m, body, load) => Err("its pointers do not follow from the counter"),
        () => Ok(()),
    }
}

/// Whether a constant is zero everywhere.
fn is_zero(m: &Module, op: OpId) -> bool {
    matches!(
        tile::Constant::of(m.op(op)).map(|v| v.value()),
        Some(Attr::Dense { data: Dense::Bytes(bytes), .. }) if bytes.iter().all(|&b| b == 0)
    )
}

/// The values that say where a load loads from.
pub fn address_of(m: &Module, load: OpId) -> Vec<ValueId> {
    let names = ACCESS.iter().chain(&POINTED);
    names
        .flat_map(|name| group(m.op(load), name).to_vec())
        .collect()
}

/// Whether where a load loads from is computed from the counter and from outside the loop, by pure operations and
/// loads of single numbers, such as a page's.
fn follows_counter(m: &Module, body: BlockId, load: OpId) -> bool {
    let roots = address_of(m, load);
    let slice = slice::backward(m, body, roots.iter().copied());
    let pure = |&o: &OpId| {
        let plain = m.op(o).def().traits.has(Traits::PURE) && m.op(o).regions.is_empty();
        plain || loads_number(m, body, o)
    };
    let operands = slice.iter().flat_map(|&o| m.op(o).operands.to_vec());
    let carried = m.block(body).args.get(1..).unwrap_or(&[]);
    slice.iter().all(pure)
        && roots
            .iter()
            .copied()
            .chain(operands)
            .all(|v| !carried.contains(&v))
}

/// Whether an operation of a loop's `body` loads one number and waits for nothing in the loop.
fn loads_number(m: &Module, body: BlockId, op: OpId) -> bool {
    let data = m.op(op);
    let one = data.results.first().is_some_and(|&v| {
        let tile = m.types.as_tile(m.ty(v));
        tile.is_some_and(|t| t.1.iter().product::<u64>() == 1)
    });
    let before = |t: ValueId| {
        let inside = m.def_op(t).is_some_and(|d| m.op(d).block == body);
        !inside && tokens::only_read(m, t)
    };
    matches!(S::of(data.kind), Some(S::Load | S::TiledLoad))
        && one
        && access::ordering(data) == Ordering::Weak
        && Access::of(data).is_none_or(|a| a.sparse.is_none())
        && access::token(data).is_none_or(before)
}

/// What waited for a load now waits for what the load waited for, which are reads: whoever uses the tile has
/// waited for it.
pub fn forget_token(m: &mut Module, body: BlockId, load: OpId) {
    let data = m.op(load).clone();
    let Some(&result) = data.results.last() else {
        return;
    };
    if !matches!(m.types.get(m.ty(result)), Type::Token) {
        return;
    }
    let token = match access::token(&data) {
        Some(token) => token,
        None => {
            let ty = m.ty(result);
            m.at(body, 0).value(C::MakeToken, &[], [], ty)
        }
    };
    m.replace_all_uses(result, token);
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
    let data = m.op(op);
    match (Access::of(data), access::pointers(data)) {
        (Some(access), _) => access.order(facts),
        (None, Some(pointers)) => {
            let rank = m.types.as_tile(m.ty(pointers)).map_or(0, |t| t.1.len());
            let run = Run::of(m, facts, pointers);
            run.map_or_else(|| (0..rank).rev().collect(), |r| r.order(rank))
        }
        (None, None) => Vec::new(),
    }
}
