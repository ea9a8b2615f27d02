//! Iteration counters carried through loops and branches.
//!
//! A ring is used at several places of a program, in loops one after another or in each other. Its iteration
//! number runs on through all of them: every loop and branch that uses the ring carries it.

use rustc_hash::FxHashMap;

use crate::dialect::cuda_tile::Op as C;
use crate::ir::{BlockId, Module, OpId, TypeId, ValueId};
use crate::lower::tileas::flow::jump_target;

/// What a role does around the operations of its program; `counters` holds each ring's iteration at this
/// point. New operations go to the end of `block`.
pub trait Steps {
    /// The rings that are stepped at `op`, in front of it or behind it.
    fn rings_at(&self, op: OpId) -> Vec<usize>;
    fn before(&mut self, m: &mut Module, op: OpId, block: BlockId, counters: &mut [ValueId]);
    /// In front of it, where `op` ends its block.
    fn after(&mut self, m: &mut Module, op: OpId, block: BlockId, counters: &mut [ValueId]);
    /// In front of a `continue` or `break`.
    fn leave(&mut self, _m: &mut Module, _jump: OpId, _block: BlockId) {}
    /// Whether `op` itself goes away.
    fn drops(&self, op: OpId) -> bool;
}

/// Rewrites the program in `block` by `steps`, from the iterations in `counters`, which become those at its end.
pub fn thread(m: &mut Module, block: BlockId, counters: &mut [ValueId], steps: &mut dyn Steps) {
    let mut t = Thread {
        steps,
        inside: FxHashMap::default(),
    };
    t.block(m, block, counters);
}

struct Thread<'s> {
    steps: &'s mut dyn Steps,
    /// Loops and branches around the place at hand: the rings that each carries.
    inside: FxHashMap<OpId, Vec<usize>>,
}

impl Thread<'_> {
    fn block(&mut self, m: &mut Module, block: BlockId, counters: &mut [ValueId]) {
        for op in std::mem::take(&mut m.block_mut(block).ops) {
            let kind = C::of(m.op(op).kind);
            let jump = matches!(kind, Some(C::Continue | C::Break | C::Yield));
            let ends = jump
                || m.op(op)
                    .def()
                    .traits
                    .has(crate::dialect::Traits::TERMINATOR);
            self.steps.before(m, op, block, counters);
            if matches!(kind, Some(C::Continue | C::Break)) {
                self.steps.leave(m, op, block);
            }
            if ends {
                self.steps.after(m, op, block, counters);
            }
            if jump {
                self.hand_on(m, op, counters);
            }
            let rings = match m.op(op).regions.is_empty() {
                true => Vec::new(),
                false => self.rings_in(m, op),
            };
            match kind {
                Some(C::For | C::Loop | C::If) if !rings.is_empty() => {
                    self.structured(m, op, block, rings, counters);
                }
                _ if self.steps.drops(op) => {}
                _ => {
                    // Jumps out of it may have to hand on what loops around it carry.
                    if kind == Some(C::If) && !self.inside.is_empty() {
                        for i in 0..m.op(op).regions.len() {
                            if let Some(body) = m.body_of(op, i) {
                                self.block(m, body, &mut counters.to_vec());
                            }
                        }
                    }
                    let at = m.block(block).ops.len();
                    m.place(op, block, at);
                }
            }
            if !ends {
                self.steps.after(m, op, block, counters);
            }
        }
    }

    /// The rings that are stepped in the regions of `op`, in order.
    fn rings_in(&self, m: &Module, op: OpId) -> Vec<usize> {
        let mut rings = Vec::new();
        for i in 0..m.op(op).regions.len() {
            let inner = m.body_of(op, i).map(|b| m.ops_under(b)).unwrap_or_default();
            rings.extend(inner.into_iter().flat_map(|o| self.steps.rings_at(o)));
        }
        rings.sort_unstable();
        rings.dedup();
        rings
    }

    /// A jump hands the counters on that its target carries.
    fn hand_on(&mut self, m: &mut Module, jump: OpId, counters: &[ValueId]) {
        let Some(rings) = jump_target(m, jump).and_then(|t| self.inside.get(&t)) else {
            return;
        };
        let mut data = m.op_mut(jump);
        (rings.iter()).for_each(|&r| data.push_operand(counters[r]));
    }

    /// A loop or branch in its new form, which carries the iterations of `rings`.
    fn structured(
        &mut self,
        m: &mut Module,
        op: OpId,
        block: BlockId,
        rings: Vec<usize>,
        counters: &mut [ValueId],
    ) {
        let loops = C::of(m.op(op).kind) != Some(C::If);
        let types: Vec<TypeId> = rings.iter().map(|&r| m.ty(counters[r])).collect();
        if !loops && m.op(op).regions.len() < 2 {
            let otherwise = m.new_region();
            m.region_mut(otherwise).parent = op;
            m.op_mut(op).regions.push(otherwise);
        }
        self.inside.insert(op, rings.clone());
        for i in 0..m.op(op).regions.len() {
            let mut inner = counters.to_vec();
            let body = self.body(m, op, i);
            if loops {
                for (&ring, &ty) in rings.iter().zip(&types) {
                    inner[ring] = m.add_arg(body, ty);
                }
            }
            self.block(m, body, &mut inner);
        }
        self.inside.remove(&op);
        let old = m.op(op).clone();
        m.op_mut(op).regions.clear();
        let mut groups: Vec<Vec<ValueId>> = (0..old.groups.len())
            .map(|i| old.group(i).to_vec())
            .collect();
        if let Some(inits) = groups.last_mut().filter(|_| loops) {
            inits.extend(rings.iter().map(|&r| counters[r]));
        }
        let groups: Vec<&[ValueId]> = groups.iter().map(Vec::as_slice).collect();
        let mut results: Vec<TypeId> = old.results.iter().map(|&r| m.ty(r)).collect();
        results.extend(&types);
        let mut b = m.at_end(block);
        b.loc = old.loc;
        let attrs = old.attrs.iter().cloned();
        let new = b.op(old.kind, &groups, attrs, &results, &old.regions);
        let new = m.op(new).results.clone();
        for (&from, &to) in old.results.iter().zip(&new) {
            m.replace_all_uses(from, to);
        }
        for (&ring, &value) in rings.iter().zip(&new[old.results.len()..]) {
            counters[ring] = value;
        }
        m.erase(op);
    }

    /// The block of region `i`, made where a branch has none.
    fn body(&mut self, m: &mut Module, op: OpId, i: usize) -> BlockId {
        if let Some(body) = m.body_of(op, i) {
            return body;
        }
        let region = m.op(op).regions[i];
        let block = m.new_block(region, &[]);
        m.at_end(block).op(C::Yield, &[&[]], [], &[], &[]);
        block
    }
}
