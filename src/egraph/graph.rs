//! The e-graph: nodes in classes of equal ones, closed under congruence.
//!
//! The algorithm is egg's: unions are noted and made good together by [`EGraph::rebuild`]. Classes stand in a vector by
//! number, and a rebuild looks at those that changed only: graphs are rebuilt often, and most of one stays as it was.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::ops::Index;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::node::{Id, Node};

/// What classes know besides their nodes.
pub trait Analysis: Sized {
    type Data;

    /// What is known of a node that is being added, or whose operands have learned something.
    fn make(graph: &mut EGraph<Self>, node: &Node) -> Self::Data;

    /// Adds what is known of one class to what is known of another. Whether that one learned something.
    fn merge(&mut self, to: &mut Self::Data, from: &Self::Data) -> bool;

    /// Called for a class that was made, merged or learned something.
    fn modify(graph: &mut EGraph<Self>, id: Id);
}

/// Nodes that are equal.
pub struct EClass<D> {
    pub id: Id,
    /// Sorted, each once, with the present numbers of their operands, once the graph was rebuilt.
    pub nodes: SmallVec<[Node; 1]>,
    pub data: D,
    /// The nodes that have a node of this class as an operand, by the numbers that they were added with.
    parents: SmallVec<[Id; 4]>,
}

impl<D> EClass<D> {
    pub fn parents(&self) -> impl Iterator<Item = Id> + '_ {
        self.parents.iter().copied()
    }
}

pub struct EGraph<A: Analysis> {
    pub analysis: A,
    /// The class that each was merged into, or itself.
    leaders: Vec<Id>,
    /// Each node as it was added.
    nodes: Vec<Node>,
    /// By number; without nodes where it was merged into another.
    classes: Vec<EClass<A::Data>>,
    /// Every form that a node has had, with the number of one that has it.
    memo: FxHashMap<Node, Id>,
    /// Nodes whose operands were merged into others.
    pending: Vec<Id>,
    /// Nodes whose operands have learned something, each once.
    learning: VecDeque<Id>,
    is_learning: Vec<bool>,
    /// Classes whose nodes changed.
    stale: Vec<Id>,
}

impl<A: Analysis> EGraph<A> {
    pub fn new(analysis: A) -> Self {
        EGraph {
            analysis,
            leaders: Vec::new(),
            nodes: Vec::new(),
            classes: Vec::new(),
            memo: FxHashMap::default(),
            pending: Vec::new(),
            learning: VecDeque::new(),
            is_learning: Vec::new(),
            stale: Vec::new(),
        }
    }

    /// Makes room for so many more nodes.
    pub fn reserve(&mut self, nodes: usize) {
        self.leaders.reserve(nodes);
        self.nodes.reserve(nodes);
        self.classes.reserve(nodes);
        self.memo.reserve(nodes);
        self.is_learning.reserve(nodes);
    }

    /// The number of a class that may have been merged into another.
    pub fn find(&self, mut id: Id) -> Id {
        loop {
            let leader = self.leaders[id.index()];
            if leader == id {
                return id;
            }
            id = leader;
        }
    }

    /// [`EGraph::find`], which halves the way for the next time.
    fn find_mut(&mut self, mut id: Id) -> Id {
        loop {
            let leader = self.leaders[id.index()];
            if leader == id {
                return id;
            }
            let next = self.leaders[leader.index()];
            self.leaders[id.index()] = next;
            id = next;
        }
    }

    /// The classes, by number.
    pub fn classes(&self) -> impl Iterator<Item = &EClass<A::Data>> {
        let leaders = self.classes.iter().zip(&self.leaders);
        leaders.filter(|(c, l)| c.id == **l).map(|(class, _)| class)
    }

    pub fn number_of_classes(&self) -> usize {
        self.classes().count()
    }

    /// How many nodes there are, without those that have become equal.
    pub fn total_number_of_nodes(&self) -> usize {
        self.classes().map(|c| c.nodes.len()).sum()
    }

    /// How many forms nodes have had: never less than [`EGraph::total_number_of_nodes`], and counted already.
    pub fn total_size(&self) -> usize {
        self.memo.len()
    }

    /// Every node that was added, by number.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node that was added with a number.
    pub fn id_to_node(&self, id: Id) -> &Node {
        &self.nodes[id.index()]
    }

    /// The class of a node, if it is there.
    pub fn lookup(&self, mut node: Node) -> Option<Id> {
        node.children.iter_mut().for_each(|c| *c = self.find(*c));
        self.memo.get(&node).map(|&id| self.find(id))
    }

    /// Adds a node, if it is not there yet. Returns its class.
    pub fn add(&mut self, node: Node) -> Id {
        let id = Id::from(self.nodes.len());
        let form = self.present(node.clone());
        match self.memo.entry(form.clone()) {
            Entry::Occupied(known) => {
                let known = *known.get();
                return self.find(known);
            }
            Entry::Vacant(place) => place.insert(id),
        };
        let data = A::make(self, &node);
        for child in &form.children {
            self.classes[child.index()].parents.push(id);
        }
        self.leaders.push(id);
        self.nodes.push(node);
        self.is_learning.push(false);
        self.classes.push(EClass {
            id,
            nodes: SmallVec::from_buf([form]),
            data,
            parents: SmallVec::new(),
        });
        A::modify(self, id);
        self.find(id)
    }

    /// Makes two classes one. Whether they were two.
    pub fn union(&mut self, a: Id, b: Id) -> bool {
        let (mut a, mut b) = (self.find_mut(a), self.find_mut(b));
        let parents = |id: Id| self.classes[id.index()].parents.len();
        // What has the other one as an operand is looked at again.
        if parents(a) < parents(b) {
            std::mem::swap(&mut a, &mut b);
        }
        let both = [a.index(), b.index()];
        let Ok([to, from]) = self.classes.get_disjoint_mut(both) else {
            return false;
        };
        self.leaders[b.index()] = a;
        self.pending.extend_from_slice(&from.parents);
        if self.analysis.merge(&mut to.data, &from.data) {
            learn(&mut self.learning, &mut self.is_learning, &to.parents);
        }
        // Whether the other one learned something is not worth a comparison.
        learn(&mut self.learning, &mut self.is_learning, &from.parents);
        append(&mut to.nodes, std::mem::take(&mut from.nodes));
        append(&mut to.parents, std::mem::take(&mut from.parents));
        self.stale.push(a);
        A::modify(self, a);
        true
    }

    /// Says what a class knows.
    pub fn set_analysis_data(&mut self, id: Id, data: A::Data) {
        let id = self.find_mut(id);
        let class = &mut self.classes[id.index()];
        class.data = data;
        learn(&mut self.learning, &mut self.is_learning, &class.parents);
        A::modify(self, id);
    }

    /// Makes classes one that have become equal because their operands have, and spreads what was learned.
    pub fn rebuild(&mut self) {
        while !self.pending.is_empty() || !self.learning.is_empty() {
            while let Some(id) = self.pending.pop() {
                self.repair(id);
            }
            while let Some(id) = self.learning.pop_front() {
                self.is_learning[id.index()] = false;
                self.learn_again(id);
            }
        }
        for id in std::mem::take(&mut self.stale) {
            self.refresh(id);
        }
    }

    /// Looks up the present form of a node whose operands were merged.
    fn repair(&mut self, id: Id) {
        let form = self.nodes[id.index()].clone();
        let form = self.present(form);
        self.stale.push(id);
        if let Some(other) = self.memo.insert(form, id) {
            self.union(other, id);
        }
    }

    /// Asks again what is known of a node.
    fn learn_again(&mut self, id: Id) {
        let node = self.nodes[id.index()].clone();
        let data = A::make(self, &node);
        let id = self.find_mut(id);
        let class = &mut self.classes[id.index()];
        if self.analysis.merge(&mut class.data, &data) {
            learn(&mut self.learning, &mut self.is_learning, &class.parents);
            A::modify(self, id);
        }
    }

    /// Puts the nodes of a class in order.
    fn refresh(&mut self, id: Id) {
        let id = self.find_mut(id);
        let mut nodes = std::mem::take(&mut self.classes[id.index()].nodes);
        for node in &mut nodes {
            for child in &mut node.children {
                *child = self.find_mut(*child);
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        self.classes[id.index()].nodes = nodes;
    }

    /// A node with the present numbers of its operands.
    fn present(&mut self, mut node: Node) -> Node {
        for child in &mut node.children {
            *child = self.find_mut(*child);
        }
        node
    }
}

impl<A: Analysis> Index<Id> for EGraph<A> {
    type Output = EClass<A::Data>;

    fn index(&self, id: Id) -> &Self::Output {
        &self.classes[self.find(id).index()]
    }
}

/// Notes that the operands of `nodes` have learned something.
fn learn(learning: &mut VecDeque<Id>, is_learning: &mut [bool], nodes: &[Id]) {
    for &id in nodes {
        if !std::mem::replace(&mut is_learning[id.index()], true) {
            learning.push_back(id);
        }
    }
}

/// Adds a list to another, the shorter to the longer.
fn append<L: smallvec::Array>(to: &mut SmallVec<L>, mut from: SmallVec<L>) {
    if to.len() < from.len() {
        std::mem::swap(to, &mut from);
    }
    to.append(&mut from);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::node::{AttrsId, Head};
    use super::*;

    /// The depth of a class's shallowest node.
    struct Depth;

    impl Analysis for Depth {
        type Data = u32;

        fn make(graph: &mut EGraph<Self>, node: &Node) -> u32 {
            let below = node.children.iter().map(|&c| graph[c].data);
            1 + below.max().unwrap_or(0)
        }

        fn merge(&mut self, to: &mut u32, from: &u32) -> bool {
            let less = from < to;
            *to = (*to).min(*from);
            less
        }

        fn modify(_: &mut EGraph<Self>, _: Id) {}
    }

    /// A node in egg's graph.
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    struct Peer(u32, Vec<egg::Id>);

    impl egg::Language for Peer {
        type Discriminant = u32;

        fn discriminant(&self) -> u32 {
            self.0
        }

        fn matches(&self, other: &Self) -> bool {
            self.0 == other.0 && self.1.len() == other.1.len()
        }

        fn children(&self) -> &[egg::Id] {
            &self.1
        }

        fn children_mut(&mut self) -> &mut [egg::Id] {
            &mut self.1
        }
    }

    impl egg::Analysis<Peer> for Depth {
        type Data = u32;

        fn make(graph: &mut egg::EGraph<Peer, Self>, node: &Peer, _: egg::Id) -> u32 {
            let below = node.1.iter().map(|&c| graph[c].data);
            1 + below.max().unwrap_or(0)
        }

        fn merge(&mut self, to: &mut u32, from: u32) -> egg::DidMerge {
            egg::merge_min(to, from)
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        /// A node of nodes that are there.
        Add(u32, Vec<prop::sample::Index>),
        Union(prop::sample::Index, prop::sample::Index),
        Rebuild,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let index = any::<prop::sample::Index>;
        let add =
            (0..3u32, prop::collection::vec(index(), 0..3)).prop_map(|(h, c)| Step::Add(h, c));
        let union = (index(), index()).prop_map(|(a, b)| Step::Union(a, b));
        let step = prop_oneof![6 => add, 2 => union, 1 => Just(Step::Rebuild)];
        prop::collection::vec(step, 1..60)
    }

    proptest! {
        /// The same nodes are equal as in egg's graph, classes know the same and hold as many nodes.
        #[test]
        fn classes_are_those_of_egg(steps in steps()) {
            let mut graph = EGraph::new(Depth);
            let mut peer = egg::EGraph::<Peer, Depth>::new(Depth);
            let mut ids = vec![(graph.add(Node::leaf(Head::List)), peer.add(Peer(9, vec![])))];
            for step in steps.into_iter().chain([Step::Rebuild]) {
                match step {
                    Step::Add(head, children) => {
                        let children: Vec<_> = children.iter().map(|c| *c.get(&ids)).collect();
                        let node = Node {
                            head: Head::Proj(head),
                            attrs: AttrsId::NONE,
                            children: children.iter().map(|c| c.0).collect(),
                        };
                        let other = Peer(head, children.iter().map(|c| c.1).collect());
                        ids.push((graph.add(node), peer.add(other)));
                    }
                    Step::Union(a, b) => {
                        let (a, b) = (*a.get(&ids), *b.get(&ids));
                        prop_assert_eq!(graph.union(a.0, b.0), peer.union(a.1, b.1));
                    }
                    Step::Rebuild => {
                        graph.rebuild();
                        peer.rebuild();
                    }
                }
            }
            prop_assert_eq!(graph.number_of_classes(), peer.number_of_classes());
            prop_assert_eq!(graph.total_number_of_nodes(), peer.total_number_of_nodes());
            for a in &ids {
                prop_assert_eq!(graph[a.0].data, peer[a.1].data);
                prop_assert_eq!(graph[a.0].nodes.len(), peer[a.1].nodes.len());
                for b in &ids {
                    let equal = graph.find(a.0) == graph.find(b.0);
                    prop_assert_eq!(equal, peer.find(a.1) == peer.find(b.1));
                }
            }
        }
    }
}
