//! What the engine did, for `tilec explain`.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::analysis::Graph;
use super::build::Skeleton;
use super::by_class::ByClass;
use super::extract::Choice;
use super::node::{Head, Node};
use super::saturate::{Run, Stop};
use crate::egraph::rule::RuleSet;
use crate::ir::{Def, LocId, Module, ValueId};

/// Which rules did something, and what was chosen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Report {
    pub stop: Stop,
    pub iterations: u32,
    /// Size of the e-graph at the end.
    pub nodes: usize,
    pub classes: usize,
    pub fired: Vec<Fired>,
    /// Classes with more than one legal form (only when asked for).
    pub choices: Vec<ChoiceReport>,
}

/// A rule that made a class grow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Fired {
    pub rule: String,
    pub file: String,
    pub line: u32,
    pub times: u32,
    /// How often what it added was also chosen.
    pub chosen: u32,
    /// Source locations of the operations it matched (indices into the module's locations), without repetition.
    pub locations: Vec<u32>,
}

/// A choice between equal forms; costs are those of everything the form needs, in tenths of an instruction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChoiceReport {
    pub chosen: String,
    pub cost: u64,
    pub others: Vec<(String, u64)>,
    pub location: u32,
}

pub(super) fn report(
    module: &Module,
    graph: &Graph,
    skeleton: &Skeleton,
    rules: &RuleSet,
    run: &Run,
    choice: &Choice,
    explain: bool,
) -> Report {
    let mut locs = ByClass::new(graph);
    for &(id, loc) in &skeleton.locs {
        if let Some(first @ None) = locs.get_mut(graph.find(id)) {
            *first = Some(loc);
        }
    }
    let mut fired: Vec<Fired> = Vec::new();
    let mut at: FxHashMap<u32, usize> = FxHashMap::default();
    for added in &run.added {
        let rule = &rules.rules[added.rule as usize];
        let index = *at.entry(added.rule).or_insert_with(|| {
            fired.push(Fired {
                rule: rule.name.to_string(),
                file: rule.file.to_string(),
                line: rule.pos.line,
                times: run.fired[added.rule as usize],
                chosen: 0,
                locations: Vec::new(),
            });
            fired.len() - 1
        });
        let entry = &mut fired[index];
        let class = graph.find(added.class);
        if choice
            .node(class)
            .is_some_and(|n| same(graph, n, graph.id_to_node(added.root)))
        {
            entry.chosen += 1;
        }
        if let Some(Some(loc)) = locs.get(class)
            && *loc != LocId::UNKNOWN
            && !entry.locations.contains(&loc.0)
        {
            entry.locations.push(loc.0);
        }
    }
    let choices = if explain {
        let forms = Forms {
            module,
            graph,
            skeleton,
            choice,
        };
        choices(&forms, &locs)
    } else {
        Vec::new()
    };
    Report {
        stop: run.stop,
        iterations: run.iterations,
        nodes: graph.total_number_of_nodes(),
        classes: graph.number_of_classes(),
        fired,
        choices,
    }
}

/// Whether a canonical node is `other` but for merged children.
fn same(graph: &Graph, node: &Node, other: &Node) -> bool {
    node.head == other.head
        && node.attrs == other.attrs
        && node.children.len() == other.children.len()
        && node
            .children
            .iter()
            .zip(&other.children)
            .all(|(a, b)| *a == graph.find(*b))
}

/// What forms are called in reports.
struct Forms<'a> {
    module: &'a Module,
    graph: &'a Graph,
    skeleton: &'a Skeleton,
    choice: &'a Choice,
}

impl Forms<'_> {
    fn name(&self, node: &Node) -> String {
        match node.head {
            Head::Op(kind) => kind.to_string(),
            Head::Value(number) => match self.skeleton.values.get(number as usize) {
                Some(opaque) => self.value(opaque.value),
                None => "a value".into(),
            },
            Head::Proj(index) => {
                let class = node.children.first().map(|&id| self.graph.find(id));
                let of = class.and_then(|class| self.choice.node(class));
                let of = of.map_or_else(|| "an operation".into(), |node| self.name(node));
                format!("result {index} of {of}")
            }
            Head::List => "a list".into(),
            Head::Absent => "nothing".into(),
        }
    }

    /// A value that an operation with regions gives or takes: parameters, what loops carry, results of branches.
    fn value(&self, value: ValueId) -> String {
        match self.module.value(value).def {
            Def::Result { op, index } => {
                format!("result {index} of {}", self.module.op(op).kind)
            }
            Def::Argument { block, index } => match self.module.parent_of_block(block) {
                Some(op) => format!("argument {index} of {}", self.module.op(op).kind),
                None => format!("argument {index}"),
            },
        }
    }
}

fn choices(forms: &Forms, locs: &ByClass<Option<LocId>>) -> Vec<ChoiceReport> {
    let mut out = Vec::new();
    for (id, node) in forms.choice.chosen() {
        let Some((cost, others)) = forms.choice.costs(id) else {
            continue;
        };
        if others.is_empty() {
            continue;
        }
        out.push(ChoiceReport {
            chosen: forms.name(node),
            cost,
            others: others
                .into_iter()
                .map(|(n, c)| (forms.name(n), c))
                .collect(),
            location: locs.get(id).copied().flatten().map_or(0, |l| l.0),
        });
    }
    out
}
