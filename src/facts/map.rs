//! Facts by value.

use std::collections::hash_map::Entry;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Facts;
use crate::ir::{Module, ValueId};

/// Facts by value. A function's values are few beside the numbers of a module's, so places are looked up.
#[derive(Default, Clone, Debug)]
pub struct FactMap {
    places: FxHashMap<ValueId, u32>,
    facts: Vec<Facts>,
}

impl FactMap {
    /// A map that knows nothing, with room for so many values.
    pub(super) fn with_room(values: usize) -> Self {
        FactMap {
            places: FxHashMap::with_capacity_and_hasher(values, FxBuildHasher),
            facts: Vec::with_capacity(values),
        }
    }

    /// Of how many values something is known.
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// What is known about `value`; `None` for values outside the function walked.
    pub fn get(&self, value: ValueId) -> Option<&Facts> {
        self.facts.get(self.place(value)?)
    }

    /// The number of a value among those that something is known about.
    pub(super) fn place(&self, value: ValueId) -> Option<usize> {
        self.places.get(&value).map(|&place| place as usize)
    }

    /// What is known about the value of that number.
    pub(super) fn at_mut(&mut self, place: usize) -> &mut Facts {
        &mut self.facts[place]
    }

    /// What is known about `value`, at least its type's range.
    pub fn of(&self, module: &Module, value: ValueId) -> Facts {
        self.get(value)
            .cloned()
            .unwrap_or_else(|| Facts::top(&module.types, module.ty(value)))
    }

    /// Records facts of a value made after the walk.
    pub fn set(&mut self, value: ValueId, facts: Facts) {
        match self.places.entry(value) {
            Entry::Occupied(place) => self.facts[*place.get() as usize] = facts,
            Entry::Vacant(place) => {
                place.insert(self.facts.len() as u32);
                self.facts.push(facts);
            }
        }
    }
}
