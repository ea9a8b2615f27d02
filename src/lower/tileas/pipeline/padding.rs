//! What is outside of a tensor, in tiles that a ring brings: copies to shared memory leave zeros there, and a load's own
//! padding takes their place once the tile is in registers.

use super::purpose::Purpose;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::{Overflow, Padding, Predicate};
use crate::dialect::nv_tileas::view;
use crate::facts::access::{self, Access};
use crate::ir::{Attr, BlockId, Dense, Float, Module, OpId, Type, TypeId, ValueId};
use crate::lower::build::{self, cased};
use crate::lower::tileas::look::is_zero;
use crate::scalar::Signedness;

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
fn of_elements(m: &Module, load: OpId, access: &Access) -> Option<(Float, Padding)> {
    let padding = access.padding.filter(|&p| p != Padding::Zero)?;
    match m.types.get(m.types.elem(m.ty(m.result(load)))) {
        Type::Float(f) => Some((*f, padding)),
        _ => None,
    }
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
    let Some((format, padding)) = of_elements(m, load, &access) else {
        return tile;
    };
    let mut inside: Option<ValueId> = None;
    for dim in (0..access.index.len()).filter(|&d| !access.inbounds[d]) {
        let Some(here) = within(m, block, &access, dim, m.ty(tile)) else {
            continue;
        };
        let ty = m.ty(here);
        inside = Some(match inside {
            Some(others) => m.at_end(block).value(C::AndI, &[others, here], [], ty),
            None => here,
        });
    }
    let Some(inside) = inside else {
        return tile;
    };
    let ty = m.ty(tile);
    let bytes = format.bits().div_ceil(8) as usize;
    let bits = build::padding(format, padding).to_le_bytes()[..bytes].to_vec();
    let data = Dense::Bytes(bits);
    let outside = [Some(Attr::Dense { data, ty })];
    let outside = m.at_end(block).value(C::Constant, &[], outside, ty);
    select(m, block, inside, tile, outside)
}

fn select(m: &mut Module, block: BlockId, cond: ValueId, yes: ValueId, no: ValueId) -> ValueId {
    let ty = m.ty(yes);
    m.at_end(block).value(C::Select, &[cond, yes, no], [], ty)
}

/// Which elements of a tile of type `ty` are inside of the tensor along `dim`: negative places are none.
fn within(
    m: &mut Module,
    block: BlockId,
    access: &Access,
    dim: usize,
    ty: TypeId,
) -> Option<ValueId> {
    let (index, extent) = (*access.index.get(dim)?, access.extent(dim)?);
    let step = access.traversal.get(dim).copied().unwrap_or(1);
    let shape = m.types.as_tile(ty)?.1.to_vec();
    let mut line = vec![1; shape.len()];
    line[dim] = shape[dim];
    let scalar = m.ty(index);
    let elem = m.types.elem(scalar);
    let along = m.types.tile(elem, &[shape[dim]]);
    let one = m.types.tile(elem, &[1]);
    let i1 = m.types.int(1);
    let flags = m.types.tile(i1, &[shape[dim]]);
    let (flags_line, all) = (m.types.tile(i1, &line), m.types.tile(i1, &shape));
    let wraps = || [cased(Overflow::None)];
    let mut b = m.at_end(block);
    let step = build::constant(&mut b, step, scalar);
    let origin = b.value(C::MulI, &[index, step], wraps(), scalar);
    let [origin, extent] = [origin, extent].map(|v| {
        let v = b.value(C::Reshape, &[v], [], one);
        b.value(C::Broadcast, &[v], [], along)
    });
    let place = b.value(C::Iota, &[], [], along);
    let place = b.value(C::AddI, &[place, origin], wraps(), along);
    let less = [cased(Predicate::LessThan), cased(Signedness::Unsigned)];
    let inside = b.value(C::CmpI, &[place, extent], less, flags);
    let inside = b.value(C::Reshape, &[inside], [], flags_line);
    Some(b.value(C::Broadcast, &[inside], [], all))
}
