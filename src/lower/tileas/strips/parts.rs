//! A dimension of tiles that is cut in parts, and what an operation on a part of it looks like.

use super::dims::{Dim, Dims, extents};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Overflow;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access::{Access, group, tile_of};
use crate::facts::gcd;
use crate::ir::{Attr, BlockId, Module, OpBuilder, OpId, Type, TypeId, ValueId};
use crate::lower::build::{cased, int_cast, times};
use crate::lower::tileas::buffers::{part_of, shared_type};
use crate::lower::tileas::look::place;
use crate::lower::tileas::missed::Refusal;
use crate::lower::tileas::pipeline::slice::{Map, copy};
use rustc_hash::{FxHashMap, FxHashSet};

/// The parts of a dimension.
pub struct Parts {
    pub count: u64,
    /// The dimension that is cut of each value.
    pub dims: FxHashMap<ValueId, usize>,
}

impl Parts {
    /// `count` parts of the dimensions in `set`, and the operations among `ops` that they concern.
    pub fn of(
        m: &Module,
        ops: &[OpId],
        dims: &mut Dims,
        set: Dim,
        count: u64,
    ) -> Result<(Parts, Vec<OpId>), Refusal> {
        let mut places = FxHashMap::default();
        let mut concerned: Vec<OpId> = Vec::new();
        for &op in ops {
            let mut here = values_of(m, op);
            let touched = here
                .iter()
                .filter_map(|&v| Some((v, dims.find(m, v, set)?)));
            let touched: Vec<_> = touched.collect();
            if !touched.is_empty() {
                concerned.push(op);
            }
            places.extend(touched);
            here.retain(|v| places.contains_key(v));
            if dims.meets_itself(m, &here, set) {
                return Err((
                    op,
                    "a tile has the dimension that would be split twice".into(),
                ));
            }
        }
        if let Some(&op) = concerned.first().filter(|_| !dims.divides(set, count)) {
            let why = format!(
                "a change of shape splits the dimension so that {count} parts of it are none"
            );
            return Err((op, why));
        }
        let parts = Parts {
            count,
            dims: places,
        };
        Ok((parts, concerned))
    }

    /// `new` is cut as `old` is.
    fn copied(&mut self, old: ValueId, new: ValueId) {
        self.dims.extend(self.dims.get(&old).map(|&d| (new, d)));
    }

    /// Appends to `block` the operations `again`, made elsewhere, for part number `part`; `map` says what they make.
    pub fn make_again(
        &mut self,
        m: &mut Module,
        again: &[OpId],
        block: BlockId,
        part: ValueId,
        map: &mut Map,
    ) {
        for &op in again {
            let new = copy(m, op, block, map);
            let old = m.op(op).results.clone();
            for (&old, &result) in old.iter().zip(&m.op(new).results.clone()) {
                self.narrow(m, old, result);
                self.copied(old, result);
            }
            self.shift(m, new, part, map, &old);
        }
    }

    /// Lets the operations `under` work on part number `part` (i32).
    pub fn rewrite(&mut self, m: &mut Module, under: &[OpId], part: ValueId) {
        self.tiles(m, under, part);
        self.accesses(m, under, part);
    }

    /// Makes the tiles of `under` those of part number `part` (i32).
    pub fn tiles(&mut self, m: &mut Module, under: &[OpId], part: ValueId) {
        let values: FxHashSet<ValueId> = under
            .iter()
            .flat_map(|&o| {
                let mut all = m.op(o).results.to_vec();
                for &r in &m.op(o).regions {
                    for &b in &m.region(r).blocks {
                        all.extend(&m.block(b).args);
                    }
                }
                all
            })
            .collect();
        for v in values {
            self.narrow(m, v, v);
        }
        for &op in under {
            let mut replaced = Map::default();
            let results = m.op(op).results.clone();
            self.shift(m, op, part, &mut replaced, &results);
            if !replaced.is_empty() {
                for &user in under {
                    m.replace_operands(user, &replaced);
                }
            }
        }
    }

    /// Lets the accesses of views and of tensor memory among `ops` begin at part number `part` (i32).
    pub fn accesses(&self, m: &mut Module, ops: &[OpId], part: ValueId) {
        for &op in ops {
            match S::of(m.op(op).kind) {
                Some(S::TiledLoad | S::TiledStore) => self.access(m, op, part),
                Some(S::LocalStore) => self.local_store(m, op, part),
                Some(S::TensorLoad) if self.dims.contains_key(&m.result(op)) => {
                    m.set_operand(op, "part", part);
                }
                _ => {}
            }
        }
    }

    /// The type of a part of `tile`.
    pub fn part_type(&self, m: &mut Module, tile: ValueId) -> TypeId {
        let whole = m.ty(tile);
        let Some(&dim) = self.dims.get(&tile) else {
            return whole;
        };
        let Type::Tile { elem, mut shape } = m.types.get(whole).clone() else {
            return whole;
        };
        if let Some(extent) = shape.get_mut(dim) {
            *extent /= self.count;
        }
        m.types.tile(elem, &shape)
    }

    /// Gives `new`, a tile like `old`, the type of a part of it.
    fn narrow(&self, m: &mut Module, old: ValueId, new: ValueId) {
        if !self.dims.contains_key(&old) {
            return;
        }
        let ty = self.part_type(m, old);
        retype(m, new, ty);
    }

    /// Numbers of elements begin at the part's first, and what is taken of a whole tile is that part.
    fn shift(&mut self, m: &mut Module, op: OpId, part: ValueId, map: &mut Map, old: &[ValueId]) {
        if C::of(m.op(op).kind) == Some(C::Extract) {
            let dim = old.first().and_then(|v| self.dims.get(v)).copied();
            let whole = !self.dims.contains_key(&m.source(op));
            if let Some(dim) = dim.filter(|_| whole)
                && let Some(index) = m.op_mut(op).operands.get_mut(1 + dim)
            {
                *index = part;
            }
            return;
        }
        if C::of(m.op(op).kind) != Some(C::Iota) || !old.iter().all(|v| self.dims.contains_key(v)) {
            return;
        }
        let result = m.result(op);
        let ty = m.ty(result);
        let (elem, length) = (
            m.types.elem(ty),
            extents(m, result).first().copied().unwrap_or(1),
        );
        let (scalar, one) = (m.types.tile(elem, &[]), m.types.tile(elem, &[1]));
        let mut b = after(m, op);
        let first = int_cast(&mut b, part, scalar);
        let first = times(&mut b, first, length as i64);
        let first = b.value(C::Reshape, &[first], [], one);
        let first = b.value(C::Broadcast, &[first], [], ty);
        let moved = b.value(C::AddI, &[result, first], [cased(Overflow::None)], ty);
        self.dims.insert(moved, 0);
        for &v in old {
            map.insert(v, moved);
        }
    }

    /// Whether the operation, if it stores a part to shared memory, can do so.
    pub fn stores(&self, m: &Module, op: OpId) -> bool {
        let Some(v) = view::LocalStore::of(m.op(op)) else {
            return true;
        };
        let dim = self.dims.get(&v.tile());
        dim.is_none_or(|&dim| part_of(m, v.destination(), dim, self.count).is_some())
    }

    /// A part goes to its place in a buffer, which holds them as if they were stages.
    fn local_store(&self, m: &mut Module, op: OpId, part: ValueId) {
        let Some(v) = view::LocalStore::of(m.op(op)) else {
            return;
        };
        let (tile, buffer) = (v.tile(), v.destination());
        let layout = self.dims.get(&tile);
        let layout = layout.and_then(|&dim| part_of(m, buffer, dim, self.count));
        let (Some(layout), Some(alloc)) = (layout, m.def_op(buffer)) else {
            return;
        };
        let ty = shared_type(m, tile, &layout, self.count as u32);
        let parts = after(m, alloc).value(S::SharedView, &[buffer], [], ty);
        m.set_operand(op, "destination", parts);
        m.set_operand(op, "iteration", part);
    }

    /// A view's tile begins at the part's first element.
    fn access(&self, m: &mut Module, op: OpId, part: ValueId) {
        let Some(tile) = tile_of(m, op) else {
            return;
        };
        let Some(&dim) = self.dims.get(&tile) else {
            return;
        };
        let length = extents(m, tile).get(dim).copied().unwrap_or(1) as i64;
        begin_at_part(m, op, dim, length, part);
    }
}

/// Gives a value another type of the same elements; a constant is one number everywhere.
pub fn retype(m: &mut Module, value: ValueId, ty: TypeId) {
    m.value_mut(value).ty = ty;
    if let Some(op) = m.def_op(value)
        && C::of(m.op(op).kind) == Some(C::Constant)
        && let Some(Attr::Dense { ty: of, .. }) = m.attr_mut(op, "value")
    {
        *of = ty;
    }
}

/// Lets the access `op` of a view begin at the first element of part number `part` (i32) of its tile's dimension `dim`,
/// of which a part has `length` elements.
pub fn begin_at_part(m: &mut Module, op: OpId, dim: usize, length: i64, part: ValueId) {
    let Some(access) = Access::of(m.op(op)) else {
        return;
    };
    let step = access.traversal[dim];
    // Positions are counted in what divides both the old steps and the parts.
    let unit = gcd(step.unsigned_abs(), length.unsigned_abs()) as i64;
    let index = access.index[dim];
    let ty = m.ty(index);
    let mut b = before(m, op);
    let old = times(&mut b, index, step / unit);
    let part = int_cast(&mut b, part, ty);
    let part = times(&mut b, part, length / unit);
    let new = b.value(C::AddI, &[old, part], [cased(Overflow::None)], ty);
    let data = m.op(op);
    let names = data.def().operands.iter().take_while(|o| o.name != "index");
    let at: usize = names.map(|o| group(data, o.name).len()).sum::<usize>() + dim;
    if let Some(slot) = m.op_mut(op).operands.get_mut(at) {
        *slot = new;
    }
    if let Some(Attr::I32s(list)) = m.attr_mut(op, "traversal")
        && let Some(slot) = list.get_mut(dim)
    {
        *slot = unit as i32;
    }
}

/// The values that an operation uses and makes, with the arguments of its blocks.
fn values_of(m: &Module, op: OpId) -> Vec<ValueId> {
    let data = m.op(op);
    let mut all: Vec<ValueId> = data.operands.iter().chain(&data.results).copied().collect();
    for &region in &data.regions {
        for &block in &m.region(region).blocks {
            all.extend(&m.block(block).args);
        }
    }
    all
}

/// A builder behind `op`.
fn after(m: &mut Module, op: OpId) -> OpBuilder<'_> {
    let (block, at) = place(m, op);
    m.at(block, at + 1)
}

/// A builder in front of `op`.
pub fn before(m: &mut Module, op: OpId) -> OpBuilder<'_> {
    let (block, at) = place(m, op);
    m.at(block, at)
}
