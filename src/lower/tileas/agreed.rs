//! Rows that are loaded in elements of several widths and computed with each other lie alike.
//!
//! ```text
//! w = load : 1024xf32                  four elements beside each other in a thread
//! x = load : 1x1024xbf16               eight
//! reshape x : 1024xf32 · w        →    eight in both: two loads of w side by side
//! ```
//! Each load proposes the layout in which its accesses are widest. What is computed element by element has one layout, be
//! it the first; and a tile and the same row as a tile of another shape have two, between which a conversion would stand.
//! The layout with the longest runs is taken for all of them in which neighbouring threads' accesses leave out no more than
//! they move: runs of two accesses at most.

use rustc_hash::FxHashMap;

use super::relation::{Relation, at, is_distributed, shape_of};
use super::variables::{Assign, Priority, Var};
use crate::ir::{Diagnostic, Module, OpId, ValueId};
use crate::layout::{Layout, Shape};

/// Proposes one layout for each kind of rows whose loads want several.
pub fn rows(a: &mut Assign<'_>, ops: &[OpId]) -> Result<(), Diagnostic> {
    let (groups, group_of) = groups(a, ops);
    let mut wanted: Vec<Vec<(u64, Layout)>> = vec![Vec::new(); groups.len()];
    for (value, layout) in a.loads.clone() {
        let group = a.root(value).and_then(|var| group_of.get(&var));
        let Some((&group, op)) = group.zip(a.m.def_op(value)) else {
            continue;
        };
        let length: u64 = long(a.m, value).iter().product();
        let flat = at(a.m, op, Shape::new(&[length]))?;
        let layout = at(a.m, op, a.m.layouts.get(layout).reshape(&flat))?;
        let run = at(a.m, op, layout.contiguous_per_thread(&[0]))?;
        wanted[group].push((run, layout));
    }
    for (row, mut layouts) in groups.into_iter().zip(wanted) {
        layouts.sort_by_key(|&(run, _)| run);
        layouts.dedup();
        let least = layouts.first().map_or(0, |&(run, _)| run);
        let several = layouts.len() > 1;
        layouts.retain(|&(run, _)| run <= 2 * least);
        let Some((_, chosen)) = layouts.pop().filter(|_| several) else {
            continue;
        };
        for value in row {
            let shape = shape_of(a.m, value);
            let layout = shape.and_then(|shape| chosen.reshape(&shape));
            if let Ok(layout) = layout {
                a.propose(value, Priority::Agreed, &layout);
            }
        }
    }
    Ok(())
}

/// Rows, a tile of each variable: those that are one row in several shapes together. And the number of each variable's group.
fn groups(a: &mut Assign<'_>, ops: &[OpId]) -> (Vec<Vec<ValueId>>, FxHashMap<Var, usize>) {
    let mut groups: Vec<Vec<ValueId>> = Vec::new();
    let mut group_of: FxHashMap<Var, usize> = FxHashMap::default();
    let loaded: Vec<ValueId> = a.loads.iter().map(|&(value, _)| value).collect();
    let shown = ops.iter().filter_map(|&op| {
        let reshape = matches!(Relation::of(a.m, op), Some(Relation::Reshape));
        reshape.then(|| vec![a.m.source(op), a.m.result(op)])
    });
    let alike: Vec<Vec<ValueId>> = shown.chain(loaded.into_iter().map(|v| vec![v])).collect();
    for alike in alike {
        let is_row = |&v: &ValueId| is_distributed(a.m, v) && long(a.m, v).len() == 1;
        if !alike.iter().all(is_row) {
            continue;
        }
        let vars: Vec<(ValueId, Var)> = (alike.iter())
            .filter_map(|&v| Some((v, a.root(v)?)))
            .collect();
        let known: Vec<usize> = (vars.iter())
            .filter_map(|(_, var)| group_of.get(var).copied())
            .collect();
        let into = known.first().copied().unwrap_or(groups.len());
        if into == groups.len() {
            groups.push(Vec::new());
        }
        for other in known.into_iter().filter(|&g| g != into) {
            let moved = std::mem::take(&mut groups[other]);
            groups[into].extend(moved);
            let of_other = group_of.values_mut().filter(|g| **g == other);
            of_other.for_each(|g| *g = into);
        }
        for (value, var) in vars {
            if group_of.insert(var, into).is_none() {
                groups[into].push(value);
            }
        }
    }
    (groups, group_of)
}

/// The extents of a tile that are more than one.
fn long(m: &Module, value: ValueId) -> Vec<u64> {
    let extents = m.types.as_tile(m.ty(value)).map_or(&[][..], |t| t.1);
    extents.iter().copied().filter(|&e| e > 1).collect()
}
