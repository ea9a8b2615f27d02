//! Matmuls whose instruction adds with fewer bits than the accumulator has.
//!
//! On compute capability 9.0, `wgmma` of 8-bit floats keeps 13 bits of the fraction of a sum ([`super::atoms`]): over a
//! loop along K the error grows to percents. Each product of a K tile starts from zero then, and is added to the
//! accumulator by additions in f32, unless the program asks for fast accumulation.
//!
//! `mma.sync` on 8.9 is as rough. There a row of instructions is multiplied from zero and added, then the next.
//!
//! The product needs registers beside the accumulator. Where a thread has them, the addition is an operation behind
//! the wait. Where it does not, columns are multiplied part after part ([`Promotion::Parts`]); `ptxas` adds one while the
//! next is multiplied.

use super::atoms::Atom;
use super::decided::Plan;
use super::limits::REGISTERS_BESIDE_TILES;
use super::pressure;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Rounding;
use crate::dialect::nv_tileas::view;
use crate::facts::matmul::Matmul;
use crate::ir::{Attr, BlockId, Dense, Module, OpBuilder, OpId, TypeId, ValueId};
use crate::layout::mma::Wgmma;
use crate::lower::build::cased;
use crate::lower::tileas::look::{elements, is_zero, loop_around};
use crate::target::Target;

/// How the product of a matmul is added to its accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promotion {
    /// The product has registers of its own.
    Beside,
    /// So many columns of one instruction's rows at a time.
    Parts { columns: u64 },
}

/// Columns of a part at least: with fewer an instruction reads more than it multiplies.
const FEWEST_COLUMNS: u64 = 32;

impl Promotion {
    /// How the product of `dot` is added by `plan`'s warps, of which each warpgroup has `columns` columns; `None` where
    /// the instruction's own sums do.
    pub fn of(
        m: &Module,
        body: BlockId,
        dot: OpId,
        target: &Target,
        plan: &Plan,
        columns: u64,
    ) -> Option<Promotion> {
        let v = view::Dot::of(m.op(dot))?;
        let ty = |v: ValueId| m.types.get(m.types.elem(m.ty(v)));
        let atom = Atom::find(ty(v.lhs()), ty(v.rhs()), ty(v.acc()))?;
        if !atom.sums_are_rough() || v.fast_acc() || starts_from_zero(m, dot) {
            return None;
        }
        let threads = 32 * plan.tile_warps;
        let whole = elements(m, v.acc()) / threads;
        let blocks = plan.occupancy.and_then(|b| u64::try_from(b).ok());
        let has = plan.registers(target, blocks.unwrap_or(1));
        // What lives where the product does: in the loop around the matmul, not behind it.
        let block = m.op(dot).block;
        let around = loop_around(m, body, block).map_or(body, |_| block);
        let taken = pressure::registers(m, around, plan.tile_warps) + REGISTERS_BESIDE_TILES;
        Some(Promotion::that_fits(
            whole,
            columns,
            has.saturating_sub(taken),
        ))
    }

    /// For a product of `whole` registers of a thread where `spare` are left.
    fn that_fits(whole: u64, columns: u64, spare: u64) -> Promotion {
        if whole <= spare {
            return Promotion::Beside;
        }
        let mut columns = columns.min(Wgmma::MAX_N);
        // A thread of a warpgroup has half a register for each column of 64 rows.
        while columns / 2 > spare && columns > FEWEST_COLUMNS {
            columns /= 2;
        }
        Promotion::Parts { columns }
    }

    /// Columns of a part.
    pub fn part(self) -> Option<u64> {
        match self {
            Promotion::Beside => None,
            Promotion::Parts { columns } => Some(columns),
        }
    }
}

/// Marks a `dot` of warps whose product starts from zero and is added in f32.
pub fn mark(m: &mut Module, op: OpId, target: &Target) {
    let Some(v) = view::Dot::of(m.op(op)) else {
        return;
    };
    let ty = |v: ValueId| m.types.get(m.types.elem(m.ty(v)));
    let rough = Atom::rough_for_warps(ty(v.lhs()), ty(v.rhs()), ty(v.acc()), target);
    if rough && !v.fast_acc() && !starts_from_zero(m, op) {
        *m.attr_mut(op, "promoted") = Some(Attr::Unit);
    }
}

/// Whether a matmul adds to zeros.
pub fn starts_from_zero(m: &Module, dot: OpId) -> bool {
    Matmul::of(m.op(dot)).is_some_and(|p| are_zeros(m, p.acc))
}

/// Whether a tile is a constant of zeros.
pub fn are_zeros(m: &Module, tile: ValueId) -> bool {
    let constant = |o: &OpId| C::of(m.op(*o).kind) == Some(C::Constant);
    let def = m.def_op(tile).filter(constant);
    def.is_some_and(|o| is_zero(m, o))
}

/// A tile of zeros, of whole bytes.
pub fn zeros(b: &mut OpBuilder<'_>, ty: TypeId) -> ValueId {
    let types = &b.module.types;
    let bits = types.bits(types.elem(ty)).unwrap_or(32);
    let data = Dense::Bytes(vec![0; bits.div_ceil(8) as usize]);
    b.value(C::Constant, &[], [Some(Attr::Dense { data, ty })], ty)
}

/// The sum of two tiles of f32.
pub fn sum(b: &mut OpBuilder<'_>, acc: ValueId, product: ValueId) -> ValueId {
    let ty = b.module.ty(acc);
    let attrs = [cased(Rounding::NearestEven), None];
    b.value(C::AddF, &[acc, product], attrs, ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_take_the_registers_that_are_left() {
        // 64 rows by 128 columns of a warpgroup are 64 registers of a thread, 256 are 128.
        let parts = |columns| Promotion::Parts { columns };
        let cases = [
            ((64, 128, 100), Promotion::Beside),
            ((128, 256, 127), parts(128)),
            ((128, 256, 64), parts(128)),
            ((128, 256, 40), parts(64)),
            ((128, 256, 0), parts(32)),
            ((128, 128, 64), parts(128)),
        ];
        for ((whole, columns, spare), expected) in cases {
            assert_eq!(Promotion::that_fits(whole, columns, spare), expected);
        }
    }
}
