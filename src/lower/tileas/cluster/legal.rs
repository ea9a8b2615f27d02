//! Whether the blocks of a cluster may work on their parts without knowing of each other.

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Ordering;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access::{self, Access, tile_of};
use crate::ir::{BlockId, Module, OpId};
use crate::lower::tileas::missed::Refusal;
use crate::lower::tileas::pipeline::tokens::{followers, only_read_but};
use crate::lower::tileas::strips::cut::is_weak_load;
use crate::lower::tileas::strips::parts::Parts;
use rustc_hash::FxHashSet;

/// Whether each operation of the function with this `body` may be done by every block for its part, those that the
/// part does not concern by all blocks alike.
///
/// What a block writes, only it may read or write again: blocks do not wait for each other. So stores are of parts, and what
/// a load or a store follows of writes, and a store of loads, is an access of the same block's part of the same view.
///
/// # Errors
/// The first operation that stands against it, and why.
pub fn check(
    m: &Module,
    body: BlockId,
    ops: &[OpId],
    parts: &Parts,
    concerned: &FxHashSet<OpId>,
) -> Result<(), Refusal> {
    for &op in ops {
        let no = |why: &str| Err((op, why.to_owned()));
        let data = m.op(op);
        let traits = data.def().traits;
        if S::of(data.kind) == Some(S::Return) {
            if data.block != body {
                return no("the kernel may return early here");
            }
            continue;
        }
        let flow = traits.has(Traits::TERMINATOR)
            || matches!(
                C::of(data.kind),
                Some(C::For | C::Loop | C::If | C::Reduce | C::Scan)
            )
            || traits.has(Traits::PURE);
        let store = matches!(S::of(data.kind), Some(S::TiledStore | S::Store))
            && access::ordering(data) == Ordering::Weak;
        if is_weak_load(m, op) {
            let own = |t| only_read_but(m, |other| alike(m, parts, other, op), t);
            if access::token(data).is_some_and(|t| !own(t)) {
                return no(
                    "the load's token makes it wait for a write of more than its block's part",
                );
            }
        } else if store {
            if !concerned.contains(&op) {
                return no("each block of the cluster would store all of it");
            }
        } else if !flow {
            return no("it has an effect, which would happen once for each block of the cluster");
        }
    }
    // Those are loads and stores.
    for &op in ops.iter().filter(|&&o| S::of(m.op(o).kind).is_some()) {
        if m.op(op).def().traits.has(Traits::MEMORY) {
            let behind = followers(m, body, op).into_iter();
            let mut stores: Vec<OpId> = behind.filter(|&o| !is_weak_load(m, o)).collect();
            stores.sort_unstable();
            if let Some(&other) = stores.iter().find(|&&o| !alike(m, parts, op, o)) {
                return Err((
                    other,
                    "the store's token makes it wait for an access of more than its block's part"
                        .to_owned(),
                ));
            }
        }
    }
    Ok(())
}

/// Whether two accesses are of one view, cut alike: where they meet, they are of one part.
fn alike(m: &Module, parts: &Parts, a: OpId, b: OpId) -> bool {
    let of = |op: OpId| {
        let (tile, access) = tile_of(m, op).zip(Access::of(m.op(op)))?;
        let dim = *parts.dims.get(&tile)?;
        let extents = m.types.as_tile(m.ty(tile))?.1.to_vec();
        // Tiles beside each other, none over another.
        let apart = access.traversal.get(dim).copied() == i64::try_from(extents[dim]).ok();
        apart.then_some((
            dim,
            extents,
            access.traversal,
            access.base,
            access.extents,
            access.strides,
            access.dim_map,
        ))
    };
    a == b && of(a).is_some() || of(a).is_some_and(|x| Some(x) == of(b))
}
