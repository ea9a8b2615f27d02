//! What a loop loads for its next iteration into registers.
//!
//! ```text
//! x = if lower < upper      { load a, b, … of the first } else { 0 }
//! for i iter_values(x)      { y = load a, b, … of iteration i+1;
//!                             x where a, b, … were loaded; continue y }
//! ```
//! Nothing waits for the loads before the next iteration. The last one loads its own tiles once more, which no one reads: a
//! load without a condition is one that the assembler can move.
//!
//! So do small tiles that operands of matmuls are computed of, and that no ring brings: packed weights, scales. The matmuls
//! of each iteration would wait for them.

use super::Prefetch;
use super::ahead::{address_of, follows_counter, forget_token};
use super::prefetch::takes;
use super::purpose::Purpose;
use super::slice::{Map, backward, copy};
use super::tokens;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view as tile;
use crate::dialect::enums::{Overflow, Predicate};
use crate::facts::FactMap;
use crate::facts::access::{group, token};
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpBuilder, OpId, TypeId, ValueId};
use crate::lower::build::{self, cased};
use crate::lower::carried::{counted_loops, with_one_more, yield_too};
use crate::lower::tileas::buffers::tile_bytes;
use crate::lower::tileas::limits::REGISTERS_BESIDE_TILES;
use crate::lower::tileas::look::{is_chained, is_matmul, is_scaled, reach_repeated, shows};
use crate::lower::tileas::pressure;
use crate::scalar::Signedness;

/// Most registers of a thread for the tiles of a loop that wait in them for an iteration.
const MOST: u64 = 8;

/// The loads of a loop, for another iteration than its own.
pub struct Next<'p> {
    pub stream: &'p Prefetch,
    pub bounds: [ValueId; 3],
    /// The function's body.
    pub top: BlockId,
}

impl Next<'_> {
    /// Appends the loads of the first iteration's tiles where the loop runs at all: what they would load may not be there.
    /// Zeros else.
    pub fn first(&self, m: &mut Module, facts: &FactMap, block: BlockId) -> Vec<ValueId> {
        let [lower, upper, _] = self.bounds;
        let ends = facts.get(lower).zip(facts.get(upper));
        if ends.is_some_and(|(lower, upper)| lower.hi < upper.lo) {
            return self.load(m, block, lower);
        }
        let runs = less(&mut m.at_end(block), lower, upper);
        let regions = [0, 1].map(|_| m.new_region());
        let [some, none] = regions.map(|r| m.new_block(r, &[]));
        let tiles = self.load(m, some, lower);
        let types: Vec<TypeId> = tiles.iter().map(|&t| m.ty(t)).collect();
        let zero = |&ty: &TypeId| build::constant(&mut m.at_end(none), 0, ty);
        let zeros: Vec<ValueId> = types.iter().map(zero).collect();
        for (block, values) in [(some, tiles), (none, zeros)] {
            m.at_end(block).op(C::Yield, &[&values], [], &[], &[]);
        }
        let loc = m.op(self.stream.for_op).loc;
        let mut b = m.at_end(block);
        b.loc = loc;
        let either = b.op(C::If, &[&[runs]], [], &types, &regions);
        m.op(either).results.to_vec()
    }

    /// Appends the loads of the tiles of the iteration behind that of `counter`, or of its own where it is the last.
    pub fn next(&self, m: &mut Module, block: BlockId, counter: ValueId) -> Vec<ValueId> {
        let [_, upper, step] = self.bounds;
        let mut b = m.at_end(block);
        let later = add(&mut b, counter, step);
        let runs = less(&mut b, later, upper);
        let ty = b.module.ty(counter);
        let next = b.value(C::Select, &[runs, later, counter], [], ty);
        self.load(m, block, next)
    }

    /// Appends to `block` the loads of the tiles for loop counter `counter`, which is one of the loop's.
    fn load(&self, m: &mut Module, block: BlockId, counter: ValueId) -> Vec<ValueId> {
        let mut map = Map::default();
        map.insert(m.block(self.stream.body).args[0], counter);
        let mut roots = Vec::new();
        for &load in &self.stream.loads {
            roots.extend(address_of(m, load));
            roots.extend(group(m.op(load), "padding"));
        }
        for op in backward(m, self.stream.body, roots) {
            copy(m, op, block, &mut map);
        }
        let loads = self.stream.loads.iter();
        loads
            .map(|&load| self.load_again(m, load, block, &mut map))
            .collect()
    }

    /// Appends a copy of a load that waits for nothing: what the load waits for are reads, or stands in front of the loop.
    fn load_again(&self, m: &mut Module, load: OpId, block: BlockId, map: &mut Map) -> ValueId {
        if let Some(token) = token(m.op(load)) {
            let ty = m.ty(token);
            let free = m.at(self.top, 0).value(C::MakeToken, &[], [], ty);
            map.insert(token, free);
        }
        let copied = copy(m, load, block, map);
        m.result(copied)
    }

    /// Lets the loop carry what it loads.
    fn carry(&self, m: &mut Module, facts: &FactMap) {
        let (around, body) = (self.stream.for_op, self.stream.body);
        let outer = m.op(around).block;
        // What follows the loop waits until the new one stands.
        let ops = std::mem::take(&mut m.block_mut(outer).ops);
        let split = ops.iter().position(|&o| o == around).unwrap_or(0);
        m.block_mut(outer).ops = ops[..split].to_vec();
        let first = self.first(m, facts, outer);
        let next = self.in_front(m);
        for (&load, &next) in self.stream.loads.iter().zip(&next) {
            let tile = m.result(load);
            let ty = m.ty(tile);
            let waiting = m.add_arg(body, ty);
            m.replace_all_uses(tile, waiting);
            forget_token(m, self.top, load);
            m.erase(load);
            if let Some(end) = m.terminator(body) {
                yield_too(m, end, next);
            }
        }
        let mut last = around;
        for first in first {
            let old = m.op(last).results.clone();
            let new = with_one_more(m, outer, last, first);
            for (i, &result) in old.iter().enumerate() {
                let value = m.op(new).results[i];
                m.replace_all_uses(result, value);
            }
            m.erase(last);
            last = new;
        }
        m.block_mut(outer).ops.extend(&ops[split + 1..]);
    }

    /// Puts the next iteration's loads in front of what the body does.
    fn in_front(&self, m: &mut Module) -> Vec<ValueId> {
        let body = self.stream.body;
        let counter = m.block(body).args[0];
        let head = m.new_region();
        let head = m.new_block(head, &[]);
        let next = self.next(m, head, counter);
        let mut all = std::mem::take(&mut m.block_mut(head).ops);
        all.extend(std::mem::take(&mut m.block_mut(body).ops));
        for (at, op) in all.into_iter().enumerate() {
            m.place(op, body, at);
        }
        next
    }
}

/// Lets the loops under `body` that multiply carry small tiles that their operands are computed of, as far as the
/// `available` registers of a thread of `warps` admit.
pub fn carry(m: &mut Module, body: BlockId, facts: &FactMap, warps: u64, available: u64) {
    let taken = pressure::registers_without(m, body, warps, &[]) + REGISTERS_BESIDE_TILES;
    let room = available.saturating_sub(taken).min(MOST);
    for around in counted_loops(m, body) {
        let Some((stream, bounds)) = small(m, around, warps, room) else {
            continue;
        };
        let next = Next {
            stream: &stream,
            bounds,
            top: body,
        };
        next.carry(m, facts);
    }
}

/// Such tiles of a loop with matmuls, and its bounds.
fn small(m: &Module, around: OpId, warps: u64, mut room: u64) -> Option<(Prefetch, [ValueId; 3])> {
    let counted = tile::For::of(m.op(around)).filter(|v| !v.unsignedCmp())?;
    let body = m.body_of(around, 0)?;
    let ops = &m.block(body).ops;
    let under = m.ops_under(body);
    let leaves = |&o: &OpId| {
        m.op(o).def().traits.has(Traits::TERMINATOR)
            && C::of(m.op(o).kind) != Some(C::Yield)
            && Some(o) != m.terminator(body)
    };
    // Where one matmul's result goes into another, their iterations overlap already. Scales that an instruction takes are
    // read as it wants them.
    if !ops.iter().any(|&o| is_matmul(m, o))
        || ops.iter().any(|&o| is_scaled(m, o))
        || is_chained(m, body)
        || under.iter().any(leaves)
    {
        return None;
    }
    let of_thread = |load: OpId| tile_bytes(m, m.result(load)).div_ceil(4 * 32 * warps);
    // Operands themselves are none of these: matmuls in tensor memory read them in shared memory.
    let is_operand = |load: OpId| {
        let mut sources = ops
            .iter()
            .filter_map(|&o| Matmul::of(m.op(o)))
            .flat_map(Matmul::sources);
        sources.any(|v| shows(m, v, |o| o == load))
    };
    let wanted = |&load: &OpId| {
        tokens::loads_freely(m, load)
            && !is_operand(load)
            && follows_counter(m, body, load, 0)
            && takes(m, ops, &reach_repeated(m, ops, m.result(load)))
    };
    let found: Vec<OpId> = ops.iter().copied().filter(wanted).collect();
    let mut fits = |&load: &OpId| {
        let left = room.checked_sub(of_thread(load));
        room = left.unwrap_or(room);
        left.is_some()
    };
    let loads: Vec<OpId> = found.into_iter().filter(|l| fits(l)).collect();
    let bounds = [counted.lowerBound(), counted.upperBound(), counted.step()];
    let stream = Prefetch {
        for_op: around,
        body,
        loads,
        purpose: Purpose::Stream,
    };
    (!stream.loads.is_empty()).then_some((stream, bounds))
}

/// The sum of two numbers of a loop.
pub fn add(b: &mut OpBuilder<'_>, lhs: ValueId, rhs: ValueId) -> ValueId {
    let ty = b.module.ty(lhs);
    b.value(C::AddI, &[lhs, rhs], [cased(Overflow::None)], ty)
}

/// Whether one number of a loop is less than another.
pub fn less(b: &mut OpBuilder<'_>, lhs: ValueId, rhs: ValueId) -> ValueId {
    let i1 = b.module.types.int(1);
    let ty = b.module.types.tile(i1, &[]);
    b.value(
        C::CmpI,
        &[lhs, rhs],
        [cased(Predicate::LessThan), cased(Signedness::Signed)],
        ty,
    )
}
