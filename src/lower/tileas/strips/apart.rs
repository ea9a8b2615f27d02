//! Tiles that serve rows and columns alike, made for each use anew.
//!
//! Numbers of elements and constants cost nothing. Where that is not enough, loads are made for each use, and of a tile with
//! one long dimension, such as sums along a chunk's rows, each use takes its part:
//!
//! ```text
//! s = scan d                     s = scan d
//! decay = s[:, 1] - s[1, :]  →   decay = extract(s)[:, 1] - extract(s)[1, :]
//! ```

use super::dims::{extents, is_whole};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::build::constant;
use crate::lower::tileas::look::{is_matmul, is_view, place};
use crate::lower::tileas::pipeline::slice::{Map, copy};
use crate::lower::tileas::pipeline::tokens::loads_freely;
use rustc_hash::FxHashMap;

/// Most elements of a tile of which uses take their parts, through shared memory.
const MOST_TAKEN: u64 = 4096;

/// What was made, each with the tile that it stands for.
pub struct Apart(Vec<(OpId, ValueId)>);

/// Gives every user of numbers of elements or a constant under `body` its own.
pub fn take(m: &mut Module, body: BlockId) -> Apart {
    let mut copies = Vec::new();
    for op in m.ops_under(body) {
        if matches!(C::of(m.op(op).kind), Some(C::Iota | C::Constant)) {
            copy_for_users(m, op, |_, user| user, &mut copies);
        }
    }
    Apart(copies)
}

/// The same for loads, and of tiles with one long dimension.
pub fn take_more(m: &mut Module, body: BlockId) -> Apart {
    let Apart(mut copies) = take(m, body);
    for op in m.ops_under(body).into_iter().rev() {
        let kind = C::of(m.op(op).kind);
        let loads = S::of(m.op(op).kind) == Some(S::TiledLoad) && loads_freely(m, op);
        if loads || is_view(m, op) {
            let tile = m.result(op);
            copy_for_users(m, op, |m, user| kind_of_use(m, user, tile), &mut copies);
        } else if matches!(kind, Some(C::Scan | C::Reduce))
            || m.op(op).only_computes() && !matches!(kind, Some(C::Iota | C::Constant))
        {
            extract_for_users(m, op, &mut copies);
        }
    }
    Apart(copies)
}

/// Gives every use of what `op` makes but the first a copy of it. `use_of`: what uses of one kind share.
fn copy_for_users<K: PartialEq>(
    m: &mut Module,
    op: OpId,
    use_of: impl Fn(&Module, OpId) -> K,
    copies: &mut Vec<(OpId, ValueId)>,
) {
    let tile = m.result(op);
    if extents(m, tile).iter().all(|&e| e == 1) {
        return;
    }
    let mut made: Vec<(K, ValueId)> = Vec::new();
    for user in m.users(tile) {
        let key = use_of(m, user);
        let shared = made.iter().find(|(k, _)| *k == key).map(|(_, v)| *v);
        let own = match shared {
            Some(own) => own,
            None if made.is_empty() => tile,
            None => {
                let (home, at) = place(m, op);
                let new = copy(m, op, home, &mut Map::default());
                m.block_mut(home).ops.retain(|&o| o != new);
                m.place(new, home, at + 1);
                copies.push((new, tile));
                m.result(new)
            }
        };
        if shared.is_none() {
            made.push((key, own));
        }
        m.replace_operands(user, &[(tile, own)].into_iter().collect());
    }
}

/// How an operation uses a tile of which a part may be wanted: matmuls as rows or as columns, what changes its shape by
/// itself, and the others element by element.
fn kind_of_use(m: &Module, user: OpId, tile: ValueId) -> (Option<usize>, Option<OpId>) {
    match is_matmul(m, user) {
        true => (m.op(user).operands.iter().position(|&v| v == tile), None),
        false => (None, Some(user).filter(|&o| is_view(m, o))),
    }
}

/// Gives every user of a tile with one long dimension a part of it, which is the whole as yet.
fn extract_for_users(m: &mut Module, op: OpId, copies: &mut Vec<(OpId, ValueId)>) {
    let &[tile] = m.op(op).results.as_slice() else {
        return;
    };
    let shape = extents(m, tile);
    let long = shape.iter().filter(|&&e| e > 1).count();
    let users = m.users(tile);
    if long != 1 || shape.iter().product::<u64>() > MOST_TAKEN || users.len() < 2 {
        return;
    }
    let ty = m.ty(tile);
    let i32_ty = m.types.int(32);
    let number = m.types.tile(i32_ty, &[]);
    for user in users {
        let (home, at) = place(m, op);
        let mut b = m.at(home, at + 1);
        let zero = constant(&mut b, 0, number);
        let index = vec![zero; shape.len()];
        let part = b.op(C::Extract, &[&[tile], &index], [], &[ty], &[]);
        let own = [(tile, m.result(part))].into_iter().collect();
        m.replace_operands(user, &own);
        copies.push((part, tile));
    }
}

impl Apart {
    /// Takes the copies back.
    pub fn undo(self, m: &mut Module) {
        for (copied, tile) in self.0.into_iter().rev() {
            m.replace_all_uses(m.result(copied), tile);
            m.erase(copied);
        }
    }
}

/// Leaves one of the parts under `body` that are the same, and none that is a whole tile.
pub fn tidy(m: &mut Module, body: BlockId) {
    let mut first: FxHashMap<(BlockId, Vec<ValueId>), OpId> = FxHashMap::default();
    for op in m.ops_under(body) {
        if C::of(m.op(op).kind) != Some(C::Extract) {
            continue;
        }
        let same = (m.op(op).block, m.op(op).operands.to_vec());
        let serves = match first.get(&same) {
            _ if is_whole(m, op) => m.source(op),
            Some(&earlier) if m.ty(m.result(earlier)) == m.ty(m.result(op)) => m.result(earlier),
            _ => {
                first.insert(same, op);
                continue;
            }
        };
        m.replace_all_uses(m.result(op), serves);
        m.erase(op);
    }
}
