//! The error of a value that no legal operation makes: it names the operation that is missing,
//! not the one that would have used it.

use egg::Id;
use rustc_hash::FxHashSet;

use super::analysis::Graph;
use super::by_class::ByClass;
use super::cost::{self, CostModel};
use super::extract::Choice;
use super::node::{Head, Node};
use crate::ir::{Diagnostic, LocId, Type, TypeId, Types};

/// The class at fault for `id` having no form, and where it (or what uses it) is in the source.
pub fn explain(
    graph: &Graph,
    locs: &ByClass<Option<LocId>>,
    choice: &Choice,
    model: &dyn CostModel,
    id: Id,
) -> (Diagnostic, Option<LocId>) {
    let mut at = graph.find(id);
    let mut loc = locs.get(at).copied().flatten();
    let mut seen = FxHashSet::default();
    while seen.insert(at) {
        let nodes = &graph[at].nodes;
        let next = nodes.iter().find_map(|node| {
            let open = |c: &Id| choice.node(graph.find(*c)).is_none();
            node.children.iter().copied().find(open)
        });
        let Some(next) = next.map(|c| graph.find(c)).filter(|c| !seen.contains(c)) else {
            break;
        };
        at = next;
        loc = locs.get(at).copied().flatten().or(loc);
    }
    (no_form(graph, model, at), loc)
}

/// The error of a class without a legal node.
pub fn no_form(graph: &Graph, model: &dyn CostModel, id: Id) -> Diagnostic {
    let class = &graph[graph.find(id)];
    let operation = |n: &&Node| matches!(n.head, Head::Op(_));
    let Some(node) = class.nodes.iter().find(operation) else {
        return Diagnostic::error("no rule lowers this value for the target");
    };
    let ty = class.data.ty;
    let why = cost::refusal(model, graph, node, ty).unwrap_or_else(|| {
        let types = &graph.analysis.types;
        let on = ty.map_or_else(String::new, |ty| format!(" of {}", describe(types, ty)));
        format!("no rule lowers this operation{on} for the target")
    });
    match node.head {
        Head::Op(kind) => Diagnostic::error(why).on(kind.to_string()),
        _ => Diagnostic::error(why),
    }
}

/// A short name of a type for messages.
fn describe(types: &Types, ty: TypeId) -> String {
    let elem = match types.get(types.elem(ty)) {
        Type::Int(bits) => format!("i{bits}"),
        Type::Float(float) => float.name().to_string(),
        Type::Ptr { .. } => "pointers".into(),
        other => format!("{other:?}"),
    };
    match types.get(ty) {
        Type::Regs { n, .. } => format!("{n} x {elem}"),
        _ => match types.as_tile(ty) {
            Some((_, shape)) if !shape.is_empty() => format!("{shape:?} x {elem}"),
            _ => elem,
        },
    }
}
