//! Layout assignment: one unification variable per tile, anchors that propose, relations that derive.
//!
//! * Elementwise operations, control flow and loop-carried values *unify* their tiles.
//! * Memory accesses and matmuls are *anchors*: they propose a layout with a priority.
//! * Reshapes, permutations, broadcasts and reductions are *relations*: one side's layout follows
//!   from the other's; so does that of a tile and of its parts.
//!
//! A variable takes the strongest proposal; relations then spread what is known until nothing
//! changes, and what is still free takes the coalesced default. Where an operation needs a layout
//! that its operand does not have, a `convert_layout` is inserted: a node with a cost, like any other.

use std::cell::OnceCell;
use std::cmp::Reverse;

use super::agreed;
use super::anchors;
use super::coalesced;
use super::convert;
use super::flow::carried;
use super::for_itself;
use super::joined::Parts;
use super::look::{casts, last_users, loop_around};
use super::own_places;
use super::pipeline::slice::copy_beside;
use super::relation::{Relation, at, canonical, default_layout, is_distributed};
use super::variables::{Assign, Dispute, Layouts, Priority, Var};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::{OpKind, Traits};
use crate::facts::matmul::Matmul;
use crate::facts::{self, FactMap};
use crate::ir::{BlockId, Diagnostic, Module, OpId, ValueId};
use crate::layout::Layout;
use crate::lower::run::Run;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// How many times as many elements as in the default layout a thread computes without harm.
const MANY: u64 = 8;

/// Gives every tile under `body` a layout and inserts the conversions.
pub fn run(m: &mut Module, facts: &FactMap, body: BlockId, warps: u64) -> Result<(), Diagnostic> {
    let (mut facts, with_copies) = (facts, OnceCell::new());
    let (mut a, mut ops) = gathered(m, facts, body, warps, FxHashSet::default())?;
    let narrowed = a.narrowed(&ops);
    if !narrowed.is_empty() {
        let mut copied = false;
        for &op in &narrowed {
            copied |= own_places::copy(a.m, op);
        }
        if copied {
            let func = a.m.region(a.m.block(body).region).parent;
            facts = with_copies.get_or_init(|| facts::of(a.m, func));
        }
        let apart = narrowed.into_iter().filter(|&o| is_load(a.m, o)).collect();
        (a, ops) = gathered(a.m, facts, body, warps, apart)?;
    }
    loop {
        let disputed = a.disputed(&ops);
        if disputed.is_empty() {
            break;
        }
        for op in disputed {
            copy_for_each_use(a.m, op);
        }
        (a, ops) = gathered(a.m, facts, body, warps, a.apart)?;
    }
    let seen = a.seen_in_loops(&ops, body)?;
    for &op in &ops {
        a.unify_detached(op, &seen)?;
    }
    a.keep_in_loops(&ops, body)?;
    a.derive(&ops)?;
    let layouts = a.solve(&ops)?;
    convert::insert(m, facts, &ops, &layouts, warps)?;
    for_itself::access(m, facts, &ops, warps);
    Ok(())
}

/// The operations under `body`, and what is tied and wanted there. What the loads `apart` bring may lie otherwise than their
/// pointers.
fn gathered<'m>(
    m: &'m mut Module,
    facts: &'m FactMap,
    body: BlockId,
    warps: u64,
    apart: FxHashSet<OpId>,
) -> Result<(Assign<'m>, Vec<OpId>), Diagnostic> {
    let ops = m.ops_under(body);
    let mut a = Assign::new(m, facts, warps);
    a.apart = apart;
    a.gather(&ops)?;
    Ok((a, ops))
}

/// How many elements a tile has.
fn elements(m: &Module, value: ValueId) -> u64 {
    let shape = m.types.as_tile(m.ty(value)).map_or(&[][..], |t| t.1);
    shape.iter().product()
}

/// Gives each use of a number one of its own.
fn copy_for_each_use(m: &mut Module, number: OpId) {
    let value = m.result(number);
    let mut users = m.users(value);
    users.dedup();
    let uses = users.into_iter().flat_map(|user| {
        let operands = m.op(user).operands.iter().enumerate();
        let here = operands.filter(|&(_, &v)| v == value);
        here.map(move |(at, _)| (user, at)).collect::<Vec<_>>()
    });
    for (user, at) in uses.collect::<Vec<_>>().into_iter().skip(1) {
        let copied = copy_beside(m, number);
        let own = m.result(copied);
        if let Some(slot) = m.op_mut(user).operands.get_mut(at) {
            *slot = own;
        }
    }
}

impl Assign<'_> {
    /// Ties what must lie alike, and collects what operations want.
    fn gather(&mut self, ops: &[OpId]) -> Result<(), Diagnostic> {
        for &op in ops {
            self.unify_op(op);
        }
        self.compute_shown(ops);
        // Stores last: they look at what loads propose.
        let (stores, others): (Vec<OpId>, Vec<OpId>) =
            ops.iter().partition(|&&op| anchors::stores(self.m, op));
        for op in others {
            anchors::propose(self, op)?;
        }
        agreed::rows(self, ops)?;
        for op in stores {
            anchors::propose(self, op)?;
        }
        for &op in ops {
            anchors::propose_computed(self, op)?;
        }
        Ok(())
    }

    /// What is computed of a tile is so of the same tile of another shape, too.
    fn compute_shown(&mut self, ops: &[OpId]) {
        let m = &*self.m;
        let shows = |o: OpId| {
            let shape = Some(Relation::of(m, o)?)
                .filter(|r| matches!(r, Relation::Reshape | Relation::Permute(_)));
            shape.map(|_| [m.source(o), m.result(o)])
        };
        let shown = ops.iter().filter_map(|&o| shows(o));
        let tiles = shown.filter(|pair| pair.iter().all(|&v| is_distributed(m, v)));
        let tiles: Vec<[ValueId; 2]> = tiles.collect();
        loop {
            let mut changed = false;
            for pair in &tiles {
                if self.is_computed(pair[0]) != self.is_computed(pair[1]) {
                    pair.iter().for_each(|&v| self.compute(v));
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Constants and broadcasts of several uses that are disputed: the zero that two matmuls start from; one number that is
    /// added to the pointers of two operands, which are copied in different orders; numbers of columns that tie what is
    /// copied to what is stored, in masks. For copies alone, numbers that differ are repeated, too. What widens a broadcast
    /// is one.
    fn disputed(&mut self, ops: &[OpId]) -> Vec<OpId> {
        let mut disputed = Vec::new();
        for &op in ops {
            let broadcast = match C::of(self.m.op(op).kind) {
                Some(C::ExtI) => self.m.def_op(self.m.source(op)).unwrap_or(op),
                _ => op,
            };
            let is_alike = match C::of(self.m.op(broadcast).kind) {
                Some(C::Constant) => true,
                Some(C::Broadcast) => elements(self.m, self.m.source(broadcast)) == 1,
                _ => continue,
            };
            let is_repeated = match self.dispute(self.m.result(op)) {
                None => false,
                Some(Dispute::Matmuls) => is_alike,
                Some(Dispute::Copies) => true,
            };
            // Few tie anything: only of these the uses are counted.
            if is_repeated && self.m.users(self.m.result(op)).len() > 1 {
                disputed.push(op);
            }
        }
        disputed
    }

    fn unify_op(&mut self, op: OpId) {
        let data = self.m.op(op).clone();
        data.results.iter().chain(&data.operands).for_each(|&v| {
            self.var(v);
        });
        if ties_all(data.kind) {
            let detached = self.detached(op);
            let tiles = data.operands.iter().chain(&data.results).copied();
            let mut tiles = tiles.filter(|&v| Some(v) != detached);
            let first = tiles.by_ref().find(|&v| is_distributed(self.m, v));
            if let Some(first) = first {
                tiles.for_each(|v| self.tie(first, v));
                if computes(self.m, op) {
                    self.compute(first);
                }
            }
        }
        if matches!(C::of(data.kind), Some(C::Reduce | C::Scan)) {
            data.operands.iter().for_each(|&v| self.compute(v));
            // All operands are combined place by place, and so are all results.
            for values in [&data.operands[..], &data.results[..]] {
                values
                    .windows(2)
                    .for_each(|pair| self.tie(pair[0], pair[1]));
            }
        }
        if C::of(data.kind) == Some(C::Cat)
            && let [first, second] = data.operands[..]
        {
            self.tie(first, second);
        }
        if C::of(data.kind) == Some(C::Scan)
            && let (Some(&operand), Some(&result)) = (data.operands.first(), data.results.first())
        {
            self.tie(operand, result);
        }
        self.unify_carried(op);
    }

    /// What is accessed in vectors through pointers and may lie otherwise than they do: what is stored, and what loads bring
    /// that would be narrow otherwise.
    fn detached(&self, op: OpId) -> Option<ValueId> {
        match self.apart.contains(&op) {
            true => Some(self.m.result(op)),
            false => anchors::detached(self.m, self.facts, op),
        }
    }

    /// It lies as they do after all, unless a matmul makes or takes it: then it is converted, if that pays. So is what a loop
    /// makes of a matmul's result in another shape, as `seen` says, and what would be stored in narrow accesses otherwise.
    fn unify_detached(
        &mut self,
        op: OpId,
        seen: &FxHashMap<Var, Layout>,
    ) -> Result<(), Diagnostic> {
        let Some((value, pointers)) = self.detached(op).zip(coalesced::pointers(self.m, op)) else {
            return Ok(());
        };
        let seen = self.root(value).and_then(|var| seen.get(&var));
        let stays = match (self.is_matmuls(value), is_load(self.m, op)) {
            (true, true) => self.is_narrow(op, value)?,
            (true, false) => true,
            (false, _) => seen.is_some_and(|layout| self.narrows(op, layout).unwrap_or(false)),
        };
        if !stays {
            self.tie(value, pointers);
        }
        Ok(())
    }

    /// The tiles that loops make of matmuls' results in other shapes, and the layouts in which they do.
    fn seen_in_loops(
        &mut self,
        ops: &[OpId],
        body: BlockId,
    ) -> Result<FxHashMap<Var, Layout>, Diagnostic> {
        let mut seen = FxHashMap::default();
        for &op in ops {
            let Some(relation @ (Relation::Reshape | Relation::Permute(_))) =
                Relation::of(self.m, op)
            else {
                continue;
            };
            let (source, result) = (self.m.source(op), self.m.result(op));
            if loop_around(self.m, body, self.m.op(op).block).is_some()
                && self.is_matmuls(source)
                && let Some((layout, var)) = self.known(source).zip(self.root(result))
            {
                let layout = at(self.m, op, relation.result_of(self.m, result, &layout))?;
                seen.insert(var, layout);
            }
        }
        Ok(seen)
    }

    /// Whether a matmul proposes the layout that a tile has so far.
    fn is_matmuls(&mut self, tile: ValueId) -> bool {
        let proposed = self.proposed(tile);
        proposed.is_some_and(|(priority, _)| priority >= Priority::Matmul)
    }

    /// Accesses through pointers that lie as matmuls' results do, for these share something with them, and would be wider
    /// otherwise.
    fn narrowed(&mut self, ops: &[OpId]) -> Vec<OpId> {
        let mut found = Vec::new();
        for &op in ops {
            let Some(pointers) = coalesced::pointers(self.m, op) else {
                continue;
            };
            if self.is_matmuls(pointers)
                && (is_load(self.m, op) || self.detached(op).is_some())
                && self.is_narrow(op, pointers).unwrap_or(false)
            {
                found.push(op);
            }
        }
        found
    }

    /// Whether the layout of `tile` makes the accesses of `op` much narrower than its pointers admit: what is converted for a
    /// load takes more than for a store, which is converted once.
    fn is_narrow(&mut self, op: OpId, tile: ValueId) -> Result<bool, Diagnostic> {
        match self.known(tile) {
            Some(layout) => self.narrows(op, &layout),
            None => Ok(false),
        }
    }

    /// The same of a layout.
    fn narrows(&self, op: OpId, layout: &Layout) -> Result<bool, Diagnostic> {
        let run = coalesced::pointers(self.m, op).and_then(|p| Run::of(self.m, self.facts, p));
        let Some(run) = run else {
            return Ok(false);
        };
        let now = at(
            self.m,
            op,
            layout.contiguous_per_thread(&run.order(layout.rank())),
        )?;
        let times = if is_load(self.m, op) { 4 } else { 2 };
        Ok(now * times <= run.width && layout.registers() > run.width)
    }

    /// Control flow: what a block passes on has the layout of what receives it.
    fn unify_carried(&mut self, op: OpId) {
        for (from, to) in carried(self.m, op) {
            self.tie(from, to);
        }
    }

    /// What a matmul makes in a loop keeps its layout where it is seen as a tile of another shape, too, and what it is
    /// reduced to (a softmax's maxima and sums) follows it: what is stored of that behind the loop is converted there,
    /// not in each iteration. What is stored there and comes out of shared memory in any layout lies as it is stored.
    fn keep_in_loops(&mut self, ops: &[OpId], body: BlockId) -> Result<(), Diagnostic> {
        for &op in ops {
            let Some(relation) = Relation::of(self.m, op) else {
                continue;
            };
            // What is reduced, and a tile of it with the dimension that was lost, may have no other layout proposed. Beside a
            // loop of matmuls a conversion takes little, and registers are short.
            let reduced = |v: ValueId| {
                let by = self.m.def_op(v);
                by.is_some_and(|o| C::of(self.m.op(o).kind) == Some(C::Reduce))
                    && !has_loop_of_matmuls(self.m, self.m.op(op).block)
            };
            let weaker: &[_] = match &relation {
                Relation::Reshape if reduced(self.m.source(op)) => &[Some(Priority::Store), None],
                Relation::Reshape | Relation::Permute(_) => &[Some(Priority::Store)],
                Relation::Reduce(_) => &[Some(Priority::Store), None],
                Relation::Broadcast | Relation::Unpack(_) => continue,
            };
            if loop_around(self.m, body, self.m.op(op).block).is_none() {
                continue;
            }
            let (source, result) = (self.m.source(op), self.m.result(op));
            let strength = |p: Option<(Priority, u32)>| p.map(|p| p.0);
            let made = strength(self.proposed(source)) >= Some(Priority::Seen);
            if made
                && is_distributed(self.m, result)
                && weaker.contains(&strength(self.proposed(result)))
                && let Some(layout) = self.known(source)
                && !(is_stored(self.m, op) && convert::takes_any(&layout, &relation))
            {
                let layout = at(self.m, op, relation.result_of(self.m, result, &layout))?;
                self.propose(result, Priority::Seen, &layout);
            }
        }
        Ok(())
    }

    /// Spreads layouts through relations until nothing changes, then chooses one for one free
    /// variable at a time: the largest tiles first, which cost the most; of those accesses first;
    /// then in program order.
    fn derive(&mut self, ops: &[OpId]) -> Result<(), Diagnostic> {
        self.spread(ops)?;
        let mut free = Vec::new();
        for &op in ops {
            free.extend(coalesced::pointers(self.m, op).map(|p| (op, p, true)));
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
                coalesced::coalesced(self.m, self.facts, op, value, self.warps)
            } else {
                default_layout(self.m, value, self.warps)
            };
            let layout = at(self.m, op, layout)?;
            self.propose(value, Priority::Default, &layout);
            self.spread(ops)?;
        }
        Ok(())
    }

    /// What threads would compute many times over takes such a layout last.
    fn spread(&mut self, ops: &[OpId]) -> Result<(), Diagnostic> {
        let mut many = false;
        loop {
            let mut changed = false;
            for &op in ops.iter().rev().chain(ops) {
                changed |= self.relate(op, many)?;
            }
            match (changed, many) {
                (false, true) => return Ok(()),
                _ => many = !changed,
            }
        }
    }

    /// Derives one side's layout of a relation from the other's; whether it did. With `many`, a source may lie as its
    /// broadcast does even where each thread then computes many of its elements.
    fn relate(&mut self, op: OpId, many: bool) -> Result<bool, Diagnostic> {
        if let Some(parts) = Parts::of(self.m, self.facts, op) {
            return self.relate_parts(op, &parts);
        }
        let Some(relation) = Relation::of(self.m, op) else {
            return Ok(false);
        };
        let data = self.m.op(op);
        let pairs = data.operands.iter().copied().zip(data.results.clone());
        let mut changed = false;
        for (source, result) in pairs.collect::<SmallVec<[_; 2]>>() {
            // A scalar has no layout to spread to.
            if !is_distributed(self.m, source) || !is_distributed(self.m, result) {
                continue;
            }
            match (self.proposed(source), self.proposed(result)) {
                (None, Some((_, r))) => {
                    let r = self.m.layouts.get(r).clone();
                    let layout = at(self.m, op, relation.source_of(self.m, source, &r))?;
                    let broadcast = matches!(relation, Relation::Broadcast);
                    if let Some(layout) = layout
                        && (many || !broadcast || self.may_hold(op, source, &layout)?)
                    {
                        self.propose(source, Priority::Derived, &layout);
                        changed = true;
                    }
                }
                (Some((_, s)), None) => {
                    let s = self.m.layouts.get(s).clone();
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

    /// The same between a tile and its parts.
    fn relate_parts(&mut self, op: OpId, parts: &Parts) -> Result<bool, Diagnostic> {
        let (side, layout) = match (self.known(parts.whole), self.known(parts.part)) {
            (None, Some(part)) => (parts.whole, parts.whole_of(self.m, &part, self.warps)),
            (Some(whole), None) => (parts.part, parts.part_of(self.m, &whole)),
            _ => return Ok(false),
        };
        let layout = at(self.m, op, layout)?.filter(|_| is_distributed(self.m, side));
        let Some(layout) = layout else {
            return Ok(false);
        };
        self.propose(side, Priority::Derived, &layout);
        Ok(true)
    }

    /// Whether a layout leaves each thread not many more elements of a source than the default does, or nothing but what is
    /// computed one by one.
    fn may_hold(&mut self, op: OpId, source: ValueId, layout: &Layout) -> Result<bool, Diagnostic> {
        let default = at(self.m, op, default_layout(self.m, source, self.warps))?;
        let most = MANY * canonical(&default).registers();
        Ok(layout.registers() <= most || !self.is_computed(source))
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
        for value in self.tiles() {
            let id = match self.proposed(value) {
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

/// Whether a loop that multiplies stands in a block.
fn has_loop_of_matmuls(m: &Module, block: BlockId) -> bool {
    let loops = m.block(block).ops.iter().copied();
    let mut loops = loops.filter(|&o| matches!(C::of(m.op(o).kind), Some(C::For | C::Loop)));
    loops.any(|o| {
        m.ops_inside(o)
            .into_iter()
            .any(|inner| Matmul::of(m.op(inner)).is_some())
    })
}

/// Whether an operation loads through pointers.
fn is_load(m: &Module, op: OpId) -> bool {
    S::of(m.op(op).kind) == Some(S::Load)
}

/// Constants and iotas can be made in any layout.
fn is_free(m: &Module, op: OpId) -> bool {
    matches!(C::of(m.op(op).kind), Some(C::Constant | C::Iota))
}

/// Whether an operation works element by element and does more than convert.
fn computes(m: &Module, op: OpId) -> bool {
    let kind = m.op(op).kind;
    let converts = casts(m, op) || C::of(kind) == Some(C::Assume);
    kind.def().traits.has(Traits::ELEMENTWISE) && !converts
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

/// Whether what an operation makes is stored, if it is used, and nothing else.
fn is_stored(m: &Module, op: OpId) -> bool {
    let stores = |user: OpId| matches!(S::of(m.op(user).kind), Some(S::TiledStore | S::Store));
    let results = m.op(op).results.iter();
    let mut last = results.flat_map(|&r| last_users(m, r));
    last.all(|(_, user)| user.is_none_or(stores))
}
