//! Tiled loads and stores between registers and global memory.
//!
//! Elements next to each other along the contiguous dimension move in one access as far as facts
//! about alignment allow. A tile at the edge is masked. Where masks would break vectors, the kernel
//! asks once whether the whole tile is inside (a uniform branch) and takes the wide path then; of a tile of whole rows it
//! asks whether vectors end where rows do, too.

use super::Lower;
use super::atomics::Update;
use super::emit::AccessAttrs;
use super::tiled::{Tiled, inverse};
use crate::dialect::enums::{Cache, Padding, Scope};
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::{self};
use crate::ir::{Diagnostic, Op, OpId, Type, TypeId, ValueId};
use crate::lower::build;

impl Lower<'_> {
    pub(super) fn tiled_load(
        &mut self,
        op: OpId,
        v: &view::TiledLoad<Op>,
    ) -> Result<(), Diagnostic> {
        self.before_access(op, v.op());
        let result = v.tile();
        let elem = self.m.types.elem(self.m.ty(result));
        let value = if self.m.types.bits(elem) == Some(4) {
            self.load_nibbles(op, v.op(), result)?
        } else {
            let tiled = self.tiled(op, v.op(), result)?;
            let value = self.load_tile(op, v.op(), &tiled)?;
            self.from_bytes(value, elem)
        };
        self.set(result, value);
        self.after_access(v.op());
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

    pub(super) fn tiled_store(
        &mut self,
        op: OpId,
        v: &view::TiledStore<Op>,
    ) -> Result<(), Diagnostic> {
        self.before_access(op, v.op());
        let tile = v.tile();
        let value = self.get(op, tile)?;
        let elem = self.emit().elem(value);
        if self.m.types.bits(elem) == Some(4) {
            return self.store_nibbles(op, v.op(), tile, value);
        }
        let tiled = self.tiled(op, v.op(), tile)?;
        let (value, _) = self.as_bytes(value);
        self.store_tile(op, v.op(), &tiled, value)
    }

    fn load_masked(&mut self, op: OpId, data: &Op, t: &Tiled) -> Result<ValueId, Diagnostic> {
        let one = |l: &mut Self, vec, known: Option<&[bool]>| l.load(op, data, t, vec, known);
        let results = self.by_edges(op, t, |l, vec, known| Ok(vec![one(l, vec, known)?]))?;
        Ok(results[0])
    }

    fn store_masked(
        &mut self,
        op: OpId,
        data: &Op,
        t: &Tiled,
        value: ValueId,
    ) -> Result<(), Diagnostic> {
        let one =
            |l: &mut Self, vec, known: Option<&[bool]>| l.store(op, data, t, vec, known, value);
        self.by_edges(op, t, |l, vec, known| one(l, vec, known).map(|()| vec![]))?;
        Ok(())
    }

    /// The accesses of a tile, as wide as its place allows: `access` is given the elements of one access and the
    /// dimensions known to be inside (`None`: all). Where masks would break vectors, the kernel asks whether the
    /// whole tile is inside, or whether they would not after all.
    pub(super) fn by_edges(
        &mut self,
        op: OpId,
        t: &Tiled,
        access: impl Fn(&mut Self, u64, Option<&[bool]>) -> Result<Vec<ValueId>, Diagnostic>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let (inside, known) = self.inside(op, t)?;
        // Rows chosen by number are masked even where the rest of the tile is inside.
        let others = t.others_known(&known);
        let Some(inside) = inside else {
            return access(self, t.vec, others.as_deref());
        };
        let narrow = self.mask_vector(t, &known);
        let few = t.registers.len() as u64 / t.vec <= 2;
        if narrow == t.vec && few {
            return access(self, t.vec, Some(&known));
        }
        let whole = match narrow < t.vec {
            true => self.whole_vectors(op, t)?,
            false => None,
        };
        let (wide, inside) = match whole {
            Some(whole) => (
                self.emit().binary(N::Or, inside, whole),
                Some(known.as_slice()),
            ),
            None => (inside, others.as_deref()),
        };
        self.either(
            wide,
            |l| access(l, t.vec, inside),
            |l| access(l, narrow, Some(&known)),
        )
    }

    /// One load of every register, in memory order, with masks for the dimensions not `known`.
    pub(super) fn load(
        &mut self,
        op: OpId,
        data: &Op,
        t: &Tiled,
        vec: u64,
        known: Option<&[bool]>,
    ) -> Result<ValueId, Diagnostic> {
        let (address, offsets) = self.addresses(op, t, vec)?;
        let mask = self.known_mask(op, t, vec, known)?;
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
        let mask = self.owned_mask(op, t, vec, known)?;
        let attrs = self.access_attrs(data, vec, offsets);
        let mut e = self.emit();
        let attrs = attrs.list(&mut e);
        e.op(N::St, &[&[address], &[value], mask.as_slice()], attrs, &[]);
        Ok(())
    }

    /// The mask of accesses of `vec` elements, for the dimensions not `known` to be inside (`None`: all are).
    pub(super) fn known_mask(
        &mut self,
        op: OpId,
        t: &Tiled,
        vec: u64,
        known: Option<&[bool]>,
    ) -> Result<Option<ValueId>, Diagnostic> {
        match known {
            Some(known) => self.mask(op, t, vec, known),
            None => Ok(None),
        }
    }

    /// That mask, with one thread left of those that hold the same elements.
    pub(super) fn owned_mask(
        &mut self,
        op: OpId,
        t: &Tiled,
        vec: u64,
        known: Option<&[bool]>,
    ) -> Result<Option<ValueId>, Diagnostic> {
        let mask = self.known_mask(op, t, vec, known)?;
        Ok(self.owned(t.redundant, mask))
    }

    /// The update of every register by `value`, in memory order, `vec` of them at a time.
    fn tiled_update(
        &mut self,
        op: OpId,
        t: &Tiled,
        vec: u64,
        known: Option<&[bool]>,
        value: ValueId,
    ) -> Result<Update, Diagnostic> {
        let (address, offsets) = self.addresses(op, t, vec)?;
        Ok(Update {
            address,
            offsets,
            value,
            mask: self.owned_mask(op, t, vec, known)?,
            other: None,
        })
    }

    /// An atomic update of every element inside.
    pub(super) fn tiled_atomic(
        &mut self,
        op: OpId,
        v: &view::TiledAtomic<Op>,
    ) -> Result<(), Diagnostic> {
        self.before_access(op, v.op());
        let tile = v.tile();
        let mut t = self.tiled(op, v.op(), tile)?;
        let value = self.get(op, tile)?;
        let value = self.emit().take(value, &t.registers);
        t.vec = t.vec.min(self.added_at_once(v.mode(), t.elem));
        if t.vec > 1 {
            self.by_edges(op, &t, |l, vec, known| {
                let update = l.tiled_update(op, &t, vec, known, value)?;
                l.add_vectors(v.op(), &update, vec);
                Ok(vec![])
            })?;
        } else {
            let (_, known) = self.inside(op, &t)?;
            let update = self.tiled_update(op, &t, 1, Some(&known), value)?;
            self.update(v.op(), v.mode(), &update);
        }
        self.after_access(v.op());
        Ok(())
    }

    /// State space, ordering, scope of the accesses of `data`.
    pub fn access_attrs(&self, data: &Op, vec: u64, offsets: Vec<i64>) -> AccessAttrs {
        AccessAttrs {
            space: self.space(),
            vec,
            offsets,
            cache: Cache::Default,
            order: access::ordering(data),
            scope: access::scope(data).unwrap_or(Scope::Device),
        }
    }

    /// The padding of a load in every register of `ty`: zero where none is asked for.
    pub(super) fn padding(&mut self, t: &Tiled, ty: TypeId) -> ValueId {
        let padding = t.access.padding;
        let elem = self.m.types.get(t.elem).clone();
        let mut e = self.emit();
        match elem {
            // Minus zero twice; the format has no infinity or NaN.
            _ if t.halved.is_some() && padding == Some(Padding::NegZero) => e.constant(0x88, ty),
            Type::Float(f) => {
                e.float_bits(f, build::padding(f, padding.unwrap_or(Padding::Zero)), ty)
            }
            _ => e.constant(0, ty),
        }
    }
}
