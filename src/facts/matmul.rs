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
}

impl Matmul {
    /// Reads a matrix multiplication of `cuda_tile` or `nv_tileas`; `None` of other operations.
    pub fn of(op: &Op) -> Option<Self> {
        let tile = matches!(C::of(op.kind), Some(C::MmaF | C::MmaI | C::MmaFScaled));
        let chosen = matches!(S::of(op.kind), Some(S::Dot | S::AsyncDot | S::TensorDot));
        if !tile && !chosen {
            return None;
        }
        Some(Self {
            lhs: operand(op, "lhs")?,
            rhs: operand(op, "rhs")?,
            acc: operand(op, "acc")?,
        })
    }

    /// Reads an operation that is known to be one; any other is an error in the pass that asks.
    pub fn known(op: &Op) -> Self {
        match Self::of(op) {
            Some(parts) => parts,
            None => panic!("internal error: '{}' is no matrix multiplication", op.kind),
        }
    }
}
