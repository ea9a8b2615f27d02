//! What is outside of a tensor, in tiles that a ring brings: copies to shared memory leave zeros there, and a load's own
//! padding takes their place once the tile is in registers.

use super::purpose::Purpose;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Padding;
use crate::dialect::nv_tileas::view;
use crate::facts::access::{self, Access};
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use crate::lower::build;
use crate::lower::tileas::look::is_zero;
use crate::lower::tileas::places;

/// Whether a tiled load's tile can come through a ring as far as its padding goes: where nothing is promised about what is
/// outside, zeros are as good; other numbers are put into registers, where no matmul reads them.
pub fn allows(m: &Module, load: OpId, purpose: Purpose) -> bool {
    let Some(access) = Access::of(m.op(load)) else {
        return false;
    };
    let same = |d: usize| {
        let [index, extent] = [access.index.get(d).copied(), access.extent(d)];
        index.zip(extent).is_some_and(|(i, e)| m.ty(i) == m.ty(e))
    };
    match of_elements(m, load, &access) {
        None => true,
        Some(_) => purpose == Purpose::Stream && (0..access.index.len()).all(same),
    }
}

/// The padding that zeros do not do for.
fn of_elements(m: &Module, load: OpId, access: &Access) -> Option<Padding> {
    let padding = access.padding.filter(|&p| p != Padding::Zero)?;
    let elem = m.types.get(m.types.elem(m.ty(m.result(load))));
    matches!(elem, Type::Float(_)).then_some(padding)
}

/// `tile`, which a ring has brought in place of what `load` loads, with the load's padding; appended to `block`.
pub fn fill(m: &mut Module, block: BlockId, load: OpId, tile: ValueId) -> ValueId {
    let data = m.op(load).clone();
    if let Some(v) = view::Load::of(&data) {
        let padding = v.padding();
        let padding = padding.filter(|&p| !m.def_op(p).is_some_and(|o| is_zero(m, o)));
        return match (access::mask(&data), padding) {
            (Some(mask), Some(padding)) => select(m, block, mask, tile, padding),
            _ => tile,
        };
    }
    let Some(access) = Access::of(&data) else {
        return tile;
    };
    let Some(padding) = of_elements(m, load, &access) else {
        return tile;
    };
    let ty = m.ty(tile);
    let Some((_, shape)) = m.types.as_tile(ty) else {
        return tile;
    };
    let shape = shape.to_vec();
    let mut b = m.at_end(block);
    let mut inside: Option<ValueId> = None;
    for dim in (0..shape.len()).filter(|&d| !access.inbounds[d]) {
        let numbers = places::numbers(&mut b, &access, &shape, dim);
        if let Some(here) = places::inside(&mut b, &access, &shape, dim, numbers) {
            inside = Some(places::and(&mut b, inside, here));
        }
    }
    let Some(inside) = inside else {
        return tile;
    };
    let outside = build::outside(&mut b, padding, ty);
    select(m, block, inside, tile, outside)
}

fn select(m: &mut Module, block: BlockId, cond: ValueId, yes: ValueId, no: ValueId) -> ValueId {
    let ty = m.ty(yes);
    m.at_end(block).value(C::Select, &[cond, yes, no], [], ty)
}
