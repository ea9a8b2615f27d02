//! The e-graph's language: operations of every dialect, opaque values.

use egg::Id;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

pub use super::head::{Head, explicit_results};
use crate::dialect::{AttrKind, OpDef};
pub use crate::facts::Leaf;
use crate::ir::{Attr, Dense, EnumAttr, TypeId, Types};

/// Index of an interned list of attribute leaves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct AttrsId(u32);

impl AttrsId {
    /// The empty list.
    pub const NONE: AttrsId = AttrsId(0);
}

/// An e-node. Attributes and explicit result types are part of the node, not children.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Node {
    pub head: Head,
    /// Effect number (only effects), attributes in table order, explicit result types.
    pub attrs: AttrsId,
    pub children: SmallVec<[Id; 4]>,
}

/// As derived, but children are copied as a block: `SmallVec` clones them one by one, and the engine clones nodes more
/// than it does anything else.
impl Clone for Node {
    fn clone(&self) -> Node {
        Node {
            head: self.head,
            attrs: self.attrs,
            children: SmallVec::from_slice(&self.children),
        }
    }
}

impl Node {
    /// A node with neither attributes nor children.
    pub fn leaf(head: Head) -> Node {
        Node {
            head,
            attrs: AttrsId::NONE,
            children: SmallVec::new(),
        }
    }
}

impl egg::Language for Node {
    // Matching is ours (see `matcher`), so egg need not index classes by operation.
    type Discriminant = ();

    fn discriminant(&self) {}

    fn matches(&self, other: &Self) -> bool {
        self.head == other.head
            && self.attrs == other.attrs
            && self.children.len() == other.children.len()
    }

    fn children(&self) -> &[Id] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.children
    }
}

type Leaves = SmallVec<[Leaf; 6]>;

/// Interned attribute lists and structured attributes.
#[derive(Clone, Debug)]
pub struct AttrTable {
    lists: IndexSet<Leaves, FxBuildHasher>,
    data: IndexSet<Attr, FxBuildHasher>,
}

impl Default for AttrTable {
    fn default() -> Self {
        let mut table = AttrTable {
            lists: IndexSet::default(),
            data: IndexSet::default(),
        };
        table.intern(Leaves::new());
        table
    }
}

impl AttrTable {
    /// The number of an attribute list, the same for equal lists.
    pub fn intern(&mut self, list: Leaves) -> AttrsId {
        AttrsId(self.lists.insert_full(list).0 as u32)
    }

    /// The leaves of a list.
    pub fn get(&self, id: AttrsId) -> &[Leaf] {
        self.lists.get_index(id.0 as usize).map_or(&[], |l| l)
    }

    /// The leaf of a structured attribute.
    pub fn data(&mut self, attr: Attr) -> Leaf {
        Leaf::Data(self.data.insert_full(attr).0 as u32)
    }

    /// The structured attribute behind [`Leaf::Data`].
    pub fn structured(&self, leaf: Leaf) -> Option<&Attr> {
        match leaf {
            Leaf::Data(i) => self.data.get_index(i as usize),
            _ => None,
        }
    }

    /// The leaf of an operation's attribute; splat constants become [`Leaf::Bits`].
    pub fn leaf_of(&mut self, types: &Types, attr: Option<&Attr>) -> Leaf {
        match attr {
            Some(Attr::Dense { data, ty }) => match splat_bits(types, data, *ty) {
                Some(bits) => Leaf::Bits(bits),
                None => self.data(Attr::Dense {
                    data: data.clone(),
                    ty: *ty,
                }),
            },
            Some(other) => match Leaf::from(Some(other)) {
                Leaf::Other => self.data(other.clone()),
                leaf => leaf,
            },
            None => Leaf::Absent,
        }
    }

    /// The attribute a leaf stands for in position `kind`; `ty` is the type of constant data.
    pub fn attr_of(
        &self,
        types: &mut Types,
        leaf: Leaf,
        kind: AttrKind,
        ty: TypeId,
    ) -> Option<Attr> {
        Some(match leaf {
            Leaf::Absent | Leaf::Effect(_) | Leaf::Other => return None,
            Leaf::Unit => Attr::Unit,
            Leaf::Bool(b) => Attr::Bool(b),
            Leaf::Int(value) => {
                let bits = if let AttrKind::Int(bits) = kind {
                    bits
                } else {
                    64
                };
                Attr::Int {
                    value,
                    ty: types.int(bits),
                }
            }
            Leaf::Enum(case) => Attr::Enum(EnumAttr(case)),
            Leaf::Type(ty) => Attr::Type(ty),
            Leaf::Bits(bits) => {
                let size = types.bits(ty).unwrap_or(64).div_ceil(8) as usize;
                let mut bytes = bits.to_le_bytes().to_vec();
                bytes.truncate(size.max(1));
                Attr::Dense {
                    data: Dense::Bytes(bytes),
                    ty,
                }
            }
            Leaf::Data(i) => self.data.get_index(i as usize)?.clone(),
        })
    }
}

/// The element bits of splat data.
fn splat_bits(types: &Types, data: &Dense, ty: TypeId) -> Option<u64> {
    crate::facts::constant(types, data, ty).constant
}

/// Whether a row is an effect: kept once, in its place.
pub fn is_effect(def: &OpDef) -> bool {
    !def.is_pure()
}
