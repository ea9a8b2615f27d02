//! Tilec's own engine: what its rules make of terms, and what terms cost.

use std::fmt::Write;

use egg::Id;
use smallvec::SmallVec;
use tilec::dialect::{Dialect, ResultType, Traits};
use tilec::egraph::analysis::Graph;
use tilec::egraph::extract::Choice;
use tilec::egraph::node::{AttrsId, Head, Leaf, Node};
use tilec::egraph::saturate::saturate;
use tilec::egraph::{self, CostModel, Legal, Limits, TableCost};
use tilec::facts::Facts;
use tilec::facts::semantics::Scalar;
use tilec::ir::{TypeId, Types};
use tilec::isel::{SelectionCost, Tables};
use tilec::rules::{Rule, RuleSet};
use tilec::target::Target;

use crate::equation::Equation;
use crate::operations::Operation;
use crate::tree::Tree;
use crate::vectors::Variable;

/// Rules, and the costs of a target's instructions.
pub struct Engine {
    pub rules: RuleSet,
    /// Both orders of operands of commutative operations, which the matcher takes for one.
    commutation: RuleSet,
    tables: Tables,
    pub target: Target,
    pub limits: Limits,
}

/// What the rules make of an equation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// They make its sides equal.
    Derived,
    /// Costs of the cheapest forms of its sides.
    Costs(u64, u64),
    /// A side has no form that the target has instructions for.
    Impossible,
}

impl Engine {
    pub fn new(rules: RuleSet, target: Target) -> Result<Engine, String> {
        let tables = Tables::load(None).map_err(|e| e.to_string())?;
        let commutation = RuleSet::parse(&commutation(), "commutation.rules");
        Ok(Engine {
            rules,
            commutation: commutation.map_err(|e| e.to_string())?,
            tables,
            target,
            limits: Limits {
                iterations: 8,
                nodes: 40_000,
            },
        })
    }

    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The rules, with both orders of commutative operations.
    pub fn with_commutation(&self, rules: &RuleSet) -> RuleSet {
        let mut all = rules.clone();
        self.commutation
            .rules
            .iter()
            .for_each(|rule| all.push(rule.clone()));
        all
    }

    /// Adds a rule.
    pub fn learn(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    fn model(&self) -> SelectionCost<'_> {
        let table = TableCost {
            rules: &self.rules,
            legal: Legal::All,
        };
        SelectionCost::new(table, &self.tables, self.target)
    }

    /// What each operation costs by itself, in tenths of an instruction; what its row says where the target has no
    /// instruction and rules have to express it otherwise.
    pub fn costs(&self, operations: &[std::sync::Arc<Operation>]) -> Vec<Option<u64>> {
        let model = self.model();
        let mut graph = egraph::graph(Types::default(), Dialect::Nvvm);
        operations
            .iter()
            .map(|o| cost(&model, &mut graph, o))
            .collect()
    }

    /// What the rules make of equations over the same variables, in one graph.
    pub fn judge(&self, equations: &[Equation]) -> Result<Vec<Verdict>, String> {
        let Some(first) = equations.first() else {
            return Ok(Vec::new());
        };
        let mut graph = egraph::graph(Types::default(), Dialect::Nvvm);
        let variables = declare(&mut graph, &first.variables);
        let sides: Vec<(Id, Id)> = equations
            .iter()
            .map(|e| {
                (
                    add(&mut graph, &variables, &e.lhs),
                    add(&mut graph, &variables, &e.rhs),
                )
            })
            .collect();
        let rules = self.with_commutation(&self.rules);
        let run = saturate(&mut graph, &rules, self.target, self.limits);
        let run = run.map_err(|e| e.to_string())?;
        let choice = Choice::new(&graph, &self.model(), &run.costs(&graph, &rules));
        let cost = |id: Id| Some(choice.costs(graph.find(id))?.0);
        let verdict = |&(a, b): &(Id, Id)| match (graph.find(a) == graph.find(b), cost(a), cost(b))
        {
            (true, ..) => Verdict::Derived,
            (_, Some(a), Some(b)) => Verdict::Costs(a, b),
            _ => Verdict::Impossible,
        };
        Ok(sides.iter().map(verdict).collect())
    }
}

fn cost(model: &SelectionCost, graph: &mut Graph, operation: &Operation) -> Option<u64> {
    let types = &mut graph.analysis.types;
    let operands: Vec<TypeId> = operation
        .operands
        .iter()
        .map(|&s| type_of(types, s))
        .collect();
    let result = type_of(types, operation.result);
    let node = Node {
        head: Head::Op(operation.kind),
        attrs: attributes(graph, operation),
        children: operands.iter().map(|_| Id::from(0)).collect(),
    };
    model.cost(&graph.analysis, &node, Some(result), &|i| {
        operands.get(i).copied()
    })
}

/// The type of a scalar.
pub fn type_of(types: &mut Types, scalar: Scalar) -> TypeId {
    match scalar {
        Scalar::Float(format) => types.float(format),
        other => types.int(other.bits()),
    }
}

fn attributes(graph: &mut Graph, operation: &Operation) -> AttrsId {
    let mut leaves: SmallVec<[Leaf; 6]> = operation.leaves.iter().copied().collect();
    if operation.states_type() {
        leaves.push(Leaf::Type(type_of(
            &mut graph.analysis.types,
            operation.result,
        )));
    }
    graph.analysis.attrs.intern(leaves)
}

/// Adds variables to a graph that has no values yet.
fn declare(graph: &mut Graph, variables: &[Variable]) -> Vec<Id> {
    let declared = variables.iter().enumerate().map(|(i, variable)| {
        let ty = type_of(&mut graph.analysis.types, variable.scalar);
        let mut facts = Facts::top(&graph.analysis.types, ty);
        if variable.nonneg {
            facts.lo = facts.lo.max(0);
        }
        graph.analysis.values.push((ty, facts));
        graph.add(Node::leaf(Head::Value(i as u32)))
    });
    declared.collect()
}

/// Adds a term to a graph.
fn add(graph: &mut Graph, variables: &[Id], tree: &Tree) -> Id {
    match tree {
        Tree::Variable(i, _) => variables[*i],
        Tree::Constant(bits, scalar) => {
            let ty = type_of(&mut graph.analysis.types, *scalar);
            let list = [Leaf::Bits(*bits), Leaf::Type(ty)].into_iter().collect();
            let attrs = graph.analysis.attrs.intern(list);
            graph.add(Node {
                head: Head::Op(egraph::constant(Dialect::Nvvm)),
                attrs,
                children: SmallVec::new(),
            })
        }
        Tree::Op(operation, args) => {
            let children = args.iter().map(|a| add(graph, variables, a)).collect();
            let attrs = attributes(graph, operation);
            graph.add(Node {
                head: Head::Op(operation.kind),
                attrs,
                children,
            })
        }
    }
}

/// A rule for each commutative row: both orders are equal.
fn commutation() -> String {
    let mut text = String::from("(dialect nvvm)\n");
    for row in Dialect::Nvvm.table() {
        if !row.traits.has(Traits::COMMUTATIVE) || row.operands.len() != 2 {
            continue;
        }
        let explicit = row
            .results
            .iter()
            .filter(|r| r.ty == ResultType::Explicit)
            .count();
        let attributes: String = (0..row.attrs.len() + explicit)
            .map(|i| format!("?m{i} "))
            .collect();
        let name = row.name;
        let _ = writeln!(
            text,
            "(rule commute-{name} ({name} {attributes}?a ?b) => ({name} {attributes}?b ?a))"
        );
    }
    text
}
