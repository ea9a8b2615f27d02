//! What the arenas hold: operations, values, blocks and regions.

use slotmap::new_key_type;
use smallvec::SmallVec;

use super::{Attr, EnumAttr, LocId, TypeId, Types};
use crate::dialect::{AttrKind, Default as AttrDefault, OpDef, OpKind};

new_key_type! {
    /// Key of an operation.
    pub struct OpId;
    /// Key of an SSA value.
    pub struct ValueId;
    /// Key of a block.
    pub struct BlockId;
    /// Key of a region.
    pub struct RegionId;
}

/// An operation. Attributes are positional: `attrs[i]` is the value of `kind.def().attrs[i]`,
/// `None` when an optional one is absent.
#[derive(Debug)]
pub struct Op {
    pub kind: OpKind,
    /// All operands, groups one after another.
    pub operands: SmallVec<[ValueId; 4]>,
    /// End of each operand group of the table entry within `operands`.
    pub groups: SmallVec<[u32; 4]>,
    pub attrs: SmallVec<[Option<Attr>; 4]>,
    pub results: SmallVec<[ValueId; 2]>,
    pub regions: SmallVec<[RegionId; 2]>,
    pub loc: LocId,
    /// The block that holds it; null for a detached operation.
    pub block: BlockId,
}

/// As derived, but lists of numbers are copied as blocks: `SmallVec` clones them one by one.
impl Clone for Op {
    fn clone(&self) -> Self {
        Self {
            kind: self.kind,
            operands: SmallVec::from_slice(&self.operands),
            groups: SmallVec::from_slice(&self.groups),
            attrs: self.attrs.clone(),
            results: SmallVec::from_slice(&self.results),
            regions: SmallVec::from_slice(&self.regions),
            loc: self.loc,
            block: self.block,
        }
    }
}

impl Op {
    /// A detached operation without operands, results or regions, its attributes all absent.
    pub fn new(kind: impl Into<OpKind>) -> Self {
        let kind = kind.into();
        Self {
            attrs: SmallVec::from_elem(None, kind.def().attrs.len()),
            ..Self::bare(kind)
        }
    }

    /// The same without room for attributes.
    pub(crate) fn bare(kind: OpKind) -> Self {
        Self {
            kind,
            operands: SmallVec::new(),
            groups: SmallVec::new(),
            attrs: SmallVec::new(),
            results: SmallVec::new(),
            regions: SmallVec::new(),
            loc: LocId::UNKNOWN,
            block: BlockId::default(),
        }
    }

    /// Gives absent attributes their defaults. [`super::Module`] does it when an operation becomes part of it.
    pub fn fill_defaults(&mut self, types: &mut Types) {
        let row = self.def().attrs;
        for (i, def) in row.iter().enumerate().take(self.attrs.len()) {
            if self.attrs[i].is_some() {
                continue;
            }
            self.attrs[i] = match def.default {
                AttrDefault::None => None,
                AttrDefault::Case(case) => Some(Attr::Enum(EnumAttr(case))),
                AttrDefault::Int(value) => {
                    let width = match def.kind {
                        AttrKind::Int(width) => width,
                        _ => 64,
                    };
                    let ty = types.int(width);
                    Some(Attr::Int { value, ty })
                }
                AttrDefault::AllFalse(group) => {
                    let n = self.group(usize::from(group)).len();
                    Some(Attr::Bools(vec![false; n]))
                }
            };
        }
    }

    pub fn def(&self) -> &'static OpDef {
        self.kind.def()
    }

    /// Whether it has no effect and no regions: it can be moved, repeated and left out.
    pub fn only_computes(&self) -> bool {
        self.def().is_pure() && self.regions.is_empty()
    }

    /// The operands of group `i` of the table entry: empty or one for an optional group.
    pub fn group(&self, i: usize) -> &[ValueId] {
        let start = if i == 0 {
            0
        } else {
            self.groups.get(i - 1).copied().unwrap_or(0)
        } as usize;
        let end = self.groups.get(i).map_or(start, |&e| e as usize);
        self.operands.get(start..end).unwrap_or(&[])
    }

    /// The groups of the table entry, of `operands` in the place of its own.
    pub fn grouped<'o>(&self, operands: &'o [ValueId]) -> Vec<&'o [ValueId]> {
        grouped(&self.groups, operands)
    }

    /// Appends an operand to the last group.
    pub fn push_operand(&mut self, operand: ValueId) {
        self.operands.push(operand);
        self.end_last_group();
    }

    /// Removes operand number `at`, one of the last group's.
    pub fn remove_operand(&mut self, at: usize) {
        self.operands.remove(at);
        self.end_last_group();
    }

    fn end_last_group(&mut self) {
        let end = self.operands.len() as u32;
        match self.groups.last_mut() {
            Some(last) => *last = end,
            None => self.groups.push(end),
        }
    }

    /// The operand of an optional group.
    pub fn optional(&self, i: usize) -> Option<ValueId> {
        self.group(i).first().copied()
    }

    /// Attribute `i` of the table entry.
    pub fn attr(&self, i: usize) -> Option<&Attr> {
        self.attrs.get(i).and_then(Option::as_ref)
    }

    /// The attribute called `name` in the table entry.
    pub fn attr_named(&self, name: &str) -> Option<&Attr> {
        self.attr(self.def().attrs.iter().position(|a| a.name == name)?)
    }

    /// The case index of the enumeration attribute called `name`.
    pub fn enum_named(&self, name: &str) -> Option<u8> {
        match self.attr_named(name)? {
            Attr::Enum(e) => Some(e.0),
            _ => None,
        }
    }

    /// Whether the unit attribute called `name` is present.
    pub fn has_unit(&self, name: &str) -> bool {
        self.attr_named(name).is_some()
    }
}

/// Operands in groups, of which `ends` are the ends.
pub fn grouped<'o>(ends: &[u32], operands: &'o [ValueId]) -> Vec<&'o [ValueId]> {
    let mut start = 0;
    let group = |&end: &u32| {
        let from = std::mem::replace(&mut start, end as usize);
        operands.get(from..end as usize).unwrap_or(&[])
    };
    ends.iter().map(group).collect()
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Def {
    Result { op: OpId, index: u32 },
    Argument { block: BlockId, index: u32 },
}

#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub ty: TypeId,
    pub def: Def,
}

/// Operations in order; the last one is the terminator where the parent operation needs one.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub args: SmallVec<[ValueId; 4]>,
    pub ops: Vec<OpId>,
    pub region: RegionId,
}

#[derive(Clone, Debug, Default)]
pub struct Region {
    pub blocks: SmallVec<[BlockId; 1]>,
    /// The operation that holds it; null for the module's body.
    pub parent: OpId,
}
