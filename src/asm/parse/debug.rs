//! The locations that have been read, and the operations that wait for one.

use rustc_hash::FxHashMap;

use crate::ir::{DebugAttr, LocId, Name, OpId};

/// What a location or debug attribute is.
#[derive(Clone, Copy)]
pub enum Debug {
    Unknown,
    /// A place in a file, with no scope.
    Place {
        file: Name,
        line: u32,
        column: u32,
    },
    Entry(LocId),
}

/// The locations that have been met.
#[derive(Default)]
pub struct Locations<'t> {
    pub aliases: FxHashMap<&'t str, Debug>,
    pub entries: FxHashMap<DebugAttr, LocId>,
    /// Operations whose location is an alias that was not defined yet, and where that stands.
    pub pending: Vec<(OpId, &'t str, usize)>,
    /// Terminators that the text leaves out: they have the location of what they belong to.
    pub implicit: Vec<OpId>,
}

impl<'t> Locations<'t> {
    /// How many terminators have been left out so far.
    pub fn mark(&self) -> usize {
        self.implicit.len()
    }

    pub fn implicit(&mut self, terminator: OpId) {
        self.implicit.push(terminator);
    }
}
