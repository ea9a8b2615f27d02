//! The iterations of a loop in parts.

use super::super::pipeline::slice::Map;
use super::super::strips::parts::Parts;
use crate::dialect::cuda_tile::{Op as C, view as tile};
use crate::dialect::enums::{Overflow, Rounding};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{Access, constant};
use crate::ir::{Attr, BlockId, Module, OpId, ValueId};
use crate::lower::build::{self, cased, int_cast, times};
use crate::lower::tileas::look::place;
use crate::scalar::Signedness;

/// A loop whose iterations are to be done in parts.
pub struct Steps {
    pub op: OpId,
    pub block: BlockId,
    /// The operations of the block.
    pub ops: Vec<OpId>,
    pub cut: Parts,
    /// Operations in front of the loop that are made again for a part.
    pub again: Vec<OpId>,
}

impl Steps {
    pub fn apply(mut self, m: &mut Module, facts: &FactMap) {
        let Some(v) = tile::For::of(m.op(self.op)) else {
            return;
        };
        let bounds = [v.lowerBound(), v.upperBound(), v.step()];
        let Some(&counter) = m.block(self.block).args.first() else {
            return;
        };
        let by_one = [bounds[0], bounds[2]].map(|v| constant(facts, v)) == [Some(0), Some(1)];
        if by_one && self.only_counted(m, counter) {
            self.by_counter(m, bounds, counter);
        } else {
            self.by_iteration(m, bounds, counter, by_one);
        }
    }

    /// Whether the counter does nothing but say which tile along K is loaded.
    fn only_counted(&self, m: &Module, counter: ValueId) -> bool {
        let numbered = |&o: &OpId| {
            C::of(m.op(o).kind) == Some(C::Iota) && self.cut.dims.contains_key(&m.result(o))
        };
        let counted = |&o: &OpId| {
            let used = m.op(o).operands.contains(&counter);
            !used && self.viewed(m, o).is_none() || self.counts(m, o, counter)
        };
        !self.ops.iter().chain(&self.again).any(numbered) && self.ops.iter().all(counted)
    }

    /// The dimension that is cut of what is loaded, if `op` loads from a view.
    fn viewed(&self, m: &Module, op: OpId) -> Option<usize> {
        let load = S::of(m.op(op).kind) == Some(S::TiledLoad);
        load.then(|| self.cut.dims.get(&m.result(op)).copied())?
    }

    /// Whether a load from a view takes the tile along K that the counter says.
    fn counts(&self, m: &Module, op: OpId, counter: ValueId) -> bool {
        let (Some(dim), Some(access)) = (self.viewed(m, op), Access::of(m.op(op))) else {
            return false;
        };
        let tile = m.types.as_tile(m.ty(m.result(op)));
        let whole = tile.and_then(|t| t.1.get(dim).copied());
        let step = access
            .traversal
            .get(dim)
            .and_then(|&t| u64::try_from(t).ok());
        let uses = m.op(op).operands.iter().filter(|&&v| v == counter);
        step == whole && access.index.get(dim) == Some(&counter) && uses.count() == 1
    }

    /// The counter runs through the parts.
    fn by_counter(&mut self, m: &mut Module, [_, upper, _]: [ValueId; 3], counter: ValueId) {
        let (block, at) = place(m, self.op);
        let count = self.cut.count as i64;
        let longer = times(&mut m.at(block, at), upper, count);
        self.set_bound(m, 1, longer);
        for op in self.ops.clone() {
            if let Some(dim) = self.viewed(m, op)
                && let Some(Attr::I32s(steps)) = m.attr_mut(op, "traversal")
                && let Some(step) = steps.get_mut(dim)
            {
                *step /= self.cut.count as i32;
            }
        }
        m.block_mut(self.block).ops.clear();
        self.make_again(m, counter, Map::default());
        // No number of an element depends on the part.
        self.cut.tiles(m, &self.ops, counter);
    }

    /// Iterations and their parts are counted from zero, `by_one`: as iterations are already.
    fn by_iteration(
        &mut self,
        m: &mut Module,
        [lower, upper, step]: [ValueId; 3],
        counter: ValueId,
        by_one: bool,
    ) {
        let (block, at) = place(m, self.op);
        let ty = m.ty(counter);
        let mut b = m.at(block, at);
        let iterations = match by_one {
            true => upper,
            false => {
                let distance = build::difference(&mut b, upper, lower);
                build::ceil_div(&mut b, distance, step)
            }
        };
        let last = times(&mut b, iterations, self.cut.count as i64);
        let [zero, one] = [0, 1].map(|n| build::constant(&mut b, n, ty));
        for (place, bound) in [zero, last, one].into_iter().enumerate() {
            self.set_bound(m, place, bound);
        }

        m.block_mut(self.block).ops.clear();
        let (iteration, part) = self.parted(m, counter);
        let mut map = Map::default();
        let now = match by_one {
            true => iteration,
            false => {
                let mut b = m.at_end(self.block);
                let attrs = || [cased(Overflow::None)];
                let far = b.value(C::MulI, &[iteration, step], attrs(), ty);
                b.value(C::AddI, &[lower, far], attrs(), ty)
            }
        };
        map.insert(counter, now);
        self.make_again(m, part, map);
        self.cut.rewrite(m, &self.ops, part);
    }

    /// Appends to the loop's block what is made again for part number `part`, and the loop's operations, which use that and
    /// what `map` says.
    fn make_again(&mut self, m: &mut Module, part: ValueId, mut map: Map) {
        self.cut
            .make_again(m, &self.again, self.block, part, &mut map);
        for &op in &self.ops {
            let at = m.block(self.block).ops.len();
            m.place(op, self.block, at);
            m.replace_operands(op, &map);
        }
    }

    /// The iteration that the counter is in, and the number of its part (i32).
    fn parted(&self, m: &mut Module, counter: ValueId) -> (ValueId, ValueId) {
        let ty = m.ty(counter);
        let i32_ty = m.types.int(32);
        let number = m.types.tile(i32_ty, &[]);
        let mut b = m.at_end(self.block);
        let count = build::constant(&mut b, self.cut.count as i64, ty);
        let attrs = [cased(Signedness::Unsigned), cased(Rounding::Zero)];
        let iteration = b.value(C::DivI, &[counter, count], attrs, ty);
        let attrs = [cased(Signedness::Unsigned)];
        let part = b.value(C::RemI, &[counter, count], attrs, ty);
        (iteration, int_cast(&mut b, part, number))
    }

    fn set_bound(&self, m: &mut Module, place: usize, bound: ValueId) {
        if let Some(slot) = m.op_mut(self.op).operands.get_mut(place) {
            *slot = bound;
        }
    }
}
