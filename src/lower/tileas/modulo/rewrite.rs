//! A loop in two stages, as operations.

use super::Schedule;
use super::body::Body;
use crate::dialect::cuda_tile::{Op as C, view as tile};
use crate::dialect::enums::{Overflow, Predicate};
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{BlockId, Module, OpId, TypeId, ValueId};
use crate::lower::build::cased;
use crate::lower::carried;
use crate::lower::tileas::pipeline::slice::{Map, copy_whole};
use crate::scalar::Signedness;

/// Puts the overlapped loop in the place of `body`'s.
pub fn apply(m: &mut Module, body: &Body, schedule: &Schedule) {
    let old = m.op(body.for_op).clone();
    let home = old.block;
    let ops = std::mem::take(&mut m.block_mut(home).ops);
    let at = ops.iter().position(|&o| o == body.for_op);
    let (front, rest) = ops.split_at(at.unwrap_or(ops.len()));
    m.block_mut(home).ops = front.to_vec();
    let inits = carried::inits(&old).to_vec();
    let types: Vec<TypeId> = old.results.iter().map(|&r| m.ty(r)).collect();
    let runs = runs(m, body, home);

    let regions = [m.new_region(), m.new_region()];
    let blocks = regions.map(|r| m.new_block(r, &[]));
    let results = Overlapped {
        body,
        schedule,
        inits: &inits,
    }
    .build(m, blocks[0]);
    for (block, values) in blocks.into_iter().zip([results, inits.clone()]) {
        m.at_end(block).op(C::Yield, &[&values], [], &[], &[]);
    }
    let mut b = m.at_end(home);
    b.loc = old.loc;
    let chosen = b.op(C::If, &[&[runs]], [], &types, &regions);
    for (from, to) in old.results.iter().zip(m.op(chosen).results.clone()) {
        m.replace_all_uses(*from, to);
    }
    m.block_mut(home).ops.extend(rest);
    m.erase(body.for_op);
}

/// Whether the loop has an iteration at all.
fn runs(m: &mut Module, body: &Body, block: BlockId) -> ValueId {
    let data = m.op(body.for_op).clone();
    let unsigned = tile::For::of(&data).is_some_and(|v| v.unsignedCmp());
    let bounds = carried::bounds(&data);
    let signedness = match unsigned {
        true => Signedness::Unsigned,
        false => Signedness::Signed,
    };
    let i1 = m.types.int(1);
    let i1 = m.types.tile(i1, &[]);
    let attrs = [cased(Predicate::LessThan), cased(signedness)];
    let mut b = m.at_end(block);
    b.loc = data.loc;
    b.value(C::CmpI, &bounds[..2], attrs, i1)
}

struct Overlapped<'b> {
    body: &'b Body,
    schedule: &'b Schedule,
    inits: &'b [ValueId],
}

impl Overlapped<'_> {
    fn late(&self, carried: usize) -> bool {
        self.schedule.stages.carried_late(self.body, carried)
    }

    /// Appends the first stage of the first iteration, the loop and the second stage of the last one to `block`.
    /// Returns what the loop's results are.
    fn build(&self, m: &mut Module, block: BlockId) -> Vec<ValueId> {
        let old = m.op(self.body.for_op).clone();
        let bounds = carried::bounds(&old);
        let stages = &self.schedule.stages;
        let mut first = Map::default();
        first.insert(self.counter(m), bounds[0]);
        first.extend(
            self.body
                .args
                .iter()
                .copied()
                .zip(self.inits.iter().copied()),
        );
        for (i, &op) in self.body.ops.iter().enumerate() {
            if !stages.late[i] {
                copy_whole(m, op, block, &mut first);
            }
        }
        let get = |map: &Map, v: ValueId| map.get(&v).copied().unwrap_or(v);
        let mut handed: Vec<ValueId> = Vec::new();
        for (k, &v) in self.body.yields.iter().enumerate() {
            handed.push(match self.late(k) {
                true => self.inits[k],
                false => get(&first, v),
            });
        }
        handed.extend(stages.crossing.iter().map(|&v| get(&first, v)));

        let counter = m.ty(bounds[0]);
        let mut b = m.at_end(block);
        b.loc = old.loc;
        let attrs = [cased(Overflow::None)];
        let second = b.value(C::AddI, &[bounds[0], bounds[2]], attrs, counter);
        let region = m.new_region();
        let types: Vec<TypeId> = handed.iter().map(|&v| m.ty(v)).collect();
        let all: Vec<TypeId> = [counter].into_iter().chain(types.iter().copied()).collect();
        let inner = m.new_block(region, &all);
        self.merged(m, inner);
        let groups: [&[ValueId]; 4] = [&[second], &bounds[1..2], &bounds[2..], &handed];
        let mut b = m.at_end(block);
        b.loc = old.loc;
        let new = b.op(
            C::For,
            &groups,
            old.attrs.iter().cloned(),
            &types,
            &[region],
        );
        let results = m.op(new).results.to_vec();

        let mut last = self.second_map(&results);
        for i in stages.second() {
            copy_whole(m, self.body.ops[i], block, &mut last);
        }
        let results = self.body.yields.iter().zip(results).enumerate();
        let of = |(k, (&v, result))| match self.late(k) {
            true => get(&last, v),
            false => result,
        };
        results.map(of).collect()
    }

    fn counter(&self, m: &Module) -> ValueId {
        m.block(self.body.block).args[0]
    }

    /// What the second stage reads, where the loop carries `values`.
    fn second_map(&self, values: &[ValueId]) -> Map {
        let carried = self.body.args.iter().copied().zip(values.iter().copied());
        let late = carried.enumerate().filter(|(k, _)| self.late(*k));
        let crossing = self.schedule.stages.crossing.iter().copied();
        let crossing = crossing.zip(values.iter().skip(self.body.args.len()).copied());
        late.map(|(_, pair)| pair).chain(crossing).collect()
    }

    /// Appends the operations of both stages and the end of an iteration to the loop's `block`.
    fn merged(&self, m: &mut Module, block: BlockId) {
        let args = m.block(block).args.to_vec();
        let carried = self
            .body
            .args
            .iter()
            .copied()
            .zip(args[1..].iter().copied());
        let mut first: Map = carried.collect();
        first.insert(self.counter(m), args[0]);
        let mut second = self.second_map(&args[1..]);
        let mut issued: Vec<usize> = Vec::new();
        for node in &self.schedule.order {
            let map = if node.late { &mut second } else { &mut first };
            let new = copy_whole(m, self.body.ops[node.op], block, map);
            if self.body.dots.iter().any(|d| d.at == node.op) {
                issued.push(node.op);
            }
            // Groups finish in the order in which they were issued.
            if let Some(dot) = self.body.dots.iter().rev().find(|d| d.wait == node.op) {
                let behind = issued.iter().rev().take_while(|&&o| o != dot.at).count();
                pending(m, new, behind);
            }
        }
        let get = |map: &Map, v: ValueId| map.get(&v).copied().unwrap_or(v);
        let yields = self.body.yields.iter().enumerate();
        let yields = yields.map(|(k, &v)| match self.late(k) {
            true => get(&second, v),
            false => get(&first, v),
        });
        let crossing = self.schedule.stages.crossing.iter();
        let all: Vec<ValueId> = yields.chain(crossing.map(|&v| get(&first, v))).collect();
        m.at_end(block).op(C::Continue, &[&all], [], &[], &[]);
    }
}

fn pending(m: &mut Module, wait: OpId, groups: usize) {
    debug_assert!(S::of(m.op(wait).kind) == Some(S::AsyncDotWait));
    m.set_i32(wait, "pending", i64::try_from(groups).unwrap_or(0));
}
