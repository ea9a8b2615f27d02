//! Reductions of all lanes of a warp by one instruction: `redux.sync`.

use super::Lower;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::WarpReduction as Redux;
use crate::dialect::nvvm::Op as N;
use crate::ir::{BlockId, Float, Type, ValueId};
use crate::layout::reduce::Butterfly;
use crate::lower::build::cased;
use crate::scalar::Signedness;
use crate::target::Feature;

/// The bits of a lane's number.
const LANES: u32 = 31;

impl Lower<'_> {
    /// How one instruction reduces `values` along `steps` by what `body` does with two of them, if it does.
    pub(super) fn reduced_by_warp(
        &mut self,
        steps: &[Butterfly],
        body: BlockId,
        values: &[ValueId],
    ) -> Option<Redux> {
        let &[value] = values else { return None };
        // Steps along sums of these bits may reach fewer lanes.
        let lanes = steps.iter().fold(0, |all, s| all | s.lane_mask);
        if lanes != LANES || !steps.iter().all(|s| s.is_simple()) {
            return None;
        }
        let elem = self.emit().elem(value);
        let (kind, feature) = match self.m.types.get(elem) {
            Type::Int(32) => (self.of_integers(body)?, Feature::Redux),
            Type::Float(Float::F32) => (self.of_floats(body)?, Feature::FloatRedux),
            _ => return None,
        };
        self.target.has(feature).then_some(kind)
    }

    /// What a reduction's body of one operation makes of two integers.
    fn of_integers(&self, body: BlockId) -> Option<Redux> {
        let op = self.only_operation(body)?;
        let signed = cased(Signedness::Signed);
        let by_sign = |[signed_kind, unsigned_kind]: [Redux; 2]| match op.attr_named("signedness")
            == signed.as_ref()
        {
            true => signed_kind,
            false => unsigned_kind,
        };
        Some(match C::of(op.kind)? {
            C::AddI => Redux::Add,
            C::AndI => Redux::And,
            C::OrI => Redux::Or,
            C::XOrI => Redux::Xor,
            C::MinI => by_sign([Redux::MinS, Redux::MinU]),
            C::MaxI => by_sign([Redux::MaxS, Redux::MaxU]),
            _ => return None,
        })
    }

    /// The same of two floats. The instruction keeps subnormal numbers.
    fn of_floats(&self, body: BlockId) -> Option<Redux> {
        let op = self.only_operation(body)?;
        let [nan, flushed] = ["propagate_nan", "flush_to_zero"].map(|a| op.attr_named(a).is_some());
        Some(match C::of(op.kind)? {
            _ if flushed => return None,
            C::MinF if nan => Redux::MinFNan,
            C::MinF => Redux::MinF,
            C::MaxF if nan => Redux::MaxFNan,
            C::MaxF => Redux::MaxF,
            _ => return None,
        })
    }

    /// The operation of a body that does one with its two arguments and yields the result.
    fn only_operation(&self, body: BlockId) -> Option<&crate::ir::Op> {
        let block = self.m.block(body);
        let (&[op, end], &[x, y]) = (&block.ops[..], &block.args[..]) else {
            return None;
        };
        let (op, end) = (self.m.op(op), self.m.op(end));
        let both = op.operands[..] == [x, y] || op.operands[..] == [y, x];
        (both && end.operands == op.results).then_some(op)
    }

    /// What all lanes have in each register of a value, reduced.
    pub(super) fn redux(&mut self, kind: Redux, value: ValueId) -> ValueId {
        let mut e = self.emit();
        let ty = e.m.ty(value);
        e.get(N::Redux, &[&[value]], [cased(kind)], ty)
    }
}
