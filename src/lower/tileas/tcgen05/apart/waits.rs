//! The waits for tiles that warps and matmuls read.
//!
//! A ring's stage that the warps hand back is one that they wait for: their matmuls find the tile where the warps let them in
//! behind that wait. Where they let them in before it, the warp of matmuls waits for the stage as well. It cannot be late: the
//! warps hand the stage back when they have waited for the matmul that reads it.

use super::Matmuls;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access;
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::tileas::look::place;
use crate::lower::tileas::operands::allocation;
use crate::lower::tileas::pipeline::roles::slice::Blocked;
use rustc_hash::FxHashMap;

/// The warps' waits that the warp of `matmuls`, which are let in by `pipeline`, does as well; or a matmul of which it is not
/// known which wait that is.
pub fn of(
    m: &Module,
    body: BlockId,
    matmuls: &Matmuls,
    pipeline: ValueId,
) -> Result<Vec<OpId>, Blocked> {
    let filled = filled_by(m, body);
    let mut waits = Vec::new();
    for dot in matmuls.dots(m) {
        let operands = Matmul::known(m.op(dot)).sources();
        let buffers = operands.map(|v| allocation(m, v));
        for ring in buffers.filter_map(|b| filled.get(&b)) {
            if matmuls.rings.contains(ring) {
                continue;
            }
            let wait = Search {
                pipeline,
                ring: *ring,
            }
            .before(m, dot)?;
            waits.extend(wait.filter(|w| !waits.contains(w)));
        }
    }
    Ok(waits)
}

/// The ring that fills each buffer.
pub fn filled_by(m: &Module, body: BlockId) -> FxHashMap<ValueId, ValueId> {
    let ops = m.ops_under(body).into_iter();
    let fills =
        ops.filter_map(|o| Some((access::destination(m.op(o))?, access::pipeline(m.op(o))?)));
    fills.collect()
}

/// Looks for the wait for a stage of `ring`.
struct Search {
    pipeline: ValueId,
    ring: ValueId,
}

impl Search {
    /// The wait in front of a matmul, if the warps do not let it in behind that.
    fn before(&self, m: &Module, dot: OpId) -> Result<Option<OpId>, Blocked> {
        let blocked = |op: OpId| {
            let why = "reads what the warps wait for, who let it in before that";
            Err(Blocked { op, why })
        };
        let (mut at, mut around) = (dot, false);
        loop {
            let (block, place) = place(m, at);
            for &op in m.block(block).ops[..place].iter().rev() {
                let is = |o: OpId, kind: S, of: ValueId| {
                    S::of(m.op(o).kind) == Some(kind) && access::pipeline(m.op(o)) == Some(of)
                };
                let lets_in = |o: OpId| is(o, S::ProducerAcquire, self.pipeline);
                let waits = |o: OpId| is(o, S::ConsumerWait, self.ring);
                match () {
                    () if lets_in(op) => return Ok(None),
                    () if waits(op) && around => return blocked(dot),
                    () if waits(op) => return Ok(Some(op)),
                    // Where it lets in as well, it does so behind what stands before it.
                    () if m.ops_inside(op).into_iter().any(waits) => return blocked(dot),
                    () => {}
                }
            }
            let Some(parent) = m.parent_op(at) else {
                return blocked(dot);
            };
            around |= matches!(C::of(m.op(parent).kind), Some(C::For | C::Loop));
            at = parent;
        }
    }
}
