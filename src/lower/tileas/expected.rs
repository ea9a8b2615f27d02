//! How tiles will lie in registers, as far as warps' matmuls say it before layouts are assigned.
//!
//! What elementwise operations make of a matmul's result lies as the result does. Where a warp has whole rows of two matmuls,
//! the registers of the first one's accumulator are the fragments of the second one's left operand: attention's probabilities
//! never leave their threads, and take no shared memory.

use super::buffers::tile_bytes;
use super::for_groups::is_for_groups;
use super::fragments::{mma_of, operand_of};
use super::look::{is_matmul, is_view, shows};
use super::made::computes;
use super::relation::Relation;
use crate::facts::matmul::{Matmul, Side};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::layout::Layout;
use crate::layout::convert::needs_no_memory;
use crate::layout::mma::MmaSync;
use crate::layout::swizzle::Capabilities;
use crate::lower::capabilities;
use crate::target::Target;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The layouts of what is computed of the results of warps' matmuls.
#[derive(Debug)]
pub struct Expected {
    layouts: FxHashMap<ValueId, Rc<Layout>>,
    warps: u64,
    capabilities: Capabilities,
}

impl Expected {
    /// Those under `body` in a block of so many `warps`.
    pub fn of(m: &Module, body: BlockId, warps: u64, target: &Target) -> Expected {
        let mut expected = Expected {
            layouts: FxHashMap::default(),
            warps,
            capabilities: capabilities(target),
        };
        // Definitions come before uses.
        for op in m.ops_under(body) {
            if let Some(layout) = expected.made_by(m, op, target) {
                let results = m.op(op).results.iter();
                expected
                    .layouts
                    .extend(results.map(|&v| (v, layout.clone())));
            }
        }
        expected
    }

    fn made_by(&self, m: &Module, op: OpId, target: &Target) -> Option<Rc<Layout>> {
        if is_matmul(m, op) {
            let by_warps = |_: &MmaSync| !is_for_groups(m, op, target);
            let mma = mma_of(m, op, self.warps).filter(by_warps)?;
            return Some(Rc::new(mma.c().ok()?));
        }
        let known = |v: &ValueId| self.layouts.get(v);
        let source = m.op(op).operands.iter().find_map(known)?;
        if computes(m, op) {
            return Some(source.clone());
        }
        let relation = Relation::of(m, op).filter(|_| is_view(m, op))?;
        let layout = relation.result_of(m, m.result(op), source).ok()?;
        Some(Rc::new(layout))
    }

    /// Bytes of the operands of a warps' matmul that go through shared memory on their way to it: but for those that loads
    /// bring there which are `brought`, and those that are computed in the registers that they are read from.
    pub fn through_memory(&self, m: &Module, dot: OpId, brought: impl Fn(OpId) -> bool) -> u64 {
        let Some(matmul) = Matmul::of(m.op(dot)) else {
            return 0;
        };
        let sides = Side::BOTH.map(|side| (matmul.operand(side), Some(side)));
        let scales = matmul.scales.into_iter().flatten().map(|v| (v, None));
        let through = |&(tile, side): &(ValueId, Option<Side>)| {
            !shows(m, tile, &brought) && !side.is_some_and(|s| self.are_fragments(m, dot, s))
        };
        let through = sides.into_iter().chain(scales).filter(through);
        through.map(|(tile, _)| tile_bytes(m, tile)).sum()
    }

    /// Whether a matmul of warps finds the fragments of its operand on a side where that is computed: in the same threads, or
    /// in others of their warp.
    fn are_fragments(&self, m: &Module, dot: OpId, side: Side) -> bool {
        let Some(matmul) = Matmul::of(m.op(dot)) else {
            return false;
        };
        let tile = matmul.operand(side);
        let read = mma_of(m, dot, self.warps).and_then(|mma| operand_of(&mma, side).ok());
        let bits = m.types.width(m.ty(tile));
        let both = self.layouts.get(&tile).zip(read);
        both.is_some_and(|(made, read)| {
            needs_no_memory(made, &read, bits, self.capabilities).unwrap_or(false)
        })
    }
}
