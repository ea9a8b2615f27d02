//! Which matmuls have instructions of warpgroups, or of one thread for them.

use super::atoms::Extents;
use super::tcgen05::fits;
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{Module, OpId};
use crate::target::{Feature, Target};

/// Whether warpgroups can do a matmul, or one thread for them: with operands in shared memory.
pub fn is_for_groups(m: &Module, op: OpId, target: &Target) -> bool {
    let wgmma = target.has(Feature::Wgmma)
        && S::of(m.op(op).kind) == Some(S::Dot)
        && Extents::of(m, op).is_ok();
    wgmma || fits::takes(m, op, target).is_some()
}
