//! What tiles are brought for.

use crate::ir::{Module, ValueId};
use crate::layout::shared::{SharedLayout, Swizzle};
use crate::layout::tma::MAX_EXTENT_BITS;
use crate::layout::{LayoutError, Shape};
use crate::lower::tileas::buffers::swizzled;
use crate::lower::tileas::look::has_wide_atoms;

/// Who reads the tiles that a ring brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// A matmul, in shared memory or in fragments.
    Operands,
    /// Anything else, in registers: each thread reads its elements once.
    Stream,
}

impl Purpose {
    /// How a tile whose dimensions lie in memory in `order` lies in a stage: swizzled for matmuls; else, and where it is
    /// smaller than the pattern, in as few boxes of a tensor copy as can be.
    pub fn layout(
        self,
        m: &Module,
        tile: ValueId,
        order: &[usize],
    ) -> Result<SharedLayout, LayoutError> {
        let (elem, extents) = m.types.as_tile(m.ty(tile)).unwrap_or((m.ty(tile), &[]));
        let bits = m.types.width(elem);
        if self == Purpose::Operands {
            if has_wide_atoms(m, tile) {
                let shape = Shape::new(extents)?;
                return SharedLayout::strips(&shape, order, bits, Swizzle::B128Atom32);
            }
            let (layout, swizzle) = swizzled(m, tile, order)?;
            if layout.bytes() >= swizzle.alignment() {
                return Ok(layout);
            }
        }
        SharedLayout::plain_strips(&Shape::new(extents)?, order, bits, MAX_EXTENT_BITS)
    }
}

/// Whether a tile is less than the pattern of its swizzle, which no tensor copy makes of less: a row of scales, no operand by
/// itself.
pub fn is_little(m: &Module, tile: ValueId, order: &[usize]) -> bool {
    swizzled(m, tile, order).is_ok_and(|(layout, swizzle)| layout.bytes() < swizzle.alignment())
}
