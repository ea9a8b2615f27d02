//! Loops whose operands are converted on the way to their matmul take shorter steps along K.
//!
//! ```text
//! for k in 0..n {                               for k in 0..2n {
//!   a = convert load[256, 64 from 64·k]           a = convert load[256, 32 from 32·k]
//!   b = convert load[64, 256 from 64·k]     →     b = convert load[32, 256 from 32·k]
//!   acc += a · b                                  acc += a · b
//! }                                             }
//! ```
//! Such operands are in shared memory twice: as they are loaded, in a ring, and as the matrix unit reads them. Where two
//! stages of a ring have no room beside what is read, a part of K has.

use super::along_k::{loaded, set_length};
use super::atoms;
use super::buffers::{RESERVE, tile_bytes};
use super::look::place;
use super::tcgen05::fits;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::{Op as C, view as tile};
use crate::dialect::enums::Overflow;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{self, Access};
use crate::facts::matmul::Matmul;
use crate::ir::{Attr, BlockId, Module, OpId, ValueId};
use crate::lower::build::{cased, constant};
use crate::target::{Feature, Target};

/// Stages of the ring.
const STAGES: u64 = 2;
/// Fewest bits of K that an instruction multiplies, of one row.
const LEAST_BITS: u64 = 256;

/// Shortens the steps of every such loop under `body`. Whether there was one.
pub fn steps(m: &mut Module, body: BlockId, target: &Target, facts: &FactMap) -> bool {
    let mut found = false;
    for op in m.ops_under(body) {
        if let Some(looping) = Loop::of(m, op, target, facts)
            && let Some(parts) = looping.parts(m, target)
        {
            looping.apply(m, parts);
            found = true;
        }
    }
    found
}

/// An operand: the load, which of its dimensions is K, and the conversions behind it.
struct Operand {
    load: OpId,
    k: usize,
    converted: Vec<OpId>,
}

/// A loop that does nothing but multiply tiles of two views, whose places along K count its iterations.
struct Loop {
    op: OpId,
    operands: [Operand; 2],
}

impl Loop {
    /// The loop around the matmul `dot`.
    fn of(m: &Module, dot: OpId, target: &Target, facts: &FactMap) -> Option<Loop> {
        let matmul = Matmul::of(m.op(dot)).filter(|v| v.scales.is_none())?;
        let by_groups = fits::takes(m, dot, target).is_some()
            || target.has(Feature::Wgmma)
                && S::of(m.op(dot).kind) == Some(S::Dot)
                && atoms::Extents::of(m, dot).is_ok();
        let block = m.op(dot).block;
        let op = m.parent_op(dot)?;
        let v = tile::For::of(m.op(op)).filter(|_| by_groups)?;
        let counts = [v.lowerBound(), v.step()].map(|v| access::constant(facts, v));
        if counts != [Some(0), Some(1)] || m.body_of(op, 0) != Some(block) {
            return None;
        }
        let counter = *m.block(block).args.first()?;
        let operands = [
            Operand::of(m, matmul.lhs, dot, 1, counter)?,
            Operand::of(m, matmul.rhs, dot, 0, counter)?,
        ];
        let known = |o: &OpId| {
            let data = m.op(*o);
            let scalar = |v: &ValueId| m.types.as_tile(m.ty(*v)).is_none_or(|t| t.1.is_empty());
            let ours = |x: &Operand| x.load == *o || x.converted.contains(o);
            *o == dot
                || operands.iter().any(ours)
                || data.def().traits.has(Traits::TERMINATOR)
                || C::of(data.kind) == Some(C::Constant)
                || data.def().traits.has(Traits::PURE) && data.results.iter().all(scalar)
        };
        let users = m.users(counter);
        let loads = users.iter().all(|u| operands.iter().any(|x| x.load == *u));
        (loads && m.block(block).ops.iter().all(known)).then_some(Loop { op, operands })
    }

    /// In how many parts a step is taken so that there is room; `None`: it is as it is, or there is no room for any.
    fn parts(&self, m: &Module, target: &Target) -> Option<u64> {
        let room = u64::from(target.shared_per_block()).saturating_sub(RESERVE);
        let bytes = |op: OpId| tile_bytes(m, m.result(op));
        let read = self.operands.iter().filter_map(|x| x.converted.last());
        let read: u64 = read.map(|&o| bytes(o)).sum();
        let brought: u64 = self.operands.iter().map(|x| bytes(x.load)).sum();
        let mut parts = 1;
        while read > 0 && (read + STAGES * brought) / parts > room {
            parts *= 2;
        }
        let shortest = |x: &Operand| {
            let last = m.result(x.converted.last().copied().unwrap_or(x.load));
            let (elem, shape) = m.types.as_tile(m.ty(last))?;
            let k = *shape.get(x.k)?;
            let bits = k / parts * u64::from(m.types.width(elem));
            Some(k % parts == 0 && bits >= LEAST_BITS)
        };
        let fits = self.operands.iter().all(|x| shortest(x) == Some(true));
        (parts > 1 && fits).then_some(parts)
    }

    fn apply(&self, m: &mut Module, parts: u64) {
        let Some(upper) = tile::For::of(m.op(self.op)).map(|v| v.upperBound()) else {
            return;
        };
        let (block, at) = place(m, self.op);
        let ty = m.ty(upper);
        let mut b = m.at(block, at);
        let n = constant(&mut b, parts as i64, ty);
        let longer = b.value(C::MulI, &[upper, n], [cased(Overflow::None)], ty);
        if let Some(slot) = m.op_mut(self.op).operands.get_mut(1) {
            *slot = longer;
        }
        for operand in &self.operands {
            for &op in [operand.load].iter().chain(&operand.converted) {
                if let Some(length) = extent(m, op, operand.k) {
                    set_length(m, op, operand.k, length / parts);
                }
            }
            if let Some(Attr::I32s(steps)) = m.attr_mut(operand.load, "traversal")
                && let Some(step) = steps.get_mut(operand.k)
            {
                *step /= parts as i32;
            }
        }
    }
}

impl Operand {
    /// The operand `tile` of `dot`, whose dimension `k` is K.
    fn of(m: &Module, tile: ValueId, dot: OpId, k: usize, counter: ValueId) -> Option<Operand> {
        let (mut at, mut user) = (tile, dot);
        let mut converted = Vec::new();
        while let Some(op) = m.def_op(at)
            && C::of(m.op(op).kind) == Some(C::FToF)
        {
            if m.op(op).block != m.op(dot).block || m.users(at) != [user] {
                return None;
            }
            converted.insert(0, op);
            (at, user) = (m.source(op), op);
        }
        let load = loaded(m, user, at).filter(|&o| m.op(o).block == m.op(dot).block)?;
        let access = Access::of(m.op(load))?;
        let extent = extent(m, load, k)?;
        let step = access.traversal.get(k).copied();
        let counted = access.index.iter().filter(|&&i| i == counter).count() == 1
            && access.index.get(k) == Some(&counter)
            && step.and_then(|t| u64::try_from(t).ok()) == Some(extent);
        counted.then_some(Operand { load, k, converted })
    }
}

/// How long the tile is that `op` makes in dimension `dim`.
fn extent(m: &Module, op: OpId, dim: usize) -> Option<u64> {
    m.types.as_tile(m.ty(m.result(op)))?.1.get(dim).copied()
}
