//! Pointers that a loop moves on, as what they are: the first ones + iteration × step.
//!
//! `for i { … p …; continue offset(p, step) }` carries a tile of pointers in registers, and hides where loads go.
//! Written from the loop's own counter, the tile is not carried: what stays the same is computed in front of the
//! loop, loads can be started iterations ahead. Triton's loops over K are written that way. Tiles of numbers that
//! grow likewise are treated alike; numbers by themselves are left to `tileas/pipeline/induction.rs`.

use super::build::{cased, constant, difference, int_cast, splat};
use super::carried;
use super::invariant::{outside, stands};
use super::tileas::look;
use crate::dialect::cuda_tile::{Op as C, view};
use crate::dialect::enums::{Overflow, Rounding};
use crate::ir::{Attr, BlockId, Dense, Module, OpBuilder, OpId, Type, TypeId, ValueId};
use crate::scalar::Signedness;

/// Rewrites the loops of every entry, inner ones first: how far one of them moves a pointer is what the loop
/// around it adds.
pub fn run(m: &mut Module) {
    for op in m.block(m.body).ops.clone() {
        let Some(body) = m.body_of(op, 0) else {
            continue;
        };
        for around in carried::counted_loops(m, body).into_iter().rev() {
            settle(m, around);
        }
    }
}

/// Rewrites what one loop carries, the last first.
fn settle(m: &mut Module, around: OpId) {
    for place in (0..carried::inits(m.op(around)).len()).rev() {
        if let Some(moved) = Moved::find(m, around, place) {
            moved.write(m, around, place);
        }
    }
}

/// A number that is added to all elements alike.
#[derive(Clone, Copy)]
enum Step {
    Constant(i64),
    Value(ValueId),
}

/// A carried tile to whose elements every iteration adds the same.
struct Moved {
    steps: Vec<Step>,
    /// What the loop adds to its counter.
    stride: i64,
    unsigned: bool,
}

impl Moved {
    fn find(m: &Module, around: OpId, place: usize) -> Option<Moved> {
        let data = view::For::of(m.op(around))?;
        let stride = number(m, data.step()).filter(|&n| n > 0)?;
        // Differences of unsigned counters have to fit into signed numbers of 64 bits.
        if data.unsignedCmp() && m.types.bits(m.ty(data.step())).is_none_or(|b| b > 32) {
            return None;
        }
        let body = m.body_of(around, 0)?;
        let value = *m.block(body).args.get(place + 1)?;
        let (elem, shape) = m.types.as_tile(m.ty(value))?;
        match m.types.get(elem) {
            Type::Ptr { .. } => {}
            Type::Int(bits) if *bits >= 8 && !shape.is_empty() => {}
            _ => return None,
        }
        let end = carried::only_end(m, body)?;
        let mut steps = Vec::new();
        let mut next = *m.op(end).operands.get(place)?;
        while next != value {
            let op = m.def_op(next)?;
            let data = m.op(op);
            let [from, by] = data.operands[..] else {
                return None;
            };
            let (from, by) = match C::of(data.kind)? {
                C::Offset | C::AddI if moves(m, body, from, value) => (from, by),
                C::AddI if moves(m, body, by, value) => (by, from),
                _ => return None,
            };
            steps.push(alike(m, by)?);
            next = from;
        }
        let still = |s: &Step| match s {
            Step::Constant(_) => true,
            Step::Value(v) => stands(m, body, *v),
        };
        let found = !steps.is_empty() && steps.iter().all(still);
        found.then_some(Moved {
            steps,
            stride,
            unsigned: data.unsignedCmp(),
        })
    }

    /// Lets the loop carry the tile no longer.
    fn write(mut self, m: &mut Module, around: OpId, place: usize) {
        let (Some(body), bounds) = (m.body_of(around, 0), carried::bounds(m.op(around))) else {
            return;
        };
        let (first, loc) = (carried::inits(m.op(around))[place], m.op(around).loc);
        for step in &mut self.steps {
            if let Step::Value(v) = step {
                *v = outside(m, around, body, *v);
            }
        }
        let (counter, value) = (m.block(body).args[0], m.block(body).args[place + 1]);
        let mut b = m.at(body, 0);
        b.loc = loc;
        let done = self.difference(&mut b, counter, bounds[0]);
        let now = self.after(&mut b, first, done);
        m.replace_all_uses(value, now);
        let last = m.op(around).results[place];
        if m.is_used(last) {
            let (home, at) = look::place(m, around);
            let mut b = m.at(home, at + 1);
            b.loc = loc;
            let done = self.whole(&mut b, bounds[0], bounds[1]);
            let now = self.after(&mut b, first, done);
            m.replace_all_uses(last, now);
        }
        carried::drop_carried(m, around, place);
    }

    /// How far `to` is from `from`, in 64 bits.
    fn difference(&self, b: &mut OpBuilder<'_>, to: ValueId, from: ValueId) -> ValueId {
        let wide = wide(b, &[]);
        let to = self.widened(b, to, wide);
        let from = self.widened(b, from, wide);
        difference(b, to, from)
    }

    fn widened(&self, b: &mut OpBuilder<'_>, value: ValueId, wide: TypeId) -> ValueId {
        match self.unsigned && b.module.ty(value) != wide {
            true => b.value(C::ExtI, &[value], [cased(Signedness::Unsigned)], wide),
            false => int_cast(b, value, wide),
        }
    }

    /// How far the counter has come when the loop is over: the next multiple of the stride, or not at all.
    fn whole(&self, b: &mut OpBuilder<'_>, lower: ValueId, upper: ValueId) -> ValueId {
        let range = self.difference(b, upper, lower);
        let wide = b.module.ty(range);
        let zero = constant(b, 0, wide);
        let range = b.value(C::MaxI, &[range, zero], [cased(Signedness::Signed)], wide);
        if self.stride == 1 {
            return range;
        }
        let stride = constant(b, self.stride, wide);
        let attrs = [cased(Signedness::Signed), cased(Rounding::PositiveInf)];
        let count = b.value(C::DivI, &[range, stride], attrs, wide);
        b.value(C::MulI, &[count, stride], [cased(Overflow::None)], wide)
    }

    /// The tile when the counter has gone on by `done`, a multiple of the stride. Of one pointer and a tile of
    /// offsets, the pointer moves: offsets are 32 bits wide as a rule, and stay.
    fn after(&self, b: &mut OpBuilder<'_>, first: ValueId, done: ValueId) -> ValueId {
        if let Some((pointer, by)) = one_pointer(b.module, first) {
            let ty = b.module.ty(first);
            let pointer = self.moved(b, pointer, done);
            let all = splat(b, pointer, ty);
            return b.value(C::Offset, &[all, by], [], ty);
        }
        self.moved(b, first, done)
    }

    /// A tile or a pointer after all steps.
    fn moved(&self, b: &mut OpBuilder<'_>, first: ValueId, done: ValueId) -> ValueId {
        let mut tile = first;
        for step in self.steps.iter().rev() {
            let amount = self.amount(b, *step, done);
            let (ty, is_pointer) = offsets(b, first);
            let elem = b.module.types.elem(ty);
            let scalar = b.module.types.tile(elem, &[]);
            let amount = int_cast(b, amount, scalar);
            let amount = splat(b, amount, ty);
            let result = b.module.ty(first);
            tile = match is_pointer {
                true => b.value(C::Offset, &[tile, amount], [], result),
                false => b.value(C::AddI, &[tile, amount], [cased(Overflow::None)], ty),
            };
        }
        tile
    }

    /// What `done / stride` iterations add.
    fn amount(&self, b: &mut OpBuilder<'_>, step: Step, done: ValueId) -> ValueId {
        let wide = b.module.ty(done);
        let overflow = || [cased(Overflow::None)];
        let times = |b: &mut OpBuilder<'_>, n: i64| match n {
            1 => done,
            _ => {
                let n = constant(b, n, wide);
                b.value(C::MulI, &[done, n], overflow(), wide)
            }
        };
        match step {
            Step::Constant(n) if n % self.stride == 0 => times(b, n / self.stride),
            _ => {
                let count = match self.stride {
                    1 => done,
                    stride => {
                        let stride = constant(b, stride, wide);
                        let attrs = [cased(Signedness::Unsigned), cased(Rounding::Zero)];
                        b.value(C::DivI, &[done, stride], attrs, wide)
                    }
                };
                let step = match step {
                    Step::Constant(n) => constant(b, n, wide),
                    Step::Value(v) => int_cast(b, v, wide),
                };
                b.value(C::MulI, &[count, step], overflow(), wide)
            }
        }
    }
}

/// The type of 64-bit numbers in a tile of `shape`.
fn wide(b: &mut OpBuilder<'_>, shape: &[u64]) -> TypeId {
    let int = b.module.types.int(64);
    b.module.types.tile(int, shape)
}

/// The type of what is added to a tile, and whether that is one of pointers.
fn offsets(b: &mut OpBuilder<'_>, tile: ValueId) -> (TypeId, bool) {
    let ty = b.module.ty(tile);
    let Some((elem, shape)) = b.module.types.as_tile(ty) else {
        return (ty, false);
    };
    let shape = shape.to_vec();
    match b.module.types.get(elem) {
        Type::Ptr { .. } => (wide(b, &shape), true),
        _ => (ty, false),
    }
}

/// The one pointer that a tile of pointers is offset from, and the offsets.
fn one_pointer(m: &Module, tile: ValueId) -> Option<(ValueId, ValueId)> {
    let data = m.op(m.def_op(tile)?);
    match (C::of(data.kind)?, &data.operands[..]) {
        (C::Offset, &[from, by]) => match alike(m, from)? {
            Step::Value(pointer) if pointer != from => Some((pointer, by)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether `value` is `tile`, moved on in the loop's own block.
fn moves(m: &Module, body: BlockId, value: ValueId, tile: ValueId) -> bool {
    let mut at = value;
    while at != tile {
        let Some(op) = m.def_op(at).filter(|&op| m.op(op).block == body) else {
            return false;
        };
        match (C::of(m.op(op).kind), m.op(op).operands.first()) {
            (Some(C::Offset | C::AddI), Some(&from)) => at = from,
            _ => return false,
        }
    }
    true
}

/// The number that all elements of a tile are.
fn alike(m: &Module, tile: ValueId) -> Option<Step> {
    if let Some(n) = number(m, tile) {
        return Some(Step::Constant(n));
    }
    if m.types.as_tile(m.ty(tile))?.1.is_empty() {
        return Some(Step::Value(tile));
    }
    let op = m.def_op(tile)?;
    match C::of(m.op(op).kind)? {
        C::Reshape | C::Broadcast => alike(m, m.source(op)),
        _ => None,
    }
}

/// The number of a constant, or of all its elements.
pub(super) fn number(m: &Module, value: ValueId) -> Option<i64> {
    let data = view::Constant::of(m.op(m.def_op(value)?))?;
    let Attr::Dense {
        data: Dense::Bytes(bytes),
        ty,
    } = data.value()
    else {
        return None;
    };
    let Type::Int(bits @ 8..=64) = m.types.get(m.types.elem(*ty)) else {
        return None;
    };
    if bytes.len() as u32 * 8 != *bits {
        return None;
    }
    let sign = bytes.last()? & 0x80 != 0;
    let mut wide = [if sign { 0xff } else { 0 }; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i64::from_le_bytes(wide))
}
