//! Structured control flow: the same shape, with register arrays carried and tokens dropped.

use super::Lower;
use crate::dialect::cuda_tile::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, BlockId, Diagnostic, Op, OpId, RegionId, TypeId, ValueId};
use crate::lower::unsupported;

impl Lower<'_> {
    /// The values among `old` that have registers, as they are now.
    fn carried(&mut self, op: OpId, old: &[ValueId]) -> Result<Vec<ValueId>, Diagnostic> {
        let mut new = Vec::new();
        for &value in old {
            let ty = self.m.ty(value);
            if self.ty(ty).is_some() {
                new.push(self.get(op, value)?);
            }
        }
        Ok(new)
    }

    /// The values among `old` that have registers, with their types.
    fn kept(&mut self, old: &[ValueId]) -> (Vec<ValueId>, Vec<TypeId>) {
        let typed = old.iter().map(|&v| (v, self.m.ty(v))).collect::<Vec<_>>();
        typed
            .into_iter()
            .filter_map(|(v, ty)| Some((v, self.ty(ty)?)))
            .unzip()
    }

    /// A region with one block that holds what `body` becomes; its arguments that have registers
    /// become arguments.
    pub fn region_of(&mut self, body: Option<BlockId>) -> Result<RegionId, Diagnostic> {
        self.region_counting(body, None)
    }

    /// The same; with `counter`, the first argument has that type and the body sees its low bits.
    fn region_counting(
        &mut self,
        body: Option<BlockId>,
        counter: Option<TypeId>,
    ) -> Result<RegionId, Diagnostic> {
        let region = self.m.new_region();
        let old = body
            .map(|b| self.m.block(b).args.to_vec())
            .unwrap_or_default();
        let (old, mut types) = self.kept(&old);
        let narrow = types.first().copied();
        if let (Some(wide), Some(first)) = (counter, types.first_mut()) {
            *first = wide;
        }
        let block = self.m.new_block(region, &types);
        for (from, to) in old.into_iter().zip(self.m.block(block).args.to_vec()) {
            self.set(from, to);
        }
        if let Some(body) = body {
            self.within(block, |l| {
                if let (Some(_), Some(narrow)) = (counter, narrow) {
                    let (old, wide) = (l.m.block(body).args[0], l.m.block(block).args[0]);
                    let low = l.emit().get(N::Trunc, &[&[wide]], [], narrow);
                    l.set(old, low);
                }
                l.block(body)
            })?;
        }
        Ok(region)
    }

    /// Builds an operation with regions whose results stand for those of `data` that have registers.
    fn structured(
        &mut self,
        kind: N,
        groups: &[&[ValueId]],
        attrs: Vec<Option<Attr>>,
        data: &Op,
        regions: &[RegionId],
    ) {
        let (old, types) = self.kept(&data.results);
        let mut b = self.build();
        let new = b.op(kind, groups, attrs, &types, regions);
        for (from, to) in old.into_iter().zip(self.m.op(new).results.to_vec()) {
            self.set(from, to);
        }
    }

    pub(super) fn for_loop(&mut self, op: OpId, v: &view::For<Op>) -> Result<(), Diagnostic> {
        let mut bounds = self.carried(op, &[v.lowerBound(), v.upperBound(), v.step()])?;
        let unsigned = v.unsignedCmp();
        let counter = self.widened(&mut bounds, unsigned);
        let inits = self.carried(op, v.initValues())?;
        self.memory.enter_loop();
        let region = self.region_counting(self.m.body_of(op, 0), counter)?;
        let [lower, upper, step] = bounds[..] else {
            return Err(unsupported(self.m, op, "bounds that are not scalars"));
        };
        self.structured(
            N::For,
            &[&[lower], &[upper], &[step], &inits],
            vec![unsigned.then_some(Attr::Unit)],
            v.op(),
            &[region],
        );
        Ok(())
    }

    /// Bounds narrower than what machines count in, as i32; that type.
    fn widened(&mut self, bounds: &mut [ValueId], unsigned: bool) -> Option<TypeId> {
        let &first = bounds.first()?;
        let mut e = self.emit();
        if e.m.types.bits(e.elem(first)).is_none_or(|b| b >= 16) {
            return None;
        }
        let wide = e.int(32);
        let kind = if unsigned { N::ZExt } else { N::SExt };
        for bound in bounds {
            *bound = e.get(kind, &[&[*bound]], [], wide);
        }
        Some(wide)
    }

    pub(super) fn endless_loop(&mut self, op: OpId, v: &view::Loop<Op>) -> Result<(), Diagnostic> {
        let inits = self.carried(op, v.initValues())?;
        self.memory.enter_loop();
        let region = self.region_of(self.m.body_of(op, 0))?;
        self.structured(N::Loop, &[&inits], vec![], v.op(), &[region]);
        Ok(())
    }

    pub(super) fn if_else(&mut self, op: OpId, v: &view::If<Op>) -> Result<(), Diagnostic> {
        let condition = self.get(op, v.condition())?;
        let then = self.region_of(self.m.body_of(op, 0))?;
        let other = match self.m.body_of(op, 1) {
            Some(body) => self.region_of(Some(body))?,
            None => self.m.new_region(),
        };
        let regions = [then, other];
        // Scalars of a tile program are the same in all threads of the block.
        let uniform = (!self.is_divergent(op)).then_some(Attr::Unit);
        self.structured(N::If, &[&[condition]], vec![uniform], v.op(), &regions);
        Ok(())
    }

    pub(super) fn jump(&mut self, op: OpId, data: &Op, kind: N) -> Result<(), Diagnostic> {
        let operands = self.carried(op, &data.operands)?;
        self.emit().op(kind, &[&operands], [], &[]);
        Ok(())
    }

    /// `if (condition) { then }` without results. Where the last effect is one of the same condition, it goes on there: the
    /// copies of a pipeline's stage are under one branch.
    pub fn when(
        &mut self,
        condition: ValueId,
        uniform: bool,
        then: impl FnOnce(&mut Self) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        if let Some(branch) = self.last_branch(condition, uniform) {
            let end = self.m.block_mut(branch).ops.pop();
            self.within(branch, then)?;
            self.m.block_mut(branch).ops.extend(end);
            return Ok(());
        }
        let body = self.filled(|l| then(l).map(|()| vec![]))?.0;
        let nothing = self.m.new_region();
        let mut b = self.build();
        b.op(
            N::If,
            &[&[condition]],
            [uniform.then_some(Attr::Unit)],
            &[],
            &[body, nothing],
        );
        Ok(())
    }

    /// The block of the `if` that is the last effect so far, if it is one by [`Self::when`] with that condition. What was
    /// computed since then stands before it afterwards.
    fn last_branch(&mut self, condition: ValueId, uniform: bool) -> Option<BlockId> {
        let here = self.block_at_hand();
        let is_pure = |&o: &OpId| self.m.op(o).regions.is_empty() && self.m.op(o).def().is_pure();
        let ops = &self.m.block(here).ops;
        let at = ops.iter().rposition(|o| !is_pure(o))?;
        let last = self.m.op(*ops.get(at)?);
        let same = last.kind == N::If.into()
            && last.results.is_empty()
            && last.operands.as_slice() == [condition]
            && last.attr(0).is_some() == uniform;
        let &[then, other] = last.regions.as_slice() else {
            return None;
        };
        let &[branch] = self.m.region(then).blocks.as_slice() else {
            return None;
        };
        let end = *self.m.block(branch).ops.last()?;
        if !same
            || !self.m.region(other).blocks.is_empty()
            || self.m.op(end).kind != N::Yield.into()
        {
            return None;
        }
        if let Some(tail) = self.m.block_mut(here).ops.get_mut(at..) {
            tail.rotate_left(1);
        }
        Some(branch)
    }

    /// `if (condition) { then } else { other }`, both yielding values of the same types; all threads of
    /// the block go the same way.
    pub fn either(
        &mut self,
        condition: ValueId,
        then: impl FnOnce(&mut Self) -> Result<Vec<ValueId>, Diagnostic>,
        other: impl FnOnce(&mut Self) -> Result<Vec<ValueId>, Diagnostic>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        self.ways(condition, Some(Attr::Unit), then, other)
    }

    /// The same, where each thread goes its own way.
    pub fn fork(
        &mut self,
        condition: ValueId,
        then: impl FnOnce(&mut Self) -> Result<Vec<ValueId>, Diagnostic>,
        other: impl FnOnce(&mut Self) -> Result<Vec<ValueId>, Diagnostic>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        self.ways(condition, None, then, other)
    }

    fn ways(
        &mut self,
        condition: ValueId,
        uniform: Option<Attr>,
        then: impl FnOnce(&mut Self) -> Result<Vec<ValueId>, Diagnostic>,
        other: impl FnOnce(&mut Self) -> Result<Vec<ValueId>, Diagnostic>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let (first, types) = self.filled(then)?;
        let (second, _) = self.filled(other)?;
        let mut b = self.build();
        let op = b.op(N::If, &[&[condition]], [uniform], &types, &[first, second]);
        Ok(self.m.op(op).results.to_vec())
    }

    /// `if (condition) { then } else { other }` of one value, where threads may differ.
    pub fn choose(
        &mut self,
        condition: ValueId,
        then: impl FnOnce(&mut Self) -> ValueId,
        other: impl FnOnce(&mut Self) -> ValueId,
    ) -> ValueId {
        let (first, ty) = self.filled_with(then);
        let (second, _) = self.filled_with(other);
        let mut b = self.build();
        let op = b.op(N::If, &[&[condition]], [None], &[ty], &[first, second]);
        self.m.result(op)
    }

    /// A region that yields what `fill` makes.
    fn filled_with(&mut self, fill: impl FnOnce(&mut Self) -> ValueId) -> (RegionId, TypeId) {
        let region = self.m.new_region();
        let block = self.m.new_block(region, &[]);
        let value = self.within(block, |l| {
            let value = fill(l);
            l.emit().op(N::Yield, &[&[value]], [], &[]);
            value
        });
        (region, self.m.ty(value))
    }

    /// Leaves the loop around with `value` in the threads where `condition` holds.
    pub fn leave_when(&mut self, condition: ValueId, value: ValueId) {
        let region = self.m.new_region();
        let block = self.m.new_block(region, &[]);
        self.within(block, |l| {
            l.emit().op(N::Break, &[&[value]], [], &[]);
        });
        let nothing = self.m.new_region();
        let mut b = self.build();
        b.op(N::If, &[&[condition]], [None], &[], &[region, nothing]);
    }

    /// A region filled by `fill` and ended by a yield of what it returns.
    fn filled(
        &mut self,
        fill: impl FnOnce(&mut Self) -> Result<Vec<ValueId>, Diagnostic>,
    ) -> Result<(RegionId, Vec<TypeId>), Diagnostic> {
        let region = self.m.new_region();
        let block = self.m.new_block(region, &[]);
        let values = self.within(block, |l| {
            let values = fill(l)?;
            l.emit().op(N::Yield, &[&values], [], &[]);
            Ok::<_, Diagnostic>(values)
        })?;
        let types = values.iter().map(|&v| self.m.ty(v)).collect();
        Ok((region, types))
    }
}
