//! The form of a loop where copies to shared memory are not asynchronous: the next tiles wait in registers.
//!
//! ```text
//! x = if lower < upper      { load a, b, … of the first } else { 0 }
//! producer_acquire 0; local_store x; producer_commit 0
//! for i                     { consumer_wait; x = load a, b, … of iteration i+1
//!                             local_load a, b, … where they were loaded; consumer_release
//!                             producer_acquire i+1; local_store x; producer_commit i+1 }
//! drain
//! ```
//! All warps load and all multiply. Nothing waits for the loads before the stores behind the matmuls. The last iteration
//! loads its own tiles once more, which no one reads: a load without a condition is one that the assembler can move.

use super::{Build, add, less, number};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{group, token};
use crate::ir::{BlockId, Module, OpId, TypeId, ValueId};
use crate::lower::build;
use crate::lower::tileas::pipeline::ahead::address_of;
use crate::lower::tileas::pipeline::slice::{Map, backward, copy};

impl Build<'_> {
    /// Brings the first iteration's tiles.
    pub(super) fn first_tiles(&self, m: &mut Module, facts: &FactMap, block: BlockId) {
        let [lower, upper, _] = self.bounds;
        let ends = facts.get(lower).zip(facts.get(upper));
        let tiles = match ends.is_some_and(|(lower, upper)| lower.hi < upper.lo) {
            true => self.load(m, block, lower),
            false => self.load_if_any(m, block),
        };
        let first = number(&mut m.at_end(block), 0);
        self.store(m, block, first, &tiles);
    }

    /// Loads the first iteration's tiles where the loop runs at all: what it would load may not be there. Zeros else.
    fn load_if_any(&self, m: &mut Module, block: BlockId) -> Vec<ValueId> {
        let [lower, upper, _] = self.bounds;
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
        let loc = m.op(self.plan.stream.for_op).loc;
        let mut b = m.at_end(block);
        b.loc = loc;
        let either = b.op(C::If, &[&[runs]], [], &types, &regions);
        m.op(either).results.to_vec()
    }

    /// Loads the tiles of the iteration behind that of `counter`, or its own where it is the last.
    pub(super) fn next_tiles(
        &self,
        m: &mut Module,
        block: BlockId,
        counter: ValueId,
    ) -> Vec<ValueId> {
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
        let stream = &self.plan.stream;
        let mut map = Map::default();
        map.insert(m.block(stream.body).args[0], counter);
        let mut roots = Vec::new();
        for &load in &stream.loads {
            roots.extend(address_of(m, load));
            roots.extend(group(m.op(load), "padding"));
        }
        for op in backward(m, stream.body, roots) {
            copy(m, op, block, &mut map);
        }
        let loads = stream.loads.iter();
        loads
            .map(|&load| self.load_again(m, load, block, &mut map))
            .collect()
    }

    /// Appends a copy of a load that waits for nothing: what the load waits for are reads.
    fn load_again(&self, m: &mut Module, load: OpId, block: BlockId, map: &mut Map) -> ValueId {
        if let Some(token) = token(m.op(load)) {
            let ty = m.ty(token);
            let free = m.at(self.top, 0).value(C::MakeToken, &[], [], ty);
            map.insert(token, free);
        }
        let copied = copy(m, load, block, map);
        m.result(copied)
    }

    /// Appends the stores of `tiles` to the stage of `iteration`.
    pub(super) fn store(
        &self,
        m: &mut Module,
        block: BlockId,
        iteration: ValueId,
        tiles: &[ValueId],
    ) {
        let stage = [[self.pipeline], [iteration]];
        let groups = [&stage[0][..], &stage[1][..]];
        let mut b = m.at_end(block);
        b.op(S::ProducerAcquire, &groups, [], &[], &[]);
        for (&tile, &buffer) in tiles.iter().zip(&self.buffers) {
            let groups: [&[ValueId]; 4] = [&[tile], &[buffer], &[iteration], &[self.pipeline]];
            if let Some(loaded) = b.module.def_op(tile) {
                b.loc = b.module.op(loaded).loc;
            }
            b.op(S::LocalStore, &groups, [], &[], &[]);
        }
        m.at_end(block).op(S::ProducerCommit, &groups, [], &[], &[]);
    }
}
