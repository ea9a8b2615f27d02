//! Reductions: registers, then lanes by butterflies or by one instruction ([`super::redux`]), then warps through shared memory.
//!
//! Where a thread has several results, lanes share them out: in each step a lane gives away half of its partial results
//! and takes the other lane's for the half that it keeps. At the end every lane takes all results from those that have
//! them: four results of 32 lanes are 13 shuffles then instead of 20, sixteen 32 instead of 80. Where warps are combined, it
//! takes those that it needs from shared memory, in whatever layout they are wanted.

use super::Lower;
use super::shared::parity;
use crate::dialect::cuda_tile::{Op as C, view};
use crate::dialect::enums::Shuffle;
use crate::dialect::nvvm::Op as N;
use crate::ir::{BlockId, Diagnostic, Float, Op, OpId, Type, ValueId};
use crate::layout::convert::Transfer;
use crate::layout::reduce::{Butterfly, CrossWarp, ReducePlan};
use crate::layout::{Layout, addr};
use crate::lower::unsupported;
use crate::target::Feature;

/// Registers combined in a thread from which on that is done where the reduction stands.
const SETTLED: usize = 16;

/// Partial results of a thread for an extreme: as many as an instruction takes cycles, and some.
const PARTIALS: usize = 8;

/// Fewest results of a thread that lanes share out, and fewest bits of a lane's number that they are combined along, where
/// every lane takes all of them in the end.
const RESULTS: u32 = 4;
const LANE_BITS: usize = 4;

/// Lanes of a warp.
const WARP: u32 = 32;

impl Lower<'_> {
    pub(super) fn reduce(&mut self, op: OpId, v: &view::Reduce<Op>) -> Result<(), Diagnostic> {
        let dim = v.dim() as usize;
        let Some(body) = self.m.body_of(op, 0) else {
            return Err(unsupported(self.m, op, "a reduction without a body"));
        };
        let values: Result<Vec<_>, _> = v.operands().iter().map(|&v| self.get(op, v)).collect();
        let mut values = values?;
        let layout = self.layout(v.operands()[0]);
        let Some(layout) = layout else {
            return Err(unsupported(self.m, op, "a reduction of a scalar"));
        };
        let plans: Result<Vec<_>, _> = values
            .iter()
            .map(|&v| self.reduce_plan(op, &layout, dim, v))
            .collect();
        let plans = plans?;
        let Some(plan) = plans.first() else {
            return Ok(());
        };
        values = self.fold_registers(op, body, &plan.in_thread, values)?;
        let steps = &plan.shuffles;
        let mut halved = &steps[..0];
        if let Some(kind) = self.reduced_by_warp(steps, body, &values) {
            let reduced = values.iter().map(|&v| self.redux(kind, v));
            values = reduced.collect();
        } else {
            halved = self.steps_shared_out(plan, &values);
            values = self.fold_halved(op, body, halved, values)?;
            for step in &steps[halved.len()..] {
                values = self.fold_lanes(op, body, *step, values)?;
            }
        }
        let cross: Option<Vec<&CrossWarp>> = plans.iter().map(|p| p.cross_warp.as_ref()).collect();
        if let Some(cross) = cross {
            let held = self.layout_error(op, plan.shared_out(halved))?;
            let wanted = v.results().first().and_then(|&r| self.layout(r));
            let wanted = wanted.unwrap_or_else(|| plan.result.clone());
            values = self.fold_warps(op, body, &cross, [&held, &wanted], values)?;
        } else if !halved.is_empty() {
            let all = |v: ValueId| self.all_of_lanes(v, steps, halved);
            values = values.into_iter().map(all).collect();
        }
        for (&result, &value) in v.results().iter().zip(&values) {
            // A result of rank 0 is a scalar, whatever its layout repeats.
            let value = if self.layout(result).is_none() {
                self.emit().take(value, &[0])
            } else {
                value
            };
            self.set(result, value);
        }
        Ok(())
    }

    fn reduce_plan(
        &self,
        op: OpId,
        layout: &Layout,
        dim: usize,
        value: ValueId,
    ) -> Result<ReducePlan, Diagnostic> {
        let bits = self.m.types.width(self.m.ty(value)).max(8);
        self.layout_error(op, ReducePlan::new(layout, dim, bits))
    }

    /// Halves the registers of each result until one is left, all results at once. Neighbours are combined first, so
    /// that few partial results are needed at a time; of extremes, a few partial results take in the registers one by one,
    /// each some that follow one another: what is loaded in parts is then asked for in their order.
    fn fold_registers(
        &mut self,
        op: OpId,
        body: BlockId,
        groups: &[Vec<u32>],
        values: Vec<ValueId>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let mut left = groups.first().map_or(1, Vec::len);
        let in_turn =
            left > PARTIALS && self.target.has(Feature::ExtremeOfThree) && self.is_extreme(body);
        // Partial j of result r stands at j * results + r, with the bits of j reversed, for halves are combined.
        let reversed = |j: usize, count: usize| {
            let bits = count.max(1).ilog2();
            j.reverse_bits()
                .checked_shr(usize::BITS - bits)
                .unwrap_or(0)
        };
        // Where an instruction adds two pairs of registers, neighbours are a pair, and pairs that are neighbours come first.
        // Of an even number of results it adds the partials of two that stand beside each other, whatever their order.
        let side_by_side = left > 2 && groups.len() % 2 == 1 && self.target.has(Feature::PackedF32);
        let place = |j: usize| match (in_turn, side_by_side) {
            (true, _) => reversed(j % PARTIALS, PARTIALS) * (left / PARTIALS) + j / PARTIALS,
            (_, true) => 2 * reversed(j / 2, left / 2) + j % 2,
            _ => reversed(j, left),
        };
        let pairs = left > 2 && self.in_pairs(groups, &values);
        let spread: Vec<u32> = if pairs {
            let pair = |p: usize| 2 * reversed(p, left / 2);
            (0..left / 2)
                .map(pair)
                .flat_map(|j| groups.iter().flat_map(move |g| [g[j], g[j + 1]]))
                .collect()
        } else {
            (0..left)
                .map(place)
                .flat_map(|j| groups.iter().map(move |g| g[j]))
                .collect()
        };
        let mut values: Vec<ValueId> = values
            .iter()
            .map(|&v| self.emit().take(v, &spread))
            .collect();
        if in_turn {
            values = self.fold_in_turn(op, body, values, left / PARTIALS)?;
            left = PARTIALS;
        }
        while left > 1 {
            if pairs && left == 2 {
                values = values.iter().map(|&v| self.pairs_apart(v)).collect();
            }
            left /= 2;
            values = self.fold_halves(op, body, values)?;
        }
        if self.asynchronous.tensor.is_some() && groups.first().is_some_and(|g| g.len() >= SETTLED)
        {
            // What follows loads other tiles: the registers of this one are free by then.
            self.emit().op(N::Settle, &[&values], [], &[]);
        }
        Ok(values)
    }

    /// Whether the elements of each result lie in pairs in registers of 32 bits. Such pairs stay what they are until each
    /// is combined with itself: two elements at once, and none has to be moved to the other half of a register before.
    fn in_pairs(&self, groups: &[Vec<u32>], values: &[ValueId]) -> bool {
        let half_a_register = |&v: &ValueId| self.m.types.width(self.m.ty(v)) == 16;
        let pair = |p: &[u32]| matches!(p, &[even, odd] if even % 2 == 0 && odd == even + 1);
        values.iter().all(half_a_register) && groups.iter().all(|g| g.chunks(2).all(pair))
    }

    /// The first elements of all pairs, then the second ones.
    fn pairs_apart(&mut self, v: ValueId) -> ValueId {
        let n = self.emit().count(v);
        let apart: Vec<u32> = (0..n).step_by(2).chain((1..n).step_by(2)).collect();
        self.emit().take(v, &apart)
    }

    /// Whether a reduction's body is the larger or the smaller of two f32.
    fn is_extreme(&self, body: BlockId) -> bool {
        let [first, _] = self.m.block(body).ops[..] else {
            return false;
        };
        let op = self.m.op(first);
        let f32 = |&v: &ValueId| {
            let elem = self.m.types.elem(self.m.ty(v));
            matches!(self.m.types.get(elem), Type::Float(Float::F32))
        };
        matches!(C::of(op.kind), Some(C::MaxF | C::MinF)) && op.results.iter().all(f32)
    }

    /// Combines the first of `count` equal parts of the registers with each of the others, one behind the other: two
    /// such steps are one instruction.
    fn fold_in_turn(
        &mut self,
        op: OpId,
        body: BlockId,
        values: Vec<ValueId>,
        count: usize,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let part = |l: &mut Self, v: ValueId, i: u32| {
            let n = l.emit().count(v) / count as u32;
            let registers: Vec<u32> = (i * n..(i + 1) * n).collect();
            l.emit().take(v, &registers)
        };
        let mut so_far: Vec<ValueId> = values.iter().map(|&v| part(self, v, 0)).collect();
        for i in 1..count as u32 {
            let next = values.iter().map(|&v| part(self, v, i)).collect();
            so_far = self.combine(op, body, next, so_far)?;
        }
        Ok(so_far)
    }

    /// Combines the first half of the registers with the second.
    fn fold_halves(
        &mut self,
        op: OpId,
        body: BlockId,
        values: Vec<ValueId>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let half = |l: &mut Self, v: ValueId, high: bool| {
            let n = l.emit().count(v) / 2;
            let registers: Vec<u32> = (0..n).map(|r| if high { r + n } else { r }).collect();
            l.emit().take(v, &registers)
        };
        let low = values.iter().map(|&v| half(self, v, false)).collect();
        let high = values.iter().map(|&v| half(self, v, true)).collect();
        self.combine(op, body, high, low)
    }

    fn fold_lanes(
        &mut self,
        op: OpId,
        body: BlockId,
        step: Butterfly,
        values: Vec<ValueId>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let mut others = Vec::new();
        for &value in &values {
            let n = self.emit().count(value);
            let registers: Vec<u32> = (0..n).map(|r| r ^ step.register_xor).collect();
            let given = self.emit().take(value, &registers);
            let (given, elem) = self.as_bytes(given);
            let got = self.shfl(Shuffle::Bfly, given, None, step.lane_mask);
            others.push(self.from_bytes(got, elem));
        }
        self.combine(op, body, others, values)
    }

    /// The steps in which lanes share out a thread's results, as many as halve them until one is left: where there are several,
    /// of many lanes, or warps are combined behind it, where what lanes have is asked for in any case.
    fn steps_shared_out<'p>(
        &mut self,
        plan: &'p ReducePlan,
        values: &[ValueId],
    ) -> &'p [Butterfly] {
        let steps = &plan.shuffles[..];
        let (fewest, bits) = match plan.cross_warp {
            Some(_) => (2, 1),
            None => (RESULTS, LANE_BITS),
        };
        let results = values.first().map_or(1, |&v| self.emit().count(v));
        let number = |&v: &ValueId| {
            let e = self.emit();
            let elem = e.m.types.get(e.elem(v));
            matches!(elem, Type::Float(Float::F32) | Type::Int(32))
        };
        let shared_out = results >= fewest
            && steps.len() >= bits
            && steps.iter().all(|s| s.is_simple())
            && values.iter().all(number);
        match shared_out {
            true => &steps[..steps.len().min(results.ilog2() as usize)],
            false => &[],
        }
    }

    /// Combines lanes that share out the results, in these steps.
    fn fold_halved(
        &mut self,
        op: OpId,
        body: BlockId,
        halved: &[Butterfly],
        mut values: Vec<ValueId>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        for step in halved {
            let halves: Vec<[ValueId; 2]> = values
                .iter()
                .map(|&v| self.kept_and_given(v, step.lane_mask))
                .collect();
            let kept = halves.iter().map(|h| h[0]).collect();
            let got = halves
                .iter()
                .map(|h| self.shfl(Shuffle::Bfly, h[1], None, step.lane_mask));
            let got = got.collect();
            values = self.combine(op, body, got, kept)?;
        }
        Ok(values)
    }

    /// The half of a value's registers that a lane keeps, the high one where the bit of `mask` is set in its number, and
    /// the half that it gives away.
    fn kept_and_given(&mut self, value: ValueId, mask: u32) -> [ValueId; 2] {
        let mut e = self.emit();
        let n = e.count(value) / 2;
        let (low, high) = (e.take_range(value, 0, n), e.take_range(value, n, n));
        let odd = parity(&mut e, mask);
        [(high, low), (low, high)].map(|(set, clear)| e.select(odd, set, clear))
    }

    /// Every result, from a lane that has it: whose bits in the `halved` steps say which.
    fn all_of_lanes(
        &mut self,
        value: ValueId,
        steps: &[Butterfly],
        halved: &[Butterfly],
    ) -> ValueId {
        let others = |b: &u32| steps.iter().all(|s| s.lane_mask != 1 << b);
        let others: Vec<(u32, u64)> = (0..WARP.ilog2())
            .filter(others)
            .map(|b| (b, 1 << b))
            .collect();
        let parts = (0..1u32 << halved.len()).map(|part| {
            // The first step halved the results first: its bit is the highest.
            let bits = halved.iter().rev().enumerate();
            let lane: u32 = bits
                .filter(|&(i, _)| part >> i & 1 == 1)
                .map(|(_, s)| s.lane_mask)
                .sum();
            let group = (!others.is_empty()).then(|| {
                let group = self.emit().linear(&others);
                self.emit().with(N::Xor, group, i64::from(lane))
            });
            let constant = if group.is_some() { 0 } else { lane };
            self.shfl(Shuffle::Idx, value, group, constant)
        });
        let parts: Vec<ValueId> = parts.collect();
        self.emit().concat(&parts)
    }

    /// Combines warps, whose partial results are in the layout `held`, and takes the results in the layout `wanted`.
    fn fold_warps(
        &mut self,
        op: OpId,
        body: BlockId,
        cross: &[&CrossWarp],
        [held, wanted]: [&Layout; 2],
        values: Vec<ValueId>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let sizes: Vec<u64> = cross
            .iter()
            .map(|c| c.shared.bytes().next_multiple_of(16))
            .collect();
        let at = self.scratch(sizes.iter().sum());
        let offset = |i: usize| at + sizes[..i].iter().sum::<u64>();
        let mut elems = Vec::new();
        for (i, (&value, c)) in values.iter().zip(cross).enumerate() {
            let plan = c.write(held).and_then(|l| addr::plan(&l, &c.shared, 128));
            let plan = self.layout_error(op, plan)?;
            let (value, elem) = self.as_bytes(value);
            elems.push((self.emit().elem(value), elem));
            let base = self.emit().smem(offset(i));
            self.store_shared(&Transfer::Plain(plan), base, value);
        }
        self.barrier();
        let mut loaded = Vec::new();
        for (i, (c, (stored, elem))) in cross.iter().zip(elems).enumerate() {
            let plan = c.read(wanted).and_then(|l| addr::plan(&l, &c.shared, 128));
            let plan = self.layout_error(op, plan)?;
            let base = self.emit().smem(offset(i));
            let value = self.load_shared(&Transfer::Plain(plan), base, stored);
            loaded.push(self.from_bytes(value, elem));
        }
        // Partial i of register r stands at i * results + r.
        let mut left = cross.first().map_or(1, |c| c.partials);
        while left > 1 {
            left /= 2;
            loaded = self.fold_halves(op, body, loaded)?;
        }
        Ok(loaded)
    }
}
