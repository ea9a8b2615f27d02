//! Scans: the steps of [`ScanPlan`], in registers, by shuffles and through scratch memory.

use super::Lower;
use super::emit::AccessAttrs;
use super::scan_runs::ByRuns;
use crate::dialect::cuda_tile::view;
use crate::dialect::enums::{Predicate, Shuffle, SpecialRegister};
use crate::dialect::nvvm::Op as N;
use crate::ir::{BlockId, Diagnostic, Op, OpId, Type, TypeId, ValueId};
use crate::layout::Layout;
use crate::layout::blocked::Blocked;
use crate::layout::scan::ScanPlan;
use crate::layout::scan_steps::{Reach, ScanStep};
use crate::lower::unsupported;
use crate::scalar::Signedness;

impl Lower<'_> {
    pub(super) fn scan(&mut self, op: OpId, v: &view::Scan<Op>) -> Result<(), Diagnostic> {
        let dim = v.dim() as usize;
        let reverse = v.reverse();
        let Some(body) = self.m.body_of(op, 0) else {
            return Err(unsupported(self.m, op, "a scan without a body"));
        };
        let Some(&first) = v.operands().first() else {
            return Ok(());
        };
        let Some(have) = self.layout(first) else {
            return Err(unsupported(self.m, op, "a scan of a scalar"));
        };
        let (layout, plan) = self.scan_plan(op, &have, dim, reverse)?;
        let mut values = Vec::new();
        for &operand in v.operands() {
            let value = self.get(op, operand)?;
            let from = self.layout(operand).unwrap_or_else(|| have.clone());
            values.push(self.convert_value(op, value, &from, &layout)?);
        }
        let identities = self.identities(v);
        let runs = plan.runs.as_ref().zip(identities);
        let alone = runs.as_ref().map_or(plan.steps.len(), |(r, _)| r.steps);
        let (within, across) = plan.steps.split_at(alone);
        for step in within {
            values = self.scan_step(op, body, step, values)?;
        }
        if let Some((runs, identities)) = runs {
            let how = ByRuns {
                runs,
                steps: across,
                reverse,
                identities,
            };
            values = self.scan_runs(op, body, &how, values)?;
        }
        for (&result, value) in v.results().iter().zip(values) {
            let to = self.layout(result).unwrap_or_else(|| layout.clone());
            let value = self.convert_value(op, value, &layout, &to)?;
            self.set(result, value);
        }
        Ok(())
    }

    /// The plan for `layout`, or, where its bits are mixed, for a blocked one.
    fn scan_plan(
        &self,
        op: OpId,
        layout: &Layout,
        dim: usize,
        reverse: bool,
    ) -> Result<(Layout, ScanPlan), Diagnostic> {
        if let Ok(plan) = ScanPlan::new(layout, dim, reverse) {
            return Ok((layout.clone(), plan));
        }
        let blocked = Blocked {
            shape: layout.shape().clone(),
            order: (0..layout.rank()).rev().collect(),
            max_vector: 4,
            element_bits: 32,
            warps: self.role.warps,
        };
        let layout = self.layout_error(op, blocked.layout())?;
        let plan = self.layout_error(op, ScanPlan::new(&layout, dim, reverse))?;
        Ok((layout, plan))
    }

    /// Takes one step.
    pub(super) fn scan_step(
        &mut self,
        op: OpId,
        body: BlockId,
        step: &ScanStep,
        values: Vec<ValueId>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        if step.registers.is_empty() {
            return Ok(values);
        }
        let to = step.targets();
        let so_far = self.so_far(step, &values);
        let current: Vec<ValueId> = values.iter().map(|&v| self.emit().take(v, &to)).collect();
        let new = self.combine(op, body, current.clone(), so_far)?;
        let new = self.where_taking(step, new, &current);
        Ok(self.all_replaced(&values, &new, &to))
    }

    /// What each register that takes part in a step is combined with.
    pub(super) fn so_far(&mut self, step: &ScanStep, values: &[ValueId]) -> Vec<ValueId> {
        let from: Vec<u32> = step.registers.iter().map(|r| r.1).collect();
        // Each register of other threads travels once.
        let mut distinct = from.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let expand: Vec<u32> = from
            .iter()
            .map(|r| distinct.binary_search(r).unwrap_or(0) as u32)
            .collect();
        let given: Vec<ValueId> = values
            .iter()
            .map(|&v| self.emit().take(v, &distinct))
            .collect();
        let given = match step.reach() {
            Reach::Thread => given,
            Reach::Warp => self.exchange_lanes(step, given),
            Reach::Block => self.exchange_threads(step, given),
        };
        given
            .iter()
            .map(|&v| self.emit().take(v, &expand))
            .collect()
    }

    /// `new` in the threads that take part in a step, `old` in the others.
    pub(super) fn where_taking(
        &mut self,
        step: &ScanStep,
        new: Vec<ValueId>,
        old: &[ValueId],
    ) -> Vec<ValueId> {
        let Some((bit, is)) = step.only else {
            return new;
        };
        new.into_iter()
            .zip(old)
            .map(|(new, &old)| self.where_bit(bit, is, new, old))
            .collect()
    }

    /// Each of `values` with the registers `at` taken from the one of `parts`.
    pub(super) fn all_replaced(
        &mut self,
        values: &[ValueId],
        parts: &[ValueId],
        at: &[u32],
    ) -> Vec<ValueId> {
        values
            .iter()
            .zip(parts)
            .map(|(&whole, &part)| self.replaced(whole, part, at))
            .collect()
    }

    /// The bits of the identity of each operand, where all have some of whole bytes.
    fn identities(&self, v: &view::Scan<Op>) -> Option<Vec<i64>> {
        let parts_of_bytes = |&operand: &ValueId| {
            let elem = self.m.types.elem(self.m.ty(operand));
            matches!(self.m.types.get(elem), Type::Int(bits) if *bits < 8)
        };
        let numbers = v.identities().numbers()?;
        (!v.operands().iter().any(parts_of_bytes)).then_some(numbers)
    }

    /// `new` in the threads whose number has `bit` as given, `old` in the others.
    fn where_bit(&mut self, bit: u32, is: bool, new: ValueId, old: ValueId) -> ValueId {
        let mut e = self.emit();
        let tid = e.sreg(SpecialRegister::TidX);
        let masked = e.with(N::And, tid, 1 << bit);
        let zero = e.i32(0);
        let predicate = match is {
            true => Predicate::NotEqual,
            false => Predicate::Equal,
        };
        let takes = e.icmp(predicate, Signedness::Unsigned, masked, zero);
        e.select(takes, new, old)
    }

    /// The number of the thread that this one takes values from, of the bits under `mask`.
    fn source_thread(&mut self, step: &ScanStep, mask: u32) -> ValueId {
        let clear = step.lane.clear | step.warp.clear << 5;
        let set = step.lane.set | step.warp.set << 5;
        let mut e = self.emit();
        let tid = e.sreg(SpecialRegister::TidX);
        let kept = e.with(N::And, tid, i64::from(mask & !clear));
        e.with(N::Or, kept, i64::from(set & mask))
    }

    fn exchange_lanes(&mut self, step: &ScanStep, values: Vec<ValueId>) -> Vec<ValueId> {
        let lane = self.source_thread(step, 31);
        let mut received = Vec::new();
        for value in values {
            let (value, elem) = self.as_bytes(value);
            let got = self.shfl(Shuffle::Idx, value, Some(lane), 0);
            received.push(self.from_bytes(got, elem));
        }
        received
    }

    /// The first registers of each value, then the others: scratch has no room for all. A value comes
    /// with the type that it travels for.
    fn exchange_halves(
        &mut self,
        step: &ScanStep,
        values: impl Iterator<Item = (ValueId, TypeId)>,
        first: u32,
    ) -> Vec<ValueId> {
        let values: Vec<_> = values.collect();
        let mut parts = [0, 1].map(|side| {
            let half = values.iter().map(|&(value, _)| {
                let mut e = self.emit();
                let n = e.count(value);
                let registers: Vec<u32> = if side == 0 { 0..first } else { first..n }.collect();
                e.take(value, &registers)
            });
            let half = half.collect();
            self.exchange_threads(step, half).into_iter()
        });
        let mut whole = Vec::new();
        for (_, elem) in values {
            let both: Vec<ValueId> = parts.iter_mut().filter_map(Iterator::next).collect();
            let value = self.emit().concat(&both);
            whole.push(self.from_bytes(value, elem));
        }
        whole
    }

    fn exchange_threads(&mut self, step: &ScanStep, values: Vec<ValueId>) -> Vec<ValueId> {
        let threads = self.role.warps * 32;
        let mut slots = Vec::new();
        let mut bytes = 0;
        for value in values {
            let (value, elem) = self.as_bytes(value);
            let e = self.emit();
            let size = u64::from(e.m.types.width(e.elem(value)) / 8);
            let n = u64::from(e.count(value));
            slots.push((value, elem, size, n, bytes));
            bytes += (threads * n * size).next_multiple_of(16);
        }
        let many = slots.first().map_or(1, |s| s.3) as u32;
        if bytes > self.scratch_room() && many > 1 {
            return self.exchange_halves(step, slots.iter().map(|s| (s.0, s.1)), many / 2);
        }
        let at = self.scratch(bytes);
        let own = self.emit().sreg(SpecialRegister::TidX);
        let other = self.source_thread(step, threads as u32 - 1);
        let place = |l: &mut Self, thread: ValueId, size: u64, start: u64| {
            let base = l.emit().smem(at + start);
            let mut e = l.emit();
            let offset = e.with(N::Mul, thread, size as i64);
            e.ptr_add(base, offset)
        };
        let offsets = |size: u64, n: u64| -> Vec<i64> {
            (0..n).map(|i| (i * size * threads) as i64).collect()
        };
        for &(value, _, size, n, start) in &slots {
            let address = place(self, own, size, start);
            let mut e = self.emit();
            let attrs = AccessAttrs::shared(1, offsets(size, n)).list(&mut e);
            e.op(N::St, &[&[address], &[value], &[]], attrs, &[]);
        }
        self.barrier();
        let mut received = Vec::new();
        for (value, elem, size, n, start) in slots {
            let address = place(self, other, size, start);
            let ty = self.m.ty(value);
            let mut e = self.emit();
            let attrs = AccessAttrs::shared(1, offsets(size, n)).list(&mut e);
            let got = e.get(N::Ld, &[&[address], &[], &[]], attrs, ty);
            received.push(self.from_bytes(got, elem));
        }
        received
    }
}
