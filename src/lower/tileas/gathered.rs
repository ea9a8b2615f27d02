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
use super::places;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::{Ordering, Overflow};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access::{self, Access};
use crate::ir::{BlockId, Module, OpBuilder, OpId, TypeId, ValueId};
use crate::lower::build::{self, cased, int_cast, splat};
use crate::target::{Feature, Target};

/// Rewrites every such load under `body` but those whose pages are `listed` ([`super::pages`]).
pub fn absorb(m: &mut Module, body: BlockId, target: &Target, listed: &[OpId]) {
    if !target.has(Feature::CpAsync) {
        return;
    }
    let ops = m.ops_under(body);
    let dense = |op: &&OpId| !listed.contains(op);
    let gathers = ops.iter().filter(dense).filter_map(|&op| Gather::of(m, op));
    let gathers: Vec<Gather> = gathers.filter(|g| feeds_matmul(m, &ops, g.load)).collect();
    for gather in gathers {
        gather.rewrite(m);
    }
}

/// A load of gathered rows.
pub(super) struct Gather {
    load: OpId,
    access: Access,
    shape: Vec<u64>,
}

impl Gather {
    /// If it is weak, its elements have addresses of their own, and its numbers and extents are of one type.
    pub(super) fn of(m: &Module, load: OpId) -> Option<Gather> {
        let data = m.op(load);
        let tiled = S::of(data.kind) == Some(S::TiledLoad);
        if !tiled || access::ordering(data) != Ordering::Weak {
            return None;
        }
        let access = Access::of(data).filter(|a| a.sparse.is_some())?;
        let (elem, shape) = m.types.as_tile(m.ty(m.result(load)))?;
        let elem_of = |v: ValueId| m.types.elem(m.ty(v));
        let alike = |d: usize| {
            let extent = access.extent(d);
            extent.is_none_or(|e| elem_of(e) == elem_of(access.index[d]))
        };
        let bytes = m.types.bits(elem)?.is_multiple_of(8);
        let shape = shape.to_vec();
        (bytes && (0..shape.len()).all(alike)).then_some(Gather {
            load,
            shape,
            access,
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
            let numbers = places::numbers(&mut b, &self.access, &self.shape, dim);
            if let Some(here) = places::inside(&mut b, &self.access, &self.shape, dim, numbers) {
                inside = Some(places::and(&mut b, inside, here));
            }
            let steps = self.steps(&mut b, dim, numbers);
            offset = Some(match offset {
                Some(others) => combined(&mut b, C::AddI, [others, steps]),
                None => steps,
            });
        }
        let pointer = b.module.types.elem(b.module.ty(self.access.base));
        let pointer = b.module.types.tile(pointer, &self.shape);
        let mut pointers = splat(&mut b, self.access.base, pointer);
        if let Some(offset) = offset {
            pointers = b.value(C::Offset, &[pointers, offset], [], pointer);
        }
        let tile = data.results.first().map(|&r| b.module.ty(r));
        let padding = inside.and(self.access.padding).zip(tile);
        let outside = padding.map(|(p, ty)| build::outside(&mut b, p, ty));
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

    /// How far elements with these `numbers` along a dimension lie from the base, in elements.
    fn steps(&self, b: &mut OpBuilder<'_>, dim: usize, numbers: ValueId) -> ValueId {
        let long = b.module.types.int(64);
        let line = b.module.types.tile(long, &self.shape[dim..=dim]);
        let scalar = b.module.types.tile(long, &[]);
        let mut steps = int_cast(b, numbers, line);
        if let Some(stride) = self.access.stride(dim) {
            let stride = int_cast(b, stride, scalar);
            let stride = splat(b, stride, line);
            steps = combined(b, C::MulI, [steps, stride]);
        }
        places::along(b, &self.shape, dim, steps)
    }
}

/// Two tiles of integers combined, which may wrap.
fn combined(b: &mut OpBuilder<'_>, kind: C, operands: [ValueId; 2]) -> ValueId {
    let ty = b.module.ty(operands[1]);
    b.value(kind, &operands, [cased(Overflow::None)], ty)
}
