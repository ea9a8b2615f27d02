//! Choosing one node per class: greedy over the dag, so that what is shared is paid once.

use std::borrow::Cow;

use egg::Id;
use smallvec::SmallVec;

use super::analysis::Graph;
use super::by_class::ByClass;
use super::cost::{self, CostModel, Extra};
use super::node::{Head, Node};
use crate::dialect::Traits;

/// One node per class that can be made.
pub struct Choice {
    /// Dense number of each class; `None` for numbers that are not classes any more.
    index: ByClass<Option<u32>>,
    classes: Vec<Entry>,
    /// Classes with a choice, children before parents.
    order: Vec<usize>,
    /// Whether some class has several candidates.
    several: bool,
    /// Counts changes of what classes need.
    changes: u32,
}

/// A set of classes by their dense numbers, as bits. Those of most kernels' graphs need no memory of their own.
type Set = SmallVec<[u64; 4]>;

struct Entry {
    id: Id,
    candidates: SmallVec<[Candidate; 1]>,
    chosen: Option<usize>,
    /// Everything the chosen form needs, itself included, as a bit set over classes; empty where no class has a choice.
    needs: Set,
    /// The number of changes of any class's `needs` when this one's last changed, and when it was last collected.
    changed: u32,
    collected: u32,
}

impl Entry {
    fn made(&self) -> Option<(Id, &Node)> {
        Some((self.id, &self.candidates.get(self.chosen?)?.node))
    }
}

struct Candidate {
    node: Node,
    own: u64,
    children: Children,
}

/// Dense numbers of classes, sorted, each once.
type Children = SmallVec<[u32; 4]>;

/// Rounds of improvement after every class has some choice.
const ROUNDS: usize = 4;

impl Choice {
    /// Chooses for the whole e-graph. `extra` is added to the cost of nodes (costs of rules).
    pub fn new(graph: &Graph, model: &dyn CostModel, extra: &Extra) -> Choice {
        let mut ids: Vec<Id> = graph.classes().map(|c| c.id).collect();
        ids.sort_unstable();
        let mut index = ByClass::new(graph);
        for (i, &id) in ids.iter().enumerate() {
            index.set(id, Some(i as u32));
        }
        let classes: Vec<Entry> = ids
            .iter()
            .map(|&id| entry(graph, model, extra, &index, id))
            .collect();
        let several = classes.iter().any(|class| class.candidates.len() > 1);
        let mut choice = Choice {
            index,
            classes,
            order: Vec::new(),
            several,
            changes: 0,
        };
        choice.available();
        choice.order = choice.postorder();
        if several {
            for _ in 0..ROUNDS {
                if !choice.improve() {
                    break;
                }
                choice.order = choice.postorder();
            }
        }
        choice
    }

    /// The chosen node of a class; `None` when no legal form exists.
    pub fn node(&self, id: Id) -> Option<&Node> {
        let entry = self.classes.get((*self.index.get(id)?)? as usize)?;
        Some(&entry.candidates.get(entry.chosen?)?.node)
    }

    /// Cost of the chosen node alone and, for each other legal node, its own cost.
    pub fn costs(&self, id: Id) -> Option<(u64, Vec<(&Node, u64)>)> {
        let class = (*self.index.get(id)?)?;
        let entry = self.classes.get(class as usize)?;
        let chosen = entry.chosen?;
        // Where no class has a choice the sets were not made, and there are no others.
        let needs = match self.several {
            true => Cow::Borrowed(&entry.needs),
            false => Cow::Owned(self.walked(class)),
        };
        let others = entry
            .candidates
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != chosen);
        let others = others.map(|(i, c)| {
            (
                &c.node,
                c.own.saturating_add(self.total(&self.needs_of(entry, i))),
            )
        });
        Some((self.total(&needs), others.collect()))
    }

    /// First choices: whatever can be made, cheapest first seen.
    fn available(&mut self) {
        loop {
            let mut changed = false;
            for i in 0..self.classes.len() {
                if self.classes[i].chosen.is_none()
                    && let Some(best) = self.best(i)
                {
                    self.choose(i, best);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Revisits classes bottom-up; returns whether a choice changed.
    fn improve(&mut self) -> bool {
        let mut changed = false;
        for at in 0..self.order.len() {
            let i = self.order[at];
            if self.is_settled(i) {
                continue;
            }
            if let Some(best) = self.best(i) {
                let old = self.classes[i].chosen;
                if old != Some(best) && !self.reaches(i, best) {
                    changed = true;
                    self.choose(i, best);
                } else if let Some(old) = old {
                    self.choose(i, old);
                }
            }
        }
        changed
    }

    /// Whether choosing again would change nothing: there is one candidate, which is chosen, and what its children need
    /// is what it was then.
    fn is_settled(&self, i: usize) -> bool {
        let entry = &self.classes[i];
        let [only] = entry.candidates.as_slice() else {
            return false;
        };
        let old = |&c: &u32| self.classes[c as usize].changed <= entry.collected;
        entry.chosen.is_some() && only.children.iter().all(old)
    }

    fn choose(&mut self, i: usize, candidate: usize) {
        if self.several {
            let mut needs = self.needs_of(&self.classes[i], candidate);
            set(&mut needs, i as u32);
            let entry = &mut self.classes[i];
            if needs != entry.needs {
                self.changes += 1;
                entry.changed = self.changes;
                entry.needs = needs;
            }
            entry.collected = self.changes;
        }
        self.classes[i].chosen = Some(candidate);
    }

    /// Everything that a class needs, itself included, where none has a choice and the sets were not made.
    fn walked(&self, class: u32) -> Set {
        let mut needs = Set::new();
        let mut open = vec![class];
        while let Some(i) = open.pop() {
            if !has(&needs, i) {
                set(&mut needs, i);
                let entry = &self.classes[i as usize];
                let chosen = entry.chosen.map(|c| &entry.candidates[c]);
                open.extend(chosen.into_iter().flat_map(|c| &c.children));
            }
        }
        needs
    }

    /// The classes that a candidate's children need.
    fn needs_of(&self, entry: &Entry, candidate: usize) -> Set {
        let mut children = entry.candidates[candidate].children.iter();
        let needs = |&c: &u32| &self.classes[c as usize].needs;
        let mut all = children
            .next()
            .map_or_else(Set::new, |c| Set::from_slice(needs(c)));
        for more in children.map(needs) {
            if more.len() > all.len() {
                all.resize(more.len(), 0);
            }
            for (to, from) in all.iter_mut().zip(more) {
                *to |= from;
            }
        }
        all
    }

    /// Sum of the own costs of a set of classes' choices.
    fn total(&self, needs: &[u64]) -> u64 {
        members(needs).fold(0, |sum, i| {
            let entry = &self.classes[i as usize];
            let own = entry.chosen.map_or(0, |c| entry.candidates[c].own);
            u64::saturating_add(sum, own)
        })
    }

    /// The cheapest candidate whose children can all be made without this class.
    fn best(&self, i: usize) -> Option<usize> {
        let entry = &self.classes[i];
        let usable = |c: &Candidate| {
            c.children.iter().all(|&child| {
                let child = &self.classes[child as usize];
                child.chosen.is_some() && !has(&child.needs, i as u32)
            })
        };
        let mut usable = (0..entry.candidates.len()).filter(|&c| usable(&entry.candidates[c]));
        let first = usable.next()?;
        let mut best = (first, None);
        for other in usable {
            let known = best
                .1
                .take()
                .unwrap_or_else(|| self.needs_of(entry, best.0));
            let needs = self.needs_of(entry, other);
            // What both need costs the same; compare only the rest.
            let (mut a, mut b) = (entry.candidates[best.0].own, entry.candidates[other].own);
            for word in 0..known.len().max(needs.len()) {
                let (x, y) = (word_of(&known, word), word_of(&needs, word));
                a = a.saturating_add(self.total_word(word, x & !y));
                b = b.saturating_add(self.total_word(word, y & !x));
            }
            best = if b < a {
                (other, Some(needs))
            } else {
                (best.0, Some(known))
            };
        }
        Some(best.0)
    }

    fn total_word(&self, word: usize, mut bits: u64) -> u64 {
        let mut sum = 0u64;
        while bits != 0 {
            let i = word * 64 + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let entry = &self.classes[i];
            sum = sum.saturating_add(entry.chosen.map_or(0, |c| entry.candidates[c].own));
        }
        sum
    }

    /// Whether a candidate's children lead back to the class through present choices.
    fn reaches(&self, i: usize, candidate: usize) -> bool {
        let mut seen = vec![false; self.classes.len()];
        let mut stack: Vec<u32> = self.classes[i].candidates[candidate].children.to_vec();
        while let Some(c) = stack.pop() {
            let c = c as usize;
            if c == i {
                return true;
            }
            if !std::mem::replace(&mut seen[c], true)
                && let Some(chosen) = self.classes[c].chosen
            {
                stack.extend(&self.classes[c].candidates[chosen].children);
            }
        }
        false
    }

    /// Classes with a choice, children before parents along present choices.
    fn postorder(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.classes.len());
        let mut state = vec![0u8; self.classes.len()];
        let mut stack = Vec::new();
        for root in 0..self.classes.len() {
            stack.push(root);
            while let Some(&i) = stack.last() {
                let (below, entry) = (stack.len(), &self.classes[i]);
                let new = state[i] == 0;
                state[i] = state[i].max(1);
                if new && let Some(chosen) = entry.chosen {
                    let children = entry.candidates[chosen].children.iter();
                    stack.extend(children.map(|&c| c as usize).filter(|&c| state[c] == 0));
                }
                if stack.len() == below {
                    stack.pop();
                    if std::mem::replace(&mut state[i], 2) != 2 {
                        order.push(i);
                    }
                }
            }
        }
        order.retain(|&i| self.classes[i].chosen.is_some());
        order
    }

    /// The classes that can be made, children before parents.
    pub fn in_order(&self) -> impl Iterator<Item = (Id, &Node)> {
        let classes = self.order.iter().map(|&i| &self.classes[i]);
        classes.filter_map(Entry::made)
    }

    /// The classes that can be made, for reports.
    pub fn chosen(&self) -> impl Iterator<Item = (Id, &Node)> {
        self.classes.iter().filter_map(Entry::made)
    }
}

fn entry(
    graph: &Graph,
    model: &dyn CostModel,
    extra: &Extra,
    index: &ByClass<Option<u32>>,
    id: Id,
) -> Entry {
    let class = &graph[id];
    let mut candidates: SmallVec<[Candidate; 1]> = SmallVec::new();
    for node in &class.nodes {
        let Some(own) = cost::of(model, graph, node, class.data.ty) else {
            continue;
        };
        let extra = extra
            .get(&id)
            .and_then(|of| of.iter().find(|(n, _)| n == node))
            .map_or(0, |&(_, cost)| cost);
        let children = node
            .children
            .iter()
            .map(|&c| index.get(graph.find(c)).copied().flatten());
        let Some(mut children) = children.collect::<Option<Children>>() else {
            continue;
        };
        children.sort_unstable();
        children.dedup();
        candidates.push(Candidate {
            node: node.clone(),
            own: own.saturating_add_signed(extra),
            children,
        });
    }
    // A constant is there everywhere; a value that is found to be one (the counter of a loop of one
    // turn), only in its block, and others of the class may stand elsewhere.
    let constant = |c: &Candidate| {
        let def = graph.analysis.def(c.node.head);
        def.is_some_and(|d| d.traits.has(Traits::CONSTANT))
    };
    if candidates.iter().any(constant) {
        candidates.retain(|c| !matches!(c.node.head, Head::Value(_)));
    }
    Entry {
        id,
        candidates,
        chosen: None,
        needs: Set::new(),
        changed: 0,
        collected: 0,
    }
}

fn set(bits: &mut Set, i: u32) {
    let word = i as usize / 64;
    if word >= bits.len() {
        bits.resize(word + 1, 0);
    }
    bits[word] |= 1 << (i % 64);
}

/// A word of a set, which ends behind its last member.
fn word_of(bits: &[u64], word: usize) -> u64 {
    bits.get(word).copied().unwrap_or(0)
}

fn has(bits: &[u64], i: u32) -> bool {
    word_of(bits, i as usize / 64) >> (i % 64) & 1 == 1
}

fn members(bits: &[u64]) -> impl Iterator<Item = u32> + '_ {
    bits.iter().enumerate().flat_map(|(word, &w)| {
        (0..64)
            .filter(move |b| w >> b & 1 == 1)
            .map(move |b| word as u32 * 64 + b)
    })
}
