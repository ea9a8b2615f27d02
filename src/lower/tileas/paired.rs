//! Matmuls of warps whose operands lie in shared memory with rows or columns of the result contiguous, where no instruction
//! transposes their elements.
//!
//! `ldmatrix` transposes units of 16 bits. Of bytes, it gives a thread two neighbours along M or N of each of two rows of the
//! other dimension: where both neighbours are the thread's own, two such registers are two of fragments, but for the order
//! of their bytes. Elements of 32 and 64 bits are loaded as vectors along N where the thread has all of them. Otherwise each
//! element is loaded by itself. So columns c of neighbouring instructions are neighbours in the tile, and so are the two rows
//! of a thread.

use super::fragments::mma_of;
use super::look::reach_through_loops;
use super::made::computes;
use super::operands::in_buffer;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::matmul::Matmul;
use crate::ir::{Attr, BlockId, Module, OpId, ValueId};
use crate::layout::mma::{MmaSync, Paired};
use crate::layout::shared::SharedLayout;
use crate::layout::swizzle::cost_of_reading;
use crate::lower::capabilities;
use crate::target::Target;
use rustc_hash::FxHashSet;

/// Instructions whose columns may be neighbours, for operands of so many bits.
fn beside(bits: u32, target: &Target) -> &'static [u64] {
    match bits {
        8 | 64 => &[1, 2],
        // From sm_90 on ptxas moves what a vector brings once more: an operand's registers are a pair, and what converts to
        // tf32 there is one instruction.
        32 if target.sm < 90 => &[1, 2, 4],
        // Elements of 16 bits are transposed as they are.
        _ => &[1],
    }
}

/// Pairs rows and columns of matmuls under `body`, of those whose results meet alike or not at all.
pub fn matmuls(m: &mut Module, body: BlockId, warps: u64, target: &Target) {
    let ops = m.ops_under(body);
    let dots = ops.iter().filter(|&&o| S::of(m.op(o).kind) == Some(S::Dot));
    let wanted = |&dot: &OpId| (dot, wanted(m, dot, warps, target).unwrap_or(Paired::NONE));
    let wanted: Vec<(OpId, Paired)> = dots.map(wanted).collect();
    if wanted.iter().all(|w| w.1 == Paired::NONE) {
        return;
    }
    let mut groups: Vec<Group> = Vec::new();
    for (dot, paired) in wanted {
        let own = Group::of(m, &ops, dot, paired);
        let (meeting, apart): (Vec<Group>, Vec<Group>) =
            groups.into_iter().partition(|g| g.meets(&own));
        groups = apart;
        groups.push(meeting.into_iter().fold(own, Group::with));
    }
    for Group { dots, paired, .. } in groups {
        for dot in dots {
            if paired.rows {
                *m.attr_mut(dot, "paired_rows") = Some(Attr::Unit);
            }
            if paired.columns > 1 {
                m.set_i32(dot, "paired_columns", paired.columns as i64);
            }
        }
    }
}

/// Matmuls whose results lie in registers alike.
struct Group {
    dots: Vec<OpId>,
    /// What is computed of their results, element by element.
    reached: FxHashSet<ValueId>,
    paired: Paired,
}

impl Group {
    fn of(m: &Module, ops: &[OpId], dot: OpId, wanted: Paired) -> Group {
        let reached = reach_through_loops(m, ops, m.result(dot));
        // Fragments of a result become those of a left operand as they are.
        let multiplied = ops
            .iter()
            .filter_map(|&o| Matmul::of(m.op(o)))
            .any(|next| reached.contains(&next.lhs));
        Group {
            dots: vec![dot],
            reached,
            paired: if multiplied { Paired::NONE } else { wanted },
        }
    }

    fn meets(&self, other: &Group) -> bool {
        !self.reached.is_disjoint(&other.reached)
    }

    fn with(mut self, other: Group) -> Group {
        self.dots.extend(other.dots);
        self.reached.extend(other.reached);
        if self.paired != other.paired {
            self.paired = Paired::NONE;
        }
        self
    }
}

/// The rows and columns with which the operands of a matmul are read cheapest.
fn wanted(m: &Module, dot: OpId, warps: u64, target: &Target) -> Option<Paired> {
    let can = capabilities(target);
    let Matmul { lhs, rhs, .. } = Matmul::of(m.op(dot))?;
    let one = mma_of(m, dot, warps).filter(|mma| mma.batch.is_none())?;
    let beside = beside(one.element_bits, target);
    if beside.len() < 2 {
        return None;
    }
    let with = |paired| MmaSync { paired, ..one };
    let (left, right) = (lies(m, lhs), lies(m, rhs));
    let rows = [false, true].into_iter().filter_map(|rows| {
        let fragments = with(Paired {
            rows,
            ..Paired::NONE
        })
        .a()
        .ok()?;
        Some((cost_of_reading(&fragments, left.as_ref()?, can).ok()?, rows))
    });
    let columns = beside.iter().filter_map(|&columns| {
        let fragments = with(Paired {
            columns,
            ..Paired::NONE
        })
        .b()
        .ok()?;
        Some((
            cost_of_reading(&fragments, right.as_ref()?, can).ok()?,
            columns,
        ))
    });
    // The first of equals.
    Some(Paired {
        rows: rows.min_by_key(|r| r.0).is_some_and(|r| r.1),
        columns: columns.min_by_key(|c| c.0).map_or(1, |c| c.1),
    })
}

/// How what `tile` is computed of, element by element, lies in shared memory.
fn lies(m: &Module, mut tile: ValueId) -> Option<SharedLayout> {
    let bits = m.types.bits(m.ty(tile));
    while let Some(op) = m.def_op(tile)
        && computes(m, op)
        && let &[source] = m.op(op).operands.as_slice()
    {
        tile = source;
    }
    // Threads hold narrower elements otherwise.
    let alike = m.types.bits(m.ty(tile)) == bits;
    in_buffer(m, tile).filter(|_| alike).map(|found| found.1)
}
