//! Structured control flow: the same shape, with register arrays carried and tokens dropped.

use super::Lower;
use crate::dialect::cuda_tile::Op as C;
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
        let region = self.m.new_region();
        let old = body
            .map(|b| self.m.block(b).args.to_vec())
            .unwrap_or_default();
        let (old, types) = self.kept(&old);
        let block = self.m.new_block(region, &types);
        for (from, to) in old.into_iter().zip(self.m.block(block).args.to_vec()) {
            self.set(from, to);
        }
        if let Some(body) = body {
            let outer = std::mem::replace(&mut self.block, block);
            let lowered = self.block(body);
            self.block = outer;
            lowered?;
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
        let mut b = self.m.at_end(self.block);
        b.loc = self.loc;
        let new = b.op(kind, groups, attrs, &types, regions);
        for (from, to) in old.into_iter().zip(self.m.op(new).results.to_vec()) {
            self.set(from, to);
        }
    }

    pub(super) fn for_loop(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let bounds = self.carried(op, &data.operands[..3])?;
        let inits = self.carried(op, data.group(3))?;
        self.memory.enter_loop();
        let region = self.region_of(self.m.body_of(op, 0))?;
        let unsigned = data.has_unit("unsignedCmp").then_some(Attr::Unit);
        let [lower, upper, step] = bounds[..] else {
            return Err(unsupported(self.m, op, "bounds that are not scalars"));
        };
        self.structured(
            N::For,
            &[&[lower], &[upper], &[step], &inits],
            vec![unsigned],
            data,
            &[region],
        );
        Ok(())
    }

    pub(super) fn endless_loop(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let inits = self.carried(op, data.group(0))?;
        self.memory.enter_loop();
        let region = self.region_of(self.m.body_of(op, 0))?;
        self.structured(N::Loop, &[&inits], vec![], data, &[region]);
        Ok(())
    }

    pub(super) fn if_else(&mut self, op: OpId, data: &Op) -> Result<(), Diagnostic> {
        let condition = self.get(op, data.operands[0])?;
        let then = self.region_of(self.m.body_of(op, 0))?;
        let other = match self.m.body_of(op, 1) {
            Some(body) => self.region_of(Some(body))?,
            None => self.m.new_region(),
        };
        let regions = [then, other];
        // Scalars of a tile program are the same in all threads of the block.
        self.structured(
            N::If,
            &[&[condition]],
            vec![Some(Attr::Unit)],
            data,
            &regions,
        );
        Ok(())
    }

    pub(super) fn jump(&mut self, op: OpId, data: &Op, kind: C) -> Result<(), Diagnostic> {
        let kind = match kind {
            C::Continue => N::Continue,
            C::Break => N::Break,
            _ => N::Yield,
        };
        let operands = self.carried(op, &data.operands)?;
        self.emit().op(kind, &[&operands], [], &[]);
        Ok(())
    }

    /// `if (condition) { then }` without results.
    pub fn when(
        &mut self,
        condition: ValueId,
        uniform: bool,
        then: impl FnOnce(&mut Self) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let body = self.filled(|l| then(l).map(|()| vec![]))?.0;
        let nothing = self.m.new_region();
        let mut b = self.m.at_end(self.block);
        b.loc = self.loc;
        b.op(
            N::If,
            &[&[condition]],
            [uniform.then_some(Attr::Unit)],
            &[],
            &[body, nothing],
        );
        Ok(())
    }

    /// `if (condition) { then } else { other }`, both yielding values of the same types.
    pub fn either(
        &mut self,
        condition: ValueId,
        then: impl FnOnce(&mut Self) -> Result<Vec<ValueId>, Diagnostic>,
        other: impl FnOnce(&mut Self) -> Result<Vec<ValueId>, Diagnostic>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let (first, types) = self.filled(then)?;
        let (second, _) = self.filled(other)?;
        let mut b = self.m.at_end(self.block);
        b.loc = self.loc;
        let op = b.op(
            N::If,
            &[&[condition]],
            [Some(Attr::Unit)],
            &types,
            &[first, second],
        );
        Ok(self.m.op(op).results.to_vec())
    }

    /// A region filled by `fill` and ended by a yield of what it returns.
    fn filled(
        &mut self,
        fill: impl FnOnce(&mut Self) -> Result<Vec<ValueId>, Diagnostic>,
    ) -> Result<(RegionId, Vec<TypeId>), Diagnostic> {
        let region = self.m.new_region();
        let block = self.m.new_block(region, &[]);
        let outer = std::mem::replace(&mut self.block, block);
        let values = fill(self);
        if let Ok(values) = &values {
            self.emit().op(N::Yield, &[values], [], &[]);
        }
        self.block = outer;
        let types = values?.iter().map(|&v| self.m.ty(v)).collect();
        Ok((region, types))
    }
}
