//! Where a rule's pattern is found: backtracking over the nodes of classes.

use egg::Id;
use smallvec::SmallVec;

use super::analysis::{Class, Graph};
use super::node::{Head, Leaf, Node, is_effect};
use crate::dialect::meaning::Meaning;
use crate::egraph::rule::{AttrPattern, Constraint, ElemTest, Literal, Pattern};
use crate::ir::{Type, TypeId, Types};
use crate::scalar::IntBinary;

/// What a variable stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Bind {
    #[default]
    Unset,
    Class(Id),
    Leaf(Leaf),
}

/// A match: the variables, and the effect number of the root if it has one.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Binds {
    pub slots: SmallVec<[Bind; 8]>,
    pub effect: Option<u32>,
}

/// A match stops being looked for after this many at one node.
const MATCHES: usize = 64;

/// Calls `found` with every way `pattern` matches with `node` as its root.
pub fn matches(
    graph: &Graph,
    pattern: &Pattern,
    vars: usize,
    node: &Node,
    found: &mut dyn FnMut(&Binds),
) {
    let mut search = Search {
        graph,
        found,
        left: MATCHES,
    };
    let mut binds = Binds::default();
    binds.slots.resize(vars, Bind::Unset);
    let mut work = SmallVec::new();
    search.node(pattern, node, &mut work, &mut binds, true);
}

/// Operands that are operations or lists, of which a class may hold several: they are looked for one after the other.
type Work<'p> = SmallVec<[(&'p Pattern, Id); 8]>;
/// Variables that an operation's attributes or operands have bound.
type Named = SmallVec<[u8; 8]>;

struct Search<'a, 'f> {
    graph: &'a Graph,
    found: &'f mut dyn FnMut(&Binds),
    left: usize,
}

impl Search<'_, '_> {
    /// Matches the last open obligation, then the others. Leaves `work` and `binds` as they were.
    fn step(&mut self, work: &mut Work<'_>, binds: &mut Binds) {
        if self.left == 0 {
            return;
        }
        let Some((pattern, id)) = work.pop() else {
            self.left -= 1;
            (self.found)(binds);
            return;
        };
        let graph = self.graph;
        for node in &graph[id].nodes {
            match pattern {
                Pattern::List(items) => {
                    if node.head == Head::List && node.children.len() == items.len() {
                        let children = node.children.iter().copied();
                        self.operands(items.iter().zip(children), work, binds);
                    }
                }
                _ => self.node(pattern, node, work, binds, false),
            }
        }
        work.push((pattern, id));
    }

    /// Matches an operation pattern with one node. Leaves `work` and `binds` as they were.
    fn node<'p>(
        &mut self,
        pattern: &'p Pattern,
        node: &Node,
        work: &mut Work<'p>,
        binds: &mut Binds,
        root: bool,
    ) {
        let Pattern::Op(op) = pattern else { return };
        if op.head != node.head || op.children.len() != node.children.len() {
            return;
        }
        let effect = binds.effect;
        let mut named = Named::new();
        if self.attributes(&op.attrs, node, binds, &mut named, root) {
            let children = node.children.iter().copied();
            self.operands(op.children.iter().zip(children), work, binds);
            if op.commutative
                && let [a, b, ..] = &*op.children
                && let [x, y, ..] = node.children.as_slice()
                && x != y
            {
                let rest = op.children.iter().zip(node.children.iter().copied());
                let swapped = [(a, *y), (b, *x)].into_iter();
                self.operands(swapped.chain(rest.skip(2)), work, binds);
            }
        }
        binds.effect = effect;
        free(binds, &named);
    }

    /// Matches operands, then the open obligations. Those that can match in one way only come first: they need no looking
    /// for, and most patterns fail there.
    fn operands<'p>(
        &mut self,
        pairs: impl Iterator<Item = (&'p Pattern, Id)>,
        work: &mut Work<'p>,
        binds: &mut Binds,
    ) {
        let (mut named, depth) = (Named::new(), work.len());
        let mut matches = true;
        for (pattern, id) in pairs {
            match pattern {
                Pattern::Op(_) | Pattern::List(_) => work.push((pattern, id)),
                _ => matches = self.single(pattern, id, binds, &mut named),
            }
            if !matches {
                break;
            }
        }
        if matches {
            // The last is looked for first.
            work[depth..].reverse();
            self.step(work, binds);
        }
        work.truncate(depth);
        free(binds, &named);
    }

    /// Whether an operand that is no operation matches. A variable that this binds is added to `named`.
    fn single(&self, pattern: &Pattern, id: Id, binds: &mut Binds, named: &mut Named) -> bool {
        let graph = self.graph;
        match pattern {
            Pattern::Any => true,
            Pattern::Var { slot, constraints } => {
                let id = graph.find(id);
                match binds.slots.get_mut(*slot as usize) {
                    Some(bind @ Bind::Unset) => {
                        let fits = constraints.iter().all(|c| holds(graph, id, c));
                        if fits {
                            *bind = Bind::Class(id);
                            named.push(*slot);
                        }
                        fits
                    }
                    Some(Bind::Class(old)) => graph.find(*old) == id,
                    _ => false,
                }
            }
            Pattern::Literal(literal) => {
                literal_is(&graph.analysis.types, literal, &graph[id].data)
            }
            Pattern::Absent => graph[id].nodes.iter().any(|n| n.head == Head::Absent),
            Pattern::Op(_) | Pattern::List(_) => false,
        }
    }

    /// Whether the attributes match. The variables that this binds are added to `named`, also where they do not.
    fn attributes(
        &self,
        patterns: &[AttrPattern],
        node: &Node,
        binds: &mut Binds,
        named: &mut Named,
        root: bool,
    ) -> bool {
        let know = &self.graph.analysis;
        let mut leaves = know.attrs.get(node.attrs);
        if know.def(node.head).is_some_and(is_effect) {
            let (Some(Leaf::Effect(n)), true) = (leaves.first(), root) else {
                return false;
            };
            binds.effect = Some(*n);
            leaves = &leaves[1..];
        }
        patterns.len() == leaves.len()
            && patterns
                .iter()
                .zip(leaves)
                .all(|(pattern, leaf)| self.attribute(pattern, *leaf, binds, named))
    }

    fn attribute(
        &self,
        pattern: &AttrPattern,
        leaf: Leaf,
        binds: &mut Binds,
        named: &mut Named,
    ) -> bool {
        match pattern {
            AttrPattern::Any => true,
            AttrPattern::Is(expected) => *expected == leaf,
            AttrPattern::OneOf(list) => list.contains(&leaf),
            AttrPattern::Elem(tests) => match leaf {
                Leaf::Type(ty) => tests
                    .iter()
                    .any(|t| elem_is(&self.graph.analysis.types, *t, ty)),
                _ => false,
            },
            AttrPattern::Var { slot, tests } => {
                let fits = tests.is_empty()
                    || matches!(leaf, Leaf::Type(ty) if tests.iter().any(|t| elem_is(&self.graph.analysis.types, *t, ty)));
                match binds.slots.get_mut(*slot as usize) {
                    Some(bind @ Bind::Unset) if fits => {
                        *bind = Bind::Leaf(leaf);
                        named.push(*slot);
                        true
                    }
                    Some(Bind::Leaf(old)) => *old == leaf,
                    _ => false,
                }
            }
        }
    }
}

/// Takes from variables what they were bound to.
fn free(binds: &mut Binds, named: &[u8]) {
    for &slot in named {
        binds.slots[slot as usize] = Bind::Unset;
    }
}

/// Whether a class satisfies a variable's constraint.
pub fn holds(graph: &Graph, id: Id, constraint: &Constraint) -> bool {
    let class: &Class = &graph[id].data;
    let types = &graph.analysis.types;
    let Some(ty) = class.ty else { return false };
    match constraint {
        Constraint::Elem(tests) => tests.iter().any(|t| elem_is(types, *t, ty)),
        Constraint::Const => class.facts.constant.is_some(),
        Constraint::Numbers => class.facts.constant.is_some() || super::numbers::are(graph, id),
        Constraint::Scalar => {
            types.elem(ty) == ty || types.as_tile(ty).is_some_and(|t| t.1.is_empty())
        }
        Constraint::Array => {
            !(types.elem(ty) == ty || types.as_tile(ty).is_some_and(|t| t.1.is_empty()))
        }
        Constraint::Nonneg => class.facts.nonneg(),
        Constraint::Uniform => class.facts.uniform == crate::facts::Uniformity::Block,
        Constraint::Pure => {
            class.facts.constant.is_none() && !graph[id].nodes.iter().any(|n| adds_number(graph, n))
        }
    }
}

/// Whether a node is a sum of integers of which one is a known number. `x + 0` is no more than `x`.
fn adds_number(graph: &Graph, node: &Node) -> bool {
    let meaning = graph.analysis.def(node.head).and_then(|def| def.meaning);
    let adds = |&c: &Id| matches!(graph[c].data.facts.constant, Some(1..));
    matches!(meaning, Some(Meaning::Int2(IntBinary::Add))) && node.children.iter().any(adds)
}

/// Whether the element of `ty` is of a kind.
pub fn elem_is(types: &Types, test: ElemTest, ty: TypeId) -> bool {
    match (test, types.get(types.elem(ty))) {
        (ElemTest::Int, Type::Int(_)) | (ElemTest::Float, Type::Float(_)) => true,
        (ElemTest::IntOf(bits), Type::Int(b)) => bits == *b,
        (ElemTest::FloatOf(float), Type::Float(f)) => float == *f,
        (ElemTest::Ptr, Type::Ptr { .. }) | (ElemTest::SharedPtr, Type::SharedPtr) => true,
        _ => false,
    }
}

/// Whether every element of a class is the literal.
fn literal_is(types: &Types, literal: &Literal, class: &Class) -> bool {
    let (Some(bits), Some(ty)) = (class.facts.constant, class.ty) else {
        return false;
    };
    match literal {
        Literal::Nan => crate::egraph::literal::is_nan(types, ty, bits),
        other => crate::egraph::literal::literal_bits(types, other, ty) == Some(bits),
    }
}
