//! Tensor maps that the kernel makes, of tensors whose addresses, extents or strides it computes.
//!
//! Tensor copies read their map from global memory, so each block that runs has places there: it claims those with one of
//! [`CLAIMS`] numbers when it begins and gives them back at its end. The thread that starts a copy looks whether the tensor's
//! numbers are those of the map that it made last. If not, it writes the new one to shared memory, where `tensormap.replace`
//! edits it, copies it to the next of its places, and lets the copies that follow see it by a pair of proxy fences. The
//! numbers lie behind the map in shared memory.
//!
//! A copy has as many places as pipelines have stages. Each of the maps that were made since a place was written last is one
//! that a stage was filled by; so the stages that were filled by the map that lies there have been read, the last of them
//! before the stage at hand was acquired.

use super::Lower;
use crate::dialect::enums::{
    Cache, FenceKind, MapField, Ordering, Predicate, RmwMode, Scope, Space, SpecialRegister,
};
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::{Access, constant, pointee};
use crate::ir::{Attr, Diagnostic, Float, OpId, Type, TypeId, ValueId};
use crate::layout::shared::Swizzle;
use crate::layout::tma::TmaBoxes;
use crate::lower::build::cased;
use crate::lower::nvvm::emit::AccessAttrs;
use crate::lower::tileas::pipeline::described::{MAP, RECORD};
use crate::lower::unsupported;
use crate::scalar::Signedness;
use crate::target::Feature;
use rustc_hash::FxHashMap;

/// Blocks that can have tensor maps at a time, a power of two: more than a GPU runs of those that fill shared memory. Further
/// ones wait.
const CLAIMS: u64 = 512;
/// Where in a record the number of the place is at which the last map lies.
const TURN: u64 = RECORD - 4;
/// Bytes that are written and copied at a time.
const CHUNK: u64 = 16;

/// What a kernel that makes tensor maps has for them.
pub struct MadeMaps {
    /// Offset in shared memory of the global address of the block's places, and behind it of its claim.
    place: u64,
    /// Places of each copy.
    turns: u64,
    /// Offset in shared memory of the record of what each copy goes by, with its number.
    records: FxHashMap<OpId, (u64, u64)>,
}

/// A number of a tensor, at an offset of its record.
struct Number {
    value: ValueId,
    field: MapField,
    index: i64,
    at: u64,
    /// Whether it is a constant.
    fixed: bool,
}

impl Lower<'_> {
    /// Whether this copy goes by a tensor map that the kernel makes.
    pub(super) fn has_made_map(&self, copy: OpId) -> bool {
        let made = self.asynchronous.made_maps.as_ref();
        made.is_some_and(|m| m.records.contains_key(&copy))
    }

    /// Makes room for the maps of the kernel's copies and claims their places: where the kernel begins, since all of its ends
    /// give them back.
    pub(in crate::lower::nvvm) fn begin_maps(&mut self) -> Result<(), Diagnostic> {
        let copies = self.copies_by_made_maps();
        if copies.is_empty() {
            return Ok(());
        }
        let count = copies.len() as u64;
        let what = "tensor maps that the kernel makes";
        let first = self.memory.reserve(count * RECORD, MAP, what);
        let place = self.memory.reserve(CHUNK, CHUNK, what);
        self.memory.keep();
        let record = |i: u64| first + i * RECORD;
        let records = (0..).zip(&copies).map(|(i, &op)| (op, (record(i), i)));
        let ops = self.all_ops().into_iter();
        let stages = ops.filter_map(|o| Some(view::PipelineCreate::of(self.m.op(o))?.stages()));
        let made = MadeMaps {
            place,
            turns: stages.max().unwrap_or(1).unsigned_abs(),
            records: records.collect(),
        };
        let places = count * made.turns;
        self.asynchronous.made_maps = Some(made);
        let thread = self.thread_is(0);
        self.when(thread, false, |l| {
            l.claim_places(place, places);
            for at in (0..count).map(record) {
                l.clear(at + MAP);
                let mut e = l.emit();
                let long = e.int(64);
                // No tensor begins there.
                let none = e.constant(-1, long);
                l.put_at(at + MAP, none);
            }
            Ok(())
        })
    }

    /// The kernel's copies that go by maps which it makes.
    fn copies_by_made_maps(&self) -> Vec<OpId> {
        if !self.target.has(Feature::TensorMaps) {
            return Vec::new();
        }
        let makes = |op: &OpId| {
            let data = self.m.op(*op);
            let access = view::TmaLoad::of(data).and_then(|_| Access::of(data));
            access.is_some_and(|access| self.tensor_described(*op, &access).is_err())
        };
        self.all_ops().into_iter().filter(makes).collect()
    }

    /// Claims `count` of the places of the kernel's maps for the block.
    fn claim_places(&mut self, place: u64, count: u64) {
        let claims = self.zeros("claims", 4 * CLAIMS);
        let maps = self.zeros("tensor_maps", CLAIMS * count * MAP);
        let mut e = self.emit();
        let block = e.sreg(SpecialRegister::CtaidX);
        let start = e.with(N::And, block, CLAIMS as i64 - 1);
        let int = e.int(32);
        let region = self.m.new_region();
        let body = self.m.new_block(region, &[int]);
        let at = self.m.block(body).args[0];
        self.within(body, |l| {
            let claim = l.claim(claims, at);
            let mut e = l.emit();
            let (free, taken) = (e.i32(0), e.i32(1));
            let groups: [&[ValueId]; 5] = [&[claim], &[free], &[taken], &[], &[]];
            let attrs = [
                Some(Attr::I64s(vec![0])),
                cased(Ordering::Acquire),
                cased(Scope::Device),
                cased(Space::Global),
            ];
            let found = e.get(N::AtomicCas, &groups, attrs, int);
            let done = e.icmp(Predicate::Equal, Signedness::Unsigned, found, free);
            l.leave_when(done, at);
            let mut e = l.emit();
            let next = e.with(N::Add, at, 1);
            let next = e.with(N::And, next, CLAIMS as i64 - 1);
            e.op(N::Continue, &[&[next]], [], &[]);
        });
        let op = self.build().op(N::Loop, &[&[start]], [], &[int], &[region]);
        let own = self.m.result(op);
        let mut e = self.emit();
        let bytes = e.int_cast(own, 64);
        let bytes = e.with(N::Mul, bytes, (count * MAP) as i64);
        let own_maps = e.ptr_add(maps, bytes);
        let claim = self.claim(claims, own);
        self.put_at(place, own_maps);
        self.put_at(place + 8, claim);
    }

    /// The address of the claim of a place.
    fn claim(&mut self, claims: ValueId, number: ValueId) -> ValueId {
        let mut e = self.emit();
        let number = e.int_cast(number, 64);
        let bytes = e.with(N::Mul, number, 4);
        e.ptr_add(claims, bytes)
    }

    /// Gives the block's places back: the thread that read its last tile knows that all copies are done.
    pub(in crate::lower::nvvm) fn give_places_back(&mut self) -> Result<(), Diagnostic> {
        let made = self.asynchronous.made_maps.as_ref();
        let Some(place) = made.map(|m| m.place) else {
            return Ok(());
        };
        let thread = self.thread_is(0);
        self.when(thread, false, |l| {
            let int = l.emit().int(32);
            let pointer = l.pointer_to(int);
            let claim = l.get_at(place + 8, pointer);
            let mut e = l.emit();
            let free = e.i32(0);
            let attrs = [
                cased(RmwMode::Exchange),
                Some(Attr::I64s(vec![0])),
                cased(Ordering::Release),
                cased(Scope::Device),
                cased(Space::Global),
            ];
            let groups: [&[ValueId]; 4] = [&[claim], &[free], &[], &[]];
            e.get(N::AtomicRmw, &groups, attrs, int);
            Ok(())
        })
    }

    /// The map that a copy goes by, which is made anew where the tensor is another one than before. In the thread that starts
    /// the copies.
    pub(super) fn made_map(
        &mut self,
        op: OpId,
        access: &Access,
        order: &[usize],
        boxes: &TmaBoxes,
    ) -> Result<ValueId, Diagnostic> {
        let made = self.asynchronous.made_maps.as_ref();
        let found = made.and_then(|m| Some((m.place, m.turns, *m.records.get(&op)?)));
        let Some((place, turns, (record, number))) = found else {
            return Err(unsupported(self.m, op, "a tensor map without room"));
        };
        let numbers = self.numbers(op, access, order)?;
        let mut changed: Option<ValueId> = None;
        for n in numbers.iter().filter(|n| !n.fixed) {
            let ty = self.m.ty(n.value);
            let old = self.get_at(record + n.at, ty);
            let mut e = self.emit();
            let differs = e.icmp(Predicate::NotEqual, Signedness::Unsigned, old, n.value);
            changed = Some(match changed {
                Some(others) => e.binary(N::Or, others, differs),
                None => differs,
            });
        }
        let Some(changed) = changed else {
            return Err(unsupported(self.m, op, "a tensor without an address"));
        };
        let (turn, map) = self.place_of(place, record, (number, turns), changed);
        let element = element_number(self.m.types.get(pointee(self.m, access.base)));
        let element =
            element.ok_or_else(|| unsupported(self.m, op, "no tensor map of such elements"))?;
        self.when(changed, false, |l| {
            l.write_map(record, order, boxes, element, &numbers);
            l.put_at(record + TURN, turn);
            l.publish(record, map);
            Ok(())
        })?;
        Ok(map)
    }

    /// The numbers of a tensor that its map holds, innermost dimension first.
    fn numbers(
        &mut self,
        op: OpId,
        access: &Access,
        order: &[usize],
    ) -> Result<Vec<Number>, Diagnostic> {
        let bits = self.m.types.bits(pointee(self.m, access.base)).unwrap_or(8);
        let base = self.get(op, access.base)?;
        let mut e = self.emit();
        let long = e.int(64);
        let mut found = vec![Number {
            value: e.bitcast(base, long),
            field: MapField::GlobalAddress,
            index: 0,
            at: MAP,
            fixed: false,
        }];
        let mut at = MAP + 8;
        let missing = |l: &Self| unsupported(l.m, op, "a tensor without extents or strides");
        for (i, &dim) in order.iter().enumerate().skip(1) {
            let stride = access.stride(dim).ok_or_else(|| missing(self))?;
            let fixed = constant(&self.facts, stride).is_some();
            let stride = self.get(op, stride)?;
            let mut e = self.emit();
            let stride = e.int_cast(stride, 64);
            found.push(Number {
                value: e.with(N::Mul, stride, i64::from(bits / 8)),
                field: MapField::GlobalStride,
                index: i as i64 - 1,
                at,
                fixed,
            });
            at += 8;
        }
        for (i, &dim) in order.iter().enumerate() {
            let extent = access.extent(dim).ok_or_else(|| missing(self))?;
            let fixed = constant(&self.facts, extent).is_some();
            let extent = self.get(op, extent)?;
            let mut e = self.emit();
            let extent = e.int_cast(extent, 32);
            found.push(Number {
                // No tensor map has an empty dimension.
                value: e.with(N::MaxS, extent, 1),
                field: MapField::GlobalDim,
                index: i as i64,
                at,
                fixed,
            });
            at += 4;
        }
        Ok(found)
    }

    /// The number and the address of the place where the map at hand lies: the next one, where the tensor has `changed`.
    fn place_of(
        &mut self,
        place: u64,
        record: u64,
        (number, turns): (u64, u64),
        changed: ValueId,
    ) -> (ValueId, ValueId) {
        let mut e = self.emit();
        let (byte, int) = (e.int(8), e.int(32));
        let pointer = self.pointer_to(byte);
        let first = self.get_at(place, pointer);
        let old = self.get_at(record + TURN, int);
        let mut e = self.emit();
        let next = e.with(N::Add, old, 1);
        let (all, none) = (e.i32(turns as i64), e.i32(0));
        let inside = e.icmp(Predicate::LessThan, Signedness::Unsigned, next, all);
        let next = e.get(N::Select, &[&[inside], &[next], &[none]], [], int);
        let turn = e.get(N::Select, &[&[changed], &[next], &[old]], [], int);
        let own = e.with(N::Add, turn, (number * turns) as i64);
        let bytes = e.with(N::Mul, own, MAP as i64);
        let bytes = e.int_cast(bytes, 64);
        (turn, e.ptr_add(first, bytes))
    }

    /// Writes the map and its numbers to the record in shared memory.
    fn write_map(
        &mut self,
        record: u64,
        order: &[usize],
        boxes: &TmaBoxes,
        element: i64,
        numbers: &[Number],
    ) {
        self.clear(record);
        let mut constants = vec![
            (MapField::Rank, 0, order.len() as i64 - 1),
            (MapField::Elemtype, 0, element),
            (MapField::Interleave, 0, 0),
            (MapField::Swizzle, 0, swizzle_number(boxes.swizzle)),
            (MapField::Fill, 0, 0),
        ];
        if boxes.swizzle == Swizzle::B128Atom32 {
            constants.push((MapField::Atomicity, 0, 1));
        }
        for (i, &dim) in (0..).zip(order) {
            constants.push((MapField::BoxDim, i, boxes.box_extents[dim] as i64));
            constants.push((MapField::ElementStride, i, 1));
        }
        let mut e = self.emit();
        let map = e.smem(record);
        for (field, index, value) in constants {
            let attrs = [cased(field), e.i32_attr(index), e.i32_attr(value)];
            e.op(N::MapConstant, &[&[map]], attrs, &[]);
        }
        for n in numbers {
            let attrs = [cased(n.field), e.i32_attr(n.index)];
            e.op(N::MapNumber, &[&[map], &[n.value]], attrs, &[]);
        }
        for n in numbers.iter().filter(|n| !n.fixed) {
            self.put_at(record + n.at, n.value);
        }
    }

    /// Copies the map to its place in global memory, where the copies that follow see it.
    fn publish(&mut self, record: u64, map: ValueId) {
        for chunk in 0..MAP / CHUNK {
            let int = self.m.types.int(32);
            let ty = self.m.types.regs(int, (CHUNK / 4) as u32);
            let part = self.get_at(record + chunk * CHUNK, ty);
            let mut e = self.emit();
            let attrs = AccessAttrs {
                space: Space::Global,
                cache: Cache::Default,
                ..AccessAttrs::shared(CHUNK / 4, vec![(chunk * CHUNK) as i64])
            }
            .list(&mut e);
            e.op(N::St, &[&[map], &[part], &[]], attrs, &[]);
        }
        self.fence(FenceKind::MapWritten);
        self.emit().effect(N::MapAcquire, &[map], []);
    }

    /// Bytes of zeros in global memory, for this kernel; their address.
    fn zeros(&mut self, what: &str, bytes: u64) -> ValueId {
        let name = view::Func::of(self.m.op(self.kernel.func)).map(|f| f.sym_name());
        let name = name.map_or_else(String::new, |name| self.m.str(name).to_owned());
        self.zeroed_data(&format!("__tilec_{what}_{name}"), bytes, MAP as i64)
    }

    /// Writes zeros to as many bytes of shared memory as a map has.
    fn clear(&mut self, offset: u64) {
        for chunk in 0..MAP / CHUNK {
            let mut e = self.emit();
            let int = e.int(32);
            let zeros = e.array(&[0; (CHUNK / 4) as usize], int);
            self.put_at(offset + chunk * CHUNK, zeros);
        }
    }

    fn put_at(&mut self, offset: u64, value: ValueId) {
        let mut e = self.emit();
        let at = e.smem(offset);
        let attrs = AccessAttrs::shared(u64::from(e.count(value)), vec![0]).list(&mut e);
        e.op(N::St, &[&[at], &[value], &[]], attrs, &[]);
    }

    fn get_at(&mut self, offset: u64, ty: TypeId) -> ValueId {
        let registers = match self.m.types.get(ty) {
            Type::Regs { n, .. } => u64::from(*n),
            _ => 1,
        };
        let mut e = self.emit();
        let at = e.smem(offset);
        let attrs = AccessAttrs::shared(registers, vec![0]).list(&mut e);
        e.get(N::Ld, &[&[at], &[], &[]], attrs, ty)
    }
}

/// The number of an element type in a tensor map (PTX ISA, "tensormap.replace", field `elemtype`). Of floats of eight bits
/// copies move the bytes.
fn element_number(ty: &Type) -> Option<i64> {
    Some(match ty {
        Type::Int(8) => 0,
        Type::Int(16) => 1,
        Type::Int(32) => 2,
        Type::Int(64) => 4,
        Type::Float(Float::F16) => 6,
        Type::Float(Float::F32) => 7,
        Type::Float(Float::F64) => 9,
        Type::Float(Float::BF16) => 10,
        Type::Float(Float::TF32) => 11,
        ty => match ty {
            Type::Float(f) if f.bits() == 8 => 0,
            _ => return None,
        },
    })
}

/// The number of a swizzle there (field `swizzle_mode`).
fn swizzle_number(swizzle: Swizzle) -> i64 {
    match swizzle {
        Swizzle::None => 0,
        Swizzle::B32 => 1,
        Swizzle::B64 => 2,
        Swizzle::B128 | Swizzle::B128Atom32 => 3,
    }
}
