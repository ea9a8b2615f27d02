//! Running rules until nothing changes or a limit is reached.

use std::hash::{Hash, Hasher};

use egg::Id;
use indexmap::{Equivalent, IndexSet};
use rustc_hash::FxBuildHasher;

use super::analysis::Graph;
use super::by_class::ByClass;
use super::cost::{self, Extra};
use super::heads::{self, Heads};
use super::matcher::{self, Binds};
use super::node::Node;
use super::numbers;
use crate::egraph::replace::{Build, BuildError};
use crate::egraph::{
    guards,
    rule::{Rule, RuleSet},
};
use crate::ir::{Diagnostic, Place};
use crate::target::Target;

/// When to stop. Never time: the same input gives the same output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    pub iterations: u32,
    pub nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            iterations: 16,
            nodes: 100_000,
        }
    }
}

impl Limits {
    /// The nodes that a graph which begins with `first` may have: rules that only rearrange long sums would otherwise
    /// fill a small kernel's graph up to the limit of the largest ones.
    fn most(&self, first: usize) -> usize {
        const GROWTH: usize = 8;
        const LEAST: usize = 12_000;
        self.nodes.min((GROWTH * first).max(LEAST))
    }
}

/// Why saturation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub enum Stop {
    Saturated,
    Iterations,
    Nodes,
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    pub stop: Stop,
    pub iterations: u32,
    /// How often each rule made a class grow, by rule index.
    pub fired: Vec<u32>,
    /// Rule, alternative, class and node of every replacement that was added.
    pub added: Vec<Added>,
}

impl Run {
    /// What the costs of the rules add to that of each node they made.
    pub fn costs(&self, graph: &Graph, rules: &RuleSet) -> Extra {
        let mut costs = Extra::default();
        for added in &self.added {
            let cost = rules.rules[added.rule as usize].cost;
            if cost.is_nothing() {
                continue;
            }
            let class = graph.find(added.root);
            let cost = cost.of(cost::elements(&graph.analysis, graph[class].data.ty));
            let mut node = graph.id_to_node(added.root).clone();
            node.children.iter_mut().for_each(|c| *c = graph.find(*c));
            let of: &mut Vec<(Node, i64)> = costs.entry(class).or_default();
            match of.iter_mut().find(|(n, _)| *n == node) {
                Some((_, old)) => *old = cost,
                None => of.push((node, cost)),
            }
        }
        costs
    }
}

/// A replacement that a rule added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Added {
    pub rule: u32,
    pub class: Id,
    /// The replacement's root as it was added.
    pub root: Id,
}

#[derive(PartialEq, Eq)]
struct Match {
    rule: u32,
    class: Id,
    binds: Binds,
}

/// A match that is looked for among those found, without a copy of what it binds.
struct Sought<'b> {
    rule: u32,
    class: Id,
    binds: &'b Binds,
}

impl Hash for Sought<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.rule, self.class, self.binds).hash(state);
    }
}

impl Hash for Match {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.rule, self.class, &self.binds).hash(state);
    }
}

impl Equivalent<Match> for Sought<'_> {
    fn equivalent(&self, other: &Match) -> bool {
        (self.rule, self.class) == (other.rule, other.class) && *self.binds == other.binds
    }
}

/// Every match that was found, in the order in which they were.
type Found = IndexSet<Match, FxBuildHasher>;

/// Applies `rules` to the e-graph until nothing changes.
pub fn saturate(
    graph: &mut Graph,
    rules: &RuleSet,
    target: Target,
    limits: Limits,
) -> Result<Run, Diagnostic> {
    let mut run = Run {
        stop: Stop::Iterations,
        iterations: 0,
        fired: vec![0; rules.rules.len()],
        added: Vec::new(),
    };
    graph.rebuild();
    graph.analysis.touched.clear();
    let most = limits.most(graph.total_size());
    let mut dirty: Vec<Id> = graph.classes().map(|c| c.id).collect();
    dirty.sort_unstable();
    let mut found = Found::default();
    let mut applied = 0;
    for _ in 0..limits.iterations {
        run.iterations += 1;
        search(graph, rules, target, &dirty, &mut found);
        while let Some(m) = found.get_index(applied) {
            applied += 1;
            apply(graph, rules, m, &mut run)?;
            // The first count is free, and never smaller: nodes that became equal count twice in it.
            if graph.total_size() > most && graph.total_number_of_nodes() > most {
                run.stop = Stop::Nodes;
                graph.rebuild();
                return Ok(run);
            }
        }
        for id in graph.analysis.touched.clone() {
            numbers::fold(graph, graph.find(id));
        }
        // Without a change there is nothing to rebuild, and egg would sort every class again.
        if !graph.clean {
            graph.rebuild();
        }
        dirty = spread(graph, rules.depth);
        if dirty.is_empty() {
            run.stop = Stop::Saturated;
            break;
        }
    }
    Ok(run)
}

/// All new matches at the classes in `dirty`.
fn search(graph: &Graph, rules: &RuleSet, target: Target, dirty: &[Id], found: &mut Found) {
    let mut heads = Heads::new(graph);
    for &class in dirty {
        for node in &graph[class].nodes {
            let Some(indices) = rules.by_head.get(&node.head) else {
                continue;
            };
            let operands = heads.of_operands(node);
            for &index in indices.iter() {
                let rule = &rules.rules[index as usize];
                if !heads::may_match(&rule.pattern, &operands) {
                    continue;
                }
                matcher::matches(graph, &rule.pattern, rule.vars.len(), node, &mut |binds| {
                    if !rule
                        .guards
                        .iter()
                        .all(|g| guards::holds(graph, target, binds, g))
                    {
                        return;
                    }
                    let sought = Sought {
                        rule: index,
                        class,
                        binds,
                    };
                    if !found.contains(&sought) {
                        found.insert(Match {
                            rule: index,
                            class,
                            binds: binds.clone(),
                        });
                    }
                });
            }
        }
    }
}

fn apply(graph: &mut Graph, rules: &RuleSet, m: &Match, run: &mut Run) -> Result<(), Diagnostic> {
    let rule = &rules.rules[m.rule as usize];
    let class = graph.find(m.class);
    for template in rule.templates.iter() {
        let root = graph[class].data.ty;
        let mut build = Build::new(graph, &m.binds, &rule.locals, root);
        let new = match build.root(template) {
            Ok(new) => new,
            // A number that does not fit is a guard that failed.
            Err(BuildError::Constant) => continue,
            Err(error) => return Err(mistake(rule, &error)),
        };
        let (a, b) = (graph[class].data.ty, graph[graph.find(new)].data.ty);
        if a != b {
            return Err(mistake(
                rule,
                &BuildError::Type("the replacement, which must be the pattern's,".into()),
            ));
        }
        if graph.union(class, new) {
            run.fired[m.rule as usize] += 1;
            run.added.push(Added {
                rule: m.rule,
                class,
                root: new,
            });
        }
    }
    Ok(())
}

fn mistake(rule: &Rule, error: &BuildError) -> Diagnostic {
    Diagnostic::error(format!("rule {}: {error}", rule.name)).at(Place::Line {
        file: rule.file.to_string(),
        line: rule.pos.line,
        column: rule.pos.column,
    })
}

/// The classes whose matches may have changed: those touched, and their users up to the depth of patterns.
fn spread(graph: &mut Graph, depth: usize) -> Vec<Id> {
    let touched = std::mem::take(&mut graph.analysis.touched);
    let mut met: ByClass<bool> = ByClass::new(graph);
    let mut level: Vec<Id> = touched.into_iter().map(|id| graph.find(id)).collect();
    let mut dirty = Vec::new();
    for _ in 0..depth.max(1) {
        level.retain(|&id| {
            let met = met.get_mut(id);
            met.is_some_and(|met| !std::mem::replace(met, true))
        });
        dirty.extend_from_slice(&level);
        let next = level
            .iter()
            .flat_map(|&id| graph[id].parents().map(|p| graph.find(p)));
        level = next.collect();
    }
    dirty.sort_unstable();
    dirty
}
