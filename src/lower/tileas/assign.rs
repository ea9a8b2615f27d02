//! Layout assignment: one unification variable per tile, anchors that propose, relations that derive.
//!
//! * Elementwise operations, control flow and loop-carried values *unify* their tiles.
//! * Memory accesses and matmuls are *anchors*: they propose a layout with a priority.
//! * Reshapes, permutations, broadcasts and reductions are *relations*: one side's layout follows
//!   from the other's.
//!
//! A variable takes the strongest proposal; relations then spread what is known until nothing
//! changes, and what is still free takes the coalesced default. Where an operation needs a layout
//! that its operand does not have, a `convert_layout` is inserted: a node with a cost, like any other.

use std::cmp::Reverse;

use ena::unify::{InPlaceUnificationTable, UnifyKey, UnifyValue};
use rustc_hash::FxHashMap;

use super::anchors;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view::View;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::{OpKind, Traits};
use crate::facts::FactMap;
use crate::ir::{BlockId, Diagnostic, Module, OpId, Type, ValueId};
use crate::layout::blocked::Blocked;
use crate::layout::{Layout, LayoutError, Shape, bytes};
use crate::lower::unsupported;

/// A set of tiles that have one layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
    Derived,
    Load,
    Store,
    Matmul,
}

/// The layout a variable has so far (number in the module's table).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Proposal(Option<(Priority, u32)>);

impl UnifyValue for Proposal {
    type Error = ena::unify::NoError;
    fn unify_values(a: &Self, b: &Self) -> Result<Self, Self::Error> {
        Ok(match (a.0, b.0) {
            (Some(x), Some(y)) if y.0 > x.0 => Proposal(Some(y)),
            (None, y) => Proposal(y),
            (x, _) => Proposal(x),
        })
    }
}

/// The state of one function's assignment.
pub struct Assign<'m> {
    pub m: &'m mut Module,
    pub facts: &'m FactMap,
    /// Warps that hold tiles (producer warps hold none).
    pub warps: u64,
    table: InPlaceUnificationTable<Var>,
    vars: FxHashMap<ValueId, Var>,
}

/// Gives every tile under `body` a layout and inserts the conversions.
pub fn run(m: &mut Module, facts: &FactMap, body: BlockId, warps: u64) -> Result<(), Diagnostic> {
    let ops = m.ops_under(body);
    let mut a = Assign {
        m,
        facts,
        warps,
        table: InPlaceUnificationTable::new(),
        vars: FxHashMap::default(),
    };
    for &op in &ops {
        a.unify_op(op);
    }
    for &op in &ops {
        anchors::propose(&mut a, op)?;
    }
    for &op in &ops {
        a.unify_stored(op);
    }
    a.derive(&ops)?;
    let layouts = a.solve(&ops)?;
    super::convert::insert(m, facts, &ops, &layouts, warps)
}

/// The layout number of each tile.
pub type Layouts = FxHashMap<ValueId, u32>;

/// Whether a value is distributed: a tile that is not a scalar.
pub fn is_distributed(m: &Module, value: ValueId) -> bool {
    matches!(m.types.get(m.ty(value)), Type::Tile { shape, .. } if !shape.is_empty())
}

/// How many elements a tile has.
fn elements(m: &Module, value: ValueId) -> u64 {
    let shape = m.types.as_tile(m.ty(value)).map_or(&[][..], |t| t.1);
    shape.iter().product()
}

/// The extents of a tile as a layout shape.
pub fn shape_of(m: &Module, value: ValueId) -> Result<Shape, LayoutError> {
    Shape::new(m.types.as_tile(m.ty(value)).map_or(&[][..], |t| t.1))
}

/// A layout error at an operation.
pub fn at<T>(m: &Module, op: OpId, r: Result<T, LayoutError>) -> Result<T, Diagnostic> {
    r.map_err(|e| unsupported(m, op, format!("no layout: {e}")))
}

/// Each thread holds an element once in its registers.
pub fn canonical(layout: &Layout) -> Layout {
    layout.without_redundant_registers().0
}

impl Assign<'_> {
    /// The variable of a tile.
    fn var(&mut self, value: ValueId) -> Option<Var> {
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
        self.table.union_value(var, Proposal(Some((priority, id))));
    }

    /// The layout a tile has so far.
    pub fn known(&mut self, value: ValueId) -> Option<Layout> {
        let var = self.var(value)?;
        let id = self.table.probe_value(var).0?.1;
        Some(self.m.layouts.get(id).clone())
    }

    fn unify_op(&mut self, op: OpId) {
        let data = self.m.op(op).clone();
        data.results.iter().chain(&data.operands).for_each(|&v| {
            self.var(v);
        });
        if ties_all(data.kind) {
            let detached = anchors::detached(self.m, self.facts, op);
            let tiles = data.operands.iter().chain(&data.results).copied();
            let mut tiles = tiles.filter(|&v| Some(v) != detached);
            let first = tiles.by_ref().find(|&v| is_distributed(self.m, v));
            if let Some(first) = first {
                tiles.for_each(|v| self.tie(first, v));
            }
        }
        if matches!(C::of(data.kind), Some(C::Reduce | C::Scan)) {
            // All operands are combined place by place, and so are all results.
            for values in [&data.operands[..], &data.results[..]] {
                values
                    .windows(2)
                    .for_each(|pair| self.tie(pair[0], pair[1]));
            }
        }
        if C::of(data.kind) == Some(C::Scan)
            && let (Some(&operand), Some(&result)) = (data.operands.first(), data.results.first())
        {
            self.tie(operand, result);
        }
        self.unify_carried(op);
    }

    /// What is stored in vectors through pointers lies as they do, unless a matmul makes it: that is
    /// converted.
    fn unify_stored(&mut self, op: OpId) {
        let Some(value) = anchors::detached(self.m, self.facts, op) else {
            return;
        };
        let made = self.var(value).and_then(|v| self.table.probe_value(v).0);
        if made.is_none_or(|(priority, _)| priority < Priority::Matmul)
            && let Some(pointers) = anchors::pointers(self.m, op)
        {
            self.tie(value, pointers);
        }
    }

    /// Control flow: what a block passes on has the layout of what receives it.
    fn unify_carried(&mut self, op: OpId) {
        for (from, to) in carried(self.m, op) {
            self.tie(from, to);
        }
    }

    /// Spreads layouts through relations until nothing changes, then chooses one for one free
    /// variable at a time: the largest tiles first, which cost the most; of those accesses first;
    /// then in program order.
    fn derive(&mut self, ops: &[OpId]) -> Result<(), Diagnostic> {
        self.spread(ops)?;
        let mut free = Vec::new();
        for &op in ops {
            free.extend(anchors::pointers(self.m, op).map(|p| (op, p, true)));
            if !is_free(self.m, op) {
                let results = self.m.op(op).results.iter();
                free.extend(results.map(|&value| (op, value, false)));
            }
        }
        free.retain(|&(_, value, _)| is_distributed(self.m, value));
        free.sort_by_key(|&(_, value, access)| Reverse((elements(self.m, value), access)));
        for (op, value, access) in free {
            if self.known(value).is_some() {
                continue;
            }
            let layout = if access {
                anchors::coalesced(self.m, self.facts, op, value, self.warps)
            } else {
                default_layout(self.m, value, self.warps)
            };
            let layout = at(self.m, op, layout)?;
            self.propose(value, Priority::Default, &layout);
            self.spread(ops)?;
        }
        Ok(())
    }

    fn spread(&mut self, ops: &[OpId]) -> Result<(), Diagnostic> {
        loop {
            let mut changed = false;
            for &op in ops.iter().rev().chain(ops) {
                changed |= self.relate(op)?;
            }
            if !changed {
                return Ok(());
            }
        }
    }

    fn relate(&mut self, op: OpId) -> Result<bool, Diagnostic> {
        let Some(relation) = Relation::of(self.m, op) else {
            return Ok(false);
        };
        let data = self.m.op(op).clone();
        let mut changed = false;
        for (&source, &result) in data.operands.iter().zip(&data.results) {
            // A scalar has no layout to spread to.
            if !is_distributed(self.m, source) || !is_distributed(self.m, result) {
                continue;
            }
            match (self.known(source), self.known(result)) {
                (None, Some(r)) => {
                    if let Some(layout) = at(self.m, op, relation.source_of(self.m, source, &r))? {
                        self.propose(source, Priority::Derived, &layout);
                        changed = true;
                    }
                }
                (Some(s), None) => {
                    let layout = at(self.m, op, relation.result_of(self.m, result, &s))?;
                    if !matches!(relation, Relation::Broadcast)
                        || self.is_spread_out(op, result, &layout)?
                    {
                        self.propose(result, Priority::Derived, &layout);
                        changed = true;
                    }
                }
                _ => {}
            }
        }
        Ok(changed)
    }

    /// Whether a layout leaves each thread no more elements than the default does. A source that
    /// every thread holds would make all of them hold a whole broadcast, too.
    fn is_spread_out(
        &self,
        op: OpId,
        result: ValueId,
        layout: &Layout,
    ) -> Result<bool, Diagnostic> {
        let default = default_layout(self.m, result, self.warps);
        let default = at(self.m, op, default)?;
        Ok(layout.registers() <= canonical(&default).registers())
    }

    fn solve(&mut self, ops: &[OpId]) -> Result<Layouts, Diagnostic> {
        let mut layouts = Layouts::default();
        let mut values: Vec<(ValueId, Var)> = self.vars.iter().map(|(&v, &x)| (v, x)).collect();
        values.sort_by_key(|&(_, var)| var.0);
        for (value, var) in values {
            let id = match self.table.probe_value(var).0 {
                Some((_, id)) => id,
                None => {
                    let layout = default_layout(self.m, value, self.warps);
                    let op = self
                        .m
                        .def_op(value)
                        .or(ops.first().copied())
                        .unwrap_or_default();
                    let layout = at(self.m, op, layout)?;
                    self.m.layouts.intern(canonical(&layout))
                }
            };
            layouts.insert(value, id);
        }
        Ok(layouts)
    }
}

/// The coalesced layout of a tile about which nothing else is known.
fn default_layout(m: &Module, value: ValueId, warps: u64) -> Result<Layout, LayoutError> {
    let shape = shape_of(m, value)?;
    let order = (0..shape.rank()).rev().collect();
    let element_bits = m.types.bits(m.ty(value)).unwrap_or(32).max(8);
    Blocked {
        shape,
        order,
        max_vector: u64::from(128 / element_bits),
        element_bits,
        warps,
    }
    .layout()
}

/// Constants and iotas can be made in any layout.
fn is_free(m: &Module, op: OpId) -> bool {
    matches!(C::of(m.op(op).kind), Some(C::Constant | C::Iota))
}

/// Whether all tiles of an operation have one layout.
fn ties_all(kind: OpKind) -> bool {
    kind.def().traits.has(Traits::ELEMENTWISE)
        || matches!(C::of(kind), Some(C::Assume))
        || matches!(
            S::of(kind),
            Some(
                S::Load | S::PointerCopy | S::Store | S::AtomicRmw | S::AtomicCas | S::AsyncDotWait
            )
        )
}

/// Pairs (passed value, receiving value) of a control-flow operation.
pub fn carried(m: &Module, op: OpId) -> Vec<(ValueId, ValueId)> {
    let data = m.op(op);
    let mut pairs = Vec::new();
    let mut pass = |from: &[ValueId], to: &[ValueId]| {
        pairs.extend(from.iter().copied().zip(to.iter().copied()));
    };
    match C::of(data.kind) {
        Some(C::For | C::Loop) => {
            let first = data.groups.len().saturating_sub(1);
            let inits = data.group(first);
            let counter = usize::from(first > 0);
            if let Some(body) = m.body_of(op, 0) {
                pass(
                    inits,
                    &m.block(body).args[counter.min(m.block(body).args.len())..],
                );
            }
            if first > 0 {
                pass(inits, &data.results);
            }
        }
        Some(C::Yield | C::Continue | C::Break) => {
            let kind = C::of(data.kind);
            let Some(target) = jump_target(m, op) else {
                return pairs;
            };
            let holder = m.op(target);
            match (C::of(holder.kind), kind) {
                (Some(C::For), _) | (Some(C::Loop), Some(C::Continue)) => {
                    let counter = usize::from(C::of(holder.kind) == Some(C::For));
                    if let Some(body) = m.body_of(target, 0) {
                        pass(
                            &data.operands,
                            m.block(body).args.get(counter..).unwrap_or(&[]),
                        );
                    }
                }
                (Some(C::If | C::Loop), _) => pass(&data.operands, &holder.results),
                _ => {}
            }
        }
        _ => {}
    }
    pairs
}

/// The operation whose region a terminator leaves or repeats.
pub fn jump_target(m: &Module, op: OpId) -> Option<OpId> {
    let kind = C::of(m.op(op).kind);
    let mut holder = m.parent_op(op)?;
    while matches!(kind, Some(C::Continue | C::Break)) && C::of(m.op(holder).kind) == Some(C::If) {
        holder = m.parent_op(holder)?;
    }
    Some(holder)
}

/// How the layout of an operation's result follows from that of its source.
pub enum Relation {
    Reshape,
    Permute(Vec<usize>),
    Broadcast,
    Reduce(usize),
    /// So many elements in each byte.
    Unpack(u64),
}

impl Relation {
    /// The relation of an operation, if it is one.
    pub fn of(m: &Module, op: OpId) -> Option<Relation> {
        Some(match View::of(m.op(op))? {
            View::Reshape(_) => Relation::Reshape,
            View::Broadcast(_) => Relation::Broadcast,
            View::Permute(v) => {
                Relation::Permute(v.permutation().iter().map(|&d| d as usize).collect())
            }
            View::Reduce(v) => Relation::Reduce(v.dim() as usize),
            View::Unpack(v) => match m.types.bits(m.ty(v.result()))? {
                bits @ 1..=8 => Relation::Unpack(u64::from(8 / bits)),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The layout of the result when the source has `source`.
    pub fn result_of(
        &self,
        m: &Module,
        result: ValueId,
        source: &Layout,
    ) -> Result<Layout, LayoutError> {
        let shape = shape_of(m, result)?;
        Ok(canonical(&match self {
            Relation::Reshape => source.reshape(&shape)?,
            Relation::Permute(p) => source.permute(p)?,
            Relation::Broadcast => source.broadcast(&shape)?,
            Relation::Reduce(dim) => source.slice(*dim)?,
            Relation::Unpack(many) => bytes::spread(source, 0, *many)?,
        }))
    }

    /// The layout the source must have for the result to be had by renaming registers, where the
    /// result's layout says it.
    pub fn source_of(
        &self,
        m: &Module,
        source: ValueId,
        result: &Layout,
    ) -> Result<Option<Layout>, LayoutError> {
        let shape = shape_of(m, source)?;
        Ok(self.seen(&shape, result)?.map(|seen| canonical(&seen)))
    }

    /// The elements of a source of `shape` that each place of the result needs, where the result's
    /// layout says it: registers are the result's.
    pub fn seen(&self, shape: &Shape, result: &Layout) -> Result<Option<Layout>, LayoutError> {
        Ok(Some(match self {
            Relation::Reshape => result.reshape(shape)?,
            Relation::Permute(p) => result.permute(&inverse(p))?,
            Relation::Broadcast => result.broadcast_source(shape)?,
            Relation::Reduce(_) => return Ok(None),
            Relation::Unpack(many) => return bytes::joined(result, 0, *many),
        }))
    }
}

/// The permutation that undoes `p`.
fn inverse(p: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; p.len()];
    for (i, &d) in p.iter().enumerate() {
        if let Some(slot) = inverse.get_mut(d) {
            *slot = i;
        }
    }
    inverse
}
