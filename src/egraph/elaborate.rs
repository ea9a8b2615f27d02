//! Chosen forms back into blocks: every value computed once, as late as its first use, but before a branch that needs it as
//! well as something behind it, and before the loops in which it does not change.

mod live;

use super::analysis::{Graph, result_type};
use super::branches::{Stretch, shared};
use super::build::{BlockIx, Item, Runs, Skeleton};
use super::by_class::ByClass;
use super::cost::CostModel;
use super::crowd::{self, Crowd};
use super::earlier;
use super::extract::Choice;
use super::missing::{self, no_form};
use super::node::{AttrTable, Head, Leaf, Node, is_effect};
use super::schedule::{Inst, Schedule, ScheduledBlock, ScheduledValue, Step, Val};
use super::waits;
use crate::dialect::OpDef;
use crate::ir::{Diagnostic, LocId, Module, TypeId, ValueId};
use egg::Id;
use live::{Live, cheap, depths};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Places the chosen forms. The schedule's attributes are left to whoever takes the graph apart.
pub fn elaborate(
    graph: &mut Graph,
    skeleton: &Skeleton,
    choice: &Choice,
    model: &dyn CostModel,
    module: &Module,
) -> Result<Schedule, Diagnostic> {
    let mut locs = ByClass::new(graph);
    for &(id, loc) in &skeleton.locs {
        if let Some(first @ None) = locs.get_mut(graph.find(id)) {
            *first = Some(loc);
        }
    }
    let live = Live::new(graph, skeleton, choice).map_err(|id| {
        let (error, loc) = missing::explain(graph, &locs, choice, model, id);
        match loc {
            Some(loc) => error.at(module.source_of(loc)),
            None => error,
        }
    })?;
    let crowd = Crowd::of(graph, choice, model);
    let crowded = crowd::crowded_loops(graph, skeleton);
    let depths = depths(graph, skeleton, choice);
    let mut place = Place {
        widened: crowd::widened(graph, choice, model, &depths),
        depths,
        cheap: cheap(graph, choice, model),
        made: ByClass::new(graph),
        graph,
        skeleton,
        choice,
        model,
        live: &live,
        locs,
        outer: skeleton.loops_around(|_| true),
        loops: skeleton.loops(),
        crowded,
        crowd,
        schedule: Schedule {
            blocks: Vec::new(),
            values: Vec::new(),
            attrs: AttrTable::default(),
        },
        loc: LocId::UNKNOWN,
    };
    place.declare();
    place.block(0)?;
    let mut schedule = place.schedule;
    earlier::move_up(graph, &mut schedule);
    waits::compute_before(graph, &mut schedule);
    Ok(schedule)
}

struct Place<'a> {
    graph: &'a mut Graph,
    skeleton: &'a Skeleton,
    choice: &'a Choice,
    model: &'a dyn CostModel,
    live: &'a Live,
    locs: ByClass<Option<LocId>>,
    depths: ByClass<Option<usize>>,
    cheap: ByClass<bool>,
    /// Loops that hold loops, each as the block and the item there that it is.
    outer: FxHashSet<(BlockIx, usize)>,
    /// Loops and operations that hold loops.
    loops: FxHashSet<(BlockIx, usize)>,
    /// Those of `outer` in which a loop carries so much that what does not change in all of them is better made again.
    crowded: FxHashSet<(BlockIx, usize)>,
    crowd: Crowd,
    /// Arrays that are made in the loops that use them.
    widened: FxHashSet<Id>,
    /// The (first) value of a class in each block that makes it.
    made: ByClass<SmallVec<[(BlockIx, Val); 1]>>,
    schedule: Schedule,
    /// Location of the operation being served, for what has none of its own.
    loc: LocId,
}

impl Place<'_> {
    /// Blocks and opaque values. An opaque value stands for its class only where it is the chosen
    /// form: a result that is found to be a constant is one of its operation's results still, but
    /// whoever needs the class makes the constant, and the operation may be dropped.
    fn declare(&mut self) {
        for block in &self.skeleton.blocks {
            self.schedule.blocks.push(ScheduledBlock {
                id: block.id,
                args: Vec::new(),
                steps: Vec::new(),
                dead: true,
            });
        }
        for (n, opaque) in self.skeleton.values.iter().enumerate() {
            let ty = self.graph.analysis.values[n].0;
            let val = self.value(ty, Some(opaque.value));
            let head = Head::Value(n as u32);
            if let Some(id) = self.graph.lookup(Node::leaf(head)) {
                let id = self.graph.find(id);
                if self.choice.node(id).is_some_and(|node| node.head == head) {
                    self.make(id, opaque.block, val);
                }
            }
        }
        for (i, block) in self.skeleton.blocks.iter().enumerate() {
            self.schedule.blocks[i].args.clone_from(&block.args);
        }
    }

    fn value(&mut self, ty: TypeId, source: Option<ValueId>) -> Val {
        self.schedule.values.push(ScheduledValue { ty, source });
        self.schedule.values.len() as Val - 1
    }

    /// Notes that `block` makes a class.
    fn make(&mut self, id: Id, block: BlockIx, val: Val) {
        if let Some(made) = self.made.get_mut(id) {
            made.push((block, val));
        }
    }

    fn loc(&self, id: Id) -> LocId {
        self.locs.get(id).copied().flatten().unwrap_or(self.loc)
    }

    fn is_cheap(&self, id: Id) -> bool {
        self.cheap.get(id).copied().unwrap_or(false)
    }

    fn block(&mut self, index: BlockIx) -> Result<(), Diagnostic> {
        self.schedule.blocks[index].dead = false;
        let skeleton = self.skeleton;
        let mut stretch = None;
        for (i, item) in skeleton.blocks[index].items.iter().enumerate() {
            match item {
                Item::Effect { node, .. } => {
                    let id = self.graph.find(*node);
                    self.loc = self.loc(id);
                    let choice = self.choice;
                    let chosen = choice.node(id).filter(|n| self.is_effect(n));
                    let Some(chosen) = chosen else {
                        return Err(no_form(self.graph, self.model, id));
                    };
                    self.serve(&chosen.children, index)?;
                    self.emit(id, chosen, index)?;
                }
                Item::Terminator { op, operands } => {
                    self.serve(operands, index)?;
                    let operands = self.values(operands, index)?;
                    self.schedule.blocks[index]
                        .steps
                        .push(Step::Terminator { op: *op, operands });
                }
                Item::Region {
                    op,
                    operands,
                    blocks,
                    results,
                    ..
                } => {
                    if !self.live.regions.contains(&(index, i)) {
                        continue;
                    }
                    self.serve(operands, index)?;
                    let operands = self.values(operands, index)?;
                    self.serve_branches(blocks, index)?;
                    if let &[branch] = blocks.as_slice() {
                        self.serve_again(branch, (index, i), &mut stretch)?;
                    }
                    for &block in blocks {
                        self.block(block)?;
                    }
                    self.schedule.blocks[index].steps.push(Step::Region {
                        op: *op,
                        operands,
                        blocks: blocks.clone(),
                        results: results.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Computes what all of several branches need before them. Many conditions are compared again in each: kept, they take a
    /// register each, for predicates are few.
    fn serve_branches(&mut self, branches: &[BlockIx], block: BlockIx) -> Result<(), Diagnostic> {
        if branches.len() < 2 {
            return Ok(());
        }
        let visible = |id: Id| self.may_precede(id, block);
        let is_live = |region| self.live.regions.contains(&region);
        let (graph, skeleton, choice) = (&*self.graph, self.skeleton, self.choice);
        let again = |id: Id| self.is_condition(id) && crowd::is_wide(graph, id);
        let shared = shared(
            graph, skeleton, choice, branches, &visible, &again, &is_live,
        );
        self.serve(&shared, block)
    }

    /// Computes what a branch needs as well as something behind it before the branch, unless there are loops in it.
    fn serve_again(
        &mut self,
        branch: BlockIx,
        at: (BlockIx, usize),
        stretch: &mut Option<Stretch>,
    ) -> Result<(), Diagnostic> {
        if self.loops.contains(&at) || self.skeleton.blocks[branch].runs != Runs::Perhaps {
            return Ok(());
        }
        let (graph, skeleton, choice) = (&*self.graph, self.skeleton, self.choice);
        let known = |id: Id| self.find(id, at.0).is_some();
        let is_live = |region| self.live.regions.contains(&region);
        let reaching = stretch.take().filter(|s| s.reaches(at.1));
        let reaching = reaching.unwrap_or_else(|| {
            Stretch::new(graph, skeleton, choice, at, &known, &is_live, &self.loops)
        });
        // A condition is compared again rather than kept: predicates are few.
        let shared = |id: Id| self.may_precede(id, at.0) && !self.is_condition(id) && !known(id);
        let again = reaching.needed_again(graph, skeleton, choice, at, &is_live, &shared);
        *stretch = Some(reaching);
        self.serve(&again, at.0)
    }

    /// Whether a class can be computed in a block, in front of a branch that needs it.
    fn may_precede(&self, id: Id, block: BlockIx) -> bool {
        let depth = self.skeleton.blocks[block].depth;
        let computed = |node: &Node| {
            !matches!(node.head, Head::Absent | Head::List | Head::Value(_))
                && !self.is_effect(node)
        };
        self.depths
            .get(id)
            .is_some_and(|d| d.is_some_and(|d| d <= depth))
            && self.choice.node(id).is_some_and(computed)
            && !self.is_cheap(id)
            && !self.crowd.stays_in_branches(id)
    }

    fn is_condition(&self, id: Id) -> bool {
        let ty = self.graph[id].data.ty;
        ty.and_then(|t| self.graph.analysis.types.bits(t)) == Some(1)
    }

    fn def(&self, node: &Node) -> Option<&'static OpDef> {
        self.graph.analysis.def(node.head)
    }

    fn is_effect(&self, node: &Node) -> bool {
        self.def(node).is_some_and(is_effect)
    }

    fn values(&self, ids: &[Id], block: BlockIx) -> Result<Vec<Val>, Diagnostic> {
        ids.iter()
            .map(|&id| {
                self.find(id, block)
                    .ok_or_else(|| no_form(self.graph, self.model, self.graph.find(id)))
            })
            .collect()
    }

    /// The value of a class that is visible in a block.
    fn find(&self, id: Id, block: BlockIx) -> Option<Val> {
        let id = self.graph.find(id);
        let made = self.made.get(id)?;
        let here_only = self.is_cheap(id);
        let mut at = Some(block).filter(|_| !made.is_empty());
        while let Some(b) = at {
            if let Some((_, val)) = made.iter().find(|made| made.0 == b) {
                return Some(*val);
            }
            if here_only {
                return None;
            }
            at = self.skeleton.blocks[b].parent.map(|p| p.0);
        }
        None
    }

    /// Makes classes available in a block.
    fn serve(&mut self, ids: &[Id], block: BlockIx) -> Result<(), Diagnostic> {
        let mut stack: Vec<(Id, BlockIx)> = ids.iter().rev().map(|&id| (id, block)).collect();
        while let Some(&(id, block)) = stack.last() {
            let id = self.graph.find(id);
            let choice = self.choice;
            let Some(node) = choice.node(id) else {
                return Err(no_form(self.graph, self.model, id));
            };
            if node.head == Head::Absent || self.find(id, block).is_some() {
                stack.pop();
                continue;
            }
            let at = match node.head {
                Head::List => block,
                _ => self.home(id, node, block),
            };
            let below = stack.len();
            for &child in node.children.iter().rev() {
                if !self.ready(child, at) {
                    stack.push((child, at));
                }
            }
            if stack.len() == below {
                stack.pop();
                if node.head != Head::List {
                    self.emit(id, node, at)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a child needs nothing more to be used in a block.
    fn ready(&self, id: Id, block: BlockIx) -> bool {
        let id = self.graph.find(id);
        match self.choice.node(id) {
            Some(node) if node.head == Head::Absent => true,
            Some(node) if node.head == Head::List => {
                node.children.iter().all(|&c| self.ready(c, block))
            }
            Some(_) => self.find(id, block).is_some(),
            None => false,
        }
    }

    /// The block to compute a class in: before the outermost loop that does not change it. What takes little work and
    /// many registers only leaves loops that hold no other: further out it would take its registers from them. Where
    /// these have none to spare, so does all that takes little work.
    fn home(&self, id: Id, node: &Node, block: BlockIx) -> BlockIx {
        if self.is_cheap(id) {
            return block;
        }
        let depth = self.depths.get(id).copied().flatten().unwrap_or(0);
        if self.crowd.stays_in_loops(id) || self.widened.contains(&id) {
            return block;
        }
        if self.skeleton.blocks[block].depth <= depth {
            return block;
        }
        let (wide, easy) = self.is_wide_and_easy(id, node);
        let mut home = block;
        let mut at = block;
        while self.skeleton.blocks[at].depth > depth
            && let Some((parent, item)) = self.skeleton.blocks[at].parent
        {
            match self.skeleton.blocks[at].runs {
                Runs::Repeatedly if easy && self.outer.contains(&(parent, item)) => {
                    if wide {
                        break;
                    }
                    if self.crowded.contains(&(parent, item)) {
                        return at;
                    }
                    home = parent;
                }
                Runs::Repeatedly => home = parent,
                // What several branches in it need is made once.
                Runs::Once if !(wide && easy) => home = at,
                Runs::Once | Runs::Perhaps | Runs::Rarely => {}
            }
            at = parent;
        }
        home
    }

    /// Whether a class's value is an array of registers, and whether few instructions for each element make it.
    fn is_wide_and_easy(&self, id: Id, node: &Node) -> (bool, bool) {
        /// Registers, and tenths of an instruction.
        const WIDE: u64 = 4;
        const EASY: u64 = 40;
        let ty = self.graph[id].data.ty;
        let n = super::cost::elements(&self.graph.analysis, ty);
        let cost = super::cost::of(self.model, self.graph, node, ty);
        (n >= WIDE, cost.is_some_and(|c| c <= EASY * n))
    }

    /// Appends the operation that makes a class.
    fn emit(&mut self, id: Id, node: &Node, block: BlockIx) -> Result<(), Diagnostic> {
        if let Head::Proj(i) = node.head {
            let base = node.children.first().and_then(|&c| self.find(c, block));
            let base = base.ok_or_else(|| no_form(self.graph, self.model, id))?;
            self.make(id, block, base + i);
            return Ok(());
        }
        let Some(def) = self.def(node) else {
            return Err(no_form(self.graph, self.model, id));
        };
        let mut operands: SmallVec<[Val; 4]> = SmallVec::new();
        let mut groups = SmallVec::new();
        for &child in &node.children {
            self.group(child, block, &mut operands)?;
            groups.push(operands.len() as u32);
        }
        let results = self.results(id, node, def)?;
        if let Some(&first) = results.first() {
            self.make(id, block, first);
        }
        let inst = Inst {
            head: node.head,
            attrs: SmallVec::from_slice(self.graph.analysis.attrs_of(node)),
            operands,
            groups,
            results,
            loc: self.loc(id),
        };
        self.schedule.blocks[block].steps.push(Step::Inst(inst));
        Ok(())
    }

    fn group(
        &self,
        id: Id,
        block: BlockIx,
        operands: &mut SmallVec<[Val; 4]>,
    ) -> Result<(), Diagnostic> {
        let id = self.graph.find(id);
        match self.choice.node(id) {
            Some(node) if node.head == Head::Absent => Ok(()),
            Some(node) if node.head == Head::List => node
                .children
                .iter()
                .try_for_each(|&c| self.group(c, block, operands)),
            _ => {
                let val = self
                    .find(id, block)
                    .ok_or_else(|| no_form(self.graph, self.model, id))?;
                operands.push(val);
                Ok(())
            }
        }
    }

    /// New values for an operation's results.
    fn results(
        &mut self,
        id: Id,
        node: &Node,
        def: &OpDef,
    ) -> Result<SmallVec<[Val; 2]>, Diagnostic> {
        let mut results = SmallVec::new();
        if def.has_one_result() {
            let data = &self.graph[id].data;
            let ty = data.ty.ok_or_else(|| no_form(self.graph, self.model, id))?;
            results.push(self.value(ty, None));
            return Ok(results);
        }
        let explicit: SmallVec<[Leaf; 4]> =
            SmallVec::from_slice(self.graph.analysis.result_types_of(node));
        let operands: SmallVec<[Option<TypeId>; 4]> = node
            .children
            .iter()
            .map(|&c| self.graph[self.graph.find(c)].data.ty)
            .collect();
        let variadic = def
            .results
            .last()
            .is_some_and(|r| r.arity == crate::dialect::Arity::Variadic);
        let count = if variadic {
            def.results.len() - 1 + explicit.len()
        } else {
            def.results.len()
        };
        for i in 0..count {
            let types = &mut self.graph.analysis.types;
            let ty = result_type(types, def, i, &explicit, &|j| {
                operands.get(j).copied().flatten()
            });
            let ty = ty.ok_or_else(|| no_form(self.graph, self.model, id))?;
            results.push(self.value(ty, None));
        }
        Ok(results)
    }
}
