//! Matmuls' operands whose rows are gathered by their numbers are loaded through pointers.
//!
//! ```text
//! x = tiled_load base, rows, 0      →      x = load base + rows · stride + (0, 1, 2, …), where rows < extent
//! ```
//! A view that gathers is a way to say where rows lie that neither tensor maps nor a ring's tiled copies know. Through
//! pointers, threads copy the rows to shared memory ahead of their use ([`super::pipeline`]), as those of programs that
//! compute the pointers themselves. What no matmul takes stays as it is: its rows' bounds are checked once for each row.

use super::look::place;
use super::pipeline::prefetch::feeds_matmul;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::{Ordering, Overflow, Predicate};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access::{self, Access};
use crate::ir::{Attr, BlockId, Dense, Module, OpBuilder, OpId, Type, TypeId, ValueId};
use crate::lower::build::{self, cased, int_cast};
use crate::scalar::Signedness;
use crate::target::{Feature, Target};

/// Rewrites every such load under `body`.
pub fn absorb(m: &mut Module, body: BlockId, target: &Target) {
    if !target.has(Feature::CpAsync) {
        return;
    }
    let ops = m.ops_under(body);
    let gathers = ops.iter().filter(|&&op| {
        let weak = access::ordering(m.op(op)) == Ordering::Weak;
        S::of(m.op(op).kind) == Some(S::TiledLoad) && weak && feeds_matmul(m, &ops, op)
    });
    let gathers: Vec<Gather> = gathers.filter_map(|&op| Gather::of(m, op)).collect();
    for gather in gathers {
        gather.rewrite(m);
    }
}

/// A load of gathered rows.
struct Gather {
    load: OpId,
    access: Access,
    shape: Vec<u64>,
    /// Elements of a tile, and what they are outside of the tensor.
    elem: TypeId,
    outside: Option<Vec<u8>>,
}

impl Gather {
    /// If its elements have addresses of their own, and its numbers and extents are of one type.
    fn of(m: &Module, load: OpId) -> Option<Gather> {
        let access = Access::of(m.op(load)).filter(|a| a.sparse.is_some())?;
        let (elem, shape) = m.types.as_tile(m.ty(m.result(load)))?;
        let bits = m.types.bits(elem).filter(|bits| bits.is_multiple_of(8))?;
        let numbers = |d: usize| m.types.elem(m.ty(access.index[d]));
        let alike = |d: usize| {
            access
                .extent(d)
                .is_none_or(|e| m.types.elem(m.ty(e)) == numbers(d))
        };
        let bytes = (bits / 8) as usize;
        let outside = access.padding.map(|padding| match m.types.get(elem) {
            Type::Float(f) => build::padding(*f, padding).to_le_bytes()[..bytes].to_vec(),
            _ => vec![0; bytes],
        });
        (0..shape.len()).all(alike).then(|| Gather {
            load,
            shape: shape.to_vec(),
            elem,
            outside,
            access: access.clone(),
        })
    }

    fn rewrite(&self, m: &mut Module) {
        let data = m.op(self.load).clone();
        let (block, at) = place(m, self.load);
        let mut b = m.at(block, at);
        b.loc = data.loc;
        let mut offset: Option<ValueId> = None;
        let mut inside: Option<ValueId> = None;
        for dim in 0..self.shape.len() {
            let places = self.places(&mut b, dim);
            if let Some(here) = self.within(&mut b, dim, places) {
                inside = Some(sum(&mut b, C::AndI, inside, here));
            }
            let steps = self.steps(&mut b, dim, places);
            offset = Some(sum(&mut b, C::AddI, offset, steps));
        }
        let pointer = b.module.ty(self.access.base);
        let pointers = self.whole(&mut b, self.access.base, pointer);
        let ty = b.module.ty(pointers);
        let offset = offset.as_slice();
        let pointers = b.value(C::Offset, &[&[pointers], offset].concat(), [], ty);
        let outside = inside.and(self.outside.clone()).map(|bytes| {
            let ty = b.module.types.tile(self.elem, &self.shape);
            let data = Dense::Bytes(bytes);
            b.value(C::Constant, &[], [Some(Attr::Dense { data, ty })], ty)
        });
        let token = access::token(&data);
        let groups: [&[ValueId]; 4] = [
            &[pointers],
            inside.as_slice(),
            outside.as_slice(),
            token.as_slice(),
        ];
        let attrs = ["order", "scope", "hints"].map(|name| data.attr_named(name).cloned());
        let types: Vec<TypeId> = data.results.iter().map(|&r| b.module.ty(r)).collect();
        let load = b.op(S::Load, &groups, attrs, &types, &[]);
        for (old, new) in data.results.iter().zip(m.op(load).results.clone()) {
            m.replace_all_uses(*old, new);
        }
        m.erase(self.load);
    }

    /// The numbers of the tensor's elements along a dimension, a tile of that one.
    fn places(&self, b: &mut OpBuilder<'_>, dim: usize) -> ValueId {
        let index = self.access.index[dim];
        if self.access.sparse == Some(dim) {
            return index;
        }
        let scalar = b.module.ty(index);
        let number = b.module.types.elem(scalar);
        let along = b.module.types.tile(number, &self.shape[dim..=dim]);
        let one = b.module.types.tile(number, &[1]);
        let step = self.access.traversal.get(dim).copied().unwrap_or(1);
        let origin = build::times(b, index, step);
        let origin = b.value(C::Reshape, &[origin], [], one);
        let origin = b.value(C::Broadcast, &[origin], [], along);
        let place = b.value(C::Iota, &[], [], along);
        b.value(C::AddI, &[place, origin], wraps(), along)
    }

    /// Which elements of the tile are inside of the tensor along a dimension: negative places are none.
    fn within(&self, b: &mut OpBuilder<'_>, dim: usize, places: ValueId) -> Option<ValueId> {
        let extent = self
            .access
            .extent(dim)
            .filter(|_| !self.access.inbounds[dim])?;
        let along = b.module.ty(places);
        let extent = spread(b, extent, along);
        let i1 = b.module.types.int(1);
        let flags = b.module.types.tile(i1, &self.shape[dim..=dim]);
        let less = [cased(Predicate::LessThan), cased(Signedness::Unsigned)];
        let inside = b.value(C::CmpI, &[places, extent], less, flags);
        Some(self.along(b, dim, inside))
    }

    /// How far the elements of the tile lie from the base along a dimension, in elements.
    fn steps(&self, b: &mut OpBuilder<'_>, dim: usize, places: ValueId) -> ValueId {
        let long = b.module.types.int(64);
        let along = b.module.types.tile(long, &self.shape[dim..=dim]);
        let scalar = b.module.types.tile(long, &[]);
        let places = int_cast(b, places, along);
        let steps = match self.access.stride(dim) {
            Some(stride) => {
                let stride = int_cast(b, stride, scalar);
                let stride = spread(b, stride, along);
                b.value(C::MulI, &[places, stride], wraps(), along)
            }
            None => places,
        };
        self.along(b, dim, steps)
    }

    /// A tile of one dimension, repeated along the others.
    fn along(&self, b: &mut OpBuilder<'_>, dim: usize, line: ValueId) -> ValueId {
        let elem = b.module.types.elem(b.module.ty(line));
        let mut shape = vec![1; self.shape.len()];
        shape[dim] = self.shape[dim];
        let ty = b.module.types.tile(elem, &shape);
        let line = b.value(C::Reshape, &[line], [], ty);
        let all = b.module.types.tile(elem, &self.shape);
        b.value(C::Broadcast, &[line], [], all)
    }

    /// A scalar of type `ty` in every element of the tile.
    fn whole(&self, b: &mut OpBuilder<'_>, value: ValueId, ty: TypeId) -> ValueId {
        let elem = b.module.types.elem(ty);
        let all = b.module.types.tile(elem, &self.shape);
        spread(b, value, all)
    }
}

/// A scalar in every element of a tile of type `ty`.
fn spread(b: &mut OpBuilder<'_>, value: ValueId, ty: TypeId) -> ValueId {
    let types = &b.module.types;
    let rank = types.as_tile(ty).map_or(0, |t| t.1.len());
    let elem = types.elem(ty);
    let ones = b.module.types.tile(elem, &vec![1; rank]);
    let one = b.value(C::Reshape, &[value], [], ones);
    b.value(C::Broadcast, &[one], [], ty)
}

/// `first`, if there is one, and `second` combined by an operation on tiles.
fn sum(b: &mut OpBuilder<'_>, kind: C, first: Option<ValueId>, second: ValueId) -> ValueId {
    let ty = b.module.ty(second);
    let attrs = (kind == C::AddI).then(wraps).into_iter().flatten();
    match first {
        Some(first) => b.value(kind, &[first, second], attrs.collect::<Vec<_>>(), ty),
        None => second,
    }
}

fn wraps() -> [Option<Attr>; 1] {
    [cased(Overflow::None)]
}
