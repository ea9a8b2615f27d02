//! Which columns of tensor memory each buffer has.
//!
//! A buffer is in use at its matmul, or, where a loop carries it, during the whole loop. Buffers that are never in use
//! at the same time share columns: scores that have been read make room for what is computed from them.

use crate::dialect::nv_tileas::view;
use std::ops::Range;

use crate::dialect::nv_tileas::Op as S;
use crate::facts::tensor::{stages, tensor_matrix};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::tileas::lifetime::lowest_gap;

/// A buffer, and when it is in use.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub buffer: Option<ValueId>,
    pub dot: OpId,
    /// Not at the matmul alone but in all of the loop around it.
    pub whole_loop: bool,
    pub columns: u64,
    /// It has one stage however many accumulators have.
    pub once: bool,
}

impl Held {
    /// The operation during which it is in use.
    fn during(&self, m: &Module) -> OpId {
        match m.parent_op(self.dot).filter(|_| self.whole_loop) {
            Some(around) => around,
            None => self.dot,
        }
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
        let during = held.during(m);
        let meets = |other: &Held| {
            let theirs = other.during(m);
            holds(m, during, theirs) || holds(m, theirs, during)
        };
        let earlier = all.iter().zip(&firsts).filter(|(o, _)| meets(o));
        let taken = earlier.map(|(o, &f)| f..f + o.columns);
        let first = lowest_gap(taken, held.columns);
        firsts.push(first);
    }
    firsts
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
