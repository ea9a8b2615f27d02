//! Source locations: the debug-info attributes of a module and which one each operation has.

use super::{Name, TypeId};

/// Index of a debug attribute, `LocId::UNKNOWN` when there is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct LocId(pub u32);

impl LocId {
    /// No location.
    pub const UNKNOWN: LocId = LocId(0);
}

/// A debug-info attribute (specification, "Debug Entry Payload Formats"). References to other
/// entries are [`LocId`]s; 0 means none.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DebugAttr {
    Unknown,
    CompileUnit {
        file: LocId,
    },
    File {
        name: Name,
        directory: Name,
    },
    LexicalBlock {
        scope: LocId,
        file: LocId,
        line: u32,
        column: u32,
    },
    Loc {
        scope: LocId,
        file: Name,
        line: u32,
        column: u32,
    },
    Subprogram {
        file: LocId,
        line: u32,
        name: Name,
        linkage_name: Name,
        unit: LocId,
        scope_line: u32,
        ty: Option<TypeId>,
    },
    CallSite {
        callee: LocId,
        caller: LocId,
    },
}

/// The debug attributes of a module; entry 0 is [`DebugAttr::Unknown`].
#[derive(Clone, Debug)]
pub struct Locations {
    list: Vec<DebugAttr>,
}

impl Default for Locations {
    fn default() -> Self {
        Self {
            list: vec![DebugAttr::Unknown],
        }
    }
}

impl Locations {
    pub fn push(&mut self, attr: DebugAttr) -> LocId {
        self.list.push(attr);
        LocId(self.list.len() as u32 - 1)
    }

    pub fn get(&self, id: LocId) -> &DebugAttr {
        self.list.get(id.0 as usize).unwrap_or(&DebugAttr::Unknown)
    }

    /// Replaces an entry, for readers that reserve indices before decoding.
    pub fn set(&mut self, id: LocId, attr: DebugAttr) {
        if let Some(slot) = self.list.get_mut(id.0 as usize) {
            *slot = attr;
        }
    }

    /// How many entries there are, the unknown one included.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Never: entry 0 always exists.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (LocId, &DebugAttr)> {
        self.list
            .iter()
            .enumerate()
            .map(|(i, a)| (LocId(i as u32), a))
    }
}
