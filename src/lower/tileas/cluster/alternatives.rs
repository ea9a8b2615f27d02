//! Which dimension of its matmuls the blocks of a cluster share.

use crate::ir::{Module, OpId};
use crate::layout::tensor::LANES;
use crate::lower::tileas::look::{is_matmul, is_scaled};
use crate::lower::tileas::missed::Refusal;
use crate::lower::tileas::strips::dims::{Dim, Dims, extents};
use crate::target::{Feature, Target};

/// A way to share a matmul.
pub struct Alternative {
    pub name: &'static str,
    /// The accumulator's dimension that is cut, from the last one on.
    from_last: usize,
    /// Fewest of them that a block multiplies: as many as one instruction.
    least: u64,
}

/// Rows first: where both cost the same, each block has its own left operand, as `cta_group::2` wants it.
/// WGMMA multiplies 64 rows, `tcgen05.mma` 64 or 128, with scales 128 (PTX ISA, "Matrix Shape"); of columns both take
/// multiples of 16, but 32 are needed for a row of a swizzle in memory.
pub const ALTERNATIVES: [Alternative; 2] = [
    Alternative {
        name: "rows",
        from_last: 1,
        least: 64,
    },
    Alternative {
        name: "columns",
        from_last: 0,
        least: 32,
    },
];

impl Alternative {
    /// The dimensions that are cut, and what a block has in shared memory of each step along K (rows and columns of
    /// its matmuls): that is copied for it and read by its matrix instructions.
    fn of(
        &self,
        m: &Module,
        matmuls: &[OpId],
        dims: &mut Dims,
        blocks: u64,
        target: &Target,
    ) -> Result<(u64, Dim), Refusal> {
        let no = |op: OpId, why: String| Err((op, why));
        let mut cost = 0;
        let mut chosen = None;
        for &op in matmuls {
            let acc = m.result(op);
            let shape = extents(m, acc);
            let rank = shape.len();
            let Some(place) = rank.checked_sub(1 + self.from_last).filter(|_| rank >= 2) else {
                return no(op, "the operands are vectors".to_owned());
            };
            let set = match chosen {
                Some(set) => set,
                None => match dims.free(acc, place) {
                    Some(set) => *chosen.insert(set),
                    None => {
                        return no(
                            op,
                            format!("operations need the matmul's {} as a whole", self.name),
                        );
                    }
                },
            };
            // The first matmul's dimension, wherever it is in the others.
            let Some(place) = dims.find(m, acc, set) else {
                return no(
                    op,
                    "each block of the cluster would compute the whole matmul".to_owned(),
                );
            };
            let least = match rank - 1 - place {
                0 => ALTERNATIVES[1].least,
                1 if is_scaled(m, op) && target.has(Feature::Tcgen05) => LANES,
                1 => ALTERNATIVES[0].least,
                _ => {
                    return no(
                        op,
                        "the matmul would be split along its batch dimension".to_owned(),
                    );
                }
            };
            let own = shape[place] / blocks;
            if own < least {
                return no(
                    op,
                    format!(
                        "{own} {} of {} would be left for each of {blocks} blocks, {least} are needed",
                        self.name, shape[place]
                    ),
                );
            }
            let edges = shape[rank - 2] + shape[rank - 1];
            cost += edges - shape[place] + own;
        }
        match (chosen, matmuls.first()) {
            (Some(set), _) => Ok((cost, set)),
            (None, at) => no(
                at.copied().unwrap_or_default(),
                "the kernel has no matmul".to_owned(),
            ),
        }
    }
}

/// The dimensions that `blocks` blocks may share, the cheapest first; and why others are none.
pub fn of(
    m: &Module,
    ops: &[OpId],
    dims: &mut Dims,
    blocks: u64,
    target: &Target,
) -> Vec<Result<Dim, Refusal>> {
    let matmuls: Vec<OpId> = ops.iter().copied().filter(|&o| is_matmul(m, o)).collect();
    if matmuls.is_empty() {
        return Vec::new();
    }
    let of = |a: &Alternative| a.of(m, &matmuls, dims, blocks, target);
    let each = ALTERNATIVES.iter().map(of);
    let mut all: Vec<_> = each.collect();
    all.sort_by_key(|a| a.as_ref().map_or(u64::MAX, |found| found.0));
    all.into_iter().map(|a| a.map(|found| found.1)).collect()
}
