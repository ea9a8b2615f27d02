//! What several branches need is computed before them, not once in each.

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::analysis::Graph;
use super::build::{BlockIx, Item, Skeleton};
use super::by_class::ByClass;
use super::extract::Choice;

/// The classes that every one of `blocks` needs, by their chosen forms, in no particular order.
/// `visible` tells what can be computed before the branches, `again` what is made in each of them, with what it is made of.
/// `is_live` tells the operations with regions, each by its block and its place there, that are not dropped.
pub fn shared(
    graph: &Graph,
    skeleton: &Skeleton,
    choice: &Choice,
    blocks: &[BlockIx],
    visible: &dyn Fn(Id) -> bool,
    again: &dyn Fn(Id) -> bool,
    is_live: &dyn Fn((BlockIx, usize)) -> bool,
) -> Vec<Id> {
    // How many of the branches before this one need a class, as long as all of them do.
    let mut counts: ByClass<usize> = ByClass::new(graph);
    let mut needed = Vec::new();
    for (before, &block) in blocks.iter().enumerate() {
        let mut work = Vec::new();
        needed.clear();
        demands(skeleton, block, Which::All, is_live, &mut work);
        let mut met: ByClass<bool> = ByClass::new(graph);
        while let Some(id) = work.pop() {
            let id = graph.find(id);
            let new = met
                .get_mut(id)
                .is_some_and(|met| !std::mem::replace(met, true));
            if new
                && !again(id)
                && let Some(node) = choice.node(id)
            {
                work.extend(&node.children);
                if let Some(count) = counts.get_mut(id).filter(|count| **count == before) {
                    *count += 1;
                    needed.push(id);
                }
            }
        }
    }
    // After the last branch, `needed` holds those of its classes that all branches before need, too.
    needed.retain(|id| visible(*id));
    needed.sort_unstable();
    needed
}

/// The operations of a block from one place up to the next loop, or to the block's end. What a loop behind a branch needs
/// as well is in registers while it runs in any case; what is needed behind it would be, too.
///
/// What only one of two branches needs does not count: the other, mostly the one that does without masks, would compute it
/// for nothing.
pub struct Stretch {
    /// The place of the last operation.
    end: usize,
    /// The last of them that needs a class, by the chosen forms.
    last: FxHashMap<Id, usize>,
}

impl Stretch {
    /// `known` tells what is there already, `loops` the operations that are loops or hold some.
    pub fn new(
        graph: &Graph,
        skeleton: &Skeleton,
        choice: &Choice,
        (block, from): (BlockIx, usize),
        known: &dyn Fn(Id) -> bool,
        is_live: &dyn Fn((BlockIx, usize)) -> bool,
        loops: &FxHashSet<(BlockIx, usize)>,
    ) -> Stretch {
        let count = skeleton.blocks[block].items.len();
        let end = (from..count)
            .find(|&i| loops.contains(&(block, i)))
            .unwrap_or(count);
        let mut last = FxHashMap::default();
        let mut work = Vec::new();
        for i in (from..count.min(end + 1)).rev() {
            item_demands(skeleton, (block, i), Which::Sure, is_live, &mut work);
            while let Some(id) = work.pop() {
                let id = graph.find(id);
                if !known(id) && !last.contains_key(&id) {
                    last.insert(id, i);
                    work.extend(choice.node(id).iter().flat_map(|n| &n.children));
                }
            }
        }
        Stretch { end, last }
    }

    /// Whether it reaches as far as an operation.
    pub fn reaches(&self, item: usize) -> bool {
        item <= self.end
    }

    /// The classes that an operation needs as well as one behind it, and that are not made of such classes only. What
    /// is not `shared` is looked into instead.
    pub fn needed_again(
        &self,
        graph: &Graph,
        skeleton: &Skeleton,
        choice: &Choice,
        at: (BlockIx, usize),
        is_live: &dyn Fn((BlockIx, usize)) -> bool,
        shared: &dyn Fn(Id) -> bool,
    ) -> Vec<Id> {
        let mut work = Vec::new();
        item_demands(skeleton, at, Which::Sure, is_live, &mut work);
        let mut met = FxHashSet::default();
        let mut needed = Vec::new();
        while let Some(id) = work.pop() {
            let id = graph.find(id);
            let Some(&last) = self.last.get(&id).filter(|_| met.insert(id)) else {
                continue;
            };
            if last > at.1 && shared(id) {
                needed.push(id);
            } else {
                work.extend(choice.node(id).iter().flat_map(|n| &n.children));
            }
        }
        needed.sort_unstable();
        needed
    }
}

/// Which of the branches inside a block count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    /// Those without an alternative.
    Sure,
}

/// What the operations of a block and of the blocks inside it refer to.
fn demands(
    skeleton: &Skeleton,
    block: BlockIx,
    which: Which,
    is_live: &dyn Fn((BlockIx, usize)) -> bool,
    out: &mut Vec<Id>,
) {
    for i in 0..skeleton.blocks[block].items.len() {
        item_demands(skeleton, (block, i), which, is_live, out);
    }
}

/// What an operation and those of the blocks inside it refer to.
fn item_demands(
    skeleton: &Skeleton,
    at: (BlockIx, usize),
    which: Which,
    is_live: &dyn Fn((BlockIx, usize)) -> bool,
    out: &mut Vec<Id>,
) {
    match &skeleton.blocks[at.0].items[at.1] {
        Item::Region { .. } if !is_live(at) => {}
        Item::Effect { node, .. } => out.push(*node),
        Item::Terminator { operands, .. } => out.extend(operands),
        Item::Region {
            operands, blocks, ..
        } => {
            out.extend(operands);
            if which == Which::Sure && blocks.len() > 1 {
                return;
            }
            for &inner in blocks {
                demands(skeleton, inner, which, is_live, out);
            }
        }
    }
}
