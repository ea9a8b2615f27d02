//! A function into the e-graph: pure operations become nodes; effects, control flow and block
//! arguments form the skeleton that refers to them.

use egg::Id;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::analysis::{Graph, add_operation, learn};
use super::node::{AttrsId, Head, Leaf, Node, is_effect};
use crate::dialect::nvvm::view;
use crate::dialect::{Arity, Control, Traits};
use crate::facts::FactMap;
use crate::ir::{BlockId, LocId, Module, OpId, RegionId, ValueId};

/// Index of a block in [`Skeleton::blocks`].
pub type BlockIx = usize;

/// Something that happens at a place.
pub enum Item {
    /// An operation with an effect.
    Effect { node: Id, op: OpId },
    /// An operation with regions.
    Region {
        op: OpId,
        operands: Vec<Id>,
        blocks: Vec<BlockIx>,
        /// Numbers of the [`Head::Value`]s that are its results.
        results: Vec<u32>,
        /// Without an effect: dropped when no result is used.
        pure: bool,
    },
    /// The end of a block.
    Terminator { op: OpId, operands: Vec<Id> },
}

/// How often a block runs when the operation that holds it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runs {
    /// Once or not at all: a branch of an `if`, the function's own block.
    Perhaps,
    /// Once: the body of a loop that every way through leaves, which is how front ends write an early return.
    Once,
    /// As often as a loop says: what does not change inside may be computed before.
    Repeatedly,
    /// As often as a loop says that seldom is come to: nothing is computed before it for its sake.
    Rarely,
}

/// A block and where it is.
pub struct Block {
    pub id: BlockId,
    /// The enclosing block and the index there of the item that holds this one.
    pub parent: Option<(BlockIx, usize)>,
    /// Nesting depth, 0 for the function's own block.
    pub depth: usize,
    /// How many of the blocks from the function's own to this one repeat.
    pub loops: usize,
    pub runs: Runs,
    pub items: Vec<Item>,
    /// Numbers of the values that are its arguments.
    pub args: Vec<u32>,
}

impl Block {
    pub fn repeats(&self) -> bool {
        self.runs == Runs::Repeatedly
    }
}

/// An opaque value and where it becomes available.
pub struct Opaque {
    pub value: ValueId,
    pub block: BlockIx,
    /// The item that defines it, unless it is a block argument.
    pub item: Option<usize>,
}

/// What is not in the e-graph.
#[derive(Default)]
pub struct Skeleton {
    pub blocks: Vec<Block>,
    pub values: Vec<Opaque>,
    /// Source location by the class an operation was added as.
    pub locs: Vec<(Id, LocId)>,
    pub effects: u32,
}

impl Skeleton {
    /// The loops and the operations that hold loops, each as the block and the item there that it is.
    pub fn loops(&self) -> FxHashSet<(BlockIx, usize)> {
        let mut loops = FxHashSet::default();
        for block in self.blocks.iter().filter(|b| b.repeats()) {
            let mut at = block.parent;
            while let Some(place) = at
                && loops.insert(place)
            {
                at = self.blocks[place.0].parent;
            }
        }
        loops
    }

    /// The loops that hold another loop whose body is such as `inner` says, each as the block and the item there that
    /// it is.
    pub fn loops_around(&self, inner: impl Fn(&Block) -> bool) -> FxHashSet<(BlockIx, usize)> {
        let mut outer = FxHashSet::default();
        for block in self.blocks.iter().filter(|b| b.repeats() && inner(b)) {
            let mut at = block.parent;
            while let Some((parent, _)) = at {
                let around = &self.blocks[parent];
                if around.repeats() {
                    outer.extend(around.parent);
                }
                at = around.parent;
            }
        }
        outer
    }
}

struct Builder<'a> {
    module: &'a Module,
    graph: &'a mut Graph,
    facts: &'a FactMap,
    skeleton: Skeleton,
    ids: FxHashMap<ValueId, Id>,
    absent: Id,
}

/// Adds the regions of `func` to the e-graph.
pub fn build(module: &Module, func: OpId, graph: &mut Graph, facts: &FactMap) -> Skeleton {
    let absent = graph.add(Node::leaf(Head::Absent));
    graph.analysis.threads = crate::facts::block_size(module.op(func));
    let mut builder = Builder {
        module,
        graph,
        facts,
        skeleton: Skeleton::default(),
        ids: FxHashMap::with_capacity_and_hasher(module.values_under(func), FxBuildHasher),
        absent,
    };
    for &region in &module.op(func).regions {
        for &block in &module.region(region).blocks {
            builder.block(block, None, Runs::Perhaps);
        }
    }
    builder.graph.analysis.here = usize::MAX;
    builder.skeleton
}

impl Builder<'_> {
    fn block(&mut self, id: BlockId, parent: Option<(BlockIx, usize)>, runs: Runs) -> BlockIx {
        let index = self.skeleton.blocks.len();
        let depth = parent.map_or(0, |(p, _)| self.skeleton.blocks[p].depth + 1);
        let around = parent.map_or(0, |(p, _)| self.skeleton.blocks[p].loops);
        self.skeleton.blocks.push(Block {
            id,
            parent,
            depth,
            loops: around + usize::from(runs == Runs::Repeatedly),
            runs,
            items: Vec::new(),
            args: Vec::new(),
        });
        let module = self.module;
        let args = module
            .block(id)
            .args
            .iter()
            .map(|&v| self.opaque(v, index, None))
            .collect();
        self.skeleton.blocks[index].args = args;
        for &op in &module.block(id).ops {
            self.operation(op, index);
        }
        index
    }

    /// A value the e-graph knows nothing about but its facts.
    fn opaque(&mut self, value: ValueId, block: BlockIx, item: Option<usize>) -> u32 {
        let number = self.skeleton.values.len() as u32;
        self.skeleton.values.push(Opaque { value, block, item });
        let facts = self.facts.get(value).cloned();
        let ty = self.module.ty(value);
        let facts =
            facts.unwrap_or_else(|| crate::facts::Facts::top(&self.graph.analysis.types, ty));
        self.graph.analysis.values.push((ty, facts));
        self.graph.analysis.here = self.skeleton.blocks.get(block).map_or(0, |b| b.loops);
        let id = self.graph.add(Node::leaf(Head::Value(number)));
        self.ids.insert(value, id);
        number
    }

    /// The class of a value. Values from outside the function cannot occur: functions are isolated.
    fn id(&mut self, value: ValueId) -> Id {
        match self.ids.get(&value) {
            Some(&id) => id,
            None => {
                self.opaque(value, 0, None);
                self.ids.get(&value).copied().unwrap_or(self.absent)
            }
        }
    }

    fn operation(&mut self, id: OpId, block: BlockIx) {
        let module = self.module;
        let op = module.op(id);
        let traits = op.def().traits;
        if traits.has(Traits::TERMINATOR) {
            let operands = op.operands.iter().map(|&v| self.id(v)).collect();
            self.skeleton.blocks[block]
                .items
                .push(Item::Terminator { op: id, operands });
        } else if op.regions.is_empty() {
            self.node(id, block);
        } else {
            self.region(id, block);
        }
    }

    fn region(&mut self, id: OpId, block: BlockIx) {
        let module = self.module;
        let op = module.op(id);
        let item = self.skeleton.blocks[block].items.len();
        let operands = op.operands.iter().map(|&v| self.id(v)).collect();
        self.skeleton.blocks[block].items.push(Item::Region {
            op: id,
            operands,
            blocks: Vec::new(),
            results: Vec::new(),
            pure: op.def().is_pure(),
        });
        let runs = runs(module, id);
        let mut inner = Vec::new();
        for &region in &op.regions {
            for &b in &module.region(region).blocks {
                inner.push(self.block(b, Some((block, item)), runs));
            }
        }
        let values = op
            .results
            .iter()
            .map(|&v| self.opaque(v, block, Some(item)))
            .collect();
        if let Some(Item::Region {
            blocks, results, ..
        }) = self.skeleton.blocks[block].items.get_mut(item)
        {
            *blocks = inner;
            *results = values;
        }
    }

    fn node(&mut self, id: OpId, block: BlockIx) {
        let module = self.module;
        let op = module.op(id);
        let def = op.def();
        let mut attrs: SmallVec<[Leaf; 6]> = SmallVec::new();
        if is_effect(def) {
            attrs.push(Leaf::Effect(self.skeleton.effects));
            self.skeleton.effects += 1;
        }
        let know = &mut self.graph.analysis;
        for i in 0..def.attrs.len() {
            attrs.push(know.attrs.leaf_of(&know.types, op.attr(i)));
        }
        for (i, &result) in op.results.iter().enumerate() {
            let row = def.results.get(i).or(def.results.last());
            if row.is_some_and(|r| r.ty == crate::dialect::ResultType::Explicit) {
                attrs.push(Leaf::Type(module.ty(result)));
            }
        }
        let attrs = self.graph.analysis.attrs.intern(attrs);
        let mut children = SmallVec::new();
        for (i, group) in def.operands.iter().enumerate() {
            children.push(self.group(op.group(i), group.arity));
        }
        self.graph.analysis.here = self.skeleton.blocks[block].loops;
        let node = Node {
            head: Head::Op(op.kind),
            attrs,
            children,
        };
        let node = add_operation(self.graph, def, node);
        self.skeleton.locs.push((node, op.loc));
        self.results(id, node);
        if is_effect(def) {
            self.skeleton.blocks[block]
                .items
                .push(Item::Effect { node, op: id });
        }
    }

    fn group(&mut self, values: &[ValueId], arity: Arity) -> Id {
        match (arity, values) {
            (Arity::Variadic, _) => {
                let children = values.iter().map(|&v| self.id(v)).collect();
                self.graph.add(Node {
                    head: Head::List,
                    attrs: AttrsId::NONE,
                    children,
                })
            }
            (_, [value, ..]) => self.id(*value),
            (_, []) => self.absent,
        }
    }

    fn results(&mut self, id: OpId, node: Id) {
        let op = self.module.op(id);
        let single = op.def().has_one_result();
        for (i, &result) in op.results.iter().enumerate() {
            let class = if single {
                node
            } else {
                self.graph.add(Node {
                    head: Head::Proj(i as u32),
                    attrs: AttrsId::NONE,
                    children: [node].into_iter().collect(),
                })
            };
            self.ids.insert(result, class);
            if !single || is_effect(op.def()) {
                learn(self.graph, class, self.facts, result);
            }
        }
    }
}

/// How often the regions of an operation run.
fn runs(module: &Module, id: OpId) -> Runs {
    let op = module.op(id);
    match Control::of(op.kind) {
        Some(Control::If) => Runs::Perhaps,
        Some(Control::For) if view::For::of(op).is_some_and(|v| v.rare()) => Runs::Rarely,
        Some(Control::Loop) if !op.regions.iter().any(|&r| continues(module, r)) => Runs::Once,
        _ => Runs::Repeatedly,
    }
}

/// Whether something in a region goes on with the next iteration of the loop around it.
fn continues(module: &Module, region: RegionId) -> bool {
    let blocks = module.region(region).blocks.iter();
    let mut ops = blocks.flat_map(|&b| &module.block(b).ops);
    ops.any(|&o| {
        let op = module.op(o);
        match Control::of(op.kind) {
            Some(Control::Continue) => true,
            Some(Control::Loop | Control::For) => false,
            _ => op.regions.iter().any(|&r| continues(module, r)),
        }
    })
}
