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
use crate::layout::bank::Cost;
use crate::layout::mma::{MmaSync, Paired};
use crate::layout::swizzle::{Capabilities, cost_of_reading};
use crate::layout::{Layout, LayoutError};
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
    let mut groups: Vec<Group> = Vec::new();
    for &dot in dots {
        let own = Group::of(m, &ops, dot, warps, target);
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
    fn of(m: &Module, ops: &[OpId], dot: OpId, warps: u64, target: &Target) -> Group {
        let reached = reach_through_loops(m, ops, m.result(dot));
        // Fragments of a result become those of a left operand as they are.
        let multiplied = ops
            .iter()
            .filter_map(|&o| Matmul::of(m.op(o)))
            .any(|next| reached.contains(&next.lhs));
        Group {
            dots: vec![dot],
            reached,
            paired: match multiplied {
                true => Paired::NONE,
                false => wanted(m, dot, warps, target).unwrap_or(Paired::NONE),
            },
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
    let with = |paired| MmaSync { paired, ..one };
    let rows = beside.iter().map(|&n| Paired {
        rows: n > 1,
        ..Paired::NONE
    });
    let columns = beside.iter().map(|&columns| Paired {
        columns,
        ..Paired::NONE
    });
    Some(Paired {
        rows: cheapest(m, lhs, rows, can, &|p| with(p).a()).rows,
        columns: cheapest(m, rhs, columns, can, &|p| with(p).b()).columns,
    })
}

/// Those of `choices` with which `tile`, an operand in such `fragments`, is read cheapest; the first of equals.
fn cheapest(
    m: &Module,
    tile: ValueId,
    choices: impl Iterator<Item = Paired>,
    can: Capabilities,
    fragments: &dyn Fn(Paired) -> Result<Layout, LayoutError>,
) -> Paired {
    let mut best: Option<(Cost, Paired)> = None;
    for paired in choices {
        let cost = fragments(paired).ok().and_then(|f| read(m, tile, &f, can));
        if let Some(cost) = cost
            && best.is_none_or(|b| cost < b.0)
        {
            best = Some((cost, paired));
        }
    }
    best.map_or(Paired::NONE, |b| b.1)
}

/// What it costs to read what `tile` is computed of, element by element, where it lies in shared memory.
fn read(m: &Module, mut tile: ValueId, fragments: &Layout, can: Capabilities) -> Option<Cost> {
    let bits = m.types.bits(m.ty(tile));
    while let Some(op) = m.def_op(tile)
        && computes(m, op)
        && let &[source] = m.op(op).operands.as_slice()
    {
        tile = source;
    }
    // Threads hold narrower elements otherwise.
    if m.types.bits(m.ty(tile)) != bits {
        return None;
    }
    let (_, _, shared) = in_buffer(m, tile)?;
    cost_of_reading(fragments, &shared, can).ok()
}
