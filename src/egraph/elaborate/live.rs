//! What of the chosen nodes is needed, how deep, and what is as well made again.

use super::super::analysis::Graph;
use super::super::build::{BlockIx, Item, Skeleton};
use super::super::by_class::ByClass;
use super::super::cost::CostModel;
use super::super::extract::Choice;
use super::super::node::Head;
use egg::Id;
use rustc_hash::FxHashSet;

/// Which operations with regions something depends on.
pub(super) struct Live {
    /// Pure operations with regions whose results are used, by place.
    pub(super) regions: FxHashSet<(BlockIx, usize)>,
}

impl Live {
    /// Fails with a class that is needed and has no form.
    pub(super) fn new(graph: &Graph, skeleton: &Skeleton, choice: &Choice) -> Result<Live, Id> {
        let mut live = Live {
            regions: FxHashSet::default(),
        };
        let mut met: ByClass<bool> = ByClass::new(graph);
        let mut work = Vec::new();
        live.block(skeleton, 0, &mut work);
        while let Some(id) = work.pop() {
            let id = graph.find(id);
            if met
                .get_mut(id)
                .is_none_or(|met| std::mem::replace(met, true))
            {
                continue;
            }
            let Some(node) = choice.node(id) else {
                return Err(id);
            };
            if let Head::Value(n) = node.head
                && let Some(opaque) = skeleton.values.get(n as usize)
                && let Some(item) = opaque.item
            {
                live.region(skeleton, opaque.block, item, &mut work);
            }
            work.extend(node.children.iter().copied());
        }
        Ok(live)
    }

    /// Everything in a block that happens for its own sake.
    fn block(&mut self, skeleton: &Skeleton, block: BlockIx, work: &mut Vec<Id>) {
        for (i, item) in skeleton.blocks[block].items.iter().enumerate() {
            match item {
                Item::Effect { node, .. } => work.push(*node),
                Item::Terminator { operands, .. } => work.extend(operands),
                Item::Region { pure: false, .. } => self.region(skeleton, block, i, work),
                Item::Region { .. } => {}
            }
        }
    }

    fn region(&mut self, skeleton: &Skeleton, block: BlockIx, item: usize, work: &mut Vec<Id>) {
        if !self.regions.insert((block, item)) {
            return;
        }
        if let Some(Item::Region {
            operands, blocks, ..
        }) = skeleton.blocks[block].items.get(item)
        {
            work.extend(operands);
            blocks.iter().for_each(|&b| self.block(skeleton, b, work));
        }
    }
}

/// Depth of the innermost block that each class's chosen form depends on.
pub(super) fn depths(
    graph: &Graph,
    skeleton: &Skeleton,
    choice: &Choice,
) -> ByClass<Option<usize>> {
    let mut depths: ByClass<Option<usize>> = ByClass::new(graph);
    for (block, b) in skeleton.blocks.iter().enumerate() {
        for item in &b.items {
            if let Item::Effect { node, .. } = item {
                depths.set(graph.find(*node), Some(skeleton.blocks[block].depth));
            }
        }
    }
    for (id, node) in choice.in_order() {
        if depths.get(id).is_some_and(Option::is_some) {
            continue;
        }
        let depth = match node.head {
            Head::Value(n) => skeleton
                .values
                .get(n as usize)
                .map_or(0, |v| skeleton.blocks[v.block].depth),
            _ => {
                let children = node
                    .children
                    .iter()
                    .map(|c| depths.get(graph.find(*c)).copied().flatten().unwrap_or(0));
                children.max().unwrap_or(0)
            }
        };
        depths.set(id, Some(depth));
    }
    depths
}

/// Which classes' chosen forms are computed anew wherever they are used.
pub(super) fn cheap(graph: &Graph, choice: &Choice, model: &dyn CostModel) -> ByClass<bool> {
    let mut cheap = ByClass::new(graph);
    for (id, node) in choice.chosen() {
        cheap.set(id, model.cheap(&graph.analysis, node));
    }
    cheap
}
