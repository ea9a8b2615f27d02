//! A tile block that a cluster of blocks executes together (hint `num_cta_in_cga`).
//!
//! ```text
//! block 0: rows 0–127 of acc    a : its own rows       b : half of it from each block,
//! block 1: rows 128–255         a : its own rows           multicast to both
//! ```
//! A dimension that nothing needs whole ([`super::strips::dims`]) is cut everywhere it occurs, each block of the
//! cluster works on its part ([`split`]). What does not depend on the part, all blocks do alike; tiles that all of
//! them load, each brings in part, for all ([`super::pipeline::roles`]). Which dimension is cut is one of
//! [`alternatives`], by guards and a cost; where none is left, one block executes the tile block.

pub mod alternatives;
mod legal;

use super::look::is_matmul;
use super::missed::{Log, Refusal};
use super::options::Options;
use super::strips::apart;
use super::strips::dims::Dims;
use super::strips::parts::Parts;
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{BlockId, Module, OpId};
use crate::lower::hints::Hints;
use crate::target::{Feature, Target};
use rustc_hash::FxHashSet;

/// What is done, in messages.
pub const WHAT: &str = "clusters";
/// Most blocks of a cluster that every device of a target can hold (CUDA C++ Programming Guide, "Thread Block
/// Clusters").
const PORTABLE: i64 = 8;

/// How the blocks of a cluster share a tile block's work.
#[derive(Clone, Debug)]
pub struct Split {
    pub blocks: u64,
    /// Loads of tiles that all blocks load whole.
    pub alike: FxHashSet<OpId>,
}

/// Splits the function with this `body` among the blocks of a cluster where its hints ask for one.
pub fn split(
    m: &mut Module,
    func: OpId,
    body: BlockId,
    target: &Target,
    options: &Options,
    log: &mut Log,
) -> Option<Split> {
    let asked = Hints::of(m, func, target).blocks?;
    let mut found = decide(m, func, body, target, options, asked);
    if found.is_err() && m.ops_under(body).into_iter().any(|o| is_matmul(m, o)) {
        let copies = apart::take(m, body);
        found = match decide(m, func, body, target, options, asked) {
            Ok(other) => Ok(other),
            Err(_) => {
                copies.undo(m);
                found
            }
        };
    }
    match found {
        Ok((mut parts, concerned)) => {
            let alike = m
                .ops_under(body)
                .into_iter()
                .filter(|o| S::of(m.op(*o).kind) == Some(S::TiledLoad) && !concerned.contains(o));
            let alike = alike.collect();
            let blocks = parts.count;
            rewrite(m, body, &mut parts);
            m.set_i32(func, "cluster", blocks as i64);
            Some(Split { blocks, alike })
        }
        Err((op, why)) => {
            log.note(m, op, WHAT, why);
            None
        }
    }
}

/// The best way to split the work among `asked` blocks or fewer, and the operations that it concerns.
fn decide(
    m: &Module,
    func: OpId,
    body: BlockId,
    target: &Target,
    options: &Options,
    asked: i64,
) -> Result<(Parts, FxHashSet<OpId>), Refusal> {
    let no = |why: &str| Err((func, why.to_owned()));
    if !(options.clusters && options.tma && options.roles) {
        return no("clusters need optimisation level 3, TMA, and PTX as output");
    }
    let unit = [Feature::Wgmma, Feature::Tcgen05]
        .into_iter()
        .any(|f| target.has(f));
    if !unit || !target.has(Feature::Clusters) || !target.has(Feature::Tma) {
        return no("only targets with wgmma or tcgen05 read operands that a cluster shares");
    }
    let ops = m.ops_under(body);
    let mut dims = Dims::with_reshapes(m, &ops);
    let mut refused = None;
    let mut blocks = asked.min(PORTABLE) as u64;
    while blocks > 1 {
        for found in alternatives::of(m, &ops, &mut dims, blocks, target) {
            let found = found.and_then(|set| {
                let (parts, concerned) = Parts::of(m, &ops, &mut dims, set, blocks)?;
                let concerned = concerned.into_iter().collect();
                legal::check(m, body, &ops, &parts, &concerned)?;
                Ok((parts, concerned))
            });
            match found {
                Ok(found) => return Ok(found),
                Err(why) => refused = refused.or(Some(why)),
            }
        }
        blocks /= 2;
    }
    Err(refused.unwrap_or((func, "the kernel has no matmul".to_owned())))
}

/// Lets each block work on the part that has its number.
fn rewrite(m: &mut Module, body: BlockId, parts: &mut Parts) {
    let i32_ty = m.types.int(32);
    let ty = m.types.tile(i32_ty, &[]);
    let ops = m.ops_under(body);
    let rank = m.at(body, 0).value(S::ClusterRank, &[], [], ty);
    parts.rewrite(m, &ops, rank);
}
