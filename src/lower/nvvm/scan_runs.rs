//! Scans of threads that hold runs of neighbours: totals of the runs, and what precedes each of them ([`Runs`]).

use super::Lower;
use super::emit::AccessAttrs;
use crate::dialect::enums::{Shuffle, SpecialRegister};
use crate::dialect::nvvm::Op as N;
use crate::ir::{BlockId, Diagnostic, OpId, TypeId, ValueId};
use crate::layout::scan::{Lanes, Runs};
use crate::layout::scan_steps::ScanStep;
use crate::layout::scan_totals::Totals;

/// The most bytes of an access.
const ACCESS: u64 = 16;
/// Bytes of an element from which on several are stored at once.
const WORD: u64 = 4;

/// How runs that were scanned by themselves go on.
pub(super) struct ByRuns<'p> {
    pub runs: &'p Runs,
    /// The steps that are left.
    pub steps: &'p [ScanStep],
    pub reverse: bool,
    /// The bits of the identity of each value.
    pub identities: Vec<i64>,
}

impl Lower<'_> {
    /// What comes from other threads is combined with the total of a run and with what precedes the run, which the other
    /// elements of the run take at the end.
    pub(super) fn scan_runs(
        &mut self,
        op: OpId,
        body: BlockId,
        how: &ByRuns<'_>,
        values: Vec<ValueId>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let runs = how.runs;
        let others = runs.others();
        let ends = (values.iter())
            .map(|&v| self.emit().take(v, &runs.ends))
            .collect();
        let (ends, before) = match &runs.lanes {
            Some(lanes) => self.scan_lanes(op, body, (how, lanes), ends)?,
            None => self.scan_further(op, body, (how, how.steps), (ends, None))?,
        };
        let values = if others.is_empty() {
            values
        } else {
            let run: Vec<u32> = (others.iter())
                .filter_map(|&r| runs.run.get(r as usize).copied())
                .collect();
            let current = (values.iter())
                .map(|&v| self.emit().take(v, &others))
                .collect();
            let so_far = before.iter().map(|&v| self.emit().take(v, &run)).collect();
            let new = self.combine(op, body, current, so_far)?;
            self.all_replaced(&values, &new, &others)
        };
        Ok(self.all_replaced(&values, &ends, &runs.ends))
    }

    /// Totals of runs, and what precedes each run, where neighbouring lanes hold neighbouring runs.
    fn scan_lanes(
        &mut self,
        op: OpId,
        body: BlockId,
        (how, lanes): (&ByRuns<'_>, &Lanes),
        mut ends: Vec<ValueId>,
    ) -> Result<(Vec<ValueId>, Vec<ValueId>), Diagnostic> {
        let (by_lanes, further) = how.steps.split_at(lanes.steps);
        for step in by_lanes {
            ends = self.scan_step(op, body, &how.runs.among_ends(step), ends)?;
        }
        let alone = how.runs.steps == 0;
        let before = match alone {
            // No element but the totals themselves.
            true => Vec::new(),
            false => self.before_own_runs(how, lanes, &ends),
        };
        let Some(totals) = &lanes.totals else {
            return self.scan_further(op, body, (how, further), (ends, Some(before)));
        };
        let preceding = self.scan_totals(op, body, (how, totals), &ends)?;
        if alone {
            return Ok((self.combine(op, body, ends, preceding)?, before));
        }
        let [ends, before] = self.combine_both(op, body, &[ends, before], &preceding)?;
        Ok((ends, before))
    }

    /// The steps that are left one by one. Unless it is given, nothing precedes any run yet.
    fn scan_further(
        &mut self,
        op: OpId,
        body: BlockId,
        (how, steps): (&ByRuns<'_>, &[ScanStep]),
        (mut ends, before): (Vec<ValueId>, Option<Vec<ValueId>>),
    ) -> Result<(Vec<ValueId>, Vec<ValueId>), Diagnostic> {
        let mut preceded = before.is_some();
        let mut before = before.unwrap_or_else(|| self.identities_like(how, &ends));
        for step in steps {
            let step = how.runs.among_ends(step);
            let to = step.targets();
            let so_far = self.so_far(&step, &ends);
            let take = |l: &mut Self, all: &[ValueId]| -> Vec<ValueId> {
                all.iter().map(|&v| l.emit().take(v, &to)).collect()
            };
            let old = [take(self, &ends), take(self, &before)];
            let new = if preceded {
                self.combine_both(op, body, &old, &so_far)?
            } else {
                let ends = self.combine(op, body, old[0].clone(), so_far.clone())?;
                [ends, so_far]
            };
            preceded = true;
            let [new_ends, new_before] = new;
            let new_ends = self.where_taking(&step, new_ends, &old[0]);
            let new_before = self.where_taking(&step, new_before, &old[1]);
            ends = self.all_replaced(&ends, &new_ends, &to);
            before = self.all_replaced(&before, &new_before, &to);
        }
        Ok((ends, before))
    }

    /// Combines two lists of values with the same ones so far.
    fn combine_both(
        &mut self,
        op: OpId,
        body: BlockId,
        [a, b]: &[Vec<ValueId>; 2],
        so_far: &[ValueId],
    ) -> Result<[Vec<ValueId>; 2], Diagnostic> {
        let mut e = self.emit();
        let current = a.iter().zip(b).map(|(&a, &b)| e.concat(&[a, b])).collect();
        let twice = so_far.iter().map(|&v| e.concat(&[v, v])).collect();
        let new = self.combine(op, body, current, twice)?;
        let half = |l: &mut Self, i: u32| -> Vec<ValueId> {
            new.iter().map(|&v| l.emit().part(v, i, 2)).collect()
        };
        Ok([half(self, 0), half(self, 1)])
    }

    /// The identity of each value in as many registers as it has.
    fn identities_like(&mut self, how: &ByRuns<'_>, values: &[ValueId]) -> Vec<ValueId> {
        let identities = how.identities.iter();
        let like = identities.zip(values).map(|(&identity, &value)| {
            let ty = self.m.ty(value);
            self.emit().constant(identity, ty)
        });
        like.collect()
    }

    /// The total of the runs up to the neighbour's, which precede a lane's own; the identity in the first lane of a row.
    fn before_own_runs(
        &mut self,
        how: &ByRuns<'_>,
        lanes: &Lanes,
        ends: &[ValueId],
    ) -> Vec<ValueId> {
        let (mode, first) = match how.reverse {
            false => (Shuffle::Up, 0),
            true => (Shuffle::Down, lanes.mask),
        };
        let nothing = self.identities_like(how, ends);
        let mut before = Vec::new();
        for (&end, nothing) in ends.iter().zip(nothing) {
            let (value, elem) = self.as_bytes(end);
            let got = self.shfl(mode, value, None, lanes.distance);
            let got = self.from_bytes(got, elem);
            before.push(self.where_threads((lanes.mask, first), nothing, got));
        }
        before
    }

    /// `then` in the threads whose number has `bits` under `mask`, `other` elsewhere.
    fn where_threads(
        &mut self,
        (mask, bits): (u32, u32),
        then: ValueId,
        other: ValueId,
    ) -> ValueId {
        let mut e = self.emit();
        match e.threads_with(u64::from(mask), u64::from(bits)) {
            Some(there) => e.select(there, then, other),
            None => then,
        }
    }

    /// What precedes the runs of each thread in other warps, and in its own from the last of its lanes on.
    fn scan_totals(
        &mut self,
        op: OpId,
        body: BlockId,
        (how, totals): (&ByRuns<'_>, &Totals),
        ends: &[ValueId],
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let mut read = self.exchange_totals(totals, ends);
        for step in &totals.steps {
            read = self.scan_step(op, body, step, read)?;
        }
        let nothing = self.identities_like(how, &read);
        let mut preceding = Vec::new();
        for (value, nothing) in read.into_iter().zip(nothing) {
            let (value, elem) = self.as_bytes(value);
            let (nothing, _) = self.as_bytes(nothing);
            let shifted = self.shifted(totals, how.reverse, value, nothing);
            let taken = self.preceding_runs(totals, shifted);
            preceding.push(self.from_bytes(taken, elem));
        }
        Ok(preceding)
    }

    /// The totals that each lane reads of those that threads have.
    fn exchange_totals(&mut self, totals: &Totals, ends: &[ValueId]) -> Vec<ValueId> {
        let mut slots = Vec::new();
        let mut bytes = 0;
        for &end in ends {
            let (value, elem) = self.as_bytes(end);
            let e = self.emit();
            let size = u64::from(e.m.types.width(e.elem(value)) / 8);
            slots.push((value, elem, size, bytes));
            bytes += (totals.places * size).next_multiple_of(ACCESS);
        }
        let at = self.scratch(bytes);
        for &(value, _, size, start) in &slots {
            let (mask, bits) = totals.writers;
            let address = self.place_of_totals(at + start, &totals.written, size);
            let mut e = self.emit();
            let writes = e.threads_with(mask, bits);
            let count = u64::from(e.count(value));
            let vector = match size >= WORD {
                true => count.min(ACCESS / size),
                false => 1,
            };
            let offsets = (0..count).step_by(vector as usize);
            let offsets = offsets.map(|i| (i * size) as i64).collect();
            let attrs = AccessAttrs::shared(vector, offsets).list(&mut e);
            e.op(
                N::St,
                &[&[address], &[value], writes.as_slice()],
                attrs,
                &[],
            );
        }
        self.barrier();
        let mut read = Vec::new();
        for (value, elem, size, start) in slots {
            let address = self.place_of_totals(at + start, &totals.read, size);
            let mut e = self.emit();
            let offsets = totals.registers.iter().map(|&r| (r * size) as i64);
            let attrs = AccessAttrs::shared(1, offsets.collect()).list(&mut e);
            let stored: TypeId = e.elem(value);
            let ty = e.m.types.regs(stored, totals.registers.len() as u32);
            let got = e.get(N::Ld, &[&[address], &[], &[]], attrs, ty);
            read.push(self.from_bytes(got, elem));
        }
        read
    }

    /// The address of a thread's places, of which the bits of its number say the first.
    fn place_of_totals(&mut self, start: u64, places: &[(u32, u64)], size: u64) -> ValueId {
        let bytes: Vec<(u32, u64)> = places.iter().map(|&(bit, n)| (bit, n * size)).collect();
        let mut e = self.emit();
        let base = e.smem(start);
        let offset = e.linear(&bytes);
        e.ptr_add(base, offset)
    }

    /// Of totals that were scanned, those that precede a lane's own.
    fn shifted(
        &mut self,
        totals: &Totals,
        reverse: bool,
        value: ValueId,
        nothing: ValueId,
    ) -> ValueId {
        let (step, first) = match reverse {
            false => (31, 0),
            true => (1, totals.lane_mask),
        };
        let mut e = self.emit();
        let tid = e.sreg(SpecialRegister::TidX);
        let next = e.with(N::Add, tid, step);
        let lane = e.with(N::And, next, 31);
        let got = self.shfl(Shuffle::Idx, value, Some(lane), 0);
        let mut e = self.emit();
        let both = e.concat(&[got, nothing]);
        let count = e.count(got);
        let edge: Vec<u32> = (totals.preceding.iter())
            .map(|before| before.unwrap_or(count))
            .collect();
        let edge = e.take(both, &edge);
        self.where_threads((totals.lane_mask, first), edge, got)
    }

    /// What precedes each of a thread's runs, from the lane that has it.
    fn preceding_runs(&mut self, totals: &Totals, value: ValueId) -> ValueId {
        let lane = self.emit().linear(&totals.lanes);
        let parts = totals.sources.iter().map(|&(register, differs)| {
            let part = self.emit().take(value, &[register]);
            let lane = match differs {
                0 => lane,
                bits => self.emit().with(N::Xor, lane, i64::from(bits)),
            };
            self.shfl(Shuffle::Idx, part, Some(lane), 0)
        });
        let parts: Vec<ValueId> = parts.collect();
        self.emit().concat(&parts)
    }
}
