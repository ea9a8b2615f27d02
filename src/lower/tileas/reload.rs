//! Tiles that are loaded once more for later uses, where registers are short.
//!
//! ```text
//! k = load p                      k  = load p
//! s = q · kᵀ                      s  = q · kᵀ
//! n = v - w · h            →      n  = v - w · h
//! h += (g · k)ᵀ · n               k' = load p
//!                                 h += (g · k')ᵀ · n
//! ```
//! A tile that several matmuls use is in registers from the first to the last. Where a thread has not that many, something
//! is written to memory and read back; this tile is in memory already. A load that waits for no write may read as
//! late as what waits for the load lets it.

use super::look::{ancestor_in, is_view, place};
use super::pipeline::slice::{Map, copy_in_front};
use super::pipeline::tokens::loads_freely;
use super::pressure::{self, Weights};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access;
use crate::ir::{BlockId, Module, OpId, Type, ValueId};

/// Registers of a thread for the smallest tiles that are loaded again.
const LEAST: u64 = 8;

/// Loads tiles of `blocks` under `body` again where that lowers what lives at once in a thread of `warps` warps.
pub fn again(m: &mut Module, body: BlockId, blocks: &[BlockId], warps: u64) {
    let ops = blocks.iter().flat_map(|&b| m.block(b).ops.clone());
    let weights = Weights::of(m, body, warps);
    let large = |&op: &OpId| {
        let tile = m.op(op).results.first();
        tile.is_some_and(|&tile| weights.weight(tile) >= LEAST)
    };
    let loads = ops.filter(large);
    let mut late: Vec<Late> = loads.filter_map(|op| Late::of(m, body, op)).collect();
    let most = |m: &Module, late: &[Late]| {
        let tiles: Vec<ValueId> = late.iter().map(|l| m.result(l.load)).collect();
        pressure::registers_without(m, body, warps, &tiles)
    };
    let least = most(m, &late);
    // What does not lower it stays in its registers.
    let mut i = 0;
    while i < late.len() {
        let one = late.remove(i);
        if most(m, &late) > least {
            late.insert(i, one);
            i += 1;
        }
    }
    late.into_iter().for_each(|l| l.apply(m));
}

/// A load, and what uses its tile behind something that other tiles need registers for.
struct Late {
    load: OpId,
    /// Users with nothing of that kind between them, in order.
    uses: Vec<Vec<OpId>>,
}

impl Late {
    fn of(m: &Module, body: BlockId, load: OpId) -> Option<Late> {
        if S::of(m.op(load).kind) != Some(S::TiledLoad) || !loads_freely(m, load) {
            return None;
        }
        let block = m.op(load).block;
        let mut users = Vec::new();
        for user in users_of(m, m.result(load)) {
            let (home, at) = place(m, user);
            if home != block {
                return None;
            }
            users.push((at, user));
        }
        users.sort_unstable();
        users.dedup();
        let mut uses: Vec<Vec<OpId>> = Vec::new();
        let mut last = None;
        for (at, user) in users {
            let between = last.map(|last| &m.block(block).ops[last + 1..at]);
            match (between, uses.last_mut()) {
                (Some(ops), Some(near)) if !ops.iter().any(|&o| Weights::stands(m, o)) => {
                    near.push(user);
                }
                _ => uses.push(vec![user]),
            }
            last = Some(at);
        }
        // The first ones have what was loaded first.
        uses.drain(..1.min(uses.len()));
        let behind = *uses.last()?.first()?;
        may_load_again(m, body, load, behind).then_some(Late { load, uses })
    }

    fn apply(self, m: &mut Module) {
        let mut token = token_of(m, self.load);
        for users in self.uses {
            let Some(&first) = users.first() else {
                continue;
            };
            let mut map = Map::default();
            token = load_again(m, self.load, token, first, &mut map);
            for &user in &users {
                for value in m.op(user).operands.clone() {
                    show_again(m, value, first, &mut map);
                }
                m.replace_operands(user, &map);
            }
        }
    }
}

/// What uses a tile or a view of it.
fn users_of(m: &Module, tile: ValueId) -> Vec<OpId> {
    let mut found = Vec::new();
    for user in m.users(tile) {
        match is_view(m, user) {
            true => found.extend(users_of(m, m.result(user))),
            false => found.push(user),
        }
    }
    found
}

/// Copies the views through which `value` shows a tile that `map` replaces, in front of `user`.
fn show_again(m: &mut Module, value: ValueId, user: OpId, map: &mut Map) {
    let Some(op) = m.def_op(value).filter(|&o| is_view(m, o)) else {
        return;
    };
    if map.contains_key(&value) {
        return;
    }
    let source = m.source(op);
    show_again(m, source, user, map);
    if map.contains_key(&source) {
        copy_in_front(m, op, user, map);
    }
}

/// The token of an access that yields one.
pub fn token_of(m: &Module, op: OpId) -> Option<ValueId> {
    let last = m.op(op).results.last().copied();
    last.filter(|&v| matches!(m.types.get(m.ty(v)), Type::Token))
}

/// Whether a load under `body` that waits for no write may be done once more in front of `user`, which stands behind it in
/// its block: what waits for the load does not stand between them.
pub fn may_load_again(m: &Module, body: BlockId, load: OpId, user: OpId) -> bool {
    let (block, at) = place(m, user);
    let Some(token) = token_of(m, load) else {
        return true;
    };
    let behind = |&op: &OpId| {
        let here = ancestor_in(m, body, block, op);
        here.is_some_and(|o| place(m, o).1 >= at)
    };
    m.users(token).iter().all(behind)
}

/// Does a load once more in front of `user`; `map` says what it makes. Returns what is waited for instead of `token`, on
/// which what waits for the load waits: for both.
pub fn load_again(
    m: &mut Module,
    load: OpId,
    token: Option<ValueId>,
    user: OpId,
    map: &mut Map,
) -> Option<ValueId> {
    let new = copy_in_front(m, load, user, map);
    map.remove(&token_of(m, load)?);
    let (token, second) = (token?, token_of(m, new)?);
    if access::token(m.op(load)).is_some() {
        m.set_operand(new, "token", token);
    }
    let (block, at) = place(m, user);
    // What was loaded again in front of `user` waits for nothing that is loaded there.
    let behind = |&o: &OpId| m.op(o).block != block || place(m, o).1 >= at;
    let users: Vec<OpId> = m.users(token).into_iter().filter(behind).collect();
    if users.is_empty() {
        return Some(token);
    }
    let ty = m.ty(token);
    let both: [&[ValueId]; 1] = [&[token, second]];
    let joined = m.at(block, at).op(C::JoinTokens, &both, [], &[ty], &[]);
    let joined = m.result(joined);
    let both = [(token, joined)].into_iter().collect();
    for user in users {
        m.replace_operands(user, &both);
    }
    Some(joined)
}
