//! Operations that know which layout they want: accesses to memory and matmuls.

use super::buffers::{layout_in, memory_order};
use super::coalesced::{blocked, pointers, stored, through, usual};
use super::flow::carried;
use super::fragments::{is_fma, mma_of, scales_of, wgmma_of};
use super::made::{self, Made};
use super::relation::{
    Relation, at, canonical, default_layout, is_distributed, layout_of, shape_of,
};
use super::shown;
use super::turn;
use super::variables::{Assign, Priority};
use super::warps_own;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view::{self, View};
use crate::facts::FactMap;
use crate::facts::access::tile_of;
use crate::facts::matmul::Matmul;
use crate::facts::tensor::{parts, tensor_matrix};
use crate::ir::{Def, Diagnostic, Module, OpId, Type, ValueId};
use crate::layout::blocked::{Blocked, squares};
use crate::layout::tensor::Share;
use crate::layout::{In, Layout, LayoutError};
use crate::lower::run::{MAX_ACCESS, Run};
use crate::lower::tileas::look::{are_few, elements, is_view, last_users};
use crate::lower::unsupported;

/// Most operations that a thread repeats of another's rather than both reading the result from shared memory, which takes
/// storing it there, two barriers and reading it.
const MOST_REPEATED: u64 = 32;
/// The same for the left operand of `wgmma`, whose warps have more to wait for at a barrier.
const MOST_REPEATED_BY_GROUPS: u64 = 128;

/// Fewest bits of a thread's access that writes bytes beside its neighbours'.
const WORD: u64 = 32;

/// (operand position, layout number) that an operation insists on.
pub type Needs = Vec<(usize, u32)>;

/// Lets `op` propose layouts for its tiles.
pub fn propose(a: &mut Assign<'_>, op: OpId) -> Result<(), Diagnostic> {
    match S::of(a.m.op(op).kind) {
        Some(S::TiledLoad | S::MultimemLoad) => memory(a, op, Priority::Load),
        Some(S::LocalLoad) => streamed(a, op),
        Some(S::LocalStore) => match turn::layout(a.m, op, a.warps) {
            Some((tile, layout)) => {
                let layout = at(a.m, op, layout)?;
                a.propose(tile, Priority::Store, &layout);
                Ok(())
            }
            None => {
                let usual = |load| {
                    let rows = || default_layout(a.m, a.m.result(load), a.warps);
                    streamed_layout(a.m, load, a.warps)
                        .unwrap_or_else(rows)
                        .ok()
                };
                match turn::between(a.m, op, a.warps, &usual) {
                    Some((tile, layout)) => propose_source(a, op, tile, layout, Priority::Store),
                    None => Ok(()),
                }
            }
        },
        Some(S::TiledStore | S::TiledAtomic | S::MultimemReduce | S::MultimemStore) => {
            memory(a, op, Priority::Store)
        }
        Some(S::Load) => pointed(a, op, Priority::Load),
        Some(S::PointerCopy) => pointed(a, op, Priority::Copy),
        Some(S::Store) => pointed(a, op, Priority::Store),
        Some(S::AtomicRmw) => reduced(a, op),
        Some(S::Dot | S::ScaledDot) => dot(a, op),
        Some(S::AsyncDot) => async_dot(a, op),
        _ => match tensor_move(a.m, op) {
            Some((tile, buffer)) => tensor(a, op, buffer, tile),
            None => Ok(()),
        },
    }
}

/// Whether an operation proposes how its tile is stored.
pub fn stores(m: &Module, op: OpId) -> bool {
    matches!(
        S::of(m.op(op).kind),
        Some(
            S::LocalStore
                | S::Store
                | S::TiledStore
                | S::TiledAtomic
                | S::MultimemReduce
                | S::MultimemStore
        )
    )
}

/// The tile and the buffer of a move between registers and tensor memory.
fn tensor_move(m: &Module, op: OpId) -> Option<(ValueId, ValueId)> {
    match View::of(m.op(op))? {
        View::TensorLoad(v) => Some((v.result(), v.source())),
        View::TensorStore(v) => Some((v.tile(), v.destination())),
        _ => None,
    }
}

/// An access through pointers cares for its layout where elements lie next to each other. Where only one element can be
/// moved at a time, neighbouring threads have neighbours, so that a warp's access is to few sectors of the cache; but only in
/// runs so long that a warp with vectors would not go beyond one. A store insists, since each of its accesses writes; what
/// a load has brought into the cache is still there for the thread's next element.
fn pointed(a: &mut Assign<'_>, op: OpId, priority: Priority) -> Result<(), Diagnostic> {
    let Some(pointers) = pointers(a.m, op) else {
        return Ok(());
    };
    let run = Run::of(a.m, a.facts, pointers);
    if run.is_none_or(|r| r.width == 1)
        && let Some(layout) = turned(a, op, pointers)
    {
        let layout = at(a.m, op, layout)?;
        a.propose(pointers, Priority::Narrow, &layout);
        return Ok(());
    }
    let is_long = |r: &Run| r.length * r.bytes >= 32 * MAX_ACCESS;
    let Some(run) = run.filter(|r| r.width > 1 || is_long(r)) else {
        return Ok(());
    };
    // Where a thread has one element of what is loaded and of what is computed of it, no layout makes accesses wide.
    if S::of(a.m.op(op).kind) == Some(S::Load)
        && are_few(a.m, a.m.result(op), a.warps << In::LANE_BITS)
    {
        return Ok(());
    }
    let priority = match run.width > 1 || priority == Priority::Store {
        true => priority,
        false => Priority::Narrow,
    };
    let shape = at(a.m, op, shape_of(a.m, pointers))?;
    let blocked = through(&run, shape, a.warps);
    let value = view::Store::of(a.m.op(op)).map(|v| v.value());
    let layout = match value.and_then(|value| as_loaded(a, value, &blocked)) {
        Some(layout) => layout,
        None => at(a.m, op, blocked.layout())?,
    };
    a.propose(pointers, priority, &layout);
    Ok(())
}

/// The layout of copies of single elements to a buffer in which the other dimension is contiguous than in memory.
fn turned(a: &Assign<'_>, op: OpId, pointers: ValueId) -> Option<Result<Layout, LayoutError>> {
    let copy = view::PointerCopy::of(a.m.op(op))?;
    let kept = layout_in(a.m, copy.destination())?;
    let order = memory_order(a.m, a.facts, op);
    let shape = shape_of(a.m, pointers).ok()?;
    let &[_, other] = &order[..] else {
        return None;
    };
    let first = kept.layout().bases(In::Offset).first().copied();
    (first == Some(shape.along(other, 1))).then(|| {
        let element_bits = kept.element_bits();
        let turned = Blocked {
            shape,
            order,
            max_vector: 8 * MAX_ACCESS / u64::from(element_bits),
            element_bits,
            warps: a.warps,
        };
        turned.layout_of_turned()
    })
}

/// Atomic operations on what a reduction along another dimension has left: threads that the tile was reduced in have each of its
/// elements several times, and would combine the warps' parts of all of theirs. Each has its own here.
fn reduced(a: &mut Assign<'_>, op: OpId) -> Result<(), Diagnostic> {
    let Some(value) = view::AtomicRmw::of(a.m.op(op)).map(|v| v.value()) else {
        return Ok(());
    };
    if elements(a.m, value) > 1 && is_reduced(a.m, value) {
        let layout = at(a.m, op, default_layout(a.m, value, a.warps))?;
        a.propose(value, Priority::Store, &layout);
    }
    Ok(())
}

/// Whether a tile is what a reduction has left, after operations on its elements.
fn is_reduced(m: &Module, mut tile: ValueId) -> bool {
    while let Some(op) = m.def_op(tile) {
        let data = m.op(op);
        if C::of(data.kind) == Some(C::Reduce) {
            return true;
        }
        let &[source] = &data.operands[..] else {
            return false;
        };
        if !is_view(m, op) && !data.def().traits.has(Traits::ELEMENTWISE) {
            return false;
        }
        tile = source;
    }
    false
}

fn memory(a: &mut Assign<'_>, op: OpId, priority: Priority) -> Result<(), Diagnostic> {
    let Some(tile) = tile_of(a.m, op).filter(|&t| is_distributed(a.m, t)) else {
        return Ok(());
    };
    let (blocked, least) = at(a.m, op, blocked(a.m, a.facts, op, tile, a.warps))?;
    // Nothing is gained for what is loaded element by element, and nobody else needs to have it.
    let alone = blocked
        .order
        .first()
        .is_some_and(|&d| blocked.shape.extent(d) == 1);
    if priority == Priority::Load && alone && is_repeated(a.m, tile) {
        return Ok(());
    }
    let usual = at(a.m, op, usual(a.m, op, blocked.clone(), least))?;
    let layout = match priority {
        Priority::Store => {
            as_loaded(a, tile, &blocked).or_else(|| shown::layout(a, tile, &blocked, &usual))
        }
        _ => warps_own::layout(a.m, tile, &blocked.order, &usual, a.warps),
    };
    a.propose(tile, priority, &layout.unwrap_or(usual));
    Ok(())
}

/// The layout of a tile that is stored as `store` says, if it is made of narrower elements that are loaded twice as many
/// at once: two stores side by side then stand for two loads of half the width. Or of much wider ones, as truth values that
/// say what was kept of them are: in runs as long as the store's, neighbouring threads' loads would lie far apart.
fn as_loaded(a: &mut Assign<'_>, tile: ValueId, store: &Blocked) -> Option<Layout> {
    let (priority, known) = a.proposed(tile)?;
    let known = a.m.layouts.get(known).clone();
    let run = known.contiguous_per_thread(&store.order).ok()?;
    let usual = store.layout().ok()?.contiguous_per_thread(&store.order);
    let bytes = store.element_bits == 8 && 8 * run >= WORD;
    // What loads of several widths have agreed on are the longest runs.
    let longest = if priority == Priority::Agreed {
        run
    } else {
        2 * run
    };
    if priority <= Priority::Agreed && bytes && usual.ok()? > longest {
        return Some(known);
    }
    let loads = Blocked {
        max_vector: 2 * store.max_vector,
        element_bits: store.element_bits / 2,
        ..store.clone()
    };
    let layout = canonical(&loads.layout().ok()?);
    (known == layout).then_some(layout)
}

/// What is read from shared memory where it lies as in global memory is for threads, not for matmuls: neighbours read
/// 16 bytes each, next to each other. So do those that compute what a matmul reads of swizzled columns of bytes.
fn streamed(a: &mut Assign<'_>, op: OpId) -> Result<(), Diagnostic> {
    let Some(layout) = streamed_layout(a.m, op, a.warps) else {
        return Ok(());
    };
    let layout = at(a.m, op, layout)?;
    let tile = a.m.result(op);
    if is_repeated(a.m, tile) {
        return Ok(());
    }
    a.propose(tile, Priority::Load, &layout);
    Ok(())
}

/// Whether all that is made of a tile are larger ones with its elements repeated: these have a layout, which says who needs
/// which element.
fn is_repeated(m: &Module, tile: ValueId) -> bool {
    let repeats = |(value, user): (ValueId, Option<OpId>)| {
        user.is_some_and(|op| {
            C::of(m.op(op).kind) == Some(C::Broadcast)
                && elements(m, m.result(op)) > elements(m, value)
        })
    };
    last_users(m, tile).into_iter().all(repeats)
}

fn streamed_layout(m: &Module, op: OpId, warps: u64) -> Option<Result<Layout, LayoutError>> {
    let source = view::LocalLoad::of(m.op(op))?.source();
    let tile = m.result(op);
    let Type::SharedTile { layout, .. } = *m.types.get(m.ty(source)) else {
        return None;
    };
    let memory = m.layouts.get(layout);
    let order = memory.row_order();
    let element_bits = m.types.width(m.ty(tile)).max(8);
    // What is swizzled is mostly read as fragments, and else in rows: but not if that were byte by byte.
    let in_rows = element_bits > 8 || order.is_sorted_by(|a, b| a > b);
    if memory.is_swizzled() && in_rows {
        return None;
    }
    let layout = |shape| {
        Blocked {
            shape,
            order,
            max_vector: u64::from(128 / element_bits).max(1),
            element_bits,
            warps,
        }
        .layout()
    };
    Some(shape_of(m, tile).and_then(layout))
}

/// The layouts that a warp's matmul reads its sources in, in the order of [`Matmul::sources`].
fn fragments(m: &Module, op: OpId, warps: u64) -> Result<Vec<Layout>, Diagnostic> {
    let Some(mma) = mma_of(m, op, warps) else {
        return Err(unsupported(m, op, "no mma.sync tiling for this matmul"));
    };
    let mut all = vec![mma.a(), mma.b()];
    if let Some(scales) = scales_of(m, op, warps) {
        all.extend([scales.a(), scales.b()]);
    }
    all.into_iter().map(|layout| at(m, op, layout)).collect()
}

fn dot(a: &mut Assign<'_>, op: OpId) -> Result<(), Diagnostic> {
    if is_fma(a.m, op) {
        // Multiply-adds take their operands in any layout.
        let result = a.m.result(op);
        if let Some(Matmul { acc, .. }) = Matmul::of(a.m.op(op)) {
            a.tie(acc, result);
        }
        let squares = shape_of(a.m, result).and_then(|shape| squares(&shape, a.warps));
        let squares = at(a.m, op, squares)?;
        a.propose(result, Priority::Matmul, &squares);
        return Ok(());
    }
    let Some(mma) = mma_of(a.m, op, a.warps) else {
        return Err(unsupported(a.m, op, "no mma.sync tiling for this matmul"));
    };
    let Some(matmul) = Matmul::of(a.m.op(op)) else {
        return Ok(());
    };
    let c = at(a.m, op, mma.c())?;
    let result = a.m.result(op);
    a.tie(matmul.acc, result);
    a.propose(result, Priority::Matmul, &c);
    let fragments = fragments(a.m, op, a.warps)?;
    for (i, (operand, layout)) in matmul.sources().zip(fragments).enumerate() {
        // Scales are few: each warp reads its own where they lie.
        let source = origin(a.m, operand).and_then(|o| S::of(a.m.op(o).kind));
        if source == Some(S::LocalLoad) || i > 1 && source == Some(S::TiledLoad) {
            propose_source(a, op, operand, layout, Priority::Matmul)?;
        }
    }
    Ok(())
}

/// Lets a matmul propose how what its operands are computed of is read from shared memory. What other proposals have
/// reached already stays as it is: results of matmuls are where their instructions leave them.
pub fn propose_computed(a: &mut Assign<'_>, op: OpId) -> Result<(), Diagnostic> {
    let mut wanted = Vec::new();
    let mut most = MOST_REPEATED;
    match S::of(a.m.op(op).kind) {
        Some(S::Dot | S::ScaledDot) if !is_fma(a.m, op) => {
            let Some(matmul) = Matmul::of(a.m.op(op)) else {
                return Ok(());
            };
            let fragments = fragments(a.m, op, a.warps)?;
            wanted.extend(matmul.sources().zip(fragments).take(2));
        }
        Some(S::AsyncDot) => {
            let fragment = left_fragment(a.m, op)?;
            wanted.extend(Matmul::of(a.m.op(op)).map(|d| d.lhs).zip(fragment));
            most = MOST_REPEATED_BY_GROUPS;
        }
        _ => {}
    }
    for (operand, layout) in wanted {
        let free = a.proposed(operand).is_none_or(|p| p.0 < Priority::Matmul);
        let Some(made) = Made::of(a.m, operand).filter(|made| free && made.computed) else {
            continue;
        };
        // Threads that repeat what others hold should not compute it for other users, too, nor much of it.
        let usual = at(a.m, op, default_layout(a.m, operand, a.warps))?;
        let repeated = layout.registers().saturating_sub(usual.registers());
        let work = made.operations(a.m) as u64 * repeated;
        if repeated == 0 || work <= most && made.is_for(a.m, op) {
            propose_source(a, op, operand, layout, Priority::Matmul)?;
        }
    }
    Ok(())
}

/// What makes the tile that `tile` shows.
fn origin(m: &Module, mut tile: ValueId) -> Option<OpId> {
    loop {
        let op = m.def_op(tile)?;
        if !is_view(m, op) {
            return Some(op);
        }
        tile = m.source(op);
    }
}

/// Whether a tile is read from a shared buffer, perhaps with its shape changed: it can be read in any layout.
fn from_shared(m: &Module, tile: ValueId) -> bool {
    origin(m, tile).is_some_and(|op| S::of(m.op(op).kind) == Some(S::LocalLoad))
}

/// Proposes a layout for a tile, and what follows from it for those that it shows or is computed of.
fn propose_source(
    a: &mut Assign<'_>,
    op: OpId,
    tile: ValueId,
    layout: Layout,
    priority: Priority,
) -> Result<(), Diagnostic> {
    let mut left = vec![(tile, layout)];
    let mut seen = Vec::new();
    while let Some((tile, layout)) = left.pop() {
        if seen.contains(&tile) {
            continue;
        }
        seen.push(tile);
        a.propose(tile, priority, &layout);
        let Some(def) = a.m.def_op(tile) else {
            continue;
        };
        if made::computes(a.m, def) {
            let operands = a.m.op(def).operands.clone();
            let tiles = operands.into_iter().filter(|&o| is_distributed(a.m, o));
            left.extend(tiles.map(|o| (o, layout.clone())));
        } else if is_view(a.m, def)
            && let Some(relation) = Relation::of(a.m, def)
        {
            let source = a.m.source(def);
            let layout = at(a.m, op, relation.source_of(a.m, source, &layout))?;
            left.extend(layout.map(|l| (source, l)));
        }
    }
    Ok(())
}

fn async_dot(a: &mut Assign<'_>, op: OpId) -> Result<(), Diagnostic> {
    let layout = accumulator(a.m, op)?;
    let Some(Matmul { lhs, acc, .. }) = Matmul::of(a.m.op(op)) else {
        return Ok(());
    };
    let result = a.m.result(op);
    a.tie(acc, result);
    a.propose(result, Priority::Warpgroups, &layout);
    if let Some(fragment) = left_fragment(a.m, op)?.filter(|_| from_shared(a.m, lhs)) {
        a.propose(lhs, Priority::Matmul, &fragment);
    }
    Ok(())
}

/// How the kernel's warpgroups hold what is in a buffer in tensor memory, or a part of it.
fn in_tensor(
    m: &Module,
    op: OpId,
    [buffer, tile]: [ValueId; 2],
    warps: u64,
) -> Result<Layout, Diagnostic> {
    let Some(matrix) = tensor_matrix(m, buffer) else {
        return Err(unsupported(m, op, "no buffer in tensor memory"));
    };
    at(
        m,
        op,
        Share::of_part(matrix, parts(m, buffer, tile), warps / 4).and_then(|s| s.layout()),
    )
}

/// The layout in which a load from tensor memory leaves its tile.
pub fn from_tensor(m: &Module, op: OpId, warps: u64) -> Result<Option<Layout>, Diagnostic> {
    match view::TensorLoad::of(m.op(op)) {
        Some(v) => in_tensor(m, op, [v.source(), v.result()], warps).map(|l| Some(canonical(&l))),
        None => Ok(None),
    }
}

/// A move to or from tensor memory wants its tile as the instructions move it.
fn tensor(a: &mut Assign<'_>, op: OpId, buffer: ValueId, tile: ValueId) -> Result<(), Diagnostic> {
    let layout = in_tensor(a.m, op, [buffer, tile], a.warps)?;
    a.propose(tile, Priority::Warpgroups, &layout);
    Ok(())
}

/// The layout of the left operand of an `async.dot` that takes it from registers.
fn left_fragment(m: &Module, op: OpId) -> Result<Option<Layout>, Diagnostic> {
    let Some(Matmul { lhs, .. }) = Matmul::of(m.op(op)) else {
        return Ok(None);
    };
    if matches!(m.types.get(m.ty(lhs)), Type::SharedTile { .. }) {
        return Ok(None);
    }
    let Some(wgmma) = wgmma_of(m, op) else {
        return Err(unsupported(m, op, "no wgmma tiling for this matmul"));
    };
    at(m, op, wgmma.a_in_registers()).map(Some)
}

/// The layouts that `op` needs its operands in, given the types already written.
pub fn needs(m: &mut Module, facts: &FactMap, op: OpId, warps: u64) -> Result<Needs, Diagnostic> {
    match S::of(m.op(op).kind) {
        Some(S::Dot | S::ScaledDot) => {
            if is_fma(m, op) {
                return Ok(Needs::new());
            }
            // The accumulator stands between the operands and their scales.
            let fragments = fragments(m, op, warps)?;
            let positions = [0, 1, 3, 4].into_iter();
            let mut needs: Needs = positions
                .zip(fragments)
                .map(|(position, layout)| (position, m.layouts.intern(layout)))
                .collect();
            if let Some(mma) = mma_of(m, op, warps) {
                let acc = at(m, op, mma.c())?;
                needs.push((2, m.layouts.intern(super::relation::canonical(&acc))));
            }
            Ok(needs)
        }
        Some(S::AsyncDot) => {
            let fragment = left_fragment(m, op)?;
            let mut needs: Needs = (fragment.into_iter())
                .map(|fragment| (0, m.layouts.intern(fragment)))
                .collect();
            needs.extend(accumulator_needs(m, op)?);
            Ok(needs)
        }
        Some(S::TensorStore) => {
            let Some((tile, buffer)) = tensor_move(m, op) else {
                return Ok(Needs::new());
            };
            let layout = in_tensor(m, op, [buffer, tile], warps)?;
            Ok(vec![(0, m.layouts.intern(layout))])
        }
        Some(S::TiledStore) => stored_needs(m, facts, op, warps),
        Some(S::Store) => Ok(pointed_needs(m, op)),
        _ => Ok(Needs::new()),
    }
}

/// How the sum of an `async.dot` lies in registers.
pub fn accumulator(m: &Module, op: OpId) -> Result<Layout, Diagnostic> {
    let Some(wgmma) = wgmma_of(m, op) else {
        return Err(unsupported(m, op, "no wgmma tiling for this matmul"));
    };
    at(m, op, wgmma.accumulator()).map(|layout| canonical(&layout))
}

/// What an `async.dot` adds to lies as its sum. What is under way to it cannot be converted.
fn accumulator_needs(m: &mut Module, op: OpId) -> Result<Option<(usize, u32)>, Diagnostic> {
    let Some(Matmul { acc, .. }) = Matmul::of(m.op(op)) else {
        return Ok(None);
    };
    let layout = accumulator(m, op)?;
    let layout = m.layouts.intern(layout);
    if layout_of(m, acc) != Some(layout) && is_under_way(m, acc) {
        let why = "a matmul that lies otherwise is under way to this one's sum";
        return Err(unsupported(m, op, why));
    }
    let position = m.op(op).operands.iter().position(|&v| v == acc);
    Ok(position.map(|position| (position, layout)))
}

/// Whether a tile is a matmul's sum that is not waited for yet, of this iteration or the one before.
fn is_under_way(m: &Module, tile: ValueId) -> bool {
    let issued = |v: ValueId| {
        m.def_op(v)
            .is_some_and(|o| S::of(m.op(o).kind) == Some(S::AsyncDot))
    };
    let Def::Argument { block, .. } = m.value(tile).def else {
        return issued(tile);
    };
    let end = m.terminator(block).into_iter();
    let mut passed = end.flat_map(|end| carried(m, end));
    passed.any(|(from, to)| to == tile && issued(from))
}

/// The value that `op` stores through pointers in runs: it may come in another layout than theirs.
pub fn detached(m: &Module, facts: &FactMap, op: OpId) -> Option<ValueId> {
    let store = view::Store::of(m.op(op))?;
    Run::of(m, facts, pointers(m, op)?).filter(|r| r.width > 1)?;
    Some(store.value())
}

/// What is stored lies as the pointers do.
fn pointed_needs(m: &Module, op: OpId) -> Needs {
    let data = m.op(op);
    let value = view::Store::of(data).map(|s| s.value());
    let layout = pointers(m, op).and_then(|p| layout_of(m, p));
    let position = data.operands.iter().position(|&o| Some(o) == value);
    position.zip(layout).into_iter().collect()
}

/// What is stored to a view is converted where that pays.
fn stored_needs(
    m: &mut Module,
    facts: &FactMap,
    op: OpId,
    warps: u64,
) -> Result<Needs, Diagnostic> {
    let Some(tile) = tile_of(m, op) else {
        return Ok(Needs::new());
    };
    let layout = stored(m, facts, op, tile, warps)?.map(|l| m.layouts.intern(l));
    let position = m.op(op).operands.iter().position(|&o| o == tile);
    Ok(position.zip(layout).into_iter().collect())
}
