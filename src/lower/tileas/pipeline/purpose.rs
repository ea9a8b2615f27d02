//! What tiles are brought for.

use crate::ir::{Module, ValueId};
use crate::layout::shared::SharedLayout;
use crate::layout::tma::MAX_EXTENT_BITS;
use crate::layout::{LayoutError, Shape};
use crate::lower::tileas::buffers::swizzled;

/// Who reads the tiles that a ring brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// A matmul, in shared memory or in fragments.
    Operands,
    /// Anything else, in registers: each thread reads its elements once.
    Stream,
}

impl Purpose {
    /// How a tile whose dimensions lie in memory in `order` lies in a stage: swizzled for matmuls; else in as few boxes
    /// of a tensor copy as can be.
    pub fn layout(
        self,
        m: &Module,
        tile: ValueId,
        order: &[usize],
    ) -> Result<SharedLayout, LayoutError> {
        match self {
            Purpose::Operands => swizzled(m, tile, order).map(|(layout, _)| layout),
            Purpose::Stream => {
                let (elem, extents) = m.types.as_tile(m.ty(tile)).unwrap_or((m.ty(tile), &[]));
                let bits = m.types.width(elem);
                SharedLayout::plain_strips(&Shape::new(extents)?, order, bits, MAX_EXTENT_BITS)
            }
        }
    }
}
