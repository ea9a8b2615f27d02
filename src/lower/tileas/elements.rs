//! Elements of tiles as scalars: a producer is one thread, and needs the numbers that say where it loads from one by one.

use super::look::elements;
use super::numbers;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Ordering;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{self, constant};
use crate::ir::{Module, Op, OpBuilder, OpId, TypeId, ValueId};
use crate::lower::build;
use rustc_hash::FxHashMap;

/// Whether each element of a tile can be computed by itself: of loads that nothing waits for, of numbers and constants.
pub fn has_elements(m: &Module, facts: &FactMap, tile: ValueId) -> bool {
    if elements(m, tile) == 1 || constant(facts, tile).is_some() {
        return true;
    }
    let Some(op) = m.def_op(tile) else {
        return false;
    };
    let data = m.op(op);
    let all = |values: &[ValueId]| values.iter().all(|&v| has_elements(m, facts, v));
    match C::of(data.kind) {
        Some(C::Iota) => true,
        Some(C::Reshape) => all(&data.operands),
        Some(C::Broadcast) => elements(m, m.source(op)) == 1,
        Some(_) => data.def().traits.has(Traits::ELEMENTWISE) && all(&data.operands),
        None if S::of(data.kind) == Some(S::Load) => is_free_gather(m, op) && all(&addressed(data)),
        None => is_free_load(m, op),
    }
}

/// Whether elements of what an operation loads may be loaded by themselves, all along one dimension.
fn is_free_load(m: &Module, op: OpId) -> bool {
    let long = |extent: &&u64| **extent > 1;
    let shape = m.types.as_tile(m.ty(m.result(op))).map(|t| t.1);
    numbers::is_free(m, op) && shape.is_some_and(|s| s.iter().filter(long).count() == 1)
}

/// Whether elements of what an operation loads through pointers may be loaded by themselves.
fn is_free_gather(m: &Module, op: OpId) -> bool {
    access::ordering(m.op(op)) == Ordering::Weak && numbers::is_unfollowed(m, op)
}

/// The tiles that say what a load through pointers loads.
fn addressed(load: &Op) -> Vec<ValueId> {
    let of = |name| access::group(load, name);
    ["pointers", "mask", "padding"]
        .into_iter()
        .flat_map(of)
        .copied()
        .collect()
}

/// A tile of one element as one of another shape.
pub fn shaped(b: &mut OpBuilder<'_>, value: ValueId, ty: TypeId) -> ValueId {
    match b.module.ty(value) == ty {
        true => value,
        false => b.value(C::Reshape, &[value], [], ty),
    }
}

/// The elements of tiles with one number, counted row by row, as scalars.
pub struct Elements<'m, 'f> {
    b: OpBuilder<'m>,
    facts: &'f FactMap,
    number: i64,
    made: FxHashMap<ValueId, ValueId>,
}

impl<'m, 'f> Elements<'m, 'f> {
    /// Those with this `number`, made where `b` stands.
    pub fn new(b: OpBuilder<'m>, facts: &'f FactMap, number: u64) -> Self {
        Self {
            b,
            facts,
            number: number as i64,
            made: FxHashMap::default(),
        }
    }

    /// The element of a tile that [`has_elements`].
    pub fn of(&mut self, tile: ValueId) -> Option<ValueId> {
        if let Some(&made) = self.made.get(&tile) {
            return Some(made);
        }
        let made = self.make(tile)?;
        self.made.insert(tile, made);
        Some(made)
    }

    fn make(&mut self, tile: ValueId) -> Option<ValueId> {
        let m = &mut *self.b.module;
        let elem = m.types.elem(m.ty(tile));
        let scalar = m.types.tile(elem, &[]);
        if let Some(known) = constant(self.facts, tile) {
            return Some(build::constant(&mut self.b, known, scalar));
        }
        if elements(m, tile) == 1 {
            return Some(shaped(&mut self.b, tile, scalar));
        }
        let op = m.def_op(tile)?;
        let data = m.op(op).clone();
        match C::of(data.kind) {
            Some(C::Iota) => Some(build::constant(&mut self.b, self.number, scalar)),
            Some(C::Reshape | C::Broadcast) => self.of(*data.operands.first()?),
            Some(_) => {
                let operands: Option<Vec<ValueId>> =
                    data.operands.iter().map(|&v| self.of(v)).collect();
                let attrs = data.attrs.iter().cloned();
                Some(self.b.value(data.kind, &operands?, attrs, scalar))
            }
            None if S::of(data.kind) == Some(S::Load) => self.gather(&data, scalar),
            None => self.load(&data, scalar),
        }
    }

    /// Loads the element of what a tiled load loads.
    fn load(&mut self, data: &Op, scalar: TypeId) -> Option<ValueId> {
        let tile = self.b.module.ty(*data.results.first()?);
        let (_, shape) = self.b.module.types.as_tile(tile)?;
        let along = |&extent: &u64| if extent > 1 { self.number } else { 0 };
        let inside: Vec<i64> = shape.iter().map(along).collect();
        let number = numbers::load_one(&mut self.b, data, &inside)?;
        Some(shaped(&mut self.b, number, scalar))
    }

    /// Loads the element of what a load through pointers loads.
    fn gather(&mut self, data: &Op, scalar: TypeId) -> Option<ValueId> {
        let mut groups: Vec<Vec<ValueId>> = Vec::new();
        for (i, group) in data.def().operands.iter().enumerate() {
            let own = data.group(i).iter();
            groups.push(match group.name {
                "token" => own.copied().collect(),
                _ => own.map(|&v| self.of(v)).collect::<Option<_>>()?,
            });
        }
        let &[_, token] = &data.results[..] else {
            return None;
        };
        let groups: Vec<&[ValueId]> = groups.iter().map(Vec::as_slice).collect();
        let types = [scalar, self.b.module.ty(token)];
        let attrs = data.attrs.iter().cloned();
        let load = self.b.op(data.kind, &groups, attrs, &types, &[]);
        self.b.module.op(load).results.first().copied()
    }
}
