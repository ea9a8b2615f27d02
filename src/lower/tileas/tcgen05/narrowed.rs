//! Buffers that results go through, whose columns can be stored in parts.
//!
//! A part of the columns is stored where a buffer has it by itself. Rows of up to 128 bytes, as those of 128 columns of a byte, are
//! one row of the widest swizzle; with a narrower one, halves of them lie one behind the other.

use crate::dialect::nv_tileas::{Op as S, view};
use crate::ir::{Module, OpId, TypeId, ValueId};
use crate::layout::In;
use crate::layout::shared::{SharedLayout, Swizzle};
use crate::lower::tileas::buffers::{layout_in, shared_type};
use crate::lower::tileas::strips::dims::extents;

/// Buffers that were given another layout, and the types that they had.
pub struct Narrowed(Vec<(ValueId, TypeId)>);

impl Narrowed {
    /// Those that `ops` store to of which a copy to global memory alone reads, and which are one row of a swizzle wide.
    pub fn buffers(m: &mut Module, ops: &[OpId]) -> Narrowed {
        let mut narrowed = Vec::new();
        for &op in ops {
            let Some((buffer, layout)) = view::LocalStore::of(m.op(op))
                .and_then(|v| Some((v.destination(), halved(m, v.destination(), v.tile())?)))
            else {
                continue;
            };
            let ty = shared_type(m, buffer, &layout, 1);
            narrowed.push((buffer, m.ty(buffer)));
            m.value_mut(buffer).ty = ty;
        }
        Narrowed(narrowed)
    }

    /// Gives the buffers back the types that they had.
    pub fn undo(self, m: &mut Module) {
        for (buffer, ty) in self.0.into_iter().rev() {
            m.value_mut(buffer).ty = ty;
        }
    }
}

/// The layout of a buffer of one stage in which halves of the rows of `tile` lie one behind the other, where it has none.
fn halved(m: &Module, buffer: ValueId, tile: ValueId) -> Option<SharedLayout> {
    let own = m
        .def_op(buffer)
        .filter(|&o| S::of(m.op(o).kind) == Some(S::AllocTensor));
    let passes = |&o: &OpId| matches!(S::of(m.op(o).kind), Some(S::LocalStore | S::TmaStore));
    if own.is_none() || !m.users(buffer).iter().all(passes) {
        return None;
    }
    let layout = layout_in(m, buffer).filter(|l| l.shape().rank() == 2)?;
    let shape = layout.shape().clone();
    let wide = extents(m, tile).len() == 2 && shape.extent(1) > 1;
    let by_rows = || layout.layout().bases(In::Offset).first() == Some(&shape.along(1, 1));
    if !wide || !by_rows() || layout.part(1, 2).is_some() {
        return None;
    }
    let row = shape.extent(1) * u64::from(layout.element_bits()) / 8;
    let swizzle = Swizzle::widest(row / 2);
    SharedLayout::strips(&shape, &[1, 0], layout.element_bits(), swizzle).ok()
}
