//! The lowerings: `cuda_tile` → `nv_tileaa` → `nv_tileas` → `nvvm`.
//!
//! | stage | module | what it does |
//! |---|---|---|
//! | `nv_tileaa` | [`tileaa`] | views become address algebra |
//! | `nv_tileas` | [`tileas`] | layouts, atoms, pipelines, warp roles |
//! | `nvvm` | [`nvvm`] | one thread's share of every tile, addresses, intrinsics |
//!
//! Elementwise arithmetic keeps its `cuda_tile` operations until rules turn it into `nvvm`
//! (`rules/tileas_to_nvvm`); what is here is structural.

pub mod advance;
mod build;
mod carried;
pub mod counted;
pub mod counting;
mod hints;
mod invariant;
pub mod masked;
pub mod nvvm;
pub mod padded;
pub mod run;
mod selections;
pub mod straighten;
pub mod tileaa;
pub mod tileas;
mod tokens;
pub mod unrolled;

use crate::ir::{BlockId, Diagnostic, Module, OpId};
use crate::layout::swizzle::Capabilities;
use crate::target::{Feature, Target};

/// What a target moves between registers and shared memory, besides loads and stores.
fn capabilities(target: &Target) -> Capabilities {
    Capabilities {
        ldmatrix: true,
        stmatrix: target.has(Feature::StMatrix),
        bytes: target.has(Feature::ByteMatrices),
    }
}

/// "`op`: `why`" with the operation's name and location.
pub fn unsupported(m: &Module, op: OpId, why: impl Into<String>) -> Diagnostic {
    let data = m.op(op);
    Diagnostic::error(why)
        .on(data.kind.to_string())
        .at(m.source_of(data.loc))
}

/// Visits every operation under `block` with the block emptied and refilled: `visit` either
/// pushes the operation back or leaves it out and builds others at the end of its block.
/// Regions are visited before the operation that holds them.
fn rebuild(
    m: &mut Module,
    block: BlockId,
    visit: &mut impl FnMut(&mut Module, BlockId, OpId) -> Result<(), Diagnostic>,
) -> Result<(), Diagnostic> {
    for op in std::mem::take(&mut m.block_mut(block).ops) {
        for region in m.op(op).regions.clone() {
            for inner in m.region(region).blocks.clone() {
                rebuild(m, inner, visit)?;
            }
        }
        visit(m, block, op)?;
    }
    Ok(())
}
