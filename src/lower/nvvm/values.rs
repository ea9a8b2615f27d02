//! What the values of the stage before became.

use rustc_hash::FxHashMap;

use crate::ir::ValueId;

/// The new values; tokens become nothing.
#[derive(Default)]
pub struct Values {
    new: FxHashMap<ValueId, ValueId>,
    bytes: FxHashMap<ValueId, ValueId>,
    parts: FxHashMap<ValueId, Vec<ValueId>>,
}

impl Values {
    /// What `old` became.
    pub fn get(&self, old: ValueId) -> Option<ValueId> {
        self.new.get(&old).copied()
    }

    pub fn set(&mut self, old: ValueId, new: ValueId) {
        self.new.insert(old, new);
    }

    /// The bytes that a new value of four-bit elements was taken from, two a byte.
    pub fn bytes_of(&self, elements: ValueId) -> Option<ValueId> {
        self.bytes.get(&elements).copied()
    }

    pub fn set_bytes_of(&mut self, elements: ValueId, bytes: ValueId) {
        self.bytes.insert(elements, bytes);
    }

    /// The parts, one behind the other and equally long, that a new value was made in.
    pub fn parts_of(&self, whole: ValueId) -> Option<&[ValueId]> {
        self.parts.get(&whole).map(Vec::as_slice)
    }

    pub fn set_parts_of(&mut self, whole: ValueId, parts: Vec<ValueId>) {
        self.parts.insert(whole, parts);
    }
}

impl FromIterator<(ValueId, ValueId)> for Values {
    fn from_iter<T: IntoIterator<Item = (ValueId, ValueId)>>(pairs: T) -> Self {
        Values {
            new: pairs.into_iter().collect(),
            ..Values::default()
        }
    }
}
