//! Layouts of tiles as they stand in the module, and how one follows from another.

use crate::dialect::cuda_tile::view::View;
use crate::ir::{Diagnostic, Module, OpId, Type, TypeId, ValueId};
use crate::layout::blocked::Blocked;
use crate::layout::{Layout, LayoutError, Shape, bytes};
use crate::lower::unsupported;

/// Whether a value is distributed: a tile that is not a scalar.
pub fn is_distributed(m: &Module, value: ValueId) -> bool {
    matches!(m.types.get(m.ty(value)), Type::Tile { shape, .. } if !shape.is_empty())
}

/// The number of the layout that a value has.
pub fn layout_of(m: &Module, value: ValueId) -> Option<u32> {
    match m.types.get(m.ty(value)) {
        Type::Distributed { layout, .. } => Some(*layout),
        _ => None,
    }
}

/// The extents of a tile as a layout shape.
pub fn shape_of(m: &Module, value: ValueId) -> Result<Shape, LayoutError> {
    Shape::new(m.types.as_tile(m.ty(value)).map_or(&[][..], |t| t.1))
}

/// The coalesced layout of a tile about which nothing else is known.
pub fn default_layout(m: &Module, value: ValueId, warps: u64) -> Result<Layout, LayoutError> {
    let shape = shape_of(m, value)?;
    let order = (0..shape.rank()).rev().collect();
    let element_bits = m.types.width(m.ty(value)).max(8);
    Blocked {
        shape,
        order,
        max_vector: u64::from(128 / element_bits),
        element_bits,
        warps,
    }
    .layout()
}

/// A layout error at an operation.
pub fn at<T>(m: &Module, op: OpId, r: Result<T, LayoutError>) -> Result<T, Diagnostic> {
    r.map_err(|e| unsupported(m, op, format!("no layout: {e}")))
}

/// Each thread holds an element once in its registers.
pub fn canonical(layout: &Layout) -> Layout {
    layout.without_redundant_registers().0
}

/// How the layout of an operation's result follows from that of its source.
pub enum Relation {
    Reshape,
    Permute(Vec<usize>),
    Broadcast,
    Reduce(usize),
    /// So many elements in each byte.
    Unpack(u64),
}

impl Relation {
    /// The relation of an operation, if it is one.
    pub fn of(m: &Module, op: OpId) -> Option<Relation> {
        Some(match View::of(m.op(op))? {
            View::Reshape(_) => Relation::Reshape,
            View::Broadcast(_) => Relation::Broadcast,
            View::Permute(v) => {
                Relation::Permute(v.permutation().iter().map(|&d| d as usize).collect())
            }
            View::Reduce(v) => Relation::Reduce(v.dim() as usize),
            View::Unpack(v) => match m.types.bits(m.ty(v.result()))? {
                bits @ 1..=8 => Relation::Unpack(u64::from(8 / bits)),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The layout of the result when the source has `source`.
    pub fn result_of(
        &self,
        m: &Module,
        result: ValueId,
        source: &Layout,
    ) -> Result<Layout, LayoutError> {
        let shape = shape_of(m, result)?;
        Ok(canonical(&match self {
            Relation::Reshape => source.reshape(&shape)?,
            Relation::Permute(p) => source.permute(p)?,
            Relation::Broadcast => source.broadcast(&shape)?,
            Relation::Reduce(dim) => source.slice(*dim)?,
            Relation::Unpack(many) => bytes::spread(source, 0, *many)?,
        }))
    }

    /// The layout the source must have for the result to be had by renaming registers, where the
    /// result's layout says it.
    pub fn source_of(
        &self,
        m: &Module,
        source: ValueId,
        result: &Layout,
    ) -> Result<Option<Layout>, LayoutError> {
        let shape = shape_of(m, source)?;
        Ok(self.seen(&shape, result)?.map(|seen| canonical(&seen)))
    }

    /// The elements of a source of `shape` that each place of the result needs, where the result's
    /// layout says it: registers are the result's.
    pub fn seen(&self, shape: &Shape, result: &Layout) -> Result<Option<Layout>, LayoutError> {
        Ok(Some(match self {
            Relation::Reshape => result.reshape(shape)?,
            Relation::Permute(p) => result.permute(&inverse(p))?,
            Relation::Broadcast => result.broadcast_source(shape)?,
            Relation::Reduce(_) => return Ok(None),
            Relation::Unpack(many) => return bytes::joined(result, 0, *many),
        }))
    }
}

/// The permutation that undoes `p`.
fn inverse(p: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; p.len()];
    for (i, &d) in p.iter().enumerate() {
        if let Some(slot) = inverse.get_mut(d) {
            *slot = i;
        }
    }
    inverse
}

/// Distributes a tile by a layout.
pub fn set_layout(m: &mut Module, tile: ValueId, layout: u32) {
    let ty = distributed(m, m.ty(tile), layout);
    m.value_mut(tile).ty = ty;
}

/// `tile` distributed by a layout.
pub fn distributed(m: &mut Module, tile: TypeId, layout: u32) -> TypeId {
    match m.types.get(tile).clone() {
        Type::Tile { elem, shape } | Type::Distributed { elem, shape, .. } => {
            m.types.intern(Type::Distributed {
                elem,
                shape,
                layout,
            })
        }
        _ => tile,
    }
}
