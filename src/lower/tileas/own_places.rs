//! Pointers and masks of an access that are also those of something else, which lies otherwise.
//!
//! ```text
//! ok = broadcast inside : 128x128                ok = broadcast inside : 128x128
//! s = select ok, s, 0                            s = select ok, s, 0
//! store p, s, ok                         →       own = broadcast inside : 128x128
//!                                                store p, s, own
//! ```
//! What is computed element by element lies alike: a mask that a matmul's result is selected by, too, would let a store
//! write in the matmul's layout, four bytes at a time. Numbers that are the same in rows or columns are cheap to have twice.

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::facts::access;
use crate::ir::{Module, OpId, Type, ValueId};
use crate::lower::tileas::pipeline::slice::{Map, copy_in_front};
use crate::lower::tileas::relation::is_distributed;

/// Most operations that are copied for a mask or a tile of pointers.
const MOST: usize = 16;

/// Gives the access through pointers `op` pointers and a mask of its own, where others use those or what they are computed
/// of. Whether there were any.
pub fn copy(m: &mut Module, op: OpId) -> bool {
    let mut copied = false;
    for name in ["pointers", "mask"] {
        let Some(value) = access::operand(m.op(op), name) else {
            continue;
        };
        let mut makers = Vec::new();
        if !collect(m, value, &mut makers) || !are_shared(m, op, &makers) {
            continue;
        }
        let mut map = Map::default();
        for maker in makers {
            copy_in_front(m, maker, op, &mut map);
        }
        if let Some(&own) = map.get(&value) {
            m.set_operand(op, name, own);
            copied = true;
        }
    }
    copied
}

/// Collects what `value` is computed of, down to broadcasts; false where something else is among it, or too much.
fn collect(m: &Module, value: ValueId, makers: &mut Vec<OpId>) -> bool {
    if !is_distributed(m, value) {
        return true;
    }
    let Some(op) = m.def_op(value) else {
        return false;
    };
    if makers.contains(&op) {
        return true;
    }
    let data = m.op(op);
    let made = match C::of(data.kind) {
        Some(C::Broadcast | C::Constant | C::Iota) => true,
        _ => {
            let places = matches!(
                m.types.get(m.types.elem(m.ty(value))),
                Type::Int(_) | Type::Ptr { .. }
            );
            let operands = data.operands.clone();
            places
                && data.def().traits.has(Traits::ELEMENTWISE)
                && operands.into_iter().all(|v| collect(m, v, makers))
        }
    };
    makers.push(op);
    made && makers.len() <= MOST
}

/// Whether others than `access` and `makers` use what these make.
fn are_shared(m: &Module, access: OpId, makers: &[OpId]) -> bool {
    let own = |o: &OpId| *o == access || makers.contains(o);
    let results = makers.iter().flat_map(|&o| m.op(o).results.to_vec());
    results.into_iter().any(|r| !m.users(r).iter().all(own))
}
