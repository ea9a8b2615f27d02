//! Operands that a warp's matmuls read from shared memory are read where the matmul stands.
//!
//! A load from a ring stands where the program loaded the tile, which may be long before: attention's values are
//! loaded before the softmax. Read there, their fragments would be in registers all that time, and instruction
//! selection can move them down only as far as the next barrier.

use super::operands::allocation;
use super::order::move_before;
use crate::lower::tileas::look::{blocks_of, is_view};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dialect::nv_tileas::Op as S;
use crate::facts::access;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::tileas::pipeline::slice::copy_beside;

/// Gives each matmul under `body` loads of its own, so that each reads its fragments as it wants them: a tile that two
/// read, one transposed, would be converted in registers for one of them.
pub fn split(m: &mut Module, body: BlockId) {
    let ops = m.ops_under(body);
    if !ops.iter().any(|&o| by_warps(m, o)) {
        return;
    }
    let mut users = users(m, &ops);
    // Those behind come first: what they read then has a user for each of theirs.
    for op in ops.into_iter().rev() {
        if !is(m, op, S::LocalLoad) && !changes_loaded(m, op) {
            continue;
        }
        let mut readers = users.get(&m.result(op)).cloned().unwrap_or_default();
        readers.dedup();
        let into_matmul = |&user: &OpId| leads_to_matmul(m, user, &users);
        let own: Vec<OpId> = readers.iter().copied().filter(into_matmul).collect();
        // The first keeps the operation, unless something else reads it, too.
        let kept = usize::from(own.len() == readers.len());
        for user in own.into_iter().skip(kept) {
            let copied = copy_beside(m, op);
            let replaced = [(m.result(op), m.result(copied))].into_iter().collect();
            m.replace_operands(user, &replaced);
            users.insert(m.result(copied), vec![user]);
            if let Some(left) = users.get_mut(&m.result(op)) {
                left.retain(|&u| u != user);
            }
            for &source in &m.op(copied).operands {
                users.entry(source).or_default().push(copied);
            }
        }
    }
}

/// Whether an operation changes the shape of what a load reads from shared memory.
fn changes_loaded(m: &Module, mut op: OpId) -> bool {
    while is_view(m, op) {
        match m.def_op(m.source(op)) {
            Some(source) if is(m, source, S::LocalLoad) => return true,
            Some(source) => op = source,
            None => return false,
        }
    }
    false
}

/// Whether an operation is a matmul or changes the shape of what one matmul reads.
fn leads_to_matmul(m: &Module, op: OpId, users: &FxHashMap<ValueId, Vec<OpId>>) -> bool {
    if !is_view(m, op) {
        return by_warps(m, op);
    }
    match users.get(&m.result(op)).map(Vec::as_slice) {
        Some(&[next]) => leads_to_matmul(m, next, users),
        _ => false,
    }
}

/// Whether an operation is a matmul of a warp's own.
fn by_warps(m: &Module, op: OpId) -> bool {
    matches!(S::of(m.op(op).kind), Some(S::Dot | S::ScaledDot))
}

fn is(m: &Module, op: OpId, kind: S) -> bool {
    S::of(m.op(op).kind) == Some(kind)
}

/// The operations that use each value, once for each use.
fn users(m: &Module, ops: &[OpId]) -> FxHashMap<ValueId, Vec<OpId>> {
    let mut users: FxHashMap<ValueId, Vec<OpId>> = FxHashMap::default();
    for &op in ops {
        for &v in &m.op(op).operands {
            users.entry(v).or_default().push(op);
        }
    }
    users
}

/// Moves the loads under `body` that one matmul of their own block reads, and changes of shape in between, in front
/// of it.
pub fn operands(m: &mut Module, body: BlockId) {
    let ops = m.ops_under(body);
    if !ops.iter().any(|&o| by_warps(m, o)) {
        return;
    }
    let users = users(m, &ops);
    let rings = rings(m, &ops);
    let mut before: FxHashMap<OpId, Vec<OpId>> = FxHashMap::default();
    let mut sunk = Vec::new();
    for &load in ops.iter().filter(|&&o| is(m, o, S::LocalLoad)) {
        if let Some((dot, chain)) = way_to_matmul(m, load, &users)
            && is_quiet(m, &rings, load, dot)
        {
            before.entry(dot).or_default().extend(chain);
            sunk.push(load);
        }
    }
    let moved: FxHashSet<OpId> = before.values().flatten().copied().collect();
    for block in blocks_of(m, sunk) {
        move_before(m, block, &moved, &mut before);
    }
}

/// The matmul that reads what `load` loads, and the operations on the way: the load, then changes of shape. Each has
/// one user, all stand in one block.
fn way_to_matmul(
    m: &Module,
    load: OpId,
    users: &FxHashMap<ValueId, Vec<OpId>>,
) -> Option<(OpId, Vec<OpId>)> {
    let mut chain = vec![load];
    loop {
        let last = *chain.last()?;
        let &[user] = users.get(&m.result(last))?.as_slice() else {
            return None;
        };
        if m.op(user).block != m.op(load).block {
            return None;
        }
        if by_warps(m, user) {
            return Some((user, chain));
        }
        if !is_view(m, user) {
            return None;
        }
        chain.push(user);
    }
}

/// The pipelines that fill each buffer.
pub(super) type Rings = FxHashMap<ValueId, Vec<ValueId>>;

pub(super) fn rings(m: &Module, ops: &[OpId]) -> Rings {
    let mut rings = Rings::default();
    for &op in ops {
        let data = m.op(op);
        if let (Some(buffer), Some(pipeline)) = (access::destination(data), access::pipeline(data))
        {
            let buffer = allocation(m, buffer);
            rings.entry(buffer).or_default().push(pipeline);
        }
    }
    rings
}

/// Whether nothing between two operations of a block hands on the stage that `from` reads or writes its buffer. What a
/// ring's stage holds stays there until it is released.
pub(super) fn is_quiet(m: &Module, rings: &Rings, from: OpId, to: OpId) -> bool {
    between(m, from, to).is_some_and(|ops| all_quiet(m, rings, from, ops))
}

/// [`is_quiet`], and nothing in the regions of `to` does it either.
pub(super) fn is_quiet_through(m: &Module, rings: &Rings, from: OpId, to: OpId) -> bool {
    is_quiet(m, rings, from, to) && all_quiet(m, rings, from, &[to])
}

/// The operations of a block between two of them.
fn between(m: &Module, from: OpId, to: OpId) -> Option<&[OpId]> {
    let ops = &m.block(m.op(from).block).ops;
    let at = |op| ops.iter().position(|&o| o == op);
    ops.get(at(from)? + 1..at(to)?)
}

fn all_quiet(m: &Module, rings: &Rings, from: OpId, ops: &[OpId]) -> bool {
    let buffer = allocation(m, m.source(from));
    let filled_by = rings.get(&buffer).map_or(&[][..], Vec::as_slice);
    let ends = |&o: &OpId| {
        let data = m.op(o);
        match S::of(data.kind) {
            Some(S::ConsumerRelease | S::Drain) => {
                access::pipeline(data).is_none_or(|p| filled_by.contains(&p))
            }
            Some(S::LocalStore) => {
                let written = access::destination(data);
                written.is_none_or(|b| allocation(m, b) == buffer)
            }
            _ => false,
        }
    };
    let inside = |&o: &OpId| {
        let regions = 0..m.op(o).regions.len();
        let bodies = regions.filter_map(move |i| m.body_of(o, i));
        bodies.flat_map(|b| m.ops_under(b)).collect::<Vec<_>>()
    };
    ops.iter().all(|o| !ends(o) && !inside(o).iter().any(ends))
}
