//! Computations that do not need what a wait brings stand in front of it.
//!
//! What is made of a matmul's result is often asked for together with another one's, and computed there, behind the wait for
//! that. In front of it, it is computed while the tensor cores multiply:
//!
//! ```text
//! wait s              wait s
//! wait t              p = ex2 s
//! p = ex2 s     →     wait t
//! y = mul p, t        y = mul p, t
//! ```
//! Arrays only move where as many registers end as they take. What a loop carries stays: matmuls in flight may read the
//! registers that it is in.

use super::analysis::Graph;
use super::earlier::{WORTH, is, operands, pull, pure, results, widths};
use super::schedule::{Schedule, Step, Val};
use crate::dialect::nvvm::Op as N;
use rustc_hash::{FxHashMap, FxHashSet};

/// Most operations behind each other that move along with one.
const DEEPEST: usize = 64;

/// Moves such computations in every block.
pub fn compute_before(graph: &Graph, schedule: &mut Schedule) {
    let waits = |steps: &[Step]| steps.iter().filter(|s| is(s, &[N::WgmmaWait])).count();
    if schedule.blocks.iter().all(|b| waits(&b.steps) < 2) {
        return;
    }
    let mut uses = vec![0; schedule.values.len()];
    for step in schedule.blocks.iter().flat_map(|b| &b.steps) {
        operands(step).for_each(|v| uses[v as usize] += 1);
    }
    let wide = widths(graph, schedule);
    for block in &mut schedule.blocks {
        if waits(&block.steps) < 2 {
            continue;
        }
        let mut at = 0;
        while at < block.steps.len() {
            if is(&block.steps[at], &[N::WgmmaWait]) {
                let early = Wait::new(graph, &wide, &uses, &block.args, &block.steps, at).early();
                let end = block.steps.len();
                pull(&mut block.steps, at..end, &early);
                at += early.len();
            }
            at += 1;
        }
    }
}

/// A wait, and what stands around it in its block.
struct Wait<'s> {
    graph: &'s Graph,
    /// Registers and uses of each value.
    wide: &'s [i64],
    uses: &'s [u32],
    steps: &'s [Step],
    at: usize,
    /// The block's values that are there before the wait, and those that are computed from results of matmuls.
    before: FxHashSet<Val>,
    of_matmuls: FxHashSet<Val>,
    /// Where what is not there yet is made.
    makers: FxHashMap<Val, usize>,
    /// What the block hands on at its end.
    carried: FxHashSet<Val>,
    /// Steps that are known to stay behind the wait.
    stays: FxHashSet<usize>,
    /// Uses of values that are left, where it is not all of them.
    left: FxHashMap<Val, u32>,
}

impl<'s> Wait<'s> {
    fn new(
        graph: &'s Graph,
        wide: &'s [i64],
        uses: &'s [u32],
        args: &[Val],
        steps: &'s [Step],
        at: usize,
    ) -> Self {
        let mut before: FxHashSet<Val> = args.iter().copied().collect();
        let mut of_matmuls = FxHashSet::default();
        let mut left = FxHashMap::default();
        for step in &steps[..at] {
            for v in operands(step) {
                let left = left.entry(v).or_insert(uses[v as usize]);
                *left = left.saturating_sub(1);
            }
            before.extend(results(step));
            let computed = pure(graph, step).is_some();
            if is(step, &[N::WgmmaWait])
                || computed && operands(step).any(|v| of_matmuls.contains(&v))
            {
                of_matmuls.extend(results(step));
            }
        }
        let later = steps.iter().enumerate().skip(at);
        let makers = later.flat_map(|(i, step)| results(step).iter().map(move |&v| (v, i)));
        Wait {
            graph,
            wide,
            uses,
            steps,
            at,
            before,
            of_matmuls,
            makers: makers.collect(),
            carried: steps.last().into_iter().flat_map(operands).collect(),
            stays: FxHashSet::default(),
            left,
        }
    }

    /// The places of what can be computed before the wait: as far as no more registers are taken than end.
    fn early(mut self) -> FxHashSet<usize> {
        let mut early = FxHashSet::default();
        if self.of_matmuls.is_empty() {
            return early;
        }
        let mut tried: FxHashSet<usize> = FxHashSet::default();
        let mut gain = 0;
        for at in self.at + 1..self.steps.len() {
            let is_wide = |&v: &Val| self.wide[v as usize] >= WORTH;
            if !results(&self.steps[at]).iter().any(is_wide) {
                continue;
            }
            let mut more = Vec::new();
            if self.gather(at, &tried, &mut more, DEEPEST) != Some(true) {
                continue;
            }
            for &i in &more {
                gain += self.take(i);
            }
            tried.extend(more);
            self.of_matmuls.extend(results(&self.steps[at]));
            if gain >= 0 {
                early.clone_from(&tried);
            }
        }
        early
    }

    /// Adds the step at `at` to `more`, and what is made for it behind the wait and was not `tried`, if they only compute and
    /// need nothing that does not. Whether it works on a matmul's result.
    fn gather(
        &mut self,
        at: usize,
        tried: &FxHashSet<usize>,
        more: &mut Vec<usize>,
        depth: usize,
    ) -> Option<bool> {
        let depth = depth.checked_sub(1)?;
        // It stays unless all that follows goes well.
        if !self.stays.insert(at) {
            return None;
        }
        let inst = pure(self.graph, &self.steps[at])?;
        if inst.results.iter().any(|v| self.carried.contains(v)) {
            return None;
        }
        let mut matmul = false;
        for v in &inst.operands {
            matmul |= self.of_matmuls.contains(v);
            let made = self.makers.get(v);
            let Some(&maker) = made.filter(|m| !tried.contains(*m) && !more.contains(*m)) else {
                continue;
            };
            matmul |= self.gather(maker, tried, more, depth)?;
        }
        self.stays.remove(&at);
        more.push(at);
        Some(matmul)
    }

    /// Computes the step at `i` early: the registers that end in it, beyond those that it makes.
    fn take(&mut self, i: usize) -> i64 {
        let wide = |v: Val| match self.wide[v as usize] {
            few if few < WORTH => 0,
            registers => registers,
        };
        let mut gain = 0;
        for v in operands(&self.steps[i]) {
            let left = self.left.entry(v).or_insert(self.uses[v as usize]);
            *left = left.saturating_sub(1);
            let own = self.before.contains(&v) || self.makers.contains_key(&v);
            if *left == 0 && own {
                gain += wide(v);
            }
        }
        let made = results(&self.steps[i]).iter().copied();
        gain - made.map(wide).sum::<i64>()
    }
}
