//! Which columns of tensor memory each buffer has.
//!
//! A buffer is in use at its matmul, or, where loops carry it, during all of them. Buffers that are never in use
//! at the same time share columns: scores that have been read make room for what is computed from them.

use crate::dialect::nv_tileas::view;
use std::ops::Range;

use crate::dialect::nv_tileas::Op as S;
use crate::facts::tensor::{stages, tensor_matrix};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::tileas::lifetime::lowest_gap;

/// A buffer, and when it is in use: one that several matmuls use has an entry for each.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub buffer: Option<ValueId>,
    pub dot: OpId,
    /// How many loops around the matmul carry it, which it is in use in all of; none: at the matmul alone.
    pub loops: usize,
    pub columns: u64,
    /// It has one stage however many accumulators have.
    pub once: bool,
    /// Where two warps issue matmuls, which are in no order: whether the matmul is the further one's ([`super::apart`]).
    pub ahead: Option<bool>,
}

impl Held {
    /// The operation during which it is in use.
    fn during(&self, m: &Module) -> OpId {
        let outwards = |op: OpId| m.parent_op(op).unwrap_or(op);
        (0..self.loops).fold(self.dot, |op, _| outwards(op))
    }

    /// Whether two are in use at the same time.
    fn meets(&self, m: &Module, other: &Held) -> bool {
        if let (Some(own), Some(theirs)) = (self.ahead, other.ahead)
            && own != theirs
        {
            return true;
        }
        let (own, theirs) = (self.during(m), other.during(m));
        holds(m, own, theirs) || holds(m, theirs, own)
    }

    /// Whether two are entries of the same buffer.
    fn is_same(&self, other: &Held) -> bool {
        self.buffer.is_some() && self.buffer == other.buffer
    }
}

/// Whether `inner` is `outer` or in it.
fn holds(m: &Module, outer: OpId, mut inner: OpId) -> bool {
    while inner != outer {
        match m.parent_op(inner) {
            Some(parent) => inner = parent,
            None => return false,
        }
    }
    true
}

/// The first column of each buffer: the lowest that those in use at the same time leave.
pub fn places(m: &Module, all: &[Held]) -> Vec<u64> {
    let mut firsts: Vec<u64> = Vec::new();
    for held in all {
        let earlier = || all.iter().zip(&firsts);
        let first = match earlier().find(|(o, _)| o.is_same(held)) {
            Some((_, &first)) => first,
            None => {
                // A buffer that has its columns may be in use at a matmul whose entry comes later.
                let own = || entries(all, held);
                let taken = earlier().filter(|(o, _)| ever_meet(m, entries(all, o), own));
                lowest_gap(taken.map(|(o, &f)| f..f + o.columns), held.columns)
            }
        };
        firsts.push(first);
    }
    firsts
}

/// Whether any of some entries is in use at the same time as any of others.
fn ever_meet<'a, I: Iterator<Item = &'a Held>>(
    m: &Module,
    mut some: impl Iterator<Item = &'a Held>,
    others: impl Fn() -> I,
) -> bool {
    some.any(|one| others().any(|other| other.meets(m, one)))
}

/// The entries of an entry's buffer; it alone where no buffer is known yet.
fn entries<'a>(all: &'a [Held], held: &'a Held) -> impl Iterator<Item = &'a Held> {
    all.iter()
        .filter(move |o| std::ptr::eq(*o, held) || o.is_same(held))
}

/// The columns that they need together.
pub fn needed(m: &Module, all: &[Held]) -> u64 {
    let ends = (places(m, all).into_iter().zip(all)).map(|(first, held)| first + held.columns);
    ends.max().unwrap_or(0)
}

/// Whether two buffers are in use at the same time.
pub fn meet(m: &Module, all: &[Held], a: ValueId, b: ValueId) -> bool {
    let of = |buffer| all.iter().filter(move |h| h.buffer == Some(buffer));
    ever_meet(m, of(a), || of(b))
}

/// One entry of each buffer.
pub fn buffers(all: &[Held]) -> Vec<Held> {
    let mut one: Vec<Held> = Vec::new();
    for held in all {
        if !one.iter().any(|o| o.is_same(held)) {
            one.push(*held);
        }
    }
    one
}

/// Writes the columns down.
pub fn assign(m: &mut Module, body: BlockId, all: &[Held]) {
    let firsts = places(m, all);
    for (held, first) in all.iter().zip(firsts) {
        if let Some(alloc) = held.buffer.and_then(|b| m.def_op(b)) {
            m.set_i32(alloc, "column", first as i64);
        }
    }
    debug_assert!(end(m, body).is_none_or(|e| e <= crate::layout::tensor::COLUMNS));
}

/// The columns of the buffer that an allocation makes, all stages of it.
pub fn of(m: &Module, alloc: OpId) -> Option<Range<u64>> {
    let buffer = *m.op(alloc).results.first()?;
    let first = view::AllocTensorMemory::of(m.op(alloc))?.column();
    let first = u64::try_from(first.unwrap_or(0)).ok()?;
    let columns = tensor_matrix(m, buffer)?.all_columns() * stages(m, buffer);
    Some(first..first + columns)
}

/// The first column behind all buffers under `body`, if there are any.
pub fn end(m: &Module, body: BlockId) -> Option<u64> {
    let ops = m.ops_under(body).into_iter();
    let allocs = ops.filter(|&o| S::of(m.op(o).kind) == Some(S::AllocTensorMemory));
    allocs.filter_map(|o| Some(of(m, o)?.end)).max()
}
