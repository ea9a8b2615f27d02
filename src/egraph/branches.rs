//! What all branches of an operation need is computed before it, not once in each.

use egg::Id;

use super::analysis::Graph;
use super::build::{BlockIx, Item, Skeleton};
use super::by_class::ByClass;
use super::extract::Choice;
use super::node::Head;

/// The classes that every one of `blocks` needs, by their chosen forms, in no particular order.
/// `visible` tells what can be computed before the branches; other classes are not looked into. `is_live` tells the
/// operations with regions, each by its block and its place there, that are not dropped.
pub fn shared(
    graph: &Graph,
    skeleton: &Skeleton,
    choice: &Choice,
    blocks: &[BlockIx],
    visible: &dyn Fn(Id) -> bool,
    is_live: &dyn Fn((BlockIx, usize)) -> bool,
) -> Vec<Id> {
    // How many of the branches before this one need a class, as long as all of them do.
    let mut counts: ByClass<usize> = ByClass::new(graph);
    let mut needed = Vec::new();
    for (before, &block) in blocks.iter().enumerate() {
        let mut work = Vec::new();
        needed.clear();
        demands(skeleton, block, is_live, &mut work);
        let mut met: ByClass<bool> = ByClass::new(graph);
        while let Some(id) = work.pop() {
            let id = graph.find(id);
            let new = met
                .get_mut(id)
                .is_some_and(|met| !std::mem::replace(met, true));
            if new && let Some(node) = choice.node(id) {
                work.extend(&node.children);
                if let Some(count) = counts.get_mut(id).filter(|count| **count == before) {
                    *count += 1;
                    needed.push(id);
                }
            }
        }
    }
    let value = |id: &Id| {
        let node = choice.node(*id);
        node.is_some_and(|n| !matches!(n.head, Head::Absent | Head::List | Head::Value(_)))
    };
    // After the last branch, `needed` holds those of its classes that all branches before need, too.
    needed.retain(|id| value(id) && visible(*id));
    needed.sort_unstable();
    needed
}

/// What the operations of a block and of the blocks inside it refer to.
fn demands(
    skeleton: &Skeleton,
    block: BlockIx,
    is_live: &dyn Fn((BlockIx, usize)) -> bool,
    out: &mut Vec<Id>,
) {
    for (i, item) in skeleton.blocks[block].items.iter().enumerate() {
        match item {
            Item::Region { .. } if !is_live((block, i)) => {}
            Item::Effect { node, .. } => out.push(*node),
            Item::Terminator { operands, .. } => out.extend(operands),
            Item::Region {
                operands, blocks, ..
            } => {
                out.extend(operands);
                for &inner in blocks {
                    demands(skeleton, inner, is_live, out);
                }
            }
        }
    }
}
