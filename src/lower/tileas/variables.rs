//! The state of a layout assignment: a unification variable per tile, with the strongest proposal so far.

use ena::unify::{InPlaceUnificationTable, UnifyKey, UnifyValue};
use rustc_hash::{FxHashMap, FxHashSet};

use super::relation::{canonical, is_distributed};
use crate::facts::FactMap;
use crate::ir::{Module, OpId, ValueId};
use crate::layout::Layout;

/// The layout number of each tile.
pub type Layouts = FxHashMap<ValueId, u32>;

/// A set of tiles that have one layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Var(u32);

impl UnifyKey for Var {
    type Value = Proposal;
    fn index(&self) -> u32 {
        self.0
    }
    fn from_index(i: u32) -> Self {
        Var(i)
    }
    fn tag() -> &'static str {
        "layout"
    }
}

/// How much an anchor insists; later ones win over earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Priority {
    Default,
    /// A load of elements that lie next to each other and must be accessed one by one.
    Narrow,
    Derived,
    Load,
    /// Loads of rows of several widths that are computed with each other.
    Agreed,
    Store,
    /// Pointers that threads copy through: another layout leaves them copies of single elements.
    Copy,
    /// What a matmul makes, seen as a tile of another shape.
    Seen,
    Matmul,
    /// Sums of warpgroups and tiles of tensor memory: while a sum is under way, nothing can be converted.
    Warpgroups,
}

/// Between whom tiles that are tied to each other are disputed: each wants another layout.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Dispute {
    /// Matmuls: one of them is converted for.
    Matmuls,
    /// Copies through pointers and others who insist, or a store: what the copies lose is their width.
    Copies,
}

impl Dispute {
    fn between(a: (Priority, u32), b: (Priority, u32)) -> Option<Dispute> {
        let (weaker, stronger) = (a.0.min(b.0), a.0.max(b.0));
        let insists = |p: Priority| p == Priority::Copy || p >= Priority::Matmul;
        let dispute = match weaker {
            Priority::Store if stronger == Priority::Copy => Dispute::Copies,
            Priority::Copy if insists(stronger) => Dispute::Copies,
            _ if insists(weaker) => Dispute::Matmuls,
            _ => return None,
        };
        (a.1 != b.1).then_some(dispute)
    }
}

/// The layout a variable has so far (number in the module's table).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Proposal {
    strongest: Option<(Priority, u32)>,
    disputed: Option<Dispute>,
    /// More is computed of the elements than that they are converted.
    computed: bool,
}

impl UnifyValue for Proposal {
    type Error = ena::unify::NoError;
    fn unify_values(a: &Self, b: &Self) -> Result<Self, Self::Error> {
        let strongest = match (a.strongest, b.strongest) {
            (Some(x), Some(y)) if y.0 > x.0 => Some(y),
            (x, y) => x.or(y),
        };
        let between = a.strongest.zip(b.strongest);
        let dispute = between.and_then(|(x, y)| Dispute::between(x, y));
        Ok(Proposal {
            strongest,
            disputed: a.disputed.max(b.disputed).max(dispute),
            computed: a.computed || b.computed,
        })
    }
}

/// The state of one function's assignment.
pub struct Assign<'m> {
    pub m: &'m mut Module,
    pub facts: &'m FactMap,
    /// Warps that hold tiles (producer warps hold none).
    pub warps: u64,
    /// The layouts that loads propose, in order.
    pub loads: Vec<(ValueId, u32)>,
    /// Loads through pointers of which what they bring may lie otherwise than these.
    pub apart: FxHashSet<OpId>,
    table: InPlaceUnificationTable<Var>,
    vars: FxHashMap<ValueId, Var>,
}

impl<'m> Assign<'m> {
    pub fn new(m: &'m mut Module, facts: &'m FactMap, warps: u64) -> Self {
        Assign {
            m,
            facts,
            warps,
            loads: Vec::new(),
            apart: FxHashSet::default(),
            table: InPlaceUnificationTable::new(),
            vars: FxHashMap::default(),
        }
    }

    /// The variable of a tile.
    pub fn var(&mut self, value: ValueId) -> Option<Var> {
        if !is_distributed(self.m, value) {
            return None;
        }
        let table = &mut self.table;
        Some(
            *self
                .vars
                .entry(value)
                .or_insert_with(|| table.new_key(Proposal::default())),
        )
    }

    /// The variable that stands for all that a tile is tied to.
    pub fn root(&mut self, value: ValueId) -> Option<Var> {
        self.var(value).map(|var| self.table.find(var))
    }

    /// Makes two tiles have one layout.
    pub fn tie(&mut self, a: ValueId, b: ValueId) {
        if let (Some(x), Some(y)) = (self.var(a), self.var(b)) {
            self.table.union(x, y);
        }
    }

    /// Proposes a layout for a tile.
    pub fn propose(&mut self, value: ValueId, priority: Priority, layout: &Layout) {
        let Some(var) = self.var(value) else { return };
        let id = self.m.layouts.intern(canonical(layout));
        if priority == Priority::Load {
            self.loads.push((value, id));
        }
        let proposal = Proposal {
            strongest: Some((priority, id)),
            ..Proposal::default()
        };
        self.table.union_value(var, proposal);
    }

    /// The layout a tile has so far.
    pub fn known(&mut self, value: ValueId) -> Option<Layout> {
        let var = self.var(value)?;
        let id = self.table.probe_value(var).strongest?.1;
        Some(self.m.layouts.get(id).clone())
    }

    /// What was proposed for a tile: how strongly, and the layout's number.
    pub fn proposed(&mut self, value: ValueId) -> Option<(Priority, u32)> {
        let var = self.var(value)?;
        self.table.probe_value(var).strongest
    }

    /// Between whom a tile is disputed.
    pub fn dispute(&mut self, value: ValueId) -> Option<Dispute> {
        let var = self.var(value)?;
        self.table.probe_value(var).disputed
    }

    /// Takes note that more is computed of a tile's elements than that they are converted.
    pub fn compute(&mut self, value: ValueId) {
        let computed = Proposal {
            computed: true,
            ..Proposal::default()
        };
        if let Some(var) = self.var(value) {
            self.table.union_value(var, computed);
        }
    }

    /// Whether more is computed of the elements of a tile, or of one that lies like it, than that they are converted.
    pub fn is_computed(&mut self, value: ValueId) -> bool {
        self.var(value)
            .is_some_and(|var| self.table.probe_value(var).computed)
    }

    /// Every tile, in the order in which they were met.
    pub fn tiles(&self) -> Vec<ValueId> {
        let mut tiles: Vec<(ValueId, Var)> = self.vars.iter().map(|(&v, &x)| (v, x)).collect();
        tiles.sort_by_key(|&(_, var)| var.0);
        tiles.into_iter().map(|(value, _)| value).collect()
    }
}
