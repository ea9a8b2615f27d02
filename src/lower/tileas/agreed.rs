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

use ena::unify::{InPlaceUnificationTable, UnifyKey};
use rustc_hash::FxHashMap;

use super::look::elements;
use super::relation::{Relation, at, is_distributed, shape_of};
use super::variables::{Assign, Priority, Var};
use crate::ir::{Diagnostic, Module, OpId, ValueId};
use crate::layout::{Layout, Shape};

/// A row, in one shape or several.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Row(u32);

impl UnifyKey for Row {
    type Value = ();
    fn index(&self) -> u32 {
        self.0
    }
    fn from_index(i: u32) -> Self {
        Row(i)
    }
    fn tag() -> &'static str {
        "row"
    }
}

/// Proposes one layout for each row whose loads want several.
pub fn rows(a: &mut Assign<'_>, ops: &[OpId]) -> Result<(), Diagnostic> {
    let mut rows = Rows::of(a, ops);
    let mut wanted: FxHashMap<Row, Vec<(u64, Layout)>> = FxHashMap::default();
    for (value, layout) in a.loads.clone() {
        let row = a.root(value).and_then(|var| rows.find(var));
        let Some((row, op)) = row.zip(a.m.def_op(value)) else {
            continue;
        };
        let flat = at(a.m, op, Shape::new(&[elements(a.m, value)]))?;
        let layout = at(a.m, op, a.m.layouts.get(layout).reshape(&flat))?;
        let run = at(a.m, op, layout.contiguous_per_thread(&[0]))?;
        wanted.entry(row).or_default().push((run, layout));
    }
    let chosen = wanted
        .into_iter()
        .filter_map(|(row, w)| Some((row, longest(w)?)));
    let chosen: FxHashMap<Row, Layout> = chosen.collect();
    for (value, var) in std::mem::take(&mut rows.tiles) {
        let Some(layout) = rows.find(var).and_then(|row| chosen.get(&row)) else {
            continue;
        };
        let shape = shape_of(a.m, value);
        if let Ok(layout) = shape.and_then(|shape| layout.reshape(&shape)) {
            a.propose(value, Priority::Agreed, &layout);
        }
    }
    Ok(())
}

/// Of several layouts with their runs, that with the longest run of at most twice the shortest.
fn longest(mut layouts: Vec<(u64, Layout)>) -> Option<Layout> {
    layouts.sort_by_key(|&(run, _)| run);
    layouts.dedup();
    let most = 2 * layouts.first()?.0;
    let several = layouts.len() > 1;
    let (_, longest) = layouts.into_iter().rfind(|&(run, _)| run <= most)?;
    several.then_some(longest)
}

/// The rows of a function.
struct Rows {
    table: InPlaceUnificationTable<Row>,
    of: FxHashMap<Var, Row>,
    /// A tile of each variable, in order.
    tiles: Vec<(ValueId, Var)>,
}

impl Rows {
    /// What is loaded, and what changes of shape show otherwise.
    fn of(a: &mut Assign<'_>, ops: &[OpId]) -> Self {
        let mut rows = Rows {
            table: InPlaceUnificationTable::new(),
            of: FxHashMap::default(),
            tiles: Vec::new(),
        };
        for &op in ops {
            if matches!(Relation::of(a.m, op), Some(Relation::Reshape)) {
                let (source, result) = (a.m.source(op), a.m.result(op));
                if is_row(a.m, source) && is_row(a.m, result) {
                    let pair = [source, result].map(|v| rows.row(a, v));
                    if let [Some(source), Some(result)] = pair {
                        rows.table.union(source, result);
                    }
                }
            }
        }
        for (value, _) in a.loads.clone() {
            if is_row(a.m, value) {
                rows.row(a, value);
            }
        }
        rows
    }

    /// The row that a tile is, as far as is known.
    fn row(&mut self, a: &mut Assign<'_>, value: ValueId) -> Option<Row> {
        let var = a.root(value)?;
        let new = || {
            self.tiles.push((value, var));
            self.table.new_key(())
        };
        Some(*self.of.entry(var).or_insert_with(new))
    }

    fn find(&mut self, var: Var) -> Option<Row> {
        let row = *self.of.get(&var)?;
        Some(self.table.find(row))
    }
}

/// Whether a tile has one long dimension.
fn is_row(m: &Module, value: ValueId) -> bool {
    let extents = m.types.as_tile(m.ty(value)).map_or(&[][..], |t| t.1);
    is_distributed(m, value) && extents.iter().filter(|&&e| e > 1).count() == 1
}
