//! Accesses through pointers that lie next to each other: vectors, shared addresses, masks.

use crate::dialect::cuda_tile::view;
use crate::dialect::enums::Predicate;
use crate::scalar::Signedness;
use rustc_hash::FxHashMap;

use super::Lower;
use super::tiled::memory_order;
use crate::dialect::cuda_tile::Op as C;
use crate::facts::{self, Facts};
use crate::ir::{Diagnostic, Op, OpId, ValueId};
use crate::layout::{In, Layout};
use crate::lower::run::Run;

/// What one thread accesses through its pointers.
pub(super) struct Accesses {
    /// The tile of pointers (or the one pointer), not yet lowered.
    pub pointers: ValueId,
    /// Registers in memory order: each `vec` are one access.
    pub registers: Vec<u32>,
    pub vec: u64,
    /// For each register in memory order, the one whose pointer stands for it, and how many bytes on
    /// from there it lies.
    pub places: Vec<(u32, i64)>,
    pub along: Option<(Run, Layout)>,
}

impl Accesses {
    fn single(pointers: ValueId, n: u32) -> Accesses {
        Accesses {
            pointers,
            registers: (0..n).collect(),
            vec: 1,
            places: (0..n).map(|r| (r, 0)).collect(),
            along: None,
        }
    }

    /// For accesses of `vec` elements: the register whose pointer each takes, and its offset.
    pub fn addresses(&self, vec: u64) -> (Vec<u32>, Vec<i64>) {
        self.places.iter().step_by(vec as usize).copied().unzip()
    }

    /// The first register of each access of `vec` elements.
    pub fn firsts(&self, vec: u64) -> Vec<u32> {
        self.registers
            .iter()
            .step_by(vec as usize)
            .copied()
            .collect()
    }

    /// Elements per access for which one mask with these facts is right.
    pub fn mask_vector(&self, mask: Option<&Facts>) -> u64 {
        let along = self.along.as_ref().map(|(run, _)| run.dim);
        let axis = along.and_then(|dim| mask?.axes.get(dim));
        self.vec
            .min(axis.map_or(1, |a| 1 << a.constancy.max(1).ilog2()))
    }
}

impl Lower<'_> {
    /// How a thread accesses the `n` elements that it holds pointers to.
    pub(super) fn pointer_accesses(
        &self,
        op: OpId,
        data: &Op,
        pointers: ValueId,
        n: u32,
    ) -> Result<Accesses, Diagnostic> {
        // Strong accesses stay what they are: each element by itself.
        match self.is_strong(data) {
            true => Ok(Accesses::single(pointers, n)),
            false => self.runs_of_pointers(op, pointers, n),
        }
    }

    /// How accesses of neighbours among the `n` elements that a thread holds pointers to are.
    pub(super) fn runs_of_pointers(
        &self,
        op: OpId,
        pointers: ValueId,
        n: u32,
    ) -> Result<Accesses, Diagnostic> {
        let run = Run::of(self.m, &self.facts, pointers);
        let layout = self.layout(pointers);
        let (Some(run), Some(layout)) = (run, layout) else {
            return Ok(Accesses::single(pointers, n));
        };
        if layout.registers() != u64::from(n) {
            return Ok(Accesses::single(pointers, n));
        }
        let held = layout.contiguous_per_thread(&run.order(layout.rank()));
        let held = self.layout_error(op, held)?;
        // The run goes on over the next dimension where the first ends; vectors do not.
        let vec = run.width.min(held).min(layout.shape().extent(run.dim));
        let registers = memory_order(&layout, run.dim, vec);
        Ok(Accesses {
            pointers,
            places: places(&layout, &run, &registers),
            registers,
            vec,
            along: Some((run, layout)),
        })
    }

    /// For each element of a thread that is accessed by itself: the register whose pointer it takes, and
    /// how many bytes on from there it lies. Few pointers stay in registers that way.
    pub(super) fn element_places(&self, pointers: ValueId, n: u32) -> (Vec<u32>, Vec<i64>) {
        let registers: Vec<u32> = (0..n).collect();
        let run = Run::of(self.m, &self.facts, pointers);
        match (run, self.layout(pointers)) {
            (Some(run), Some(layout)) if layout.registers() == u64::from(n) => {
                places(&layout, &run, &registers).into_iter().unzip()
            }
            _ => (registers, vec![0; n as usize]),
        }
    }

    /// Whether all elements of a thread are there, by as few of them as say so.
    pub(super) fn all_there(
        &mut self,
        op: OpId,
        a: &Accesses,
        mask: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        let def = self.m.def_op(mask).map(|d| self.m.op(d).clone());
        if let Some(def) = &def
            && C::of(def.kind) == Some(C::AndI)
            && let [left, right] = def.operands[..]
        {
            let left = self.all_there(op, a, left)?;
            let right = self.all_there(op, a, right)?;
            return Ok(self.emit().and(left, right));
        }
        let telling = def.and_then(|def| self.last_to_be_there(a, &def));
        let telling = telling.unwrap_or_else(|| self.distinct(a, mask));
        let value = self.get(op, mask)?;
        let mut all = self.emit().take(value, &telling);
        let mut left = telling.len() as u32;
        while left > 1 {
            let half = left / 2;
            let (low, high): (Vec<u32>, Vec<u32>) =
                ((0..half).collect(), (half..2 * half).collect());
            let mut e = self.emit();
            let (low, high) = (e.take(all, &low), e.take(all, &high));
            let both = e.and(low, high);
            // An odd one is taken along.
            all = match left % 2 {
                0 => both,
                _ => {
                    let odd = e.take(all, &[left - 1]);
                    e.concat(&[both, odd])
                }
            };
            left = half + left % 2;
        }
        Ok(all)
    }

    /// One register for each group of elements that a mask cannot tell apart.
    fn distinct(&self, a: &Accesses, mask: ValueId) -> Vec<u32> {
        let all = || a.registers.clone();
        let Some((run, layout)) = &a.along else {
            return all();
        };
        let axis = self.facts.get(mask).and_then(|f| f.axes.get(run.dim));
        let same = axis.map_or(1, |axis| axis.constancy);
        let mut seen: Vec<u64> = Vec::new();
        let first = |&r: &u32| {
            let at = start(layout, run.dim, same, r);
            let new = !seen.contains(&at);
            if new {
                seen.push(at);
            }
            new
        };
        all().into_iter().filter(first).collect()
    }

    /// Where a mask compares what grows along the runs with what stands still: the element of each
    /// run that decides for all.
    fn last_to_be_there(&self, a: &Accesses, def: &Op) -> Option<Vec<u32>> {
        let (run, layout) = a.along.as_ref()?;
        let compare = view::CmpI::of(def)?;
        let signed = compare.signedness() == Signedness::Signed;
        let (x, y) = (compare.lhs(), compare.rhs());
        let range = facts::range(&self.m.types, self.m.ty(x));
        let (x, y) = (self.facts.get(x)?, self.facts.get(y)?);
        let rises = |v: &Facts, beside: &Facts| {
            let still = beside.axes.get(run.dim)?.constancy;
            let length = facts::monotone(v, v.axes.get(run.dim)?, signed, range);
            Some(length.min(1 << still.max(1).ilog2()))
        };
        // Whether the greatest or the least element of a run decides.
        let (up, down) = (rises(x, y)?, rises(y, x)?);
        let (length, last) = match compare.comparison_predicate() {
            Predicate::LessThan | Predicate::LessThanOrEqual if up > 1 => (up, true),
            Predicate::LessThan | Predicate::LessThanOrEqual => (down, false),
            Predicate::GreaterThan | Predicate::GreaterThanOrEqual if up > 1 => (up, false),
            Predicate::GreaterThan | Predicate::GreaterThanOrEqual => (down, true),
            Predicate::Equal | Predicate::NotEqual => return None,
        };
        (length > 1).then(|| extremes(layout, run.dim, length, last, &a.registers))?
    }
}

/// The element at which the aligned group of `length` along `dim` starts that a register's element
/// is in, up to what the thread's number adds to it.
fn start(layout: &Layout, dim: usize, length: u64, register: u32) -> u64 {
    let shape = layout.shape();
    let flat = layout.flat(u64::from(register), 0, 0);
    let coord = shape.coord(flat, dim);
    let length = length.clamp(1, shape.extent(dim));
    flat ^ shape.along(dim, coord % length)
}

/// Bits of the coordinate along `dim` that differ from thread to thread.
fn thread_bits(layout: &Layout, dim: usize) -> u64 {
    let inputs = In::ALL.into_iter().filter(|&i| i != In::Register);
    let bases = inputs.flat_map(|i| layout.bases(i).iter());
    bases.fold(0, |all, &b| all | layout.shape().coord(b, dim))
}

/// For each register, one in the same run, and how many bytes on from there it lies in every thread.
pub(super) fn places(layout: &Layout, run: &Run, registers: &[u32]) -> Vec<(u32, i64)> {
    let shape = layout.shape();
    let moving = thread_bits(layout, run.dim);
    let coord = |r: u32| shape.coord(layout.flat(u64::from(r), 0, 0), run.dim);
    let mut first: FxHashMap<(u64, u64), u32> = FxHashMap::default();
    registers
        .iter()
        .map(|&r| {
            // Bits that the thread's number changes, too, must be those of the first.
            let key = (start(layout, run.dim, run.length, r), coord(r) & moving);
            let &mut base = first.entry(key).or_insert(r);
            let on = coord(r) as i64 - coord(base) as i64;
            (base, on * run.bytes as i64)
        })
        .collect()
}

/// The register of the last (or first) element of each group of `length`; `None` where which one that
/// is depends on the thread.
fn extremes(
    layout: &Layout,
    dim: usize,
    length: u64,
    last: bool,
    registers: &[u32],
) -> Option<Vec<u32>> {
    let shape = layout.shape();
    let moving = thread_bits(layout, dim);
    let coord = |r: u32| shape.coord(layout.flat(u64::from(r), 0, 0), dim);
    let mut groups: Vec<(u64, u32)> = Vec::new();
    for &r in registers {
        let key = start(layout, dim, length, r);
        match groups.iter_mut().find(|(k, _)| *k == key) {
            None => groups.push((key, r)),
            Some((_, best)) => {
                if (coord(r) ^ coord(*best)) & moving != 0 {
                    return None;
                }
                if (coord(r) > coord(*best)) == last {
                    *best = r;
                }
            }
        }
    }
    Some(groups.into_iter().map(|(_, r)| r).collect())
}
