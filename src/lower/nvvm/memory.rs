//! Tiled loads and stores between registers and global memory.
//!
//! The address of an element is `base + Σ (origin + coordinate) · stride` over the tile's
//! dimensions. What is the same for all of a thread's registers is computed once; constant strides
//! put the registers' share into immediates; dynamic strides cost one product per distinct
//! coordinate. Elements next to each other along the contiguous dimension move in one access as far
//! as facts about alignment allow.
//!
//! A tile at the edge is masked. Where masks would break vectors, the kernel asks once whether the
//! whole tile is inside (a uniform branch) and takes the wide path then.

use super::atomics::{Update, redundant_threads};
use super::emit::AccessAttrs;
use super::nibbles::doubled;
use super::{Emit, Lower};
use crate::dialect::enums;
use crate::dialect::nvvm::Op as N;
use crate::egraph::facts::FactMap;
use crate::ir::{Diagnostic, Float, Op, OpId, Type, TypeId, ValueId};
use crate::layout::Layout;
use crate::lower::access::{Access, constant, operand, pointee};
use crate::lower::unsupported;

use super::shape::Coords;
use super::shared::Buffer;
use crate::ir::Attr;
use crate::layout::addr::{self, AccessPlan};
use crate::layout::blocked::Blocked;
use crate::layout::convert::Transfer;

/// A tiled access of one thread, worked out.
pub struct Tiled {
    pub access: Access,
    pub tile: Vec<u64>,
    pub elem: TypeId,
    /// Bytes of an element.
    bytes: u64,
    /// Registers in memory order: runs of `vec` are one access.
    registers: Vec<u32>,
    /// Elements per access.
    vec: u64,
    /// First element of the tile, per dimension (in the index's type).
    origin: Vec<ValueId>,
    coords: Vec<Coords>,
    /// Element numbers along the sparse dimension, one for each of the tile's registers.
    rows: Option<ValueId>,
    /// Bits of tid that only repeat elements.
    redundant: u64,
    /// The contiguous dimension, where a coordinate along it counts two elements of four bits and
    /// the strides of the others are halved to bytes.
    pub(super) halved: Option<usize>,
}

impl Tiled {
    /// Elements between neighbours along `dim`, if known, in what `bytes` counts.
    fn known_stride(&self, facts: &FactMap, dim: usize) -> Option<i64> {
        let stride = constant(facts, self.access.stride(dim)?)?;
        let halve = self.halved.is_some_and(|inner| inner != dim);
        Some(if halve { stride / 2 } else { stride })
    }

    /// With a sparse dimension that may be outside: everything else is known to be inside.
    fn others_known(&self, known: &[bool]) -> Option<Vec<bool>> {
        let sparse = self.access.sparse.filter(|&d| !known[d])?;
        Some((0..known.len()).map(|d| d != sparse).collect())
    }
}

impl Lower<'_> {
    pub(super) fn tiled_load(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        self.before_access(op, data);
        let result = data.results[0];
        let elem = self.m.types.elem(self.m.ty(result));
        let value = if self.m.types.bits(elem) == Some(4) {
            self.load_nibbles(op, data, result)?
        } else {
            let tiled = self.tiled(op, data, result)?;
            let value = self.load_tile(op, data, &tiled)?;
            self.from_bytes(value, elem)
        };
        self.set(result, value);
        self.after_access(data);
        Ok(())
    }

    /// The elements of the tile, in the order of its layout's registers.
    pub(super) fn load_tile(
        &mut self,
        op: OpId,
        data: &Op,
        t: &Tiled,
    ) -> Result<ValueId, Diagnostic> {
        let value = self.load_masked(op, data, t)?;
        Ok(self.emit().take(value, &inverse(&t.registers)))
    }

    /// Stores the elements of the tile, in the order of its layout's registers.
    pub(super) fn store_tile(
        &mut self,
        op: OpId,
        data: &Op,
        t: &Tiled,
        value: ValueId,
    ) -> Result<(), Diagnostic> {
        let value = self.emit().take(value, &t.registers);
        self.store_masked(op, data, t, value)
    }

    pub(super) fn tiled_store(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        self.before_access(op, data);
        let Some(tile) = operand(data, "tile") else {
            return Err(unsupported(self.m, op, "a store without a tile"));
        };
        let value = self.get(op, tile)?;
        let elem = self.emit().elem(value);
        if self.m.types.bits(elem) == Some(4) {
            return self.store_nibbles(op, data, tile, value);
        }
        let tiled = self.tiled(op, data, tile)?;
        let (value, _) = self.as_bytes(value);
        self.store_tile(op, data, &tiled, value)
    }

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
        let bits = self.m.types.bits(elem).unwrap_or(8);
        let order = access.order(&self.facts);
        let halved = match self.m.types.bits(pointee(self.m, access.base)) {
            Some(4) => Some(self.halved_dim(op, &access, &order)?),
            _ => None,
        };
        let contiguous = layout.contiguous_per_thread(&order);
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

    /// The extent of the tensor along tile dimension `dim`, in what the tile's coordinates count.
    fn extent(&mut self, op: OpId, t: &Tiled, dim: usize) -> Result<Option<ValueId>, Diagnostic> {
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
    fn stride(&mut self, op: OpId, t: &Tiled, dim: usize) -> Result<Option<ValueId>, Diagnostic> {
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
    fn inside(&mut self, op: OpId, t: &Tiled) -> Result<(Option<ValueId>, Vec<bool>), Diagnostic> {
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
            let fits = e.icmp("less_than_or_equal", "signed", end, extent);
            all = Some(match all {
                Some(all) => e.and(all, fits),
                None => fits,
            });
        }
        Ok((all, known))
    }

    /// Whether facts say that every tile along `dim` lies inside.
    fn covers(&self, t: &Tiled, dim: usize) -> bool {
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
    fn mask_vector(&self, t: &Tiled, known: &[bool]) -> u64 {
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

    fn load_masked(&mut self, op: OpId, data: &Op, t: &Tiled) -> Result<ValueId, Diagnostic> {
        let (inside, known) = self.inside(op, t)?;
        // Rows chosen by number are masked even where the rest of the tile is inside.
        let others = t.others_known(&known);
        let Some(inside) = inside else {
            return self.load(op, data, t, t.vec, others.as_deref());
        };
        let narrow = self.mask_vector(t, &known);
        let few = t.registers.len() as u64 / t.vec <= 2;
        if narrow == t.vec && few {
            return self.load(op, data, t, t.vec, Some(&known));
        }
        let results = self.either(
            inside,
            |l| Ok(vec![l.load(op, data, t, t.vec, others.as_deref())?]),
            |l| Ok(vec![l.load(op, data, t, narrow, Some(&known))?]),
        )?;
        Ok(results[0])
    }

    fn store_masked(
        &mut self,
        op: OpId,
        data: &Op,
        t: &Tiled,
        value: ValueId,
    ) -> Result<(), Diagnostic> {
        let (inside, known) = self.inside(op, t)?;
        let others = t.others_known(&known);
        let Some(inside) = inside else {
            return self.store(op, data, t, t.vec, others.as_deref(), value);
        };
        let narrow = self.mask_vector(t, &known);
        let few = t.registers.len() as u64 / t.vec <= 2;
        if narrow == t.vec && few {
            return self.store(op, data, t, t.vec, Some(&known), value);
        }
        self.either(
            inside,
            |l| {
                l.store(op, data, t, t.vec, others.as_deref(), value)
                    .map(|()| vec![])
            },
            |l| {
                l.store(op, data, t, narrow, Some(&known), value)
                    .map(|()| vec![])
            },
        )?;
        Ok(())
    }

    /// One load of every register, in memory order, with masks for the dimensions not `known`.
    fn load(
        &mut self,
        op: OpId,
        data: &Op,
        t: &Tiled,
        vec: u64,
        known: Option<&[bool]>,
    ) -> Result<ValueId, Diagnostic> {
        let (address, offsets) = self.addresses(op, t, vec)?;
        let mask = match known {
            Some(known) => self.mask(op, t, vec, known)?,
            None => None,
        };
        let n = t.registers.len() as u32;
        let ty = self.m.types.regs(t.elem, n);
        let padding = mask.map(|_| self.padding(t, ty));
        let attrs = self.access_attrs(data, vec, offsets);
        let mut e = self.emit();
        let attrs = attrs.list(&mut e);
        Ok(e.get(
            N::Ld,
            &[&[address], mask.as_slice(), padding.as_slice()],
            attrs,
            ty,
        ))
    }

    /// For each register of a tile of `layout`, the element number in `index` (a tile of one
    /// dimension) of its coordinate along `dim`.
    fn sparse_rows(
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

    /// Bytes from the base to the row of each leader.
    fn row_part(&mut self, t: &Tiled, rows: ValueId, leaders: &[u32], stride: ValueId) -> ValueId {
        let mut e = self.emit();
        let rows = e.take(rows, leaders);
        let rows = e.int_cast(rows, 64);
        let stride = e.int_cast(stride, 64);
        let scaled = e.mul(rows, stride);
        e.with(N::Mul, scaled, t.bytes as i64)
    }

    fn store(
        &mut self,
        op: OpId,
        data: &Op,
        t: &Tiled,
        vec: u64,
        known: Option<&[bool]>,
        value: ValueId,
    ) -> Result<(), Diagnostic> {
        let (address, offsets) = self.addresses(op, t, vec)?;
        let mask = match known {
            Some(known) => self.mask(op, t, vec, known)?,
            None => None,
        };
        let mask = self.owned(t.redundant, mask);
        let attrs = self.access_attrs(data, vec, offsets);
        let mut e = self.emit();
        let attrs = attrs.list(&mut e);
        e.op(N::St, &[&[address], &[value], mask.as_slice()], attrs, &[]);
        Ok(())
    }

    /// An atomic update of every element inside.
    pub(super) fn tiled_atomic(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        self.before_access(op, data);
        let Some(tile) = operand(data, "tile") else {
            return Err(unsupported(self.m, op, "an update without a tile"));
        };
        let t = self.tiled(op, data, tile)?;
        let value = self.get(op, tile)?;
        let value = self.emit().take(value, &t.registers);
        let (_, known) = self.inside(op, &t)?;
        let (address, offsets) = self.addresses(op, &t, 1)?;
        let mask = self.mask(op, &t, 1, &known)?;
        let update = Update {
            address,
            offsets,
            value,
            mask: self.owned(t.redundant, mask),
            other: None,
        };
        self.update(data, &update);
        self.after_access(data);
        Ok(())
    }

    /// State space, ordering, scope of the accesses of `data`.
    pub fn access_attrs(&self, data: &Op, vec: u64, offsets: Vec<i64>) -> AccessAttrs {
        AccessAttrs {
            space: self.space(),
            vec,
            offsets,
            cache: "default",
            order: data.enum_named("order").unwrap_or(0),
            scope: data
                .enum_named("scope")
                .unwrap_or(enums::SCOPE.cases.len() as u8 - 2),
        }
    }

    /// Copies the tile of `op` to the stage of a shared buffer at `base`, asynchronously where whole
    /// chunks of at least 4 bytes are inside.
    pub fn copy_tile(
        &mut self,
        op: OpId,
        data: &Op,
        buffer: &Buffer,
        base: ValueId,
    ) -> Result<(), Diagnostic> {
        let shape = buffer.layout.shape().clone();
        let Some(access) = Access::of(data) else {
            return Err(unsupported(self.m, op, "not a tiled access"));
        };
        let elem = pointee(self.m, access.base);
        let bytes = access.alignment(self.m, &self.facts, &shape.extents(), elem);
        let element_bits = buffer.layout.element_bits();
        let layout = Blocked {
            order: access.order(&self.facts),
            max_vector: (bytes * 8 / u64::from(element_bits)).max(1),
            element_bits,
            warps: self.role.warps,
            shape: shape.clone(),
        }
        .layout();
        let layout = self.layout_error(op, layout)?;
        let plan = addr::plan(&layout, &buffer.layout, 128);
        let plan = self.layout_error(op, plan)?;
        let mut t = self.tiled_as(op, data, shape.extents().to_vec(), layout)?;
        t.vec = t.vec.min(plan.vector_elems);
        t.registers = plan
            .accesses()
            .flat_map(|(_, a)| a.registers.clone())
            .collect();
        let (inside, known) = self.inside(op, &t)?;
        if t.vec * t.bytes < 4 || t.vec != plan.vector_elems {
            return self.copy_elements(op, data, &t, &plan, base, &known);
        }
        let read = match inside {
            None => None,
            Some(_) => self.bytes_inside(op, &t, &known)?,
        };
        let (src, src_offsets) = self.addresses(op, &t, t.vec)?;
        let (dst, dst_offsets) = self.shared_addresses(base, &plan.thread_base, &plan.groups);
        let mut e = self.emit();
        let attrs = [
            e.i32_attr((t.vec * t.bytes) as i64),
            Some(Attr::I64s(dst_offsets)),
            Some(Attr::I64s(src_offsets)),
        ];
        e.op(N::CpAsync, &[&[dst], &[src], read.as_slice()], attrs, &[]);
        Ok(())
    }

    /// How many bytes of each access lie inside, as i32: those that are not are its last.
    fn bytes_inside(
        &mut self,
        op: OpId,
        t: &Tiled,
        known: &[bool],
    ) -> Result<Option<ValueId>, Diagnostic> {
        let chunk = (t.vec * t.bytes) as i64;
        let Some(mask) = self.mask(op, t, t.vec, known)? else {
            return Ok(None);
        };
        let inner = t.access.order(&self.facts).first().copied();
        let cut = inner.filter(|_| self.mask_vector(t, known) < t.vec);
        let some = match cut {
            Some(inner) => self.bytes_left(op, t, inner)?,
            None => None,
        };
        let mut e = self.emit();
        let n = e.count(mask).max(some.map_or(1, |v| e.count(v)));
        let i32_ty = e.int(32);
        let some = match some {
            Some(some) => e.widen(some, n),
            None => e.array(&vec![chunk; n as usize], i32_ty),
        };
        let none = e.array(&vec![0; n as usize], i32_ty);
        let mask = e.widen(mask, n);
        let ty = e.m.ty(some);
        Ok(Some(e.get(N::Select, &[&[mask], &[some], &[none]], [], ty)))
    }

    /// How many bytes of each access that begins inside are before the end of dimension `inner`.
    fn bytes_left(
        &mut self,
        op: OpId,
        t: &Tiled,
        inner: usize,
    ) -> Result<Option<ValueId>, Diagnostic> {
        let Some(extent) = self.extent(op, t, inner)? else {
            return Ok(None);
        };
        let (position, extent, expand) = self.positions(t, inner, t.vec, extent);
        let mut e = self.emit();
        let left = e.binary(N::Sub, extent, position);
        let left = e.with(N::MinU, left, t.vec as i64);
        let left = e.int_cast(left, 32);
        let bytes = e.with(N::Mul, left, t.bytes as i64);
        Ok(Some(e.take(bytes, &expand)))
    }

    fn copy_elements(
        &mut self,
        op: OpId,
        data: &Op,
        t: &Tiled,
        plan: &AccessPlan,
        base: ValueId,
        known: &[bool],
    ) -> Result<(), Diagnostic> {
        let value = self.load(op, data, t, 1, Some(known))?;
        let value = self.emit().take(value, &inverse(&t.registers));
        self.store_shared(&Transfer::Plain(plan.clone()), base, value);
        Ok(())
    }

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
        let mut varying: Option<ValueId> = None;
        for dim in 0..t.tile.len() {
            let Some(stride) = self.stride(op, t, dim)? else {
                continue;
            };
            let known = t.known_stride(&self.facts, dim);
            if let Some(rows) = t.rows.filter(|_| t.access.sparse == Some(dim)) {
                let part = self.row_part(t, rows, &leaders, stride);
                varying = Some(match varying {
                    Some(sum) => self.emit().add(sum, part),
                    None => part,
                });
                continue;
            }
            let coords = t.coords[dim].clone();
            let start = self.start(t, dim);
            let mut e = self.emit();
            let stride = e.int_cast(stride, 64);
            let scaled = e.mul(start, stride);
            let bytes = e.with(N::Mul, scaled, t.bytes as i64);
            base = e.ptr_add(base, bytes);
            let differs = leaders
                .iter()
                .any(|&r| coords.registers[r as usize] != (0, 0));
            match known {
                _ if !differs => {}
                Some(stride) if !coords.has_xor() => {
                    for (offset, &r) in offsets.iter_mut().zip(&leaders) {
                        *offset += coords.registers[r as usize].1 as i64 * stride * t.bytes as i64;
                    }
                }
                _ => {
                    let part = self.register_part(&coords, &leaders, stride, t.bytes);
                    varying = Some(match varying {
                        Some(sum) => self.emit().add(sum, part),
                        None => part,
                    });
                }
            }
        }
        let address = match varying {
            Some(varying) => self.emit().ptr_add(base, varying),
            None => base,
        };
        Ok((address, offsets))
    }

    /// First element of the thread along `dim`, as i64; registers with an xor count from the tile's origin.
    fn start(&mut self, t: &Tiled, dim: usize) -> ValueId {
        let coords = t.coords[dim].clone();
        let origin = t.origin[dim];
        let mut e = self.emit();
        let origin = e.int_cast(origin, 64);
        if coords.has_xor() {
            return origin;
        }
        let thread = e.int_cast(coords.thread, 64);
        e.add(origin, thread)
    }

    /// Bytes that each leader adds along one dimension: a product per distinct coordinate.
    fn register_part(
        &mut self,
        coords: &Coords,
        leaders: &[u32],
        stride: ValueId,
        bytes: u64,
    ) -> ValueId {
        let mut distinct: Vec<(u64, u64)> = leaders
            .iter()
            .map(|&r| coords.registers[r as usize])
            .collect();
        distinct.sort_unstable();
        distinct.dedup();
        let place = |r: u32| {
            distinct
                .iter()
                .position(|d| *d == coords.registers[r as usize])
                .unwrap_or(0) as u32
        };
        let expand: Vec<u32> = leaders.iter().map(|&r| place(r)).collect();
        let (xors, adds): (Vec<i64>, Vec<i64>) =
            distinct.iter().map(|d| (d.0 as i64, d.1 as i64)).unzip();
        let has_xor = coords.has_xor();
        let mut e = self.emit();
        let i64_ty = e.int(64);
        let adds = e.array(&adds, i64_ty);
        let position = if has_xor {
            let thread = e.int_cast(coords.thread, 64);
            let xors = e.array(&xors, i64_ty);
            let place = e.xor(thread, xors);
            e.add(place, adds)
        } else {
            adds
        };
        let scaled = e.mul(position, stride);
        let part = e.with(N::Mul, scaled, bytes as i64);
        let part = e.widen(part, distinct.len() as u32);
        e.take(part, &expand)
    }

    /// Which accesses of `vec` elements are inside: an i1 per access, or one for all.
    fn mask(
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
                let inside = e.icmp("less_than", "unsigned", rows, extent);
                mask = Some(match mask {
                    Some(mask) => e.and(mask, inside),
                    None => inside,
                });
                continue;
            }
            let (position, extent, expand) = self.positions(t, dim, vec, extent);
            let mut e = self.emit();
            let inside = e.icmp("less_than", "unsigned", position, extent);
            let inside = e.take(inside, &expand);
            mask = Some(match mask {
                Some(mask) => e.and(mask, inside),
                None => inside,
            });
        }
        Ok(mask)
    }

    /// Where accesses of `vec` elements begin along a dimension, each place once, with its extent in the
    /// same width; and which of these places each access has. One place is one for all.
    fn positions(
        &mut self,
        t: &Tiled,
        dim: usize,
        vec: u64,
        extent: ValueId,
    ) -> (ValueId, ValueId, Vec<u32>) {
        let leaders = t.registers.iter().copied().step_by(vec as usize);
        let mut distinct: Vec<u32> = Vec::new();
        let mut expand = Vec::new();
        let registers = t.coords[dim].registers.clone();
        for r in leaders {
            let same = |d: &u32| registers[*d as usize] == registers[r as usize];
            let at = distinct.iter().position(same).unwrap_or_else(|| {
                distinct.push(r);
                distinct.len() - 1
            });
            expand.push(at as u32);
        }
        if distinct.len() == 1 {
            expand.truncate(1);
        }
        let array = self.coord_array(&t.coords[dim], &distinct);
        let mut e = self.emit();
        let (origin, extent) = same_width(&mut e, t.origin[dim], extent);
        let bits = e.m.types.bits(e.m.ty(origin)).unwrap_or(32);
        let array = e.int_cast(array, bits);
        (e.add(array, origin), extent, expand)
    }

    /// The padding of a load in every register of `ty`: zero where none is asked for.
    fn padding(&mut self, t: &Tiled, ty: TypeId) -> ValueId {
        let case = t
            .access
            .padding
            .and_then(|p| enums::PADDING.cases.get(p as usize))
            .copied();
        let elem = self.m.types.get(t.elem).clone();
        let mut e = self.emit();
        match elem {
            // Minus zero twice; the format has no infinity or NaN.
            _ if t.halved.is_some() && case == Some("neg_zero") => e.constant(0x88, ty),
            Type::Float(f) => e.float_bits(f, padding_bits(f, case.unwrap_or("zero")), ty),
            _ => e.constant(0, ty),
        }
    }

    /// A barrier of the warps of this role.
    pub fn barrier(&mut self) {
        let role = self.role;
        let threads = if role.partial {
            role.warps as i64 * 32
        } else {
            0
        };
        let mut e = self.emit();
        let attrs = [e.i32_attr(i64::from(role.barrier)), e.i32_attr(threads)];
        e.op(N::Bar, &[], attrs, &[]);
    }
}

/// Bits of a padding value of a float format.
fn padding_bits(f: Float, case: &str) -> u64 {
    let sign = 1u64 << (f.bits() - 1);
    let (infinity, nan) = match f {
        Float::F16 => (0x7c00, 0x7e00),
        Float::BF16 => (0x7f80, 0x7fc0),
        Float::F32 | Float::TF32 => (0x7f80_0000, 0x7fc0_0000),
        Float::F64 => (0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000),
        Float::F8E5M2 => (0x7c, 0x7f),
        _ => (0x7f, 0x7f),
    };
    match case {
        "neg_zero" => sign,
        "nan" => nan,
        "pos_inf" => infinity,
        "neg_inf" => infinity | sign,
        _ => 0,
    }
}

/// Registers such that runs of `vec` lie next to each other along `inner`.
fn memory_order(layout: &Layout, inner: usize, vec: u64) -> Vec<u32> {
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

/// The permutation that undoes `p`.
fn inverse(p: &[u32]) -> Vec<u32> {
    let mut out = vec![0; p.len()];
    for (i, &r) in p.iter().enumerate() {
        out[r as usize] = i as u32;
    }
    out
}

/// Two integers, the narrower one sign-extended.
fn same_width(e: &mut Emit<'_>, a: ValueId, b: ValueId) -> (ValueId, ValueId) {
    let bits = |e: &Emit<'_>, v| e.m.types.bits(e.m.ty(v)).unwrap_or(32);
    let width = bits(e, a).max(bits(e, b));
    (e.int_cast(a, width), e.int_cast(b, width))
}
