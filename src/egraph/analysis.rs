//! What each e-class knows: its type and the facts about its elements.

use egg::{DidMerge, EGraph, Id};
use smallvec::SmallVec;

use super::node::{AttrTable, Head, Leaf, Node, is_effect};
use crate::dialect::{OpDef, OpKind, ResultType, Traits};
use crate::facts::semantics;
use crate::facts::{self, FactMap, Facts, Uniformity};
use crate::ir::{Attr, Type, TypeId, Types};

/// The e-graph the engine works on.
pub type Graph = EGraph<Node, Know>;

/// Adds an operation. Two operands that may change places are the same operation either way: `b + a`, if `a + b` is there.
pub fn add_operation(graph: &mut Graph, def: &OpDef, node: Node) -> Id {
    if def.traits.has(Traits::COMMUTATIVE)
        && let [a, b] = node.children[..]
        && a != b
    {
        let mut swapped = node.clone();
        swapped.children.swap(0, 1);
        if let Some(there) = graph.lookup(swapped) {
            return there;
        }
    }
    graph.add(node)
}

/// What a class knows.
#[derive(Clone, Debug)]
pub struct Class {
    /// `None` for lists, absent operands, effects without a result and operations of several.
    pub ty: Option<TypeId>,
    pub facts: Facts,
    /// The loops around the innermost value that it depends on, in the form where they are fewest.
    pub loops: usize,
}

/// The analysis: everything nodes refer to by number, and what changed since it was last asked.
pub struct Know {
    pub types: Types,
    pub attrs: AttrTable,
    /// Type and facts of each [`Head::Value`].
    pub values: Vec<(TypeId, Facts)>,
    /// The threads of the block that runs the function, where it is known.
    pub threads: Option<i64>,
    /// The loops around the values and effects that are being added; more than there are once the function is built.
    pub here: usize,
    /// The operation that constants found by folding are written as.
    pub constant: Option<OpKind>,
    /// Classes that were made, merged or learned something.
    pub touched: Vec<Id>,
}

impl Know {
    /// The row of a node that is an operation or an instruction.
    pub fn def(&self, head: Head) -> Option<&'static OpDef> {
        match head {
            Head::Op(kind) => Some(kind.def()),
            _ => None,
        }
    }

    /// The attributes of a node, without its effect number and result types.
    pub fn attrs_of(&self, node: &Node) -> &[Leaf] {
        let list = self.attrs.get(node.attrs);
        let Some(def) = self.def(node.head) else {
            return list;
        };
        let start = is_effect(def) as usize;
        list.get(start..start + def.attrs.len()).unwrap_or(&[])
    }

    /// The explicit result types of a node.
    pub fn result_types_of(&self, node: &Node) -> &[Leaf] {
        let Some(def) = self.def(node.head) else {
            return &[];
        };
        let start = is_effect(def) as usize + def.attrs.len();
        self.attrs.get(node.attrs).get(start..).unwrap_or(&[])
    }

    /// The shape of `ty` with another element.
    pub fn like(&mut self, ty: TypeId, elem: TypeId) -> TypeId {
        like(&mut self.types, ty, elem)
    }
}

/// The shape of `ty` with another element.
pub fn like(types: &mut Types, ty: TypeId, elem: TypeId) -> TypeId {
    let new = match types.get(ty).clone() {
        Type::Tile { shape, .. } => Type::Tile { elem, shape },
        Type::Distributed { shape, layout, .. } => Type::Distributed {
            elem,
            shape,
            layout,
        },
        Type::Regs { n, .. } => Type::Regs { elem, n },
        _ => return elem,
    };
    types.intern(new)
}

/// Type of result `index` of an operation whose explicit types are `explicit` and whose operands
/// have these types.
pub fn result_type(
    types: &mut Types,
    def: &OpDef,
    index: usize,
    explicit: &[Leaf],
    operand: &dyn Fn(usize) -> Option<TypeId>,
) -> Option<TypeId> {
    // A variadic group of results takes all the indices from its place on.
    let at = index.min(def.results.len().checked_sub(1)?);
    let row = def.results.get(at)?;
    match row.ty {
        ResultType::Explicit => {
            let before = def.results[..at]
                .iter()
                .filter(|r| r.ty == ResultType::Explicit)
                .count();
            match explicit.get(before + (index - at))? {
                Leaf::Type(ty) => Some(*ty),
                _ => None,
            }
        }
        ResultType::Operand(i) => operand(i as usize),
        ResultType::BoolLike(i) => {
            let of = operand(i as usize)?;
            let i1 = types.int(1);
            Some(like(types, of, i1))
        }
        ResultType::Token => Some(types.intern(Type::Token)),
    }
}

fn nothing() -> Facts {
    Facts {
        constant: None,
        divisor: 1,
        lo: i64::MIN,
        hi: i64::MAX,
        uniform: Uniformity::Thread,
        axes: SmallVec::new(),
    }
}

impl egg::Analysis<Node> for Know {
    type Data = Class;

    fn make(graph: &mut Graph, node: &Node, _id: Id) -> Class {
        let (ty, facts) = match node.head {
            Head::Value(i) => match graph.analysis.values.get(i as usize) {
                Some((ty, facts)) => (Some(*ty), facts.clone()),
                None => (None, nothing()),
            },
            Head::List | Head::Absent => (None, nothing()),
            Head::Proj(index) => projection(graph, node, index as usize),
            Head::Op(_) => operation(graph, node),
        };
        let loops = loops(graph, node);
        Class { ty, facts, loops }
    }

    fn merge(&mut self, to: &mut Class, from: Class) -> DidMerge {
        let a = to.facts.meet(&from.facts);
        if to.ty.is_none() {
            to.ty = from.ty;
        }
        if let Some(ty) = to.ty
            && a
        {
            to.facts.normalise(self.types.bits(ty).unwrap_or(64));
        }
        let outside = from.loops < to.loops;
        to.loops = to.loops.min(from.loops);
        // Whether `from` learned something is not worth a comparison: its parents are revisited.
        DidMerge(a || outside, true)
    }

    fn modify(graph: &mut Graph, id: Id) {
        graph.analysis.touched.push(id);
        fold(graph, id);
    }
}

/// The loops around the place where a node can be computed: behind its operands; what has an effect, where it stands.
fn loops(graph: &Graph, node: &Node) -> usize {
    let stands = match node.head {
        Head::Value(_) => true,
        _ => keeps(graph, node),
    };
    if stands {
        return graph.analysis.here;
    }
    let operands = node.children.iter().map(|&c| graph[c].data.loops);
    operands.max().unwrap_or(0)
}

/// Effects must stay the form of their class.
fn keeps(graph: &Graph, node: &Node) -> bool {
    graph.analysis.def(node.head).is_some_and(is_effect)
}

/// A constant class gets a constant node.
fn fold(graph: &mut Graph, id: Id) {
    let Some(kind) = graph.analysis.constant else {
        return;
    };
    let class = &graph[id];
    let (Some(bits), Some(ty)) = (class.data.facts.constant, class.data.ty) else {
        return;
    };
    if !matches!(
        graph.analysis.types.get(graph.analysis.types.elem(ty)),
        Type::Int(_) | Type::Float(_)
    ) || class
        .nodes
        .iter()
        .any(|n| n.head == Head::Op(kind) || keeps(graph, n))
    {
        return;
    }
    let attrs = graph
        .analysis
        .attrs
        .intern([Leaf::Bits(bits), Leaf::Type(ty)].into_iter().collect());
    let constant = graph.add(Node {
        head: Head::Op(kind),
        attrs,
        children: SmallVec::new(),
    });
    graph.union(id, constant);
}

fn projection(graph: &mut Graph, node: &Node, index: usize) -> (Option<TypeId>, Facts) {
    let unknown = (None, nothing());
    let Some(&child) = node.children.first() else {
        return unknown;
    };
    // An operation of several results is alone in its class.
    let Some(op) = graph[child].nodes.first().cloned() else {
        return unknown;
    };
    let ty = node_type(graph, &op, index);
    let mut facts = ty.map_or_else(nothing, |ty| Facts::top(&graph.analysis.types, ty));
    if let (Head::Op(kind), Some(ty)) = (op.head, ty) {
        use crate::dialect::cuda_tile::Op;
        match Op::of(kind) {
            Some(Op::GetTileBlockId) => {
                facts = facts::grid_bounds(&graph.analysis.types, ty, index, false)
            }
            Some(Op::GetNumTileBlocks) => {
                facts = facts::grid_bounds(&graph.analysis.types, ty, index, true)
            }
            _ => {}
        }
    }
    (ty, facts)
}

fn node_type(graph: &mut Graph, node: &Node, index: usize) -> Option<TypeId> {
    let def = graph.analysis.def(node.head)?;
    let explicit: SmallVec<[Leaf; 4]> = SmallVec::from_slice(graph.analysis.result_types_of(node));
    // Types are interned while the result's is made: the one that it is like is looked up before.
    let like = match def.results.get(index).or(def.results.last())?.ty {
        ResultType::Operand(i) | ResultType::BoolLike(i) => node
            .children
            .get(i as usize)
            .and_then(|&c| graph[c].data.ty),
        ResultType::Explicit | ResultType::Token => None,
    };
    let types = &mut graph.analysis.types;
    result_type(types, def, index, &explicit, &|_| like)
}

fn operation(graph: &mut Graph, node: &Node) -> (Option<TypeId>, Facts) {
    let Some(def) = graph.analysis.def(node.head) else {
        return (None, nothing());
    };
    let ty = if def.has_one_result() {
        node_type(graph, node, 0)
    } else {
        None
    };
    let Some(ty) = ty else {
        return (None, nothing());
    };
    let Head::Op(kind) = node.head else {
        let facts = Facts {
            uniform: Uniformity::Thread,
            ..Facts::top(&graph.analysis.types, ty)
        };
        return (Some(ty), facts);
    };
    (Some(ty), facts_of(graph, node, kind, def, ty))
}

fn facts_of(graph: &mut Graph, node: &Node, kind: OpKind, def: &OpDef, ty: TypeId) -> Facts {
    let know = &graph.analysis;
    let types = &know.types;
    if is_effect(def) {
        let mut facts = Facts::top(types, ty);
        if kind.dialect == crate::dialect::Dialect::Nvvm {
            facts.uniform = Uniformity::Thread;
        }
        return facts;
    }
    let attrs = know.attrs_of(node);
    let leaf = |i: usize| attrs.get(i).copied().unwrap_or(Leaf::Absent);
    if def.traits.has(crate::dialect::Traits::CONSTANT) {
        return match leaf(0) {
            Leaf::Bits(bits) => facts::splat(types, bits, ty),
            data => match know.attrs.structured(data) {
                Some(Attr::Dense { data, .. }) => facts::constant(types, data, ty),
                _ => Facts::top(types, ty),
            },
        };
    }
    let operands: Option<SmallVec<[(&Facts, TypeId); 4]>> = node
        .children
        .iter()
        .map(|&c| graph[c].data.ty.map(|ty| (&graph[c].data.facts, ty)))
        .collect();
    let Some(operands) = operands else {
        let mut facts = Facts::top(types, ty);
        facts.uniform = Uniformity::Thread;
        return facts;
    };
    let mut facts = facts::transfer(types, kind, &leaf, &operands, ty);
    facts::within_block(kind, &leaf, know.threads, &mut facts);
    if crate::dialect::cuda_tile::Op::of(kind) == Some(crate::dialect::cuda_tile::Op::Assume) {
        facts = operands.first().map_or(facts, |o| o.0.clone());
        if let Some(Attr::Assume(predicate)) = know.attrs.structured(leaf(0)) {
            facts::assume(types, predicate, ty, &mut facts);
        }
    }
    if facts.constant.is_none() {
        facts.constant = semantics::fold(types, kind, &leaf, &operands, ty);
    }
    facts
}

/// Records facts that were computed outside the e-graph.
pub fn learn(graph: &mut Graph, id: Id, map: &FactMap, value: crate::ir::ValueId) {
    let Some(known) = map.get(value) else { return };
    let mut class = graph[id].data.clone();
    if class.facts.uniform == Uniformity::Thread && class.ty.is_some() {
        class.facts.uniform = known.uniform;
    }
    if class.facts.meet(known) {
        graph.set_analysis_data(id, class);
    }
}
