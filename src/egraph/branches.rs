//! What all branches of an operation need is computed before it, not once in each.

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::analysis::Graph;
use super::build::{BlockIx, Item, Skeleton};
use super::extract::Choice;
use super::node::Head;

/// The classes that every one of `blocks` needs, by their chosen forms, in no particular order.
/// `visible` tells what can be computed before the branches; other classes are not looked into.
pub fn shared(
    graph: &Graph,
    skeleton: &Skeleton,
    choice: &Choice,
    blocks: &[BlockIx],
    visible: &dyn Fn(Id) -> bool,
) -> Vec<Id> {
    let mut counts: FxHashMap<Id, usize> = FxHashMap::default();
    for &block in blocks {
        let mut needed = FxHashSet::default();
        let mut work = Vec::new();
        demands(skeleton, block, &mut work);
        while let Some(id) = work.pop() {
            let id = graph.find(id);
            if let Some(node) = choice.node(id)
                && needed.insert(id)
            {
                work.extend(&node.children);
            }
        }
        for id in needed {
            *counts.entry(id).or_default() += 1;
        }
    }
    let value = |id: &Id| {
        let node = choice.node(*id);
        node.is_some_and(|n| !matches!(n.head, Head::Absent | Head::List | Head::Value(_)))
    };
    let mut all: Vec<Id> = counts
        .into_iter()
        .filter(|(_, n)| *n == blocks.len())
        .map(|(id, _)| id)
        .filter(|id| value(id) && visible(*id))
        .collect();
    all.sort_unstable();
    all
}

/// What the operations of a block and of the blocks inside it refer to.
fn demands(skeleton: &Skeleton, block: BlockIx, out: &mut Vec<Id>) {
    for item in &skeleton.blocks[block].items {
        match item {
            Item::Effect { node, .. } => out.push(*node),
            Item::Terminator { operands, .. } => out.extend(operands),
            Item::Region {
                operands, blocks, ..
            } => {
                out.extend(operands);
                blocks.iter().for_each(|&b| demands(skeleton, b, out));
            }
        }
    }
}
