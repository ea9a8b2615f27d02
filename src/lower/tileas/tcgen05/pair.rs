//! Pairs of blocks that multiply together (`cta_group::2`).
//!
//! ```text
//! block 0: rows 0–127 of A and acc,   half of B's columns     its thread multiplies 256 rows by all columns,
//! block 1: rows 128–255,              the other half          in the memory of both
//! ```
//! The blocks of a cluster that share out a tile's rows each need all of B ([`super::super::cluster`]), which each would
//! hold whole, a part from each by multicast. As a pair, each copies a half for itself: half the bytes are written to
//! shared memory and read by the matrix unit, and stages of the rings are smaller (PTX ISA, "CTA Pair"). Copies of both
//! complete on the mbarriers of the first block, whose matmuls, a role of their own ([`super::role`]), commit to those of
//! both.

use super::Placed;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access::Access;
use crate::facts::tensor::tensor_matrix;
use crate::facts::{self, FactMap};
use crate::ir::{Attr, BlockId, Module, OpId, Type, ValueId};
use crate::layout::shared::{SharedLayout, Swizzle};
use crate::layout::tensor::LANES;
use crate::layout::tma::boxes;
use crate::layout::{LayoutError, Shape, tcgen05 as instruction};
use crate::lower::tileas::buffers::{memory_order, tile_bytes};
use crate::lower::tileas::limits::stages_that_fit;
use crate::lower::tileas::missed::Refusal;
use crate::lower::tileas::operands::allocation;
use crate::lower::tileas::strips::parts::begin_at_part;
use rustc_hash::FxHashSet;

/// What is considered, in messages.
pub const WHAT: &str = "cta_group::2";
/// Columns that a pair multiplies at once: a half of them fills a swizzled row.
const COLUMNS: std::ops::RangeInclusive<u64> = 64..=256;

/// A right operand of which each block will hold a half.
struct Half {
    buffer: ValueId,
    /// The buffer's dimension that is halved.
    dim: usize,
    /// Its layout then.
    layout: SharedLayout,
    /// The buffer as the matmuls see it, where that is another type, with its layout.
    views: Vec<(ValueId, SharedLayout)>,
    copies: Vec<OpId>,
}

/// What a pair of blocks can do.
pub struct Pairs {
    halves: Vec<Half>,
    /// The pipelines that bring operands.
    rings: FxHashSet<ValueId>,
    /// The number of the block in the cluster.
    rank: ValueId,
}

impl Pairs {
    /// Whether the blocks of the cluster can multiply as a pair; `None`: there is no cluster.
    ///
    /// # Errors
    /// The operation that stands against it, and why.
    pub fn find(
        m: &Module,
        func: OpId,
        body: BlockId,
        placed: &[Placed],
    ) -> Option<Result<Pairs, Refusal>> {
        let blocks = view::Func::of(m.op(func)).and_then(|f| f.cluster())?;
        if blocks != 2 {
            let why = format!("a pair has two blocks, the cluster {blocks}");
            return Some(Err((func, why)));
        }
        let ops = m.ops_under(body);
        let facts = facts::of(m, func);
        let front = m.block(body).ops.iter().copied();
        let mut ranks = front.filter(|&o| S::of(m.op(o).kind) == Some(S::ClusterRank));
        let rank = m.result(ranks.next()?);
        let mut pairs = Pairs {
            halves: Vec::new(),
            rings: FxHashSet::default(),
            rank,
        };
        let search = Search {
            m,
            ops: &ops,
            facts: &facts,
        };
        for p in placed {
            if let Err(why) = search.matmul(p.dot, &mut pairs) {
                return Some(Err(why));
            }
        }
        Some(search.others(&pairs).map(|()| pairs))
    }

    /// Lets the blocks multiply as a pair. `pipeline`: that of the matmuls, which are a role of their own; `room`: bytes
    /// of shared memory that nothing has, which rings may take. Returns what is left of them.
    pub fn apply(self, m: &mut Module, body: BlockId, pipeline: ValueId, mut room: u64) -> u64 {
        for half in &self.halves {
            set_type(m, half.buffer, &half.layout);
            for (view, layout) in &half.views {
                set_type(m, *view, layout);
            }
            let length = half.layout.shape().extents()[half.dim];
            for &copy in &half.copies {
                *m.attr_mut(copy, "multicast") = None;
                begin_at_part(m, copy, half.dim, length as i64, self.rank);
            }
        }
        let mut rings: Vec<ValueId> = self.rings.iter().copied().collect();
        rings.sort_unstable();
        for ring in rings {
            room = restage(m, body, ring, room);
        }
        for &pipeline in self.rings.iter().chain([&pipeline]) {
            if let Some(create) = m.def_op(pipeline) {
                *m.attr_mut(create, "blocks") = None;
                *m.attr_mut(create, "pair") = Some(Attr::Unit);
            }
        }
        for op in m.ops_under(body) {
            if S::of(m.op(op).kind) == Some(S::TensorDot) {
                *m.attr_mut(op, "pair") = Some(Attr::Unit);
            }
        }
        room
    }
}

/// A ring whose stages have become smaller has as many as fit where it was and in `room` bytes more. Returns what is left
/// of these.
fn restage(m: &mut Module, body: BlockId, ring: ValueId, room: u64) -> u64 {
    let Some((create, v)) = m
        .def_op(ring)
        .and_then(|op| Some((op, view::PipelineCreate::of(m.op(op))?)))
    else {
        return room;
    };
    let room = room + (v.stages() * v.bytes()) as u64;
    let mut buffers: Vec<ValueId> = Vec::new();
    for op in m.ops_under(body) {
        if let Some(copy) = view::TmaLoad::of(m.op(op))
            && copy.pipeline() == ring
            && !buffers.contains(&copy.destination())
        {
            buffers.push(copy.destination());
        }
    }
    let bytes: u64 = buffers.iter().map(|&b| tile_bytes(m, b)).sum();
    let stages = stages_that_fit(room, bytes).unwrap_or(1) as u32;
    m.set_i32(create, "bytes", bytes as i64);
    m.set_i32(create, "stages", i64::from(stages));
    let ty = m.types.intern(Type::Pipeline { stages });
    m.value_mut(ring).ty = ty;
    let views = m.block(body).ops.iter().copied();
    let views = views.filter(|&o| S::of(m.op(o).kind) == Some(S::SharedView));
    let views: Vec<ValueId> = views.map(|o| m.result(o)).collect();
    for buffer in views.into_iter().chain(buffers.clone()) {
        if buffers.contains(&allocation(m, buffer)) {
            let mut ty = m.types.get(m.ty(buffer)).clone();
            if let Type::SharedTile { stages: all, .. } = &mut ty {
                *all = stages;
            }
            let ty = m.types.intern(ty);
            m.value_mut(buffer).ty = ty;
        }
    }
    room.saturating_sub(u64::from(stages) * bytes)
}

/// Gives a buffer a layout and its shape.
fn set_type(m: &mut Module, buffer: ValueId, new: &SharedLayout) {
    let id = m.layouts.intern(new.layout().clone());
    let mut ty = m.types.get(m.ty(buffer)).clone();
    if let Type::SharedTile { shape, layout, .. } = &mut ty {
        *shape = new.shape().extents().into_iter().collect();
        *layout = id;
    }
    let ty = m.types.intern(ty);
    m.value_mut(buffer).ty = ty;
}

struct Search<'m> {
    m: &'m Module,
    ops: &'m [OpId],
    facts: &'m FactMap,
}

impl Search<'_> {
    /// Whether a pair can do a matmul; its right operand and its rings go to `pairs`.
    fn matmul(&self, dot: OpId, pairs: &mut Pairs) -> Result<(), Refusal> {
        let m = self.m;
        let no = |why: String| Err((dot, why));
        let found = view::TensorDot::of(m.op(dot));
        let acc = found.as_ref().and_then(|v| tensor_matrix(m, v.acc()));
        let Some((v, acc)) = found.zip(acc) else {
            return no("its accumulator is not in tensor memory".to_owned());
        };
        if v.scales().is_some() {
            return no("its operands have scales".to_owned());
        }
        if [acc.rows, acc.lanes] != [LANES; 2] {
            return no(format!(
                "{} rows in each block, {} in an instruction, {LANES} needed",
                acc.rows, acc.lanes
            ));
        }
        let columns = acc.columns;
        if !COLUMNS.contains(&columns) {
            let (least, most) = (COLUMNS.start(), COLUMNS.end());
            return no(format!("{columns} columns, {least} to {most} needed"));
        }
        if tensor_matrix(m, v.lhs()).is_some() {
            return no("its left operand is in tensor memory".to_owned());
        }
        let [lhs, rhs] = [v.lhs(), v.rhs()].map(|v| allocation(m, v));
        let own = self.copies(lhs);
        let shared = self.copies(rhs);
        let multicast = |c: &view::TmaLoad<_>| c.multicast();
        if own.is_empty() || shared.is_empty() {
            return no("no tensor copies bring its operands".to_owned());
        }
        if own.iter().any(|c| multicast(&c.1)) || !shared.iter().all(|c| multicast(&c.1)) {
            return no("the blocks do not share out its rows alone".to_owned());
        }
        let rings = own.iter().chain(&shared).map(|c| c.1.pipeline());
        pairs.rings.extend(rings);
        let half = pairs.halves.iter_mut().find(|h| h.buffer == rhs);
        let other = v.rhs();
        let copies: Vec<OpId> = shared.iter().map(|c| c.0).collect();
        match half {
            Some(half) if other == rhs || half.views.iter().any(|v| v.0 == other) => Ok(()),
            Some(_) => no("matmuls see its right operand in two ways".to_owned()),
            None => match self.half(other, rhs, &copies, columns / 2) {
                Ok(half) => {
                    pairs.halves.push(half);
                    Ok(())
                }
                Err(e) => no(format!("a half of its right operand: {e}")),
            },
        }
    }

    /// The copies that fill a buffer.
    fn copies(&self, buffer: ValueId) -> Vec<(OpId, view::TmaLoad<'_, crate::ir::Op>)> {
        let all = self.ops.iter();
        all.filter_map(|&o| Some((o, view::TmaLoad::of(self.m.op(o))?)))
            .filter(|c| c.1.destination() == buffer)
            .collect()
    }

    /// A half, `columns`, of the right operand in `buffer` that matmuls see as `seen`.
    fn half(
        &self,
        seen: ValueId,
        buffer: ValueId,
        copies: &[OpId],
        columns: u64,
    ) -> Result<Half, LayoutError> {
        let m = self.m;
        let no = |what: &str| Err(LayoutError::Unsupported(what.to_owned()));
        let layout_of = |buffer: ValueId| match m.types.get(m.ty(buffer)) {
            Type::SharedTile { elem, layout, .. } => {
                SharedLayout::new(m.layouts.get(*layout).clone(), m.types.width(*elem))
            }
            _ => Err(LayoutError::Unsupported("no shared buffer".to_owned())),
        };
        let whole = layout_of(buffer)?;
        let matrix = whole.squeezed()?;
        let view = layout_of(seen)?.squeezed()?;
        // The matmul's columns are the matrix's last dimension, or its first where it is seen transposed.
        let turned = match () {
            () if view.layout() == matrix.layout() => false,
            () if *view.layout() == matrix.layout().permute(&[1, 0])? => true,
            () => return no("it is seen in another way than as a matrix"),
        };
        let extents = whole.shape().extents();
        let mut long = (0..extents.len()).filter(|&i| extents[i] > 1);
        let place = if turned {
            long.next()
        } else {
            long.next_back()
        };
        let Some(dim) = place.filter(|&i| extents[i] == 2 * columns) else {
            return no("it has no dimension of the columns");
        };
        let mut halved = extents.clone();
        halved[dim] = columns;
        let bits = whole.element_bits();
        let Some(&first) = copies.first() else {
            return no("nothing is copied");
        };
        let order = memory_order(m, self.facts, first);
        for &copy in copies {
            let regular = Access::of(m.op(copy)).is_some_and(|a| a.sparse.is_none());
            if !regular || memory_order(m, self.facts, copy) != order {
                return no("its copies do not lie alike in memory");
            }
        }
        let inner = order.first().and_then(|&d| halved.get(d)).copied();
        let wide = SharedLayout::strips(whole.shape(), &order, bits, Swizzle::B128Atom32);
        let swizzle = match wide.is_ok_and(|wide| wide == whole) {
            true => Swizzle::B128Atom32,
            false => Swizzle::widest(inner.unwrap_or(1) * u64::from(bits) / 8),
        };
        let shape = Shape::new(&halved)?;
        let layout = SharedLayout::strips(&shape, &order, bits, swizzle)?;
        boxes(&layout, &order, swizzle)?;
        let mut operand = layout.squeezed()?;
        if turned {
            operand = operand.permute(&[1, 0])?;
        }
        instruction::describe(&operand, 1, columns)?;
        let views = if seen == buffer {
            Vec::new()
        } else {
            vec![(seen, operand)]
        };
        Ok(Half {
            buffer,
            dim,
            layout,
            views,
            copies: copies.to_vec(),
        })
    }

    /// Whether nothing but the matmuls knows of their operands' rings.
    fn others(&self, pairs: &Pairs) -> Result<(), Refusal> {
        let m = self.m;
        for &op in self.ops {
            let data = m.op(op);
            let reads = match S::of(data.kind) {
                Some(S::LocalLoad | S::LocalStore | S::TmaStore) => {
                    let mut buffers = data.operands.iter().map(|&v| allocation(m, v));
                    buffers.any(|b| {
                        let copies = self.copies(b);
                        copies.iter().any(|c| pairs.rings.contains(&c.1.pipeline()))
                    })
                }
                Some(S::ConsumerRelease) => view::ConsumerRelease::of(data)
                    .is_some_and(|v| pairs.rings.contains(&v.pipeline()) && !v.matmuls()),
                _ => false,
            };
            if reads {
                return Err((op, "others than matmuls read what rings bring".to_owned()));
            }
        }
        Ok(())
    }
}
