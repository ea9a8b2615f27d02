//! Tokens of loads: reads need no order among each other.

use rustc_hash::FxHashSet;

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Ordering;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access;
use crate::ir::{BlockId, Def, Module, OpId, Type, ValueId};
use crate::lower::invariant::is_inside;
use crate::lower::tileas::flow::jump_target;
use crate::lower::tileas::look::{ancestor_in, loads_weakly};

/// Whether an operation is a weak load that waits for no write: nothing but what it reads with has to come first.
pub fn loads_freely(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    loads_weakly(data) && access::token(data).is_none_or(|t| only_read(m, t))
}

/// Whether everything that a token follows is a read of its own block's making: none that acquires.
pub fn only_read(m: &Module, token: ValueId) -> bool {
    only_read_in(m, |_| true, token)
}

/// The same of what it follows in the iterations of a loop with this `body`, whatever stands in front of that: see
/// [`fence_in_front`].
pub fn only_read_in_loop(m: &Module, body: BlockId, token: ValueId) -> bool {
    only_read_in(m, |token| is_inside(m, body, token), token)
}

/// The same of those of the tokens that it follows that are `looked_at`.
fn only_read_in(m: &Module, looked_at: impl Fn(ValueId) -> bool, token: ValueId) -> bool {
    others(m, looked_at, |_| false, token).is_some_and(|others| others.is_empty())
}

/// The accesses that a token follows, but for such reads and what stands in front of the others; `None` where it follows what
/// is not known.
pub fn followed(m: &Module, token: ValueId) -> Option<Vec<OpId>> {
    others(m, |_| true, |_| false, token)
}

/// Whether everything that a token follows, through them also, is such a read or one of `accesses`.
pub fn only_read_but(m: &Module, accesses: impl Fn(OpId) -> bool, token: ValueId) -> bool {
    others(m, |_| true, accesses, token).is_some_and(|others| others.is_empty())
}

/// Of the accesses that a load waits for, the last one in the load's block, or the operation of that block that holds it,
/// if it waits for none but reads and those that follow it there: those of an earlier iteration. In the function `body`.
pub fn waits_for_earlier_iterations(m: &Module, body: BlockId, load: OpId) -> Option<OpId> {
    let block = m.op(load).block;
    let ops = &m.block(block).ops;
    let at = |op: OpId| ops.iter().position(|&o| o == op);
    let others = others(m, |_| true, |_| false, access::token(m.op(load))?)?;
    let here = others
        .into_iter()
        .map(|other| {
            let here = ancestor_in(m, body, block, other)?;
            (at(here) > at(load)).then_some(here)
        })
        .collect::<Option<Vec<OpId>>>()?;
    here.into_iter().max_by_key(|&op| at(op))
}

/// What is no read, or acquires, of all that a token follows through the tokens that are `looked_at` and the accesses that
/// are `passed`; `None` where it follows what is not known.
fn others(
    m: &Module,
    looked_at: impl Fn(ValueId) -> bool,
    passed: impl Fn(OpId) -> bool,
    token: ValueId,
) -> Option<Vec<OpId>> {
    let mut others = Vec::new();
    let mut seen = FxHashSet::default();
    let mut work = vec![token];
    while let Some(token) = work.pop() {
        if !looked_at(token) || !seen.insert(token) {
            continue;
        }
        let (op, place) = match m.value(token).def {
            Def::Result { op, index } => (op, index as usize),
            Def::Argument { block, index } => {
                let parent = m.region(m.block(block).region).parent;
                let counter = usize::from(C::of(m.op(parent).kind) == Some(C::For));
                match (index as usize).checked_sub(counter) {
                    Some(place) => (parent, place),
                    None => return None,
                }
            }
        };
        let data = m.op(op);
        match (C::of(data.kind), S::of(data.kind)) {
            (Some(C::MakeToken), _) => {}
            (Some(C::JoinTokens), _) => work.extend(&data.operands),
            // One that acquires orders what follows behind writes of other blocks.
            (_, Some(S::Load | S::TiledLoad)) if access::ordering(data) != Ordering::Acquire => {
                work.extend(access::token(data));
            }
            _ if passed(op) => work.extend(access::token(data)),
            (Some(C::For | C::Loop), _) => {
                let inits = data.group(data.groups.len().saturating_sub(1));
                work.extend(inits.get(place));
                work.extend(handed_on(m, op, place));
            }
            (Some(C::If), _) => work.extend(handed_on(m, op, place)),
            _ if data.def().traits.has(Traits::MEMORY) => others.push(op),
            _ => return None,
        }
    }
    Some(others)
}

/// Lets what is appended to `block` for the first iterations of a loop follow all writes in front of the loop, where one of
/// the loop's `loads` waits for any: copies have no tokens, and the loads would have waited where they stand.
pub fn fence_in_front(m: &mut Module, block: BlockId, loads: &[OpId]) {
    let waits = |&load: &OpId| access::token(m.op(load)).filter(|&t| !only_read(m, t));
    let Some(token) = loads.iter().find_map(waits) else {
        return;
    };
    let ty = m.ty(token);
    let mut b = m.at_end(block);
    let all = b.value(C::MakeToken, &[], [], ty);
    b.value(C::MemoryFenceAlias, &[all], [], ty);
}

/// The accesses under `body` that wait for `access`, through joins, loops and branches.
pub fn followers(m: &Module, body: BlockId, access: OpId) -> FxHashSet<OpId> {
    let ops = m.ops_under(body);
    let mut tokens: FxHashSet<ValueId> = m.op(access).results.last().copied().into_iter().collect();
    let mut found = FxHashSet::default();
    loop {
        let before = tokens.len();
        for &op in &ops {
            let data = m.op(op);
            let places =
                || (0..data.operands.len()).filter(|&i| tokens.contains(&data.operands[i]));
            if data.def().traits.has(Traits::MEMORY) {
                if places().next().is_some() {
                    found.insert(op);
                }
                continue;
            }
            let next: Vec<ValueId> = match C::of(data.kind) {
                Some(C::For | C::Loop) => {
                    let first = data.operands.len() - data.group(data.groups.len() - 1).len();
                    places()
                        .flat_map(|i| handed_in(m, op, i.wrapping_sub(first)))
                        .collect()
                }
                Some(C::Continue | C::Break | C::Yield) => match jump_target(m, op) {
                    Some(target) => places().flat_map(|i| handed_in(m, target, i)).collect(),
                    None => Vec::new(),
                },
                _ if places().next().is_some() => data.results.to_vec(),
                _ => Vec::new(),
            };
            tokens.extend(next);
        }
        if tokens.len() == before {
            return found;
        }
    }
}

/// The result and the argument that carry place `i` of a loop or branch.
fn handed_in(m: &Module, op: OpId, i: usize) -> Vec<ValueId> {
    let data = m.op(op);
    let counter = usize::from(C::of(data.kind) == Some(C::For));
    let argument = m
        .body_of(op, 0)
        .filter(|_| C::of(data.kind) != Some(C::If))
        .and_then(|b| m.block(b).args.get(i + counter).copied());
    let both = [data.results.get(i).copied(), argument];
    let token = |v: &ValueId| matches!(m.types.get(m.ty(*v)), Type::Token);
    both.into_iter().flatten().filter(token).collect()
}

/// What jumps to `op` hand on at `place`.
fn handed_on(m: &Module, op: OpId, place: usize) -> Vec<ValueId> {
    let jumps = jumps(m, op).into_iter();
    jumps
        .filter_map(|j| m.op(j).operands.get(place).copied())
        .collect()
}

/// The terminators that hand values to `op`: to its results or around it.
pub fn jumps(m: &Module, op: OpId) -> Vec<OpId> {
    let mut inside = Vec::new();
    for i in 0..m.op(op).regions.len() {
        if let Some(body) = m.body_of(op, i) {
            inside.extend(m.ops_under(body));
        }
    }
    let jump = |o: &OpId| {
        matches!(
            C::of(m.op(*o).kind),
            Some(C::Continue | C::Break | C::Yield)
        ) && jump_target(m, *o) == Some(op)
    };
    inside.into_iter().filter(jump).collect()
}
