//! What a token waits for.

use rustc_hash::FxHashSet;

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::ir::{Module, OpId, Type, ValueId};

/// Whether an access with this token must wait for an earlier access of other threads: one of the
/// two writes. Accesses reached through loop-carried tokens count as earlier.
pub fn conflicts(m: &Module, op: OpId, token: ValueId, writes: bool) -> bool {
    let mut seen = FxHashSet::default();
    let mut work = vec![token];
    while let Some(token) = work.pop() {
        if !seen.insert(token) {
            continue;
        }
        let Some(def) = m.def_op(token) else {
            // A block argument: somewhere around the loop an access may have made it.
            return true;
        };
        let data = m.op(def);
        if data.def().traits.has(Traits::MEMORY) {
            if def != op && (writes || is_write(m, def)) {
                return true;
            }
            // What it waited for itself is ordered through it.
            continue;
        }
        if !matches!(C::of(data.kind), Some(C::MakeToken | C::JoinTokens)) {
            return true;
        }
        work.extend(&data.operands);
    }
    false
}

/// Whether an operation with memory effects writes: those that yield a tile, too, are atomic.
fn is_write(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    let tiles = data
        .results
        .iter()
        .filter(|&&r| !matches!(m.types.get(m.ty(r)), Type::Token))
        .count();
    tiles == 0 || data.def().traits.has(Traits::ATOMIC)
}
