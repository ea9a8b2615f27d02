//! Loops whose loads can be started turns ahead.

use crate::dialect::cuda_tile::view as tile;
use crate::dialect::enums::Ordering;
use rustc_hash::FxHashSet;

use super::{gathers_ahead, starts_ahead, tile_bytes};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{self};
use crate::ir::{BlockId, Module, OpId, ValueId};

/// A loop with loads that feed products and that can be started turns ahead. What else it computes
/// does not matter, as long as it only reads memory.
#[derive(Clone, Debug)]
pub struct Prefetch {
    pub for_op: OpId,
    pub body: BlockId,
    pub loads: Vec<OpId>,
}

impl Prefetch {
    /// The loads of `for_op` that can be started ahead, or what stands against it.
    pub fn find(m: &Module, for_op: OpId, facts: &FactMap) -> Result<Prefetch, (OpId, String)> {
        let no = |op: OpId, why: &str| Err((op, why.to_owned()));
        let data = m.op(for_op);
        let (Some(body), Some(false)) = (
            m.body_of(for_op, 0),
            tile::For::of(data).map(|v| v.unsignedCmp()),
        ) else {
            return no(for_op, "the loop does not count by signed numbers");
        };
        let end = m.terminator(body);
        let under = m.ops_under(body);
        if let Some(&op) = under
            .iter()
            .find(|&&o| Some(o) != end && !harmless(m, body, o))
        {
            return no(
                op,
                "the loop writes memory, is left early or holds another loop",
            );
        }
        let ahead = |o: OpId| starts_ahead(m, body, o) || gathers_ahead(m, facts, body, o).is_ok();
        let wanted = |&o: &OpId| ahead(o) && feeds_product(m, &under, o);
        let loads: Vec<OpId> = m.block(body).ops.iter().copied().filter(wanted).collect();
        if loads.is_empty() {
            let gather = m
                .block(body)
                .ops
                .iter()
                .copied()
                .find(|&o| S::of(m.op(o).kind) == Some(S::Load) && feeds_product(m, &under, o));
            if let Some(gather) = gather
                && let Err(why) = gathers_ahead(m, facts, body, gather)
            {
                return no(gather, why);
            }
            return no(
                for_op,
                "no load that follows from the loop's counter feeds a product",
            );
        }
        Ok(Prefetch {
            for_op,
            body,
            loads,
        })
    }
}

/// Whether an operation neither writes memory nor leaves the loop's turn early, and is no loop by itself.
fn harmless(m: &Module, body: BlockId, op: OpId) -> bool {
    let data = m.op(op);
    let kind = C::of(data.kind);
    let traits = data.def().traits;
    let reads = matches!(S::of(data.kind), Some(S::TiledLoad | S::Load))
        && access::ordering(data) == Ordering::Weak
        && data.block == body;
    let leaves = traits.has(Traits::TERMINATOR) && kind != Some(C::Yield);
    let loops = matches!(kind, Some(C::For | C::Loop));
    let effect =
        !traits.has(Traits::PURE) && data.regions.is_empty() && !traits.has(Traits::TERMINATOR);
    reads || !(leaves || loops || effect)
}

/// Whether a product takes what `op` loads, as it is or after elementwise operations and changes of shape.
fn feeds_product(m: &Module, under: &[OpId], op: OpId) -> bool {
    let reached = reach(m, under, m.result(op));
    let takes = |&o: &OpId| m.op(o).operands.iter().any(|v| reached.contains(v));
    under.iter().any(|o| is_product(m, *o) && takes(o))
}

/// What `ops` make of a tile by elementwise operations and changes of shape, itself included.
pub fn reach(m: &Module, ops: &[OpId], tile: ValueId) -> FxHashSet<ValueId> {
    let mut reached: FxHashSet<ValueId> = [tile].into_iter().collect();
    for &op in ops {
        let data = m.op(op);
        let passes = data.def().traits.has(Traits::ELEMENTWISE)
            || matches!(C::of(data.kind), Some(C::Reshape | C::Permute));
        if passes && data.operands.iter().any(|v| reached.contains(v)) {
            reached.extend(&data.results);
        }
    }
    reached
}

/// Bytes of scratch memory that the products under `body` may need while the rings are in use: operands
/// that do not come out of a ring take a trip through it, and multiply-adds take both through it.
///
/// Stores that follow in a loop around this one convert their tiles, too: the ring is not free for that,
/// because the next turn fills it again.
pub fn scratch(m: &Module, body: BlockId, stream: &Prefetch) -> u64 {
    let loads = &stream.loads;
    let stored = |o: &OpId| matches!(S::of(m.op(*o).kind), Some(S::TiledStore | S::TiledAtomic));
    let nested = m.op(stream.for_op).block != body;
    let stores = m
        .ops_under(body)
        .into_iter()
        .filter(|o| nested && stored(o));
    let store = stores.filter_map(|o| Some(tile_bytes(m, access::tile(m.op(o))?)));
    let store = store.max().unwrap_or(0);
    let need = |product: OpId| {
        let data = m.op(product);
        let undecided = S::of(data.kind) != Some(S::Dot);
        let operands = data.operands.iter().take(2);
        operands
            .filter(|&&v| undecided || !comes_from(m, v, loads))
            // Eight bits may be widened first.
            .map(|&v| tile_bytes(m, v) * if undecided { 2 } else { 1 })
            .sum()
    };
    let products = m.ops_under(body).into_iter().filter(|&o| is_product(m, o));
    products.map(need).max().unwrap_or(0).max(store)
}

/// Whether a tile is what one of `loads` loads, perhaps with its shape changed.
fn comes_from(m: &Module, mut tile: ValueId, loads: &[OpId]) -> bool {
    while let Some(op) = m.def_op(tile) {
        if loads.contains(&op) {
            return true;
        }
        if !matches!(C::of(m.op(op).kind), Some(C::Reshape | C::Permute)) {
            return false;
        }
        tile = m.source(op);
    }
    false
}

/// Whether an operation is a product, already given an instruction or not.
pub fn is_product(m: &Module, op: OpId) -> bool {
    let kind = m.op(op).kind;
    S::of(kind) == Some(S::Dot) || matches!(C::of(kind), Some(C::MmaF | C::MmaI | C::MmaFScaled))
}
