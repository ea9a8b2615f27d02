//! Tiles at multicast addresses: loads that combine what every device has there, reductions into and stores to all of
//! them. These addresses take `multimem` instructions alone (PTX ISA, "Multimem Addresses").
//!
//! No instruction accesses 16 bits. Halves that stand by themselves, at an edge of their tensor or where nothing says
//! that pairs are aligned, are accessed as part of their word, so that the other half of it stays as it is.

use super::tiled::{Tiled, inverse};
use super::{Emit, Lower};
use crate::dialect::enums::{Ordering, Predicate, Reduction, Scope};
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::facts::access;
use crate::ir::{Attr, Diagnostic, Float, Op, OpId, Type, ValueId};
use crate::lower::build::cased;
use crate::lower::unsupported;
use crate::scalar::Signedness;
use crate::target::Feature;

/// Bytes of the least access.
const WORD: u64 = 4;
/// The sum of it and a number is the number, for f16 and bf16.
const MINUS_ZERO: i64 = 0x8000;

/// What an access of one kind is, apart from its address.
struct Access<'a> {
    op: OpId,
    data: &'a Op,
    t: &'a Tiled,
}

/// Accesses of `vec` elements each at multicast addresses.
struct Accesses {
    /// A scalar, or one for each access.
    address: ValueId,
    /// Bytes to add to the addresses.
    offsets: Vec<i64>,
    vec: u64,
    mask: Option<ValueId>,
    order: Ordering,
    /// That of all devices where the operation says none, for others read what it writes.
    scope: Scope,
}

impl Accesses {
    /// Attributes of the `nvvm` operation, in the order of its row; a store has no reduction.
    fn attrs(&self, e: &mut Emit<'_>, reduction: Option<Reduction>) -> Vec<Option<Attr>> {
        let rest = [
            e.i32_attr(self.vec as i64),
            Some(Attr::I64s(self.offsets.clone())),
            cased(self.order),
            cased(self.scope),
        ];
        reduction.map(cased).into_iter().chain(rest).collect()
    }
}

impl Lower<'_> {
    pub(super) fn multimem_load(
        &mut self,
        op: OpId,
        v: &view::MultimemLoad<Op>,
    ) -> Result<(), Diagnostic> {
        self.before_access(op, v.op());
        let (result, reduction) = (v.tile(), v.reduction());
        let t = self.multicast(op, v.op(), result, false)?;
        let access = Access {
            op,
            data: v.op(),
            t: &t,
        };
        let values = self.by_edges(op, &t, |l, vec, known| {
            let mask = l.known_mask(op, &t, vec, known)?;
            Ok(vec![match vec * t.bytes < WORD {
                true => l.load_halves(&access, reduction, mask)?,
                false => l.load_words(&access, reduction, vec, mask)?,
            }])
        })?;
        let value = self.emit().take(values[0], &inverse(&t.registers));
        self.set(result, value);
        self.after_access(v.op());
        Ok(())
    }

    pub(super) fn multimem_reduce(
        &mut self,
        op: OpId,
        v: &view::MultimemReduce<Op>,
    ) -> Result<(), Diagnostic> {
        self.write_multicast(op, v.op(), v.tile(), Some(v.reduction()))?;
        self.after_access(v.op());
        Ok(())
    }

    pub(super) fn multimem_store(
        &mut self,
        op: OpId,
        v: &view::MultimemStore<Op>,
    ) -> Result<(), Diagnostic> {
        self.write_multicast(op, v.op(), v.tile(), None)
    }

    /// A reduction, or a store where there is none.
    fn write_multicast(
        &mut self,
        op: OpId,
        data: &Op,
        tile: ValueId,
        reduction: Option<Reduction>,
    ) -> Result<(), Diagnostic> {
        self.before_access(op, data);
        let t = self.multicast(op, data, tile, reduction.is_none())?;
        let value = self.get(op, tile)?;
        let value = self.emit().take(value, &t.registers);
        let access = Access { op, data, t: &t };
        self.by_edges(op, &t, |l, vec, known| {
            let mask = l.owned_mask(op, &t, vec, known)?;
            match (vec * t.bytes < WORD, reduction) {
                (false, _) => l.update_words(&access, reduction, vec, value, mask)?,
                (true, Some(_)) => l.add_halves(&access, value, mask)?,
                (true, None) => l.store_halves(&access, value, mask)?,
            }
            Ok(vec![])
        })?;
        Ok(())
    }

    /// The access of `op`, in vectors that the instructions have: of halves, f32 and what is stored in 32 bits.
    fn multicast(
        &mut self,
        op: OpId,
        data: &Op,
        tile: ValueId,
        store: bool,
    ) -> Result<Tiled, Diagnostic> {
        if !self.target.has(Feature::Multimem) {
            let text = format!(
                "multicast addresses need sm_90 or later, the target is {}",
                self.target
            );
            return Err(unsupported(self.m, op, text));
        }
        let mut t = self.tiled(op, data, tile)?;
        let vectors = match self.m.types.get(t.elem) {
            Type::Float(Float::F16 | Float::BF16 | Float::F32) => true,
            _ => store && t.bytes == WORD,
        };
        if !vectors {
            t.vec = 1;
        }
        Ok(t)
    }

    fn accesses(
        &mut self,
        a: &Access,
        vec: u64,
        mask: Option<ValueId>,
    ) -> Result<Accesses, Diagnostic> {
        let (address, offsets) = self.addresses(a.op, a.t, vec)?;
        Ok(Accesses {
            address,
            offsets,
            vec,
            mask,
            order: access::ordering(a.data),
            scope: access::scope(a.data).unwrap_or(Scope::Sys),
        })
    }

    fn load_words(
        &mut self,
        a: &Access,
        reduction: Reduction,
        vec: u64,
        mask: Option<ValueId>,
    ) -> Result<ValueId, Diagnostic> {
        let accesses = self.accesses(a, vec, mask)?;
        Ok(self.load_reduced(a, reduction, &accesses, a.t.registers.len() as u32))
    }

    /// `n` elements, padded where masked off.
    fn load_reduced(
        &mut self,
        a: &Access,
        reduction: Reduction,
        accesses: &Accesses,
        n: u32,
    ) -> ValueId {
        let ty = self.m.types.regs(a.t.elem, n);
        let padding = accesses.mask.map(|_| self.padding(a.t, ty));
        let mut e = self.emit();
        let attrs = accesses.attrs(&mut e, Some(reduction));
        let groups: [&[ValueId]; 3] = [
            &[accesses.address],
            accesses.mask.as_slice(),
            padding.as_slice(),
        ];
        e.get(N::MultimemLoad, &groups, attrs, ty)
    }

    /// A reduction, or a store where there is none.
    fn update_words(
        &mut self,
        a: &Access,
        reduction: Option<Reduction>,
        vec: u64,
        value: ValueId,
        mask: Option<ValueId>,
    ) -> Result<(), Diagnostic> {
        let accesses = self.accesses(a, vec, mask)?;
        self.write_words(reduction, &accesses, value);
        Ok(())
    }

    fn write_words(&mut self, reduction: Option<Reduction>, accesses: &Accesses, value: ValueId) {
        let kind = match reduction {
            Some(_) => N::MultimemReduce,
            None => N::MultimemStore,
        };
        let mut e = self.emit();
        let attrs = accesses.attrs(&mut e, reduction);
        let groups: [&[ValueId]; 3] = [&[accesses.address], &[value], accesses.mask.as_slice()];
        e.op(kind, &groups, attrs, &[]);
    }

    // ---- halves by themselves --------------------------------------------------------------

    /// The words that halves lie in, and for each half whether it is the upper one of its word.
    fn words(
        &mut self,
        a: &Access,
        mask: Option<ValueId>,
    ) -> Result<(Accesses, ValueId), Diagnostic> {
        let halves = self.accesses(a, 1, mask)?;
        let n = a.t.registers.len() as u32;
        let mut e = self.emit();
        let i64_ty = e.int(64);
        let pointer = e.elem(halves.address);
        let address = e.widen(halves.address, n);
        let offsets = e.array(&halves.offsets, i64_ty);
        let offsets = e.widen(offsets, n);
        let half = e.ptr_add(address, offsets);
        let half = e.bitcast(half, i64_ty);
        let word = e.with(N::And, half, !(WORD as i64 - 1));
        let place = e.with(N::And, half, WORD as i64 / 2);
        let ty = e.m.ty(place);
        let zero = e.constant(0, ty);
        let upper = e.icmp(Predicate::NotEqual, Signedness::Unsigned, place, zero);
        let words = Accesses {
            address: e.bitcast(word, pointer),
            offsets: vec![0; n as usize],
            ..halves
        };
        Ok((words, upper))
    }

    fn load_halves(
        &mut self,
        a: &Access,
        reduction: Reduction,
        mask: Option<ValueId>,
    ) -> Result<ValueId, Diagnostic> {
        let (words, upper) = self.words(a, mask)?;
        let n = a.t.registers.len() as u32;
        let pairs = Accesses { vec: 2, ..words };
        let loaded = self.load_reduced(a, reduction, &pairs, 2 * n);
        let mut e = self.emit();
        let mut halves = |which: u32| {
            let registers: Vec<u32> = (0..n).map(|i| 2 * i + which).collect();
            e.take(loaded, &registers)
        };
        let (low, high) = (halves(0), halves(1));
        Ok(self.emit().select(upper, high, low))
    }

    /// Adds halves; minus zero is added to the others of their words.
    fn add_halves(
        &mut self,
        a: &Access,
        value: ValueId,
        mask: Option<ValueId>,
    ) -> Result<(), Diagnostic> {
        let (words, upper) = self.words(a, mask)?;
        let n = a.t.registers.len() as u32;
        let mut e = self.emit();
        let ty = e.m.ty(value);
        let nothing = e.constant(MINUS_ZERO, ty);
        let low = e.select(upper, nothing, value);
        let high = e.select(upper, value, nothing);
        let both = e.concat(&[low, high]);
        let order: Vec<u32> = (0..n).flat_map(|i| [i, n + i]).collect();
        let pairs = e.take(both, &order);
        self.write_words(Some(Reduction::Add), &Accesses { vec: 2, ..words }, pairs);
        Ok(())
    }

    /// Stores halves: their bits are cleared in their words, then set.
    fn store_halves(
        &mut self,
        a: &Access,
        value: ValueId,
        mask: Option<ValueId>,
    ) -> Result<(), Diagnostic> {
        let (words, upper) = self.words(a, mask)?;
        let n = a.t.registers.len() as u32;
        let mut e = self.emit();
        let (i16_ty, i32_ty) = (e.int(16), e.int(32));
        let ty = e.m.types.regs(i32_ty, n);
        let (low, high) = (e.constant(0x0000_ffff, ty), e.constant(0xffff_0000, ty));
        let kept = e.select(upper, low, high);
        let bits = e.bitcast(value, i16_ty);
        let bits = e.get(N::ZExt, &[&[bits]], [], ty);
        let raised = e.with(N::Shl, bits, 16);
        let set = e.select(upper, raised, bits);
        let order = match words.order {
            Ordering::Weak => Ordering::Relaxed,
            order => order,
        };
        let clear = Accesses {
            order: Ordering::Relaxed,
            ..words
        };
        self.write_words(Some(Reduction::And), &clear, kept);
        self.write_words(Some(Reduction::Or), &Accesses { order, ..clear }, set);
        Ok(())
    }
}
