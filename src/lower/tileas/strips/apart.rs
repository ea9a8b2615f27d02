//! Numbers of elements and constants that serve rows and columns alike, made for each use anew.

use super::dims::extents;
use crate::dialect::cuda_tile::Op as C;
use crate::ir::{BlockId, Module, OpId};
use crate::lower::tileas::pipeline::slice::{Map, copy};

/// Copies, each with what it was copied from.
pub struct Apart(Vec<(OpId, OpId)>);

/// Gives every user of such a tile under `body` its own.
pub fn take(m: &mut Module, body: BlockId) -> Apart {
    let mut copies = Vec::new();
    for op in m.ops_under(body) {
        let made = matches!(C::of(m.op(op).kind), Some(C::Iota | C::Constant));
        if !made || extents(m, m.result(op)).iter().all(|&e| e == 1) {
            continue;
        }
        let tile = m.result(op);
        for user in m.users(tile).into_iter().skip(1) {
            let home = m.op(op).block;
            let new = copy(m, op, home, &mut Map::default());
            m.block_mut(home).ops.retain(|&o| o != new);
            let ops = &m.block(home).ops;
            let at = ops.iter().position(|&o| o == op).unwrap_or(0);
            m.place(new, home, at + 1);
            let own = [(tile, m.result(new))].into_iter().collect();
            m.replace_operands(user, &own);
            copies.push((new, op));
        }
    }
    Apart(copies)
}

impl Apart {
    /// Takes the copies back.
    pub fn undo(self, m: &mut Module) {
        for (copied, op) in self.0 {
            m.replace_all_uses(m.result(copied), m.result(op));
            m.erase(copied);
        }
    }
}
