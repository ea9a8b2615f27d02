//! Matmuls of warps whose operands are bytes that lie in shared memory with rows or columns of the result contiguous.
//!
//! A register of a fragment has four bytes along K. `ldmatrix` transposes units of 16 bits: of bytes, it gives a thread two
//! neighbours along M or N of each of two rows of the other dimension. Where both neighbours are the thread's own, two such
//! registers are two of fragments, but for the order of their bytes; otherwise each byte is loaded by itself. So columns 2c
//! and 2c + 1 of the tile become columns c of two neighbouring instructions, and rows 2r and 2r + 1 the two rows of a thread.

use super::fragments::mma_of;
use super::look::reach_through_loops;
use super::operands::in_place_if;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::matmul::Matmul;
use crate::ir::{Attr, BlockId, Module, OpId, ValueId};
use crate::layout::ldmatrix::{self, Matrices};
use crate::layout::mma::{MmaSync, Paired};
use crate::layout::{Layout, LayoutError};
use crate::target::{Feature, Target};
use rustc_hash::FxHashSet;

/// Pairs rows and columns of matmuls under `body`, of those whose results meet alike or not at all.
pub fn matmuls(m: &mut Module, body: BlockId, warps: u64, target: &Target) {
    if target.has(Feature::ByteMatrices) {
        return;
    }
    let ops = m.ops_under(body);
    let dots = ops.iter().filter(|&&o| S::of(m.op(o).kind) == Some(S::Dot));
    let mut groups: Vec<Group> = Vec::new();
    for &dot in dots {
        let own = Group::of(m, &ops, dot, warps);
        let (meeting, apart): (Vec<Group>, Vec<Group>) =
            groups.into_iter().partition(|g| g.meets(&own));
        groups = apart;
        groups.push(meeting.into_iter().fold(own, Group::with));
    }
    for group in groups {
        for &dot in &group.dots {
            let flags = [
                ("paired_rows", group.paired.rows),
                ("paired_columns", group.paired.columns),
            ];
            for (name, _) in flags.into_iter().filter(|flag| flag.1) {
                *m.attr_mut(dot, name) = Some(Attr::Unit);
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
    fn of(m: &Module, ops: &[OpId], dot: OpId, warps: u64) -> Group {
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
                true => Paired::default(),
                false => wanted(m, dot, warps).unwrap_or_default(),
            },
        }
    }

    fn meets(&self, other: &Group) -> bool {
        !self.reached.is_disjoint(&other.reached)
    }

    fn with(mut self, other: Group) -> Group {
        self.dots.extend(other.dots);
        self.reached.extend(other.reached);
        self.paired = Paired {
            rows: self.paired.rows && other.paired.rows,
            columns: self.paired.columns && other.paired.columns,
        };
        self
    }
}

/// What `ldmatrix` can read of the operands of a matmul of bytes only in pairs.
fn wanted(m: &Module, dot: OpId, warps: u64) -> Option<Paired> {
    let Matmul { lhs, rhs, .. } = Matmul::of(m.op(dot))?;
    let one = mma_of(m, dot, warps).filter(|mma| mma.element_bits == 8 && mma.batch.is_none())?;
    let reads = |tile: ValueId, fragments: Result<Layout, LayoutError>| {
        let read = |fragments: Layout| {
            let fits = |shared: &_| {
                let plan = ldmatrix::plan(&fragments, shared, Matrices::Columns);
                plan.is_ok_and(|plan| plan.is_some())
            };
            in_place_if(m, tile, &fits)
        };
        fragments.ok().and_then(read).is_some()
    };
    let with = |paired| MmaSync { paired, ..one };
    let [rows, columns] =
        [[true, false], [false, true]].map(|[rows, columns]| with(Paired { rows, columns }));
    Some(Paired {
        rows: reads(lhs, rows.a()),
        columns: reads(rhs, columns.b()),
    })
}
