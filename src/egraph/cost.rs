//! What a node costs on a target.

use egg::Id;
use rustc_hash::FxHashMap;

use super::analysis::{Graph, Know};
use super::node::{Head, Node};
use crate::dialect::{Dialect, Traits};
use crate::egraph::rule::RuleSet;
use crate::ir::{Type, TypeId};

/// Chooses among equal forms.
pub trait CostModel {
    /// Cost of a node by itself, in tenths of an instruction per thread; `None` if it may not be chosen.
    /// `operand` tells the types of the node's children.
    fn cost(
        &self,
        know: &Know,
        node: &Node,
        ty: Option<TypeId>,
        operand: &dyn Fn(usize) -> Option<TypeId>,
    ) -> Option<u64>;

    /// Why a node may not be chosen, if more can be said than that no rule lowers it.
    fn refusal(
        &self,
        _know: &Know,
        _node: &Node,
        _ty: Option<TypeId>,
        _operand: &dyn Fn(usize) -> Option<TypeId>,
    ) -> Option<String> {
        None
    }

    /// Whether to recompute the node wherever it is used, rather than keep its value across blocks.
    fn cheap(&self, know: &Know, node: &Node) -> bool;
}

/// Costs from the rule files' `(costs …)`, for the dialects that a stage may contain.
pub struct TableCost<'r> {
    pub rules: &'r RuleSet,
    /// What may remain. Operations of other dialects are still there to be lowered.
    pub legal: Legal,
}

/// Which operations a stage's result may contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Legal {
    /// Any dialect's.
    All,
    /// Everything but the elementwise operations and constants of `cuda_tile`.
    NoElementwiseTile,
}

impl TableCost<'_> {
    fn legal(&self, node: &Node) -> bool {
        match (self.legal, node.head) {
            (Legal::All, _) => true,
            (Legal::NoElementwiseTile, Head::Op(kind)) => {
                let traits = kind.def().traits;
                kind.dialect != Dialect::CudaTile
                    || !(traits.has(Traits::ELEMENTWISE) || traits.has(Traits::CONSTANT))
            }
            _ => true,
        }
    }
}

impl CostModel for TableCost<'_> {
    fn cost(
        &self,
        know: &Know,
        node: &Node,
        ty: Option<TypeId>,
        operand: &dyn Fn(usize) -> Option<TypeId>,
    ) -> Option<u64> {
        if !self.legal(node) {
            return None;
        }
        let Head::Op(kind) = node.head else {
            return Some(0);
        };
        let stated = self.rules.costs.get(&node.head);
        let each = u64::from(stated.map_or(kind.def().cost, |c| c.cost));
        // Later stages state what each form costs.
        let arithmetic =
            kind.dialect == Dialect::CudaTile && kind.def().traits.has(Traits::ELEMENTWISE);
        let words = match arithmetic {
            true => words(know, (0..node.children.len()).map(operand).chain([ty])),
            false => 1,
        };
        Some(each.saturating_mul(elements(know, ty) * words))
    }

    fn cheap(&self, _: &Know, node: &Node) -> bool {
        self.rules.costs.get(&node.head).is_some_and(|c| c.cheap)
            || matches!(node.head, Head::Op(kind) if kind.def().traits.has(Traits::CONSTANT))
    }
}

/// Words of 32 bits that an operation computes with: those of its narrowest integer, as what widens or cuts does nothing
/// with the rest. Truth values only choose.
fn words(know: &Know, types: impl Iterator<Item = Option<TypeId>>) -> u64 {
    let integers = types.filter_map(|ty| match know.types.get(know.types.elem(ty?)) {
        Type::Int(bits) if *bits > 1 => Some(u64::from(*bits).div_ceil(32)),
        _ => None,
    });
    integers.min().unwrap_or(1)
}

/// How many elements one thread handles: registers of an array; a tile counts as one.
pub fn elements(know: &Know, ty: Option<TypeId>) -> u64 {
    match ty.map(|t| know.types.get(t)) {
        Some(Type::Regs { n, .. }) => u64::from(*n),
        _ => 1,
    }
}

/// 32-bit registers of a thread that a value takes; a predicate counts as one.
pub fn registers(know: &Know, ty: Option<TypeId>) -> u64 {
    let bits = ty.and_then(|t| know.types.bits(t)).unwrap_or(32).max(32);
    elements(know, ty) * u64::from(bits) / 32
}

/// What rules add to the costs of nodes, by class, in tenths of an instruction.
pub type Extra = FxHashMap<Id, Vec<(Node, i64)>>;

/// Cost of a node of a class of the graph.
pub(super) fn of(
    model: &dyn CostModel,
    graph: &Graph,
    node: &Node,
    ty: Option<TypeId>,
) -> Option<u64> {
    let operand = |i: usize| graph[*node.children.get(i)?].data.ty;
    model.cost(&graph.analysis, node, ty, &operand)
}

/// Why a node of a class of the graph may not be chosen.
pub(super) fn refusal(
    model: &dyn CostModel,
    graph: &Graph,
    node: &Node,
    ty: Option<TypeId>,
) -> Option<String> {
    let operand = |i: usize| graph[*node.children.get(i)?].data.ty;
    model.refusal(&graph.analysis, node, ty, &operand)
}
