//! Regions: their one block, how it ends, what may stand in it.

use super::Ctx;
use crate::dialect::cuda_tile::Op;
use crate::dialect::{Control, Traits};
use crate::ir::{BlockId, OpId};
use crate::verify::{Check, ensure, fail};

/// The only block of region `i`.
pub fn single_block(c: &Ctx, i: usize) -> Result<BlockId, String> {
    let blocks = &c.module.region(c.op.regions[i]).blocks;
    match blocks.as_slice() {
        [block] => Ok(*block),
        _ => fail(format!("expects region #{i} to have 0 or 1 blocks")),
    }
}

/// The terminator is one of these.
pub fn ends_with(c: &Ctx, last: OpId, allowed: &[Op]) -> Check {
    let kind = c.module.op(last).kind;
    // Below `cuda_tile`, kernels return by an operation of their own dialect.
    let lowered = (Control::of(kind) == Some(Control::Return)).then_some(Op::Return);
    let standing = Op::of(kind).or(lowered);
    ensure(standing.is_some_and(|k| allowed.contains(&k)), || {
        let names: Vec<_> = allowed.iter().map(|&op| full_name(op)).collect();
        format!(
            "expects regions to end with '{}', found '{kind}'",
            names.join("' or '")
        )
    })
}

/// Whether an operation may stand in the body of a reduction or scan: an `if` may when what it
/// holds may, other regions may not. (Packages before 13.5 ask for pure operations, of which there
/// are fewer: these may not divide, say.)
pub fn has_no_effects(c: &Ctx, id: OpId) -> bool {
    let op = c.module.op(id);
    let traits = op.def().traits;
    match Op::of(op.kind) {
        Some(Op::Assume) => false,
        Some(Op::If) => op
            .regions
            .iter()
            .flat_map(|&r| &c.module.region(r).blocks)
            .flat_map(|&b| &c.module.block(b).ops)
            .all(|&inner| has_no_effects(c, inner)),
        _ => traits.has(Traits::PURE) || traits.has(Traits::TERMINATOR),
    }
}

pub fn full_name(op: Op) -> String {
    crate::dialect::OpKind::from(op).to_string()
}
