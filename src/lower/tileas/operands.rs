//! Where the operands of matmuls lie in shared memory: in the buffer that brought them, or in one that they are stored to.

use super::buffers::{COLUMNS, Order, ROWS, layout_in, memory_order, swizzled};
use super::look::{has_wide_atoms, is_view, loop_around, place};
use super::staging::{Form, Staging, Stored};
use crate::dialect::cuda_tile::{Op as C, view};
use crate::dialect::nv_tileas::{self, Op as S};
use crate::facts::matmul::{Matmul, Side};
use crate::facts::{FactMap, access};
use crate::ir::{BlockId, Def, Diagnostic, Module, OpBuilder, OpId, Type, TypeId, ValueId};
use crate::layout::shared::SharedLayout;
use crate::layout::wgmma_desc::{self, Major};
use crate::layout::{In, Shape};
use crate::lower::unsupported;
use rustc_hash::FxHashSet;

/// Whether a matmul can read an operand where one of `loads` brings it: elements of 16 bits in either order, as those that are
/// read across their rows (`tcgen05/across.rs`), others where dimension `k` of the operand is contiguous in memory.
pub fn read_where_brought(
    m: &Module,
    facts: &FactMap,
    tile: ValueId,
    k: usize,
    loads: &FxHashSet<OpId>,
) -> bool {
    let Some(Way {
        load,
        permutation,
        extents,
    }) = source(m, tile, &|o| loads.contains(&o))
    else {
        return false;
    };
    if m.types.bits(m.ty(tile)) == Some(16) || has_wide_atoms(m, m.result(load)) {
        return true;
    }
    if extents.is_some() {
        return false;
    }
    let loaded = m.result(load);
    let extents = m.types.as_tile(m.ty(loaded)).map_or(&[][..], |t| t.1);
    let long: Vec<usize> = (0..extents.len()).filter(|&d| extents[d] > 1).collect();
    let inner = memory_order(m, facts, load).first().copied();
    let inner = inner.and_then(|d| long.iter().position(|&l| l == d));
    let k = permutation.map_or(Some(k), |p| p.get(k).copied());
    inner.is_some() && inner == k
}

/// Whether a matmul can read its operand on a side where one of `loads` brings it; `None` of what none of them loads.
pub fn reads_in_place(
    m: &Module,
    facts: &FactMap,
    matmul: Matmul,
    side: Side,
    loads: &FxHashSet<OpId>,
) -> Option<bool> {
    let tile = matmul.operand(side);
    let rank = m.types.as_tile(m.ty(tile)).map_or(0, |t| t.1.len());
    let from_last = match side {
        Side::Left => 1,
        Side::Right => 2,
    };
    let k = rank.checked_sub(from_last)?;
    comes_from(m, tile, loads).then(|| read_where_brought(m, facts, tile, k, loads))
}

/// Whether a tile is what one of `loads` loads, perhaps reshaped.
pub fn comes_from(m: &Module, tile: ValueId, loads: &FxHashSet<OpId>) -> bool {
    source(m, tile, &|o| loads.contains(&o)).is_some()
}

/// Where an operand is read.
pub(super) enum Source {
    /// In a buffer that a load reads.
    Buffer(Way),
    /// In a buffer that it is stored to, like this.
    Stored(Form),
    /// In a buffer that the matrix whose transpose it is is stored to, like this.
    Transposed(ValueId, Form),
    Registers,
}

impl Source {
    /// What is stored of `tile`, if it is.
    pub(super) fn stored(&self, tile: ValueId) -> Option<Stored> {
        match *self {
            Source::Stored(form) => Some(Stored { tile, form }),
            Source::Transposed(tile, form) => Some(Stored { tile, form }),
            _ => None,
        }
    }

    /// The operand of the matmul, and its iteration; `tile`: it, as [`Source::stored`] was told.
    pub(super) fn place(
        self,
        m: &mut Module,
        dot: OpId,
        side: Side,
        tile: ValueId,
        staging: &mut Staging,
    ) -> Result<(ValueId, Option<ValueId>), Diagnostic> {
        let value = Matmul::known(m.op(dot)).operand(side);
        match self {
            Source::Registers => Ok((value, None)),
            Source::Stored(form) => {
                let stored = Stored { tile, form };
                Ok((stored.place(m, dot, value, staging)?, None))
            }
            Source::Transposed(tile, form) => {
                let stored = Stored { tile, form };
                let buffer = stored.place(m, dot, tile, staging)?;
                Ok((transposed(m, dot, buffer, &[1, 0])?, None))
            }
            Source::Buffer(way) => {
                let data = m.op(way.load).clone();
                let iteration = access::iteration(&data);
                let mut buffer = m.source(way.load);
                if let Some(extents) = way.extents {
                    buffer = reshaped(m, buffer, &extents).map_err(|e| {
                        unsupported(m, dot, format!("no layout of a reshaped operand: {e}"))
                    })?;
                }
                let Some(permutation) = way.permutation else {
                    return Ok((buffer, iteration));
                };
                Ok((transposed(m, dot, buffer, &permutation)?, iteration))
            }
        }
    }
}

impl Stored {
    /// The buffer that `value` is stored to for `dot`.
    fn place(
        self,
        m: &mut Module,
        dot: OpId,
        value: ValueId,
        staging: &mut Staging,
    ) -> Result<ValueId, Diagnostic> {
        let (layout, _) = swizzled(m, value, self.form.order())
            .map_err(|e| unsupported(m, dot, format!("no layout: {e}")))?;
        Ok(staging.place(m, dot, self, value, &layout))
    }
}

/// How a matrix is stored whose transpose is the operand `tile` of 16-bit elements, if the instruction `describes` that:
/// as its rows lie in registers, for what stores it and for a matmul that reads it as it is.
pub(super) fn stored_transposed(
    m: &Module,
    tile: ValueId,
    describes: &dyn Fn(&SharedLayout) -> bool,
) -> Option<Source> {
    let op = m.def_op(tile)?;
    let turns = view::Permute::of(m.op(op)).is_some_and(|v| v.permutation() == [1, 0]);
    if !turns || m.types.bits(m.ty(tile)) != Some(16) {
        return None;
    }
    let matrix = m.source(op);
    let (layout, _) = swizzled(m, matrix, ROWS).ok()?;
    let read = SharedLayout::new(layout.layout().permute(&[1, 0]).ok()?, 16).ok()?;
    describes(&read).then_some(Source::Transposed(matrix, Form::Order(ROWS)))
}

/// Whether a tile is loaded to registers, not from a ring, perhaps with its shape or its type changed.
pub(super) fn is_loaded(m: &Module, mut tile: ValueId) -> bool {
    while let Some(op) = m.def_op(tile) {
        let data = m.op(op);
        match (C::of(data.kind), S::of(data.kind)) {
            (_, Some(S::Load | S::TiledLoad)) => return true,
            (Some(C::Permute | C::Reshape | C::FToF), _) => tile = m.source(op),
            _ => return false,
        }
    }
    false
}

/// How a tile is what a load loads, shown otherwise.
pub(super) struct Way {
    pub load: OpId,
    /// The extents of the matrix whose elements, row by row, are those of the load: where others than those of one element
    /// are put together, as the pages of a sequence are.
    pub extents: Option<Vec<u64>>,
    /// How the dimensions are permuted then.
    pub permutation: Option<Vec<usize>>,
}

/// The load that makes this tile, and how.
pub(super) fn source(m: &Module, mut tile: ValueId, is_load: &dyn Fn(OpId) -> bool) -> Option<Way> {
    let (mut permutation, mut extents) = (None, None);
    loop {
        let op = m.def_op(tile)?;
        let data = m.op(op);
        if is_load(op) {
            return Some(Way {
                load: op,
                extents,
                permutation,
            });
        }
        match C::of(data.kind)? {
            C::Permute if permutation.is_none() && extents.is_none() => {
                let p = view::Permute::of(data)?.permutation();
                let (_, shape) = m.types.as_tile(m.ty(m.source(op)))?;
                if shape.len() != 2 {
                    return None;
                }
                permutation = Some(p.iter().map(|&d| d as usize).collect());
            }
            C::Reshape if extents.is_some() || only_drops_ones(m, m.source(op), tile) => {}
            C::Reshape => {
                let matrix = long(m, tile);
                if matrix.len() != 2 {
                    return None;
                }
                extents = Some(matrix);
            }
            _ => return None,
        }
        tile = m.source(op);
    }
}

/// The dimension of a tile of two whose elements are neighbours in the shared buffer that it is loaded from.
pub(super) fn inner_dimension(m: &Module, tile: ValueId) -> Option<usize> {
    (0..2).find(|&dim| {
        let runs = |shared: &SharedLayout| {
            let layout = shared.layout();
            layout.rank() == 2
                && layout.bases(In::Offset).first() == Some(&layout.shape().along(dim, 1))
        };
        in_place_if(m, tile, &runs).is_some()
    })
}

/// The extents of a tile, but for those of one element.
fn long(m: &Module, tile: ValueId) -> Vec<u64> {
    let shape = m.types.as_tile(m.ty(tile)).map_or(&[][..], |t| t.1);
    shape.iter().copied().filter(|&n| n > 1).collect()
}

/// Whether two tiles have the same extents apart from those of one element.
fn only_drops_ones(m: &Module, a: ValueId, b: ValueId) -> bool {
    long(m, a) == long(m, b)
}

/// The operand in the buffer that it is loaded from, if the instruction can read it there.
pub(super) fn in_place(
    m: &Module,
    tile: ValueId,
    mn_dim: usize,
    instruction_mn: u64,
) -> Option<Source> {
    in_place_if(m, tile, &|shared| {
        let found = wgmma_desc::describe(shared, mn_dim, instruction_mn);
        // Only 16-bit elements are read with M or N contiguous.
        found.is_ok_and(|d| shared.element_bits() == 16 || d.major == Major::K)
    })
}

/// The operand in the buffer that it is loaded from, if its layout there `fits`.
pub(super) fn in_place_if(
    m: &Module,
    tile: ValueId,
    fits: &dyn Fn(&SharedLayout) -> bool,
) -> Option<Source> {
    let (way, shared) = in_buffer(m, tile)?;
    fits(&shared).then_some(Source::Buffer(way))
}

/// The load that makes a tile from a buffer, and how the tile lies in the buffer.
pub(super) fn in_buffer(m: &Module, tile: ValueId) -> Option<(Way, SharedLayout)> {
    let local = |o: OpId| S::of(m.op(o).kind) == Some(S::LocalLoad);
    let way = source(m, tile, &local)?;
    let whole = layout_in(m, m.source(way.load))?;
    let mut shared = match &way.extents {
        Some(extents) => whole.reshaped(extents).ok()?,
        None => whole.squeezed().ok()?,
    };
    if let Some(p) = &way.permutation {
        let layout = shared.layout().permute(p).ok()?;
        shared = SharedLayout::new(layout, shared.element_bits()).ok()?;
    }
    Some((way, shared))
}

/// Whether a tile exists before the loop in which its matmul stands.
pub(super) fn is_stationary(m: &Module, body: BlockId, tile: ValueId, dot: OpId) -> bool {
    let home = home(m, tile);
    let block = m.op(dot).block;
    home != block && loop_around(m, body, block) != loop_around(m, body, home)
}

/// The block that a value belongs to.
fn home(m: &Module, value: ValueId) -> BlockId {
    match m.value(value).def {
        Def::Argument { block, .. } => block,
        Def::Result { op, .. } => m.op(op).block,
    }
}

/// The order in which a right operand is stored for instructions of `columns` columns: by rows, except where the
/// instruction wants K contiguous, or where its columns would be a part of a swizzled row.
pub(super) fn order_of_rhs(m: &Module, tile: ValueId, columns: u64) -> Order {
    let half = m.types.bits(m.ty(tile)) == Some(16);
    let by_rows = || {
        let (layout, _) = swizzled(m, tile, ROWS).ok()?;
        wgmma_desc::describe(&layout, 1, columns).ok()
    };
    if half && by_rows().is_some() {
        ROWS
    } else {
        COLUMNS
    }
}

/// A view of a buffer that `dot` reads with its dimensions permuted.
fn transposed(
    m: &mut Module,
    dot: OpId,
    buffer: ValueId,
    permutation: &[usize],
) -> Result<ValueId, Diagnostic> {
    permuted(m, buffer, permutation)
        .map_err(|e| unsupported(m, dot, format!("no layout of a transposed operand: {e}")))
}

/// A view of a buffer with its dimensions permuted, right after the buffer.
fn permuted(
    m: &mut Module,
    buffer: ValueId,
    permutation: &[usize],
) -> Result<ValueId, crate::layout::LayoutError> {
    let Type::SharedTile {
        elem,
        shape,
        layout,
        stages,
    } = m.types.get(m.ty(buffer)).clone()
    else {
        return Ok(buffer);
    };
    // The matrix lies in the dimensions that have more than one element, wherever those are.
    let mut dims: Vec<usize> = (0..shape.len()).collect();
    let matrix: Vec<usize> = match shape.len() == permutation.len() {
        true => dims.clone(),
        false => dims.iter().copied().filter(|&d| shape[d] > 1).collect(),
    };
    for (&to, &from) in matrix.iter().zip(permutation) {
        if let (Some(dim), Some(&at)) = (dims.get_mut(to), matrix.get(from)) {
            *dim = at;
        }
    }
    let layout = m.layouts.get(layout).permute(&dims)?;
    let layout = m.layouts.intern(layout);
    let shape = dims.iter().filter_map(|&d| shape.get(d).copied()).collect();
    let ty = m.types.intern(Type::SharedTile {
        elem,
        shape,
        layout,
        stages,
    });
    Ok(seen(m, buffer, ty))
}

/// A view of a buffer as a tile of other extents with the same elements row by row, right after the buffer.
fn reshaped(
    m: &mut Module,
    buffer: ValueId,
    extents: &[u64],
) -> Result<ValueId, crate::layout::LayoutError> {
    let mut ty = m.types.get(m.ty(buffer)).clone();
    if let Type::SharedTile { shape, layout, .. } = &mut ty {
        let other = m.layouts.get(*layout).reshape(&Shape::new(extents)?)?;
        *layout = m.layouts.intern(other);
        *shape = extents.iter().copied().collect();
    }
    let ty = m.types.intern(ty);
    Ok(seen(m, buffer, ty))
}

/// A view of a buffer as one of this type, right after the buffer.
fn seen(m: &mut Module, buffer: ValueId, ty: TypeId) -> ValueId {
    let Some(alloc) = m.def_op(buffer) else {
        return buffer;
    };
    let (block, at) = place(m, alloc);
    m.at(block, at + 1).value(S::SharedView, &[buffer], [], ty)
}

/// Erases what made `tiles`, as far as nothing else uses it. They may be the same tile, or views of the same.
pub(super) fn drop_unused(m: &mut Module, tiles: impl IntoIterator<Item = ValueId>) {
    for mut tile in tiles {
        while let Some(op) = unused_read(m, tile) {
            tile = m.source(op);
            m.erase(op);
        }
    }
}

/// The operation that reads or views `tile` for nobody.
fn unused_read(m: &Module, tile: ValueId) -> Option<OpId> {
    if !m.holds(tile) || m.is_used(tile) {
        return None;
    }
    let op = m.def_op(tile)?;
    let reads = S::of(m.op(op).kind) == Some(S::LocalLoad) || is_view(m, op);
    reads.then_some(op)
}

/// `cp.async` writes through the generic proxy: what matmuls read of it in place needs a fence after the wait.
pub(super) fn fence_copies(m: &mut Module, body: BlockId) {
    let ops = m.ops_under(body);
    let of = |kind: S| {
        let is = |o: &OpId| S::of(m.op(*o).kind) == Some(kind);
        ops.iter().copied().filter(is).collect::<Vec<OpId>>()
    };
    let matmuls = [S::AsyncDot, S::TensorDot];
    let read: FxHashSet<ValueId> = matmuls
        .into_iter()
        .flat_map(of)
        .flat_map(|o| m.op(o).operands.to_vec())
        .map(|v| allocation(m, v))
        .collect();
    let pipelines: FxHashSet<ValueId> = of(S::TiledCopy)
        .into_iter()
        .chain(of(S::PointerCopy))
        .filter(|&o| access::destination(m.op(o)).is_some_and(|b| read.contains(&b)))
        .filter_map(|o| access::pipeline(m.op(o)))
        .filter(|&p| !waits_fence(m, p))
        .collect();
    let waits: Vec<OpId> = of(S::ConsumerWait)
        .into_iter()
        .filter(|&o| access::pipeline(m.op(o)).is_some_and(|p| pipelines.contains(&p)))
        .collect();
    for wait in waits {
        let (block, at) = place(m, wait);
        let loc = m.op(wait).loc;
        let mut b: OpBuilder<'_> = m.at(block, at + 1);
        b.loc = loc;
        b.op(S::ProxyFence, &[], [], &[], &[]);
    }
}

/// Whether each thread that waits for a stage of `pipeline` may read it through the asynchronous proxy then.
fn waits_fence(m: &Module, pipeline: ValueId) -> bool {
    let create = m.def_op(pipeline).map(|o| m.op(o));
    let create = create.and_then(nv_tileas::view::PipelineCreate::of);
    create.is_some_and(|c| c.copiers().is_some())
}

/// The buffer that a view shows.
pub(super) fn allocation(m: &Module, mut buffer: ValueId) -> ValueId {
    while let Some(op) = m.def_op(buffer)
        && S::of(m.op(op).kind) == Some(S::SharedView)
    {
        buffer = m.source(op);
    }
    buffer
}
