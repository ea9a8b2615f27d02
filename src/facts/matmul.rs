//! The parts of a matrix multiplication, whichever operation it is.

use super::access::operand;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{Op, ValueId};

/// `acc + lhs · rhs`.
#[derive(Clone, Copy, Debug)]
pub struct Matmul {
    pub lhs: ValueId,
    pub rhs: ValueId,
    pub acc: ValueId,
    /// What blocks of `lhs` and of `rhs` are multiplied by.
    pub scales: Option<[ValueId; 2]>,
}

/// An operand that is multiplied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Left,
    Right,
}

impl Side {
    pub const BOTH: [Side; 2] = [Side::Left, Side::Right];

    /// What operations of matmuls call it.
    pub fn name(self) -> &'static str {
        match self {
            Side::Left => "lhs",
            Side::Right => "rhs",
        }
    }
}

impl Matmul {
    /// The operand on a side.
    pub fn operand(self, side: Side) -> ValueId {
        match side {
            Side::Left => self.lhs,
            Side::Right => self.rhs,
        }
    }

    /// Reads a matrix multiplication of `cuda_tile` or `nv_tileas`; `None` of other operations.
    pub fn of(op: &Op) -> Option<Self> {
        let tile = matches!(C::of(op.kind), Some(C::MmaF | C::MmaI | C::MmaFScaled));
        let chosen = matches!(
            S::of(op.kind),
            Some(S::Dot | S::ScaledDot | S::AsyncDot | S::TensorDot)
        );
        if !tile && !chosen {
            return None;
        }
        Some(Self {
            lhs: operand(op, "lhs")?,
            rhs: operand(op, "rhs")?,
            acc: operand(op, "acc")?,
            scales: operand(op, "lhs_scale")
                .zip(operand(op, "rhs_scale"))
                .map(Into::into),
        })
    }

    /// What is multiplied: all operands but the accumulator.
    pub fn sources(self) -> impl Iterator<Item = ValueId> {
        [self.lhs, self.rhs]
            .into_iter()
            .chain(self.scales.into_iter().flatten())
    }

    /// Reads an operation that is known to be one; any other is an error in the pass that asks.
    pub fn known(op: &Op) -> Self {
        match Self::of(op) {
            Some(parts) => parts,
            None => panic!("internal error: '{}' is no matrix multiplication", op.kind),
        }
    }
}
