//! Operands of matmuls that elementwise operations make of tiles in shared memory.
//!
//! Such tiles can be read as the matmul holds its operand, and what is made of them is computed there: nothing goes
//! through scratch.

use super::relation::is_distributed;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{Module, OpId, ValueId};
use crate::lower::tileas::look::is_view;

/// Most operations between the reads and the matmul.
const MOST: usize = 24;

/// How an operand is made of tiles in shared memory.
pub struct Made {
    /// The reads.
    pub loads: Vec<OpId>,
    /// Whether something is computed on the way.
    pub computed: bool,
    /// All operations on the way, the reads among them.
    ops: Vec<OpId>,
}

impl Made {
    /// How `tile` is made, if of such tiles, constants and broadcasts alone. Where something is computed, their elements
    /// have 16 bits at least: less would be read byte by byte.
    pub fn of(m: &Module, tile: ValueId) -> Option<Made> {
        let mut made = Made {
            loads: Vec::new(),
            computed: false,
            ops: Vec::new(),
        };
        let whole = collect(m, tile, &mut made) && !made.loads.is_empty();
        let fits = !made.computed || made.loads.iter().all(|&l| bits(m, l) >= 16);
        (whole && fits).then_some(made)
    }

    /// Whether nothing on the way is used but for `user`.
    pub fn is_for(&self, m: &Module, user: OpId) -> bool {
        let inside = |op: OpId| op == user || self.ops.contains(&op);
        let mut made = self.ops.iter().filter(|&&op| !is_given(m, op));
        made.all(|&op| m.users(m.result(op)).into_iter().all(inside))
    }

    /// Operations that compute each element of the operand.
    pub fn operations(&self, m: &Module) -> usize {
        self.ops.iter().filter(|&&op| computes(m, op)).count()
    }

    /// Whether all that is read has elements of so many bits.
    pub fn reads(&self, m: &Module, width: u32) -> bool {
        self.loads.iter().all(|&l| bits(m, l) == width)
    }
}

/// Bits of an element of what a load loads.
fn bits(m: &Module, load: OpId) -> u32 {
    m.types.bits(m.ty(m.result(load))).unwrap_or(0)
}

fn collect(m: &Module, tile: ValueId, made: &mut Made) -> bool {
    if !is_distributed(m, tile) {
        return true;
    }
    let Some(op) = m.def_op(tile) else {
        return false;
    };
    if made.ops.contains(&op) {
        return true;
    }
    if made.ops.len() == MOST {
        return false;
    }
    made.ops.push(op);
    if S::of(m.op(op).kind) == Some(S::LocalLoad) {
        made.loads.push(op);
        return true;
    }
    if is_given(m, op) {
        return true;
    }
    let computes = computes(m, op);
    made.computed |= computes;
    (computes || is_view(m, op)) && {
        let operands = &m.op(op).operands;
        operands.iter().all(|&o| collect(m, o, made))
    }
}

/// Whether an operation computes each element of a tile of the same element of others.
pub fn computes(m: &Module, op: OpId) -> bool {
    m.op(op).def().traits.has(Traits::ELEMENTWISE)
}

/// Whether a tile's elements are numbers, or few and repeated: it is had in any layout.
fn is_given(m: &Module, op: OpId) -> bool {
    matches!(
        C::of(m.op(op).kind),
        Some(C::Constant | C::Iota | C::Broadcast)
    )
}
