//! Names of values, by region.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ir::ValueId;

type Values = SmallVec<[ValueId; 1]>;

/// The visible names, and what to restore when a region ends.
#[derive(Default)]
pub struct Scope<'t> {
    names: FxHashMap<&'t str, Values>,
    log: Vec<(&'t str, Option<Values>)>,
}

/// The state before a region.
pub struct Mark<'t> {
    length: usize,
    hidden: Option<FxHashMap<&'t str, Values>>,
}

impl<'t> Scope<'t> {
    /// Enters a region; one of an isolated operation sees nothing from outside.
    pub fn enter(&mut self, isolated: bool) -> Mark<'t> {
        Mark {
            length: self.log.len(),
            hidden: isolated.then(|| std::mem::take(&mut self.names)),
        }
    }

    /// Gives values a name until the region ends.
    pub fn define(&mut self, name: &'t str, values: &[ValueId]) {
        let old = self.names.insert(name, values.into());
        self.log.push((name, old));
    }

    /// The values of a name.
    pub fn get(&self, name: &str) -> Option<&[ValueId]> {
        self.names.get(name).map(SmallVec::as_slice)
    }

    /// The names that can be seen, in no particular order.
    pub fn names(&self) -> impl Iterator<Item = (&'t str, &[ValueId])> {
        self.names
            .iter()
            .map(|(name, values)| (*name, values.as_slice()))
    }

    pub fn leave(&mut self, mark: Mark<'t>) {
        for (name, old) in self.log.drain(mark.length..).rev() {
            match old {
                Some(values) => self.names.insert(name, values),
                None => self.names.remove(name),
            };
        }
        if let Some(names) = mark.hidden {
            self.names = names;
        }
    }
}
