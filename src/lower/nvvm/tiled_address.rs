//! Addresses and masks of a tiled access.
//!
//! The address of an element is `base + Σ (origin + coordinate) · stride` over the tile's
//! dimensions. What is the same for all of a thread's registers is computed once; constant strides
//! put the registers' share into immediates; dynamic strides cost one product per distinct
//! coordinate.

use super::Lower;
use super::shape::Coords;
use super::tiled::{Tiled, same_width};
use crate::dialect::enums::Predicate;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::constant;
use crate::ir::{Def, Diagnostic, OpId, ValueId};
use crate::scalar::Signedness;

impl Lower<'_> {
    /// Addresses of the accesses of `vec` elements: a scalar or one per access, and immediates.
    pub fn addresses(
        &mut self,
        op: OpId,
        t: &Tiled,
        vec: u64,
    ) -> Result<(ValueId, Vec<i64>), Diagnostic> {
        let leaders: Vec<u32> = t.registers.iter().copied().step_by(vec as usize).collect();
        let mut offsets = vec![0i64; leaders.len()];
        let mut base = self.get(op, t.access.base)?;
        let mut varying = Vec::new();
        let mut origins = Vec::new();
        for dim in 0..t.tile.len() {
            let Some(stride) = self.stride(op, t, dim)? else {
                continue;
            };
            let known = t.known_stride(&self.facts, dim);
            if let Some(rows) = t.rows.filter(|_| t.access.sparse == Some(dim)) {
                let all = (0..leaders.len() as u32).collect();
                varying.push((self.row_part(t, rows, &leaders, stride), all));
                continue;
            }
            let coords = t.coords[dim].clone();
            origins.push((self.depth(t.access.index[dim]), t.origin[dim], stride));
            if !coords.has_xor() {
                base = self.advance(base, coords.thread, stride, t.bytes);
            }
            let differs = leaders
                .iter()
                .any(|&r| coords.registers[r as usize] != (0, 0));
            match known {
                _ if !differs => {}
                Some(stride) if !coords.has_xor() => {
                    // Addresses wrap, as their sums do on the target.
                    let step = stride.wrapping_mul(t.bytes as i64);
                    for (offset, &r) in offsets.iter_mut().zip(&leaders) {
                        let bytes = step.wrapping_mul(coords.registers[r as usize].1 as i64);
                        *offset = offset.wrapping_add(bytes);
                    }
                }
                _ => varying.push(self.register_part(&coords, &leaders, stride, t.bytes)),
            }
        }
        // What changes most often is added last, so that the sum of the rest leaves loops.
        origins.sort_by_key(|o| o.0);
        for (_, origin, stride) in origins {
            base = self.advance(base, origin, stride, t.bytes);
        }
        let mut e = self.emit();
        let address = match &varying[..] {
            [] => base,
            // Each distinct address is computed once.
            [(part, expand)] => {
                let addresses = e.ptr_add(base, *part);
                e.take(addresses, expand)
            }
            parts => {
                let parts = parts.iter().map(|(part, expand)| e.take(*part, expand));
                let parts: Vec<ValueId> = parts.collect();
                let sum = parts.into_iter().reduce(|a, b| e.add(a, b));
                sum.map_or(base, |sum| e.ptr_add(base, sum))
            }
        };
        Ok((address, offsets))
    }

    /// `base` and `steps` strides of elements of `bytes`.
    fn advance(&mut self, base: ValueId, steps: ValueId, stride: ValueId, bytes: u64) -> ValueId {
        let mut e = self.emit();
        let (steps, stride) = (e.int_cast(steps, 64), e.int_cast(stride, 64));
        let scaled = e.mul(steps, stride);
        let scaled = e.with(N::Mul, scaled, bytes as i64);
        e.ptr_add(base, scaled)
    }

    /// How many blocks are around what makes a value.
    fn depth(&self, value: ValueId) -> usize {
        let mut block = match self.m.value(value).def {
            Def::Argument { block, .. } => block,
            Def::Result { op, .. } => self.m.op(op).block,
        };
        let mut depth = 0;
        while let Some(parent) = self.m.parent_of_block(block) {
            block = self.m.op(parent).block;
            depth += 1;
        }
        depth
    }

    /// Bytes that each leader adds along one dimension: a product for each distinct coordinate, and which of these
    /// each leader has.
    pub(super) fn register_part(
        &mut self,
        coords: &Coords,
        leaders: &[u32],
        stride: ValueId,
        bytes: u64,
    ) -> (ValueId, Vec<u32>) {
        let mut distinct: Vec<(u64, u64)> = Vec::new();
        let mut expand = Vec::new();
        for place in leaders.iter().map(|&r| coords.registers[r as usize]) {
            let at = distinct.iter().position(|d| *d == place);
            let at = at.unwrap_or_else(|| {
                distinct.push(place);
                distinct.len() - 1
            });
            expand.push(at as u32);
        }
        let (xors, adds): (Vec<i64>, Vec<i64>) =
            distinct.iter().map(|d| (d.0 as i64, d.1 as i64)).unzip();
        let (n, bytes) = (distinct.len() as u32, bytes as i64);
        let mut e = self.emit();
        let elem = e.m.ty(stride);
        let stride = e.widen(stride, n);
        let stride = e.int_cast(stride, 64);
        let part = if coords.has_xor() {
            let thread = e.int_cast(coords.thread, 64);
            let i64_ty = e.int(64);
            let xors = e.array(&xors, i64_ty);
            let adds = e.array(&adds, i64_ty);
            let place = e.xor(thread, xors);
            let position = e.add(place, adds);
            let scaled = e.mul(position, stride);
            e.with(N::Mul, scaled, bytes)
        } else {
            // In the stride's own width: the product is one of narrow numbers where both are.
            let adds: Vec<i64> = adds.iter().map(|a| a * bytes).collect();
            let narrow = e.m.types.bits(elem) == Some(32);
            let fits = adds.iter().all(|&a| i32::try_from(a).is_ok());
            let elem = if narrow && fits { elem } else { e.int(64) };
            let adds = e.array(&adds, elem);
            let adds = e.int_cast(adds, 64);
            e.mul(stride, adds)
        };
        (e.widen(part, n), expand)
    }

    /// Bytes from the base to the row of each leader.
    pub(super) fn row_part(
        &mut self,
        t: &Tiled,
        rows: ValueId,
        leaders: &[u32],
        stride: ValueId,
    ) -> ValueId {
        let mut e = self.emit();
        let rows = e.take(rows, leaders);
        let rows = e.int_cast(rows, 64);
        let stride = e.int_cast(stride, 64);
        let scaled = e.mul(rows, stride);
        e.with(N::Mul, scaled, t.bytes as i64)
    }

    /// Which accesses of `vec` elements are inside: an i1 per access, or one for all.
    pub(super) fn mask(
        &mut self,
        op: OpId,
        t: &Tiled,
        vec: u64,
        known: &[bool],
    ) -> Result<Option<ValueId>, Diagnostic> {
        let leaders: Vec<u32> = t.registers.iter().copied().step_by(vec as usize).collect();
        let mut mask: Option<ValueId> = None;
        for dim in (0..t.tile.len()).filter(|&d| !known[d]) {
            let Some(extent) = self.extent(op, t, dim)? else {
                continue;
            };
            if let Some(rows) = t.rows.filter(|_| t.access.sparse == Some(dim)) {
                let mut e = self.emit();
                let rows = e.take(rows, &leaders);
                let (rows, extent) = same_width(&mut e, rows, extent);
                let inside = e.icmp(Predicate::LessThan, Signedness::Unsigned, rows, extent);
                mask = Some(match mask {
                    Some(mask) => e.and(mask, inside),
                    None => inside,
                });
                continue;
            }
            let (inside, expand) = match self.ends(t, dim, vec) {
                Some((first, ends, expand)) => {
                    let mut e = self.emit();
                    let inside = e.icmp(Predicate::LessThan, Signedness::Signed, first, ends);
                    (inside, expand)
                }
                None => {
                    let (position, extent, expand) = self.positions(t, dim, vec, extent);
                    let mut e = self.emit();
                    let unsigned = Signedness::Unsigned;
                    let inside = e.icmp(Predicate::LessThan, unsigned, position, extent);
                    (inside, expand)
                }
            };
            let mut e = self.emit();
            let inside = e.take(inside, &expand);
            mask = Some(match mask {
                Some(mask) => e.and(mask, inside),
                None => inside,
            });
        }
        Ok(mask)
    }

    /// Where the first access of a thread begins along a dimension and, for each distinct access, the place before
    /// which that must be for it to be inside: numbers, where the extent is one and no position is negative or
    /// overflows. And which of these each access has.
    fn ends(&mut self, t: &Tiled, dim: usize, vec: u64) -> Option<(ValueId, ValueId, Vec<u32>)> {
        let coords = t.coords[dim].clone();
        let extent = constant(&self.facts, t.access.extent(dim)?)?;
        let index = self.facts.get(t.access.index[dim])?;
        let step = t.access.traversal.get(dim).copied().unwrap_or(1);
        let last = index
            .hi
            .checked_mul(step)?
            .checked_add(t.tile[dim] as i64)?;
        let narrow = |n: i64| i32::try_from(n).is_ok();
        if coords.has_xor()
            || t.halved == Some(dim)
            || index.lo < 0
            || !narrow(last)
            || !narrow(extent)
        {
            return None;
        }
        let (distinct, expand) = distinct_places(&coords, t, vec);
        let mut e = self.emit();
        let elem = e.m.ty(t.origin[dim]);
        let thread = e.int_cast(coords.thread, e.m.types.width(elem));
        let first = e.add(t.origin[dim], thread);
        let end = |r: &u32| extent - coords.registers[*r as usize].1 as i64;
        let ends: Vec<i64> = distinct.iter().map(end).collect();
        let ends = e.array(&ends, elem);
        Some((first, ends, expand))
    }

    /// Where accesses of `vec` elements begin along a dimension, each place once, with its extent in the
    /// same width; and which of these places each access has. One place is one for all.
    pub(super) fn positions(
        &mut self,
        t: &Tiled,
        dim: usize,
        vec: u64,
        extent: ValueId,
    ) -> (ValueId, ValueId, Vec<u32>) {
        let (distinct, expand) = distinct_places(&t.coords[dim], t, vec);
        let coords = t.coords[dim].clone();
        let array = match coords.has_xor() {
            true => Some(self.coord_array(&coords, &distinct)),
            false => None,
        };
        let mut e = self.emit();
        let (origin, extent) = same_width(&mut e, t.origin[dim], extent);
        let elem = e.m.ty(origin);
        let bits = e.m.types.width(elem);
        let positions = match array {
            Some(array) => {
                let array = e.int_cast(array, bits);
                e.add(array, origin)
            }
            // What differs between registers comes last: one register is kept for all of them.
            None => {
                let thread = e.int_cast(coords.thread, bits);
                let first = e.add(origin, thread);
                let adds = distinct
                    .iter()
                    .map(|&r| coords.registers[r as usize].1 as i64);
                let adds = e.array(&adds.collect::<Vec<i64>>(), elem);
                e.add(first, adds)
            }
        };
        (positions, extent, expand)
    }
}

/// A register for each distinct place along a dimension where accesses of `vec` elements begin, and which of these
/// each access has. One place is one for all.
fn distinct_places(coords: &Coords, t: &Tiled, vec: u64) -> (Vec<u32>, Vec<u32>) {
    let mut distinct: Vec<u32> = Vec::new();
    let mut expand = Vec::new();
    for &r in t.registers.iter().step_by(vec as usize) {
        let place = coords.registers[r as usize];
        let same = |d: &u32| coords.registers[*d as usize] == place;
        let at = distinct.iter().position(same).unwrap_or_else(|| {
            distinct.push(r);
            distinct.len() - 1
        });
        expand.push(at as u32);
    }
    if distinct.len() == 1 {
        expand.truncate(1);
    }
    (distinct, expand)
}
