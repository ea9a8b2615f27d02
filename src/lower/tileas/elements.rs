//! Elements of tiles as scalars: a producer is one thread, and needs the numbers that say where it loads from one by one.

use super::look::elements;
use super::numbers;
use super::pipeline::slice::Map;
use super::pipeline::tokens::loads_freely;
use super::strips::dims::is_splat;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::{Op as C, view};
use crate::dialect::enums::Overflow;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access;
use crate::ir::{Attr, Module, Op, OpBuilder, OpId, Type, TypeId, ValueId};
use crate::lower::build::{self, cased, int_cast};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the elements of a tile are computed of, all single elements, where each can be computed by itself: of loads that
/// nothing waits for and that wait for no write, of numbers and constants.
pub fn sources(m: &Module, tile: ValueId) -> Option<Vec<ValueId>> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut work = vec![tile];
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        if elements(m, value) == 1 {
            found.push(value);
            continue;
        }
        let op = m.def_op(value)?;
        let data = m.op(op);
        match C::of(data.kind) {
            Some(C::Iota) => {}
            Some(C::Constant) if is_splat(m, op) => {}
            Some(C::Reshape) => work.extend(&data.operands),
            Some(C::Broadcast) if elements(m, m.source(op)) == 1 => work.extend(&data.operands),
            Some(_) if data.def().traits.has(Traits::ELEMENTWISE) => work.extend(&data.operands),
            None if is_free_load(m, op) => found.extend(untokened(m, data)),
            None if is_free_gather(m, op) => work.extend(untokened(m, data)),
            _ => return None,
        }
    }
    Some(found)
}

/// Whether elements of what an operation loads may be loaded by themselves, all along one dimension.
fn is_free_load(m: &Module, op: OpId) -> bool {
    let long = |extent: &&u64| **extent > 1;
    let shape = m.types.as_tile(m.ty(m.result(op))).map(|t| t.1);
    numbers::is_independent(m, op) && shape.is_some_and(|s| s.iter().filter(long).count() == 1)
}

/// Whether elements of what an operation loads through pointers may be loaded by themselves.
fn is_free_gather(m: &Module, op: OpId) -> bool {
    S::of(m.op(op).kind) == Some(S::Load) && loads_freely(m, op) && numbers::is_unfollowed(m, op)
}

/// The operands of an access but for its token.
fn untokened<'m>(m: &'m Module, access: &'m Op) -> impl Iterator<Item = ValueId> + 'm {
    let token = |v: &ValueId| matches!(m.types.get(m.ty(*v)), Type::Token);
    access.operands.iter().copied().filter(move |v| !token(v))
}

/// A tile of one element as one of another shape.
pub fn shaped(b: &mut OpBuilder<'_>, value: ValueId, ty: TypeId) -> ValueId {
    match b.module.ty(value) == ty {
        true => value,
        false => b.value(C::Reshape, &[value], [], ty),
    }
}

/// The number of an element of a tile, counted row by row.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Known(u64),
    /// A scalar of 32 bits and so much.
    Counted(ValueId, u64),
}

impl Number {
    /// It as a number of this type.
    fn of(self, b: &mut OpBuilder<'_>, ty: TypeId) -> ValueId {
        match self {
            Self::Known(number) => build::constant(b, number as i64, ty),
            Self::Counted(counter, more) => {
                let elem = b.module.types.elem(ty);
                let scalar = b.module.types.tile(elem, &[]);
                let counter = int_cast(b, counter, scalar);
                let counter = shaped(b, counter, ty);
                let more = build::constant(b, more as i64, ty);
                let plain = [cased(Overflow::None)];
                b.value(C::AddI, &[counter, more], plain, ty)
            }
        }
    }
}

/// The elements of tiles with one number, as scalars.
pub struct Elements<'m, 'k> {
    b: OpBuilder<'m>,
    number: Number,
    made: FxHashMap<ValueId, ValueId>,
    /// For a program beside the tiles': what stands there for values of one element. It does not wait for tokens.
    beside: Option<&'k Map>,
}

impl<'m, 'k> Elements<'m, 'k> {
    /// Those with this `number`, made where `b` stands.
    pub fn new(b: OpBuilder<'m>, number: Number) -> Self {
        Self {
            b,
            number,
            made: FxHashMap::default(),
            beside: None,
        }
    }

    /// The same in a program that has `map`'s values.
    pub fn beside(b: OpBuilder<'m>, number: Number, map: &'k Map) -> Self {
        Self {
            beside: Some(map),
            ..Self::new(b, number)
        }
    }

    /// The element of a tile that has [`sources`].
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
        if elements(m, tile) == 1 {
            let known = self.known(tile);
            return Some(shaped(&mut self.b, known, scalar));
        }
        let op = m.def_op(tile)?;
        let data = m.op(op).clone();
        match C::of(data.kind) {
            Some(C::Iota) => Some(self.number.of(&mut self.b, scalar)),
            Some(C::Constant) => self.constant(&data, scalar),
            Some(C::Reshape | C::Broadcast) => self.of(*data.operands.first()?),
            Some(_) => {
                let operands: Option<Vec<ValueId>> =
                    data.operands.iter().map(|&v| self.of(v)).collect();
                let attrs = data.attrs.iter().cloned();
                Some(self.b.value(data.kind, &operands?, attrs, scalar))
            }
            None if S::of(data.kind) == Some(S::Load) => self.gather(&data, scalar),
            None => self.load(data, scalar),
        }
    }

    /// What stands for a value of one element.
    fn known(&self, value: ValueId) -> ValueId {
        let map = self.beside.and_then(|map| map.get(&value));
        map.copied().unwrap_or(value)
    }

    /// The element of a constant whose elements are equal.
    fn constant(&mut self, data: &Op, scalar: TypeId) -> Option<ValueId> {
        let Some(Attr::Dense { data, .. }) = view::Constant::of(data).map(|v| v.value()) else {
            return None;
        };
        let one = Attr::Dense {
            data: data.clone(),
            ty: scalar,
        };
        Some(self.b.value(C::Constant, &[], [Some(one)], scalar))
    }

    /// Loads the element of what a tiled load loads.
    fn load(&mut self, mut data: Op, scalar: TypeId) -> Option<ValueId> {
        let tile = self.b.module.ty(*data.results.first()?);
        let (_, shape) = self.b.module.types.as_tile(tile)?;
        let long: Vec<bool> = shape.iter().map(|&extent| extent > 1).collect();
        if self.beside.is_some() && access::token(&data).is_some() {
            // It is the last one.
            data.remove_operand(data.operands.len() - 1);
        }
        for operand in &mut data.operands {
            *operand = self.known(*operand);
        }
        let number = self.number;
        let inside = |b: &mut OpBuilder<'_>, dim: usize, ty| match long.get(dim) {
            Some(true) => number.of(b, ty),
            _ => build::constant(b, 0, ty),
        };
        let number = numbers::load_one(&mut self.b, &data, inside)?;
        Some(shaped(&mut self.b, number, scalar))
    }

    /// Loads the element of what a load through pointers loads.
    fn gather(&mut self, data: &Op, scalar: TypeId) -> Option<ValueId> {
        let mut groups: Vec<Vec<ValueId>> = Vec::new();
        for (i, group) in data.def().operands.iter().enumerate() {
            let own = data.group(i).iter();
            groups.push(match group.name {
                "token" if self.beside.is_some() => Vec::new(),
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
