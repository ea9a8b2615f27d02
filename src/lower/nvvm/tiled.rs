//! What a tiled access is for one thread: elements in memory order, vectors, edges.

use super::atomics::redundant_threads;
use super::shape::Coords;
use super::{Emit, Lower};
use crate::dialect::enums::Predicate;
use crate::dialect::nvvm::Op as N;
use crate::facts::FactMap;
use crate::facts::access::{Access, constant, pointee};
use crate::ir::{Diagnostic, Op, OpId, TypeId, ValueId};
use crate::layout::Layout;
use crate::lower::unsupported;
use crate::scalar::Signedness;

/// A tiled access of one thread, worked out.
pub struct Tiled {
    pub access: Access,
    pub tile: Vec<u64>,
    pub elem: TypeId,
    /// Bytes of an element.
    pub(super) bytes: u64,
    /// Registers in memory order: runs of `vec` are one access.
    pub(super) registers: Vec<u32>,
    /// Elements per access.
    pub(super) vec: u64,
    /// First element of the tile, per dimension (in the index's type).
    pub(super) origin: Vec<ValueId>,
    pub(super) coords: Vec<Coords>,
    /// Element numbers along the sparse dimension, one for each of the tile's registers.
    pub(super) rows: Option<ValueId>,
    /// Bits of tid that only repeat elements.
    pub(super) redundant: u64,
    /// The contiguous dimension, where a coordinate along it counts two elements of four bits and
    /// the strides of the others are halved to bytes.
    pub(super) halved: Option<usize>,
}

impl Tiled {
    /// Elements between neighbours along `dim`, if known, in what `bytes` counts.
    pub(super) fn known_stride(&self, facts: &FactMap, dim: usize) -> Option<i64> {
        let stride = constant(facts, self.access.stride(dim)?)?;
        let halve = self.halved.is_some_and(|inner| inner != dim);
        Some(if halve { stride / 2 } else { stride })
    }

    /// With a sparse dimension that may be outside: everything else is known to be inside.
    pub(super) fn others_known(&self, known: &[bool]) -> Option<Vec<bool>> {
        let sparse = self.access.sparse.filter(|&d| !known[d])?;
        Some((0..known.len()).map(|d| d != sparse).collect())
    }
}

impl Lower<'_> {
    /// Works out the access of `op` for the layout of `tile`.
    pub fn tiled(&mut self, op: OpId, data: &Op, tile: ValueId) -> Result<Tiled, Diagnostic> {
        let shape = self
            .m
            .types
            .as_tile(self.m.ty(tile))
            .map_or(vec![], |t| t.1.to_vec());
        let layout = self
            .layout(tile)
            .unwrap_or_else(|| Layout::unit(shape.len()));
        self.tiled_as(op, data, shape, layout)
    }

    /// Works out the access of `op` to a tile of `shape` in `layout`.
    pub fn tiled_as(
        &mut self,
        op: OpId,
        data: &Op,
        shape: Vec<u64>,
        layout: Layout,
    ) -> Result<Tiled, Diagnostic> {
        let Some(access) = Access::of(data) else {
            return Err(unsupported(self.m, op, "not a tiled access"));
        };
        let elem = pointee(self.m, access.base);
        let elem = self.stored(elem);
        let bits = self.m.types.width(elem);
        let order = access.order(&self.facts);
        let halved = match self.m.types.bits(pointee(self.m, access.base)) {
            Some(4) => Some(self.halved_dim(op, &access, &order)?),
            _ => None,
        };
        let contiguous = layout.contiguous_in_thread(&order);
        let contiguous = self.layout_error(op, contiguous)?;
        let bytes = u64::from(bits / 8);
        let whole = pointee(self.m, access.base);
        let run = match halved {
            Some(inner) => doubled(&shape, inner),
            None => shape.clone(),
        };
        let aligned = access.alignment(self.m, &self.facts, &run, whole) / bytes;
        let vec = contiguous.min(aligned).min(16 / bytes).max(1);
        let inner = order.first().copied().unwrap_or(0);
        let mut origin = Vec::new();
        let mut coords = Vec::new();
        for dim in 0..shape.len() {
            if access.sparse == Some(dim) {
                origin.push(self.emit().i32(0));
            } else {
                let index = self.get(op, access.index[dim])?;
                let step = access.traversal.get(dim).copied().unwrap_or(1);
                let step = if halved == Some(dim) { step / 2 } else { step };
                origin.push(self.emit().with(N::Mul, index, step));
            }
            coords.push(self.coords(op, &layout, dim)?);
        }
        let redundant = redundant_threads(&layout);
        let registers = memory_order(&layout, inner, vec);
        let rows = match access.sparse {
            Some(dim) => Some(self.sparse_rows(op, access.index[dim], &layout, dim)?),
            None => None,
        };
        Ok(Tiled {
            rows,
            access,
            tile: shape,
            elem,
            bytes,
            registers,
            vec,
            origin,
            coords,
            redundant,
            halved,
        })
    }

    /// For each register of a tile of `layout`, the element number in `index` (a tile of one
    /// dimension) of its coordinate along `dim`.
    pub(super) fn sparse_rows(
        &mut self,
        op: OpId,
        index: ValueId,
        layout: &Layout,
        dim: usize,
    ) -> Result<ValueId, Diagnostic> {
        let value = self.get(op, index)?;
        let Some(have) = self.layout(index) else {
            return Ok(value);
        };
        let mut along = layout.clone();
        for other in (0..layout.rank()).rev().filter(|&d| d != dim) {
            along = self.layout_error(op, along.slice(other))?;
        }
        let want = along.without_redundant_registers().0;
        let value = self.convert_value(op, value, &have, &want)?;
        let place = |r: u64| {
            let row = along.flat(r, 0, 0);
            (0..want.registers()).find(|&s| want.flat(s, 0, 0) == row)
        };
        let map: Vec<u32> = (0..along.registers())
            .map(|r| place(r).unwrap_or(0) as u32)
            .collect();
        Ok(self.emit().take(value, &map))
    }

    /// The extent of the tensor along tile dimension `dim`, in what the tile's coordinates count.
    pub(super) fn extent(
        &mut self,
        op: OpId,
        t: &Tiled,
        dim: usize,
    ) -> Result<Option<ValueId>, Diagnostic> {
        let Some(extent) = t.access.extent(dim) else {
            return Ok(None);
        };
        let extent = self.get(op, extent)?;
        let halve = t.halved == Some(dim);
        Ok(Some(if halve {
            self.emit().with(N::ShrU, extent, 1)
        } else {
            extent
        }))
    }

    /// The stride along tile dimension `dim`, in what [`Tiled`]'s `bytes` multiplies.
    pub(super) fn stride(
        &mut self,
        op: OpId,
        t: &Tiled,
        dim: usize,
    ) -> Result<Option<ValueId>, Diagnostic> {
        let Some(stride) = t.access.stride(dim) else {
            return Ok(None);
        };
        let stride = self.get(op, stride)?;
        let halve = t.halved.is_some_and(|inner| inner != dim);
        Ok(Some(if halve {
            self.emit().with(N::ShrS, stride, 1)
        } else {
            stride
        }))
    }

    /// Whether the whole tile is inside the tensor, and per dimension whether that is known.
    pub(super) fn inside(
        &mut self,
        op: OpId,
        t: &Tiled,
    ) -> Result<(Option<ValueId>, Vec<bool>), Diagnostic> {
        let mut all: Option<ValueId> = None;
        let mut known = Vec::new();
        for dim in 0..t.tile.len() {
            let certain = t.access.inbounds[dim] || self.covers(t, dim);
            known.push(certain);
            if certain || t.access.sparse == Some(dim) {
                continue;
            }
            let Some(extent) = self.extent(op, t, dim)? else {
                continue;
            };
            let mut e = self.emit();
            let (origin, extent) = same_width(&mut e, t.origin[dim], extent);
            let end = e.with(N::Add, origin, t.tile[dim] as i64);
            let fits = e.icmp(Predicate::LessThanOrEqual, Signedness::Signed, end, extent);
            all = Some(match all {
                Some(all) => e.and(all, fits),
                None => fits,
            });
        }
        Ok((all, known))
    }

    /// Whether facts say that every tile along `dim` lies inside.
    pub(super) fn covers(&self, t: &Tiled, dim: usize) -> bool {
        if t.access.sparse == Some(dim) {
            return false;
        }
        let extent = t.access.extent(dim).and_then(|e| constant(&self.facts, e));
        let index = self.facts.get(t.access.index[dim]);
        let mut step = t.access.traversal.get(dim).copied().unwrap_or(1);
        let (Some(mut extent), Some(index)) = (extent, index) else {
            return false;
        };
        if t.halved == Some(dim) {
            (extent, step) = (extent / 2, step / 2);
        }
        index.lo >= 0
            && index
                .hi
                .checked_mul(step)
                .and_then(|o| o.checked_add(t.tile[dim] as i64))
                .is_some_and(|end| end <= extent)
    }

    /// Elements per access for which one mask is right: the inner extent is a multiple of it.
    pub(super) fn mask_vector(&self, t: &Tiled, known: &[bool]) -> u64 {
        let order = t.access.order(&self.facts);
        let Some(&inner) = order.first() else {
            return t.vec;
        };
        if known.get(inner).copied().unwrap_or(true) {
            return t.vec;
        }
        let divisor = t
            .access
            .extent(inner)
            .and_then(|e| self.facts.get(e))
            .map_or(1, |f| f.divisor);
        let divisor = match t.halved {
            Some(_) if divisor == 1 => 1,
            Some(_) => divisor / 2,
            None => divisor,
        };
        if divisor == 0 {
            t.vec
        } else {
            t.vec.min(divisor & divisor.wrapping_neg())
        }
    }

    /// For a tile that starts with its rows, of which masks may break the vectors: whether they do not, for the
    /// rows' extent is a multiple of a vector's elements. Such a tile often is longer than a row, and then never inside.
    pub(super) fn whole_vectors(
        &mut self,
        op: OpId,
        t: &Tiled,
    ) -> Result<Option<ValueId>, Diagnostic> {
        let order = t.access.order(&self.facts);
        let starts = |&d: &usize| {
            t.access.sparse != Some(d) && constant(&self.facts, t.access.index[d]) == Some(0)
        };
        let Some(inner) = order.first().copied().filter(starts) else {
            return Ok(None);
        };
        let Some(extent) = self.extent(op, t, inner)? else {
            return Ok(None);
        };
        let mut e = self.emit();
        let rest = e.with(N::And, extent, t.vec as i64 - 1);
        let zero = e.zero_like(rest);
        Ok(Some(e.icmp(
            Predicate::Equal,
            Signedness::Unsigned,
            rest,
            zero,
        )))
    }
}

/// Registers such that runs of `vec` lie next to each other along `inner`.
pub(super) fn memory_order(layout: &Layout, inner: usize, vec: u64) -> Vec<u32> {
    let mut registers: Vec<u32> = (0..layout.registers() as u32).collect();
    if layout.rank() == 0 {
        return registers;
    }
    let shape = layout.shape();
    let along = |r: u32| shape.coord(layout.flat(u64::from(r), 0, 0), inner);
    // Stable: registers of one run keep the order of the rest of their numbers.
    let run = |r: u32| {
        let flat = layout.flat(u64::from(r), 0, 0);
        let coord = along(r);
        flat ^ shape.along(inner, coord) ^ shape.along(inner, coord - coord % vec)
    };
    let mut first = rustc_hash::FxHashMap::default();
    for &r in &registers {
        first.entry(run(r)).or_insert(r);
    }
    registers.sort_by_key(|&r| (first[&run(r)], along(r)));
    registers
}

/// `shape` with twice the extent along `dim`.
pub(super) fn doubled(shape: &[u64], dim: usize) -> Vec<u64> {
    let mut shape = shape.to_vec();
    if let Some(extent) = shape.get_mut(dim) {
        *extent *= 2;
    }
    shape
}

/// The permutation that undoes `p`.
pub(super) fn inverse(p: &[u32]) -> Vec<u32> {
    let mut out = vec![0; p.len()];
    for (i, &r) in p.iter().enumerate() {
        out[r as usize] = i as u32;
    }
    out
}

/// Two integers, the narrower one sign-extended.
pub(super) fn same_width(e: &mut Emit<'_>, a: ValueId, b: ValueId) -> (ValueId, ValueId) {
    let bits = |e: &Emit<'_>, v| e.m.types.width(e.m.ty(v));
    let width = bits(e, a).max(bits(e, b));
    (e.int_cast(a, width), e.int_cast(b, width))
}
