//! Which operations each class holds, as bits: most rules fail at the operands of a node, and these tell so without a look at
//! the classes. Two operations may share a bit; who is not rejected is matched in earnest.

use egg::Id;
use smallvec::SmallVec;

use super::analysis::Graph;
use super::by_class::ByClass;
use super::node::{Head, Node};
use crate::egraph::rule::{Constraint, Pattern};

/// Bits of a class: one for each operation by its row, and those below; zero where they have not been collected.
type Bits = u128;

/// Rows that have a bit of their own. Of an e-graph's dialects few rows coincide.
const ROWS: u8 = 125;
/// Something else.
const OTHER: Bits = 1 << ROWS;
/// A known number.
const CONSTANT: Bits = 1 << (ROWS + 1);
/// The bits have been collected.
const COLLECTED: Bits = 1 << (ROWS + 2);

fn bit(head: Head) -> Bits {
    match head {
        Head::Op(kind) if kind.index < ROWS => 1 << kind.index,
        _ => OTHER,
    }
}

/// The bits of the classes of a graph that does not change meanwhile, each collected when it is first asked for.
pub struct Heads<'g> {
    graph: &'g Graph,
    bits: ByClass<Bits>,
}

/// The bits of a node's operands, in order.
pub type Operands = SmallVec<[Bits; 4]>;

impl<'g> Heads<'g> {
    pub fn new(graph: &'g Graph) -> Self {
        let bits = ByClass::new(graph);
        Heads { graph, bits }
    }

    pub fn of_operands(&mut self, node: &Node) -> Operands {
        node.children.iter().map(|&id| self.of(id)).collect()
    }

    fn of(&mut self, id: Id) -> Bits {
        match self.bits.get(id) {
            Some(&bits) if bits != 0 => bits,
            _ => {
                let class = &self.graph[id];
                let held = class.nodes.iter().fold(0, |all, n| all | bit(n.head));
                let known = class.data.facts.constant.map_or(0, |_| CONSTANT);
                let bits = COLLECTED | held | known;
                self.bits.set(id, bits);
                bits
            }
        }
    }
}

/// Whether operands with these bits may be what `pattern` has in their places.
pub fn may_match(pattern: &Pattern, operands: &Operands) -> bool {
    let Pattern::Op(op) = pattern else {
        return false;
    };
    if op.children.len() != operands.len() {
        return false;
    }
    let may_be = |child: &Pattern, held: Bits| match child {
        Pattern::Op(inner) => held & bit(inner.head) != 0,
        Pattern::Literal(_) => held & CONSTANT != 0,
        Pattern::Var { constraints, .. } if constraints.contains(&Constraint::Const) => {
            held & CONSTANT != 0
        }
        _ => true,
    };
    let mut pairs = op.children.iter().zip(operands.iter().copied());
    match (op.commutative, &*op.children, operands.as_slice()) {
        (true, [a, b, ..], [x, y, ..]) => {
            (may_be(a, *x) && may_be(b, *y) || may_be(a, *y) && may_be(b, *x))
                && pairs.skip(2).all(|(child, held)| may_be(child, held))
        }
        _ => pairs.all(|(child, held)| may_be(child, held)),
    }
}
